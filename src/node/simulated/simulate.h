/* simulate.h - nodes that only pretend to run pods, so that a control plane can be tried, tested
 * and measured without containers.
 *
 * Nodes are named PREFIX-0, PREFIX-1, ... and carry the label simulate.sampan.io/by: PREFIX. Nodes
 * without it, and pods on them, are left alone. Nodes have addresses of 198.18.0.0/16 and pods of
 * 198.19.0.0/16, which are set aside for tests of networks and lead nowhere: nothing here ever
 * dials them. What pods do is in pod_life.h. Logs are answered at a port of 127.0.0.1 (kubelet.h),
 * which the Nodes name. */
#pragma once

#include <sampan/controller.h>

enum { SIMULATE_MAX_NODES = 20000 };

struct simulate_options {
    unsigned count;     /* 1 to SIMULATE_MAX_NODES */
    const char *prefix; /* a name */
    /* What each node has; NULL: 32 cores, 256Gi, 110 pods. */
    const char *cpu, *memory, *pods;
    const char *zones;  /* "a,b": nodes are dealt out to them; NULL: they are in none */
    bool leaves_routes; /* the machine's: no blackhole is added for the addresses (blackhole.h) */
    bool no_events;     /* of pods: that saves three writes for each */
};

struct simulation;

/* Before spn_manager_run(): its pods and nodes live with the manager's caches. The client, which
 * may be another than the manager's, and the options outlive it. SPN_UNAVAILABLE: there is no port
 * where nodes could answer. */
int simulate_add(struct spn_manager *m, struct spn_client *client,
                 const struct simulate_options *opt, struct simulation **ret, struct spn_err *err);
struct simulation *simulate_free(struct simulation *s); /* the manager has stopped, and is there */

/* Makes the nodes that are not there yet. Any thread. SPN_EXISTS: somebody else has a node of that
 * name. */
int simulate_make_nodes(const struct simulation *s, struct spn_stop *stop, struct spn_err *err);

/* All of it alone, until the stop. */
int simulate_run(struct spn_client *client, const struct simulate_options *opt,
                 struct spn_stop *stop, struct spn_err *err);
