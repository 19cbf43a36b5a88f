/* controller_manager.c - starts informers, elections and workers, and ends them in order. */
#include <assert.h>
#include <sampan/log.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "client/controller/controller_internal.h"
#include "client/thread.h"
#include "base/banned.h"

enum { GRACE_MS = 10000, EVENTS_MS = 5000 };

/* ---- Running ---- */

static int check_controllers(struct spn_manager *m, struct spn_err *err)
{
    for (struct spn_controller *c = m->controllers; c; c = c->next)
        for (struct controller_source *s = c->sources; s; s = s->next)
            if (!s->is_own && !s->opt.map && !c->opt.kind)
                return spn_err_set(err, SPN_INVALID,
                                   "controller %s owns " SPN_FMT ", but has no kind", c->opt.name,
                                   SPN_ARG(s->opt.of.what.plural));
    return 0;
}

static int start_informers(struct spn_manager *m, struct spn_err *err)
{
    for (struct spn_controller *c = m->controllers; c; c = c->next)
        for (struct controller_source *s = c->sources; s; s = s->next)
            controller_source_listen(s);
    return spn_informers_start(m->informers, err);
}

static int start_workers(struct spn_manager *m, struct spn_err *err)
{
    for (struct spn_controller *c = m->controllers; c; c = c->next) {
        int r = controller_start(c, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Returns when it is to end, or cannot begin. */
static int run_until_end(struct spn_manager *m, struct spn_err *err)
{
    int r = health_start(m, &m->health, err);
    if (r < 0)
        return r;
    r = start_informers(m, err);
    if (r < 0)
        return r;
    r = elections_run(m, err);
    if (r < 0)
        return r;
    if (spn_stop_is_set(m->end) || !spn_informers_wait(m->informers, m->end, -1))
        return 0;
    r = start_workers(m, err);
    if (r < 0)
        return r;
    if (m->opt.on_running)
        m->opt.on_running(m->opt.arg);
    (void)spn_stop_wait(m->end, -1);
    return 0;
}

/* ---- Ending ---- */

void manager_worker_begins(struct spn_manager *m)
{
    (void)pthread_mutex_lock(&m->lock);
    m->n_workers++;
    (void)pthread_mutex_unlock(&m->lock);
}

void manager_worker_ended(struct spn_manager *m)
{
    (void)pthread_mutex_lock(&m->lock);
    m->n_workers--;
    (void)pthread_cond_broadcast(&m->changed);
    (void)pthread_mutex_unlock(&m->lock);
}

/* Workers finish what is there. When the grace is over, calls under way are ended, too. */
static void finish_workers(struct spn_manager *m)
{
    int64_t until_ns = clock_mono_ns(&clock_system) + m->opt.grace_ms * NS_PER_MS;
    for (struct spn_controller *c = m->controllers; c; c = c->next)
        spn_queue_stop(c->queue);
    bool in_time = true;
    (void)pthread_mutex_lock(&m->lock);
    while (m->n_workers && in_time && !spn_stop_is_set(m->halt))
        in_time = cond_wait_until(&m->changed, &m->lock, until_ns);
    (void)pthread_mutex_unlock(&m->lock);
    spn_stop_set(m->halt);
    for (struct spn_controller *c = m->controllers; c; c = c->next)
        controller_join(c);
}

/* Leases go last: nobody else may begin while anything of ours runs. */
static void finish(struct spn_manager *m)
{
    spn_stop_set(m->end);
    finish_workers(m);
    spn_informers_stop(m->informers);
    elections_end(m);
    (void)spn_recorder_flush(m->recorder, EVENTS_MS);
    m->health = health_stop(m->health);
}

int spn_manager_run(struct spn_manager *m, struct spn_err *err)
{
    assert(!m->has_run);
    int r = check_controllers(m, err);
    if (r < 0)
        return r;
    m->has_run = true;
    stop_listen(m->end, &m->on_end);
    stop_listen(m->opt.stop, &m->on_user_stop);
    r = run_until_end(m, err);
    finish(m);
    stop_unlisten(m->opt.stop, &m->on_user_stop);
    stop_unlisten(m->end, &m->on_end);
    return r < 0 ? r : elections_result(m, err);
}

static void on_user_stop(struct stop_listener *l)
{
    spn_stop_set(container_of(l, struct spn_manager, on_user_stop)->end);
}

static void on_end(struct stop_listener *l)
{
    struct spn_manager *m = container_of(l, struct spn_manager, on_end);
    (void)pthread_mutex_lock(&m->lock);
    (void)pthread_cond_broadcast(&m->changed);
    (void)pthread_mutex_unlock(&m->lock);
}

void spn_manager_stop(struct spn_manager *m)
{
    spn_stop_set(m->end);
}

/* ---- Beginning and end ---- */

static int make_parts(struct spn_manager *m, struct spn_err *err)
{
    const struct spn_recorder_options events = { .component = m->opt.name };
    int r = elections_new(m, err);
    if (r < 0)
        return r;
    return spn_recorder_new(m->opt.client, &events, &m->recorder, err);
}

static const char *kept(struct arena *a, const char *text)
{
    return text ? str_cstr(a, str_of(text)) : NULL;
}

int spn_manager_new(const struct spn_manager_options *opt, struct spn_manager **ret,
                    struct spn_err *err)
{
    assert(opt->client);
    struct spn_manager *m = mem_new(struct spn_manager);
    arena_init(&m->arena);
    m->opt = *opt;
    m->opt.name = kept(&m->arena, opt->name ? opt->name : "sampan");
    m->opt.health_address = kept(&m->arena, opt->health_address);
    m->opt.grace_ms = opt->grace_ms ? opt->grace_ms : GRACE_MS;
    m->informers = spn_informers_new(opt->client);
    m->end = spn_stop_new();
    m->halt = spn_stop_new();
    m->no_election = spn_stop_new();
    m->on_user_stop.on_stop = on_user_stop;
    m->on_end.on_stop = on_end;
    (void)pthread_mutex_init(&m->lock, NULL);
    cond_init_monotonic(&m->changed);
    int r = make_parts(m, err);
    if (r < 0) {
        spn_manager_free(m);
        return r;
    }
    manager_add_checks(m);
    *ret = m;
    return 0;
}

struct spn_manager *spn_manager_free(struct spn_manager *m)
{
    if (!m)
        return NULL;
    spn_informers_free(m->informers);
    for (struct spn_controller *c = m->controllers; c; c = c->next)
        controller_free(c);
    spn_recorder_free(m->recorder);
    elections_free(m);
    spn_stop_free(m->end);
    spn_stop_free(m->halt);
    spn_stop_free(m->no_election);
    (void)pthread_cond_destroy(&m->changed);
    (void)pthread_mutex_destroy(&m->lock);
    arena_done(&m->arena);
    free(m);
    return NULL;
}

/* ---- Asking ---- */

struct spn_informers *spn_manager_informers(struct spn_manager *m)
{
    return m->informers;
}

struct spn_recorder *spn_manager_recorder(struct spn_manager *m)
{
    return m->recorder;
}

struct spn_text spn_manager_health_address(struct spn_manager *m, struct spn_arena *a)
{
    (void)pthread_mutex_lock(&m->lock);
    struct spn_text address = spn_arena_text(a, text_out(m->health_address));
    (void)pthread_mutex_unlock(&m->lock);
    return address;
}
