/* pod_fields.h - fields of a pod and amounts of its containers as texts, for variables and files
 * (the downward API). Rules only: no I/O. */
#pragma once

#include "base/err.h"
#include "base/value.h"

/* metadata.name, metadata.labels, metadata.labels['KEY'], ...: what files may show. ERR_INVALID in
 * upstream's words. */
int pod_field(struct arena *a, const struct value *pod, struct str path, struct str *ret,
              struct err *err);
/* A resourceFieldRef. Limits that are not there are `allocatable`'s. `self` is meant if it names no
 * container; NULL: it has to. */
int pod_resource_field(struct arena *a, const struct value *pod, const struct value *self,
                       const struct value *ref, const struct value *allocatable, struct str *ret,
                       struct err *err);
