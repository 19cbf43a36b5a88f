/* controller_election.c - a manager that works only while it holds its leases. */
#include <sampan/log.h>
#include <stdlib.h>

#include "base/mem.h"
#include "client/controller/controller_internal.h"
#include "client/thread.h"
#include "base/banned.h"

/* ---- What an election tells ---- */

static void on_started(void *arg)
{
    struct manager_election *e = arg;
    struct spn_manager *m = e->manager;
    (void)pthread_mutex_lock(&m->lock);
    e->is_leading = true;
    (void)pthread_cond_broadcast(&m->changed);
    (void)pthread_mutex_unlock(&m->lock);
    if (e->user.on_started)
        e->user.on_started(e->user.arg);
}

/* Who has lost a lease does nothing more: somebody else may be at it already. */
static void on_stopped(void *arg)
{
    struct manager_election *e = arg;
    if (!spn_stop_is_set(e->manager->no_election))
        spn_stop_set(e->manager->halt);
    if (e->user.on_stopped)
        e->user.on_stopped(e->user.arg);
}

static void on_leader(void *arg, struct spn_text identity)
{
    struct manager_election *e = arg;
    spn_log(SPN_LOG_INFO, "the leader has changed lease=%s identity=" SPN_FMT, e->user.name,
            SPN_ARG(identity));
    if (e->user.on_leader)
        e->user.on_leader(e->user.arg, identity);
}

/* ---- Running ---- */

static void *run_election(void *arg)
{
    struct manager_election *e = arg;
    struct spn_manager *m = e->manager;
    struct spn_err err = { 0 };
    int r = spn_election_run(e->election, m->no_election, &err);
    (void)pthread_mutex_lock(&m->lock);
    e->is_leading = false;
    e->result = r;
    e->err = err;
    (void)pthread_mutex_unlock(&m->lock);
    spn_stop_set(m->end);
    return NULL;
}

static void wait_to_lead(struct manager_election *e)
{
    struct spn_manager *m = e->manager;
    (void)pthread_mutex_lock(&m->lock);
    while (!e->is_leading && !spn_stop_is_set(m->end))
        (void)pthread_cond_wait(&m->changed, &m->lock);
    (void)pthread_mutex_unlock(&m->lock);
}

int elections_run(struct spn_manager *m, struct spn_err *err)
{
    for (size_t i = 0; i < m->n_elections && !spn_stop_is_set(m->end); i++) {
        struct manager_election *e = &m->elections[i];
        if (!thread_start(&e->thread, 0, run_election, e))
            return spn_err_set(err, SPN_UNAVAILABLE, "no thread for an election");
        e->has_thread = true;
        wait_to_lead(e);
    }
    return 0;
}

void elections_end(struct spn_manager *m)
{
    spn_stop_set(m->no_election);
    for (size_t i = 0; i < m->n_elections; i++)
        if (m->elections[i].has_thread)
            (void)pthread_join(m->elections[i].thread, NULL);
}

int elections_result(const struct spn_manager *m, struct spn_err *err)
{
    for (size_t i = 0; i < m->n_elections; i++) {
        const struct manager_election *e = &m->elections[i];
        if (e->result == 0)
            continue;
        if (err)
            *err = e->err;
        return e->result;
    }
    return 0;
}

bool spn_manager_is_leader(struct spn_manager *m)
{
    bool all = true;
    (void)pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n_elections; i++)
        all &= m->elections[i].is_leading;
    (void)pthread_mutex_unlock(&m->lock);
    return all;
}

/* ---- Beginning and end ---- */

static int election_new(struct manager_election *e, struct spn_err *err)
{
    struct spn_election_options ours = e->user;
    ours.arg = e;
    ours.on_started = on_started;
    ours.on_stopped = on_stopped;
    ours.on_leader = on_leader;
    int r = spn_election_new(e->manager->opt.client, &ours, &e->election, err);
    if (r < 0)
        return r;
    e->user.name = str_cstr(&e->manager->arena, str_of(e->user.name));
    return 0;
}

int elections_new(struct spn_manager *m, struct spn_err *err)
{
    if (!m->opt.election)
        return 0;
    m->n_elections = m->opt.n_elections ? m->opt.n_elections : 1;
    m->elections = arena_array(&m->arena, struct manager_election, m->n_elections);
    for (size_t i = 0; i < m->n_elections; i++)
        m->elections[i] = (struct manager_election){ .manager = m, .user = m->opt.election[i] };
    for (size_t i = 0; i < m->n_elections; i++) {
        int r = election_new(&m->elections[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

void elections_free(struct spn_manager *m)
{
    for (size_t i = 0; i < m->n_elections; i++)
        spn_election_free(m->elections[i].election);
}
