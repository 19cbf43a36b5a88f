#include "controllers/job/policy.h"

#include <sampan/meta.h>
#include <stdlib.h>

#include "base/clock.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "base/banned.h"

static struct spn_text text_at(const struct spn_value *v, const char *key)
{
    return spn_value_text(spn_value_get(v, key));
}

static bool text_is(const struct spn_value *v, const char *key, const char *is)
{
    return spn_text_eq(text_at(v, key), spn_text_of(is));
}

/* ---- Failures ---- */

static bool has_number(const struct spn_value *list, int64_t number)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (field_int(spn_value_at(list, i), 0) == number)
            return true;
    return false;
}

static bool meets_code(const struct spn_value *rule, const struct spn_value *container)
{
    struct spn_text name = text_at(rule, "containerName");
    const struct spn_value *end = spn_value_dig(container, "state", "terminated");
    const int64_t code = field_int(spn_value_get(end, "exitCode"), 0);
    if (!end || code == 0 || (name.p && !spn_text_eq(name, text_at(container, "name"))))
        return false;
    const bool is_listed = has_number(spn_value_get(rule, "values"), code);
    return text_is(rule, "operator", "In") ? is_listed
                                           : text_is(rule, "operator", "NotIn") && !is_listed;
}

static const struct spn_value *container_that_meets(const struct spn_value *rule,
                                                    const struct spn_value *list)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (meets_code(rule, spn_value_at(list, i)))
            return spn_value_at(list, i);
    return NULL;
}

static struct spn_text match_codes(struct spn_arena *a, const struct spn_value *rule, size_t index,
                                   const struct spn_value *pod)
{
    const struct spn_value *codes = spn_value_get(rule, "onExitCodes");
    const struct spn_value *c =
        container_that_meets(codes, spn_value_dig(pod, "status", "containerStatuses"));
    if (!c)
        c = container_that_meets(codes, spn_value_dig(pod, "status", "initContainerStatuses"));
    if (!c)
        return (struct spn_text){ 0 };
    return spn_arena_printf(
        a,
        "Container " SPN_FMT " for pod " SPN_FMT "/" SPN_FMT
        " failed with exit code %lld matching " SPN_FMT " rule at index %zu",
        SPN_ARG(text_at(c, "name")), SPN_ARG(meta_text(pod, "namespace")), SPN_ARG(meta_name(pod)),
        (long long)field_int(spn_value_dig(c, "state", "terminated", "exitCode"), 0),
        SPN_ARG(text_at(rule, "action")), index);
}

static bool meets_condition(const struct spn_value *patterns, const struct spn_value *cond)
{
    for (size_t i = 0; i < spn_value_count(patterns); i++) {
        const struct spn_value *p = spn_value_at(patterns, i);
        if (spn_text_eq(text_at(p, "type"), text_at(cond, "type")) &&
            spn_text_eq(text_at(p, "status"), text_at(cond, "status")))
            return true;
    }
    return false;
}

static struct spn_text match_conditions(struct spn_arena *a, const struct spn_value *rule,
                                        size_t index, const struct spn_value *pod)
{
    const struct spn_value *all = spn_value_dig(pod, "status", "conditions");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *cond = spn_value_at(all, i);
        if (meets_condition(spn_value_get(rule, "onPodConditions"), cond))
            return spn_arena_printf(a,
                                    "Pod " SPN_FMT "/" SPN_FMT " has condition " SPN_FMT
                                    " matching " SPN_FMT " rule at index %zu",
                                    SPN_ARG(meta_text(pod, "namespace")), SPN_ARG(meta_name(pod)),
                                    SPN_ARG(text_at(cond, "type")),
                                    SPN_ARG(text_at(rule, "action")), index);
    }
    return (struct spn_text){ 0 };
}

struct failure_verdict failure_match(struct spn_arena *a, const struct spn_value *policy,
                                     const struct spn_value *pod)
{
    const struct spn_value *rules = spn_value_get(policy, "rules");
    for (size_t i = 0; i < spn_value_count(rules); i++) {
        const struct spn_value *rule = spn_value_at(rules, i);
        struct spn_text why = spn_value_get(rule, "onExitCodes")
                                  ? match_codes(a, rule, i, pod)
                                  : match_conditions(a, rule, i, pod);
        if (!why.n)
            continue;
        if (text_is(rule, "action", "Ignore"))
            return (struct failure_verdict){ .action = FAILURE_IGNORE };
        if (text_is(rule, "action", "FailIndex"))
            return (struct failure_verdict){ .action = FAILURE_FAIL_INDEX, .counts = true };
        if (text_is(rule, "action", "Count"))
            return (struct failure_verdict){ .action = FAILURE_COUNT, .counts = true };
        if (text_is(rule, "action", "FailJob"))
            return (struct failure_verdict){ FAILURE_FAIL_JOB, true, why };
    }
    return (struct failure_verdict){ .action = FAILURE_NO_RULE, .counts = true };
}

/* ---- Successes ---- */

static bool meets_success(struct spn_arena *a, const struct spn_value *rule, int64_t completions,
                          struct spans succeeded)
{
    const int64_t count = field_int(spn_value_get(rule, "succeededCount"), -1);
    struct spn_text indexes = text_at(rule, "succeededIndexes");
    if (!indexes.p)
        return count >= 0 && spans_total(succeeded) >= count;
    const struct spans wanted = spans_parse(a, indexes, completions);
    const int64_t n = spans_common(wanted, succeeded);
    return wanted.n && (n == spans_total(wanted) || (count >= 0 && n >= count));
}

struct spn_text success_match(struct spn_arena *a, const struct spn_value *policy,
                              int64_t completions, struct spans succeeded)
{
    const struct spn_value *rules = spn_value_get(policy, "rules");
    for (size_t i = 0; succeeded.n && i < spn_value_count(rules); i++)
        if (meets_success(a, spn_value_at(rules, i), completions, succeeded))
            return spn_arena_printf(a, "Matched rules at index %zu", i);
    return (struct spn_text){ 0 };
}

/* ---- Waiting ---- */

static bool is_sidecar(const struct spn_value *pod, struct spn_text name)
{
    const struct spn_value *all = spn_value_dig(pod, "spec", "initContainers");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(text_at(spn_value_at(all, i), "name"), name))
            return text_is(spn_value_at(all, i), "restartPolicy", "Always");
    return false;
}

/* False: one of them has not ended, so nothing is known. */
static bool latest_end(const struct spn_value *pod, const char *key, bool only_sidecars,
                       int64_t *latest_ns)
{
    const struct spn_value *all = spn_value_dig(pod, "status", key);
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *c = spn_value_at(all, i);
        int64_t ns;
        if (only_sidecars && !is_sidecar(pod, text_at(c, "name")))
            continue;
        if (!time_read(spn_value_dig(c, "state", "terminated", "finishedAt"), &ns))
            return false;
        *latest_ns = ns > *latest_ns ? ns : *latest_ns;
    }
    return true;
}

int64_t pod_finished_ns(const struct spn_value *pod)
{
    int64_t ns = INT64_MIN;
    /* As upstream has it: containers that run still are forgotten beside sidecars that ended. */
    if (!latest_end(pod, "containerStatuses", false, &ns))
        ns = INT64_MIN;
    if (latest_end(pod, "initContainerStatuses", true, &ns) && ns != INT64_MIN)
        return ns;
    const struct spn_value *ready = spn_condition_get(pod, "Ready");
    if (text_is(ready, "status", "False") &&
        time_read(spn_value_get(ready, "lastTransitionTime"), &ns))
        return ns;
    if (time_read(spn_value_dig(pod, "metadata", "deletionTimestamp"), &ns))
        return ns - NS_PER_SEC *
                        field_int(spn_value_dig(pod, "metadata", "deletionGracePeriodSeconds"), 0);
    ns = 0;
    (void)time_read(spn_value_dig(pod, "metadata", "creationTimestamp"), &ns);
    return ns;
}

static int by_end(const void *a, const void *b)
{
    const struct spn_value *const *x = a, *const *y = b;
    const int64_t x_ns = pod_finished_ns(*x), y_ns = pod_finished_ns(*y);
    return x_ns < y_ns ? -1 : x_ns > y_ns;
}

static void sort_by_end(const struct spn_value **pods, size_t n)
{
    if (n > 1)
        qsort(pods, n, sizeof(*pods), by_end);
}

struct job_backoff backoff_next(struct job_backoff old, const struct spn_value **succeeded,
                                size_t n_succeeded, const struct spn_value **failed,
                                size_t n_failed)
{
    sort_by_end(succeeded, n_succeeded);
    sort_by_end(failed, n_failed);
    if (!n_succeeded && n_failed)
        return (struct job_backoff){ old.failures + (int64_t)n_failed,
                                     pod_finished_ns(failed[n_failed - 1]) };
    if (!n_succeeded)
        return old;
    struct job_backoff now = { 0 };
    const int64_t success_ns = pod_finished_ns(succeeded[n_succeeded - 1]);
    for (size_t i = n_failed; i-- > 0 && pod_finished_ns(failed[i]) > success_ns;) {
        now.last_ns = now.failures ? now.last_ns : pod_finished_ns(failed[i]);
        now.failures++;
    }
    return now;
}

int64_t backoff_remaining_ns(struct job_backoff b, int64_t now_ns)
{
    const int64_t max = 600 * NS_PER_SEC;
    int64_t wait = 10 * NS_PER_SEC;
    if (b.failures == 0)
        return 0;
    for (int64_t i = 1; i < b.failures && wait < max; i++)
        wait = wait * 2 < max ? wait * 2 : max;
    const int64_t left = wait - (now_ns - b.last_ns);
    return left > 0 ? left : 0;
}
