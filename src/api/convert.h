/* convert.h - an object of one version as the same object of another.
 *
 * Most versions of a kind have the same fields, and reading the object by the other's table is all
 * there is to do. Where names or places differ, convert.c has a row for the kind. Rules only: no
 * I/O. */
#pragma once

#include "api/kind.h"
#include "base/err.h"
#include "base/value.h"

/* `in` is of type `from`, as typed_read() leaves it; it is shared, not changed. The result has the
 * kind and apiVersion of `to`. */
int convert_object(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err);

/* "apps/v1", or "v1" for the core group. In the arena. */
struct str convert_api_version(struct arena *a, const struct kind_type *t);
