#include "main/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
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
        if (*p != '/' || p[strspn(p, "/")] == '\0')
            continue;
        *p = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            return err_errno(err, errno, "make folder %s", path);
        *p = '/';
    }
    return 0;
}

static bool is_name(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* False also if it cannot be read. */
static bool is_empty(const char *dir)
{
    DIR *entries = opendir(dir);
    if (!entries)
        return false;
    bool found = false;
    errno = 0;
    for (const struct dirent *e; !found && (e = readdir(entries));)
        found = is_name(e->d_name);
    bool whole = !found && errno == 0;
    (void)closedir(entries);
    return whole;
}

/* An empty folder has no secrets yet, so it is made private. It is looked at once more after that:
 * until then others may have put something into it. Any other folder is left as it is, and
 * file_private_dir() refuses it. */
static int close_to_others(const char *dir, struct err *err)
{
    struct stat st;
    if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
        !(st.st_mode & 077) || !is_empty(dir))
        return 0;
    if (chmod(dir, 0700) < 0)
        return err_errno(err, errno, "make %s private", dir);
    if (!is_empty(dir))
        return err_set(err, ERR_FORBIDDEN, "another user has just put something into %s", dir);
    log_info("the data folder was open to other users; its mode is 0700 now",
             LOG_CSTR("folder", dir));
    return 0;
}

int instance_claim(const char *dir, struct err *err)
{
    int r = make_parents(err->arena, dir, err);
    if (r < 0)
        return r;
    r = close_to_others(dir, err);
    if (r < 0)
        return r;
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
        return 0; /* not locked: left behind by a process that has ended */

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
