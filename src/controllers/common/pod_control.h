/* pod_control.h - makes and deletes pods for an owner, and tells users so by events. */
#pragma once

#include <sampan/controller.h>

/* What both need: the owner has apiVersion, kind and metadata. */
struct pod_control {
    struct spn_work *work;
    const struct spn_value *owner;
};

/* `pod` has no name, or the one it is to have. A namespace that is about to go refuses everything:
 * that is an error, but not worth an event (refusal_is_terminating). */
int pod_control_create(const struct pod_control *c, const struct spn_value *pod,
                       struct spn_err *err);
/* One that is gone already is SPN_NOT_FOUND, without an event. Only the pod of that uid goes. */
int pod_control_delete(const struct pod_control *c, const struct spn_value *pod,
                       struct spn_err *err);

/* How many of `n` are tried at once: 1, 2, 4, ... as long as all of a batch went well. The first
 * error ends it after its batch. Returns how many went well; `*ret` is 0 or the first error. */
typedef int pod_control_fn(void *arg, struct spn_err *err);
size_t pod_control_slow_start(size_t n, pod_control_fn *fn, void *arg, int *ret,
                              struct spn_err *err);
