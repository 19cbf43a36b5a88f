/* type_check.h - whether the expressions of a validating policy fit the kinds that it is for.
 *
 * A policy is run without types, so nothing follows from what is found here but a word to its
 * author, in the policy's status. Only kinds that its rules name one by one are looked at, and not
 * more than a few. Rules only: no I/O. */
#pragma once

#include "api/kind.h"
#include "base/value.h"

/* How kinds are found; NULL: there is none. What is found lives as long as the arena. */
struct type_check_kinds {
    const struct kind_type *(*by_resource)(void *arg, struct str group, struct str version,
                                           struct str plural);
    const struct kind_type *(*by_kind)(void *arg, struct str api_version, struct str kind);
    void *arg;
};

/* A list of ExpressionWarnings, perhaps empty, for a ValidatingAdmissionPolicy that is valid. In
 * the arena. */
struct value type_check(struct arena *a, const struct value *policy,
                        const struct type_check_kinds *kinds);
