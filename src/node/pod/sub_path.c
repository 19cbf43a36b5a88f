#include "node/pod/sub_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

static int open_beneath(int folder, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

/* Without links; empty and errno: it is not there. */
static struct str resolved(struct arena *a, struct str path)
{
    autofree char *real = realpath(str_cstr(a, path), NULL);
    return real ? arena_str(a, str_of(real)) : (struct str){ NULL, 0 };
}

/* The rest of `path` below `base`; "." for the same; .p NULL: it lies outside. */
static struct str below(struct str base, struct str path)
{
    if (str_eq(base, path))
        return STR(".");
    if (str_eq(base, STR("/")))
        return str_skip(path, 1);
    if (!str_starts(path, base) || path.p[base.n] != '/')
        return (struct str){ NULL, 0 };
    return str_skip(path, base.n + 1);
}

/* What is already resolved, from the folder on, where no link may be any more. */
static int open_resolved(struct arena *a, struct str real_folder, struct str real, uint64_t flags)
{
    struct str rest = below(real_folder, real);
    if (!rest.p) {
        errno = EXDEV;
        return -1;
    }
    autoclose int folder = open(str_cstr(a, real_folder), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return -1;
    return open_beneath(folder, str_cstr(a, rest), flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

int sub_path_open(struct arena *a, struct str folder, struct str path)
{
    struct str real_folder = resolved(a, folder);
    struct str real = real_folder.p ? resolved(a, path_join(a, folder, path)) : real_folder;
    return real.p ? open_resolved(a, real_folder, real, O_PATH | O_NOFOLLOW) : -1;
}

int sub_path_open_inside(struct arena *a, struct str folder, struct str path)
{
    autoclose int root = open(str_cstr(a, folder), O_PATH | O_CLOEXEC);
    if (root < 0)
        return -1;
    return open_beneath(root, str_cstr(a, path), O_RDONLY | O_NONBLOCK | O_NOCTTY, RESOLVE_IN_ROOT);
}

int sub_path_read(int fd, size_t max, struct buf *ret)
{
    enum { CHUNK = 8192 };
    for (;;) {
        buf_reserve(ret, CHUNK);
        const ssize_t n = read(fd, ret->p + ret->n, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? 0 : -1;
        ret->n += (size_t)n;
        if (ret->n > max)
            return -1;
    }
}

bool sub_path_exists(struct arena *a, struct str folder, struct str path)
{
    struct stat st;
    return stat(str_cstr(a, path_join(a, folder, path)), &st) == 0 || errno != ENOENT;
}

/* One more folder; on success `*fd` is it. EEXIST is for the caller to judge. */
static int make_one(int *fd, const char *name, mode_t mode)
{
    if (mkdirat(*fd, name, mode) < 0)
        return -1;
    const int child = openat(*fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (child < 0)
        return -1;
    (void)close(*fd);
    *fd = child;
    return fchmod(child, mode);
}

/* How much of a clean path is there already, as its length. */
static size_t existing(struct arena *a, struct str folder, struct str path)
{
    size_t good = 0;
    for (size_t i = 0; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/')
            continue;
        if (access(str_cstr(a, path_join(a, folder, str_take(path, i))), F_OK) < 0)
            return good;
        good = i;
    }
    return good;
}

int sub_path_make(struct arena *a, struct str folder, struct str path)
{
    struct stat st;
    path = path_clean(a, path);
    struct str real_folder = resolved(a, folder);
    if (!real_folder.p || stat(str_cstr(a, real_folder), &st) < 0)
        return -1;
    const size_t have = existing(a, real_folder, path);
    struct str start = have ? path_join(a, real_folder, str_take(path, have)) : real_folder;
    struct str real = resolved(a, start), rest = str_skip(path, have);
    autoclose int fd =
        real.p ? open_resolved(a, real_folder, real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) : -1;
    if (fd < 0)
        return -1;
    while (rest.n) {
        struct str name = str_cut(&rest, '/');
        if (name.n && make_one(&fd, str_cstr(a, name), st.st_mode & 07777) < 0)
            return -1;
    }
    return 0;
}

/* ---- Binding ---- */

static bool is_same(int fd, const char *path)
{
    struct stat one, other;
    return fstat(fd, &one) == 0 && lstat(path, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* What is there from before may be of the other kind: a folder, now a file. */
static void drop_other_kind(const char *path, bool is_folder)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) != is_folder)
        (void)unlinkat(AT_FDCWD, path, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
}

static int make_target(struct arena *a, int fd, struct str target)
{
    struct stat st;
    const char *path = str_cstr(a, target);
    if (mount_point_parents(a, target, 0750) < 0 || fstat(fd, &st) < 0)
        return -1;
    drop_other_kind(path, S_ISDIR(st.st_mode));
    if (S_ISDIR(st.st_mode))
        return mkdir(path, 0750) < 0 && errno != EEXIST ? -1 : 0;
    autoclose int made = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
    return made < 0 ? -1 : 0;
}

int sub_path_bind(struct arena *a, struct str folder, struct str path, struct str target)
{
    char source[64];
    const char *place = str_cstr(a, target);
    autoclose int fd = sub_path_open(a, folder, path);
    if (fd < 0)
        return -1;
    if (mount_point_is(place)) {
        if (is_same(fd, place))
            return 0;
        if (umount2(place, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
            return -1;
    }
    if (make_target(a, fd, target) < 0)
        return -1;
    mount_point_fd_path(fd, source);
    return mount(source, place, NULL, MS_BIND, NULL);
}
