/* jsonpath.c - walks an object along a path.
 *
 * Every node turns the values that were found so far into others. A step that fails also says what
 * it has: a filter that only asks whether something exists takes that for an answer. */
#include "schema/jsonpath.h"

#include <stdlib.h>

#include "base/limits.h"
#include "merge/unstructured.h"
#include "schema/jsonpath_internal.h"

#include "base/banned.h"

struct finder {
    struct arena *arena;
    struct err *err;
    bool may_miss;
    size_t budget;                 /* values that may still be looked at */
    size_t begun, in_range, ended; /* {range} and {end} that were met */
    const struct jsonpath_node *last_end;
    struct jsonpath_results all;
    size_t cap;
};

/* What anything costs; unions, recursion and ranges would multiply without end. */
static int visit(struct finder *f, size_t n)
{
    bool enough = n <= f->budget;
    f->budget = enough ? f->budget - n : 0;
    return enough ? 0 : err_set(f->err, ERR_INVALID, "too many values are looked at");
}

/* ---- Lists of values ---- */

struct found {
    const struct value **p;
    size_t n, cap;
};

static int push(struct finder *f, struct found *to, const struct value *v)
{
    int r = visit(f, 1);
    if (r < 0)
        return r;
    if (to->n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 4;
        to->p = arena_grow(f->arena, to->p, to->cap * sizeof(*to->p), cap * sizeof(*to->p),
                           alignof(const struct value *));
        to->cap = cap;
    }
    to->p[to->n++] = v;
    return 0;
}

static int push_all(struct finder *f, struct found *to, const struct found *from)
{
    for (size_t i = 0; i < from->n; i++) {
        int r = push(f, to, from->p[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_null(const struct value *v)
{
    return v->type == VALUE_NULL;
}

static int eval_nodes(struct finder *f, const struct jsonpath_nodes *nodes, struct found in,
                      struct found *ret);

/* ---- Fields ---- */

static int eval_field(struct finder *f, const struct jsonpath_node *node, const struct found *in,
                      struct found *ret)
{
    enum { FIELDS_AT_ONCE = 16 };
    for (size_t i = 0; i < in->n; i++) {
        if (in->p[i]->type != VALUE_OBJECT)
            continue;
        int r = visit(f, in->p[i]->n / FIELDS_AT_ONCE);
        if (r < 0)
            return r;
        const struct value *v = value_get(in->p[i], node->name);
        r = v ? push(f, ret, v) : 0;
        if (r < 0)
            return r;
    }
    if (in->n && !ret->n && !f->may_miss)
        return err_set(f->err, ERR_INVALID, STR_FMT " is not found", STR_ARG(node->name));
    return 0;
}

/* The bytes of a text, which is what Go sees in it. */
static int push_bytes(struct finder *f, struct found *to, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        struct value *byte = arena_new(f->arena, struct value);
        *byte = value_int((unsigned char)text.p[i]);
        int r = push(f, to, byte);
        if (r < 0)
            return r;
    }
    return 0;
}

static int push_children(struct finder *f, struct found *to, const struct value *v)
{
    value_each_field (field, v) {
        int r = push(f, to, &field->val);
        if (r < 0)
            return r;
    }
    value_each_item (it, v) {
        int r = push(f, to, it);
        if (r < 0)
            return r;
    }
    return 0;
}

static int eval_wildcard(struct finder *f, const struct found *in, struct found *ret)
{
    for (size_t i = 0; i < in->n; i++) {
        int r = in->p[i]->type == VALUE_STRING ? push_bytes(f, ret, value_str(in->p[i]))
                                               : push_children(f, ret, in->p[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool has_inside(const struct value *v)
{
    return (v->type == VALUE_STRING || v->type == VALUE_ARRAY || v->type == VALUE_OBJECT) && v->n;
}

/* Those that have something inside, the last one first. */
static int push_inner(struct finder *f, struct found *to, const struct value *v)
{
    size_t n = v->type == VALUE_STRING ? 0 : v->n;
    int r = visit(f, n);
    if (r < 0)
        return r;
    bool is_object = v->type == VALUE_OBJECT;
    for (size_t i = n; i > 0; i--) {
        const struct value *child = is_object ? &v->fields[i - 1].val : &v->items[i - 1];
        r = has_inside(child) ? push(f, to, child) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* Moves the top of the stack to what is found, and what it has inside onto the stack. */
static int unfold(struct finder *f, struct found *open, struct found *ret)
{
    const struct value *v = open->p[--open->n];
    int r = push(f, ret, v);
    if (r < 0)
        return r;
    return push_inner(f, open, v);
}

/* Everything that has something inside, a container before its children. `open` is a stack. */
static int eval_recursive(struct finder *f, const struct found *in, struct found *ret)
{
    struct found open = { 0 };
    for (size_t i = 0; i < in->n; i++) {
        int r = has_inside(in->p[i]) ? push(f, &open, in->p[i]) : visit(f, 1);
        if (r < 0)
            return r;
        while (open.n) {
            r = unfold(f, &open, ret);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* ---- Lists ---- */

static int out_of_bounds(struct finder *f, int64_t index, size_t length)
{
    return err_set(f->err, ERR_INVALID, "array index out of bounds: index %lld, length %zu",
                   (long long)index, length);
}

/* From where to where of a list of `length`. 1, 0 if nothing is asked for, or an error. */
static int find_range(struct finder *f, const struct jsonpath_param *slice, size_t length,
                      int64_t *ret_from, int64_t *ret_to)
{
    int64_t n = (int64_t)length, from = slice[0].known ? slice[0].value : 0,
            to = slice[1].known ? slice[1].value : n;
    if (from < 0)
        from += n;
    if (to < 0 || (to == 0 && slice[1].derived))
        to += n;
    if (from == to)
        return 0;
    if (from >= n || from < 0)
        return out_of_bounds(f, from, length);
    if (to > n || to < 0)
        return out_of_bounds(f, to - 1, length);
    if (from > to)
        return err_set(f->err, ERR_INVALID, "starting index %lld is greater than ending index %lld",
                       (long long)from, (long long)to);
    *ret_from = from;
    *ret_to = to;
    return 1;
}

/* The items of one list, to the end of `ret`. 1, 0 if none was asked for, or an error. */
static int slice(struct finder *f, const struct jsonpath_param *params, const struct value *list,
                 struct found *ret)
{
    int64_t from = 0, to = 0, step = params[2].known ? params[2].value : 1;
    if (list->type != VALUE_ARRAY)
        return err_set(f->err, ERR_INVALID, "%s is not array or slice", unstructured_type(list));
    int r = find_range(f, params, list->n, &from, &to);
    if (r <= 0)
        return r;
    if (step <= 0)
        return err_set(f->err, ERR_INVALID, "step must be > 0");
    while (from < to) {
        r = push(f, ret, &list->items[from]);
        if (r < 0)
            return r;
        from = step < to - from ? from + step : to;
    }
    return 1;
}

static int eval_array(struct finder *f, const struct jsonpath_node *node, const struct found *in,
                      struct found *ret)
{
    for (size_t i = 0; i < in->n; i++) {
        int r = is_null(in->p[i]) ? 1 : slice(f, node->slice, in->p[i], ret);
        if (r < 0)
            *ret = *in;
        if (r <= 0)
            return r;
    }
    return 0;
}

static int eval_union(struct finder *f, const struct jsonpath_node *node, const struct found *in,
                      struct found *ret)
{
    for (const struct jsonpath_node *list = node->nodes.first; list; list = list->next) {
        struct found some = { 0 };
        int r = eval_nodes(f, &list->nodes, *in, &some);
        if (r < 0) {
            *ret = *in;
            return r;
        }
        r = push_all(f, ret, &some);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- Filters ---- */

/* What can be compared; of the others none is. */
static bool is_comparable(const struct value *v)
{
    return v->type == VALUE_BOOL || v->type == VALUE_INT || v->type == VALUE_NUMBER ||
           v->type == VALUE_STRING;
}

static int bad_type(struct finder *f)
{
    return err_set(f->err, ERR_INVALID, "invalid type for comparison");
}

/* -1, 0 or 1 into `ret`. Booleans are equal or not, but none is the lesser. */
static int compare(struct finder *f, const struct value *a, const struct value *b, bool order,
                   int *ret)
{
    double x, y;
    if (!is_comparable(a) || !is_comparable(b))
        return bad_type(f);
    if (a->type != b->type)
        return err_set(f->err, ERR_INVALID, "incompatible types for comparison");
    switch (a->type) {
    case VALUE_BOOL:
        *ret = a->b != b->b;
        return order ? bad_type(f) : 0;
    case VALUE_INT:
        *ret = a->i < b->i ? -1 : a->i > b->i;
        return 0;
    case VALUE_NUMBER:
        if (!value_to_double(a, &x) || !value_to_double(b, &y))
            return bad_type(f);
        *ret = x < y ? -1 : x > y;
        return 0;
    default:
        *ret = str_cmp(value_str(a), value_str(b));
        return 0;
    }
}

/* 1 if it is so, 0 if not. */
static int holds(struct finder *f, const struct jsonpath_node *node, const struct value *left,
                 const struct value *right)
{
    if (node->op == JSONPATH_UNKNOWN)
        return err_set(f->err, ERR_INVALID, "unrecognized filter operator " STR_FMT,
                       STR_ARG(node->name));
    int c = 0, r = compare(f, left, right,
                           node->op != JSONPATH_EQUAL && node->op != JSONPATH_NOT_EQUAL, &c);
    if (r < 0)
        return r;
    switch (node->op) {
    case JSONPATH_LESS:
        return c < 0;
    case JSONPATH_GREATER:
        return c > 0;
    case JSONPATH_EQUAL:
        return c == 0;
    case JSONPATH_NOT_EQUAL:
        return c != 0;
    case JSONPATH_LESS_EQUAL:
        return c <= 0;
    default:
        return c >= 0;
    }
}

/* One side of a comparison: 1, or 0 if there is nothing to compare. */
static int eval_side(struct finder *f, const struct jsonpath_nodes *nodes, const struct value *item,
                     const struct value **ret)
{
    struct found some = { 0 };
    int r = eval_nodes(f, nodes, (struct found){ .p = &item, .n = 1 }, &some);
    if (r < 0)
        return r;
    if (some.n > 1)
        return err_set(f->err, ERR_INVALID, "can only compare one element at a time");
    if (some.n)
        *ret = some.p[0];
    return (int)some.n;
}

/* 1 if the item passes. */
static int passes(struct finder *f, const struct jsonpath_node *node, const struct value *item)
{
    if (node->op == JSONPATH_EXISTS) {
        struct found some = { 0 };
        struct err *err = f->err;
        f->err = NULL;
        (void)eval_nodes(f, &node->nodes, (struct found){ .p = &item, .n = 1 }, &some);
        f->err = err;
        return some.n > 0;
    }
    const struct value *left = NULL, *right = NULL;
    int r = eval_side(f, &node->nodes, item, &left);
    if (r != 1)
        return r;
    r = eval_side(f, &node->right, item, &right);
    if (r != 1)
        return r;
    return holds(f, node, left, right);
}

/* The text is as long as what it shows, so it is only made for somebody who reads it. */
static int not_filtered(struct finder *f, const struct value *v)
{
    if (!f->err)
        return -ERR_INVALID;
    return err_set(f->err, ERR_INVALID, STR_FMT " is not array or slice and cannot be filtered",
                   STR_ARG(unstructured_text(f->arena, v)));
}

static int pays_and_passes(struct finder *f, const struct jsonpath_node *node,
                           const struct value *item)
{
    int r = visit(f, 1);
    if (r < 0)
        return r;
    return passes(f, node, item);
}

static int eval_filter(struct finder *f, const struct jsonpath_node *node, const struct found *in,
                       struct found *ret)
{
    for (size_t i = 0; i < in->n; i++) {
        if (in->p[i]->type != VALUE_ARRAY) {
            *ret = *in;
            return not_filtered(f, in->p[i]);
        }
        value_each_item (it, in->p[i]) {
            int r = pays_and_passes(f, node, it);
            if (r < 0) {
                *ret = *in;
                return r;
            }
            r = r > 0 ? push(f, ret, it) : 0;
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* ---- All of them ---- */

static int eval_identifier(struct finder *f, const struct jsonpath_node *node,
                           const struct found *in, struct found *ret)
{
    if (str_eq(node->name, STR("end"))) {
        if (!f->in_range)
            return err_set(f->err, ERR_INVALID, "not in range, nothing to end");
        f->ended++;
        return 0;
    }
    *ret = *in;
    if (!str_eq(node->name, STR("range")))
        return err_set(f->err, ERR_INVALID, "unrecognized identifier " STR_FMT,
                       STR_ARG(node->name));
    f->begun++;
    return 0;
}

/* A text stands for itself; a number once for each value. */
static int eval_constant(struct finder *f, const struct jsonpath_node *node, const struct found *in,
                         struct found *ret)
{
    size_t n = node->constant.type == VALUE_STRING ? 1 : in->n;
    for (size_t i = 0; i < n; i++) {
        int r = push(f, ret, &node->constant);
        if (r < 0)
            return r;
    }
    return 0;
}

static int eval_node(struct finder *f, const struct jsonpath_node *node, const struct found *in,
                     struct found *ret)
{
    int r = visit(f, 1 + in->n);
    if (r < 0)
        return r;
    switch (node->type) {
    case JSONPATH_LIST:
        return eval_nodes(f, &node->nodes, *in, ret);
    case JSONPATH_CONSTANT:
        return eval_constant(f, node, in, ret);
    case JSONPATH_FIELD:
        return eval_field(f, node, in, ret);
    case JSONPATH_WILDCARD:
        return eval_wildcard(f, in, ret);
    case JSONPATH_RECURSIVE:
        return eval_recursive(f, in, ret);
    case JSONPATH_ARRAY:
        return eval_array(f, node, in, ret);
    case JSONPATH_UNION:
        return eval_union(f, node, in, ret);
    case JSONPATH_FILTER:
        return eval_filter(f, node, in, ret);
    case JSONPATH_IDENTIFIER:
        return eval_identifier(f, node, in, ret);
    }
    return 0;
}

/* One node after the other. What was found when one fails counts for who only asks whether there
 * is anything. */
static int eval_nodes(struct finder *f, const struct jsonpath_nodes *nodes, struct found in,
                      struct found *ret)
{
    *ret = in;
    for (const struct jsonpath_node *node = nodes->first; node; node = node->next) {
        struct found out = { 0 };
        int r = eval_node(f, node, ret, &out);
        *ret = out;
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- Templates ---- */

static void add_result(struct finder *f, const struct found *found)
{
    if (f->all.n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 2;
        f->all.list = arena_grow(f->arena, f->all.list, f->cap * sizeof(*f->all.list),
                                 cap * sizeof(*f->all.list), alignof(struct jsonpath_found));
        f->cap = cap;
    }
    f->all.list[f->all.n++] = (struct jsonpath_found){ found->p, found->n };
}

static int find(struct finder *f, const struct jsonpath_node *node, const struct value *obj);

/* The nodes from `node` on, once for each value. Without any they are still gone through, to know
 * where the range ends. */
static int find_for_each(struct finder *f, const struct jsonpath_node *node,
                         const struct found *values)
{
    static const struct value nothing = { .type = VALUE_NULL };
    for (size_t i = 0; i < values->n; i++) {
        int r = find(f, node, values->p[i]);
        if (r < 0)
            return r;
    }
    if (values->n)
        return 0;
    size_t n = f->all.n;
    int r = find(f, node, &nothing);
    f->all.n = n;
    return r;
}

/* What stands after `node`, for each value. The node where it goes on is returned. */
static int find_range_of(struct finder *f, const struct jsonpath_node **node,
                         const struct found *values)
{
    f->begun--;
    if (++f->in_range > LIMIT_JSONPATH_DEPTH)
        return err_set(f->err, ERR_INVALID, "too many ranges inside each other");
    int r = find_for_each(f, (*node)->next, values);
    f->in_range--;
    if (r < 0)
        return r;
    for (const struct jsonpath_node *end = (*node)->next; end; end = end->next)
        if (end == f->last_end)
            *node = end;
    return 0;
}

/* The nodes from `node` on, up to the {end} of the range they are in. */
static int find(struct finder *f, const struct jsonpath_node *node, const struct value *obj)
{
    for (; node; node = node->next) {
        struct found in = { .p = &obj, .n = 1 }, out = { 0 };
        int r = eval_node(f, node, &in, &out);
        if (r < 0)
            return r;
        if (f->ended && f->ended <= f->in_range) {
            f->ended--;
            f->last_end = node;
            return 0;
        }
        if (f->begun) {
            r = find_range_of(f, &node, &out);
            if (r < 0)
                return r;
            continue;
        }
        if (out.p == &obj) { /* which lies here */
            out = (struct found){ 0 };
            r = push(f, &out, obj);
            if (r < 0)
                return r;
        }
        add_result(f, &out);
    }
    return 0;
}

int jsonpath_find(struct arena *a, const struct jsonpath *path, const struct value *obj,
                  bool may_miss, size_t *budget, struct jsonpath_results *ret, struct err *err)
{
    struct finder f = { .arena = a, .err = err, .may_miss = may_miss, .budget = *budget };
    int r = find(&f, path->nodes.first, obj);
    *budget = f.budget;
    if (r < 0)
        return r;
    *ret = f.all;
    return 0;
}
