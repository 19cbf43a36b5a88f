/* InterPodAffinity: pods that want to be near others, or far from them, and pods that are wanted
 * near or far by those who are there already. */
#include "scheduler/plugins.h"

#include "scheduler/domains.h"
#include "scheduler/profile.h"
#include "base/banned.h"

/* Numbers by topology key and value. */
struct pairs {
    struct domains *keys;
    size_t n, cap;
    int64_t total;
};

struct pods_state {
    struct pairs wanted;  /* pods that match all our terms of affinity */
    struct pairs feared;  /* pods that match a term of our anti-affinity */
    struct pairs hostile; /* pods whose anti-affinity is about us */
    bool matches_self;    /* we match all our own terms of affinity */
};

static struct domains *key_of(struct cycle *c, struct pairs *p, struct str key, bool makes)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->keys[i].topology_key, key))
            return &p->keys[i];
    if (!makes)
        return NULL;
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 4;
        p->keys = arena_grow(c->a, p->keys, p->cap * sizeof(struct domains),
                             cap * sizeof(struct domains), alignof(struct domains));
        p->cap = cap;
    }
    p->keys[p->n] = (struct domains){ .topology_key = key };
    return &p->keys[p->n++];
}

static void count(struct cycle *c, struct pairs *p, const struct sched_node *n, struct str key,
                  int64_t delta)
{
    struct str value = label_get(n->labels, key);
    if (!value.p)
        return;
    domains_make(key_of(c, p, key, true), c->a, value)->n += delta;
    p->total += delta;
}

static int64_t number(struct cycle *c, struct pairs *p, const struct sched_node *n, struct str key)
{
    struct domains *d = key_of(c, p, key, false);
    struct str value = d ? label_get(n->labels, key) : (struct str){ 0 };
    const struct domain *one = value.p ? domains_get(d, value) : NULL;
    return one ? one->n : 0;
}

static bool matches_all(struct cycle *c, struct pod_terms terms, const struct pod_facts *f)
{
    struct label_set ns = world_namespace(c->w, f->ns);
    for (size_t i = 0; i < terms.n; i++)
        if (!pod_term_matches(&terms.items[i], f, ns))
            return false;
    return terms.n > 0;
}

/* ---- Filter ---- */

static void count_pod(struct cycle *c, struct pods_state *s, const struct pod_facts *f,
                      const struct sched_node *n, int delta)
{
    if (c->f->affinity.n && matches_all(c, c->f->affinity, f))
        for (size_t i = 0; i < c->f->affinity.n; i++)
            count(c, &s->wanted, n, c->f->affinity.items[i].topology_key, delta);
    if (!c->f->anti.n)
        return;
    struct label_set ns = world_namespace(c->w, f->ns);
    for (size_t i = 0; i < c->f->anti.n; i++)
        if (pod_term_matches(&c->f->anti.items[i], f, ns))
            count(c, &s->feared, n, c->f->anti.items[i].topology_key, delta);
}

static void count_hostile(struct cycle *c, struct pods_state *s, const struct pod_facts *f,
                          const struct sched_node *n, int delta)
{
    for (size_t i = 0; i < f->anti.n; i++)
        if (pod_term_matches(&f->anti.items[i], c->f, c->ns_labels))
            count(c, &s->hostile, n, f->anti.items[i].topology_key, delta);
}

static void count_node(struct cycle *c, struct pods_state *s, const struct sched_node *n)
{
    bool all = c->f->affinity.n || c->f->anti.n;
    for (size_t i = 0; (all || n->n_anti) && i < n->n_pods; i++) {
        if (all)
            count_pod(c, s, n->pods[i]->f, n, 1);
        count_hostile(c, s, n->pods[i]->f, n, 1);
    }
}

bool plugin_pods_prepare(struct cycle *c)
{
    if (!c->w->n_anti && !c->w->n_nominated && !c->f->affinity.n && !c->f->anti.n)
        return false;
    struct pods_state *s = arena_new(c->a, struct pods_state);
    s->matches_self = matches_all(c, c->f->affinity, c->f);
    for (size_t i = 0; i < c->w->n_nodes; i++)
        count_node(c, s, c->w->nodes[i]);
    c->state[PLUGIN_POD_AFFINITY] = s;
    return true;
}

/* The first of a group that wants to be together has nobody to join. */
static bool is_near(struct cycle *c, struct pods_state *s, const struct sched_node *n)
{
    bool near = true;
    for (size_t i = 0; i < c->f->affinity.n; i++) {
        struct str key = c->f->affinity.items[i].topology_key;
        if (!label_get(n->labels, key).p)
            return false;
        near = near && number(c, &s->wanted, n, key) > 0;
    }
    return near || (s->wanted.total == 0 && s->matches_self);
}

static bool is_far(struct cycle *c, struct pods_state *s, const struct sched_node *n)
{
    for (size_t i = 0; i < c->f->anti.n; i++)
        if (number(c, &s->feared, n, c->f->anti.items[i].topology_key) > 0)
            return false;
    return true;
}

static bool is_tolerated(struct cycle *c, struct pods_state *s, const struct sched_node *n)
{
    for (size_t i = 0; i < s->hostile.n; i++)
        if (number(c, &s->hostile, n, s->hostile.keys[i].topology_key) > 0)
            return false;
    return true;
}

void plugin_pods_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str not_near = STR("node(s) didn't match pod affinity rules");
    static const struct str not_far = STR("node(s) didn't match pod anti-affinity rules");
    static const struct str not_welcome =
        STR("node(s) didn't satisfy existing pods anti-affinity rules");
    struct pods_state *s = c->state[PLUGIN_POD_AFFINITY];
    if (!is_near(c, s, n))
        verdict_set(v, VERDICT_NEVER, &not_near);
    else if (!is_far(c, s, n))
        verdict_set(v, VERDICT_NO, &not_far);
    else if (!is_tolerated(c, s, n))
        verdict_set(v, VERDICT_NO, &not_welcome);
}

void plugin_pods_moved(struct cycle *c, const struct pod_facts *f, struct sched_node *n, int delta)
{
    struct pods_state *s = c->state[PLUGIN_POD_AFFINITY];
    count_pod(c, s, f, n, delta);
    count_hostile(c, s, f, n, delta);
}

/* ---- Score ---- */

static void weigh(struct cycle *c, struct pairs *p, struct pod_terms terms,
                  const struct pod_facts *f, struct label_set ns, const struct sched_node *n,
                  int sign)
{
    for (size_t i = 0; i < terms.n; i++)
        if (pod_term_matches(&terms.items[i], f, ns))
            count(c, p, n, terms.items[i].topology_key, (int64_t)sign * terms.items[i].weight);
}

/* What one pod that is there has to say about ours, and ours about it. */
static void weigh_pod(struct cycle *c, struct pairs *p, const struct pod_facts *f,
                      const struct sched_node *n)
{
    if (c->f->soft_affinity.n || c->f->soft_anti.n) {
        struct label_set ns = world_namespace(c->w, f->ns);
        weigh(c, p, c->f->soft_affinity, f, ns, n, 1);
        weigh(c, p, c->f->soft_anti, f, ns, n, -1);
    }
    for (size_t i = 0; i < f->affinity.n; i++)
        if (pod_term_matches(&f->affinity.items[i], c->f, c->ns_labels))
            count(c, p, n, f->affinity.items[i].topology_key, c->profile->hard_affinity);
    weigh(c, p, f->soft_affinity, c->f, c->ns_labels, n, 1);
    weigh(c, p, f->soft_anti, c->f, c->ns_labels, n, -1);
}

bool plugin_pods_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n)
{
    (void)nodes;
    (void)n;
    bool all = c->f->soft_affinity.n || c->f->soft_anti.n;
    if (!all && (!c->w->n_terms || c->profile->ignores_preferences))
        return false;
    struct pairs *p = arena_new(c->a, struct pairs);
    for (size_t i = 0; i < c->w->n_nodes; i++) {
        const struct sched_node *node = c->w->nodes[i];
        for (size_t k = 0; (all || node->n_terms) && k < node->n_pods; k++)
            weigh_pod(c, p, node->pods[k]->f, node);
    }
    c->state[PLUGIN_POD_AFFINITY] = p;
    return p->n > 0;
}

int64_t plugin_pods_score(struct cycle *c, struct sched_node *n)
{
    struct pairs *p = c->state[PLUGIN_POD_AFFINITY];
    int64_t sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += number(c, p, n, p->keys[i].topology_key);
    return sum;
}

void plugin_pods_normalize(struct cycle *c, struct sched_node **nodes, int64_t *scores, size_t n)
{
    (void)c;
    (void)nodes;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        least = scores[i] < least ? scores[i] : least;
        most = scores[i] > most ? scores[i] : most;
    }
    for (size_t i = 0; i < n; i++)
        scores[i] = most > least
                        ? (int64_t)(100.0 * ((double)(scores[i] - least) / (double)(most - least)))
                        : 0;
}
