/* Optional values: a.?b, m[?k], optional.of(x), x.orValue(y), ... That or() and orValue() leave
 * their argument alone when they do not need it is in eval.c. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "base/banned.h"

#define ZERO_TIME INT64_C(-62135596800)

static struct cel_value fn_of(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    return cel_of_optional(ev->arena, &args[0]);
}

static bool is_zero(const struct cel_value *v)
{
    switch (v->kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return !v->b;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DURATION:
        return !v->i;
    case CEL_DOUBLE:
        return v->d == 0;
    case CEL_TIMESTAMP:
        return v->i == ZERO_TIME && !v->nanos;
    case CEL_STRING:
    case CEL_BYTES:
        return !v->n;
    case CEL_LIST:
    case CEL_MAP:
        return !cel__size(v);
    case CEL_OBJECT:
        return v->form == CEL__STRUCT && !v->object->n;
    case CEL_OPTIONAL:
        return !v->inner;
    default:
        return false;
    }
}

static struct cel_value fn_of_non_zero(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    return cel_of_optional(ev->arena, is_zero(&args[0]) ? NULL : &args[0]);
}

static struct cel_value fn_none(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)args;
    (void)n;
    return cel_of_optional(ev->arena, NULL);
}

static struct cel_value fn_value(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return args[0].inner ? *args[0].inner : cel__error_text("optional.none() dereference");
}

static struct cel_value fn_has_value(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    return cel_of_bool(args[0].inner);
}

static struct cel_value fn_first(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    if (!cel__size(&args[0]))
        return cel_of_optional(ev->arena, NULL);
    struct cel_value item = cel__item(ev, &args[0], 0);
    return cel_of_optional(ev->arena, &item);
}

static struct cel_value fn_last(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    if (!cel__size(&args[0]))
        return cel_of_optional(ev->arena, NULL);
    struct cel_value item = cel__item(ev, &args[0], cel__size(&args[0]) - 1);
    return cel_of_optional(ev->arena, &item);
}

static struct cel_value fn_unwrap(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct cel_value list = cel__list_new(ev, cel__size(&args[0])), item;
    for (size_t i = 0; cel__list_next(ev, &args[0], &i, &item);) {
        if (item.kind != CEL_OPTIONAL)
            return cel__fail(ev, "value " STR_FMT " is not optional",
                             STR_ARG(cel__print(ev, &item)));
        if (item.inner)
            cel__list_push(ev, &list, *item.inner);
    }
    return list;
}

#define ONE CEL__COST_ONE

static const struct cel__overload rows[] = {
    CEL__FUNCTION("optional.of", ONE, fn_of, &cel__optional_A, &cel__A),
    CEL__FUNCTION("optional.ofNonZeroValue", ONE, fn_of_non_zero, &cel__optional_A, &cel__A),
    { .function = "optional.none", .result = &cel__optional_A, .call = fn_none },
    CEL__METHOD("value", ONE, fn_value, &cel__A, &cel__optional_A),
    CEL__METHOD("hasValue", ONE, fn_has_value, &cel_bool, &cel__optional_A),
    CEL__METHOD("or", ONE, NULL, &cel__optional_A, &cel__optional_A, &cel__optional_A),
    CEL__METHOD("orValue", ONE, NULL, &cel__A, &cel__optional_A, &cel__A),
    CEL__FUNCTION("_?._", ONE, NULL, &cel__optional_A, &cel_dyn, &cel_string),
    CEL__FUNCTION("_[?_]", ONE, NULL, &cel__optional_A, &cel__list_A, &cel_int),
    CEL__FUNCTION("_[?_]", ONE, NULL, &cel__optional_A, &cel__optional_list_A, &cel_int),
    CEL__FUNCTION("_[?_]", ONE, NULL, &cel__optional_B, &cel__map_AB, &cel__A),
    CEL__FUNCTION("_[?_]", ONE, NULL, &cel__optional_B, &cel__optional_map_AB, &cel__A),
    CEL__FUNCTION("_[_]", ONE, NULL, &cel__optional_A, &cel__optional_list_A, &cel_int),
    CEL__FUNCTION("_[_]", ONE, NULL, &cel__optional_B, &cel__optional_map_AB, &cel__A),
    CEL__METHOD("last", ONE, fn_last, &cel__optional_A, &cel__list_A),
    CEL__METHOD("first", ONE, fn_first, &cel__optional_A, &cel__list_A),
    CEL__FUNCTION("optional.unwrap", ONE, fn_unwrap, &cel__list_A, &cel__list_optional_A),
    CEL__METHOD("unwrapOpt", ONE, fn_unwrap, &cel__list_A, &cel__list_optional_A),
};

const struct cel__library cel__lib_optional = { rows, ARRAY_LEN(rows), 0 };
