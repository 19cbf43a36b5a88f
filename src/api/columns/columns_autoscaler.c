/* columns_autoscaler.c - what a HorizontalPodAutoscaler aims at and where it stands.
 *
 * Version 2 has a list of metrics. Version 1 has one for the processor and keeps all others, under
 * older names, as JSON in annotations; they come before it. */
#include "api/columns/columns_internal.h"
#include "api/keys.h"
#include "base/json.h"
#include "base/banned.h"

enum { METRICS_SHOWN = 2, CPU_DEFAULT_PERCENT = 80 };

#define SPECS_ANNOTATION    KEY_ALPHA_METRICS
#define STATUSES_ANNOTATION "autoscaling.alpha.kubernetes.io/current-metrics"

/* The numbers of a metric: its goal, or its current state. */
struct reading {
    const struct value *value, *average, *utilization;
    struct str zero; /* what an absent quantity reads as */
    bool known;      /* there is a metric of that kind at all */
};

enum metric { EXTERNAL, OBJECT, PODS, RESOURCE, CONTAINER_RESOURCE, METRIC_COUNT };

static const struct {
    struct str type, member;
    bool named; /* by the resource it measures, of which it may be a percentage */
} sources[METRIC_COUNT] = {
    [EXTERNAL] = { STR("External"), STR("external") },
    [OBJECT] = { STR("Object"), STR("object") },
    [PODS] = { STR("Pods"), STR("pods") },
    [RESOURCE] = { STR("Resource"), STR("resource"), true },
    [CONTAINER_RESOURCE] = { STR("ContainerResource"), STR("containerResource"), true },
};

static struct reading read_metric(const struct value *metric, enum metric kind, bool current,
                                  bool old)
{
    const struct value *source = value_get(metric, sources[kind].member);
    struct reading r = { .zero = old ? STR("0") : STR("<nil>"), .known = columns_is_set(source) };
    if (!old) {
        source = value_get(source, current ? STR("current") : STR("target"));
        r.value = value_get(source, STR("value"));
        r.average = value_get(source, STR("averageValue"));
        r.utilization = value_get(source, STR("averageUtilization"));
        return r;
    }
    r.value = value_get(source, current ? STR("currentValue") : STR("targetValue"));
    r.average = value_get(source, kind == OBJECT ? STR("averageValue")
                                  : current      ? STR("currentAverageValue")
                                                 : STR("targetAverageValue"));
    r.utilization = value_get(source, current ? STR("currentAverageUtilization")
                                              : STR("targetAverageUtilization"));
    return r;
}

static struct str percent(struct arena *a, const struct value *v, struct str when_unset)
{
    return columns_is_set(v) ? columns_cat(a, columns_number(a, columns_int(v)), STR("%"))
                             : when_unset;
}

/* "cpu: 20%/80%"; `status` may be absent. */
static struct str metric_text(struct arena *a, const struct value *spec, const struct value *status,
                              bool old)
{
    struct str type = value_text(spec, "type"), unknown = STR("<unknown>");
    enum metric kind = 0;
    while (kind < METRIC_COUNT && !str_eq(sources[kind].type, type))
        kind++;
    if (kind == METRIC_COUNT)
        return STR("<unknown type>");

    struct reading goal = read_metric(spec, kind, false, old);
    struct reading now = read_metric(status, kind, true, old);
    bool by_average = kind == PODS || columns_is_set(goal.average);
    /* Of resources and pods the state is always an average; of others it may not be. */
    bool has_average =
        now.known && (sources[kind].named || kind == PODS || columns_is_set(now.average));
    struct str want, have;
    if (by_average) {
        want = columns_quantity(a, goal.average, goal.zero);
        have = has_average ? columns_quantity(a, now.average, now.zero) : unknown;
    } else if (sources[kind].named) {
        want = percent(a, goal.utilization, STR("<auto>"));
        have = percent(a, now.utilization, unknown);
    } else {
        want = columns_quantity(a, goal.value, goal.zero);
        have = now.known ? columns_quantity(a, now.value, now.zero) : unknown;
    }
    struct str name = value_str(value_dig(value_get(spec, sources[kind].member), "name"));
    struct str prefix = sources[kind].named ? columns_cat(a, name, STR(": ")) : STR("");
    bool says_average = by_average && !sources[kind].named && kind != PODS;
    return columns_cat(a, prefix, have, STR("/"), want, says_average ? STR(" (avg)") : STR(""));
}

/* The list that an annotation of version 1 holds; NULL if it holds none. */
static const struct value *annotated(struct row *row, const char *annotation)
{
    const struct value *text = row_at(row, "metadata", "annotations", annotation);
    struct value *list = arena_new(row->arena, struct value);
    if (!value_is(text, VALUE_STRING) ||
        json_read(row->arena, value_str(text), NULL, list, NULL) < 0)
        return NULL;
    return list->type == VALUE_ARRAY ? list : NULL;
}

static struct str cpu_text(struct arena *a, const struct value *goal, struct str have)
{
    struct str eighty = columns_cat(a, columns_number(a, CPU_DEFAULT_PERCENT), STR("%"));
    return columns_cat(a, STR("cpu: "), have, STR("/"), percent(a, goal, eighty));
}

static struct str old_metrics(struct row *row)
{
    const struct value *specs = annotated(row, SPECS_ANNOTATION);
    const struct value *statuses = annotated(row, STATUSES_ANNOTATION);
    const struct value *cpu_goal = row_at(row, "spec", "targetCPUUtilizationPercentage");
    const struct value *cpu_now = row_at(row, "status", "currentCPUUtilizationPercentage");
    struct texts list = { row->arena };
    size_t n = columns_count(specs);
    for (size_t i = 0; i < n && i < METRICS_SHOWN; i++)
        columns_texts_add(&list,
                          metric_text(row->arena, value_at(specs, i), value_at(statuses, i), true));
    /* States are matched by place, and the processor's is the last one. */
    if (columns_is_set(cpu_goal) || !n) {
        const struct value *at_place = value_at(statuses, n);
        struct reading now = read_metric(at_place, RESOURCE, true, true);
        const struct value *have = statuses ? now.utilization : n ? NULL : cpu_now;
        columns_texts_add(
            &list, cpu_text(row->arena, cpu_goal, percent(row->arena, have, STR("<unknown>"))));
        n++;
    }
    return columns_texts_join_some(&list, METRICS_SHOWN, n, STR(", "));
}

/* The first beta of version 2 has the list, under the older names. */
static struct str metrics(struct row *row)
{
    bool old = str_eq(row->resource->version, STR("v2beta1"));
    const struct value *specs = row_at(row, "spec", "metrics");
    const struct value *statuses = row_at(row, "status", "currentMetrics");
    struct texts list = { row->arena };
    if (!value_is(specs, VALUE_ARRAY) || !specs->n)
        return STR("<none>");
    for (size_t i = 0; i < specs->n && i < METRICS_SHOWN; i++)
        columns_texts_add(&list,
                          metric_text(row->arena, value_at(specs, i), value_at(statuses, i), old));
    return columns_texts_join_some(&list, METRICS_SHOWN, specs->n, STR(", "));
}

static void print_autoscaler(struct row *row)
{
    const struct value *min = row_at(row, "spec", "minReplicas");
    bool old = str_eq(row->resource->version, STR("v1"));
    columns_row_add_name(row);
    columns_row_add(row, columns_cat(row->arena, row_text(row, "spec", "scaleTargetRef", "kind"),
                                     STR("/"), row_text(row, "spec", "scaleTargetRef", "name")));
    columns_row_add(row, old ? old_metrics(row) : metrics(row));
    columns_row_add(row, columns_is_set(min) ? columns_number(row->arena, columns_int(min))
                                             : STR("<unset>"));
    columns_row_add_int(row, row_int(row, "spec", "maxReplicas"));
    columns_row_add_int(row, row_int(row, "status", "currentReplicas"));
    columns_row_add_age(row);
}

const struct columns_rule columns_autoscaler_rules[] = {
    { STR("autoscaling"), STR("HorizontalPodAutoscaler"), print_autoscaler },
    { .print = NULL },
};
