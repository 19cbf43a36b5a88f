#include "node/agent/agent.h"

#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

enum {
    MAX_THREADS = 256,
    RELIST_MS = 1000,
    HOUSEKEEPING_MS = 2000,
    GARBAGE_MS = 60000,
    IMAGE_GC_MS = 300000,
    EVICT_MS = 10000,
    RUNTIME_RETRY_MS = 1000,
    UPDATE_MS = 60000,
};

int64_t agent_wall_ns(void)
{
    return clock_wall_ns(&clock_system);
}

int64_t agent_mono_ns(void)
{
    return clock_mono_ns(&clock_system);
}

int64_t agent_jitter(int64_t ms, double by)
{
    uint32_t chance = 0;
    (void)getrandom(&chance, sizeof(chance), 0);
    return ms + (int64_t)((double)ms * by * chance / UINT32_MAX);
}

/* ---- Keys ---- */

static void add_key(struct agent *ag, const char *prefix, struct str name, int64_t ms)
{
    autobuf key = { 0 };
    buf_str_add(&key, str_of(prefix));
    buf_str_add(&key, name);
    if (ms > 0)
        spn_queue_add_after(ag->queue, text_out(buf_str(&key)), ms);
    else
        spn_queue_add(ag->queue, text_out(buf_str(&key)));
}

void agent_wake(struct agent *ag, struct str uid)
{
    add_key(ag, "p/", uid, 0);
}

void agent_wake_writer(struct agent *ag, struct str uid, int64_t ms)
{
    add_key(ag, "s/", uid, ms);
}

void agent_wake_after(struct agent *ag, struct str uid, int64_t ms)
{
    add_key(ag, "p/", uid, ms);
}

void agent_wake_task(struct agent *ag, const char *task, int64_t ms)
{
    add_key(ag, "", str_of(task), ms);
}

/* What comes again by itself. */
static const struct task {
    const char *key;
    void (*run)(struct agent *ag);
    int64_t every_ms; /* 0: as the options say */
} tasks[] = {
    { "relist", relist_run, RELIST_MS },
    { "files", static_pods_read, 0 },
    { "housekeeping", housekeeping_run, HOUSEKEEPING_MS },
    { "garbage", garbage_run, GARBAGE_MS },
    { "images", image_gc_run, IMAGE_GC_MS },
    { "logs", log_rotate_run, 0 },
    { "evict", evict_run, EVICT_MS },
};

static int64_t period_of(const struct agent *ag, const struct task *t)
{
    if (t->every_ms)
        return t->every_ms;
    return t->run == log_rotate_run ? ag->opt.log_check_ms : ag->opt.file_check_ms;
}

static void run_task(struct agent *ag, struct str key)
{
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        if (!str_eq(key, str_of(tasks[i].key)))
            continue;
        tasks[i].run(ag);
        agent_wake_task(ag, tasks[i].key, period_of(ag, &tasks[i]));
    }
}

struct turn {
    struct agent *ag;
    struct spn_text key; /* lent by the queue until it is done */
};

static void run_key(void *arg)
{
    struct turn *t = arg;
    struct str key = str_in(t->key);
    if (str_starts(key, STR("p/")))
        worker_run(t->ag, str_skip(key, 2));
    else if (str_starts(key, STR("s/")))
        status_write(t->ag, str_skip(key, 2));
    else if (str_starts(key, STR("b/")))
        probes_run(t->ag, str_skip(key, 2));
    else
        run_task(t->ag, key);
    spn_queue_done(t->ag->queue, t->key);
    free(t);
}

/* ---- Running ---- */

/* The runtime's name is part of containers' ids. */
static bool greet_runtime(struct agent *ag)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value answer;
    bool is_there = cri_call(ag->parts.cri, "Version", NULL, 0, &a, &answer, &err) == 0;
    if (is_there) {
        struct str name = value_text(&answer, "runtime_name");
        ag->scheme = arena_str(&ag->arena, name.n ? name : STR("containerd"));
    } else {
        log_warn("the container runtime does not answer yet", LOG_ERR(&err));
    }
    arena_done(&a);
    return is_there;
}

static int start_informers(struct agent *ag, struct err *err)
{
    const struct spn_handler h = pods_handler(ag);
    struct spn_err e = { 0 };
    spn_informer_handle(ag->pod_informer, &h);
    if (spn_informer_start(ag->pod_informer, &e) < 0 ||
        spn_informer_start(ag->node_informer, &e) < 0)
        return err_set(err, ERR_UNAVAILABLE, "follow pods: %s", e.message);
    return 0;
}

static void *stop_queue(void *arg)
{
    struct agent *ag = arg;
    (void)spn_stop_wait(ag->stop, -1);
    spn_queue_stop(ag->queue);
    return NULL;
}

static void dispatch(struct agent *ag)
{
    struct spn_text key;
    while (spn_queue_get(ag->queue, &key)) {
        struct turn *t = mem_new(struct turn);
        *t = (struct turn){ ag, key };
        crew_do(ag->crew, run_key, t);
    }
}

int agent_run(struct agent *ag, struct spn_stop *stop, struct err *err)
{
    ag->stop = stop;
    while (!greet_runtime(ag))
        if (spn_stop_wait(stop, RUNTIME_RETRY_MS))
            return 0;
    int r = start_informers(ag, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
        agent_wake_task(ag, tasks[i].key, 0);
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, stop_queue, ag) != 0)
        return err_set(err, ERR_UNAVAILABLE, "the system has no thread left");
    dispatch(ag);
    (void)pthread_join(watcher, NULL);
    spn_informer_stop(ag->pod_informer);
    spn_informer_stop(ag->node_informer);
    ag->crew = crew_free(ag->crew);
    (void)spn_recorder_flush(ag->events, 1000);
    return 0;
}

/* ---- Beginning and end ---- */

static const struct agent_threshold usual_thresholds[] = {
    { STR("memory.available"), STR("100Mi") }, { STR("nodefs.available"), STR("10%") },
    { STR("nodefs.inodesFree"), STR("5%") },   { STR("imagefs.available"), STR("15%") },
    { STR("imagefs.inodesFree"), STR("5%") },
};

static void copy_thresholds(struct agent *ag)
{
    struct agent_options *o = &ag->opt;
    if (!o->eviction_hard) {
        o->eviction_hard = usual_thresholds;
        o->n_eviction_hard = ARRAY_LEN(usual_thresholds);
        return;
    }
    struct agent_threshold *all =
        arena_array(&ag->arena, struct agent_threshold, o->n_eviction_hard + 1);
    for (size_t i = 0; i < o->n_eviction_hard; i++) {
        all[i].signal = arena_str(&ag->arena, o->eviction_hard[i].signal);
        all[i].value = arena_str(&ag->arena, o->eviction_hard[i].value);
    }
    o->eviction_hard = all;
}

static int64_t or_usual(int64_t n, int64_t usual)
{
    return n ? n : usual;
}

static void set_options(struct agent *ag, const struct agent_options *opt)
{
    struct agent_options *o = &ag->opt;
    *o = opt ? *opt : (struct agent_options){ 0 };
    o->manifests = arena_str(&ag->arena, o->manifests);
    o->sync_ms = or_usual(o->sync_ms, 60000);
    o->file_check_ms = or_usual(o->file_check_ms, 20000);
    o->registry_qps = o->registry_qps != 0 ? o->registry_qps : 5;
    o->registry_burst = (unsigned)or_usual(o->registry_burst, 10);
    o->image_gc_high = (unsigned)or_usual(o->image_gc_high, 85);
    o->image_gc_low = (unsigned)or_usual(o->image_gc_low, 80);
    o->image_min_age_ms = or_usual(o->image_min_age_ms, 120000);
    o->log_max_bytes = o->log_max_bytes ? o->log_max_bytes : 10 << 20;
    o->log_max_files = (unsigned)or_usual(o->log_max_files, 5);
    o->log_check_ms = or_usual(o->log_check_ms, 10000);
    o->restart_back_off_max_ms = or_usual(o->restart_back_off_max_ms, 300000);
    copy_thresholds(ag);
}

static void make_informers(struct agent *ag)
{
    struct arena *a = &ag->arena;
    const struct str node = ag->parts.node->name;
    const char *mine = str_cstr(a, arena_printf(a, "spec.nodeName=" STR_FMT, STR_ARG(node)));
    const struct spn_informer_options pods = {
        .what = SPN_AT("", "v1", "pods", "", ""),
        .fields = mine,
    };
    struct spn_informer_options nodes = { .what = SPN_AT("", "v1", "nodes", "", "") };
    nodes.what.name = text_out(node);
    ag->pod_informer = spn_informer_new(ag->parts.client, &pods);
    ag->node_informer = spn_informer_new(ag->parts.client, &nodes);
}

static int make_recorder(struct agent *ag, struct err *err)
{
    struct spn_err e = { 0 };
    const struct spn_recorder_options opt = {
        .component = "kubelet",
        .host = str_cstr(&ag->arena, ag->parts.node->name),
    };
    if (spn_recorder_new(ag->parts.client, &opt, &ag->events, &e) < 0)
        return err_set(err, ERR_UNAVAILABLE, "%s", e.message);
    return 0;
}

int agent_new(const struct agent_parts *parts, const struct agent_options *opt, struct agent **ret,
              struct err *err)
{
    enum {
        FIRST_PAUSE_MS = 10000,
        LONGEST_PULL_PAUSE_MS = 300000,
        FIRST_MOUNT_PAUSE_MS = 500,
        LONGEST_MOUNT_PAUSE_MS = 122000,
    };
    static const struct spn_queue_options queue = { .name = "pods", .per_second = -1 };
    struct agent *ag = mem_new(struct agent);
    ag->parts = *parts;
    arena_init(&ag->arena);
    set_options(ag, opt);
    ag->start_ns = agent_wall_ns();
    (void)pthread_mutex_init(&ag->lock, NULL);
    (void)pthread_mutex_init(&ag->admit_lock, NULL);
    ag->queue = spn_queue_new(&queue);
    ag->crew = crew_new(MAX_THREADS);
    ag->restarts = back_off_new(FIRST_PAUSE_MS, ag->opt.restart_back_off_max_ms);
    ag->pulls = back_off_new(FIRST_PAUSE_MS, LONGEST_PULL_PAUSE_MS);
    ag->mounts = back_off_new(FIRST_MOUNT_PAUSE_MS, LONGEST_MOUNT_PAUSE_MS);
    ag->fetcher = fetcher_new(&(struct fetcher_options){ .insecure = true, .max_idle = 1 });
    ag->probes = probes_new(ag);
    ag->images = images_new(ag);
    make_informers(ag);
    int r = make_recorder(ag, err);
    if (r < 0) {
        (void)agent_free(ag);
        return r;
    }
    *ret = ag;
    return 0;
}

static void free_mirrors(struct agent *ag)
{
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&ag->mirrors, &pos, &key, &p)) {
        struct mirror *m = p;
        (void)map_remove(&ag->mirrors, key);
        spn_object_unref(m->obj);
        free(m->key);
        free(m);
    }
    map_done(&ag->mirrors);
}

static void free_pods(struct agent *ag)
{
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&ag->pods, &pos, &key, &p))
        pods_free_one(ag, p);
    map_done(&ag->pods);
    pos = 0;
    while (map_next(&ag->seen, &pos, &key, &p)) {
        (void)map_remove(&ag->seen, key);
        relist_forget(p);
    }
    map_done(&ag->seen);
}

struct agent *agent_free(struct agent *ag)
{
    if (!ag)
        return NULL;
    spn_informer_free(ag->pod_informer);
    spn_informer_free(ag->node_informer);
    (void)crew_free(ag->crew);
    spn_recorder_free(ag->events);
    probes_free(ag->probes);
    images_free(ag->images);
    free_pods(ag);
    free_mirrors(ag);
    back_off_free(ag->restarts);
    back_off_free(ag->pulls);
    back_off_free(ag->mounts);
    fetcher_free(ag->fetcher);
    spn_queue_free(ag->queue);
    (void)pthread_mutex_destroy(&ag->lock);
    (void)pthread_mutex_destroy(&ag->admit_lock);
    arena_done(&ag->arena);
    free(ag);
    return NULL;
}

struct agent_pressure agent_pressure(struct agent *ag)
{
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pressure p = ag->pressure;
    (void)pthread_mutex_unlock(&ag->lock);
    return p;
}

int64_t agent_last_relist_ns(struct agent *ag)
{
    (void)pthread_mutex_lock(&ag->lock);
    int64_t at = ag->last_relist_ns;
    (void)pthread_mutex_unlock(&ag->lock);
    return at;
}
