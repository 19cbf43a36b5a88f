/* PodTopologySpread: pods that belong together are spread evenly over zones, hosts and the like.
 *
 * Hard rules filter, soft ones score. A pod without rules that a Service or an owner selects is
 * spread over hosts and zones, or by the rules of the configuration. */
#include "scheduler/plugins.h"

#include <math.h>

#include "base/idiom.h"
#include "scheduler/domains.h"
#include "scheduler/profile.h"
#include "base/banned.h"

static const struct str host_key = STR("kubernetes.io/hostname");

struct spread_count {
    const struct spread_rule *rule;
    struct domains domains;
    bool matches_self;
    bool is_stale; /* `least` is to be found anew */
    int64_t least;
    /* Of scores. */
    uint32_t *by_slot; /* counts of hosts */
    double weight;
};

struct spread_state {
    struct spread_count *counts;
    size_t n;
    bool needs_all_keys; /* nodes that lack a key do not count at all */
};

/* ---- Rules of pods that have none ---- */

static const struct spread_rule system_rules[] = {
    { .topology_key = STR("kubernetes.io/hostname"), .max_skew = 3, .honors_affinity = true },
    { .topology_key = STR("topology.kubernetes.io/zone"), .max_skew = 5, .honors_affinity = true },
};

static bool has_kind(const struct spread_rule *rules, size_t n, bool hard)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].is_hard == hard)
            return true;
    return false;
}

static const struct spread_rule *default_rules(struct cycle *c, bool hard, size_t *ret_n)
{
    const struct spread_args *args = &c->profile->spread;
    const struct spread_rule *from = args->is_system ? system_rules : args->rules;
    size_t n = args->is_system ? ARRAY_LEN(system_rules) : args->n;
    struct labels_selector selector;
    if (!has_kind(from, n, hard) || !c->env->default_selector ||
        !c->env->default_selector(c->env->arg, c->a, c->f, &selector))
        return NULL;
    struct spread_rule *rules = arena_array(c->a, struct spread_rule, n);
    for (size_t i = 0; i < n; i++) {
        rules[i] = from[i];
        rules[i].selector = selector;
    }
    *ret_n = n;
    return rules;
}

/* The pod's own, or those for pods without; NULL: none. */
static const struct spread_rule *rules_of(struct cycle *c, bool hard, size_t *ret_n)
{
    if (!c->f->n_spread)
        return default_rules(c, hard, ret_n);
    *ret_n = c->f->n_spread;
    return c->f->spread;
}

/* ---- Counts ---- */

static struct spread_state *new_state(struct cycle *c, const struct spread_rule *rules, size_t n,
                                      bool hard)
{
    struct spread_state *s = arena_new(c->a, struct spread_state);
    s->counts = arena_array(c->a, struct spread_count, n);
    for (size_t i = 0; i < n; i++) {
        if (rules[i].is_hard != hard)
            continue;
        struct spread_count *k = &s->counts[s->n++];
        k->rule = &rules[i];
        k->domains.topology_key = rules[i].topology_key;
        k->matches_self = labels_match(&rules[i].selector, c->f->labels.items, c->f->labels.n);
        k->is_stale = true;
    }
    return s;
}

static bool has_all_keys(const struct spread_state *s, const struct sched_node *n)
{
    for (size_t i = 0; i < s->n; i++)
        if (!label_get(n->labels, s->counts[i].rule->topology_key).p)
            return false;
    return true;
}

/* Whether pods on the node count for the rule. */
static bool node_counts(struct cycle *c, const struct spread_rule *r, const struct sched_node *n)
{
    if (r->honors_affinity && c->f->has_node_rules && !pod_facts_fit_node(c->f, n->name, n->labels))
        return false;
    return !r->honors_taints || !taint_in_the_way(n->taints, n->n_taints, c->f->tolerations);
}

/* ---- Filter ---- */

static void count_domains(struct cycle *c, struct spread_state *s, struct spread_count *k)
{
    const struct tally *t = world_tally(c->w, c->f->ns, &k->rule->selector);
    bool is_empty = labels_empty(&k->rule->selector);
    for (size_t i = 0; i < c->w->n_nodes; i++) {
        const struct sched_node *n = c->w->nodes[i];
        if (!has_all_keys(s, n) || !node_counts(c, k->rule, n))
            continue;
        struct str value = label_get(n->labels, k->rule->topology_key);
        domains_make(&k->domains, c->a, value)->n += is_empty ? 0 : t->counts[i];
    }
}

bool plugin_spread_prepare(struct cycle *c)
{
    size_t n;
    const struct spread_rule *rules = rules_of(c, true, &n);
    if (!rules)
        return false;
    struct spread_state *s = new_state(c, rules, n, true);
    for (size_t i = 0; i < s->n; i++)
        count_domains(c, s, &s->counts[i]);
    c->state[PLUGIN_SPREAD] = s;
    return s->n > 0;
}

static int64_t least_of(struct spread_count *k)
{
    if (k->is_stale)
        k->least = k->domains.n < (size_t)k->rule->min_domains ? 0 : domains_least(&k->domains);
    k->is_stale = false;
    return k->least;
}

void plugin_spread_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str uneven = STR("node(s) didn't match pod topology spread constraints");
    static const struct str no_key =
        STR("node(s) didn't match pod topology spread constraints (missing required label)");
    struct spread_state *s = c->state[PLUGIN_SPREAD];
    for (size_t i = 0; i < s->n; i++) {
        struct spread_count *k = &s->counts[i];
        struct str value = label_get(n->labels, k->rule->topology_key);
        if (!value.p) {
            verdict_set(v, VERDICT_NEVER, &no_key);
            return;
        }
        const struct domain *d = domains_get(&k->domains, value);
        int64_t skew = (d ? d->n : 0) + k->matches_self - least_of(k);
        if (skew > k->rule->max_skew) {
            verdict_set(v, VERDICT_NO, &uneven);
            return;
        }
    }
}

void plugin_spread_moved(struct cycle *c, const struct pod_facts *f, struct sched_node *n,
                         int delta)
{
    struct spread_state *s = c->state[PLUGIN_SPREAD];
    if (!str_eq(f->ns, c->f->ns) || !has_all_keys(s, n))
        return;
    for (size_t i = 0; i < s->n; i++) {
        struct spread_count *k = &s->counts[i];
        if (!labels_match(&k->rule->selector, f->labels.items, f->labels.n) ||
            !node_counts(c, k->rule, n))
            continue;
        domains_make(&k->domains, c->a, label_get(n->labels, k->rule->topology_key))->n += delta;
        k->is_stale = true;
    }
}

/* ---- Score ---- */

/* Domains that no fitting node is in do not matter. */
static void note_domains(struct cycle *c, struct spread_state *s, struct spread_count *k,
                         struct sched_node **nodes, size_t n)
{
    size_t usable = 0;
    bool is_host = str_eq(k->rule->topology_key, host_key);
    for (size_t i = 0; i < n; i++) {
        if (s->needs_all_keys && !has_all_keys(s, nodes[i]))
            continue;
        usable++;
        struct str value = label_get(nodes[i]->labels, k->rule->topology_key);
        if (!is_host)
            (void)domains_make(&k->domains, c->a, value.p ? value : STR(""));
    }
    k->weight = log((double)(is_host ? usable : k->domains.n) + 2);
}

static void sum_domains(struct cycle *c, struct spread_state *s, struct spread_count *k)
{
    const struct tally *t = world_tally(c->w, c->f->ns, &k->rule->selector);
    if (labels_empty(&k->rule->selector)) {
        k->by_slot = arena_array(c->a, uint32_t, c->w->n_nodes);
        return;
    }
    k->by_slot = arena_dup(c->a, t->counts, c->w->n_nodes * sizeof(uint32_t));
    if (str_eq(k->rule->topology_key, host_key))
        return;
    for (size_t i = 0; i < c->w->n_nodes; i++) {
        const struct sched_node *n = c->w->nodes[i];
        if (!t->counts[i] || (s->needs_all_keys && !has_all_keys(s, n)) ||
            !node_counts(c, k->rule, n))
            continue;
        struct str value = label_get(n->labels, k->rule->topology_key);
        struct domain *d = domains_get(&k->domains, value.p ? value : STR(""));
        if (d)
            d->n += t->counts[i];
    }
}

bool plugin_spread_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n)
{
    size_t n_rules;
    const struct spread_rule *rules = rules_of(c, false, &n_rules);
    if (!rules)
        return false;
    struct spread_state *s = new_state(c, rules, n_rules, false);
    s->needs_all_keys = c->f->n_spread > 0 || !c->profile->spread.is_system;
    for (size_t i = 0; i < s->n; i++) {
        note_domains(c, s, &s->counts[i], nodes, n);
        sum_domains(c, s, &s->counts[i]);
    }
    c->state[PLUGIN_SPREAD] = s;
    return s->n > 0;
}

/* -1: the node does not count. */
int64_t plugin_spread_score(struct cycle *c, struct sched_node *n)
{
    struct spread_state *s = c->state[PLUGIN_SPREAD];
    if (s->needs_all_keys && !has_all_keys(s, n))
        return -1;
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct spread_count *k = &s->counts[i];
        struct str value = label_get(n->labels, k->rule->topology_key);
        if (!value.p)
            continue;
        const struct domain *d = domains_get(&k->domains, value);
        int64_t pods = str_eq(k->rule->topology_key, host_key) ? k->by_slot[n->slot] : d ? d->n : 0;
        sum += (double)pods * k->weight + (double)(k->rule->max_skew - 1);
    }
    return (int64_t)round(sum);
}

void plugin_spread_normalize(struct cycle *c, struct sched_node **nodes, int64_t *scores, size_t n)
{
    (void)c;
    (void)nodes;
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        if (scores[i] < 0)
            continue;
        least = scores[i] < least ? scores[i] : least;
        most = scores[i] > most ? scores[i] : most;
    }
    for (size_t i = 0; i < n; i++) {
        if (scores[i] < 0)
            scores[i] = 0;
        else
            scores[i] = most ? 100 * (most + least - scores[i]) / most : 100;
    }
}
