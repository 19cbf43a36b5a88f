/* metrics_internal.h - what the files of this folder share. */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "metrics/metrics_read.h"
#include "metrics/metrics_server.h"
#include "net/http/solo.h"
#include "net/workers.h"

/* The last two looks at one node. */
struct metrics_node {
    TAILQ_ENTRY(metrics_node) link;
    struct str name;
    struct arena arenas[2];
    struct metrics_round rounds[2];
    size_t newest;
    bool is_seen; /* in the list of nodes, at this look */
};
TAILQ_HEAD(metrics_nodes, metrics_node);

struct metrics_server {
    struct spn_client *client;
    struct arena arena;
    struct solo solo;
    struct workers *workers;
    struct spn_stop *stop;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of nodes */
    struct metrics_nodes nodes;
};

/* metrics_answers.c: a request of the API, on a worker. */
void metrics__answer(struct http_exchange *x, void *server);
/* metrics_install.c: the objects that lead here. */
int metrics__install(struct metrics_server *m, struct str ca_pem, unsigned port, struct err *err);
#define METRICS_NS      "kube-system"
#define METRICS_SERVICE "sampan-metrics"
