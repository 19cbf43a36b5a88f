#include "merge/sorted.h"

#include <stdlib.h>

#include "base/banned.h"

/* By name, and duplicates in the order they stand in. */
static int compare(const struct value_field *a, const struct value_field *b)
{
    int c = str_cmp(a->key, b->key);
    return c ? c : (a > b) - (a < b);
}

static int compare_entries(const void *pa, const void *pb)
{
    return compare(*(const struct value_field *const *)pa, *(const struct value_field *const *)pb);
}

enum { INSERTION_MAX = 32 };

static void sort(const struct value_field **fields, size_t n)
{
    size_t i = 1;
    while (i < n && compare(fields[i - 1], fields[i]) < 0)
        i++;
    if (n > INSERTION_MAX && i < n) {
        qsort(fields, n, sizeof(*fields), compare_entries);
        return;
    }
    for (; i < n; i++) {
        const struct value_field *f = fields[i];
        size_t at = i;
        for (; at && compare(f, fields[at - 1]) < 0; at--)
            fields[at] = fields[at - 1];
        fields[at] = f;
    }
}

static size_t drop_earlier_duplicates(const struct value_field **fields, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(fields[i]->key, fields[i + 1]->key))
            fields[kept++] = fields[i];
    return kept;
}

struct sorted sorted_fields(struct arena *a, const struct value *obj)
{
    struct sorted s = { 0 };
    if (!value_is(obj, VALUE_OBJECT) || !obj->n)
        return s;
    s.fields = arena_alloc(a, obj->n * sizeof(*s.fields), alignof(void *));
    for (uint32_t i = 0; i < obj->n; i++)
        s.fields[i] = &obj->fields[i];
    sort(s.fields, obj->n);
    s.n = drop_earlier_duplicates(s.fields, obj->n);
    return s;
}

bool sorted_next(struct sorted_pair *p, struct sorted_step *ret)
{
    const struct value_field *left = p->i < p->left.n ? p->left.fields[p->i] : NULL;
    const struct value_field *right = p->j < p->right.n ? p->right.fields[p->j] : NULL;
    if (!left && !right)
        return false;
    int c = !left ? 1 : !right ? -1 : str_cmp(left->key, right->key);
    *ret = (struct sorted_step){ .key = c <= 0 ? left->key : right->key,
                                 .left = c <= 0 ? &left->val : NULL,
                                 .right = c >= 0 ? &right->val : NULL };
    p->i += c <= 0;
    p->j += c >= 0;
    return true;
}

struct value sorted_copy(struct arena *a, const struct value *v)
{
    struct value out = value_borrow(v);
    if (v->type == VALUE_ARRAY) {
        out = value_array();
        value_each_item (it, v)
            value_put_item(a, &out, sorted_copy(a, it));
    } else if (v->type == VALUE_OBJECT) {
        struct sorted fields = sorted_fields(a, v);
        out = value_object();
        for (size_t i = 0; i < fields.n; i++)
            value_put_new(a, &out, fields.fields[i]->key, sorted_copy(a, &fields.fields[i]->val));
    }
    return out;
}
