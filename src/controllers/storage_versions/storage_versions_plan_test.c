/* What StorageVersions say when servers go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/storage_versions/plan.h"
#include <sampan/meta.h>

/* Those of one letter live. */
static bool is_live(void *arg, struct spn_text server)
{
    (void)arg;
    return server.n == 1;
}

static struct spn_text text_of(const struct spn_value *version, const char *key)
{
    return spn_value_text(
        spn_value_get(spn_condition_get(version, "AllEncodingVersionsEqual"), key));
}

static void test_trim(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *v = read_yaml(a, "{status: {storageVersions: [{apiServerID: a, "
                                       "encodingVersion: v1}]}}");
    assert_int_equal(storage_versions_trim(a, v, is_live, NULL, 0), STORAGE_VERSIONS_SAME);
    v = read_yaml(a, "{status: {storageVersions: [{apiServerID: gone, encodingVersion: v1}]}}");
    assert_int_equal(storage_versions_trim(a, v, is_live, NULL, 0), STORAGE_VERSIONS_NONE);
    v = read_yaml(a, "{status: {storageVersions: [{apiServerID: a, encodingVersion: v1}, "
                     "{apiServerID: gone, encodingVersion: v2}, {apiServerID: b, encodingVersion: "
                     "v1}]}}");
    assert_int_equal(storage_versions_trim(a, v, is_live, NULL, 0), STORAGE_VERSIONS_FEWER);
    assert_int_equal(spn_value_count(spn_value_dig(v, "status", "storageVersions")), 2);
    assert_true(spn_text_eq(spn_value_text(spn_value_dig(v, "status", "commonEncodingVersion")),
                            SPN_TEXT("v1")));
    assert_true(spn_text_eq(text_of(v, "reason"), SPN_TEXT("CommonEncodingVersionSet")));
    spn_arena_free(a);
}

static void test_disagreement(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *v =
        read_yaml(a, "{status: {commonEncodingVersion: v1, storageVersions: [{apiServerID: a, "
                     "encodingVersion: v1}, {apiServerID: gone, encodingVersion: v1}, "
                     "{apiServerID: b, encodingVersion: v2}]}}");
    assert_int_equal(storage_versions_trim(a, v, is_live, NULL, 0), STORAGE_VERSIONS_FEWER);
    assert_null(spn_value_dig(v, "status", "commonEncodingVersion"));
    assert_true(spn_text_eq(text_of(v, "status"), SPN_TEXT("False")));
    spn_arena_free(a);
}

static void test_another_version(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *v = read_yaml(
        a, "{status: {commonEncodingVersion: v1, conditions: [{type: AllEncodingVersionsEqual, "
           "status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z'}], storageVersions: "
           "[{apiServerID: gone, encodingVersion: v1}, {apiServerID: b, encodingVersion: v2}]}}");
    assert_int_equal(storage_versions_trim(a, v, is_live, NULL, 60 * NS_PER_SEC),
                     STORAGE_VERSIONS_FEWER);
    assert_true(spn_text_eq(text_of(v, "lastTransitionTime"), SPN_TEXT("1970-01-01T00:01:00Z")));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_disagreement),
        cmocka_unit_test(test_another_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
