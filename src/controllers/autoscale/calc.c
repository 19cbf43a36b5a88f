#include "controllers/autoscale/calc.h"

#include <math.h>
#include <sampan/meta.h>
#include <stdlib.h>

#include "api/pod_resources.h"
#include "api/quantity.h"
#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "controllers/common/times.h"
#include "base/banned.h"

/* A pod that has just started uses much and says little. */
enum { WARM_UP_SEC = 300, FIRST_READY_SEC = 30 };

static bool is_within(struct hpa_tolerance t, double ratio)
{
    return 1.0 - t.down <= ratio && ratio <= 1.0 + t.up;
}

static int64_t whole(double replicas)
{
    const double up = ceil(replicas);
    return up < INT32_MAX ? (int64_t)up : INT32_MAX;
}

/* ---- What a pod requests ---- */

static int64_t milli_of(struct spn_text quantity)
{
    int64_t milli = 0;
    return quantity.n && quantity_units(str_in(quantity), true, &milli) ? milli : 0;
}

static bool is_sidecar(const struct spn_value *container)
{
    return spn_text_eq(spn_value_text(spn_value_get(container, "restartPolicy")),
                       SPN_TEXT("Always"));
}

static struct spn_text request_of(const struct spn_value *container, struct spn_text resource)
{
    return spn_value_text(
        spn_value_get_text(spn_value_dig(container, "resources", "requests"), resource));
}

struct ask {
    const struct spn_value *pod;
    struct spn_text resource, container;
    int64_t milli; /* so far */
};

/* 1: this was the one that was looked for. */
static int add_container(struct ask *ask, const struct spn_value *container, struct spn_err *err)
{
    const struct spn_text name = spn_value_text(spn_value_get(container, "name"));
    const struct spn_text request = request_of(container, ask->resource);
    if (ask->container.n && !spn_text_eq(name, ask->container))
        return 0;
    if (!request.n)
        return spn_err_set(err, SPN_INVALID,
                           "missing request for " SPN_FMT " in container " SPN_FMT
                           " of Pod " SPN_FMT,
                           SPN_ARG(ask->resource), SPN_ARG(name), SPN_ARG(meta_name(ask->pod)));
    ask->milli += milli_of(request);
    return ask->container.n ? 1 : 0;
}

static int add_list(struct ask *ask, const char *list, bool only_sidecars, struct spn_err *err)
{
    const struct spn_value *all = spn_value_dig(ask->pod, "spec", list);
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *c = spn_value_at(all, i);
        int r = only_sidecars && !is_sidecar(c) ? 0 : add_container(ask, c, err);
        if (r)
            return r;
    }
    return 0;
}

static int add_containers(struct ask *ask, struct spn_err *err)
{
    int r = add_list(ask, "containers", false, err);
    if (r)
        return r < 0 ? r : 0;
    r = add_list(ask, "initContainers", true, err);
    if (r || !ask->container.n)
        return r < 0 ? r : 0;
    return spn_err_set(err, SPN_INVALID, "container " SPN_FMT " not found in Pod " SPN_FMT,
                       SPN_ARG(ask->container), SPN_ARG(meta_name(ask->pod)));
}

/* A pod may request something as a whole. */
static int add_whole_pod(struct spn_arena *a, struct ask *ask, struct spn_err *err)
{
    const struct spn_value *spec = spn_value_get(ask->pod, "spec");
    struct spn_text request = request_of(spec, ask->resource);
    if (!request.n)
        request = text_out(
            pod_resources_sum(arena_in(a), value_in(spec), STR("requests"), str_in(ask->resource)));
    if (!request.n)
        return spn_err_set(err, SPN_INVALID,
                           "missing pod-level request for " SPN_FMT " in Pod " SPN_FMT,
                           SPN_ARG(ask->resource), SPN_ARG(meta_name(ask->pod)));
    ask->milli = milli_of(request) + milli_of(spn_value_text(spn_value_get_text(
                                         spn_value_get(spec, "overhead"), ask->resource)));
    return 0;
}

static int pod_request(struct spn_arena *a, struct ask *ask, struct spn_err *err)
{
    const bool has_own = spn_value_count(spn_value_dig(ask->pod, "spec", "resources", "requests"));
    return has_own && !ask->container.n ? add_whole_pod(a, ask, err) : add_containers(ask, err);
}

/* ---- Which pods count ---- */

enum kind { READY, UNREADY, MISSING, IGNORED };

struct member {
    enum kind kind;
    int64_t request;
};

/* The samples, by name, and what pods are. */
struct group {
    const struct hpa_calc *c;
    struct hpa_sample *samples;
    bool *is_out; /* of each sample: it does not count */
    size_t n;
    struct member *members; /* of each pod */
    size_t n_ready, n_unready, n_missing, n_left;
};

static int by_pod(const void *x, const void *y)
{
    const struct hpa_sample *a = x, *b = y;
    return str_cmp(str_in(a->pod), str_in(b->pod));
}

static struct hpa_sample *sample_of(const struct group *g, const struct spn_value *pod)
{
    const struct hpa_sample key = { .pod = meta_name(pod) };
    return bsearch(&key, g->samples, g->n, sizeof(key), by_pod);
}

/* Whether the processor time of a pod says nothing yet. */
static bool is_warming_up(const struct hpa_calc *c, const struct spn_value *pod,
                          const struct hpa_sample *sample)
{
    const struct spn_value *ready = spn_condition_get(pod, "Ready");
    int64_t started, changed = 0;
    if (!ready || !time_read(spn_value_dig(pod, "status", "startTime"), &started))
        return true;
    (void)time_read(spn_value_get(ready, "lastTransitionTime"), &changed);
    const bool is_not =
        spn_text_eq(spn_value_text(spn_value_get(ready, "status")), SPN_TEXT("False"));
    if (started + WARM_UP_SEC * NS_PER_SEC > c->now_ns)
        return is_not || sample->at_ns < changed + sample->window_ns;
    return is_not && started + FIRST_READY_SEC * NS_PER_SEC > changed;
}

static enum kind kind_of(const struct group *g, const struct spn_value *pod,
                         const struct hpa_sample *sample, struct spn_text resource)
{
    const struct spn_text phase = spn_value_text(spn_value_dig(pod, "status", "phase"));
    if (meta_is_deleting(pod) || spn_text_eq(phase, SPN_TEXT("Failed")))
        return IGNORED;
    if (spn_text_eq(phase, SPN_TEXT("Pending")))
        return UNREADY;
    if (!sample)
        return MISSING;
    return spn_text_eq(resource, SPN_TEXT("cpu")) && is_warming_up(g->c, pod, sample) ? UNREADY
                                                                                      : READY;
}

static void judge_pod(struct group *g, size_t i, struct spn_text resource)
{
    const struct hpa_sample *sample = sample_of(g, g->c->pods[i]);
    const enum kind kind = kind_of(g, g->c->pods[i], sample, resource);
    g->members[i].kind = kind;
    g->n_ready += kind == READY;
    g->n_unready += kind == UNREADY;
    g->n_missing += kind == MISSING;
    if (sample && kind != READY && !g->is_out[sample - g->samples]) {
        g->is_out[sample - g->samples] = true;
        g->n_left--;
    }
}

static int group_pods(const struct hpa_calc *c, const struct hpa_samples *samples,
                      struct spn_text resource, struct group *ret, struct spn_err *err)
{
    struct group g = { .c = c, .n = samples->n, .n_left = samples->n };
    if (!c->n_pods)
        return spn_err_set(err, SPN_INVALID,
                           "no pods returned by selector while calculating replica count");
    g.samples = spn_arena_alloc(c->a, (g.n + 1) * sizeof(*g.samples));
    g.is_out = spn_arena_alloc(c->a, g.n + 1);
    g.members = spn_arena_alloc(c->a, c->n_pods * sizeof(*g.members));
    if (g.n)
        memcpy(g.samples, samples->items, g.n * sizeof(*g.samples));
    qsort(g.samples, g.n, sizeof(*g.samples), by_pod);
    for (size_t i = 0; i < c->n_pods; i++)
        judge_pod(&g, i, resource);
    if (!g.n_left)
        return spn_err_set(err, SPN_INVALID,
                           "did not receive metrics for targeted pods (pods might be unready)");
    *ret = g;
    return 0;
}

/* ---- From a ratio to replicas ---- */

/* With what is not known filled in, the change is smaller; it may not be another one. */
static int64_t damped(const struct hpa_calc *c, double ratio, double new_ratio, size_t n)
{
    if (is_within(c->tolerance, new_ratio) || (ratio < 1.0 && new_ratio > 1.0) ||
        (ratio > 1.0 && new_ratio < 1.0))
        return c->current;
    const int64_t replicas = whole(new_ratio * (double)n);
    const bool is_turned =
        (new_ratio < 1.0 && replicas > c->current) || (new_ratio > 1.0 && replicas < c->current);
    return is_turned ? c->current : replicas;
}

/* Whether all pods that matter are known. `*ret` is what they ask for then. */
static bool is_simple(const struct group *g, double ratio, int64_t *ret)
{
    if ((g->n_unready && ratio > 1.0) || g->n_missing)
        return false;
    *ret = is_within(g->c->tolerance, ratio) ? g->c->current : whole(ratio * (double)g->n_ready);
    return true;
}

/* ---- Averages ---- */

int hpa_calc_average(const struct hpa_calc *c, const struct hpa_samples *samples,
                     struct spn_text resource, int64_t target_milli, struct hpa_answer *ret,
                     struct spn_err *err)
{
    struct group g;
    int64_t total = 0;
    int r = group_pods(c, samples, resource, &g, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < g.n; i++)
        total += g.is_out[i] ? 0 : g.samples[i].milli;
    size_t n = g.n_left;
    ret->usage = total / (int64_t)n;
    ret->utilization = 0;
    const double ratio = (double)ret->usage / (double)target_milli;
    if (is_simple(&g, ratio, &ret->replicas))
        return 0;
    if (ratio < 1.0)
        total += target_milli * (int64_t)g.n_missing;
    n += ratio < 1.0 || ratio > 1.0 ? g.n_missing : 0;
    n += ratio > 1.0 ? g.n_unready : 0;
    const int64_t usage = total / (int64_t)n;
    ret->replicas = damped(c, ratio, (double)usage / (double)target_milli, n);
    return 0;
}

/* ---- Parts of requests ---- */

struct sums {
    int64_t usage, requests;
    size_t n;       /* pods that are in both */
    size_t n_usage; /* samples, also of pods that we do not know */
};

static int utilization_of(const struct sums *s, int64_t *ret, struct spn_err *err)
{
    if (!s->requests)
        return spn_err_set(err, SPN_INVALID, "no metrics returned matched known pods");
    *ret = (int64_t)(int32_t)(s->usage * 100 / s->requests);
    return 0;
}

static int read_requests(struct group *g, struct spn_text resource, struct spn_text container,
                         struct spn_err *err)
{
    for (size_t i = 0; i < g->c->n_pods; i++) {
        struct ask ask = { g->c->pods[i], resource, container, 0 };
        int r = pod_request(g->c->a, &ask, err);
        if (r < 0)
            return r;
        g->members[i].request = ask.milli;
    }
    return 0;
}

static struct sums sum_ready(const struct group *g)
{
    struct sums s = { .n_usage = g->n_left };
    for (size_t i = 0; i < g->c->n_pods; i++) {
        if (g->members[i].kind != READY)
            continue;
        s.usage += sample_of(g, g->c->pods[i])->milli;
        s.requests += g->members[i].request;
        s.n++;
    }
    return s;
}

/* Pods without metrics are thought to use all that they request when there should be fewer, and
 * nothing when there should be more, as those that are not ready. */
static struct sums sum_all(const struct group *g, struct sums s, double ratio, int64_t target)
{
    const int64_t assumed = ratio < 1.0 ? (target > 100 ? target : 100) : 0;
    for (size_t i = 0; i < g->c->n_pods; i++) {
        const struct member *m = &g->members[i];
        const bool is_missing = m->kind == MISSING && (ratio < 1.0 || ratio > 1.0);
        if (!is_missing && !(m->kind == UNREADY && ratio > 1.0))
            continue;
        s.usage += is_missing ? m->request * assumed / 100 : 0;
        s.requests += m->request;
        s.n_usage++;
    }
    return s;
}

int hpa_calc_utilization(const struct hpa_calc *c, const struct hpa_samples *samples,
                         struct spn_text resource, struct spn_text container, int64_t target,
                         struct hpa_answer *ret, struct spn_err *err)
{
    struct group g;
    int64_t new_utilization = 0;
    int r = group_pods(c, samples, resource, &g, err);
    if (r < 0)
        return r;
    r = read_requests(&g, resource, container, err);
    if (r < 0)
        return r;
    struct sums s = sum_ready(&g);
    r = utilization_of(&s, &ret->utilization, err);
    if (r < 0)
        return r;
    ret->usage = s.usage / (int64_t)s.n;
    const double ratio = (double)ret->utilization / (double)target;
    if (is_simple(&g, ratio, &ret->replicas))
        return 0;
    s = sum_all(&g, s, ratio, target);
    r = utilization_of(&s, &new_utilization, err);
    if (r < 0)
        return r;
    ret->replicas = damped(c, ratio, (double)new_utilization / (double)target, s.n_usage);
    return 0;
}

/* ---- One value for all ---- */

static bool is_running(const struct spn_value *pod)
{
    return pod_is_ready(pod) &&
           spn_text_eq(spn_value_text(spn_value_dig(pod, "status", "phase")), SPN_TEXT("Running"));
}

int hpa_calc_value(const struct hpa_calc *c, int64_t milli, int64_t target_milli,
                   struct hpa_answer *ret, struct spn_err *err)
{
    const double ratio = (double)milli / (double)target_milli;
    size_t n_ready = 0;
    *ret = (struct hpa_answer){ .usage = milli, .replicas = c->current };
    if (!c->current) { /* there are none that could be ready */
        ret->replicas = whole(ratio);
        return 0;
    }
    if (is_within(c->tolerance, ratio))
        return 0;
    if (!c->n_pods)
        return spn_err_set(err, SPN_INVALID,
                           "unable to calculate ready pods: no pods returned by selector while "
                           "calculating replica count");
    for (size_t i = 0; i < c->n_pods; i++)
        n_ready += is_running(c->pods[i]);
    ret->replicas = whole(ratio * (double)n_ready);
    return 0;
}

struct hpa_answer hpa_calc_per_pod(const struct hpa_calc *c, int64_t milli, int64_t target_milli,
                                   int64_t n_replicas)
{
    const double each = (double)milli / (double)n_replicas;
    struct hpa_answer ret = { .replicas = n_replicas };
    if (!is_within(c->tolerance, (double)milli / ((double)target_milli * (double)n_replicas)))
        ret.replicas = whole((double)milli / (double)target_milli);
    ret.usage = each < (double)(INT64_MAX / 2) ? (int64_t)ceil(each) : INT64_MAX;
    return ret;
}
