#include "controllers/daemonset/plan.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/node_match.h"
#include "base/banned.h"

#define LABEL_HASH            "controller-revision-hash"
#define LABEL_GENERATION      "pod-template-generation"
#define ANNOTATION_GENERATION "deprecated.daemonset.template.generation"

/* ---- What the set says ---- */

/* A number or a share, rounded up. */
static int64_t share(const struct spn_value *v, int64_t total)
{
    int64_t n = 0;
    struct str text = str_in(spn_value_text(v));
    if (spn_value_int(v, &n))
        return n;
    return text.n && str_to_i64(str_take(text, text.n - 1), &n) ? (n * total + 99) / 100 : 0;
}

struct daemon_limits daemon_limits_of(const struct spn_value *set, int64_t n_nodes)
{
    const struct spn_value *strategy = spn_value_dig(set, "spec", "updateStrategy");
    const struct spn_value *rolling = spn_value_get(strategy, "rollingUpdate");
    struct daemon_limits l = {
        .is_rolling =
            spn_text_eq(spn_value_text(spn_value_get(strategy, "type")), SPN_TEXT("RollingUpdate")),
    };
    if (!l.is_rolling)
        return l;
    l.max_surge = share(spn_value_get(rolling, "maxSurge"), n_nodes);
    l.max_unavailable = share(spn_value_get(rolling, "maxUnavailable"), n_nodes);
    if (n_nodes > 0 && !l.max_surge && !l.max_unavailable)
        l.max_unavailable = 1; /* or nothing would ever move */
    return l;
}

bool daemon_allows_surge(const struct spn_value *set)
{
    return daemon_limits_of(set, 1).max_surge > 0;
}

/* ---- Templates ---- */

static bool has_same(const struct spn_value *x, const struct spn_value *y, const char *key)
{
    return spn_text_eq(spn_value_text(spn_value_get(x, key)),
                       spn_value_text(spn_value_get(y, key)));
}

/* In the place of one that is for the same, or at the end. */
static void put_toleration(struct spn_arena *a, struct spn_value *list, struct spn_value *t)
{
    for (size_t i = 0; i < spn_value_count(list); i++) {
        struct spn_value *old = spn_value_edit_at(a, list, i);
        if (!has_same(old, t, "key") || !has_same(old, t, "effect") ||
            !has_same(old, t, "operator") || !has_same(old, t, "value"))
            continue;
        spn_value_remove(a, old, "tolerationSeconds");
        return;
    }
    spn_value_push(a, list, t);
}

/* What happens to nodes all the time is no reason for a daemon to go. */
static void add_tolerations(struct spn_arena *a, struct spn_value *spec)
{
    static const char *const rows[][2] = {
        { "node.kubernetes.io/not-ready", "NoExecute" },
        { "node.kubernetes.io/unreachable", "NoExecute" },
        { "node.kubernetes.io/disk-pressure", "NoSchedule" },
        { "node.kubernetes.io/memory-pressure", "NoSchedule" },
        { "node.kubernetes.io/pid-pressure", "NoSchedule" },
        { "node.kubernetes.io/unschedulable", "NoSchedule" },
        { "node.kubernetes.io/network-unavailable", "NoSchedule" }, /* with hostNetwork */
    };
    struct spn_value *list = spn_value_edit(a, spec, "tolerations");
    if (spn_value_type(list) != SPN_ARRAY)
        list = spn_value_set(a, spec, "tolerations", spn_value_new(a, SPN_ARRAY));
    const bool has_host_network = spn_value_is_true(spn_value_get(spec, "hostNetwork"));
    for (size_t i = 0; i < ARRAY_LEN(rows) - !has_host_network; i++) {
        struct spn_value *t = spn_value_new(a, SPN_OBJECT);
        spn_value_set_text(a, t, "key", spn_text_of(rows[i][0]));
        spn_value_set_text(a, t, "operator", SPN_TEXT("Exists"));
        spn_value_set_text(a, t, "effect", spn_text_of(rows[i][1]));
        put_toleration(a, list, t);
    }
}

static bool generation_of(const struct spn_value *set, struct str *ret)
{
    int64_t n;
    *ret = str_in(meta_annotation(set, ANNOTATION_GENERATION));
    return str_to_i64(*ret, &n);
}

struct spn_value *daemon_template(struct spn_arena *a, const struct spn_value *set,
                                  struct spn_text hash)
{
    struct str generation;
    struct spn_value *t = spn_value_copy(a, spn_value_dig(set, "spec", "template"));
    add_tolerations(a, spn_value_ensure(a, t, "spec"));
    struct spn_value *labels = spn_value_ensure(a, spn_value_ensure(a, t, "metadata"), "labels");
    if (generation_of(set, &generation))
        spn_value_set_text(a, labels, LABEL_GENERATION, text_out(generation));
    spn_value_set_text(a, labels, LABEL_HASH, hash);
    return t;
}

void daemon_bind_template(struct spn_arena *a, struct spn_value *template, struct spn_text node)
{
    struct spn_value *spec = spn_value_ensure(a, template, "spec");
    struct spn_value *affinity =
        spn_value_ensure(a, spn_value_ensure(a, spec, "affinity"), "nodeAffinity");
    struct spn_value *values = spn_value_new(a, SPN_ARRAY);
    spn_value_push(a, values, spn_value_new_text(a, node));
    struct spn_value *req = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, req, "key", SPN_TEXT("metadata.name"));
    spn_value_set_text(a, req, "operator", SPN_TEXT("In"));
    spn_value_set(a, req, "values", values);
    struct spn_value *fields = spn_value_new(a, SPN_ARRAY);
    spn_value_push(a, fields, req);
    struct spn_value *term = spn_value_new(a, SPN_OBJECT);
    spn_value_set(a, term, "matchFields", fields);
    struct spn_value *terms = spn_value_new(a, SPN_ARRAY);
    spn_value_push(a, terms, term);
    spn_value_set(a,
                  spn_value_ensure(a, affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
                  "nodeSelectorTerms", terms);
}

bool daemon_is_updated(const struct spn_value *set, const struct spn_value *pod,
                       struct spn_text hash)
{
    const struct spn_value *labels = spn_value_dig(pod, "metadata", "labels");
    struct str generation;
    return spn_text_eq(spn_value_text(spn_value_get(labels, LABEL_HASH)), hash) ||
           (generation_of(set, &generation) &&
            str_eq(str_in(spn_value_text(spn_value_get(labels, LABEL_GENERATION))), generation));
}

/* ---- Nodes ---- */

void daemon_judge_node(struct spn_arena *a, struct daemon_node *ret, const struct spn_value *node,
                       const struct spn_value *template)
{
    const struct spn_value *spec = spn_value_get(template, "spec");
    const struct spn_value *tolerations = spn_value_get(spec, "tolerations");
    struct spn_text only = spn_value_text(spn_value_get(spec, "nodeName"));
    const bool fits =
        (!only.n || spn_text_eq(only, meta_name(node))) && node_matches(a, node, spec);
    ret->should_run = fits && !node_repels(node, tolerations, false);
    ret->should_continue = fits && !node_repels(node, tolerations, true);
}

struct spn_text daemon_node_of(const struct spn_value *pod)
{
    struct spn_text name = spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
    const struct spn_value *terms =
        spn_value_dig(pod, "spec", "affinity", "nodeAffinity",
                      "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
    for (size_t i = 0; !name.n && i < spn_value_count(terms); i++) {
        const struct spn_value *fields = spn_value_get(spn_value_at(terms, i), "matchFields");
        const struct spn_value *values = spn_value_get(spn_value_at(fields, 0), "values");
        if (spn_value_count(values) == 1)
            name = spn_value_text(spn_value_at(values, 0));
    }
    return name;
}

static int by_age(const void *a, const void *b)
{
    const struct daemon_pod *x = a, *y = b;
    if (x->has_node != y->has_node)
        return x->has_node ? -1 : 1;
    if (x->created_ns != y->created_ns)
        return x->created_ns < y->created_ns ? -1 : 1;
    return str_cmp(str_in(x->name), str_in(y->name));
}

void daemon_sort_pods(struct daemon_node *node)
{
    if (node->n_pods)
        qsort(node->pods, node->n_pods, sizeof(*node->pods), by_age);
}

/* ---- One pod on each ---- */

static void remove_pod(struct daemon_plan *p, const struct daemon_pod *pod)
{
    p->remove[p->n_remove++] = pod;
}

static bool is_running(const struct daemon_pod *pod)
{
    return !pod->is_deleting && !pod->is_failed && !pod->is_succeeded;
}

/* Of each template one may stay; the old one goes when the new one can take over. */
static void plan_surge(struct daemon_plan *p, const struct daemon_node *node)
{
    const struct daemon_pod *new_pod = NULL, *old_pod = NULL;
    for (size_t i = 0; i < node->n_pods; i++) {
        const struct daemon_pod *pod = &node->pods[i];
        if (!is_running(pod))
            continue;
        const struct daemon_pod **first = pod->is_updated ? &new_pod : &old_pod;
        if (*first)
            remove_pod(p, pod);
        else
            *first = pod;
    }
    if (new_pod && old_pod && (!old_pod->is_ready || new_pod->is_available))
        remove_pod(p, old_pod);
}

static void plan_node(struct daemon_plan *p, struct daemon_node *node, bool allows_surge)
{
    size_t n_running = 0;
    daemon_sort_pods(node);
    for (size_t i = 0; i < node->n_pods; i++) {
        const struct daemon_pod *pod = &node->pods[i];
        n_running += is_running(pod);
        const bool has_ended = (pod->is_failed && !pod->is_waiting) || pod->is_succeeded;
        const bool is_doubled = !allows_surge && is_running(pod) && n_running > 1;
        if (!pod->is_deleting && (has_ended || is_doubled))
            remove_pod(p, pod);
    }
    if (allows_surge && n_running > 1)
        plan_surge(p, node);
    if (allows_surge && !n_running && node->should_run)
        p->create[p->n_create++] = node;
}

void daemon_plan(struct daemon_plan *p, struct daemon_node *nodes, size_t n, bool allows_surge)
{
    for (size_t i = 0; i < n; i++) {
        struct daemon_node *node = &nodes[i];
        if (node->should_run && !node->n_pods) {
            p->create[p->n_create++] = node;
            continue;
        }
        if (node->should_continue) {
            plan_node(p, node, allows_surge);
            continue;
        }
        for (size_t k = 0; k < node->n_pods; k++)
            if (!node->pods[k].is_deleting && (node->is_there || !node->pods[k].has_node))
                remove_pod(p, &node->pods[k]);
    }
}

/* ---- Updates ---- */

/* False: there are more of one template than one. */
static bool find_pods(const struct daemon_node *node, const struct daemon_pod **ret_new,
                      const struct daemon_pod **ret_old)
{
    *ret_new = *ret_old = NULL;
    for (size_t i = 0; i < node->n_pods; i++) {
        const struct daemon_pod *pod = &node->pods[i];
        if (pod->is_deleting)
            continue;
        const struct daemon_pod **one = pod->is_updated ? ret_new : ret_old;
        if (*one)
            return false;
        *one = pod;
    }
    return true;
}

/* Old pods that are not available go at once; of the others as many as may be missing. */
static void update_in_place(struct daemon_plan *p, const struct daemon_node *nodes, size_t n,
                            int64_t max_unavailable)
{
    const struct daemon_pod *new_pod, *old_pod;
    int64_t n_missing = 0;
    for (size_t i = 0; i < n; i++) {
        if (!nodes[i].should_run && !nodes[i].n_pods)
            continue;
        const bool is_clear = find_pods(&nodes[i], &new_pod, &old_pod);
        const bool is_single = is_clear && (!new_pod != !old_pod);
        const struct daemon_pod *one = new_pod ? new_pod : old_pod;
        n_missing += !is_single || !one->is_available;
        if (is_single && old_pod && !old_pod->is_available)
            remove_pod(p, old_pod);
    }
    for (size_t i = 0; i < n && n_missing < max_unavailable; i++)
        if (find_pods(&nodes[i], &new_pod, &old_pod) && old_pod && !new_pod &&
            old_pod->is_available) {
            remove_pod(p, old_pod);
            n_missing++;
        }
}

/* Old pods on nodes that should have none go as far as enough others are available. */
static void drop_strays(struct daemon_plan *p, const struct daemon_node *nodes, size_t n,
                        int64_t n_spare)
{
    const struct daemon_pod *new_pod, *old_pod;
    for (size_t i = 0; i < n && n_spare > 0; i++)
        if (!nodes[i].should_run && find_pods(&nodes[i], &new_pod, &old_pod) && old_pod &&
            !new_pod && old_pod->is_available) {
            remove_pod(p, old_pod);
            n_spare--;
        }
}

/* A new pod comes before the old one goes. */
static void update_with_surge(struct daemon_plan *p, const struct daemon_node *nodes, size_t n,
                              int64_t max_surge)
{
    const struct daemon_pod *new_pod, *old_pod;
    int64_t n_surge = 0, n_available = 0, n_wanted = 0;
    for (size_t i = 0; i < n; i++) {
        n_wanted += nodes[i].should_run;
        if (!find_pods(&nodes[i], &new_pod, &old_pod)) {
            n_surge++;
            continue;
        }
        const struct daemon_pod *first = old_pod ? old_pod : new_pod;
        n_available += first && first->is_available;
        if (!old_pod)
            continue;
        const bool is_stray = !new_pod && !old_pod->is_available && !nodes[i].should_run;
        if (is_stray || (new_pod && new_pod->is_available))
            remove_pod(p, old_pod);
        else if (new_pod)
            n_surge++;
        else if (!old_pod->is_available)
            p->create[p->n_create++] = &nodes[i];
    }
    for (size_t i = 0; i < n && n_surge < max_surge; i++)
        if (nodes[i].should_run && find_pods(&nodes[i], &new_pod, &old_pod) && old_pod &&
            !new_pod && old_pod->is_available) {
            p->create[p->n_create++] = &nodes[i];
            n_surge++;
        }
    drop_strays(p, nodes, n, n_available - n_wanted);
}

void daemon_plan_update(struct daemon_plan *p, struct daemon_node *nodes, size_t n,
                        const struct daemon_limits *limits)
{
    if (!limits->is_rolling)
        return;
    if (limits->max_surge)
        update_with_surge(p, nodes, n, limits->max_surge);
    else
        update_in_place(p, nodes, n, limits->max_unavailable);
}
