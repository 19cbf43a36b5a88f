/* schema_types.h - schemas as types of CEL. */
#pragma once

#include "cel/cel.h"
#include "schema/schema.h"

/* NULL where expressions cannot look: a list without items, what has no type. `root` is a whole
 * resource, of which expressions see also apiVersion, kind and two names. Lies in the arena; the
 * schema must live as long. */
const struct cel_type *schema_type(struct arena *a, const struct schema *s, bool root);

/* How many values of the type fit into a request at most, for the cost of rules that are in lists
 * of unknown length. */
uint64_t schema_type_max_count(const struct schema *s, bool root);

/* The type of a field of an object type; NULL: expressions do not see it. */
const struct cel_type *schema_type_field(struct arena *a, const struct cel_type *object,
                                         const struct schema *property, struct str name);
