/* Bootstrap tokens: who may sign, what comes out, when they are over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/bootstrap/plan.h"
#include "controllers/common/objects_test.h"

#define ID     "token-id: YWJjZGVm"                /* abcdef */
#define KEY    "token-secret: c2VjcmV0"            /* secret */
#define MAY    "usage-bootstrap-signing: dHJ1ZQ==" /* true */
#define NAMED  "metadata: {name: bootstrap-token-abcdef}"
#define AT_600 "expiration: MTk3MC0wMS0wMVQwMDoxMDowMFo=" /* 1970-01-01T00:10:00Z */

static void test_read(void **state)
{
    (void)state;
    static const struct {
        const char *secret;
        int64_t now_sec;
        bool want;
    } rows[] = {
        { "{" NAMED ", data: {" ID ", " KEY ", " MAY "}}", 0, true },
        { "{" NAMED ", data: {" ID ", " KEY ", " MAY ", " AT_600 "}}", 599, true },
        { "{" NAMED ", data: {" ID ", " KEY ", " MAY ", " AT_600 "}}", 600, false },
        { "{" NAMED ", data: {" ID ", " KEY "}}", 0, false },
        { "{" NAMED ", data: {" ID ", " KEY ", usage-bootstrap-signing: VHJ1ZQ==}}", 0, false },
        { "{" NAMED ", data: {" ID ", " MAY "}}", 0, false },
        { "{" NAMED ", data: {" KEY ", " MAY "}}", 0, false },
        { "{metadata: {name: bootstrap-token-abcdeg}, data: {" ID ", " KEY ", " MAY "}}", 0,
          false },
        { "{metadata: {name: abcdef}, data: {" ID ", " KEY ", " MAY "}}", 0, false },
    };
    struct spn_arena *a = spn_arena_new();
    struct bootstrap_token t;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(
            bootstrap_token_read(a, read_yaml(a, rows[i].secret), rows[i].now_sec * NS_PER_SEC, &t),
            rows[i].want);
    assert_true(spn_text_eq(t.id, SPN_TEXT("abcdef")));
    assert_true(spn_text_eq(t.secret, SPN_TEXT("secret")));
    spn_arena_free(a);
}

static void test_left(void **state)
{
    (void)state;
    static const struct {
        const char *secret;
        int64_t want;
    } rows[] = {
        { "{data: {}}", -1 },
        { "{data: {" AT_600 "}}", 1001 },
        { "{data: {expiration: MTk3MC0wMS0wMVQwMDowOTo1OVo=}}", 0 },         /* a second before */
        { "{data: {expiration: c29vbg==}}", 0 },                             /* no time at all */
        { "{data: {expiration: OTk5OS0wMS0wMVQwMDowMDowMFo=}}", INT32_MAX }, /* 9999 */
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(bootstrap_left_ms(read_yaml(a, rows[i].secret), 599 * NS_PER_SEC),
                         rows[i].want);
    spn_arena_free(a);
}

/* The values of upstream's own test. */
static void test_signature(void **state)
{
    (void)state;
    static const struct {
        struct spn_text secret, content, want;
    } rows[] = {
        { SPN_TEXT("my voice is my passcode"),
          SPN_TEXT("Hello from the other side. I must have called a thousand times."),
          SPN_TEXT("VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8") },
        { SPN_TEXT("my voice is my passcode"), SPN_TEXT(""),
          SPN_TEXT("7Ui1ALizW4jXphVUB7xUqC9vLYLL9RZeOFfVLoB7Tgk") },
        { SPN_TEXT(""), SPN_TEXT("Hello from the other side. I must have called a thousand times."),
          SPN_TEXT("UfkqvDGiIFxrMnFseDj9LYJOLNrvjW8aHhF71mvvAs8") },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct bootstrap_token t = { SPN_TEXT("joshua"), rows[i].secret };
        struct spn_text want = spn_arena_printf(
            a, "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9.." SPN_FMT, SPN_ARG(rows[i].want));
        assert_string_equal(bootstrap_signature(a, &t, rows[i].content).p, want.p);
    }
    spn_arena_free(a);
}

static void test_sign(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct bootstrap_token t = { SPN_TEXT("abcdef"), SPN_TEXT("secret") };
    struct spn_value *map =
        read_yaml(a, "{data: {kubeconfig: x, jws-kubeconfig-uvwxyz: old, other: stays}}");
    assert_true(bootstrap_sign(a, map, &t, 1));
    assert_null(spn_value_dig(map, "data", "jws-kubeconfig-uvwxyz"));
    assert_non_null(spn_value_dig(map, "data", "jws-kubeconfig-abcdef"));
    assert_non_null(spn_value_dig(map, "data", "other"));
    assert_false(bootstrap_sign(a, map, &t, 1));
    assert_true(bootstrap_sign(a, map, &t, 0));
    assert_null(spn_value_dig(map, "data", "jws-kubeconfig-abcdef"));
    assert_false(bootstrap_sign(a, read_yaml(a, "{data: {jws-kubeconfig-abcdef: x}}"), &t, 1));
    assert_false(bootstrap_sign(a, read_yaml(a, "{}"), &t, 1));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_signature),
        cmocka_unit_test(test_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
