/* HorizontalPodAutoscalers. autoscaling/v1 knows one target, the use of CPU, and carries all others
 * in annotations, in the shape that metrics had in v2beta1; v2beta1 itself has no behaviour and
 * carries that. The annotations never stand beside the fields that they are for. */
#include "api/convert/convert_internal.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/banned.h"

#define NOTE(name) STR("autoscaling.alpha.kubernetes.io/" name)

enum { CPU_PERCENT = 80 };

static void set_text(struct arena *a, struct value *to, struct str key, const char *text)
{
    value_put(a, to, key, value_string(str_of(text)));
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
        convert__copy(a, &metric, STR("name"), old, s->metric);
        convert__copy(a, &metric, STR("selector"), old, s->selector);
        value_put_new(a, &out, STR("metric"), metric);
    } else {
        convert__copy(a, &out, STR("name"), old, STR("name"));
    }
    if (s->of_container)
        convert__copy(a, &out, STR("container"), old, STR("container"));
    if (s->object.n)
        convert__copy(a, &out, STR("describedObject"), old, s->object);
    convert__copy(a, &numbers, STR("value"), old, status ? s->now_value : s->value);
    convert__copy(a, &numbers, STR("averageValue"), old,
                  status ? s->now_average_value : s->average_value);
    convert__copy(a, &numbers, STR("averageUtilization"), old,
                  status ? s->now_utilization : s->utilization);
    if (s->object.n && is_zero(value_get(&numbers, STR("value"))) &&
        value_get(&numbers, STR("averageValue")))
        value_drop(a, &numbers, STR("value"));
    if (!status)
        set_target_type(a, s, &numbers);
    value_put_new(a, &out, status ? STR("current") : STR("target"), numbers);
    return out;
}

static struct value source_to_old(struct arena *a, const struct source *s, const struct value *v2,
                                  bool status)
{
    struct value out = value_object();
    const struct value *metric = value_get(v2, STR("metric")),
                       *numbers = value_get(v2, status ? STR("current") : STR("target"));
    struct str value = status ? s->now_value : s->value;
    if (s->object.n)
        convert__copy(a, &out, s->object, v2, STR("describedObject"));
    if (s->metric.n)
        convert__copy(a, &out, s->metric, metric, STR("name"));
    else
        convert__copy(a, &out, STR("name"), v2, STR("name"));
    if (s->of_container)
        convert__copy(a, &out, STR("container"), v2, STR("container"));
    if (status ? s->now_utilization.n : s->utilization.n)
        convert__copy(a, &out, status ? s->now_utilization : s->utilization, numbers,
                      STR("averageUtilization"));
    if (value.n) {
        convert__copy(a, &out, value, numbers, STR("value"));
        if (s->object.n && !value_get(&out, value))
            set_text(a, &out, value, "0"); /* has a place there always */
    }
    convert__copy(a, &out, status ? s->now_average_value : s->average_value, numbers,
                  STR("averageValue"));
    if (s->selector.n)
        convert__copy(a, &out, s->selector, metric, STR("selector"));
    return out;
}

static struct value convert_metric(struct arena *a, const struct value *in, bool to_v2, bool status)
{
    struct value out = value_object();
    convert__copy(a, &out, STR("type"), in, STR("type"));
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        const struct value *source = value_get(in, sources[i].name);
        if (value_is(source, VALUE_OBJECT))
            value_put_new(a, &out, sources[i].name,
                          to_v2 ? source_to_v2(a, &sources[i], source, status)
                                : source_to_old(a, &sources[i], source, status));
    }
    return out;
}

/* The list of metrics, of targets or of a status, in the other shape. */
static struct value convert_metrics(struct arena *a, const struct value *list, bool to_v2,
                                    bool status)
{
    struct value out = value_array();
    value_each_item (metric, list)
        value_put_item(a, &out, convert_metric(a, metric, to_v2, status));
    return out;
}

/* ---- Annotations ---- */

static const struct kind_type *find_type(struct str version, const char *name)
{
    return kind_type_find(STR("autoscaling"), version, str_of(name));
}

/* A list of structs that an annotation holds. False, and nothing is changed, if there is none, or
 * if it is malformed, which is as good as none. */
static bool read_note(struct arena *a, const struct value *obj, struct str key,
                      const struct kind_type *t, struct value *ret)
{
    struct value given, list = value_array(), item;
    const struct value *note = convert__note(obj, key);
    if (!note || json_read(a, value_str(note), NULL, &given, NULL) < 0)
        return false;
    if (given.type != VALUE_ARRAY && given.type != VALUE_NULL)
        return false;
    value_each_item (v, &given) {
        if (typed_read(a, t, v, NULL, &item, NULL) < 0)
            return false;
        value_put_item(a, &list, item);
    }
    *ret = list;
    return true;
}

static void write_note(struct arena *a, struct value *obj, struct str key, const struct value *v)
{
    autobuf text = { 0 };
    json_write(&text, v);
    convert__note_set(a, obj, key, arena_str(a, buf_str(&text)));
}

/* Nothing is written of an empty list. */
static int write_list(struct arena *a, struct value *obj, struct str key, const struct kind_type *t,
                      const struct value *list, struct err *err)
{
    struct value out = value_array(), typed;
    value_each_item (v, list) {
        int r = typed_read(a, t, v, NULL, &typed, err);
        if (r < 0)
            return r;
        value_put_item(a, &out, typed);
    }
    if (out.n)
        write_note(a, obj, key, &out);
    return 0;
}

static void drop_notes(struct arena *a, struct value *obj)
{
    static const struct str keys[] = {
        NOTE("metrics"),  NOTE("current-metrics"),      NOTE("conditions"),
        NOTE("behavior"), NOTE("scale-down-tolerance"), NOTE("scale-up-tolerance"),
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        convert__note_drop(a, obj, keys[i]);
}

/* ---- Behaviour, which its annotation has as upstream's inner form: Go's names, and all fields */

static struct value inner_value(struct arena *a, const struct kind_field *f, const struct value *v);

static struct value inner_struct(struct arena *a, const struct kind_type *t, const struct value *v)
{
    struct value out = value_object();
    for (size_t i = 0; i < t->n_fields; i++) {
        struct str name = t->fields[i].name;
        struct str key =
            arena_printf(a, "%c" STR_FMT, name.p[0] & ~0x20, STR_ARG(str_skip(name, 1)));
        value_put_new(a, &out, key, inner_value(a, &t->fields[i], value_get(v, name)));
    }
    return out;
}

static struct value inner_value(struct arena *a, const struct kind_field *f, const struct value *v)
{
    if (!convert__given(v))
        return value_null();
    if (f->shape == KIND_LIST) {
        struct value list = value_array();
        value_each_item (item, v)
            value_put_item(a, &list, inner_struct(a, f->type, item));
        return list;
    }
    return f->type ? inner_struct(a, f->type, v) : value_borrow(v);
}

static struct value outer_value(struct arena *a, const struct kind_field *f, const struct value *v);

/* Go takes names of fields in any case. */
static struct value outer_struct(struct arena *a, const struct kind_type *t, const struct value *v)
{
    struct value out = value_object();
    value_each_field (given, v)
        for (size_t i = 0; i < t->n_fields; i++)
            if (str_eq_nocase(given->key, t->fields[i].name))
                value_put(a, &out, t->fields[i].name, outer_value(a, &t->fields[i], &given->val));
    return v->type == VALUE_OBJECT ? out : value_borrow(v);
}

static struct value outer_value(struct arena *a, const struct kind_field *f, const struct value *v)
{
    if (f->shape == KIND_LIST && v->type == VALUE_ARRAY) {
        struct value list = value_array();
        value_each_item (item, v)
            value_put_item(a, &list, outer_struct(a, f->type, item));
        return list;
    }
    return f->type && f->shape == KIND_SINGLE ? outer_struct(a, f->type, v) : value_borrow(v);
}

static void write_behavior(struct arena *a, struct value *obj)
{
    const struct value *behavior = value_dig(obj, "spec", "behavior");
    if (!value_is(behavior, VALUE_OBJECT))
        return;
    struct value inner =
        inner_struct(a, find_type(STR("v2"), "HorizontalPodAutoscalerBehavior"), behavior);
    write_note(a, obj, NOTE("behavior"), &inner);
}

static void read_behavior(struct arena *a, struct value *obj)
{
    const struct kind_type *t = find_type(STR("v2"), "HorizontalPodAutoscalerBehavior");
    const struct value *note = convert__note(obj, NOTE("behavior"));
    struct value given, behavior;
    if (!note || json_read(a, value_str(note), NULL, &given, NULL) < 0)
        return;
    struct value outer = outer_struct(a, t, &given);
    if (typed_read(a, t, &outer, NULL, &behavior, NULL) == 0 && behavior.n)
        value_put(a, value_ensure(a, obj, STR("spec")), STR("behavior"), behavior);
}

/* ---- v1 ---- */

static struct value cpu_metric(struct arena *a, struct value percent, bool status)
{
    struct value metric = value_object(), resource = value_object(), numbers = value_object();
    if (!status)
        set_text(a, &numbers, STR("type"), "Utilization");
    value_put_new(a, &numbers, STR("averageUtilization"), percent);
    set_text(a, &resource, STR("name"), "cpu");
    value_put_new(a, &resource, status ? STR("current") : STR("target"), numbers);
    set_text(a, &metric, STR("type"), "Resource");
    value_put_new(a, &metric, STR("resource"), resource);
    return metric;
}

static void targets_in(struct arena *a, struct value *obj)
{
    const struct value *percent =
        convert__given(value_dig(obj, "spec", "targetCPUUtilizationPercentage"));
    struct value noted = value_array();
    (void)read_note(a, obj, NOTE("metrics"), find_type(STR("v2beta1"), "MetricSpec"), &noted);
    struct value metrics = convert_metrics(a, &noted, true, false);
    if (percent || !metrics.n)
        value_put_item(
            a, &metrics,
            cpu_metric(a, percent ? value_borrow(percent) : value_int(CPU_PERCENT), false));
    value_put(a, value_ensure(a, obj, STR("spec")), STR("metrics"), metrics);
}

static void status_in(struct arena *a, struct value *obj)
{
    const struct value *percent =
        convert__given(value_dig(obj, "status", "currentCPUUtilizationPercentage"));
    struct value noted, conditions, current = value_array();
    if (read_note(a, obj, NOTE("current-metrics"), find_type(STR("v2beta1"), "MetricStatus"),
                  &noted))
        current = convert_metrics(a, &noted, true, true);
    else if (percent)
        value_put_item(a, &current, cpu_metric(a, value_borrow(percent), true));
    if (current.n)
        value_put(a, value_ensure(a, obj, STR("status")), STR("currentMetrics"), current);
    if (read_note(a, obj, NOTE("conditions"),
                  find_type(STR("v2"), "HorizontalPodAutoscalerCondition"), &conditions) &&
        conditions.n)
        value_put(a, value_ensure(a, obj, STR("status")), STR("conditions"), conditions);
}

int convert__autoscaler_v1_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    targets_in(a, obj);
    status_in(a, obj);
    read_behavior(a, obj);
    drop_notes(a, obj);
    return 0;
}

static const struct value *cpu_use(const struct value *metric, struct str numbers)
{
    const struct value *resource = value_get(metric, STR("resource"));
    if (!str_eq(value_text(metric, "type"), STR("Resource")) ||
        !str_eq(value_text(resource, "name"), STR("cpu")))
        return NULL;
    return convert__given(value_get(value_get(resource, numbers), STR("averageUtilization")));
}

/* Of several targets for CPU the first has a place. */
static int targets_out(struct arena *a, struct value *obj, struct err *err)
{
    struct value others = value_array();
    const struct value *target = NULL;
    value_each_item (m, value_dig(obj, "spec", "metrics")) {
        const struct value *use = cpu_use(m, STR("target"));
        if (!use)
            value_put_item(a, &others, convert_metric(a, m, false, false));
        else if (!target)
            target = use;
    }
    if (target)
        value_put(a, value_ensure(a, obj, STR("spec")), STR("targetCPUUtilizationPercentage"),
                  value_borrow(target));
    return write_list(a, obj, NOTE("metrics"), find_type(STR("v2beta1"), "MetricSpec"), &others,
                      err);
}

/* Those of CPU are noted too, because of their raw values. */
static int status_out(struct arena *a, struct value *obj, struct err *err)
{
    const struct value *list = value_dig(obj, "status", "currentMetrics"),
                       *conditions = value_dig(obj, "status", "conditions"), *used = NULL;
    value_each_item (m, list) {
        const struct value *use = cpu_use(m, STR("current"));
        if (use)
            used = use;
    }
    struct value current = convert_metrics(a, list, false, true);
    if (used)
        value_put(a, value_ensure(a, obj, STR("status")), STR("currentCPUUtilizationPercentage"),
                  value_borrow(used));
    int r = write_list(a, obj, NOTE("current-metrics"), find_type(STR("v2beta1"), "MetricStatus"),
                       &current, err);
    if (r < 0)
        return r;
    return write_list(a, obj, NOTE("conditions"),
                      find_type(STR("v2"), "HorizontalPodAutoscalerCondition"), conditions, err);
}

int convert__autoscaler_v1_out(struct arena *a, struct value *obj, struct err *err)
{
    drop_notes(a, obj);
    write_behavior(a, obj);
    int r = targets_out(a, obj, err);
    return r < 0 ? r : status_out(a, obj, err);
}

/* ---- v2beta1, v2beta2, v2 ---- */

static void change_shape(struct arena *a, struct value *obj, bool to_v2)
{
    struct value metrics = convert_metrics(a, value_dig(obj, "spec", "metrics"), to_v2, false),
                 current =
                     convert_metrics(a, value_dig(obj, "status", "currentMetrics"), to_v2, true);
    if (metrics.n)
        value_put(a, value_ensure(a, obj, STR("spec")), STR("metrics"), metrics);
    if (current.n)
        value_put(a, value_ensure(a, obj, STR("status")), STR("currentMetrics"), current);
}

int convert__autoscaler_beta1_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    change_shape(a, obj, true);
    read_behavior(a, obj);
    drop_notes(a, obj);
    return 0;
}

int convert__autoscaler_beta1_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    drop_notes(a, obj);
    write_behavior(a, obj);
    change_shape(a, obj, false);
    return 0;
}

int convert__autoscaler_beta2_in(struct arena *a, struct value *obj, struct err *err)
{
    return convert__autoscaler_settle(a, obj, err);
}

int convert__autoscaler_beta2_out(struct arena *a, struct value *obj, struct err *err)
{
    return convert__autoscaler_settle(a, obj, err);
}

int convert__autoscaler_settle(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    drop_notes(a, obj);
    return 0;
}
