/* conditions.h - matchConditions of webhooks and policies: CEL expressions over a request. */
#pragma once

#include "admission/dynamic/view.h"

struct conditions; /* compiled; lies in the arena it was read into */

/* `list` is valid: each compiles. NULL or an empty list gives NULL, which always holds.
 * `has_params`: those of a policy see `params`. */
const struct conditions *conditions_read(struct arena *a, const struct value *list,
                                         bool has_params);

/* 1: all of them hold; 0: one does not, and `*ret_name` is the name of the first; ERR_INVALID: none
 * says no, but one cannot be evaluated, in upstream's words. `params` may be NULL. */
int conditions_hold(const struct conditions *c, struct admission_request *req, const struct view *v,
                    const struct value *params, struct str *ret_name, struct err *err);
