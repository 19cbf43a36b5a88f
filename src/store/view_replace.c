/* view_replace.c - a new file in the view's place, under readers that stay with the old one.
 *
 * A compact copy is made beside the file, synced, opened, and given the file's name; what was
 * committed is in both, so a crash at any step finds a whole view under that name. That is how the
 * view gets a larger map, how it goes on after LMDB has given up, and how it becomes small again.
 * Nothing here waits for a reader. Thread: the writer. */
#include "base/idiom.h"
#include "store/view_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/failpoint.h"
#include "store/mdbcheck.h"

#include "base/banned.h"

enum {
    LOOSE_BYTES = 4 << 20,   /* a smaller file is not worth a copy */
    REFRESH_BYTES = 1 << 20, /* nor are the copies of fewer pages than these */
};

static int sync_name(struct view *v, struct err *err)
{
    autofree char *path = mem_dup(v->path, strlen(v->path) + 1);
    int r = file_sync_dir(dirname(path), err);
    v->is_unsynced = r < 0;
    return r;
}

static int copy_to(struct view *v, int fd)
{
    int rc = mdb_env_copyfd2(v->gen->env, fd, MDB_CP_COMPACT);
    if (rc)
        return rc;
    rc = FAILPOINT("replace-copy");
    if (rc)
        return rc;
    return fsync(fd) < 0 ? errno : 0;
}

static int write_copy(struct view *v, const char *path, struct err *err)
{
    (void)unlink(path);
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "make %s", path);
    int rc = copy_to(v, fd);
    return rc ? view__error(v, rc, "copy", err) : mdbcheck_file(path, err);
}

static int take_place(struct view *v, const char *path, struct err *err)
{
    struct view_gen *gen;
    int r = write_copy(v, path, err);
    if (r < 0)
        return r;
    (void)FAILPOINT("replace-copied");
    r = view__gen_open(v, path, 0, &gen, err);
    if (r < 0)
        return r;
    v->names++;
    if (rename(path, v->path) < 0) {
        v->names++;
        view__gen_free(gen);
        return err_errno(err, errno, "rename %s", path);
    }
    (void)FAILPOINT("replace-named");
    v->is_panic = false;
    v->is_unsynced = true;
    view__gen_set(v, gen);
    v->names++;
    r = sync_name(v, err);
    (void)FAILPOINT("replace-done");
    return r;
}

int view_replace(struct view *v, struct err *err)
{
    if (v->is_volatile)
        return err_set(err, ERR_IO, "the view in memory cannot be replaced");
    autofree char *path = NULL;
    if (asprintf(&path, "%s" VIEW_NEXT, v->path) < 0)
        mem_exhausted(strlen(v->path));
    int r = take_place(v, path, err);
    if (r < 0)
        (void)unlink(path);
    return r;
}

/* LMDB gives an environment up when it could not write a meta page. The file is sound: at worst it
 * is that of the transaction before. Nobody writes to it any more, so it can be read without
 * locks. */
void view__save_readers(struct view *v)
{
    struct view_gen *gen;
    if (v->is_volatile || mdbcheck_file(v->path, NULL) < 0 ||
        view__gen_open(v, v->path, MDB_RDONLY | MDB_NOLOCK, &gen, NULL) < 0)
        return;
    view__gen_set(v, gen);
}

static int grow(struct view *v, uint64_t need, struct err *err)
{
    size_t map = v->map_bytes;
    while (map < need)
        if (__builtin_mul_overflow(map, 2, &map))
            return err_set(err, ERR_NO_SPACE, "%s fills the address space", v->path);
    if (map == v->map_bytes)
        return 0;
    v->map_bytes = map;
    return view_replace(v, err);
}

int view__make_room(struct view *v, uint64_t room, struct err *err)
{
    int r = v->is_unsynced ? sync_name(v, err) : 0;
    if (v->is_panic && !v->gen->is_read_only)
        view__save_readers(v); /* also if the name could not be synced */
    if (r < 0)
        return r;
    if (v->is_panic) {
        r = view_replace(v, err);
        if (r < 0)
            return r;
    }
    r = grow(v, v->is_full ? v->map_bytes + 1 : view_bytes(v) + room, err);
    if (r < 0)
        return r;
    v->is_full = false;
    return 0;
}

/* ---- Keeping it small ---- */

/* Its tables and LMDB's own two. */
static int sum_pages(const struct view_reader *reader, uint64_t *ret)
{
    const struct view_gen *g = reader->gen;
    const MDB_dbi dbis[] = { 0, 1, g->cur, g->old, g->meta };
    uint64_t used = 0;
    for (size_t i = 0; i < ARRAY_LEN(dbis); i++) {
        MDB_stat st = { 0 };
        int rc = mdb_stat(reader->txn, dbis[i], &st);
        if (rc)
            return rc;
        used += (st.ms_branch_pages + st.ms_leaf_pages + st.ms_overflow_pages) * st.ms_psize;
    }
    *ret = used;
    return 0;
}

/* How many bytes of the file are in use. */
static int used_bytes(struct view *v, uint64_t *ret, struct err *err)
{
    struct view_reader *reader;
    int r = view_reader_begin(v, &reader, err);
    if (r < 0)
        return r;
    int rc = sum_pages(reader, ret);
    view_reader_end(reader);
    return rc ? view__error(v, rc, "read", err) : 0;
}

int view_shrink(struct view *v, struct err *err)
{
    uint64_t used = 0;
    if (v->is_volatile || v->is_panic || view_bytes(v) < LOOSE_BYTES)
        return 0;
    int r = used_bytes(v, &used, err);
    if (r < 0 || used > view_bytes(v) / 2)
        return r;
    r = view_replace(v, err);
    return r < 0 ? r : 1;
}

void view_refresh(struct view *v)
{
    struct view_gen *gen;
    if (v->is_volatile || v->is_panic || v->written_bytes < REFRESH_BYTES ||
        view__gen_open(v, v->path, 0, &gen, NULL) < 0)
        return;
    (void)view__gen_set_if_unread(v, gen);
}

/* How much of all files that are mapped the kernel counts as this process's memory. */
static uint64_t mapped_bytes(void)
{
    autobuf text = { 0 };
    uint64_t pages = 0;
    if (file_read("/proc/self/statm", 4096, &text, NULL) < 0)
        return UINT64_MAX;
    struct str rest = buf_str(&text);
    (void)str_cut(&rest, ' ');
    (void)str_cut(&rest, ' ');
    (void)str_to_u64(str_cut(&rest, ' '), &pages);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void view_let_go(struct view *v, uint64_t above)
{
    if (v->gen->base && mapped_bytes() > above)
        (void)madvise(v->gen->base, view_bytes(v), MADV_DONTNEED);
}
