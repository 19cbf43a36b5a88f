#include "scheduler/scheduler.h"

#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "scheduler/scheduler_internal.h"
#include <sampan/log.h>
#include "base/banned.h"

/* ---- The lock ---- */

void scheduler__enter(struct scheduler *s)
{
    atomic_fetch_add(&s->visitors, 1);
    pthread_mutex_lock(&s->lock);
    atomic_fetch_sub(&s->visitors, 1);
}

void scheduler__leave(struct scheduler *s)
{
    pthread_mutex_unlock(&s->lock);
}

/* Lets those in who wait: a mutex alone would mostly give itself back to us. */
static void let_others_in(struct scheduler *s)
{
    enum { TRIES = 16 };
    for (int i = 0; i < TRIES && atomic_load(&s->visitors); i++) {
        pthread_mutex_unlock(&s->lock);
        sched_yield();
        pthread_mutex_lock(&s->lock);
    }
}

bool scheduler__is_ours(const struct scheduler *s, const struct pod_facts *f)
{
    return profiles_find(&s->profiles, f->scheduler);
}

void scheduler__wake(struct scheduler *s, uint32_t plugins, wait_hint_fn *hint, void *arg)
{
    if (s->queue.waiting.n &&
        wait_queue_wake(&s->queue, plugins, hint, arg, clock_mono_ns(&clock_system)))
        pthread_cond_signal(&s->changed);
}

/* ---- What follows from a decision ---- */

static struct volume_choice *copy_choices(struct arena *a, const struct decision *d)
{
    struct volume_choice *all = arena_array(a, struct volume_choice, d->n_volumes + 1);
    for (size_t i = 0; i < d->n_volumes; i++)
        all[i] = (struct volume_choice){ .claim = arena_str(a, d->volumes[i].claim),
                                         .volume = arena_str(a, d->volumes[i].volume) };
    return all;
}

/* The pod counts on its node from now on. */
static void assume(struct scheduler *s, struct sched_pod *p, const struct profile *profile,
                   const struct decision *d)
{
    struct call *c = call_new(CALL_BIND, p->f);
    c->volume_limit_ns = profile->bind_timeout_ns;
    c->node = arena_str(&c->mem, d->node->name);
    c->is_nominated = str_eq(p->f->nominated, c->node);
    c->volumes = copy_choices(&c->mem, d);
    c->n_volumes = d->n_volumes;
    for (size_t i = 0; i < d->n_volumes; i++)
        if (d->volumes[i].volume.n)
            scheduler__promise(s, d->volumes[i].volume, p->f->ns, d->volumes[i].claim);
    world_nominate(&s->world, p, (struct str){ 0 });
    world_place(&s->world, p, d->node);
    p->is_assumed = true;
    calls_post(s->calls, c);
}

/* Tells the user why, and notes in the status what has changed. */
static void report_failure(struct scheduler *s, const struct pod_facts *f, struct str message,
                           struct str reason, const struct str *nominated)
{
    struct call *c = call_new(CALL_FAILED, f);
    c->message = arena_str(&c->mem, message);
    c->reason = reason;
    c->is_transition = !str_eq(f->cond_status, STR("False"));
    c->writes_condition =
        c->is_transition || !str_eq(f->cond_reason, reason) || !str_eq(f->cond_message, message);
    c->writes_nominated = nominated && !str_eq(*nominated, f->nominated);
    if (c->writes_nominated)
        c->nominated = arena_str(&c->mem, *nominated);
    calls_post(s->calls, c);
}

/* Others of lower priority that wait for the same node have to look for another. */
static void displace(struct scheduler *s, const struct sched_pod *p, struct str node)
{
    static const struct str none = { 0 };
    for (size_t i = s->world.n_nominated; i-- > 0;) {
        struct sched_pod *other = s->world.nominated[i];
        if (other == p || other->f->priority >= p->f->priority || !str_eq(other->nominated, node))
            continue;
        struct call *c = call_new(CALL_FAILED, other->f);
        c->writes_nominated = true;
        calls_post(s->calls, c);
        world_nominate(&s->world, other, none);
    }
}

static void preempt(struct scheduler *s, struct sched_pod *p, const struct decision *d)
{
    struct call *c = call_new(CALL_PREEMPT, p->f);
    c->node = arena_str(&c->mem, d->nominated);
    c->victims = arena_array(&c->mem, struct call_pod, d->n_victims);
    for (size_t i = 0; i < d->n_victims; i++) {
        const struct pod_facts *f = d->victims[i]->f;
        if (f->is_deleting)
            continue;
        c->victims[c->n_victims++] = (struct call_pod){ .ns = arena_str(&c->mem, f->ns),
                                                        .name = arena_str(&c->mem, f->name),
                                                        .uid = arena_str(&c->mem, f->uid),
                                                        .version = arena_str(&c->mem, f->version),
                                                        .generation = f->generation };
    }
    p->is_preempting = true;
    displace(s, p, d->nominated);
    calls_post(s->calls, c);
}

static void fail(struct scheduler *s, struct sched_pod *p, const struct decision *d)
{
    static const struct str none = { 0 };
    const struct str *nominated = d->n_victims || d->clears_nominated ? &d->nominated : NULL;
    wait_queue_fail(&s->queue, p, d->rejected_by, d->had_error, clock_mono_ns(&clock_system));
    report_failure(s, p->f, d->message, STR("Unschedulable"), nominated);
    if (d->n_victims) {
        world_nominate(&s->world, p, d->nominated);
        preempt(s, p, d);
    } else if (d->clears_nominated) {
        world_nominate(&s->world, p, none);
    }
}

static void schedule(struct scheduler *s, struct sched_pod *p, struct arena *a)
{
    struct decision d;
    const struct profile *profile = profiles_find(&s->profiles, p->f->scheduler);
    cycle_run(&s->world, profile, &s->env, a, &s->cursor, p, &d);
    if (d.node)
        assume(s, p, profile, &d);
    else
        fail(s, p, &d);
    arena_reset(a);
}

/* ---- Answers, on threads of the calls ---- */

static struct sched_pod *pod_of(struct scheduler *s, const struct call *c)
{
    struct arena a;
    arena_init(&a);
    struct sched_pod *p = world_pod(
        &s->world, arena_printf(&a, STR_FMT "/" STR_FMT, STR_ARG(c->pod.ns), STR_ARG(c->pod.name)));
    arena_done(&a);
    return p && str_eq(p->f->uid, c->pod.uid) ? p : NULL;
}

/* The pod has not come to its node: it looks for another one later. */
static void unassume(struct scheduler *s, struct sched_pod *p, const struct spn_err *err)
{
    static const struct str none = { 0 };
    world_unplace(&s->world, p);
    p->is_assumed = false;
    scheduler__wake(s, (1u << N_PLUGINS) - 1, NULL, NULL);
    if (p->f->is_deleting || err->code == SPN_NOT_FOUND || err->code == SPN_CANCELLED)
        return;
    wait_queue_fail(&s->queue, p, 0, true, clock_mono_ns(&clock_system));
    pthread_cond_signal(&s->changed);
    report_failure(s, p->f, str_of(err->message), STR("SchedulerError"), &none);
}

static void on_bound(void *arg, const struct call *c, const struct spn_err *err)
{
    struct scheduler *s = arg;
    if (!err)
        return; /* the informer says where it is */
    scheduler__enter(s);
    struct sched_pod *p = pod_of(s, c);
    for (size_t i = 0; i < c->n_volumes; i++)
        scheduler__forget_promise(s, c->volumes[i].volume);
    if (p && p->is_assumed)
        unassume(s, p, err);
    scheduler__leave(s);
}

static void on_preempted(void *arg, const struct call *c, bool failed)
{
    struct scheduler *s = arg;
    scheduler__enter(s);
    struct sched_pod *p = pod_of(s, c);
    if (p) {
        wait_queue_preempted(&s->queue, p, failed, clock_mono_ns(&clock_system));
        pthread_cond_signal(&s->changed);
    }
    scheduler__leave(s);
}

/* ---- The thread that decides ---- */

static bool has_caches(struct scheduler *s, int64_t ms)
{
    for (size_t i = 0; i < s->n_needed; i++)
        if (!spn_informer_wait(s->needed[i], s->stop, ms))
            return false;
    return true;
}

/* False: it is to end. */
static bool wait_to_lead(struct scheduler *s)
{
    enum { STEP_MS = 20 };
    while (!spn_stop_is_set(s->stop))
        if (!spn_manager_is_leader(s->manager))
            (void)spn_stop_wait(s->stop, STEP_MS);
        else if (has_caches(s, STEP_MS))
            return true;
    return false;
}

static void wait_for_change(struct scheduler *s, int64_t until_ns)
{
    if (until_ns == INT64_MAX) {
        pthread_cond_wait(&s->changed, &s->lock);
        return;
    }
    const struct timespec until = { .tv_sec = until_ns / NS_PER_SEC,
                                    .tv_nsec = until_ns % NS_PER_SEC };
    pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

static void *decide(void *arg)
{
    struct scheduler *s = arg;
    struct arena a;
    if (!wait_to_lead(s))
        return NULL;
    arena_init(&a);
    pthread_mutex_lock(&s->lock);
    while (!s->ends) {
        int64_t next = INT64_MAX;
        struct sched_pod *p = wait_queue_pop(&s->queue, clock_mono_ns(&clock_system), &next);
        if (!p) {
            wait_for_change(s, next);
            continue; /* what woke us is acted on before the next change */
        }
        schedule(s, p, &a);
        let_others_in(s);
    }
    pthread_mutex_unlock(&s->lock);
    arena_done(&a);
    return NULL;
}

/* ---- Beginning and end ---- */

static void init_lock(struct scheduler *s)
{
    pthread_condattr_t attr;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
}

static int read_config(struct scheduler *s, struct spn_text text, struct spn_err *err)
{
    struct spn_value *config;
    s->config_mem = spn_arena_new();
    profiles_init(&s->profiles);
    if (text.n) {
        struct err why = ERR_INIT(arena_in(s->config_mem));
        int r =
            spn_value_read_yaml(s->config_mem, spn_arena_text(s->config_mem, text), &config, err);
        if (r < 0)
            return r;
        if (profiles_read(why.arena, value_in(config), &s->profiles, &why) < 0)
            return spn_err_set(err, SPN_INVALID, "the configuration: " STR_FMT, STR_ARG(why.msg));
    }
    s->cursor.percent = (unsigned)s->profiles.percent;
    s->queue.first_pause_ns = s->profiles.first_pause_ns;
    s->queue.longest_pause_ns = s->profiles.longest_pause_ns;
    return 0;
}

static int start(struct scheduler *s, struct spn_client *client, struct spn_err *err)
{
    const struct calls_options calls = { .client = client,
                                         .stop = s->stop,
                                         .arg = s,
                                         .on_bound = on_bound,
                                         .on_preempted = on_preempted,
                                         .check_volumes = scheduler__check_volumes };
    int r = calls_new(&calls, &s->calls, err);
    if (r < 0)
        return r;
    scheduler__watch(s);
    s->has_thread = pthread_create(&s->thread, NULL, decide, s) == 0;
    return s->has_thread ? 0 : spn_err_set(err, SPN_UNAVAILABLE, "no thread for the scheduler");
}

static struct scheduler *new_scheduler(struct spn_manager *m)
{
    struct scheduler *s = mem_new(struct scheduler);
    s->manager = m;
    s->stop = spn_stop_new();
    s->cursor.random = (uint64_t)clock_wall_ns(&clock_system);
    init_lock(s);
    world_init(&s->world);
    scheduler__init_env(s);
    return s;
}

int scheduler_add(struct spn_manager *m, struct spn_client *client,
                  const struct scheduler_options *opt, struct scheduler **ret, struct spn_err *err)
{
    struct scheduler *s = new_scheduler(m);
    if (read_config(s, opt->config, err) < 0 || start(s, client, err) < 0) {
        scheduler_free(s);
        return -(int)err->code;
    }
    *ret = s;
    return 0;
}

struct scheduler *scheduler_free(struct scheduler *s)
{
    if (!s)
        return NULL;
    spn_stop_set(s->stop);
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->has_thread)
        pthread_join(s->thread, NULL);
    calls_free(s->calls);
    wait_queue_done(&s->queue);
    world_done(&s->world);
    owners_done(&s->owners);
    scheduler__forget_promises(s);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    spn_arena_free(s->config_mem);
    spn_stop_free(s->stop);
    free(s);
    return NULL;
}
