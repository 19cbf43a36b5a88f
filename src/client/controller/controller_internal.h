/* controller_internal.h - a manager, its controllers, and what they count. Private to this folder.
 *
 * controller_source.c brings changes of objects to queues; spn_controller.c takes keys from there
 * and calls reconcile; controller_manager.c starts and ends all of it, controller_election.c
 * says when it may; controller_health.c and
 * controller_metrics.c tell others about it. */
#pragma once

#include <pthread.h>
#include <sampan/controller.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "client/bridge.h"
#include "client/stop_internal.h"

/* ---- controller_metrics.c: durations by their size, as Prometheus counts them ---- */

enum { HISTOGRAM_BUCKETS = 40 };

struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS + 1]; /* of each bucket by itself; the last one has no end */
    double sum;
};

void histogram_add(struct histogram *h, double seconds);

enum controller_result {
    RESULT_SUCCESS,
    RESULT_ERROR,
    RESULT_REQUEUE,
    RESULT_REQUEUE_AFTER,
    RESULTS
};

/* ---- Controllers ---- */

/* Where changes come from. It lies in the manager's arena. */
struct controller_source {
    struct controller_source *next;
    struct spn_controller *controller;
    struct spn_source opt; /* texts in the manager's arena */
    bool is_own;           /* its objects are the ones that are reconciled */
    struct spn_informer *informer;
    struct spn_arena *arena; /* of the handlers, which are called one after another */
};

struct spn_controller {
    struct spn_controller *next;
    struct spn_manager *manager;
    struct spn_controller_options opt; /* texts in the manager's arena */
    struct spn_queue *queue;
    struct spn_recorder *events;
    struct controller_source *sources;

    pthread_mutex_t lock; /* of what follows */
    pthread_t *workers;
    unsigned n_workers; /* that were started */
    uint64_t results[RESULTS];
    struct histogram seconds;
    unsigned n_active;
};

void controller_source_add(struct spn_controller *c, const struct spn_source *s, bool is_own);
/* Connects it to its informer. From now on keys come. */
void controller_source_listen(struct controller_source *s);
bool controller_source_is_of(const struct controller_source *s, const struct spn_target *what);
/* The index of caches that has objects by the uid of their controller. */
#define CONTROLLER_INDEX "sampan.controller"

int controller_start(struct spn_controller *c, struct spn_err *err); /* its workers */
void controller_join(struct spn_controller *c);                      /* they end by themselves */
void controller_free(struct spn_controller *c);

/* ---- The manager ---- */

struct manager_check {
    struct manager_check *next;
    enum spn_check which;
    const char *name;
    spn_check_fn *fn;
    void *arg;
};

struct health;

/* One lease of a manager. */
struct manager_election {
    struct spn_manager *manager;
    struct spn_election_options user;
    struct spn_election *election;
    pthread_t thread;
    bool has_thread;

    /* Under the manager's lock. */
    bool is_leading;
    int result;
    struct spn_err err;
};

struct spn_manager {
    struct arena arena;
    struct spn_manager_options opt; /* texts in the arena */
    struct spn_informers *informers;
    struct spn_recorder *recorder;
    struct manager_election *elections; /* in the arena */
    size_t n_elections;
    struct health *health; /* NULL: none, or not yet */
    struct spn_controller *controllers;
    struct manager_check *checks;
    bool has_run;

    struct spn_stop *end;         /* it is to end */
    struct spn_stop *halt;        /* what is under way is to end now */
    struct spn_stop *no_election; /* Leases are to be given up */
    struct stop_listener on_user_stop, on_end;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    unsigned n_workers;        /* that run */
    struct str health_address; /* in the arena */
};

/* The checks that every manager has. */
void manager_add_checks(struct spn_manager *m);
void manager_worker_begins(struct spn_manager *m);
void manager_worker_ended(struct spn_manager *m);

/* All metrics, as text. Any thread, while the manager runs. */
void manager_metrics(struct spn_manager *m, struct buf *out);
/* An answer for /healthz, /readyz or one check of them. Returns the status. */
int manager_answer_check(struct spn_manager *m, enum spn_check which, struct str name,
                         struct str query, struct buf *out);

/* ---- controller_election.c ---- */

int elections_new(struct spn_manager *m, struct spn_err *err);
void elections_free(struct spn_manager *m);
/* One after another, so that no two managers wait for a lease of each other. Returns when it leads
 * in all, or is to end. */
int elections_run(struct spn_manager *m, struct spn_err *err);
void elections_end(struct spn_manager *m);
int elections_result(const struct spn_manager *m, struct spn_err *err); /* after the end */

/* ---- controller_health.c ---- */

int health_start(struct spn_manager *m, struct health **ret, struct spn_err *err);
struct health *health_stop(struct health *h); /* NULL will do; returns NULL */
