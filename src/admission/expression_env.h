/* expression_env.h - what expressions of admission see: the object, who asks for what, and the
 * like. The same environments serve to check expressions when they are written and to run them. */
#pragma once

#include "cel/cel.h"

enum expression_flags {
    EXPRESSION_PARAMS = 1 << 0,
    EXPRESSION_AUTHORIZER = 1 << 1,
};

/* Variables in this order; those that the flags or `variables` leave out are not there. */
enum expression_variable {
    EXPRESSION_OBJECT,
    EXPRESSION_OLD_OBJECT,
    EXPRESSION_REQUEST,
    EXPRESSION_NAMESPACE,
    EXPRESSION_OPTIONAL, /* params, authorizer and authorizer.requestResource, variables */
};

/* Policies and match conditions. `variables` is the object type of a policy's own variables, or
 * NULL. Lies in the arena. */
const struct cel_env *expression_env(struct arena *a, unsigned flags,
                                     const struct cel_type *variables);

/* Selectors of devices: one variable, `device`. */
const struct cel_env *expression_device_env(struct arena *a);
