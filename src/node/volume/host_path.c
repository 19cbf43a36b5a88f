#include "node/volume/host_path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

int host_path_type(struct arena *a, struct str path, struct str *ret, struct err *err)
{
    struct stat st;
    if (stat(str_cstr(a, path), &st) < 0) {
        if (errno == ENOENT)
            return err_set(err, ERR_NOT_FOUND, "path " STR_FMT " does not exist",
                           STR_ARG(go_quote(a, path)));
        return err_set(err, ERR_IO, "stat " STR_FMT ": " STR_FMT, STR_ARG(path),
                       STR_ARG(go_errno(a, errno)));
    }
    if (S_ISDIR(st.st_mode))
        *ret = STR("Directory");
    else if (S_ISREG(st.st_mode))
        *ret = STR("File");
    else if (S_ISSOCK(st.st_mode))
        *ret = STR("Socket");
    else if (S_ISCHR(st.st_mode))
        *ret = STR("CharDevice");
    else if (S_ISBLK(st.st_mode))
        *ret = STR("BlockDevice");
    else
        return err_set(err, ERR_INVALID,
                       "only recognise file, directory, socket, block device and character device");
    return 0;
}

static int expect(struct arena *a, struct str path, struct str type, const char *words,
                  struct err *err)
{
    struct str found = STR("");
    struct err why = ERR_INIT(a);
    if (host_path_type(a, path, &found, &why) < 0)
        return err_set(err, ERR_NOT_FOUND,
                       "hostPath type check failed, " STR_FMT
                       " is not a %s, unable to determine its type: " STR_FMT,
                       STR_ARG(path), words, STR_ARG(why.msg));
    if (str_eq(found, type))
        return 0;
    return err_set(err, ERR_INVALID,
                   "hostPath type check failed: " STR_FMT " is not a %s, it's a " STR_FMT,
                   STR_ARG(path), words, STR_ARG(found));
}

static int make_file(struct arena *a, struct str path, struct err *err)
{
    autoclose int fd = open(str_cstr(a, path), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 && errno != EEXIST)
        return err_set(err, ERR_IO, "open " STR_FMT ": " STR_FMT, STR_ARG(path),
                       STR_ARG(go_errno(a, errno)));
    return 0;
}

static int make_folder(struct arena *a, struct str path, struct err *err)
{
    struct str at;
    if (mount_point_folders_at(a, path_clean(a, path), 0755, &at) < 0)
        return err_set(err, ERR_IO, "mkdir " STR_FMT ": " STR_FMT, STR_ARG(at),
                       STR_ARG(go_errno(a, errno)));
    return 0;
}

int host_path_check(struct arena *a, const struct value *source, struct err *err)
{
    struct str path = value_text(source, "path"), type = value_text(source, "type");
    if (path_has_backstep(path))
        return err_set(err, ERR_INVALID, "invalid HostPath `" STR_FMT "`: must not contain '..'",
                       STR_ARG(path));
    const bool is_there = access(str_cstr(a, path), F_OK) == 0;
    if (!type.n)
        return 0;
    if (str_eq(type, STR("DirectoryOrCreate")) && !is_there)
        return make_folder(a, path, err);
    if (str_eq(type, STR("FileOrCreate")) && !is_there)
        return make_file(a, path, err);
    if (str_starts(type, STR("Directory")))
        return expect(a, path, STR("Directory"), "directory", err);
    if (str_starts(type, STR("File")))
        return expect(a, path, STR("File"), "file", err);
    if (str_eq(type, STR("Socket")))
        return expect(a, path, type, "socket file", err);
    if (str_eq(type, STR("CharDevice")))
        return expect(a, path, type, "character device", err);
    if (str_eq(type, STR("BlockDevice")))
        return expect(a, path, type, "block device", err);
    return err_set(err, ERR_INVALID, STR_FMT " is an invalid volume type", STR_ARG(type));
}
