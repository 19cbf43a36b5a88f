/* selector_dump.h - a LabelSelector as Go prints the struct, where upstream's messages and columns
 * do not write it as a selector. Rules only. */
#pragma once

#include "base/arena.h"
#include "base/value.h"

/* "&LabelSelector{MatchLabels:map[string]string{a: 1,},MatchExpressions:...}"; nil if absent. */
struct str selector_dump(struct arena *a, const struct value *selector);
