/* envoy_filter_internal.h - what the files of this folder share. */
#pragma once

#include "mesh/envoy_filter/envoy_filter.h"

struct patch {
    const struct value *match; /* `match` of a configPatch, or NULL */
    struct str operation;
    struct value value; /* with the names of the .proto files */
};

struct patches {
    struct patch *items;
    size_t n;
};

/* Those for this place ("HTTP_FILTER") and context ("GATEWAY"). */
struct patches patch__list(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           const char *place, const char *context);
void patch__merge(struct arena *a, struct value *into, const struct value *from);
/* Adds, removes, merges or inserts in a list of named things: those that `name` means, which is
 * empty for all. */
void patch__list_apply(struct arena *a, struct value *list, const struct patch *p, struct str name);
const char *patch__context(const struct mesh_proxy *p, const struct value *listener);
