/* internal.h - what the files of this folder share: the store itself and its layers.
 *
 * Threads: commit (commit.c) takes transactions, writes the log, fills the active table, seals
 * it; keeper (checkpoint.c) moves sealed tables into the view, drops history, prepares segments.
 * Everybody else reads. Each lock is a leaf. */
#pragma once

#include <pthread.h>

#include "base/map.h"
#include "store/medium.h"
#include "store/mirror.h"
#include "store/memtable.h"
#include "store/view.h"
#include "store/wal.h"

/* Where the newest versions are: first in `active`, then in `sealed`, then in the view. Replaced
 * whole, never changed. */
struct store__layers {
    _Atomic uint32_t refs;
    struct memtable *active, *sealed; /* sealed may be NULL */
};

struct store__layers *store__layers_new(struct memtable *active, struct memtable *sealed);
struct store__layers *store__layers_unref(struct store__layers *l);

enum {
    STORE__TABLE_BYTES = 4 << 20, /* when the active table is sealed */
    STORE__TABLE_CHANGES = 16384, /* or then: what a small change replaces may be large */
    STORE__GROUP_BYTES = 4 << 20, /* when a group takes no more */
    STORE__GROUP_TXNS = 1024,
    STORE__IDLE_MS = 5000,           /* how long changes stay out of the view at most */
    STORE__RESERVE_BYTES = 16 << 20, /* for deleting on a full disk; less on a small one */
    STORE__RESERVE_PART = 16,        /* which part of the disk it is at most */
    STORE__LOOK_MS = 1000,           /* how old the news that the folder is there may be */
};

struct store__commit; /* commit.c */

struct store {
    const struct clock *clock;
    const struct medium *medium;
    struct store_codec *codec;   /* NULL: values are stored as they are */
    struct store_source *source; /* of a mirror (mirror.h), else NULL */
    struct view *view;
    struct wal wal;
    char *dir, *log_dir;
    int lock_fd;
    uint64_t store_id, history_bytes;
    int64_t history_ns;
    size_t table_bytes;

    _Atomic uint64_t rev;   /* published: durable and in the active table */
    _Atomic uint64_t floor; /* persisted */
    /* Of a mirror: what happened before is not all known, so nobody may be told of it. */
    _Atomic uint64_t break_rev;
    _Atomic uint64_t keys, n_commits, n_groups, n_checkpoints;
    _Atomic int failing;
    bool is_low;               /* the keeper's own: there is no room for history */
    _Atomic bool is_tight;     /* the disk is nearly full: only what deletes is taken */
    _Atomic bool has_deleted;  /* something was since then: it must get into the view */
    _Atomic bool is_lost;      /* the folder is not there any more */
    _Atomic int64_t looked_ns; /* when it was looked for last */

    pthread_mutex_t layers_lock; /* guards the pointer */
    struct store__layers *layers;

    /* Transactions on their way in. */
    pthread_mutex_t queue_lock; /* guards what follows, up to the next lock */
    pthread_cond_t queue_moved;
    struct store_txn *queue, **queue_last;
    uint64_t seal_ticket; /* the keeper wants the active table; 0: it does not */
    bool commit_stops;

    /* The keeper's orders, and what it says about them. */
    pthread_mutex_t keeper_lock; /* guards what follows, up to the next lock */
    pthread_cond_t keeper_moved;
    bool has_sealed;                      /* a sealed table waits for its checkpoint */
    bool prepare_wanted;                  /* the log wants its next segment */
    bool keeper_stops;                    /* after one last try */
    uint64_t floor_asked;                 /* by store_compact() */
    uint64_t rounds_asked, rounds_done;   /* checkpoints that somebody waits for */
    uint64_t seals_asked, seals_answered; /* tickets */
    uint64_t rooms_asked, rooms_done;     /* the log has no room on the disk */
    int keeper_result;                    /* of the last round: 0 or a negative code */
    char keeper_reason[160];

    pthread_mutex_t waiters_lock; /* guards n_waiters; store_wait() sleeps on it */
    pthread_cond_t rev_moved;
    size_t n_waiters;

    pthread_mutex_t feeds_lock; /* guards the list */
    struct store_feed *feeds;

    pthread_mutex_t snaps_lock; /* guards the list */
    struct store_snap *idle_snaps;

    pthread_mutex_t damaged_lock; /* guards the map */
    struct map damaged;           /* by key */
    _Atomic size_t n_damaged;

    struct store__commit *commit;
    struct view_meta view_meta; /* the keeper's own: what it wrote last */
    pthread_t commit_thread, keeper_thread;
};

/* ---- store.c ---- */
struct store__layers *store__layers_get(struct store *s);
void store__layers_set(struct store *s, struct memtable *active, struct memtable *sealed);
/* Locks DIR/lock; ERR_CONFLICT names the holder. Returns the descriptor. */
int store__lock_dir(const char *dir, struct err *err);

/* The value as it was written; 0 or ERR_DAMAGED. What the codec makes lies in the arena. */
static inline int store__open_value(struct store *s, struct arena *a, struct store_entry *e,
                                    struct err *err)
{
    return s->codec && e->value.n ? s->codec->open(s->codec, a, e, err) : 0;
}

/* ---- recover.c ---- */
int store__recover(struct store *s, const struct store_options *opt, struct err *err);
int store__view_path(char *ret, size_t n, const char *dir, struct err *err);
int store__new_id(uint64_t *ret, struct err *err);
/* Puts the changes of a record into `t`, and says by how many keys it has more. */
int64_t store__replay_record(struct memtable *t, const struct record *rec);

/* ---- commit.c ---- */
struct store__commit *store__commit_new(void);
struct store__commit *store__commit_free(struct store__commit *c);
void *store__commit_main(void *arg);

/* ---- checkpoint.c ---- */
void *store__keeper_main(void *arg);
/* Everything that is published now will be in the view; the floor rises to `floor` if that is
 * higher. Blocks. */
int store__checkpoint(struct store *s, uint64_t floor, struct err *err);
/* A sealed table, or NULL, into the view, whose state row will be `meta`. */
int store__write_view(struct view *v, const struct memtable *t, const struct view_meta *meta,
                      struct err *err);
/* How many keys there are when `t` comes to `keys` of them. */
uint64_t store__keys_after(const struct memtable *t, uint64_t keys);

/* ---- mirror.c ---- */
/* All objects that the source has, into the view, which is new. */
int store__fill(struct store *s, struct err *err);
/* Gives the commit thread something to do: `t`, and what follows it. */
void store__enqueue(struct store *s, struct store_txn *t);

/* ---- snap.c ---- */
const struct store__layers *store__snap_layers(const struct store_snap *snap);
struct view_reader *store__snap_reader(const struct store_snap *snap);
uint64_t store__snap_floor(const struct store_snap *snap);
uint64_t store__snap_kept(const struct store_snap *snap); /* without regard to breaks */
/* Like store_snap_get(), but the value is not looked at: it may be damaged. Revisions that cannot
 * be are made such that can, so that what is damaged can be replaced and deleted. */
int store__snap_peek(struct store_snap *snap, struct str key, struct store_entry *ret,
                     struct err *err);
/* What stood at `key` before the change at `rev` that replaced version `prev_rev`. */
int store__snap_before(struct store_snap *snap, struct str key, uint64_t rev, uint64_t prev_rev,
                       struct store_entry *ret, struct err *err);
void store__snap_drop_idle(struct store *s);

/* ---- folder.c ---- */
/* ERR_IO if the folder or a file in it is not where it was. `arg` is the store. Any thread. */
int store__look_at_folder(void *arg, struct err *err);
/* The same, unless it was looked at a moment ago. Before each group. */
int store__look_in_time(struct store *s, struct err *err);

/* ---- reserve.c ---- */
/* Is the disk nearly full? Makes the reserve where there is room. Thread: keeper. */
void store__look_at_space(struct store *s);
/* A write found no room: from now on only what deletes is taken. Any thread. */
void store__become_tight(struct store *s);
/* The same, and gives the reserve up. True if there was one. Any thread. */
bool store__give_reserve(struct store *s);
/* The same for a store that cannot be opened for want of room. */
bool store__drop_reserve(const char *dir);

/* ---- damage.c ---- */
/* The view now has what is in `t`. */
void store__damage_replaced(struct store *s, const struct memtable *t);
void store__damage_done(struct store *s);

/* ---- verify.c ---- */
/* An entry of a view that goes up to `newest`: its checksum, and whether it can be. */
int store__check_entry(struct view *v, const struct view_entry *e, uint64_t newest,
                       struct err *err);

/* ---- backup.c ---- */
/* Where a store goes on of which the changes after `rev` were lost. */
int store__bumped(uint64_t rev, uint64_t bump, uint64_t *ret, struct err *err);
/* The log of a new store in DIR/log. */
int store__make_log(const char *dir, const struct view_meta *meta, struct err *err);
/* With all that is in it; nothing if it is not there. */
void store__remove_folder(const char *dir);

/* ---- transfer.c ---- */
/* All objects that `reader` sees into a new file at `to`, whose state row will be `meta`; its count
 * of keys is filled in. Damaged ones as in store_backup(). */
int store__transfer(struct view *from, struct view_reader *reader, const char *to,
                    struct view_meta *meta, const struct store_skip *skip, struct err *err);

/* ---- watch.c ---- */
void store__feeds_wake(struct store *s); /* thread: any of the store's */
