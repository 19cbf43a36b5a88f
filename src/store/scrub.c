/* scrub.c - a store without the bytes of what was deleted or replaced.
 *
 * Compacting drops history, but its bytes stay: in the segment of the log that is in use, in free
 * pages of the view, and between the entries of pages that are not. So both are made anew in a
 * folder beside them and take their places, the view first. In between the log is older than the
 * view, as after any checkpoint, so a crash at any step finds a store that opens. */
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/banned.h"

static char *join(const char *dir, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        mem_exhausted(strlen(dir));
    return path;
}

/* Everything is in the view, and nothing but the objects as they are. */
static int drop_history(const char *dir, struct err *err)
{
    struct store *s;
    autofree char *view = join(dir, "view.mdb");
    if (access(view, F_OK) < 0)
        return err_errno(err, errno, "%s", view);
    int r = store_open(&(struct store_options){ .engine = STORE_LMDB, .dir = dir }, &s, err);
    if (r < 0)
        return r;
    r = store_compact(s, store_rev(s), err);
    store_close(s);
    return r;
}

static int copy_from(struct view *from, const char *to, struct view_meta *ret, struct err *err)
{
    struct view_reader *reader;
    int r = view_reader_begin(from, &reader, err);
    if (r < 0)
        return r;
    *ret = *view_reader_meta(reader);
    ret->floor = ret->rev;
    r = store__transfer(from, reader, to, ret, NULL, err);
    view_reader_end(reader);
    return r;
}

static int copy_view(const char *from_path, const char *to, struct view_meta *ret, struct err *err)
{
    struct view *from;
    int r =
        view_open(&(struct view_options){ .path = from_path, .is_read_only = true }, &from, err);
    if (r < 0)
        return r;
    r = copy_from(from, to, ret, err);
    view_close(from);
    return r;
}

static int take_places(const char *dir, const char *tmp, const char *view, const char *new_view,
                       struct err *err)
{
    autofree char *log = join(dir, "log"), *new_log = join(tmp, "log");
    if (rename(new_view, view) < 0)
        return err_errno(err, errno, "rename %s", new_view);
    int r = file_sync_dir(dir, err);
    if (r < 0)
        return r;
    if (renameat2(AT_FDCWD, new_log, AT_FDCWD, log, RENAME_EXCHANGE) < 0)
        return err_errno(err, errno, "rename %s", new_log);
    return file_sync_dir(dir, err);
}

static int scrub_by(const char *dir, const char *tmp, struct err *err)
{
    autofree char *view = join(dir, "view.mdb"), *new_view = join(tmp, "view.mdb");
    struct view_meta meta = { 0 };
    int r = file_private_dir(tmp, err);
    if (r < 0)
        return r;
    r = copy_view(view, new_view, &meta, err);
    if (r < 0)
        return r;
    r = store__make_log(tmp, &meta, err);
    if (r < 0)
        return r;
    r = file_sync_dir(tmp, err);
    if (r < 0)
        return r;
    return take_places(dir, tmp, view, new_view, err);
}

int store_scrub(const char *dir, struct err *err)
{
    autofree char *tmp = join(dir, "scrubbing");
    int r = drop_history(dir, err);
    if (r < 0)
        return r;
    autoclose int lock_fd = store__lock_dir(dir, err);
    if (lock_fd < 0)
        return lock_fd;
    store__remove_folder(tmp); /* what an earlier try left behind */
    r = scrub_by(dir, tmp, err);
    store__remove_folder(tmp); /* the old log is in it now */
    return r;
}
