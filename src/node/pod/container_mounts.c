#include "node/pod/container_mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/pod/cri_tree.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_hosts.h"
#include "node/pod/pod_place.h"
#include "node/pod/pod_spec.h"
#include "node/pod/sub_path.h"
#include "base/banned.h"

struct mounter {
    const struct pod_place *p;
    const struct container_case *c;
    struct pod_env *env;
    struct arena *arena;
    struct value *list;
    struct err *err;
};

static bool has_selinux(void)
{
    return access("/sys/fs/selinux/enforce", F_OK) == 0;
}

static struct str absolute(struct arena *a, struct str path)
{
    return path.n && path.p[0] == '/' ? path : arena_printf(a, "/" STR_FMT, STR_ARG(path));
}

/* ---- Sub-paths ---- */

struct missing {
    struct pod_env *env;
    struct str names[16];
    size_t n;
};

static bool look_or_miss(void *arg, struct str name, struct str *ret)
{
    struct missing *m = arg;
    if (pod_env_lookup(m->env, name, ret) && ret->n)
        return true;
    *ret = STR("");
    for (size_t i = 0; i < m->n; i++)
        if (str_eq(m->names[i], name))
            return true;
    if (m->n < sizeof(m->names) / sizeof(m->names[0]))
        m->names[m->n++] = name;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int expand_sub_path(struct mounter *m, struct str expression, struct str *ret)
{
    struct missing missing = { .env = m->env };
    *ret = expand(m->arena, expression, look_or_miss, &missing);
    if (!missing.n)
        return 0;
    struct str names = STR("");
    qsort(missing.names, missing.n, sizeof(missing.names[0]), by_text);
    for (size_t i = 0; i < missing.n; i++)
        names = arena_printf(m->arena, STR_FMT "%s" STR_FMT, STR_ARG(names), i ? ", " : "",
                             STR_ARG(missing.names[i]));
    return err_set(m->err, ERR_INVALID, "missing value for " STR_FMT, STR_ARG(names));
}

static int sub_path_of(struct mounter *m, const struct value *mount, struct str *ret)
{
    struct str expression = value_text(mount, "subPathExpr");
    *ret = value_text(mount, "subPath");
    if (expression.n) {
        int r = expand_sub_path(m, expression, ret);
        if (r < 0)
            return r;
    }
    if (ret->n && ret->p[0] == '/')
        return err_set(m->err, ERR_INVALID,
                       "error SubPath `" STR_FMT "` must not be an absolute path", STR_ARG(*ret));
    if (path_has_backstep(*ret))
        return err_set(m->err, ERR_INVALID,
                       "unable to provision SubPath `" STR_FMT "`: must not contain '..'",
                       STR_ARG(*ret));
    return 0;
}

/* The words say no more, because what is on the node is not for everybody to know. */
static int sub_path_fault(struct mounter *m, const char *what, const struct value *mount)
{
    return err_set(m->err, ERR_IO, "failed to %s for volumeMount " STR_FMT " of container " STR_FMT,
                   what, STR_ARG(go_quote(m->arena, value_text(mount, "name"))),
                   STR_ARG(go_quote(m->arena, value_text(m->c->spec, "name"))));
}

static int bind_sub_path(struct mounter *m, const struct value *mount, size_t index,
                         struct str volume, struct str sub, struct str *ret)
{
    struct arena *a = m->arena;
    if (!sub_path_exists(a, volume, sub) && sub_path_make(a, volume, sub) < 0 && errno != EEXIST)
        return sub_path_fault(m, "create subPath directory", mount);
    struct str target = arena_printf(a, STR_FMT "/volume-subpaths/" STR_FMT "/" STR_FMT "/%zu",
                                     STR_ARG(pod_folder(a, m->p->node, pod_uid(m->p->pod))),
                                     STR_ARG(value_text(mount, "name")),
                                     STR_ARG(value_text(m->c->spec, "name")), index);
    if (sub_path_bind(a, volume, sub, target) < 0)
        return sub_path_fault(m, "prepare subPath", mount);
    *ret = target;
    return 0;
}

/* ---- Volumes ---- */

static int propagation(struct mounter *m, const struct value *mount, struct str *ret)
{
    const struct value *mode = value_get(mount, STR("mountPropagation"));
    struct str text = value_str(mode);
    *ret = STR("");
    if (str_eq(text, STR("HostToContainer")))
        *ret = STR("PROPAGATION_HOST_TO_CONTAINER");
    else if (str_eq(text, STR("Bidirectional")))
        *ret = STR("PROPAGATION_BIDIRECTIONAL");
    else if (mode && !str_eq(text, STR("None")))
        return err_set(m->err, ERR_INVALID, "invalid MountPropagation mode: " STR_FMT,
                       STR_ARG(go_quote(m->arena, text)));
    return 0;
}

static int recursive_fault(struct mounter *m, const struct value *mount, const char *why)
{
    return err_set(m->err, ERR_INVALID,
                   "failed to resolve recursive read-only mode: volume " STR_FMT
                   " requested recursive read-only mode, but it is %s",
                   STR_ARG(go_quote(m->arena, value_text(mount, "name"))), why);
}

static int recursive_read_only(struct mounter *m, const struct value *mount, bool *ret)
{
    struct str mode = value_text(mount, "recursiveReadOnly"),
               spread = value_text(mount, "mountPropagation");
    const bool can = m->p->node->runtime_has_recursive_ro;
    *ret = false;
    if (!mode.n || str_eq(mode, STR("Disabled")))
        return 0;
    if (!value_is_true(value_get(mount, STR("readOnly"))))
        return recursive_fault(m, mount, "not read-only");
    if (spread.n && !str_eq(spread, STR("None")))
        return recursive_fault(
            m, mount,
            str_cstr(m->arena, arena_printf(m->arena, "not compatible with propagation " STR_FMT,
                                            STR_ARG(go_quote(m->arena, spread)))));
    if (str_eq(mode, STR("Enabled")) && !can)
        return recursive_fault(m, mount, "not supported by the runtime");
    *ret = can;
    return 0;
}

static int put_source(struct mounter *m, const struct value *mount, size_t index,
                      const struct pod_volume *volume, struct value *ret)
{
    struct str sub, path = volume->path;
    int r = sub_path_of(m, mount, &sub);
    if (r < 0)
        return r;
    if (volume->image.n) {
        struct value image = value_object();
        tree_text(m->arena, &image, STR("image"), volume->image);
        value_put_new(m->arena, ret, STR("image"), image);
        tree_text(m->arena, ret, STR("image_sub_path"), sub);
        return 0;
    }
    if (sub.n) {
        r = bind_sub_path(m, mount, index, volume->path, sub, &path);
        if (r < 0)
            return r;
    }
    tree_text(m->arena, ret, STR("host_path"), path);
    return 0;
}

static int add_volume(struct mounter *m, const struct value *mount, size_t index)
{
    struct arena *a = m->arena;
    struct value v = value_object();
    struct str spread;
    bool recursive;
    const struct pod_volume *volume = pod_volume_find(m->p, value_text(mount, "name"));
    if (!volume || volume->is_block)
        return err_set(m->err, ERR_NOT_FOUND,
                       "cannot find volume " STR_FMT " to mount into container " STR_FMT,
                       STR_ARG(go_quote(a, value_text(mount, "name"))),
                       STR_ARG(go_quote(a, value_text(m->c->spec, "name"))));
    tree_text(a, &v, STR("container_path"), absolute(a, value_text(mount, "mountPath")));
    int r = put_source(m, mount, index, volume, &v);
    if (r < 0)
        return r;
    r = propagation(m, mount, &spread);
    if (r < 0)
        return r;
    r = recursive_read_only(m, mount, &recursive);
    if (r < 0)
        return r;
    tree_text(a, &v, STR("propagation"), spread);
    tree_true(a, &v, STR("readonly"),
              volume->is_read_only || value_is_true(value_get(mount, STR("readOnly"))));
    tree_true(a, &v, STR("recursive_read_only"), recursive);
    tree_true(a, &v, STR("selinux_relabel"), volume->selinux_relabel && has_selinux());
    value_put_item(a, m->list, v);
    return 0;
}

/* ---- Files that every container gets ---- */

static bool wants_hosts(const struct mounter *m)
{
    value_each_item (mount, value_get(m->c->spec, STR("volumeMounts")))
        if (str_eq(value_text(mount, "mountPath"), STR("/etc/hosts")))
            return false;
    return m->p->n_pod_ips > 0 || value_is_true(value_dig(m->p->pod, "spec", "hostNetwork"));
}

static void add_file(struct mounter *m, struct str path, struct str place)
{
    struct value v = value_object();
    tree_text(m->arena, &v, STR("container_path"), place);
    tree_text(m->arena, &v, STR("host_path"), path);
    tree_true(m->arena, &v, STR("selinux_relabel"), has_selinux());
    value_put_item(m->arena, m->list, v);
}

/* A container that has no such file still runs: its last words are lost. */
static void add_last_words(struct mounter *m)
{
    struct arena *a = m->arena;
    uint32_t id = 0;
    struct str place = value_text(m->c->spec, "terminationMessagePath");
    struct str folder = arena_printf(a, STR_FMT "/containers/" STR_FMT,
                                     STR_ARG(pod_folder(a, m->p->node, pod_uid(m->p->pod))),
                                     STR_ARG(value_text(m->c->spec, "name")));
    if (!place.n || mount_point_folders(a, folder, 0750) < 0)
        return;
    if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
        return;
    struct str path = arena_printf(a, STR_FMT "/%08x", STR_ARG(folder), id);
    autoclose int fd =
        open(str_cstr(a, path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    (void)fchmod(fd, 0666);
    add_file(m, path, absolute(a, place));
}

int container_mounts(const struct pod_place *p, const struct container_case *c, struct pod_env *env,
                     struct arena *a, struct value *ret, struct err *err)
{
    size_t index = 0;
    struct str hosts;
    *ret = value_array();
    struct mounter m = { p, c, env, a, ret, err };
    value_each_item (mount, value_get(c->spec, STR("volumeMounts"))) {
        int r = add_volume(&m, mount, index++);
        if (r < 0)
            return r;
    }
    if (wants_hosts(&m)) {
        int r = pod_hosts_write(p, a, &hosts, err);
        if (r < 0)
            return r;
        add_file(&m, hosts, STR("/etc/hosts"));
    }
    add_last_words(&m);
    return 0;
}

int container_devices(const struct pod_place *p, const struct container_case *c, struct arena *a,
                      struct value *ret, struct err *err)
{
    *ret = value_array();
    value_each_item (device, value_get(c->spec, STR("volumeDevices"))) {
        struct str path = value_text(device, "devicePath"), name = value_text(device, "name");
        const struct pod_volume *volume = pod_volume_find(p, name);
        struct value v = value_object();
        if (!path.n || path.p[0] != '/')
            return err_set(err, ERR_INVALID,
                           "error DevicePath `" STR_FMT "` must be an absolute path",
                           STR_ARG(path));
        if (!volume || !volume->is_block)
            return err_set(err, ERR_NOT_FOUND,
                           "cannot find volume " STR_FMT " to pass into container " STR_FMT,
                           STR_ARG(go_quote(a, name)),
                           STR_ARG(go_quote(a, value_text(c->spec, "name"))));
        tree_text(a, &v, STR("container_path"), path);
        tree_text(a, &v, STR("host_path"), volume->path);
        tree_text(a, &v, STR("permissions"), volume->is_read_only ? STR("r") : STR("mrw"));
        value_put_item(a, ret, v);
    }
    return 0;
}

/* ---- Giving back ---- */

static void release_below(struct arena *a, struct str folder)
{
    DIR *dir = opendir(str_cstr(a, folder));
    if (!dir)
        return;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_name[0] == '.')
            continue;
        const char *path = str_cstr(a, path_join(a, folder, str_of(e->d_name)));
        if (mount_point_is(path))
            (void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
        if (!mount_point_is(path) && rmdir(path) < 0)
            (void)unlink(path);
    }
    (void)closedir(dir);
    (void)rmdir(str_cstr(a, folder));
}

void pod_container_release(const struct pod_place *p, struct str container_name)
{
    struct arena a;
    arena_init(&a);
    struct str top = arena_printf(&a, STR_FMT "/volume-subpaths",
                                  STR_ARG(pod_folder(&a, p->node, pod_uid(p->pod))));
    value_each_item (volume, value_dig(p->pod, "spec", "volumes")) {
        struct str of = path_join(&a, top, value_text(volume, "name"));
        release_below(&a, path_join(&a, of, container_name));
        (void)rmdir(str_cstr(&a, of));
    }
    (void)rmdir(str_cstr(&a, top));
    arena_done(&a);
}
