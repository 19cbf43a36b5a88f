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
/* The same where it is known what objects and params are; else these are dyn. NULL: they are. */
struct expression_types {
    const struct cel_type *object, *params;
};
const struct cel_env *expression_env_of(struct arena *a, unsigned flags,
                                        const struct cel_type *variables,
                                        const struct expression_types *types);

/* The variables of a policy. They become known one by one, as each can use those before it; an
 * environment that has their type sees them come. In the arena. */
struct expression_variables;
struct expression_variables *expression_variables(struct arena *a, size_t max);
/* Of two with one name the first counts. */
void expression_variables_add(struct expression_variables *v, struct str name,
                              const struct cel_type *type);
/* Its number, from 0; SIZE_MAX if there is none. Any thread, once all are there. */
size_t expression_variables_find(const struct expression_variables *v, struct str name);
const struct cel_type *expression_variables_type(const struct expression_variables *v);

/* The types of what a mutating policy makes: one operation of a JSON patch, and a part of an
 * applied configuration ("Object", "Object.spec"), of which any field can be set. */
const struct cel_type *expression_json_patch(struct arena *a);
const struct cel_type *expression_object(struct arena *a, struct str name);

/* Selectors of devices: one variable, `device`. */
const struct cel_env *expression_device_env(struct arena *a);
