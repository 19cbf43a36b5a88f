/* unify.h - type variables and what may stand for what, while an expression is checked. Private to
 * this folder. */
#pragma once

#include "cel/internal.h"

struct unify_change {
    uint32_t var;
    const struct cel_type *old;
};

struct unify {
    struct arena *arena;           /* of types that nodes keep */
    struct arena *scratch;         /* of all else */
    const struct cel_type **bound; /* by variable; NULL: free */
    uint32_t n_vars, cap_vars;
    struct unify_change *trail; /* what an attempt has changed */
    size_t n_trail, cap_trail;
};

/* A new type variable, called _var0, _var1, ... */
const struct cel_type *unify_fresh(struct unify *u);
/* Whether `from` may be used as `to`; binds variables if so, else leaves all as it was. */
bool unify_assign(struct unify *u, const struct cel_type *from, const struct cel_type *to);
bool unify_assign_all(struct unify *u, const struct cel_type *const *from,
                      const struct cel_type *const *to, size_t n);
/* The type with bound variables replaced; free ones become dyn if `finish`. */
const struct cel_type *unify_apply(struct unify *u, const struct cel_type *t, bool finish);
/* The more general of two types that fit each other. */
const struct cel_type *unify_general(const struct cel_type *x, const struct cel_type *y);

/* The signature of an overload with fresh variables for its parameters. */
struct unify_signature {
    const struct cel_type *result, *args[CEL__ARGS_MAX];
};
struct unify_signature unify_instantiate(struct unify *u, const struct cel__overload *o);
