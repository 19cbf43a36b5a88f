/* Logs that are made up: which lines a status makes, and which of them are shown. */
#include "node/simulated/pod_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"

#define POD(status)                                                                           \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{\"containers\":[{\"name\":" \
    "\"c\",\"image\":\"i\",\"readinessProbe\":{\"httpGet\":{\"path\":\"/ok\"},"               \
    "\"periodSeconds\":5,\"initialDelaySeconds\":2}}]},\"status\":{" status "}}"
#define STATUS(state) "\"containerStatuses\":[{\"name\":\"c\"," state "}]"
#define RUNS          "\"state\":{\"running\":{\"startedAt\":\"1970-01-01T00:00:10Z\"}}"
#define ENDED                                                                \
    "\"terminated\":{\"exitCode\":3,\"startedAt\":\"1970-01-01T00:00:10Z\"," \
    "\"finishedAt\":\"1970-01-01T00:00:18Z\"}"
#define FIRST "container c of pod n/p has started: image i (simulated)\n"
#define PROBE "readiness probe: GET /ok 200\n"

static struct spn_value *read_json(struct spn_arena *a, const char *text)
{
    struct spn_value *v;
    struct spn_err err = { 0 };
    assert_int_equal(spn_value_read_json(a, spn_text_of(text), &v, &err), 0);
    return v;
}

static void test_logs(void **state)
{
    (void)state;
    static const struct pod_log_view all = { .tail = -1, .limit = -1 };
    static const struct {
        const char *pod;
        const char *container;
        bool previous;
        int status;
        const char *text; /* or why not */
        bool is_over;
    } rows[] = {
        { POD(STATUS(RUNS)), "c", false, 0, FIRST PROBE PROBE, false },
        { POD(STATUS("\"state\":{" ENDED "}")), "c", false, 0,
          FIRST PROBE PROBE "container has ended with exit code 3\n", true },
        { POD(STATUS(RUNS ",\"lastState\":{" ENDED "}")), "c", true, 0,
          FIRST PROBE PROBE "container has ended with exit code 3\n", true },
        { POD(STATUS(
              "\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}},\"lastState\":{" ENDED
              "}")),
          "c", false, 0, FIRST PROBE PROBE "container has ended with exit code 3\n", true },
        { POD(STATUS(RUNS)), "c", true, 400,
          "previous terminated container \"c\" in pod \"p\" not found", false },
        { POD(STATUS("\"state\":{\"waiting\":{\"reason\":\"ContainerCreating\"}}")), "c", false,
          400, "container \"c\" in pod \"p\" is waiting to start: ContainerCreating", false },
        { POD(STATUS("\"state\":{\"waiting\":{\"reason\":\"ErrImagePull\"}}")), "c", false, 400,
          "container \"c\" in pod \"p\" is waiting to start: image can't be pulled", false },
        { POD(""), "c", false, 400, "container \"c\" in pod \"p\" is not available", false },
        { POD(""), "x", false, 404, "container \"x\" not found in pod \"p\"", false },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct pod_log_wish wish = { spn_text_of(rows[i].container), rows[i].previous,
                                           20 * NS_PER_SEC };
        struct pod_log log = { 0 };
        struct spn_text why = { 0 };
        assert_int_equal(pod_log_read(a, read_json(a, rows[i].pod), &wish, &log, &why),
                         rows[i].status);
        assert_string_equal(rows[i].status ? why.p : pod_log_text(a, &log, &all, 0).p,
                            rows[i].text);
        assert_int_equal(log.is_over, rows[i].is_over);
    }
    spn_arena_free(a);
}

static void test_failing_probe(void **state)
{
    (void)state;
    static const struct pod_log_view all = { .tail = -1, .limit = -1 };
    const struct pod_log_wish wish = { SPN_TEXT("c"), false, 13 * NS_PER_SEC };
    struct spn_arena *a = spn_arena_new();
    struct spn_value *pod = read_json(a, POD(STATUS(RUNS)));
    struct spn_value *notes =
        spn_value_ensure(a, spn_value_ensure(a, pod, "metadata"), "annotations");
    struct pod_log log = { 0 };
    struct spn_text why;
    spn_value_set_text(a, notes, "simulate.sampan.io/fail-probe", SPN_TEXT("readiness"));
    assert_int_equal(pod_log_read(a, pod, &wish, &log, &why), 0);
    assert_string_equal(pod_log_text(a, &log, &all, 0).p, FIRST "readiness probe: GET /ok 503\n");
    spn_arena_free(a);
}

static void test_views(void **state)
{
    (void)state;
    static const struct {
        struct pod_log_view view;
        size_t seen;
        const char *text;
    } rows[] = {
        { { .tail = 1, .limit = -1 }, 0, PROBE },
        { { .tail = 0, .limit = -1 }, 0, "" },
        { { .tail = -1, .limit = 9 }, 0, "container" },
        { { .tail = -1, .limit = -1, .since_ns = 13 * NS_PER_SEC }, 0, PROBE },
        { { .tail = -1, .limit = -1 }, 2, PROBE },
        { { .tail = 1, .limit = -1, .timestamps = true },
          0,
          "1970-01-01T00:00:17.000000000Z " PROBE },
    };
    struct spn_arena *a = spn_arena_new();
    const struct pod_log_wish wish = { SPN_TEXT("c"), false, 20 * NS_PER_SEC };
    struct pod_log log = { 0 };
    struct spn_text why;
    assert_int_equal(pod_log_read(a, read_json(a, POD(STATUS(RUNS))), &wish, &log, &why), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(pod_log_text(a, &log, &rows[i].view, rows[i].seen).p, rows[i].text);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_logs),
                                        cmocka_unit_test(test_failing_probe),
                                        cmocka_unit_test(test_views) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
