/* nested.h - places in a volume where containers mount other volumes. They must be there before,
 * because the volume itself is read-only in the container. */
#pragma once

#include "base/err.h"
#include "base/value.h"

/* Makes these folders in the volume `name`, which lies at `path`. */
int nested_make(struct arena *a, const struct value *pod, struct str name, struct str path,
                struct err *err);
