/* What calls cost while they are evaluated. One unit is about what a simple operation takes; work
 * over text and lists is charged by size. The numbers are upstream's, so that the same expressions
 * run into the same budgets. Overloads that are only known at run time cost one, unless their
 * function is one of Kubernetes' own. */
#include "cel/internal.h"

#include <math.h>

#include "api/ip.h"

#include "base/banned.h"

#define TEXT_FACTOR    0.1
#define PATTERN_FACTOR 0.25

enum {
    COST_CHECK = 350000,  /* two of them fit into the budget of an expression */
    COST_LIST_BASE = 11,  /* of a call that makes a list */
    COST_REQUIREMENT = 50 /* of a selector, with its list of values */
};

static uint64_t size_of_opaque(const struct cel_value *v)
{
    if (v->declared == &cel_ip)
        return ((const struct ip *)v->opaque)->is_v4 ? 4 : 16;
    if (v->declared == &cel_cidr)
        return (((const struct cidr *)v->opaque)->bits + 7) / 8;
    return 1;
}

static uint64_t size_of(const struct cel_value *v)
{
    switch (v->kind) {
    case CEL_STRING:
        return cel__code_points(cel__str(v));
    case CEL_BYTES:
        return v->n;
    case CEL_LIST:
    case CEL_MAP:
        return cel__size(v);
    case CEL_OPTIONAL:
        return v->inner ? size_of(v->inner) : 1;
    case CEL_OPAQUE:
        return size_of_opaque(v);
    default:
        return 1;
    }
}

static uint64_t scaled(uint64_t size, double factor)
{
    double d = ceil((double)size * factor);
    return d >= 0x1p64 ? UINT64_MAX : (uint64_t)d;
}

static uint64_t times(uint64_t x, uint64_t y)
{
    uint64_t product;
    return __builtin_mul_overflow(x, y, &product) ? UINT64_MAX : product;
}

static uint64_t match_cost(const struct cel_value *args)
{
    double text = ceil((1.0 + (double)size_of(&args[0])) * TEXT_FACTOR);
    return times((uint64_t)text, scaled(size_of(&args[1]), PATTERN_FACTOR));
}

static uint64_t traversal_cost(struct cel__eval *ev, const struct cel_value *v);

static uint64_t traverse_members(struct cel__eval *ev, const struct cel_value *v)
{
    uint64_t sum = 0;
    struct cel_value key, val;
    if (!cel__enter(ev))
        return 0;
    if (v->kind == CEL_LIST)
        for (size_t i = 0; cel__list_next(ev, v, &i, &val);)
            sum += traversal_cost(ev, &val);
    else
        for (size_t pos = 0; cel__map_next(ev, v, &pos, &key, &val);)
            sum += traversal_cost(ev, &key) + traversal_cost(ev, &val);
    cel__leave(ev);
    return sum;
}

static uint64_t traversal_cost(struct cel__eval *ev, const struct cel_value *v)
{
    switch (v->kind) {
    case CEL_STRING:
    case CEL_BYTES:
        return (uint64_t)((double)v->n * TEXT_FACTOR);
    case CEL_LIST:
    case CEL_MAP:
        return traverse_members(ev, v);
    default:
        return 1;
    }
}

static uint64_t list_cost(double factor, uint64_t size)
{
    double d = (double)size * (factor < 0 ? 1 : factor);
    return d >= 0x1p63 ? UINT64_MAX : (uint64_t)d + COST_LIST_BASE;
}

static uint64_t compare_items_cost(struct cel__eval *ev, const struct cel_value *list)
{
    double factor = 2;
    if (list->kind != CEL_LIST)
        return 1;
    size_t n = cel__size(list);
    if (n) {
        struct cel_value first = cel__item(ev, list, 0);
        if (first.kind == CEL_STRING || first.kind == CEL_BYTES)
            factor += TEXT_FACTOR;
    }
    return list_cost(factor, times(n, n));
}

static uint64_t selector_cost(uint64_t length)
{
    uint64_t requirements = scaled(length, 0.5);
    return 10 + scaled(length, TEXT_FACTOR) + times(requirements, COST_REQUIREMENT);
}

static uint64_t equals_cost(const struct cel_value *args, bool negated)
{
    if (args[0].kind == CEL_OPAQUE && !negated)
        return 1;
    uint64_t x = size_of(&args[0]), y = size_of(&args[1]);
    return scaled(x < y ? x : y, TEXT_FACTOR);
}

static uint64_t contains_ip_cost(const struct cel_value *args, bool text, bool cidr)
{
    uint64_t bytes = size_of(&args[0]);
    uint64_t cost = scaled(bytes + bytes, TEXT_FACTOR);
    if (cidr)
        cost += scaled(bytes, TEXT_FACTOR) + 1;
    return text ? cost + scaled(size_of(&args[1]), TEXT_FACTOR) : cost;
}

/* Charged by overload: only where it was known when the expression was compiled. */
static uint64_t overload_cost(struct cel__eval *ev, const struct ast_node *call, unsigned kind,
                              const struct cel_value *args, const struct cel_value *result)
{
    uint64_t x, y;
    switch (kind) {
    case CEL__COST_COMPARE_TEXT:
        return equals_cost(args, true);
    case CEL__COST_CONCAT_TEXT:
        return scaled(size_of(&args[0]) + size_of(&args[1]), TEXT_FACTOR);
    case CEL__COST_IN_LIST:
        return size_of(&args[1]);
    case CEL__COST_AFFIX:
        return scaled(size_of(&args[1]), TEXT_FACTOR);
    case CEL__COST_TO_BYTES:
    case CEL__COST_TO_STRING:
    case CEL__COST_FORMAT_STRING:
    case CEL__COST_QUOTE:
        return scaled(size_of(&args[0]), TEXT_FACTOR);
    case CEL__COST_MATCHES:
        return match_cost(args);
    case CEL__COST_CONTAINS:
        x = scaled(size_of(&args[0]), TEXT_FACTOR);
        y = scaled(size_of(&args[1]), TEXT_FACTOR);
        return times(x, y);
    case CEL__COST_SETS:
    case CEL__COST_SETS_EQUIVALENT:
        x = times(size_of(&args[0]), size_of(&args[1]));
        return 1 + times(x, kind == CEL__COST_SETS ? 1 : 2);
    case CEL__COST_LIST_RESULT:
    case CEL__COST_LIST_RANGE:
    case CEL__COST_LIST_SLICE:
        return list_cost(1, size_of(result));
    case CEL__COST_FLATTEN:
        return list_cost(call->call.n_args == 2 && args[1].kind == CEL_INT ? (double)args[1].i : 1,
                         size_of(&args[0]));
    case CEL__COST_DISTINCT:
    case CEL__COST_SORT:
    case CEL__COST_SORT_TEXT:
        return compare_items_cost(ev, &args[0]);
    case CEL__COST_SORT_BY:
    case CEL__COST_SORT_BY_TEXT:
        return compare_items_cost(ev, &args[1]);
    default:
        return 1;
    }
}

uint64_t cel__call_cost(struct cel__eval *ev, const struct ast_node *call,
                        const struct cel__overload *overload, const struct cel_value *args,
                        const struct cel_value *result)
{
    unsigned kind = overload ? overload->cost : CEL__COST_ONE;
    switch (kind) {
    case CEL__COST_EQUALS:
        return equals_cost(args, call->op == AST_OP_NOT_EQUALS);
    case CEL__COST_CHECK:
        return COST_CHECK;
    case CEL__COST_SELECTOR:
        return selector_cost(size_of(&args[1]));
    case CEL__COST_TRAVERSE:
    case CEL__COST_INCLUDES:
        return traversal_cost(ev, &args[0]);
    case CEL__COST_TEXT_ARG:
    case CEL__COST_TEXT_TARGET:
    case CEL__COST_PARSE:
        return scaled(size_of(&args[0]), TEXT_FACTOR);
    case CEL__COST_CANONICAL:
    case CEL__COST_REPLACE:
    case CEL__COST_SPLIT:
        return scaled(size_of(&args[0]), 2 * TEXT_FACTOR);
    case CEL__COST_JOIN:
        return scaled(size_of(result), 2 * TEXT_FACTOR);
    case CEL__COST_FIND:
        return match_cost(args);
    case CEL__COST_CONTAINS_IP:
    case CEL__COST_CONTAINS_IP_TEXT:
        return contains_ip_cost(args, kind == CEL__COST_CONTAINS_IP_TEXT, false);
    case CEL__COST_CONTAINS_CIDR:
    case CEL__COST_CONTAINS_CIDR_TEXT:
        return contains_ip_cost(args, kind == CEL__COST_CONTAINS_CIDR_TEXT, true);
    case CEL__COST_VALIDATE:
        return times((uint64_t)ceil((1.0 + (double)size_of(&args[1])) * TEXT_FACTOR),
                     scaled(cel__format_pattern_size(&args[0]), PATTERN_FACTOR));
    default:
        if (call->call.n_overloads != 1)
            return 1;
        return overload_cost(ev, call, kind, args, result);
    }
}
