/* view.c - making, opening and closing the view. */
#include "store/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "store/mdbcheck.h"
#include "store/view_impl.h"

#include "base/banned.h"

/* ---- A new file ---- */

static int fill_tables(struct view *v, MDB_txn *txn, const struct view_meta *meta, struct err *err)
{
    struct view_gen tables;
    int r = view__tables_open(v, txn, MDB_CREATE, &tables, err);
    if (r < 0)
        return r;
    int rc = view__meta_put(txn, tables.meta, meta);
    return rc ? view__error(v, rc, "write", err) : 0;
}

static int fill_new(struct view *v, MDB_env *env, const struct view_meta *meta, struct err *err)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(env, NULL, 0, &txn);
    if (rc)
        return view__error(v, rc, "write", err);
    int r = fill_tables(v, txn, meta, err);
    if (r < 0) {
        mdb_txn_abort(txn);
        return r;
    }
    rc = mdb_txn_commit(txn);
    return rc ? view__error(v, rc, "write", err) : 0;
}

static int make_file(struct view *v, const struct view_meta *meta, bool sync, struct err *err)
{
    MDB_env *env;
    int r = view__env_open(v, v->path, MDB_NOLOCK | (sync ? 0 : MDB_NOSYNC), &env, err);
    if (r < 0)
        return r;
    r = fill_new(v, env, meta, err);
    mdb_env_close(env);
    return r;
}

int view_create(const char *path, const struct view_meta *meta, bool sync, struct err *err)
{
    autofree char *tmp = NULL;
    if (asprintf(&tmp, "%s.tmp", path) < 0)
        mem_exhausted(strlen(path));
    (void)unlink(tmp);
    struct view v = { .path = tmp, .map_bytes = VIEW_MAP_BYTES };
    int r = make_file(&v, meta, sync, err);
    if (r < 0)
        return r;
    if (rename(tmp, path) < 0)
        return err_errno(err, errno, "rename %s", tmp);
    return 0;
}

/* ---- Opening and closing ---- */

/* What a crash left of a file that was to take this one's place. */
static void remove_next(const char *path)
{
    static const char *const names[] = { VIEW_NEXT, VIEW_NEXT "-lock" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        autofree char *next = NULL;
        if (asprintf(&next, "%s%s", path, names[i]) < 0)
            mem_exhausted(strlen(path));
        (void)unlink(next);
    }
}

static int open_file(struct view *v, struct err *err)
{
    struct view_gen *gen;
    unsigned flags = v->is_read_only ? MDB_RDONLY | MDB_NOLOCK : v->is_volatile ? MDB_NOSYNC : 0;
    if (!v->is_read_only)
        remove_next(v->path);
    int r = view__gen_open(v, v->path, flags, &gen, err);
    if (v->is_volatile)
        (void)unlink(v->path);
    if (r == 0)
        view__gen_set(v, gen);
    return r;
}

int view_open(const struct view_options *opt, struct view **ret, struct err *err)
{
    int r = mdbcheck_file(opt->path, err);
    if (r < 0)
        return r;
    struct view *v = mem_new(struct view);
    v->path = mem_dup(opt->path, strlen(opt->path) + 1);
    v->is_volatile = opt->is_volatile;
    v->is_read_only = opt->is_read_only;
    v->map_bytes = opt->map_bytes ? opt->map_bytes : VIEW_MAP_BYTES;
    (void)pthread_mutex_init(&v->gate, NULL);
    r = open_file(v, err);
    if (r < 0)
        view_close(v);
    else
        *ret = v;
    return r;
}

struct view *view_close(struct view *v)
{
    if (!v)
        return NULL;
    view__gen_free(v->gen);
    (void)pthread_mutex_destroy(&v->gate);
    free(v->path);
    free(v);
    return NULL;
}

bool view_has_a_name(struct view *v)
{
    unsigned names = v->names;
    struct view_reader *idle;
    struct view_gen *g = view__enter(v, &idle);
    struct stat st;
    int fd;
    bool has = mdb_env_get_fd(g->env, &fd) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
    view__leave(g, idle);
    return has || names % 2 || names != v->names;
}

uint64_t view_bytes(struct view *v)
{
    return atomic_load_explicit(&v->bytes, memory_order_relaxed);
}
