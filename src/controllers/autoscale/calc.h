/* calc.h - how many replicas a metric asks for. Rules only: no I/O, no clock.
 *
 * Usage is in thousandths. Pods that have no metrics, and pods that are not ready yet, make any
 * change smaller than it would be without them, and never turn it round. */
#pragma once

#include <sampan/err.h>
#include <sampan/value.h>

/* What is known of one pod. */
struct hpa_sample {
    struct spn_text pod;
    int64_t milli;
    int64_t at_ns, window_ns;
};

struct hpa_samples {
    struct hpa_sample *items;
    size_t n;
};

/* How far usage may be off without a change: 0.1 is a tenth. */
struct hpa_tolerance {
    double down, up;
};

/* What every calculation looks at. */
struct hpa_calc {
    struct spn_arena *a;
    struct spn_value *const *pods; /* those of the target */
    size_t n_pods;
    int64_t now_ns;
    struct hpa_tolerance tolerance;
    int64_t current; /* replicas */
};

struct hpa_answer {
    int64_t replicas;
    int64_t usage;       /* of a pod, or of the whole: what the metric is about */
    int64_t utilization; /* in percent of what pods request, where that is the target */
};

/* A part of what pods request, in percent. `container` is empty: all of them. SPN_INVALID: there is
 * nothing to go by; the words are upstream's. */
int hpa_calc_utilization(const struct hpa_calc *c, const struct hpa_samples *samples,
                         struct spn_text resource, struct spn_text container, int64_t target,
                         struct hpa_answer *ret, struct spn_err *err);
/* So much in each pod. `resource` is empty for metrics that are none. */
int hpa_calc_average(const struct hpa_calc *c, const struct hpa_samples *samples,
                     struct spn_text resource, int64_t target_milli, struct hpa_answer *ret,
                     struct spn_err *err);
/* So much in all, of which each pod is thought to have its share. */
int hpa_calc_value(const struct hpa_calc *c, int64_t milli, int64_t target_milli,
                   struct hpa_answer *ret, struct spn_err *err);
/* So much in all, for each of `n_replicas`. */
struct hpa_answer hpa_calc_per_pod(const struct hpa_calc *c, int64_t milli, int64_t target_milli,
                                   int64_t n_replicas);
