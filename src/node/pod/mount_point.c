#include "node/pod/mount_point.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/banned.h"

bool mount_point_is(const char *path)
{
    struct statx st;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &st) < 0)
        return false;
    return (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static int make_one(const char *path, unsigned mode)
{
    struct stat st;
    if (mkdir(path, mode) == 0)
        return 0;
    if (errno != EEXIST && errno != EROFS) /* what is there counts first */
        return -1;
    const int errnum = errno;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    errno = errnum == EEXIST ? ENOTDIR : errnum;
    return -1;
}

int mount_point_folders_at(struct arena *a, struct str path, unsigned mode, struct str *ret_at)
{
    for (size_t i = 1; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/')
            continue;
        *ret_at = str_take(path, i);
        if (make_one(str_cstr(a, *ret_at), mode) < 0)
            return -1;
    }
    return 0;
}

int mount_point_folders(struct arena *a, struct str path, unsigned mode)
{
    struct str at;
    return mount_point_folders_at(a, path, mode, &at);
}

int mount_point_parents(struct arena *a, struct str path, unsigned mode)
{
    size_t end = path.n;
    while (end && path.p[end - 1] != '/')
        end--;
    return end > 1 ? mount_point_folders(a, str_take(path, end - 1), mode) : 0;
}

void mount_point_fd_path(int fd, char ret[64])
{
    (void)snprintf(ret, 64, "/proc/self/fd/%d", fd);
}

/* The kernel writes blanks and the like as \040. */
static struct str unescaped(struct arena *a, struct str text)
{
    char *out = arena_alloc(a, text.n + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\' && i + 3 < text.n) {
            out[n++] = (char)((text.p[i + 1] - '0') * 64 + (text.p[i + 2] - '0') * 8 +
                              (text.p[i + 3] - '0'));
            i += 3;
        } else {
            out[n++] = text.p[i];
        }
    }
    return (struct str){ out, n };
}

static int deepest_first(const void *a, const void *b)
{
    const struct str *one = a, *other = b;
    return one->n != other->n ? (one->n < other->n) - (one->n > other->n) : str_cmp(*one, *other);
}

int mount_point_below(struct arena *a, struct str folder, struct str **ret, size_t *ret_n,
                      struct err *err)
{
    autobuf text = { 0 };
    int r = file_read("/proc/self/mountinfo", LIMIT_MOUNT_BYTES, &text, err);
    if (r < 0)
        return r;
    struct str rest = buf_str(&text), *found = NULL;
    size_t n = 0, cap = 0;
    while (rest.n) {
        struct str line = str_cut(&rest, '\n'), place = STR("");
        for (int i = 0; i < 5; i++)
            place = str_cut(&line, ' ');
        place = unescaped(a, place);
        if (place.n <= folder.n || !str_starts(place, folder) || place.p[folder.n] != '/')
            continue;
        if (n == cap) {
            cap = cap ? 2 * cap : 16;
            found =
                arena_grow(a, found, n * sizeof(*found), cap * sizeof(*found), alignof(struct str));
        }
        found[n++] = place;
    }
    if (n)
        qsort(found, n, sizeof(*found), deepest_first);
    *ret = found;
    *ret_n = n;
    return 0;
}
