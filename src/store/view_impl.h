/* view_impl.h - what the files of the view share; nobody else includes it.
 *
 * view.c opens and closes the view; view_gen.c opens its file for LMDB, and again when that must
 * be; view_replace.c puts a new file into its place; view_read.c and view_write.c are the two sides
 * of its use; view_codec.c knows what the bytes mean. */
#pragma once

#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/limits.h"
#include "store/view.h"

/* One environment of LMDB on one file: a generation of the view. Readers keep the one that they
 * began in until they end, so that nobody has to wait for them; the last one to leave a generation
 * that is not the newest any more frees it. */
struct view_gen {
    struct view *v;
    MDB_env *env;
    MDB_dbi cur, old, meta;
    char *base; /* where the file is mapped */
    bool is_read_only;

    /* Guarded by view.gate. */
    size_t n_open; /* readers and copies that use `env` */
    struct view_reader *idle;
};

struct view {
    char *path;
    bool is_volatile, is_read_only;
    _Atomic uint64_t bytes; /* of the file, after the last commit */
    _Atomic unsigned names; /* odd while the file's name goes from one to another */

    pthread_mutex_t gate; /* guards what follows, and the readers of each generation */
    struct view_gen *gen; /* the newest */

    /* The writer's own. */
    size_t map_bytes;
    uint64_t written_bytes; /* through the newest generation */
    bool is_full;           /* the last transaction ran out of map */
    bool is_panic;          /* LMDB will do nothing more with this generation */
    bool is_unsynced;       /* the file has a new name that may not survive a power loss */
};

struct view_reader {
    struct view_gen *gen;
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
/* With the checksum that `e` carries. */
MDB_val view__entry_encode(struct buf *b, const struct view_entry *e);
/* Bytes that are no entry become one whose checksum is wrong. */
void view__entry_decode(MDB_val key, MDB_val data, struct view_entry *ret);
int view__old_decode(const struct view *v, MDB_val key, MDB_val data, struct view_entry *ret,
                     struct err *err);
int view__meta_put(MDB_txn *txn, MDB_dbi dbi, const struct view_meta *m); /* LMDB's code */
int view__meta_get(const struct view_gen *g, MDB_txn *txn, struct view_meta *ret, struct err *err);

/* ---- view_gen.c ---- */

int view__env_open(struct view *v, const char *path, unsigned flags, MDB_env **ret,
                   struct err *err);
int view__tables_open(const struct view *v, MDB_txn *txn, unsigned flags, struct view_gen *ret,
                      struct err *err);
/* On the file at `path`, which was found sound. Nobody sees it before it is set. */
int view__gen_open(struct view *v, const char *path, unsigned flags, struct view_gen **ret,
                   struct err *err);
struct view_gen *view__gen_free(struct view_gen *g);
/* Makes it the newest; the one before goes with its last reader. */
void view__gen_set(struct view *v, struct view_gen *g);
/* The same if nobody reads; else `g` is closed and false returned. */
bool view__gen_set_if_unread(struct view *v, struct view_gen *g);

/* The newest generation, and an idle reader of it or NULL. Each enter has its leave. */
struct view_gen *view__enter(struct view *v, struct view_reader **ret_idle);
void view__leave(struct view_gen *g, struct view_reader *idle);
void view__count_bytes(struct view *v);

/* ---- view_replace.c. Thread: the writer ---- */

/* Before a transaction: mends and grows what has to be. */
int view__make_room(struct view *v, uint64_t room, struct err *err);
/* After a panic: reading goes on at once, whatever becomes of writing. */
void view__save_readers(struct view *v);
