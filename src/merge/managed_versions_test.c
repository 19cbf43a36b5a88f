/* Managers that know an object by different versions of the API, and by its Scale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "merge/managed.h"
#include "merge/trees_test.h"

static struct value nothing;

static const struct kind_type *scaler(const char *version)
{
    return kind_type_find(STR("autoscaling"), str_of(version), STR("HorizontalPodAutoscaler"));
}

static struct managed_request by(const char *manager, const struct kind_type *type)
{
    nothing = tree("{'metadata':{}}");
    return (struct managed_request){
        .schema = &ownership_kinds,
        .place = ownership_kind(type),
        .manager = str_of(manager),
        .api_version = convert_api_version(&arena, type),
        .now = STR("2001-02-03T04:05:06Z"),
        .empty = &nothing,
        .versions = &managed_kinds,
    };
}

static int apply(const char *manager, const char *version, const struct value *live_v2,
                 const char *spec, bool force, struct value *ret_v2, struct err *err)
{
    const struct kind_type *type = scaler(version), *hub = scaler("v2");
    struct managed_request req = by(manager, type);
    autobuf text = { 0 };
    buf_printf(&text,
               "{'apiVersion':'autoscaling/%s','kind':'HorizontalPodAutoscaler','metadata':{"
               "'name':'h'},'spec':%s}",
               version, spec);
    buf_byte(&text, '\0');
    struct value config = tree(text.p), live, made, typed, seen;
    *err = ERR_INIT(&arena);
    if (live_v2) {
        struct value stored = value_borrow(live_v2);
        assert_int_equal(convert_object(&arena, hub, type, &stored, &live, err), 0);
    }
    int r = managed_apply(&arena, &req, live_v2 ? &live : NULL, &config, force, &made, err);
    if (r < 0)
        return r;
    assert_int_equal(typed_read_made(&arena, type, &made, NULL, &typed, err), 0);
    defaults_apply(&arena, type, &typed);
    assert_int_equal(convert_object(&arena, type, hub, &typed, &seen, err), 0);
    *ret_v2 = seen;
    return 0;
}

static struct value applied(const char *manager, const char *version, const struct value *live,
                            const char *spec, bool force)
{
    struct err err;
    struct value obj = value_null();
    if (apply(manager, version, live, spec, force, &obj, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return obj;
}

#define TARGET "'scaleTargetRef':{'kind':'Deployment','name':'web'}"
#define CPU(n)                                                                              \
    "'metrics':[{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization'" \
    ",'averageUtilization':" n "}}}]"

static void changes_are_seen_in_the_version_of_the_manager(void **state)
{
    (void)state;
    struct err err;
    struct value obj = applied("old", "v1", NULL,
                               "{" TARGET ",'maxReplicas':5,'targetCPUUtilizationPercentage':80}",
                               false),
                 next;
    int r =
        apply("new", "v2", &obj, "{" TARGET ",'maxReplicas':5," CPU("90") "}", false, &next, &err);
    assert_int_equal(r, -ERR_CONFLICT);
    assert_true(str_eq(err.msg, STR("Apply failed with 1 conflict: conflict with \"old\": "
                                    ".spec.targetCPUUtilizationPercentage")));
    next = applied("new", "v2", &obj, "{" TARGET ",'maxReplicas':5," CPU("90") "}", true);
    const struct value *managers = value_dig(&next, "metadata", "managedFields");
    assert_int_equal(managers->n, 2);
    value_each_item (e, managers)
        if (str_eq(value_str(value_get(e, STR("manager"))), STR("old")))
            assert_null(value_dig(e, "fieldsV1", "f:spec", "f:targetCPUUtilizationPercentage"));
}

/* What was applied through one version and is left out through the other goes. */
static void what_is_left_out_is_pruned_in_its_own_version(void **state)
{
    (void)state;
    struct value obj = applied("one", "v1", NULL,
                               "{" TARGET ",'maxReplicas':5,'minReplicas':2,"
                               "'targetCPUUtilizationPercentage':70}",
                               false);
    struct value next = applied("one", "v2", &obj, "{" TARGET ",'maxReplicas':6}", false);
    int64_t least = 0, most = 0;
    assert_true(value_to_int(value_dig(&next, "spec", "maxReplicas"), &most));
    assert_int_equal(most, 6);
    assert_true(value_to_int(value_dig(&next, "spec", "minReplicas"), &least));
    assert_int_equal(least, 1);
    const struct value *managers = value_dig(&next, "metadata", "managedFields");
    assert_int_equal(managers->n, 1);
    assert_true(str_eq(value_str(value_get(value_at(managers, 0), STR("apiVersion"))),
                       STR("autoscaling/v2")));
}

static void versions_that_are_gone_are_forgotten(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        int code;
        size_t n;
    } rows[] = {
        { "v1", 0, 2 },
        { "other.example.com/v1", 0, 1 },
        { "v9", 0, 1 },
        { "a/b/c", -ERR_BAD_REQUEST, 0 },
    };
    struct managed_request req = by("one", kind_type_find(STR(""), STR("v1"), STR("ConfigMap")));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf text = { 0 };
        buf_printf(&text,
                   "{'metadata':{'name':'c','managedFields':[{'manager':'m','operation':'Update',"
                   "'apiVersion':'%s','fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:a':{}}}}]},"
                   "'data':{'a':'1'}}",
                   rows[i].version);
        buf_byte(&text, '\0');
        struct value live = tree(text.p), obj = tree("{'metadata':{'name':'c'},'data':{'a':'1',"
                                                     "'b':'2'}}");
        struct err err = ERR_INIT(&arena);
        assert_int_equal(managed_update(&arena, &req, &live, &obj, &err), rows[i].code);
        if (rows[i].code == 0)
            assert_int_equal(value_dig(&obj, "metadata", "managedFields")->n, rows[i].n);
    }
}

#define ENTRY(manager, operation, version, fields)                                \
    "{'manager':'" manager "','operation':'" operation "','apiVersion':'" version \
    "','time':'2001-02-03T04:05:06Z','fieldsType':'FieldsV1','fieldsV1':{" fields "}}"

static void a_scale_has_the_managers_of_the_replicas(void **state)
{
    (void)state;
    struct managed_request req = by("x", kind_type_find(STR("apps"), STR("v1"), STR("Deployment")));
    struct value obj = tree("{'metadata':{'managedFields':[" ENTRY(
        "a", "Apply", "apps/v1",
        "'f:spec':{'f:replicas':{}}") "," ENTRY("b", "Update", "apps/v1",
                                                "'f:spec':{'f:paused':{}}") "," ENTRY("c", "Update",
                                                                                      "apps/v9",
                                                                                      "'f:spec':{'"
                                                                                      "f:replicas':"
                                                                                      "{}}") "]}}");
    struct value scale = tree("{'metadata':{}}");
    managed_to_scale(&arena, &req, &obj, &scale);
    const struct value *of_scale = value_dig(&scale, "metadata", "managedFields");
    assert_int_equal(of_scale->n, 1);
    assert_true(str_eq(value_str(value_get(value_at(of_scale, 0), STR("manager"))), STR("a")));
    assert_true(str_eq(value_str(value_get(value_at(of_scale, 0), STR("apiVersion"))),
                       STR("autoscaling/v1")));
    /* Unchanged, it stays as it was, but for the version that nobody knows. */
    managed_from_scale(&arena, &req, &scale, &obj);
    assert_int_equal(value_dig(&obj, "metadata", "managedFields")->n, 2);
    /* Taken by somebody else, the first has lost it. */
    scale = tree("{'metadata':{'managedFields':[" ENTRY("d", "Update", "autoscaling/v1",
                                                        "'f:spec':{'f:replicas':{}}") "]}}");
    managed_from_scale(&arena, &req, &scale, &obj);
    const struct value *managers = value_dig(&obj, "metadata", "managedFields");
    assert_int_equal(managers->n, 2);
    value_each_item (e, managers) {
        struct str manager = value_str(value_get(e, STR("manager")));
        assert_true(str_eq(manager, STR("b")) || str_eq(manager, STR("d")));
        assert_true(str_eq(value_str(value_get(e, STR("apiVersion"))), STR("apps/v1")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes_are_seen_in_the_version_of_the_manager, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_left_out_is_pruned_in_its_own_version, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(versions_that_are_gone_are_forgotten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_scale_has_the_managers_of_the_replicas, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
