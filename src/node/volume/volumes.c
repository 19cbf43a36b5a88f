#include "node/volume/volumes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "node/volume/atomic_writer.h"
#include "node/volume/claim.h"
#include "node/volume/empty_dir.h"
#include "node/volume/host_path.h"
#include "node/volume/nested.h"
#include "node/volume/tree_remove.h"
#include "node/volume/volumes_internal.h"
#include "base/banned.h"

/* What containers mount with propagation has to lie on a mount that propagates. Where that cannot
 * be had, such containers fail, and say why. */
static void share_root(const struct node_facts *node)
{
    struct arena a;
    arena_init(&a);
    const char *root = str_cstr(&a, node->root_dir);
    (void)mount_point_folders(&a, node->root_dir, 0750);
    if (!mount_point_is(root))
        (void)mount(root, root, NULL, MS_BIND, NULL);
    (void)mount(NULL, root, NULL, MS_SHARED | MS_REC, NULL);
    arena_done(&a);
}

struct volumes *volumes_new(const struct node_facts *node, const struct pod_objects *objects)
{
    share_root(node);
    struct volumes *v = mem_new(struct volumes);
    *v = (struct volumes){ node, objects };
    return v;
}

struct volumes *volumes_free(struct volumes *v)
{
    free(v);
    return NULL;
}

/* ---- Kinds that show objects ---- */

struct shown_kind {
    struct str source; /* its name in the spec */
    const char *folder;
    bool in_memory;
    int (*fill)(struct payload *p, const struct payload_case *c, const struct value *source,
                struct err *err);
};

static const struct shown_kind shown_kinds[] = {
    { STR("configMap"), "configmap", false, payload_config_map },
    { STR("secret"), "secret", true, payload_secret },
    { STR("downwardAPI"), "downward-api", true, payload_downward },
    { STR("projected"), "projected", true, payload_projected },
};

static struct str folder_of(struct arena *a, const struct payload_case *c, const char *kind,
                            struct str name)
{
    return arena_printf(a, STR_FMT "/volumes/kubernetes.io~%s/" STR_FMT,
                        STR_ARG(pod_folder(a, c->node, pod_uid(c->pod))), kind, STR_ARG(name));
}

static int make_shown(struct arena *a, const struct payload_case *c, const struct shown_kind *kind,
                      const struct value *source, struct pod_volume *ret, struct err *err)
{
    int64_t group = -1;
    autopayload files = { .arena = a };
    struct str path = folder_of(a, c, kind->folder, ret->name);
    int r = kind->fill(&files, c, source, err);
    if (r < 0)
        return r;
    r = empty_dir_make(a, c, arena_printf(a, "wrapped_" STR_FMT, STR_ARG(ret->name)), path, NULL,
                       kind->in_memory, err);
    if (r < 0)
        return r;
    r = nested_make(a, c->pod, ret->name, path, err);
    if (r < 0)
        return r;
    (void)pod_fs_group(c->pod, &group);
    r = atomic_write(a, path, &files, group, err);
    if (r < 0)
        return r;
    ret->path = path;
    ret->is_read_only = true;
    ret->selinux_relabel = true;
    return 0;
}

/* ---- One volume ---- */

static int make_plain(struct arena *a, const struct payload_case *c, const struct value *volume,
                      struct pod_volume *ret, struct err *err)
{
    const struct value *source;
    for (size_t i = 0; i < sizeof(shown_kinds) / sizeof(shown_kinds[0]); i++)
        if ((source = value_get(volume, shown_kinds[i].source)))
            return make_shown(a, c, &shown_kinds[i], source, ret, err);
    if ((source = value_get(volume, STR("emptyDir")))) {
        ret->path = folder_of(a, c, "empty-dir", ret->name);
        ret->selinux_relabel = true;
        return empty_dir_make(a, c, ret->name, ret->path, source, false, err);
    }
    if ((source = value_get(volume, STR("hostPath")))) {
        ret->path = value_text(source, "path");
        return host_path_check(a, source, err);
    }
    if ((source = value_get(volume, STR("image")))) {
        ret->image = value_text(source, "reference");
        ret->is_read_only = true;
        return 0;
    }
    if ((source = value_get(volume, STR("csi"))))
        return err_set(
            err, ERR_UNIMPLEMENTED,
            "kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name " STR_FMT
            " not found in the list of registered CSI drivers",
            STR_ARG(value_text(source, "driver")));
    return err_set(err, ERR_UNIMPLEMENTED, "no volume plugin matched");
}

struct use {
    struct str name;
    bool as_mount, as_device;
};

static bool see_use(void *arg, const struct value *container)
{
    struct use *u = arg;
    value_each_item (it, value_get(container, STR("volumeMounts")))
        u->as_mount = u->as_mount || str_eq(value_text(it, "name"), u->name);
    value_each_item (it, value_get(container, STR("volumeDevices")))
        u->as_device = u->as_device || str_eq(value_text(it, "name"), u->name);
    value_each_item (it, value_get(container, STR("env")))
        u->as_mount =
            u->as_mount ||
            str_eq(value_str(value_dig(it, "valueFrom", "fileKeyRef", "volumeName")), u->name);
    return true;
}

static int make_one(struct arena *a, const struct payload_case *c, const struct value *volume,
                    struct pod_volume *ret, struct err *err)
{
    struct use use = { .name = value_text(volume, "name") };
    *ret = (struct pod_volume){ .name = use.name };
    (void)pod_each_container(c->pod, see_use, &use);
    if (!use.as_mount && !use.as_device)
        return 0; /* nobody wants it */
    if (value_get(volume, STR("persistentVolumeClaim")) || value_get(volume, STR("ephemeral")))
        return claim_make(a, c, volume, use.as_mount, use.as_device, ret, err);
    if (make_plain(a, c, volume, ret, err) < 0)
        return err_wrap(err, "MountVolume.SetUp failed for volume " STR_FMT " ",
                        STR_ARG(go_quote(a, use.name)));
    return 0;
}

/* ---- All of a pod ---- */

int volumes_make(struct volumes *v, const struct value *pod, struct arena *a,
                 struct pod_volume **ret, size_t *ret_n, struct err *err)
{
    const struct payload_case c = { v->node, v->objects, pod };
    const struct value *list = value_dig(pod, "spec", "volumes");
    const size_t n = value_is(list, VALUE_ARRAY) ? list->n : 0;
    struct pod_volume *made = arena_array(a, struct pod_volume, n + 1);
    struct str folder = pod_folder(a, v->node, pod_uid(pod));
    int failed = 0;
    *ret = made;
    *ret_n = n;
    if (mount_point_folders(a, folder, 0750) < 0)
        return err_errno(err, errno, "make " STR_FMT, STR_ARG(folder));
    for (size_t i = 0; i < n; i++) {
        struct err why = ERR_INIT(a);
        if (make_one(a, &c, value_at(list, i), &made[i], &why) == 0)
            continue;
        made[i] = (struct pod_volume){ .name = made[i].name };
        if (!failed)
            failed = err_set(err, why.code, STR_FMT, STR_ARG(why.msg));
        err_add_cause(err, STR("FailedMount"), made[i].name, why.msg);
    }
    return failed;
}

static bool is_uid(struct str name)
{
    return name.n && name.p[0] != '.' && str_find(name, '/') < 0;
}

int volumes_remove(struct volumes *v, struct str uid, struct arena *a, struct err *err)
{
    if (!is_uid(uid))
        return err_set(err, ERR_INVALID, "no pod has the uid \"" STR_FMT "\"", STR_ARG(uid));
    return tree_unmount_and_remove(a, pod_folder(a, v->node, uid), err);
}

int volumes_list(struct volumes *v, struct arena *a, struct str **ret, size_t *ret_n,
                 struct err *err)
{
    size_t n = 0, cap = 0;
    struct str *uids = NULL, folder = path_join(a, v->node->root_dir, STR("pods"));
    DIR *dir = opendir(str_cstr(a, folder));
    if (!dir && errno != ENOENT)
        return err_errno(err, errno, "read " STR_FMT, STR_ARG(folder));
    for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        struct stat st;
        if (!is_uid(str_of(e->d_name)) ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
            continue;
        if (n == cap) {
            cap = cap ? 2 * cap : 32;
            uids = arena_grow(a, uids, n * sizeof(*uids), cap * sizeof(*uids), alignof(struct str));
        }
        uids[n++] = arena_str(a, str_of(e->d_name));
    }
    if (dir)
        (void)closedir(dir);
    *ret = uids;
    *ret_n = n;
    return 0;
}
