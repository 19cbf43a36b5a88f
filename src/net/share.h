/* share.h - what one client holds of the memory that all share. Private to this folder.
 *
 * A client is whoever its certificate names, or else an address: many connections are one client.
 * Nobody gets more than half of what there is (but always as much as one request may have), so that
 * whoever fills what it can leaves something to others. Any thread. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"

struct http_peer;

struct shares {
    atomic_size_t collected; /* bytes of bodies that are not complete or not answered */
    pthread_mutex_t lock;    /* of what follows, and of every `refs` */
    struct map by_name;
};

struct share {
    size_t refs;
    atomic_size_t collected;
    atomic_size_t held; /* bytes of replies */
    size_t name_n;
    char name[];
};

void shares_init(struct shares *all);
void shares_done(struct shares *all);

/* The share of whoever this is; given back with share_unref(). */
struct share *shares_find(struct shares *all, const struct http_peer *peer);
struct share *share_unref(struct shares *all, struct share *s);

/* Counts `n` more bytes of a body; false, and nothing is counted, if there is no room for them
 * among `most`, of which one body may have `one`. */
bool share_collect(struct shares *all, struct share *s, size_t n, size_t most, size_t one);
void share_collected(struct shares *all, struct share *s, size_t n); /* they are gone */
