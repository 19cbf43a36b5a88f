/* stats_forms.c - what was collected, as /stats/summary and as metrics. */
#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "node/stats/stats_internal.h"
#include "base/banned.h"

/* ---- /stats/summary ---- */

static struct value time_value(struct arena *a, int64_t ns)
{
    char text[CLOCK_TEXT_BYTES];
    return value_string(arena_str(a, clock_format(ns, false, text)));
}

static void put(struct arena *a, struct value *obj, const char *key, uint64_t n)
{
    value_put(a, obj, str_of(key), value_int((int64_t)n));
}

static struct value decimal(struct arena *a, double d)
{
    return value_number(arena_printf(a, "%g", d));
}

static struct value psi_value(struct arena *a, const struct node_pressures *p)
{
    const struct node_psi *const parts[] = { &p->full, &p->some };
    static const char *const names[] = { "full", "some" };
    struct value psi = value_object();
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct value one = value_object();
        put(a, &one, "total", parts[i]->total);
        value_put(a, &one, STR("avg10"), decimal(a, parts[i]->avg10));
        value_put(a, &one, STR("avg60"), decimal(a, parts[i]->avg60));
        value_put(a, &one, STR("avg300"), decimal(a, parts[i]->avg300));
        value_put(a, &psi, str_of(names[i]), one);
    }
    return psi;
}

static struct value cpu_value(struct arena *a, int64_t at, uint64_t rate, uint64_t total)
{
    struct value cpu = value_object();
    value_put(a, &cpu, STR("time"), time_value(a, at));
    put(a, &cpu, "usageNanoCores", rate);
    put(a, &cpu, "usageCoreNanoSeconds", total);
    return cpu;
}

static struct value memory_value(struct arena *a, const struct container_usage *u)
{
    struct value memory = value_object();
    value_put(a, &memory, STR("time"), time_value(a, u->at_ns));
    if (u->usage)
        put(a, &memory, "usageBytes", u->usage);
    put(a, &memory, "workingSetBytes", u->working_set);
    if (u->usage) {
        put(a, &memory, "rssBytes", u->rss);
        put(a, &memory, "pageFaults", u->faults);
        put(a, &memory, "majorPageFaults", u->major_faults);
    }
    return memory;
}

static struct value fs_value(struct arena *a, const struct node_usage *n, uint64_t used,
                             uint64_t inodes_used)
{
    struct value fs = value_object();
    value_put(a, &fs, STR("time"), time_value(a, n->at_ns));
    put(a, &fs, "availableBytes", n->fs_available);
    put(a, &fs, "capacityBytes", n->fs_capacity);
    put(a, &fs, "usedBytes", used);
    put(a, &fs, "inodesFree", n->inodes_free);
    put(a, &fs, "inodes", n->inodes);
    put(a, &fs, "inodesUsed", inodes_used);
    return fs;
}

static struct value container_value(struct arena *a, const struct node_usage *n,
                                    const struct container_usage *u, bool is_short)
{
    struct value c = value_object();
    value_put(a, &c, STR("name"), value_string(u->name));
    value_put(a, &c, STR("startTime"), time_value(a, u->started_ns));
    value_put(a, &c, STR("cpu"), cpu_value(a, u->at_ns, u->cpu_rate, u->cpu_ns));
    value_put(a, &c, STR("memory"), memory_value(a, u));
    if (is_short)
        return c;
    value_put(a, &c, STR("rootfs"), fs_value(a, n, u->layer_bytes, u->layer_inodes));
    value_put(a, &c, STR("logs"), fs_value(a, n, u->log_bytes, 1));
    return c;
}

static struct value pod_value(struct stats *s, struct arena *a, const struct node_usage *n,
                              const struct pod_usage *p, bool is_short)
{
    struct value pod = value_object(), ref = value_object(), list = value_array();
    value_put(a, &ref, STR("name"), value_string(p->name));
    value_put(a, &ref, STR("namespace"), value_string(p->ns));
    value_put(a, &ref, STR("uid"), value_string(p->uid));
    for (size_t i = 0; i < p->n_containers; i++)
        value_put_item(a, &list, container_value(a, n, &p->containers[i], is_short));
    value_put(a, &pod, STR("podRef"), ref);
    value_put(a, &pod, STR("startTime"), time_value(a, p->started_ns));
    value_put(a, &pod, STR("containers"), list);
    value_put(a, &pod, STR("cpu"), cpu_value(a, p->sum.at_ns, p->sum.cpu_rate, p->sum.cpu_ns));
    value_put(a, &pod, STR("memory"), memory_value(a, &p->sum));
    if (is_short)
        return pod;
    const struct value volumes =
        stats__volumes(stats__volumes_of(s), stats__options(s)->node->root_dir, p->uid, a);
    if (volumes.n)
        value_put(a, &pod, STR("volume"), volumes);
    value_put(a, &pod, STR("ephemeral-storage"),
              fs_value(a, n, p->sum.layer_bytes + p->sum.log_bytes,
                       p->sum.layer_inodes + p->n_containers));
    return pod;
}

static struct value node_memory(struct arena *a, const struct node_usage *n)
{
    struct value memory = value_object();
    value_put(a, &memory, STR("time"), time_value(a, n->at_ns));
    put(a, &memory, "availableBytes", n->memory_total - n->working_set);
    put(a, &memory, "usageBytes", n->memory_usage);
    put(a, &memory, "workingSetBytes", n->working_set);
    put(a, &memory, "rssBytes", n->rss);
    put(a, &memory, "pageFaults", n->faults);
    put(a, &memory, "majorPageFaults", n->major_faults);
    value_put(a, &memory, STR("psi"), psi_value(a, &n->memory));
    return memory;
}

static struct value io_value(struct arena *a, const struct node_usage *n)
{
    struct value io = value_object();
    value_put(a, &io, STR("time"), time_value(a, n->at_ns));
    value_put(a, &io, STR("psi"), psi_value(a, &n->io));
    return io;
}

static struct value swap_value(struct arena *a, int64_t at, uint64_t used, uint64_t available)
{
    struct value swap = value_object();
    value_put(a, &swap, STR("time"), time_value(a, at));
    put(a, &swap, "swapAvailableBytes", available);
    put(a, &swap, "swapUsageBytes", used);
    return swap;
}

static struct value network_value(struct arena *a, const struct node_usage *n)
{
    struct value net = value_object(), one = value_object(), list = value_array();
    value_put(a, &net, STR("time"), time_value(a, n->at_ns));
    value_put(a, &one, STR("name"), value_string(arena_str(a, str_of(n->interface))));
    put(a, &one, "rxBytes", n->rx_bytes);
    put(a, &one, "rxErrors", n->rx_errors);
    put(a, &one, "txBytes", n->tx_bytes);
    put(a, &one, "txErrors", n->tx_errors);
    value_each_field (f, &one)
        value_put(a, &net, f->key, value_borrow(&f->val));
    value_put_item(a, &list, one);
    value_put(a, &net, STR("interfaces"), list);
    return net;
}

static struct value rlimit_value(struct arena *a, const struct node_usage *n)
{
    struct value limit = value_object();
    value_put(a, &limit, STR("time"), time_value(a, n->at_ns));
    put(a, &limit, "maxpid", n->max_pids);
    put(a, &limit, "curproc", n->processes);
    return limit;
}

static struct value node_value(struct stats *s, struct arena *a, const struct stats_moment *m,
                               bool is_short)
{
    const struct node_usage *n = &m->node;
    struct value node = value_object(), runtime = value_object();
    struct value cpu = cpu_value(a, n->at_ns, m->node_rate, n->cpu_ns);
    value_put(a, &cpu, STR("psi"), psi_value(a, &n->cpu));
    value_put(a, &node, STR("nodeName"), value_string(stats__options(s)->node->name));
    value_put(a, &node, STR("startTime"), time_value(a, stats__boot_ns(a)));
    value_put(a, &node, STR("cpu"), cpu);
    value_put(a, &node, STR("memory"), node_memory(a, n));
    if (is_short)
        return node;
    if (n->interface[0])
        value_put(a, &node, STR("network"), network_value(a, n));
    value_put(a, &node, STR("io"), io_value(a, n));
    value_put(a, &node, STR("swap"), swap_value(a, n->at_ns, n->swap_usage, n->swap_free));
    value_put(a, &node, STR("fs"), fs_value(a, n, n->fs_used, n->inodes - n->inodes_free));
    value_put(a, &runtime, STR("imageFs"), fs_value(a, n, n->fs_used, n->inodes - n->inodes_free));
    value_put(a, &runtime, STR("containerFs"),
              fs_value(a, n, n->fs_used, n->inodes - n->inodes_free));
    value_put(a, &node, STR("runtime"), runtime);
    value_put(a, &node, STR("rlimit"), rlimit_value(a, n));
    return node;
}

int stats_summary(struct stats *s, bool only_cpu_and_memory, struct arena *a, struct value *ret,
                  struct err *err)
{
    struct stats_moment m;
    struct value pods = value_array();
    int r = stats__collect(s, a, &m, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < m.n_pods; i++)
        value_put_item(a, &pods, pod_value(s, a, &m.node, &m.pods[i], only_cpu_and_memory));
    *ret = value_object();
    value_put(a, ret, STR("node"), node_value(s, a, &m, only_cpu_and_memory));
    value_put(a, ret, STR("pods"), pods);
    return 0;
}

/* ---- Metrics ---- */

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

struct family {
    const char *name, *type, *help;
    double (*read)(const struct container_usage *u);
    bool has_no_time; /* when it was measured is not said */
};

static double cpu_seconds(const struct container_usage *u)
{
    return seconds(u->cpu_ns);
}
static double working_set(const struct container_usage *u)
{
    return (double)u->working_set;
}
static double swap_bytes(const struct container_usage *u)
{
    return (double)u->swap;
}
static double start_seconds(const struct container_usage *u)
{
    return (double)u->started_ns / 1e9;
}
static double usage_bytes(const struct container_usage *u)
{
    return (double)(u->usage ? u->usage : u->working_set);
}
static double rss_bytes(const struct container_usage *u)
{
    return (double)u->rss;
}
static double layer_bytes(const struct container_usage *u)
{
    return (double)u->layer_bytes;
}
static double cpu_cores_now(const struct container_usage *u)
{
    return seconds(u->cpu_rate);
}

/* One family, a line for each container. The labels are names, which need no quoting. */
static void write_family(struct buf *out, const struct stats_moment *m, const struct family *f)
{
    head(out, f->name, f->type, f->help);
    for (size_t i = 0; i < m->n_pods; i++)
        for (size_t k = 0; k < m->pods[i].n_containers; k++) {
            const struct container_usage *u = &m->pods[i].containers[k];
            buf_printf(out,
                       "%s{container=\"" STR_FMT "\",namespace=\"" STR_FMT "\",pod=\"" STR_FMT
                       "\"} %.9g",
                       f->name, STR_ARG(u->name), STR_ARG(m->pods[i].ns), STR_ARG(m->pods[i].name),
                       f->read(u));
            if (!f->has_no_time)
                buf_printf(out, " %lld", (long long)(u->at_ns / NS_PER_MS));
            buf_byte(out, '\n');
        }
}

static void write_pod_family(struct buf *out, const struct stats_moment *m, const struct family *f)
{
    head(out, f->name, f->type, f->help);
    for (size_t i = 0; i < m->n_pods; i++)
        buf_printf(out, "%s{namespace=\"" STR_FMT "\",pod=\"" STR_FMT "\"} %.9g %lld\n", f->name,
                   STR_ARG(m->pods[i].ns), STR_ARG(m->pods[i].name), f->read(&m->pods[i].sum),
                   (long long)(m->pods[i].sum.at_ns / NS_PER_MS));
}

static void write_node_metrics(struct buf *out, const struct stats_moment *m)
{
    const long long at = m->node.at_ns / NS_PER_MS;
    head(out, "node_cpu_usage_seconds_total", "counter",
         "[STABLE] Cumulative cpu time consumed by the node in core-seconds");
    buf_printf(out, "node_cpu_usage_seconds_total %.9g %lld\n", seconds(m->node.cpu_ns), at);
    head(out, "node_memory_working_set_bytes", "gauge",
         "[STABLE] Current working set of the node in bytes");
    buf_printf(out, "node_memory_working_set_bytes %.9g %lld\n", (double)m->node.working_set, at);
    head(out, "node_swap_usage_bytes", "gauge",
         "[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems");
    buf_printf(out, "node_swap_usage_bytes %.9g %lld\n", (double)m->node.swap_usage, at);
}

int stats_resource(struct stats *s, struct arena *a, struct buf *out, struct err *err)
{
    static const struct family containers[] = {
        { "container_cpu_usage_seconds_total", "counter",
          "[STABLE] Cumulative cpu time consumed by the container in core-seconds", cpu_seconds },
        { "container_memory_working_set_bytes", "gauge",
          "[STABLE] Current working set of the container in bytes", working_set },
        { "container_start_time_seconds", "gauge",
          "[STABLE] Start time of the container since unix epoch in seconds", start_seconds, true },
        { "container_swap_usage_bytes", "gauge",
          "[ALPHA] Current amount of the container swap usage in bytes. Reported only on "
          "non-windows systems",
          swap_bytes },
    };
    static const struct family pods[] = {
        { "pod_cpu_usage_seconds_total", "counter",
          "[STABLE] Cumulative cpu time consumed by the pod in core-seconds", cpu_seconds },
        { "pod_memory_working_set_bytes", "gauge",
          "[STABLE] Current working set of the pod in bytes", working_set },
        { "pod_swap_usage_bytes", "gauge",
          "[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows "
          "systems",
          swap_bytes },
    };
    struct stats_moment m;
    int r = stats__collect(s, a, &m, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(containers); i++)
        write_family(out, &m, &containers[i]);
    write_node_metrics(out, &m);
    for (size_t i = 0; i < ARRAY_LEN(pods); i++)
        write_pod_family(out, &m, &pods[i]);
    head(out, "resource_scrape_error", "gauge",
         "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise");
    buf_printf(out, "resource_scrape_error 0\n");
    return 0;
}

int stats_cadvisor(struct stats *s, struct arena *a, struct buf *out, struct err *err)
{
    static const struct family rows[] = {
        { "container_cpu_usage_seconds_total", "counter",
          "Cumulative cpu time consumed in seconds.", cpu_seconds },
        { "container_cpu_usage_cores", "gauge", "Cores in use, by the last two looks.",
          cpu_cores_now },
        { "container_fs_usage_bytes", "gauge",
          "Number of bytes that are consumed by the container on this filesystem.", layer_bytes },
        { "container_memory_rss", "gauge", "Size of RSS in bytes.", rss_bytes },
        { "container_memory_swap", "gauge", "Container swap usage in bytes.", swap_bytes },
        { "container_memory_usage_bytes", "gauge",
          "Current memory usage in bytes, including all memory regardless of when it was accessed",
          usage_bytes },
        { "container_memory_working_set_bytes", "gauge", "Current working set in bytes.",
          working_set },
        { "container_start_time_seconds", "gauge",
          "Start time of the container since unix epoch in seconds.", start_seconds },
    };
    struct stats_moment m;
    int r = stats__collect(s, a, &m, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        write_family(out, &m, &rows[i]);
    head(out, "machine_memory_bytes", "gauge", "Amount of memory installed on the machine.");
    buf_printf(out, "machine_memory_bytes %.9g\n", (double)m.node.memory_total);
    return 0;
}

void stats_agent(struct stats *s, struct arena *a, struct buf *out)
{
    const struct stats_options *opt = stats__options(s);
    struct value pods = value_array();
    size_t containers = 0;
    opt->pods(opt->arg, a, &pods);
    value_each_item (pod, &pods)
        value_each_item (c, value_dig(pod, "status", "containerStatuses"))
            containers += value_dig(c, "state", "running") != NULL;
    head(out, "kubelet_node_name", "gauge", "[ALPHA] The node's name. The count is always 1.");
    buf_printf(out, "kubelet_node_name{node=\"" STR_FMT "\"} 1\n", STR_ARG(opt->node->name));
    head(out, "kubelet_running_pods", "gauge",
         "[ALPHA] Number of pods that have a running pod sandbox");
    buf_printf(out, "kubelet_running_pods %u\n", (unsigned)pods.n);
    head(out, "kubelet_running_containers", "gauge",
         "[ALPHA] Number of containers currently running");
    buf_printf(out, "kubelet_running_containers{container_state=\"running\"} %zu\n", containers);
    head(out, "process_start_time_seconds", "gauge",
         "Start time of the process since unix epoch in seconds.");
    buf_printf(out, "process_start_time_seconds %lld\n",
               (long long)(stats__started_ns(s) / NS_PER_SEC));
}
