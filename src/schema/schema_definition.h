/* schema_definition.h - what the schemas of a CustomResourceDefinition mean, beyond their shape,
 * which src/api/validate/definition looks at: patterns must compile and defaults must be what
 * the schema would accept. Schemas that were there before are not looked at again. */
#pragma once

#include "api/validate/validate.h"
#include "schema/schema.h"

/* `old_obj` is NULL for a new definition. */
void schema_check_definition(struct field_errors *e, const struct value *definition,
                             const struct value *old_obj);
void schema_warn_definition(struct validate_warnings *w, const struct value *definition,
                            const struct value *old_obj);
