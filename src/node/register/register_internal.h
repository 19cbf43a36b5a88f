/* register_internal.h - what the files of this room share. */
#pragma once

#include <pthread.h>

#include "node/register/node_status.h"

/* Upstream's defaults. */
#define REGISTER_EVICTION_HARD                                                                \
    "memory.available=100Mi,nodefs.available=10%,nodefs.inodesFree=5%,imagefs.available=15%," \
    "imagefs.inodesFree=5%"
enum { REGISTER_MAX_PODS = 110, REGISTER_LEASE_SEC = 40 };

/* A registration: one thread for the status, one for the Lease. */
struct registration {
    struct register_place place;
    struct arena arena; /* of what stays */
    struct machine machine;
    struct spn_stop *stop;
    pthread_t status_thread, lease_thread;
    bool has_status_thread, has_lease_thread;

    /* Guarded by `lock`. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct arena node_arena; /* of `node` */
    struct value node;       /* as last seen; null: never */
    struct arena fault_arena;
    struct str runtime_fault, network_fault;
    bool is_known; /* the Node is there */
    bool wants_look;

    /* The status thread's own. */
    int64_t checked_ns;      /* monotonic: when the runtime was last ready; 0: never */
    int64_t reported_ns;     /* monotonic: when the status was last written; 0: never */
    int64_t report_after_ns; /* how long after that it is due again */
    struct str pod_cidr;     /* what the runtime was told; in `arena` */
    bool is_unschedulable;
    struct arena turn; /* of one look */
};

/* register_lease.c: the thread of the Lease. */
void *register__lease_run(void *arg);
/* Waits until somebody wants a look or so long; false: it is to stop. */
bool register__rest(struct registration *r, int64_t ms);
/* The Node's uid, in the arena; empty: not known yet. */
struct str register__uid(struct registration *r, struct arena *a);
