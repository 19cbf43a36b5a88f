/* controller_metrics.c - counters in the text format of Prometheus, under the names that
 * controller-runtime and client-go gave them. */
#include <inttypes.h>

#include "base/idiom.h"
#include "client/controller/controller_internal.h"
#include "client/informer/informers.h"
#include "base/banned.h"

static const double bounds[HISTOGRAM_BUCKETS] = {
    0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
    0.7,   0.8,  0.9,   1.0,  1.25, 1.5,  1.75, 2.0,  2.5, 3.0,  3.5, 4.0,  4.5, 5,
    6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60,
};

static const char *const result_names[RESULTS] = {
    [RESULT_SUCCESS] = "success",
    [RESULT_ERROR] = "error",
    [RESULT_REQUEUE] = "requeue",
    [RESULT_REQUEUE_AFTER] = "requeue_after",
};

void histogram_add(struct histogram *h, double seconds)
{
    size_t i = 0;
    while (i < HISTOGRAM_BUCKETS && seconds > bounds[i])
        i++;
    h->counts[i]++;
    h->sum += seconds;
}

/* What a controller and its queue have counted at one moment. */
struct figures {
    const char *name;
    unsigned workers, n_active;
    uint64_t results[RESULTS];
    struct histogram seconds;
    struct spn_queue_stats queue;
};

static struct figures figures_of(struct spn_controller *c)
{
    struct figures f = { .name = c->opt.name, .workers = c->opt.workers };
    spn_queue_stats(c->queue, &f.queue);
    (void)pthread_mutex_lock(&c->lock);
    f.n_active = c->n_active;
    memcpy(f.results, c->results, sizeof(f.results));
    f.seconds = c->seconds;
    (void)pthread_mutex_unlock(&c->lock);
    return f;
}

/* ---- Text ---- */

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_label(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, "%s=\"", name);
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '"' || value.p[i] == '\\')
            buf_byte(out, '\\');
        if (value.p[i] == '\n')
            buf_printf(out, "\\n");
        else
            buf_byte(out, value.p[i]);
    }
    buf_byte(out, '"');
}

static void put(struct buf *out, const char *metric, const char *label, const char *value,
                double number)
{
    buf_printf(out, "%s{", metric);
    put_label(out, label, str_of(value));
    buf_printf(out, "} %.17g\n", number);
}

/* ---- Reconciles ---- */

static void put_results(struct buf *out, const struct figures *f)
{
    for (size_t i = 0; i < RESULTS; i++) {
        buf_printf(out, "controller_runtime_reconcile_total{");
        put_label(out, "controller", str_of(f->name));
        buf_printf(out, ",result=\"%s\"} %" PRIu64 "\n", result_names[i], f->results[i]);
    }
}

static void put_seconds(struct buf *out, const struct figures *f)
{
    static const char name[] = "controller_runtime_reconcile_time_seconds";
    uint64_t n = 0;
    for (size_t i = 0; i <= HISTOGRAM_BUCKETS; i++) {
        n += f->seconds.counts[i];
        buf_printf(out, "%s_bucket{", name);
        put_label(out, "controller", str_of(f->name));
        if (i < HISTOGRAM_BUCKETS)
            buf_printf(out, ",le=\"%g\"} %" PRIu64 "\n", bounds[i], n);
        else
            buf_printf(out, ",le=\"+Inf\"} %" PRIu64 "\n", n);
    }
    buf_printf(out, "%s_sum{", name);
    put_label(out, "controller", str_of(f->name));
    buf_printf(out, "} %.17g\n%s_count{", f->seconds.sum, name);
    put_label(out, "controller", str_of(f->name));
    buf_printf(out, "} %" PRIu64 "\n", n);
}

static void put_errors(struct buf *out, const struct figures *f)
{
    put(out, "controller_runtime_reconcile_errors_total", "controller", f->name,
        (double)f->results[RESULT_ERROR]);
}

static void put_active(struct buf *out, const struct figures *f)
{
    put(out, "controller_runtime_active_workers", "controller", f->name, f->n_active);
}

static void put_workers(struct buf *out, const struct figures *f)
{
    put(out, "controller_runtime_max_concurrent_reconciles", "controller", f->name, f->workers);
}

/* ---- Queues ---- */

static void put_depth(struct buf *out, const struct figures *f)
{
    put(out, "workqueue_depth", "name", f->name, (double)f->queue.depth);
}

static void put_adds(struct buf *out, const struct figures *f)
{
    put(out, "workqueue_adds_total", "name", f->name, (double)f->queue.adds);
}

static void put_retries(struct buf *out, const struct figures *f)
{
    put(out, "workqueue_retries_total", "name", f->name, (double)f->queue.retries);
}

static void put_durations(struct buf *out, const char *metric, const char *name,
                          const uint64_t counts[SPN_QUEUE_BUCKETS], double sum)
{
    static const char *const le[SPN_QUEUE_BUCKETS] = { "1e-08", "1e-07", "1e-06", "1e-05", "0.0001",
                                                       "0.001", "0.01",  "0.1",   "1",     "10",
                                                       "100",   "1000",  "+Inf" };
    uint64_t n = 0;
    for (size_t i = 0; i < SPN_QUEUE_BUCKETS; i++) {
        n += counts[i];
        buf_printf(out, "%s_bucket{", metric);
        put_label(out, "name", str_of(name));
        buf_printf(out, ",le=\"%s\"} %" PRIu64 "\n", le[i], n);
    }
    buf_printf(out, "%s_sum{", metric);
    put_label(out, "name", str_of(name));
    buf_printf(out, "} %.17g\n%s_count{", sum, metric);
    put_label(out, "name", str_of(name));
    buf_printf(out, "} %" PRIu64 "\n", n);
}

static void put_wait(struct buf *out, const struct figures *f)
{
    put_durations(out, "workqueue_queue_duration_seconds", f->name, f->queue.wait_counts,
                  f->queue.wait_seconds);
}

static void put_work(struct buf *out, const struct figures *f)
{
    put_durations(out, "workqueue_work_duration_seconds", f->name, f->queue.work_counts,
                  f->queue.work_seconds);
}

static void put_unfinished(struct buf *out, const struct figures *f)
{
    put(out, "workqueue_unfinished_work_seconds", "name", f->name, f->queue.unfinished_seconds);
}

static void put_longest(struct buf *out, const struct figures *f)
{
    put(out, "workqueue_longest_running_processor_seconds", "name", f->name,
        f->queue.longest_running_seconds);
}

static const struct family {
    const char *name, *type, *help;
    void (*put)(struct buf *out, const struct figures *f);
} families[] = {
    { "controller_runtime_reconcile_total", "counter", "Reconciles, by their result.",
      put_results },
    { "controller_runtime_reconcile_errors_total", "counter", "Reconciles that failed.",
      put_errors },
    { "controller_runtime_reconcile_time_seconds", "histogram", "How long reconciles took.",
      put_seconds },
    { "controller_runtime_active_workers", "gauge", "Workers that reconcile now.", put_active },
    { "controller_runtime_max_concurrent_reconciles", "gauge", "Workers.", put_workers },
    { "workqueue_depth", "gauge", "Keys that wait.", put_depth },
    { "workqueue_adds_total", "counter", "Keys that were added.", put_adds },
    { "workqueue_retries_total", "counter", "Keys that were added again.", put_retries },
    { "workqueue_queue_duration_seconds", "histogram", "How long keys waited.", put_wait },
    { "workqueue_work_duration_seconds", "histogram", "How long workers had keys.", put_work },
    { "workqueue_unfinished_work_seconds", "gauge", "How long workers have had their keys.",
      put_unfinished },
    { "workqueue_longest_running_processor_seconds", "gauge",
      "For how long the slowest worker has had its key.", put_longest },
};

/* ---- Informers and the rest ---- */

struct informer_figures {
    struct buf lists, watches, events, errors, objects, bytes;
};

static void put_informer(struct buf *out, const char *metric, const struct spn_target *what,
                         double number)
{
    buf_printf(out, "%s{", metric);
    put_label(out, "group", str_in(what->group));
    buf_byte(out, ',');
    put_label(out, "resource", str_in(what->plural));
    buf_byte(out, ',');
    put_label(out, "namespace", str_in(what->ns));
    buf_printf(out, "} %.17g\n", number);
}

static void note_informer(void *arg, struct spn_informer *i, const struct spn_target *what)
{
    struct informer_figures *f = arg;
    struct spn_informer_stats s;
    spn_informer_stats(i, &s);
    put_informer(&f->lists, "reflector_lists_total", what, (double)s.lists);
    put_informer(&f->watches, "reflector_watches_total", what, (double)s.watches);
    put_informer(&f->events, "reflector_events_total", what, (double)s.events);
    put_informer(&f->errors, "reflector_errors_total", what, (double)s.errors);
    put_informer(&f->objects, "informer_objects", what, (double)s.objects);
    put_informer(&f->bytes, "informer_cache_bytes", what, (double)s.bytes);
}

static void put_part(struct buf *out, struct buf *part, const char *name, const char *type,
                     const char *help)
{
    head(out, name, type, help);
    buf_str_add(out, buf_str(part));
    buf_done(part);
}

static void put_informers(struct spn_manager *m, struct buf *out)
{
    struct informer_figures f = { 0 };
    informers_each(m->informers, note_informer, &f);
    put_part(out, &f.lists, "reflector_lists_total", "counter", "Lists that were begun.");
    put_part(out, &f.watches, "reflector_watches_total", "counter", "Watches that were begun.");
    put_part(out, &f.events, "reflector_events_total", "counter", "Events of watches.");
    put_part(out, &f.errors, "reflector_errors_total", "counter", "Lists and watches that failed.");
    put_part(out, &f.objects, "informer_objects", "gauge", "Objects in the cache.");
    put_part(out, &f.bytes, "informer_cache_bytes", "gauge", "Memory of the cache.");
}

static void put_events(struct spn_manager *m, struct buf *out)
{
    struct spn_recorder_stats s;
    spn_recorder_stats(m->recorder, &s);
    head(out, "sampan_events_total", "counter", "Events for users, by what became of them.");
    put(out, "sampan_events_total", "result", "written", (double)s.written);
    put(out, "sampan_events_total", "result", "filtered", (double)s.filtered);
    put(out, "sampan_events_total", "result", "dropped", (double)s.dropped);
    put(out, "sampan_events_total", "result", "failed", (double)s.failed);
}

void manager_metrics(struct spn_manager *m, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        head(out, families[i].name, families[i].type, families[i].help);
        for (struct spn_controller *c = m->controllers; c; c = c->next) {
            const struct figures f = figures_of(c);
            families[i].put(out, &f);
        }
    }
    put_informers(m, out);
    put_events(m, out);
    if (m->n_elections)
        head(out, "leader_election_master_status", "gauge", "1: this one leads.");
    for (size_t i = 0; i < m->n_elections; i++)
        put(out, "leader_election_master_status", "name", m->elections[i].user.name,
            spn_election_is_leader(m->elections[i].election));
}
