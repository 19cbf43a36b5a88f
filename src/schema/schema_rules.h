/* schema_rules.h - whether the expressions of a definition's schema can be accepted: they compile,
 * have the right type, do not look at an old value where none can be found, and cannot cost too
 * much. */
#pragma once

#include "schema/schema_cel.h"

/* `props` is the schema at `path`, and `s` what was compiled from it. */
void schema_check_rules(struct field_errors *e, const struct field_path *path,
                        const struct schema *s, const struct value *props);
