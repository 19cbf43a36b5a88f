#include "controllers/disruption/plan.h"

#include <sampan/meta.h>

#include "base/clock.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "controllers/common/share.h"
#include "controllers/common/times.h"
#include "base/banned.h"

enum { STALE_TARGET_MS = 120000 };

static const struct spn_value *spec_of(const struct spn_value *budget, const char *key)
{
    return spn_value_dig(budget, "spec", key);
}

bool budget_needs_scale(const struct spn_value *budget)
{
    return spec_of(budget, "maxUnavailable") ||
           spn_value_type(spec_of(budget, "minAvailable")) == SPN_STRING;
}

/* ---- Counting ---- */

static int64_t disrupted_at(const struct spn_value *disrupted, const struct spn_value *pod)
{
    int64_t ns = 0;
    (void)time_read(spn_value_get_text(disrupted, meta_name(pod)), &ns);
    return ns;
}

static int64_t count_healthy(const struct budget_pods *pods, const struct spn_value *disrupted,
                             int64_t now_ns)
{
    int64_t n = 0;
    for (size_t i = 0; i < pods->n; i++) {
        const struct spn_value *pod = pods->items[i];
        int64_t at = disrupted_at(disrupted, pod);
        bool is_going = at && at + BUDGET_DELETION_TIMEOUT_SEC * NS_PER_SEC > now_ns;
        n += !meta_is_deleting(pod) && !is_going && pod_is_ready(pod);
    }
    return n;
}

struct budget_counts budget_count(const struct spn_value *budget, const struct budget_pods *pods,
                                  int64_t scale, const struct spn_value *disrupted, int64_t now_ns)
{
    struct budget_counts c = { .healthy = count_healthy(pods, disrupted, now_ns) };
    const struct spn_value *max = spec_of(budget, "maxUnavailable");
    const struct spn_value *min = spec_of(budget, "minAvailable");
    if (max) {
        c.expected = scale;
        c.desired = scale - share_of(max, scale, true);
        c.desired = c.desired > 0 ? c.desired : 0;
    } else if (min) {
        c.expected = budget_needs_scale(budget) ? scale : (int64_t)pods->n;
        c.desired = share_of(min, scale, true);
    }
    return c;
}

struct spn_value *budget_disrupted(struct spn_arena *a, const struct spn_value *budget,
                                   const struct budget_pods *pods, int64_t now_ns,
                                   void (*late)(void *arg, const struct spn_value *pod), void *arg,
                                   int64_t *ret_recheck_ms)
{
    const struct spn_value *now = spn_value_dig(budget, "status", "disruptedPods");
    struct spn_value *left = spn_value_new(a, SPN_OBJECT);
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; spn_value_count(now) && i < pods->n; i++) {
        const struct spn_value *pod = pods->items[i];
        int64_t at = disrupted_at(now, pod), until;
        if (meta_is_deleting(pod) || !at)
            continue;
        until = at + BUDGET_DELETION_TIMEOUT_SEC * NS_PER_SEC;
        if (until < now_ns) {
            late(arg, pod);
            continue;
        }
        first_ns = until < first_ns ? until : first_ns;
        spn_value_set_text(a, left, spn_arena_text(a, meta_name(pod)).p,
                           spn_value_text(spn_value_get_text(now, meta_name(pod))));
    }
    *ret_recheck_ms = first_ns == INT64_MAX ? 0 : (first_ns - now_ns) / NS_PER_MS + 1;
    return left;
}

/* ---- The status ---- */

static struct spn_condition condition_of(int64_t allowed, int64_t generation)
{
    return (struct spn_condition){ .type = "DisruptionAllowed",
                                   .status = allowed > 0 ? "True" : "False",
                                   .reason = allowed > 0 ? "SufficientPods" : "InsufficientPods",
                                   .message = "",
                                   .observed_generation = generation };
}

static bool same_disrupted(const struct spn_value *x, const struct spn_value *y)
{
    return spn_value_count(x) == spn_value_count(y) && (!spn_value_count(x) || spn_value_eq(x, y));
}

static bool is_right(const struct spn_value *budget, const struct budget_counts *c, int64_t allowed,
                     const struct spn_value *disrupted)
{
    const struct spn_value *cond = spn_condition_get(budget, "DisruptionAllowed");
    const struct spn_condition should = condition_of(allowed, meta_generation(budget));
    return status_int(budget, "currentHealthy") == c->healthy &&
           status_int(budget, "desiredHealthy") == c->desired &&
           status_int(budget, "expectedPods") == c->expected &&
           status_int(budget, "disruptionsAllowed") == allowed &&
           status_int(budget, "observedGeneration") == meta_generation(budget) &&
           same_disrupted(spn_value_dig(budget, "status", "disruptedPods"), disrupted) &&
           spn_text_eq(spn_value_text(spn_value_get(cond, "status")), spn_text_of(should.status)) &&
           spn_text_eq(spn_value_text(spn_value_get(cond, "reason")), spn_text_of(should.reason));
}

struct spn_value *budget_status(struct spn_arena *a, const struct spn_value *budget,
                                const struct budget_counts *c, struct spn_value *disrupted)
{
    int64_t allowed = c->healthy - c->desired;
    if (c->expected <= 0 || allowed < 0)
        allowed = 0;
    if (is_right(budget, c, allowed, disrupted))
        return NULL;
    struct spn_value *next = spn_value_copy(a, budget);
    struct spn_value *status = spn_value_ensure(a, next, "status");
    spn_value_set_int(a, status, "currentHealthy", c->healthy);
    spn_value_set_int(a, status, "desiredHealthy", c->desired);
    spn_value_set_int(a, status, "expectedPods", c->expected);
    spn_value_set_int(a, status, "disruptionsAllowed", allowed);
    spn_value_set_int(a, status, "observedGeneration", meta_generation(budget));
    spn_value_remove(a, status, "disruptedPods");
    if (spn_value_count(disrupted))
        spn_value_set(a, status, "disruptedPods", disrupted);
    const struct spn_condition cond = condition_of(allowed, meta_generation(budget));
    (void)spn_condition_set(a, next, &cond);
    return next;
}

struct spn_value *budget_failed(struct spn_arena *a, const struct spn_value *budget,
                                const char *why)
{
    struct spn_value *next = spn_value_copy(a, budget);
    const struct spn_condition cond = { .type = "DisruptionAllowed",
                                        .status = "False",
                                        .reason = "SyncFailed",
                                        .message = why,
                                        .observed_generation =
                                            status_int(budget, "observedGeneration") };
    bool has_changed = status_int(budget, "disruptionsAllowed") != 0;
    spn_value_set_int(a, spn_value_ensure(a, next, "status"), "disruptionsAllowed", 0);
    has_changed |= spn_condition_set(a, next, &cond);
    return has_changed ? next : NULL;
}

/* ---- Pods that were to go and did not ---- */

int64_t budget_stale_target_ms(const struct spn_value *pod, int64_t now_ns)
{
    const struct spn_value *cond = spn_condition_get(pod, "DisruptionTarget");
    int64_t since = 0; /* without a time it is as old as can be */
    if (!spn_text_eq(spn_value_text(spn_value_get(cond, "status")), SPN_TEXT("True")) ||
        spn_text_eq(spn_value_text(spn_value_get(cond, "reason")),
                    SPN_TEXT("TerminationByKubelet")) ||
        !pod_is_active(pod))
        return -1;
    (void)time_read(spn_value_get(cond, "lastTransitionTime"), &since);
    int64_t left = STALE_TARGET_MS - (now_ns - since) / NS_PER_MS;
    return left > 0 ? left : 0;
}
