#include "scheduler/preempt.h"

#include <stdlib.h>

#include "scheduler/profile.h"
#include "base/banned.h"

struct budget {
    struct str ns;
    struct labels_selector selector;
    int64_t allowed, left;
    const struct value *disrupted; /* pods that were counted already */
};

struct candidate {
    struct sched_node *node;
    struct sched_pod **victims; /* important ones first */
    size_t n;
    int64_t violations;
};

struct search {
    struct cycle *c;
    struct budget *budgets;
    size_t n_budgets;
    struct candidate *found;
    size_t n_found;
    struct verdict *verdicts; /* by slot: why there is no candidate */
};

/* ---- Budgets ---- */

static void add_budget(struct search *s, const struct value *v)
{
    struct budget *b = &s->budgets[s->n_budgets];
    struct err err = ERR_INIT(s->c->a);
    b->ns = value_str(value_dig(v, "metadata", "namespace"));
    b->disrupted = value_dig(v, "status", "disruptedPods");
    b->allowed = 0;
    (void)value_to_int(value_dig(v, "status", "disruptionsAllowed"), &b->allowed);
    /* A budget with an empty selector protects nobody here, as upstream. */
    if (labels_from_value(s->c->a, value_dig(v, "spec", "selector"), &b->selector, &err) == 0 &&
        !b->selector.nothing && !labels_empty(&b->selector))
        s->n_budgets++;
}

static void read_budgets(struct search *s)
{
    const struct cycle_env *env = s->c->env;
    const struct value **all = NULL;
    size_t n = env->budgets ? env->budgets(env->arg, s->c->a, STR(""), &all) : 0;
    s->budgets = arena_array(s->c->a, struct budget, n + 1);
    for (size_t i = 0; i < n; i++)
        add_budget(s, all[i]);
}

/* How many budgets would be broken by taking this pod too. */
static int64_t spend(struct search *s, const struct pod_facts *f)
{
    int64_t broken = 0;
    for (size_t i = 0; f->labels.n && i < s->n_budgets; i++) {
        struct budget *b = &s->budgets[i];
        if (!str_eq(b->ns, f->ns) || !labels_match(&b->selector, f->labels.items, f->labels.n) ||
            value_get(b->disrupted, f->name))
            continue;
        broken += --b->left < 0;
    }
    return broken;
}

/* ---- One node ---- */

static int by_importance(const void *a, const void *b)
{
    const struct pod_facts *x = (*(struct sched_pod *const *)a)->f;
    const struct pod_facts *y = (*(struct sched_pod *const *)b)->f;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->started.n && y->started.n && !str_eq(x->started, y->started))
        return str_cmp(x->started, y->started);
    if (!x->started.n != !y->started.n)
        return x->started.n ? -1 : 1;
    return str_cmp(x->key, y->key);
}

/* Puts it back if the pod still fits then. */
static bool reprieve(struct cycle *c, struct sched_pod *p, struct sched_node *n)
{
    struct verdict v;
    cycle_put(c, p, n);
    if (cycle_fits(c, n, &v))
        return true;
    cycle_take(c, p);
    return false;
}

/* Those whose going breaks a budget are reprieved first. */
static void reprieve_all(struct search *s, struct sched_pod **lower, size_t n_lower,
                         struct candidate *to)
{
    struct cycle *c = s->c;
    int64_t *broken = arena_array(c->a, int64_t, n_lower);
    bool *goes = arena_array(c->a, bool, n_lower);
    for (size_t i = 0; i < s->n_budgets; i++)
        s->budgets[i].left = s->budgets[i].allowed;
    for (size_t i = 0; i < n_lower; i++)
        broken[i] = spend(s, lower[i]->f);
    for (size_t i = 0; i < n_lower; i++)
        if (broken[i] && !reprieve(c, lower[i], to->node)) {
            goes[i] = true;
            to->violations += broken[i];
        }
    for (size_t i = 0; i < n_lower; i++)
        if (!broken[i])
            goes[i] = !reprieve(c, lower[i], to->node);
    for (size_t i = 0; i < n_lower; i++)
        if (goes[i])
            to->victims[to->n++] = lower[i];
    for (size_t i = 0; i < to->n; i++)
        cycle_put(c, to->victims[i], to->node);
}

static void try_node(struct search *s, struct sched_node *n)
{
    static const struct str nobody = STR("No preemption victims found for incoming pod");
    struct cycle *c = s->c;
    struct sched_pod **lower = arena_array(c->a, struct sched_pod *, n->n_pods + 1);
    size_t n_lower = 0;
    for (size_t i = 0; i < n->n_pods; i++)
        if (n->pods[i]->f->priority < c->f->priority)
            lower[n_lower++] = n->pods[i];
    if (!n_lower) {
        verdict_set(&s->verdicts[n->slot], VERDICT_NEVER, &nobody);
        return;
    }
    qsort(lower, n_lower, sizeof(struct sched_pod *), by_importance);
    for (size_t i = 0; i < n_lower; i++)
        cycle_take(c, lower[i]);
    struct verdict v;
    struct candidate *to = &s->found[s->n_found];
    *to = (struct candidate){ .node = n };
    if (cycle_fits(c, n, &v)) {
        to->victims = arena_array(c->a, struct sched_pod *, n_lower);
        reprieve_all(s, lower, n_lower, to);
        s->n_found += to->n > 0;
        return;
    }
    for (size_t i = 0; i < n_lower; i++)
        cycle_put(c, lower[i], n);
    s->verdicts[n->slot] = v;
}

/* ---- The best of them ---- */

static int64_t sum_priorities(const struct candidate *x)
{
    int64_t sum = 0;
    for (size_t i = 0; i < x->n; i++)
        sum += (int64_t)x->victims[i]->f->priority + INT32_MAX + 1;
    return sum;
}

/* When the first of the most important victims began. */
static struct str earliest(const struct candidate *x)
{
    struct str first = { 0 };
    for (size_t i = 0; i < x->n; i++) {
        const struct pod_facts *f = x->victims[i]->f;
        if (f->priority == x->victims[0]->f->priority && f->started.n &&
            (!first.n || str_cmp(f->started, first) < 0))
            first = f->started;
    }
    return first;
}

static bool is_better(const struct candidate *x, const struct candidate *y)
{
    if (x->violations != y->violations)
        return x->violations < y->violations;
    int32_t px = x->victims[0]->f->priority, py = y->victims[0]->f->priority;
    if (px != py)
        return px < py;
    int64_t sx = sum_priorities(x), sy = sum_priorities(y);
    if (sx != sy)
        return sx < sy;
    if (x->n != y->n)
        return x->n < y->n;
    struct str ex = earliest(x), ey = earliest(y);
    if (!ex.n || !ey.n)
        return !ex.n && ey.n; /* not even started is the latest */
    return str_cmp(ex, ey) > 0;
}

/* ---- All of it ---- */

/* A reason why it may not even try; empty: it may. */
static struct str why_not(struct cycle *c)
{
    if (c->f->never_preempts)
        return STR("not eligible due to preemptionPolicy=Never.");
    struct sched_node *n = c->pod->nominated.n ? world_node(c->w, c->pod->nominated) : NULL;
    if (!n || c->verdicts[n->slot].code == VERDICT_NEVER)
        return (struct str){ 0 };
    for (size_t i = 0; i < n->n_pods; i++) {
        const struct pod_facts *f = n->pods[i]->f;
        if (f->priority < c->f->priority && f->is_deleting && f->is_victim)
            return STR("not eligible due to a terminating pod on the nominated node.");
    }
    return (struct str){ 0 };
}

/* So many are enough to choose from. */
static size_t enough(const struct cycle *c)
{
    size_t wanted = c->w->n_nodes * (size_t)c->profile->candidates_percent / 100;
    size_t least = (size_t)c->profile->candidates_absolute;
    return wanted < least ? least : wanted;
}

struct str preempt_run(struct cycle *c, struct decision *ret)
{
    struct str not_eligible = why_not(c);
    if (not_eligible.n)
        return not_eligible;
    struct search s = { .c = c };
    ret->clears_nominated = true;
    s.verdicts = arena_array(c->a, struct verdict, c->w->n_nodes);
    s.found = arena_array(c->a, struct candidate, c->w->n_nodes + 1);
    read_budgets(&s);
    for (size_t i = 0; !c->reject.n && i < c->w->n_nodes && s.n_found < enough(c); i++)
        if (c->verdicts[i].code == VERDICT_NO)
            try_node(&s, c->w->nodes[i]);
    if (!s.n_found)
        return cycle_explain(c->a, c->w->n_nodes, s.verdicts,
                             STR("Preemption is not helpful for scheduling"));
    const struct candidate *best = &s.found[0];
    for (size_t i = 1; i < s.n_found; i++)
        if (is_better(&s.found[i], best))
            best = &s.found[i];
    ret->clears_nominated = false;
    ret->nominated = best->node->name;
    ret->victims = best->victims;
    ret->n_victims = best->n;
    return arena_printf(
        c->a, "found a potential placement for pod on node " STR_FMT ", preempting %zu victims",
        STR_ARG(best->node->name), best->n);
}
