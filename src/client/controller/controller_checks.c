/* controller_checks.c - is it well? Answers of /healthz and /readyz, as controller-runtime's. */
#include "client/controller/controller_internal.h"
#include "client/informer/informers.h"
#include "base/banned.h"

/* ---- Checks that every manager has ---- */

static bool is_alive(void *arg)
{
    (void)arg;
    return true;
}

static bool renews_its_lease(void *arg)
{
    return spn_election_is_healthy(arg);
}

static void note_synced(void *arg, struct spn_informer *i, const struct spn_target *what)
{
    (void)what;
    bool *all = arg;
    *all &= spn_informer_has_synced(i);
}

static bool informers_have_synced(void *arg)
{
    bool all = true;
    informers_each(arg, note_synced, &all);
    return all;
}

void manager_add_checks(struct spn_manager *m)
{
    spn_manager_check(m, SPN_CHECK_HEALTHY, "ping", is_alive, NULL);
    spn_manager_check(m, SPN_CHECK_READY, "ping", is_alive, NULL);
    spn_manager_check(m, SPN_CHECK_READY, "informers", informers_have_synced, m->informers);
    for (size_t i = 0; i < m->n_elections; i++)
        spn_manager_check(m, SPN_CHECK_HEALTHY, "leaderElection", renews_its_lease,
                          m->elections[i].election);
}

void spn_manager_check(struct spn_manager *m, enum spn_check which, const char *name,
                       spn_check_fn *fn, void *arg)
{
    struct manager_check *c = arena_new(&m->arena, struct manager_check);
    *c = (struct manager_check){
        .which = which, .name = str_cstr(&m->arena, str_of(name)), .fn = fn, .arg = arg
    };
    struct manager_check **end = &m->checks;
    while (*end)
        end = &(*end)->next;
    *end = c;
}

/* ---- Answers ---- */

static bool query_has(struct str query, struct str wanted)
{
    while (query.n)
        if (str_eq(str_cut(&query, '&'), wanted))
            return true;
    return false;
}

static bool is_excluded(struct str query, const char *name)
{
    while (query.n) {
        struct str one = str_cut(&query, '&');
        if (str_starts(one, STR("exclude=")) && str_eq(str_skip(one, 8), str_of(name)))
            return true;
    }
    return false;
}

static int answer_one(struct spn_manager *m, enum spn_check which, struct str name, struct buf *out)
{
    for (struct manager_check *c = m->checks; c; c = c->next) {
        if (c->which != which || !str_eq(str_of(c->name), name))
            continue;
        bool is_well = c->fn(c->arg);
        buf_printf(out, "%s", is_well ? "ok" : "internal server error: check failed\n");
        return is_well ? 200 : 500;
    }
    buf_printf(out, "404 page not found\n");
    return 404;
}

/* True: all is well. Each check gets a line. */
static bool check_all(struct spn_manager *m, enum spn_check which, struct str query,
                      struct buf *out)
{
    bool all = true;
    for (struct manager_check *c = m->checks; c; c = c->next) {
        if (c->which != which)
            continue;
        bool skip = is_excluded(query, c->name), is_well = skip || c->fn(c->arg);
        all &= is_well;
        if (skip)
            buf_printf(out, "[+]%s excluded: ok\n", c->name);
        else
            buf_printf(out, "[%c]%s %s\n", is_well ? '+' : '-', c->name,
                       is_well ? "ok" : "failed: reason withheld");
    }
    return all;
}

int manager_answer_check(struct spn_manager *m, enum spn_check which, struct str name,
                         struct str query, struct buf *out)
{
    if (name.n)
        return answer_one(m, which, name, out);
    bool all = check_all(m, which, query, out);
    if (all && !query_has(query, STR("verbose"))) {
        buf_reset(out);
        buf_printf(out, "ok");
        return 200;
    }
    buf_printf(out, "%s check %s\n", which == SPN_CHECK_READY ? "readyz" : "healthz",
               all ? "passed" : "failed");
    return all ? 200 : 500;
}
