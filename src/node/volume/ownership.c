#include "node/volume/ownership.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "base/banned.h"

struct owner {
    gid_t group;
    mode_t add; /* to the mode of files */
    dev_t device;
};

enum { ADD_READ = 0440, ADD_WRITE = 0660, ADD_FOLDER = S_ISGID | 0110 };

/* A file that cannot be changed stays as it is, as upstream has it. */
static void change(const struct owner *o, int fd, const struct stat *st)
{
    char path[64];
    (void)!fchownat(fd, "", (uid_t)-1, o->group, AT_EMPTY_PATH);
    if (S_ISLNK(st->st_mode))
        return;
    mount_point_fd_path(fd, path); /* the very file, whatever has its name now */
    (void)!chmod(path, (st->st_mode & 07777) | o->add | (S_ISDIR(st->st_mode) ? ADD_FOLDER : 0));
}

static int walk(const struct owner *o, int fd, unsigned depth);

static int walk_folder(const struct owner *o, int fd, unsigned depth)
{
    bool is_good = true;
    const int readable = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = readable < 0 ? NULL : fdopendir(readable);
    if (!dir) {
        mem_cleanup_close(&(int){ readable });
        return -1;
    }
    for (const struct dirent *e = readdir(dir); e && is_good; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        autoclose int child = openat(fd, e->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (child >= 0)
            is_good = walk(o, child, depth + 1) == 0;
    }
    (void)closedir(dir);
    return is_good ? 0 : -1;
}

/* As deep as LIMIT_VOLUME_DEPTH. */
static int walk(const struct owner *o, int fd, unsigned depth)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_dev != o->device)
        return 0;
    if (depth > LIMIT_VOLUME_DEPTH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (S_ISDIR(st.st_mode) && walk_folder(o, fd, depth) < 0)
        return -1;
    change(o, fd, &st);
    return 0;
}

int ownership_set(const char *path, int64_t group, bool is_read_only, bool only_if_root_differs)
{
    struct stat st;
    autoclose int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    const struct owner o = { (gid_t)group, is_read_only ? ADD_READ : ADD_WRITE, st.st_dev };
    const mode_t wanted = o.add | ADD_FOLDER;
    if (only_if_root_differs && S_ISDIR(st.st_mode) && st.st_gid == o.group &&
        (st.st_mode & wanted) == wanted)
        return 0;
    return walk(&o, fd, 0);
}
