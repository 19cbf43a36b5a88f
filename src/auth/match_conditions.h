/* match_conditions.h - which questions a webhook is asked at all: CEL expressions over `request`,
 * the spec of a SubjectAccessReview (v1). Rules only: no I/O. */
#pragma once

#include "api/field_errors.h"
#include "auth/access.h"

struct match_conditions; /* sealed; lies in the arena it was read into */

enum { MATCH_CONDITIONS_MAX = 64, MATCH_CONDITIONS_COST = 1000000 /* of each expression */ };

/* Checks and compiles a list of {expression}; faults are noted at `path`. NULL if there is none
 * that could be compiled. `e` has the arena. */
const struct match_conditions *match_conditions_read(struct field_errors *e,
                                                     const struct value *list,
                                                     const struct field_path *path);

/* 1: all of them hold; 0: one does not; ERR_INVALID: none says no, but one cannot be evaluated;
 * ERR_TOO_LARGE: an expression cost more than `most_each`, and none says no. What is evaluated lies
 * in the arena. Any thread. */
int match_conditions_hold(const struct match_conditions *c, struct arena *a, const struct access *q,
                          uint64_t most_each, struct err *err);
