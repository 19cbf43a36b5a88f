/* view_gen.c - generations of the view: LMDB on one file, and who still reads through it. */
#include "store/view_impl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/banned.h"

enum {
    MAX_READERS = 2048,
    LOCK_FILE_BYTES = 64 * MAX_READERS + 4096, /* a cache line for each, and a head */
};

/* ---- Opening ---- */

static int set_up_env(MDB_env *env, struct view *v, const char *path, unsigned flags)
{
    int rc = mdb_env_set_mapsize(env, v->map_bytes);
    if (rc)
        return rc;
    rc = mdb_env_set_maxreaders(env, MAX_READERS);
    if (rc)
        return rc;
    rc = mdb_env_set_maxdbs(env, 3);
    if (rc)
        return rc;
    return mdb_env_open(env, path, flags | MDB_NOSUBDIR | MDB_NOTLS, 0600);
}

static int try_env(struct view *v, const char *path, unsigned flags, MDB_env **ret)
{
    MDB_env *env;
    int rc = mdb_env_create(&env);
    if (rc)
        return rc;
    rc = set_up_env(env, v, path, flags);
    if (rc) {
        mdb_env_close(env);
        return rc;
    }
    *ret = env;
    return 0;
}

int view__env_open(struct view *v, const char *path, unsigned flags, MDB_env **ret, struct err *err)
{
    struct stat st = { 0 };
    (void)stat(path, &st);
    size_t least = (size_t)st.st_size + (size_t)st.st_size / 2;
    while (v->map_bytes < least)
        v->map_bytes *= 2;
    int rc = try_env(v, path, flags, ret);
    /* Not every process is given so much address space. */
    for (; rc == ENOMEM && v->map_bytes / 2 > least; rc = try_env(v, path, flags, ret))
        v->map_bytes /= 2;
    return rc ? view__error(v, rc, "open", err) : 0;
}

static int open_tables(MDB_txn *txn, unsigned flags, struct view_gen *ret)
{
    int rc = mdb_dbi_open(txn, "cur", flags, &ret->cur);
    if (rc)
        return rc;
    rc = mdb_dbi_open(txn, "old", flags, &ret->old);
    if (rc)
        return rc;
    return mdb_dbi_open(txn, "meta", flags, &ret->meta);
}

int view__tables_open(const struct view *v, MDB_txn *txn, unsigned flags, struct view_gen *ret,
                      struct err *err)
{
    int rc = open_tables(txn, flags, ret);
    if (rc == MDB_NOTFOUND)
        return err_set(err, ERR_DAMAGED, "%s: a table is missing", v->path);
    return rc ? view__error(v, rc, "open a table of", err) : 0;
}

/* LMDB does not say where its map is. Each page begins with its number, so the page of any row
 * tells. */
static char *map_base(const struct view_gen *g, MDB_txn *txn)
{
    MDB_cursor *cursor;
    MDB_val key, data;
    MDB_stat st;
    char *base = NULL;
    if (mdb_env_stat(g->env, &st) != 0 || mdb_cursor_open(txn, g->meta, &cursor) != 0)
        return NULL;
    if (mdb_cursor_get(cursor, &key, &data, MDB_FIRST) == 0) {
        char *page = (char *)data.mv_data - (uintptr_t)data.mv_data % st.ms_psize;
        uint64_t number;
        memcpy(&number, page, sizeof(number));
        base = page - number * st.ms_psize;
    }
    mdb_cursor_close(cursor);
    return base;
}

static int read_in(struct view_gen *g, MDB_txn *txn, struct err *err)
{
    struct view_meta meta;
    int r = view__tables_open(g->v, txn, 0, g, err);
    if (r < 0)
        return r;
    r = view__meta_get(g, txn, &meta, err);
    if (r < 0)
        return r;
    g->base = map_base(g, txn);
    return 0;
}

static int read_tables(struct view_gen *g, struct err *err)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(g->env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return view__error(g->v, rc, "read", err);
    int r = read_in(g, txn, err);
    rc = mdb_txn_commit(txn); /* in any case; keeps the tables' handles */
    if (r < 0)
        return r;
    return rc ? view__error(g->v, rc, "read", err) : 0;
}

/* LMDB writes to its lock file through a map. Where the disk has no room for a page of it, that is
 * SIGBUS and the end of the process; so the file has all of its space before LMDB sees it. */
static int make_lock_file(const char *path, struct err *err)
{
    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(err, errno, "remove %s", path);
    autoclose int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "make %s", path);
    int errnum = posix_fallocate(fd, 0, LOCK_FILE_BYTES);
    if (!errnum)
        return 0;
    (void)unlink(path);
    return err_errno(err, errnum, "make %s", path);
}

/* `lock` may be NULL: no lock file. */
static int gen_read(struct view_gen *g, const char *path, const char *lock, unsigned flags,
                    struct err *err)
{
    int r = view__env_open(g->v, path, flags, &g->env, err);
    if (lock)
        (void)unlink(lock);
    if (r < 0)
        return r;
    return read_tables(g, err);
}

int view__gen_open(struct view *v, const char *path, unsigned flags, struct view_gen **ret,
                   struct err *err)
{
    /* The folder is ours alone, and each generation has a lock file of its own: what another
     * process may have left there is stale, and nobody needs the name once it is open. */
    autofree char *lock = NULL;
    if (asprintf(&lock, "%s-lock", path) < 0)
        mem_exhausted(strlen(path));
    bool has_lock = !(flags & MDB_NOLOCK);
    int r = has_lock ? make_lock_file(lock, err) : 0;
    if (r < 0)
        return r;
    struct view_gen *g = mem_new(struct view_gen);
    g->v = v;
    g->is_read_only = flags & MDB_RDONLY;
    r = gen_read(g, path, has_lock ? lock : NULL, flags, err);
    if (r < 0) {
        view__gen_free(g);
        return r;
    }
    *ret = g;
    return 0;
}

static void reader_free(struct view_reader *r)
{
    mdb_cursor_close(r->cur);
    mdb_cursor_close(r->old);
    mdb_txn_abort(r->txn);
    free(r);
}

struct view_gen *view__gen_free(struct view_gen *g)
{
    if (!g)
        return NULL;
    assert(g->n_open == 0);
    for (struct view_reader *r = g->idle, *next; r; r = next) {
        next = r->next;
        reader_free(r);
    }
    if (g->env)
        mdb_env_close(g->env);
    free(g);
    return NULL;
}

/* ---- Coming and going ---- */

static struct view_gen *swap(struct view *v, struct view_gen *g)
{
    struct view_gen *old = v->gen;
    v->gen = g;
    v->written_bytes = 0;
    return old && old->n_open == 0 ? old : NULL;
}

void view__gen_set(struct view *v, struct view_gen *g)
{
    (void)pthread_mutex_lock(&v->gate);
    struct view_gen *unread = swap(v, g);
    (void)pthread_mutex_unlock(&v->gate);
    view__gen_free(unread);
    view__count_bytes(v);
}

bool view__gen_set_if_unread(struct view *v, struct view_gen *g)
{
    (void)pthread_mutex_lock(&v->gate);
    bool is_unread = v->gen->n_open == 0;
    struct view_gen *unused = is_unread ? swap(v, g) : g;
    (void)pthread_mutex_unlock(&v->gate);
    view__gen_free(unused);
    return is_unread;
}

struct view_gen *view__enter(struct view *v, struct view_reader **ret_idle)
{
    (void)pthread_mutex_lock(&v->gate);
    struct view_gen *g = v->gen;
    g->n_open++;
    *ret_idle = g->idle;
    if (g->idle)
        g->idle = g->idle->next;
    (void)pthread_mutex_unlock(&v->gate);
    return g;
}

void view__leave(struct view_gen *g, struct view_reader *r)
{
    struct view *v = g->v;
    (void)pthread_mutex_lock(&v->gate);
    if (r) {
        r->next = g->idle;
        g->idle = r;
    }
    bool is_unread = --g->n_open == 0 && g != v->gen;
    (void)pthread_mutex_unlock(&v->gate);
    if (is_unread)
        view__gen_free(g);
}

void view__count_bytes(struct view *v)
{
    MDB_envinfo info;
    MDB_stat st;
    if (mdb_env_info(v->gen->env, &info) == 0 && mdb_env_stat(v->gen->env, &st) == 0)
        v->bytes = (uint64_t)(info.me_last_pgno + 1) * st.ms_psize;
}
