/* mirror.h - a store whose writes are decided, numbered and kept by somebody else: a source.
 *
 * The mirror is a store in memory. Readers, snapshots, feeds and watches are those of every engine;
 * what differs is where a revision comes from. A transaction is given to the source. What the
 * source has decided, for us or for others, arrives here in the order of its revisions, of which
 * not each need arrive. A transaction is done when the source has answered and its revision has
 * arrived, so that a writer reads what he has written. */
#pragma once

#include "store/store.h"

/* Takes one entry of a list; any error ends the list. */
typedef int store_take(void *arg, const struct store_entry *e, struct err *err);

struct store_source {
    struct store_codec *codec; /* may be NULL; it outlives the store */
    uint64_t fill_rev;         /* which revision fill() gives */
    /* Everything there is at fill_rev, in any order. Called once, by store_open(). */
    int (*fill)(struct store_source *src, store_take *put, void *arg, struct err *err);
    /* Any thread. Ends with done(), from a thread of the source or of the store. */
    void (*submit)(struct store_source *src, struct store_txn *t);
    /* What submit() may not wait for, before it: on the caller's thread, which may. NULL: nothing.
     */
    int (*prepare)(struct store_source *src, struct store_txn *t, struct err *err);
    void (*sync)(struct store_source *src, struct store_sync *y);
    void (*quit)(struct store_source *src);                                  /* store_sync_quit() */
    int (*compact)(struct store_source *src, uint64_t rev, struct err *err); /* blocks */
    /* Everything up to `rev` can be read. Thread: the store's; must not block. */
    void (*published)(struct store_source *src, uint64_t rev);
    int (*failing)(struct store_source *src); /* 0, or the negative code that writers get */
    void (*close)(struct store_source *src);  /* lets nothing arrive any more; blocks */
    void (*free)(struct store_source *src);   /* when the store is gone */
};

/* One revision, or a part of it. */
struct store_arrival {
    /* Its `rev` is that of the source, never below the one before; a put's `expect_rev` is the
     * revision that created the key; done() frees it. Without operations it says that nothing else
     * has happened up to `rev`. At most LIMIT_STORE_REV_OPS operations. */
    struct store_txn txn;
    /* Not 0: what happened up to this revision is not all known, so who has not seen it must list
     * again. On the first of those that go on. */
    uint64_t break_rev;
    bool goes_on; /* what follows is published together with it */
};
/* All of a chain that is linked by txn.next. */
void store_arrive(struct store *s, struct store_arrival *first);

/* Whether a transaction may be sent at all: its sizes and counts. */
int store_txn_check(const struct store_txn *t, struct err *err);
