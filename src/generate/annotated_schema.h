/* annotated_schema.h - structs of an annotated header as schemas of a definition. */
#pragma once

#include "base/buf.h"
#include "generate/annotated.h"

/* Of a kind: apiVersion, kind and metadata come first. `names` gets what
 * MODEL_NAMES_ANNOTATION has to say so that the definition leads to the same structs. */
int annotated_schema(struct annotated *in, struct annotated_struct *kind, struct value *ret,
                     struct buf *names, struct err *err);

/* Markers that are about a kind and not about the schema of its struct. */
bool annotated_is_about_kind(struct str marker);
