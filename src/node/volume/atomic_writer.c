#include "node/volume/atomic_writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "node/volume/ownership.h"
#include "node/volume/tree_remove.h"
#include "base/banned.h"

enum { FILE_NAME_MAX = 255, PATH_BYTES_MAX = 4096 };

static const struct str data_link = STR("..data");

static int fault(struct arena *a, const char *what, struct str path, struct err *err)
{
    return err_set(err, ERR_IO, "%s " STR_FMT ": " STR_FMT, what, STR_ARG(path),
                   STR_ARG(go_errno(a, errno)));
}

/* ---- What may be written ---- */

static int check_path(struct str path, struct err *err)
{
    struct str rest = path;
    if (!path.n)
        return err_set(err, ERR_INVALID, "invalid path: must not be empty: \"\"");
    if (path.p[0] == '/')
        return err_set(err, ERR_INVALID, "invalid path: must be relative path: " STR_FMT,
                       STR_ARG(path));
    if (path.n > PATH_BYTES_MAX)
        return err_set(err, ERR_INVALID,
                       "invalid path: must be less than or equal to %d characters", PATH_BYTES_MAX);
    while (rest.n) {
        struct str part = str_cut(&rest, '/');
        if (str_eq(part, STR("..")))
            return err_set(err, ERR_INVALID, "invalid path: must not contain '..': " STR_FMT,
                           STR_ARG(path));
        if (part.n > FILE_NAME_MAX)
            return err_set(err, ERR_INVALID,
                           "invalid path: filenames must be less than or equal to %d characters",
                           FILE_NAME_MAX);
    }
    if (str_starts(path, STR("..")))
        return err_set(err, ERR_INVALID, "invalid path: must not start with '..': " STR_FMT,
                       STR_ARG(path));
    return 0;
}

/* The same files with clean paths. */
static int clean(struct arena *a, const struct payload *p, struct payload *ret, struct err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        struct payload_file file = *p->files[i];
        int r = check_path(file.path, err);
        if (r < 0)
            return r;
        file.path = path_clean(a, file.path);
        payload_put(ret, file);
    }
    return 0;
}

/* ---- What has changed ---- */

static bool has_same_bytes(struct arena *a, struct str folder, const struct payload_file *file)
{
    autobuf bytes = { 0 };
    struct err err = ERR_INIT(a);
    return file_read(str_cstr(a, path_join(a, folder, file->path)), LIMIT_VOLUME_FILE_BYTES, &bytes,
                     &err) == 0 &&
           str_eq(buf_str(&bytes), file->data);
}

/* All paths of the files, and of the folders above them. */
static void all_paths(const struct payload *p, struct map *ret)
{
    static char marker;
    for (size_t i = 0; i < p->n; i++) {
        struct str path = p->files[i]->path;
        for (size_t k = path.n; k > 0; k--)
            if (k == path.n || path.p[k] == '/')
                (void)map_set(ret, str_take(path, k), &marker);
    }
}

/* Whether something in the old folder is no longer wanted. Names at the top are removed if
 * `visible` says where their links are. */
static bool has_old(struct arena *a, struct str folder, struct str inside, const struct map *wanted,
                    const char *visible)
{
    bool found = false;
    DIR *dir = opendir(str_cstr(a, path_join(a, folder, inside)));
    if (!dir)
        return false;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct str name = arena_str(a, str_of(e->d_name));
        struct str path = inside.n ? path_join(a, inside, name) : name;
        if (!map_get(wanted, path)) {
            found = true;
            if (visible && !inside.n)
                (void)unlink(str_cstr(a, path_join(a, str_of(visible), name)));
        } else if (e->d_type == DT_DIR) {
            found = has_old(a, folder, path, wanted, NULL) || found;
        }
    }
    (void)closedir(dir);
    return found;
}

static bool has_changed(struct arena *a, struct str old, const struct payload *p,
                        const struct map *wanted)
{
    for (size_t i = 0; i < p->n; i++)
        if (!has_same_bytes(a, old, p->files[i]))
            return true;
    return has_old(a, old, STR(""), wanted, NULL);
}

/* ---- Writing ---- */

static int new_folder(struct arena *a, struct str folder, struct str *ret_name, struct err *err)
{
    struct tm tm;
    const time_t now = time(NULL);
    for (int i = 0; i < 100; i++) {
        uint32_t random = 0;
        (void)!getrandom(&random, sizeof(random), 0);
        (void)gmtime_r(&now, &tm);
        struct str name =
            arena_printf(a, "..%04d_%02d_%02d_%02d_%02d_%02d.%u", tm.tm_year + 1900, tm.tm_mon + 1,
                         tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, random);
        const char *path = str_cstr(a, path_join(a, folder, name));
        if (mkdir(path, 0755) == 0) {
            (void)chmod(path, 0755);
            *ret_name = name;
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    return fault(a, "mkdir", folder, err);
}

static int write_one(struct arena *a, struct str folder, const struct payload_file *file,
                     struct err *err)
{
    struct str path = path_join(a, folder, file->path);
    if (mount_point_parents(a, path, 0755) < 0)
        return fault(a, "mkdir", path, err);
    autoclose int fd =
        open(str_cstr(a, path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fault(a, "open", path, err);
    int r = file_write_all(fd, file->data, err);
    if (r < 0)
        return r;
    if (file->has_user && fchown(fd, (uid_t)file->user, (gid_t)-1) < 0)
        return fault(a, "lchown", path, err);
    return fchmod(fd, file->mode) < 0 ? fault(a, "chmod", path, err) : 0;
}

static int write_all(struct arena *a, struct str folder, const struct payload *p, struct err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        int r = write_one(a, folder, p->files[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int point_at(struct arena *a, struct str folder, struct str name, struct err *err)
{
    const char *fresh = str_cstr(a, path_join(a, folder, STR("..data_tmp")));
    (void)unlink(fresh); /* of a write that did not end */
    if (symlink(str_cstr(a, name), fresh) < 0)
        return fault(a, "symlink", name, err);
    if (rename(fresh, str_cstr(a, path_join(a, folder, data_link))) < 0)
        return fault(a, "rename", name, err);
    return 0;
}

static int write_new(struct arena *a, struct str folder, const struct payload *p, int64_t group,
                     struct err *err)
{
    struct str name;
    int r = new_folder(a, folder, &name, err);
    if (r < 0)
        return r;
    struct str path = path_join(a, folder, name);
    r = write_all(a, path, p, err);
    if (r < 0) {
        (void)tree_remove(str_cstr(a, path), NULL);
        return r;
    }
    if (group >= 0)
        (void)ownership_set(str_cstr(a, folder), group, true, false);
    r = point_at(a, folder, name, err);
    if (r < 0)
        (void)tree_remove(str_cstr(a, path), NULL);
    return r;
}

static int link_visible(struct arena *a, struct str folder, const struct payload *p,
                        struct err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        char target[8];
        struct str rest = p->files[i]->path, name = str_cut(&rest, '/');
        const char *link = str_cstr(a, path_join(a, folder, name));
        if (readlink(link, target, sizeof(target)) >= 0 || errno != ENOENT)
            continue;
        if (symlink(str_cstr(a, path_join(a, data_link, name)), link) < 0)
            return fault(a, "symlink", name, err);
        if (p->files[i]->has_user)
            (void)!lchown(link, (uid_t)p->files[i]->user, (gid_t)-1);
    }
    return 0;
}

/* The folder that `..data` names; empty: there is none yet. */
static struct str old_folder(struct arena *a, struct str folder)
{
    char name[NAME_MAX + 1];
    const ssize_t n = readlink(str_cstr(a, path_join(a, folder, data_link)), name, sizeof(name));
    struct str old = { name, n > 0 ? (size_t)n : 0 };
    if (!str_starts(old, STR("..2")) || str_find(old, '/') >= 0)
        return STR("");
    return path_join(a, folder, old);
}

int atomic_write(struct arena *a, struct str folder, const struct payload *p, int64_t group,
                 struct err *err)
{
    autopayload files = { .arena = a };
    struct map wanted __attribute__((cleanup(map_done))) = { 0 };
    int r = clean(a, p, &files, err);
    if (r < 0)
        return r;
    all_paths(&files, &wanted);
    struct str old = old_folder(a, folder);
    const bool is_new = !old.n || has_changed(a, old, &files, &wanted);
    if (is_new) {
        r = write_new(a, folder, &files, group, err);
        if (r < 0)
            return r;
    }
    r = link_visible(a, folder, &files, err);
    if (r < 0 || !is_new || !old.n)
        return r;
    (void)has_old(a, old, STR(""), &wanted, str_cstr(a, folder));
    return tree_remove(str_cstr(a, old), err);
}
