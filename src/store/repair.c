/* repair.c - a damaged store becomes one that can be used, without what cannot be read.
 *
 * A log that a start refuses is read up to the first place that cannot be; what is good of it goes
 * into the view, and a new log begins far above, as after a restore: what comes behind that place
 * was acknowledged once. Then the store is opened as always, each damaged object is deleted, and
 * the history is dropped, because it still has the damaged bytes. What is taken away is moved or
 * written to a folder beside: somebody may know how to read it. */
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/banned.h"

enum { PATH_BYTES = 4096, FOLDERS_MAX = 10000 };

struct repair {
    const char *dir;
    const struct store_skip *told;
    char *aside; /* the folder for what is taken out; NULL until there is something */
    size_t n_objects;
};

static char *join(const char *dir, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        mem_exhausted(strlen(dir));
    return path;
}

static int make_aside(struct repair *rp, struct err *err)
{
    for (int i = 1; !rp->aside && i < FOLDERS_MAX; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "damaged.%d", i);
        autofree char *path = join(rp->dir, name);
        if (mkdir(path, 0700) == 0)
            rp->aside = take(&path);
        else if (errno != EEXIST)
            return err_errno(err, errno, "make %s", path);
    }
    return rp->aside ? 0 : err_set(err, ERR_EXISTS, "%s/damaged.* are too many", rp->dir);
}

/* ---- The log ---- */

static void on_record(const struct record *rec, void *arg)
{
    (void)store__replay_record(arg, rec);
}

/* The good part of the log into `t`. */
static int read_good_part(const char *log_dir, const struct view_meta *meta, struct memtable *t,
                          uint64_t *ret_last_rev, struct err *err)
{
    struct wal wal;
    wal_init(&wal, &(struct wal_options){ &medium_disk, log_dir, meta->store_id,
                                          STORE_HISTORY_BYTES, STORE_HISTORY_NS });
    struct wal_replay replay = { .applied_rev = meta->rev, .on_record = on_record, .arg = t };
    int r = wal_salvage(&wal, &replay, err);
    wal_done(&wal);
    if (r < 0)
        return r;
    *ret_last_rev = replay.last_rev;
    return 0;
}

/* By way of `t`, into the view; then it ends where the log's good part ends. */
static int move_good_part(struct view *v, const char *log_dir, struct memtable *t,
                          struct view_meta *meta, uint64_t *ret_last_rev, struct err *err)
{
    int r = read_good_part(log_dir, meta, t, ret_last_rev, err);
    if (r < 0)
        return r;
    memtable_seal(t, *ret_last_rev);
    meta->keys = store__keys_after(t, meta->keys);
    r = store__bumped(*ret_last_rev, STORE_BUMP_AUTO, &meta->rev, err);
    if (r < 0)
        return r;
    r = store__new_id(&meta->store_id, err);
    if (r < 0)
        return r;
    meta->floor = meta->rev;
    return store__write_view(v, memtable_is_empty(t) ? NULL : t, meta, err);
}

static int take_good_part(struct repair *rp, struct view *v, const char *log_dir,
                          struct view_meta *meta, struct err *err)
{
    uint64_t last_rev = 0;
    struct memtable *t = memtable_new(meta->rev);
    int r = move_good_part(v, log_dir, t, meta, &last_rev, err);
    memtable_unref(t);
    if (r < 0)
        return r;
    char what[96];
    (void)snprintf(what, sizeof(what), "nothing behind revision %" PRIu64 " could be read",
                   last_rev);
    rp->told->on_damaged(rp->told->arg, STR("the log"), str_of(what));
    return 0;
}

static int replace_log(struct repair *rp, struct view *v, struct err *err)
{
    struct view_reader *reader;
    int r = view_reader_begin(v, &reader, err);
    if (r < 0)
        return r;
    struct view_meta meta = *view_reader_meta(reader);
    view_reader_end(reader);
    autofree char *log_dir = join(rp->dir, "log");
    r = make_aside(rp, err);
    if (r < 0)
        return r;
    r = take_good_part(rp, v, log_dir, &meta, err);
    if (r < 0)
        return r;
    autofree char *aside = join(rp->aside, "log");
    if (rename(log_dir, aside) < 0 && errno != ENOENT)
        return err_errno(err, errno, "rename %s", log_dir);
    r = store__make_log(rp->dir, &meta, err);
    if (r < 0)
        return r;
    return file_sync_dir(rp->dir, err);
}

static int repair_log(struct repair *rp, struct err *err)
{
    char path[PATH_BYTES];
    int r = store__view_path(path, sizeof(path), rp->dir, err);
    if (r < 0)
        return r;
    autoclose int lock = store__lock_dir(rp->dir, err);
    if (lock < 0)
        return lock;
    struct view *v;
    r = view_open(&(struct view_options){ .path = path }, &v, err);
    if (r < 0)
        return r;
    r = replace_log(rp, v, err);
    view_close(v);
    return r;
}

/* ---- Objects ---- */

/* DIR/damaged.N/K has what is left of an object: its key, a newline, its bytes. */
static int set_aside(struct repair *rp, const struct store_entry *e, struct err *err)
{
    int r = make_aside(rp, err);
    if (r < 0)
        return r;
    char name[32];
    (void)snprintf(name, sizeof(name), "%zu", ++rp->n_objects);
    autofree char *path = join(rp->aside, name);
    autobuf bytes = { 0 };
    buf_str_add(&bytes, e->key);
    buf_byte(&bytes, '\n');
    buf_str_add(&bytes, e->value);
    return file_write_atomic(path, buf_str(&bytes), 0600, FILE_DURABLE, err);
}

static int remove_object(struct repair *rp, struct store *s, const struct store_entry *e,
                         struct str what, struct err *err)
{
    struct store_op op = { .type = STORE_DELETE, .key = e->key, .expect_rev = STORE_ANY };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    int r = set_aside(rp, e, err);
    if (r < 0)
        return r;
    r = store_commit(s, &t, err);
    if (r < 0)
        return r;
    rp->told->on_damaged(rp->told->arg, e->key, what);
    return 0;
}

static int remove_damaged(struct repair *rp, struct store *s, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e = { 0 };
    int r = store_snap_begin(s, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, STR(""), STR(""));
    do {
        e.key = STR("");
        r = store_range_next(snap, &e, err);
        if (r == -ERR_DAMAGED && e.key.n) {
            struct str what = err->msg;
            err_clear(err);
            r = remove_object(rp, s, &e, what, err) < 0 ? -(int)err->code : 1;
        }
    } while (r > 0);
    store_snap_end(snap);
    return r;
}

static int repair_objects(struct repair *rp, struct store *s, struct err *err)
{
    int r = remove_damaged(rp, s, err);
    if (r < 0)
        return r;
    return store_compact(s, store_rev(s), err);
}

static int open_repaired(struct repair *rp, struct store **ret, struct err *err)
{
    struct store_options opt = { .engine = STORE_LMDB, .dir = rp->dir };
    int r = store_open(&opt, ret, err);
    if (r != -ERR_DAMAGED)
        return r;
    err_clear(err);
    r = repair_log(rp, err);
    if (r < 0)
        return r;
    return store_open(&opt, ret, err);
}

static int repair_all(struct repair *rp, struct err *err)
{
    struct store *s;
    int r = open_repaired(rp, &s, err);
    if (r < 0)
        return r;
    r = repair_objects(rp, s, err);
    store_close(s);
    return r;
}

int store_repair(const char *dir, const struct store_skip *told, struct err *err)
{
    struct repair rp = { .dir = dir, .told = told };
    int r = repair_all(&rp, err);
    free(rp.aside);
    return r;
}
