/* view_impl.h - what the files of the view share; nobody else includes it.
 *
 * view.c opens, closes and grows the file; view_read.c and view_write.c are the two sides of its
 * use; view_codec.c knows what the bytes mean. */
#pragma once

#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/limits.h"
#include "store/view.h"

struct view {
    MDB_env *env;
    MDB_dbi cur, old, meta;
    char *path;
    bool is_volatile;
    _Atomic uint64_t bytes; /* of the file, after the last commit */

    pthread_mutex_t gate; /* guards what follows */
    pthread_cond_t gate_moved;
    bool is_closed; /* the map is about to change: `env` belongs to the writer alone */
    size_t n_open;  /* readers and copies that use `env` */
    struct view_reader *idle;

    /* The writer's own. */
    size_t map_bytes;
    bool is_full;  /* the last transaction ran out of map */
    bool is_panic; /* LMDB will do nothing more with this `env` */
};

struct view_reader {
    struct view *v;
    struct view_reader *next; /* while idle */
    MDB_txn *txn;
    MDB_cursor *cur, *old;
    size_t txn_id; /* that `meta` was read in */
    struct view_meta meta;
    uintptr_t low, high; /* where what was walked over since the begin lies in the map */
    size_t walked;       /* and how much it was */
};

/* ---- view_codec.c ---- */

enum { VIEW__OLD_KEY_BYTES = 8 + LIMIT_STORE_KEY_BYTES };

int view__error(const struct view *v, int rc, const char *what, struct err *err);
MDB_val view__val(struct str s);
MDB_val view__old_key(char text[static VIEW__OLD_KEY_BYTES], uint64_t super_rev, struct str key);
MDB_val view__entry_encode(struct buf *b, const struct view_entry *e);
int view__entry_decode(const struct view *v, MDB_val key, MDB_val data, struct view_entry *ret,
                       struct err *err);
int view__old_decode(const struct view *v, MDB_val key, MDB_val data, struct view_entry *ret,
                     struct err *err);
int view__meta_put(const struct view *v, MDB_txn *txn, const struct view_meta *m); /* LMDB's code */
int view__meta_get(const struct view *v, MDB_txn *txn, struct view_meta *ret, struct err *err);

/* ---- view.c ---- */

/* Through the gate; an idle reader, or NULL. Each enter has its leave. */
struct view_reader *view__enter(struct view *v);
void view__leave(struct view *v, struct view_reader *idle);
/* Before a transaction: mends and grows what has to be. Thread: the writer. */
int view__make_room(struct view *v, uint64_t room, struct err *err);
void view__count_bytes(struct view *v);
