#include "server/audit/audit_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "api/words.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/banned.h"

enum { STAMP_BYTES = 23 }; /* 2026-11-16T09-00-00.000 */

struct audit_log {
    const struct clock *clock;
    struct arena arena; /* names */
    const char *path, *dir;
    struct str stem, ending; /* of the file's name: "audit" and ".log" */
    uint64_t max_bytes, max_backups, max_days;
    bool is_file;
    pthread_mutex_t lock; /* of what follows */
    int fd;
    uint64_t bytes;
};

/* ---- Files ---- */

static int make_folders(struct arena *a, const char *path, struct err *err)
{
    for (size_t i = 1; path[i]; i++) {
        if (path[i] != '/')
            continue;
        const char *dir = str_cstr(a, str_take(str_of(path), i));
        if (mkdir(dir, 0700) < 0 && errno != EEXIST)
            return err_errno(err, errno, "make %s", dir);
    }
    return 0;
}

static int open_file(struct audit_log *l, struct err *err)
{
    struct stat st;
    l->fd = open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (l->fd < 0 || fstat(l->fd, &st) < 0)
        return err_errno(err, errno, "open %s", l->path);
    l->is_file = S_ISREG(st.st_mode);
    l->bytes = (uint64_t)st.st_size;
    return 0;
}

static void split_name(struct audit_log *l)
{
    struct str path = str_of(l->path), name = path;
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == '/')
            name = str_skip(path, i + 1);
    size_t dir = path.n - name.n;
    l->dir = dir ? str_cstr(&l->arena, str_take(path, dir)) : "./";
    size_t dot = name.n;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '.')
            dot = i;
    l->stem = str_take(name, dot);
    l->ending = str_skip(name, dot);
}

static int start(struct audit_log *l, struct err *err)
{
    if (strcmp(l->path, "-") == 0) {
        struct stat st;
        l->fd = dup(STDOUT_FILENO);
        l->is_file = l->fd >= 0 && fstat(l->fd, &st) == 0 && S_ISREG(st.st_mode);
        l->max_bytes = 0;
        return l->fd < 0 ? err_errno(err, errno, "standard output") : 0;
    }
    split_name(l);
    int r = make_folders(&l->arena, l->path, err);
    return r < 0 ? r : open_file(l, err);
}

int audit_log_new(const struct audit_log_options *opt, const struct clock *clock,
                  struct audit_log **ret, struct err *err)
{
    struct audit_log *l = mem_new(struct audit_log);
    arena_init(&l->arena);
    pthread_mutex_init(&l->lock, NULL);
    l->clock = clock;
    l->path = arena_printf(&l->arena, "%s", opt->path).p;
    l->max_bytes = opt->max_bytes;
    l->max_backups = opt->max_backups;
    l->max_days = opt->max_days;
    l->fd = -1;
    int r = start(l, err);
    if (r < 0) {
        audit_log_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

struct audit_log *audit_log_free(struct audit_log *l)
{
    if (!l)
        return NULL;
    if (l->fd >= 0)
        close(l->fd);
    pthread_mutex_destroy(&l->lock);
    arena_done(&l->arena);
    free(l);
    return NULL;
}

/* ---- Putting aside ---- */

/* The time in a name: sorts as the time does. */
static struct str stamp_of(struct arena *a, int64_t wall_ns)
{
    char text[CLOCK_TEXT_BYTES];
    (void)clock_format(wall_ns, true, text);
    for (size_t i = 0; i < STAMP_BYTES; i++)
        if (text[i] == ':')
            text[i] = '-';
    return arena_str(a, (struct str){ text, STAMP_BYTES });
}

static struct str backup_name(struct arena *a, const struct audit_log *l, struct str stamp)
{
    return arena_printf(a, "%s" STR_FMT "-" STR_FMT STR_FMT, l->dir, STR_ARG(l->stem),
                        STR_ARG(stamp), STR_ARG(l->ending));
}

/* The stamp in a file's name; false if it is none that was put aside. */
static bool find_stamp(const struct audit_log *l, struct str name, struct str *ret)
{
    if (name.n != l->stem.n + 1 + STAMP_BYTES + l->ending.n || !str_starts(name, l->stem) ||
        !str_ends(name, l->ending) || name.p[l->stem.n] != '-' || name.p[l->stem.n + 1] != '2' ||
        name.p[l->stem.n + 11] != 'T')
        return false;
    *ret = str_take(str_skip(name, l->stem.n + 1), STAMP_BYTES);
    return true;
}

enum { BACKUPS_MAX = 10000 }; /* that are looked at */

static size_t list_stamps(struct arena *a, const struct audit_log *l, struct str *ret)
{
    DIR *dir = opendir(l->dir);
    size_t n = 0;
    if (!dir)
        return 0;
    for (struct dirent *e; n < BACKUPS_MAX && (e = readdir(dir));) {
        struct str stamp;
        if (find_stamp(l, str_of(e->d_name), &stamp))
            ret[n++] = arena_str(a, stamp);
    }
    closedir(dir);
    qsort(ret, n, sizeof(*ret), words_compare);
    return n;
}

/* Too many, or too old. */
static void remove_old(struct audit_log *l, struct arena *a)
{
    struct str *stamps = arena_array(a, struct str, BACKUPS_MAX), oldest = STR("");
    size_t n = list_stamps(a, l, stamps);
    if (l->max_days)
        oldest =
            stamp_of(a, clock_wall_ns(l->clock) - (int64_t)l->max_days * 24 * 3600 * NS_PER_SEC);
    for (size_t i = 0; i < n; i++) {
        bool is_extra = l->max_backups && n - i > l->max_backups;
        if (is_extra || (oldest.n && str_cmp(stamps[i], oldest) < 0))
            (void)unlink(backup_name(a, l, stamps[i]).p);
    }
}

static int put_aside(struct audit_log *l, struct arena *a, struct err *err)
{
    int64_t now = clock_wall_ns(l->clock);
    const char *to = backup_name(a, l, stamp_of(a, now)).p;
    while (access(to, F_OK) == 0) { /* two within a millisecond */
        now += NS_PER_MS;
        to = backup_name(a, l, stamp_of(a, now)).p;
    }
    if (rename(l->path, to) < 0)
        return err_errno(err, errno, "rename %s", l->path);
    close(l->fd);
    l->fd = -1;
    remove_old(l, a);
    return open_file(l, err);
}

static int make_room(struct audit_log *l, size_t n, struct err *err)
{
    if (l->fd < 0)
        return open_file(l, err);
    if (!l->max_bytes || !l->is_file || !l->bytes || l->bytes + n <= l->max_bytes)
        return 0;
    struct arena a;
    arena_init(&a);
    int r = put_aside(l, &a, err);
    arena_done(&a);
    return r;
}

/* ---- Writing ---- */

/* The line and its newline in one go, so that even a file with other writers has whole lines. */
static int write_line(struct audit_log *l, struct str line, struct err *err)
{
    const struct iovec parts[] = { { (void *)(uintptr_t)line.p, line.n }, { (void *)"\n", 1 } };
    ssize_t n = writev(l->fd, parts, 2);
    if (n < 0 && errno != EINTR)
        return err_errno(err, errno, "write %s", l->path);
    size_t done = n < 0 ? 0 : (size_t)n;
    l->bytes += line.n + 1;
    if (done > line.n)
        return 0;
    int r = file_write_all(l->fd, str_skip(line, done), err);
    return r < 0 ? r : file_write_all(l->fd, STR("\n"), err);
}

static int write_locked(struct audit_log *l, struct str line, struct err *err)
{
    int r = make_room(l, line.n + 1, err);
    return r < 0 ? r : write_line(l, line, err);
}

int audit_log_write(struct audit_log *l, struct str line, struct err *err)
{
    pthread_mutex_lock(&l->lock);
    int r = write_locked(l, line, err);
    pthread_mutex_unlock(&l->lock);
    return r;
}
