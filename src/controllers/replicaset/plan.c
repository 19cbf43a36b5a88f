#include "controllers/replicaset/plan.h"

#include <sampan/meta.h>

#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "controllers/common/times.h"
#include "base/banned.h"

int64_t replicaset_diff(const struct spn_value *set, size_t n_active)
{
    int64_t diff = spec_replicas(set) - (int64_t)n_active;
    if (diff > REPLICASET_BURST)
        return REPLICASET_BURST;
    return diff < -REPLICASET_BURST ? -REPLICASET_BURST : diff;
}

/* ---- Who goes ---- */

static struct spn_text node_of(const struct spn_value *pod)
{
    return spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
}

static size_t count_beside(struct spn_text node, struct spn_value *const *related, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += spn_text_eq(node_of(related[i]), node) && pod_is_active(related[i]);
    return count;
}

void replicaset_choose(struct spn_arena *a, const struct spn_value **active, size_t n,
                       struct spn_value *const *related, size_t n_related, int64_t now_ns)
{
    struct pod_rank *ranks = spn_arena_alloc(a, (n + 1) * sizeof(*ranks));
    for (size_t i = 0; i < n; i++)
        ranks[i] =
            (struct pod_rank){ active[i], count_beside(node_of(active[i]), related, n_related) };
    pods_sort_for_deletion(ranks, n, now_ns);
    for (size_t i = 0; i < n; i++)
        active[i] = ranks[i].pod;
}

/* ---- Status ---- */

/* Whether the pod has all labels of the template. */
static bool is_fully_labeled(const struct spn_value *set, const struct spn_value *pod)
{
    const struct spn_value *want = spn_value_dig(set, "spec", "template", "metadata", "labels");
    const struct spn_value *has = spn_value_dig(pod, "metadata", "labels");
    for (size_t i = 0; i < spn_value_count(want); i++)
        if (!spn_value_eq(spn_value_get_text(has, spn_value_key_at(want, i)),
                          spn_value_at(want, i)))
            return false;
    return true;
}

static void set_counts(struct spn_arena *a, struct spn_value *status, const struct spn_value *set,
                       const struct replicaset_seen *seen)
{
    const int64_t min_ready = field_int(spn_value_dig(set, "spec", "minReadySeconds"), 0);
    int64_t n_labeled = 0, n_ready = 0, n_available = 0;
    for (size_t i = 0; i < seen->n_active; i++) {
        const struct spn_value *pod = seen->active[i];
        n_labeled += is_fully_labeled(set, pod);
        n_ready += pod_is_ready(pod);
        n_available += pod_is_available(pod, min_ready, seen->now_ns);
    }
    spn_value_set_int(a, status, "replicas", (int64_t)seen->n_active);
    spn_value_set_int(a, status, "fullyLabeledReplicas", n_labeled);
    spn_value_set_int(a, status, "readyReplicas", n_ready);
    spn_value_set_int(a, status, "availableReplicas", n_available);
    if (seen->n_terminating >= 0)
        spn_value_set_int(a, status, "terminatingReplicas", seen->n_terminating);
    else
        spn_value_remove(a, status, "terminatingReplicas");
}

static void add_failure(struct spn_arena *a, struct spn_value *status, const struct spn_value *set,
                        const struct replicaset_seen *seen)
{
    int64_t diff = (int64_t)seen->n_active - spec_replicas(set);
    struct spn_value *all = spn_value_edit(a, status, "conditions");
    if (spn_value_type(all) != SPN_ARRAY)
        all = spn_value_set(a, status, "conditions", spn_value_new(a, SPN_ARRAY));
    struct spn_value *cond = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, cond, "type", SPN_TEXT("ReplicaFailure"));
    spn_value_set_text(a, cond, "status", SPN_TEXT("True"));
    spn_value_set_text(a, cond, "lastTransitionTime", time_text(a, seen->now_ns));
    spn_value_set_text(a, cond, "reason",
                       spn_text_of(diff < 0   ? "FailedCreate"
                                   : diff > 0 ? "FailedDelete"
                                              : ""));
    spn_value_set_text(a, cond, "message", spn_arena_text(a, spn_text_of(seen->failure)));
    spn_value_push(a, all, cond);
}

static void remove_failure(struct spn_arena *a, struct spn_value *status)
{
    struct spn_value *all = spn_value_edit(a, status, "conditions");
    for (size_t i = spn_value_count(all); i-- > 0;)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(all, i), "type")),
                        SPN_TEXT("ReplicaFailure")))
            spn_value_remove_at(a, all, i);
}

/* A failure that is known already is not told again in other words. */
struct spn_value *replicaset_status(struct spn_arena *a, const struct spn_value *set,
                                    const struct replicaset_seen *seen)
{
    const struct spn_value *old = spn_value_get(set, "status");
    struct spn_value *status = old ? spn_value_copy(a, old) : spn_value_new(a, SPN_OBJECT);
    const bool is_known = spn_condition_get(set, "ReplicaFailure") != NULL;
    if (seen->failure && !is_known)
        add_failure(a, status, set, seen);
    else if (!seen->failure && is_known)
        remove_failure(a, status);
    set_counts(a, status, set, seen);
    return status;
}

static bool has_same_conditions(const struct spn_value *x, const struct spn_value *y)
{
    x = spn_value_get(x, "conditions");
    y = spn_value_get(y, "conditions");
    return (!spn_value_count(x) && !spn_value_count(y)) || spn_value_eq(x, y);
}

bool replicaset_is_current(const struct spn_value *set, const struct spn_value *status)
{
    static const char *const counts[] = { "replicas", "fullyLabeledReplicas", "readyReplicas",
                                          "availableReplicas" };
    const struct spn_value *old = spn_value_get(set, "status");
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (field_int(spn_value_get(old, counts[i]), 0) !=
            field_int(spn_value_get(status, counts[i]), 0))
            return false;
    return field_int(spn_value_get(old, "terminatingReplicas"), -1) ==
               field_int(spn_value_get(status, "terminatingReplicas"), -1) &&
           meta_generation(set) == status_int(set, "observedGeneration") &&
           has_same_conditions(old, status);
}
