#include "node/volume/nested.h"

#include <errno.h>

#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

struct nesting {
    struct arena *arena;
    struct str name, path;
    struct err *err;
    int result;
};

/* What stands behind `outer`/ in `inner`; empty: it is not inside. */
static struct str inside(struct str outer, struct str inner)
{
    if (inner.n <= outer.n + 1 || !str_starts(inner, outer) || inner.p[outer.n] != '/')
        return STR("");
    return str_skip(inner, outer.n + 1);
}

static int make_below(struct nesting *n, const struct value *mounts, struct str outer)
{
    value_each_item (other, mounts) {
        struct str rest = inside(outer, path_clean(n->arena, value_text(other, "mountPath")));
        if (!rest.n || path_has_backstep(rest))
            continue;
        if (mount_point_folders(n->arena, path_join(n->arena, n->path, rest), 0755) < 0)
            return err_set(
                n->err, ERR_IO,
                "unable to create nested volume mountpoints: mkdir " STR_FMT ": " STR_FMT,
                STR_ARG(path_join(n->arena, n->path, rest)), STR_ARG(go_errno(n->arena, errno)));
    }
    return 0;
}

static bool see_container(void *arg, const struct value *container)
{
    struct nesting *n = arg;
    const struct value *mounts = value_get(container, STR("volumeMounts"));
    value_each_item (mount, mounts) {
        if (!str_eq(value_text(mount, "name"), n->name))
            continue;
        n->result = make_below(n, mounts, path_clean(n->arena, value_text(mount, "mountPath")));
        if (n->result < 0)
            return false;
    }
    return true;
}

int nested_make(struct arena *a, const struct value *pod, struct str name, struct str path,
                struct err *err)
{
    struct nesting n = { a, name, path, err, 0 };
    (void)pod_each_container(pod, see_container, &n);
    return n.result;
}
