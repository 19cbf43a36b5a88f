#include "controllers/deployment/plan.h"

#include <stdlib.h>

#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/share.h"
#include "base/banned.h"

static int64_t min(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t max(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* ---- What the Deployment says ---- */

struct rollout rollout_of(const struct spn_value *deployment)
{
    const struct spn_value *strategy = spn_value_dig(deployment, "spec", "strategy");
    const struct spn_value *rolling = spn_value_get(strategy, "rollingUpdate");
    struct rollout r = {
        .replicas = spec_replicas(deployment),
        .status_replicas = status_int(deployment, "replicas"),
        .is_rolling =
            spn_text_eq(spn_value_text(spn_value_get(strategy, "type")), SPN_TEXT("RollingUpdate")),
    };
    if (!r.is_rolling)
        return r;
    r.surge = share_of(spn_value_get(rolling, "maxSurge"), r.replicas, true);
    r.max_surge = r.surge;
    r.max_unavailable = share_of(spn_value_get(rolling, "maxUnavailable"), r.replicas, false);
    if (!r.max_surge && !r.max_unavailable)
        r.max_unavailable = 1; /* or nothing would ever move */
    r.max_unavailable = min(r.max_unavailable, r.replicas);
    return r;
}

/* ---- Rolling ---- */

int64_t rollout_new_size(const struct rollout *r, const struct deployment_set *all, size_t n,
                         int64_t new_size)
{
    if (!r->is_rolling)
        return r->replicas;
    const int64_t now = deployment_sets_replicas(all, n), limit = r->replicas + r->surge;
    if (now >= limit)
        return new_size;
    return new_size + min(limit - now, r->replicas - new_size);
}

/* Pods that are not available are no loss. Sizes in `old` become what they will be. False: a set
 * says that more pods are available than it should have, so what it says is old, and nothing more
 * may go by it. */
static bool shrink_unhealthy(struct deployment_set *old, size_t n, int64_t limit,
                             struct rollout_step *ret, size_t *ret_n)
{
    int64_t total = 0;
    for (size_t i = 0; i < n && total < limit; i++) {
        struct deployment_set *s = &old[i];
        if (!s->replicas || s->replicas == s->n_available)
            continue;
        const int64_t by = min(limit - total, s->replicas - s->n_available);
        if (by < 0)
            return false;
        ret[(*ret_n)++] = (struct rollout_step){ s, s->replicas, s->replicas - by };
        s->replicas -= by;
        total += by;
    }
    return true;
}

static size_t shrink_available(struct deployment_set *old, size_t n, int64_t limit,
                               struct rollout_step *ret)
{
    size_t n_steps = 0;
    int64_t total = 0;
    for (size_t i = 0; i < n && total < limit; i++) {
        struct deployment_set *s = &old[i];
        if (!s->replicas)
            continue;
        const int64_t by = min(s->replicas, limit - total);
        ret[n_steps++] = (struct rollout_step){ s, s->replicas, s->replicas - by };
        s->replicas -= by;
        total += by;
    }
    return n_steps;
}

size_t rollout_shrink_old(const struct rollout *r, struct deployment_set *old, size_t n,
                          const struct deployment_set *new_set, struct rollout_step *ret)
{
    const int64_t n_old = deployment_sets_replicas(old, n);
    const int64_t min_available = r->replicas - r->max_unavailable;
    /* Of a new set that was just scaled down some pods are still available, and will not be. */
    const int64_t n_new = min(new_set->n_available, new_set->replicas);
    const int64_t n_new_missing = new_set->replicas - n_new;
    const int64_t limit = n_old + new_set->replicas - min_available - n_new_missing;
    size_t n_steps = 0;
    if (!n_old || limit <= 0)
        return 0;
    deployment_sets_sort(old, n);
    if (!shrink_unhealthy(old, n, limit, ret, &n_steps))
        return n_steps;
    const int64_t n_available = deployment_sets_available(old, n) + n_new;
    return n_steps + shrink_available(old, n, max(0, n_available - min_available), ret + n_steps);
}

/* ---- Scaling ---- */

/* How much a set grows or shrinks so that it keeps its share. */
static int64_t fraction(const struct rollout *r, const struct deployment_set *s)
{
    if (!r->replicas)
        return -s->replicas;
    const int64_t before = s->max_before > 0 ? s->max_before : r->status_replicas;
    if (!before)
        return 0;
    const double size = (double)(s->replicas * (r->replicas + r->max_surge)) / (double)before;
    return (int64_t)(size + 0.5) - s->replicas;
}

static int64_t proportion(const struct rollout *r, const struct deployment_set *s, int64_t to_add,
                          int64_t added)
{
    if (!s->replicas || !to_add || to_add == added)
        return 0;
    return to_add > 0 ? min(fraction(r, s), to_add - added) : max(fraction(r, s), to_add - added);
}

static int larger_first(const struct deployment_set *x, const struct deployment_set *y)
{
    return x->replicas == y->replicas ? 0 : x->replicas > y->replicas ? -1 : 1;
}

static int older_first(const struct deployment_set *x, const struct deployment_set *y)
{
    if (x->created_ns != y->created_ns)
        return x->created_ns < y->created_ns ? -1 : 1;
    return str_cmp(str_in(x->name), str_in(y->name));
}

static int by_size_older(const void *a, const void *b)
{
    const struct rollout_step *x = a, *y = b;
    int c = larger_first(x->set, y->set);
    return c ? c : older_first(x->set, y->set);
}

static int by_size_newer(const void *a, const void *b)
{
    const struct rollout_step *x = a, *y = b;
    int c = larger_first(x->set, y->set);
    return c ? c : older_first(y->set, x->set);
}

/* Steps have all sets with pods. What does not divide goes to the largest. */
static void share_out(const struct rollout *r, struct rollout_step *steps, size_t n)
{
    int64_t now = 0, added = 0;
    for (size_t i = 0; i < n; i++)
        now += steps[i].from;
    const int64_t to_add = (r->replicas > 0 ? r->replicas + r->max_surge : 0) - now;
    if (!to_add)
        return;
    qsort(steps, n, sizeof(*steps), to_add > 0 ? by_size_newer : by_size_older);
    for (size_t i = 0; i < n; i++) {
        int64_t by = proportion(r, steps[i].set, to_add, added);
        steps[i].to = steps[i].from + by;
        added += by;
    }
    steps[0].to = max(0, steps[0].to + to_add - added);
}

static bool is_saturated(const struct rollout *r, const struct deployment_set *s)
{
    return s && s->replicas == r->replicas && s->wanted == r->replicas &&
           s->n_available == r->replicas;
}

static size_t active_sets(const struct deployment_set *old, size_t n,
                          const struct deployment_set *new_set, struct rollout_step *ret)
{
    size_t n_active = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i].replicas > 0)
            ret[n_active++] = (struct rollout_step){ &old[i], old[i].replicas, old[i].replicas };
    if (new_set && new_set->replicas > 0)
        ret[n_active++] = (struct rollout_step){ new_set, new_set->replicas, new_set->replicas };
    return n_active;
}

size_t rollout_scale(const struct rollout *r, struct deployment_set *old, size_t n,
                     const struct deployment_set *new_set, struct rollout_step *ret,
                     bool *ret_is_forced)
{
    *ret_is_forced = false;
    if (!new_set && !n)
        return 0;
    deployment_sets_sort(old, n);
    size_t n_active = active_sets(old, n, new_set, ret);
    if (n_active <= 1) {
        const struct deployment_set *one = n_active ? ret[0].set : new_set ? new_set : &old[n - 1];
        ret[0] = (struct rollout_step){ one, one->replicas, r->replicas };
        return one->replicas != r->replicas;
    }
    if (is_saturated(r, new_set)) {
        n_active = active_sets(old, n, NULL, ret);
        for (size_t i = 0; i < n_active; i++)
            ret[i].to = 0;
        return n_active;
    }
    if (!r->is_rolling)
        return 0;
    share_out(r, ret, n_active);
    *ret_is_forced = true;
    return n_active;
}
