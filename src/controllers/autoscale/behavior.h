/* behavior.h - how fast replicas may change: limits, policies, and what was wanted lately. Rules
 * only: no clock; `now_ns` is monotonic. */
#pragma once

#include <sampan/value.h>

struct hpa_mark {
    int64_t n;
    int64_t at_ns;
};

struct hpa_marks {
    struct hpa_mark *items; /* on the heap */
    size_t n;
};

/* What we remember of an autoscaler. */
struct hpa_history {
    struct hpa_marks wanted; /* before it was limited */
    struct hpa_marks ups, downs;
};

void hpa_history_done(struct hpa_history *h);
/* The first time it is seen: what is there counts as wanted. */
void hpa_history_begin(struct hpa_history *h, int64_t current, int64_t now_ns);
/* Replicas were changed. `behavior` is spec.behavior, or NULL: nobody will ask. */
void hpa_history_scaled(struct hpa_history *h, const struct spn_value *behavior, int64_t before,
                        int64_t after, int64_t now_ns);

struct hpa_wish {
    const struct spn_value *behavior; /* spec.behavior, or NULL */
    int64_t min, max, current;
    int64_t desired; /* by metrics */
};

struct hpa_verdict {
    int64_t replicas;
    const char *able_reason, *able_message; /* of the condition AbleToScale */
    bool is_limited;                        /* ScalingLimited */
    const char *limit_reason, *limit_message;
};

/* Also notes what was wanted. */
struct hpa_verdict hpa_judge(struct hpa_history *h, const struct hpa_wish *wish, int64_t now_ns);
