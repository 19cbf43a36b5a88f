/* validate.h - what Istio's validation webhook says of an object of its API, beside the schema.
 * Pure. */
#pragma once

#include "base/err.h"
#include "base/value.h"

/* ERR_INVALID with the first thing that is wrong. Kinds that are not known are fine. `ret_warnings`
 * counts what is accepted all the same. */
int validate_object(struct arena *a, const struct value *obj, unsigned *ret_warnings,
                    struct err *err);
