#include "metrics/metrics_read.h"

#include <math.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "base/banned.h"

enum { NUMBER_BYTES = 64 };
#define USAGE_MAX ((double)INT64_MAX / 2) /* what a Quantity holds, and to spare */
#define AHEAD_MS  3600000                 /* that clocks of nodes may be */

/* One line: NAME{a="x",b="y"} VALUE [TIME]. */
struct line {
    struct str name, ns, pod, container;
    double value;
    int64_t at_ms;
};

static bool read_double(struct str text, double *ret)
{
    char copy[NUMBER_BYTES], *end;
    if (!text.n || text.n >= sizeof(copy))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    *ret = strtod(copy, &end);
    return *end == 0 && isfinite(*ret) && *ret >= 0;
}

/* Names of Kubernetes have nothing in them that would be escaped. */
static bool read_labels(struct str labels, struct line *l)
{
    while (labels.n) {
        struct str key = str_cut(&labels, '=');
        if (!str_starts(labels, STR("\"")))
            return false;
        labels = str_skip(labels, 1);
        struct str value = str_cut(&labels, '"');
        if (!labels.p || str_find(value, '\\') >= 0)
            return false;
        if (str_starts(labels, STR(",")))
            labels = str_skip(labels, 1);
        if (str_eq(key, STR("namespace")))
            l->ns = value;
        else if (str_eq(key, STR("pod")))
            l->pod = value;
        else if (str_eq(key, STR("container")))
            l->container = value;
    }
    return true;
}

/* A time that cannot be is none. */
static bool read_line(struct str text, int64_t now_ms, struct line *ret)
{
    struct line l = { 0 };
    const ptrdiff_t brace = str_find(text, '{');
    const ptrdiff_t space = str_find(text, ' ');
    if (!text.n || text.p[0] == '#' || space < 0)
        return false;
    if (brace >= 0 && brace < space) {
        l.name = str_take(text, (size_t)brace);
        text = str_skip(text, (size_t)brace + 1);
        struct str labels = str_cut(&text, '}');
        if (!text.p || !read_labels(labels, &l))
            return false;
    } else {
        l.name = str_cut(&text, ' ');
    }
    text = str_trim(text);
    struct str value = str_cut(&text, ' ');
    if (!read_double(value, &l.value))
        return false;
    (void)str_to_i64(str_trim(text), &l.at_ms);
    if (l.at_ms < 0 || l.at_ms > now_ms + AHEAD_MS)
        l.at_ms = 0;
    *ret = l;
    return true;
}

static int by_names(const void *x, const void *y)
{
    const struct metrics_sample *a = x, *b = y;
    int c = str_cmp(a->ns, b->ns);
    if (!c)
        c = str_cmp(a->pod, b->pod);
    return c ? c : str_cmp(a->container, b->container);
}

/* Two samples of one container, its time and its memory, become one. */
static size_t merge(struct metrics_sample *all, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct metrics_sample *last = kept ? &all[kept - 1] : NULL;
        if (!last || by_names(last, &all[i]) != 0) {
            all[kept++] = all[i];
            continue;
        }
        if (all[i].cpu_seconds >= 0) {
            last->cpu_seconds = all[i].cpu_seconds;
            last->at_ms = all[i].at_ms;
        }
        if (all[i].memory_bytes >= 0)
            last->memory_bytes = all[i].memory_bytes;
    }
    return kept;
}

struct metrics_round metrics_read(struct arena *a, struct str text, int64_t now_ms)
{
    static const char *const cpu[] = { "node_cpu_usage_seconds_total",
                                       "container_cpu_usage_seconds_total" };
    static const char *const memory[] = { "node_memory_working_set_bytes",
                                          "container_memory_working_set_bytes" };
    struct metrics_round r = { 0 };
    size_t cap = 0;
    while (text.n && r.n < LIMIT_METRICS_SAMPLES) {
        struct line l;
        if (!read_line(str_cut(&text, '\n'), now_ms, &l))
            continue;
        const size_t which = l.pod.n ? 1 : 0;
        const bool is_cpu = str_eq(l.name, str_of(cpu[which]));
        if (!is_cpu && !str_eq(l.name, str_of(memory[which])))
            continue;
        if (r.n == cap) {
            const size_t more = cap ? cap * 2 : 64;
            r.samples = arena_grow(a, r.samples, cap * sizeof(r.samples[0]),
                                   more * sizeof(r.samples[0]), alignof(struct metrics_sample));
            cap = more;
        }
        r.samples[r.n++] = (struct metrics_sample){ l.ns,
                                                    l.pod,
                                                    l.container,
                                                    is_cpu ? l.value : -1,
                                                    is_cpu ? -1 : l.value,
                                                    l.at_ms ? l.at_ms : now_ms };
    }
    if (r.n)
        qsort(r.samples, r.n, sizeof(r.samples[0]), by_names);
    r.n = merge(r.samples, r.n);
    return r;
}

const struct metrics_sample *metrics_find(const struct metrics_round *r, struct str ns,
                                          struct str pod, struct str container)
{
    const struct metrics_sample key = { .ns = ns, .pod = pod, .container = container };
    return r->n ? bsearch(&key, r->samples, r->n, sizeof(key), by_names) : NULL;
}

bool metrics_usage(const struct metrics_sample *before, const struct metrics_sample *now,
                   struct metrics_usage *ret)
{
    if (!before || !now || before->cpu_seconds < 0 || now->cpu_seconds < before->cpu_seconds ||
        now->memory_bytes < 0 || now->at_ms <= before->at_ms)
        return false;
    const int64_t window = now->at_ms - before->at_ms;
    const double rate = (now->cpu_seconds - before->cpu_seconds) * 1e12 / (double)window;
    if (rate > USAGE_MAX || now->memory_bytes > USAGE_MAX)
        return false;
    *ret = (struct metrics_usage){
        .cpu_nano = (uint64_t)rate,
        .memory_bytes = (uint64_t)now->memory_bytes,
        .at_ms = now->at_ms,
        .window_ms = window,
    };
    return true;
}
