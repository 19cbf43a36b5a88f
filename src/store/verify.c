/* verify.c - reads every byte of a store that is not open. */
#include "store/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

enum { PATH_BYTES = 4096 };

static int bad_entry(const struct view_entry *e, const char *what, struct err *err)
{
    return err_set(err, ERR_DAMAGED,
                   "the entry of key \"" STR_FMT "\" %s (%" PRIu64 ", %" PRIu64 ")",
                   STR_ARG(e->key), what, e->create_rev, e->mod_rev);
}

static int check_entry(struct view *v, const struct view_entry *e, uint64_t newest, struct err *err)
{
    if (e->create_rev == 0 || e->create_rev > e->mod_rev || e->mod_rev > newest)
        return bad_entry(e, "has impossible revisions", err);
    return view_entry_check(v, e, err);
}

static int check_cur(struct view *v, struct view_reader *reader, struct err *err)
{
    const struct view_meta *meta = view_reader_meta(reader);
    struct view_entry e;
    uint64_t n = 0;
    int r = view_seek(reader, STR(""), &e, err);
    for (; r > 0; r = view_next(reader, &e, err), n++)
        if (check_entry(v, &e, meta->rev, err) < 0)
            return -ERR_DAMAGED;
    if (r == 0 && n != meta->keys)
        return err_set(err, ERR_DAMAGED, "the view has %" PRIu64 " keys and should have %" PRIu64,
                       n, meta->keys);
    return r;
}

static int check_old(struct view *v, struct view_reader *reader, struct err *err)
{
    const struct view_meta *meta = view_reader_meta(reader);
    struct view_entry e;
    int r = view_seek_old(reader, 0, &e, err);
    for (; r > 0; r = view_next_old(reader, &e, err)) {
        if (e.super_rev <= meta->floor || e.super_rev > meta->rev || e.mod_rev >= e.super_rev)
            return bad_entry(&e, "does not belong into the history", err);
        if (check_entry(v, &e, meta->rev, err) < 0)
            return -ERR_DAMAGED;
    }
    return r;
}

int store__check_view(struct view *v, struct view_meta *ret, struct err *err)
{
    struct view_reader *reader;
    int r = view_reader_begin(v, &reader, err);
    if (r < 0)
        return r;
    *ret = *view_reader_meta(reader);
    if (ret->floor > ret->rev)
        r = err_set(err, ERR_DAMAGED, "the view's floor is above its revision");
    if (r == 0)
        r = check_cur(v, reader, err);
    if (r == 0)
        r = check_old(v, reader, err);
    view_reader_end(reader);
    return r;
}

static void ignore_record(const struct record *rec, void *arg)
{
    (void)rec, (void)arg;
}

static int check_log(const char *dir, const struct view_meta *meta, struct err *err)
{
    autofree char *log_dir = NULL;
    if (asprintf(&log_dir, "%s/log", dir) < 0)
        mem_exhausted(strlen(dir));
    struct wal wal;
    wal_init(&wal, &(struct wal_options){ &medium_disk, log_dir, meta->store_id,
                                          STORE_HISTORY_BYTES, STORE_HISTORY_NS });
    struct wal_replay replay = {
        .applied_rev = meta->rev,
        .floor = meta->floor,
        .is_new = meta->rev == 1,
        .on_record = ignore_record,
    };
    int r = wal_check(&wal, &replay, err);
    wal_done(&wal);
    return r;
}

int store_verify(const char *dir, struct err *err)
{
    char path[PATH_BYTES];
    int r = store__view_path(path, sizeof(path), dir, err);
    if (r < 0)
        return r;
    autoclose int lock = store__lock_dir(dir, err);
    if (lock < 0)
        return lock;
    struct view *v;
    r = view_open(&(struct view_options){ .path = path }, &v, err);
    if (r < 0)
        return r;
    struct view_meta meta;
    r = store__check_view(v, &meta, err);
    view_close(v);
    if (r < 0)
        return err_wrap(err, "%s", path);
    return check_log(dir, &meta, err);
}
