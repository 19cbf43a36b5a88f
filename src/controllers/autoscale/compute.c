#include "controllers/autoscale/compute.h"
#include "base/idiom.h"

#include "api/quantity.h"
#include "api/selector_dump.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "base/banned.h"

/* ---- Small things ---- */

struct hpa_tolerance hpa_tolerance_of(const struct spn_value *behavior)
{
    struct hpa_tolerance t = { 0.1, 0.1 };
    const struct spn_text down = spn_value_text(spn_value_dig(behavior, "scaleDown", "tolerance"));
    const struct spn_text up = spn_value_text(spn_value_dig(behavior, "scaleUp", "tolerance"));
    if (down.n)
        t.down = quantity_double(str_in(down));
    if (up.n)
        t.up = quantity_double(str_in(up));
    return t;
}

struct spn_text hpa_quantity(struct spn_arena *a, int64_t milli, bool is_memory)
{
    struct spn_text text = spn_arena_printf(a, "%lldm", (long long)milli);
    struct err unsaid = ERR_INIT(arena_in(a));
    struct str ret;
    const int64_t bytes = milli / 1000;
    if (is_memory && milli % 1000 == 0 && bytes >= 1024) {
        if (bytes % 1024)
            return spn_arena_printf(a, "%lld", (long long)bytes);
        text = spn_arena_printf(a, "%lldKi", (long long)(bytes / 1024));
    }
    return quantity_canonical(arena_in(a), str_in(text), &ret, &unsaid) == 0 ? text_out(ret) : text;
}

/* A quantity of a target in thousandths. False: it has none. */
static bool target_milli(const struct spn_value *target, const char *key, int64_t *ret)
{
    const struct spn_text t = spn_value_text(spn_value_get(target, key));
    return t.n && quantity_units(str_in(t), true, ret);
}

static struct spn_text dump_selector(struct spn_arena *a, const struct spn_value *metric)
{
    return text_out(selector_dump(arena_in(a), value_in(spn_value_get(metric, "selector"))));
}

static struct spn_text external_name(struct spn_arena *a, const struct spn_value *metric)
{
    return spn_arena_printf(a, "external metric " SPN_FMT "(" SPN_FMT ")",
                            SPN_ARG(spn_value_text(spn_value_get(metric, "name"))),
                            SPN_ARG(dump_selector(a, metric)));
}

/* {type, KEY: {current: {...}}}; the caller fills it. */
static struct spn_value *status_new(struct spn_arena *a, struct hpa_proposal *p, const char *type,
                                    const char *key)
{
    p->status = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, p->status, "type", spn_text_of(type));
    return spn_value_ensure(a, p->status, key);
}

/* The name and the selector of a metric. */
static void copy_metric(struct spn_arena *a, struct spn_value *to, const struct spn_value *metric)
{
    struct spn_value *id = spn_value_ensure(a, to, "metric");
    field_copy(a, id, metric, "name");
    field_copy(a, id, metric, "selector");
}

static void set_current(struct spn_arena *a, struct spn_value *to, const char *key, int64_t milli)
{
    spn_value_set_text(a, spn_value_ensure(a, to, "current"), key, hpa_quantity(a, milli, false));
}

static struct hpa_proposal fault(struct spn_arena *a, const char *reason, const struct spn_err *err)
{
    struct hpa_proposal p = { .reason = reason };
    p.words = p.fuller = spn_arena_text(a, spn_text_of(err->message));
    return p;
}

/* ---- Resources ---- */

struct resource_source {
    const char *type, *key; /* "Resource", "resource" */
    const char *reason;
    const struct spn_value *spec;
    struct spn_text resource, container;
};

/* `utilization` is the target in percent; -1: it is `milli` in each pod. */
static int ask_resource(const struct hpa_compute *c, const struct resource_source *s,
                        int64_t utilization, int64_t milli, struct hpa_answer *ret,
                        struct spn_err *err)
{
    struct hpa_samples samples;
    int r = hpa_fetch_resource(&c->source, s->resource, s->container, c->selector, &samples, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to get metrics for resource " SPN_FMT,
                            SPN_ARG(s->resource));
    if (utilization < 0)
        return hpa_calc_average(&c->calc, &samples, s->resource, milli, ret, err);
    return hpa_calc_utilization(&c->calc, &samples, s->resource, s->container, utilization, ret,
                                err);
}

static struct hpa_proposal say_resource(const struct hpa_compute *c,
                                        const struct resource_source *s,
                                        const struct hpa_answer *answer, int64_t utilization)
{
    struct spn_arena *a = c->calc.a;
    struct hpa_proposal p = { .replicas = answer->replicas };
    struct spn_value *status = status_new(a, &p, s->type, s->key);
    spn_value_set_text(a, status, "name", s->resource);
    if (s->container.n)
        spn_value_set_text(a, status, "container", s->container);
    struct spn_value *current = spn_value_ensure(a, status, "current");
    if (utilization >= 0)
        spn_value_set_int(a, current, "averageUtilization", answer->utilization);
    spn_value_set_text(
        a, current, "averageValue",
        hpa_quantity(a, answer->usage, spn_text_eq(s->resource, SPN_TEXT("memory"))));
    p.name = utilization < 0
                 ? spn_arena_printf(a, SPN_FMT " resource", SPN_ARG(s->resource))
                 : spn_arena_printf(a, SPN_FMT "%s resource utilization (percentage of request)",
                                    SPN_ARG(s->resource), s->container.n ? " container" : "");
    return p;
}

static struct hpa_proposal propose_resource(const struct hpa_compute *c,
                                            const struct resource_source *s)
{
    const struct spn_value *target = spn_value_get(s->spec, "target");
    int64_t utilization = field_int(spn_value_get(target, "averageUtilization"), -1);
    struct hpa_answer answer = { 0 };
    struct spn_err err = { 0 };
    int64_t milli = 0;
    const bool is_average = target_milli(target, "averageValue", &milli);
    if (!is_average && utilization < 0) {
        (void)spn_err_set(&err, SPN_INVALID,
                          "invalid resource metric source: neither an average utilization target "
                          "nor an average value (usage) target was set");
        return fault(c->calc.a, s->reason, &err);
    }
    if (is_average)
        utilization = -1;
    if (ask_resource(c, s, utilization, milli, &answer, &err) >= 0)
        return say_resource(c, s, &answer, utilization);
    (void)spn_err_wrap(&err, "failed to get " SPN_FMT " %s", SPN_ARG(s->resource),
                       is_average ? "usage" : "utilization");
    return fault(c->calc.a, s->reason, &err);
}

static struct hpa_proposal of_resource(const struct hpa_compute *c, const struct spn_value *spec)
{
    const struct resource_source s = { .type = "Resource",
                                       .key = "resource",
                                       .reason = "FailedGetResourceMetric",
                                       .spec = spec,
                                       .resource = spn_value_text(spn_value_get(spec, "name")) };
    struct hpa_proposal p = propose_resource(c, &s);
    p.fuller =
        spn_arena_printf(c->calc.a, "failed to get " SPN_FMT " resource metric value: " SPN_FMT,
                         SPN_ARG(s.resource), SPN_ARG(p.words));
    return p;
}

static struct hpa_proposal of_container(const struct hpa_compute *c, const struct spn_value *spec)
{
    const struct resource_source s = { .type = "ContainerResource",
                                       .key = "containerResource",
                                       .reason = "FailedGetContainerResourceMetric",
                                       .spec = spec,
                                       .resource = spn_value_text(spn_value_get(spec, "name")),
                                       .container =
                                           spn_value_text(spn_value_get(spec, "container")) };
    struct hpa_proposal p = propose_resource(c, &s);
    p.fuller =
        spn_arena_printf(c->calc.a, "failed to get " SPN_FMT " container metric value: " SPN_FMT,
                         SPN_ARG(s.container), SPN_ARG(p.words));
    return p;
}

/* ---- Metrics of pods ---- */

static int by_pods(const struct hpa_compute *c, const struct spn_value *spec,
                   struct hpa_answer *ret, struct spn_err *err)
{
    struct hpa_metric metric;
    struct hpa_samples samples;
    int64_t milli = 0;
    (void)target_milli(spn_value_get(spec, "target"), "averageValue", &milli);
    int r = hpa_metric_read(c->calc.a, spn_value_get(spec, "metric"), &metric, err);
    if (r < 0)
        return r;
    r = hpa_fetch_pods(&c->source, &metric, c->selector, &samples, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to get metric " SPN_FMT, SPN_ARG(metric.name));
    return hpa_calc_average(&c->calc, &samples, SPN_TEXT(""), milli, ret, err);
}

static struct hpa_proposal of_pods(const struct hpa_compute *c, const struct spn_value *spec)
{
    struct spn_arena *a = c->calc.a;
    const struct spn_value *metric = spn_value_get(spec, "metric");
    struct hpa_answer answer;
    struct spn_err err = { 0 };
    if (by_pods(c, spec, &answer, &err) < 0) {
        struct hpa_proposal bad = fault(a, "FailedGetPodsMetric", &err);
        bad.fuller =
            spn_arena_printf(a, "failed to get pods metric value: " SPN_FMT, SPN_ARG(bad.words));
        return bad;
    }
    struct hpa_proposal p = { .replicas = answer.replicas };
    struct spn_value *status = status_new(a, &p, "Pods", "pods");
    copy_metric(a, status, metric);
    set_current(a, status, "averageValue", answer.usage);
    p.name = spn_arena_printf(a, "pods metric " SPN_FMT,
                              SPN_ARG(spn_value_text(spn_value_get(metric, "name"))));
    return p;
}

/* ---- One value: of an object, or from outside ---- */

/* Which of its two targets a metric has. */
struct goal {
    bool is_average;
    int64_t milli;
};

static struct hpa_proposal say_value(const struct hpa_compute *c, const struct spn_value *spec,
                                     const struct hpa_answer *answer, const struct goal *goal,
                                     bool is_object)
{
    struct spn_arena *a = c->calc.a;
    const struct spn_value *metric = spn_value_get(spec, "metric");
    const struct spn_value *object = spn_value_get(spec, "describedObject");
    struct hpa_proposal p = { .replicas = answer->replicas, .name = external_name(a, metric) };
    struct spn_value *status = is_object ? status_new(a, &p, "Object", "object")
                                         : status_new(a, &p, "External", "external");
    copy_metric(a, status, metric);
    field_copy(a, status, spec, "describedObject");
    set_current(a, status, goal->is_average ? "averageValue" : "value", answer->usage);
    if (is_object && !goal->is_average)
        p.name = spn_arena_printf(a, SPN_FMT " metric " SPN_FMT,
                                  SPN_ARG(spn_value_text(spn_value_get(object, "kind"))),
                                  SPN_ARG(spn_value_text(spn_value_get(metric, "name"))));
    return p;
}

static int answer_value(const struct hpa_compute *c, const struct goal *goal, int64_t milli,
                        struct hpa_answer *ret, struct spn_err *err)
{
    if (!goal->is_average)
        return hpa_calc_value(&c->calc, milli, goal->milli, ret, err);
    *ret = hpa_calc_per_pod(&c->calc, milli, goal->milli, c->status_replicas);
    return 0;
}

static int by_object(const struct hpa_compute *c, const struct hpa_metric *metric,
                     const struct spn_value *object, const struct goal *goal,
                     struct hpa_answer *ret, struct spn_err *err)
{
    int64_t milli;
    int r = hpa_fetch_object(&c->source, metric, object, &milli, err);
    if (r < 0)
        return spn_err_wrap(
            err, "unable to get metric " SPN_FMT " on " SPN_FMT " " SPN_FMT "/" SPN_FMT,
            SPN_ARG(metric->name), SPN_ARG(spn_value_text(spn_value_get(object, "kind"))),
            SPN_ARG(c->source.work->ns), SPN_ARG(spn_value_text(spn_value_get(object, "name"))));
    return answer_value(c, goal, milli, ret, err);
}

static struct hpa_proposal object_fault(const struct hpa_compute *c, const struct spn_value *spec,
                                        const struct spn_err *err, bool is_average)
{
    struct spn_arena *a = c->calc.a;
    const struct spn_text name = spn_value_text(spn_value_dig(spec, "metric", "name"));
    struct hpa_proposal p = fault(a, "FailedGetObjectMetric", err);
    p.fuller =
        is_average
            ? spn_arena_printf(a,
                               "failed to get object metric value: failed to get " SPN_FMT
                               " object metric: " SPN_FMT,
                               SPN_ARG(name), SPN_ARG(p.words))
            : spn_arena_printf(a, "failed to get object metric value: " SPN_FMT, SPN_ARG(p.words));
    return p;
}

static struct hpa_proposal of_object(const struct hpa_compute *c, const struct spn_value *spec)
{
    const struct spn_value *target = spn_value_get(spec, "target");
    const struct spn_text type = spn_value_text(spn_value_get(target, "type"));
    struct goal goal = { .is_average = spn_text_eq(type, SPN_TEXT("AverageValue")) };
    struct hpa_metric metric;
    struct hpa_answer answer;
    struct spn_err err = { 0 };
    if (hpa_metric_read(c->calc.a, spn_value_get(spec, "metric"), &metric, &err) < 0)
        return object_fault(c, spec, &err, false);
    if (!target_milli(target, goal.is_average ? "averageValue" : "value", &goal.milli)) {
        (void)spn_err_set(&err, SPN_INVALID,
                          "invalid object metric source: neither a value target nor an average "
                          "value target was set");
        return object_fault(c, spec, &err, false);
    }
    return by_object(c, &metric, spn_value_get(spec, "describedObject"), &goal, &answer, &err) < 0
               ? object_fault(c, spec, &err, goal.is_average)
               : say_value(c, spec, &answer, &goal, true);
}

static int by_external(const struct hpa_compute *c, const struct spn_value *spec,
                       const struct goal *goal, struct hpa_answer *ret, struct spn_err *err)
{
    const struct spn_value *v = spn_value_get(spec, "metric");
    struct hpa_metric metric;
    int64_t milli;
    int r = hpa_metric_read(c->calc.a, v, &metric, err);
    if (r < 0)
        return r;
    r = hpa_fetch_external(&c->source, &metric, &milli, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to get external metric " SPN_FMT "/" SPN_FMT "/" SPN_FMT,
                            SPN_ARG(c->source.work->ns), SPN_ARG(metric.name),
                            SPN_ARG(dump_selector(c->calc.a, v)));
    return answer_value(c, goal, milli, ret, err);
}

static struct hpa_proposal external_fault(const struct hpa_compute *c, const struct spn_value *spec,
                                          const struct spn_err *err, const struct goal *goal)
{
    struct spn_arena *a = c->calc.a;
    const struct spn_text name = spn_value_text(spn_value_dig(spec, "metric", "name"));
    struct hpa_proposal p = fault(a, "FailedGetExternalMetric", err);
    struct spn_text which = SPN_TEXT("");
    if (goal && goal->is_average)
        which = spn_arena_printf(a, "failed to get " SPN_FMT " external metric: ", SPN_ARG(name));
    else if (goal)
        which = spn_arena_printf(a, "failed to get external metric " SPN_FMT ": ", SPN_ARG(name));
    p.fuller =
        spn_arena_printf(a, "failed to get " SPN_FMT " external metric value: " SPN_FMT SPN_FMT,
                         SPN_ARG(name), SPN_ARG(which), SPN_ARG(p.words));
    return p;
}

static struct hpa_proposal of_external(const struct hpa_compute *c, const struct spn_value *spec)
{
    const struct spn_value *target = spn_value_get(spec, "target");
    struct goal goal = { 0 };
    struct hpa_answer answer;
    struct spn_err err = { 0 };
    goal.is_average = target_milli(target, "averageValue", &goal.milli);
    if (!goal.is_average && !target_milli(target, "value", &goal.milli)) {
        (void)spn_err_set(&err, SPN_INVALID,
                          "invalid external metric source: neither a value target nor an average "
                          "value target was set");
        return external_fault(c, spec, &err, NULL);
    }
    return by_external(c, spec, &goal, &answer, &err) < 0
               ? external_fault(c, spec, &err, &goal)
               : say_value(c, spec, &answer, &goal, false);
}

/* ---- Any of them ---- */

struct hpa_proposal hpa_propose(const struct hpa_compute *c, const struct spn_value *metric)
{
    static const struct {
        const char *type, *key;
        struct hpa_proposal (*propose)(const struct hpa_compute *c, const struct spn_value *spec);
    } kinds[] = {
        { "Object", "object", of_object },
        { "Pods", "pods", of_pods },
        { "Resource", "resource", of_resource },
        { "ContainerResource", "containerResource", of_container },
        { "External", "external", of_external },
    };
    const struct spn_text type = spn_value_text(spn_value_get(metric, "type"));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (spn_text_eq(type, spn_text_of(kinds[i].type)))
            return kinds[i].propose(c, spn_value_get(metric, kinds[i].key));
    struct spn_err err = { 0 };
    (void)spn_err_set(&err, SPN_INVALID, "unknown metric source type \"" SPN_FMT "\"",
                      SPN_ARG(type));
    return fault(c->calc.a, "InvalidMetricSourceType", &err);
}
