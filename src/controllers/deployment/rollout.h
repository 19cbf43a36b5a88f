/* rollout.h - one look at a Deployment: asks the plans, and does what they say. */
#pragma once

#include "controllers/deployment/sets.h"
#include <sampan/controller.h>

struct deployments {
    struct spn_cache *deployments, *sets, *pods;
};

struct deployment_sync {
    struct deployments *c;
    struct spn_work *work;
    struct spn_value *deployment; /* with apiVersion and kind */
    struct deployment_set *sets;  /* its own, older ones first; room for one more */
    size_t n_sets;
    struct deployment_set *new_set; /* of the current template: among `sets`, or NULL */
};

/* Everything once the sets are known. */
int deployment_sync_sets(struct deployment_sync *s, struct spn_err *err);

/* Writes the status that `deployment` has, and its annotations with it. */
int deployment_write_status(struct deployment_sync *s, struct spn_err *err);
