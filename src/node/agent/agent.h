/* agent.h - runs the pods of a node: what the API and a folder of manifests ask for, by a container
 * runtime, and tells the API what has become of them.
 *
 * Each pod is a key: observe (what the runtime has) -> plan (pure) -> act. Everything is found
 * again from the runtime's labels and the pods' folders after a restart; see README.md. */
#pragma once

#include <sampan/client.h>

#include "node/cri/cri.h"
#include "node/pod/node_facts.h"
#include "node/serve/serve.h"
#include "node/volume/volumes.h"

/* "memory.available" below "100Mi", "nodefs.available" below "10%". */
struct agent_threshold {
    struct str signal;
    struct str value; /* a quantity, or a percentage */
};

/* As a kubelet's configuration has them. Zero means the usual. */
struct agent_options {
    struct str manifests;                 /* folder of static pods; empty: none */
    int64_t sync_ms;                      /* syncFrequency: 60 s */
    int64_t file_check_ms;                /* fileCheckFrequency: 20 s */
    double registry_qps;                  /* registryPullQPS: 5; negative: no bound */
    unsigned registry_burst;              /* 10 */
    bool parallel_pulls;                  /* serializeImagePulls: false */
    unsigned image_gc_high, image_gc_low; /* percent: 85, 80; high 100: never */
    int64_t image_min_age_ms;             /* 2 min */
    uint64_t log_max_bytes;               /* containerLogMaxSize: 10 MiB */
    unsigned log_max_files;               /* 5 */
    int64_t log_check_ms;                 /* containerLogMonitorInterval: 10 s */
    int64_t restart_back_off_max_ms;      /* crashLoopBackOff.maxContainerRestartPeriod: 300 s */
    const struct agent_threshold *eviction_hard; /* NULL: upstream's usual ones */
    size_t n_eviction_hard;
};

/* All of these outlive the agent. */
struct agent_parts {
    const struct node_facts *node;
    struct spn_client *client;
    struct cri *cri;
    struct volumes *volumes;
    const struct pod_objects *objects; /* objects.h makes them */
};

struct agent;

/* Texts of the options are copied. ERR_UNAVAILABLE: the system has no thread left. */
int agent_new(const struct agent_parts *parts, const struct agent_options *opt, struct agent **ret,
              struct err *err);
/* Runs pods until the stop is set; containers stay as they are then. Waits for the runtime as long
 * as it cannot be reached. */
int agent_run(struct agent *ag, struct spn_stop *stop, struct err *err);
struct agent *agent_free(struct agent *ag); /* it does not run any more */

/* What the endpoint asks. Good from agent_new() to agent_free(). */
struct serve_agent agent_serve(struct agent *ag);

/* What the Node's conditions say: MemoryPressure, DiskPressure, PIDPressure. Any thread. */
struct agent_pressure {
    bool memory, disk, pids;
};
struct agent_pressure agent_pressure(struct agent *ag);
/* When the runtime was last seen to answer (monotonic): a loop that stands still is not Ready. */
int64_t agent_last_relist_ns(struct agent *ag);
