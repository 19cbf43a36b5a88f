/* solo.h - an HTTP server with one loop, on a thread of its own that no signal reaches: for small
 * servers beside the API's, as for health, and for tests. */
#pragma once

#include <pthread.h>

#include "net/http/http.h"
#include "net/loop.h"

struct solo {
    struct loop *loop;
    struct http_server *http; /* listens where its owner says, before solo_run() */
    pthread_t thread;
    bool runs;
};

/* `clock` NULL: the system's. ERR_IO if there is no descriptor left; solo_done() is right then,
 * too. */
int solo_init(struct solo *s, const struct http_handler *handler, const struct http_limits *limits,
              const struct clock *clock, struct err *err);
int solo_run(struct solo *s, struct err *err);
/* Lets exchanges end and waits for the thread. Messages that were posted to the loop before are
 * run. */
void solo_stop(struct solo *s);
void solo_done(struct solo *s); /* stopped or not, all zeros or not */
