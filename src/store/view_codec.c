/* view_codec.c - what the view's bytes mean, and LMDB's codes in words. */
#include "store/view_impl.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <sys/statvfs.h>

#include "base/crc32c.h"
#include "base/banned.h"

/* ---- Words for LMDB's codes ---- */

/* LMDB calls a write that fell short an I/O error; with a full disk that is not what it was. */
static bool is_disk_full(const char *path)
{
    enum { NEXT_TO_NOTHING = 64 << 10 };
    struct statvfs st;
    return statvfs(path, &st) == 0 && (uint64_t)st.f_bavail * st.f_frsize < NEXT_TO_NOTHING;
}

int view__error(const struct view *v, int rc, const char *what, struct err *err)
{
    if (rc == EIO && is_disk_full(v->path))
        rc = ENOSPC;
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

uint32_t view_entry_sum(const struct view_entry *e)
{
    char head[16];
    put64(head, e->create_rev);
    put64(head + 8, e->mod_rev);
    uint32_t crc = crc32c(0, head, sizeof(head));
    crc = crc32c(crc, e->key.p, e->key.n);
    return crc32c(crc, e->value.p, e->value.n);
}

MDB_val view__entry_encode(struct buf *b, const struct view_entry *e)
{
    char head[ENTRY_BYTES];
    put64(head, e->create_rev);
    put64(head + 8, e->mod_rev);
    uint32_t crc = htole32(e->crc);
    memcpy(head + 16, &crc, sizeof(crc));
    buf_reset(b);
    buf_add(b, head, sizeof(head));
    buf_str_add(b, e->value);
    return (MDB_val){ b->n, b->p };
}

void view__entry_decode(MDB_val key, MDB_val data, struct view_entry *ret)
{
    const char *p = data.mv_data;
    *ret = (struct view_entry){ .key = { key.mv_data, key.mv_size } };
    if (data.mv_size < ENTRY_BYTES) {
        ret->value = (struct str){ p, data.mv_size };
        ret->crc = ~view_entry_sum(ret);
        return;
    }
    ret->value = (struct str){ p + ENTRY_BYTES, data.mv_size - ENTRY_BYTES };
    ret->create_rev = get64(p);
    ret->mod_rev = get64(p + 8);
    memcpy(&ret->crc, p + 16, sizeof(ret->crc));
    ret->crc = le32toh(ret->crc);
}

/* Whoever reads need not know the folder. */
static const char *file_name(const struct view *v)
{
    const char *slash = strrchr(v->path, '/');
    return slash ? slash + 1 : v->path;
}

int view__old_decode(const struct view *v, MDB_val key, MDB_val data, struct view_entry *ret,
                     struct err *err)
{
    if (key.mv_size <= 8)
        return err_set(err, ERR_DAMAGED, "%s: a key of the history is too short", file_name(v));
    uint64_t super_rev;
    memcpy(&super_rev, key.mv_data, sizeof(super_rev));
    MDB_val plain = { key.mv_size - 8, (char *)key.mv_data + 8 };
    view__entry_decode(plain, data, ret);
    ret->super_rev = be64toh(super_rev);
    return 1;
}

MDB_val view__old_key(char text[static VIEW__OLD_KEY_BYTES], uint64_t super_rev, struct str key)
{
    assert(key.n <= LIMIT_STORE_KEY_BYTES);
    super_rev = htobe64(super_rev);
    memcpy(text, &super_rev, sizeof(super_rev));
    if (key.n)
        memcpy(text + 8, key.p, key.n);
    return (MDB_val){ 8 + key.n, text };
}

MDB_val view__val(struct str s)
{
    return (MDB_val){ s.n, (void *)(uintptr_t)s.p };
}

int view_entry_check(struct view *v, const struct view_entry *e, struct err *err)
{
    if (view_entry_sum(e) == e->crc)
        return 0;
    return err_set(err, ERR_DAMAGED, "%s: the value of key \"" STR_FMT "\" is damaged",
                   file_name(v), STR_ARG(e->key));
}

/* ---- The row that says how far the file goes ---- */

enum { META_BYTES = 44 };
static const char meta_name[] = "state";

int view__meta_put(MDB_txn *txn, MDB_dbi dbi, const struct view_meta *m)
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
    return mdb_put(txn, dbi, &key, &data, 0);
}

int view__meta_get(const struct view_gen *g, MDB_txn *txn, struct view_meta *ret, struct err *err)
{
    const struct view *v = g->v;
    MDB_val key = { sizeof(meta_name) - 1, (void *)(uintptr_t)meta_name }, data;
    int rc = mdb_get(txn, g->meta, &key, &data);
    if (rc)
        return view__error(v, rc, "read the state row of", err);
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
