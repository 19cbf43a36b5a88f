/* Whole lives, played by a clock of the test: each step is merged into the pod, and becomes a word
 * of its story. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sampan/meta.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "node/simulated/pod_life.h"

static struct spn_value *read_json(struct spn_arena *a, const char *text)
{
    struct spn_value *v;
    struct spn_err err = { 0 };
    assert_int_equal(spn_value_read_json(a, spn_text_of(text), &v, &err), 0);
    return v;
}

/* Conditions are replaced, as all of them are written each time. */
static void merge(struct spn_arena *a, struct spn_value *pod, const struct spn_value *status)
{
    struct spn_value *to = spn_value_ensure(a, pod, "status");
    for (size_t i = 0; i < spn_value_count(status); i++)
        spn_value_set(a, to, spn_arena_text(a, spn_value_key_at(status, i)).p,
                      spn_value_copy(a, spn_value_at(status, i)));
}

/* "c" and its state: w(reason), r, R if ready, e(code). */
static void tell_container(struct buf *out, const struct spn_value *c)
{
    int64_t code = 0, restarts = 0;
    const struct spn_value *state = spn_value_get(c, "state");
    (void)spn_value_int(spn_value_dig(state, "terminated", "exitCode"), &code);
    (void)spn_value_int(spn_value_get(c, "restartCount"), &restarts);
    struct spn_text reason = spn_value_text(spn_value_dig(state, "waiting", "reason"));
    buf_printf(out, " " SPN_FMT "=", SPN_ARG(spn_value_text(spn_value_get(c, "name"))));
    if (reason.n)
        buf_printf(out, SPN_FMT, SPN_ARG(reason));
    else if (spn_value_get(state, "running"))
        buf_printf(out, "%s", spn_value_is_true(spn_value_get(c, "ready")) ? "ready" : "runs");
    else
        buf_printf(out, "exit%lld", (long long)code);
    if (restarts)
        buf_printf(out, "/%lld", (long long)restarts);
}

static void tell_write(struct buf *out, int64_t now_ms, const struct spn_value *pod)
{
    const struct spn_value *status = spn_value_get(pod, "status");
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
    buf_printf(out, "%s%lld " SPN_FMT, out->n ? "; " : "", (long long)now_ms / 1000,
               SPN_ARG(spn_value_text(spn_value_get(status, "phase"))));
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        const struct spn_value *list = spn_value_get(status, lists[l]);
        for (size_t i = 0; i < spn_value_count(list); i++)
            tell_container(out, spn_value_at(list, i));
    }
}

/* The story of so many milliseconds. */
static const char *play(struct spn_arena *a, struct spn_value *pod, int64_t from_ms, int64_t ms)
{
    autobuf out = { 0 };
    int64_t now = from_ms;
    for (int steps = 0; steps < 100 && now <= from_ms + ms; steps++) {
        const struct pod_place place = { SPN_TEXT("198.18.0.1"), SPN_TEXT("198.19.0.1"),
                                         now * NS_PER_MS };
        const struct pod_step step = pod_life_next(a, pod, &place);
        if (step.kind == POD_WAITS) {
            now += step.wait_ms;
            continue;
        }
        if (step.kind == POD_WRITES) {
            merge(a, pod, step.status);
            tell_write(&out, now, pod);
            continue;
        }
        buf_printf(&out, "%s", step.kind == POD_RESTS ? "; rests" : "; over");
        break;
    }
    return spn_arena_printf(a, "%.*s", (int)out.n, out.p).p;
}

#define POD(notes, spec)                                                                \
    "{\"metadata\":{\"uid\":\"u\",\"name\":\"p\",\"namespace\":\"n\",\"generation\":1," \
    "\"annotations\":{" notes "}},\"spec\":{" spec "}}"
#define C                 "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]"
#define NEVER             "\"restartPolicy\":\"Never\","
#define NOTE(name, value) "\"simulate.sampan.io/" name "\":\"" value "\""

static void test_stories(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        int64_t ms;
        const char *story;
    } rows[] = {
        { POD("", C), 100000, "10 Pending c=ContainerCreating; 11 Running c=ready; rests" },
        { POD("", NEVER C), 100000,
          "10 Pending c=ContainerCreating; 11 Running c=ready; 13 Succeeded c=exit0; rests" },
        { POD(NOTE("exit-code", "3"), NEVER C), 100000,
          "10 Pending c=ContainerCreating; 11 Running c=ready; 13 Failed c=exit3; rests" },
        { POD("\"simulate.sampan.dev/exit-after\":\"5s\"", NEVER C), 100000,
          "10 Pending c=ContainerCreating; 11 Running c=ready; 16 Succeeded c=exit0; rests" },
        { POD(NOTE("start-after", "4s") "," NOTE("ready-after", "3s"), C), 100000,
          "10 Pending c=ContainerCreating; 14 Running c=runs; 17 Running c=ready; rests" },
        { POD(NOTE("ready", "false"), C), 100000,
          "10 Pending c=ContainerCreating; 11 Running c=runs; rests" },
        /* Again and again, later each time. */
        { POD(NOTE("exit-code", "1"), C), 40000,
          "10 Pending c=ContainerCreating; 11 Running c=ready; 13 Running c=ready/1; "
          "15 Running c=CrashLoopBackOff/1; 25 Running c=ready/2; 27 Running c=CrashLoopBackOff/2; "
          "47 Running c=ready/3; 49 Running c=CrashLoopBackOff/3" },
        { POD(NOTE("exit-code", "1"), "\"restartPolicy\":\"OnFailure\"," C), 4000,
          "10 Pending c=ContainerCreating; 11 Running c=ready; 13 Running c=ready/1" },
        /* Init containers, and one that stays. */
        { POD("", "\"initContainers\":[{\"name\":\"a\"},{\"name\":\"s\",\"restartPolicy\":"
                  "\"Always\"},{\"name\":\"b\"}]," C),
          100000,
          "10 Pending a=PodInitializing s=PodInitializing b=PodInitializing c=PodInitializing; "
          "11 Pending a=runs s=PodInitializing b=PodInitializing c=PodInitializing; "
          "12 Pending a=exit0 s=ready b=runs c=PodInitializing; "
          "13 Running a=exit0 s=ready b=exit0 c=ready; rests" },
        { POD(NOTE("init-exit-code", "2"), NEVER "\"initContainers\":[{\"name\":\"a\"}]," C),
          100000,
          "10 Pending a=PodInitializing c=PodInitializing; "
          "11 Pending a=runs c=PodInitializing; 12 Failed a=exit2 c=PodInitializing; rests" },
        { POD("", NEVER "\"initContainers\":[{\"name\":\"s\",\"restartPolicy\":\"Always\"}]," C),
          100000,
          "10 Pending s=PodInitializing c=PodInitializing; 11 Running s=ready c=ready; "
          "13 Succeeded s=exit0 c=exit0; rests" },
        { POD(NOTE("init-exit-code", "1"), "\"initContainers\":[{\"name\":\"a\"}]," C), 4000,
          "10 Pending a=PodInitializing c=PodInitializing; 11 Pending a=runs c=PodInitializing; "
          "12 Pending a=runs/1 c=PodInitializing; "
          "13 Pending a=CrashLoopBackOff/1 c=PodInitializing" },
        /* Probes. */
        { POD("", "\"containers\":[{\"name\":\"c\",\"startupProbe\":{\"initialDelaySeconds\":2},"
                  "\"readinessProbe\":{\"initialDelaySeconds\":3}}]"),
          100000,
          "10 Pending c=ContainerCreating; 11 Running c=runs; 13 Running c=runs; "
          "16 Running c=ready; rests" },
        { POD(NOTE("fail-probe", "liveness"),
              "\"containers\":[{\"name\":\"c\",\"livenessProbe\":{\"initialDelaySeconds\":1,"
              "\"periodSeconds\":1,\"failureThreshold\":2}}]"),
          6000,
          "10 Pending c=ContainerCreating; 11 Running c=ready; 13 Running c=ready/1; "
          "15 Running c=CrashLoopBackOff/1" },
        { POD(NOTE("fail-probe", "readiness"),
              "\"containers\":[{\"name\":\"c\",\"readinessProbe\":{\"periodSeconds\":1}}]"),
          100000, "10 Pending c=ContainerCreating; 11 Running c=runs; rests" },
        { POD(NOTE("image-pull-error", "true"), C), 100000,
          "10 Pending c=ContainerCreating; 11 Pending c=ErrImagePull; "
          "11 Pending c=ImagePullBackOff; rests" },
        { POD("", "\"activeDeadlineSeconds\":5," C), 100000,
          "10 Pending c=ContainerCreating; 11 Running c=ready; 15 Failed c=exit137; rests" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_arena *a = spn_arena_new();
        assert_string_equal(play(a, read_json(a, rows[i].pod), 10000, rows[i].ms), rows[i].story);
        spn_arena_free(a);
    }
}

static void test_deletion(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        const char *extra; /* metadata after it has run */
        const char *story;
    } rows[] = {
        { POD("", C), "{}", "; over" },
        { POD("", NEVER C), "{}", "20 Failed c=exit143; over" },
        { POD("", C), "{\"finalizers\":[\"f\"]}", "20 Failed c=exit143; over" },
        { POD(NOTE("stop-after", "4s"), NEVER C), "{}", "24 Failed c=exit143; over" },
        { POD(NOTE("stop-after", "1h"), NEVER C), "{}", "50 Failed c=exit137; over" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_arena *a = spn_arena_new();
        struct spn_value *pod = read_json(a, rows[i].pod), *extra = read_json(a, rows[i].extra);
        (void)play(a, pod, 10000, 2000);
        struct spn_value *meta = spn_value_ensure(a, pod, "metadata");
        spn_value_set_text(a, meta, "deletionTimestamp", SPN_TEXT("1970-01-01T00:00:50Z"));
        spn_value_set_int(a, meta, "deletionGracePeriodSeconds", 30);
        for (size_t k = 0; k < spn_value_count(extra); k++)
            spn_value_set(a, meta, spn_arena_text(a, spn_value_key_at(extra, k)).p,
                          spn_value_copy(a, spn_value_at(extra, k)));
        assert_string_equal(play(a, pod, 20000, 100000), rows[i].story);
        spn_arena_free(a);
    }
}

static void test_events(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *pod = read_json(a, POD(NOTE("exit-code", "1"), C));
    (void)play(a, pod, 10000, 4000); /* it runs for the second time */
    const struct pod_place place = { SPN_TEXT("198.18.0.1"), SPN_TEXT("198.19.0.1"),
                                     15000 * NS_PER_MS };
    const struct pod_step step = pod_life_next(a, pod, &place);
    assert_int_equal(step.kind, POD_WRITES);
    assert_string_equal(step.events->reason, "BackOff");
    assert_true(step.events->is_warning);
    assert_true(spn_text_eq(step.events->message,
                            SPN_TEXT("Back-off restarting failed container c in pod p_n(u)")));
    const struct spn_value *c = spn_value_at(spn_value_get(step.status, "containerStatuses"), 0);
    assert_true(spn_text_eq(spn_value_text(spn_value_dig(c, "state", "waiting", "message")),
                            SPN_TEXT("back-off 10s restarting failed container=c pod=p_n(u)")));
    assert_true(spn_text_eq(spn_value_text(spn_value_dig(c, "lastState", "terminated", "reason")),
                            SPN_TEXT("Error")));
    spn_arena_free(a);
}

static void test_conditions(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *pod =
        read_json(a, POD("", "\"readinessGates\":[{\"conditionType\":\"x\"}]," C));
    (void)play(a, pod, 10000, 4000);
    const struct spn_value *ready = spn_condition_get(pod, "Ready");
    assert_true(spn_text_eq(spn_value_text(spn_value_get(ready, "reason")),
                            SPN_TEXT("ReadinessGatesNotReady")));
    assert_true(spn_text_eq(
        spn_value_text(spn_value_get(ready, "message")),
        SPN_TEXT("corresponding condition of pod readiness gate \"x\" does not exist.")));
    ready = spn_condition_get(pod, "ContainersReady");
    assert_true(spn_text_eq(spn_value_text(spn_value_get(ready, "status")), SPN_TEXT("True")));
    assert_true(
        spn_text_eq(spn_value_text(spn_value_dig(pod, "status", "podIP")), SPN_TEXT("198.19.0.1")));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_stories),
                                        cmocka_unit_test(test_deletion),
                                        cmocka_unit_test(test_events),
                                        cmocka_unit_test(test_conditions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
