/* delta_fifo.h - what has happened to each object since somebody last looked, in the order in which
 * the keys first changed.
 *
 * Producer and consumer may be of different speed: changes of one key are collected under it, so
 * the queue is never longer than there are keys, and one after another they say all that is needed.
 * Two deletions in a row become one: the one that was seen, not a tombstone. Any thread may fill
 * it; one consumer empties it. */
#pragma once

#include <sampan/cache.h>

enum delta_type {
    DELTA_ADDED,
    DELTA_UPDATED,
    DELTA_DELETED,
    DELTA_REPLACED, /* found by a list */
    DELTA_SYNC,     /* nothing happened: the handlers want to see it again */
};

struct delta {
    enum delta_type type;
    bool is_tombstone; /* deleted while nobody watched: the object is as it was last known */
    struct spn_object *obj;
};

/* All deltas of one key, oldest first. */
struct deltas {
    struct spn_text key; /* lent by the newest object */
    struct delta *items;
    size_t n;
};
void deltas_done(struct deltas *d);

struct delta_fifo;

/* `known`: what the consumer has taken over already; it lives longer. `on_more` is called when
 * there is something after a pop that had nothing, and at the beginning: on the thread that has put
 * it. */
struct delta_fifo *delta_fifo_new(struct spn_cache *known, void (*on_more)(void *arg), void *arg);
struct delta_fifo *delta_fifo_free(struct delta_fifo *f);

/* `o` is referenced once more. A deletion of a key that is neither known nor queued is passed
 * over. */
void delta_fifo_put(struct delta_fifo *f, enum delta_type type, struct spn_object *o);
/* A whole list: DELTA_REPLACED for each; what is known or queued and not in the list gets a
 * tombstone. */
void delta_fifo_replace(struct delta_fifo *f, struct spn_object *const *objs, size_t n);
/* The first list as it comes, some objects at a time, so that the consumer need not wait for all of
 * it. Only before anything else was put. A list that is complete is ended; one that breaks off
 * is followed by a delta_fifo_replace(), which puts right what was wrong with it. */
void delta_fifo_begin(struct delta_fifo *f, struct spn_object *const *objs, size_t n);
void delta_fifo_begun(struct delta_fifo *f);
/* DELTA_SYNC for each known object that has nothing queued. */
void delta_fifo_resync(struct delta_fifo *f);

/* False: empty. The caller owns what it gets. */
bool delta_fifo_pop(struct delta_fifo *f, struct deltas *ret);
/* The consumer has taken over what it popped last; only then may it pop again. */
void delta_fifo_popped(struct delta_fifo *f);
/* Everything of the first list (or of a first put, before any list) was popped and taken over. */
bool delta_fifo_has_synced(struct delta_fifo *f);
size_t delta_fifo_length(struct delta_fifo *f); /* keys */
void delta_fifo_close(struct delta_fifo *f);    /* takes nothing more; pop() hands out the rest */
