/* HorizontalPodAutoscalers: autoscaling/v1 knows one target, the use of CPU, and carries all others
 * in annotations, in the shape that metrics had in v2beta1. The four annotations never stand beside
 * the fields that they are for. */
#include "api/convert_internal.h"
#include "base/json.h"
#include "base/banned.h"

#define NOTE(name) STR("autoscaling.alpha.kubernetes.io/" name)

/* ---- Small moves ---- */

static void copy(struct arena *a, struct value *to, struct str to_key, const struct value *from,
                 struct str from_key)
{
    const struct value *v = value_get(from, from_key);
    if (v && v->type != VALUE_NULL)
        (void)value_set(a, to, to_key, value_borrow(v));
}

static void set_text(struct arena *a, struct value *to, struct str key, const char *text)
{
    (void)value_set(a, to, key, value_string(str_of(text)));
}

/* ---- One metric ---- */

/* Where each sort of metric has its parts, in the old shape. */
static const struct source {
    struct str name;
    bool of_container;
    struct str metric, selector; /* the metric's name; empty: it is about a resource */
    struct str object;
    struct str value, average_value, utilization;             /* of a target */
    struct str now_value, now_average_value, now_utilization; /* of a status */
} sources[] = {
    { .name = STR("resource"),
      .average_value = STR("targetAverageValue"),
      .utilization = STR("targetAverageUtilization"),
      .now_average_value = STR("currentAverageValue"),
      .now_utilization = STR("currentAverageUtilization") },
    { .name = STR("containerResource"),
      .of_container = true,
      .average_value = STR("targetAverageValue"),
      .utilization = STR("targetAverageUtilization"),
      .now_average_value = STR("currentAverageValue"),
      .now_utilization = STR("currentAverageUtilization") },
    { .name = STR("pods"),
      .metric = STR("metricName"),
      .selector = STR("selector"),
      .average_value = STR("targetAverageValue"),
      .now_average_value = STR("currentAverageValue") },
    { .name = STR("object"),
      .metric = STR("metricName"),
      .selector = STR("selector"),
      .object = STR("target"),
      .value = STR("targetValue"),
      .average_value = STR("averageValue"),
      .now_value = STR("currentValue"),
      .now_average_value = STR("averageValue") },
    { .name = STR("external"),
      .metric = STR("metricName"),
      .selector = STR("metricSelector"),
      .value = STR("targetValue"),
      .average_value = STR("targetAverageValue"),
      .now_value = STR("currentValue"),
      .now_average_value = STR("currentAverageValue") },
};

static bool is_zero(const struct value *quantity)
{
    return !quantity || str_eq(value_str(quantity), STR("0"));
}

static void set_target_type(struct arena *a, const struct source *s, struct value *target)
{
    bool has_value = value_get(target, STR("value")),
         has_average = value_get(target, STR("averageValue"));
    const char *type = "AverageValue";
    if (value_get(target, STR("averageUtilization")))
        type = "Utilization";
    else if (s->object.n ? !has_average : has_value)
        type = "Value";
    set_text(a, target, STR("type"), type);
}

static struct value source_to_v2(struct arena *a, const struct source *s, const struct value *old,
                                 bool status)
{
    struct value out = value_object(), numbers = value_object(), metric = value_object();
    if (s->metric.n) {
        copy(a, &metric, STR("name"), old, s->metric);
        copy(a, &metric, STR("selector"), old, s->selector);
        (void)value_add(a, &out, STR("metric"), metric);
    } else {
        copy(a, &out, STR("name"), old, STR("name"));
    }
    if (s->of_container)
        copy(a, &out, STR("container"), old, STR("container"));
    if (s->object.n)
        copy(a, &out, STR("describedObject"), old, s->object);
    copy(a, &numbers, STR("value"), old, status ? s->now_value : s->value);
    copy(a, &numbers, STR("averageValue"), old, status ? s->now_average_value : s->average_value);
    copy(a, &numbers, STR("averageUtilization"), old, status ? s->now_utilization : s->utilization);
    if (s->object.n && is_zero(value_get(&numbers, STR("value"))) &&
        value_get(&numbers, STR("averageValue")))
        (void)value_remove(a, &numbers, STR("value"));
    if (!status)
        set_target_type(a, s, &numbers);
    (void)value_add(a, &out, status ? STR("current") : STR("target"), numbers);
    return out;
}

static struct value source_to_v1(struct arena *a, const struct source *s, const struct value *v2,
                                 bool status)
{
    struct value out = value_object();
    const struct value *metric = value_get(v2, STR("metric")),
                       *numbers = value_get(v2, status ? STR("current") : STR("target"));
    struct str value = status ? s->now_value : s->value;
    if (s->object.n)
        copy(a, &out, s->object, v2, STR("describedObject"));
    if (s->metric.n)
        copy(a, &out, s->metric, metric, STR("name"));
    else
        copy(a, &out, STR("name"), v2, STR("name"));
    if (s->of_container)
        copy(a, &out, STR("container"), v2, STR("container"));
    if (status ? s->now_utilization.n : s->utilization.n)
        copy(a, &out, status ? s->now_utilization : s->utilization, numbers,
             STR("averageUtilization"));
    if (value.n) {
        copy(a, &out, value, numbers, STR("value"));
        if (s->object.n && !value_get(&out, value))
            set_text(a, &out, value, "0"); /* has a place there always */
    }
    copy(a, &out, status ? s->now_average_value : s->average_value, numbers, STR("averageValue"));
    if (s->selector.n)
        copy(a, &out, s->selector, metric, STR("selector"));
    return out;
}

static struct value convert_metric(struct arena *a, const struct value *in, bool to_v2, bool status)
{
    struct value out = value_object();
    copy(a, &out, STR("type"), in, STR("type"));
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        const struct value *source = value_get(in, sources[i].name);
        if (value_is(source, VALUE_OBJECT))
            (void)value_add(a, &out, sources[i].name,
                            to_v2 ? source_to_v2(a, &sources[i], source, status)
                                  : source_to_v1(a, &sources[i], source, status));
    }
    return out;
}

/* ---- Annotations ---- */

/* What an annotation holds; null if it is absent or no JSON. */
static struct value read_note(struct arena *a, const struct value *obj, struct str key)
{
    struct value out;
    const struct value *note = value_get(value_dig(obj, "metadata", "annotations"), key);
    if (!value_is(note, VALUE_STRING) || json_read(a, value_str(note), NULL, &out, NULL) < 0)
        return value_null();
    return out;
}

static void write_note(struct arena *a, struct value *obj, struct str key, const struct value *v)
{
    autobuf text = { 0 };
    json_write(&text, v);
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    (void)value_set(a, value_ensure(a, meta, STR("annotations")), key,
                    value_string(arena_str(a, buf_str(&text))));
}

static void drop_notes(struct arena *a, struct value *obj)
{
    static const struct str keys[] = { NOTE("metrics"), NOTE("current-metrics"), NOTE("conditions"),
                                       NOTE("behavior") };
    const struct value *there = value_dig(obj, "metadata", "annotations");
    if (!value_is(there, VALUE_OBJECT))
        return;
    struct value *meta = value_edit(a, obj, STR("metadata"));
    struct value *annotations = value_edit(a, meta, STR("annotations"));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        (void)value_remove(a, annotations, keys[i]);
    if (!annotations->n)
        (void)value_remove(a, meta, STR("annotations"));
}

/* Keys of the behaviour stand there with a capital. */
static struct value with_first_letter(struct arena *a, const struct value *v, bool upper)
{
    struct value out = value_borrow(v);
    if (v->type == VALUE_ARRAY) {
        out = value_array();
        for (size_t i = 0; i < v->n; i++)
            (void)value_push(a, &out, with_first_letter(a, &v->items[i], upper));
    } else if (v->type == VALUE_OBJECT) {
        out = value_object();
        for (size_t i = 0; i < v->n; i++) {
            struct str key = arena_str(a, v->fields[i].key);
            char c = key.n ? key.p[0] : '\0', lower = (char)(c | 0x20);
            if (lower >= 'a' && lower <= 'z')
                key = arena_printf(a, "%c" STR_FMT, upper ? lower & ~0x20 : lower,
                                   STR_ARG(str_skip(key, 1)));
            (void)value_add(a, &out, key, with_first_letter(a, &v->fields[i].val, upper));
        }
    }
    return out;
}

/* ---- The whole ---- */

static struct value cpu_metric(struct arena *a, const struct value *percent, bool status)
{
    struct value metric = value_object(), resource = value_object(), numbers = value_object();
    if (!status)
        set_text(a, &numbers, STR("type"), "Utilization");
    (void)value_add(a, &numbers, STR("averageUtilization"), value_borrow(percent));
    set_text(a, &resource, STR("name"), "cpu");
    (void)value_add(a, &resource, status ? STR("current") : STR("target"), numbers);
    set_text(a, &metric, STR("type"), "Resource");
    (void)value_add(a, &metric, STR("resource"), resource);
    return metric;
}

static void to_v2(struct arena *a, struct value *obj)
{
    struct value metrics = value_array(), current = value_array(),
                 noted = read_note(a, obj, NOTE("metrics")),
                 noted_current = read_note(a, obj, NOTE("current-metrics")),
                 conditions = read_note(a, obj, NOTE("conditions")),
                 behavior = read_note(a, obj, NOTE("behavior"));
    const struct value *target = value_dig(obj, "spec", "targetCPUUtilizationPercentage"),
                       *used = value_dig(obj, "status", "currentCPUUtilizationPercentage");
    value_each_item (m, &noted)
        (void)value_push(a, &metrics, convert_metric(a, m, true, false));
    if (target)
        (void)value_push(a, &metrics, cpu_metric(a, target, false));
    value_each_item (c, &noted_current)
        (void)value_push(a, &current, convert_metric(a, c, true, true));
    if (used && !current.n)
        (void)value_push(a, &current, cpu_metric(a, used, true));

    struct value *spec = value_ensure(a, obj, STR("spec"));
    if (metrics.n)
        (void)value_set(a, spec, STR("metrics"), metrics);
    if (behavior.type == VALUE_OBJECT)
        (void)value_set(a, spec, STR("behavior"), with_first_letter(a, &behavior, false));
    if (current.n)
        (void)value_set(a, value_ensure(a, obj, STR("status")), STR("currentMetrics"), current);
    if (conditions.type == VALUE_ARRAY)
        (void)value_set(a, value_ensure(a, obj, STR("status")), STR("conditions"), conditions);
    drop_notes(a, obj);
}

static const struct value *cpu_use(const struct value *metric, struct str numbers)
{
    const struct value *resource = value_get(metric, STR("resource"));
    if (!str_eq(value_str(value_get(metric, STR("type"))), STR("Resource")) ||
        !str_eq(value_str(value_get(resource, STR("name"))), STR("cpu")))
        return NULL;
    return value_get(value_get(resource, numbers), STR("averageUtilization"));
}

/* The old shape of a list of metrics. The first use of CPU becomes `*ret_cpu`; among targets it is
 * then left out. */
static struct value metrics_to_v1(struct arena *a, const struct value *list, bool status,
                                  const struct value **ret_cpu)
{
    struct value out = value_array();
    value_each_item (m, list) {
        const struct value *use = cpu_use(m, status ? STR("current") : STR("target"));
        if (use && !*ret_cpu)
            *ret_cpu = use;
        if (status || !use)
            (void)value_push(a, &out, convert_metric(a, m, false, status));
    }
    return out;
}

static void to_v1(struct arena *a, struct value *obj)
{
    const struct value *target = NULL, *used = NULL,
                       *conditions = value_dig(obj, "status", "conditions"),
                       *behavior = value_dig(obj, "spec", "behavior");
    struct value metrics = metrics_to_v1(a, value_dig(obj, "spec", "metrics"), false, &target),
                 current =
                     metrics_to_v1(a, value_dig(obj, "status", "currentMetrics"), true, &used);
    drop_notes(a, obj);
    if (metrics.n)
        write_note(a, obj, NOTE("metrics"), &metrics);
    if (current.n)
        write_note(a, obj, NOTE("current-metrics"), &current);
    if (value_is(conditions, VALUE_ARRAY) && conditions->n)
        write_note(a, obj, NOTE("conditions"), conditions);
    if (value_is(behavior, VALUE_OBJECT)) {
        struct value shown = with_first_letter(a, behavior, true);
        write_note(a, obj, NOTE("behavior"), &shown);
    }
    if (target)
        (void)value_set(a, value_ensure(a, obj, STR("spec")), STR("targetCPUUtilizationPercentage"),
                        value_borrow(target));
    if (used)
        (void)value_set(a, value_ensure(a, obj, STR("status")),
                        STR("currentCPUUtilizationPercentage"), value_borrow(used));
}

int convert__autoscaler_v1_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    to_v2(a, obj);
    return 0;
}

int convert__autoscaler_v1_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    to_v1(a, obj);
    return 0;
}
