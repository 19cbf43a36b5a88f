/* Evaluates a checked tree.
 *
 * Errors are values: they travel up until something absorbs them, which only && || and folds over
 * these do. Costs are charged where upstream charges them. In particular a chain of names, fields
 * and indexes (an "attribute") costs one, and one for each step; a condition has no cost of its
 * own and its branches, where they are chains, lose the one. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "base/regexp.h"

#include "base/banned.h"

enum { COST_LIST = 10, COST_MAP = 30, COST_STRUCT = 40 };
enum { LOOK_STEPS = 16 }; /* a step may decode a text of some megabytes */

struct cel__eval cel__outside(struct arena *a)
{
    return (struct cel__eval){
        .arena = a,
        .budget = UINT64_MAX,
        .held_max = a->held + LIMIT_CEL_EVAL_BYTES,
    };
}

bool cel__charge(struct cel__eval *ev, uint64_t cost)
{
    if (__builtin_add_overflow(ev->cost, cost, &ev->cost))
        ev->cost = UINT64_MAX;
    if (ev->cost > ev->budget)
        cel__exceed(ev);
    return cel__work(ev, 1);
}

bool cel__look(struct cel__eval *ev)
{
    ev->look_at = ev->steps + LOOK_STEPS;
    if (ev->exceeded || ev->steps > LIMIT_CEL_EVAL_STEPS || ev->arena->held > ev->held_max ||
        arena_spent(ev->arena))
        cel__exceed(ev);
    return !ev->exceeded;
}

bool cel__afford(struct cel__eval *ev, size_t bytes)
{
    size_t held = ev->arena->held;
    if (held > ev->held_max || bytes > ev->held_max - held)
        cel__exceed(ev);
    return !ev->exceeded;
}

bool cel__afford_text(struct cel__eval *ev, size_t bytes)
{
    if (bytes > LIMIT_CEL_TEXT_BYTES)
        cel__exceed(ev);
    return cel__afford(ev, bytes);
}

bool cel__enter(struct cel__eval *ev)
{
    if (ev->depth >= LIMIT_CEL_VALUE_DEPTH)
        cel__exceed(ev);
    if (!cel__work(ev, 1))
        return false;
    ev->depth++;
    return true;
}

int cel__exceeded(const struct cel__eval *ev, struct err *err)
{
    if (arena_spent(ev->arena))
        return allowance_error(ev->arena->allowance, err);
    return err_set(err, ERR_TOO_LARGE, "operation cancelled: actual cost limit exceeded");
}

static struct cel_value charged(struct cel__eval *ev, uint64_t cost, struct cel_value v)
{
    return cel__charge(ev, cost) ? v : CEL__CANCELLED;
}

const struct regexp *cel__pattern(struct cel__eval *ev, const struct cel_value *pattern,
                                  struct err *err)
{
    struct regexp *re;
    if (ev->pattern)
        return ev->pattern;
    return regexp_compile(ev->arena, cel__str(pattern), &re, err) < 0 ? NULL : re;
}

/* ---- Chains of names, fields and indexes ---- */

/* Where a chain has got to. */
struct link {
    struct cel_value v;
    bool optional; /* a step was optional: the end is one too */
    bool absent;   /* an optional step led nowhere */
};

static bool is_step(const struct ast_node *n)
{
    if (n->kind == AST_CALL)
        return n->op == AST_OP_INDEX || n->op == AST_OP_OPT_INDEX || n->op == AST_OP_OPT_SELECT;
    return n->kind == AST_SELECT;
}

static bool is_attribute(const struct ast_node *n)
{
    if (n->folded)
        return false;
    return is_step(n) || n->kind == AST_IDENT ||
           (n->kind == AST_CALL && n->op == AST_OP_CONDITIONAL);
}

static const struct ast_node *target_of(const struct ast_node *step)
{
    return step->kind == AST_SELECT ? step->select.operand : step->call.args[0];
}

static struct cel_value ident_value(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value *slot;
    switch (n->ident.place) {
    case AST_PLACE_VARIABLE:
        return ev->vars[n->ident.index];
    case AST_PLACE_SLOT:
        slot = &ev->slots[n->ident.index];
        /* An accumulator gets its first value when somebody asks for it. */
        if (slot->kind == CEL_PARAM)
            *slot = cel__eval_node(ev, (const struct ast_node *)slot->opaque);
        return *slot;
    default:
        return cel__fail(ev, "no such attribute(s): " STR_FMT, STR_ARG(n->ident.name));
    }
}

static struct cel_value missing_key(struct cel__eval *ev, const struct cel_value *key)
{
    return cel__fail(ev, "no such key: " STR_FMT, STR_ARG(cel__print(ev, key)));
}

/* 1 and the item, 0 if there is none, -1 and an error. */
static int step_into_list(struct cel__eval *ev, const struct cel_value *list,
                          const struct cel_value *key, struct cel_value *ret)
{
    int64_t i = -1;
    if (key->kind == CEL_INT || (key->kind == CEL_UINT && key->u <= INT64_MAX)) {
        i = key->i;
    } else if (key->kind == CEL_UINT ||
               (key->kind == CEL_DOUBLE && !cel__double_to_int(key->d, &i))) {
        *ret = cel__fail(ev, "unsupported index value " STR_FMT " in list",
                         STR_ARG(cel__print(ev, key)));
        return -1;
    } else if (key->kind != CEL_DOUBLE) {
        *ret = cel__fail(ev, "unsupported index type '" STR_FMT "' in list",
                         STR_ARG(cel__type_of(key)->name));
        return -1;
    }
    if (i < 0 || (uint64_t)i >= cel__size(list))
        return 0;
    *ret = cel__item(ev, list, (size_t)i);
    return 1;
}

static int step_into(struct cel__eval *ev, const struct cel_value *v, const struct cel_value *key,
                     bool presence_only, struct cel_value *ret)
{
    switch (v->kind) {
    case CEL_MAP: {
        int found = cel__map_find(ev, v, key, ret);
        return found > 0 && ret->kind == CEL_ERROR ? -1 : found;
    }
    case CEL_LIST:
        return step_into_list(ev, v, key, ret);
    case CEL_OBJECT: {
        int found = key->kind == CEL_STRING
                        ? cel__object_field(ev, v, cel__str(key), presence_only, ret)
                        : 0;
        return found > 0 && !presence_only && ret->kind == CEL_ERROR ? -1 : found;
    }
    default:
        return 0;
    }
}

static struct link follow(struct cel__eval *ev, const struct ast_node *n);

static struct cel_value key_of(struct cel__eval *ev, const struct ast_node *n)
{
    if (n->kind == AST_SELECT)
        return cel_of_string(n->select.field);
    const struct ast_node *key = n->call.args[1];
    if (!is_attribute(key))
        return cel__eval_node(ev, key);
    /* A chain that is an index is part of this one. */
    struct link l = follow(ev, key);
    return l.absent ? cel_of_optional(ev->arena, NULL) : l.v;
}

static struct link step(struct cel__eval *ev, const struct ast_node *n, struct link l)
{
    struct cel_value key = key_of(ev, n), found = { 0 };
    if (key.kind == CEL_ERROR) {
        l.v = key;
        return l;
    }
    l.optional = l.optional || n->op == AST_OP_OPT_INDEX || n->op == AST_OP_OPT_SELECT;
    int r = step_into(ev, &l.v, &key, n->test_only, &found);
    if ((r > 0 || !l.optional) && !cel__charge(ev, 1)) {
        l.v = CEL__CANCELLED;
    } else if (n->test_only && r >= 0) {
        l.v = cel_of_bool(r);
    } else if (r) {
        l.v = found;
    } else if (l.optional) {
        l.absent = true;
    } else if (l.v.kind == CEL_LIST) {
        l.v = cel__fail(ev, "index out of bounds: " STR_FMT, STR_ARG(cel__print(ev, &key)));
    } else {
        l.v = missing_key(ev, &key);
    }
    return l;
}

static struct cel_value eval_conditional(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value condition = cel__eval_node(ev, n->call.args[0]);
    if (condition.kind != CEL_BOOL)
        return condition.kind == CEL_ERROR ? condition : CEL__NO_OVERLOAD;
    const struct ast_node *branch = n->call.args[condition.b ? 1 : 2];
    if (!is_attribute(branch))
        return cel__eval_node(ev, branch);
    struct link l = follow(ev, branch);
    if (l.v.kind == CEL_ERROR)
        return l.v;
    return l.absent || (l.optional && !branch->test_only)
               ? cel_of_optional(ev->arena, l.absent ? NULL : &l.v)
               : l.v;
}

static struct link follow(struct cel__eval *ev, const struct ast_node *n)
{
    if (!is_step(n) || n->folded) {
        struct cel_value v = n->folded              ? *n->folded
                             : n->kind == AST_IDENT ? ident_value(ev, n)
                             : n->op == AST_OP_CONDITIONAL && n->kind == AST_CALL
                                 ? eval_conditional(ev, n)
                                 : cel__eval_node(ev, n);
        return (struct link){ .v = v };
    }
    const struct ast_node *target = target_of(n);
    struct link l = follow(ev, target);
    if (!is_step(target) && l.v.kind == CEL_OPTIONAL) {
        l.optional = true;
        l.absent = !l.v.inner;
        l.v = l.v.inner ? *l.v.inner : cel_of_null();
    }
    if (l.absent || l.v.kind == CEL_ERROR)
        return l;
    return step(ev, n, l);
}

static bool starts_with_condition(const struct ast_node *n)
{
    while (is_step(n))
        n = target_of(n);
    return n->kind == AST_CALL && n->op == AST_OP_CONDITIONAL;
}

static struct cel_value eval_attribute(struct cel__eval *ev, const struct ast_node *n)
{
    struct link l = follow(ev, n);
    if (n->test_only && l.v.kind != CEL_ERROR && l.absent)
        l.v = cel_of_bool(false);
    else if (l.v.kind != CEL_ERROR && !n->test_only && (l.absent || l.optional))
        l.v = cel_of_optional(ev->arena, l.absent ? NULL : &l.v);
    return n->test_only || starts_with_condition(n) ? l.v : charged(ev, 1, l.v);
}

/* ---- Logic ---- */

/* false && x and true || x, whichever side they are on, whatever x is. */
static struct cel_value eval_logic(struct cel__eval *ev, const struct ast_node *n, bool decides)
{
    struct cel_value error = { 0 };
    for (size_t i = 0; i < n->call.n_args; i++) {
        struct cel_value v = cel__eval_node(ev, n->call.args[i]);
        if (ev->exceeded)
            return CEL__CANCELLED;
        if (v.kind == CEL_BOOL && v.b == decides)
            return v;
        if (v.kind != CEL_BOOL && !error.kind)
            error = v.kind == CEL_ERROR ? v : CEL__NO_OVERLOAD;
    }
    return error.kind ? error : cel_of_bool(!decides);
}

static struct cel_value eval_equality(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value args[2] = { cel__eval_node(ev, n->call.args[0]),
                                 cel__eval_node(ev, n->call.args[1]) };
    struct cel_value same = cel__equal(ev, &args[0], &args[1]);
    if (args[0].kind != CEL_ERROR && args[1].kind != CEL_ERROR && n->op == AST_OP_NOT_EQUALS)
        same = cel_of_bool(!cel__is_true(same));
    return charged(ev, cel__call_cost(ev, n, n->call.overloads[0], args, &same), same);
}

static struct cel_value eval_or_optional(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value v = cel__eval_node(ev, n->call.args[0]);
    if (v.kind == CEL_ERROR)
        return v;
    if (v.kind != CEL_OPTIONAL)
        return CEL__NO_OVERLOAD;
    if (v.inner)
        return n->op == AST_OP_OR_VALUE ? *v.inner : v;
    return cel__eval_node(ev, n->call.args[1]);
}

/* ---- Calls ---- */

static bool is_std(const struct cel__overload *o)
{
    return o >= cel__lib_std.rows && o < cel__lib_std.rows + cel__lib_std.n;
}

/* Where the operand is of a kind that the operator never has, upstream names the operator. */
static struct cel_value name_operator(struct cel__eval *ev, const struct ast_node *n,
                                      const struct cel_value *args, struct cel_value result)
{
#define KIND(k) (1u << CEL_##k)
    static const struct {
        const char *function;
        unsigned kinds;
    } operands[] = {
        { "_+_", KIND(BYTES) | KIND(DOUBLE) | KIND(DURATION) | KIND(INT) | KIND(LIST) |
                     KIND(STRING) | KIND(TIMESTAMP) | KIND(UINT) },
        { "_-_", KIND(DOUBLE) | KIND(DURATION) | KIND(INT) | KIND(TIMESTAMP) | KIND(UINT) },
        { "_*_", KIND(DOUBLE) | KIND(INT) | KIND(UINT) },
        { "_/_", KIND(DOUBLE) | KIND(INT) | KIND(UINT) },
        { "_%_", KIND(INT) | KIND(UINT) },
        { "-_", KIND(BOOL) | KIND(DOUBLE) | KIND(INT) | KIND(DURATION) },
        { "matches", KIND(STRING) },
        { "size", KIND(STRING) | KIND(BYTES) | KIND(LIST) | KIND(MAP) },
        { "_<_", KIND(BOOL) | KIND(INT) | KIND(UINT) | KIND(DOUBLE) | KIND(STRING) | KIND(BYTES) |
                     KIND(TIMESTAMP) | KIND(DURATION) },
    };
#undef KIND
    struct str function = n->call.function;
    if (args[0].kind == CEL_STRING || args[0].kind == CEL_TIMESTAMP || args[0].kind == CEL_DURATION)
        return result;
    if (function.n >= 3 && str_find(STR("<>"), function.p[1]) >= 0)
        function = STR("_<_");
    for (size_t i = 0; i < ARRAY_LEN(operands); i++)
        if (str_eq(function, str_of(operands[i].function)) &&
            !(operands[i].kinds & (1u << args[0].kind)))
            return cel__fail(ev, "no such overload: " STR_FMT, STR_ARG(n->call.function));
    return result;
}

static struct cel_value no_overload(struct cel__eval *ev, const struct ast_node *n,
                                    const struct cel_value *args)
{
    struct str types = STR("");
    for (size_t i = 0; i < n->call.n_args; i++)
        types = arena_printf(ev->arena, STR_FMT "%s" STR_FMT, STR_ARG(types), i ? ", " : "",
                             STR_ARG(cel__type_of(&args[i])->name));
    return cel__fail(ev, "no such overload: " STR_FMT "(" STR_FMT ")", STR_ARG(n->call.function),
                     STR_ARG(types));
}

static const struct cel__overload *pick(struct cel__eval *ev, const struct ast_node *n,
                                        const struct cel_value *args)
{
    for (size_t i = 0; i < n->call.n_overloads; i++) {
        const struct cel__overload *o = n->call.overloads[i];
        size_t k = 0;
        while (k < o->n_args && (o->unguarded || cel__type_admits(ev, o->args[k], &args[k])))
            k++;
        if (k == o->n_args)
            return o;
    }
    return NULL;
}

/* A function looks at all of its text, whatever it costs. */
static bool read_texts(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        if (args[i].kind == CEL_STRING || args[i].kind == CEL_BYTES)
            bytes += args[i].n;
    return cel__work_on_text(ev, bytes);
}

static struct cel_value call_function(struct cel__eval *ev, const struct ast_node *n,
                                      const struct cel_value *args,
                                      const struct cel__overload **ret_overload)
{
    if (!n->call.n_overloads)
        return cel__fail(ev, "no such overload: " STR_FMT, STR_ARG(n->call.function));
    const struct cel__overload *o = n->call.overloads[0];
    bool std = is_std(o);
    if (!std)
        o = pick(ev, n, args);
    if (!o)
        return n->call.pattern ? CEL__NO_OVERLOAD : no_overload(ev, n, args);
    *ret_overload = o;
    ev->pattern = n->call.pattern;
    struct cel_value result = CEL__CANCELLED;
    if (read_texts(ev, args, n->call.n_args))
        result = o->call(ev, args, n->call.n_args);
    ev->pattern = NULL;
    if (std && !n->call.pattern && result.kind == CEL_ERROR &&
        str_eq(cel__str(&result), STR("no such overload")))
        result = name_operator(ev, n, args, result);
    return result;
}

static struct cel_value eval_membership(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value v = cel__eval_node(ev, n->call.args[0]), found;
    if (v.kind == CEL_ERROR)
        return v;
    bool is_member = cel__map_find(ev, n->call.set, &v, &found) > 0;
    return ev->exceeded ? CEL__CANCELLED : cel_of_bool(is_member);
}

static struct cel_value eval_function(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value args[CEL__ARGS_MAX], result = { 0 };
    const struct cel__overload *o = n->call.n_overloads ? n->call.overloads[0] : NULL;
    if (n->call.set)
        return eval_membership(ev, n);
    if (n->call.n_args > CEL__ARGS_MAX)
        return cel__fail(ev, "no such overload: " STR_FMT, STR_ARG(n->call.function));
    for (size_t i = 0; i < n->call.n_args; i++) {
        args[i] = cel__eval_node(ev, n->call.args[i]);
        if (args[i].kind != CEL_ERROR || result.kind)
            continue;
        result = args[i];
        if (ev->exceeded || n->call.n_args > 2)
            return result;
    }
    if (!result.kind)
        result = call_function(ev, n, args, &o);
    return charged(ev, cel__call_cost(ev, n, o, args, &result), result);
}

static struct cel_value eval_not_strictly_false(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value v = cel__eval_node(ev, n->call.args[0]);
    return charged(ev, 1, v.kind == CEL_BOOL ? v : cel_of_bool(true));
}

static struct cel_value eval_call(struct cel__eval *ev, const struct ast_node *n)
{
    switch (n->op) {
    case AST_OP_AND:
        return eval_logic(ev, n, false);
    case AST_OP_OR:
        return eval_logic(ev, n, true);
    case AST_OP_EQUALS:
    case AST_OP_NOT_EQUALS:
        return eval_equality(ev, n);
    case AST_OP_INDEX:
    case AST_OP_OPT_INDEX:
    case AST_OP_OPT_SELECT:
    case AST_OP_CONDITIONAL:
        return eval_attribute(ev, n);
    case AST_OP_NOT_STRICTLY_FALSE:
        return eval_not_strictly_false(ev, n);
    case AST_OP_OR_OPTIONAL:
    case AST_OP_OR_VALUE:
        return eval_or_optional(ev, n);
    default:
        return eval_function(ev, n);
    }
}

/* ---- Lists, maps, objects ---- */

static struct cel_value make_list(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value list = cel__list_new(ev, n->list.n);
    for (size_t i = 0; i < n->list.n; i++) {
        struct cel_value v = cel__eval_node(ev, n->list.items[i]);
        if (v.kind == CEL_ERROR)
            return v;
        if (n->list.optional && n->list.optional[i]) {
            if (v.kind != CEL_OPTIONAL)
                return cel__fail(
                    ev, "cannot initialize optional list element from non-optional value " STR_FMT,
                    STR_ARG(cel__print(ev, &v)));
            if (!v.inner)
                continue;
            v = *v.inner;
        }
        cel__list_push(ev, &list, v);
    }
    return list;
}

/* Takes the value out of an optional entry; 0 if there is none, -1 with an error. */
static int unwrap_entry(struct cel__eval *ev, struct str name, struct cel_value *v)
{
    if (v->kind != CEL_OPTIONAL) {
        *v = cel__fail(
            ev, "cannot initialize optional entry '" STR_FMT "' from non-optional value " STR_FMT,
            STR_ARG(name), STR_ARG(cel__print(ev, v)));
        return -1;
    }
    if (!v->inner)
        return 0;
    *v = *v->inner;
    return 1;
}

static struct cel_value make_map(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_value map = cel__map_new(ev, n->map.n);
    for (size_t i = 0; i < n->map.n; i++) {
        const struct ast_entry *e = &n->map.entries[i];
        struct cel_value key = cel__eval_node(ev, e->key);
        if (key.kind == CEL_ERROR)
            return key;
        struct cel_value val = cel__eval_node(ev, e->val);
        if (val.kind == CEL_ERROR)
            return val;
        int r = e->optional ? unwrap_entry(ev, cel__print(ev, &key), &val) : 1;
        if (r < 0)
            return val;
        if (key.kind != CEL_BOOL && key.kind != CEL_INT && key.kind != CEL_UINT &&
            key.kind != CEL_STRING && key.kind != CEL_DOUBLE)
            return cel__fail(ev, "unsupported key type: " STR_FMT,
                             STR_ARG(cel__type_of(&key)->name));
        if (r)
            cel__map_put(ev, &map, key, val, true);
    }
    return map;
}

static struct cel_value make_struct(struct cel__eval *ev, const struct ast_node *n)
{
    struct cel_struct *s = arena_new(ev->arena, struct cel_struct);
    if (!n->map.type)
        return cel__fail(ev, "unknown type: " STR_FMT, STR_ARG(n->map.name));
    s->fields = arena_array(ev->arena, struct str, n->map.n);
    s->vals = arena_array(ev->arena, struct cel_value, n->map.n);
    for (size_t i = 0; i < n->map.n; i++) {
        const struct ast_entry *e = &n->map.entries[i];
        struct cel_value val = cel__eval_node(ev, e->val);
        if (val.kind == CEL_ERROR)
            return val;
        int r = e->optional ? unwrap_entry(ev, e->field, &val) : 1;
        if (r < 0)
            return val;
        if (!r)
            continue;
        s->fields[s->n] = e->field;
        s->vals[s->n++] = val;
    }
    return (struct cel_value){
        .kind = CEL_OBJECT, .form = CEL__STRUCT, .object = s, .declared = n->map.type
    };
}

/* ---- Folds ---- */

/* One round; false when the condition says so or the budget is used up. */
static bool fold_round(struct cel__eval *ev, const struct ast_fold *f)
{
    struct cel_value go_on = cel__eval_node(ev, f->condition);
    if (ev->exceeded || (go_on.kind == CEL_BOOL && !go_on.b))
        return false;
    ev->slots[f->accu_slot] = cel__eval_node(ev, f->step);
    return !ev->exceeded;
}

static void fold_list(struct cel__eval *ev, const struct ast_fold *f, const struct cel_value *range)
{
    struct cel_value item;
    for (size_t i = 0; cel__list_next(ev, range, &i, &item);) {
        if (f->iter_var2.n) {
            ev->slots[f->iter_slot] = cel_of_int((int64_t)i - 1);
            ev->slots[f->iter2_slot] = item;
        } else {
            ev->slots[f->iter_slot] = item;
        }
        if (!fold_round(ev, f))
            return;
    }
}

static void fold_map(struct cel__eval *ev, const struct ast_fold *f, const struct cel_value *range)
{
    struct cel_value key, val;
    bool two = f->iter_var2.n;
    for (size_t pos = 0; cel__map_next(ev, range, &pos, &key, two ? &val : NULL);) {
        ev->slots[f->iter_slot] = key;
        if (two)
            ev->slots[f->iter2_slot] = val;
        if (!fold_round(ev, f))
            return;
    }
}

static struct cel_value bad_range(struct cel__eval *ev, const struct ast_fold *f,
                                  const struct cel_value *v)
{
    static const char *const names[] = {
        [CEL_NULL] = "types.Null",         [CEL_BOOL] = "types.Bool",
        [CEL_INT] = "types.Int",           [CEL_UINT] = "types.Uint",
        [CEL_DOUBLE] = "types.Double",     [CEL_STRING] = "types.String",
        [CEL_BYTES] = "types.Bytes",       [CEL_TIMESTAMP] = "types.Timestamp",
        [CEL_DURATION] = "types.Duration", [CEL_OPTIONAL] = "*types.Optional",
        [CEL_TYPE] = "*types.Type",        [CEL_ERROR] = NULL,
    };
    const char *name = names[v->kind] ? names[v->kind] : "object";
    if (f->iter_var2.n)
        return cel__fail(ev, "unsupported comprehension range type: %s", name);
    return cel__fail(ev, "got '%s', expected iterable type", name);
}

static struct cel_value eval_fold(struct cel__eval *ev, const struct ast_node *n)
{
    const struct ast_fold *f = &n->fold;
    struct cel_value range = cel__eval_node(ev, f->range);
    if (range.kind == CEL_ERROR)
        return range;
    ev->slots[f->accu_slot] = (struct cel_value){ .kind = CEL_PARAM, .opaque = f->init };
    if (range.kind == CEL_LIST)
        fold_list(ev, f, &range);
    else if (range.kind == CEL_MAP)
        fold_map(ev, f, &range);
    else
        return bad_range(ev, f, &range);
    return ev->exceeded ? CEL__CANCELLED : cel__eval_node(ev, f->result);
}

struct cel_value cel__eval_node(struct cel__eval *ev, const struct ast_node *n)
{
    if (n->folded)
        return *n->folded;
    switch (n->kind) {
    case AST_LITERAL:
        return n->literal;
    case AST_IDENT:
    case AST_SELECT:
        return eval_attribute(ev, n);
    case AST_CALL:
        return eval_call(ev, n);
    case AST_LIST:
        return charged(ev, COST_LIST, make_list(ev, n));
    case AST_MAP:
        return charged(ev, COST_MAP, make_map(ev, n));
    case AST_STRUCT:
        return charged(ev, COST_STRUCT, make_struct(ev, n));
    default:
        return eval_fold(ev, n);
    }
}

int cel_eval(struct arena *a, const struct cel_program *p, const struct cel_value *vars,
             uint64_t budget, struct cel_value *ret, uint64_t *ret_cost, struct err *err)
{
    struct cel__eval ev = cel__outside(a);
    ev.program = p;
    ev.vars = vars;
    ev.budget = budget;
    ev.slots = arena_array(a, struct cel_value, p->n_slots);
    struct cel_value v = cel__eval_node(&ev, p->root);
    *ret_cost = ev.cost;
    if (ev.exceeded || arena_spent(a))
        return cel__exceeded(&ev, err);
    if (v.kind == CEL_ERROR)
        return cel__set_err(err, ERR_INVALID, cel__str(&v));
    *ret = v;
    return 0;
}
