/* compute.h - what each metric of an autoscaler asks for, and what its status says of it. */
#pragma once

#include "controllers/autoscale/metrics.h"

struct hpa_compute {
    struct hpa_source source;
    struct hpa_calc calc;
    struct spn_text selector;
    int64_t status_replicas; /* of the target */
};

/* What came of one metric. */
struct hpa_proposal {
    int64_t replicas;
    struct spn_text name;     /* "cpu resource utilization (percentage of request)" */
    struct spn_value *status; /* for status.currentMetrics */
    /* Or why nothing did. */
    const char *reason;     /* of the event and the condition; NULL: all is well */
    struct spn_text words;  /* of these */
    struct spn_text fuller; /* with which metric it was */
};

/* `metric` is one of spec.metrics. */
struct hpa_proposal hpa_propose(const struct hpa_compute *c, const struct spn_value *metric);

/* The tolerances of spec.behavior, or the usual ones. */
struct hpa_tolerance hpa_tolerance_of(const struct spn_value *behavior);
/* Thousandths as a quantity: "1500m"; memory in powers of two: "20Mi". */
struct spn_text hpa_quantity(struct spn_arena *a, int64_t milli, bool is_memory);
