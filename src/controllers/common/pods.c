#include "controllers/common/pods.h"

#include <math.h>
#include <sampan/meta.h>
#include <stdlib.h>

#include "api/names.h"
#include "api/pod_phase.h"
#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "base/banned.h"

/* ---- One pod ---- */

bool pod_is_terminal(const struct spn_value *pod)
{
    return pod_phase_is_final(str_in(spn_value_text(spn_value_dig(pod, "status", "phase"))));
}

bool pod_is_active(const struct spn_value *pod)
{
    return !pod_is_terminal(pod) && !meta_is_deleting(pod);
}

bool pod_is_terminating(const struct spn_value *pod)
{
    return !pod_is_terminal(pod) && meta_is_deleting(pod);
}

static const struct spn_value *ready_condition(const struct spn_value *pod)
{
    const struct spn_value *ready = spn_condition_get(pod, "Ready");
    return spn_text_eq(spn_value_text(spn_value_get(ready, "status")), SPN_TEXT("True")) ? ready
                                                                                         : NULL;
}

bool pod_is_ready(const struct spn_value *pod)
{
    return ready_condition(pod) != NULL;
}

/* 0: it does not say, or is not ready. */
static int64_t ready_since(const struct spn_value *pod)
{
    int64_t ns = 0;
    (void)time_read(spn_value_get(ready_condition(pod), "lastTransitionTime"), &ns);
    return ns;
}

bool pod_is_available(const struct spn_value *pod, int64_t min_ready_sec, int64_t now_ns)
{
    if (!pod_is_ready(pod))
        return false;
    int64_t since = ready_since(pod);
    return !min_ready_sec || (since && since + min_ready_sec * NS_PER_SEC <= now_ns);
}

int64_t pods_next_available_ms(const struct spn_value *const *pods, size_t n, int64_t min_ready_sec,
                               int64_t now_ns)
{
    int64_t first_ns = -1;
    for (size_t i = 0; i < n; i++) {
        int64_t since = ready_since(pods[i]);
        int64_t wait = since + min_ready_sec * NS_PER_SEC - now_ns;
        if (since && wait > 0 && (first_ns < 0 || wait < first_ns))
            first_ns = wait;
    }
    return first_ns < 0 ? -1 : first_ns / NS_PER_MS + 1;
}

/* ---- Who goes first ---- */

/* What the order asks for, read once. */
struct candidate {
    struct pod_rank of;
    struct spn_text uid;
    bool has_node, is_ready;
    int phase;
    int64_t cost, ready_ns, created_ns, restarts, sidecar_restarts;
    int64_t now_ns;
};

static int phase_order(const struct spn_value *pod)
{
    struct spn_text phase = spn_value_text(spn_value_dig(pod, "status", "phase"));
    return spn_text_eq(phase, SPN_TEXT("Unknown")) ? 1
                                                   : spn_text_eq(phase, SPN_TEXT("Running")) * 2;
}

/* Anything but a number of 32 bits is none. */
static int64_t deletion_cost(const struct spn_value *pod)
{
    int64_t cost = 0;
    struct str text = str_in(meta_annotation(pod, "controller.kubernetes.io/pod-deletion-cost"));
    if (!text.n || text.p[0] == '+' || (text.n > 1 && text.p[0] == '0') ||
        str_starts(text, STR("-0")) || !str_to_i64(text, &cost))
        return 0;
    return cost >= INT32_MIN && cost <= INT32_MAX ? cost : 0;
}

static int64_t restarts_of(const struct spn_value *status)
{
    return field_int(spn_value_get(status, "restartCount"), 0);
}

static bool is_sidecar(const struct spn_value *pod, struct spn_text name)
{
    const struct spn_value *all = spn_value_dig(pod, "spec", "initContainers");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *c = spn_value_at(all, i);
        if (spn_text_eq(spn_value_text(spn_value_get(c, "name")), name))
            return spn_text_eq(spn_value_text(spn_value_get(c, "restartPolicy")),
                               SPN_TEXT("Always"));
    }
    return false;
}

static void count_restarts(const struct spn_value *pod, struct candidate *c)
{
    const struct spn_value *all = spn_value_dig(pod, "status", "containerStatuses");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        int64_t n = restarts_of(spn_value_at(all, i));
        c->restarts = n > c->restarts ? n : c->restarts;
    }
    all = spn_value_dig(pod, "status", "initContainerStatuses");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *s = spn_value_at(all, i);
        int64_t n = restarts_of(s);
        if (n > c->sidecar_restarts && is_sidecar(pod, spn_value_text(spn_value_get(s, "name"))))
            c->sidecar_restarts = n;
    }
}

static struct candidate candidate_of(const struct pod_rank *r, int64_t now_ns)
{
    const struct spn_value *pod = r->pod;
    struct candidate c = {
        .of = *r,
        .uid = meta_uid(pod),
        .has_node = spn_value_text(spn_value_dig(pod, "spec", "nodeName")).n,
        .is_ready = pod_is_ready(pod),
        .phase = phase_order(pod),
        .cost = deletion_cost(pod),
        .ready_ns = ready_since(pod),
        .now_ns = now_ns,
    };
    (void)time_read(spn_value_dig(pod, "metadata", "creationTimestamp"), &c.created_ns);
    count_restarts(pod, &c);
    return c;
}

/* Ages count by their magnitude: of pods that are about as old any may go. */
static int magnitude(int64_t now_ns, int64_t then_ns)
{
    return now_ns > then_ns ? (int)log2((double)(now_ns - then_ns)) : -1;
}

/* Younger ones first, those without a time before all. */
static int by_age(const struct candidate *x, const struct candidate *y, int64_t x_ns, int64_t y_ns)
{
    if (!x_ns || !y_ns)
        return x_ns ? 1 : -1;
    int diff = magnitude(x->now_ns, x_ns) - magnitude(y->now_ns, y_ns);
    return diff ? diff : str_cmp(str_in(x->uid), str_in(y->uid));
}

static int compare(int64_t x, int64_t y)
{
    return x < y ? -1 : x > y;
}

static int before(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->has_node != y->has_node)
        return x->has_node ? 1 : -1;
    if (x->phase != y->phase)
        return compare(x->phase, y->phase);
    if (x->is_ready != y->is_ready)
        return x->is_ready ? 1 : -1;
    if (x->cost != y->cost)
        return compare(x->cost, y->cost);
    if (x->of.n_beside != y->of.n_beside)
        return x->of.n_beside > y->of.n_beside ? -1 : 1;
    if (x->is_ready && x->ready_ns != y->ready_ns)
        return by_age(x, y, x->ready_ns, y->ready_ns);
    if (x->restarts != y->restarts)
        return compare(y->restarts, x->restarts);
    if (x->sidecar_restarts != y->sidecar_restarts)
        return compare(y->sidecar_restarts, x->sidecar_restarts);
    if (x->created_ns != y->created_ns)
        return by_age(x, y, x->created_ns, y->created_ns);
    return str_cmp(str_in(x->uid), str_in(y->uid));
}

void pods_sort_for_deletion(struct pod_rank *pods, size_t n, int64_t now_ns)
{
    struct spn_arena *a = spn_arena_new();
    struct candidate *all = spn_arena_alloc(a, (n + 1) * sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i] = candidate_of(&pods[i], now_ns);
    qsort(all, n, sizeof(*all), before);
    for (size_t i = 0; i < n; i++)
        pods[i] = all[i].of;
    spn_arena_free(a);
}

/* ---- A new one ---- */

static struct spn_text name_prefix(struct spn_arena *a, struct spn_text owner)
{
    struct name_faults faults = { 0 };
    struct spn_text prefix = spn_arena_printf(a, SPN_FMT "-", SPN_ARG(owner));
    return name_check_prefix(NAME_SUBDOMAIN, str_in(prefix), &faults) ? prefix : owner;
}

struct spn_value *pod_from_template(struct spn_arena *a, const struct spn_value *template,
                                    const struct spn_value *owner)
{
    const struct spn_value *from = spn_value_get(template, "metadata");
    struct spn_value *pod = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, pod, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, pod, "kind", SPN_TEXT("Pod"));
    struct spn_value *meta = spn_value_ensure(a, pod, "metadata");
    spn_value_set_text(a, meta, "generateName", name_prefix(a, meta_name(owner)));
    spn_value_set_text(a, meta, "namespace", meta_text(owner, "namespace"));
    field_copy(a, meta, from, "labels");
    field_copy(a, meta, from, "annotations");
    field_copy(a, meta, from, "finalizers");
    field_copy(a, pod, template, "spec");
    (void)spn_set_controller(a, pod, owner, NULL); /* it has no other */
    return pod;
}
