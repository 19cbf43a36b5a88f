#include "controllers/statefulset/plan.h"

#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "controllers/statefulset/identity.h"
#include "base/banned.h"

static bool has_text(const struct spn_value *v, const char *text)
{
    return spn_text_eq(spn_value_text(v), spn_text_of(text));
}

/* A number or a share, rounded down; at least one. */
static int64_t max_unavailable_of(const struct spn_value *v, int64_t replicas)
{
    int64_t n = 1;
    struct str text = str_in(spn_value_text(v));
    if (text.n && str_to_i64(str_take(text, text.n - 1), &n))
        n = n * replicas / 100;
    else
        (void)spn_value_int(v, &n);
    return n < 1 ? 1 : n;
}

struct stateful_spec stateful_spec_of(const struct spn_value *set)
{
    const struct spn_value *spec = spn_value_get(set, "spec");
    const struct spn_value *strategy = spn_value_get(spec, "updateStrategy");
    const struct spn_value *rolling = spn_value_get(strategy, "rollingUpdate");
    const int64_t wanted = spec_replicas(set);
    const int64_t replicas = wanted < STATEFUL_REPLICAS_MAX ? wanted : STATEFUL_REPLICAS_MAX;
    return (struct stateful_spec){
        .replicas = replicas,
        .start = field_int(spn_value_dig(spec, "ordinals", "start"), 0),
        .partition = field_int(spn_value_get(rolling, "partition"), 0),
        .max_unavailable = max_unavailable_of(spn_value_get(rolling, "maxUnavailable"), replicas),
        .min_ready_sec = field_int(spn_value_get(spec, "minReadySeconds"), 0),
        .is_parallel = has_text(spn_value_get(spec, "podManagementPolicy"), "Parallel"),
        .is_on_delete = has_text(spn_value_get(strategy, "type"), "OnDelete"),
        .is_deleting = meta_is_deleting(set),
    };
}

struct stateful_pod stateful_pod_of(struct spn_value *pod, int64_t min_ready_sec, int64_t now_ns)
{
    const struct spn_value *phase = spn_value_dig(pod, "status", "phase");
    return (struct stateful_pod){
        .pod = pod,
        .ordinal = identity_ordinal(meta_name(pod)),
        .revision = spn_value_text(spn_value_dig(pod, "metadata", "labels", LABEL_REVISION)),
        .is_created = spn_value_text(phase).n > 0,
        .is_terminal = pod_is_terminal(pod),
        .is_pending = has_text(phase, "Pending"),
        .is_deleting = meta_is_deleting(pod),
        .is_ready = has_text(phase, "Running") && pod_is_ready(pod),
        .is_available = pod_is_available(pod, min_ready_sec, now_ns),
        .is_identified = true,
        .has_claims = true,
    };
}

static bool is_unavailable(const struct stateful_pod *p)
{
    return !p->is_available || p->is_deleting;
}

/* ---- Pods that should be there ---- */

struct plan {
    const struct stateful_spec *spec;
    struct stateful_step *steps;
    size_t n;
};

static void put(struct plan *p, enum stateful_act act, struct stateful_pod *pod)
{
    p->steps[p->n++] = (struct stateful_step){ act, pod };
}

/* False: whoever goes one by one waits for this one. */
static bool plan_replica(struct plan *p, struct stateful_pod *pod)
{
    if (pod->is_terminal) {
        if (!pod->is_deleting)
            put(p, STATEFUL_DELETE, pod);
        return false;
    }
    if (!pod->is_created && pod->has_stale_claim)
        return false;
    if (!pod->is_created) {
        put(p, STATEFUL_CREATE, pod);
        if (!p->spec->is_parallel)
            return false;
    }
    if (pod->is_pending)
        put(p, STATEFUL_MAKE_CLAIMS, pod);
    if (!p->spec->is_parallel && (pod->is_deleting || !pod->is_ready || !pod->is_available))
        return false;
    if (!pod->is_identified || !pod->has_claims)
        put(p, STATEFUL_REPAIR, pod);
    return true;
}

/* ---- Pods that should not ---- */

/* The first pod that is ill may go although it is. */
static bool plan_condemned(struct plan *p, struct stateful_pod *pod,
                           const struct stateful_pod *first_ill)
{
    if (pod->is_deleting)
        return false;
    if (!p->spec->is_parallel && pod != first_ill && (!pod->is_ready || !pod->is_available))
        return false;
    put(p, STATEFUL_DELETE, pod);
    return false;
}

static const struct stateful_pod *find_first_ill(const struct stateful_pod *replicas, size_t n,
                                                 const struct stateful_pod *condemned,
                                                 size_t n_condemned)
{
    for (size_t i = 0; i < n; i++)
        if (is_unavailable(&replicas[i]))
            return &replicas[i];
    for (size_t i = n_condemned; i-- > 0;)
        if (is_unavailable(&condemned[i]))
            return &condemned[i];
    return NULL;
}

/* ---- Pods of an older template ---- */

static bool is_old(const struct stateful_pod *p, struct spn_text update)
{
    return !spn_text_eq(p->revision, update) && !p->is_deleting;
}

/* Those that are ill go at once, they are no loss; of the others as many as may be missing. */
static void update_parallel(struct plan *p, struct stateful_pod *replicas, size_t n,
                            struct spn_text update, int64_t budget)
{
    for (size_t i = n; (int64_t)i-- > p->spec->partition;)
        if (is_old(&replicas[i], update) && !replicas[i].is_available)
            put(p, STATEFUL_UPDATE, &replicas[i]);
    for (size_t i = n; (int64_t)i-- > p->spec->partition && budget > 0;)
        if (is_old(&replicas[i], update) && replicas[i].is_available) {
            put(p, STATEFUL_UPDATE, &replicas[i]);
            budget--;
        }
}

static void plan_update(struct plan *p, struct stateful_pod *replicas, size_t n,
                        struct spn_text update)
{
    int64_t n_missing = 0, n_ill_and_old = 0;
    for (size_t i = 0; i < n; i++) {
        n_missing += is_unavailable(&replicas[i]);
        n_ill_and_old +=
            p->spec->is_parallel && !replicas[i].is_available && is_old(&replicas[i], update);
    }
    int64_t budget = p->spec->max_unavailable - n_missing;
    if (budget <= 0 && !n_ill_and_old)
        return;
    if (p->spec->is_parallel) {
        update_parallel(p, replicas, n, update, budget);
        return;
    }
    for (size_t i = n; (int64_t)i-- > p->spec->partition && budget > 0;)
        if (is_old(&replicas[i], update)) {
            put(p, STATEFUL_UPDATE, &replicas[i]);
            budget--;
        }
}

/* ---- All ---- */

size_t stateful_plan(const struct stateful_spec *spec, struct stateful_pod *replicas,
                     size_t n_replicas, struct stateful_pod *condemned, size_t n_condemned,
                     struct spn_text update, struct stateful_step *ret)
{
    struct plan p = { .spec = spec, .steps = ret };
    if (spec->is_deleting)
        return 0;
    const struct stateful_pod *first_ill =
        find_first_ill(replicas, n_replicas, condemned, n_condemned);
    for (size_t i = 0; i < n_replicas; i++)
        if (!plan_replica(&p, &replicas[i]) && !spec->is_parallel)
            return p.n;
    for (size_t i = 0; i < n_condemned; i++)
        if (!condemned[i].has_claims)
            put(&p, STATEFUL_OWN_CLAIMS, &condemned[i]);
    for (size_t i = 0; i < n_condemned; i++)
        if (!plan_condemned(&p, &condemned[i], first_ill) && !spec->is_parallel)
            return p.n;
    if (!spec->is_on_delete)
        plan_update(&p, replicas, n_replicas, update);
    return p.n;
}
