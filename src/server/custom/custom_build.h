/* custom_build.h - the making of a struct custom. */
#pragma once

#include "server/custom/custom.h"

/* `crd` is of apiextensions.k8s.io/v1, with its accepted names; nothing of it is needed
 * afterwards. */
struct custom *custom_build(struct custom_kinds *kinds, const struct value *crd, uint64_t rev);

/* schema_kind.schema and .programs: compile them if nobody has yet. */
const struct schema *custom_schema(const struct schema_kind *k);
const struct schema_programs *custom_programs(const struct schema_kind *k);
