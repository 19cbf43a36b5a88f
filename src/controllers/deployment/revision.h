/* revision.h - revisions of a Deployment: one ReplicaSet for each pod template.
 *
 * A ReplicaSet is of the template that it has, apart from the label with the hash. Annotations say
 * which revision it is, which ones it was, and how large the Deployment was when it was scaled.
 * Rules only: no I/O. */
#pragma once

#include "controllers/deployment/plan.h"

#define ANNOTATION_REVISION "deployment.kubernetes.io/revision"
#define ANNOTATION_HISTORY  "deployment.kubernetes.io/revision-history"
#define ANNOTATION_DESIRED  "deployment.kubernetes.io/desired-replicas"
#define ANNOTATION_MAX      "deployment.kubernetes.io/max-replicas"
#define ANNOTATION_ROLLBACK "deprecated.deployment.rollback.to"
#define LABEL_TEMPLATE_HASH "pod-template-hash"

/* 0: it has none, or what it says is no number. */
int64_t revision_of(const struct spn_value *object);

bool revision_same_template(struct spn_arena *a, const struct spn_value *x,
                            const struct spn_value *y);

/* The greatest of the sets, and the one before it. */
int64_t revision_max(const struct deployment_set *sets, size_t n);
int64_t revision_last(const struct deployment_set *sets, size_t n);

/* Brings annotations of the ReplicaSet of the current template to what they should be: those of the
 * Deployment, and the revision. True: something has changed. */
bool revision_annotate(struct spn_arena *a, const struct spn_value *deployment,
                       struct spn_value *set, int64_t revision);
/* How large the Deployment is. True: something has changed. */
bool revision_annotate_size(struct spn_arena *a, struct spn_value *set, const struct rollout *r);

/* The ReplicaSet of the current template, not made yet, of that size. */
struct spn_value *revision_new_set(struct spn_arena *a, const struct spn_value *deployment,
                                   const struct rollout *r, int64_t replicas, int64_t revision);

/* Gives the Deployment the template and the annotations of an older set. */
void revision_roll_back(struct spn_arena *a, struct spn_value *deployment,
                        const struct spn_value *set);
