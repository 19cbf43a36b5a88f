/* errand.h - what a request asks of others is asked by a thread that may wait, while the request
 * waits on its loop and holds up nobody.
 *
 * An errand has memory of its own: the request may be over before the answer comes, and takes its
 * arena with it. So whoever sends one copies the question into the errand's arena, and copies what
 * he keeps of the answer out of it. An errand is embedded, first, in a struct with the question and
 * the answer.
 *
 * Errands have workers of their own, with a short queue: a slow webhook must not take those that
 * serve others. Where the queue is full, whoever asks goes on as if he had got no answer. */
#pragma once

#include <stdatomic.h>

#include "base/arena.h"
#include "net/http/http.h"
#include "net/loop.h"
#include "net/workers.h"

enum { ERRAND_THREADS = 32, ERRAND_QUEUE = 256 };

struct errand;
struct errand_ticket;

struct errand_calls {
    void (*run)(struct errand *e); /* finds the answer; on a worker, may wait */
    /* The answer is there and the request still waits; on its loop. The errand ends after this. */
    void (*back)(struct errand *e, void *arg);
};

struct errand {
    struct arena arena; /* of question and answer */
    /* private */
    const struct errand_calls *calls;
    void *arg;
    struct errand_ticket *ticket; /* the loop's; NULL: the request is over */
    atomic_bool is_unwanted;
    struct loop *loop;
    struct work work;
    struct loop_msg word;
};

/* `size` is that of the struct around it, which is zeroed. */
void *errand_new(size_t size, const struct errand_calls *calls);
/* One that was not sent. */
void *errand_free(struct errand *e);

/* Sends it, on the exchange's loop; `back` comes with `arg`, never within this call. If the request
 * is over before, it never comes. False: nobody is free to go, and the errand is still the
 * caller's. No workers at all are never free. */
bool errand_send(struct errand *e, struct workers *w, struct http_exchange *x, void *arg);
