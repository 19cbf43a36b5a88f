/* register.h - the node as others see it: its Node object with conditions, and its Lease.
 *
 * register_facts() finds out what this machine is, once, before anything else of the agent starts.
 * register_start() makes the Node or adopts the one that is there, and then keeps status and Lease
 * fresh on threads of its own, with upstream's reasons, messages, events and intervals. */
#pragma once

#include <sampan/events.h>

#include "node/cri/cri.h"
#include "node/pod/node_facts.h"

/* What a user says. Zero and empty: the usual. Texts outlive the registration. */
struct register_options {
    struct str name;       /* of the Node; the machine's own in lower case */
    const struct str *ips; /* of the node; else that of the default route */
    size_t n_ips;
    unsigned port;            /* of its HTTPS endpoint; 10250 */
    struct str version;       /* kubeletVersion: "v1.38.0" */
    const struct str *labels; /* "key=value" */
    size_t n_labels;
    const struct str *taints; /* "key=value:Effect", only when the Node is made */
    size_t n_taints;
    struct str provider_id;
    bool adopts_only; /* the Node is made by somebody else: --register-node=false */
    /* "cpu=100m,memory=200Mi,ephemeral-storage=1Gi,pid=100" */
    struct str kube_reserved, system_reserved;
    struct str eviction_hard; /* "memory.available=100Mi,nodefs.available=10%"; upstream's */
    unsigned max_pods;        /* 110 */
    unsigned pods_per_core;   /* 0: only max_pods counts */
    int max_images;           /* of the status; 50, negative: all */

    /* What goes into the facts as it is. */
    struct str root_dir;       /* /var/lib/kubelet */
    struct str log_dir;        /* /var/log/pods */
    struct str resolv_conf;    /* a path; "" is the usual /etc/resolv.conf, "none" is none */
    struct str cluster_domain; /* "cluster.local" must be said */
    const struct str *cluster_dns;
    size_t n_cluster_dns;
    struct str cgroup_root;   /* "/" */
    struct str cgroup_driver; /* "cgroupfs" or "systemd", where the runtime does not say */
    bool flat_cgroups;        /* pods have no groups of their own: --cgroups-per-qos=false */
    const struct str *allowed_sysctls;
    size_t n_allowed_sysctls;

    int64_t lease_ms;  /* renewed so often: 10 s */
    int64_t status_ms; /* looked at so often: 10 s */
    int64_t report_ms; /* said again without a change after so long: 5 min */
};

/* All that `ret` has lies in the arena. Asks the runtime for its cgroup driver, at most for a few
 * seconds. ERR_INVALID: an option that makes no sense; ERR_UNAVAILABLE: the machine does not tell.
 */
int register_facts(const struct register_options *opt, struct cri *cri, struct arena *a,
                   struct node_facts *ret, struct err *err);

enum node_pressure {
    NODE_MEMORY_PRESSURE = 1,
    NODE_DISK_PRESSURE = 2,
    NODE_PID_PRESSURE = 4,
};

/* What it asks the rest of the agent. Any function may be NULL: then there is nothing. They are
 * called on a thread of the registration and do not block for long. */
struct register_agent {
    void *arg;
    unsigned (*pressures)(void *arg); /* bits of enum node_pressure */
    /* Why pods cannot be looked after just now: "PLEG is not healthy: ..."; empty: they are. */
    struct str (*fault)(void *arg, struct arena *a);
    /* An array of the names of volumes that are in use. */
    void (*volumes_in_use)(void *arg, struct arena *a, struct value *ret);
};

struct registration;

struct register_place {
    const struct register_options *opt;
    const struct node_facts *facts;
    struct spn_client *client;
    struct cri *cri;
    struct spn_recorder *events; /* component "kubelet", host: the node's name; NULL: nobody */
    struct register_agent agent;
};

/* What `place` points to outlives it; the struct itself is copied. Returns before the Node is
 * there. ERR_UNAVAILABLE: no thread. */
int register_start(const struct register_place *place, struct registration **ret, struct err *err);
struct registration *register_stop(struct registration *r);

/* The rest may be called by any thread. */

/* Waits until the Node is made or adopted, at most so long. False: it is not yet. */
bool register_wait(struct registration *r, int64_t ms);
/* The Node as it was last seen or written; false: it is not known yet. */
bool register_node(struct registration *r, struct arena *a, struct value *ret);
/* What is wrong with the runtime, or with its network, in upstream's words; empty: nothing. Pods
 * with a network of their own do not start while the second one is not empty. */
struct str register_runtime_fault(struct registration *r, struct arena *a);
struct str register_network_fault(struct registration *r, struct arena *a);
/* Something has changed that the status tells: it is looked at again now. */
void register_look(struct registration *r);
