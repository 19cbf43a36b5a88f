/* scope.h - what expressions over a request see, and what they may cost.
 *
 * A plan is what a configuration object says: its variables, compiled, and the environment of its
 * expressions. A scope is that for one request. Values look as JSON has them, whatever type the
 * environment declares, as upstream shows them. The variables of a policy are evaluated when an
 * expression first asks for them, once in a scope. Results lie in the scope: what is to outlive it
 * is copied. */
#pragma once

#include "admission/dynamic/view.h"
#include "cel/cel.h"
#include "expression/expression_env.h"

enum {
    SCOPE_CALL_COST = 1000000,       /* of one expression or variable */
    SCOPE_COST = 10000000,           /* of all expressions of a scope */
    SCOPE_CONDITIONS_COST = 2500000, /* of the match conditions of one object */
};

/* One expression of a configuration object. */
struct scope_expression {
    struct str name; /* of what it stands for; may be empty */
    struct str text;
    const struct cel_program *program; /* NULL: it does not compile any more */
    struct str fault;                  /* why */
};

struct scope_expressions {
    struct scope_expression *at;
    size_t n;
};

struct scope_plan {
    struct scope_expressions variables;
    const struct expression_variables *names; /* of them; NULL: there are none */
    const struct cel_env *env;
    unsigned flags; /* enum expression_flags */
};

/* `variables` is a list of {name, expression}, or NULL. `types` are for checks alone, else NULL.
 * Everything lies in the arena. */
const struct scope_plan *scope_plan(struct arena *a, unsigned flags, const struct value *variables,
                                    const struct expression_types *types);

/* The field `key` of each object of `list`, by its `name` if it has one. An absent or empty one is
 * left without program and text. */
struct scope_expressions scope_compile(struct arena *a, const struct scope_plan *p,
                                       const struct value *list, const char *key);
struct scope_expression scope_compile_one(struct arena *a, const struct scope_plan *p,
                                          struct str name, struct str text);

/* Whether one of them looks at that variable. */
bool scope_uses(const struct scope_expressions *all, enum expression_variable variable);

/* What a scope is made of beside its plan. */
struct scope_input {
    struct admission_request *req;
    const struct view *view;
    const struct value *request;     /* scope_request() */
    const struct value *params, *ns; /* NULL: null */
    bool hides_authorizer;
};

/* The variable `request`. In the arena of `req`. */
struct value scope_request(struct admission_request *req, const struct view *v);

struct scope; /* of one thread */

struct scope *scope_new(const struct scope_plan *p, const struct scope_input *in, uint64_t budget);
struct scope *scope_free(struct scope *s);
uint64_t scope_budget(const struct scope *s); /* what is left */

/* ERR_INVALID: it failed, in upstream's words. Any other error: no further expressions can be
 * evaluated, since the budget or the allowance of the request is used up. */
int scope_eval(struct scope *s, const struct scope_expression *e, struct cel_value *ret,
               struct err *err);
struct arena *scope_arena(struct scope *s); /* for results; goes with it */
