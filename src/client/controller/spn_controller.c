/* spn_controller.c - workers that take keys from a queue and call reconcile. */
#include <sampan/controller.h>

#include <assert.h>
#include <sampan/log.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/controller/controller_internal.h"
#include "client/queue/queue.h"
#include "client/thread.h"
#include "base/banned.h"

enum { KEPT_BYTES = 8 << 10 }; /* of a worker that waits */

/* References that a reconcile has been lent. */
struct spn_work_state {
    struct spn_object **held;
    size_t n_held, cap_held;
};

/* ---- What a reconcile may ask ---- */

static const struct spn_object *hold(struct spn_work *w, struct spn_object *o)
{
    struct spn_work_state *s = w->state;
    if (!o)
        return NULL;
    if (s->n_held == s->cap_held) {
        s->cap_held = s->cap_held ? 2 * s->cap_held : 8;
        s->held = mem_resize(s->held, s->cap_held, sizeof(*s->held));
    }
    s->held[s->n_held++] = o;
    return o;
}

static void release_held(struct spn_work_state *s)
{
    while (s->n_held)
        spn_object_unref(s->held[--s->n_held]);
}

static struct spn_object *cached_in(const struct controller_source *s, struct spn_arena *a,
                                    const struct spn_target *at)
{
    struct spn_text key =
        at->ns.n ? spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(at->ns), SPN_ARG(at->name))
                 : at->name;
    return spn_cache_get(spn_informer_cache(s->informer), key);
}

const struct spn_object *spn_work_cached(struct spn_work *w, const struct spn_target *at)
{
    for (struct controller_source *s = w->controller->sources; s; s = s->next) {
        struct spn_object *o = controller_source_is_of(s, at) ? cached_in(s, w->arena, at) : NULL;
        if (o)
            return hold(w, o);
    }
    return NULL;
}

static const struct spn_object *own_object(struct spn_work *w)
{
    for (struct controller_source *s = w->controller->sources; s; s = s->next)
        if (s->is_own)
            return hold(w, spn_cache_get(spn_informer_cache(s->informer), w->key));
    return NULL;
}

struct spn_value *spn_work_object(struct spn_work *w)
{
    const struct spn_object *o = own_object(w);
    return o ? spn_object_value(o, w->arena) : NULL;
}

static struct controller_source *owned_source(struct spn_work *w, const struct spn_target *what)
{
    for (struct controller_source *s = w->controller->sources; s; s = s->next)
        if (!s->is_own && !s->opt.map && controller_source_is_of(s, what))
            return s;
    return NULL;
}

static int by_key(const void *a, const void *b)
{
    const struct spn_object *const *x = a, *const *y = b;
    return str_cmp(str_in(spn_object_key(*x)), str_in(spn_object_key(*y)));
}

size_t spn_work_owned(struct spn_work *w, const struct spn_target *what,
                      const struct spn_object *const **ret)
{
    const struct spn_object *own = own_object(w);
    struct controller_source *s = owned_source(w, what);
    struct spn_objects all = { 0 };
    *ret = NULL;
    if (!own || !s ||
        spn_cache_by_index(spn_informer_cache(s->informer), CONTROLLER_INDEX, spn_object_uid(own),
                           &all, NULL) < 0)
        return 0;
    const size_t n = all.n;
    const struct spn_object **lent = spn_arena_alloc(w->arena, (n + 1) * sizeof(*lent));
    for (size_t i = 0; i < n; i++)
        lent[i] = hold(w, spn_object_ref(all.items[i]));
    spn_objects_done(&all);
    if (n)
        qsort(lent, n, sizeof(*lent), by_key);
    *ret = lent;
    return n;
}

/* ---- One call ---- */

static struct spn_work work_of(struct spn_controller *c, struct spn_text key, struct spn_arena *a,
                               struct spn_work_state *state)
{
    struct spn_manager *m = c->manager;
    const char *slash = memchr(key.p, '/', key.n);
    size_t n_ns = slash ? (size_t)(slash - key.p) : 0, skip = slash ? n_ns + 1 : 0;
    struct spn_work w = {
        .key = key,
        .ns = { key.p, n_ns },
        .name = { key.p + skip, key.n - skip },
        .at = c->opt.what,
        .arena = a,
        .client = m->opt.client,
        .how = { .stop = m->halt },
        .events = c->events,
        .retries = spn_queue_retries(c->queue, key),
        .controller = c,
        .state = state,
    };
    w.at.ns = w.ns;
    w.at.name = w.name;
    return w;
}

static enum controller_result follow(struct spn_controller *c, struct spn_text key, int r)
{
    if (r < 0 || r == spn_again()) {
        spn_queue_add_limited(c->queue, key);
        return r < 0 ? RESULT_ERROR : RESULT_REQUEUE;
    }
    spn_queue_forget(c->queue, key);
    if (r == 0)
        return RESULT_SUCCESS;
    spn_queue_add_after(c->queue, key, r);
    return RESULT_REQUEUE_AFTER;
}

static void log_failure(const struct spn_controller *c, struct spn_text key, int r,
                        const struct spn_err *err)
{
    bool is_ending = r == -SPN_CANCELLED && spn_stop_is_set(c->manager->halt);
    bool is_late = r == -SPN_CONFLICT; /* somebody was faster: it looks again, as it should */
    bool is_gone = r == -SPN_NOT_FOUND;
    spn_log(is_ending || is_late ? SPN_LOG_DEBUG
            : is_gone            ? SPN_LOG_WARN
                                 : SPN_LOG_ERROR,
            "a reconcile failed controller=%s key=" SPN_FMT " err=\"%s\"", c->opt.name,
            SPN_ARG(key), err->message);
}

static void count_begin(struct spn_controller *c)
{
    (void)pthread_mutex_lock(&c->lock);
    c->n_active++;
    (void)pthread_mutex_unlock(&c->lock);
}

static void count_end(struct spn_controller *c, enum controller_result result, int64_t ns)
{
    (void)pthread_mutex_lock(&c->lock);
    c->n_active--;
    c->results[result]++;
    histogram_add(&c->seconds, (double)ns / NS_PER_SEC);
    (void)pthread_mutex_unlock(&c->lock);
}

static void work_on(struct spn_controller *c, struct spn_text key, struct spn_arena *a,
                    struct spn_work_state *state)
{
    struct spn_err err = { 0 };
    struct spn_work w = work_of(c, key, a, state);
    int64_t start_ns = clock_mono_ns(&clock_system);
    count_begin(c);
    int r = c->opt.reconcile(c->opt.arg, &w, &err);
    int64_t took_ns = clock_mono_ns(&clock_system) - start_ns;
    if (r < 0)
        log_failure(c, key, r, &err);
    count_end(c, follow(c, key, r), took_ns);
    release_held(state);
    arena_shrink(arena_in(a), KEPT_BYTES);
}

/* ---- Workers: one more than there is work for, up to those that are allowed ---- */

static void add_worker(struct spn_controller *c);

/* Once everything is to end at once, what waits is only taken out of the queue. */
static void *run_worker(void *arg)
{
    struct spn_controller *c = arg;
    struct spn_work_state state = { 0 };
    struct spn_arena *a = spn_arena_new();
    struct spn_text key;
    while (spn_queue_get(c->queue, &key)) {
        if (queue_needs_help(c->queue))
            add_worker(c);
        if (!spn_stop_is_set(c->manager->halt))
            work_on(c, key, a, &state);
        spn_queue_done(c->queue, key);
    }
    spn_arena_free(a);
    free(state.held);
    manager_worker_ended(c->manager);
    return NULL;
}

static void add_worker(struct spn_controller *c)
{
    (void)pthread_mutex_lock(&c->lock);
    if (c->n_workers < c->opt.workers) {
        manager_worker_begins(c->manager);
        if (thread_start(&c->workers[c->n_workers], 0, run_worker, c))
            c->n_workers++;
        else
            manager_worker_ended(c->manager);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static unsigned count_workers(struct spn_controller *c)
{
    (void)pthread_mutex_lock(&c->lock);
    unsigned n = c->n_workers;
    (void)pthread_mutex_unlock(&c->lock);
    return n;
}

int controller_start(struct spn_controller *c, struct spn_err *err)
{
    c->workers = mem_array(c->opt.workers, sizeof(*c->workers));
    add_worker(c);
    return count_workers(c)
               ? 0
               : spn_err_set(err, SPN_UNAVAILABLE, "no thread for controller %s", c->opt.name);
}

/* One may have started another before it ended. */
void controller_join(struct spn_controller *c)
{
    for (unsigned i = 0; i < count_workers(c); i++)
        (void)pthread_join(c->workers[i], NULL);
    c->n_workers = 0;
}

/* ---- Beginning and end ---- */

static const char *kept(struct arena *a, const char *text)
{
    return text ? str_cstr(a, str_of(text)) : NULL;
}

static struct spn_text kept_text(struct arena *a, struct spn_text t)
{
    return text_out(arena_str(a, str_in(t)));
}

static struct spn_controller_options kept_options(struct arena *a,
                                                  const struct spn_controller_options *opt)
{
    struct spn_controller_options o = *opt;
    o.name = kept(a, opt->name);
    o.kind = kept(a, opt->kind);
    o.labels = kept(a, opt->labels);
    o.fields = kept(a, opt->fields);
    o.what = (struct spn_target){ .group = kept_text(a, opt->what.group),
                                  .version = kept_text(a, opt->what.version),
                                  .plural = kept_text(a, opt->what.plural),
                                  .ns = kept_text(a, opt->what.ns) };
    o.workers = opt->workers ? opt->workers : 1;
    o.queue.name = o.name;
    o.component = NULL; /* its recorder has it */
    return o;
}

struct spn_controller *spn_manager_add(struct spn_manager *m,
                                       const struct spn_controller_options *opt)
{
    assert(!m->has_run && opt->name && opt->reconcile);
    struct spn_controller *c = arena_new(&m->arena, struct spn_controller);
    c->manager = m;
    c->opt = kept_options(&m->arena, opt);
    c->queue = spn_queue_new(&c->opt.queue);
    c->events = opt->component ? spn_recorder_as(m->recorder, opt->component) : m->recorder;
    (void)pthread_mutex_init(&c->lock, NULL);
    c->next = m->controllers;
    m->controllers = c;
    const struct spn_source own = {
        .of = { .what = opt->what,
                .labels = opt->labels,
                .fields = opt->fields,
                .resync_ms = opt->resync_ms },
        .when = opt->when,
        .when_arg = opt->when_arg,
    };
    controller_source_add(c, &own, true);
    return c;
}

void controller_free(struct spn_controller *c)
{
    for (struct controller_source *s = c->sources; s; s = s->next)
        s->arena = spn_arena_free(s->arena);
    spn_queue_free(c->queue);
    (void)pthread_mutex_destroy(&c->lock);
    free(c->workers);
}
