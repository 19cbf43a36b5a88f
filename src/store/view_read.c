/* view_read.c - readers of the view: one transaction and two cursors each, used again and again. */
#include "store/view_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/banned.h"

enum { WALK_BYTES = 64 << 10 };

static int open_cursors(struct view_reader *r)
{
    int rc = mdb_txn_begin(r->gen->env, NULL, MDB_RDONLY, &r->txn);
    if (rc)
        return rc;
    rc = mdb_cursor_open(r->txn, r->gen->cur, &r->cur);
    if (rc)
        return rc;
    return mdb_cursor_open(r->txn, r->gen->old, &r->old);
}

static int reader_new(struct view_gen *g, struct view_reader **ret, struct err *err)
{
    struct view_reader *r = mem_new(struct view_reader);
    r->gen = g;
    int rc = open_cursors(r);
    if (rc) {
        if (r->cur)
            mdb_cursor_close(r->cur);
        if (r->txn)
            mdb_txn_abort(r->txn);
        free(r);
        return view__error(g->v, rc, "read", err);
    }
    *ret = r;
    return 0;
}

static int read_error(const struct view_reader *r, int rc, struct err *err)
{
    return view__error(r->gen->v, rc, "read", err);
}

static int renew_cursors(struct view_reader *r)
{
    int rc = mdb_cursor_renew(r->txn, r->cur);
    if (rc)
        return rc;
    return mdb_cursor_renew(r->txn, r->old);
}

static int reader_renew(struct view_reader *r, struct err *err)
{
    int rc = mdb_txn_renew(r->txn);
    if (rc)
        return read_error(r, rc, err);
    rc = renew_cursors(r);
    if (!rc)
        return 0;
    mdb_txn_reset(r->txn);
    return read_error(r, rc, err);
}

int view_reader_begin(struct view *v, struct view_reader **ret, struct err *err)
{
    struct view_reader *reader;
    struct view_gen *g = view__enter(v, &reader);
    int r = reader ? reader_renew(reader, err) : reader_new(g, &reader, err);
    if (r < 0) {
        view__leave(g, reader);
        return r;
    }
    assert(reader);
    reader->walked = 0;
    size_t id = mdb_txn_id(reader->txn);
    if (id != reader->txn_id) {
        r = view__meta_get(g, reader->txn, &reader->meta, err);
        if (r < 0) {
            view_reader_end(reader);
            return r;
        }
        reader->txn_id = id;
    }
    *ret = reader;
    return 0;
}

/* A walk through many entries leaves their pages in the process's memory, as far as the kernel
 * counts it, although they are the file's. They are let go; who needs one again finds it in the
 * page cache. Only while the reader is open, when nothing can have moved the map. */
static void let_go(struct view_reader *r)
{
    if (r->walked < WALK_BYTES)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t low = r->low & ~(page - 1), high = (r->high + page - 1) & ~(page - 1);
    (void)madvise((void *)low, high - low, MADV_DONTNEED); /* NOLINT(performance-no-int-to-ptr) */
}

static void note_walk(struct view_reader *r, const MDB_val *data)
{
    uintptr_t at = (uintptr_t)data->mv_data;
    if (!r->walked || at < r->low)
        r->low = at;
    if (!r->walked || at + data->mv_size > r->high)
        r->high = at + data->mv_size;
    r->walked += data->mv_size;
}

struct view_reader *view_reader_end(struct view_reader *r)
{
    if (r) {
        let_go(r);
        mdb_txn_reset(r->txn);
        view__leave(r->gen, r);
    }
    return NULL;
}

const struct view_meta *view_reader_meta(const struct view_reader *r)
{
    return &r->meta;
}

int view_get(struct view_reader *r, struct str key, struct view_entry *ret, struct err *err)
{
    MDB_val k = view__val(key), data;
    int rc = mdb_get(r->txn, r->gen->cur, &k, &data);
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return read_error(r, rc, err);
    view__entry_decode(k, data, ret);
    return 1;
}

int view_get_old(struct view_reader *r, uint64_t super_rev, struct str key, struct view_entry *ret,
                 struct err *err)
{
    char text[VIEW__OLD_KEY_BYTES];
    MDB_val k = view__old_key(text, super_rev, key), data;
    int rc = mdb_get(r->txn, r->gen->old, &k, &data);
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return read_error(r, rc, err);
    int res = view__old_decode(r->gen->v, k, data, ret, err);
    ret->key = key; /* `text` ends with this call */
    return res;
}

static int step(struct view_reader *r, MDB_val k, MDB_cursor_op op, struct view_entry *ret,
                struct err *err)
{
    MDB_val data;
    int rc = mdb_cursor_get(r->cur, &k, &data, op);
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return read_error(r, rc, err);
    note_walk(r, &data);
    view__entry_decode(k, data, ret);
    return 1;
}

static int step_old(struct view_reader *r, MDB_val k, MDB_cursor_op op, struct view_entry *ret,
                    struct err *err)
{
    MDB_val data;
    int rc = mdb_cursor_get(r->old, &k, &data, op);
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return read_error(r, rc, err);
    note_walk(r, &data);
    return view__old_decode(r->gen->v, k, data, ret, err);
}

int view_seek(struct view_reader *r, struct str key, struct view_entry *ret, struct err *err)
{
    return step(r, view__val(key), key.n ? MDB_SET_RANGE : MDB_FIRST, ret, err);
}

int view_next(struct view_reader *r, struct view_entry *ret, struct err *err)
{
    return step(r, (MDB_val){ 0 }, MDB_NEXT, ret, err);
}

int view_seek_old(struct view_reader *r, uint64_t super_rev, struct view_entry *ret,
                  struct err *err)
{
    char text[VIEW__OLD_KEY_BYTES];
    return step_old(r, view__old_key(text, super_rev, STR("")), MDB_SET_RANGE, ret, err);
}

uint64_t view_old_bytes(struct view_reader *r)
{
    MDB_stat stat;
    if (mdb_stat(r->txn, r->gen->old, &stat))
        return 0;
    return (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) *
           (uint64_t)stat.ms_psize;
}

int view_next_old(struct view_reader *r, struct view_entry *ret, struct err *err)
{
    return step_old(r, (MDB_val){ 0 }, MDB_NEXT, ret, err);
}
