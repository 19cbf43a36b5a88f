#include "controllers/deployment/status.h"

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "base/banned.h"

#define PROGRESSING "Progressing"
#define TIMED_OUT   "ProgressDeadlineExceeded"
#define AVAILABLE   "NewReplicaSetAvailable"
#define PAUSED      "DeploymentPaused"

static int64_t count(const struct spn_value *status, const char *key)
{
    return field_int(spn_value_get(status, key), 0);
}

/* ---- Conditions ---- */

static bool has_text(const struct spn_value *v, const char *key, const char *text)
{
    return spn_text_eq(spn_value_text(spn_value_get(v, key)), spn_text_of(text));
}

const struct spn_value *status_condition(const struct spn_value *status, const char *type)
{
    const struct spn_value *all = spn_value_get(status, "conditions");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (has_text(spn_value_at(all, i), "type", type))
            return spn_value_at(all, i);
    return NULL;
}

static void remove_condition(struct spn_arena *a, struct spn_value *status, const char *type)
{
    struct spn_value *all = spn_value_edit(a, status, "conditions");
    for (size_t i = spn_value_count(all); i-- > 0;)
        if (has_text(spn_value_at(all, i), "type", type))
            spn_value_remove_at(a, all, i);
}

/* A new one at the end, instead of the old one. */
static void put_condition(struct spn_arena *a, struct spn_value *status, struct spn_value *cond)
{
    remove_condition(a, status, spn_value_text(spn_value_get(cond, "type")).p);
    struct spn_value *all = spn_value_edit(a, status, "conditions");
    if (spn_value_type(all) != SPN_ARRAY)
        all = spn_value_set(a, status, "conditions", spn_value_new(a, SPN_ARRAY));
    spn_value_push(a, all, cond);
}

static struct spn_value *new_condition(struct spn_arena *a, const char *type, const char *is,
                                       struct spn_text updated, struct spn_text changed)
{
    struct spn_value *c = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, c, "type", spn_text_of(type));
    spn_value_set_text(a, c, "status", spn_text_of(is));
    spn_value_set_text(a, c, "lastUpdateTime", spn_arena_text(a, updated));
    spn_value_set_text(a, c, "lastTransitionTime", spn_arena_text(a, changed));
    return c;
}

/* The time of the last change stays where the status does. */
static void replace_condition(struct spn_arena *a, struct spn_value *status, const char *type,
                              const char *is, const char *reason, struct spn_text message,
                              int64_t now_ns)
{
    const struct spn_value *old = status_condition(status, type);
    struct spn_text now = time_text(a, now_ns);
    struct spn_text changed = old && has_text(old, "status", is)
                                  ? spn_value_text(spn_value_get(old, "lastTransitionTime"))
                                  : now;
    struct spn_value *c = new_condition(a, type, is, now, changed);
    spn_value_set_text(a, c, "reason", spn_text_of(reason));
    spn_value_set_text(a, c, "message", message);
    put_condition(a, status, c);
}

void status_set_condition(struct spn_arena *a, struct spn_value *status, const char *type,
                          const char *is, const char *reason, struct spn_text message,
                          int64_t now_ns)
{
    const struct spn_value *old = status_condition(status, type);
    if (!old || !has_text(old, "status", is) || !has_text(old, "reason", reason))
        replace_condition(a, status, type, is, reason, message, now_ns);
}

/* ---- Deadlines ---- */

static int64_t deadline_of(const struct spn_value *deployment)
{
    return field_int(spn_value_dig(deployment, "spec", "progressDeadlineSeconds"), INT32_MAX);
}

bool status_has_deadline(const struct spn_value *deployment)
{
    return deadline_of(deployment) != INT32_MAX;
}

static int64_t nanos_left(const struct spn_value *deployment, const struct spn_value *cond,
                          int64_t now_ns)
{
    int64_t updated_ns = 0;
    (void)time_read(spn_value_get(cond, "lastUpdateTime"), &updated_ns);
    return updated_ns + deadline_of(deployment) * NS_PER_SEC - now_ns;
}

static bool has_timed_out(const struct spn_value *deployment, const struct spn_value *status,
                          int64_t now_ns)
{
    const struct spn_value *cond = status_condition(status, PROGRESSING);
    if (!cond || has_text(cond, "reason", AVAILABLE))
        return false;
    return has_text(cond, "reason", TIMED_OUT) || nanos_left(deployment, cond, now_ns) < 0;
}

int64_t status_next_check_ms(const struct spn_value *deployment, const struct spn_value *status,
                             int64_t now_ns)
{
    const struct spn_value *cond =
        status_condition(spn_value_get(deployment, "status"), PROGRESSING);
    if (!status_has_deadline(deployment) || !cond || status_is_complete(deployment, status) ||
        has_text(cond, "reason", TIMED_OUT))
        return -1;
    const int64_t left_ns = nanos_left(deployment, cond, now_ns);
    return left_ns < NS_PER_SEC ? 0 : left_ns / NS_PER_MS + 1000;
}

/* ---- Counts ---- */

bool status_is_complete(const struct spn_value *deployment, const struct spn_value *status)
{
    const int64_t wanted = spec_replicas(deployment);
    return count(status, "updatedReplicas") == wanted && count(status, "replicas") == wanted &&
           count(status, "availableReplicas") == wanted &&
           count(status, "observedGeneration") >= meta_generation(deployment);
}

/* -1: a set that is not new does not say. */
static int64_t sum_terminating(const struct status_seen *seen)
{
    int64_t sum = 0;
    for (size_t i = 0; i < seen->n; i++) {
        const struct deployment_set *s = &seen->all[i];
        if (s->n_terminating < 0 && s->observed_generation)
            return -1;
        sum += s->n_terminating > 0 ? s->n_terminating : 0;
    }
    return sum;
}

static void set_counts(struct spn_arena *a, struct spn_value *status,
                       const struct status_seen *seen)
{
    int64_t n_actual = 0, n_ready = 0;
    const int64_t n_available = deployment_sets_available(seen->all, seen->n);
    const int64_t n_missing = deployment_sets_replicas(seen->all, seen->n) - n_available;
    const int64_t n_terminating = sum_terminating(seen);
    for (size_t i = 0; i < seen->n; i++) {
        n_actual += seen->all[i].n_actual;
        n_ready += seen->all[i].n_ready;
    }
    spn_value_set_int(a, status, "replicas", n_actual);
    spn_value_set_int(a, status, "updatedReplicas", seen->new_set ? seen->new_set->n_actual : 0);
    spn_value_set_int(a, status, "readyReplicas", n_ready);
    spn_value_set_int(a, status, "availableReplicas", n_available);
    spn_value_set_int(a, status, "unavailableReplicas", n_missing > 0 ? n_missing : 0);
    if (n_terminating >= 0)
        spn_value_set_int(a, status, "terminatingReplicas", n_terminating);
}

static void copy_field(struct spn_arena *a, struct spn_value *to, const struct spn_value *from,
                       const char *key)
{
    const struct spn_value *v = spn_value_get(from, key);
    if (v)
        spn_value_set(a, to, key, spn_value_copy(a, v));
}

struct spn_value *status_of(struct spn_arena *a, const struct spn_value *deployment,
                            const struct status_seen *seen)
{
    const struct spn_value *old = spn_value_get(deployment, "status");
    const struct rollout r = rollout_of(deployment);
    struct spn_value *status = spn_value_new(a, SPN_OBJECT);
    spn_value_set_int(a, status, "observedGeneration", meta_generation(deployment));
    set_counts(a, status, seen);
    copy_field(a, status, old, "conditions");
    copy_field(a, status, old, "collisionCount");
    if (count(status, "availableReplicas") >= r.replicas - r.max_unavailable)
        status_set_condition(a, status, "Available", "True", "MinimumReplicasAvailable",
                             SPN_TEXT("Deployment has minimum availability."), seen->now_ns);
    else
        status_set_condition(a, status, "Available", "False", "MinimumReplicasUnavailable",
                             SPN_TEXT("Deployment does not have minimum availability."),
                             seen->now_ns);
    return status;
}

static bool has_same_conditions(const struct spn_value *x, const struct spn_value *y)
{
    x = spn_value_get(x, "conditions");
    y = spn_value_get(y, "conditions");
    return (!spn_value_count(x) && !spn_value_count(y)) || spn_value_eq(x, y);
}

bool status_is_same(const struct spn_value *x, const struct spn_value *y)
{
    static const char *const counts[] = { "observedGeneration", "replicas",
                                          "updatedReplicas",    "readyReplicas",
                                          "availableReplicas",  "unavailableReplicas" };
    static const char *const pointers[] = { "terminatingReplicas", "collisionCount" };
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (count(x, counts[i]) != count(y, counts[i]))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(pointers); i++)
        if (field_int(spn_value_get(x, pointers[i]), -1) !=
            field_int(spn_value_get(y, pointers[i]), -1))
            return false;
    return has_same_conditions(x, y);
}

/* ---- Progress ---- */

static bool has_progressed(const struct spn_value *old, const struct spn_value *now)
{
    const int64_t old_updated = count(old, "updatedReplicas");
    const int64_t now_updated = count(now, "updatedReplicas");
    return now_updated > old_updated ||
           count(now, "replicas") - now_updated < count(old, "replicas") - old_updated ||
           count(now, "readyReplicas") > count(old, "readyReplicas") ||
           count(now, "availableReplicas") > count(old, "availableReplicas");
}

/* `ReplicaSet "web-1" is progressing.` */
static struct spn_text say(struct spn_arena *a, const struct spn_value *deployment,
                           const struct status_seen *seen, const char *what)
{
    struct spn_text name = seen->new_set ? seen->new_set->name : meta_name(deployment);
    return spn_arena_printf(a, "%s \"" SPN_FMT "\" %s", seen->new_set ? "ReplicaSet" : "Deployment",
                            SPN_ARG(name), what);
}

/* Progress is told anew each time, so that the deadline counts from there. */
static void judge_progress(struct spn_arena *a, const struct spn_value *deployment,
                           const struct status_seen *seen, struct spn_value *status)
{
    if (status_is_complete(deployment, status))
        status_set_condition(a, status, PROGRESSING, "True", AVAILABLE,
                             say(a, deployment, seen, "has successfully progressed."),
                             seen->now_ns);
    else if (has_progressed(spn_value_get(deployment, "status"), status))
        replace_condition(a, status, PROGRESSING, "True", "ReplicaSetUpdated",
                          say(a, deployment, seen, "is progressing."), seen->now_ns);
    else if (has_timed_out(deployment, status, seen->now_ns))
        status_set_condition(a, status, PROGRESSING, "False", TIMED_OUT,
                             say(a, deployment, seen, "has timed out progressing."), seen->now_ns);
}

static const struct spn_value *failure_of(const struct deployment_set *s)
{
    return status_condition(spn_value_get(s->object, "status"), "ReplicaFailure");
}

/* That of the current template before those of older ones. */
static const struct spn_value *find_failure(const struct status_seen *seen)
{
    const struct spn_value *found = seen->new_set ? failure_of(seen->new_set) : NULL;
    for (size_t i = 0; i < seen->n && !found; i++)
        found = failure_of(&seen->all[i]);
    return found;
}

static void copy_failure(struct spn_arena *a, struct spn_value *status,
                         const struct spn_value *failure)
{
    static const char *const same[] = { "status", "reason" };
    const struct spn_value *old = status_condition(status, "ReplicaFailure");
    if (old && spn_value_eq(spn_value_get(old, same[0]), spn_value_get(failure, same[0])) &&
        spn_value_eq(spn_value_get(old, same[1]), spn_value_get(failure, same[1])))
        return;
    struct spn_text since = spn_value_text(spn_value_get(failure, "lastTransitionTime"));
    struct spn_text is = spn_arena_text(a, spn_value_text(spn_value_get(failure, "status")));
    struct spn_value *c = new_condition(a, "ReplicaFailure", is.p, since, since);
    copy_field(a, c, failure, "reason");
    copy_field(a, c, failure, "message");
    put_condition(a, status, c);
}

struct spn_value *status_of_rollout(struct spn_arena *a, const struct spn_value *deployment,
                                    const struct status_seen *seen)
{
    struct spn_value *status = status_of(a, deployment, seen);
    const struct spn_value *cond =
        status_condition(spn_value_get(deployment, "status"), PROGRESSING);
    const bool was_complete = count(status, "replicas") == count(status, "updatedReplicas") &&
                              cond && has_text(cond, "reason", AVAILABLE);
    if (!status_has_deadline(deployment))
        remove_condition(a, status, PROGRESSING);
    else if (!was_complete)
        judge_progress(a, deployment, seen, status);
    const struct spn_value *failure = find_failure(seen);
    if (failure)
        copy_failure(a, status, failure);
    else
        remove_condition(a, status, "ReplicaFailure");
    return status;
}

bool status_note_paused(struct spn_arena *a, struct spn_value *deployment, int64_t now_ns)
{
    struct spn_value *status = spn_value_ensure(a, deployment, "status");
    const struct spn_value *cond = status_condition(status, PROGRESSING);
    const bool is_paused = spn_value_is_true(spn_value_dig(deployment, "spec", "paused"));
    const bool was_paused = cond && has_text(cond, "reason", PAUSED);
    if (!status_has_deadline(deployment) || (cond && has_text(cond, "reason", TIMED_OUT)) ||
        is_paused == was_paused)
        return false;
    status_set_condition(
        a, status, PROGRESSING, "Unknown", is_paused ? PAUSED : "DeploymentResumed",
        is_paused ? SPN_TEXT("Deployment is paused") : SPN_TEXT("Deployment is resumed"), now_ns);
    return true;
}
