#include "controllers/cronjob/plan.h"

#include <sampan/meta.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/jobs.h"
#include "controllers/common/times.h"
#include "base/banned.h"

enum { MANY_MISSED = 100, PADDING_MS = 100 };

/* ---- When ---- */

/* Since when its times count. */
static int64_t earliest(const struct spn_value *cronjob, int64_t now_ns, bool has_deadline)
{
    int64_t since = 0, deadline;
    if (!time_read(spn_value_dig(cronjob, "status", "lastScheduleTime"), &since))
        (void)time_read(spn_value_dig(cronjob, "metadata", "creationTimestamp"), &since);
    if (has_deadline &&
        spn_value_int(spn_value_dig(cronjob, "spec", "startingDeadlineSeconds"), &deadline) &&
        deadline < now_ns / NS_PER_SEC && now_ns - deadline * NS_PER_SEC > since)
        since = now_ns - deadline * NS_PER_SEC;
    return since;
}

static bool next(const struct cronjob_schedule *s, int64_t after_ns, int64_t *ret_ns)
{
    return cron_next(&s->cron, s->zone, after_ns, ret_ns);
}

/* The last time that is not after now. Two times say roughly how many there were, so that they need
 * not all be found. */
static struct cronjob_due last_of_many(const struct cronjob_schedule *s, int64_t first_ns,
                                       int64_t second_ns, int64_t now_ns)
{
    struct cronjob_due due = { .from_ns = now_ns };
    const int64_t between = (second_ns - first_ns + NS_PER_SEC / 2) / NS_PER_SEC;
    if (between < 1) {
        due.is_senseless = true;
        return due;
    }
    const int64_t n_missed = (now_ns - first_ns) / NS_PER_SEC / between + 1;
    int64_t t = first_ns + (n_missed - 2) * between * NS_PER_SEC;
    while (next(s, t, &t) && t <= now_ns) {
        due.is_due = true;
        due.at_ns = due.from_ns = t;
    }
    due.many_missed = n_missed > MANY_MISSED;
    return due;
}

struct cronjob_due cronjob_due(const struct spn_value *cronjob, const struct cronjob_schedule *s,
                               int64_t now_ns, bool has_deadline)
{
    const int64_t since = earliest(cronjob, now_ns, has_deadline);
    int64_t first, second;
    if (!next(s, since, &first))
        return (struct cronjob_due){ .is_senseless = true, .from_ns = now_ns };
    if (now_ns < first)
        return (struct cronjob_due){ .from_ns = since };
    if (!next(s, first, &second))
        return (struct cronjob_due){ .is_senseless = true, .from_ns = now_ns };
    if (now_ns < second)
        return (struct cronjob_due){ .is_due = true, .at_ns = first, .from_ns = first };
    return last_of_many(s, first, second, now_ns);
}

int64_t cronjob_wait_ns(const struct spn_value *cronjob, const struct cronjob_schedule *s,
                        int64_t now_ns)
{
    const struct cronjob_due due = cronjob_due(cronjob, s, now_ns, false);
    int64_t at;
    if (!next(s, due.from_ns, &at))
        return 0;
    return at + PADDING_MS * NS_PER_MS - now_ns;
}

bool cronjob_is_late(const struct spn_value *cronjob, int64_t due_ns, int64_t now_ns)
{
    int64_t deadline;
    return spn_value_int(spn_value_dig(cronjob, "spec", "startingDeadlineSeconds"), &deadline) &&
           deadline < (now_ns - due_ns) / NS_PER_SEC + 1 && due_ns + deadline * NS_PER_SEC < now_ns;
}

/* ---- The Job ---- */

struct spn_text cronjob_job_name(struct spn_arena *a, const struct spn_value *cronjob,
                                 int64_t due_ns)
{
    return spn_arena_printf(a, SPN_FMT "-%lld", SPN_ARG(meta_name(cronjob)),
                            (long long)(due_ns / NS_PER_SEC / 60));
}

/* "2026-11-16T10:00:00+01:00" */
static struct spn_text time_in_zone(struct spn_arena *a, int64_t ns, const struct zone_rules *zone)
{
    char text[32];
    struct tm tm;
    const int64_t sec = ns / NS_PER_SEC;
    const int32_t offset = zone_span_at(zone, sec).offset, minutes = abs(offset) / 60;
    const time_t shown = (time_t)(sec + offset);
    (void)gmtime_r(&shown, &tm);
    const size_t n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    if (!offset)
        return spn_arena_printf(a, "%.*sZ", (int)n, text);
    return spn_arena_printf(a, "%.*s%c%02d:%02d", (int)n, text, offset < 0 ? '-' : '+',
                            minutes / 60, minutes % 60);
}

struct spn_value *cronjob_job(struct spn_arena *a, const struct spn_value *cronjob, int64_t due_ns,
                              const struct zone_rules *zone)
{
    const struct spn_value *template = spn_value_dig(cronjob, "spec", "jobTemplate");
    struct spn_value *job = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, job, "apiVersion", SPN_TEXT("batch/v1"));
    spn_value_set_text(a, job, "kind", SPN_TEXT("Job"));
    struct spn_value *meta = spn_value_ensure(a, job, "metadata");
    spn_value_set_text(a, meta, "name", cronjob_job_name(a, cronjob, due_ns));
    spn_value_set_text(a, meta, "namespace", meta_text(cronjob, "namespace"));
    field_copy(a, meta, spn_value_get(template, "metadata"), "labels");
    field_copy(a, meta, spn_value_get(template, "metadata"), "annotations");
    meta_annotate(a, job, CRONJOB_SCHEDULED_AT, time_in_zone(a, due_ns, zone));
    field_copy(a, job, template, "spec");
    (void)spn_set_controller(a, job, cronjob, NULL); /* it has no other */
    return job;
}

/* ---- Jobs that run ---- */

static const struct spn_value *active(const struct spn_value *cronjob)
{
    return spn_value_dig(cronjob, "status", "active");
}

static bool has_active(const struct spn_value *cronjob, const char *key, struct spn_text is)
{
    for (size_t i = 0; i < spn_value_count(active(cronjob)); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(active(cronjob), i), key)), is))
            return true;
    return false;
}

bool cronjob_has_active(const struct spn_value *cronjob, struct spn_text uid)
{
    return has_active(cronjob, "uid", uid);
}

bool cronjob_has_active_name(const struct spn_value *cronjob, struct spn_text name)
{
    return has_active(cronjob, "name", name);
}

void cronjob_add_active(struct spn_arena *a, struct spn_value *cronjob, const struct spn_value *job)
{
    struct spn_value *status = spn_value_ensure(a, cronjob, "status");
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT);
    struct spn_value *all = spn_value_edit(a, status, "active");
    if (!all)
        all = spn_value_set(a, status, "active", spn_value_new(a, SPN_ARRAY));
    spn_value_set_text(a, ref, "kind", SPN_TEXT("Job"));
    spn_value_set_text(a, ref, "namespace", meta_text(job, "namespace"));
    spn_value_set_text(a, ref, "name", meta_name(job));
    spn_value_set_text(a, ref, "uid", meta_uid(job));
    spn_value_set_text(a, ref, "apiVersion", SPN_TEXT("batch/v1"));
    spn_value_set_text(a, ref, "resourceVersion", meta_text(job, "resourceVersion"));
    spn_value_push(a, all, ref);
}

bool cronjob_remove_active(struct spn_arena *a, struct spn_value *cronjob, struct spn_text uid)
{
    struct spn_value *status = spn_value_ensure(a, cronjob, "status");
    struct spn_value *all = spn_value_edit(a, status, "active");
    bool was_there = false;
    for (size_t i = spn_value_count(all); i-- > 0;) {
        if (!spn_text_eq(spn_value_text(spn_value_get(spn_value_at(all, i), "uid")), uid))
            continue;
        spn_value_remove_at(a, all, i);
        was_there = true;
    }
    if (all && !spn_value_count(all))
        spn_value_remove(a, status, "active");
    return was_there;
}

bool cronjob_note_success(struct spn_arena *a, struct spn_value *cronjob,
                          const struct spn_value *job)
{
    const struct spn_value *at = spn_value_dig(job, "status", "completionTime");
    int64_t ended, before;
    if (!time_read(at, &ended))
        return false;
    if (time_read(spn_value_dig(cronjob, "status", "lastSuccessfulTime"), &before) &&
        ended <= before)
        return false;
    spn_value_set_text(a, spn_value_ensure(a, cronjob, "status"), "lastSuccessfulTime",
                       spn_value_text(at));
    return true;
}

/* ---- Jobs that have ended ---- */

/* Times of objects are all in one format, so their text has their order. */
static int by_start(const void *x, const void *y)
{
    const struct spn_value *const *a = x, *const *b = y;
    const struct str s = str_in(spn_value_text(spn_value_dig(*a, "status", "startTime")));
    const struct str t = str_in(spn_value_text(spn_value_dig(*b, "status", "startTime")));
    if (!s.p != !t.p)
        return s.p ? -1 : 1;
    const int c = str_cmp(s, t);
    return c ? c : str_cmp(str_in(meta_name(*a)), str_in(meta_name(*b)));
}

size_t cronjob_surplus(const struct spn_value *cronjob, struct spn_value *const *jobs, size_t n,
                       const char *end, struct spn_value **ret)
{
    const char *key =
        strcmp(end, "Complete") == 0 ? "successfulJobsHistoryLimit" : "failedJobsHistoryLimit";
    int64_t limit;
    size_t n_ended = 0;
    if (!spn_value_int(spn_value_dig(cronjob, "spec", key), &limit))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (spn_text_eq(spn_value_text(spn_value_get(job_end_condition(jobs[i]), "type")),
                        spn_text_of(end)))
            ret[n_ended++] = jobs[i];
    qsort(ret, n_ended, sizeof(*ret), by_start);
    return (int64_t)n_ended > limit ? n_ended - (size_t)limit : 0;
}
