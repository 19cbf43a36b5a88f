/* schema_types.h - schemas as types of CEL. */
#pragma once

#include "base/map.h"
#include "cel/cel.h"
#include "schema/schema.h"

/* Types that were made already: a schema has the same node at many places. */
struct schema_types {
    struct arena *a; /* where types lie; set by whoever declares one */
    struct map made;
};

void schema_types_done(struct schema_types *t); /* the types stay */

/* NULL where expressions cannot look: a list without items, what has no type. `root` is a whole
 * resource, of which expressions see also apiVersion, kind and two names. The schema must live as
 * long. */
const struct cel_type *schema_type(struct schema_types *t, const struct schema *s, bool root);

/* How many values of the type fit into a request at most, for the cost of rules that are in lists
 * of unknown length. */
uint64_t schema_type_max_count(const struct schema *s, bool root);

/* The type of a field of an object type; NULL: expressions do not see it. */
const struct cel_type *schema_type_field(struct schema_types *t, const struct cel_type *object,
                                         const struct schema *property, struct str name);
