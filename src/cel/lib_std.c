/* The operators and functions of the language itself. What && || ?: == and [] mean is in eval.c;
 * here are their signatures. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "base/regexp.h"

#include "base/banned.h"

#define INT_OVERFLOW  cel__error_text("integer overflow")
#define UINT_OVERFLOW cel__error_text("unsigned integer overflow")

static struct cel_value int_or_overflow(bool overflow, int64_t i)
{
    return overflow ? INT_OVERFLOW : cel_of_int(i);
}

static struct cel_value uint_or_overflow(bool overflow, uint64_t u)
{
    return overflow ? UINT_OVERFLOW : cel_of_uint(u);
}

/* ---- Times, which the operators share ---- */

enum { NANOS_PER_SEC = 1000000000 };
#define TIME_MIN INT64_C(-62135596800)
#define TIME_MAX INT64_C(253402300799)

static struct cel_value add_time(const struct cel_value *t, int64_t nanos)
{
    int64_t sec;
    int64_t rest = t->nanos + nanos % NANOS_PER_SEC;
    if (__builtin_add_overflow(t->i, nanos / NANOS_PER_SEC, &sec))
        return INT_OVERFLOW;
    sec += rest / NANOS_PER_SEC;
    rest %= NANOS_PER_SEC;
    if (rest < 0) {
        rest += NANOS_PER_SEC;
        sec--;
    }
    if (sec < TIME_MIN || sec > TIME_MAX)
        return cel__error_text("timestamp overflow");
    struct cel_value sum = cel__timestamp(sec, (int32_t)rest);
    sum.zone = t->zone;
    return sum;
}

static struct cel_value subtract_times(const struct cel_value *x, const struct cel_value *y)
{
    int64_t nanos;
    if (__builtin_mul_overflow(x->i - y->i, NANOS_PER_SEC, &nanos) ||
        __builtin_add_overflow(nanos, x->nanos - y->nanos, &nanos))
        return INT_OVERFLOW;
    return cel__duration(nanos);
}

static struct cel_value duration_or_overflow(bool overflow, int64_t nanos)
{
    return overflow ? INT_OVERFLOW : cel__duration(nanos);
}

/* ---- Arithmetic ---- */

static struct cel_value concat_text(struct cel__eval *ev, const struct cel_value *x,
                                    const struct cel_value *y)
{
    if (!cel__afford_text(ev, x->n + y->n))
        return CEL__CANCELLED;
    char *p = arena_alloc(ev->arena, x->n + y->n, 1);
    if (x->n)
        memcpy(p, x->text, x->n);
    if (y->n)
        memcpy(p + x->n, y->text, y->n);
    struct cel_value sum = *x;
    sum.text = p;
    sum.n = x->n + y->n;
    return sum;
}

static struct cel_value add_same_kind(struct cel__eval *ev, const struct cel_value *args)
{
    int64_t i = 0;
    uint64_t u = 0;
    bool overflow;
    switch (args[0].kind) {
    case CEL_INT:
        overflow = __builtin_add_overflow(args[0].i, args[1].i, &i);
        return int_or_overflow(overflow, i);
    case CEL_UINT:
        overflow = __builtin_add_overflow(args[0].u, args[1].u, &u);
        return uint_or_overflow(overflow, u);
    case CEL_DOUBLE:
        return cel_of_double(args[0].d + args[1].d);
    case CEL_DURATION:
        overflow = __builtin_add_overflow(args[0].i, args[1].i, &i);
        return duration_or_overflow(overflow, i);
    case CEL_STRING:
    case CEL_BYTES:
        return concat_text(ev, &args[0], &args[1]);
    case CEL_LIST:
        return cel__list_concat(ev, &args[0], &args[1]);
    default:
        return CEL__NO_OVERLOAD;
    }
}

static struct cel_value fn_add(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    if (args[0].kind == args[1].kind)
        return add_same_kind(ev, args);
    if (args[0].kind == CEL_TIMESTAMP && args[1].kind == CEL_DURATION)
        return add_time(&args[0], args[1].i);
    if (args[0].kind == CEL_DURATION && args[1].kind == CEL_TIMESTAMP)
        return add_time(&args[1], args[0].i);
    return CEL__NO_OVERLOAD;
}

static struct cel_value fn_subtract(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    int64_t i = 0;
    uint64_t u = 0;
    bool overflow;
    if (args[0].kind == CEL_TIMESTAMP && args[1].kind == CEL_DURATION)
        return args[1].i == INT64_MIN ? INT_OVERFLOW : add_time(&args[0], -args[1].i);
    if (args[0].kind != args[1].kind)
        return CEL__NO_OVERLOAD;
    switch (args[0].kind) {
    case CEL_INT:
        overflow = __builtin_sub_overflow(args[0].i, args[1].i, &i);
        return int_or_overflow(overflow, i);
    case CEL_UINT:
        overflow = __builtin_sub_overflow(args[0].u, args[1].u, &u);
        return uint_or_overflow(overflow, u);
    case CEL_DOUBLE:
        return cel_of_double(args[0].d - args[1].d);
    case CEL_DURATION:
        overflow = __builtin_sub_overflow(args[0].i, args[1].i, &i);
        return duration_or_overflow(overflow, i);
    case CEL_TIMESTAMP:
        return subtract_times(&args[0], &args[1]);
    default:
        return CEL__NO_OVERLOAD;
    }
}

static struct cel_value fn_multiply(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    int64_t i = 0;
    uint64_t u = 0;
    bool overflow;
    if (args[0].kind != args[1].kind)
        return CEL__NO_OVERLOAD;
    switch (args[0].kind) {
    case CEL_INT:
        overflow = __builtin_mul_overflow(args[0].i, args[1].i, &i);
        return int_or_overflow(overflow, i);
    case CEL_UINT:
        overflow = __builtin_mul_overflow(args[0].u, args[1].u, &u);
        return uint_or_overflow(overflow, u);
    case CEL_DOUBLE:
        return cel_of_double(args[0].d * args[1].d);
    default:
        return CEL__NO_OVERLOAD;
    }
}

static struct cel_value fn_divide(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    if (args[0].kind != args[1].kind)
        return CEL__NO_OVERLOAD;
    if (args[0].kind == CEL_DOUBLE)
        return cel_of_double(args[0].d / args[1].d);
    if (args[0].kind != CEL_INT && args[0].kind != CEL_UINT)
        return CEL__NO_OVERLOAD;
    if (!args[1].u)
        return cel__error_text("division by zero");
    if (args[0].kind == CEL_UINT)
        return cel_of_uint(args[0].u / args[1].u);
    if (args[0].i == INT64_MIN && args[1].i == -1)
        return INT_OVERFLOW;
    return cel_of_int(args[0].i / args[1].i);
}

static struct cel_value fn_modulo(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    if (args[0].kind != args[1].kind || (args[0].kind != CEL_INT && args[0].kind != CEL_UINT))
        return CEL__NO_OVERLOAD;
    if (!args[1].u)
        return cel__error_text("modulus by zero");
    if (args[0].kind == CEL_UINT)
        return cel_of_uint(args[0].u % args[1].u);
    if (args[0].i == INT64_MIN && args[1].i == -1)
        return INT_OVERFLOW;
    return cel_of_int(args[0].i % args[1].i);
}

static struct cel_value fn_negate(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    if (args[0].kind == CEL_DOUBLE)
        return cel_of_double(-args[0].d);
    if (args[0].kind != CEL_INT && args[0].kind != CEL_DURATION)
        return CEL__NO_OVERLOAD;
    if (args[0].i == INT64_MIN)
        return INT_OVERFLOW;
    return args[0].kind == CEL_INT ? cel_of_int(-args[0].i) : cel__duration(-args[0].i);
}

static struct cel_value fn_not(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return args[0].kind == CEL_BOOL ? cel_of_bool(!args[0].b) : CEL__NO_OVERLOAD;
}

/* ---- Order ---- */

static struct cel_value fn_less(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct cel_value order = cel__compare(ev, &args[0], &args[1]);
    return order.kind == CEL_INT ? cel_of_bool(order.i < 0) : order;
}

static struct cel_value fn_less_equals(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct cel_value order = cel__compare(ev, &args[0], &args[1]);
    return order.kind == CEL_INT ? cel_of_bool(order.i <= 0) : order;
}

static struct cel_value fn_greater(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct cel_value order = cel__compare(ev, &args[0], &args[1]);
    return order.kind == CEL_INT ? cel_of_bool(order.i > 0) : order;
}

static struct cel_value fn_greater_equals(struct cel__eval *ev, const struct cel_value *args,
                                          size_t n)
{
    (void)n;
    struct cel_value order = cel__compare(ev, &args[0], &args[1]);
    return order.kind == CEL_INT ? cel_of_bool(order.i >= 0) : order;
}

/* ---- Containers and text ---- */

static struct cel_value fn_in(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct cel_value found, item;
    if (args[1].kind == CEL_MAP) {
        int r = cel__map_find(ev, &args[1], &args[0], &found);
        return r < 0 || (r && found.kind == CEL_ERROR) ? found : cel_of_bool(r);
    }
    if (args[1].kind != CEL_LIST)
        return CEL__NO_OVERLOAD;
    for (size_t i = 0; cel__list_next(ev, &args[1], &i, &item);)
        if (cel__is_true(cel__equal(ev, &item, &args[0])))
            return cel_of_bool(true);
    return cel_of_bool(false);
}

static struct cel_value fn_size(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    switch (args[0].kind) {
    case CEL_STRING:
        return cel_of_int((int64_t)cel__code_points(cel__str(&args[0])));
    case CEL_BYTES:
        return cel_of_int((int64_t)args[0].n);
    case CEL_LIST:
    case CEL_MAP:
        return cel_of_int((int64_t)cel__size(&args[0]));
    default:
        return CEL__NO_OVERLOAD;
    }
}

static bool both_text(const struct cel_value *args)
{
    return args[0].kind == CEL_STRING && args[1].kind == CEL_STRING;
}

static struct cel_value fn_contains(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    if (!both_text(args))
        return CEL__NO_OVERLOAD;
    return cel_of_bool(!args[1].n || memmem(args[0].text, args[0].n, args[1].text, args[1].n));
}

static struct cel_value fn_starts_with(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    if (!both_text(args))
        return CEL__NO_OVERLOAD;
    return cel_of_bool(str_starts(cel__str(&args[0]), cel__str(&args[1])));
}

static struct cel_value fn_ends_with(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    if (!both_text(args))
        return CEL__NO_OVERLOAD;
    return cel_of_bool(str_ends(cel__str(&args[0]), cel__str(&args[1])));
}

static struct cel_value fn_matches(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct err err = ERR_INIT(ev->arena);
    if (!both_text(args))
        return CEL__NO_OVERLOAD;
    const struct regexp *re = cel__pattern(ev, &args[1], &err);
    if (!re)
        return cel_of_error(err.msg);
    return cel_of_bool(regexp_match(re, cel__str(&args[0]), ev->arena->allowance));
}

static struct cel_value fn_dyn(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return args[0];
}

static struct cel_value fn_type(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return cel__type_value(cel__type_of(&args[0]));
}

/* cel.@mapInsert, which only macros can name. */
static struct cel_value insert(struct cel__eval *ev, struct cel_value *map, struct cel_value key,
                               struct cel_value val)
{
    struct cel_value old;
    if (cel__map_find(ev, map, &key, &old) > 0)
        return cel__fail(ev, "insert failed: key " STR_FMT " already exists",
                         STR_ARG(cel__print(ev, &key)));
    cel__map_put(ev, map, key, val, false);
    return *map;
}

static struct cel_value fn_map_insert(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    struct cel_value map = args[0], key, val;
    if (map.kind != CEL_MAP || map.form == CEL__TREE)
        return CEL__NO_OVERLOAD;
    if (n == 3)
        return insert(ev, &map, args[1], args[2]);
    if (args[1].kind != CEL_MAP)
        return cel__fail(ev, "no such overload: cel.@mapInsert(map, " STR_FMT ")",
                         STR_ARG(cel__type_of(&args[1])->name));
    for (size_t pos = 0; cel__map_next(ev, &args[1], &pos, &key, &val);) {
        struct cel_value done = insert(ev, &map, key, val);
        if (done.kind == CEL_ERROR)
            return done;
    }
    return map;
}

static const struct cel_type type_of_A = {
    .kind = CEL_TYPE, .name = { "type", 4 }, .n_params = 1, .params = { &cel__A }
};

#define ONE                            CEL__COST_ONE
#define SAME(name, charge, fn, ret, t) CEL__FUNCTION(name, charge, fn, ret, t, t)
#define ORDERED(name, fn)                                                                \
    SAME(name, ONE, fn, &cel_bool, &cel_bool), SAME(name, ONE, fn, &cel_bool, &cel_int), \
        CEL__FUNCTION(name, ONE, fn, &cel_bool, &cel_int, &cel_double),                  \
        CEL__FUNCTION(name, ONE, fn, &cel_bool, &cel_int, &cel_uint),                    \
        SAME(name, ONE, fn, &cel_bool, &cel_uint),                                       \
        CEL__FUNCTION(name, ONE, fn, &cel_bool, &cel_uint, &cel_double),                 \
        CEL__FUNCTION(name, ONE, fn, &cel_bool, &cel_uint, &cel_int),                    \
        SAME(name, ONE, fn, &cel_bool, &cel_double),                                     \
        CEL__FUNCTION(name, ONE, fn, &cel_bool, &cel_double, &cel_int),                  \
        CEL__FUNCTION(name, ONE, fn, &cel_bool, &cel_double, &cel_uint),                 \
        SAME(name, CEL__COST_COMPARE_TEXT, fn, &cel_bool, &cel_string),                  \
        SAME(name, CEL__COST_COMPARE_TEXT, fn, &cel_bool, &cel_bytes),                   \
        SAME(name, ONE, fn, &cel_bool, &cel_timestamp),                                  \
        SAME(name, ONE, fn, &cel_bool, &cel_duration)

static const struct cel__overload rows[] = {
    CEL__FUNCTION("_?_:_", ONE, NULL, &cel__A, &cel_bool, &cel__A, &cel__A),
    SAME("_&&_", ONE, NULL, &cel_bool, &cel_bool),
    SAME("_||_", ONE, NULL, &cel_bool, &cel_bool),
    CEL__FUNCTION("!_", ONE, fn_not, &cel_bool, &cel_bool),
    CEL__FUNCTION("@not_strictly_false", ONE, NULL, &cel_bool, &cel_bool),
    SAME("_==_", CEL__COST_EQUALS, NULL, &cel_bool, &cel__A),
    SAME("_!=_", CEL__COST_EQUALS, NULL, &cel_bool, &cel__A),

    SAME("_+_", CEL__COST_CONCAT_TEXT, fn_add, &cel_bytes, &cel_bytes),
    SAME("_+_", ONE, fn_add, &cel_double, &cel_double),
    SAME("_+_", ONE, fn_add, &cel_duration, &cel_duration),
    CEL__FUNCTION("_+_", ONE, fn_add, &cel_timestamp, &cel_duration, &cel_timestamp),
    CEL__FUNCTION("_+_", ONE, fn_add, &cel_timestamp, &cel_timestamp, &cel_duration),
    SAME("_+_", ONE, fn_add, &cel_int, &cel_int),
    SAME("_+_", CEL__COST_CONCAT_LIST, fn_add, &cel__list_A, &cel__list_A),
    SAME("_+_", CEL__COST_CONCAT_TEXT, fn_add, &cel_string, &cel_string),
    SAME("_+_", ONE, fn_add, &cel_uint, &cel_uint),
    SAME("_/_", ONE, fn_divide, &cel_double, &cel_double),
    SAME("_/_", ONE, fn_divide, &cel_int, &cel_int),
    SAME("_/_", ONE, fn_divide, &cel_uint, &cel_uint),
    SAME("_%_", ONE, fn_modulo, &cel_int, &cel_int),
    SAME("_%_", ONE, fn_modulo, &cel_uint, &cel_uint),
    SAME("_*_", ONE, fn_multiply, &cel_double, &cel_double),
    SAME("_*_", ONE, fn_multiply, &cel_int, &cel_int),
    SAME("_*_", ONE, fn_multiply, &cel_uint, &cel_uint),
    CEL__FUNCTION("-_", ONE, fn_negate, &cel_double, &cel_double),
    CEL__FUNCTION("-_", ONE, fn_negate, &cel_int, &cel_int),
    SAME("_-_", ONE, fn_subtract, &cel_double, &cel_double),
    SAME("_-_", ONE, fn_subtract, &cel_duration, &cel_duration),
    SAME("_-_", ONE, fn_subtract, &cel_int, &cel_int),
    CEL__FUNCTION("_-_", ONE, fn_subtract, &cel_timestamp, &cel_timestamp, &cel_duration),
    SAME("_-_", ONE, fn_subtract, &cel_duration, &cel_timestamp),
    SAME("_-_", ONE, fn_subtract, &cel_uint, &cel_uint),

    ORDERED("_<_", fn_less),
    ORDERED("_<=_", fn_less_equals),
    ORDERED("_>_", fn_greater),
    ORDERED("_>=_", fn_greater_equals),

    CEL__FUNCTION("_[_]", CEL__COST_INDEX_LIST, NULL, &cel__A, &cel__list_A, &cel_int),
    CEL__FUNCTION("_[_]", CEL__COST_INDEX_MAP, NULL, &cel__B, &cel__map_AB, &cel__A),
    CEL__FUNCTION("@in", CEL__COST_IN_LIST, fn_in, &cel_bool, &cel__A, &cel__list_A),
    CEL__FUNCTION("@in", ONE, fn_in, &cel_bool, &cel__A, &cel__map_AB),
    CEL__FUNCTION("size", ONE, fn_size, &cel_int, &cel_bytes),
    CEL__METHOD("size", ONE, fn_size, &cel_int, &cel_bytes),
    CEL__FUNCTION("size", ONE, fn_size, &cel_int, &cel__list_A),
    CEL__METHOD("size", ONE, fn_size, &cel_int, &cel__list_A),
    CEL__FUNCTION("size", ONE, fn_size, &cel_int, &cel__map_AB),
    CEL__METHOD("size", ONE, fn_size, &cel_int, &cel__map_AB),
    CEL__FUNCTION("size", ONE, fn_size, &cel_int, &cel_string),
    CEL__METHOD("size", ONE, fn_size, &cel_int, &cel_string),
    CEL__FUNCTION("type", ONE, fn_type, &type_of_A, &cel__A),
    CEL__FUNCTION("dyn", CEL__COST_DYN, fn_dyn, &cel_dyn, &cel__A),
    CEL__METHOD("contains", CEL__COST_CONTAINS, fn_contains, &cel_bool, &cel_string, &cel_string),
    CEL__METHOD("endsWith", CEL__COST_AFFIX, fn_ends_with, &cel_bool, &cel_string, &cel_string),
    CEL__METHOD("startsWith", CEL__COST_AFFIX, fn_starts_with, &cel_bool, &cel_string, &cel_string),
    CEL__FUNCTION("matches", CEL__COST_MATCHES, fn_matches, &cel_bool, &cel_string, &cel_string),
    CEL__METHOD("matches", CEL__COST_MATCHES, fn_matches, &cel_bool, &cel_string, &cel_string),
    CEL__FUNCTION("cel.@mapInsert", ONE, fn_map_insert, &cel__map_AB, &cel__map_AB, &cel__A,
                  &cel__B),
    SAME("cel.@mapInsert", ONE, fn_map_insert, &cel__map_AB, &cel__map_AB),
};

const struct cel__library cel__lib_std = { rows, ARRAY_LEN(rows), 0 };
