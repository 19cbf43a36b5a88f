/* Plugins that look at one node at a time: whether it may be used, its name, taints, labels and
 * ports, and which images it has. */
#include "scheduler/plugins.h"

#include "scheduler/profile.h"
#include "base/banned.h"

enum { SCORE_MAX = 100 };

/* ---- May it be used at all ---- */

void plugin_unschedulable_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str why = STR("node(s) were unschedulable");
    static const struct taint cordon = { .key = STR("node.kubernetes.io/unschedulable"),
                                         .value = STR(""),
                                         .effect = STR("NoSchedule") };
    if (n->is_unschedulable && !taint_tolerated(&cordon, c->f->tolerations))
        verdict_set(v, VERDICT_NEVER, &why);
}

bool plugin_name_prepare(struct cycle *c)
{
    return c->f->node_name.n > 0;
}

void plugin_name_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str why = STR("node(s) didn't match the requested node name");
    if (!str_eq(c->f->node_name, n->name))
        verdict_set(v, VERDICT_NEVER, &why);
}

/* ---- Taints ---- */

void plugin_taints_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str why = STR("node(s) had untolerated taint(s)");
    if (n->n_taints && taint_in_the_way(n->taints, n->n_taints, c->f->tolerations))
        verdict_set(v, VERDICT_NEVER, &why);
}

/* How many taints would rather not have the pod. */
int64_t plugin_taints_score(struct cycle *c, struct sched_node *n)
{
    int64_t unwelcome = 0;
    for (size_t i = 0; i < n->n_taints; i++) {
        const struct taint *t = &n->taints[i];
        if (!str_eq(t->effect, STR("PreferNoSchedule")))
            continue;
        bool tolerated = false;
        for (size_t k = 0; !tolerated && k < c->f->tolerations.n; k++) {
            const struct toleration *by = &c->f->tolerations.items[k];
            if (!by->effect.n || str_eq(by->effect, STR("PreferNoSchedule")))
                tolerated = taint_tolerated(t, (struct tolerations){ by, 1 });
        }
        unwelcome += !tolerated;
    }
    return unwelcome;
}

static void scale_to_most(int64_t *scores, size_t n, bool fewer_is_better)
{
    int64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = scores[i] > most ? scores[i] : most;
    for (size_t i = 0; i < n; i++) {
        int64_t s = most ? scores[i] * SCORE_MAX / most : 0;
        scores[i] = fewer_is_better ? SCORE_MAX - s : s;
    }
}

void plugin_taints_normalize(struct cycle *c, struct sched_node **nodes, int64_t *scores, size_t n)
{
    (void)c;
    (void)nodes;
    scale_to_most(scores, n, true);
}

/* ---- Labels ---- */

static bool is_name_in(const struct node_req *r)
{
    return str_eq(r->key, STR("metadata.name")) && r->op == NODE_IN;
}

/* The names that all of a term's fields allow, added to `ret`. False: it allows any. */
static bool add_names(const struct node_term *t, struct str *ret, size_t *n)
{
    const struct node_req *first = NULL;
    for (uint32_t i = 0; i < t->n_fields && !first; i++)
        first = is_name_in(&t->fields[i]) ? &t->fields[i] : NULL;
    for (uint32_t k = 0; first && k < first->n_values; k++) {
        bool in_all = true;
        for (uint32_t i = 0; i < t->n_fields && in_all; i++) {
            const struct node_req *r = &t->fields[i];
            bool found = !is_name_in(r);
            for (uint32_t j = 0; j < r->n_values && !found; j++)
                found = str_eq(r->values[j], first->values[k]);
            in_all = found;
        }
        if (in_all)
            ret[(*n)++] = first->values[k];
    }
    return first;
}

/* A pod that names its nodes, as those of a DaemonSet do, need not look at others. */
static void narrow_to_names(struct cycle *c)
{
    struct node_terms terms = c->f->required;
    size_t most = 0, n = 0;
    for (size_t i = 0; i < terms.n; i++)
        for (uint32_t k = 0; k < terms.items[i].n_fields; k++)
            most += terms.items[i].fields[k].n_values;
    struct str *names = arena_array(c->a, struct str, most + 1);
    for (size_t i = 0; i < terms.n; i++)
        if (!add_names(&terms.items[i], names, &n))
            return;
    if (!terms.n)
        return;
    c->only = names;
    c->n_only = n;
    if (!n)
        cycle_reject(c, PLUGIN_NODE_AFFINITY, STR("pod affinity terms conflict"));
}

bool plugin_affinity_prepare(struct cycle *c)
{
    if (c->f->has_required_terms)
        narrow_to_names(c);
    return c->f->has_node_rules || c->profile->affinity.has_required;
}

bool plugin_affinity_is_enforced(const struct profile *p, const struct sched_node *n)
{
    return !p->affinity.has_required || node_terms_hold(p->affinity.required, n->name, n->labels);
}

void plugin_affinity_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str why = STR("node(s) didn't match Pod's node affinity/selector");
    static const struct str enforced = STR("node(s) didn't match scheduler-enforced node affinity");
    if (!plugin_affinity_is_enforced(c->profile, n))
        verdict_set(v, VERDICT_NEVER, &enforced);
    else if (!pod_facts_fit_node(c->f, n->name, n->labels))
        verdict_set(v, VERDICT_NEVER, &why);
}

bool plugin_affinity_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n)
{
    (void)nodes;
    (void)n;
    return c->f->preferred.n > 0 || c->profile->affinity.preferred.n > 0;
}

static int64_t weigh_terms(struct node_terms terms, const struct sched_node *n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < terms.n; i++)
        if (node_term_holds(&terms.items[i], n->name, n->labels))
            sum += terms.items[i].weight;
    return sum;
}

int64_t plugin_affinity_score(struct cycle *c, struct sched_node *n)
{
    return weigh_terms(c->profile->affinity.preferred, n) + weigh_terms(c->f->preferred, n);
}

void plugin_affinity_normalize(struct cycle *c, struct sched_node **nodes, int64_t *scores,
                               size_t n)
{
    (void)c;
    (void)nodes;
    scale_to_most(scores, n, false);
}

/* ---- Ports ---- */

static bool ports_clash(const struct pod_port *a, const struct pod_port *b)
{
    static const struct str any = STR("0.0.0.0");
    return a->number == b->number && str_eq(a->protocol, b->protocol) &&
           (str_eq(a->ip, b->ip) || str_eq(a->ip, any) || str_eq(b->ip, any));
}

static bool has_clash(const struct pod_facts *a, const struct pod_facts *b)
{
    for (size_t i = 0; i < a->n_ports; i++)
        for (size_t k = 0; k < b->n_ports; k++)
            if (ports_clash(&a->ports[i], &b->ports[k]))
                return true;
    return false;
}

bool plugin_ports_prepare(struct cycle *c)
{
    return c->f->n_ports > 0;
}

void plugin_ports_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str why = STR("node(s) didn't have free ports for the requested pod ports");
    if (!n->n_ports)
        return;
    for (size_t i = 0; i < n->n_pods; i++)
        if (n->pods[i]->f->n_ports && has_clash(c->f, n->pods[i]->f)) {
            verdict_set(v, VERDICT_NO, &why);
            return;
        }
}

/* ---- Images ---- */

bool plugin_images_prepare_score(struct cycle *c, struct sched_node **nodes, size_t n)
{
    (void)n;
    (void)nodes;
    return c->w->images.n > 0;
}

int64_t plugin_images_score(struct cycle *c, struct sched_node *n)
{
    const int64_t mb = INT64_C(1024) * 1024, least = 23 * mb, most_each = 1000 * mb;
    int64_t sum = 0, most = most_each * (int64_t)c->f->n_images;
    for (size_t i = 0; i < c->f->n_images; i++)
        for (size_t k = 0; k < n->n_images; k++)
            if (str_eq(n->images[k].name, c->f->images[i])) {
                double share =
                    (double)world_image_nodes(c->w, n->images[k].name) / (double)c->w->n_nodes;
                sum += (int64_t)((double)n->images[k].bytes * share);
                break;
            }
    sum = sum < least ? least : sum > most ? most : sum;
    return most > least ? SCORE_MAX * (sum - least) / (most - least) : 0;
}
