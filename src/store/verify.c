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

int store__check_entry(struct view *v, const struct view_entry *e, uint64_t newest, struct err *err)
{
    if (e->create_rev == 0 || e->create_rev > e->mod_rev || e->mod_rev > newest)
        return bad_entry(e, "has impossible revisions", err);
    return view_entry_check(v, e, err);
}

/* What is found on the way: the first goes into `err`, each to `all`. */
struct check {
    struct view *v;
    struct view_reader *reader;
    const struct store_skip *all;
    struct arena arena; /* of one message */
    struct err *err;
    uint64_t n_found;
};

/* Goes on if somebody wants to hear of all. */
static int found(struct check *c, struct str key, const struct err *what)
{
    if (c->n_found++ == 0)
        (void)err_set(c->err, ERR_DAMAGED, STR_FMT, STR_ARG(what->msg));
    if (c->all)
        c->all->on_damaged(c->all->arg, key, what->msg);
    arena_reset(&c->arena);
    return c->all ? 0 : -ERR_DAMAGED;
}

static int check_cur(struct check *c)
{
    const struct view_meta *meta = view_reader_meta(c->reader);
    struct view_entry e;
    uint64_t n = 0;
    int r = view_seek(c->reader, STR(""), &e, c->err);
    while (r > 0) {
        struct err what = ERR_INIT(&c->arena);
        n++;
        if (store__check_entry(c->v, &e, meta->rev, &what) < 0 && found(c, e.key, &what) < 0)
            return -ERR_DAMAGED;
        r = view_next(c->reader, &e, c->err);
    }
    if (r < 0 || n == meta->keys)
        return r;
    struct err what = ERR_INIT(&c->arena);
    (void)err_set(&what, ERR_DAMAGED, "the view has %" PRIu64 " keys and should have %" PRIu64, n,
                  meta->keys);
    return found(c, STR("?"), &what);
}

static int check_old(struct check *c)
{
    const struct view_meta *meta = view_reader_meta(c->reader);
    struct view_entry e;
    int r = view_seek_old(c->reader, 0, &e, c->err);
    while (r > 0) {
        struct err what = ERR_INIT(&c->arena);
        bool fits =
            e.super_rev > meta->floor && e.super_rev <= meta->rev && e.mod_rev < e.super_rev;
        int is_good = fits ? store__check_entry(c->v, &e, meta->rev, &what)
                           : bad_entry(&e, "does not belong into the history", &what);
        if (is_good < 0)
            (void)err_wrap(&what, "a version that was replaced");
        if (is_good < 0 && found(c, e.key, &what) < 0)
            return -ERR_DAMAGED;
        r = view_next_old(c->reader, &e, c->err);
    }
    return r;
}

static int check_tables(struct check *c, const struct view_meta *meta)
{
    if (meta->floor > meta->rev)
        return err_set(c->err, ERR_DAMAGED, "the view's floor is above its revision");
    int r = check_cur(c);
    if (r < 0)
        return r;
    return check_old(c);
}

static int check_view(struct check *c, struct view_meta *ret)
{
    int r = view_reader_begin(c->v, &c->reader, c->err);
    if (r < 0)
        return r;
    *ret = *view_reader_meta(c->reader);
    r = check_tables(c, ret);
    view_reader_end(c->reader);
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

static int check_all(struct check *c, const char *dir)
{
    struct view_meta meta;
    struct err what = ERR_INIT(&c->arena);
    int r = check_view(c, &meta);
    if (r < 0)
        return r;
    r = check_log(dir, &meta, &what);
    if (r == -ERR_DAMAGED)
        r = found(c, STR("?"), &what);
    else if (r < 0)
        (void)err_set(c->err, (enum err_code) - r, STR_FMT, STR_ARG(what.msg));
    return r < 0 ? r : c->n_found ? -ERR_DAMAGED : 0;
}

int store_verify(const char *dir, const struct store_skip *all, struct err *err)
{
    char path[PATH_BYTES];
    int r = store__view_path(path, sizeof(path), dir, err);
    if (r < 0)
        return r;
    autoclose int lock = store__lock_dir(dir, err);
    if (lock < 0)
        return lock;
    struct check c = { .all = all, .err = err };
    r = view_open(&(struct view_options){ .path = path, .is_read_only = true }, &c.v, err);
    if (r < 0)
        return r;
    arena_init(&c.arena);
    r = check_all(&c, dir);
    arena_done(&c.arena);
    view_close(c.v);
    return r;
}
