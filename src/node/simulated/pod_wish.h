/* pod_wish.h - what a pod should do, as its annotations say. docs/simulated-nodes.md names them.
 *
 * Pure. */
#pragma once

#include <sampan/value.h>

enum pod_probe { PROBE_NONE, PROBE_STARTUP, PROBE_READINESS, PROBE_LIVENESS };

struct pod_wish {
    int64_t start_ms;         /* start-after: so long containers are created */
    int64_t exit_ms;          /* exit-after, or run-for: so long they run; negative: for ever */
    int64_t exit_code;        /* exit-code */
    int64_t init_ms;          /* init-for: so long each init container runs */
    int64_t init_code;        /* init-exit-code */
    int64_t ready_ms;         /* ready-after; negative: as probes say */
    int64_t stop_ms;          /* stop-after: so long they take to end when the pod is deleted */
    bool is_never_ready;      /* ready: "false" */
    enum pod_probe fails;     /* fail-probe: startup, readiness or liveness */
    struct spn_text no_image; /* image-pull-error: the name of a container, or "true" for all */
};

struct pod_wish pod_wish_read(const struct spn_value *pod);

/* The annotation of that name, without what all of them begin with; empty: there is none. */
struct spn_text pod_wish_text(const struct spn_value *pod, const char *name);
