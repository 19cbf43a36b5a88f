/* schema_fields.h - many fields of one object, looked up by name.
 *
 * An object has as many fields as fit into a request, and a schema as many properties: looking for
 * each by walking over all would take minutes. Duplicates do not occur here. */
#pragma once

#include "merge/sorted.h"

/* Set the first two; `obj` may be anything, or NULL. */
struct schema_fields {
    struct arena *arena;
    const struct value *obj;
    struct sorted sorted; /* private: made when there are many */
};

const struct value *schema_fields_get(struct schema_fields *f, struct str name);
