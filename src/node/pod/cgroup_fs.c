#include "node/pod/cgroup_fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

enum { HIERARCHIES_MAX = 24, PROCS_BYTES = 4 << 20, REMOVE_TRIES = 50, DEPTH_MAX = 32 };

struct hierarchy {
    struct str mount, controllers; /* "cpu,cpuacct" */
};

struct cgroup_fs {
    bool is_v2;
    size_t n;
    struct hierarchy list[HIERARCHIES_MAX];
};

/* ---- Where they are ---- */

static struct str field_at(struct str line, int index)
{
    struct str field = STR("");
    for (int i = 0; i <= index; i++)
        field = str_cut(&line, ' ');
    return field;
}

/* One line of mountinfo: places in front of " - ", type and options behind it. */
static void read_mount(struct arena *a, struct cgroup_fs *fs, struct str line)
{
    struct str rest = line;
    while (rest.n && !str_starts(rest, STR(" - ")))
        rest = str_skip(rest, 1);
    rest = str_skip(rest, 3);
    struct str type = field_at(rest, 0), options = field_at(rest, 2);
    if (!str_eq(type, fs->is_v2 ? STR("cgroup2") : STR("cgroup")) || fs->n == HIERARCHIES_MAX)
        return;
    if (fs->is_v2 && fs->n)
        return;
    fs->list[fs->n++] =
        (struct hierarchy){ arena_str(a, field_at(line, 4)), arena_str(a, options) };
}

int cgroup_fs_find(struct arena *a, bool is_v2, struct cgroup_fs **ret, struct err *err)
{
    autobuf text = { 0 };
    struct cgroup_fs *fs = arena_new(a, struct cgroup_fs);
    fs->is_v2 = is_v2;
    int r = file_read("/proc/self/mountinfo", LIMIT_MOUNT_BYTES, &text, err);
    if (r < 0)
        return r;
    struct str rest = buf_str(&text);
    while (rest.n)
        read_mount(a, fs, str_cut(&rest, '\n'));
    if (!fs->n)
        return err_set(err, ERR_UNAVAILABLE, "no control groups of version %d are mounted",
                       is_v2 ? 2 : 1);
    *ret = fs;
    return 0;
}

static const struct hierarchy *hierarchy_of(const struct cgroup_fs *fs, struct str controller)
{
    for (size_t i = 0; i < fs->n; i++) {
        struct str rest = fs->list[i].controllers;
        while (rest.n)
            if (str_eq(str_cut(&rest, ','), controller))
                return &fs->list[i];
    }
    return NULL;
}

static struct str folder_of(struct arena *a, const struct hierarchy *h, struct str name)
{
    return arena_printf(a, STR_FMT STR_FMT, STR_ARG(h->mount),
                        STR_ARG(str_eq(name, STR("/")) ? STR("") : name));
}

bool cgroup_fs_exists(const struct cgroup_fs *fs, struct arena *a, struct str name)
{
    for (size_t i = 0; i < fs->n; i++)
        if (access(str_cstr(a, folder_of(a, &fs->list[i], name)), F_OK) < 0)
            return false;
    return true;
}

/* ---- Files ---- */

static int write_file(struct arena *a, struct str folder, const char *file, struct str value)
{
    struct str path = arena_printf(a, STR_FMT "/%s", STR_ARG(folder), file);
    autoclose int fd = open(str_cstr(a, path), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    return write(fd, value.p, value.n) == (ssize_t)value.n ? 0 : -1;
}

static struct str read_text(struct arena *a, struct str folder, const char *file)
{
    autobuf text = { 0 };
    struct err err = ERR_INIT(a);
    struct str path = arena_printf(a, STR_FMT "/%s", STR_ARG(folder), file);
    if (file_read(str_cstr(a, path), PROCS_BYTES, &text, &err) < 0)
        return STR("");
    return arena_str(a, str_trim(buf_str(&text)));
}

int cgroup_fs_write(const struct cgroup_fs *fs, struct arena *a, struct str name,
                    const char *controller, const char *file, struct str value, struct err *err)
{
    const struct hierarchy *h = fs->is_v2 ? &fs->list[0] : hierarchy_of(fs, str_of(controller));
    if (!h || write_file(a, folder_of(a, h, name), file, value) == 0 || errno == ENOENT)
        return 0;
    return err_errno(err, errno, "write " STR_FMT " to %s of control group " STR_FMT,
                     STR_ARG(value), file, STR_ARG(name));
}

/* ---- Making ---- */

/* A new group of the first version may use no processor before somebody says which. */
static void inherit_cpuset(struct arena *a, struct str parent, struct str folder)
{
    static const char *const files[] = { "cpuset.cpus", "cpuset.mems" };
    for (size_t i = 0; i < 2; i++)
        if (!read_text(a, folder, files[i]).n)
            (void)write_file(a, folder, files[i], read_text(a, parent, files[i]));
}

/* Groups of the second version have only the controllers that the one above hands down. */
static void hand_down(struct arena *a, struct str folder)
{
    static const struct str wanted[] = { STR("+cpu"), STR("+cpuset"), STR("+memory"),
                                         STR("+hugetlb"), STR("+pids") };
    for (size_t i = 0; i < 5; i++)
        (void)write_file(a, folder, "cgroup.subtree_control", wanted[i]);
}

static int make_in(struct cgroup_fs *fs, struct arena *a, const struct hierarchy *h,
                   struct str name, struct err *err)
{
    struct str parent = h->mount;
    for (size_t i = 1; i <= name.n; i++) {
        if (i < name.n && name.p[i] != '/')
            continue;
        struct str folder = folder_of(a, h, str_take(name, i));
        if (fs->is_v2)
            hand_down(a, parent);
        if (mkdir(str_cstr(a, folder), 0755) < 0 && errno != EEXIST)
            return err_errno(err, errno, "make control group " STR_FMT, STR_ARG(folder));
        if (!fs->is_v2)
            inherit_cpuset(a, parent, folder);
        parent = folder;
    }
    return 0;
}

int cgroup_fs_make(struct cgroup_fs *fs, struct arena *a, struct str name, struct err *err)
{
    for (size_t i = 0; i < fs->n; i++) {
        int r = make_in(fs, a, &fs->list[i], name, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- Listing, removing ---- */

static size_t sub_folders(struct arena *a, struct str folder, struct str **ret)
{
    size_t n = 0, cap = 0;
    struct str *found = NULL;
    DIR *dir = opendir(str_cstr(a, folder));
    *ret = NULL;
    if (!dir)
        return 0;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_type != DT_DIR || e->d_name[0] == '.')
            continue;
        if (n == cap) {
            cap = cap ? 2 * cap : 16;
            found =
                arena_grow(a, found, n * sizeof(*found), cap * sizeof(*found), alignof(struct str));
        }
        found[n++] = arena_str(a, str_of(e->d_name));
    }
    (void)closedir(dir);
    *ret = found;
    return n;
}

int cgroup_fs_list(const struct cgroup_fs *fs, struct arena *a, struct str name, struct str **ret,
                   size_t *ret_n, struct err *err)
{
    (void)err;
    struct str *all = NULL;
    size_t n = 0;
    for (size_t i = 0; i < fs->n; i++) {
        struct str *some;
        const size_t more = sub_folders(a, folder_of(a, &fs->list[i], name), &some);
        for (size_t k = 0; k < more; k++) {
            bool is_new = true;
            for (size_t j = 0; j < n && is_new; j++)
                is_new = !str_eq(all[j], some[k]);
            if (!is_new)
                continue;
            all = arena_grow(a, all, n * sizeof(*all), (n + 1) * sizeof(*all), alignof(struct str));
            all[n++] = some[k];
        }
    }
    *ret = all;
    *ret_n = n;
    return 0;
}

static void kill_in(struct arena *a, struct str folder)
{
    struct str pids = read_text(a, folder, "cgroup.procs");
    while (pids.n) {
        int64_t pid;
        if (str_to_i64(str_cut(&pids, '\n'), &pid) && pid > 1)
            (void)kill((pid_t)pid, SIGKILL);
    }
}

/* Groups nest as deep as their runtime nests them; DEPTH_MAX bounds what a container made. */
static bool remove_folder(struct arena *a, struct str folder, int depth)
{
    struct str *inner;
    if (rmdir(str_cstr(a, folder)) == 0 || errno == ENOENT)
        return true;
    const size_t n = depth < DEPTH_MAX ? sub_folders(a, folder, &inner) : 0;
    for (size_t i = 0; i < n; i++)
        (void)remove_folder(a, path_join(a, folder, inner[i]), depth + 1);
    kill_in(a, folder);
    return rmdir(str_cstr(a, folder)) == 0 || errno == ENOENT;
}

int cgroup_fs_remove(struct cgroup_fs *fs, struct arena *a, struct str name, struct err *err)
{
    for (int try = 0; try < REMOVE_TRIES; try++) {
        bool is_gone = true;
        for (size_t i = 0; i < fs->n; i++)
            is_gone = remove_folder(a, folder_of(a, &fs->list[i], name), 0) && is_gone;
        if (is_gone)
            return 0;
        /* A process that was killed leaves its group a little later. */
        (void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    return err_errno(err, EBUSY, "remove control group " STR_FMT, STR_ARG(name));
}
