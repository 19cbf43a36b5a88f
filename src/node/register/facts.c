/* facts.c - what the parts of the agent know of their node, from flags and from the machine. */
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "api/ip.h"
#include "base/idiom.h"
#include "node/register/machine.h"
#include "node/register/register.h"
#include "node/register/register_internal.h"
#include "node/register/resources.h"
#include "base/banned.h"

enum { CGROUP2_MAGIC = 0x63677270, ASK_RUNTIME_MS = 5000, IPS_MAX = 2 };

static struct str or_else(struct str text, struct str usual)
{
    return text.n ? text : usual;
}

/* ---- Addresses ---- */

static int check_ip(struct str text, struct ip *ret, struct err *err)
{
    if (!ip_parse(text, ret))
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no address of a node", STR_ARG(text));
    return 0;
}

static int find_ips(const struct register_options *opt, struct arena *a, struct node_facts *f,
                    struct err *err)
{
    struct str *ips = arena_array(a, struct str, IPS_MAX);
    struct ip parsed[IPS_MAX];
    if (opt->n_ips > IPS_MAX)
        return err_set(err, ERR_INVALID, "a node has at most one address of each family");
    for (size_t i = 0; i < opt->n_ips; i++) {
        int r = check_ip(opt->ips[i], &parsed[i], err);
        if (r < 0)
            return r;
        ips[i] = arena_str(a, opt->ips[i]);
    }
    if (opt->n_ips == IPS_MAX && parsed[0].is_v4 == parsed[1].is_v4)
        return err_set(err, ERR_INVALID, "a node has at most one address of each family");
    f->host_ips = ips;
    f->n_host_ips = opt->n_ips;
    if (opt->n_ips)
        return 0;
    f->n_host_ips = 1;
    return machine_own_ip(a, &ips[0], err);
}

/* ---- Control groups ---- */

static bool has_cgroup2(void)
{
    struct statfs fs;
    return statfs("/sys/fs/cgroup", &fs) == 0 && fs.f_type == CGROUP2_MAGIC;
}

/* The runtime's own word counts; old ones have none. */
static bool is_systemd(const struct register_options *opt, struct cri *cri, struct arena *a)
{
    struct value answer;
    struct err why = ERR_INIT(a);
    if (cri && cri_call(cri, "RuntimeConfig", NULL, ASK_RUNTIME_MS, a, &answer, &why) == 0) {
        const struct value *driver = value_dig(&answer, "linux", "cgroup_driver");
        int64_t number = -1;
        if (value_to_int(driver, &number))
            return number == 0;
        if (value_str(driver).n)
            return str_eq(value_str(driver), STR("SYSTEMD"));
        if (value_get(&answer, STR("linux"))) /* 0, the first name, is not sent */
            return true;
    }
    return str_eq(opt->cgroup_driver, STR("systemd"));
}

/* ---- The runtime ---- */

/* What the usual handler can do; old runtimes do not say, and cannot. */
static void ask_features(struct cri *cri, struct arena *a, struct node_facts *f)
{
    struct value answer;
    struct err why = ERR_INIT(a);
    if (!cri || cri_call(cri, "Status", NULL, ASK_RUNTIME_MS, a, &answer, &why) < 0)
        return;
    value_each_item (handler, value_get(&answer, STR("runtime_handlers"))) {
        const struct value *can = value_get(handler, STR("features"));
        if (value_text(handler, "name").n)
            continue;
        f->runtime_has_userns = value_is_true(value_get(can, STR("user_namespaces")));
        f->runtime_has_recursive_ro =
            value_is_true(value_get(can, STR("recursive_read_only_mounts")));
    }
}

/* ---- All of it ---- */

static int count_resources(const struct register_options *opt, const struct machine *m,
                           struct arena *a, struct node_facts *f, struct err *err)
{
    struct value kube, host;
    int r = resources_parse(a, opt->kube_reserved, &kube, err);
    if (r < 0)
        return err_wrap(err, "reserved for the agent: ");
    r = resources_parse(a, opt->system_reserved, &host, err);
    if (r < 0)
        return err_wrap(err, "reserved for the system: ");
    const struct resources_limits limits = {
        .max_pods = f->max_pods,
        .pods_per_core = opt->pods_per_core,
        .kube_reserved = &kube,
        .system_reserved = &host,
        .eviction_hard = or_else(opt->eviction_hard, STR(REGISTER_EVICTION_HARD)),
    };
    f->capacity = resources_capacity(a, m, &limits);
    f->memory_bytes = m->memory_bytes;
    int64_t kept;
    r = resources_threshold(limits.eviction_hard, STR("memory.available"), m->memory_bytes, &kept,
                            err);
    if (r < 0)
        return r;
    f->eviction_memory = kept > 0 ? (uint64_t)kept : 0;
    return resources_allocatable(a, &f->capacity, &limits, &f->allocatable, err);
}

static void copy_list(struct arena *a, const struct str *from, size_t n, const struct str **ret)
{
    struct str *list = arena_array(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++)
        list[i] = arena_str(a, from[i]);
    *ret = list;
}

static void copy_options(const struct register_options *opt, struct arena *a, struct node_facts *f)
{
    f->root_dir = arena_str(a, or_else(opt->root_dir, STR("/var/lib/kubelet")));
    f->log_dir = arena_str(a, or_else(opt->log_dir, STR("/var/log/pods")));
    f->resolv_conf = arena_str(a, or_else(opt->resolv_conf, STR("/etc/resolv.conf")));
    if (str_eq(f->resolv_conf, STR("none")))
        f->resolv_conf = STR("");
    f->cluster_domain = arena_str(a, opt->cluster_domain);
    copy_list(a, opt->cluster_dns, opt->n_cluster_dns, &f->cluster_dns);
    f->n_cluster_dns = opt->n_cluster_dns;
    copy_list(a, opt->allowed_sysctls, opt->n_allowed_sysctls, &f->allowed_sysctls);
    f->n_allowed_sysctls = opt->n_allowed_sysctls;
    f->cgroup_root = arena_str(a, or_else(opt->cgroup_root, STR("/")));
    f->cgroups_per_qos = !opt->flat_cgroups;
    f->seccomp_dir = arena_printf(a, STR_FMT "/seccomp", STR_ARG(f->root_dir));
    f->max_pods = opt->max_pods ? opt->max_pods : REGISTER_MAX_PODS;
}

int register_facts(const struct register_options *opt, struct cri *cri, struct arena *a,
                   struct node_facts *ret, struct err *err)
{
    struct node_facts f = { 0 };
    struct machine m;
    copy_options(opt, a, &f);
    int r = machine_read(a, f.root_dir, &m, err);
    if (r < 0)
        return r;
    f.name = arena_str(a, or_else(opt->name, m.hostname));
    if (!f.name.n)
        return err_set(err, ERR_INVALID, "this machine has no name; the node needs one");
    for (size_t i = 0; i < opt->n_taints; i++) {
        struct value taint;
        r = node_status_taint(a, opt->taints[i], &taint, err);
        if (r < 0)
            return r;
    }
    r = find_ips(opt, a, &f, err);
    if (r < 0)
        return r;
    f.cgroup_v2 = has_cgroup2();
    f.cgroup_systemd = is_systemd(opt, cri, a);
    f.counts_swap =
        !f.cgroup_v2 && access("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", F_OK) == 0;
    ask_features(cri, a, &f);
    r = count_resources(opt, &m, a, &f, err);
    if (r < 0)
        return r;
    *ret = f;
    return 0;
}
