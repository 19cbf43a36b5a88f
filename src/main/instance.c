#include "main/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/banned.h"

const char *instance_dir(struct arena *a, const char *given)
{
    if (given)
        return given;
    const char *state = getenv("XDG_STATE_HOME");
    if (state && *state)
        return arena_printf(a, "%s/sampan", state).p;
    const char *home = getenv("HOME");
    return home && *home ? arena_printf(a, "%s/.local/state/sampan", home).p : NULL;
}

static const char *pid_file(struct arena *a, const char *dir)
{
    return arena_printf(a, "%s/sampan.pid", dir).p;
}

/* Makes the folders above; only the last one has to be private. */
static int make_parents(struct arena *a, const char *dir, struct err *err)
{
    char *path = arena_dup(a, dir, strlen(dir) + 1);
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            return err_errno(err, errno, "make folder %s", path);
        *p = '/';
    }
    return 0;
}

int instance_claim(const char *dir, struct err *err)
{
    int r = make_parents(err->arena, dir, err);
    if (r == 0)
        r = file_private_dir(dir, err);
    if (r < 0)
        return r;

    const char *path = pid_file(err->arena, dir);
    autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "open %s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        struct instance other = { 0 };
        (void)instance_look(err->arena, dir, &other, err);
        return err_set(err, ERR_CONFLICT, "%s is served by process %ld already", dir, other.pid);
    }
    if (ftruncate(fd, 0) < 0)
        return err_errno(err, errno, "write %s", path);
    return take_fd(&fd);
}

int instance_announce(int lock_fd, struct str address, struct err *err)
{
    autobuf text = { 0 };
    buf_printf(&text, "%ld\n" STR_FMT "\n", (long)getpid(), STR_ARG(address));
    if (ftruncate(lock_fd, 0) < 0 || lseek(lock_fd, 0, SEEK_SET) < 0)
        return err_errno(err, errno, "write the pid file");
    return file_write_all(lock_fd, buf_str(&text), err);
}

int instance_look(struct arena *a, const char *dir, struct instance *ret, struct err *err)
{
    *ret = (struct instance){ 0 };
    const char *path = pid_file(a, dir);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0)
        return err_errno(err, errno, "open %s", path);
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        return 0; /* nobody holds it: a file left behind */

    autobuf text = { 0 };
    int r = file_read(path, 4096, &text, err);
    if (r < 0)
        return r;
    struct str rest = buf_str(&text);
    int64_t pid = 0;
    (void)str_to_i64(str_cut(&rest, '\n'), &pid);
    ret->running = true;
    ret->pid = (long)pid;
    ret->address = arena_str(a, str_cut(&rest, '\n'));
    return 0;
}
