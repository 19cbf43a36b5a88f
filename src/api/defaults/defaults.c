/* The walk: by the type's table, and only into what has defaults. */
#include "api/defaults/defaults.h"

#include "api/defaults/defaults_rules.h"
#include "api/quantity.h"
#include "base/banned.h"

/* ---- What the rules share ---- */

static bool is_none(const struct value *v)
{
    return !v || v->type == VALUE_NULL;
}

bool defaults__is_zero(const struct value *v)
{
    if (is_none(v))
        return true;
    switch ((enum value_type)v->type) {
    case VALUE_BOOL:
        return !v->b;
    case VALUE_INT:
        return v->i == 0;
    case VALUE_NUMBER:
        return false;
    default:
        return v->n == 0;
    }
}

bool defaults__is_text(const struct value *obj, struct str key, struct str text)
{
    return str_eq(value_str(value_get(obj, key)), text);
}

void defaults__fill(struct arena *a, struct value *obj, struct str key, struct value v)
{
    if (is_none(value_get(obj, key)))
        value_put(a, obj, key, v);
}

void defaults__fill_zero(struct arena *a, struct value *obj, struct str key, struct value v)
{
    if (defaults__is_zero(value_get(obj, key)))
        value_put(a, obj, key, v);
}

/* The entries of both, in order; of one key the entry of `first`. */
static struct value merged(struct arena *a, const struct value *first, const struct value *second)
{
    struct value both = value_object();
    uint32_t n_first = value_is(first, VALUE_OBJECT) ? first->n : 0, i = 0, j = 0;
    while (i < n_first || j < second->n) {
        int c = i == n_first     ? 1
                : j == second->n ? -1
                                 : str_cmp(first->fields[i].key, second->fields[j].key);
        const struct value_field *f = c <= 0 ? &first->fields[i] : &second->fields[j];
        value_put_new(a, &both, f->key, value_borrow(&f->val));
        i += c <= 0;
        j += c >= 0;
    }
    return both;
}

void defaults__fill_map(struct arena *a, struct value *obj, struct str key,
                        const struct value *more)
{
    if (!value_is(more, VALUE_OBJECT) || !more->n)
        return;
    struct value both = merged(a, value_get(obj, key), more);
    value_put(a, obj, key, both);
}

/* ---- The walk ---- */

static void apply(struct arena *a, const struct kind_type *t, struct value *obj);

static bool is_unset(const struct kind_field *f, const struct value *v)
{
    bool is_pointer = f->flags & KIND_POINTER && f->shape == KIND_SINGLE;
    return is_pointer ? is_none(v) : defaults__is_zero(v);
}

static void fill_field(struct arena *a, const struct kind_field *f, struct value *obj)
{
    const struct value *v = value_get(obj, f->name);
    if (!is_unset(f, v))
        return;
    if (v)
        value_put(a, obj, f->name, value_borrow(f->default_value));
    else
        value_put_new(a, obj, f->name, value_borrow(f->default_value));
}

/* The first entry from `i` on that has something to round, and how it reads then. */
static uint32_t find_unround(struct arena *a, const struct value *map, uint32_t i, struct str *ret)
{
    for (; i < map->n; i++) {
        struct str old = value_str(&map->fields[i].val);
        *ret = quantity_round_milli(a, old);
        if (ret->p != old.p)
            break;
    }
    return i;
}

/* Most maps have nothing to round, and stay as they are. */
static void round_up(struct arena *a, struct value *map)
{
    struct str text;
    uint32_t next = find_unround(a, map, 0, &text);
    if (next == map->n)
        return;
    struct value rounded = value_object();
    for (uint32_t i = 0; i < map->n; i++) {
        struct value_field *f = &map->fields[i];
        value_put_new(a, &rounded, f->key, i == next ? value_string(text) : f->val);
        if (i == next)
            next = find_unround(a, map, i + 1, &text);
    }
    *map = rounded;
}

/* Of items that are the same one after the other (many empty ones) the first is done. */
static void apply_to_items(struct arena *a, const struct kind_type *t, struct value *list)
{
    struct value before = value_null();
    for (size_t i = 0; i < list->n && !arena_spent(a); i++) {
        struct value *item = value_edit_at(a, list, i);
        bool is_same = i && value_is_twin(item, &before);
        before = *item;
        if (is_same)
            *item = value_share(&list->items[i - 1]);
        else
            apply(a, t, item);
    }
}

static void apply_below(struct arena *a, const struct kind_field *f, struct value *obj)
{
    if (f->flags & KIND_INLINE) {
        apply(a, f->type, obj);
        return;
    }
    struct value *v = value_edit(a, obj, f->name);
    if (!v)
        return;
    if (f->flags & KIND_MILLI && v->type == VALUE_OBJECT)
        round_up(a, v);
    else if (f->shape == KIND_SINGLE)
        apply(a, f->type, v);
    else if (f->shape == KIND_LIST && v->type == VALUE_ARRAY)
        apply_to_items(a, f->type, v);
}

static void apply(struct arena *a, const struct kind_type *t, struct value *obj)
{
    const struct kind_defaults *d = t->defaults;
    if (!d || obj->type != VALUE_OBJECT)
        return;
    for (size_t i = 0; i < d->n_filled; i++)
        fill_field(a, &t->fields[d->filled[i]], obj);
    if (d->rule)
        d->rule(a, obj);
    for (size_t i = 0; i < d->n_below; i++)
        apply_below(a, &t->fields[d->below[i]], obj);
}

void defaults_apply(struct arena *a, const struct kind_type *t, struct value *obj)
{
    if (t->custom)
        t->custom->defaults(a, t, obj);
    else
        apply(a, t, obj);
}
