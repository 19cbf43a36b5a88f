/* text_set.h - which texts were seen, each with whatever belongs to it. The first few cost neither
 * memory nor hashing; lists that outsiders made long cost no more than their length. */
#pragma once

#include "base/map.h"

enum { TEXT_SET_FEW = 16 };

struct text_set {
    size_t n;
    struct str few[TEXT_SET_FEW];
    const void *few_of[TEXT_SET_FEW];
    struct map many; /* all that came after them */
};

static inline void text_set_init(struct text_set *s)
{
    s->n = 0;
    s->many = (struct map){ 0 };
}
void text_set_done(struct text_set *s);

/* NULL if the text was not added. */
const void *text_set_get(const struct text_set *s, struct str text);
static inline bool text_set_has(const struct text_set *s, struct str text)
{
    return text_set_get(s, text) != NULL;
}
/* Whether it is new; if not, nothing changes. `p` is not NULL; the text is borrowed. */
bool text_set_add(struct text_set *s, struct str text, const void *p);

#define autoset __attribute__((cleanup(text_set_done))) struct text_set
