/* Functions on lists: sets.contains and its kin, slice, flatten, sort, sortBy, lists.range,
 * reverse, distinct (cel-go's sets, and lists version 3); isSorted, sum, min, max, indexOf,
 * lastIndexOf, includes (Kubernetes). first() and last() are with the optionals. */
#include "base/idiom.h"
#include "cel/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/banned.h"

enum { RANGE_MAX = 1000000 };

static bool contains(struct cel__eval *ev, const struct cel_value *list, const struct cel_value *v)
{
    struct cel_value item;
    for (size_t i = 0; cel__list_next(ev, list, &i, &item);)
        if (cel__is_true(cel__equal(ev, v, &item)))
            return true;
    return false;
}

/* ---- Sets ---- */

static bool contains_all(struct cel__eval *ev, const struct cel_value *list,
                         const struct cel_value *items)
{
    struct cel_value item;
    for (size_t i = 0; cel__list_next(ev, items, &i, &item);)
        if (!contains(ev, list, &item))
            return false;
    return true;
}

/* Comparing everything with everything is paid for before it is done. */
static bool pay_pairs(struct cel__eval *ev, const struct cel_value *x, const struct cel_value *y)
{
    uint64_t pairs;
    if (__builtin_mul_overflow((uint64_t)cel__size(x), (uint64_t)cel__size(y), &pairs) ||
        pairs > ev->budget || ev->cost > ev->budget - pairs)
        cel__charge(ev, UINT64_MAX);
    return !ev->exceeded;
}

static struct cel_value fn_sets_contains(struct cel__eval *ev, const struct cel_value *args,
                                         size_t n)
{
    (void)n;
    if (!pay_pairs(ev, &args[0], &args[1]))
        return CEL__CANCELLED;
    return cel_of_bool(contains_all(ev, &args[0], &args[1]));
}

static struct cel_value fn_sets_equivalent(struct cel__eval *ev, const struct cel_value *args,
                                           size_t n)
{
    (void)n;
    if (!pay_pairs(ev, &args[0], &args[1]))
        return CEL__CANCELLED;
    return cel_of_bool(contains_all(ev, &args[0], &args[1]) &&
                       contains_all(ev, &args[1], &args[0]));
}

static struct cel_value fn_sets_intersects(struct cel__eval *ev, const struct cel_value *args,
                                           size_t n)
{
    (void)n;
    if (!pay_pairs(ev, &args[0], &args[1]))
        return CEL__CANCELLED;
    struct cel_value item;
    for (size_t i = 0; cel__list_next(ev, &args[0], &i, &item);)
        if (contains(ev, &args[1], &item))
            return cel_of_bool(true);
    return cel_of_bool(false);
}

/* ---- cel-go's lists ---- */

static struct cel_value fn_slice(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    int64_t from = args[1].i, to = args[2].i, size = (int64_t)cel__size(&args[0]);
    if (from < 0 || to < 0)
        return cel__fail(
            ev, "cannot slice(%" PRId64 ", %" PRId64 "), negative indexes not supported", from, to);
    if (from > to)
        return cel__fail(ev,
                         "cannot slice(%" PRId64 ", %" PRId64
                         "), start index must be less than or equal to end index",
                         from, to);
    if (size < to)
        return cel__fail(ev, "cannot slice(%" PRId64 ", %" PRId64 "), list is length %" PRId64,
                         from, to, size);
    struct cel_value list = cel__list_new(ev, (size_t)(to - from));
    for (int64_t i = from; i < to && cel__work(ev, 1); i++)
        cel__list_push(ev, &list, cel__item(ev, &args[0], (size_t)i));
    return list;
}

static void flatten(struct cel__eval *ev, const struct cel_value *list, int64_t depth,
                    struct cel_value *ret)
{
    struct cel_value item;
    if (!cel__enter(ev))
        return;
    for (size_t i = 0; cel__list_next(ev, list, &i, &item);) {
        if (item.kind == CEL_LIST && depth > 0)
            flatten(ev, &item, depth - 1, ret);
        else
            cel__list_push(ev, ret, item);
    }
    cel__leave(ev);
}

static struct cel_value fn_flatten(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    if (args[0].kind != CEL_LIST || (n == 2 && args[1].kind != CEL_INT))
        return cel__fail(ev, "no such overload: " STR_FMT ".flatten(" STR_FMT ")",
                         STR_ARG(cel__type_of(&args[0])->name),
                         STR_ARG(n == 2 ? cel__type_of(&args[1])->name : STR("")));
    int64_t depth = n == 2 ? args[1].i : 1;
    if (depth < 0)
        return cel__error_text("level must be non-negative");
    struct cel_value list = cel__list_new(ev, cel__size(&args[0]));
    flatten(ev, &args[0], depth, &list);
    return list;
}

struct keyed {
    struct cel_value key, item;
};

/* Merge sort, which keeps the order of equal keys; the last error wins nothing, the first does. */
static struct cel_value sort_keyed(struct cel__eval *ev, struct keyed *v, struct keyed *spare,
                                   size_t n)
{
    if (n < 2)
        return cel_of_null();
    size_t half = n / 2, i = 0, j = half;
    struct cel_value error = sort_keyed(ev, v, spare, half);
    if (error.kind != CEL_ERROR)
        error = sort_keyed(ev, v + half, spare, n - half);
    for (size_t k = 0; k < n && error.kind != CEL_ERROR && cel__work(ev, 1); k++) {
        bool right = i == half;
        if (i < half && j < n) {
            struct cel_value order = cel__compare(ev, &v[j].key, &v[i].key);
            right = order.kind == CEL_INT && order.i < 0;
            if (v[i].key.kind != v[j].key.kind)
                error = cel__error_text("list elements must have the same type");
        }
        spare[k] = right ? v[j++] : v[i++];
    }
    if (error.kind != CEL_ERROR && !ev->exceeded)
        memcpy(v, spare, n * sizeof(*v));
    return error;
}

static bool is_comparable(const struct cel_value *v)
{
    return v->kind >= CEL_BOOL && v->kind <= CEL_DURATION;
}

static struct cel_value sort_by(struct cel__eval *ev, const struct cel_value *list,
                                const struct cel_value *keys)
{
    size_t n = cel__size(list);
    if (n != cel__size(keys))
        return cel__fail(ev,
                         "@sortByAssociatedKeys() expected a list of the same size as the "
                         "associated keys list, but got %zu and %zu elements respectively",
                         n, cel__size(keys));
    if (n > SIZE_MAX / 2 / sizeof(struct keyed) || !cel__afford(ev, 2 * n * sizeof(struct keyed)))
        return CEL__CANCELLED;
    struct keyed *v = arena_array(ev->arena, struct keyed, n);
    struct keyed *spare = arena_array(ev->arena, struct keyed, n);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct keyed){ cel__item(ev, keys, i), cel__item(ev, list, i) };
    if (n && !is_comparable(&v[0].key))
        return cel__error_text("list elements must be comparable");
    struct cel_value error = sort_keyed(ev, v, spare, n);
    if (error.kind == CEL_ERROR)
        return error;
    struct cel_value sorted = cel__list_new(ev, n);
    for (size_t i = 0; i < n; i++)
        cel__list_push(ev, &sorted, v[i].item);
    return sorted;
}

static struct cel_value fn_sort(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    return sort_by(ev, &args[0], &args[0]);
}

static struct cel_value fn_sort_by(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    return sort_by(ev, &args[0], &args[1]);
}

static struct cel_value fn_range(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    int64_t end = args[0].i;
    if (end < 0)
        return cel__fail(ev, "lists.range: size must be non-negative, got %" PRId64, end);
    if (end > RANGE_MAX)
        return cel__fail(ev, "lists.range: size %" PRId64 " exceeds maximum allowed (%d)", end,
                         RANGE_MAX);
    struct cel_value list = cel__list_new(ev, (size_t)end);
    for (int64_t i = 0; i < end && cel__work(ev, 1); i++)
        cel__list_push(ev, &list, cel_of_int(i));
    return list;
}

static struct cel_value fn_reverse(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    size_t size = cel__size(&args[0]);
    struct cel_value list = cel__list_new(ev, size);
    for (size_t i = size; i > 0 && cel__work(ev, 1); i--)
        cel__list_push(ev, &list, cel__item(ev, &args[0], i - 1));
    return list;
}

static struct cel_value fn_distinct(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    if (!pay_pairs(ev, &args[0], &args[0]))
        return CEL__CANCELLED;
    struct cel_value list = cel__list_new(ev, cel__size(&args[0])), item;
    for (size_t i = 0; cel__list_next(ev, &args[0], &i, &item);)
        if (!contains(ev, &list, &item))
            cel__list_push(ev, &list, item);
    return list;
}

/* ---- Kubernetes' lists ---- */

static struct cel_value fn_is_sorted(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct cel_value previous = { 0 }, item;
    for (size_t i = 0; cel__list_next(ev, &args[0], &i, &item);) {
        if (!is_comparable(&item))
            return item.kind == CEL_ERROR ? item : CEL__NO_OVERLOAD;
        struct cel_value order = i > 1 ? cel__compare(ev, &previous, &item) : cel_of_int(0);
        if (order.kind == CEL_INT && order.i > 0)
            return cel_of_bool(false);
        previous = item;
    }
    return cel_of_bool(true);
}

static struct cel_value add(struct cel_value x, const struct cel_value *y)
{
    if (x.kind != y->kind)
        return y->kind == CEL_ERROR ? *y : CEL__NO_OVERLOAD;
    if (x.kind == CEL_DOUBLE)
        x.d += y->d;
    else if (x.kind == CEL_UINT && __builtin_add_overflow(x.u, y->u, &x.u))
        return cel__error_text("unsigned integer overflow");
    else if (x.kind != CEL_UINT && __builtin_add_overflow(x.i, y->i, &x.i))
        return cel__error_text("integer overflow");
    return x;
}

static struct cel_value sum(struct cel__eval *ev, const struct cel_value *list,
                            struct cel_value total)
{
    struct cel_value item;
    for (size_t i = 0; total.kind != CEL_ERROR && cel__list_next(ev, list, &i, &item);)
        total = add(total, &item);
    return total;
}

#define SUM(name, zero)                                                                        \
    static struct cel_value name(struct cel__eval *ev, const struct cel_value *args, size_t n) \
    {                                                                                          \
        (void)n;                                                                               \
        return sum(ev, &args[0], zero);                                                        \
    }
SUM(fn_sum_int, cel_of_int(0))
SUM(fn_sum_uint, cel_of_uint(0))
SUM(fn_sum_double, cel_of_double(0))
SUM(fn_sum_duration, cel__duration(0))

static struct cel_value extreme(struct cel__eval *ev, const struct cel_value *list, int prefer,
                                const char *name)
{
    struct cel_value best = { 0 }, item;
    for (size_t i = 0; cel__list_next(ev, list, &i, &item);) {
        if (!is_comparable(&item))
            return item.kind == CEL_ERROR ? item : CEL__NO_OVERLOAD;
        struct cel_value order = i > 1 ? cel__compare(ev, &best, &item) : cel_of_int(prefer);
        if (order.kind == CEL_INT && order.i == prefer)
            best = item;
    }
    return cel__size(list) ? best : cel__fail(ev, "%s called on empty list", name);
}

static struct cel_value fn_min(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    return extreme(ev, &args[0], 1, "min");
}

static struct cel_value fn_max(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    return extreme(ev, &args[0], -1, "max");
}

static struct cel_value fn_index_of(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct cel_value item;
    for (size_t i = 0; cel__list_next(ev, &args[0], &i, &item);)
        if (cel__is_true(cel__equal(ev, &item, &args[1])))
            return cel_of_int((int64_t)i - 1);
    return cel_of_int(-1);
}

static struct cel_value fn_last_index_of(struct cel__eval *ev, const struct cel_value *args,
                                         size_t n)
{
    (void)n;
    for (size_t i = cel__size(&args[0]); i > 0 && cel__work(ev, 1); i--) {
        struct cel_value item = cel__item(ev, &args[0], i - 1);
        if (cel__is_true(cel__equal(ev, &item, &args[1])))
            return cel_of_int((int64_t)i - 1);
    }
    return cel_of_int(-1);
}

static struct cel_value fn_includes(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    if (args[0].kind == CEL_LIST)
        return cel_of_bool(contains(ev, &args[0], &args[1]));
    return cel_of_bool(cel__is_true(cel__equal(ev, &args[0], &args[1])));
}

/* One row for each type that can be ordered; text has a cost of its own. */
#define ORDERED(name, plain, of_text, fn, result)                              \
    CEL__METHOD(name, plain, fn, result(int), &cel__list_int),                 \
        CEL__METHOD(name, plain, fn, result(uint), &cel__list_uint),           \
        CEL__METHOD(name, plain, fn, result(double), &cel__list_double),       \
        CEL__METHOD(name, plain, fn, result(bool), &cel__list_bool),           \
        CEL__METHOD(name, plain, fn, result(duration), &cel__list_duration),   \
        CEL__METHOD(name, plain, fn, result(timestamp), &cel__list_timestamp), \
        CEL__METHOD(name, of_text, fn, result(string), &cel__list_string),     \
        CEL__METHOD(name, of_text, fn, result(bytes), &cel__list_bytes)
#define TO_BOOL(t) &cel_bool
#define TO_ITEM(t) &cel_##t
#define TO_LIST(t) &cel__list_##t
#define SORT_BY(t, charge) \
    CEL__METHOD("@sortByAssociatedKeys", charge, fn_sort_by, &cel__list_A, &cel__list_A, t)

static const struct cel__overload set_rows[] = {
    CEL__FUNCTION("sets.contains", CEL__COST_SETS, fn_sets_contains, &cel_bool, &cel__list_A,
                  &cel__list_A),
    CEL__FUNCTION("sets.equivalent", CEL__COST_SETS_EQUIVALENT, fn_sets_equivalent, &cel_bool,
                  &cel__list_A, &cel__list_A),
    CEL__FUNCTION("sets.intersects", CEL__COST_SETS, fn_sets_intersects, &cel_bool, &cel__list_A,
                  &cel__list_A),
};

static const struct cel_type list_list_A = {
    .kind = CEL_LIST, .name = { "list", 4 }, .n_params = 1, .params = { &cel__list_A }
};

static const struct cel__overload rows[] = {
    CEL__METHOD("slice", CEL__COST_LIST_SLICE, fn_slice, &cel__list_A, &cel__list_A, &cel_int,
                &cel_int),
    { .function = "flatten",
      .result = &cel__list_A,
      .args = { &list_list_A },
      .n_args = 1,
      .call = fn_flatten,
      .cost = CEL__COST_FLATTEN,
      .member = true,
      .unguarded = true },
    { .function = "flatten",
      .result = &cel__list_dyn,
      .args = { &cel__list_dyn, &cel_int },
      .n_args = 2,
      .call = fn_flatten,
      .cost = CEL__COST_FLATTEN,
      .member = true,
      .unguarded = true },
    ORDERED("sort", CEL__COST_SORT, CEL__COST_SORT_TEXT, fn_sort, TO_LIST),
    SORT_BY(&cel__list_int, CEL__COST_SORT_BY),
    SORT_BY(&cel__list_uint, CEL__COST_SORT_BY),
    SORT_BY(&cel__list_double, CEL__COST_SORT_BY),
    SORT_BY(&cel__list_bool, CEL__COST_SORT_BY),
    SORT_BY(&cel__list_duration, CEL__COST_SORT_BY),
    SORT_BY(&cel__list_timestamp, CEL__COST_SORT_BY),
    SORT_BY(&cel__list_string, CEL__COST_SORT_BY_TEXT),
    SORT_BY(&cel__list_bytes, CEL__COST_SORT_BY_TEXT),
    CEL__FUNCTION("lists.range", CEL__COST_LIST_RANGE, fn_range, &cel__list_int, &cel_int),
    CEL__METHOD("reverse", CEL__COST_LIST_RESULT, fn_reverse, &cel__list_A, &cel__list_A),
    CEL__METHOD("distinct", CEL__COST_DISTINCT, fn_distinct, &cel__list_A, &cel__list_A),
};

#define TRAVERSE CEL__COST_TRAVERSE

static const struct cel__overload kubernetes_rows[] = {
    ORDERED("isSorted", TRAVERSE, TRAVERSE, fn_is_sorted, TO_BOOL),
    CEL__METHOD("sum", TRAVERSE, fn_sum_int, &cel_int, &cel__list_int),
    CEL__METHOD("sum", TRAVERSE, fn_sum_uint, &cel_uint, &cel__list_uint),
    CEL__METHOD("sum", TRAVERSE, fn_sum_double, &cel_double, &cel__list_double),
    CEL__METHOD("sum", TRAVERSE, fn_sum_duration, &cel_duration, &cel__list_duration),
    ORDERED("max", TRAVERSE, TRAVERSE, fn_max, TO_ITEM),
    ORDERED("min", TRAVERSE, TRAVERSE, fn_min, TO_ITEM),
    CEL__METHOD("indexOf", TRAVERSE, fn_index_of, &cel_int, &cel__list_A, &cel__A),
    CEL__METHOD("lastIndexOf", TRAVERSE, fn_last_index_of, &cel_int, &cel__list_A, &cel__A),
    CEL__METHOD("includes", CEL__COST_INCLUDES, fn_includes, &cel_bool, &cel_dyn, &cel_dyn),
};

const struct cel__library cel__lib_sets = { set_rows, ARRAY_LEN(set_rows), 0 };
const struct cel__library cel__lib_lists = { rows, ARRAY_LEN(rows), 0 };
const struct cel__library cel__lib_k8s_lists = { kubernetes_rows, ARRAY_LEN(kubernetes_rows), 0 };
