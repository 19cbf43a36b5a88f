/* Which tokens in Secrets are out of use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/accounts/legacy_plan.h"
#include "controllers/common/objects_test.h"

#define DAYS (86400 * NS_PER_SEC)

static void test_tracked(void **state)
{
    (void)state;
    static const struct {
        const char *map;
        int64_t now_days;
        bool want;
    } rows[] = {
        { "{data: {since: '1970-01-02'}}", 12, true },
        { "{data: {since: '1970-01-02'}}", 11, false }, /* the first day does not count */
        { "{data: {since: yesterday}}", 100, false },
        { "{data: {}}", 100, false },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(
            legacy_is_tracked(read_yaml(a, rows[i].map), rows[i].now_days * DAYS, 10 * DAYS),
            rows[i].want);
    spn_arena_free(a);
}

#define AT(day) "creationTimestamp: '1970-01-" day "T00:00:00Z'"
#define USED    "labels: {kubernetes.io/legacy-token-last-used: "

/* The limit is the evening of 1970-01-11. */
static void test_unused(void **state)
{
    (void)state;
    static const struct {
        const char *secret;
        bool want;
    } rows[] = {
        { "{metadata: {" AT("11") "}}", true },
        { "{metadata: {" AT("12") "}}", false },
        { "{metadata: {" AT("01") ", deletionTimestamp: '1970-01-02T00:00:00Z'}}", false },
        { "{metadata: {" AT("01") ", " USED "'1970-01-10'}}}", true },
        { "{metadata: {" AT("01") ", " USED "'1970-01-11'}}}", false },
        { "{metadata: {" AT("01") ", " USED "soon}}}", false },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(legacy_is_unused(read_yaml(a, rows[i].secret), 11 * DAYS - NS_PER_SEC),
                         rows[i].want);
    spn_arena_free(a);
}

#define SINCE "metadata: {labels: {kubernetes.io/legacy-token-invalid-since: "

static void test_step(void **state)
{
    (void)state;
    static const struct {
        const char *secret;
        enum legacy_step want;
    } rows[] = {
        { "{}", LEGACY_BECOMES_INVALID },
        { "{" SINCE "soon}}}", LEGACY_BECOMES_INVALID },
        { "{" SINCE "'1970-01-11'}}}", LEGACY_STAYS },
        { "{" SINCE "'1970-01-10'}}}", LEGACY_GOES },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(legacy_step(read_yaml(a, rows[i].secret), 11 * DAYS - NS_PER_SEC),
                         rows[i].want);
    assert_true(spn_text_eq(legacy_day(a, 10 * DAYS), SPN_TEXT("1970-01-11")));
    spn_arena_free(a);
}

static void test_generated(void **state)
{
    (void)state;
    static const struct {
        const char *secret, *account;
        bool want;
    } rows[] = {
        { "{metadata: {name: t}}", "{secrets: [{name: t}]}", true },
        { "{metadata: {name: t}}", "{secrets: [{name: u}]}", false },
        { "{metadata: {name: t}}", "{}", false },
        { "{metadata: {name: t, annotations: {kubernetes.io/service-account.uid: x}}}",
          "{metadata: {uid: x}, secrets: [{name: t}]}", true },
        { "{metadata: {name: t, annotations: {kubernetes.io/service-account.uid: x}}}",
          "{metadata: {uid: y}, secrets: [{name: t}]}", false },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(
            legacy_is_generated(read_yaml(a, rows[i].secret), read_yaml(a, rows[i].account)),
            rows[i].want);
    spn_arena_free(a);
}

static void test_pod(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        bool want;
    } rows[] = {
        { "{spec: {containers: [{name: t}]}}", false },
        { "{spec: {imagePullSecrets: [{name: t}]}}", true },
        { "{spec: {volumes: [{secret: {secretName: t}}]}}", true },
        { "{spec: {volumes: [{secret: {secretName: u}}]}}", false },
        { "{spec: {volumes: [{projected: {sources: [{configMap: {name: t}}]}}]}}", false },
        { "{spec: {volumes: [{projected: {sources: [{secret: {name: t}}]}}]}}", true },
        { "{spec: {volumes: [{csi: {nodePublishSecretRef: {name: t}}}]}}", true },
        { "{spec: {volumes: [{rbd: {secretRef: {name: t}}}]}}", true },
        { "{spec: {initContainers: [{envFrom: [{secretRef: {name: t}}]}]}}", true },
        { "{spec: {containers: [{env: [{valueFrom: {secretKeyRef: {name: t}}}]}]}}", true },
        { "{spec: {containers: [{env: [{valueFrom: {configMapKeyRef: {name: t}}}]}]}}", false },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(legacy_is_in_pod(read_yaml(a, rows[i].spec), SPN_TEXT("t")), rows[i].want);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tracked), cmocka_unit_test(test_unused),
        cmocka_unit_test(test_step),    cmocka_unit_test(test_generated),
        cmocka_unit_test(test_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
