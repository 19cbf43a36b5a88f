/* expression_env.h - what expressions of admission see: the object, who asks for what, and the
 * like. The same environments serve to check expressions when they are written and to run them. */
#pragma once

#include "cel/cel.h"

enum expression_flags {
    EXPRESSION_PARAMS = 1 << 0,
    EXPRESSION_AUTHORIZER = 1 << 1,
    EXPRESSION_PATCHES = 1 << 2, /* what makes patches: JSONPatch{...}, Object.spec{...} */
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

/* The types of what a mutating policy makes: one operation of a JSON patch, and a part of an
 * applied configuration ("Object", "Object.spec"), of which any field can be set. */
const struct cel_type *expression_json_patch(struct arena *a);
const struct cel_type *expression_object(struct arena *a, struct str name);

/* Selectors of devices: one variable, `device`. */
const struct cel_env *expression_device_env(struct arena *a);
