#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/banned.h"

int file_read(const char *path, size_t max, struct buf *ret, struct err *err)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "open %s", path);

    autobuf bytes = { 0 };
    for (;;) {
        buf_reserve(&bytes, 16384);
        ssize_t n = read(fd, bytes.p + bytes.n, bytes.cap - bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "read %s", path);
        if (n == 0)
            break;
        bytes.n += (size_t)n;
        if (bytes.n > max)
            return err_set(err, ERR_TOO_LARGE, "%s is larger than %zu bytes", path, max);
    }
    *ret = bytes;
    bytes = (struct buf){ 0 };
    return 0;
}

int file_write_all(int fd, struct str bytes, struct err *err)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "write");
        bytes = str_skip(bytes, (size_t)n);
    }
    return 0;
}

int file_check_private(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_errno(err, errno, "look at %s", path);
    if (st.st_mode & 077)
        return err_set(err, ERR_FORBIDDEN, "%s is open to other users (mode %04o): use chmod 600",
                       path, st.st_mode & 07777);
    return 0;
}

int file_sync_dir(const char *path, struct err *err)
{
    autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "open %s", path);
    if (fsync(fd) < 0)
        return err_errno(err, errno, "sync %s", path);
    return 0;
}

static int write_new(const char *path, struct str bytes, unsigned mode, bool sync, struct err *err)
{
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
        return err_errno(err, errno, "open %s", path);
    int r = file_write_all(fd, bytes, err);
    if (r < 0)
        return err_wrap(err, "%s", path);
    if (sync && fsync(fd) < 0)
        return err_errno(err, errno, "sync %s", path);
    return 0;
}

static int write_by(const char *tmp, const char *path, struct str bytes, unsigned mode, bool sync,
                    struct err *err)
{
    int r = write_new(tmp, bytes, mode, sync, err);
    if (r < 0)
        return r;
    if (rename(tmp, path) < 0)
        return err_errno(err, errno, "rename %s", path);
    return 0;
}

int file_write_atomic(const char *path, struct str bytes, unsigned mode, enum file_care care,
                      struct err *err)
{
    autobuf name = { 0 };
    buf_printf(&name, "%s.tmp", path);
    buf_byte(&name, '\0');

    int r = write_by(name.p, path, bytes, mode, care != FILE_CHEAP, err);
    if (r < 0) {
        (void)unlink(name.p);
        return r;
    }
    if (care != FILE_DURABLE)
        return 0;
    autofree char *folder = mem_dup(path, strlen(path) + 1);
    return file_sync_dir(dirname(folder), err);
}

int file_private_dir(const char *path, struct err *err)
{
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_errno(err, errno, "make folder %s", path);
    struct stat st;
    if (stat(path, &st) < 0)
        return err_errno(err, errno, "look at %s", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_FORBIDDEN, "%s is not a folder", path);
    if (st.st_uid != geteuid())
        return err_set(err, ERR_FORBIDDEN, "%s belongs to another user", path);
    if (st.st_mode & 077)
        return err_set(err, ERR_FORBIDDEN, "%s is open to other users (mode %04o, want 0700)", path,
                       (unsigned)st.st_mode & 07777);
    return 0;
}
