/* Workloads and what scales them: apps, batch, autoscaling, and ReplicationControllers. */
#include "api/defaults/defaults_rules.h"

#include "api/keys.h"
#include "base/json.h"
#include "base/banned.h"

/* ---- Labels and selectors from the template ---- */

static struct value *template_labels(struct arena *a, struct value *workload)
{
    struct value *spec = value_edit(a, workload, STR("spec"));
    struct value *template = value_edit(a, spec, STR("template"));
    struct value *meta = value_edit(a, template, STR("metadata"));
    struct value *labels = value_edit(a, meta, STR("labels"));
    return defaults__is_zero(labels) ? NULL : labels;
}

static void default_labels(struct arena *a, struct value *workload, struct value labels)
{
    struct value *meta = value_ensure(a, workload, STR("metadata"));
    if (meta)
        defaults__fill_zero(a, meta, STR("labels"), labels);
}

void defaults__replication_controller(struct arena *a, struct value *rc)
{
    struct value *found = template_labels(a, rc);
    if (!found)
        return;
    struct value labels = value_share(found);
    defaults__fill_zero(a, value_edit(a, rc, STR("spec")), STR("selector"), labels);
    default_labels(a, rc, labels);
}

/* Before apps/v1beta2 nobody had to say what a workload selects. */
void defaults__template_labels(struct arena *a, struct value *workload)
{
    struct value *found = template_labels(a, workload);
    if (!found)
        return;
    struct value labels = value_share(found), selector = value_object();
    value_put_new(a, &selector, STR("matchLabels"), labels);
    defaults__fill(a, value_edit(a, workload, STR("spec")), STR("selector"), selector);
    default_labels(a, workload, labels);
}

/* ---- Rolling updates ---- */

static bool is_rolling(const struct value *strategy)
{
    return defaults__is_text(strategy, STR("type"), STR("RollingUpdate"));
}

static void fill_rolling(struct arena *a, struct value *strategy, struct value unavailable,
                         struct value surge)
{
    struct value *rolling = value_ensure(a, strategy, STR("rollingUpdate"));
    if (!rolling)
        return;
    defaults__fill(a, rolling, STR("maxUnavailable"), unavailable);
    defaults__fill(a, rolling, STR("maxSurge"), surge);
}

void defaults__deployment_strategy(struct arena *a, struct value *strategy)
{
    struct value quarter = value_string(STR("25%"));
    if (is_rolling(strategy))
        fill_rolling(a, strategy, quarter, quarter);
}

/* extensions/v1beta1 does so even for a strategy that does not roll, if it says anything of it. */
void defaults__deployment_strategy_by_one(struct arena *a, struct value *strategy)
{
    const struct value *rolling = value_get(strategy, STR("rollingUpdate"));
    if (is_rolling(strategy) || value_is(rolling, VALUE_OBJECT))
        fill_rolling(a, strategy, value_int(1), value_int(1));
}

/* What does not roll and yet says how: upstream's inner form has zeros for what is not said. */
void defaults__daemon_set_strategy(struct arena *a, struct value *strategy)
{
    if (is_rolling(strategy))
        fill_rolling(a, strategy, value_int(1), value_int(0));
    else if (value_is(value_get(strategy, STR("rollingUpdate")), VALUE_OBJECT))
        fill_rolling(a, strategy, value_int(0), value_int(0));
}

/* An update that is said to roll, without saying how, is left so. */
void defaults__stateful_set_strategy(struct arena *a, struct value *strategy)
{
    if (defaults__is_zero(value_get(strategy, STR("type")))) {
        value_put(a, strategy, STR("type"), value_string(STR("RollingUpdate")));
        (void)value_ensure(a, strategy, STR("rollingUpdate"));
    }
    struct value *rolling = value_edit(a, strategy, STR("rollingUpdate"));
    if (!is_rolling(strategy) || !value_is(rolling, VALUE_OBJECT))
        return;
    defaults__fill(a, rolling, STR("partition"), value_int(0));
    defaults__fill(a, rolling, STR("maxUnavailable"), value_int(1));
}

/* Upstream does it when it converts: claims say what they are even inside of another object. */
void defaults__stateful_set_spec(struct arena *a, struct value *spec)
{
    struct value *claims = value_edit(a, spec, STR("volumeClaimTemplates"));
    for (size_t i = 0; value_is(claims, VALUE_ARRAY) && i < claims->n; i++) {
        struct value *claim = value_edit_at(a, claims, i);
        if (claim->type != VALUE_OBJECT)
            continue;
        value_put(a, claim, STR("kind"), value_string(STR("PersistentVolumeClaim")));
        value_put(a, claim, STR("apiVersion"), value_string(STR("v1")));
    }
}

/* ---- Jobs ---- */

enum { BACKOFF_LIMIT = 6 };

static void default_job_spec(struct arena *a, struct value *spec)
{
    bool has_parallelism = value_is(value_get(spec, STR("parallelism")), VALUE_INT);
    bool has_index_limit = value_is(value_get(spec, STR("backoffLimitPerIndex")), VALUE_INT);
    bool has_failure_policy = value_is(value_get(spec, STR("podFailurePolicy")), VALUE_OBJECT);
    if (!has_parallelism)
        defaults__fill(a, spec, STR("completions"), value_int(1));
    defaults__fill(a, spec, STR("parallelism"), value_int(1));
    defaults__fill(a, spec, STR("backoffLimit"),
                   value_int(has_index_limit ? INT32_MAX : BACKOFF_LIMIT));
    defaults__fill(a, spec, STR("completionMode"), value_string(STR("NonIndexed")));
    defaults__fill(a, spec, STR("suspend"), value_bool(false));
    defaults__fill(a, spec, STR("podReplacementPolicy"),
                   value_string(has_failure_policy ? STR("Failed") : STR("TerminatingOrFailed")));
    defaults__fill(a, spec, STR("manualSelector"), value_bool(false));
}

/* Not of the type of its spec, because the template of a CronJob gets none of this. */
void defaults__job(struct arena *a, struct value *job)
{
    struct value *labels = template_labels(a, job);
    if (labels)
        default_labels(a, job, value_share(labels));
    struct value *spec = value_ensure(a, job, STR("spec"));
    if (spec)
        default_job_spec(a, spec);
}

/* ---- Autoscalers ---- */

enum { CPU_PERCENT = 80, SCALE_PERIOD_SECONDS = 15, SCALE_UP_PODS = 4, SCALE_PERCENT = 100 };

/* autoscaling/v1 has no place for other metrics than CPU, and keeps them in an annotation. */
static bool has_other_metrics(struct arena *a, const struct value *autoscaler)
{
    struct str text =
        value_str(value_dig(autoscaler, "metadata", "annotations", KEY_ALPHA_METRICS));
    struct value metrics;
    return text.n && json_read(a, text, NULL, &metrics, NULL) == 0 && metrics.type == VALUE_ARRAY &&
           metrics.n;
}

void defaults__autoscaler_v1(struct arena *a, struct value *autoscaler)
{
    struct value *spec = value_ensure(a, autoscaler, STR("spec"));
    if (spec && !has_other_metrics(a, autoscaler))
        defaults__fill(a, spec, STR("targetCPUUtilizationPercentage"), value_int(CPU_PERCENT));
}

static void add_policy(struct arena *a, struct value *policies, struct str type, int64_t number)
{
    struct value policy = value_object();
    value_put_new(a, &policy, STR("type"), value_string(type));
    value_put_new(a, &policy, STR("value"), value_int(number));
    value_put_new(a, &policy, STR("periodSeconds"), value_int(SCALE_PERIOD_SECONDS));
    value_put_item(a, policies, policy);
}

static struct value *fill_rules(struct arena *a, struct value *behavior, struct str direction)
{
    struct value *rules = value_ensure(a, behavior, direction);
    if (rules)
        defaults__fill(a, rules, STR("selectPolicy"), value_string(STR("Max")));
    return rules;
}

/* Where there is an empty list somebody has said that there are none, which is refused later. */
static void fill_policies(struct arena *a, struct value *rules, struct value policies)
{
    if (!value_is(value_get(rules, STR("policies")), VALUE_ARRAY))
        value_put(a, rules, STR("policies"), policies);
}

/* How long to wait before scaling down is for the controller to say. */
void defaults__autoscaler_behavior(struct arena *a, struct value *behavior)
{
    struct value up_policies = value_array(), down_policies = value_array();
    struct value *up = fill_rules(a, behavior, STR("scaleUp"));
    if (up) {
        defaults__fill(a, up, STR("stabilizationWindowSeconds"), value_int(0));
        add_policy(a, &up_policies, STR("Pods"), SCALE_UP_PODS);
        add_policy(a, &up_policies, STR("Percent"), SCALE_PERCENT);
        fill_policies(a, up, up_policies);
    }
    struct value *down = fill_rules(a, behavior, STR("scaleDown"));
    if (down) {
        add_policy(a, &down_policies, STR("Percent"), SCALE_PERCENT);
        fill_policies(a, down, down_policies);
    }
}
