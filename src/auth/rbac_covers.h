/* rbac_covers.h - whether rules give no more than others do: nobody may grant what he does not
 * have.
 *
 * A rule is taken apart into what it says of one group, resource, verb and name at a time, as
 * upstream does it; each part must be covered by one of the holder's rules. */
#pragma once

#include "auth/rbac_rule.h"
#include "base/err.h"

/* What `rules` give and `held` do not, in upstream's words, a line each, sorted; empty if all is
 * covered. ERR_TIMEOUT or the like if the arena's allowance ends on the way. */
int rbac_uncovered(struct arena *a, const struct rbac_rule *const *held, size_t n_held,
                   const struct rbac_rules *rules, struct str *ret, struct err *err);
