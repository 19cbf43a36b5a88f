/* NodeResourcesFit and NodeResourcesBalancedAllocation: whether a node has what the pod asks for,
 * how full it would be, and how evenly. */
#include "scheduler/plugins.h"

#include <math.h>

#include "scheduler/profile.h"
#include "base/banned.h"

enum { SCORE_MAX = 100 };

/* ---- Filter ---- */

static bool has_text(const struct value *list, struct str s)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), s))
            return true;
    return false;
}

static struct str name_of(struct resource_table *t, const struct pod_amount *am)
{
    return am->id < 0 ? am->name : resource_table_name(t, am->id);
}

/* Whether the configuration leaves the resource to somebody else. Only extended ones can be. */
static bool is_ignored(const struct fit_args *args, struct resource_table *t,
                       const struct pod_amount *am)
{
    if ((!args->ignored && !args->ignored_groups) || (am->id >= 0 && am->id <= RESOURCE_STORAGE))
        return false;
    struct str name = name_of(t, am), rest = name;
    return str_find(name, '/') >= 0 &&
           (has_text(args->ignored, name) || has_text(args->ignored_groups, str_cut(&rest, '/')));
}

/* Of each amount whether it counts; NULL: all of them do. */
bool plugin_fit_prepare(struct cycle *c)
{
    const struct fit_args *args = &c->profile->fit;
    bool *counts = NULL;
    if (args->ignored || args->ignored_groups)
        counts = arena_array(c->a, bool, c->f->n_amounts + 1);
    for (size_t i = 0; counts && i < c->f->n_amounts; i++)
        counts[i] = !is_ignored(args, &c->w->resources, &c->f->amounts[i]);
    c->state[PLUGIN_FIT] = counts;
    return true;
}

static bool lacks(const struct cycle *c, const struct sched_node *n, size_t i)
{
    const struct pod_amount *am = &c->f->amounts[i];
    const bool *counts = c->state[PLUGIN_FIT];
    return (!counts || counts[i]) && (am->id < 0 || am->n > n->has[am->id] - n->used[am->id]);
}

bool plugin_fit_ever(const struct profile *p, const struct pod_facts *f,
                     struct resource_table *resources, const struct sched_node *n)
{
    for (size_t i = 0; i < f->n_amounts; i++)
        if ((f->amounts[i].id < 0 || f->amounts[i].n > n->has[f->amounts[i].id]) &&
            !(p && is_ignored(&p->fit, resources, &f->amounts[i])))
            return false;
    return true;
}

void plugin_fit_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    const struct pod_facts *f = c->f;
    bool is_full = (int64_t)n->n_pods + 1 > n->max_pods;
    size_t n_why = is_full;
    for (size_t i = 0; i < f->n_amounts; i++)
        n_why += lacks(c, n, i);
    if (!n_why)
        return;
    struct str *why = arena_array(c->a, struct str, n_why);
    size_t k = 0;
    v->code = VERDICT_NO;
    if (is_full)
        why[k++] = STR("Too many pods");
    for (size_t i = 0; i < f->n_amounts; i++) {
        const struct pod_amount *am = &f->amounts[i];
        if (!lacks(c, n, i))
            continue;
        why[k++] =
            arena_printf(c->a, "Insufficient " STR_FMT, STR_ARG(name_of(&c->w->resources, am)));
        if (am->id < 0 || am->n > n->has[am->id])
            v->code = VERDICT_NEVER;
    }
    v->why = why;
    v->n = (uint16_t)k;
}

/* ---- Which resources are scored ---- */

struct scored {
    int id;
    int64_t weight;
    int64_t asked; /* by the pod */
};

struct scored_list {
    struct scored *items;
    size_t n;
};

/* What nodes have none of, and extended resources that the pod does not ask for, does not count.
 * `plain`: what it really asks for; else what counts for a pod that says nothing. */
static struct scored_list *list_scored(struct cycle *c, struct profile_resources resources,
                                       bool plain)
{
    struct scored_list *all = arena_new(c->a, struct scored_list);
    all->items = arena_array(c->a, struct scored, resources.n);
    for (size_t i = 0; i < resources.n; i++) {
        struct scored s = { .weight = resources.items[i].weight };
        s.id = resource_table_id(&c->w->resources, resources.items[i].name);
        if (s.id == RESOURCE_CPU)
            s.asked = plain ? c->f->plain_cpu : c->f->scored_cpu;
        else if (s.id == RESOURCE_MEMORY)
            s.asked = plain ? c->f->plain_memory : c->f->scored_memory;
        else
            s.asked = pod_facts_amount(c->f, s.id);
        if (s.id >= 0 && (s.id <= RESOURCE_STORAGE || s.asked))
            all->items[all->n++] = s;
    }
    return all;
}

/* ---- How full ---- */

/* A line from point to point, level before the first and after the last. */
static int64_t on_shape(const struct fit_args *args, int64_t utilization)
{
    for (size_t i = 0; i < args->n_shape; i++) {
        const struct fit_point *to = &args->shape[i], *from = i ? to - 1 : to;
        if (utilization > to->utilization)
            continue;
        if (i == 0)
            return to->score;
        return from->score + (to->score - from->score) * (utilization - from->utilization) /
                                 (to->utilization - from->utilization);
    }
    return args->n_shape ? args->shape[args->n_shape - 1].score : 0;
}

static int64_t score_one(const struct fit_args *args, int64_t used, int64_t has)
{
    switch (args->type) {
    case FIT_LEAST_ALLOCATED:
        return used > has ? 0 : (has - used) * SCORE_MAX / has;
    case FIT_MOST_ALLOCATED:
        return (used > has ? has : used) * SCORE_MAX / has;
    case FIT_RATIO:
        break;
    }
    return on_shape(args, used > has ? SCORE_MAX : used * SCORE_MAX / has);
}

bool plugin_fit_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n)
{
    (void)nodes;
    (void)n;
    c->state[PLUGIN_FIT] = list_scored(c, c->profile->fit.resources, false);
    return true;
}

static int64_t scored_use(const struct sched_node *n, int id)
{
    return id == RESOURCE_CPU      ? n->scored_cpu
           : id == RESOURCE_MEMORY ? n->scored_memory
                                   : n->used[id];
}

int64_t plugin_fit_score(struct cycle *c, struct sched_node *n)
{
    const struct fit_args *args = &c->profile->fit;
    const struct scored_list *all = c->state[PLUGIN_FIT];
    int64_t sum = 0, weights = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct scored *s = &all->items[i];
        int64_t has = n->has[s->id];
        int64_t score = has ? score_one(args, scored_use(n, s->id) + s->asked, has) : 0;
        if (!has || (args->type == FIT_RATIO && score <= 0))
            continue;
        sum += score * s->weight;
        weights += s->weight;
    }
    if (!weights)
        return 0;
    return args->type == FIT_RATIO ? (int64_t)round((double)sum / (double)weights) : sum / weights;
}

/* ---- How evenly ---- */

/* Which part of it is used, with what the pod asks for or without. */
static double part_of(const struct scored *s, const struct sched_node *n, bool with)
{
    int64_t used = n->used[s->id] + (with ? s->asked : 0);
    return fmin((double)used / (double)n->has[s->id], 1);
}

/* The standard deviation of these parts. */
static double deviation(const struct scored_list *all, const struct sched_node *n, bool with)
{
    double sum = 0, squares = 0, last = 0, before = 0;
    size_t parts = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (!n->has[all->items[i].id])
            continue;
        before = last;
        last = part_of(&all->items[i], n, with);
        sum += last;
        parts++;
    }
    if (parts <= 2) /* said simply, so that it is rounded as upstream's */
        return parts == 2 ? fabs((before - last) / 2) : 0;
    for (size_t i = 0; i < all->n; i++)
        if (n->has[all->items[i].id])
            squares += pow(part_of(&all->items[i], n, with) - sum / (double)parts, 2);
    return sqrt(squares / (double)parts);
}

static int64_t balance(const struct scored_list *all, const struct sched_node *n, bool with)
{
    return (int64_t)((1 - deviation(all, n, with)) * SCORE_MAX);
}

/* Not of pods that ask for nothing: they would all go to the same node. */
bool plugin_balance_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n)
{
    (void)nodes;
    (void)n;
    struct scored_list *all = list_scored(c, c->profile->balanced, true);
    bool asks = false;
    for (size_t i = 0; i < all->n; i++)
        asks |= all->items[i].asked > 0;
    c->state[PLUGIN_BALANCE] = all;
    return asks;
}

/* The more evenly resources are used the better, and the more the pod helps. */
int64_t plugin_balance_score(struct cycle *c, struct sched_node *n)
{
    const struct scored_list *all = c->state[PLUGIN_BALANCE];
    int64_t without = balance(all, n, false), with = balance(all, n, true);
    return SCORE_MAX / 2 + (SCORE_MAX / 2 + with - without) / 2;
}
