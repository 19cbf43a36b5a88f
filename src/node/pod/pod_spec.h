/* pod_spec.h - what of a Pod more than one rule asks for. Texts are borrowed unless an arena is
 * passed. Rules only: no I/O. */
#pragma once

#include "base/value.h"

static inline const struct value *pod_spec(const struct value *pod)
{
    return value_get(pod, STR("spec"));
}
struct str pod_name(const struct value *pod);
struct str pod_ns(const struct value *pod);
struct str pod_uid(const struct value *pod);
/* "NAME_NAMESPACE(UID)", as messages name pods. */
struct str pod_describe(struct arena *a, const struct value *pod);

/* "Guaranteed", "Burstable" or "BestEffort": of the status, else of the spec. */
struct str pod_class(const struct value *pod);
bool pod_is_static(const struct value *pod); /* it comes from a file, not from the server */
/* Static, or of a priority that the system keeps for itself. */
bool pod_is_critical(const struct value *pod);
bool pod_is_node_critical(const struct value *pod);

/* Calls for each container of all three lists, until it returns false. */
typedef bool pod_visit(void *arg, const struct value *container);
bool pod_each_container(const struct value *pod, pod_visit *visit, void *arg);
/* Of containers or initContainers; NULL: there is none of that name. */
const struct value *pod_find_container(const struct value *pod, struct str name);

/* A field of the container's securityContext; where it has none, of the pod's, if that has such a
 * field. NULL: neither says anything. */
const struct value *pod_security(const struct value *pod, const struct value *container,
                                 struct str field);

/* The user that files made for the pod belong to: the one that all containers run as. False if they
 * differ or one does not say. */
bool pod_common_user(const struct value *pod, int64_t *ret);
bool pod_fs_group(const struct value *pod, int64_t *ret);

/* "a/./b//c" without what says nothing; ".." stays. In the arena. */
struct str path_clean(struct arena *a, struct str path);
struct str path_join(struct arena *a, struct str folder, struct str name);
bool path_has_backstep(struct str path); /* one of its parts is ".." */
/* The words that Go has for an errno: "no such file or directory". In the arena. */
struct str go_errno(struct arena *a, int errnum);
/* A text in quotes, with Go's escapes. In the arena. */
struct str go_quote(struct arena *a, struct str text);
