/* stats.c - collects: the machine from /proc, containers from the runtime. Rates are made here from
 * two looks. */
#include "node/stats/stats.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "api/go/gotime.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/lru.h"
#include "base/mem.h"
#include "node/stats/stats_internal.h"
#include "base/banned.h"

enum { CALL_MS = 30000, REMEMBERED = 4096, LEAST_NS = 1000000000 /* between two looks */ };

/* Two looks at one counter. */
struct counter {
    struct lru_thing thing; /* by the container's id; empty: the node */
    uint64_t value;
    int64_t at_ns;
    uint64_t rate;
};

struct stats {
    struct stats_options opt;
    int64_t started_ns;
    pthread_mutex_t lock; /* of counters */
    struct lru counters;
    struct stats_volumes volumes;
};

int stats_new(const struct stats_options *opt, struct stats **ret, struct err *err)
{
    struct stats *s = mem_new(struct stats);
    (void)err;
    s->opt = *opt;
    s->started_ns = clock_wall_ns(&clock_system);
    pthread_mutex_init(&s->lock, NULL);
    lru_init(&s->counters, sizeof(struct counter), REMEMBERED);
    stats__volumes_init(&s->volumes);
    *ret = s;
    return 0;
}

struct stats *stats_free(struct stats *s)
{
    if (!s)
        return NULL;
    lru_done(&s->counters);
    stats__volumes_done(&s->volumes);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

struct stats_volumes *stats__volumes_of(struct stats *s)
{
    return &s->volumes;
}

const struct stats_options *stats__options(const struct stats *s)
{
    return &s->opt;
}

int64_t stats__started_ns(const struct stats *s)
{
    return s->started_ns;
}

int64_t stats__boot_ns(struct arena *a)
{
    autobuf text = { 0 };
    int64_t sec = 0;
    (void)a;
    if (file_read("/proc/uptime", 256, &text, NULL) == 0) {
        struct str rest = buf_str(&text);
        (void)str_to_i64(str_cut(&rest, '.'), &sec);
    }
    return (clock_wall_ns(&clock_system) / NS_PER_SEC - sec) * NS_PER_SEC;
}

/* How fast it grows, by this look and one that is at least a second older. */
static uint64_t rate_of(struct stats *s, struct str key, uint64_t value, int64_t at_ns)
{
    pthread_mutex_lock(&s->lock);
    struct counter *c = lru_get(&s->counters, key);
    const int64_t passed = at_ns - c->at_ns;
    if (c->at_ns && passed >= LEAST_NS && value >= c->value)
        c->rate = (uint64_t)((double)(value - c->value) * 1e9 / (double)passed);
    if (!c->at_ns || passed >= LEAST_NS || value < c->value) {
        c->value = value;
        c->at_ns = at_ns;
    }
    const uint64_t rate = c->rate;
    pthread_mutex_unlock(&s->lock);
    return rate;
}

/* ---- Containers ---- */

/* A number, be it wrapped in an object of its own. */
static uint64_t number(const struct value *obj, const char *key)
{
    const struct value *v = value_get(obj, str_of(key));
    int64_t n = 0;
    if (value_is(v, VALUE_OBJECT))
        v = value_get(v, STR("value"));
    if (value_to_int(v, &n))
        return n < 0 ? 0 : (uint64_t)n;
    (void)str_to_i64(value_str(v), &n);
    return n < 0 ? 0 : (uint64_t)n;
}

static const struct value *find_stats(const struct value *all, struct str id)
{
    value_each_item (one, all) {
        if (str_eq(value_str(value_dig(one, "attributes", "id")), id))
            return one;
    }
    return NULL;
}

static struct container_usage usage_of(struct stats *s, const struct value *stats,
                                       const struct value *status, struct str id)
{
    const struct value *cpu = value_get(stats, STR("cpu")),
                       *memory = value_get(stats, STR("memory"));
    const struct value *layer = value_get(stats, STR("writable_layer"));
    struct container_usage u = { .id = id, .name = value_text(status, "name") };
    u.at_ns = (int64_t)number(cpu, "timestamp");
    if (!u.at_ns)
        u.at_ns = clock_wall_ns(&clock_system);
    (void)gotime_read_ns(value_str(value_dig(status, "state", "running", "startedAt")),
                         &u.started_ns);
    u.cpu_ns = number(cpu, "usage_core_nano_seconds");
    u.cpu_rate = number(cpu, "usage_nano_cores");
    if (!u.cpu_rate)
        u.cpu_rate = rate_of(s, id, u.cpu_ns, u.at_ns);
    u.working_set = number(memory, "working_set_bytes");
    u.usage = number(memory, "usage_bytes");
    u.rss = number(memory, "rss_bytes");
    u.faults = number(memory, "page_faults");
    u.major_faults = number(memory, "major_page_faults");
    u.swap = number(value_get(stats, STR("swap")), "swap_usage_bytes");
    u.layer_bytes = number(layer, "used_bytes");
    u.layer_inodes = number(layer, "inodes_used");
    return u;
}

static void log_size(struct stats *s, const struct pod_usage *p, struct container_usage *u,
                     const struct value *status, struct arena *a)
{
    struct stat st;
    int64_t restarts = 0;
    (void)value_to_int(value_get(status, STR("restartCount")), &restarts);
    struct str path =
        arena_printf(a, STR_FMT "/" STR_FMT "_" STR_FMT "_" STR_FMT "/" STR_FMT "/%lld.log",
                     STR_ARG(s->opt.node->log_dir), STR_ARG(p->ns), STR_ARG(p->name),
                     STR_ARG(p->uid), STR_ARG(u->name), (long long)restarts);
    if (stat(str_cstr(a, path), &st) == 0)
        u->log_bytes = (uint64_t)st.st_size;
}

static void add(struct container_usage *sum, const struct container_usage *u)
{
    sum->at_ns = u->at_ns > sum->at_ns ? u->at_ns : sum->at_ns;
    sum->cpu_ns += u->cpu_ns;
    sum->cpu_rate += u->cpu_rate;
    sum->working_set += u->working_set;
    sum->usage += u->usage;
    sum->rss += u->rss;
    sum->faults += u->faults;
    sum->major_faults += u->major_faults;
    sum->swap += u->swap;
    sum->layer_bytes += u->layer_bytes;
    sum->layer_inodes += u->layer_inodes;
    sum->log_bytes += u->log_bytes;
}

/* Containers of the pod that run. */
static struct pod_usage usage_of_pod(struct stats *s, const struct value *pod,
                                     const struct value *all, struct arena *a)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
                                         "ephemeralContainerStatuses" };
    struct pod_usage p = { .ns = value_str(value_dig(pod, "metadata", "namespace")),
                           .name = value_str(value_dig(pod, "metadata", "name")),
                           .uid = value_str(value_dig(pod, "metadata", "uid")) };
    size_t cap = 0;
    (void)gotime_read_ns(value_str(value_dig(pod, "status", "startTime")), &p.started_ns);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct value *list = value_dig(pod, "status", lists[i]);
        cap += value_is(list, VALUE_ARRAY) ? list->n : 0;
    }
    p.containers = arena_array(a, struct container_usage, cap + 1);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        value_each_item (status, value_dig(pod, "status", lists[i])) {
            struct str id = value_text(status, "containerID");
            const ptrdiff_t at = str_find(id, ':');
            id = at < 0 ? id : str_skip(id, (size_t)at + 3);
            const struct value *stats = find_stats(all, id);
            if (!stats || !value_dig(status, "state", "running"))
                continue;
            struct container_usage *u = &p.containers[p.n_containers++];
            *u = usage_of(s, stats, status, id);
            log_size(s, &p, u, status, a);
            add(&p.sum, u);
        }
    return p;
}

int stats__collect(struct stats *s, struct arena *a, struct stats_moment *ret, struct err *err)
{
    struct stats_moment m = { 0 };
    struct value pods = value_array(), answer;
    int r = node_usage_read(a, s->opt.node->root_dir, &m.node, err);
    if (r < 0)
        return r;
    m.node_rate = rate_of(s, STR("node"), m.node.cpu_ns, m.node.at_ns);
    r = cri_call(s->opt.cri, "ListContainerStats", NULL, CALL_MS, a, &answer, err);
    if (r < 0)
        return r;
    s->opt.pods(s->opt.arg, a, &pods);
    m.pods = arena_array(a, struct pod_usage, (size_t)pods.n + 1);
    value_each_item (pod, &pods) {
        m.pods[m.n_pods] = usage_of_pod(s, pod, value_get(&answer, STR("stats")), a);
        if (m.pods[m.n_pods].n_containers)
            m.n_pods++;
    }
    *ret = m;
    return 0;
}
