/* cri_tree.h - fields of CRI's messages, spelled shortly. What is empty or false is left out, as
 * proto3 has it. Texts are borrowed. */
#pragma once

#include "base/value.h"

static inline void tree_text(struct arena *a, struct value *obj, struct str key, struct str text)
{
    if (text.n)
        value_put_new(a, obj, key, value_string(text));
}

static inline void tree_int(struct arena *a, struct value *obj, struct str key, int64_t n)
{
    if (n)
        value_put_new(a, obj, key, value_int(n));
}

static inline void tree_true(struct arena *a, struct value *obj, struct str key, bool is_true)
{
    if (is_true)
        value_put_new(a, obj, key, value_bool(true));
}

/* An array or an object, unless it has nothing. */
static inline void tree_some(struct arena *a, struct value *obj, struct str key, struct value v)
{
    if (v.n)
        value_put_new(a, obj, key, v);
}

/* CRI's Int64Value, which tells 0 from nothing. */
static inline void tree_wrapped(struct arena *a, struct value *obj, struct str key, int64_t n)
{
    value_put_new(a, obj, key, value_int(n));
}

/* A copy of a list of texts. */
static inline struct value tree_texts(struct arena *a, const struct value *list)
{
    struct value copy = value_array();
    value_each_item (it, list)
        value_put_item(a, &copy, value_string(value_str(it)));
    return copy;
}
