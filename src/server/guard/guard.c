#include "server/guard/guard.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "auth/node_rules.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "server/guard/guard_internal.h"
#include "base/banned.h"

static void keep_block(void *arg, void *block)
{
    struct guard *g = arg;
    retire_keep(&g->retire, block, free);
}

/* ---- Deciding ---- */

/* `a` and `ret_reason` may be NULL. */
static bool ask_node(struct guard *g, struct arena *a, const struct access *q,
                     struct str *ret_reason)
{
    struct str node;
    if (!node_rules_identify(q->user, &node))
        return false;
    pthread_mutex_lock(&g->graph_lock);
    guard__read_noted(g);
    bool yes = node_rules_allow(g->graph, a, q, ret_reason);
    pthread_mutex_unlock(&g->graph_lock);
    return yes;
}

/* A loop's chain is good until the end of its turn. */
static const struct guard_chain *chain_of_loop(struct guard *g)
{
    return atomic_load_explicit(&g->chain, memory_order_acquire);
}

bool guard_allows(struct guard *g, const struct access *q)
{
    if (user_is_in(q->user, USER_MASTERS))
        return true;
    const struct guard_chain *chain = chain_of_loop(g);
    for (size_t i = 0; i < chain->n; i++) {
        enum guard_mode mode = chain->at[i].mode;
        if (mode == GUARD_WEBHOOK)
            return false;
        if (mode == GUARD_ALWAYS_ALLOW || (mode == GUARD_NODE && ask_node(g, NULL, q, NULL)) ||
            (mode == GUARD_RBAC && rbac_allows(g->rbac, q))) {
            guard_series_decided(chain->at[i].series, ACCESS_ALLOWED);
            return true;
        }
    }
    return false;
}

static bool ask_rbac(struct guard *g, struct arena *a, const struct access *q, bool on_loop,
                     struct str *ret_reason)
{
    if (on_loop)
        return rbac_explain(g->rbac, a, q, ret_reason);
    pthread_mutex_lock(&g->lock);
    bool yes = rbac_explain(g->rbac, a, q, ret_reason);
    pthread_mutex_unlock(&g->lock);
    return yes;
}

/* 0 or GUARD_LATER. */
static int ask_member(struct guard *g, const struct guard_member *m, struct arena *a,
                      const struct access *q, enum guard_patience patience,
                      struct guard_decision *ret)
{
    bool yes = false;
    *ret = (struct guard_decision){ .opinion = ACCESS_NO_OPINION };
    switch (m->mode) {
    case GUARD_NODE:
        yes = ask_node(g, a, q, &ret->reason);
        break;
    case GUARD_RBAC:
        yes = ask_rbac(g, a, q, patience != GUARD_WAITS, &ret->reason);
        break;
    case GUARD_ALWAYS_ALLOW:
        yes = true;
        break;
    case GUARD_ALWAYS_DENY:
        ret->reason = STR("Everything is forbidden.");
        break;
    case GUARD_WEBHOOK:
        return m->hook->ask(m->hook, a, q, patience, ret);
    case GUARD_MODES_MAX:
        break;
    }
    if (yes)
        ret->opinion = ACCESS_ALLOWED;
    return 0;
}

/* What those without an opinion said: reasons begin with their names; of several errors each is
 * named once, as upstream does it. */
struct undecided {
    struct arena *arena;
    struct buf reasons, errors;
    struct str seen[GUARD_CHAIN_MAX];
    size_t n_errors;
};

static void undecided_add(struct undecided *all, const struct guard_member *m,
                          const struct guard_decision *d)
{
    if (d->reason.n)
        buf_printf(&all->reasons, "%s" STR_FMT ": " STR_FMT, all->reasons.n ? "\n" : "",
                   STR_ARG(m->name), STR_ARG(d->reason));
    for (size_t i = 0; i < all->n_errors; i++)
        if (str_eq(all->seen[i], d->error))
            return;
    if (!d->error.n)
        return;
    buf_printf(&all->errors, "%s" STR_FMT, all->n_errors ? ", " : "", STR_ARG(d->error));
    all->seen[all->n_errors++] = d->error;
}

static struct guard_decision undecided_sum(const struct undecided *all)
{
    struct str errors = buf_str(&all->errors);
    return (struct guard_decision){
        .opinion = ACCESS_NO_OPINION,
        .reason = arena_str(all->arena, buf_str(&all->reasons)),
        .error = all->n_errors > 1 ? arena_printf(all->arena, "[" STR_FMT "]", STR_ARG(errors))
                                   : arena_str(all->arena, errors),
    };
}

static int ask_all(struct guard *g, const struct guard_chain *chain, const struct access *q,
                   enum guard_patience patience, struct undecided *undecided,
                   struct guard_decision *ret)
{
    for (size_t i = 0; i < chain->n; i++) {
        const struct guard_member *m = &chain->at[i];
        int r = ask_member(g, m, undecided->arena, q, patience, ret);
        if (r)
            return r;
        guard_series_decided(m->series, ret->opinion);
        if (ret->opinion != ACCESS_NO_OPINION)
            return 0;
        undecided_add(undecided, m, ret);
    }
    *ret = undecided_sum(undecided);
    return 0;
}

static int ask_chain(struct guard *g, const struct guard_chain *chain, struct arena *a,
                     const struct access *q, enum guard_patience patience,
                     struct guard_decision *ret)
{
    struct undecided undecided = { .arena = a };
    int r = ask_all(g, chain, q, patience, &undecided, ret);
    buf_done(&undecided.reasons);
    buf_done(&undecided.errors);
    return r;
}

/* Off the loops it may be replaced at any time. */
static struct guard_chain *chain_ref(struct guard *g)
{
    pthread_mutex_lock(&g->lock);
    struct guard_chain *chain = guard_chain_ref(g->chain);
    pthread_mutex_unlock(&g->lock);
    return chain;
}

int guard_ask(struct guard *g, struct arena *a, const struct access *q,
              enum guard_patience patience, struct guard_decision *ret)
{
    *ret = (struct guard_decision){ .opinion = ACCESS_ALLOWED };
    if (user_is_in(q->user, USER_MASTERS))
        return 0;
    if (patience != GUARD_WAITS)
        return ask_chain(g, chain_of_loop(g), a, q, patience, ret);
    struct guard_chain *chain = chain_ref(g);
    int r = ask_chain(g, chain, a, q, patience, ret);
    guard_chain_unref(chain);
    return r;
}

bool guard_decide(struct guard *g, struct arena *a, const struct access *q, struct str *ret_reason)
{
    struct guard_decision d;
    (void)guard_ask(g, a, q, GUARD_WAITS, &d);
    *ret_reason = d.reason;
    return d.opinion == ACCESS_ALLOWED;
}

static bool has_gap(const struct guard_member *m, const struct user *user, struct str *ret)
{
    struct str node;
    if (m->mode == GUARD_NODE)
        *ret = STR("node authorizer does not support user rule resolution");
    else if (m->mode == GUARD_WEBHOOK)
        *ret = STR("webhook authorizer does not support user rule resolution");
    else
        *ret = STR("");
    return m->mode == GUARD_RBAC || m->mode == GUARD_WEBHOOK ||
           (m->mode == GUARD_NODE && node_rules_identify(user, &node));
}

size_t guard_gaps(struct guard *g, const struct user *user, struct str ret[static GUARD_CHAIN_MAX])
{
    struct guard_chain *chain = chain_ref(g);
    size_t n = 0;
    for (size_t i = 0; i < chain->n; i++)
        n += has_gap(&chain->at[i], user, &ret[n]);
    guard_chain_unref(chain);
    return n;
}

int guard_with_rbac(struct guard *g, int (*fn)(const struct rbac *rbac, void *arg), void *arg)
{
    pthread_mutex_lock(&g->lock);
    int r = fn(guard_chain_has(g->chain, GUARD_ALWAYS_ALLOW) ? NULL : g->rbac, arg);
    pthread_mutex_unlock(&g->lock);
    return r;
}

void guard_write_metrics(struct guard *g, struct buf *out)
{
    pthread_mutex_lock(&g->lock);
    guard_series_write(out, g->series);
    pthread_mutex_unlock(&g->lock);
}

/* ---- Beginning and end ---- */

static const struct {
    struct str name;
    enum guard_mode mode;
} mode_names[] = {
    { STR("Node"), GUARD_NODE },
    { STR("RBAC"), GUARD_RBAC },
    { STR("AlwaysAllow"), GUARD_ALWAYS_ALLOW },
    { STR("AlwaysDeny"), GUARD_ALWAYS_DENY },
    { STR("Webhook"), GUARD_WEBHOOK },
};

static bool has_mode(const struct guard_modes *modes, enum guard_mode mode)
{
    for (size_t i = 0; i < modes->n; i++)
        if (modes->at[i] == mode)
            return true;
    return false;
}

int guard_modes_parse(struct str text, struct guard_modes *ret, struct err *err)
{
    struct guard_modes modes = { .n = 0 };
    do {
        struct str name = str_cut(&text, ',');
        size_t i = 0;
        while (i < ARRAY_LEN(mode_names) && !str_eq(name, mode_names[i].name))
            i++;
        if (i == ARRAY_LEN(mode_names))
            return err_set(err, ERR_INVALID,
                           "'" STR_FMT "' is not Node, RBAC, Webhook, AlwaysAllow or AlwaysDeny",
                           STR_ARG(name));
        if (has_mode(&modes, mode_names[i].mode))
            return err_set(err, ERR_INVALID, STR_FMT " is named twice", STR_ARG(name));
        modes.at[modes.n++] = mode_names[i].mode;
    } while (text.p);
    *ret = modes;
    return 0;
}

static struct guard_chain *chain_of(const struct guard_modes *modes)
{
    static const struct str names[GUARD_MODES_MAX] = { [GUARD_NODE] = STR("node"),
                                                       [GUARD_RBAC] = STR("rbac"),
                                                       [GUARD_ALWAYS_ALLOW] = STR("alwaysallow"),
                                                       [GUARD_ALWAYS_DENY] = STR("alwaysdeny") };
    struct guard_chain *chain = guard_chain_new();
    for (size_t i = 0; i < modes->n; i++)
        if (modes->at[i] != GUARD_WEBHOOK)
            guard_chain_add(chain, modes->at[i], names[modes->at[i]], NULL);
    return chain;
}

static struct guard_series *find_series(struct guard *g, const struct guard_member *m)
{
    static const struct str types[GUARD_MODES_MAX] = { [GUARD_NODE] = STR("Node"),
                                                       [GUARD_RBAC] = STR("RBAC"),
                                                       [GUARD_ALWAYS_ALLOW] = STR("AlwaysAllow"),
                                                       [GUARD_ALWAYS_DENY] = STR("AlwaysDeny"),
                                                       [GUARD_WEBHOOK] = STR("Webhook") };
    for (struct guard_series *s = g->series; s; s = s->next)
        if (str_eq(s->name, m->name) && str_eq(s->type, types[m->mode]))
            return s;
    struct guard_series *s = guard_series_new(types[m->mode], m->name);
    s->next = g->series;
    g->series = s;
    return s;
}

/* The lock is held, or nobody asks yet. */
static void count_by(struct guard *g, struct guard_chain *chain)
{
    for (size_t i = 0; i < chain->n; i++) {
        struct guard_member *m = &chain->at[i];
        m->series = find_series(g, m);
        if (m->hook)
            m->hook->series = m->series;
    }
}

struct guard *guard_new(struct store *store, const struct guard_modes *modes)
{
    static const struct guard_modes usual = { .at = { GUARD_NODE, GUARD_RBAC }, .n = 2 };
    return guard_with_chain(store, chain_of(modes->n ? modes : &usual));
}

struct guard *guard_with_chain(struct store *store, struct guard_chain *chain)
{
    struct guard *g = mem_new(struct guard);
    g->store = store;
    count_by(g, chain);
    g->chain = chain;
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->graph_lock, NULL);
    g->rbac = rbac_new(&(struct rbac_retire){ keep_block, g });
    if (guard_chain_has(g->chain, GUARD_NODE))
        g->graph = node_graph_new();
    return g;
}

static void release_chain(void *chain)
{
    guard_chain_unref(chain);
}

void guard_set_chain(struct guard *g, struct guard_chain *chain)
{
    assert(g->graph || !guard_chain_has(chain, GUARD_NODE));
    pthread_mutex_lock(&g->lock);
    count_by(g, chain);
    retire_keep(&g->retire, atomic_exchange(&g->chain, chain), release_chain);
    retire_rest(&g->retire);
    pthread_mutex_unlock(&g->lock);
}

void guard_serve(struct guard *g, struct loop *const *loops, size_t n_loops)
{
    retire_serve(&g->retire, loops, n_loops);
}

struct guard *guard_free(struct guard *g)
{
    if (!g)
        return NULL;
    guard_chain_unref(g->chain);
    guard_series_free(g->series);
    rbac_free(g->rbac);
    node_graph_free(g->graph);
    guard__forget_noted(g);
    retire_done(&g->retire);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->graph_lock);
    free(g);
    return NULL;
}
