#include "node/simulated/usage.h"

#include <stdlib.h>

#include "api/quantity.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "node/simulated/life.h"
#include "node/simulated/pod_wish.h"
#include "base/banned.h"

enum { LITTLE_MILLI = 1, LITTLE_BYTES = 8 << 20, NANO_PER_MILLI = 1000000 };

/* ---- What is used ---- */

/* `milli`: thousandths. Negative: it is none. */
static int64_t units(struct spn_text text, bool milli)
{
    struct arena a;
    struct str canonical;
    int64_t n;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const bool is_good = text.n && quantity_canonical(&a, str_in(text), &canonical, &err) == 0 &&
                         quantity_units(str_in(text), milli, &n) && n >= 0;
    arena_done(&a);
    return is_good ? n : -1;
}

static int64_t used(const struct spn_value *pod, const struct spn_value *spec, const char *resource,
                    bool milli, int64_t little)
{
    const int64_t asked = units(pod_wish_text(pod, resource), milli);
    const int64_t requested =
        units(spn_value_text(spn_value_dig(spec, "resources", "requests", resource)), milli);
    if (asked >= 0)
        return asked;
    return requested > 1 ? requested / 2 : little;
}

static void add_one(struct usage_list *list, struct usage one)
{
    if (list->n == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 64;
        list->all = mem_resize(list->all, list->cap, sizeof(*list->all));
    }
    list->all[list->n++] = one;
}

static const struct spn_value *spec_of(const struct spn_value *pod, struct spn_text name)
{
    const struct spn_value *specs = spn_value_dig(pod, "spec", "containers");
    for (size_t i = 0; i < spn_value_count(specs); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(specs, i), "name")), name))
            return spn_value_at(specs, i);
    return NULL;
}

void usage_add(struct spn_arena *a, struct usage_list *list, const struct spn_value *pod)
{
    const struct spn_value *meta = spn_value_get(pod, "metadata");
    const struct spn_value *states = spn_value_dig(pod, "status", "containerStatuses");
    for (size_t i = 0; i < spn_value_count(states); i++) {
        const struct spn_value *c = spn_value_at(states, i);
        struct usage one = { .container = spn_value_text(spn_value_get(c, "name")) };
        if (!life_read_time(spn_value_dig(c, "state", "running", "startedAt"), &one.start_ns))
            continue;
        const struct spn_value *spec = spec_of(pod, one.container);
        one.container = spn_arena_text(a, one.container);
        one.ns = spn_arena_text(a, spn_value_text(spn_value_get(meta, "namespace")));
        one.pod = spn_arena_text(a, spn_value_text(spn_value_get(meta, "name")));
        one.uid = spn_arena_text(a, spn_value_text(spn_value_get(meta, "uid")));
        one.cpu_nano = used(pod, spec, "cpu", true, LITTLE_MILLI) * NANO_PER_MILLI;
        one.memory = used(pod, spec, "memory", false, LITTLE_BYTES);
        add_one(list, one);
    }
}

void usage_done(struct usage_list *list)
{
    free(list->all);
    *list = (struct usage_list){ 0 };
}

/* How much it has used since it started, in seconds of a core. */
static double cpu_seconds(const struct usage *u, int64_t now_ns)
{
    const double run = now_ns > u->start_ns ? (double)(now_ns - u->start_ns) / 1e9 : 0;
    return run * (double)u->cpu_nano / 1e9;
}

/* ---- For Prometheus ---- */

static void add_family(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s [STABLE] %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_labels(struct buf *out, const char *name, const struct usage *u, bool is_container)
{
    buf_printf(out, "%s{", name);
    if (is_container)
        buf_printf(out, "container=\"" SPN_FMT "\",", SPN_ARG(u->container));
    buf_printf(out, "namespace=\"" SPN_FMT "\",pod=\"" SPN_FMT "\"} ", SPN_ARG(u->ns),
               SPN_ARG(u->pod));
}

static bool is_same_pod(const struct usage *a, const struct usage *b)
{
    return spn_text_eq(a->pod, b->pod) && spn_text_eq(a->ns, b->ns);
}

struct sum {
    double cpu_seconds;
    int64_t cpu_nano, memory;
};

/* Of those from `*i` on that are of one pod; `*i` goes on to the next. */
static struct sum sum_pod(const struct usage_list *list, size_t *i, int64_t now_ns)
{
    const struct usage *first = &list->all[*i];
    struct sum sum = { 0 };
    for (; *i < list->n && is_same_pod(first, &list->all[*i]); ++*i) {
        sum.cpu_seconds += cpu_seconds(&list->all[*i], now_ns);
        sum.cpu_nano += list->all[*i].cpu_nano;
        sum.memory += list->all[*i].memory;
    }
    return sum;
}

static void add_containers(struct buf *out, const struct usage_list *list, int64_t now_ns)
{
    const long long ms = now_ns / NS_PER_MS;
    add_family(out, "container_cpu_usage_seconds_total", "counter",
               "Cumulative cpu time consumed by the container in core-seconds");
    for (size_t i = 0; i < list->n; i++) {
        add_labels(out, "container_cpu_usage_seconds_total", &list->all[i], true);
        buf_printf(out, "%.6f %lld\n", cpu_seconds(&list->all[i], now_ns), ms);
    }
    add_family(out, "container_memory_working_set_bytes", "gauge",
               "Current working set of the container in bytes");
    for (size_t i = 0; i < list->n; i++) {
        add_labels(out, "container_memory_working_set_bytes", &list->all[i], true);
        buf_printf(out, "%lld %lld\n", (long long)list->all[i].memory, ms);
    }
    add_family(out, "container_start_time_seconds", "gauge",
               "Start time of the container since unix epoch in seconds");
    for (size_t i = 0; i < list->n; i++) {
        add_labels(out, "container_start_time_seconds", &list->all[i], true);
        buf_printf(out, "%lld\n", (long long)(list->all[i].start_ns / NS_PER_SEC));
    }
}

static void add_pods(struct buf *out, const struct usage_list *list, int64_t now_ns)
{
    const long long ms = now_ns / NS_PER_MS;
    add_family(out, "pod_cpu_usage_seconds_total", "counter",
               "Cumulative cpu time consumed by the pod in core-seconds");
    for (size_t i = 0; i < list->n;) {
        const struct usage *first = &list->all[i];
        add_labels(out, "pod_cpu_usage_seconds_total", first, false);
        buf_printf(out, "%.6f %lld\n", sum_pod(list, &i, now_ns).cpu_seconds, ms);
    }
    add_family(out, "pod_memory_working_set_bytes", "gauge",
               "Current working set of the pod in bytes");
    for (size_t i = 0; i < list->n;) {
        const struct usage *first = &list->all[i];
        add_labels(out, "pod_memory_working_set_bytes", first, false);
        buf_printf(out, "%lld %lld\n", (long long)sum_pod(list, &i, now_ns).memory, ms);
    }
}

static struct sum sum_all(const struct usage_list *list, int64_t now_ns)
{
    struct sum all = { 0 };
    for (size_t i = 0; i < list->n;) {
        const struct sum pod = sum_pod(list, &i, now_ns);
        all.cpu_seconds += pod.cpu_seconds;
        all.cpu_nano += pod.cpu_nano;
        all.memory += pod.memory;
    }
    return all;
}

void usage_metrics(struct buf *out, const struct usage_list *list, int64_t now_ns)
{
    const struct sum all = sum_all(list, now_ns);
    const long long ms = now_ns / NS_PER_MS;
    add_containers(out, list, now_ns);
    add_family(out, "node_cpu_usage_seconds_total", "counter",
               "Cumulative cpu time consumed by the node in core-seconds");
    buf_printf(out, "node_cpu_usage_seconds_total %.6f %lld\n", all.cpu_seconds, ms);
    add_family(out, "node_memory_working_set_bytes", "gauge",
               "Current working set of the node in bytes");
    buf_printf(out, "node_memory_working_set_bytes %lld %lld\n", (long long)all.memory, ms);
    add_pods(out, list, now_ns);
    add_family(out, "resource_scrape_error", "gauge",
               "1 if there was an error while getting container metrics, 0 otherwise");
    buf_printf(out, "resource_scrape_error 0\n");
}

/* ---- As JSON ---- */

static void add_time(struct buf *out, const char *key, int64_t at_ns)
{
    char text[CLOCK_TEXT_BYTES];
    struct str s = clock_format(at_ns, false, text);
    buf_printf(out, "\"%s\":\"" STR_FMT "\"", key, STR_ARG(s));
}

static void add_sum(struct buf *out, const struct sum *s, int64_t now_ns)
{
    buf_printf(out, "\"cpu\":{");
    add_time(out, "time", now_ns);
    buf_printf(out, ",\"usageNanoCores\":%lld,\"usageCoreNanoSeconds\":%.0f},\"memory\":{",
               (long long)s->cpu_nano, s->cpu_seconds * 1e9);
    add_time(out, "time", now_ns);
    buf_printf(out, ",\"usageBytes\":%lld,\"workingSetBytes\":%lld,\"rssBytes\":%lld}",
               (long long)s->memory, (long long)s->memory, (long long)s->memory);
}

static void add_pod_stats(struct buf *out, const struct usage_list *list, size_t *i, int64_t now_ns)
{
    const struct usage *first = &list->all[*i];
    const struct usage *u = first;
    const struct sum pod = sum_pod(list, i, now_ns);
    buf_printf(out,
               "{\"podRef\":{\"name\":\"" SPN_FMT "\",\"namespace\":\"" SPN_FMT
               "\",\"uid\":\"" SPN_FMT "\"},",
               SPN_ARG(u->pod), SPN_ARG(u->ns), SPN_ARG(u->uid));
    add_time(out, "startTime", u->start_ns);
    buf_printf(out, ",\"containers\":[");
    for (; u < &list->all[*i]; u++) {
        const struct sum one = { cpu_seconds(u, now_ns), u->cpu_nano, u->memory };
        buf_printf(out, "%s{\"name\":\"" SPN_FMT "\",", u == first ? "" : ",",
                   SPN_ARG(u->container));
        add_time(out, "startTime", u->start_ns);
        buf_byte(out, ',');
        add_sum(out, &one, now_ns);
        buf_byte(out, '}');
    }
    buf_printf(out, "],");
    add_sum(out, &pod, now_ns);
    buf_byte(out, '}');
}

void usage_summary(struct buf *out, const struct usage_list *list, int64_t now_ns)
{
    const struct sum all = sum_all(list, now_ns);
    buf_printf(out, "{\"node\":{\"nodeName\":\"localhost\",");
    add_sum(out, &all, now_ns);
    buf_printf(out, "},\"pods\":[");
    for (size_t i = 0; i < list->n;) {
        if (i)
            buf_byte(out, ',');
        add_pod_stats(out, list, &i, now_ns);
    }
    buf_printf(out, "]}\n");
}
