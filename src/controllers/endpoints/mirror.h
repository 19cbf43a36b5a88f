/* mirror.h - Endpoints that somebody wrote by hand, as EndpointSlices. Rules only. */
#pragma once

#include "controllers/endpoints/slices.h"

/* More addresses of one subset are left out. */
enum { MIRROR_MAX = 1000 };

struct mirror_skips {
    size_t n_invalid, n_skipped; /* the latter with the former */
};

/* False: they say themselves that they are not for this. */
bool mirror_is_wanted(const struct spn_value *endpoints);
/* `slices` are those that mirror them now. */
void mirror_plan(struct spn_arena *a, const struct spn_value *endpoints,
                 const struct spn_value *const *slices, size_t n_slices, struct slice_plan *ret,
                 struct mirror_skips *ret_skips);
