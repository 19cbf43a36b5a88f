/* calls.h - what the scheduler asks of the server, on threads of its own.
 *
 * A call is filled by whoever has the world's lock, and belongs to the pool from calls_post() on:
 * it points to nothing of the world. Its threads take the calls in order; several run at once, but
 * one of each pod. The answers come to the functions of `struct calls_options`, on one of these
 * threads. */
#pragma once

#include "base/arena.h"
#include "scheduler/cycle.h"
#include <sampan/client.h>

struct calls;

/* Who a call is about. */
struct call_pod {
    struct str ns, name, uid, version;
    int64_t generation;
};

enum call_kind { CALL_BIND, CALL_FAILED, CALL_PREEMPT };

struct call {
    struct arena mem; /* of everything here */
    enum call_kind kind;
    struct call_pod pod;
    struct str scheduler; /* whose pod it is: the component of events */
    struct call *next;
    int64_t volume_limit_ns; /* how long it may wait for its volumes */
    int64_t not_before_ns, give_up_ns;

    struct str node;   /* CALL_BIND, CALL_PREEMPT */
    bool is_nominated; /* CALL_BIND: the pod says already that it waits for the node */
    struct volume_choice *volumes;
    size_t n_volumes;
    bool volumes_asked; /* the claims are known to the server */

    /* CALL_FAILED: the event, and what changes of the status. */
    struct str message, reason;
    bool writes_condition, is_transition; /* the condition was not False before */
    bool writes_nominated;
    struct str nominated;

    struct call_pod *victims; /* CALL_PREEMPT */
    size_t n_victims;
};

struct calls_options {
    struct spn_client *client;
    struct spn_stop *stop;
    void *arg;
    /* `err` is NULL: it is bound; else its message is for users. */
    void (*on_bound)(void *arg, const struct call *c, const struct spn_err *err);
    void (*on_preempted)(void *arg, const struct call *c, bool failed);
    /* 1: all claims of the call are bound by now; 0: not yet; negative: they will never be. */
    int (*check_volumes)(void *arg, const struct call *c, struct spn_err *err);
};

/* SPN_UNAVAILABLE: the system has no threads left. */
int calls_new(const struct calls_options *opt, struct calls **ret, struct spn_err *err);
struct calls *calls_free(struct calls *all); /* drops what waits, and ends the threads */

struct call *call_new(enum call_kind kind, const struct pod_facts *f);
void calls_post(struct calls *all, struct call *c);
