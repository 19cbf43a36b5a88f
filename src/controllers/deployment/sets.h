/* sets.h - ReplicaSets of a Deployment, with what the rules ask of them at hand. */
#pragma once

#include <sampan/value.h>

struct deployment_set {
    struct spn_value *object;
    struct spn_text name, uid;
    int64_t created_ns;
    int64_t replicas; /* that it should have */
    /* That it says it has. n_terminating: -1 if it does not say. */
    int64_t n_actual, n_ready, n_available, n_terminating;
    int64_t observed_generation, generation;
    int64_t revision;           /* 0: none */
    int64_t wanted, max_before; /* annotations: of the Deployment at its last scaling; -1: none */
    bool is_deleting;
};

struct deployment_set deployment_set_of(struct spn_value *object);

/* Older ones first, then by name. */
void deployment_sets_sort(struct deployment_set *sets, size_t n);
/* By revision, then by age. */
void deployment_sets_sort_by_revision(struct deployment_set *sets, size_t n);

/* Sums over all of them. */
int64_t deployment_sets_replicas(const struct deployment_set *sets, size_t n);
int64_t deployment_sets_available(const struct deployment_set *sets, size_t n);
