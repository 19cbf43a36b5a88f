/* Sets of indexes, policies, back-off, how a Job ends, and which pods it wants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/job/plan.h"

static void check_text(struct spn_text has, const char *want)
{
    assert_int_equal(has.n, strlen(want));
    assert_memory_equal(has.p, want, has.n);
}

static void test_indexes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
        int64_t add, total;
    } rows[] = {
        { "", "0", 0, 1 },        { "0", "0,1", 1, 2 },
        { "0,1", "0-2", 2, 3 },   { "1,3-5,7", "1,3-7", 6, 6 },
        { "3-9", "3-9", 5, 7 },   { "x,2", "2,4", 4, 2 },
        { "1-99", "0-9", 0, 10 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t add = rows[i].add;
        struct spans s = spans_with(a, spans_parse(a, spn_text_of(rows[i].text), 10), &add, 1);
        check_text(spans_text(a, s), rows[i].want);
        assert_int_equal(spans_total(s), rows[i].total);
        assert_true(spans_has(s, add));
    }
    int64_t missing[4];
    struct spans s = spans_parse(a, SPN_TEXT("0,2-3"), 10);
    assert_int_equal(spans_missing(s, 6, missing, 4), 3);
    assert_true(missing[0] == 1 && missing[1] == 4 && missing[2] == 5);
    assert_int_equal(spans_common(s, spans_parse(a, SPN_TEXT("1-2,5"), 10)), 1);
    spn_arena_free(a);
}

static void test_backoff(void **state)
{
    (void)state;
    static const struct {
        int64_t failures, ago_sec, want_sec;
    } rows[] = { { 0, 0, 0 }, { 1, 4, 6 }, { 2, 0, 20 }, { 3, 50, 0 }, { 60, 0, 600 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct job_backoff b = { rows[i].failures, -rows[i].ago_sec * NS_PER_SEC };
        assert_int_equal(backoff_remaining_ns(b, 0), rows[i].want_sec * NS_PER_SEC);
    }
}

#define POD(phase, index, code)                                                          \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u" index "\","          \
    "\"finalizers\":[\"" JOB_FINALIZER "\"],\"annotations\":{\"" JOB_INDEX "\":\"" index \
    "\"}},\"status\":{\"phase\":\"" phase "\",\"containerStatuses\":[{\"name\":\"c\","   \
    "\"state\":{\"terminated\":{\"exitCode\":" code "}}}]}}"
#define SPEC(more) "{\"spec\":{\"completions\":3,\"parallelism\":2,\"backoffLimit\":1" more "}}"

static struct job_view look(struct spn_arena *a, const char *job, const char *pod)
{
    struct job_view v = { .a = a, .job = read_json(a, job) };
    struct spn_value *pods[] = { pod ? read_json(a, pod) : NULL };
    job_look(&v, pods, pod ? 1 : 0, (struct job_backoff){ 0 });
    job_judge(&v);
    return v;
}

static void test_end(void **state)
{
    (void)state;
    static const struct {
        const char *job, *pod, *type, *reason;
    } rows[] = {
        { SPEC(""), POD("Failed", "0", "1"), NULL, NULL },
        { "{\"spec\":{\"backoffLimit\":0}}", POD("Failed", "0", "1"), "FailureTarget",
          "BackoffLimitExceeded" },
        { SPEC(",\"podFailurePolicy\":{\"rules\":[{\"action\":\"FailJob\",\"onExitCodes\":"
               "{\"operator\":\"In\",\"values\":[42]}}]}"),
          POD("Failed", "0", "42"), "FailureTarget", "PodFailurePolicy" },
        { SPEC(",\"completionMode\":\"Indexed\",\"successPolicy\":{\"rules\":"
               "[{\"succeededIndexes\":\"1\"}]}"),
          POD("Succeeded", "1", "0"), "SuccessCriteriaMet", "SuccessPolicy" },
        { SPEC(",\"completionMode\":\"Indexed\",\"backoffLimitPerIndex\":0,"
               "\"maxFailedIndexes\":0"),
          POD("Failed", "1", "1"), "FailureTarget", "MaxFailedIndexesExceeded" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct job_view v = look(a, rows[i].job, rows[i].pod);
        assert_int_equal(v.end.type != NULL, rows[i].type != NULL);
        if (!rows[i].type)
            continue;
        assert_string_equal(v.end.type, rows[i].type);
        check_text(v.end.reason, rows[i].reason);
    }
    spn_arena_free(a);
}

static void test_wanted(void **state)
{
    (void)state;
    static const struct {
        const char *job, *pod;
        int64_t want;
    } rows[] = {
        { SPEC(""), NULL, 2 },
        { SPEC(",\"suspend\":true"), NULL, 0 },
        { "{\"spec\":{\"parallelism\":4}}", NULL, 4 },
        { "{\"spec\":{\"parallelism\":4}}", POD("Succeeded", "0", "0"), 0 },
        { "{\"spec\":{\"parallelism\":4,\"completions\":2}}", POD("Succeeded", "0", "0"), 1 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct job_view v = look(a, rows[i].job, rows[i].pod);
        assert_int_equal(job_wanted(&v), rows[i].want);
    }
    spn_arena_free(a);
}

/* A failed pod of an index waits for its successor, which says how often the index failed. */
static void test_kept_pod(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct job_view v = look(a, SPEC(",\"completionMode\":\"Indexed\",\"backoffLimitPerIndex\":1"),
                             POD("Failed", "1", "1"));
    assert_ptr_equal(job_kept_pod(&v, 1), &v.pods[0]);
    assert_null(job_kept_pod(&v, 0));
    const struct spn_value *pod = job_pod_new(&v, 1);
    check_text(meta_annotation(pod, "batch.kubernetes.io/job-index-failure-count"), "1");
    assert_int_equal(pod_index(pod), 1);
    assert_true(pod_is_tracked(pod));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indexes), cmocka_unit_test(test_backoff),  cmocka_unit_test(test_end),
        cmocka_unit_test(test_wanted),  cmocka_unit_test(test_kept_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
