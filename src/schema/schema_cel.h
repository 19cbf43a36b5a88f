/* schema_cel.h - the rules that a schema has as expressions (x-kubernetes-validations): compiled
 * once, then run for every object, within a budget. */
#pragma once

#include "schema/schema_types.h"

/* One rule. */
struct schema_program {
    const struct schema_expression *rule;
    const struct cel_program *check;   /* NULL: it does not compile */
    const struct cel_program *message; /* of messageExpression; NULL: none */
    struct str fault, message_fault;   /* why not */
    struct str field_path;             /* below the object where the fault is told; may be empty */
    const struct cel_type *self;       /* of self */
    bool uses_old;
};

struct schema_programs;

struct schema_property_programs {
    struct str name;
    const struct schema_programs *programs;
};

/* The rules of a schema and of what is below it; what has none is left out. */
struct schema_programs {
    const struct schema *schema;
    struct schema_program *list;
    size_t n;
    const struct schema_programs *items, *additional;
    const struct schema_property_programs *properties; /* by name */
    const struct schema_programs **all_of;
    size_t n_properties, n_all_of;
};

/* NULL if there are none. `s` must live as long. */
const struct schema_programs *schema_programs_compile(struct arena *a, const struct schema *s,
                                                      bool root);

/* The rules of one schema alone. `type` is its own. */
void schema_program_list(struct arena *a, const struct schema *rules, const struct cel_type *type,
                         struct schema_program **ret, size_t *ret_n);

/* Notes what the rules say against `obj`. `old_obj` is NULL on create. Faults in what did not
 * change become warnings. `path` is NULL for a whole resource. */
void schema_programs_run(struct field_errors *e, const struct schema_programs *p,
                         const struct field_path *path, const struct value *obj,
                         const struct value *old_obj);
