/* reflector.h - keeps a delta FIFO fed with what a resource is and becomes. Private to this folder.
 *
 * Lists, watches, and again, until it is stopped. To list, and to pause after an error, takes a
 * thread of its own, in linear code. A watch that says nothing takes none: its events are read by
 * the client's pool as they come. Only over HTTP/1.1, or with a resync, the thread stays. */
#pragma once

#include <pthread.h>
#include <sampan/informer.h>
#include <stdatomic.h>

#include "client/informer/delta_fifo.h"

struct reflector_run;

struct reflector {
    struct spn_client *client;
    const struct spn_informer_options *opt;
    struct delta_fifo *fifo;
    struct spn_stop *stop;
    struct reflector_run *run; /* NULL: it was not started */
    _Atomic bool is_absent;    /* the server has no such resource */

    pthread_mutex_t lock; /* of the counters, which others read */
    struct spn_informer_stats stats;
};

void reflector_init(struct reflector *r, struct spn_client *c,
                    const struct spn_informer_options *opt, struct delta_fifo *fifo,
                    struct spn_stop *stop);
void reflector_done(struct reflector *r);
bool reflector_start(struct reflector *r); /* false: the system has no thread left */
void reflector_join(struct reflector *r);  /* it was stopped: waits until nothing of it runs */
void reflector_stats(struct reflector *r, struct spn_informer_stats *ret);
