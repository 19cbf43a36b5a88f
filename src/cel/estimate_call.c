/* What one overload of a call may cost, and how big its result may be; see cost.c for what it does
 * cost. */
#include "base/idiom.h"
#include "cel/estimate.h"

#include <assert.h>

#include "base/banned.h"

#define TEXT ESTIMATE_TEXT_FACTOR

enum { COST_CHECK = 350000, COST_LIST_CALL = 11, COST_LIST = 10, COST_REQUIREMENT = 50 };
enum { NAME_PATTERN_SIZE = 128, FORMAT_SIZE_MAX = 64 };

struct call {
    struct estimator *e;
    const struct ast_node *n;
    const struct cel__overload *o;
    const struct ast_node *target; /* NULL: none */
    struct ast_node *const *args;  /* without the target */
    size_t n_args;
    struct range args_sum;
    const struct range *arg_costs;
};

static struct range size(const struct call *c, const struct ast_node *n)
{
    return estimate_size_or_unknown(c->e, n);
}

static struct call_estimate plain(const struct call *c, struct range cost)
{
    return (struct call_estimate){ .cost = estimate_range_add(cost, c->args_sum) };
}

static struct call_estimate sized(const struct call *c, struct range cost, struct range result)
{
    return (struct call_estimate){ estimate_range_add(cost, c->args_sum), { result, true } };
}

static uint64_t literal_or(const struct ast_node *n, uint64_t otherwise)
{
    if (n->kind != AST_LITERAL || n->literal.kind != CEL_INT)
        return otherwise;
    return n->literal.i < 0 ? 0 : (uint64_t)n->literal.i;
}

/* ---- Equality and order ---- */

static struct call_estimate estimate_compare(const struct call *c)
{
    uint64_t x = size(c, c->args[0]).max, y = size(c, c->args[1]).max;
    uint64_t smaller = x < y ? x : y;
    return plain(c, estimate_range_scale((struct range){ smaller > 0, smaller }, TEXT));
}

static struct call_estimate estimate_equals(const struct call *c)
{
    const struct cel_type *x = c->args[0]->type, *y = c->args[1]->type;
    if (c->n->op == AST_OP_NOT_EQUALS || !str_eq(x->name, y->name))
        return estimate_compare(c);
    if (str_eq(x->name, cel__format.name))
        return plain(c, estimate_range_scale((struct range){ 1, FORMAT_SIZE_MAX }, TEXT));
    if (str_eq(x->name, cel_url.name)) {
        struct known_size s = estimate_size(c->e, c->args[1]);
        return plain(c, estimate_range_scale((struct range){ 1, s.known ? s.size.max : 1 }, TEXT));
    }
    static const struct cel_type *const fixed[] = {
        &cel_ip,          &cel_cidr,         &cel_quantity,        &cel_semver,    &cel_authorizer,
        &cel__path_check, &cel__group_check, &cel__resource_check, &cel__decision,
    };
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (str_eq(x->name, fixed[i]->name))
            return plain(c, RANGE(1));
    return estimate_compare(c);
}

static struct call_estimate estimate_logic(const struct call *c)
{
    struct range both = estimate_range_add(c->arg_costs[0], c->arg_costs[1]);
    return (struct call_estimate){ .cost = { c->arg_costs[0].min, both.max } };
}

static struct call_estimate estimate_conditional(const struct call *c)
{
    struct range cost =
        estimate_range_add(c->arg_costs[0], estimate_range_union(c->arg_costs[1], c->arg_costs[2]));
    struct range result = estimate_range_union(size(c, c->args[1]), size(c, c->args[2]));
    estimate_set_entry(
        c->e, c->n,
        estimate_entry_union(estimate_entry(c->e, c->args[1]), estimate_entry(c->e, c->args[2])));
    return (struct call_estimate){ cost, { result, true } };
}

static struct call_estimate estimate_concat(const struct call *c)
{
    struct range result = estimate_range_add(size(c, c->args[0]), size(c, c->args[1]));
    estimate_set_entry(
        c->e, c->n,
        estimate_entry_union(estimate_entry(c->e, c->args[0]), estimate_entry(c->e, c->args[1])));
    bool list = c->o->cost == CEL__COST_CONCAT_LIST;
    return sized(c, list ? RANGE(1) : estimate_range_scale(result, TEXT), result);
}

/* ---- Text ---- */

static struct range pattern_cost(const struct call *c, const struct ast_node *text,
                                 const struct ast_node *pattern)
{
    struct range length = estimate_range_scale(estimate_range_add(size(c, text), RANGE(1)), TEXT);
    return estimate_range_mul(length,
                              estimate_range_scale(size(c, pattern), ESTIMATE_PATTERN_FACTOR));
}

static struct call_estimate estimate_matches(const struct call *c)
{
    const struct ast_node *text = c->target ? c->target : c->args[0];
    return plain(c, pattern_cost(c, text, c->args[c->target ? 0 : 1]));
}

static struct call_estimate estimate_find(const struct call *c)
{
    struct range result = { 0, size(c, c->target).max };
    return sized(c, pattern_cost(c, c->target, c->args[0]), result);
}

static struct call_estimate estimate_contains(const struct call *c)
{
    return plain(c, estimate_range_mul(estimate_range_scale(size(c, c->target), TEXT),
                                       estimate_range_scale(size(c, c->args[0]), TEXT)));
}

static uint64_t divide_up(uint64_t x, uint64_t y)
{
    return (uint64_t)__builtin_ceil((double)x / (double)y);
}

static uint64_t one_more(uint64_t x)
{
    return x < UINT64_MAX ? x + 1 : x;
}

/* The longest and shortest that replacing can make of a text. */
static struct range replaced_size(struct range text, struct range old, struct range new)
{
    struct range count = { 0, 0 }, kept = { 0, 0 };
    if (!old.min) {
        count.max = one_more(text.max);
        kept.max = text.max;
    } else if (new.max <= old.min) {
        kept.max = text.max;
    } else {
        count.max = divide_up(text.max, old.min);
    }
    if (!old.max) {
        count.min = one_more(text.min);
        kept.min = text.min;
    } else if (old.max <= new.min) {
        kept.min = text.min;
    } else {
        count.min = divide_up(text.min, old.max);
    }
    return estimate_range_add(estimate_range_mul(count, new), kept);
}

static struct call_estimate estimate_replace(const struct call *c)
{
    struct range text = size(c, c->target);
    struct range result = replaced_size(text, size(c, c->args[0]), size(c, c->args[1]));
    return sized(c, estimate_range_scale(text, 2 * TEXT), result);
}

static struct call_estimate estimate_split(const struct call *c)
{
    struct range text = size(c, c->target);
    uint64_t max = text.max;
    if (c->n_args > 1 && c->args[1]->kind == AST_LITERAL)
        max = (uint64_t)c->args[1]->literal.i;
    return sized(c, estimate_range_scale(text, 2 * TEXT), (struct range){ 0, max });
}

static struct call_estimate estimate_join(const struct call *c)
{
    assert(c->target);
    struct range list = size(c, c->target);
    struct range result = { 0, 0 };
    if (c->target->type->n_params)
        result = estimate_range_mul(list, estimate_item_size(c->e, c->target));
    if (c->n_args) {
        struct range gaps = { list.min ? list.min - 1 : 0, list.max ? list.max - 1 : 0 };
        result = estimate_range_add(result, estimate_range_mul(size(c, c->args[0]), gaps));
    }
    return sized(c, estimate_range_scale(result, TEXT), result);
}

static struct call_estimate estimate_quote(const struct call *c)
{
    struct range s = size(c, c->args[0]);
    return sized(c, estimate_range_scale(s, TEXT), (struct range){ s.min + 2, s.max * 2 + 2 });
}

static struct call_estimate estimate_to_bytes(const struct call *c)
{
    struct range s = size(c, c->args[0]);
    return sized(c, estimate_range_scale(s, TEXT), (struct range){ s.min, s.max * 4 });
}

static struct call_estimate estimate_to_string(const struct call *c)
{
    struct range s = size(c, c->args[0]);
    return sized(c, estimate_range_scale(s, TEXT), (struct range){ s.min / 4, s.max });
}

/* ---- Lists ---- */

static struct call_estimate estimate_traverse(const struct call *c)
{
    assert(c->target);
    const struct cel_type *type = c->target->type;
    struct range item = RANGE(1), list = size(c, c->target);
    if (!type->n_params)
        return plain(c, c->o->cost == CEL__COST_INCLUDES ? estimate_range_mul(list, item)
                                                         : estimate_range_scale(list, TEXT));
    if (type->params[0]->kind == CEL_STRING || type->params[0]->kind == CEL_BYTES)
        item = estimate_range_add(item,
                                  estimate_range_scale(estimate_item_size(c->e, c->target), TEXT));
    return plain(c, estimate_range_mul(list, item));
}

static struct call_estimate list_call(const struct call *c, double factor, struct range list)
{
    return sized(c, estimate_range_add(estimate_range_scale(list, factor), RANGE(COST_LIST_CALL)),
                 list);
}

static struct call_estimate estimate_slice(const struct call *c)
{
    uint64_t from = literal_or(c->args[0], 0);
    uint64_t to = literal_or(c->args[1], size(c, c->target).max);
    return list_call(c, 1, RANGE(to - from));
}

static struct call_estimate estimate_flatten(const struct call *c)
{
    uint64_t depth = c->n_args ? literal_or(c->args[0], UINT64_MAX) : 1;
    return list_call(c, (double)depth, size(c, c->target));
}

static struct call_estimate estimate_sort(const struct call *c, const struct ast_node *keys,
                                          bool text)
{
    struct range s = size(c, keys);
    return list_call(c, text ? 2 + TEXT : 2, estimate_range_mul(s, s));
}

static struct call_estimate estimate_sets(const struct call *c, double factor)
{
    struct range pairs = estimate_range_mul(size(c, c->args[0]), size(c, c->args[1]));
    return plain(c, estimate_range_add(estimate_range_scale(pairs, factor), RANGE(1)));
}

/* ---- Kubernetes ---- */

static struct call_estimate estimate_contains_ip(const struct call *c, bool cidr, bool text)
{
    struct range bytes = { 4, 16 };
    struct range cost = estimate_range_scale(estimate_range_add(bytes, bytes), TEXT);
    if (cidr)
        cost = estimate_range_add(estimate_range_add(cost, estimate_range_scale(bytes, TEXT)),
                                  RANGE(1));
    if (text)
        cost = estimate_range_add(cost, estimate_range_scale(size(c, c->args[0]), TEXT));
    return plain(c, cost);
}

static struct call_estimate estimate_selector(const struct call *c)
{
    struct range length = size(c, c->args[0]);
    struct range requirements =
        estimate_range_scale(estimate_range_scale(length, 0.5), COST_REQUIREMENT);
    return plain(c, estimate_range_add(
                        estimate_range_add(RANGE(COST_LIST), estimate_range_scale(length, TEXT)),
                        requirements));
}

static struct call_estimate estimate_validate(const struct call *c)
{
    return plain(c, estimate_range_scale(estimate_range_scale(size(c, c->args[0]), TEXT),
                                         NAME_PATTERN_SIZE * ESTIMATE_PATTERN_FACTOR));
}

/* ---- All of them ---- */

static struct call_estimate estimate_list_kind(const struct call *c)
{
    switch (c->o->cost) {
    case CEL__COST_SETS:
        return estimate_sets(c, 1);
    case CEL__COST_SETS_EQUIVALENT:
        return estimate_sets(c, 2);
    case CEL__COST_LIST_RESULT:
        return list_call(c, 1, size(c, c->target));
    case CEL__COST_LIST_RANGE:
        return list_call(c, 1, RANGE(literal_or(c->args[0], UINT64_MAX)));
    case CEL__COST_LIST_SLICE:
        return estimate_slice(c);
    case CEL__COST_FLATTEN:
        return estimate_flatten(c);
    case CEL__COST_DISTINCT:
    case CEL__COST_SORT:
        return estimate_sort(c, c->target, false);
    case CEL__COST_SORT_TEXT:
        return estimate_sort(c, c->target, true);
    case CEL__COST_SORT_BY:
        return estimate_sort(c, c->args[0], false);
    case CEL__COST_SORT_BY_TEXT:
        return estimate_sort(c, c->args[0], true);
    case CEL__COST_TRAVERSE:
    case CEL__COST_INCLUDES:
        return estimate_traverse(c);
    default:
        return plain(c, RANGE(1));
    }
}

static struct call_estimate estimate_kubernetes(const struct call *c)
{
    switch (c->o->cost) {
    case CEL__COST_CONTAINS_IP:
        return estimate_contains_ip(c, false, false);
    case CEL__COST_CONTAINS_IP_TEXT:
        return estimate_contains_ip(c, false, true);
    case CEL__COST_CONTAINS_CIDR:
        return estimate_contains_ip(c, true, false);
    case CEL__COST_CONTAINS_CIDR_TEXT:
        return estimate_contains_ip(c, true, true);
    case CEL__COST_VALIDATE:
        return estimate_validate(c);
    case CEL__COST_CHECK:
        return plain(c, RANGE(COST_CHECK));
    case CEL__COST_SELECTOR:
        return estimate_selector(c);
    default:
        return estimate_list_kind(c);
    }
}

static struct call_estimate estimate_text(const struct call *c)
{
    switch (c->o->cost) {
    case CEL__COST_AFFIX:
        return plain(c, estimate_range_scale(size(c, c->args[0]), TEXT));
    case CEL__COST_CONTAINS:
        return estimate_contains(c);
    case CEL__COST_MATCHES:
        return estimate_matches(c);
    case CEL__COST_FIND:
        return estimate_find(c);
    case CEL__COST_TO_BYTES:
        return estimate_to_bytes(c);
    case CEL__COST_TO_STRING:
        return estimate_to_string(c);
    case CEL__COST_FORMAT_STRING:
        return plain(c, estimate_range_scale(size(c, c->target), TEXT));
    case CEL__COST_QUOTE:
        return estimate_quote(c);
    case CEL__COST_TEXT_ARG:
        return sized(c, estimate_range_scale(size(c, c->args[0]), TEXT), size(c, c->args[0]));
    case CEL__COST_TEXT_TARGET:
        return sized(c, estimate_range_scale(size(c, c->target), TEXT), size(c, c->target));
    case CEL__COST_PARSE:
        return plain(c, estimate_range_scale(size(c, c->args[0]), TEXT));
    case CEL__COST_CANONICAL:
        return plain(c, estimate_range_scale(size(c, c->args[0]), 2 * TEXT));
    case CEL__COST_REPLACE:
        return estimate_replace(c);
    case CEL__COST_SPLIT:
        return estimate_split(c);
    case CEL__COST_JOIN:
        return estimate_join(c);
    default:
        return estimate_kubernetes(c);
    }
}

struct call_estimate estimate_overload(struct estimator *e, const struct ast_node *n,
                                       const struct cel__overload *o, const struct range *arg_costs)
{
    struct call c = {
        .e = e,
        .n = n,
        .o = o,
        .target = n->member ? n->call.args[0] : NULL,
        .args = n->call.args + n->member,
        .n_args = n->call.n_args - n->member,
        .arg_costs = arg_costs,
    };
    for (size_t i = 0; i < c.n_args; i++)
        c.args_sum = estimate_range_add(c.args_sum, arg_costs[i]);
    if (n->op == AST_OP_AND || n->op == AST_OP_OR)
        return estimate_logic(&c);
    if (n->op == AST_OP_CONDITIONAL)
        return estimate_conditional(&c);
    switch (o->cost) {
    case CEL__COST_EQUALS:
        return estimate_equals(&c);
    case CEL__COST_COMPARE_TEXT:
        return estimate_compare(&c);
    case CEL__COST_CONCAT_TEXT:
    case CEL__COST_CONCAT_LIST:
        return estimate_concat(&c);
    case CEL__COST_IN_LIST:
        return plain(&c, estimate_range_scale(size(&c, c.args[1]), 1));
    default:
        return estimate_text(&c);
    }
}
