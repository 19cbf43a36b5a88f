#include "controllers/nodes/plan.h"

#include <sampan/meta.h>

#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/taints.h"
#include "controllers/common/times.h"
#include "base/banned.h"

#define NO_EXECUTE  "NoExecute"
#define NO_SCHEDULE "NoSchedule"

/* ---- Taints ---- */

static struct spn_text text_at(const struct spn_value *v, const char *key)
{
    return spn_value_text(spn_value_get(v, key));
}

struct spn_text node_ready(const struct spn_value *node)
{
    return text_at(spn_condition_get(node, "Ready"), "status");
}

/* Which state of a condition keeps pods from being put there, by which taint. */
static const struct {
    const char *condition, *status, *taint;
} meanings[] = {
    { "Ready", "False", TAINT_NOT_READY },
    { "Ready", "Unknown", TAINT_UNREACHABLE },
    { "MemoryPressure", "True", "node.kubernetes.io/memory-pressure" },
    { "DiskPressure", "True", "node.kubernetes.io/disk-pressure" },
    { "NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable" },
    { "PIDPressure", "True", "node.kubernetes.io/pid-pressure" },
};
#define TAINT_UNSCHEDULABLE "node.kubernetes.io/unschedulable"

enum { MAX_WANTED = ARRAY_LEN(meanings) + 2 };

struct wanted {
    struct spn_text key, effect;
};

static const struct spn_value *taints_of(const struct spn_value *node)
{
    return spn_value_dig(node, "spec", "taints");
}

static bool is_taint_of_ours(const struct spn_value *taint)
{
    if (taint_is(taint, SPN_TEXT(TAINT_NOT_READY), SPN_TEXT(NO_EXECUTE)) ||
        taint_is(taint, SPN_TEXT(TAINT_UNREACHABLE), SPN_TEXT(NO_EXECUTE)) ||
        taint_is(taint, SPN_TEXT(TAINT_UNSCHEDULABLE), SPN_TEXT(NO_SCHEDULE)))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (taint_is(taint, spn_text_of(meanings[i].taint), SPN_TEXT(NO_SCHEDULE)))
            return true;
    return false;
}

static bool evicts_already(const struct spn_value *node)
{
    return taint_find(taints_of(node), TAINT_NOT_READY, NO_EXECUTE) ||
           taint_find(taints_of(node), TAINT_UNREACHABLE, NO_EXECUTE);
}

/* The taint by which its pods are driven away; NULL: it is well, or never said. */
static const char *eviction_taint(const struct spn_value *node)
{
    struct spn_text ready = node_ready(node);
    if (spn_text_eq(ready, SPN_TEXT("False")))
        return TAINT_NOT_READY;
    return spn_text_eq(ready, SPN_TEXT("Unknown")) ? TAINT_UNREACHABLE : NULL;
}

bool node_wants_to_evict(const struct spn_value *node)
{
    return eviction_taint(node) && !evicts_already(node);
}

static size_t list_wanted(const struct spn_value *node, enum node_eviction eviction,
                          struct wanted out[static MAX_WANTED])
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (spn_text_eq(text_at(spn_condition_get(node, meanings[i].condition), "status"),
                        spn_text_of(meanings[i].status)))
            out[n++] = (struct wanted){ spn_text_of(meanings[i].taint), SPN_TEXT(NO_SCHEDULE) };
    if (spn_value_is_true(spn_value_dig(node, "spec", "unschedulable")))
        out[n++] = (struct wanted){ SPN_TEXT(TAINT_UNSCHEDULABLE), SPN_TEXT(NO_SCHEDULE) };
    const char *drives_away = eviction_taint(node);
    if (drives_away && eviction != NODE_SPARES_PODS &&
        (eviction == NODE_EVICTS || evicts_already(node)))
        out[n++] = (struct wanted){ spn_text_of(drives_away), SPN_TEXT(NO_EXECUTE) };
    return n;
}

static bool is_wanted(const struct wanted *all, size_t n, const struct spn_value *taint)
{
    for (size_t i = 0; i < n; i++)
        if (taint_is(taint, all[i].key, all[i].effect))
            return true;
    return false;
}

static bool has(const struct spn_value *list, const struct wanted *w)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (taint_is(spn_value_at(list, i), w->key, w->effect))
            return true;
    return false;
}

static void add_taint(struct spn_arena *a, struct spn_value *list, const struct wanted *w,
                      int64_t now_ns)
{
    struct spn_value *taint = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, taint, "key", w->key);
    spn_value_set_text(a, taint, "effect", w->effect);
    spn_value_set_text(a, taint, "timeAdded", time_text(a, now_ns));
    spn_value_push(a, list, taint);
}

struct spn_value *node_taints(struct spn_arena *a, const struct spn_value *node,
                              enum node_eviction eviction, int64_t now_ns)
{
    struct wanted wanted[MAX_WANTED];
    const size_t n = list_wanted(node, eviction, wanted);
    const struct spn_value *old = taints_of(node);
    struct spn_value *list = spn_value_new(a, SPN_ARRAY);
    bool has_changed = false;
    for (size_t i = 0; i < spn_value_count(old); i++) {
        const struct spn_value *taint = spn_value_at(old, i);
        if (is_taint_of_ours(taint) && !is_wanted(wanted, n, taint))
            has_changed = true;
        else
            spn_value_push(a, list, spn_value_copy(a, taint));
    }
    for (size_t i = 0; i < n; i++) {
        if (has(list, &wanted[i]))
            continue;
        add_taint(a, list, &wanted[i], now_ns);
        has_changed = true;
    }
    return has_changed ? list : NULL;
}

/* ---- Labels ---- */

struct spn_value *node_labels(struct spn_arena *a, const struct spn_value *node)
{
    static const struct {
        const char *today, *older;
    } pairs[] = { { "kubernetes.io/os", "beta.kubernetes.io/os" },
                  { "kubernetes.io/arch", "beta.kubernetes.io/arch" } };
    const struct spn_value *labels = spn_value_dig(node, "metadata", "labels");
    struct spn_value *change = NULL;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct spn_text today = text_at(labels, pairs[i].today);
        struct spn_text older = text_at(labels, pairs[i].older);
        if (!today.p || (older.p && spn_text_eq(today, older)))
            continue;
        change = change ? change : spn_value_new(a, SPN_OBJECT);
        spn_value_set_text(a, change, pairs[i].older, today);
    }
    return change;
}

/* ---- A node that is silent ---- */

static struct spn_value *conditions_of(struct spn_arena *a, struct spn_value *node)
{
    struct spn_value *status = spn_value_ensure(a, node, "status");
    struct spn_value *all = spn_value_edit(a, status, "conditions");
    return spn_value_type(all) == SPN_ARRAY
               ? all
               : spn_value_set(a, status, "conditions", spn_value_new(a, SPN_ARRAY));
}

static struct spn_value *condition_edit(struct spn_arena *a, struct spn_value *all,
                                        const char *type)
{
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(text_at(spn_value_at(all, i), "type"), spn_text_of(type)))
            return spn_value_edit_at(a, all, i);
    return NULL;
}

static void set_state(struct spn_arena *a, struct spn_value *cond, const char *reason,
                      const char *message, int64_t now_ns)
{
    spn_value_set_text(a, cond, "status", SPN_TEXT("Unknown"));
    spn_value_set_text(a, cond, "lastTransitionTime", time_text(a, now_ns));
    spn_value_set_text(a, cond, "reason", spn_text_of(reason));
    spn_value_set_text(a, cond, "message", spn_text_of(message));
}

/* True: it has changed. */
static bool set_one_unknown(struct spn_arena *a, const struct spn_value *node,
                            struct spn_value *all, const char *type, int64_t now_ns)
{
    struct spn_value *cond = condition_edit(a, all, type);
    if (cond && spn_text_eq(text_at(cond, "status"), SPN_TEXT("Unknown")))
        return false;
    if (cond) {
        set_state(a, cond, "NodeStatusUnknown", "Kubelet stopped posting node status.", now_ns);
        return true;
    }
    cond = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, cond, "type", spn_text_of(type));
    spn_value_set_text(a, cond, "lastHeartbeatTime", meta_text(node, "creationTimestamp"));
    set_state(a, cond, "NodeStatusNeverUpdated", "Kubelet never posted node status.", now_ns);
    spn_value_push(a, all, cond);
    return true;
}

bool node_set_unknown(struct spn_arena *a, struct spn_value *node, int64_t now_ns)
{
    static const char *const others[] = { "MemoryPressure", "DiskPressure", "PIDPressure" };
    struct spn_value *all = conditions_of(a, node);
    bool has_changed = set_one_unknown(a, node, all, "Ready", now_ns);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        (void)set_one_unknown(a, node, all, others[i], now_ns);
    return has_changed;
}

/* ---- Zones ---- */

struct spn_text node_zone(struct spn_arena *a, const struct spn_value *node)
{
    const struct spn_value *labels = spn_value_dig(node, "metadata", "labels");
    struct spn_text region = text_at(labels, "topology.kubernetes.io/region");
    struct spn_text zone = text_at(labels, "topology.kubernetes.io/zone");
    return spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(region), SPN_ARG(zone));
}

bool node_is_excluded(const struct spn_value *node)
{
    return spn_value_dig(node, "metadata", "labels", "node.kubernetes.io/exclude-disruption");
}

bool zone_is_down(const struct zone_count *z)
{
    return z->n_ready == 0 && z->n_not_ready > 0;
}

/* In a zone where most nodes fail at once the fault is rather that of the network: small zones are
 * left alone then, large ones lose their pods slowly. */
double zone_evictions_per_second(const struct zone_count *z)
{
    static const double usual = 0.1, slow = 0.01, many = 0.55;
    enum { LARGE = 50 };
    const size_t n = z->n_ready + z->n_not_ready;
    if (zone_is_down(z) || z->n_not_ready <= 2 || (double)z->n_not_ready / (double)n < many)
        return usual;
    return n > LARGE ? slow : 0;
}

/* ---- How long secrets may be kept ---- */

int64_t node_ttl_seconds(size_t n_nodes, size_t *step)
{
    static const struct {
        size_t min, max;
        int64_t seconds;
    } steps[] = { { 0, 100, 0 },
                  { 90, 500, 15 },
                  { 450, 1000, 30 },
                  { 900, 2000, 60 },
                  { 1800, SIZE_MAX, 300 } };
    while (n_nodes > steps[*step].max)
        ++*step;
    while (n_nodes < steps[*step].min)
        --*step;
    return steps[*step].seconds;
}
