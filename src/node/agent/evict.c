/* evict.c - pods that use too much, or must go because the node is short of something. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

enum { MEMINFO_MAX = 16 << 10 };

/* ---- Limits of a pod's own ---- */

/* What containers of a pod have written: "" to their own layers. */
static uint64_t layer_bytes(struct agent *ag, struct str uid, struct str container, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct value filter = runtime_filter(a, uid), stats;
    uint64_t sum = 0;
    if (cri_call(ag->parts.cri, "ListContainerStats", &filter, 0, a, &stats, &err) < 0)
        return 0;
    value_each_item (s, value_get(&stats, STR("stats"))) {
        int64_t n = 0;
        struct str name =
            value_str(value_dig(s, "attributes", "labels", "io.kubernetes.container.name"));
        const struct value *used = value_dig(s, "writable_layer", "used_bytes");
        if (value_is(used, VALUE_OBJECT))
            used = value_get(used, STR("value"));
        if ((!container.n || str_eq(name, container)) && value_to_int(used, &n))
            sum += (uint64_t)n;
    }
    return sum;
}

static bool limit_of(const struct value *c, int64_t *ret, struct str *ret_text)
{
    *ret_text = value_str(value_dig(c, "resources", "limits", "ephemeral-storage"));
    return ret_text->n && quantity_units(*ret_text, false, ret);
}

static void evict(struct agent *ag, const struct value *pod, struct str message, bool is_disrupted)
{
    tell_pod(ag, pod, SPN_WARNING, "Evicted", STR_FMT, STR_ARG(message));
    worker_evict(ag, pod_uid(pod), "Evicted", message, 1, is_disrupted);
}

static bool volume_is_over(struct agent *ag, const struct value *pod, struct arena *a)
{
    uint64_t used = 0;
    struct str name = volumes_over_limit(ag->parts.volumes, pod, a, &used);
    if (!name.n)
        return false;
    const struct value *v = list_named(value_dig(pod, "spec", "volumes"), name);
    struct str limit = value_str(value_dig(v, "emptyDir", "sizeLimit"));
    evict(ag, pod,
          arena_printf(
              a, "Usage of EmptyDir volume \"" STR_FMT "\" exceeds the limit \"" STR_FMT "\". ",
              STR_ARG(name), STR_ARG(limit)),
          false);
    return true;
}

static bool container_is_over(struct agent *ag, const struct value *pod, struct arena *a)
{
    value_each_item (c, pod_containers(pod)) {
        int64_t limit;
        struct str text, name = value_text(c, "name");
        if (!limit_of(c, &limit, &text) ||
            layer_bytes(ag, pod_uid(pod), name, a) <= (uint64_t)limit)
            continue;
        evict(ag, pod,
              arena_printf(a,
                           "Container " STR_FMT " exceeded its local ephemeral storage limit "
                           "\"" STR_FMT "\". ",
                           STR_ARG(name), STR_ARG(text)),
              false);
        return true;
    }
    return false;
}

static bool pod_is_over(struct agent *ag, const struct value *pod, struct arena *a)
{
    struct str sum = pod_resources_sum(a, pod_spec(pod), STR("limits"), STR("ephemeral-storage"));
    int64_t limit;
    value_each_item (c, pod_containers(pod)) {
        struct str text;
        if (!limit_of(c, &limit, &text))
            return false; /* without a limit of each there is none of all */
    }
    if (!sum.n || !quantity_units(sum, false, &limit) ||
        layer_bytes(ag, pod_uid(pod), STR(""), a) <= (uint64_t)limit)
        return false;
    evict(ag, pod,
          arena_printf(
              a,
              "Pod ephemeral local storage usage exceeds the total limit of containers " STR_FMT
              ". ",
              STR_ARG(sum)),
          false);
    return true;
}

/* ---- The node's own ---- */

struct supply {
    uint64_t available, capacity;
    bool is_known;
};

static uint64_t meminfo_at(struct str text, const char *key)
{
    while (text.n) {
        struct str line = str_cut(&text, '\n'), name = str_cut(&line, ':');
        uint64_t kib;
        line = str_trim(line);
        if (str_eq(name, str_of(key)) && str_to_u64(str_cut(&line, ' '), &kib))
            return kib * 1024;
    }
    return 0;
}

static struct supply memory_supply(void)
{
    autobuf text = { 0 };
    if (file_read("/proc/meminfo", MEMINFO_MAX, &text, NULL) < 0)
        return (struct supply){ 0 };
    struct str t = buf_str(&text);
    return (struct supply){ meminfo_at(t, "MemAvailable"), meminfo_at(t, "MemTotal"), true };
}

static struct supply disk_supply(const char *path, bool inodes)
{
    struct statvfs fs;
    if (statvfs(path, &fs) < 0)
        return (struct supply){ 0 };
    if (inodes)
        return (struct supply){ fs.f_favail, fs.f_files, fs.f_files > 0 };
    return (struct supply){ (uint64_t)fs.f_bavail * fs.f_frsize,
                            (uint64_t)fs.f_blocks * fs.f_frsize, true };
}

static struct supply supply_of(struct agent *ag, struct str signal, struct arena *a)
{
    const char *root = str_cstr(a, ag->parts.node->root_dir);
    if (str_eq(signal, STR("memory.available")))
        return memory_supply();
    if (str_starts(signal, STR("nodefs.")) || str_starts(signal, STR("imagefs.")))
        return disk_supply(root, str_ends(signal, STR("inodesFree")));
    return (struct supply){ 0 };
}

static bool is_short(const struct agent_threshold *t, const struct supply *s)
{
    int64_t n;
    if (!s->is_known)
        return false;
    if (str_ends(t->value, STR("%"))) {
        double percent = strtod(t->value.p, NULL);
        return (double)s->available < (double)s->capacity * percent / 100;
    }
    return quantity_units(t->value, false, &n) && s->available < (uint64_t)n;
}

/* Who uses more than asked for goes first, then who counts least, then who uses most. */
struct candidate {
    const struct value *pod;
    bool is_over;
    int64_t priority, excess;
};

static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->is_over != y->is_over)
        return y->is_over - x->is_over;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->excess < y->excess) - (x->excess > y->excess);
}

static int64_t memory_used(struct agent *ag, struct str uid, struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct value filter = runtime_filter(a, uid), stats;
    int64_t sum = 0;
    if (cri_call(ag->parts.cri, "ListContainerStats", &filter, 0, a, &stats, &err) < 0)
        return 0;
    value_each_item (s, value_get(&stats, STR("stats"))) {
        int64_t n = 0;
        const struct value *used = value_dig(s, "memory", "working_set_bytes");
        if (value_is(used, VALUE_OBJECT))
            used = value_get(used, STR("value"));
        if (value_to_int(used, &n))
            sum += n;
    }
    return sum;
}

static struct candidate candidate_of(struct agent *ag, const struct value *pod, bool is_memory,
                                     struct arena *a)
{
    struct candidate c = { .pod = pod };
    int64_t asked = 0;
    struct str name = is_memory ? STR("memory") : STR("ephemeral-storage");
    struct str sum = pod_resources_sum(a, pod_spec(pod), STR("requests"), name);
    if (sum.n)
        (void)quantity_units(sum, false, &asked);
    int64_t used = is_memory ? memory_used(ag, pod_uid(pod), a)
                             : (int64_t)layer_bytes(ag, pod_uid(pod), STR(""), a);
    (void)value_to_int(value_dig(pod, "spec", "priority"), &c.priority);
    c.excess = used - asked;
    c.is_over = used > asked;
    return c;
}

static bool is_critical(const struct value *pod)
{
    int64_t priority = 0;
    (void)value_to_int(value_dig(pod, "spec", "priority"), &priority);
    return pod_is_static(pod) || priority >= 2000000000;
}

/* Ends one pod, so that the others may stay. */
static void relieve(struct agent *ag, struct str signal, const struct supply *s, struct arena *a)
{
    bool is_memory = str_starts(signal, STR("memory."));
    size_t n, m = 0;
    if (!is_memory && image_gc_free(ag, UINT64_MAX, a) > 0)
        return; /* that may have been enough */
    const struct value **pods = pods_active(ag, STR(""), a, &n);
    struct candidate *all = arena_array(a, struct candidate, n + 1);
    for (size_t i = 0; i < n; i++)
        if (!is_critical(pods[i]))
            all[m++] = candidate_of(ag, pods[i], is_memory, a);
    qsort(all, m, sizeof(*all), by_rank);
    if (!m)
        return;
    evict(ag, all[0].pod,
          arena_printf(a,
                       "The node was low on resource: %s. Threshold quantity: " STR_FMT
                       ", available: %" PRIu64 "Ki. ",
                       is_memory ? "memory" : "ephemeral-storage", STR_ARG(signal),
                       s->available / 1024),
          true);
}

static void check_node(struct agent *ag, struct arena *a)
{
    struct agent_pressure now = { 0 };
    const struct agent_threshold *worst = NULL;
    struct supply short_of = { 0 };
    for (size_t i = 0; i < ag->opt.n_eviction_hard; i++) {
        const struct agent_threshold *t = &ag->opt.eviction_hard[i];
        struct supply s = supply_of(ag, t->signal, a);
        if (!is_short(t, &s))
            continue;
        bool is_memory = str_starts(t->signal, STR("memory."));
        now.memory |= is_memory;
        now.disk |= !is_memory;
        if (!worst || is_memory) {
            worst = t;
            short_of = s;
        }
    }
    (void)pthread_mutex_lock(&ag->lock);
    ag->pressure = now;
    (void)pthread_mutex_unlock(&ag->lock);
    if (worst)
        relieve(ag, worst->signal, &short_of, a);
}

void evict_run(struct agent *ag)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    const struct value **pods = pods_active(ag, STR(""), &a, &n);
    for (size_t i = 0; i < n; i++)
        (void)(volume_is_over(ag, pods[i], &a) || pod_is_over(ag, pods[i], &a) ||
               container_is_over(ag, pods[i], &a));
    check_node(ag, &a);
    arena_done(&a);
}
