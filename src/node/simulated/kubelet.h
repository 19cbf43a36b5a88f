/* kubelet.h - where simulated nodes answer: one listener on 127.0.0.1 for all nodes of a process.
 *
 *     /containerLogs/NS/POD/CONTAINER   what pod_log.h makes up; follow, tailLines and so on
 *     /exec, /attach, /portForward      refused, in the words of each protocol
 *     /healthz, /pods, /metrics/resource, /stats/summary
 *
 * It has a thread and a certificate of its own, made at the start. Whoever is on this machine may
 * ask: it tells names of pods and nodes, and what it has made up, and nothing else of them. */
#pragma once

#include <sampan/cache.h>

struct node_kubelet;

/* Serves when it returns 0. SPN_UNAVAILABLE: no thread, or no port. */
int node_kubelet_start(struct node_kubelet **ret, struct spn_err *err);
/* Pods by "NS/NAME", once they are known; the cache must outlive the listener. */
void node_kubelet_set_pods(struct node_kubelet *k, struct spn_cache *pods);
int node_kubelet_port(const struct node_kubelet *k);
struct node_kubelet *node_kubelet_stop(struct node_kubelet *k);
