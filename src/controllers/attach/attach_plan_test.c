/* Which volumes nodes have, and what they are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/attach/plan.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"

static const char csi[] = "{metadata: {name: v}, spec: {csi: {driver: d, volumeHandle: h}}}";

static void test_needed(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *volume = read_yaml(a, csi);
    assert_true(attach_is_needed(volume, NULL));
    assert_true(attach_is_needed(volume, read_yaml(a, "{spec: {}}")));
    assert_false(attach_is_needed(volume, read_yaml(a, "{spec: {attachRequired: false}}")));
    assert_false(attach_is_needed(read_yaml(a, "{spec: {hostPath: {}}}"), NULL));
    assert_true(attach_may_be_shared(read_yaml(a, "{spec: {accessModes: [ReadWriteMany]}}")));
    assert_false(attach_may_be_shared(read_yaml(a, "{spec: {accessModes: [ReadWriteOnce]}}")));
    spn_arena_free(a);
}

static void test_names(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *made = attach_make(a, read_yaml(a, csi), SPN_TEXT("n"));
    /* SHA-256 of "hdn". */
    assert_text(
        a, spn_value_json(a, made),
        "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"VolumeAttachment\",\"metadata\":"
        "{\"name\":\"csi-9072ed11cc1acb5fa433a877ff339b6311d013f33bddd1d0092711a8ace5b16d\"},"
        "\"spec\":{\"attacher\":\"d\",\"nodeName\":\"n\",\"source\":{"
        "\"persistentVolumeName\":\"v\"}}}");
    assert_text(a, attach_volume_name(a, read_yaml(a, csi)), "kubernetes.io/csi/d^h");
    spn_arena_free(a);
}

static void test_in_use(void **state)
{
    (void)state;
#define NODE(ready, taints)                                                           \
    "{spec: {taints: [" taints "]}, status: {volumesInUse: [kubernetes.io/csi/d^h], " \
    "conditions: [{type: Ready, status: '" ready                                      \
    "', lastTransitionTime: '2026-01-01T00:00:00Z'}]}}"
    static const struct {
        const char *node, *volume;
        int64_t minutes; /* since the node is what it is */
        bool used;
    } rows[] = {
        { NODE("True", ""), "kubernetes.io/csi/d^h", 60, true },
        { NODE("True", ""), "kubernetes.io/csi/d^x", 60, false },
        { NODE("Unknown", ""), "kubernetes.io/csi/d^h", 5, true },
        { NODE("Unknown", ""), "kubernetes.io/csi/d^h", 7, false },
        { NODE("True", "{key: node.kubernetes.io/out-of-service}"), "kubernetes.io/csi/d^h", 0,
          false },
    };
    static const int64_t new_year = 1767225600;
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(attach_is_in_use(read_yaml(a, rows[i].node), spn_text_of(rows[i].volume),
                                          (new_year + rows[i].minutes * 60) * NS_PER_SEC),
                         rows[i].used);
    spn_arena_free(a);
}

static void test_report(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_text names[] = { SPN_TEXT("kubernetes.io/csi/a^1"),
                                      SPN_TEXT("kubernetes.io/csi/b^2") };
    struct spn_value *node = read_yaml(
        a,
        "{status: {volumesAttached: [{name: kubernetes.io/iscsi/x, devicePath: p}, {name: "
        "kubernetes.io/csi/b^2, devicePath: ''}, {name: kubernetes.io/csi/c^3, devicePath: ''}]}}");
    assert_text(a, spn_value_json(a, attach_report(a, node, names, 2)),
                "[{\"name\":\"kubernetes.io/iscsi/x\",\"devicePath\":\"p\"},{\"name\":"
                "\"kubernetes.io/csi/b^2\",\"devicePath\":\"\"},{\"name\":\"kubernetes.io/csi/"
                "a^1\",\"devicePath\":\"\"}]");
    assert_null(attach_report(a, read_yaml(a, "{}"), names, 0));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needed),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_in_use),
        cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
