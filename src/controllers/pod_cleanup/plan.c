#include "controllers/pod_cleanup/plan.h"

#include <sampan/meta.h>
#include <stdlib.h>

#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/jobs.h"
#include "controllers/common/pods.h"
#include "controllers/common/times.h"
#include "base/banned.h"

/* ---- Pods that nobody ends ---- */

static bool is_out_of_service(const struct spn_value *node)
{
    const struct spn_value *taints = spn_value_dig(node, "spec", "taints");
    if (spn_text_eq(spn_value_text(spn_value_get(spn_condition_get(node, "Ready"), "status")),
                    SPN_TEXT("True")))
        return false;
    for (size_t i = 0; i < spn_value_count(taints); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(taints, i), "key")),
                        SPN_TEXT("node.kubernetes.io/out-of-service")))
            return true;
    return false;
}

enum pod_cleanup_why pod_cleanup_judge(const struct spn_value *pod, const struct spn_value *node)
{
    bool is_deleting = meta_is_deleting(pod);
    if (!spn_value_text(spn_value_dig(pod, "spec", "nodeName")).n)
        return is_deleting ? POD_CLEANUP_UNSCHEDULED : POD_CLEANUP_NOT;
    if (!node)
        return POD_CLEANUP_NO_NODE;
    return is_deleting && is_out_of_service(node) ? POD_CLEANUP_OUT_OF_SERVICE : POD_CLEANUP_NOT;
}

/* The condition of a pod whose node is gone. */
static void set_target(struct spn_arena *a, struct spn_value *pod)
{
    const struct spn_condition c = { .type = "DisruptionTarget",
                                     .status = "True",
                                     .reason = "DeletionByPodGC",
                                     .message = "PodGC: node no longer exists",
                                     .observed_generation = meta_generation(pod) };
    (void)spn_condition_set(a, pod, &c);
}

void pod_cleanup_fail(struct spn_arena *a, struct spn_value *pod, enum pod_cleanup_why why)
{
    struct spn_value *status = spn_value_ensure(a, pod, "status");
    spn_value_set_text(a, status, "phase", SPN_TEXT("Failed"));
    if (meta_generation(pod))
        spn_value_set_int(a, status, "observedGeneration", meta_generation(pod));
    if (why == POD_CLEANUP_NO_NODE)
        set_target(a, pod);
}

/* ---- Pods that have ended ---- */

static bool is_evicted(const struct spn_value *pod)
{
    return spn_text_eq(spn_value_text(spn_value_dig(pod, "status", "phase")), SPN_TEXT("Failed")) &&
           spn_text_eq(spn_value_text(spn_value_dig(pod, "status", "reason")), SPN_TEXT("Evicted"));
}

/* Times of objects are all in one format, so their text has their order. */
static int by_worth(const void *x, const void *y)
{
    const struct spn_value *const *a = x, *const *b = y;
    int c = (int)is_evicted(*b) - (int)is_evicted(*a);
    if (!c)
        c = str_cmp(str_in(meta_text(*a, "creationTimestamp")),
                    str_in(meta_text(*b, "creationTimestamp")));
    return c ? c : str_cmp(str_in(meta_name(*a)), str_in(meta_name(*b)));
}

size_t pod_cleanup_surplus(const struct spn_value **pods, size_t n, size_t most)
{
    if (n <= most)
        return 0;
    qsort(pods, n, sizeof(*pods), by_worth);
    return n - most;
}

/* ---- Jobs that have ended ---- */

int64_t job_cleanup_left_ms(const struct spn_value *job, int64_t now_ns)
{
    int64_t ttl_sec, finished_ns;
    if (meta_is_deleting(job) ||
        !spn_value_int(spn_value_dig(job, "spec", "ttlSecondsAfterFinished"), &ttl_sec) ||
        !time_read(spn_value_get(job_end_condition(job), "lastTransitionTime"), &finished_ns))
        return -1;
    int64_t left_ns = finished_ns + ttl_sec * NS_PER_SEC - now_ns;
    return left_ns > 0 ? left_ns / NS_PER_MS + 1 : 0;
}
