/* store.h - keys, values and revisions that never lose an acknowledged write.
 *
 * One counter, the revision, numbers every committed transaction; it only grows. A key has the
 * revision that created it and the one that last changed it. History is kept for a while, by time
 * and by size: above the floor a snapshot of any revision can be read and a watch can start from
 * any revision; below it both get ERR_EXPIRED and must list again.
 *
 * Nothing is acknowledged, read or watched before it is durable. One thread commits, in groups;
 * readers never wait for it. A watcher is a cursor into the shared history, not a queue, so a slow
 * one costs nothing but its own lateness.
 *
 * Engines differ only in how a write becomes durable: STORE_LMDB (a log, then LMDB as the
 * checkpointed view), STORE_MEMORY (nothing is; for tests and private copies) and STORE_MIRROR
 * (somebody else sees to it and gives the numbers, of which not each is used: mirror.h). */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"

struct store;

struct store_source; /* mirror.h */

enum store_engine { STORE_LMDB, STORE_MEMORY, STORE_MIRROR };

struct store_options {
    enum store_engine engine;
    const char *dir;             /* STORE_LMDB: made 0700 if absent; refused if others may enter */
    const struct clock *clock;   /* NULL: the system's */
    uint64_t history_bytes;      /* 0: STORE_HISTORY_BYTES */
    int64_t history_ns;          /* 0: STORE_HISTORY_NS */
    struct store_source *source; /* STORE_MIRROR: what it is a mirror of */
};

#define STORE_HISTORY_BYTES (UINT64_C(256) << 20)
#define STORE_HISTORY_NS    (INT64_C(24) * 3600 * NS_PER_SEC)

/* Recovers what was acknowledged before a crash. ERR_CONFLICT names the process that has the
 * folder open already; ERR_DAMAGED names the file and the place. Blocks. */
int store_open(const struct store_options *opt, struct store **ret, struct err *err);
/* No snapshot, watch or transaction may be left. Blocks until the folder is quiet. */
struct store *store_close(struct store *s);

uint64_t store_rev(struct store *s);   /* newest durable revision; 1 in an empty store */
uint64_t store_floor(struct store *s); /* oldest revision that can still be read */

/* Waits until `rev` is durable; ERR_TIMEOUT after `timeout_ns`. For workers, not for loops. */
int store_wait(struct store *s, uint64_t rev, int64_t timeout_ns, struct err *err);

/* Asks for the newest revision there is. Only a mirror can be behind: others answer at once. */
struct store_sync {
    /* Everything that anybody was told of before the question can now be read here, or `result`
     * says why not. Thread: store; must not block. */
    void (*done)(struct store_sync *y);
    int result;       /* 0, -ERR_UNAVAILABLE, -ERR_TIMEOUT */
    char reason[160]; /* in words */
    void *owner;      /* the caller's own */

    struct store_sync *next; /* these are private to the store */
    uint64_t rev;
    int64_t until_ns;
};
/* True: there is nothing to wait for, and done() is not called. Any thread; returns at once. */
bool store_sync(struct store *s, struct store_sync *y);
/* The same in linear code. */
int store_sync_wait(struct store *s, struct err *err);
/* Whether there is anything to ask: others write there, too. */
bool store_is_mirror(const struct store *s);
/* Nobody is to wait any more: questions that are open fail now, and so do new ones. When it
 * returns, done() was called for all. Blocks. */
void store_sync_quit(struct store *s);

/* ---- Writing ---- */

enum store_op_type { STORE_PUT, STORE_DELETE, STORE_CHECK };

#define STORE_ANY    UINT64_MAX  /* no condition */
#define STORE_ABSENT UINT64_C(0) /* the key must not exist */

struct store_op {
    enum store_op_type type;
    struct str key;
    struct str value;    /* STORE_PUT */
    uint64_t expect_rev; /* STORE_ANY, STORE_ABSENT, or the revision that last changed the key */
    /* STORE_PUT: it is on its way to being deleted. When the disk is nearly full, other puts get
     * ERR_NO_SPACE; what deletes has a reserve. */
    bool is_ending;
    /* At a revision of its own, just before that of the rest. In a mirror it is the same revision,
     * but its events come first. */
    bool goes_first;
    uint32_t ttl_s; /* STORE_PUT into a mirror: it is deleted after that time. Others keep it. */
};

/* All of its operations happen, at one revision (those that go first: at the one before), or none.
 * A key may appear once. Deleting an absent key under STORE_ANY is no change; a transaction without
 * any change takes no revision. */
struct store_txn {
    struct store_op *ops; /* these and their bytes are the caller's until done() */
    size_t n_ops;
    void (*done)(struct store_txn *t); /* thread: store; must not block */

    int result;          /* 0; -ERR_CONFLICT; -ERR_TOO_LARGE; -ERR_NO_SPACE; -ERR_IO; ... */
    uint64_t rev;        /* of this transaction; without a change, the newest one */
    size_t failed_op;    /* after ERR_CONFLICT: which condition failed */
    uint64_t failed_rev; /* and the revision that key really has; 0 if absent */
    char reason[160];    /* after any other error: what happened, in words */

    struct store_txn *next; /* private to the store while it has the transaction */
    void *owner;            /* the caller's own */
    void *sent;             /* private to the source of a mirror */
};

/* Any thread; returns at once. With a codec it takes no puts. */
void store_submit(struct store *s, struct store_txn *t);
/* The same in linear code: waits, and fills `err`. Uses t->done and t->owner itself. */
int store_commit(struct store *s, struct store_txn *t, struct err *err);

/* ---- Reading ---- */

struct store_entry {
    struct str key, value; /* good until the snapshot ends */
    uint64_t create_rev, mod_rev;
    bool is_stale; /* the codec would write it otherwise today */
};

/* The store as it was at one revision. Belongs to one thread; lives for a loop turn or a short
 * piece of a request, because it pins pages. A long list reads piece by piece: end the snapshot,
 * begin another at the same revision, and start the range after the last key. */
struct store_snap;

/* `rev` 0: the newest. ERR_EXPIRED below the floor, ERR_TIMEOUT above the newest. */
int store_snap_begin(struct store *s, uint64_t rev, struct store_snap **ret, struct err *err);
struct store_snap *store_snap_end(struct store_snap *snap);
uint64_t store_snap_rev(const struct store_snap *snap);

/* 1 and `*ret`, 0 if absent, or ERR_DAMAGED, which the store notes. */
int store_snap_get(struct store_snap *snap, struct str key, struct store_entry *ret,
                   struct err *err);

/* Keys that start with `prefix` and are not below `start` (empty: from the beginning), in byte
 * order. One range at a time per snapshot. */
void store_range_begin(struct store_snap *snap, struct str prefix, struct str start);
/* After ERR_DAMAGED `ret->key` says whose bytes they are, and the next step goes on behind it. */
int store_range_next(struct store_snap *snap, struct store_entry *ret, struct err *err);
/* How many keys a range would give. Does not touch values. */
int store_count(struct store_snap *snap, struct str prefix, struct str start, uint64_t *ret,
                struct err *err);

/* ---- Watching ---- */

/* The watches of one thread. `wake` is called on the store's thread when there is something to
 * poll; it must only pass the word on. */
struct store_feed;

struct store_feed *store_feed_new(struct store *s, void (*wake)(void *arg), void *arg);
struct store_feed *store_feed_free(struct store_feed *f); /* no watch may be left */

struct store_event {
    enum store_op_type type; /* STORE_PUT or STORE_DELETE */
    struct store_entry now;  /* for a delete: the key, no value, mod_rev of the delete */
    struct store_entry prev; /* what stood there before; prev.mod_rev is 0 if nothing did */
};

enum store_watch_verdict {
    STORE_WATCH_ON,   /* took it */
    STORE_WATCH_FULL, /* did not take it: give it again after store_watch_resume() */
};

/* Embedded in the consumer's own struct; laid out here so that ten thousand are cheap. Calls come
 * from store_feed_poll() on the feed's thread; a call may stop any watch, also its own. Events of
 * one revision come without others between them. */
struct store_watch {
    enum store_watch_verdict (*on_event)(struct store_watch *w, const struct store_event *ev);
    /* History was dropped below what this watch has seen; it is stopped already. */
    void (*on_expired)(struct store_watch *w);
    /* The next event is there, but its values cannot be read: of `ev` type and key are good, and
     * `why` is ERR_DAMAGED. The watch is stopped already. NULL: it expires instead. */
    void (*on_unreadable)(struct store_watch *w, const struct store_event *ev,
                          const struct err *why);

    /* Private to watch.c. */
    struct store_feed *feed;
    struct store_watch *next, **link;
    struct str prefix;
    uint64_t seen;     /* everything up to this revision was delivered */
    uint32_t seen_ops; /* and so many events of the next one */
    uint8_t state;

    /* The caller's. Of a mirror that has lost sight of its source for long: goes on with what is
     * different then, instead of expiring. For who follows the state, not what happened. */
    bool takes_breaks;
};

/* Events after `after_rev`, for keys that start with `prefix` (copied). ERR_EXPIRED below the
 * floor. The first events come with the next poll, never from inside this call. */
int store_watch_start(struct store_feed *f, struct store_watch *w, struct str prefix,
                      uint64_t after_rev, struct err *err);
void store_watch_stop(struct store_watch *w); /* also if it is stopped already */
void store_watch_resume(struct store_watch *w);
/* Everything up to this revision has been delivered or did not match: what a bookmark says. */
uint64_t store_watch_rev(const struct store_watch *w);

/* Delivers what there is, within a bounded amount of work; true if there is more. Thread: the
 * feed's. */
bool store_feed_poll(struct store_feed *f);

/* ---- Values that are stored in another form ---- */

/* Stands between the values that callers write and see, and those that are stored: in the log, the
 * view, the backup. Each value that store_commit() takes is sealed on the caller's thread; each
 * that a snapshot or a watch gives is opened there, into memory of the snapshot or of the poll.
 * Below that, nothing of the store opens values, so checks, backups and repairs need no codec. A
 * value that cannot be opened is ERR_DAMAGED to its reader, whose `err` has a cause that says why;
 * a watch that meets one ends. */
struct store_codec {
    /* Puts what was sealed into e->value, in the arena, and sets e->is_stale; or leaves it as it
     * is. Any thread; must not block. ERR_DAMAGED with a cause. */
    int (*open)(struct store_codec *c, struct arena *a, struct store_entry *e, struct err *err);
    /* 1 and the sealed value in `out`; 0 if it is stored as it is; or an error. Threads that may
     * wait. */
    int (*seal)(struct store_codec *c, struct str key, struct str value, struct buf *out,
                struct err *err);
};
/* Before anybody else uses the store; the codec outlives it. */
void store_set_codec(struct store *s, struct store_codec *c);

/* ---- Keeping house ---- */

/* Drops history below `rev`; snapshots and watches from `rev` on still work. Blocks. */
int store_compact(struct store *s, uint64_t rev, struct err *err);

/* Who wants to go on without objects whose bytes are not what was written hears of each. */
struct store_skip {
    void (*on_damaged)(void *arg, struct str key, struct str what);
    void *arg;
};

/* A consistent copy in one new file while writes go on. Each object is summed on its way: one that
 * is damaged is left out if there is a `skip`, else it ends the backup with ERR_DAMAGED, which
 * names it, and there is no file. Blocks. */
int store_backup(struct store *s, const char *file, const struct store_skip *skip, struct err *err);

struct store_restore_options {
    uint64_t bump; /* how far above the backup's revision the new store begins */
    const struct store_skip *skip;
};
/* Far enough that no revision which clients of the lost store have seen is given out again; with
 * STORE_BUMP_AUTO also not below the clock's milliseconds, so that the same backup can be restored
 * twice. */
#define STORE_BUMP      UINT64_C(1000000000)
#define STORE_BUMP_AUTO UINT64_MAX

/* Makes `dir` (absent or empty) from a backup, after checking all of it. Blocks. */
int store_restore(const char *file, const char *dir, const struct store_restore_options *opt,
                  struct err *err);

/* Reads every byte of a store that is not open; ERR_DAMAGED names the first bad place. `all`,
 * unless it is NULL, hears of each damaged object before. */
int store_verify(const char *dir, const struct store_skip *all, struct err *err);

/* Makes a store that is not open and is damaged one that can be used, without what cannot be read.
 * `told` hears of each object, and of the log if its end is lost: then revisions go on as after a
 * restore. What is taken out is kept in DIR/damaged.N. ERR_DAMAGED if it is beyond that. Blocks. */
int store_repair(const char *dir, const struct store_skip *told, struct err *err);

/* Makes a store that is not open new, with the objects as they are and their revisions, but without
 * history: afterwards no file of it has a byte of what was deleted or replaced, which else stays in
 * the log and in free pages for a while. A crash at any point leaves a whole store. Blocks. */
int store_scrub(const char *dir, struct err *err);

struct store_stats {
    uint64_t rev, floor;
    uint64_t keys;            /* live keys, as of the last checkpoint and what came after */
    uint64_t commits, groups; /* transactions, and the groups they became durable in */
    uint64_t checkpoints;
    uint64_t log_bytes, view_bytes; /* on disk */
    uint64_t memory_bytes;          /* of changes that are not in the view yet */
    uint64_t damaged;               /* objects that were found damaged and are still there */
    int failing;                    /* 0, or the negative code writers get at the moment */
    bool is_tight;                  /* the disk is nearly full: only what deletes is taken */
};
void store_stats(struct store *s, struct store_stats *ret);

/* The bytes of an object were as they were written, but nobody can make sense of them. What the
 * store finds damaged by itself it notes by itself: each is logged once and counted until it is
 * written anew or deleted. Any thread. */
void store_note_damaged(struct store *s, struct str key, struct str what);
