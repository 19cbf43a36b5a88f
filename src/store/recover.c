/* recover.c - from a folder to a running state. The page in README.md explains it. */
#include "base/idiom.h"
#include "store/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/failpoint.h"

#include "base/banned.h"

/* An empty store has revision 1, so that 0 can mean "absent". */
enum { FIRST_REV = 1, PATH_BYTES = 4096 };

int store__new_id(uint64_t *ret, struct err *err)
{
    if (getrandom(ret, sizeof(*ret), 0) != sizeof(*ret))
        return err_errno(err, errno, "random numbers");
    return 0;
}

int store__view_path(char *ret, size_t n, const char *dir, struct err *err)
{
    int len = snprintf(ret, n, "%s/view.mdb", dir);
    if (len < 0 || (size_t)len + 16 > n)
        return err_set(err, ERR_INVALID, "the path %s is too long", dir);
    return 0;
}

static int make_view(const char *path, bool sync, struct err *err)
{
    struct view_meta meta = { .rev = FIRST_REV, .floor = FIRST_REV };
    int r = store__new_id(&meta.store_id, err);
    if (r < 0)
        return r;
    return view_create(path, &meta, sync, err);
}

static int read_meta(struct store *s, struct err *err)
{
    struct view_reader *reader;
    int r = view_reader_begin(s->view, &reader, err);
    if (r < 0)
        return r;
    s->view_meta = *view_reader_meta(reader);
    view_reader_end(reader);
    s->floor = s->view_meta.floor;
    s->keys = s->view_meta.keys;
    return 0;
}

static int open_view_on_disk(struct store *s, struct err *err)
{
    char path[PATH_BYTES];
    int r = store__view_path(path, sizeof(path), s->dir, err);
    if (r < 0)
        return r;
    if (access(path, F_OK) < 0) {
        /* The view is made before the first segment: without it there can be no log. */
        if (wal_exists(s->log_dir))
            return err_set(err, ERR_DAMAGED, "%s is missing, but there is a log", path);
        r = make_view(path, true, err);
        if (r < 0)
            return r;
        r = file_sync_dir(s->dir, err);
        if (r < 0)
            return r;
    }
    return view_open(&(struct view_options){ .path = path }, &s->view, err);
}

static int open_volatile(struct store *s, const char *path, struct err *err)
{
    int r = make_view(path, false, err);
    if (r < 0)
        return r;
    return view_open(&(struct view_options){ .path = path, .is_volatile = true }, &s->view, err);
}

/* Containers often have a small /dev/shm. */
static bool has_room(const char *place)
{
    enum { ROOM = 256 << 20 };
    struct statvfs st;
    return statvfs(place, &st) == 0 && (uint64_t)st.f_bavail * st.f_frsize >= ROOM;
}

/* A file of no name: LMDB wants a path to open, and its lock file beside it. */
static int open_view_in_memory(struct store *s, struct err *err)
{
    static const char *const places[] = { "/dev/shm", "/tmp" };
    char dir[64], path[96];
    for (size_t i = 0; i < 2 * ARRAY_LEN(places); i++) {
        const char *place = places[i % ARRAY_LEN(places)];
        (void)snprintf(dir, sizeof(dir), "%s/sampan-XXXXXX", place);
        if ((i < ARRAY_LEN(places) && !has_room(place)) || !mkdtemp(dir))
            continue;
        (void)snprintf(path, sizeof(path), "%s/view.mdb", dir);
        int r = open_volatile(s, path, err);
        (void)unlink(path);
        (void)rmdir(dir);
        return r;
    }
    return err_errno(err, errno, "make a folder in /dev/shm or /tmp");
}

struct replay {
    struct store *s;
    struct memtable *table;
};

int64_t store__replay_record(struct memtable *t, const struct record *rec)
{
    struct str ops = rec->ops;
    struct record_op op;
    int64_t keys = 0;
    while (record_op_next(&ops, &op)) {
        memtable_add(t, &(struct memtable_change){ op.type, rec->rev, op.create_rev, op.prev_rev,
                                                   op.key, op.value });
        keys += op.type == STORE_DELETE ? -1 : op.prev_rev == 0;
    }
    return keys;
}

static void on_record(const struct record *rec, void *arg)
{
    struct replay *rp = arg;
    rp->s->keys += (uint64_t)store__replay_record(rp->table, rec);
}

static int open_log(struct store *s, struct memtable *table, struct err *err)
{
    const struct view_meta *meta = &s->view_meta;
    struct replay rp = { s, table };
    struct wal_replay replay = {
        .applied_rev = meta->rev,
        .floor = meta->floor,
        .is_new = meta->rev == FIRST_REV,
        .on_record = on_record,
        .arg = &rp,
        .last_rev = meta->rev,
    };
    int r = s->medium->durable ? wal_open(&s->wal, &replay, err) : 0;
    if (r < 0)
        return r;
    (void)FAILPOINT("recover-replayed");
    s->rev = replay.last_rev;
    if (s->wal.n_segments == 0)
        return wal_create(&s->wal, replay.last_rev + 1, clock_wall_ns(s->clock), err);
    return wal_drop(&s->wal, meta->floor, err); /* what a crash kept from being removed */
}

int store__recover(struct store *s, const struct store_options *opt, struct err *err)
{
    int r = opt->engine == STORE_LMDB ? open_view_on_disk(s, err) : open_view_in_memory(s, err);
    if (r < 0)
        return r;
    r = s->source ? store__fill(s, err) : 0;
    if (r < 0)
        return r;
    r = read_meta(s, err);
    if (r < 0)
        return r;
    wal_init(&s->wal,
             &(struct wal_options){ s->medium, s->log_dir, s->view_meta.store_id, s->history_bytes,
                                    s->history_ns, .has_gaps = s->source != NULL });
    s->wal.may_touch = store__look_at_folder;
    s->wal.may_touch_arg = s;
    struct memtable *table = memtable_new(s->view_meta.rev);
    r = open_log(s, table, err);
    if (r == 0)
        s->layers = store__layers_new(table, NULL);
    memtable_unref(table);
    return r;
}
