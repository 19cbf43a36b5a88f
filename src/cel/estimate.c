/* The least and the most that an expression may cost, found before anything is evaluated. CRDs
 * whose rules may cost too much are refused by it, with the numbers in the message; so this
 * follows upstream step by step, oddities included: every path of names is taken to begin at the
 * type of the first variable, and what is reached from nowhere is taken to be that type. */
#include "cel/estimate.h"

#include <math.h>

#include "base/banned.h"

enum { COST_LIST = 10, COST_MAP = 30, COST_STRUCT = 40 };

static struct range cost_of(struct estimator *e, const struct ast_node *n);

/* ---- Ranges ---- */

uint64_t estimate_range_add_one(uint64_t x, uint64_t y)
{
    uint64_t sum;
    return __builtin_add_overflow(x, y, &sum) ? UINT64_MAX : sum;
}

static uint64_t mul_one(uint64_t x, uint64_t y)
{
    uint64_t product;
    return __builtin_mul_overflow(x, y, &product) ? UINT64_MAX : product;
}

static uint64_t scale_one(uint64_t x, double factor)
{
    double d = ceil((double)x * factor);
    return d >= 0x1p64 ? UINT64_MAX : (uint64_t)d;
}

struct range estimate_range_add(struct range x, struct range y)
{
    return (struct range){ estimate_range_add_one(x.min, y.min),
                           estimate_range_add_one(x.max, y.max) };
}

struct range estimate_range_mul(struct range x, struct range y)
{
    return (struct range){ mul_one(x.min, y.min), mul_one(x.max, y.max) };
}

struct range estimate_range_scale(struct range x, double factor)
{
    return (struct range){ scale_one(x.min, factor), scale_one(x.max, factor) };
}

struct range estimate_range_union(struct range x, struct range y)
{
    return (struct range){ x.min < y.min ? x.min : y.min, x.max > y.max ? x.max : y.max };
}

struct entry_size estimate_entry_union(struct entry_size x, struct entry_size y)
{
    if (!x.known || !y.known)
        return (struct entry_size){ 0 };
    return (struct entry_size){
        .container = x.container,
        .key = estimate_range_union(x.key, y.key),
        .val = estimate_range_union(x.val, y.val),
        .known = true,
    };
}

/* ---- Paths and sizes ---- */

static const struct cel_type *step_type(const struct cel_type *t, struct str step)
{
    static const struct cel_type empty_key = { .kind = CEL_STRING, .name = { "string", 6 } };
    struct cel_field field;
    if (!t)
        return NULL;
    if (str_eq(step, STR("@items")) || str_eq(step, STR("@values")))
        return t->kind == CEL_LIST ? t->params[0] : t->kind == CEL_MAP ? t->params[1] : NULL;
    if (str_eq(step, STR("@keys")))
        return t->kind == CEL_MAP ? &empty_key : NULL;
    if (t->kind == CEL_OBJECT && t->fields && t->fields->by_name(t, step, &field))
        return field.type;
    return NULL;
}

static struct path path_step(const struct estimator *e, struct path p, struct str step)
{
    return (struct path){ true, p.set ? step_type(p.type, step) : e->root };
}

static const struct local_info *local_of(const struct estimator *e, const struct ast_node *n)
{
    bool is_local = n->kind == AST_IDENT && n->ident.place == AST_PLACE_SLOT;
    return is_local ? &e->locals[n->ident.index] : NULL;
}

static struct path path_of(const struct estimator *e, const struct ast_node *n)
{
    const struct local_info *local = local_of(e, n);
    return local ? local->path : e->nodes[n->id].path;
}

static struct known_size size_of_path(struct path p)
{
    if (!p.set || !p.type || p.type->max_size == CEL_SIZE_UNKNOWN)
        return (struct known_size){ 0 };
    return (struct known_size){ { 0, p.type->max_size }, true };
}

static bool is_scalar(const struct cel_type *t)
{
    switch (t->kind) {
    case CEL_BOOL:
    case CEL_DOUBLE:
    case CEL_DURATION:
    case CEL_INT:
    case CEL_TIMESTAMP:
    case CEL_UINT:
        return true;
    case CEL_OPTIONAL:
        return is_scalar(t->params[0]);
    default:
        return false;
    }
}

static struct known_size size_of_literal(const struct ast_node *n)
{
    uint64_t size = 1;
    if (n->kind == AST_LIST)
        size = n->list.n;
    else if (n->kind == AST_MAP)
        size = n->map.n;
    else if (n->kind != AST_LITERAL)
        return (struct known_size){ 0 };
    else if (n->literal.kind == CEL_STRING)
        size = cel__code_points(cel__str(&n->literal));
    else if (n->literal.kind == CEL_BYTES)
        size = n->literal.n;
    return (struct known_size){ RANGE(size), true };
}

struct known_size estimate_size(struct estimator *e, const struct ast_node *n)
{
    struct node_info *info = &e->nodes[n->id];
    if (info->size.known)
        return info->size;
    struct known_size size = size_of_literal(n);
    if (size.known)
        return size;
    size = size_of_path(path_of(e, n));
    if (size.known) {
        info->size = size;
        return size;
    }
    if (is_scalar(n->type))
        return (struct known_size){ RANGE(1), true };
    const struct local_info *local = local_of(e, n);
    return local ? local->size : size;
}

struct range estimate_size_or_unknown(struct estimator *e, const struct ast_node *n)
{
    struct known_size size = estimate_size(e, n);
    return size.known ? size.size : RANGE_UNKNOWN;
}

struct range estimate_item_size(struct estimator *e, const struct ast_node *list)
{
    struct path p = path_of(e, list);
    struct known_size size = { 0 };
    if (p.set)
        size = size_of_path(path_step(e, p, STR("@items")));
    return size.known ? size.size : RANGE_UNKNOWN;
}

void estimate_set_size(struct estimator *e, const struct ast_node *n, struct known_size size)
{
    if (size.known)
        e->nodes[n->id].size = size;
}

void estimate_set_entry(struct estimator *e, const struct ast_node *n, struct entry_size entry)
{
    if (entry.known)
        e->nodes[n->id].entry = entry;
}

struct entry_size estimate_entry(struct estimator *e, const struct ast_node *n)
{
    const struct local_info *local = local_of(e, n);
    if (!e->nodes[n->id].entry.known && local)
        return local->entry;
    return e->nodes[n->id].entry;
}

static void copy_sizes(struct estimator *e, const struct ast_node *to, const struct ast_node *from)
{
    estimate_set_size(e, to, estimate_size(e, from));
    estimate_set_entry(e, to, estimate_entry(e, from));
}

/* ---- Nodes ---- */

static struct range cost_ident(struct estimator *e, const struct ast_node *n)
{
    const struct local_info *local = local_of(e, n);
    e->nodes[n->id].path = local ? local->path : (struct path){ e->root != NULL, e->root };
    return RANGE(1);
}

static struct range cost_select(struct estimator *e, const struct ast_node *n)
{
    const struct ast_node *operand = n->select.operand;
    struct range sum = cost_of(e, operand);
    if (n->test_only)
        return sum;
    if (operand->type->kind == CEL_MAP || operand->type->kind == CEL_OBJECT)
        sum = estimate_range_add(sum, RANGE(1));
    e->nodes[n->id].path = path_step(e, path_of(e, operand), n->select.field);
    return sum;
}

static void track_index(struct estimator *e, const struct ast_node *n,
                        const struct cel__overload *o, struct known_size *result)
{
    bool list = o->cost == CEL__COST_INDEX_LIST;
    if (!list && o->cost != CEL__COST_INDEX_MAP)
        return;
    const struct ast_node *target = n->call.args[0];
    struct entry_size entry = estimate_entry(e, target);
    *result = (struct known_size){ entry.val, entry.known };
    e->nodes[n->id].path = path_step(e, path_of(e, target), list ? STR("@items") : STR("@values"));
}

static void join_result(struct known_size *result, struct known_size one)
{
    if (!one.known)
        return;
    result->size = result->known ? estimate_range_union(result->size, one.size) : one.size;
    result->known = true;
}

static struct range cost_call(struct estimator *e, const struct ast_node *n)
{
    struct range arg_costs[CEL__ARGS_MAX] = { 0 }, sum = { 0 };
    size_t first = n->member, n_args = n->call.n_args - first;
    if (str_eq(n->call.function, STR("dyn")) && !n->member) {
        sum = cost_of(e, n->call.args[0]);
        copy_sizes(e, n, n->call.args[0]);
        return estimate_range_add(sum, RANGE(1));
    }
    for (size_t i = 0; i < n_args && i < CEL__ARGS_MAX; i++)
        arg_costs[i] = cost_of(e, n->call.args[first + i]);
    if (n->member)
        sum = cost_of(e, n->call.args[0]);
    struct range cost = { UINT64_MAX, 0 };
    struct known_size result = { 0 };
    for (size_t i = 0; i < n->call.n_overloads; i++) {
        struct call_estimate one = estimate_overload(e, n, n->call.overloads[i], arg_costs);
        cost = estimate_range_union(cost, one.cost);
        join_result(&result, one.result);
        track_index(e, n, n->call.overloads[i], &result);
        if (!result.known)
            result = estimate_size(e, n);
    }
    estimate_set_size(e, n, result);
    return estimate_range_add(sum, cost);
}

static struct range cost_list(struct estimator *e, const struct ast_node *n)
{
    struct range sum = RANGE(COST_LIST), item = { n->list.n ? UINT64_MAX : 0, 0 };
    for (size_t i = 0; i < n->list.n; i++) {
        sum = estimate_range_add(sum, cost_of(e, n->list.items[i]));
        item = estimate_range_union(item, estimate_size_or_unknown(e, n->list.items[i]));
    }
    estimate_set_entry(
        e, n,
        (struct entry_size){ .container = CEL_LIST, .key = RANGE(1), .val = item, .known = true });
    return sum;
}

static struct range cost_map(struct estimator *e, const struct ast_node *n)
{
    struct range sum = RANGE(COST_MAP), key = { n->map.n ? UINT64_MAX : 0, 0 }, val = key;
    for (size_t i = 0; i < n->map.n; i++) {
        const struct ast_entry *entry = &n->map.entries[i];
        sum = estimate_range_add(sum, cost_of(e, entry->key));
        sum = estimate_range_add(sum, cost_of(e, entry->val));
        key = estimate_range_union(key, estimate_size_or_unknown(e, entry->key));
        val = estimate_range_union(val, estimate_size_or_unknown(e, entry->val));
    }
    estimate_set_entry(
        e, n, (struct entry_size){ .container = CEL_MAP, .key = key, .val = val, .known = true });
    return sum;
}

static struct range cost_struct(struct estimator *e, const struct ast_node *n)
{
    struct range sum = RANGE(COST_STRUCT);
    for (size_t i = 0; i < n->map.n; i++)
        sum = estimate_range_add(sum, cost_of(e, n->map.entries[i].val));
    return sum;
}

/* ---- Folds ---- */

static bool is_bind(const struct ast_fold *f)
{
    return f->range->kind == AST_LIST && !f->range->list.n && f->condition->kind == AST_LITERAL &&
           f->condition->literal.kind == CEL_BOOL && !f->condition->literal.b;
}

static void push_accu(struct estimator *e, const struct ast_fold *f)
{
    e->locals[f->accu_slot] = (struct local_info){
        .path = path_of(e, f->init),
        .size = estimate_size(e, f->init),
        .entry = estimate_entry(e, f->init),
    };
}

static void push_iter(struct estimator *e, const struct ast_fold *f)
{
    struct entry_size entry = estimate_entry(e, f->range);
    struct path path = path_of(e, f->range);
    bool list = (entry.known ? entry.container : f->range->type->kind) == CEL_LIST;
    struct known_size key = { entry.key, entry.known }, val = { entry.val, entry.known };
    struct local_info values = { .path = path_step(e, path, list ? STR("@items") : STR("@values")),
                                 .size = val };
    struct local_info keys = { .path = path_step(e, path, list ? STR("@indices") : STR("@keys")),
                               .size = key };
    if (f->iter_var2.n) {
        e->locals[f->iter_slot] = keys;
        e->locals[f->iter2_slot] = values;
    } else {
        e->locals[f->iter_slot] = list ? values : keys;
    }
}

static struct range cost_bind(struct estimator *e, const struct ast_node *n)
{
    const struct ast_fold *f = &n->fold;
    struct range sum = estimate_range_add(cost_of(e, f->range), cost_of(e, f->init));
    push_accu(e, f);
    sum = estimate_range_add(sum, cost_of(e, f->result));
    copy_sizes(e, n, f->result);
    return sum;
}

static struct range cost_fold(struct estimator *e, const struct ast_node *n)
{
    const struct ast_fold *f = &n->fold;
    if (is_bind(f))
        return cost_bind(e, n);
    struct range sum = estimate_range_add(cost_of(e, f->range), cost_of(e, f->init));
    push_accu(e, f);
    push_iter(e, f);
    struct range round = cost_of(e, f->condition);
    round = estimate_range_add(cost_of(e, f->step), round);
    sum = estimate_range_add(sum, cost_of(e, f->result));
    struct range rounds = estimate_size_or_unknown(e, f->range);
    sum = estimate_range_add(sum, estimate_range_mul(rounds, round));
    if (f->init->kind == AST_LITERAL) {
        estimate_set_size(e, n, estimate_size(e, f->init));
    } else if (f->init->kind == AST_LIST || f->init->kind == AST_MAP) {
        estimate_set_size(e, n, (struct known_size){ rounds, true });
        estimate_set_entry(e, n, estimate_entry(e, f->step));
    }
    return sum;
}

static struct range cost_of(struct estimator *e, const struct ast_node *n)
{
    switch (n->kind) {
    case AST_LITERAL:
        return RANGE(0);
    case AST_IDENT:
        return cost_ident(e, n);
    case AST_SELECT:
        return cost_select(e, n);
    case AST_CALL:
        return cost_call(e, n);
    case AST_LIST:
        return cost_list(e, n);
    case AST_MAP:
        return cost_map(e, n);
    case AST_STRUCT:
        return cost_struct(e, n);
    default:
        return cost_fold(e, n);
    }
}

struct cel_cost cel_program_cost(struct arena *scratch, const struct cel_program *p)
{
    struct estimator e = {
        .program = p,
        .root = p->env->n_variables ? p->env->variables[0].type : NULL,
        .nodes = arena_array(scratch, struct node_info, p->n_nodes),
        .locals = arena_array(scratch, struct local_info, p->n_slots),
    };
    struct range cost = cost_of(&e, p->root);
    return (struct cel_cost){ cost.min, cost.max };
}
