/* collector.h - the garbage collector: what its files share. Private to this folder.
 *
 *     kinds.c       follows every resource of the server, by metadata, and tells the graph
 *     graph.c       who owns whom, and what has to be looked at
 *     collector.c   looks: asks the server, and deletes or frees an object
 *     orphans.c     lets dependents stay
 *
 * Informers tell the graph from their threads, so there is a lock around it. It is held for a
 * moment only, never over a request. */
#pragma once

#include <pthread.h>
#include <sampan/controller.h>
#include <sampan/mapper.h>
#include <stdatomic.h>

#include "controllers/garbage/graph.h"

struct kind_monitor;

struct collector {
    struct spn_client *client;
    struct spn_informers *informers; /* of all controllers */
    struct spn_mapper *mapper;
    struct spn_recorder *recorder;
    struct spn_controller *deleter, *orphaner;

    pthread_mutex_t lock; /* of the graph */
    struct graph *graph;

    /* Of kinds.c, on one worker's thread. */
    struct kind_monitor *monitors;
    _Atomic bool is_synced; /* everything that was there is in the graph */
};

/* ---- kinds.c ---- */

#define KINDS_KEY "resources"
/* Brings the monitors to what resources there are. */
int collector_follow_kinds(void *arg, struct spn_work *w, struct spn_err *err);
void collector_stop_kinds(struct collector *c);

/* ---- collector.c ---- */

/* Where an object is. SPN_NOT_FOUND: the kind is not served. SPN_BAD_REQUEST: the kind has
 * namespaces, and the reference comes from an object that is in none. */
int collector_place(struct collector *c, struct spn_work *w, const struct graph_id *id,
                    struct spn_target *ret, struct spn_err *err);
/* Only its metadata. SPN_NOT_FOUND: it is gone, or is another one. */
int collector_get(struct spn_work *w, const struct spn_target *at, struct spn_text uid,
                  struct spn_value **ret, struct spn_err *err);
/* Removes references to these owners, and nothing else. */
int collector_unown(struct spn_work *w, const struct spn_target *at, struct spn_text uid,
                    struct spn_texts owners, struct spn_err *err);
int collector_look(void *arg, struct spn_work *w, struct spn_err *err);

/* ---- orphans.c ---- */

int collector_orphan(void *arg, struct spn_work *w, struct spn_err *err);
