/* Claims for devices: which a pod has, and what is made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/devices/plan.h"

static void test_which(void **state)
{
    (void)state;
    static const struct {
        const char *claim;
        enum device_claim is;
        const char *name;
    } rows[] = {
        { "{name: a, resourceClaimName: x}", DEVICE_NAMED, "x" },
        { "{name: b, resourceClaimTemplateName: t}", DEVICE_MADE, "p-b-1" },
        { "{name: c, resourceClaimTemplateName: t}", DEVICE_NOT_NEEDED, "" },
        { "{name: d, resourceClaimTemplateName: t}", DEVICE_ABSENT, "" },
    };
    struct spn_arena *a = spn_arena_new();
    struct spn_value *pod = read_yaml(
        a, "{status: {resourceClaimStatuses: [{name: b, resourceClaimName: p-b-1}, {name: c}]}}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_text name;
        assert_int_equal(device_claim_of(pod, read_yaml(a, rows[i].claim), &name), rows[i].is);
        assert_text(a, name, rows[i].name);
    }
    spn_arena_free(a);
}

static void test_make(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *template =
        read_yaml(a, "{spec: {metadata: {labels: {l: m}, annotations: {x: z}}, spec: {devices: "
                     "{requests: []}}}}");
    struct spn_value *claim = device_claim_make(
        a, read_yaml(a, "{metadata: {name: p, namespace: m, uid: u}}"), SPN_TEXT("d"), template);
    assert_text(a, spn_value_json(a, claim),
                "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{"
                "\"generateName\":\"p-d-\",\"namespace\":\"m\",\"labels\":{\"l\":\"m\"},"
                "\"annotations\":{\"x\":\"z\",\"resource.kubernetes.io/pod-claim-name\":\"d\"},"
                "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\","
                "\"uid\":\"u\",\"controller\":true}]},\"spec\":{\"devices\":{\"requests\":[]}}}");
    struct spn_value *pod = read_yaml(
        a, "{metadata: {name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}");
    claim = device_claim_make(a, pod, SPN_TEXT("bbbbbbbbbb"), template);
    assert_text(a, meta_text(claim, "generateName"),
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbb");
    spn_arena_free(a);
}

static void test_statuses(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *list = device_statuses(a, NULL, SPN_TEXT("b"), SPN_TEXT("1"));
    list = device_statuses(a, list, SPN_TEXT("a"), SPN_TEXT("2"));
    list = device_statuses(a, list, SPN_TEXT("c"), SPN_TEXT("3"));
    list = device_statuses(a, list, SPN_TEXT("b"), SPN_TEXT("4"));
    assert_text(a, spn_value_json(a, list),
                "[{\"name\":\"a\",\"resourceClaimName\":\"2\"},{\"name\":\"b\","
                "\"resourceClaimName\":\"4\"},{\"name\":\"c\",\"resourceClaimName\":\"3\"}]");
    spn_arena_free(a);
}

static void test_reserve(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *pod = read_yaml(a, "{metadata: {name: p, uid: u}}");
    struct spn_value *claim = read_yaml(a, "{status: {allocation: {}}}");
    assert_false(device_should_reserve(read_yaml(a, "{status: {}}"), pod));
    assert_true(device_should_reserve(claim, pod));
    device_reserve(a, claim, pod);
    assert_false(device_should_reserve(claim, pod));
    assert_true(device_is_for_pod(spn_value_at(spn_value_dig(claim, "status", "reservedFor"), 0)));
    assert_false(device_is_for_pod(read_yaml(a, "{apiGroup: x, resource: pods}")));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which),
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
