/* tolerations.h - which taints of nodes a pod puts up with, where plugins have a say in that. */
#pragma once

#include "base/value.h"

/* A toleration of all taints of that key and effect. */
struct value toleration_of(struct arena *a, struct str key, struct str effect);
/* Whether whatever `t` tolerates is tolerated by `wide` too. */
bool toleration_covers(const struct value *wide, const struct value *t);
/* By one of a list. */
bool toleration_is_covered(const struct value *list, const struct value *t);
/* Adds more to those of the pod, without those that others cover. */
void tolerations_merge(struct arena *a, struct value *pod, const struct value *more);
