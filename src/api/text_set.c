#include "api/text_set.h"

#include "base/banned.h"

void text_set_done(struct text_set *s)
{
    map_done(&s->many);
}

const void *text_set_get(const struct text_set *s, struct str text)
{
    size_t n = s->n < TEXT_SET_FEW ? s->n : TEXT_SET_FEW;
    for (size_t i = 0; i < n; i++)
        if (str_eq(s->few[i], text))
            return s->few_of[i];
    return s->n > TEXT_SET_FEW ? map_get(&s->many, text) : NULL;
}

bool text_set_add(struct text_set *s, struct str text, const void *p)
{
    if (text_set_get(s, text))
        return false;
    if (s->n < TEXT_SET_FEW) {
        s->few[s->n] = text;
        s->few_of[s->n] = p;
    } else {
        (void)map_set(&s->many, text, (void *)(uintptr_t)p);
    }
    s->n++;
    return true;
}
