/* node_facts.h - what the parts of the agent know of their node. Set once at the start, then only
 * read, by any thread. */
#pragma once

#include "base/str.h"
#include "base/value.h"

struct node_facts {
    struct str name;               /* of the Node */
    struct str root_dir;           /* volumes, plugins, state: "/var/lib/kubelet" */
    struct str log_dir;            /* of containers: "/var/log/pods" */
    struct str resolv_conf;        /* whose name servers pods get; empty: none */
    struct str cluster_domain;     /* "cluster.local"; empty: none */
    const struct str *cluster_dns; /* name servers of the cluster */
    size_t n_cluster_dns;
    const struct str *host_ips; /* the first is the node's own, at most one of each family */
    size_t n_host_ips;
    struct str cgroup_root; /* below which pods' groups are: "/", "/sampan" */
    bool cgroup_v2;         /* else the first version, with a hierarchy per controller */
    bool cgroup_systemd;    /* the runtime's driver is systemd, not cgroupfs */
    bool cgroups_per_qos;   /* pods have groups of their own below those of their class */
    bool counts_swap;       /* the first version has memory.memsw.limit_in_bytes */
    struct value capacity;  /* of the Node: resource to quantity */
    struct value allocatable;
    uint64_t memory_bytes;             /* of the machine */
    uint64_t eviction_memory;          /* bytes of it that eviction keeps free: not allocatable */
    const struct str *allowed_sysctls; /* unsafe ones that pods may set; patterns as "net.core.*" */
    size_t n_allowed_sysctls;
    struct str seccomp_dir; /* profiles of type Localhost: ROOT/seccomp */
    unsigned max_pods;
    /* What the runtime's handlers can do (CRI's Status). */
    bool runtime_has_userns, runtime_has_recursive_ro;
};
