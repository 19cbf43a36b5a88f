#include "store/view.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/failpoint.h"
#include "store/mdbcheck.h"

#include "base/banned.h"

enum {
    MAX_READERS = 2048,
    DRAIN_MS = 100, /* how long new readers are held back while the map waits to grow */
};

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
};

struct view_write {
    struct view *v;
    MDB_txn *txn;
    MDB_cursor *cur, *old;
    struct buf scratch; /* one encoded value */
};

/* ---- Words for LMDB's codes ---- */

static int lmdb_error(const struct view *v, int rc, const char *what, struct err *err)
{
    if (rc > 0)
        return err_errno(err, rc, "%s %s", what, v->path);
    enum err_code code = ERR_INTERNAL;
    if (rc == MDB_CORRUPTED || rc == MDB_PAGE_NOTFOUND || rc == MDB_INVALID ||
        rc == MDB_VERSION_MISMATCH || rc == MDB_BAD_TXN)
        code = ERR_DAMAGED;
    else if (rc == MDB_MAP_FULL)
        code = ERR_NO_SPACE;
    else if (rc == MDB_PANIC)
        code = ERR_IO;
    else if (rc == MDB_READERS_FULL)
        code = ERR_UNAVAILABLE;
    return err_set(err, code, "%s %s: %s", what, v->path, mdb_strerror(rc));
}

/* ---- Encoding ---- */

/* `cur`: created 8, changed 8, checksum 4, value. `old`: the same under (replaced 8 BE, key). */
enum { ENTRY_BYTES = 20 };

static uint64_t get64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

static void put64(char *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof(v));
}

static uint32_t entry_crc(const struct view_entry *e)
{
    char head[16];
    put64(head, e->create_rev);
    put64(head + 8, e->mod_rev);
    uint32_t crc = crc32c(0, head, sizeof(head));
    crc = crc32c(crc, e->key.p, e->key.n);
    return crc32c(crc, e->value.p, e->value.n);
}

static MDB_val entry_encode(struct buf *b, const struct view_entry *e)
{
    char head[ENTRY_BYTES];
    put64(head, e->create_rev);
    put64(head + 8, e->mod_rev);
    uint32_t crc = htole32(entry_crc(e));
    memcpy(head + 16, &crc, sizeof(crc));
    buf_reset(b);
    buf_add(b, head, sizeof(head));
    buf_str_add(b, e->value);
    return (MDB_val){ b->n, b->p };
}

static int entry_decode(const struct view *v, MDB_val key, MDB_val data, struct view_entry *ret,
                        struct err *err)
{
    if (data.mv_size < ENTRY_BYTES)
        return err_set(err, ERR_DAMAGED, "%s: the entry of key \"%.*s\" is too short", v->path,
                       (int)key.mv_size, (const char *)key.mv_data);
    const char *p = data.mv_data;
    ret->key = (struct str){ key.mv_data, key.mv_size };
    ret->value = (struct str){ p + ENTRY_BYTES, data.mv_size - ENTRY_BYTES };
    ret->create_rev = get64(p);
    ret->mod_rev = get64(p + 8);
    ret->super_rev = 0;
    memcpy(&ret->crc, p + 16, sizeof(ret->crc));
    ret->crc = le32toh(ret->crc);
    return 1;
}

static int old_decode(const struct view *v, MDB_val key, MDB_val data, struct view_entry *ret,
                      struct err *err)
{
    if (key.mv_size <= 8)
        return err_set(err, ERR_DAMAGED, "%s: a key of the history is too short", v->path);
    uint64_t super_rev;
    memcpy(&super_rev, key.mv_data, sizeof(super_rev));
    MDB_val plain = { key.mv_size - 8, (char *)key.mv_data + 8 };
    int r = entry_decode(v, plain, data, ret, err);
    ret->super_rev = be64toh(super_rev);
    return r;
}

enum { OLD_KEY_BYTES = 8 + LIMIT_STORE_KEY_BYTES };

static MDB_val old_key(char text[static OLD_KEY_BYTES], uint64_t super_rev, struct str key)
{
    assert(key.n <= LIMIT_STORE_KEY_BYTES);
    super_rev = htobe64(super_rev);
    memcpy(text, &super_rev, sizeof(super_rev));
    if (key.n)
        memcpy(text + 8, key.p, key.n);
    return (MDB_val){ 8 + key.n, text };
}

static MDB_val val_of(struct str s)
{
    return (MDB_val){ s.n, (void *)(uintptr_t)s.p };
}

int view_entry_check(struct view *v, const struct view_entry *e, struct err *err)
{
    if (entry_crc(e) == e->crc)
        return 0;
    return err_set(err, ERR_DAMAGED, "%s: the value of key \"" STR_FMT "\" is damaged", v->path,
                   STR_ARG(e->key));
}

/* ---- The row that says how far the file goes ---- */

enum { META_BYTES = 44 };
static const char meta_name[] = "state";

static int meta_put(const struct view *v, MDB_txn *txn, const struct view_meta *m)
{
    char row[META_BYTES] = { VIEW_FORMAT };
    put64(row + 8, m->store_id);
    put64(row + 16, m->rev);
    put64(row + 24, m->floor);
    put64(row + 32, m->keys);
    uint32_t crc = htole32(crc32c(0, row, 40));
    memcpy(row + 40, &crc, sizeof(crc));
    MDB_val key = { sizeof(meta_name) - 1, (void *)(uintptr_t)meta_name };
    MDB_val data = { sizeof(row), row };
    return mdb_put(txn, v->meta, &key, &data, 0);
}

static int meta_get(const struct view *v, MDB_txn *txn, struct view_meta *ret, struct err *err)
{
    MDB_val key = { sizeof(meta_name) - 1, (void *)(uintptr_t)meta_name }, data;
    int rc = mdb_get(txn, v->meta, &key, &data);
    if (rc)
        return lmdb_error(v, rc, "read the state row of", err);
    const char *row = data.mv_data;
    uint32_t crc;
    if (data.mv_size != META_BYTES || row[0] != VIEW_FORMAT)
        return err_set(err, ERR_DAMAGED, "%s: the state row is not of format %d", v->path,
                       VIEW_FORMAT);
    memcpy(&crc, row + 40, sizeof(crc));
    if (le32toh(crc) != crc32c(0, row, 40))
        return err_set(err, ERR_DAMAGED, "%s: the state row is damaged", v->path);
    *ret = (struct view_meta){ get64(row + 8), get64(row + 16), get64(row + 24), get64(row + 32) };
    return 0;
}

/* ---- Opening ---- */

static int env_open(struct view *v, unsigned flags, struct err *err)
{
    int rc = mdb_env_create(&v->env);
    if (rc)
        return lmdb_error(v, rc, "open", err);
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
    return rc ? lmdb_error(v, rc, "open", err) : 0;
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
    return rc ? lmdb_error(v, rc, "open a table of", err) : 0;
}

static int fill_new(struct view *v, const struct view_meta *meta, bool sync, struct err *err)
{
    int r = env_open(v, MDB_NOLOCK | (sync ? 0 : MDB_NOSYNC), err);
    if (r < 0)
        return r;
    MDB_txn *txn;
    int rc = mdb_txn_begin(v->env, NULL, 0, &txn);
    if (rc)
        return lmdb_error(v, rc, "write", err);
    r = open_tables(v, txn, MDB_CREATE, err);
    rc = r ? 0 : meta_put(v, txn, meta);
    if (r < 0 || rc) {
        mdb_txn_abort(txn);
        return r < 0 ? r : lmdb_error(v, rc, "write", err);
    }
    rc = mdb_txn_commit(txn);
    return rc ? lmdb_error(v, rc, "write", err) : 0;
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

static void count_bytes(struct view *v)
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
        return lmdb_error(v, rc, "read", err);
    r = open_tables(v, txn, 0, err);
    struct view_meta meta;
    if (r == 0)
        r = meta_get(v, txn, &meta, err);
    rc = mdb_txn_commit(txn); /* keeps the tables' handles */
    count_bytes(v);
    return r == 0 && rc ? lmdb_error(v, rc, "read", err) : r;
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

static struct view_reader *enter(struct view *v)
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

static void leave(struct view *v, struct view_reader *r)
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
            r = lmdb_error(v, rc, "grow", err);
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

/* ---- Reading ---- */

static int reader_new(struct view *v, struct view_reader **ret, struct err *err)
{
    struct view_reader *r = mem_new(struct view_reader);
    r->v = v;
    int rc = mdb_txn_begin(v->env, NULL, MDB_RDONLY, &r->txn);
    if (!rc)
        rc = mdb_cursor_open(r->txn, v->cur, &r->cur);
    if (!rc)
        rc = mdb_cursor_open(r->txn, v->old, &r->old);
    if (rc) {
        if (r->cur)
            mdb_cursor_close(r->cur);
        if (r->txn)
            mdb_txn_abort(r->txn);
        free(r);
        return lmdb_error(v, rc, "read", err);
    }
    *ret = r;
    return 0;
}

static int reader_renew(struct view_reader *r, struct err *err)
{
    int rc = mdb_txn_renew(r->txn);
    if (rc)
        return lmdb_error(r->v, rc, "read", err);
    rc = mdb_cursor_renew(r->txn, r->cur);
    if (!rc)
        rc = mdb_cursor_renew(r->txn, r->old);
    if (!rc)
        return 0;
    mdb_txn_reset(r->txn);
    return lmdb_error(r->v, rc, "read", err);
}

int view_reader_begin(struct view *v, struct view_reader **ret, struct err *err)
{
    struct view_reader *reader = enter(v);
    if (!v->env) {
        leave(v, NULL);
        return err_set(err, ERR_IO, "%s could not be opened again", v->path);
    }
    int r = reader ? reader_renew(reader, err) : reader_new(v, &reader, err);
    if (r < 0) {
        leave(v, reader);
        return r;
    }
    size_t id = mdb_txn_id(reader->txn);
    if (id != reader->txn_id) {
        r = meta_get(v, reader->txn, &reader->meta, err);
        if (r < 0) {
            view_reader_end(reader);
            return r;
        }
        reader->txn_id = id;
    }
    *ret = reader;
    return 0;
}

struct view_reader *view_reader_end(struct view_reader *r)
{
    if (r) {
        mdb_txn_reset(r->txn);
        leave(r->v, r);
    }
    return NULL;
}

const struct view_meta *view_reader_meta(const struct view_reader *r)
{
    return &r->meta;
}

int view_get(struct view_reader *r, struct str key, struct view_entry *ret, struct err *err)
{
    MDB_val k = val_of(key), data;
    int rc = mdb_get(r->txn, r->v->cur, &k, &data);
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return lmdb_error(r->v, rc, "read", err);
    return entry_decode(r->v, k, data, ret, err);
}

int view_get_old(struct view_reader *r, uint64_t super_rev, struct str key, struct view_entry *ret,
                 struct err *err)
{
    char text[OLD_KEY_BYTES];
    MDB_val k = old_key(text, super_rev, key), data;
    int rc = mdb_get(r->txn, r->v->old, &k, &data);
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return lmdb_error(r->v, rc, "read", err);
    int res = old_decode(r->v, k, data, ret, err);
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
        return lmdb_error(r->v, rc, "read", err);
    return entry_decode(r->v, k, data, ret, err);
}

static int step_old(struct view_reader *r, MDB_val k, MDB_cursor_op op, struct view_entry *ret,
                    struct err *err)
{
    MDB_val data;
    int rc = mdb_cursor_get(r->old, &k, &data, op);
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return lmdb_error(r->v, rc, "read", err);
    return old_decode(r->v, k, data, ret, err);
}

int view_seek(struct view_reader *r, struct str key, struct view_entry *ret, struct err *err)
{
    return step(r, val_of(key), key.n ? MDB_SET_RANGE : MDB_FIRST, ret, err);
}

int view_next(struct view_reader *r, struct view_entry *ret, struct err *err)
{
    return step(r, (MDB_val){ 0 }, MDB_NEXT, ret, err);
}

int view_seek_old(struct view_reader *r, uint64_t super_rev, struct view_entry *ret,
                  struct err *err)
{
    char text[OLD_KEY_BYTES];
    return step_old(r, old_key(text, super_rev, STR("")), MDB_SET_RANGE, ret, err);
}

int view_next_old(struct view_reader *r, struct view_entry *ret, struct err *err)
{
    return step_old(r, (MDB_val){ 0 }, MDB_NEXT, ret, err);
}

/* ---- Writing ---- */

static int write_error(struct view_write *w, int rc, struct err *err)
{
    if (rc == MDB_MAP_FULL)
        w->v->is_full = true;
    if (rc == MDB_PANIC)
        w->v->is_panic = true;
    return lmdb_error(w->v, rc, "write", err);
}

int view_write_begin(struct view *v, uint64_t room, struct view_write **ret, struct err *err)
{
    int r = v->is_panic ? reopen(v, err) : 0;
    if (r == 0)
        r = grow_map(v, v->is_full ? v->map_bytes + 1 : view_bytes(v) + room, err);
    if (r < 0)
        return r;
    v->is_full = false;
    struct view_write *w = mem_new(struct view_write);
    w->v = v;
    int rc = mdb_txn_begin(v->env, NULL, 0, &w->txn);
    if (!rc)
        rc = mdb_cursor_open(w->txn, v->cur, &w->cur);
    if (!rc)
        rc = mdb_cursor_open(w->txn, v->old, &w->old);
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

int view_write_get(struct view_write *w, struct str key, struct view_entry *ret, struct err *err)
{
    MDB_val k = val_of(key), data;
    int rc = mdb_get(w->txn, w->v->cur, &k, &data);
    if (rc == MDB_NOTFOUND)
        return 0;
    return rc ? write_error(w, rc, err) : entry_decode(w->v, k, data, ret, err);
}

int view_write_put(struct view_write *w, const struct view_entry *e, struct err *err)
{
    MDB_val k = val_of(e->key), data = entry_encode(&w->scratch, e);
    int rc = mdb_cursor_put(w->cur, &k, &data, 0);
    return rc ? write_error(w, rc, err) : 0;
}

int view_write_delete(struct view_write *w, struct str key, struct err *err)
{
    MDB_val k = val_of(key);
    int rc = mdb_del(w->txn, w->v->cur, &k, NULL);
    return rc && rc != MDB_NOTFOUND ? write_error(w, rc, err) : 0;
}

int view_write_old(struct view_write *w, const struct view_entry *e, struct err *err)
{
    char text[OLD_KEY_BYTES];
    MDB_val k = old_key(text, e->super_rev, e->key), data = entry_encode(&w->scratch, e);
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
        int r = rc ? write_error(w, rc, err) : old_decode(w->v, k, data, &e, err);
        if (r < 0 || e.super_rev > floor)
            return r < 0 ? r : 0;
        rc = mdb_cursor_del(w->old, 0);
        if (rc)
            return write_error(w, rc, err);
    }
}

static void write_free(struct view_write *w)
{
    buf_done(&w->scratch);
    free(w);
}

int view_write_commit(struct view_write *w, const struct view_meta *meta, struct err *err)
{
    int rc = meta_put(w->v, w->txn, meta);
    if (!rc)
        rc = FAILPOINT("view-commit");
    if (!rc && FAILPOINT("view-panic"))
        rc = MDB_PANIC;
    if (rc) {
        int r = write_error(w, rc, err);
        view_write_abort(w);
        return r;
    }
    rc = mdb_txn_commit(w->txn);
    int r = rc ? write_error(w, rc, err) : 0;
    if (r == 0)
        count_bytes(w->v);
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

int view_copy(struct view *v, int fd, struct err *err)
{
    struct view_reader *reader; /* keeps the map in its place while LMDB reads by itself */
    int r = view_reader_begin(v, &reader, err);
    if (r < 0)
        return r;
    int rc = mdb_env_copyfd2(v->env, fd, MDB_CP_COMPACT);
    view_reader_end(reader);
    return rc ? lmdb_error(v, rc, "copy", err) : 0;
}
