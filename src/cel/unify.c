/* Type variables are CEL_PARAM types whose max_size is their number; parameters of declared
 * overloads have no number and never get here without being replaced. The rules are those of
 * upstream's checker, including where null fits. */
#include "cel/unify.h"

#include <assert.h>

#include "base/banned.h"

const struct cel_type *unify_fresh(struct unify *u)
{
    if (u->n_vars == u->cap_vars) {
        uint32_t cap = u->cap_vars ? u->cap_vars * 2 : 16;
        u->bound = arena_grow(u->scratch, u->bound, u->cap_vars * sizeof(*u->bound),
                              cap * sizeof(*u->bound), alignof(void *));
        u->cap_vars = cap;
    }
    struct cel_type *t = arena_new(u->scratch, struct cel_type);
    t->kind = CEL_PARAM;
    t->name = arena_printf(u->scratch, "_var%u", u->n_vars);
    t->max_size = u->n_vars;
    u->bound[u->n_vars++] = NULL;
    return t;
}

static const struct cel_type *binding(const struct unify *u, const struct cel_type *var)
{
    return var->max_size < u->n_vars ? u->bound[var->max_size] : NULL;
}

static void bind(struct unify *u, const struct cel_type *var, const struct cel_type *t)
{
    if (u->n_trail == u->cap_trail) {
        size_t cap = u->cap_trail ? u->cap_trail * 2 : 16;
        u->trail = arena_grow(u->scratch, u->trail, u->cap_trail * sizeof(*u->trail),
                              cap * sizeof(*u->trail), alignof(struct unify_change));
        u->cap_trail = cap;
    }
    uint32_t i = (uint32_t)var->max_size;
    u->trail[u->n_trail++] = (struct unify_change){ i, u->bound[i] };
    u->bound[i] = t;
}

static void undo(struct unify *u, size_t mark)
{
    while (u->n_trail > mark) {
        struct unify_change change = u->trail[--u->n_trail];
        u->bound[change.var] = change.old;
    }
}

static bool is_param(const struct cel_type *t)
{
    return t->kind == CEL_PARAM;
}

/* Whether x is as general as y, or more. */
static bool is_less_specific(const struct cel_type *x, const struct cel_type *y)
{
    if (cel__type_is_dyn(x) || is_param(x))
        return true;
    if (cel__type_is_dyn(y) || is_param(y) || x->kind != y->kind)
        return false;
    if (x->kind == CEL_TYPE)
        return true;
    if (!str_eq(x->name, y->name) || x->n_params != y->n_params)
        return false;
    for (unsigned i = 0; i < x->n_params; i++)
        if (!is_less_specific(x->params[i], y->params[i]))
            return false;
    return true;
}

const struct cel_type *unify_general(const struct cel_type *x, const struct cel_type *y)
{
    return is_less_specific(x, y) ? x : y;
}

static bool is_free_of(const struct unify *u, const struct cel_type *var,
                       const struct cel_type *within)
{
    if (cel__type_same(var, within))
        return false;
    if (is_param(within)) {
        const struct cel_type *t = binding(u, within);
        return !t || is_free_of(u, var, t);
    }
    for (unsigned i = 0; i < within->n_params; i++)
        if (!is_free_of(u, var, within->params[i]))
            return false;
    return true;
}

static bool fits(struct unify *u, const struct cel_type *from, const struct cel_type *to);

/* Whether `t` can stand for the variable. */
static bool substitutes(struct unify *u, const struct cel_type *t, const struct cel_type *var,
                        bool *ret_bound)
{
    *ret_bound = true;
    if (cel__type_same(t, var))
        return true;
    const struct cel_type *old = binding(u, var);
    if (old) {
        if (cel__type_same(t, old))
            return true;
        if (!fits(u, t, old))
            return false;
        const struct cel_type *general = unify_general(t, old);
        if (is_free_of(u, var, general))
            bind(u, var, general);
        return true;
    }
    *ret_bound = false;
    if (!is_free_of(u, var, t))
        return false;
    bind(u, var, t);
    return true;
}

static bool takes_null(const struct cel_type *t)
{
    switch (t->kind) {
    case CEL_OPAQUE:
    case CEL_OPTIONAL:
    case CEL_OBJECT:
    case CEL_DURATION:
    case CEL_TIMESTAMP:
    case CEL_NULL:
        return true;
    default:
        return t->wrapper;
    }
}

static bool is_wild(const struct cel_type *t)
{
    return cel__type_is_dyn(t) || t->kind == CEL_ERROR;
}

static bool fits(struct unify *u, const struct cel_type *from, const struct cel_type *to)
{
    bool bound;
    if (is_param(to)) {
        if (substitutes(u, from, to, &bound))
            return true;
        if (bound)
            return false;
    }
    if (is_param(from))
        return substitutes(u, to, from, &bound);
    if (is_wild(from) || is_wild(to))
        return true;
    if (from->kind == CEL_NULL || to->kind == CEL_NULL)
        return takes_null(from->kind == CEL_NULL ? to : from);
    if (from->kind != to->kind)
        return false;
    if (from->kind == CEL_TYPE)
        return true;
    if (!str_eq(from->name, to->name) || from->n_params != to->n_params)
        return false;
    for (unsigned i = 0; i < from->n_params; i++)
        if (!fits(u, from->params[i], to->params[i]))
            return false;
    return true;
}

bool unify_assign_all(struct unify *u, const struct cel_type *const *from,
                      const struct cel_type *const *to, size_t n)
{
    size_t mark = u->n_trail;
    for (size_t i = 0; i < n; i++)
        if (!fits(u, from[i], to[i])) {
            undo(u, mark);
            return false;
        }
    u->n_trail = 0;
    return true;
}

bool unify_assign(struct unify *u, const struct cel_type *from, const struct cel_type *to)
{
    return unify_assign_all(u, &from, &to, 1);
}

/* A copy with other parameters; without the sizes that belong to a place in a tree. */
static const struct cel_type *with_params(struct arena *a, const struct cel_type *t,
                                          const struct cel_type *const params[2])
{
    struct cel_type *copy = arena_new(a, struct cel_type);
    *copy = *t;
    copy->params[0] = params[0];
    copy->params[1] = params[1];
    return copy;
}

const struct cel_type *unify_apply(struct unify *u, const struct cel_type *t, bool finish)
{
    if (is_param(t)) {
        const struct cel_type *old = binding(u, t);
        return old ? unify_apply(u, old, finish) : finish ? &cel_dyn : t;
    }
    const struct cel_type *params[2] = { 0 };
    bool same = true;
    for (unsigned i = 0; i < t->n_params; i++) {
        params[i] = unify_apply(u, t->params[i], finish);
        same = same && params[i] == t->params[i];
    }
    return same ? t : with_params(u->arena, t, params);
}

/* ---- Overloads ---- */

struct fresh {
    const struct cel_type *declared[3], *var[2]; /* declared ends with NULL */
};

static const struct cel_type *replace(struct unify *u, const struct cel_type *t, struct fresh *f)
{
    if (is_param(t)) {
        size_t i = 0;
        while (f->declared[i] && f->declared[i] != t)
            i++;
        assert(i < 2); /* no overload has more parameters */
        if (!f->declared[i]) {
            f->declared[i] = t;
            f->var[i] = unify_fresh(u);
        }
        return f->var[i];
    }
    const struct cel_type *params[2] = { 0 };
    bool same = true;
    for (unsigned i = 0; i < t->n_params; i++) {
        params[i] = replace(u, t->params[i], f);
        same = same && params[i] == t->params[i];
    }
    return same ? t : with_params(u->scratch, t, params);
}

struct unify_signature unify_instantiate(struct unify *u, const struct cel__overload *o)
{
    struct unify_signature s = { 0 };
    struct fresh f = { 0 };
    for (size_t i = 0; i < o->n_args; i++)
        s.args[i] = replace(u, o->args[i], &f);
    s.result = replace(u, o->result, &f);
    return s;
}
