/* schema_ownership.h - what the schema of a custom kind says of server-side apply.
 *
 * Places in metadata are those of the kind tables. Without a schema, and where unknown fields are
 * kept, what stands there is deduced: objects field by field, everything else as a leaf. */
#pragma once

#include "merge/managed.h"
#include "schema/schema_kind.h"

extern const struct ownership_schema schema_ownership;
/* An object of a custom type. */
struct ownership_place schema_ownership_of(const struct kind_type *type);

/* For struct managed_versions: the apiVersion changes and nothing is pruned, so an object that has
 * what the other version does not know cannot be converted. Upstream then leaves the managers as
 * they were. */
int schema_ownership_convert(struct arena *a, struct ownership_place from,
                             struct ownership_place to, const struct value *obj, struct value *ret,
                             struct err *err);
