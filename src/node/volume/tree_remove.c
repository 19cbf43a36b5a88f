#include "node/volume/tree_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "base/banned.h"

enum { DEPTH_MAX = 64, NAME_BYTES = 256, ROUNDS_MAX = 1000000 };

struct level {
    DIR *dir;
    char name[NAME_BYTES]; /* in the level above */
};

struct removal {
    struct level levels[DEPTH_MAX];
    size_t n;
    size_t n_moved; /* to the top, to be looked at there */
    int errnum;     /* of the first that stays; 0: none */
};

static void note(struct removal *r, int errnum)
{
    if (!r->errnum)
        r->errnum = errnum;
}

static int level_fd(const struct removal *r, size_t i)
{
    return dirfd(r->levels[i].dir);
}

/* Marks that keep even root from removing something. */
static void clear_marks(int folder, const char *name)
{
    int flags;
    autoclose int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0 ||
        !(flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)))
        return;
    flags &= ~(FS_IMMUTABLE_FL | FS_APPEND_FL);
    (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

static void unlink_one(struct removal *r, int folder, const char *name, int how)
{
    if (unlinkat(folder, name, how) == 0 || errno == ENOENT)
        return;
    if (errno == EPERM || errno == EACCES) {
        clear_marks(folder, ".");
        clear_marks(folder, name);
        if (unlinkat(folder, name, how) == 0)
            return;
    }
    note(r, errno);
}

static bool is_mount(int fd)
{
    struct statx st;
    return statx(fd, "", AT_EMPTY_PATH, 0, &st) < 0 ||
           (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* What lies too deep goes to the top under a name that nobody has. */
static void move_up(struct removal *r, int folder, const char *name)
{
    char moved[NAME_BYTES];
    for (int i = 0; i < 100; i++) {
        (void)snprintf(moved, sizeof(moved), "..deep.%zu.%d", r->n_moved, i);
        if (renameat2(folder, name, level_fd(r, 0), moved, RENAME_NOREPLACE) == 0) {
            r->n_moved++;
            return;
        }
        if (errno != EEXIST)
            break;
    }
    note(r, errno);
}

static void enter(struct removal *r, int folder, const char *name)
{
    if (r->n == DEPTH_MAX) {
        move_up(r, folder, name);
        return;
    }
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        note(r, errno);
        return;
    }
    if (is_mount(fd)) {
        note(r, EBUSY);
        (void)close(fd);
        return;
    }
    DIR *dir = fdopendir(fd);
    if (!dir) {
        note(r, errno);
        (void)close(fd);
        return;
    }
    struct level *level = &r->levels[r->n++];
    level->dir = dir;
    (void)snprintf(level->name, sizeof(level->name), "%s", name);
}

static void leave(struct removal *r)
{
    struct level *level = &r->levels[--r->n];
    (void)closedir(level->dir);
    unlink_one(r, level_fd(r, r->n - 1), level->name, AT_REMOVEDIR);
}

/* All below the first level, in one pass; folders that were moved up are left for another. */
static void pass(struct removal *r)
{
    while (r->n) {
        struct level *level = &r->levels[r->n - 1];
        const struct dirent *e = readdir(level->dir);
        if (!e) {
            if (r->n == 1)
                return;
            leave(r);
            continue;
        }
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct stat st;
        const int fd = dirfd(level->dir);
        if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
            enter(r, fd, e->d_name);
        else
            unlink_one(r, fd, e->d_name, 0);
    }
}

int tree_remove(const char *path, struct err *err)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_errno(err, errno, "look at %s", path);
    autofree struct removal *r = mem_zalloc(sizeof(*r));
    if (S_ISDIR(st.st_mode))
        enter(r, AT_FDCWD, path);
    size_t before = 0;
    for (int i = 0; r->n && i < ROUNDS_MAX; i++) {
        pass(r);
        if (r->n_moved == before)
            break;
        before = r->n_moved;
        r->errnum = 0; /* the folders above what was moved are tried again */
        rewinddir(r->levels[0].dir);
    }
    if (r->n)
        (void)closedir(r->levels[0].dir);
    if (!r->errnum)
        unlink_one(r, AT_FDCWD, path, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
    return r->errnum ? err_errno(err, r->errnum, "remove %s", path) : 0;
}

/* How many were unmounted; others may hide behind them. */
static int unmount_below(struct arena *a, struct str path, struct err *err)
{
    struct str *places;
    size_t n;
    int done = 0, errnum = 0;
    int r = mount_point_below(a, path, &places, &n, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (umount2(str_cstr(a, places[i]), MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
            done++;
        else
            errnum = errno;
    }
    return n && !done ? err_errno(err, errnum, "unmount " STR_FMT, STR_ARG(places[0])) : done;
}

int tree_unmount_and_remove(struct arena *a, struct str path, struct err *err)
{
    int r;
    autofree char *real = realpath(str_cstr(a, path), NULL); /* the kernel names no links */
    if (!real)
        return errno == ENOENT ? 0 : err_errno(err, errno, "look at " STR_FMT, STR_ARG(path));
    do {
        r = unmount_below(a, str_of(real), err);
        if (r < 0)
            return r;
    } while (r > 0);
    return tree_remove(real, err);
}
