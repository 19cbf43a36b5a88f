/* typed_equal.c - whether two structs say the same. */
#include "client/typed/typed_item.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

static bool equal_struct(const struct spn_struct *t, const void *one, const void *other);
static bool equal_items(const struct spn_field *f, const struct typed_items *one,
                        const struct typed_items *other);

static bool equal_text(struct spn_text one, struct spn_text other)
{
    return !one.p == !other.p && spn_text_eq(one, other);
}

static bool equal_number(const struct spn_number *one, const struct spn_number *other)
{
    return one->is_set == other->is_set && (!one->is_set || one->value == other->value);
}

static bool equal_int_or_text(const struct spn_int_or_text *one,
                              const struct spn_int_or_text *other)
{
    if (one->is_set != other->is_set || !one->is_set)
        return one->is_set == other->is_set;
    return equal_text(one->text, other->text) && (one->text.p || one->value == other->value);
}

static bool equal_item(const struct spn_field *f, const void *one, const void *other)
{
    switch ((enum spn_what)f->what) {
    case SPN_IS_TEXT:
    case SPN_IS_BYTES:
        return equal_text(*(const struct spn_text *)one, *(const struct spn_text *)other);
    case SPN_IS_BOOL:
        return *(const bool *)one == *(const bool *)other;
    case SPN_IS_INT:
        return *(const int64_t *)one == *(const int64_t *)other;
    case SPN_IS_NUMBER:
        return equal_number(one, other);
    case SPN_IS_INT_OR_TEXT:
        return equal_int_or_text(one, other);
    case SPN_IS_VALUE:
        return spn_value_eq(*(const struct spn_value *const *)one,
                            *(const struct spn_value *const *)other);
    case SPN_IS_STRUCT:
        return equal_struct(f->type, one, other);
    case SPN_IS_NESTED:
        return equal_items(f->inner, one, other);
    }
    return false;
}

static bool equal_list(const struct spn_field *f, const struct typed_items *one,
                       const struct typed_items *other)
{
    for (size_t i = 0; i < one->n; i++)
        if (!equal_item(f, typed_item(f, one, i), typed_item(f, other, i)))
            return false;
    return true;
}

static int compare_names(const void *one, const void *other)
{
    const struct spn_text *const *a = one, *const *b = other;
    return str_cmp(str_in(**a), str_in(**b));
}

/* Pointers to the entries, by name. The caller frees it. */
static struct spn_text **sorted_entries(const struct spn_field *f, const struct typed_items *map)
{
    struct spn_text **entries = mem_alloc(map->n * sizeof(struct spn_text *));
    for (size_t i = 0; i < map->n; i++)
        entries[i] = typed_name(f, map, i);
    qsort(entries, map->n, sizeof(struct spn_text *), compare_names);
    return entries;
}

static bool equal_map(const struct spn_field *f, const struct typed_items *one,
                      const struct typed_items *other)
{
    if (one->n == 0)
        return true;
    struct spn_text **ours = sorted_entries(f, one), **theirs = sorted_entries(f, other);
    bool are_equal = true;
    for (size_t i = 0; i < one->n && are_equal; i++)
        are_equal = spn_text_eq(*ours[i], *theirs[i]) && equal_item(f, ours[i] + 1, theirs[i] + 1);
    free(ours);
    free(theirs);
    return are_equal;
}

static bool equal_items(const struct spn_field *f, const struct typed_items *one,
                        const struct typed_items *other)
{
    if (!one->p != !other->p || one->n != other->n)
        return false;
    return f->shape == SPN_LIST ? equal_list(f, one, other) : equal_map(f, one, other);
}

static bool equal_bool(const struct spn_bool *one, const struct spn_bool *other)
{
    return one->is_set == other->is_set && (!one->is_set || one->value == other->value);
}

static bool equal_int(const struct spn_int *one, const struct spn_int *other)
{
    return one->is_set == other->is_set && (!one->is_set || one->value == other->value);
}

static bool equal_field(const struct spn_field *f, const void *one, const void *other)
{
    if (f->shape != SPN_ONE)
        return equal_items(f, one, other);
    switch ((enum spn_what)f->what) {
    case SPN_IS_BOOL:
        return equal_bool(one, other);
    case SPN_IS_INT:
        return equal_int(one, other);
    case SPN_IS_STRUCT:
        return spn_typed_equal(f->type, *(const void *const *)one, *(const void *const *)other);
    default:
        return equal_item(f, one, other);
    }
}

static bool equal_struct(const struct spn_struct *t, const void *one, const void *other)
{
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct spn_field *f = &t->fields[i];
        if (!equal_field(f, typed_at(one, f), typed_at(other, f)))
            return false;
    }
    return spn_value_eq(*typed_rest(t, one), *typed_rest(t, other));
}

bool spn_typed_equal(const struct spn_struct *t, const void *one, const void *other)
{
    if (!one || !other)
        return one == other;
    return equal_struct(t, one, other);
}
