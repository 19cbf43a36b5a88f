/* When CronJobs are due, what they make, and what they keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/common/times.h"
#include "controllers/cronjob/plan.h"
#include "controllers/cronjob/time_zones.h"

static struct cronjob_schedule schedule(struct spn_arena *a, const struct spn_value *cronjob)
{
    struct cronjob_schedule s = { 0 };
    struct err err = ERR_INIT(arena_in(a));
    const struct spn_text text = spn_value_text(spn_value_dig(cronjob, "spec", "schedule"));
    assert_int_equal(cron_parse(str_in(text), &s.cron, &err), 0);
    return s;
}

#define MADE "metadata: {creationTimestamp: '2026-11-16T10:00:30Z'}"

static void test_due(void **state)
{
    (void)state;
    static const struct {
        const char *cronjob, *now;
        const char *due; /* NULL: nothing is */
        int64_t wait_ms;
        bool many, senseless;
    } rows[] = {
        { "{" MADE ", spec: {schedule: '* * * * *'}}", "2026-11-16T10:00:40Z", NULL, 20100, false,
          false },
        { "{" MADE ", spec: {schedule: '* * * * *'}}", "2026-11-16T10:01:00.2Z",
          "2026-11-16T10:01:00Z", 59900, false, false },
        /* the last of several */
        { "{" MADE ", spec: {schedule: '*/5 * * * *'}}", "2026-11-16T11:04:00Z",
          "2026-11-16T11:00:00Z", 60100, false, false },
        /* since the last one */
        { "{" MADE ", spec: {schedule: '*/5 * * * *'}, status: {lastScheduleTime: "
          "'2026-11-16T11:00:00Z'}}",
          "2026-11-16T11:04:00Z", NULL, 60100, false, false },
        { "{" MADE ", spec: {schedule: '* * * * *'}}", "2026-11-16T13:00:00Z",
          "2026-11-16T13:00:00Z", 60100, true, false },
        /* its deadline is over */
        { "{" MADE ", spec: {schedule: '0 * * * *', startingDeadlineSeconds: 10}}",
          "2026-11-16T11:00:20Z", NULL, 59 * 60000 + 40100, false, false },
        { "{" MADE ", spec: {schedule: '0 * * * *', startingDeadlineSeconds: 30}}",
          "2026-11-16T11:00:20Z", "2026-11-16T11:00:00Z", 59 * 60000 + 40100, false, false },
        /* gaps that differ: what it guesses by the first one comes too late */
        { "{" MADE ", spec: {schedule: '30 6-16/4 * * 1-5'}}", "2026-11-21T12:00:00Z", NULL,
          42 * 3600000 + 30 * 60000 + 100, false, false },
        { "{" MADE ", spec: {schedule: '@every 1h'}}", "2026-11-16T10:40:30Z", NULL,
          20 * 60000 + 100, false, false },
        { "{" MADE ", spec: {schedule: '@every 1h'}}", "2026-11-16T14:10:30Z",
          "2026-11-16T14:00:30Z", 50 * 60000 + 100, false, false },
        { "{" MADE ", spec: {schedule: '0 0 31 2 *'}}", "2026-11-16T10:01:00Z", NULL, 0, false,
          true },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct spn_value *cronjob = read_yaml(a, rows[i].cronjob);
        const struct cronjob_schedule s = schedule(a, cronjob);
        const int64_t now = moment(a, rows[i].now);
        const struct cronjob_due due = cronjob_due(cronjob, &s, now, true);
        assert_int_equal(due.is_due, rows[i].due != NULL);
        if (rows[i].due)
            assert_int_equal(due.at_ns, moment(a, rows[i].due));
        assert_int_equal(due.many_missed, rows[i].many);
        assert_int_equal(due.is_senseless, rows[i].senseless);
        assert_int_equal(cronjob_wait_ns(cronjob, &s, now) / NS_PER_MS, rows[i].wait_ms);
    }
    spn_arena_free(a);
}

static void test_late(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *in_time = read_yaml(a, "{spec: {startingDeadlineSeconds: 10}}");
    assert_false(cronjob_is_late(in_time, 0, 10 * NS_PER_SEC));
    assert_true(cronjob_is_late(in_time, 0, 10 * NS_PER_SEC + 1));
    assert_false(cronjob_is_late(read_yaml(a, "{spec: {}}"), 0, 1000 * NS_PER_SEC));
    spn_arena_free(a);
}

static void test_job(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct time_zones *zones = time_zones_new();
    const struct spn_value *cronjob = read_yaml(
        a,
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c, namespace: ns, uid: u}, spec: "
        "{jobTemplate: {metadata: {labels: {a: b}, annotations: {x: z}}, spec: {parallelism: "
        "2}}}}");
    const int64_t due = moment(a, "2026-11-16T10:00:00Z");
    struct spn_value *job = cronjob_job(a, cronjob, due, NULL);
    const struct spn_value *want = read_yaml(
        a, "{apiVersion: batch/v1, kind: Job, metadata: {name: c-29913720, namespace: ns, labels: "
           "{a: b}, annotations: {x: z, batch.kubernetes.io/cronjob-scheduled-timestamp: "
           "'2026-11-16T10:00:00Z'}, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: "
           "c, uid: u, controller: true, blockOwnerDeletion: true}]}, spec: {parallelism: 2}}");
    assert_true(spn_value_eq(job, want));
    const struct zone_rules *zone;
    if (time_zones_get(zones, SPN_TEXT("America/St_Johns"), &zone, NULL) == 0) {
        job = cronjob_job(a, cronjob, due, zone);
        assert_true(spn_text_eq(meta_annotation(job, CRONJOB_SCHEDULED_AT),
                                SPN_TEXT("2026-11-16T06:30:00-03:30")));
    }
    time_zones_free(zones);
    spn_arena_free(a);
}

static void test_zones(void **state)
{
    (void)state;
    struct time_zones *zones = time_zones_new();
    const struct zone_rules *zone;
    struct spn_err err = { 0 };
    assert_int_equal(time_zones_get(zones, SPN_TEXT("UTC"), &zone, &err), 0);
    assert_null(zone);
    assert_int_equal(time_zones_get(zones, SPN_TEXT("Local"), &zone, &err), 0);
    assert_int_equal(time_zones_get(zones, SPN_TEXT("No/Where"), &zone, &err), -SPN_NOT_FOUND);
    assert_string_equal(err.message, "unknown time zone No/Where");
    assert_int_equal(time_zones_get(zones, SPN_TEXT("../passwd"), &zone, &err), -SPN_NOT_FOUND);
    assert_string_equal(err.message, "time: invalid location name");
    time_zones_free(zones);
}

static void test_active(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *cronjob = read_yaml(a, "{}");
    cronjob_add_active(a, cronjob, read_yaml(a, "{metadata: {name: j1, namespace: ns, uid: u1}}"));
    cronjob_add_active(a, cronjob, read_yaml(a, "{metadata: {name: j2, namespace: ns, uid: u2}}"));
    assert_true(cronjob_has_active(cronjob, SPN_TEXT("u1")));
    assert_true(cronjob_has_active_name(cronjob, SPN_TEXT("j2")));
    assert_false(cronjob_remove_active(a, cronjob, SPN_TEXT("u3")));
    assert_true(cronjob_remove_active(a, cronjob, SPN_TEXT("u1")));
    assert_false(cronjob_has_active(cronjob, SPN_TEXT("u1")));
    assert_true(cronjob_remove_active(a, cronjob, SPN_TEXT("u2")));
    assert_null(spn_value_dig(cronjob, "status", "active"));
    spn_arena_free(a);
}

static void test_success(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *cronjob = read_yaml(a, "{}");
    assert_false(cronjob_note_success(a, cronjob, read_yaml(a, "{status: {}}")));
    const struct spn_value *job =
        read_yaml(a, "{status: {completionTime: '2026-11-16T10:00:00Z'}}");
    assert_true(cronjob_note_success(a, cronjob, job));
    assert_false(cronjob_note_success(a, cronjob, job));
    job = read_yaml(a, "{status: {completionTime: '2026-11-16T09:00:00Z'}}");
    assert_false(cronjob_note_success(a, cronjob, job));
    assert_true(spn_text_eq(spn_value_text(spn_value_dig(cronjob, "status", "lastSuccessfulTime")),
                            SPN_TEXT("2026-11-16T10:00:00Z")));
    spn_arena_free(a);
}

#define JOB(name, start, end)                                                              \
    read_yaml(a, "{metadata: {name: " name "}, status: {" start "conditions: [{type: " end \
                 ", status: 'True'}]}}")

static void test_surplus(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *jobs[] = {
        JOB("d", "", "Complete"),
        JOB("c", "startTime: '2026-11-16T10:02:00Z', ", "Complete"),
        JOB("b", "startTime: '2026-11-16T10:01:00Z', ", "Complete"),
        JOB("a", "startTime: '2026-11-16T10:02:00Z', ", "Complete"),
        JOB("f", "startTime: '2026-11-16T10:00:00Z', ", "Failed"),
    };
    struct spn_value *old[5];
    const struct spn_value *cronjob =
        read_yaml(a, "{spec: {successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0}}");
    assert_int_equal(cronjob_surplus(cronjob, jobs, 5, "Complete", old), 3);
    assert_true(old[0] == jobs[2] && old[1] == jobs[3] && old[2] == jobs[1]);
    assert_int_equal(cronjob_surplus(cronjob, jobs, 5, "Failed", old), 1);
    assert_int_equal(cronjob_surplus(read_yaml(a, "{}"), jobs, 5, "Failed", old), 0);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_due),     cmocka_unit_test(test_late),
        cmocka_unit_test(test_job),     cmocka_unit_test(test_zones),
        cmocka_unit_test(test_active),  cmocka_unit_test(test_success),
        cmocka_unit_test(test_surplus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
