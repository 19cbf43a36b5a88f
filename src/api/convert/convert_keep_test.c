/* Updates through an old version: the stored object, what somebody sends who speaks the old
 * version, and what is stored then. All in YAML, without kind, apiVersion and defaults. */
#include "api/convert/suite_convert.h"
#include "api/defaults/defaults.h"
#include "api/suite_json.h"
#include "base/idiom.h"
#include "base/json.h"

struct row {
    const char *what, *version, *kind;
    const char *live, *sent, *want;
};

static struct value defaulted(struct arena *a, const struct kind_type *t, const struct value *obj)
{
    struct value out = suite_convert_typed(a, t, obj);
    defaults_apply(a, t, &out);
    return suite_convert_typed(a, t, &out);
}

static struct value read_object(struct arena *a, const struct kind_type *t, const char *yaml)
{
    struct value given = suite_convert_read(a, t, yaml);
    return defaulted(a, t, &given);
}

static struct value read_json(struct arena *a, const struct kind_type *t, struct str json)
{
    struct value given = value_null();
    assert_int_equal(json_read(a, json, NULL, &given, NULL), 0);
    return defaulted(a, t, &given);
}

static void check_row(struct arena *a, const struct row *row)
{
    struct err err = ERR_INIT(a);
    const struct kind_type *old = suite_convert_type(row->version, row->kind);
    const struct kind_type *hub = convert_hub(old);
    struct value live = read_object(a, hub, row->live), live_before = value_clone(a, &live),
                 sent = read_object(a, old, row->sent), want = read_object(a, hub, row->want), obj;
    if (convert_object(a, old, hub, &sent, &obj, &err) < 0 ||
        convert_keep(a, old, &live, &obj, &err) < 0)
        fail_msg("%s: " STR_FMT, row->what, STR_ARG(err.msg));
    obj = defaulted(a, hub, &obj);
    assert_true(value_eq(&live, &live_before));
    suite_json_same(&obj, &want, row->what);
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        check_row(&a, &rows[i]);
        arena_done(&a);
    }
}

#define CHECK(rows) check_rows((rows), ARRAY_LEN(rows))

/* ---- Fields ---- */

static void fields_without_a_place(void **state)
{
    (void)state;
#define CRON  "batch/v2alpha1", "CronJob"
#define HPA   "autoscaling/v2beta2", "HorizontalPodAutoscaler"
#define LEVEL "flowcontrol.apiserver.k8s.io/v1beta1", "PriorityLevelConfiguration"
    static const struct row rows[] = {
        { "a new field stays", CRON, "{spec: {schedule: a, timeZone: tz}}", "{spec: {schedule: b}}",
          "{spec: {schedule: b, timeZone: tz}}" },
        { "what is asked for counts", CRON, "{spec: {schedule: a, timeZone: tz}}",
          "{spec: {schedule: a, suspend: true}}",
          "{spec: {schedule: a, timeZone: tz, suspend: true}}" },
        { "a field inside others stays", HPA,
          "{spec: {maxReplicas: 1, behavior: {scaleUp: {selectPolicy: Max, tolerance: 1}}}}",
          "{spec: {maxReplicas: 2, minReplicas: 1, metrics: [{type: Pods}], behavior: {scaleUp: "
          "{selectPolicy: Min}}}}",
          "{spec: {maxReplicas: 2, metrics: [{type: Pods}], behavior: {scaleUp: {selectPolicy: "
          "Min, tolerance: 1}}}}" },
        { "it goes with what it is in", HPA,
          "{spec: {maxReplicas: 1, metrics: [{type: Pods}], behavior: {scaleUp: {tolerance: 1}}}}",
          "{spec: {maxReplicas: 1, metrics: [{type: Pods}]}}",
          "{spec: {maxReplicas: 1, metrics: [{type: Pods}]}}" },
        { "a zero that reads as a default", LEVEL,
          "{spec: {type: Limited, limited: {nominalConcurrencyShares: 0, lendablePercent: 3, "
          "limitResponse: {type: Reject}}}}",
          "{spec: {type: Limited, limited: {assuredConcurrencyShares: 0, lendablePercent: 4, "
          "limitResponse: {type: Reject}}}}",
          "{spec: {type: Limited, limited: {nominalConcurrencyShares: 0, lendablePercent: 4, "
          "limitResponse: {type: Reject}}}}" },
        { "a value instead of the zero", LEVEL,
          "{spec: {type: Limited, limited: {nominalConcurrencyShares: 0, lendablePercent: 3}}}",
          "{spec: {type: Limited, limited: {assuredConcurrencyShares: 7, lendablePercent: 3}}}",
          "{spec: {type: Limited, limited: {nominalConcurrencyShares: 7, lendablePercent: 3}}}" },
        { "annotations, too", "apps/v1beta1", "ControllerRevision",
          "{metadata: {annotations: {a: b, c: d}}, data: {x: 1}, revision: 1}",
          "{metadata: {annotations: {c: e, f: g}}, data: {x: 2}, revision: 1}",
          "{metadata: {annotations: {c: e, f: g}}, data: {x: 2}, revision: 1}" },
        { "what a default says counts", "extensions/v1beta1", "ReplicaSet",
          "{spec: {template: {metadata: {labels: {a: b}}}}}",
          "{spec: {template: {metadata: {labels: {a: b}}}}}",
          "{metadata: {labels: {a: b}}, spec: {selector: {matchLabels: {a: b}}, template: "
          "{metadata: {labels: {a: b}}}}}" },
        { "the hub loses nothing", "batch/v1", "CronJob", "{spec: {schedule: a, timeZone: tz}}",
          "{spec: {schedule: b}}",
          "{spec: {schedule: b, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1, "
          "}}" },
    };
    CHECK(rows);
}

/* ---- Items that have a key ---- */

static void items_with_a_key(void **state)
{
    (void)state;
#define SPEC "spec: {maxReplicas: 1, minReplicas: 1, metrics: [{type: Pods}]}, "
    static const struct row rows[] = {
        { "in another order, with more", HPA,
          "{" SPEC "status: {conditions: [{type: A, status: 'True', observedGeneration: 1}, {type: "
          "B, status: 'True', observedGeneration: 2}]}}",
          "{" SPEC "status: {conditions: [{type: C, status: 'True'}, {type: B, status: 'False'}, "
          "{type: A, status: 'True'}]}}",
          "{" SPEC "status: {conditions: [{type: C, status: 'True'}, {type: B, status: 'False', "
          "observedGeneration: 2}, {type: A, status: 'True', observedGeneration: 1}]}}" },
        { "less of them", HPA,
          "{" SPEC "status: {conditions: [{type: A, status: 'True', observedGeneration: 1}, {type: "
          "B, status: 'True', observedGeneration: 2}]}}",
          "{" SPEC "status: {conditions: [{type: B, status: 'True'}]}}",
          "{" SPEC "status: {conditions: [{type: B, status: 'True', observedGeneration: 2}]}}" },
        { "none of them", HPA,
          "{" SPEC "status: {conditions: [{type: A, status: 'True', observedGeneration: 1}]}}",
          "{" SPEC "status: {}}", "{" SPEC "status: {}}" },
        { "a key that repeats is none", HPA,
          "{" SPEC "status: {conditions: [{type: A, status: 'True', observedGeneration: 1}, {type: "
          "A, status: 'False', observedGeneration: 2}]}}",
          "{" SPEC "status: {conditions: [{type: A, status: 'False'}]}}",
          "{" SPEC "status: {conditions: [{type: A, status: 'False', observedGeneration: 2}]}}" },
    };
    CHECK(rows);
}

/* ---- Items without a key ---- */

static void items_without_a_key(void **state)
{
    (void)state;
#define INGRESS    "networking.k8s.io/v1beta1", "Ingress"
#define LIVE(h, p) "{host: " h ", http: {paths: [" p "]}}"
#define NEW(path, s)                                                 \
    "{path: " path ", pathType: Exact, backend: {service: {name: " s \
    ", port: {name: w, number: 8}}}}"
#define BARE(path, s) \
    "{path: " path ", pathType: Exact, backend: {service: {name: " s ", port: {name: w}}}}"
#define OLD(path, s) \
    "{path: " path ", pathType: Exact, backend: {serviceName: " s ", servicePort: w}}"
    static const struct row rows[] = {
        { "sent back", INGRESS, "{spec: {rules: [" LIVE("a", NEW("/", "s")) "]}}",
          "{spec: {rules: [" LIVE("a", OLD("/", "s")) "]}}",
          "{spec: {rules: [" LIVE("a", NEW("/", "s")) "]}}" },
        { "one more in front", INGRESS, "{spec: {rules: [" LIVE("a", NEW("/", "s")) "]}}",
          "{spec: {rules: [" LIVE("b", OLD("/", "t")) ", " LIVE("a", OLD("/", "s")) "]}}",
          "{spec: {rules: [" LIVE("b", BARE("/", "t")) ", " LIVE("a", NEW("/", "s")) "]}}" },
        { "one less", INGRESS,
          "{spec: {rules: [" LIVE("a", NEW("/", "s")) ", " LIVE("b", NEW("/", "t")) "]}}",
          "{spec: {rules: [" LIVE("b", OLD("/", "t")) "]}}",
          "{spec: {rules: [" LIVE("b", NEW("/", "t")) "]}}" },
        { "changed inside", INGRESS, "{spec: {rules: [" LIVE("a", NEW("/", "s")) "]}}",
          "{spec: {rules: [" LIVE("a", OLD("/", "t")) "]}}",
          "{spec: {rules: [" LIVE("a", NEW("/", "t")) "]}}" },
        { "another one in its place", INGRESS, "{spec: {rules: [" LIVE("a", NEW("/", "s")) "]}}",
          "{spec: {rules: [" LIVE("b", OLD("/", "s")) "]}}",
          "{spec: {rules: [" LIVE("b", BARE("/", "s")) "]}}" },
        { "another path in its place", INGRESS,
          "{spec: {rules: [" LIVE("a", NEW("/x", "s") ", " NEW("/y", "s")) "]}}",
          "{spec: {rules: [" LIVE("a", OLD("/x", "s") ", " OLD("/z", "s")) "]}}",
          "{spec: {rules: [" LIVE("a", NEW("/x", "s") ", " BARE("/z", "s")) "]}}" },
        { "more and changed at once", INGRESS, "{spec: {rules: [" LIVE("a", NEW("/", "s")) "]}}",
          "{spec: {rules: [" LIVE("a", OLD("/", "t")) ", " LIVE("b", OLD("/", "t")) "]}}",
          "{spec: {rules: [" LIVE("a", BARE("/", "t")) ", " LIVE("b", BARE("/", "t")) "]}}" },
    };
    CHECK(rows);
}

/* autoscaling/v1 shows the use of CPU apart, and it comes back behind the others. */
static void items_in_another_order(void **state)
{
    (void)state;
#define METRIC(name, percent)                 \
    "{type: Resource, resource: {name: " name \
    ", target: {type: Utilization, averageUtilization: " percent "}}}"
#define NOTED                                                                                 \
    "{metadata: {annotations: {autoscaling.alpha.kubernetes.io/metrics: "                     \
    "'[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageUtilization\"" \
    ":5}}]'}}, spec: {maxReplicas: 1, minReplicas: 1, targetCPUUtilizationPercentage: "
#define LIVE_HPA "{spec: {maxReplicas: 1, minReplicas: 1, metrics: ["
    static const struct row rows[] = {
        { "sent back", "autoscaling/v1", "HorizontalPodAutoscaler",
          LIVE_HPA METRIC("cpu", "7") ", " METRIC("memory", "5") "]}}", NOTED "7}}",
          LIVE_HPA METRIC("cpu", "7") ", " METRIC("memory", "5") "]}}" },
        { "changed", "autoscaling/v1", "HorizontalPodAutoscaler",
          LIVE_HPA METRIC("cpu", "7") ", " METRIC("memory", "5") "]}}", NOTED "8}}",
          LIVE_HPA METRIC("memory", "5") ", " METRIC("cpu", "8") "]}}" },
        { "two for CPU", "autoscaling/v1", "HorizontalPodAutoscaler",
          LIVE_HPA METRIC("memory", "5") ", " METRIC("cpu", "7") ", " METRIC("cpu", "9") "]}}",
          NOTED "7}}",
          LIVE_HPA METRIC("memory", "5") ", " METRIC("cpu", "7") ", " METRIC("cpu", "9") "]}}" },
    };
    CHECK(rows);
}

/* ---- Schemas: maps, and schemas in lists ---- */

static void schemas(void **state)
{
    (void)state;
#define CRD    "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"
#define NAMES  "names: {plural: p, singular: s, kind: K, listKind: L}, scope: Cluster, "
#define STATUS ", status: {storedVersions: [v]}"
#define OF(schema)                                                                        \
    "versions: [{name: v, served: true, storage: true, schema: {openAPIV3Schema: " schema \
    "}}]}" STATUS "}"
#define TOP(schema)                                                                \
    "{spec: {" NAMES                                                               \
    "version: v, versions: [{name: v, served: true, storage: true}], validation: " \
    "{openAPIV3Schema: " schema "}, preserveUnknownFields: false}" STATUS "}"
    static const struct row rows[] = {
        { "a property changed", CRD,
          "{spec: {" NAMES OF("{properties: {a: {type: string}, b: {allOf: [{type: x}]}}}"),
          TOP("{properties: {a: {type: string}, c: {allOf: [{type: x}]}}}"),
          "{spec: {" NAMES OF("{properties: {a: {type: string}, c: {allOf: [{type: x}]}}}") },
        { "items and more", CRD,
          "{spec: {" NAMES OF("{items: {type: x}, additionalProperties: false, allOf: [{type: x}, "
                              "{type: z}]}"),
          TOP("{items: {type: z}, additionalProperties: true, allOf: [{type: z}]}"),
          "{spec: {" NAMES OF("{items: {type: z}, additionalProperties: true, allOf: [{type: "
                              "z}]}") },
    };
    CHECK(rows);
}

/* ---- Large ones ---- */

enum { LARGE = 50000 };

/* With the square of their number this would take minutes. */
static void large_lists_and_maps_are_merged_in_one_pass(void **state)
{
    (void)state;
    struct arena a;
    struct err err = ERR_INIT(&a);
    autobuf live_text = { 0 }, sent_text = { 0 };
    arena_init(&a);
    buf_str_add(&live_text, STR("{\"metadata\":{\"annotations\":{\"a\":\"\""));
    buf_str_add(&sent_text, STR("{\"metadata\":{\"annotations\":{\"a\":\"b\""));
    for (int i = 0; i < LARGE; i++) {
        buf_printf(&live_text, ",\"k%06d\":\"\"", i);
        buf_printf(&sent_text, ",\"k%06d\":\"\"", 2 * i);
    }
    buf_str_add(&live_text, STR("}},\"status\":{\"conditions\":[{\"type\":\"a\"}"));
    buf_str_add(&sent_text, STR("}},\"status\":{\"conditions\":[{\"type\":\"a\"}"));
    for (int i = 0; i < LARGE; i++) {
        buf_printf(&live_text, ",{\"type\":\"t%d\",\"observedGeneration\":%d}", i, i);
        buf_printf(&sent_text, ",{\"type\":\"t%d\",\"reason\":\"r\"}", LARGE - i);
    }
    buf_str_add(&live_text, STR("]}}"));
    buf_str_add(&sent_text, STR("]}}"));
    const struct kind_type *old = kind_find(STR("autoscaling/v2beta2"),
                                            STR("HorizontalPodAutoscaler")),
                           *hub = convert_hub(old);
    struct value live = read_json(&a, hub, buf_str(&live_text)),
                 sent = read_json(&a, old, buf_str(&sent_text)), obj;
    assert_int_equal(convert_object(&a, old, hub, &sent, &obj, &err), 0);
    assert_int_equal(convert_keep(&a, old, &live, &obj, &err), 0);
    const struct value *second = value_at(value_dig(&obj, "status", "conditions"), 2);
    int64_t generation = 0;
    assert_true(value_to_int(value_get(second, STR("observedGeneration")), &generation));
    assert_int_equal(generation, LARGE - 1);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_without_a_place),
        cmocka_unit_test(items_with_a_key),
        cmocka_unit_test(items_without_a_key),
        cmocka_unit_test(items_in_another_order),
        cmocka_unit_test(schemas),
        cmocka_unit_test(large_lists_and_maps_are_merged_in_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
