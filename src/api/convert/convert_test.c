#include "api/convert/convert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/typed.h"
#include "api/suite_json.h"
#include "base/idiom.h"
#include "base/json.h"

static const struct kind_type *type_of(const char *group, const char *version, const char *kind)
{
    const struct kind_type *t = kind_type_find(str_of(group), str_of(version), str_of(kind));
    assert_non_null(t);
    return t;
}

static struct value read_object(const struct kind_type *t, const char *json)
{
    struct err err = ERR_INIT(&suite_arena);
    struct value given, obj = value_null();
    if (json_read(&suite_arena, str_of(json), NULL, &given, &err) < 0 ||
        typed_read(&suite_arena, t, &given, NULL, &obj, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return obj;
}

static struct value convert(const struct kind_type *from, const struct kind_type *to,
                            struct value *obj)
{
    struct err err = ERR_INIT(&suite_arena);
    struct value out;
    if (convert_object(&suite_arena, from, to, obj, &out, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return out;
}

static void check_json(const struct value *v, const char *json)
{
    autobuf text = { 0 };
    json_write(&text, v);
    if (!str_eq(buf_str(&text), str_of(json)))
        fail_msg("got  " STR_FMT "\nwant %s", STR_ARG(buf_str(&text)), json);
}

#define HPA2                                                                                  \
    "{\"kind\":\"HorizontalPodAutoscaler\",\"apiVersion\":\"autoscaling/v2\",\"metadata\":{"  \
    "\"name\":\"h\",\"annotations\":{\"own\":\"x\"}},\"spec\":{\"scaleTargetRef\":{\"kind\":" \
    "\"Deployment\",\"name\":\"d\",\"apiVersion\":\"apps/v1\"},\"minReplicas\":1,"            \
    "\"maxReplicas\":3,\"metrics\":["

/* Everything that v2 can say comes back from v1. */
static void autoscalers_survive_the_old_version(void **state)
{
    (void)state;
    const struct kind_type *v1 = type_of("autoscaling", "v1", "HorizontalPodAutoscaler"),
                           *v2 = type_of("autoscaling", "v2", "HorizontalPodAutoscaler");
    static const char *const objects[] = {
        HPA2 "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
             "\"Utilization\",\"averageUtilization\":70}}}]}}",
        HPA2 "{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"target\":{\"type\":"
             "\"AverageValue\",\"averageValue\":\"1Gi\"}}},"
             "{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"cpu\",\"target\":{"
             "\"type\":\"Utilization\",\"averageUtilization\":5},\"container\":\"c\"}},"
             "{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"m\",\"selector\":{"
             "\"matchLabels\":{\"a\":\"b\"}}},\"target\":{\"type\":\"AverageValue\","
             "\"averageValue\":\"10\"}}},"
             "{\"type\":\"Object\",\"object\":{\"describedObject\":{\"kind\":\"Ingress\",\"name\":"
             "\"i\"},\"target\":{\"type\":\"Value\",\"value\":\"2k\"},\"metric\":{\"name\":"
             "\"r\"}}},"
             "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"q\"},\"target\":{"
             "\"type\":\"AverageValue\",\"averageValue\":\"30\"}}}],"
             "\"behavior\":{\"scaleDown\":{\"stabilizationWindowSeconds\":60,\"policies\":[{"
             "\"type\":\"Pods\",\"value\":4,\"periodSeconds\":15}]}}},"
             "\"status\":{\"desiredReplicas\":2,\"currentMetrics\":[{\"type\":\"Pods\",\"pods\":{"
             "\"metric\":{\"name\":\"m\"},\"current\":{\"averageValue\":\"7\"}}}],\"conditions\":[{"
             "\"type\":\"AbleToScale\",\"status\":\"True\"}]}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        struct value obj = read_object(v2, objects[i]);
        struct value old_obj = convert(v2, v1, &obj), back = convert(v1, v2, &old_obj);
        autobuf want = { 0 };
        json_write(&want, &obj);
        check_json(&back, str_cstr(&suite_arena, buf_str(&want)));
    }
}

static void the_old_version_has_one_target(void **state)
{
    (void)state;
    const struct kind_type *v1 = type_of("autoscaling", "v1", "HorizontalPodAutoscaler"),
                           *v2 = type_of("autoscaling", "v2", "HorizontalPodAutoscaler");
    struct value obj = read_object(
        v2, HPA2 "{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"m\"},\"target\":{\"type\":"
                 "\"AverageValue\",\"averageValue\":\"10\"}}},{\"type\":\"Resource\",\"resource\":{"
                 "\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\",\"averageUtilization\":"
                 "70}}}]}}");
    struct value old_obj = convert(v2, v1, &obj);
    check_json(value_dig(&old_obj, "spec", "targetCPUUtilizationPercentage"), "70");
    check_json(value_dig(&old_obj, "metadata", "annotations"),
               "{\"autoscaling.alpha.kubernetes.io/metrics\":\"[{\\\"type\\\":\\\"Pods\\\","
               "\\\"pods\\\":{\\\"metricName\\\":\\\"m\\\",\\\"targetAverageValue\\\":\\\"10\\\"}}"
               "]\",\"own\":\"x\"}");
    assert_null(value_dig(&old_obj, "spec", "metrics"));
}

/* Annotations that hold nonsense are as good as none. */
static void nonsense_in_annotations(void **state)
{
    (void)state;
    const struct kind_type *v1 = type_of("autoscaling", "v1", "HorizontalPodAutoscaler"),
                           *v2 = type_of("autoscaling", "v2", "HorizontalPodAutoscaler");
    struct value obj = read_object(
        v1, "{\"metadata\":{\"annotations\":{\"autoscaling.alpha.kubernetes.io/metrics\":\"{\","
            "\"autoscaling.alpha.kubernetes.io/behavior\":\"[1]\","
            "\"autoscaling.alpha.kubernetes.io/conditions\":\"7\","
            "\"autoscaling.alpha.kubernetes.io/current-metrics\":\"[5,null,{\\\"type\\\":1}]\"}}}");
    struct err err = ERR_INIT(&suite_arena);
    struct value out;
    (void)convert_object(&suite_arena, v1, v2, &obj, &out, &err); /* a fault, or none: no crash */
}

static void events_have_two_names_for_things(void **state)
{
    (void)state;
    const struct kind_type *core = type_of("", "v1", "Event"),
                           *events = type_of("events.k8s.io", "v1", "Event");
    struct value obj = read_object(
        core, "{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"e\"},"
              "\"involvedObject\":{\"name\":\"x\"},\"reason\":\"R\",\"message\":\"M\",\"count\":3,"
              "\"firstTimestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"Normal\","
              "\"reportingComponent\":\"c\",\"reportingInstance\":\"i\"}");
    struct value other = convert(core, events, &obj), back = convert(events, core, &other);
    check_json(value_get(&other, STR("note")), "\"M\"");
    check_json(value_get(&other, STR("deprecatedCount")), "3");
    check_json(value_dig(&other, "regarding", "name"), "\"x\"");
    check_json(value_get(&other, STR("apiVersion")), "\"events.k8s.io/v1\"");
    assert_true(value_eq(&back, &obj));
}

#define BEHAVIOR "autoscaling.alpha.kubernetes.io/behavior"

/* Annotations are told in upstream's words: all of its inner fields, with Go's names. */
static void behaviour_is_noted_in_full(void **state)
{
    (void)state;
    const struct kind_type *v2 = type_of("autoscaling", "v2", "HorizontalPodAutoscaler");
    static const char *const versions[] = { "v1", "v2beta1" };
    for (size_t i = 0; i < 2; i++) {
        const struct kind_type *old =
            type_of("autoscaling", versions[i], "HorizontalPodAutoscaler");
        struct value obj = read_object(
            v2, HPA2 "],\"behavior\":{\"scaleUp\":{\"stabilizationWindowSeconds\":0,"
                     "\"policies\":[{\"type\":\"Pods\",\"value\":4,\"periodSeconds\":15}],"
                     "\"tolerance\":\"0.1\"}}}}");
        struct value old_obj = convert(v2, old, &obj), back = convert(old, v2, &old_obj);
        check_json(value_dig(&old_obj, "metadata", "annotations", BEHAVIOR),
                   "\"{\\\"ScaleUp\\\":{\\\"StabilizationWindowSeconds\\\":0,"
                   "\\\"SelectPolicy\\\":null,\\\"Policies\\\":[{\\\"Type\\\":"
                   "\\\"Pods\\\",\\\"Value\\\":4,\\\"PeriodSeconds\\\":15}],"
                   "\\\"Tolerance\\\":\\\"100m\\\"},\\\"ScaleDown\\\":null}\"");
        assert_true(
            value_eq(value_dig(&back, "spec", "behavior"), value_dig(&obj, "spec", "behavior")));
        assert_null(value_dig(&back, "metadata", "annotations", BEHAVIOR));
    }
}

static void behaviour_is_read_in_any_case(void **state)
{
    (void)state;
    const struct kind_type *v1 = type_of("autoscaling", "v1", "HorizontalPodAutoscaler"),
                           *v2 = type_of("autoscaling", "v2", "HorizontalPodAutoscaler");
    static const struct {
        const char *note, *behavior;
    } rows[] = {
        { "{\\\"scaledown\\\":{\\\"SELECTPOLICY\\\":\\\"Min\\\",\\\"x\\\":1}}",
          "{\"scaleDown\":{\"selectPolicy\":\"Min\"}}" },
        { "{}", NULL },
        { "null", NULL },
        { "{\\\"ScaleUp\\\":null}", NULL },
        { "{\\\"ScaleUp\\\":[]}", NULL },
        { "{\\\"ScaleUp\\\":{\\\"Policies\\\":[7]}}", NULL },
        { "{\\\"ScaleUp\\\"", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str json =
            arena_printf(&suite_arena, "{\"metadata\":{\"annotations\":{\"" BEHAVIOR "\":\"%s\"}}}",
                         rows[i].note);
        struct value old_obj = read_object(v1, str_cstr(&suite_arena, json));
        struct value obj = convert(v1, v2, &old_obj);
        const struct value *behavior = value_dig(&obj, "spec", "behavior");
        if (rows[i].behavior)
            check_json(behavior, rows[i].behavior);
        else
            assert_null(behavior);
    }
}

/* Where nothing is said of metrics, it is the use of CPU that counts. */
static void an_autoscaler_has_a_target(void **state)
{
    (void)state;
    const struct kind_type *v1 = type_of("autoscaling", "v1", "HorizontalPodAutoscaler"),
                           *v2 = type_of("autoscaling", "v2", "HorizontalPodAutoscaler");
    struct value old_obj = read_object(v1, "{}"), obj = convert(v1, v2, &old_obj);
    check_json(value_dig(&obj, "spec", "metrics"),
               "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
               "\"Utilization\",\"averageUtilization\":80}}}]");
}

static void metrics_had_another_shape(void **state)
{
    (void)state;
    const struct kind_type *beta = type_of("autoscaling", "v2beta1", "HorizontalPodAutoscaler"),
                           *v2 = type_of("autoscaling", "v2", "HorizontalPodAutoscaler");
    static const struct {
        const char *old, *now;
    } rows[] = {
        { "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"targetAverageUtilization\":70}}",
          "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
          "\"Utilization\",\"averageUtilization\":70}}}" },
        { "{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"memory\","
          "\"targetAverageValue\":\"1Gi\",\"container\":\"c\"}}",
          "{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"memory\",\"target\":{"
          "\"type\":\"AverageValue\",\"averageValue\":\"1Gi\"},\"container\":\"c\"}}" },
        { "{\"type\":\"Pods\",\"pods\":{\"metricName\":\"m\",\"targetAverageValue\":\"5\","
          "\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}}",
          "{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"m\",\"selector\":{\"matchLabels\":{"
          "\"a\":\"b\"}}},\"target\":{\"type\":\"AverageValue\",\"averageValue\":\"5\"}}}" },
        { "{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"K\",\"name\":\"n\"},"
          "\"metricName\":\"m\",\"targetValue\":\"2\"}}",
          "{\"type\":\"Object\",\"object\":{\"describedObject\":{\"kind\":\"K\",\"name\":\"n\"},"
          "\"target\":{\"type\":\"Value\",\"value\":\"2\"},\"metric\":{\"name\":\"m\"}}}" },
        { "{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"K\",\"name\":\"n\"},"
          "\"metricName\":\"m\",\"targetValue\":\"0\",\"averageValue\":\"3\"}}",
          "{\"type\":\"Object\",\"object\":{\"describedObject\":{\"kind\":\"K\",\"name\":\"n\"},"
          "\"target\":{\"type\":\"AverageValue\",\"averageValue\":\"3\"},\"metric\":{\"name\":"
          "\"m\"}}}" },
        { "{\"type\":\"External\",\"external\":{\"metricName\":\"m\",\"metricSelector\":{},"
          "\"targetValue\":\"4\"}}",
          "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"m\",\"selector\":{}},"
          "\"target\":{\"type\":\"Value\",\"value\":\"4\"}}}" },
        { "{\"type\":\"External\",\"external\":{\"metricName\":\"m\",\"targetAverageValue\":"
          "\"4\"}}",
          "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"m\"},\"target\":{"
          "\"type\":\"AverageValue\",\"averageValue\":\"4\"}}}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str json = arena_printf(&suite_arena, "{\"spec\":{\"metrics\":[%s]}}", rows[i].old);
        struct value old_obj = read_object(beta, str_cstr(&suite_arena, json));
        struct value obj = convert(beta, v2, &old_obj), back = convert(v2, beta, &obj);
        check_json(value_at(value_dig(&obj, "spec", "metrics"), 0), rows[i].now);
        check_json(value_at(value_dig(&back, "spec", "metrics"), 0), rows[i].old);
    }
}

/* ---- Annotations that stand for a field ---- */

static void annotations_that_are_no_number(void **state)
{
    (void)state;
#define NOTED(key, text) "{\"metadata\":{\"annotations\":{\"" key "\":\"" text "\"}}}"
#define ROLLBACK         "deprecated.deployment.rollback.to"
#define GENERATION       "deprecated.daemonset.template.generation"
    static const struct {
        const char *kind, *json, *message;
    } rows[] = {
        { "Deployment", NOTED(ROLLBACK, "x"),
          "failed to parse annotation[" ROLLBACK
          "]=x as int64: strconv.ParseInt: parsing \"x\": invalid syntax" },
        { "Deployment", NOTED(ROLLBACK, "9223372036854775808"),
          "failed to parse annotation[" ROLLBACK "]=9223372036854775808 as int64: "
          "strconv.ParseInt: parsing \"9223372036854775808\": value out of range" },
        { "DaemonSet", NOTED(GENERATION, ""), "strconv.ParseInt: parsing \"\": invalid syntax" },
        { "DaemonSet", NOTED(GENERATION, "+-1"),
          "strconv.ParseInt: parsing \"+-1\": invalid syntax" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind_type *hub = type_of("apps", "v1", rows[i].kind),
                               *old = type_of("extensions", "v1beta1", rows[i].kind);
        struct err err = ERR_INIT(&suite_arena);
        struct value obj = read_object(hub, rows[i].json), out;
        assert_int_equal(convert_object(&suite_arena, hub, old, &obj, &out, &err),
                         -ERR_BAD_REQUEST);
        if (!str_eq(err.msg, str_of(rows[i].message)))
            fail_msg(STR_FMT, STR_ARG(err.msg));
        err_clear(&err);
        assert_int_equal(convert_object(&suite_arena, hub, hub, &obj, &out, &err),
                         -ERR_BAD_REQUEST);
        struct str want =
            arena_printf(&suite_arena, "%s in version \"v1\" cannot be handled as a %s: %s",
                         rows[i].kind, rows[i].kind, rows[i].message);
        if (!str_eq(err.msg, want))
            fail_msg(STR_FMT, STR_ARG(err.msg));
    }
}

/* What an annotation says is put in order even where nothing is converted. */
static void annotations_of_the_hub(void **state)
{
    (void)state;
    static const struct {
        const char *version, *kind, *given, *annotations;
    } rows[] = {
        { "v1", "Deployment", NOTED(ROLLBACK, "+7"), "{\"" ROLLBACK "\":\"7\"}" },
        { "v1", "Deployment", NOTED(ROLLBACK, ""), NULL },
        { "v1", "DaemonSet", NOTED(GENERATION, "-08"), "{\"" GENERATION "\":\"-8\"}" },
        { "v2", "HorizontalPodAutoscaler", NOTED(BEHAVIOR, "{}"), NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind_type *t = type_of(rows[i].version[1] == '2' ? "autoscaling" : "apps",
                                            rows[i].version, rows[i].kind);
        struct value obj = read_object(t, rows[i].given), out = convert(t, t, &obj);
        const struct value *annotations = value_dig(&out, "metadata", "annotations");
        if (rows[i].annotations)
            check_json(annotations, rows[i].annotations);
        else
            assert_null(annotations);
    }
}

/* ---- Hubs ---- */

static void kinds_have_a_hub(void **state)
{
    (void)state;
    static const struct {
        const char *version, *kind, *hub;
    } rows[] = {
        { "extensions/v1beta1", "Deployment", "apps/v1" },
        { "apps/v1beta1", "StatefulSet", "apps/v1" },
        { "apps/v1beta2", "Scale", "autoscaling/v1" },
        { "extensions/v1beta1", "Ingress", "networking.k8s.io/v1" },
        { "extensions/v1beta1", "NetworkPolicy", "networking.k8s.io/v1" },
        { "extensions/v1beta1", "PodSecurityPolicy", "policy/v1beta1" },
        { "policy/v1beta1", "PodSecurityPolicy", "policy/v1beta1" },
        { "autoscaling/v1", "HorizontalPodAutoscaler", "autoscaling/v2" },
        { "batch/v2alpha1", "CronJob", "batch/v1" },
        { "events.k8s.io/v1", "Event", "v1" },
        { "events.k8s.io/v1beta1", "Event", "v1" },
        { "v1", "Event", "v1" },
        { "v1", "Pod", "v1" },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "apiextensions.k8s.io/v1" },
        { "settings.k8s.io/v1alpha1", "PodPreset", "settings.k8s.io/v1alpha1" },
        { "coordination.k8s.io/v1alpha2", "LeaseCandidate", "coordination.k8s.io/v1beta1" },
        { "certificates.k8s.io/v1alpha1", "ClusterTrustBundle", "certificates.k8s.io/v1" },
        { "admissionregistration.k8s.io/v1alpha1", "InitializerConfiguration",
          "admissionregistration.k8s.io/v1alpha1" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind_type *t = kind_find(str_of(rows[i].version), str_of(rows[i].kind));
        assert_non_null(t);
        const struct kind_type *hub = convert_hub(t);
        assert_true(str_eq(convert_api_version(&suite_arena, hub), str_of(rows[i].hub)));
        assert_true(convert_same_kind(t, hub));
    }
    assert_false(convert_same_kind(type_of("apps", "v1", "Deployment"),
                                   type_of("apps", "v1", "ReplicaSet")));
    assert_false(convert_same_kind(type_of("policy", "v1", "Eviction"),
                                   type_of("lifecycle.k8s.io", "v1alpha1", "Eviction")));
}

static void a_hub_is_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_kind_types; i++) {
        const struct kind_type *hub = convert_hub(&kind_types[i]);
        assert_non_null(hub);
        assert_ptr_equal(convert_hub(hub), hub);
        assert_true(str_eq(hub->name, kind_types[i].name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(autoscalers_survive_the_old_version, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(the_old_version_has_one_target, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(nonsense_in_annotations, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(events_have_two_names_for_things, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(behaviour_is_noted_in_full, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(behaviour_is_read_in_any_case, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(an_autoscaler_has_a_target, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(metrics_had_another_shape, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(annotations_that_are_no_number, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(annotations_of_the_hub, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test_setup_teardown(kinds_have_a_hub, suite_arena_set_up,
                                        suite_arena_tear_down),
        cmocka_unit_test(a_hub_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
