/* pods.h - what controllers ask of a pod: does it run, is it ready, has it been so for long enough;
 * and which one goes first when there are too many. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

bool pod_is_terminal(const struct spn_value *pod);    /* its containers have ended for good */
bool pod_is_active(const struct spn_value *pod);      /* it is not, and nobody has deleted it */
bool pod_is_terminating(const struct spn_value *pod); /* it is not, but somebody has */
bool pod_is_ready(const struct spn_value *pod);
/* Ready for so many seconds; 0: just ready. */
bool pod_is_available(const struct spn_value *pod, int64_t min_ready_sec, int64_t now_ns);
/* In how many milliseconds the first ready pod of these becomes available; -1: none will. */
int64_t pods_next_available_ms(const struct spn_value *const *pods, size_t n, int64_t min_ready_sec,
                               int64_t now_ns);

/* A pod among those that may go. */
struct pod_rank {
    const struct spn_value *pod;
    size_t n_beside; /* active pods of the same application on its node */
};
/* Sorts: those that are missed least come first. */
void pods_sort_for_deletion(struct pod_rank *pods, size_t n, int64_t now_ns);

/* A pod of a template, for `owner`, which has apiVersion, kind and metadata: labels, annotations,
 * finalizers, a name to be generated, the owner, and the spec. */
struct spn_value *pod_from_template(struct spn_arena *a, const struct spn_value *template,
                                    const struct spn_value *owner);
