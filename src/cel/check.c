/* The type checker: gives every node its type, every name its place, every call the overloads that
 * may match. The order of the steps is upstream's, since the order of type variables and of errors
 * follows from it. */
#include "cel/internal.h"

#include "base/buf.h"
#include "cel/issues.h"
#include "cel/unify.h"

#include "base/banned.h"

struct local {
    struct str name;
    const struct cel_type *type;
    uint32_t slot;
};

struct checker {
    struct arena *arena;   /* of the program */
    struct arena *scratch; /* of what is only needed on the way */
    struct cel_program *program;
    const struct cel_env *env;
    struct issues *issues;
    struct unify unify;
    struct local *locals; /* innermost last */
    size_t n_locals, cap_locals;
};

static void check(struct checker *c, struct ast_node *n);

static bool is_lenient(const struct checker *c)
{
    return c->env->flags & CEL_ENV_UNCHECKED;
}

static struct str text(const struct checker *c, const struct cel_type *t)
{
    return cel_type_text(c->arena, t);
}

#define complain(c, at, ...)                            \
    do {                                                \
        if (!is_lenient(c))                             \
            issues_add((c)->issues, (at), __VA_ARGS__); \
    } while (0)

static void complain_mismatch(struct checker *c, uint32_t at, const struct cel_type *expected,
                              const struct cel_type *found)
{
    complain(c, at, "expected type '" STR_FMT "' but found '" STR_FMT "'",
             STR_ARG(text(c, expected)), STR_ARG(text(c, found)));
}

static void complain_undeclared(struct checker *c, uint32_t at, struct str name)
{
    complain(c, at, "undeclared reference to '" STR_FMT "' (in container '" STR_FMT "')",
             STR_ARG(name), STR_ARG(c->env->container));
}

/* ---- Names ---- */

static uint32_t push_local(struct checker *c, struct str name, const struct cel_type *type)
{
    if (c->n_locals == c->cap_locals) {
        size_t cap = c->cap_locals ? c->cap_locals * 2 : 16;
        c->locals = arena_grow(c->scratch, c->locals, c->cap_locals * sizeof(*c->locals),
                               cap * sizeof(*c->locals), alignof(struct local));
        c->cap_locals = cap;
    }
    /* No two share one: an accumulator may get its first value in the midst of other folds. */
    uint32_t slot = (uint32_t)c->program->n_slots++;
    c->locals[c->n_locals++] = (struct local){ name, type, slot };
    return slot;
}

static const struct local *find_local(const struct checker *c, struct str name)
{
    for (size_t i = c->n_locals; i > 0; i--)
        if (str_eq(c->locals[i - 1].name, name))
            return &c->locals[i - 1];
    return NULL;
}

/* The names that `name` may mean in the container, the longest first: `*pos` starts at 0. */
static bool next_candidate(const struct checker *c, struct str name, size_t *pos, struct str *ret)
{
    struct str outer = c->env->container;
    if (str_starts(name, STR("."))) {
        *ret = str_skip(name, 1);
        return (*pos)++ == 0;
    }
    for (size_t i = 0; i < *pos; i++) {
        if (!outer.n)
            return false;
        while (outer.n && outer.p[outer.n - 1] != '.')
            outer.n--;
        outer.n -= outer.n > 0;
    }
    ++*pos;
    *ret = name;
    if (outer.n)
        *ret = arena_printf(c->scratch, STR_FMT "." STR_FMT, STR_ARG(outer), STR_ARG(name));
    return true;
}

static const struct cel_type *find_type(const struct checker *c, struct str name)
{
    const struct cel_type *t = cel__type_named(name);
    if (!t && c->env->object_type)
        t = c->env->object_type(c->env, name);
    return t;
}

static const struct cel_type *type_of_type(struct checker *c, const struct cel_type *t)
{
    struct cel_type *of = arena_new(c->arena, struct cel_type);
    *of = cel__type;
    of->n_params = t->kind != CEL_TYPE;
    of->params[0] = t;
    return of;
}

static bool find_global(struct checker *c, struct str name, struct ast_node *n)
{
    struct str candidate;
    for (size_t pos = 0; next_candidate(c, name, &pos, &candidate);) {
        for (size_t i = 0; i < c->env->n_variables; i++) {
            if (!str_eq(c->env->variables[i].name, candidate))
                continue;
            n->type = is_lenient(c) ? &cel_dyn : c->env->variables[i].type;
            n->ident = (struct ast_ident){ .name = c->env->variables[i].name,
                                           .place = AST_PLACE_VARIABLE,
                                           .index = (uint32_t)i };
            c->program->uses[i] = true;
            return true;
        }
        const struct cel_type *t = find_type(c, candidate);
        if (!t)
            continue;
        n->type = type_of_type(c, t);
        n->ident = (struct ast_ident){ .name = t->name, .place = AST_PLACE_TYPE, .type = t };
        return true;
    }
    return false;
}

static void check_ident(struct checker *c, struct ast_node *n)
{
    struct str name = n->ident.name;
    const struct local *local = find_local(c, name);
    if (local) {
        n->type = local->type;
        n->ident.place = AST_PLACE_SLOT;
        n->ident.index = local->slot;
        return;
    }
    if (find_global(c, name, n))
        return;
    n->type = is_lenient(c) ? &cel_dyn : &cel__error;
    complain_undeclared(c, n->at, name);
}

/* The dotted name that a chain of selections spells, or an empty one. */
static struct str dotted_name(struct checker *c, const struct ast_node *n)
{
    if (n->kind == AST_IDENT)
        return n->ident.name;
    if (n->kind != AST_SELECT || n->test_only)
        return STR("");
    struct str front = dotted_name(c, n->select.operand);
    if (!front.n)
        return front;
    return arena_printf(c->scratch, STR_FMT "." STR_FMT, STR_ARG(front), STR_ARG(n->select.field));
}

static struct str first_name(const struct ast_node *n)
{
    while (n->kind == AST_SELECT)
        n = n->select.operand;
    return n->kind == AST_IDENT ? n->ident.name : STR("");
}

/* ---- Fields ---- */

/* `*ret` may become NULL: the object has such a field but takes nothing for it. */
static bool find_field(struct checker *c, uint32_t at, const struct cel_type *object,
                       struct str name, const struct cel_type **ret)
{
    struct cel_field field;
    if (!object->fields) {
        complain(c, at, "unexpected failed resolution of '" STR_FMT "'", STR_ARG(object->name));
        return false;
    }
    if (!object->fields->by_name(object, name, &field)) {
        complain(c, at, "undefined field '" STR_FMT "'", STR_ARG(name));
        return false;
    }
    *ret = field.type;
    return true;
}

static const struct cel_type *check_field(struct checker *c, uint32_t at, struct ast_node *operand,
                                          struct str name, bool optional)
{
    check(c, operand);
    const struct cel_type *t = unify_apply(&c->unify, operand->type, false);
    bool is_optional = t->kind == CEL_OPTIONAL;
    const struct cel_type *target = is_optional ? t->params[0] : t, *result = &cel_dyn;
    switch (target->kind) {
    case CEL_MAP:
        result = target->params[1];
        break;
    case CEL_OBJECT:
        if (!find_field(c, at, target, name, &result) || !result)
            result = is_lenient(c) ? &cel_dyn : &cel__error;
        break;
    case CEL_PARAM:
        unify_assign(&c->unify, &cel_dyn, target);
        break;
    default:
        if (!cel__type_is_dyn(target) && target->kind != CEL_ERROR)
            complain(c, at, "type '" STR_FMT "' does not support field selection",
                     STR_ARG(text(c, target)));
        break;
    }
    return is_optional || optional ? cel_type_optional(c->arena, result) : result;
}

static void check_select(struct checker *c, struct ast_node *n)
{
    struct str name = dotted_name(c, n);
    /* Selections go from the longest name to the shortest, so what a local names is a field. */
    if (name.n && !find_local(c, first_name(n))) {
        struct ast_node ident = *n;
        if (find_global(c, name, &ident)) {
            ident.kind = AST_IDENT;
            *n = ident;
            return;
        }
    }
    struct str field = n->select.field;
    const struct cel_type *t = check_field(c, n->at, n->select.operand, field, false);
    n->type = n->test_only ? &cel_bool : unify_apply(&c->unify, t, false);
}

static void keep_overloads(struct checker *c, struct ast_node *n,
                           const struct cel__overload *const *overloads, size_t count)
{
    n->call.overloads = arena_dup(c->arena, overloads, count * sizeof(*overloads));
    n->call.n_overloads = count;
}

static void check_opt_select(struct checker *c, struct ast_node *n)
{
    struct ast_node *field = n->call.args[1];
    check(c, field);
    const struct cel_type *t =
        check_field(c, n->at, n->call.args[0], cel__str(&field->literal), true);
    n->type = unify_apply(&c->unify, t, false);
    size_t n_all;
    const struct cel__overload **all =
        cel__overloads_of(c->scratch, c->env, n->call.function, &n_all);
    keep_overloads(c, n, all, n_all);
}

/* ---- Calls ---- */

static void complain_overload(struct checker *c, const struct ast_node *n, struct str function)
{
    autobuf signature = { 0 };
    for (size_t i = 0; i < n->call.n_args; i++) {
        const struct cel_type *t = unify_apply(&c->unify, n->call.args[i]->type, true);
        bool is_target = n->member && i == 0;
        if (!is_target)
            buf_str_add(&signature, i == n->member ? STR("(") : STR(", "));
        buf_str_add(&signature, text(c, t));
        if (is_target)
            buf_str_add(&signature, n->call.n_args == 1 ? STR(".(") : STR("."));
    }
    if (!n->call.n_args)
        buf_byte(&signature, '(');
    complain(c, n->at, "found no matching overload for '" STR_FMT "' applied to '" STR_FMT ")'",
             STR_ARG(function), STR_ARG(buf_str(&signature)));
}

/* && and || say which of their terms is wrong. */
static bool check_logic(struct checker *c, struct ast_node *n)
{
    bool good = true;
    for (size_t i = 0; i < n->call.n_args; i++) {
        const struct cel_type *t = n->call.args[i]->type;
        if (unify_assign(&c->unify, t, &cel_bool))
            continue;
        complain_mismatch(c, n->call.args[i]->at, &cel_bool, t);
        good = is_lenient(c);
    }
    return good;
}

static void resolve_overloads(struct checker *c, struct ast_node *n,
                              const struct cel__overload **all, size_t n_all)
{
    const struct cel_type *types[CEL__ARGS_MAX] = { 0 }, *result = NULL;
    size_t n_args = n->call.n_args, kept = 0;
    for (size_t i = 0; i < n_args && i < CEL__ARGS_MAX; i++)
        types[i] = n->call.args[i]->type;
    for (size_t i = 0; i < n_all; i++) {
        if (all[i]->member != n->member || all[i]->n_args != n_args)
            continue;
        struct unify_signature s = unify_instantiate(&c->unify, all[i]);
        if (!unify_assign_all(&c->unify, types, s.args, n_args) && !is_lenient(c))
            continue;
        all[kept++] = all[i];
        const struct cel_type *t = unify_apply(&c->unify, s.result, false);
        if (!result)
            result = t;
        else if (!cel__type_is_dyn(result) && !cel__type_same(t, result))
            result = &cel_dyn;
    }
    keep_overloads(c, n, all, kept);
    n->type = is_lenient(c) ? &cel_dyn : result;
    if (kept || is_lenient(c))
        return;
    n->type = &cel__error;
    complain_overload(c, n, n->call.function);
}

static void set_short_circuit(struct ast_node *n)
{
    if (!n->member || n->call.n_args != 2)
        return;
    if (str_eq(n->call.function, STR("or")))
        n->op = AST_OP_OR_OPTIONAL;
    else if (str_eq(n->call.function, STR("orValue")))
        n->op = AST_OP_OR_VALUE;
}

static const struct cel__overload **find_function(struct checker *c, struct str name, size_t *ret_n)
{
    struct str candidate;
    for (size_t pos = 0; next_candidate(c, name, &pos, &candidate);) {
        const struct cel__overload **all = cel__overloads_of(c->scratch, c->env, candidate, ret_n);
        if (all)
            return all;
    }
    return NULL;
}

/* a.b.f(x) may be the function a.b.f, which then has no target. */
static const struct cel__overload **find_namespaced(struct checker *c, struct ast_node *n,
                                                    size_t *ret_n)
{
    struct str front = dotted_name(c, n->call.args[0]);
    if (!front.n)
        return NULL;
    front =
        arena_printf(c->scratch, STR_FMT "." STR_FMT, STR_ARG(front), STR_ARG(n->call.function));
    const struct cel__overload **all = find_function(c, front, ret_n);
    if (all) {
        n->member = false;
        n->call.args++;
        n->call.n_args--;
    }
    return all;
}

static void check_call(struct checker *c, struct ast_node *n)
{
    const struct cel__overload **all = NULL;
    size_t n_all = 0;
    if (n->op == AST_OP_OPT_SELECT) {
        check_opt_select(c, n);
        return;
    }
    for (size_t i = n->member; i < n->call.n_args; i++)
        check(c, n->call.args[i]);
    if (n->member)
        all = find_namespaced(c, n, &n_all);
    if (!all) {
        if (n->member)
            check(c, n->call.args[0]);
        all = find_function(c, n->call.function, &n_all);
    }
    if (!all) {
        n->type = is_lenient(c) ? &cel_dyn : &cel__error;
        complain_undeclared(c, n->at, n->call.function);
        return;
    }
    n->call.function = str_of(all[0]->function);
    if (n->op == AST_OP_AND || n->op == AST_OP_OR) {
        n->type = check_logic(c, n) ? &cel_bool : &cel__error;
        keep_overloads(c, n, all, n_all);
        return;
    }
    resolve_overloads(c, n, all, n_all);
    set_short_circuit(n);
}

/* ---- Literals of lists, maps and objects ---- */

static const struct cel_type *unwrap_optional(struct checker *c, const struct ast_node *n,
                                              bool optional)
{
    const struct cel_type *t = n->type;
    if (!optional)
        return t;
    if (t->kind == CEL_OPTIONAL)
        return t->params[0];
    if (!cel__type_is_dyn(t))
        complain_mismatch(c, n->at, cel_type_optional(c->arena, t), t);
    return t;
}

/* Items of different types make a list of dyn; whether that is allowed is for validate.c. */
static const struct cel_type *join(struct checker *c, const struct cel_type *previous,
                                   const struct cel_type *t)
{
    if (!previous)
        return t;
    if (unify_assign(&c->unify, previous, t))
        return unify_general(previous, t);
    return &cel_dyn;
}

static void check_list(struct checker *c, struct ast_node *n)
{
    const struct cel_type *item = NULL;
    for (size_t i = 0; i < n->list.n; i++) {
        struct ast_node *it = n->list.items[i];
        check(c, it);
        bool optional = n->list.optional && n->list.optional[i];
        item = join(c, item, unwrap_optional(c, it, optional));
    }
    n->type = cel_type_list(c->arena, item ? item : unify_fresh(&c->unify));
}

static void check_map(struct checker *c, struct ast_node *n)
{
    const struct cel_type *key = NULL, *val = NULL;
    for (size_t i = 0; i < n->map.n; i++) {
        struct ast_entry *e = &n->map.entries[i];
        check(c, e->key);
        key = join(c, key, e->key->type);
        check(c, e->val);
        val = join(c, val, unwrap_optional(c, e->val, e->optional));
    }
    if (!key) {
        key = unify_fresh(&c->unify);
        val = unify_fresh(&c->unify);
    }
    n->type = cel_type_map(c->arena, key, val);
}

static const struct cel_type *find_struct_type(struct checker *c, const struct ast_node *n)
{
    struct str candidate;
    const struct cel_type *t = NULL;
    for (size_t pos = 0; !t && next_candidate(c, n->map.name, &pos, &candidate);)
        t = find_type(c, candidate);
    return t;
}

static void check_struct_field(struct checker *c, const struct cel_type *object,
                               struct ast_entry *e)
{
    check(c, e->val);
    const struct cel_type *field = &cel__error;
    if (object->kind == CEL_OBJECT)
        (void)find_field(c, e->at, object, e->field, &field);
    const struct cel_type *val = unwrap_optional(c, e->val, e->optional);
    if (!field)
        complain(c, e->at,
                 "expected type of field '" STR_FMT "' is '' but provided type is '" STR_FMT "'",
                 STR_ARG(e->field), STR_ARG(text(c, val)));
    else if (!unify_assign(&c->unify, field, val))
        complain(c, e->at,
                 "expected type of field '" STR_FMT "' is '" STR_FMT
                 "' but provided type is '" STR_FMT "'",
                 STR_ARG(e->field), STR_ARG(text(c, field)), STR_ARG(text(c, val)));
}

static void check_struct(struct checker *c, struct ast_node *n)
{
    const struct cel_type *t = find_struct_type(c, n);
    n->type = &cel__error;
    if (!t) {
        complain_undeclared(c, n->at, n->map.name);
        for (size_t i = 0; is_lenient(c) && i < n->map.n; i++)
            check(c, n->map.entries[i].val);
        return;
    }
    if (t->kind == CEL_OBJECT)
        n->type = t;
    else
        complain(c, n->at, "'" STR_FMT "' is not a message type", STR_ARG(t->name));
    n->map.type = t;
    for (size_t i = 0; i < n->map.n; i++)
        check_struct_field(c, t, &n->map.entries[i]);
}

/* ---- Folds ---- */

struct range_types {
    const struct cel_type *first, *second;
};

static struct range_types range_of(struct checker *c, const struct ast_node *n)
{
    const struct cel_type *t = unify_apply(&c->unify, n->fold.range->type, false);
    bool two = n->fold.iter_var2.n;
    switch (t->kind) {
    case CEL_LIST:
        return two ? (struct range_types){ &cel_int, t->params[0] }
                   : (struct range_types){ t->params[0], NULL };
    case CEL_MAP:
        return (struct range_types){ t->params[0], t->params[1] };
    case CEL_DYN:
    case CEL_ANY:
    case CEL_ERROR:
    case CEL_PARAM:
        unify_assign(&c->unify, &cel_dyn, t);
        return (struct range_types){ &cel_dyn, &cel_dyn };
    default:
        complain(c, n->fold.range->at,
                 "expression of type '" STR_FMT
                 "' cannot be range of a comprehension (must be list, map, or dynamic)",
                 STR_ARG(text(c, t)));
        return is_lenient(c) ? (struct range_types){ &cel_dyn, &cel_dyn }
                             : (struct range_types){ &cel__error, &cel__error };
    }
}

static void check_is(struct checker *c, const struct ast_node *n, const struct cel_type *t)
{
    if (!unify_assign(&c->unify, t, n->type))
        complain_mismatch(c, n->at, t, n->type);
}

static void check_fold(struct checker *c, struct ast_node *n)
{
    struct ast_fold *f = &n->fold;
    check(c, f->range);
    check(c, f->init);
    size_t outer = c->n_locals;
    struct range_types types = range_of(c, n);
    f->accu_slot = push_local(c, f->accu_var, f->init->type);
    size_t inner = c->n_locals;
    f->iter_slot = push_local(c, f->iter_var, types.first);
    if (f->iter_var2.n)
        f->iter2_slot = push_local(c, f->iter_var2, types.second);
    check(c, f->condition);
    check_is(c, f->condition, &cel_bool);
    check(c, f->step);
    check_is(c, f->step, f->init->type);
    c->n_locals = inner;
    check(c, f->result);
    c->n_locals = outer;
    n->type = unify_apply(&c->unify, f->result->type, false);
}

static void check(struct checker *c, struct ast_node *n)
{
    if (n->type) /* a macro has it twice */
        return;
    switch (n->kind) {
    case AST_LITERAL:
        n->type = cel__type_of(&n->literal);
        break;
    case AST_IDENT:
        check_ident(c, n);
        break;
    case AST_SELECT:
        check_select(c, n);
        break;
    case AST_CALL:
        check_call(c, n);
        break;
    case AST_LIST:
        check_list(c, n);
        break;
    case AST_MAP:
        check_map(c, n);
        break;
    case AST_STRUCT:
        check_struct(c, n);
        break;
    default:
        check_fold(c, n);
        break;
    }
}

/* ---- The end: variables are gone ---- */

static void finish(struct checker *c, struct ast_node *n);

static void finish_fold(struct checker *c, struct ast_fold *f)
{
    struct ast_node *parts[] = { f->range, f->init, f->condition, f->step, f->result };
    for (size_t i = 0; i < 5; i++)
        finish(c, parts[i]);
}

static void finish(struct checker *c, struct ast_node *n)
{
    n->type = unify_apply(&c->unify, n->type, true);
    switch (n->kind) {
    case AST_SELECT:
        finish(c, n->select.operand);
        break;
    case AST_CALL:
        for (size_t i = 0; i < n->call.n_args; i++)
            finish(c, n->call.args[i]);
        break;
    case AST_LIST:
        for (size_t i = 0; i < n->list.n; i++)
            finish(c, n->list.items[i]);
        break;
    case AST_MAP:
    case AST_STRUCT:
        for (size_t i = 0; i < n->map.n; i++) {
            if (n->kind == AST_MAP)
                finish(c, n->map.entries[i].key);
            finish(c, n->map.entries[i].val);
        }
        break;
    case AST_FOLD:
        finish_fold(c, &n->fold);
        break;
    default:
        break;
    }
}

bool cel__check(struct arena *a, struct arena *scratch, struct cel_program *p,
                struct issues *issues)
{
    struct checker c = {
        .arena = a,
        .scratch = scratch,
        .program = p,
        .env = p->env,
        .issues = issues,
        .unify = { .arena = a, .scratch = scratch },
    };
    p->uses = arena_array(a, bool, p->env->n_variables);
    check(&c, p->root);
    if (issues->total)
        return false;
    finish(&c, p->root);
    p->type = p->root->type;
    return true;
}
