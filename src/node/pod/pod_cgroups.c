#include "node/pod/pod_cgroups.h"

#include "base/buf.h"
#include "node/pod/cgroup_fs.h"
#include "node/pod/pod_amount.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

/* ---- Names ---- */

/* "kubepods", "burstable", "podUID": where systemd makes slices of it, "-" stands between levels,
 * so that of a part becomes "_". */
static struct str slice_part(struct arena *a, struct str part)
{
    char *p = arena_dup(a, part.p, part.n);
    for (size_t i = 0; i < part.n; i++)
        p[i] = (char)(p[i] == '-' ? '_' : p[i]);
    return (struct str){ p, part.n };
}

/* "/a/b" as /a.slice/a-b.slice. */
static struct str slice_name(struct arena *a, struct str name)
{
    autobuf out = { 0 };
    struct str prefix = STR("");
    name = str_skip(name, 1);
    while (name.n) {
        struct str part = slice_part(a, str_cut(&name, '/'));
        prefix = arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(prefix), prefix.n ? "-" : "",
                              STR_ARG(part));
        buf_printf(&out, "/" STR_FMT ".slice", STR_ARG(prefix));
    }
    return arena_str(a, buf_str(&out));
}

static struct str as_driver(const struct node_facts *node, struct arena *a, struct str name)
{
    return node->cgroup_systemd ? slice_name(a, name) : name;
}

/* Of a class: "" for the one of Guaranteed pods, which is also that of the node. */
static struct str class_group(const struct node_facts *node, struct arena *a, const char *class)
{
    struct str root = str_eq(node->cgroup_root, STR("/")) ? STR("") : node->cgroup_root;
    return arena_printf(a, STR_FMT "/kubepods%s", STR_ARG(root), class);
}

static const char *class_suffix(const struct value *pod)
{
    struct str class = pod_class(pod);
    return str_eq(class, STR("Guaranteed"))  ? ""
           : str_eq(class, STR("Burstable")) ? "/burstable"
                                             : "/besteffort";
}

static struct str pod_group(const struct node_facts *node, struct arena *a, const char *class,
                            struct str uid)
{
    struct str parent = class_group(node, a, class);
    return as_driver(node, a,
                     arena_printf(a, STR_FMT "/pod" STR_FMT, STR_ARG(parent), STR_ARG(uid)));
}

struct str pod_cgroup_name(const struct node_facts *node, const struct value *pod, struct arena *a)
{
    return node->cgroups_per_qos ? pod_group(node, a, class_suffix(pod), pod_uid(pod)) : STR("");
}

/* ---- Values ---- */

struct group {
    struct cgroup_fs *fs;
    const struct node_facts *node;
    struct arena *arena;
    struct str name;
    struct err *err;
};

static int write_int(const struct group *g, const char *controller, const char *file, int64_t n)
{
    return cgroup_fs_write(g->fs, g->arena, g->name, controller, file,
                           arena_printf(g->arena, "%lld", (long long)n), g->err);
}

static int write_shares(const struct group *g, int64_t shares)
{
    return g->node->cgroup_v2 ? write_int(g, "cpu", "cpu.weight", cpu_weight(shares))
                              : write_int(g, "cpu", "cpu.shares", shares);
}

/* -1: without limit. */
static int write_quota(const struct group *g, int64_t quota)
{
    if (g->node->cgroup_v2)
        return cgroup_fs_write(
            g->fs, g->arena, g->name, "cpu", "cpu.max",
            quota < 0 ? STR("max")
                      : arena_printf(g->arena, "%lld %d", (long long)quota, CPU_PERIOD_US),
            g->err);
    int r = write_int(g, "cpu", "cpu.cfs_period_us", CPU_PERIOD_US);
    return r < 0 ? r : write_int(g, "cpu", "cpu.cfs_quota_us", quota);
}

static int write_memory(const struct group *g, int64_t bytes)
{
    if (!g->node->cgroup_v2)
        return write_int(g, "memory", "memory.limit_in_bytes", bytes);
    return bytes < 0 ? cgroup_fs_write(g->fs, g->arena, g->name, "memory", "memory.max", STR("max"),
                                       g->err)
                     : write_int(g, "memory", "memory.max", bytes);
}

/* How much of a size a pod asks for; `pod` NULL: of a class, without limit. */
static int write_huge_pages(const struct group *g, const struct value *pod)
{
    struct str *sizes;
    const size_t n = huge_page_sizes(g->arena, &sizes);
    for (size_t i = 0; i < n; i++) {
        struct str name = arena_printf(g->arena, "hugepages-" STR_FMT, STR_ARG(sizes[i]));
        name.p = str_cstr(g->arena, name);
        name.n--; /* "2MB" is "2Mi" as a quantity */
        struct str resource = arena_printf(g->arena, STR_FMT "i", STR_ARG(name));
        const int64_t limit =
            pod ? amount_units(pod_amount(g->arena, pod, STR("requests"), resource, false))
                : (int64_t)1 << 62;
        struct str file = arena_printf(g->arena, "hugetlb." STR_FMT "%s", STR_ARG(sizes[i]),
                                       g->node->cgroup_v2 ? ".max" : ".limit_in_bytes");
        int r = write_int(g, "hugetlb", str_cstr(g->arena, file), limit);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- The node and its classes ---- */

static int64_t burstable_milli(struct arena *a, const struct value *const *pods, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (str_eq(pod_class(pods[i]), STR("Burstable")))
            sum += amount_milli(pod_amount(a, pods[i], STR("requests"), STR("cpu"), true));
    return sum;
}

/* What all pods together may use. */
static int sync_node(struct group *g)
{
    const struct value *all = &g->node->allocatable;
    const int64_t memory = amount_units(value_text(all, "memory"));
    const int64_t cpu = amount_milli(value_text(all, "cpu"));
    int r = cpu ? write_shares(g, cpu_shares(cpu)) : 0;
    if (r < 0)
        return r;
    r = write_huge_pages(g, NULL);
    if (r < 0 || !memory)
        return r;
    return write_memory(g, memory + (int64_t)g->node->eviction_memory);
}

static int sync_class(struct group *g, const char *class, int64_t shares)
{
    g->name = as_driver(g->node, g->arena, class_group(g->node, g->arena, class));
    int r = cgroup_fs_make(g->fs, g->arena, g->name, g->err);
    if (r < 0)
        return r;
    r = write_shares(g, shares);
    return r < 0 ? r : write_huge_pages(g, NULL);
}

int pod_cgroups_sync(const struct node_facts *node, const struct value *const *pods, size_t n_pods,
                     struct arena *a, struct err *err)
{
    struct group g = { .node = node, .arena = a, .err = err };
    if (!node->cgroups_per_qos)
        return 0;
    int r = cgroup_fs_find(a, node->cgroup_v2, &g.fs, err);
    if (r < 0)
        return r;
    g.name = as_driver(node, a, class_group(node, a, ""));
    r = cgroup_fs_make(g.fs, a, g.name, err);
    if (r < 0)
        return r;
    r = sync_node(&g);
    if (r < 0)
        return r;
    r = sync_class(&g, "/burstable", cpu_shares(burstable_milli(a, pods, n_pods)));
    if (r < 0)
        return r;
    return sync_class(&g, "/besteffort", cpu_shares(0));
}

/* ---- Pods ---- */

int pod_cgroup_make(const struct node_facts *node, const struct value *pod, struct arena *a,
                    struct str *ret, struct err *err)
{
    struct group g = { .node = node, .arena = a, .err = err };
    const struct pod_limits l = pod_limits(a, pod);
    g.name = pod_cgroup_name(node, pod, a);
    *ret = g.name;
    if (!g.name.n)
        return 0;
    int r = cgroup_fs_find(a, node->cgroup_v2, &g.fs, err);
    if (r < 0)
        return r;
    r = cgroup_fs_make(g.fs, a, g.name, err);
    if (r < 0)
        return r;
    r = write_shares(&g, l.shares);
    if (r < 0)
        return r;
    r = write_quota(&g, l.quota > 0 ? l.quota : -1);
    if (r < 0)
        return r;
    r = write_memory(&g, l.memory > 0 ? l.memory : -1);
    return r < 0 ? r : write_huge_pages(&g, pod);
}

static const char *const classes[] = { "", "/burstable", "/besteffort" };

int pod_cgroup_remove(const struct node_facts *node, struct str uid, struct arena *a,
                      struct err *err)
{
    struct cgroup_fs *fs;
    if (!node->cgroups_per_qos || !uid.n)
        return 0;
    int r = cgroup_fs_find(a, node->cgroup_v2, &fs, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < 3; i++) {
        r = cgroup_fs_remove(fs, a, pod_group(node, a, classes[i], uid), err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* The uid of "podUID", or of the slice "kubepods-podUID.slice"; empty: it is none. */
static struct str uid_of(const struct node_facts *node, struct arena *a, struct str name)
{
    if (node->cgroup_systemd) {
        if (!str_ends(name, STR(".slice")))
            return STR("");
        name.n -= STR(".slice").n;
        for (ptrdiff_t at = str_find(name, '-'); at >= 0; at = str_find(name, '-'))
            name = str_skip(name, (size_t)at + 1);
    }
    if (!str_starts(name, STR("pod")))
        return STR("");
    char *p = arena_dup(a, name.p, name.n);
    for (size_t i = 0; i < name.n; i++)
        p[i] = (char)(node->cgroup_systemd && p[i] == '_' ? '-' : p[i]);
    return str_skip((struct str){ p, name.n }, 3);
}

int pod_cgroup_list(const struct node_facts *node, struct arena *a, struct str **ret, size_t *ret_n,
                    struct err *err)
{
    struct cgroup_fs *fs;
    struct str *uids = NULL;
    size_t n_uids = 0;
    *ret_n = 0;
    if (!node->cgroups_per_qos)
        return 0;
    int r = cgroup_fs_find(a, node->cgroup_v2, &fs, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < 3; i++) {
        struct str *names, group = as_driver(node, a, class_group(node, a, classes[i]));
        size_t n;
        r = cgroup_fs_list(fs, a, group, &names, &n, err);
        if (r < 0)
            return r;
        uids = arena_grow(a, uids, n_uids * sizeof(*uids), (n_uids + n + 1) * sizeof(*uids),
                          alignof(struct str));
        for (size_t k = 0; k < n; k++) {
            struct str uid = uid_of(node, a, names[k]);
            if (uid.n)
                uids[n_uids++] = uid;
        }
    }
    *ret = uids;
    *ret_n = n_uids;
    return 0;
}
