/* The items of a list told apart by their keys or values. */
#include "merge/ownership_internal.h"

#include <stdlib.h>

#include "api/go/quote.h"
#include "base/limits.h"

#include "base/banned.h"

int ownership__enter(struct ownership_walk *w)
{
    if (w->depth == LIMIT_FIELD_DEPTH)
        return err_set(w->err, ERR_BAD_REQUEST, "the object is deeper than %u fields",
                       LIMIT_FIELD_DEPTH);
    w->depth++;
    return 0;
}

const struct value *ownership__container(enum ownership_form form, const struct value *v)
{
    if (!v || form == OWNERSHIP_LEAF)
        return NULL;
    bool fits = v->type == (form == OWNERSHIP_FIELDS ? VALUE_OBJECT : VALUE_ARRAY);
    return fits && v->n ? v : NULL;
}

static int no_keys(struct ownership_walk *w, const struct ownership_shape *shape, size_t at)
{
    autobuf names = { 0 };
    for (size_t i = 0; i < shape->n_keys; i++) {
        buf_str_add(&names, i ? STR(" ") : STR(""));
        quote_go(&names, shape->keys[i]);
    }
    return err_set(w->err, ERR_UNKNOWN,
                   "element %zu: associative list with keys has an element that omits all key "
                   "fields [" STR_FMT "] (and doesn't have default values for any key fields)",
                   at, STR_ARG(buf_str(&names)));
}

static int compare_keys(const void *pa, const void *pb)
{
    const struct value_field *a = pa, *b = pb;
    return str_cmp(a->key, b->key);
}

static int keyed_step(struct ownership_walk *w, struct ownership_place place,
                      const struct ownership_shape *shape, const struct ownership_item *item,
                      struct fieldset_step *ret)
{
    if (item->v->type != VALUE_OBJECT)
        return err_set(w->err, ERR_UNKNOWN,
                       "element %zu: associative list with keys may not have %s", item->at,
                       item->v->type == VALUE_NULL ? "a null element" : "non-map elements");
    struct value key = value_object();
    for (size_t i = 0; i < shape->n_keys; i++) {
        const struct value *v = value_get(item->v, shape->keys[i]);
        if (!v)
            v = w->schema->key_default(place, shape->keys[i]);
        if (v)
            value_put_new(w->arena, &key, shape->keys[i], value_borrow(v));
    }
    if (!key.n)
        return no_keys(w, shape, item->at);
    qsort(key.fields, key.n, sizeof(*key.fields), compare_keys);
    *ret = (struct fieldset_step){ FIELDSET_KEY, key };
    return 0;
}

static int set_step(struct ownership_walk *w, const struct ownership_item *item,
                    struct fieldset_step *ret)
{
    static const char *const refused[] = {
        [VALUE_OBJECT] = "associative list without keys has an element that's a map type",
        [VALUE_ARRAY] = "not supported: associative list with lists as elements",
        [VALUE_NULL] = "associative list without keys has an element that's an explicit null",
    };
    if (refused[item->v->type])
        return err_set(w->err, ERR_UNKNOWN, "element %zu: %s", item->at, refused[item->v->type]);
    *ret = (struct fieldset_step){ FIELDSET_VALUE, *item->v };
    return 0;
}

static int compare_items(const void *pa, const void *pb)
{
    const struct ownership_item *a = *(struct ownership_item *const *)pa;
    const struct ownership_item *b = *(struct ownership_item *const *)pb;
    int c = fieldset_step_cmp(&a->step, &b->step);
    return c ? c : (a->at > b->at) - (a->at < b->at);
}

static void sort(struct ownership_items *items)
{
    qsort(items->sorted, items->n, sizeof(*items->sorted), compare_items);
    for (size_t i = 1; i < items->n; i++)
        if (fieldset_step_cmp(&items->sorted[i - 1]->step, &items->sorted[i]->step) == 0)
            items->sorted[i - 1]->is_repeated = items->sorted[i]->is_repeated = true;
}

int ownership__items(struct ownership_walk *w, struct ownership_place place,
                     const struct ownership_shape *shape, const struct value *list,
                     struct ownership_items *ret)
{
    size_t n = list ? list->n : 0;
    *ret = (struct ownership_items){ .n = n };
    if (!n)
        return 0;
    ret->all = arena_array(w->arena, struct ownership_item, n);
    ret->sorted = arena_array(w->arena, struct ownership_item *, n);
    for (size_t i = 0; i < n; i++) {
        struct ownership_item *item = &ret->all[i];
        ret->sorted[i] = item;
        item->v = &list->items[i];
        item->at = i;
        if (arena_spent(w->arena))
            return allowance_error(w->arena->allowance, w->err);
        if (i && value_is_twin(item->v, item[-1].v)) {
            item->step = item[-1].step;
            continue;
        }
        int r = shape->form == OWNERSHIP_KEYED ? keyed_step(w, place, shape, item, &item->step)
                                               : set_step(w, item, &item->step);
        if (r < 0)
            return r;
    }
    sort(ret);
    return 0;
}
