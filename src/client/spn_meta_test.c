#include <sampan/meta.h>

#include "client/suite_client.h"

static struct spn_value *read_json(struct spn_arena *a, const char *json)
{
    struct spn_value *v;
    assert_int_equal(spn_value_read_json(a, spn_text_of(json), &v, NULL), 0);
    return v;
}

/* ---- Owners ---- */

#define OWNER                                                                              \
    "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Hello\",\"metadata\":{\"name\":\"h\",\"uid\":" \
    "\"u1\",\"namespace\":\"ns\"}}"

static void an_owner_is_noted_once(void **state)
{
    struct spn_arena *a = *state;
    struct spn_err err;
    struct spn_value *obj = read_json(a, "{\"metadata\":{\"name\":\"c\"}}");
    const struct spn_value *owner = read_json(a, OWNER);
    for (int i = 0; i < 2; i++)
        assert_int_equal(spn_set_controller(a, obj, owner, &err), 0);
    assert_text(spn_value_json(a, spn_value_dig(obj, "metadata", "ownerReferences")),
                "[{\"apiVersion\":\"x.io/v1\",\"kind\":\"Hello\",\"name\":\"h\",\"uid\":\"u1\","
                "\"controller\":true,\"blockOwnerDeletion\":true}]");
}

static void an_owner_that_is_no_controller_stays(void **state)
{
    struct spn_arena *a = *state;
    struct spn_err err;
    struct spn_value *obj = read_json(
        a, "{\"metadata\":{\"ownerReferences\":[{\"kind\":\"Other\",\"name\":\"o\",\"uid\":"
           "\"u2\"}]}}");
    assert_int_equal(spn_set_controller(a, obj, read_json(a, OWNER), &err), 0);
    assert_int_equal(spn_value_count(spn_value_dig(obj, "metadata", "ownerReferences")), 2);
}

static void there_is_one_controller(void **state)
{
    struct spn_arena *a = *state;
    struct spn_err err;
    struct spn_value *obj = read_json(
        a, "{\"metadata\":{\"ownerReferences\":[{\"kind\":\"Other\",\"name\":\"o\",\"uid\":\"u2\","
           "\"controller\":true}]}}");
    assert_int_equal(spn_set_controller(a, obj, read_json(a, OWNER), &err), -SPN_EXISTS);
    assert_string_equal(err.message, "it is controlled by Other o");
    assert_int_equal(spn_value_count(spn_value_dig(obj, "metadata", "ownerReferences")), 1);
}

static void nobody_owns_across_namespaces(void **state)
{
    struct spn_arena *a = *state;
    struct spn_err err;
    struct spn_value *obj = read_json(a, "{\"metadata\":{\"namespace\":\"elsewhere\"}}");
    assert_int_equal(spn_set_controller(a, obj, read_json(a, OWNER), &err), -SPN_INVALID);
    obj = read_json(a, "{\"metadata\":{}}");
    assert_int_equal(spn_set_controller(a, obj, read_json(a, "{\"kind\":\"X\"}"), &err),
                     -SPN_INVALID);
}

/* ---- Conditions ---- */

static void transition_times_move_with_the_status(void **state)
{
    struct spn_arena *a = *state;
    struct spn_value *obj = read_json(
        a, "{\"status\":{\"conditions\":[{\"type\":\"Other\"},{\"type\":\"Ready\",\"status\":"
           "\"False\",\"reason\":\"Wait\",\"message\":\"\",\"lastTransitionTime\":\"then\"}]}}");
    struct spn_condition c = { .type = "Ready", .status = "False", .reason = "Wait" };
    assert_false(spn_condition_set(a, obj, &c));
    c.message = "for the moon";
    assert_true(spn_condition_set(a, obj, &c));
    const struct spn_value *ready = spn_condition_get(obj, "Ready");
    assert_text(spn_value_text(spn_value_get(ready, "lastTransitionTime")), "then");
    c.status = "True";
    assert_true(spn_condition_set(a, obj, &c));
    ready = spn_condition_get(obj, "Ready");
    assert_false(
        spn_text_eq(spn_value_text(spn_value_get(ready, "lastTransitionTime")), SPN_TEXT("then")));
    assert_text(spn_value_text(spn_value_get(ready, "status")), "True");
    assert_int_equal(spn_value_count(spn_value_dig(obj, "status", "conditions")), 2);
}

static void conditions_are_made(void **state)
{
    struct spn_arena *a = *state;
    struct spn_value *obj = read_json(a, "{}");
    int64_t generation = 0;
    const struct spn_condition c = {
        .type = "Ready", .status = "True", .reason = "Up", .observed_generation = 4
    };
    assert_null(spn_condition_get(obj, "Ready"));
    assert_true(spn_condition_set(a, obj, &c));
    assert_false(spn_condition_set(a, obj, &c));
    const struct spn_value *ready = spn_condition_get(obj, "Ready");
    assert_text(spn_value_text(spn_value_get(ready, "reason")), "Up");
    assert_text(spn_value_text(spn_value_get(ready, "message")), "");
    assert_int_equal(spn_value_text(spn_value_get(ready, "lastTransitionTime")).n, 20);
    assert_true(spn_value_int(spn_value_get(ready, "observedGeneration"), &generation));
    assert_int_equal(generation, 4);
}

static void finalizers_are_found(void **state)
{
    struct spn_arena *a = *state;
    struct spn_value *obj = read_json(a, "{\"metadata\":{\"finalizers\":[\"a/b\",\"c\"]}}");
    assert_true(spn_finalizer_has(obj, "c"));
    assert_false(spn_finalizer_has(obj, "b"));
    assert_false(spn_finalizer_has(read_json(a, "{}"), "c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_test(an_owner_is_noted_once),
        suite_test(an_owner_that_is_no_controller_stays),
        suite_test(there_is_one_controller),
        suite_test(nobody_owns_across_namespaces),
        suite_test(transition_times_move_with_the_status),
        suite_test(conditions_are_made),
        suite_test(finalizers_are_found),
    };
    return cmocka_run_group_tests_name("spn_meta", tests, NULL, NULL);
}
