/* share.h - what one client holds of the memory that all share. Private to this folder.
 *
 * A client is whoever its certificate names, or else an address: many connections are one client.
 * Nobody gets more than half of what there is (but always as much as one request may have), and of
 * the memory that requests take as much as one may, so that whoever fills what it can leaves
 * something to others. Any thread. */
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

/* The memory of requests that all may take, and one client of it. */
void shares_init(struct shares *all, size_t memory, size_t memory_of_one);
void shares_done(struct shares *all);

/* The share of whoever this is; given back with share_unref(). */
struct share *shares_find(struct shares *all, const struct http_peer *peer);
struct share *share_unref(struct shares *all, struct share *s);

/* Counts `n` more bytes of a body; false, and nothing is counted, if there is no room for them
 * among `most`, of which one body may have `one`. */
bool share_collect(struct shares *all, struct share *s, size_t n, size_t most, size_t one);
void share_collected(struct shares *all, struct share *s, size_t n); /* they are gone */
