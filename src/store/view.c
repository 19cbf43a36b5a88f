/* view.c - opening the view's file, and changing its map under readers that come and go. */
#include "store/view.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/mdbcheck.h"
#include "store/view_impl.h"

#include "base/banned.h"

enum {
    MAX_READERS = 2048,
    DRAIN_MS = 100, /* how long new readers are held back while the map waits to grow */
};

/* ---- Opening ---- */

static int env_open(struct view *v, unsigned flags, struct err *err)
{
    int rc = mdb_env_create(&v->env);
    if (rc)
        return view__error(v, rc, "open", err);
    struct stat st;
    if (stat(v->path, &st) == 0)
        while (v->map_bytes < (size_t)st.st_size + (size_t)st.st_size / 2)
            v->map_bytes *= 2;
    rc = mdb_env_set_mapsize(v->env, v->map_bytes);
    if (!rc)
        rc = mdb_env_set_maxreaders(v->env, MAX_READERS);
    if (!rc)
        rc = mdb_env_set_maxdbs(v->env, 3);
    if (!rc)
        rc = mdb_env_open(v->env, v->path, flags | MDB_NOSUBDIR | MDB_NOTLS, 0600);
    return rc ? view__error(v, rc, "open", err) : 0;
}

static int open_tables(struct view *v, MDB_txn *txn, unsigned flags, struct err *err)
{
    int rc = mdb_dbi_open(txn, "cur", flags, &v->cur);
    if (!rc)
        rc = mdb_dbi_open(txn, "old", flags, &v->old);
    if (!rc)
        rc = mdb_dbi_open(txn, "meta", flags, &v->meta);
    if (rc == MDB_NOTFOUND)
        return err_set(err, ERR_DAMAGED, "%s: a table is missing", v->path);
    return rc ? view__error(v, rc, "open a table of", err) : 0;
}

static int fill_new(struct view *v, const struct view_meta *meta, bool sync, struct err *err)
{
    int r = env_open(v, MDB_NOLOCK | (sync ? 0 : MDB_NOSYNC), err);
    if (r < 0)
        return r;
    MDB_txn *txn;
    int rc = mdb_txn_begin(v->env, NULL, 0, &txn);
    if (rc)
        return view__error(v, rc, "write", err);
    r = open_tables(v, txn, MDB_CREATE, err);
    rc = r ? 0 : view__meta_put(v, txn, meta);
    if (r < 0 || rc) {
        mdb_txn_abort(txn);
        return r < 0 ? r : view__error(v, rc, "write", err);
    }
    rc = mdb_txn_commit(txn);
    return rc ? view__error(v, rc, "write", err) : 0;
}

int view_create(const char *path, const struct view_meta *meta, bool sync, struct err *err)
{
    struct view v = { .map_bytes = VIEW_MAP_BYTES };
    if (asprintf(&v.path, "%s.tmp", path) < 0)
        mem_exhausted(strlen(path));
    (void)unlink(v.path);
    int r = fill_new(&v, meta, sync, err);
    mdb_env_close(v.env);
    if (r == 0 && rename(v.path, path) < 0)
        r = err_errno(err, errno, "rename %s", v.path);
    free(v.path);
    return r;
}

uint64_t view_bytes(struct view *v)
{
    return atomic_load_explicit(&v->bytes, memory_order_relaxed);
}

void view__count_bytes(struct view *v)
{
    MDB_envinfo info;
    MDB_stat st;
    if (mdb_env_info(v->env, &info) == 0 && mdb_env_stat(v->env, &st) == 0)
        v->bytes = (uint64_t)(info.me_last_pgno + 1) * st.ms_psize;
}

static int open_env_and_tables(struct view *v, struct err *err)
{
    /* The folder is ours alone, so what another process may have left in LMDB's lock file is
     * stale. */
    autofree char *lock = NULL;
    if (asprintf(&lock, "%s-lock", v->path) < 0)
        mem_exhausted(strlen(v->path));
    if (unlink(lock) < 0 && errno != ENOENT)
        return err_errno(err, errno, "remove %s", lock);
    int r = env_open(v, v->is_volatile ? MDB_NOSYNC : 0, err);
    if (v->is_volatile) {
        (void)unlink(v->path);
        (void)unlink(lock);
    }
    if (r < 0)
        return r;
    MDB_txn *txn;
    int rc = mdb_txn_begin(v->env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return view__error(v, rc, "read", err);
    r = open_tables(v, txn, 0, err);
    struct view_meta meta;
    if (r == 0)
        r = view__meta_get(v, txn, &meta, err);
    rc = mdb_txn_commit(txn); /* keeps the tables' handles */
    view__count_bytes(v);
    return r == 0 && rc ? view__error(v, rc, "read", err) : r;
}

int view_open(const struct view_options *opt, struct view **ret, struct err *err)
{
    int r = mdbcheck_file(opt->path, err);
    if (r < 0)
        return r;
    struct view *v = mem_new(struct view);
    v->path = mem_dup(opt->path, strlen(opt->path) + 1);
    v->is_volatile = opt->is_volatile;
    v->map_bytes = opt->map_bytes ? opt->map_bytes : VIEW_MAP_BYTES;
    (void)pthread_mutex_init(&v->gate, NULL);
    (void)pthread_cond_init(&v->gate_moved, NULL);
    r = open_env_and_tables(v, err);
    if (r < 0) {
        view_close(v);
        return r;
    }
    *ret = v;
    return 0;
}

static void drop_idle_readers(struct view *v)
{
    for (struct view_reader *r = v->idle, *next; r; r = next) {
        next = r->next;
        mdb_cursor_close(r->cur);
        mdb_cursor_close(r->old);
        mdb_txn_abort(r->txn);
        free(r);
    }
    v->idle = NULL;
}

struct view *view_close(struct view *v)
{
    if (!v)
        return NULL;
    assert(v->n_open == 0);
    drop_idle_readers(v);
    mdb_env_close(v->env);
    (void)pthread_cond_destroy(&v->gate_moved);
    (void)pthread_mutex_destroy(&v->gate);
    free(v->path);
    free(v);
    return NULL;
}

/* ---- The gate: readers in, map growth ---- */

struct view_reader *view__enter(struct view *v)
{
    (void)pthread_mutex_lock(&v->gate);
    while (v->is_closed)
        (void)pthread_cond_wait(&v->gate_moved, &v->gate);
    v->n_open++;
    struct view_reader *r = v->idle;
    if (r)
        v->idle = r->next;
    (void)pthread_mutex_unlock(&v->gate);
    return r;
}

void view__leave(struct view *v, struct view_reader *r)
{
    (void)pthread_mutex_lock(&v->gate);
    if (r) {
        r->next = v->idle;
        v->idle = r;
    }
    if (--v->n_open == 0 && v->is_closed)
        (void)pthread_cond_broadcast(&v->gate_moved);
    (void)pthread_mutex_unlock(&v->gate);
}

/* Holds new readers back until the present ones are gone; gives up after DRAIN_MS, because one of
 * them may belong to a thread that waits for another reader. */
static bool close_gate(struct view *v)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += DRAIN_MS * NS_PER_MS;
    if (until.tv_nsec >= NS_PER_SEC) {
        until.tv_nsec -= NS_PER_SEC;
        until.tv_sec++;
    }
    (void)pthread_mutex_lock(&v->gate);
    v->is_closed = true;
    int rc = 0;
    while (v->n_open && rc == 0)
        rc = pthread_cond_timedwait(&v->gate_moved, &v->gate, &until);
    bool is_empty = v->n_open == 0;
    (void)pthread_mutex_unlock(&v->gate);
    return is_empty;
}

static void open_gate(struct view *v)
{
    (void)pthread_mutex_lock(&v->gate);
    v->is_closed = false;
    (void)pthread_cond_broadcast(&v->gate_moved);
    (void)pthread_mutex_unlock(&v->gate);
}

static int grow_map(struct view *v, uint64_t need, struct err *err)
{
    size_t map = v->map_bytes;
    while (map < need)
        if (__builtin_mul_overflow(map, 2, &map))
            return err_set(err, ERR_NO_SPACE, "%s fills the address space", v->path);
    if (map == v->map_bytes)
        return 0;
    int r = 0;
    if (!close_gate(v)) {
        r = err_set(err, ERR_UNAVAILABLE, "%s cannot grow while it is being read", v->path);
    } else {
        int rc = mdb_env_set_mapsize(v->env, map);
        if (rc)
            r = view__error(v, rc, "grow", err);
        else
            v->map_bytes = map;
    }
    open_gate(v);
    return r;
}

/* LMDB gives an environment up when it could not write a meta page. The file is sound: at worst
 * it is that of the transaction before. */
static int reopen(struct view *v, struct err *err)
{
    if (v->is_volatile)
        return err_set(err, ERR_IO, "the view in memory failed");
    int r = 0;
    if (!close_gate(v)) {
        r = err_set(err, ERR_UNAVAILABLE, "%s cannot be mended while it is being read", v->path);
    } else {
        drop_idle_readers(v);
        mdb_env_close(v->env);
        v->env = NULL;
        r = mdbcheck_file(v->path, err);
        if (r == 0)
            r = open_env_and_tables(v, err);
        v->is_panic = r < 0;
        if (r < 0) {
            mdb_env_close(v->env);
            v->env = NULL;
        }
    }
    open_gate(v);
    return r;
}

int view__make_room(struct view *v, uint64_t room, struct err *err)
{
    int r = v->is_panic ? reopen(v, err) : 0;
    if (r == 0)
        r = grow_map(v, v->is_full ? v->map_bytes + 1 : view_bytes(v) + room, err);
    if (r == 0)
        v->is_full = false;
    return r;
}
