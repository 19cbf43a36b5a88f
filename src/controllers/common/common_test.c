/* Hashes of templates, expectations, and what is asked of pods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/expectations.h"
#include "controllers/common/fields.h"
#include "controllers/common/go_dump_quantity.h"
#include "controllers/common/objects_test.h"
#include "controllers/common/pod_control.h"
#include "controllers/common/pods.h"
#include "controllers/common/refusal.h"
#include "controllers/common/template_hash.h"

/* ---- Hashes ---- */

static const char template[] =
    "{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{"
    "\"automountServiceAccountToken\":false,\"containers\":[{\"image\":\"app:1\","
    "\"imagePullPolicy\":\"IfNotPresent\",\"name\":\"c\",\"resources\":{},"
    "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\"}],"
    "\"dnsPolicy\":\"ClusterFirst\",\"restartPolicy\":\"Always\","
    "\"schedulerName\":\"default-scheduler\",\"securityContext\":{},"
    "\"terminationGracePeriodSeconds\":30}}";

/* What upstream has for these, alone and after a first collision. */
static void test_template_hash(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *v = read_json(a, template);
    assert_true(is_text(template_hash(a, v, -1), "5cf4f854dc"));
    assert_true(is_text(template_hash(a, v, 1), "7477d4856b"));
    spn_arena_free(a);
}

static void test_quantities(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "100m", "{i:(resource.int64Amount){value:(int64)100 scale:(resource.Scale)-3} "
                  "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)100m "
                  "Format:(resource.Format)DecimalSI}" },
        { "64Mi", "{i:(resource.int64Amount){value:(int64)67108864 scale:(resource.Scale)0} "
                  "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string) "
                  "Format:(resource.Format)BinarySI}" },
        { "0", "{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} "
               "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)0 "
               "Format:(resource.Format)DecimalSI}" },
        { "100Ti", "{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} "
                   "d:(resource.infDecAmount){Dec:(*inf.Dec){unscaled:(big.Int){neg:(bool)false "
                   "abs:(big.nat)[8568098291072368640 5960]} scale:(inf.Scale)9}} s:(string) "
                   "Format:(resource.Format)BinarySI}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf out = { 0 };
        go_dump_quantity(&out, str_of(rows[i].text));
        buf_byte(&out, '\0');
        assert_string_equal(out.p, rows[i].want);
    }
}

/* ---- Expectations ---- */

static void test_expectations(void **state)
{
    (void)state;
    struct expectations *e = expectations_new();
    const struct spn_text web = SPN_TEXT("a/web");
    const struct spn_text gone[] = { SPN_TEXT("a/x"), SPN_TEXT("a/y") };
    assert_true(expectations_are_met(e, web));
    expectations_create(e, web, 2);
    assert_false(expectations_are_met(e, web));
    expectations_created(e, web);
    expectations_created(e, SPN_TEXT("a/other"));
    assert_false(expectations_are_met(e, web));
    expectations_created(e, web);
    expectations_created(e, web); /* of somebody else; it does not go below zero */
    assert_true(expectations_are_met(e, web));
    expectations_delete(e, web, gone, 2);
    expectations_deleted(e, web, gone[1]);
    expectations_deleted(e, web, gone[1]); /* seen twice: terminating, and gone */
    assert_false(expectations_are_met(e, web));
    expectations_deleted(e, web, gone[0]);
    assert_true(expectations_are_met(e, web));
    expectations_create(e, web, 1);
    expectations_forget(e, web);
    assert_true(expectations_are_met(e, web));
    expectations_free(e);
}

/* ---- Pods ---- */

#define NOW_NS (INT64_C(1700000000) * NS_PER_SEC)
#define READY \
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"lastTransitionTime\":\"%s\"}]"
#define EARLY   "2023-11-14T21:00:00Z" /* more than an hour before */
#define JUST_NS "2023-11-14T22:13:15Z" /* five seconds before */

static void test_availability(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *just =
        read_json(a, spn_arena_printf(a, "{\"status\":{" READY "}}", JUST_NS).p);
    const struct spn_value *idle = read_json(a, "{\"status\":{\"phase\":\"Running\"}}");
    assert_true(pod_is_available(just, 0, NOW_NS));
    assert_true(pod_is_available(just, 5, NOW_NS));
    assert_false(pod_is_available(just, 6, NOW_NS));
    assert_false(pod_is_available(idle, 0, NOW_NS));
    assert_int_equal(pods_next_available_ms(&just, 1, 7, NOW_NS), 2001);
    assert_int_equal(pods_next_available_ms(&just, 1, 5, NOW_NS), -1);
    assert_int_equal(pods_next_available_ms(&idle, 1, 5, NOW_NS), -1);
    spn_arena_free(a);
}

/* Each row: the first goes before the second. */
static void test_order_of_deletion(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        size_t beside_first, beside_second;
    } rows[] = {
        { "{}", "{\"spec\":{\"nodeName\":\"n\"}}", 0, 0 },
        { "{\"status\":{\"phase\":\"Pending\"}}", "{\"status\":{\"phase\":\"Running\"}}", 0, 0 },
        { "{\"status\":{\"phase\":\"Unknown\"}}", "{\"status\":{\"phase\":\"Running\"}}", 0, 0 },
        { "{}", "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}", 0, 0 },
        { "{\"metadata\":{\"annotations\":{"
          "\"controller.kubernetes.io/pod-deletion-cost\":\"-5\"}}}",
          "{}", 0, 0 },
        { "{}", "{}", 2, 1 },
        { "{\"status\":{\"containerStatuses\":[{\"restartCount\":3}]}}",
          "{\"status\":{\"containerStatuses\":[{\"restartCount\":1}]}}", 0, 0 },
        { "{\"metadata\":{\"creationTimestamp\":\"" JUST_NS "\"}}",
          "{\"metadata\":{\"creationTimestamp\":\"" EARLY "\"}}", 0, 0 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct spn_value *first = read_json(a, rows[i].first);
        struct pod_rank pods[] = { { read_json(a, rows[i].second), rows[i].beside_second },
                                   { first, rows[i].beside_first } };
        pods_sort_for_deletion(pods, 2, NOW_NS);
        assert_ptr_equal(pods[0].pod, first);
    }
    spn_arena_free(a);
}

static void test_pod_from_template(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *owner =
        read_json(a, "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{"
                     "\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"u\"}}");
    const struct spn_value *pod = pod_from_template(a, read_json(a, template), owner);
    assert_true(is_text(meta_text(pod, "generateName"), "web-"));
    assert_true(is_text(spn_value_text(spn_value_dig(pod, "metadata", "labels", "app")), "web"));
    const struct spn_value *ref =
        spn_value_at(spn_value_dig(pod, "metadata", "ownerReferences"), 0);
    assert_true(is_text(spn_value_text(spn_value_get(ref, "uid")), "u"));
    assert_true(spn_value_is_true(spn_value_get(ref, "blockOwnerDeletion")));
    spn_arena_free(a);
}

/* ---- Slow start ---- */

struct tries {
    size_t n, fails_at; /* 0: never */
};

static int try_once(void *arg, struct spn_err *err)
{
    struct tries *t = arg;
    t->n++;
    return t->n == t->fails_at ? spn_err_set(err, SPN_FORBIDDEN, "no") : 0;
}

static void test_slow_start(void **state)
{
    (void)state;
    static const struct {
        size_t n, fails_at, tried, good;
    } rows[] = {
        { 10, 0, 10, 10 }, { 10, 1, 1, 0 }, { 10, 2, 3, 2 }, { 3, 3, 3, 2 }, { 0, 0, 0, 0 }
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tries t = { .fails_at = rows[i].fails_at };
        struct spn_err err = { 0 };
        int r;
        assert_int_equal(pod_control_slow_start(rows[i].n, try_once, &t, &r, &err), rows[i].good);
        assert_int_equal(t.n, rows[i].tried);
        assert_int_equal(r, rows[i].fails_at ? -SPN_FORBIDDEN : 0);
    }
}

/* ---- Refusals ---- */

static void test_refusals_of_pods(void **state)
{
    (void)state;
    static const struct {
        struct spn_err err;
        const char *status;
        bool want;
    } rows[] = {
        { { .code = SPN_SERVER_TIMEOUT, .reason = "Timeout" }, "{}", true },
        { { .code = SPN_SERVER_TIMEOUT, .reason = "ServerTimeout" }, "{}", false },
        { { .code = SPN_TIMEOUT }, "{}", false },
        { { .code = SPN_FORBIDDEN },
          "{\"details\":{\"causes\":[{\"reason\":\"NamespaceTerminating\"}]}}",
          true },
        { { .code = SPN_FORBIDDEN }, "{}", false },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_err err = rows[i].err;
        err.status = read_json(a, rows[i].status);
        assert_int_equal(refusal_of_pod_is_final(&err), rows[i].want);
    }
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template_hash),     cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_expectations),      cmocka_unit_test(test_availability),
        cmocka_unit_test(test_order_of_deletion), cmocka_unit_test(test_pod_from_template),
        cmocka_unit_test(test_slow_start),        cmocka_unit_test(test_refusals_of_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
