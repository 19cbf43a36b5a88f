#include "store/medium.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "store/failpoint.h"

#include "base/banned.h"

enum { PATH_BYTES = 4096 };

static int join(char path[static PATH_BYTES], const char *dir, const char *name, struct err *err)
{
    int n = snprintf(path, PATH_BYTES, "%s/%s", dir, name);
    if (n < 0 || n >= PATH_BYTES)
        return err_set(err, ERR_INVALID, "the path %s is too long", dir);
    return 0;
}

static int segment_path(char path[static PATH_BYTES], const char *dir, uint64_t first_rev,
                        struct err *err)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "%020" PRIu64 ".log", first_rev);
    return join(path, dir, name, err);
}

const char *medium_path(struct arena *a, const char *dir, uint64_t first_rev)
{
    return str_cstr(a, arena_printf(a, "%s/%020" PRIu64 ".log", dir, first_rev));
}

static int disk_make(const char *dir, const char *tmp, struct err *err)
{
    char path[PATH_BYTES];
    int r = join(path, dir, tmp, err);
    if (r < 0)
        return r;
    int errnum = FAILPOINT("wal-make");
    (void)unlink(path); /* never open what somebody else may still be writing to */
    int fd = errnum ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errnum ? errnum : errno, "make %s", path);
    return fd;
}

static int disk_place(const char *dir, const char *tmp, uint64_t first_rev, struct err *err)
{
    char from[PATH_BYTES], to[PATH_BYTES];
    int r = join(from, dir, tmp, err);
    if (r < 0)
        return r;
    r = segment_path(to, dir, first_rev, err);
    if (r < 0)
        return r;
    if (rename(from, to) < 0)
        return err_errno(err, errno, "rename %s", from);
    (void)FAILPOINT("rotate-named");
    return file_sync_dir(dir, err);
}

static int disk_sync(int fd)
{
    int errnum = FAILPOINT("wal-sync");
    if (errnum)
        return errnum;
    return fdatasync(fd) < 0 ? errno : 0;
}

static int disk_drop(const char *dir, uint64_t first_rev, struct err *err)
{
    char path[PATH_BYTES];
    int r = segment_path(path, dir, first_rev, err);
    if (r < 0)
        return r;
    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(err, errno, "remove %s", path);
    return 0;
}

static int memory_make(const char *dir, const char *tmp, struct err *err)
{
    (void)dir;
    int fd = memfd_create(tmp, MFD_CLOEXEC);
    return fd < 0 ? err_errno(err, errno, "make a log segment in memory") : fd;
}

static int memory_place(const char *dir, const char *tmp, uint64_t first_rev, struct err *err)
{
    (void)dir, (void)tmp, (void)first_rev, (void)err;
    return 0;
}

static int memory_sync(int fd)
{
    (void)fd;
    return FAILPOINT("wal-sync");
}

static int memory_drop(const char *dir, uint64_t first_rev, struct err *err)
{
    (void)dir, (void)first_rev, (void)err;
    return 0; /* the last reader's close frees it */
}

static int memory_sync_dir(const char *dir, struct err *err)
{
    (void)dir, (void)err;
    return 0;
}

const struct medium medium_disk = {
    .durable = true,
    .make = disk_make,
    .place = disk_place,
    .sync = disk_sync,
    .drop = disk_drop,
    .sync_dir = file_sync_dir,
};

const struct medium medium_memory = {
    .make = memory_make,
    .place = memory_place,
    .sync = memory_sync,
    .drop = memory_drop,
    .sync_dir = memory_sync_dir,
};
