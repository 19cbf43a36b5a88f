/* go_type.h - what Go calls the type of a field: "[]v1.Container". Errors of its decoder say it,
 * and so does the dump that pod templates are hashed by. Pointers are left to the caller. */
#pragma once

#include "api/kind.h"
#include "base/buf.h"

void go_type_struct(struct buf *out, const struct kind_type *t);
/* Of one value, whether the field is a list, a map or neither. */
void go_type_element(struct buf *out, const struct kind_field *f);
void go_type_field(struct buf *out, const struct kind_field *f);
