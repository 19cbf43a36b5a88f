/* custom_scale.h - the numbers of a custom object that its Scale shows, by the paths of its
 * definition. Rules only: no I/O. */
#pragma once

#include "base/err.h"
#include "schema/schema_kind.h"

struct scale_parts {
    int64_t replicas, running;
    bool has_replicas; /* else there are none yet */
    struct str selector;
};

/* What a Scale says, while it is being changed, of an object that has no replicas. */
#define CUSTOM_SCALE_UNSET INT32_MIN

/* ERR_UNKNOWN if something else stands there. */
int custom_scale_read(const struct schema_scale *paths, const struct value *obj,
                      struct scale_parts *ret, struct err *err);
/* Sets the replicas, and makes what they stand in. ERR_BAD_REQUEST if they are still unset,
 * ERR_UNKNOWN if they cannot stand there. */
int custom_scale_write(struct arena *a, const struct schema_scale *paths, int64_t replicas,
                       struct value *obj, struct err *err);
/* ERR_INTERNAL, as upstream answers who asks for the Scale of an object without replicas. */
int custom_scale_refuse(const struct schema_scale *paths, struct err *err);
