/* view_write.c - the view's one writer. */
#include "store/view_impl.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/failpoint.h"

#include "base/banned.h"

enum { CHANGES_PER_LOOK = 256 };

struct view_write {
    struct view *v;
    MDB_txn *txn;
    MDB_cursor *cur, *old;
    struct buf scratch; /* one encoded value */
    size_t n_changes;
};

static int write_error(struct view_write *w, int rc, struct err *err)
{
    if (rc == MDB_MAP_FULL)
        w->v->is_full = true;
    if (rc == MDB_PANIC)
        w->v->is_panic = true;
    return view__error(w->v, rc, "write", err);
}

static int open_cursors(struct view_write *w)
{
    const struct view_gen *g = w->v->gen;
    int rc = mdb_txn_begin(g->env, NULL, 0, &w->txn);
    if (rc)
        return rc;
    rc = mdb_cursor_open(w->txn, g->cur, &w->cur);
    if (rc)
        return rc;
    return mdb_cursor_open(w->txn, g->old, &w->old);
}

int view_write_begin(struct view *v, uint64_t room, struct view_write **ret, struct err *err)
{
    int r = view__make_room(v, room, err);
    if (r < 0)
        return r;
    struct view_write *w = mem_new(struct view_write);
    w->v = v;
    int rc = open_cursors(w);
    if (rc) {
        r = write_error(w, rc, err);
        if (w->txn)
            mdb_txn_abort(w->txn);
        free(w);
        return r;
    }
    *ret = w;
    return 0;
}

/* A change touches pages all over the file. */
static void note_change(struct view_write *w)
{
    if (++w->n_changes % CHANGES_PER_LOOK == 0)
        view_let_go(w->v, VIEW_MAPPED_BYTES);
}

int view_write_get(struct view_write *w, struct str key, struct view_entry *ret, struct err *err)
{
    MDB_val k = view__val(key), data;
    int rc = mdb_get(w->txn, w->v->gen->cur, &k, &data);
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return write_error(w, rc, err);
    view__entry_decode(k, data, ret);
    return 1;
}

int view_write_put(struct view_write *w, const struct view_entry *e, struct err *err)
{
    MDB_val k = view__val(e->key), data = view__entry_encode(&w->scratch, e);
    w->v->written_bytes += data.mv_size;
    note_change(w);
    int rc = mdb_cursor_put(w->cur, &k, &data, 0);
    return rc ? write_error(w, rc, err) : 0;
}

int view_write_delete(struct view_write *w, struct str key, struct err *err)
{
    MDB_val k = view__val(key);
    note_change(w);
    int rc = mdb_del(w->txn, w->v->gen->cur, &k, NULL);
    return rc && rc != MDB_NOTFOUND ? write_error(w, rc, err) : 0;
}

int view_write_old(struct view_write *w, const struct view_entry *e, struct err *err)
{
    char text[VIEW__OLD_KEY_BYTES];
    MDB_val k = view__old_key(text, e->super_rev, e->key),
            data = view__entry_encode(&w->scratch, e);
    w->v->written_bytes += data.mv_size;
    note_change(w);
    int rc = mdb_cursor_put(w->old, &k, &data, MDB_APPEND);
    return rc ? write_error(w, rc, err) : 0;
}

int view_write_prune(struct view_write *w, uint64_t floor, struct err *err)
{
    for (;;) {
        MDB_val k, data;
        int rc = mdb_cursor_get(w->old, &k, &data, MDB_FIRST);
        if (rc == MDB_NOTFOUND)
            return 0;
        struct view_entry e = { 0 };
        int r = rc ? write_error(w, rc, err) : view__old_decode(w->v, k, data, &e, err);
        if (r < 0 || e.super_rev > floor)
            return r < 0 ? r : 0;
        note_change(w);
        rc = mdb_cursor_del(w->old, 0);
        if (rc)
            return write_error(w, rc, err);
    }
}

static void write_free(struct view_write *w)
{
    if (w->v->is_panic)
        view__save_readers(w->v);
    buf_done(&w->scratch);
    free(w);
}

/* LMDB answers a failed commit with the error it met, and only the next transaction with whether it
 * has given up. */
static void look_for_panic(struct view *v)
{
    MDB_txn *probe;
    if (mdb_txn_begin(v->gen->env, NULL, MDB_RDONLY, &probe) == 0)
        mdb_txn_abort(probe);
    else
        v->is_panic = true;
}

/* A commit that found no room has taken what there was, for pages that nobody will ever read.
 * Whether the new state was written is not in doubt: LMDB would have given up. */
static void give_back_pages(struct view *v)
{
    mdb_filehandle_t fd;
    if (!v->is_panic && mdb_env_get_fd(v->gen->env, &fd) == 0)
        (void)ftruncate(fd, (off_t)view_bytes(v));
}

static int finish(struct view_write *w, const struct view_meta *meta)
{
    int rc = view__meta_put(w->txn, w->v->gen->meta, meta);
    if (rc)
        return rc;
    rc = FAILPOINT("view-commit");
    if (rc)
        return rc;
    return FAILPOINT("view-panic") ? MDB_PANIC : 0;
}

int view_write_commit(struct view_write *w, const struct view_meta *meta, struct err *err)
{
    int rc = finish(w, meta);
    if (rc) {
        int r = write_error(w, rc, err);
        view_write_abort(w);
        return r;
    }
    rc = mdb_txn_commit(w->txn);
    int r = rc ? write_error(w, rc, err) : 0;
    if (r == 0)
        view__count_bytes(w->v);
    else
        look_for_panic(w->v);
    if (r == -ERR_NO_SPACE)
        give_back_pages(w->v);
    write_free(w);
    return r;
}

void view_write_abort(struct view_write *w)
{
    mdb_txn_abort(w->txn);
    write_free(w);
}

bool view_is_full(struct view *v)
{
    return v->is_full;
}
