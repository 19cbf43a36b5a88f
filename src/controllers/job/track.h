/* track.h - counts pods that have ended, each once, however often we are killed in between.
 *
 * First the status says which pods are about to be counted; then they lose the finalizer by which
 * they were kept; then the status says how many there were. */
#pragma once

#include "controllers/common/own_writes.h"
#include "controllers/job/plan.h"
#include <sampan/controller.h>

struct job_track {
    struct spn_work *work;
    struct job_view *view;
    struct own_writes *writes, *pod_writes;
    bool must_write;  /* the status has changed */
    bool has_written; /* what came before the finalizers */
    struct spn_value **to_release;
    size_t n_to_release;
};

int track_pods(struct job_track *t, struct spn_err *err);
/* Takes the finalizer off a pod. One that is gone is no error. */
int track_release(struct spn_work *w, const struct spn_value *pod, struct spn_value **ret,
                  struct spn_err *err);
