#include "main/assets.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/banned.h"

static int make_link(struct arena *a, const char *to, const char *dir, const char *name,
                     struct err *err)
{
    const char *path = arena_printf(a, "%s/%s", dir, name).p;
    struct stat st;
    if (lstat(path, &st) == 0) {
        if (!S_ISLNK(st.st_mode))
            return err_set(err, ERR_EXISTS, "%s is there already, and is no link", path);
        (void)unlink(path);
    }
    return symlink(to, path) < 0 ? err_errno(err, errno, "make the link %s", path) : 0;
}

/* The first program of that name on the PATH, unless it lies in `dir`; or NULL. */
static const char *find_program(struct arena *a, const char *name, const char *dir)
{
    char own[PATH_MAX], full[PATH_MAX];
    struct str rest = str_of(getenv("PATH"));
    bool has_own = realpath(dir, own);
    while (rest.n) {
        struct str folder = str_cut(&rest, ':');
        const char *path = arena_printf(a, STR_FMT "/%s", STR_ARG(folder), name).p;
        const char *place = str_cstr(a, folder);
        bool is_own = has_own && realpath(place, full) && strcmp(own, full) == 0;
        if (folder.n && !is_own && access(path, X_OK) == 0 && realpath(path, full))
            return arena_dup(a, full, strlen(full) + 1);
    }
    return NULL;
}

int assets_make(struct arena *a, const char *dir, bool *ret_kubectl, struct err *err)
{
    static const char *const names[] = { "kube-apiserver", "etcd" };
    char self[PATH_MAX];
    if (!realpath("/proc/self/exe", self))
        return err_errno(err, errno, "find this program");
    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return err_errno(err, errno, "make folder %s", dir);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        int r = make_link(a, self, dir, names[i], err);
        if (r < 0)
            return r;
    }
    const char *kubectl = find_program(a, "kubectl", dir);
    *ret_kubectl = kubectl != NULL;
    return kubectl ? make_link(a, kubectl, dir, "kubectl", err) : 0;
}
