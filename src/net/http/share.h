/* share.h - what one client holds of the memory that all share. Private to this folder.
 *
 * A client is a name from a certificate, or else an address; many connections may be one client. A
 * client gets at most half of the memory for bodies and replies (but always enough for one
 * request), and of the memory for requests as much as one request may have. So a client that fills
 * its share leaves room for others. Any thread. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/allowance.h"
#include "base/map.h"

struct http_peer;

struct shares {
    struct allowance_pool memory; /* of requests on workers */
    size_t memory_of_one;
    atomic_size_t collected; /* bytes of bodies that are not complete or not answered */
    pthread_mutex_t lock;    /* of what follows, and of every `refs` */
    struct map by_name;
};

struct share {
    size_t refs;
    atomic_size_t collected;
    atomic_size_t held; /* bytes of replies */
    struct allowance_pool memory;
    size_t name_n;
    char name[];
};

/* `memory`: for all requests together; `memory_of_one`: of that, for one client. */
void shares_init(struct shares *all, size_t memory, size_t memory_of_one);
void shares_done(struct shares *all);

/* The share of this client; given back with share_unref(). */
struct share *shares_find(struct shares *all, const struct http_peer *peer);
struct share *share_unref(struct shares *all, struct share *s);

/* Counts `n` more bytes of a body. False, and nothing is counted, if that is more than `most` for
 * all, or more than this client may have: half of `most`, or `one` if that is larger. */
bool share_collect(struct shares *all, struct share *s, size_t n, size_t most, size_t one);
void share_collected(struct shares *all, struct share *s, size_t n); /* gives them back */
