/* cronjob-controller: makes Jobs when it is time for them, and removes old ones. */
#include <pthread.h>
#include <sampan/meta.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/keyed.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/common/jobs.h"
#include "controllers/common/own_writes.h"
#include "controllers/common/owned.h"
#include "controllers/common/refusal.h"
#include "controllers/common/times.h"
#include "controllers/cronjob/plan.h"
#include "controllers/cronjob/time_zones.h"
#include "controllers/rows.h"
#include "base/banned.h"

/* Nobody sleeps longer than this: the time of day may jump meanwhile. */
enum { WORKERS = 5, UNSEEN_MS = 20, MAX_SLEEP_MS = 600000 };

static const struct spn_target cronjobs = SPN_AT("batch", "v1", "cronjobs", "", "");
static const struct spn_target all_jobs = SPN_AT("batch", "v1", "jobs", "", "");

/* When a CronJob is looked at again, if nothing happens before. */
struct wake {
    int64_t due_ns; /* time of day; 0: at once */
    bool is_touched;
    bool is_rescheduled; /* that time is to be found anew */
    size_t n_key;
    char key[];
};

struct cron_control {
    struct spn_cache *cronjobs, *jobs;
    struct own_writes *cronjob_writes, *job_writes;
    struct time_zones *zones;
    pthread_mutex_t lock; /* of by_key */
    struct keyed by_key;  /* struct wake */
};

/* A reconcile. */
struct cron_sync {
    struct cron_control *c;
    struct spn_work *work;
    struct spn_arena *a;
    struct spn_value *cronjob;
    struct owned jobs;
    struct cronjob_schedule schedule;
    const struct zone_rules *zone; /* spec.timeZone; NULL: UTC */
    int64_t now_ns;
    int64_t wait_ns; /* until it is looked at again; 0: when something changes */
    bool must_write;
};

/* ---- When it is looked at ---- */

static struct str key_of(const void *thing)
{
    const struct wake *w = thing;
    return (struct str){ w->key, w->n_key };
}

/* The lock is held. */
static struct wake *wake_of(struct cron_control *c, struct spn_text key)
{
    struct wake *w = keyed_get(&c->by_key, str_in(key));
    if (w)
        return w;
    w = mem_zalloc(sizeof(*w) + key.n);
    w->n_key = key.n;
    memcpy(w->key, key.p, key.n);
    (void)keyed_put(&c->by_key, w);
    return w;
}

static void touch(struct cron_control *c, struct spn_text key, bool is_rescheduled)
{
    (void)pthread_mutex_lock(&c->lock);
    struct wake *w = wake_of(c, key);
    w->is_rescheduled |= is_rescheduled;
    w->is_touched |= !is_rescheduled;
    (void)pthread_mutex_unlock(&c->lock);
}

/* Takes the notes of what happened. */
static struct wake wake_up(struct cron_control *c, struct spn_text key)
{
    (void)pthread_mutex_lock(&c->lock);
    struct wake *w = wake_of(c, key);
    const struct wake was = { w->due_ns, w->is_touched, w->is_rescheduled, 0 };
    w->is_touched = w->is_rescheduled = false;
    w->due_ns = 0;
    (void)pthread_mutex_unlock(&c->lock);
    return was;
}

static int sleep_until(struct cron_control *c, struct spn_text key, int64_t due_ns)
{
    const int64_t ms = (due_ns - time_now()) / NS_PER_MS + 1;
    (void)pthread_mutex_lock(&c->lock);
    wake_of(c, key)->due_ns = due_ns;
    (void)pthread_mutex_unlock(&c->lock);
    return spn_again_after(ms < MAX_SLEEP_MS ? ms : MAX_SLEEP_MS);
}

static void forget(struct cron_control *c, struct spn_text key)
{
    (void)pthread_mutex_lock(&c->lock);
    free(keyed_remove(&c->by_key, str_in(key)));
    (void)pthread_mutex_unlock(&c->lock);
    own_writes_forget(c->cronjob_writes, key);
    own_writes_forget(c->job_writes, key);
}

static bool is_rescheduled(const struct spn_object *old_o, const struct spn_object *new_o)
{
    if (spn_object_generation(old_o) == spn_object_generation(new_o))
        return false;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *before = spn_value_get(spn_object_value(old_o, a), "spec");
    const struct spn_value *after = spn_value_get(spn_object_value(new_o, a), "spec");
    const bool is =
        !spn_value_eq(spn_value_get(before, "schedule"), spn_value_get(after, "schedule")) ||
        !spn_value_eq(spn_value_get(before, "timeZone"), spn_value_get(after, "timeZone"));
    spn_arena_free(a);
    return is;
}

/* A new schedule does not mean that what it missed is made up for at once. */
static bool when_cronjob(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    if (new_o)
        touch(arg, spn_object_key(new_o), old_o && is_rescheduled(old_o, new_o));
    return true;
}

static void map_job(void *arg, const struct spn_object *job, struct spn_arena *a,
                    struct spn_keys *out)
{
    struct cron_control *c = arg;
    struct spn_owner owner;
    if (!owned_by_kind(job, a, "CronJob", cronjobs.group, &owner))
        return;
    struct spn_text key = spn_arena_printf(a, SPN_FMT "/" SPN_FMT,
                                           SPN_ARG(spn_object_namespace(job)), SPN_ARG(owner.name));
    struct spn_object *cronjob = spn_cache_get(c->cronjobs, key);
    if (cronjob && spn_text_eq(spn_object_uid(cronjob), owner.uid)) {
        touch(c, key, false);
        spn_keys_put(out, spn_object_namespace(job), owner.name);
    }
    spn_object_unref(cronjob);
}

/* ---- Jobs on the server ---- */

static struct spn_target job_at(const struct cron_sync *s, struct spn_text name)
{
    struct spn_target at = all_jobs;
    at.ns = s->work->ns;
    at.name = name;
    return at;
}

static int get_job(struct cron_sync *s, struct spn_text name, struct spn_value **ret,
                   struct spn_err *err)
{
    const struct spn_target at = job_at(s, name);
    return spn_client_get(s->work->client, &at, &s->work->how, s->a, ret, err);
}

static int delete_job(struct cron_sync *s, const struct spn_value *job, struct spn_err *err)
{
    const struct spn_target at = job_at(s, meta_name(job));
    const struct spn_delete how = { .propagation = "Background", .uid = meta_uid(job) };
    struct spn_value *answer = NULL;
    int r = spn_client_delete(s->work->client, &at, &how, &s->work->how, s->a, &answer, err);
    if (r < 0) {
        spn_event(s->work->events, s->cronjob, SPN_WARNING, "FailedDelete", "Deleted job: %s",
                  err->message);
        return r;
    }
    if (meta_uid(answer).n) /* finalizers hold it */
        own_writes_note_update(s->c->job_writes, s->work->key, answer);
    else
        own_writes_note_deleted(s->c->job_writes, s->work->key, job);
    (void)cronjob_remove_active(s->a, s->cronjob, meta_uid(job));
    s->must_write = true;
    spn_event(s->work->events, s->cronjob, SPN_NORMAL, "SuccessfulDelete", "Deleted job " SPN_FMT,
              SPN_ARG(meta_name(job)));
    return 0;
}

/* What cannot be deleted now is tried again when it is looked at again. */
static void remove_old(struct cron_sync *s, const char *end)
{
    struct spn_value **old = spn_arena_alloc(s->a, (s->jobs.n + 1) * sizeof(*old));
    const size_t n = cronjob_surplus(s->cronjob, s->jobs.items, s->jobs.n, end, old);
    for (size_t i = 0; i < n; i++) {
        struct spn_err unsaid = { 0 };
        if (!meta_is_deleting(old[i]))
            (void)delete_job(s, old[i], &unsaid);
    }
}

/* ---- What has become of its Jobs ---- */

static void note_end(struct cron_sync *s, const struct spn_value *job)
{
    const struct spn_value *end = job_end_condition(job);
    if (cronjob_remove_active(s->a, s->cronjob, meta_uid(job))) {
        s->must_write = true;
        spn_event(s->work->events, s->cronjob, SPN_NORMAL, "SawCompletedJob",
                  "Saw completed job: " SPN_FMT ", condition: " SPN_FMT, SPN_ARG(meta_name(job)),
                  SPN_ARG(spn_value_text(spn_value_get(end, "type"))));
    }
    if (job_true_condition(job, "Complete"))
        s->must_write |= cronjob_note_success(s->a, s->cronjob, job);
}

/* One that runs, and that the CronJob does not know of. It may only be that the cache is old. */
static int note_unexpected(struct cron_sync *s, const struct spn_value *job, struct spn_err *err)
{
    struct spn_value *fresh;
    int r = spn_client_get(s->work->client, &s->work->at, &s->work->how, s->a, &fresh, err);
    if (r < 0)
        return r;
    if (cronjob_has_active(fresh, meta_uid(job)))
        return spn_err_set(err, SPN_CONFLICT, "the cache is old");
    spn_event(s->work->events, s->cronjob, SPN_WARNING, "UnexpectedJob",
              "Saw a job that the controller did not create or forgot: " SPN_FMT,
              SPN_ARG(meta_name(job)));
    return 0;
}

static int look_at_jobs(struct cron_sync *s, struct spn_err *err)
{
    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct spn_value *job = s->jobs.items[i];
        if (job_is_finished(job)) {
            note_end(s, job);
        } else if (!cronjob_has_active(s->cronjob, meta_uid(job))) {
            int r = note_unexpected(s, job, err);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static bool is_cached(const struct cron_sync *s, struct spn_text uid)
{
    for (size_t i = 0; i < s->jobs.n; i++)
        if (spn_text_eq(meta_uid(s->jobs.items[i]), uid))
            return true;
    return false;
}

/* Those in its list that are not there any more. */
static int drop_missing(struct cron_sync *s, struct spn_err *err)
{
    const struct spn_value *list =
        spn_value_copy(s->a, spn_value_dig(s->cronjob, "status", "active"));
    for (size_t i = 0; i < spn_value_count(list); i++) {
        const struct spn_text uid = spn_value_text(spn_value_get(spn_value_at(list, i), "uid"));
        const struct spn_text name = spn_value_text(spn_value_get(spn_value_at(list, i), "name"));
        struct spn_value *job;
        if (is_cached(s, uid))
            continue;
        int r = get_job(s, name, &job, err);
        if (r == 0)
            continue;
        if (r != -SPN_NOT_FOUND)
            return r;
        *err = (struct spn_err){ 0 };
        spn_event(s->work->events, s->cronjob, SPN_NORMAL, "MissingJob",
                  "Active job went missing: " SPN_FMT, SPN_ARG(name));
        (void)cronjob_remove_active(s->a, s->cronjob, uid);
        s->must_write = true;
    }
    return 0;
}

/* ---- Its schedule ---- */

static bool says_zone(struct str schedule)
{
    for (; schedule.n > 1; schedule = str_skip(schedule, 1))
        if (str_starts(schedule, STR("TZ")))
            return true;
    return false;
}

/* The zone that the schedule or the CronJob names, or else that of this machine. */
static int read_schedule(struct cron_sync *s, bool is_told, struct spn_err *err)
{
    const struct str text = str_in(spn_value_text(spn_value_dig(s->cronjob, "spec", "schedule")));
    const bool names_zone = says_zone(text);
    struct err why = ERR_INIT(arena_in(s->a));
    if (names_zone && is_told)
        spn_event(s->work->events, s->cronjob, SPN_WARNING, "UnsupportedSchedule",
                  "CRON_TZ or TZ used in schedule \"" STR_FMT "\" is not officially supported, see "
                  "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more "
                  "details",
                  STR_ARG(text));
    if (cron_parse(text, &s->schedule.cron, &why) < 0)
        return spn_err_set(err, SPN_INVALID, STR_FMT, STR_ARG(why.msg));
    struct spn_text zone = spn_value_text(spn_value_dig(s->cronjob, "spec", "timeZone"));
    if (names_zone && s->schedule.cron.zone.p)
        zone = text_out(s->schedule.cron.zone);
    else if (names_zone || !zone.p)
        zone = SPN_TEXT("Local");
    if (time_zones_get(s->c->zones, zone, &s->schedule.zone, err) < 0)
        return spn_err_set(err, SPN_INVALID, "provided bad location " SPN_FMT ": " SPN_FMT,
                           SPN_ARG(zone), SPN_ARG(spn_arena_printf(s->a, "%s", err->message)));
    return 0;
}

/* False: nothing can be done until it is changed. */
static bool has_schedule(struct cron_sync *s)
{
    struct spn_err why = { 0 };
    const struct spn_text zone = spn_value_text(spn_value_dig(s->cronjob, "spec", "timeZone"));
    if (zone.p && time_zones_get(s->c->zones, zone, &s->zone, &why) < 0) {
        spn_event(s->work->events, s->cronjob, SPN_WARNING, "UnknownTimeZone",
                  "invalid timeZone: \"" SPN_FMT "\": %s", SPN_ARG(zone), why.message);
        return false;
    }
    if (spn_value_is_true(spn_value_dig(s->cronjob, "spec", "suspend")))
        return false;
    if (read_schedule(s, true, &why) < 0) {
        spn_event(s->work->events, s->cronjob, SPN_WARNING, "UnparseableSchedule",
                  "unparseable schedule: \"" SPN_FMT "\" : %s",
                  SPN_ARG(spn_value_text(spn_value_dig(s->cronjob, "spec", "schedule"))),
                  why.message);
        return false;
    }
    return true;
}

static void wait_for_next(struct cron_sync *s)
{
    const int64_t ns = cronjob_wait_ns(s->cronjob, &s->schedule, s->now_ns);
    s->wait_ns = ns > 0 ? ns : NS_PER_MS;
}

/* ---- What is due ---- */

static int replace_active(struct cron_sync *s, struct spn_err *err)
{
    const struct spn_value *list =
        spn_value_copy(s->a, spn_value_dig(s->cronjob, "status", "active"));
    for (size_t i = 0; i < spn_value_count(list); i++) {
        struct spn_value *job;
        int r = get_job(s, spn_value_text(spn_value_get(spn_value_at(list, i), "name")), &job, err);
        if (r < 0) {
            spn_event(s->work->events, s->cronjob, SPN_WARNING, "FailedGet", "Get job: %s",
                      err->message);
            return r;
        }
        r = delete_job(s, job, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_controlled(const struct cron_sync *s, const struct spn_value *job)
{
    const struct spn_value *refs = spn_value_dig(job, "metadata", "ownerReferences");
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        if (spn_value_is_true(spn_value_get(ref, "controller")))
            return spn_text_eq(spn_value_text(spn_value_get(ref, "uid")), meta_uid(s->cronjob));
    }
    return false;
}

/* The Job of that time, made now or by an earlier try that did not get further. NULL: there is one
 * that is none of ours, or is known. */
static int make_job(struct cron_sync *s, int64_t due_ns, struct spn_value **ret,
                    struct spn_err *err)
{
    const struct spn_value *job = cronjob_job(s->a, s->cronjob, due_ns, s->zone);
    const struct spn_target at = job_at(s, SPN_TEXT(""));
    int r = spn_client_create(s->work->client, &at, job, &s->work->how, s->a, ret, err);
    if (r == 0) {
        own_writes_note(s->c->job_writes, s->work->key, *ret);
        spn_event(s->work->events, s->cronjob, SPN_NORMAL, "SuccessfulCreate",
                  "Created job " SPN_FMT, SPN_ARG(meta_name(*ret)));
        return 0;
    }
    *ret = NULL;
    if (r != -SPN_EXISTS) {
        if (refusal_is_terminating(err))
            return 0;
        spn_event(s->work->events, s->cronjob, SPN_WARNING, "FailedCreate",
                  "Error creating job: %s", err->message);
        return r;
    }
    r = get_job(s, meta_name(job), ret, err);
    if (r == 0 && (!is_controlled(s, *ret) || cronjob_has_active(s->cronjob, meta_uid(*ret))))
        *ret = NULL;
    return r;
}

static int start(struct cron_sync *s, int64_t due_ns, struct spn_err *err)
{
    struct spn_value *job;
    int r = make_job(s, due_ns, &job, err);
    if (r < 0 || !job)
        return r;
    cronjob_add_active(s->a, s->cronjob, job);
    spn_value_set_text(s->a, spn_value_ensure(s->a, s->cronjob, "status"), "lastScheduleTime",
                       time_text(s->a, due_ns));
    s->must_write = true;
    wait_for_next(s);
    return 0;
}

/* "Mon, 16 Nov 2026 10:00:00 +0000" */
static struct spn_text long_time(struct spn_arena *a, int64_t ns)
{
    char text[48];
    struct tm tm;
    const time_t t = (time_t)(ns / NS_PER_SEC);
    (void)gmtime_r(&t, &tm);
    const size_t n = strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", &tm);
    return spn_arena_text(a, (struct spn_text){ text, n });
}

static bool is_done(const struct cron_sync *s, int64_t due_ns)
{
    int64_t last;
    return cronjob_has_active_name(s->cronjob, cronjob_job_name(s->a, s->cronjob, due_ns)) ||
           (time_read(spn_value_dig(s->cronjob, "status", "lastScheduleTime"), &last) &&
            last == due_ns);
}

/* Says why what is due does not start now; false: it does. */
static bool is_kept_back(struct cron_sync *s, int64_t due_ns)
{
    const struct spn_text policy =
        spn_value_text(spn_value_dig(s->cronjob, "spec", "concurrencyPolicy"));
    if (cronjob_is_late(s->cronjob, due_ns, s->now_ns)) {
        spn_event(s->work->events, s->cronjob, SPN_WARNING, "MissSchedule",
                  "Missed scheduled time to start a job: " SPN_FMT,
                  SPN_ARG(long_time(s->a, due_ns)));
        return true;
    }
    if (is_done(s, due_ns))
        return true;
    if (!spn_text_eq(policy, SPN_TEXT("Forbid")) ||
        !spn_value_count(spn_value_dig(s->cronjob, "status", "active")))
        return false;
    spn_event(
        s->work->events, s->cronjob, SPN_NORMAL, "JobAlreadyActive",
        "Not starting job because prior execution is running and concurrency policy is Forbid");
    return true;
}

static int run_due(struct cron_sync *s, struct spn_err *err)
{
    const struct cronjob_due due = cronjob_due(s->cronjob, &s->schedule, s->now_ns, true);
    if (due.is_senseless) {
        spn_event(s->work->events, s->cronjob, SPN_WARNING, "InvalidSchedule",
                  "invalid schedule: " SPN_FMT
                  " : time difference between two schedules is less than 1 second",
                  SPN_ARG(spn_value_text(spn_value_dig(s->cronjob, "spec", "schedule"))));
        return 0;
    }
    if (due.is_due && due.many_missed)
        spn_event(s->work->events, s->cronjob, SPN_WARNING, "TooManyMissedTimes",
                  "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or "
                  "check clock skew");
    if (!due.is_due || is_kept_back(s, due.at_ns)) {
        wait_for_next(s);
        return 0;
    }
    if (spn_text_eq(spn_value_text(spn_value_dig(s->cronjob, "spec", "concurrencyPolicy")),
                    SPN_TEXT("Replace"))) {
        int r = replace_active(s, err);
        if (r < 0)
            return r;
    }
    return start(s, due.at_ns, err);
}

/* ---- One CronJob ---- */

static int sync_cronjob(struct cron_sync *s, struct spn_err *err)
{
    remove_old(s, "Complete");
    remove_old(s, "Failed");
    int r = look_at_jobs(s, err);
    if (r < 0)
        return r;
    r = drop_missing(s, err);
    if (r < 0 || meta_is_deleting(s->cronjob) || !has_schedule(s))
        return r;
    return run_due(s, err);
}

static int write_status(struct cron_sync *s, struct spn_err *err)
{
    struct spn_target at = s->work->at;
    struct spn_value *answer;
    at.sub = SPN_TEXT("status");
    int r = spn_client_update(s->work->client, &at, s->cronjob, &s->work->how, s->a, &answer, err);
    if (r == 0)
        own_writes_note_update(s->c->cronjob_writes, s->work->key, answer);
    return r;
}

static int sync_and_write(struct cron_sync *s, struct spn_err *err)
{
    struct spn_err why = { 0 };
    s->jobs = owned_list(s->c->jobs, s->a, meta_uid(s->cronjob), SPN_TEXT(""));
    int r = sync_cronjob(s, err);
    owned_done(&s->jobs);
    int w = s->must_write ? write_status(s, &why) : 0;
    if (w < 0) {
        *err = why;
        r = w;
    }
    if (r < 0)
        return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? spn_again() : r;
    return s->wait_ns ? sleep_until(s->c, s->work->key, s->now_ns + s->wait_ns) : spn_done();
}

/* When a new schedule is first due; 0: it is looked at now. */
static int64_t due_anew(struct cron_sync *s)
{
    struct spn_err unsaid = { 0 };
    if (read_schedule(s, false, &unsaid) == 0)
        return s->now_ns + cronjob_wait_ns(s->cronjob, &s->schedule, s->now_ns);
    spn_event(s->work->events, s->cronjob, SPN_WARNING, "UnParseableCronJobSchedule",
              "unparseable schedule for cronjob: " SPN_FMT,
              SPN_ARG(spn_value_text(spn_value_dig(s->cronjob, "spec", "schedule"))));
    return 0;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct cron_control *c = arg;
    struct cron_sync s = { .c = c, .work = w, .a = w->arena, .cronjob = spn_work_object(w) };
    if (!s.cronjob) {
        forget(c, w->key);
        return spn_done();
    }
    if (!own_writes_are_seen(c->cronjob_writes, w->key, c->cronjobs) ||
        !own_writes_are_seen(c->job_writes, w->key, c->jobs))
        return spn_again_after(UNSEEN_MS);
    s.now_ns = time_now();
    spn_value_set_text(s.a, s.cronjob, "apiVersion", SPN_TEXT("batch/v1"));
    spn_value_set_text(s.a, s.cronjob, "kind", SPN_TEXT("CronJob"));
    struct wake wake = wake_up(c, w->key);
    if (wake.is_rescheduled && !wake.is_touched)
        wake.due_ns = due_anew(&s);
    if (!wake.is_touched && wake.due_ns > s.now_ns)
        return sleep_until(c, w->key, wake.due_ns);
    return sync_and_write(&s, err);
}

/* ---- The row ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct cron_control *c = mem_new(struct cron_control);
    c->jobs = caches_owned(env->manager, all_jobs);
    c->cronjobs = caches_get(env->manager, cronjobs);
    c->cronjob_writes = own_writes_new();
    c->job_writes = own_writes_new();
    c->zones = time_zones_new();
    c->by_key.key_of = key_of;
    (void)pthread_mutex_init(&c->lock, NULL);
    *ret = c;
    struct spn_controller *controller = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "cronjob-controller",
                                                        .what = cronjobs,
                                                        .kind = "CronJob",
                                                        .workers = WORKERS,
                                                        .reconcile = reconcile,
                                                        .arg = c,
                                                        .when = when_cronjob,
                                                        .when_arg = c,
                                                        .component = "cronjob-controller" });
    spn_controller_source(controller, &(struct spn_source){ .of.what = all_jobs,
                                                            .map = map_job,
                                                            .map_arg = c,
                                                            .when = spn_when_version_changes });
    return 0;
}

static void done(void *made)
{
    struct cron_control *c = made;
    size_t pos = 0;
    if (!c)
        return;
    for (struct wake *w; (w = keyed_next(&c->by_key, &pos));)
        free(w);
    keyed_done(&c->by_key);
    own_writes_free(c->cronjob_writes);
    own_writes_free(c->job_writes);
    time_zones_free(c->zones);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

const struct controllers_row controllers_cronjob = { "cronjob-controller", add, done };
