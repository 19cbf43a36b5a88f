/* convert_check_test.h - whether an object has all that another one has, for the tests over updates
 * through old versions: those may add something, and must not lose anything. */
#pragma once

#include "base/value.h"

static inline bool has_all_of(const struct value *got, const struct value *want)
{
    if (!want || want->type == VALUE_NULL)
        return true;
    if (!got || got->type != want->type)
        return false;
    bool good = want->type >= VALUE_ARRAY || value_eq(got, want);
    value_each_field (f, want)
        good = good && has_all_of(value_get(got, f->key), &f->val);
    if (want->type == VALUE_ARRAY)
        good = got->n == want->n;
    for (size_t i = 0; want->type == VALUE_ARRAY && good && i < want->n; i++)
        good = has_all_of(&got->items[i], &want->items[i]);
    return good;
}
