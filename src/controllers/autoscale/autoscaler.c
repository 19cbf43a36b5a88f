/* horizontal-pod-autoscaler-controller: changes the scale of what runs pods, by what metrics say.
 * Each autoscaler is looked at when it changes and every few seconds. */
#include <pthread.h>
#include <sampan/meta.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/keyed.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/autoscale/behavior.h"
#include "controllers/autoscale/compute.h"
#include "controllers/common/caches.h"
#include "controllers/common/claim.h"
#include "controllers/common/fields.h"
#include "controllers/common/own_writes.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { WORKERS = 5, SYNC_MS = 15000, UNSEEN_MS = 20, CONFLICT_TRIES = 5 };

static const struct spn_target autoscalers =
    SPN_AT("autoscaling", "v2", "horizontalpodautoscalers", "", "");
static const struct spn_target all_pods = SPN_AT("", "v1", "pods", "", "");

/* What we remember of an autoscaler. */
struct memory {
    struct hpa_history history; /* of the one who reconciles it */
    char *selector;             /* of its target's pods, under the lock; NULL: not known yet */
    size_t n_key;
    char key[];
};

struct hpa_control {
    struct spn_cache *autoscalers, *pods;
    struct spn_mapper *mapper;
    struct own_writes *writes;
    int64_t sync_ms;
    pthread_mutex_t lock; /* of by_key */
    struct keyed by_key;  /* struct memory */
};

/* A reconcile. */
struct hpa_sync {
    struct hpa_control *c;
    struct spn_work *work;
    struct spn_arena *a;
    struct spn_value *hpa;
    const struct spn_value *spec;
    const struct spn_value *old_status; /* a copy */
    struct memory *memory;
    struct spn_target target; /* its scale */
    struct spn_value *scale;
    struct spn_objects held; /* pods */
    struct spn_value **pods;
    size_t n_pods;
    struct spn_value *metrics; /* for status.currentMetrics; NULL: none */
    int64_t current, min, max;
    struct spn_text why; /* the reason of a change */
};

/* ---- What we remember ---- */

static struct str key_of(const void *thing)
{
    const struct memory *m = thing;
    return (struct str){ m->key, m->n_key };
}

static struct memory *memory_of(struct hpa_control *c, struct spn_text key)
{
    (void)pthread_mutex_lock(&c->lock);
    struct memory *m = keyed_get(&c->by_key, str_in(key));
    if (!m) {
        m = mem_zalloc(sizeof(*m) + key.n);
        m->n_key = key.n;
        memcpy(m->key, key.p, key.n);
        (void)keyed_put(&c->by_key, m);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return m;
}

static void memory_free(struct memory *m)
{
    if (!m)
        return;
    hpa_history_done(&m->history);
    free(m->selector);
    free(m);
}

static void forget(struct hpa_control *c, struct spn_text key)
{
    (void)pthread_mutex_lock(&c->lock);
    struct memory *m = keyed_remove(&c->by_key, str_in(key));
    (void)pthread_mutex_unlock(&c->lock);
    memory_free(m);
    own_writes_forget(c->writes, key);
}

static void remember_selector(struct hpa_sync *s, struct spn_text selector)
{
    char *copy = mem_zalloc(selector.n + 1);
    memcpy(copy, selector.p, selector.n);
    (void)pthread_mutex_lock(&s->c->lock);
    free(s->memory->selector);
    s->memory->selector = copy;
    (void)pthread_mutex_unlock(&s->c->lock);
}

/* The selector of another one; empty: it is not known. */
static struct spn_text selector_of(struct hpa_control *c, struct spn_arena *a, struct spn_text key)
{
    (void)pthread_mutex_lock(&c->lock);
    const struct memory *m = keyed_get(&c->by_key, str_in(key));
    struct spn_text t = spn_arena_text(a, spn_text_of(m && m->selector ? m->selector : ""));
    (void)pthread_mutex_unlock(&c->lock);
    return t;
}

/* ---- Status ---- */

static void set_condition(struct hpa_sync *s, const char *type, bool is, const char *reason,
                          struct spn_text message)
{
    const struct spn_condition c = { .type = type,
                                     .status = is ? "True" : "False",
                                     .reason = reason,
                                     .message = spn_arena_text(s->a, message).p };
    (void)spn_condition_set(s->a, s->hpa, &c);
}

static void warn(struct hpa_sync *s, const char *reason, struct spn_text words)
{
    spn_event(s->work->events, s->hpa, SPN_WARNING, reason, SPN_FMT, SPN_ARG(words));
}

static void set_status(struct hpa_sync *s, int64_t desired, bool is_rescaled)
{
    struct spn_value *status = spn_value_ensure(s->a, s->hpa, "status");
    spn_value_set_int(s->a, status, "currentReplicas", s->current);
    spn_value_set_int(s->a, status, "desiredReplicas", desired);
    spn_value_set_int(s->a, status, "observedGeneration", meta_generation(s->hpa));
    spn_value_set(s->a, status, "currentMetrics",
                  s->metrics ? s->metrics : spn_value_new(s->a, SPN_NULL));
    if (is_rescaled)
        spn_value_set_text(s->a, status, "lastScaleTime", time_text(s->a, time_now()));
}

/* What is null is absent, and so are no replicas. */
static bool is_same_field(const struct spn_value *a, const struct spn_value *b)
{
    const bool a_is = spn_value_type(a) != SPN_NULL && field_int(a, 1) != 0;
    const bool b_is = spn_value_type(b) != SPN_NULL && field_int(b, 1) != 0;
    return a_is && b_is ? spn_value_eq(a, b) : a_is == b_is;
}

static bool is_same_status(const struct spn_value *a, const struct spn_value *b)
{
    static const char *const keys[] = { "observedGeneration", "lastScaleTime",  "currentReplicas",
                                        "desiredReplicas",    "currentMetrics", "conditions" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!is_same_field(spn_value_get(a, keys[i]), spn_value_get(b, keys[i])))
            return false;
    return true;
}

static void write_status(struct hpa_sync *s)
{
    struct spn_target at = s->work->at;
    struct spn_value *answer;
    struct spn_err err = { 0 };
    at.sub = SPN_TEXT("status");
    if (is_same_status(s->old_status, spn_value_get(s->hpa, "status")))
        return;
    if (spn_client_update(s->work->client, &at, s->hpa, &s->work->how, s->a, &answer, &err) < 0)
        warn(s, "FailedUpdateStatus", spn_text_of(err.message));
    else
        own_writes_note_update(s->c->writes, s->work->key, answer);
}

/* ---- Its target ---- */

static int find_target(struct hpa_sync *s, struct spn_err *err)
{
    const struct spn_value *ref = spn_value_get(s->spec, "scaleTargetRef");
    const struct hpa_source source = { s->work, s->c->mapper };
    const struct spn_text api_version = spn_value_text(spn_value_get(ref, "apiVersion"));
    const struct spn_text name = spn_value_text(spn_value_get(ref, "name"));
    struct spn_resource found;
    struct str rest = str_in(api_version);
    (void)str_cut(&rest, '/');
    if (rest.p && str_find(rest, '/') >= 0)
        return spn_err_set(err, SPN_INVALID, "unexpected GroupVersion string: " SPN_FMT,
                           SPN_ARG(api_version));
    int r = hpa_find_kind(&source, hpa_group(api_version),
                          spn_value_text(spn_value_get(ref, "kind")), &found, err);
    if (r < 0)
        return r;
    s->target = (struct spn_target){ .group = found.group,
                                     .version = found.version,
                                     .plural = found.plural,
                                     .ns = s->work->ns,
                                     .name = name,
                                     .sub = SPN_TEXT("scale") };
    r = spn_client_get(s->work->client, &s->target, &s->work->how, s->a, &s->scale, err);
    return r < 0 ? spn_err_set(err, SPN_UNAVAILABLE, SPN_FMT,
                               SPN_ARG(hpa_words(s->a, err, found.plural, name)))
                 : 0;
}

static void say_no_target(struct hpa_sync *s, const struct spn_err *err)
{
    warn(s, "FailedGetScale", spn_text_of(err->message));
    set_condition(s, "AbleToScale", false, "FailedGetScale",
                  spn_arena_printf(s->a,
                                   "the HPA controller was unable to get the target's current "
                                   "scale: %s",
                                   err->message));
    struct spn_value *status = spn_value_ensure(s->a, s->hpa, "status");
    if (!spn_value_get(status, "desiredReplicas"))
        spn_value_set_int(s->a, status, "desiredReplicas", 0);
    write_status(s);
}

/* ---- The pods of its target ---- */

/* A value that each of its objects must have, so that most others need not be read; empty: none. */
static struct spn_text needed_text(const struct labels_selector *selector)
{
    for (size_t i = 0; i < selector->n; i++) {
        const struct labels_req *r = &selector->reqs[i];
        if ((r->op == LABELS_EQUALS || r->op == LABELS_DOUBLE_EQUALS || r->op == LABELS_IN) &&
            r->n_values == 1)
            return text_out(r->values[0]);
    }
    return SPN_TEXT("");
}

static void list_pods(struct hpa_sync *s, const struct labels_selector *selector)
{
    const struct spn_text needed = needed_text(selector);
    spn_cache_list(s->c->pods, s->work->ns, true, &s->held);
    s->pods = spn_arena_alloc(s->a, (s->held.n + 1) * sizeof(*s->pods));
    for (size_t i = 0; i < s->held.n; i++) {
        if (needed.n && !spn_object_has_text(s->held.items[i], needed))
            continue;
        struct spn_value *pod = spn_value_new(s->a, SPN_OBJECT);
        spn_value_set(s->a, pod, "metadata", spn_object_meta(s->held.items[i], s->a));
        if (claim_matches(selector, pod))
            s->pods[s->n_pods++] = spn_object_value(s->held.items[i], s->a);
    }
}

static bool selects_any(struct hpa_sync *s, struct spn_text selector_text)
{
    struct labels_selector selector;
    struct err unsaid = ERR_INIT(arena_in(s->a));
    if (!selector_text.n ||
        labels_parse(arena_in(s->a), str_in(selector_text), &selector, &unsaid) < 0)
        return false;
    for (size_t i = 0; i < s->n_pods; i++)
        if (claim_matches(&selector, s->pods[i]))
            return true;
    return false;
}

/* Two autoscalers that have the same pods would pull in two directions. Empty: there is only us. */
static struct spn_text find_rivals(struct hpa_sync *s)
{
    struct spn_objects all;
    struct spn_text both[2];
    size_t n = 0;
    spn_cache_list(s->c->autoscalers, s->work->ns, true, &all);
    for (size_t i = 0; i < all.n && n < 2; i++) {
        const struct spn_text key = spn_object_key(all.items[i]);
        if (selects_any(s, selector_of(s->c, s->a, key)))
            both[n++] = spn_arena_text(s->a, key);
    }
    spn_objects_done(&all);
    return n < 2 ? SPN_TEXT("")
                 : spn_arena_printf(s->a, "[" SPN_FMT " " SPN_FMT "]", SPN_ARG(both[0]),
                                    SPN_ARG(both[1]));
}

static int refuse_selector(struct hpa_sync *s, const char *event, const char *reason,
                           struct spn_text message, struct spn_text words, struct spn_err *err)
{
    warn(s, event, words);
    set_condition(s, "ScalingActive", false, reason, message);
    return spn_err_set(err, SPN_INVALID, SPN_FMT, SPN_ARG(words));
}

static int select_pods(struct hpa_sync *s, struct spn_text text, struct spn_err *err)
{
    struct labels_selector selector;
    struct err why = ERR_INIT(arena_in(s->a));
    if (!text.n)
        return refuse_selector(s, "SelectorRequired", "InvalidSelector",
                               SPN_TEXT("the HPA target's scale is missing a selector"),
                               SPN_TEXT("selector is required"), err);
    if (labels_parse(arena_in(s->a), str_in(text), &selector, &why) < 0) {
        struct spn_text words = spn_arena_printf(
            s->a,
            "couldn't convert selector into a corresponding internal selector object: " STR_FMT,
            STR_ARG(why.msg));
        return refuse_selector(s, "InvalidSelector", "InvalidSelector", words, words, err);
    }
    remember_selector(s, text);
    list_pods(s, &selector);
    const struct spn_text rivals = find_rivals(s);
    if (!rivals.n)
        return 0;
    struct spn_text words = spn_arena_printf(
        s->a, "pods by selector " SPN_FMT " are controlled by more than one HPA (e.g. " SPN_FMT ")",
        SPN_ARG(text), SPN_ARG(rivals));
    return refuse_selector(s, "AmbiguousSelector", "AmbiguousSelector", words, words, err);
}

/* ---- What metrics say ---- */

struct sum {
    int64_t replicas;
    struct spn_text name;
    size_t n_bad;
    struct hpa_proposal first_bad;
};

static struct sum ask_metrics(struct hpa_sync *s, const struct hpa_compute *compute)
{
    const struct spn_value *specs = spn_value_get(s->spec, "metrics");
    struct sum sum = { 0 };
    s->metrics = spn_value_new(s->a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(specs); i++) {
        struct hpa_proposal p = hpa_propose(compute, spn_value_at(specs, i));
        if (!p.status) {
            p.status = spn_value_new(s->a, SPN_OBJECT);
            spn_value_set_text(s->a, p.status, "type", SPN_TEXT(""));
        }
        spn_value_push(s->a, s->metrics, p.status);
        if (p.reason) {
            warn(s, p.reason, p.words);
            if (!sum.n_bad++)
                sum.first_bad = p;
        } else if (!sum.replicas || p.replicas > sum.replicas) {
            sum.replicas = p.replicas;
            sum.name = p.name;
        }
    }
    return sum;
}

/* With some metrics missing it may grow, but not shrink. */
static int compute_replicas(struct hpa_sync *s, struct sum *ret, struct spn_err *err)
{
    const struct spn_text selector = spn_value_text(spn_value_dig(s->scale, "status", "selector"));
    int r = select_pods(s, selector, err);
    if (r < 0)
        return r;
    const struct hpa_compute compute = {
        .source = { s->work, s->c->mapper },
        .calc = { .a = s->a,
                  .pods = s->pods,
                  .n_pods = s->n_pods,
                  .now_ns = time_now(),
                  .tolerance = hpa_tolerance_of(spn_value_get(s->spec, "behavior")),
                  .current = s->current },
        .selector = selector,
        .status_replicas = status_int(s->scale, "replicas"),
    };
    const size_t n = spn_value_count(spn_value_get(s->spec, "metrics"));
    *ret = ask_metrics(s, &compute);
    if (ret->n_bad >= n || (ret->n_bad && ret->replicas < s->current)) {
        set_condition(s, "ScalingActive", false, ret->first_bad.reason ? ret->first_bad.reason : "",
                      spn_arena_printf(s->a,
                                       "the HPA was unable to compute the replica count: " SPN_FMT,
                                       SPN_ARG(ret->first_bad.words)));
        return spn_err_set(err, SPN_INVALID,
                           "invalid metrics (%zu invalid out of %zu), first error is: " SPN_FMT,
                           ret->n_bad, n, SPN_ARG(ret->first_bad.fuller));
    }
    set_condition(s, "ScalingActive", true, "ValidMetricFound",
                  spn_arena_printf(s->a,
                                   "the HPA was able to successfully calculate a replica count "
                                   "from " SPN_FMT,
                                   SPN_ARG(ret->name)));
    return 0;
}

/* ---- How many there should be ---- */

static bool was_scaled_to_zero(const struct hpa_sync *s)
{
    const struct spn_value *c = spn_condition_get(s->hpa, "ScaledToZero");
    return spn_text_eq(spn_value_text(spn_value_get(c, "status")), SPN_TEXT("True"));
}

/* Metrics that are there without any pod. */
static bool has_outer_metrics(const struct hpa_sync *s)
{
    const struct spn_value *all = spn_value_get(s->spec, "metrics");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_text type = spn_value_text(spn_value_get(spn_value_at(all, i), "type"));
        if (spn_text_eq(type, SPN_TEXT("Object")) || spn_text_eq(type, SPN_TEXT("External")))
            return true;
    }
    return false;
}

static int desire_by_metrics(struct hpa_sync *s, int64_t *ret, struct spn_err *err)
{
    struct sum sum;
    int r = compute_replicas(s, &sum, err);
    if (r < 0)
        return r;
    const int64_t by_metrics = sum.replicas > 0 ? sum.replicas : 0;
    if (by_metrics > s->current)
        s->why = spn_arena_printf(s->a, SPN_FMT " above target", SPN_ARG(sum.name));
    else if (by_metrics < s->current)
        s->why = SPN_TEXT("All metrics below target");
    const struct hpa_wish wish = { spn_value_get(s->spec, "behavior"), s->min, s->max, s->current,
                                   by_metrics };
    const struct hpa_verdict v =
        hpa_judge(&s->memory->history, &wish, clock_mono_ns(&clock_system));
    set_condition(s, "AbleToScale", true, v.able_reason, spn_text_of(v.able_message));
    set_condition(s, "ScalingLimited", v.is_limited, v.limit_reason, spn_text_of(v.limit_message));
    *ret = v.replicas;
    if (s->current == 0 && s->min != 0 && was_scaled_to_zero(s) && *ret < s->min) {
        *ret = s->min;
        if (!s->why.n)
            s->why = SPN_TEXT("Current number of replicas below Spec.MinReplicas");
    }
    return 0;
}

/* `*ret` is as it is where nothing is to be done. */
static int desire(struct hpa_sync *s, int64_t *ret, struct spn_err *err)
{
    *ret = s->current;
    if (s->current == 0) {
        if (was_scaled_to_zero(s) && (s->min != 0 || has_outer_metrics(s)))
            return desire_by_metrics(s, ret, err);
        set_condition(
            s, "ScalingActive", false, "ScalingDisabled",
            SPN_TEXT("scaling is disabled since the replica count of the target is zero"));
        return 0;
    }
    if (s->current > s->max) {
        s->why = SPN_TEXT("Current number of replicas above Spec.MaxReplicas");
        *ret = s->max;
        return 0;
    }
    if (s->current < s->min) {
        s->why = SPN_TEXT("Current number of replicas below Spec.MinReplicas");
        *ret = s->min;
        return 0;
    }
    return desire_by_metrics(s, ret, err);
}

/* ---- Changing the scale ---- */

static int write_scale(struct hpa_sync *s, int64_t desired, struct spn_err *err)
{
    int r = 0;
    for (int i = 0; i < CONFLICT_TRIES; i++) {
        struct spn_err unsaid = { 0 };
        spn_value_set_int(s->a, spn_value_ensure(s->a, s->scale, "spec"), "replicas", desired);
        r = spn_client_update(s->work->client, &s->target, s->scale, &s->work->how, s->a, NULL,
                              err);
        if (r != -SPN_CONFLICT)
            break;
        (void)spn_client_get(s->work->client, &s->target, &s->work->how, s->a, &s->scale, &unsaid);
    }
    return r;
}

static void say_zero(struct hpa_sync *s, int64_t desired)
{
    const bool is = s->current > 0 && desired == 0 && s->min == 0 && has_outer_metrics(s);
    set_condition(s, "ScaledToZero", is, is ? "ScaledToZero" : "NotScaledToZero",
                  is ? SPN_TEXT("the HPA controller scaled the workload to zero")
                     : SPN_TEXT("the HPA controller did not scale the workload to zero"));
}

static void rescale(struct hpa_sync *s, int64_t desired)
{
    struct spn_err err = { 0 };
    if (write_scale(s, desired, &err) < 0) {
        spn_event(s->work->events, s->hpa, SPN_WARNING, "FailedRescale",
                  "New size: %lld; reason: " SPN_FMT "; error: %s", (long long)desired,
                  SPN_ARG(s->why), err.message);
        set_condition(s, "AbleToScale", false, "FailedUpdateScale",
                      spn_arena_printf(s->a,
                                       "the HPA controller was unable to update the target scale: "
                                       "%s",
                                       err.message));
        set_status(s, status_int(s->hpa, "desiredReplicas"), false);
        return;
    }
    set_condition(s, "AbleToScale", true, "SucceededRescale",
                  spn_arena_printf(s->a,
                                   "the HPA controller was able to update the target scale to %lld",
                                   (long long)desired));
    spn_event(s->work->events, s->hpa, SPN_NORMAL, "SuccessfulRescale",
              "New size: %lld; reason: " SPN_FMT, (long long)desired, SPN_ARG(s->why));
    hpa_history_scaled(&s->memory->history, spn_value_get(s->spec, "behavior"), s->current, desired,
                       clock_mono_ns(&clock_system));
    say_zero(s, desired);
    set_status(s, desired, true);
}

/* ---- One autoscaler ---- */

static void sync_hpa(struct hpa_sync *s)
{
    struct spn_err err = { 0 };
    int64_t desired;
    if (find_target(s, &err) < 0) {
        say_no_target(s, &err);
        return;
    }
    set_condition(s, "AbleToScale", true, "SucceededGetScale",
                  SPN_TEXT("the HPA controller was able to get the target's current scale"));
    s->current = field_int(spn_value_dig(s->scale, "spec", "replicas"), 0);
    s->min = field_int(spn_value_get(s->spec, "minReplicas"), 1);
    s->max = field_int(spn_value_get(s->spec, "maxReplicas"), 0);
    hpa_history_begin(&s->memory->history, s->current, clock_mono_ns(&clock_system));
    if (desire(s, &desired, &err) < 0) {
        set_status(s, status_int(s->hpa, "desiredReplicas"), false);
        write_status(s);
        warn(s, "FailedComputeMetricsReplicas", spn_text_of(err.message));
        return;
    }
    if (desired != s->current)
        rescale(s, desired);
    else
        set_status(s, desired, false);
    write_status(s);
}

/* Errors stand in its status and in events. All is tried again after the usual time. */
static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct hpa_control *c = arg;
    struct hpa_sync s = { .c = c, .work = w, .a = w->arena, .hpa = spn_work_object(w) };
    (void)err;
    if (!s.hpa) {
        forget(c, w->key);
        return spn_done();
    }
    if (!own_writes_are_seen(c->writes, w->key, c->autoscalers))
        return spn_again_after(UNSEEN_MS);
    spn_value_set_text(s.a, s.hpa, "apiVersion", SPN_TEXT("autoscaling/v2"));
    spn_value_set_text(s.a, s.hpa, "kind", SPN_TEXT("HorizontalPodAutoscaler"));
    s.old_status = spn_value_copy(s.a, spn_value_get(s.hpa, "status"));
    s.spec = spn_value_copy(s.a, spn_value_get(s.hpa, "spec"));
    s.memory = memory_of(c, w->key);
    sync_hpa(&s);
    spn_objects_done(&s.held);
    return spn_again_after(c->sync_ms);
}

/* Not our own writes of its status. */
static bool when_hpa(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    return !old_o || !new_o || !spn_text_eq(spn_object_uid(old_o), spn_object_uid(new_o)) ||
           spn_object_generation(old_o) != spn_object_generation(new_o);
}

/* ---- The row ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct hpa_control *c = mem_new(struct hpa_control);
    c->pods = caches_get(env->manager, all_pods);
    c->autoscalers = caches_get(env->manager, autoscalers);
    c->mapper = spn_mapper_new(env->client, NULL);
    c->writes = own_writes_new();
    c->sync_ms = env->opt->autoscaler_sync_ms ? env->opt->autoscaler_sync_ms : SYNC_MS;
    c->by_key.key_of = key_of;
    (void)pthread_mutex_init(&c->lock, NULL);
    *ret = c;
    (void)spn_manager_add(env->manager, &(struct spn_controller_options){
                                            .name = "horizontal-pod-autoscaler-controller",
                                            .what = autoscalers,
                                            .kind = "HorizontalPodAutoscaler",
                                            .workers = WORKERS,
                                            .reconcile = reconcile,
                                            .arg = c,
                                            .when = when_hpa,
                                            .component = "horizontal-pod-autoscaler" });
    return 0;
}

static void done(void *made)
{
    struct hpa_control *c = made;
    size_t pos = 0;
    if (!c)
        return;
    for (struct memory *m; (m = keyed_next(&c->by_key, &pos));)
        memory_free(m);
    keyed_done(&c->by_key);
    own_writes_free(c->writes);
    spn_mapper_free(c->mapper);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

const struct controllers_row controllers_autoscaler = { "horizontal-pod-autoscaler-controller", add,
                                                        done };
