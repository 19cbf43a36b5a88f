/* sweep.h - the objects of a collection as of one revision, read in bounded turns.
 *
 * A snapshot pins pages of the store, and a loop has others to serve, so a long reading is cut into
 * turns. Each turn has a snapshot of its own. The first one fixes the revision, unless it was
 * given; all others read the same. A cursor says where a turn goes on: behind the last key that the
 * one before has read. A sweep can have several cursors, as a list that reads ahead.
 *
 * Custom objects that only a webhook can show in the wanted version come in pages, which a worker
 * has converted before a turn goes on with them (custom_page.h). No snapshot is held meanwhile, and
 * a sweep has one page at a time.
 *
 *     r = sweep_begin(s, at, SWEEP_ALL, err);       1: a page is on its way; a turn comes with it
 *     while (!sweep_is_enough(s) && (r = sweep_next(s, &entry, err)) == SWEEP_OBJECT)
 *         ...
 *     sweep_end(s);
 *     sweep_post(s);                                the next turn, after others have had theirs
 *
 * A sweep belongs to its loop. One without a loop is for linear code on a worker: there
 * sweep_begin() waits for the webhook, and there is nothing to post. */
#pragma once

#include "server/core/api.h"
#include "server/custom/custom_page.h"

enum {
    SWEEP_TURN_OBJECTS = 1000, /* looked at in one turn */
    SWEEP_TURN_BYTES = 256 << 10,
};

struct sweep_cursor {
    struct buf start; /* the key to go on with; empty: the beginning */
    bool as_stored;   /* what it reads need not be converted: it is only counted */
};

struct sweep_options {
    struct api *api;
    struct loop *loop;                 /* NULL: linear */
    struct str prefix;                 /* of the keys; empty: there are none. Not copied */
    bool is_single;                    /* the prefix is the key of the only object */
    uint64_t rev;                      /* 0: the newest one at the first turn */
    const struct custom_version *kind; /* NULL: it is built in */
    void (*run)(void *arg);            /* a turn that was posted; NULL where there is no loop */
    void *arg;
};

struct sweep {
    struct sweep_options opt; /* `kind` may change between turns */
    uint64_t rev;             /* that all turns read; 0: the first one fixes it */

    /* Of this turn. */
    size_t n_objects; /* read */
    size_t bytes;     /* made or parsed; counted by the caller */

    /* Private. */
    struct store_snap *snap;
    struct sweep_cursor *at;
    struct str last_key;           /* good until the turn ends; a NULL pointer: none yet */
    struct custom_page *page;      /* what comes next; NULL: it has to be read */
    const struct sweep_cursor *on; /* who reads the page */
    bool page_is_away, page_is_used;
    struct loop_msg turn;
    bool is_posted;
};

void sweep_init(struct sweep *s, const struct sweep_options *opt);
/* Not in a turn. One that is posted still comes: until then `s` has to stay where it is. */
void sweep_done(struct sweep *s);

/* Where the cursor goes on. Copied. */
void sweep_cursor_set(struct sweep_cursor *at, struct str start);
void sweep_cursor_done(struct sweep_cursor *at);

/* ---- A turn ---- */

#define SWEEP_ALL UINT64_MAX

/* Begins a turn, which sweep_end() ends. `max` is how many more objects are wanted, so that no more
 * of them are converted; 0: none, the turn is for sweep_peek().
 * 1: a page is on its way, and no turn has begun; one is posted when the page is there.
 * ERR_EXPIRED: the revision is not kept any more. */
int sweep_begin(struct sweep *s, struct sweep_cursor *at, uint64_t max, struct err *err);
/* Saves the cursor. */
void sweep_end(struct sweep *s);
/* Goes on with another cursor in the same turn; it must be one of those that read as stored. */
void sweep_switch(struct sweep *s, struct sweep_cursor *at);

enum {
    SWEEP_OVER,   /* that was the last object */
    SWEEP_OBJECT, /* here is one */
    SWEEP_LATER,  /* there may be more, but not in this turn */
};
/* The entry is good until the turn ends. ERR_DAMAGED, or why the webhook has not converted it. */
int sweep_next(struct sweep *s, struct store_entry *ret, struct err *err);
/* 1 if anything follows what was read, else 0. Saves the cursor. After it the cursor is done with
 * this turn. */
int sweep_peek(struct sweep *s, struct err *err);

/* Whether the turn has read or made as much as it may. */
static inline bool sweep_is_enough(const struct sweep *s)
{
    return s->n_objects >= SWEEP_TURN_OBJECTS || s->bytes >= SWEEP_TURN_BYTES;
}

/* run() comes once, after others have had their turn; or when the page is there that is away. */
void sweep_post(struct sweep *s);
static inline bool sweep_is_posted(const struct sweep *s)
{
    return s->is_posted;
}
