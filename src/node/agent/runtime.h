/* runtime.h - what the container runtime has of a pod, read at one moment.
 *
 * Sandboxes and containers are found by their labels, so nothing need be remembered over a restart.
 * Everything lies in the arena that it was read into. */
#pragma once

#include "node/cri/cri.h"

enum container_state {
    CONTAINER_CREATED,
    CONTAINER_RUNNING,
    CONTAINER_EXITED,
    CONTAINER_UNKNOWN,
};

struct runtime_container {
    struct str id, name, sandbox_id;
    struct str image, image_ref; /* as the runtime calls it */
    struct str hash;             /* pod_container_hash() when it was made */
    int64_t restarts;
    enum container_state state;
    int64_t created_ns, started_ns, finished_ns; /* wall */
    int64_t exit_code;
    struct str reason, message; /* of one that has ended; with its termination message */
    struct str log_path;
    struct str stop_signal;        /* "SIGTERM"; empty: the runtime does not say */
    const struct value *user;      /* LinuxContainerUser; NULL: not said */
    const struct value *resources; /* LinuxContainerResources; NULL: not said */
    const struct value *tree;      /* the whole ContainerStatus */
};

struct runtime_sandbox {
    struct str id;
    uint32_t attempt;
    bool is_ready, is_host_network, has_network;
    int64_t created_ns;
    struct str ip; /* the first; empty: none */
    const struct value *more_ips;
};

struct runtime_pod {
    struct str uid, ns, name;
    struct runtime_sandbox *sandboxes; /* the newest first */
    size_t n_sandboxes;
    struct runtime_container *containers; /* the newest first */
    size_t n_containers;
    struct str active; /* id of the newest sandbox if it is ready; else empty */
    struct str *ips;   /* of that sandbox */
    size_t n_ips;
};

/* Of one pod. Blocks. What vanishes while it is read is left out. */
int runtime_read(struct cri *cri, struct str uid, struct arena *a, struct runtime_pod *ret,
                 struct err *err);
/* The same from trees: arrays of PodSandboxStatus and ContainerStatus in any order, the latter with
 * sandbox_id. Reads termination messages from files. */
void runtime_pod_of(struct arena *a, struct str uid, const struct value *sandboxes,
                    const struct value *containers, struct runtime_pod *ret);

/* The newest of that name; NULL: there is none. `active`: only in the sandbox that is ready. */
const struct runtime_container *runtime_find(const struct runtime_pod *p, struct str name);
const struct runtime_container *runtime_find_active(const struct runtime_pod *p, struct str name);
bool runtime_is_running(const struct runtime_pod *p); /* a container runs, or a sandbox is ready */

/* {"filter": {"label_selector": {"io.kubernetes.pod.uid": UID}}}; an empty uid: no filter. */
struct value runtime_filter(struct arena *a, struct str uid);
