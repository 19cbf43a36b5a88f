/* pod_owners.h - from a change of a pod to the owners that have to look at it, and to what they
 * were waiting for. For every kind that makes pods and finds them by a selector. */
#pragma once

#include "controllers/common/expectations.h"
#include <sampan/controller.h>

struct pod_owners {
    const char *kind;
    struct spn_text group;
    bool has_plain_selector;  /* spec.selector is a map of labels, as it was in the beginning */
    struct spn_cache *owners; /* of that kind */
    struct expectations *expected;
    /* Told of each owner that a change of a pod is about, as it is queued; or NULL. */
    void (*note)(void *arg, struct spn_text key);
    void *note_arg;
};

/* Adds a controller of such a kind, which looks at changes of owners and of pods. `opt` says what
 * it is and does; if it says nothing about `when`, owners that were deleted and made anew expect
 * nothing. The owners live as long as the manager. */
struct spn_controller *pod_owners_add(struct spn_manager *m, struct pod_owners *c,
                                      const struct spn_controller_options *opt);

/* spec.selector as an object of matchLabels and matchExpressions. */
const struct spn_value *pod_owners_selector(const struct pod_owners *c, struct spn_arena *a,
                                            const struct spn_value *owner);

/* The key of the owner that controls the pod, in the arena. False: it is not there, or of another
 * kind. */
bool pod_owners_key(const struct pod_owners *c, const struct spn_object *pod, struct spn_arena *a,
                    struct spn_text *ret);
