#include "api/convert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/typed.h"
#include "base/json.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct kind_type *type_of(const char *group, const char *version, const char *kind)
{
    const struct kind_type *t = kind_type_find(str_of(group), str_of(version), str_of(kind));
    assert_non_null(t);
    return t;
}

static struct value read_object(const struct kind_type *t, const char *json)
{
    struct err err = ERR_INIT(&arena);
    struct value given, obj;
    if (json_read(&arena, str_of(json), NULL, &given, &err) < 0 ||
        typed_read(&arena, t, &given, NULL, &obj, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return obj;
}

static struct value convert(const struct kind_type *from, const struct kind_type *to,
                            struct value *obj)
{
    struct err err = ERR_INIT(&arena);
    struct value out;
    if (convert_object(&arena, from, to, obj, &out, &err) < 0)
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
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        struct value obj = read_object(v2, objects[i]);
        struct value old_obj = convert(v2, v1, &obj), back = convert(v1, v2, &old_obj);
        autobuf want = { 0 };
        json_write(&want, &obj);
        check_json(&back, str_cstr(&arena, buf_str(&want)));
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
    struct err err = ERR_INIT(&arena);
    struct value out;
    (void)convert_object(&arena, v1, v2, &obj, &out, &err); /* a fault, or none: no crash */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(autoscalers_survive_the_old_version, setup, teardown),
        cmocka_unit_test_setup_teardown(the_old_version_has_one_target, setup, teardown),
        cmocka_unit_test_setup_teardown(nonsense_in_annotations, setup, teardown),
        cmocka_unit_test_setup_teardown(events_have_two_names_for_things, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
