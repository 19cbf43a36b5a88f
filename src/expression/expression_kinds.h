/* expression_kinds.h - built-in kinds as types of CEL: for checks that go further than what an
 * expression needs to run, since objects are dyn then. */
#pragma once

#include "api/kind.h"
#include "cel/cel.h"

/* Lies in the arena, and so does what is found of its fields while expressions are compiled: one
 * thread at a time. What a table knows little of is dyn, quantities among it: upstream hides those.
 */
const struct cel_type *expression_kind(struct arena *a, const struct kind_type *t, struct str name);
