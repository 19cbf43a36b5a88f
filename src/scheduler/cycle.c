#include "scheduler/cycle.h"

#include <stdio.h>
#include <stdlib.h>

#include "scheduler/preempt.h"
#include "scheduler/profile.h"
#include "scheduler/plugin_volumes.h"
#include "base/banned.h"

/* ---- One node ---- */

void cycle_reject(struct cycle *c, enum plugin_id who, struct str why)
{
    if (c->reject.n)
        return;
    c->reject = why;
    c->reject_plugin = (uint8_t)who;
    c->rejected_by |= 1u << who;
}

void cycle_begin(struct cycle *c, struct world *w, const struct profile *profile,
                 const struct cycle_env *env, struct arena *a, struct sched_pod *pod)
{
    static const struct cycle_env nothing = { 0 };
    *c = (struct cycle){
        .w = w, .profile = profile, .env = env ? env : &nothing, .a = a, .pod = pod, .f = pod->f
    };
    c->ns_labels = world_namespace(w, pod->f->ns);
    for (int i = 0; i < N_PLUGINS && !c->reject.n; i++)
        if (cycle_plugins[i].filter && profile->filters[i])
            c->filters[i] = !cycle_plugins[i].prepare || cycle_plugins[i].prepare(c);
}

static bool run_filters(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    for (int i = 0; i < N_PLUGINS; i++) {
        if (!c->filters[i])
            continue;
        cycle_plugins[i].filter(c, n, v);
        if (v->code != VERDICT_FITS) {
            v->plugin = (uint8_t)i;
            return false;
        }
    }
    return true;
}

static void tell_moved(struct cycle *c, const struct pod_facts *f, struct sched_node *n, int delta)
{
    for (int i = 0; i < N_PLUGINS; i++)
        if (cycle_plugins[i].moved && c->filters[i])
            cycle_plugins[i].moved(c, f, n, delta);
}

void cycle_put(struct cycle *c, struct sched_pod *p, struct sched_node *n)
{
    world_place(c->w, p, n);
    tell_moved(c, p->f, n, 1);
}

void cycle_take(struct cycle *c, struct sched_pod *p)
{
    struct sched_node *n = p->on;
    world_unplace(c->w, p);
    tell_moved(c, p->f, n, -1);
}

static bool waits_before_us(const struct cycle *c, const struct sched_pod *p,
                            const struct sched_node *n)
{
    return p != c->pod && !p->on && p->f->priority >= c->f->priority &&
           str_eq(p->nominated, n->name);
}

bool cycle_fits(struct cycle *c, struct sched_node *n, struct verdict *ret)
{
    struct sched_pod **put = NULL;
    size_t n_put = 0;
    *ret = (struct verdict){ 0 };
    for (size_t i = 0; i < c->w->n_nominated; i++) {
        struct sched_pod *p = c->w->nominated[i];
        if (!waits_before_us(c, p, n))
            continue;
        if (!put)
            put = arena_array(c->a, struct sched_pod *, c->w->n_nominated);
        put[n_put++] = p;
        cycle_put(c, p, n);
    }
    bool fits = run_filters(c, n, ret);
    for (size_t i = 0; i < n_put; i++)
        cycle_take(c, put[i]);
    /* They may never come, and what needs them must not count on them. */
    return fits && n_put ? run_filters(c, n, ret) : fits;
}

/* ---- Words ---- */

struct reason {
    struct str why;
    size_t nodes;
    struct str text;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(((const struct reason *)a)->text, ((const struct reason *)b)->text);
}

struct reasons {
    struct reason *items;
    size_t n, cap;
};

static void count_reason(struct arena *a, struct reasons *all, struct str why, size_t nodes)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->items[i].why, why)) {
            all->items[i].nodes += nodes;
            return;
        }
    if (all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 16;
        all->items = arena_grow(a, all->items, all->cap * sizeof(struct reason),
                                cap * sizeof(struct reason), alignof(struct reason));
        all->cap = cap;
    }
    all->items[all->n++] = (struct reason){ .why = why, .nodes = nodes };
}

struct str cycle_explain(struct arena *a, size_t n_nodes, const struct verdict *verdicts,
                         struct str absent)
{
    struct reasons all = { 0 };
    size_t without = 0;
    for (size_t i = 0; i < n_nodes; i++) {
        for (uint16_t k = 0; k < verdicts[i].n; k++)
            count_reason(a, &all, verdicts[i].why[k], 1);
        without += verdicts[i].code == VERDICT_FITS;
    }
    if (without && absent.n)
        count_reason(a, &all, absent, without);
    for (size_t i = 0; i < all.n; i++)
        all.items[i].text =
            arena_printf(a, "%zu " STR_FMT, all.items[i].nodes, STR_ARG(all.items[i].why));
    if (all.n)
        qsort(all.items, all.n, sizeof(struct reason), by_text);
    autobuf out = { 0 };
    buf_printf(&out, "0/%zu nodes are available:", n_nodes);
    for (size_t i = 0; i < all.n; i++)
        buf_printf(&out, "%s " STR_FMT, i ? "," : "", STR_ARG(all.items[i].text));
    if (all.n)
        buf_byte(&out, '.');
    return arena_str(a, buf_str(&out));
}

/* ---- All nodes ---- */

/* In a large cluster it is enough to find some that fit, as upstream. */
static size_t enough(size_t n_nodes, unsigned fixed_percent)
{
    enum { ALWAYS = 100, LEAST_PERCENT = 5 };
    if (n_nodes < ALWAYS)
        return n_nodes;
    size_t percent = fixed_percent                        ? fixed_percent
                     : n_nodes / 125 < 50 - LEAST_PERCENT ? 50 - n_nodes / 125
                                                          : LEAST_PERCENT;
    size_t n = n_nodes * percent / 100;
    return n < ALWAYS ? ALWAYS : n;
}

static bool may_look_at(const struct cycle *c, const struct sched_node *n)
{
    for (size_t i = 0; i < c->n_only; i++)
        if (str_eq(c->only[i], n->name))
            return true;
    return !c->only;
}

static void note_verdict(struct cycle *c, const struct sched_node *n, const struct verdict *v)
{
    if (!c->verdicts)
        c->verdicts = arena_array(c->a, struct verdict, c->w->n_nodes);
    c->verdicts[n->slot] = *v;
    c->rejected_by |= 1u << v->plugin;
}

static size_t find_fitting(struct cycle *c, struct cursor *at, struct sched_node **ret)
{
    size_t n = 0, n_nodes = c->w->n_nodes, wanted = enough(n_nodes, at->percent), seen = 0;
    for (; seen < n_nodes && n < wanted; seen++) {
        struct sched_node *node = c->w->nodes[(at->next + seen) % n_nodes];
        struct verdict v;
        if (!may_look_at(c, node))
            continue;
        if (cycle_fits(c, node, &v))
            ret[n++] = node;
        else
            note_verdict(c, node, &v);
    }
    at->next = n_nodes ? (at->next + seen) % n_nodes : 0;
    return n;
}

/* The node that was freed for the pod comes first: if it fits now, no other is looked at. */
static bool try_nominated(struct cycle *c, struct decision *ret)
{
    struct verdict v;
    struct sched_node *n = c->pod->nominated.n ? world_node(c->w, c->pod->nominated) : NULL;
    if (!n || c->reject.n || !may_look_at(c, n) || !cycle_fits(c, n, &v))
        return false;
    ret->node = n;
    return true;
}

/* ---- Scores ---- */

static void add_scores(struct cycle *c, int id, struct sched_node **nodes, size_t n, int64_t *one,
                       int64_t *sums)
{
    const struct plugin *p = &cycle_plugins[id];
    for (size_t i = 0; i < n; i++)
        one[i] = p->score(c, nodes[i]);
    if (p->normalize)
        p->normalize(c, nodes, one, n);
    for (size_t i = 0; i < n; i++)
        sums[i] += c->profile->weights[id] * one[i];
}

static uint64_t next_random(struct cursor *at)
{
    at->random = at->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return at->random >> 33;
}

/* Any of the best ones. */
static struct sched_node *pick(struct cursor *at, struct sched_node **nodes, const int64_t *sums,
                               size_t n)
{
    struct sched_node *best = nodes[0];
    int64_t most = sums[0];
    uint64_t like_it = 1;
    for (size_t i = 1; i < n; i++) {
        if (sums[i] > most) {
            most = sums[i];
            best = nodes[i];
            like_it = 1;
        } else if (sums[i] == most && next_random(at) % ++like_it == 0) {
            best = nodes[i];
        }
    }
    return best;
}

static struct sched_node *choose(struct cycle *c, struct cursor *at, struct sched_node **nodes,
                                 size_t n)
{
    if (n == 1)
        return nodes[0];
    int64_t *one = arena_array(c->a, int64_t, n), *sums = arena_array(c->a, int64_t, n);
    for (int i = 0; i < N_PLUGINS; i++) {
        const struct plugin *p = &cycle_plugins[i];
        if (p->score && c->profile->scores[i] &&
            (!p->prepare_score || p->prepare_score(c, nodes, n)))
            add_scores(c, i, nodes, n, one, sums);
    }
    return pick(at, nodes, sums, n);
}

/* ---- The attempt ---- */

/* Upstream's DynamicResources has a say before preemption, and looks for what it noted when it saw
 * the pod. It has not seen one that a plugin before it rejected: then nothing is preempted, and
 * these words are all that users get. */
static bool is_lost_on_devices(const struct cycle *c)
{
    return c->reject.n && c->reject_plugin < PLUGIN_DEVICES && c->profile->filters[PLUGIN_DEVICES];
}

/* Who could go for the pod, in words. */
static struct str after_failure(struct cycle *c, struct decision *ret)
{
    if (is_lost_on_devices(c))
        return STR("not found");
    struct str said = c->profile->preempts ? preempt_run(c, ret) : (struct str){ 0 };
    return said.n ? arena_printf(c->a, "preemption: " STR_FMT, STR_ARG(said)) : said;
}

static void explain_failure(struct cycle *c, struct decision *ret)
{
    struct str before;
    if (!c->verdicts)
        c->verdicts = arena_array(c->a, struct verdict, c->w->n_nodes);
    if (c->reject.n) {
        before = arena_printf(c->a, "0/%zu nodes are available: " STR_FMT ".", c->w->n_nodes,
                              STR_ARG(c->reject));
    } else {
        struct str absent = { 0 };
        if (c->only) {
            absent = STR("node(s) didn't satisfy plugin(s) [NodeAffinity]");
            c->rejected_by |= 1u << PLUGIN_NODE_AFFINITY;
        }
        before = cycle_explain(c->a, c->w->n_nodes, c->verdicts, absent);
    }
    struct str after = after_failure(c, ret);
    ret->message =
        after.n ? arena_printf(c->a, STR_FMT " " STR_FMT, STR_ARG(before), STR_ARG(after)) : before;
    ret->rejected_by = c->rejected_by;
}

void cycle_run(struct world *w, const struct profile *profile, const struct cycle_env *env,
               struct arena *a, struct cursor *at, struct sched_pod *pod, struct decision *ret)
{
    struct cycle c;
    *ret = (struct decision){ 0 };
    if (w->n_nodes == 0) {
        ret->message = STR("no nodes available to schedule pods");
        ret->had_error = true;
        return;
    }
    cycle_begin(&c, w, profile, env, a, pod);
    if (!try_nominated(&c, ret)) {
        struct sched_node **nodes =
            arena_array(a, struct sched_node *, enough(w->n_nodes, at->percent));
        size_t n = c.reject.n ? 0 : find_fitting(&c, at, nodes);
        if (n)
            ret->node = choose(&c, at, nodes, n);
    }
    if (ret->node)
        plugin_volumes_choose(&c, ret->node, ret);
    else
        explain_failure(&c, ret);
}
