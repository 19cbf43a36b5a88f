/* Fills the world from informers, and wakes those who may fit now. */
#include "scheduler/scheduler_internal.h"

#include <assert.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "scheduler/plugins.h"
#include "base/banned.h"

/* ---- Pods ---- */

enum {
    /* A pod that goes from a node. */
    POD_LEFT = 1u << PLUGIN_PORTS | 1u << PLUGIN_FIT | 1u << PLUGIN_VOLUME_RESTRICTIONS |
               1u << PLUGIN_VOLUME_LIMITS | 1u << PLUGIN_SPREAD | 1u << PLUGIN_POD_AFFINITY,
    /* A pod that comes to a node, or changes there. */
    POD_CAME = 1u << PLUGIN_SPREAD | 1u << PLUGIN_POD_AFFINITY,
    VOLUME_CHANGED = 1u << PLUGIN_VOLUME_RESTRICTIONS | 1u << PLUGIN_VOLUME_BINDING |
                     1u << PLUGIN_VOLUME_ZONE | 1u << PLUGIN_VOLUME_LIMITS,
    LIMIT_CHANGED = 1u << PLUGIN_VOLUME_LIMITS,
    ANY_PLUGIN = (1u << N_PLUGINS) - 1,
};

static struct pod_facts *facts_of(struct scheduler *s, const struct spn_object *o)
{
    struct spn_arena *a = spn_arena_new();
    struct pod_facts *f = pod_facts_new(value_in(spn_object_value(o, a)), &s->world.resources);
    spn_arena_free(a);
    return f;
}

/* A pod that came or went, for those who look at other pods. */
struct pod_change {
    struct scheduler *s;
    const struct pod_facts *f;
};

static bool any_term_matches(const struct pod_change *by, struct pod_terms terms,
                             const struct pod_facts *f)
{
    struct label_set ns = world_namespace(&by->s->world, f->ns);
    for (size_t i = 0; i < terms.n; i++)
        if (pod_term_matches(&terms.items[i], f, ns))
            return true;
    return false;
}

/* A pod without rules was rejected by those of the configuration, whose selector is looked for when
 * they are needed. */
static bool any_rule_matches(const struct pod_facts *f, const struct pod_facts *other)
{
    if (!f->n_spread)
        return str_eq(f->ns, other->ns);
    for (size_t i = 0; i < f->n_spread && str_eq(f->ns, other->ns); i++)
        if (labels_match(&f->spread[i].selector, other->labels.items, other->labels.n))
            return true;
    return false;
}

static bool pod_may_help(void *arg, const struct sched_pod *p, int plugin)
{
    const struct pod_change *by = arg;
    if (plugin == PLUGIN_SPREAD)
        return any_rule_matches(p->f, by->f);
    if (plugin == PLUGIN_POD_AFFINITY)
        return any_term_matches(by, p->f->affinity, by->f) ||
               any_term_matches(by, p->f->anti, by->f) || any_term_matches(by, by->f->anti, p->f);
    return true;
}

static void drop_pod(struct scheduler *s, struct sched_pod *p)
{
    bool had_room = p->on || p->nominated.n;
    wait_queue_remove(&s->queue, p);
    (void)world_remove_pod(&s->world, p->f->key);
    if (had_room)
        scheduler__wake(s, POD_LEFT, pod_may_help, &(struct pod_change){ s, p->f });
    world_free_pod(p);
}

/* A pod without a node: in which part of the queue is it now? */
static void queue_pod(struct scheduler *s, struct sched_pod *p, bool is_new, bool has_changed)
{
    int64_t now = clock_mono_ns(&clock_system);
    if (p->is_assumed)
        return;
    if (p->f->is_deleting || p->f->is_final || !scheduler__is_ours(s, p->f)) {
        wait_queue_remove(&s->queue, p);
        return;
    }
    bool was_gated = p->queued == POD_GATED && !p->f->is_gated;
    if (is_new || was_gated || (has_changed && !p->is_preempting))
        wait_queue_add(&s->queue, p, now);
    if (p->queued == POD_ACTIVE)
        pthread_cond_signal(&s->changed);
}

/* What is said about a pod on a node: whom does it help? */
static void tell_of_placed(struct scheduler *s, struct sched_pod *p, bool had_room, bool relabelled)
{
    struct pod_change change = { s, p->f };
    wait_queue_remove(&s->queue, p);
    world_nominate(&s->world, p, (struct str){ 0 });
    if (p->on) /* what its labels were is not known any more */
        scheduler__wake(s, POD_CAME, relabelled ? NULL : pod_may_help, &change);
    else if (had_room)
        scheduler__wake(s, POD_LEFT, pod_may_help, &change);
}

/* Whether a pod that is resized leaves room to others. */
static bool shrinks(const struct pod_facts *from, const struct pod_facts *to)
{
    for (size_t i = 0; i < from->n_amounts; i++)
        if (from->amounts[i].id >= 0 &&
            pod_facts_amount(to, from->amounts[i].id) < from->amounts[i].n)
            return true;
    return false;
}

/* Whether claims for devices were made for it since. */
static bool has_other_devices(const struct pod_facts *was, const struct pod_facts *f)
{
    for (size_t i = 0; i < f->n_devices; i++)
        if (i >= was->n_devices || !str_eq(was->devices[i].claim, f->devices[i].claim))
            return true;
    return was->n_devices != f->n_devices;
}

static void set_pod(struct scheduler *s, struct pod_facts *f)
{
    struct sched_pod *p = world_pod(&s->world, f->key);
    if (p && !str_eq(p->f->uid, f->uid)) {
        drop_pod(s, p);
        p = NULL;
    }
    bool is_new = !p, had_room = p && p->on, was_placed = p && p->f->node_name.n;
    bool has_changed =
        p && (p->f->generation != f->generation || !label_set_eq(p->f->labels, f->labels) ||
              (!f->node_name.n && has_other_devices(p->f, f)));
    bool relabelled =
        p && (!label_set_eq(p->f->labels, f->labels) || p->f->is_deleting != f->is_deleting);
    bool is_smaller = p && p->on && shrinks(p->f, f);
    bool lost_node = p && p->f->nominated.n && !f->nominated.n;
    p = world_set_pod(&s->world, f);
    if (f->node_name.n || f->is_final) {
        if (!was_placed || !p->on || relabelled || has_changed)
            tell_of_placed(s, p, had_room, relabelled);
        if (is_smaller)
            scheduler__wake(s, 1u << PLUGIN_FIT, NULL, NULL);
        return;
    }
    if ((f->nominated.n || lost_node) && !p->is_assumed)
        world_nominate(&s->world, p, f->nominated);
    queue_pod(s, p, is_new, has_changed);
}

static void pod_added(void *arg, const struct spn_object *o, bool is_initial)
{
    struct scheduler *s = arg;
    struct pod_facts *f = facts_of(s, o);
    (void)is_initial;
    scheduler__enter(s);
    set_pod(s, f);
    scheduler__leave(s);
}

static void pod_updated(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    if (old_o != new_o)
        pod_added(arg, new_o, false);
}

static void pod_deleted(void *arg, const struct spn_object *o, bool is_last_known)
{
    struct scheduler *s = arg;
    (void)is_last_known;
    scheduler__enter(s);
    struct sched_pod *p = world_pod(&s->world, str_in(spn_object_key(o)));
    if (p)
        drop_pod(s, p);
    scheduler__leave(s);
}

/* ---- Nodes ---- */

struct node_change_of {
    struct scheduler *s;
    const struct sched_node *n;
};

/* Whether a change of this node may help a pod that the plugin has rejected. */
static bool node_may_help(void *arg, const struct sched_pod *p, int plugin)
{
    const struct node_change_of *by = arg;
    const struct sched_node *n = by->n;
    const struct profile *profile = profiles_find(&by->s->profiles, p->f->scheduler);
    if (plugin == PLUGIN_FIT)
        return plugin_fit_ever(profile, p->f, &by->s->world.resources, n);
    if (plugin == PLUGIN_TAINTS)
        return !taint_in_the_way(n->taints, n->n_taints, p->f->tolerations);
    if (plugin == PLUGIN_NODE_AFFINITY)
        return (!profile || plugin_affinity_is_enforced(profile, n)) &&
               pod_facts_fit_node(p->f, n->name, n->labels);
    if (plugin == PLUGIN_NODE_UNSCHEDULABLE)
        return !n->is_unschedulable;
    return true;
}

static uint32_t plugins_for(unsigned changed)
{
    uint32_t plugins = changed & NODE_ADDED ? ANY_PLUGIN : 0;
    if (changed & NODE_HAS_CHANGED)
        plugins |= 1u << PLUGIN_FIT;
    if (changed & NODE_LABELS_CHANGED)
        plugins |= 1u << PLUGIN_NODE_AFFINITY | 1u << PLUGIN_SPREAD | 1u << PLUGIN_POD_AFFINITY |
                   VOLUME_CHANGED;
    if (changed & NODE_TAINTS_CHANGED)
        plugins |= 1u << PLUGIN_TAINTS | 1u << PLUGIN_NODE_UNSCHEDULABLE | 1u << PLUGIN_SPREAD;
    return plugins;
}

static void node_added(void *arg, const struct spn_object *o, bool is_initial)
{
    struct scheduler *s = arg;
    struct spn_arena *a = spn_arena_new();
    const struct value *v = value_in(spn_object_value(o, a));
    (void)is_initial;
    scheduler__enter(s);
    unsigned changed = world_set_node(&s->world, v);
    struct sched_node *n = world_node(&s->world, str_in(spn_object_name(o)));
    if (changed)
        scheduler__wake(s, plugins_for(changed), node_may_help, &(struct node_change_of){ s, n });
    scheduler__leave(s);
    spn_arena_free(a);
}

static void node_updated(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    if (old_o != new_o)
        node_added(arg, new_o, false);
}

static void node_deleted(void *arg, const struct spn_object *o, bool is_last_known)
{
    struct scheduler *s = arg;
    (void)is_last_known;
    scheduler__enter(s);
    world_remove_node(&s->world, str_in(spn_object_name(o)));
    scheduler__wake(s, 1u << PLUGIN_SPREAD, NULL, NULL);
    scheduler__leave(s);
}

/* ---- Namespaces ---- */

static void namespace_added(void *arg, const struct spn_object *o, bool is_initial)
{
    struct scheduler *s = arg;
    struct spn_arena *a = spn_arena_new();
    const struct value *v = value_in(spn_object_value(o, a));
    (void)is_initial;
    scheduler__enter(s);
    world_set_namespace(&s->world, str_in(spn_object_name(o)), value_dig(v, "metadata", "labels"));
    scheduler__wake(s, 1u << PLUGIN_POD_AFFINITY, NULL, NULL);
    scheduler__leave(s);
    spn_arena_free(a);
}

static void namespace_updated(void *arg, const struct spn_object *old_o,
                              const struct spn_object *new_o)
{
    (void)old_o;
    namespace_added(arg, new_o, false);
}

static void namespace_deleted(void *arg, const struct spn_object *o, bool is_last_known)
{
    struct scheduler *s = arg;
    (void)is_last_known;
    scheduler__enter(s);
    world_remove_namespace(&s->world, str_in(spn_object_name(o)));
    scheduler__leave(s);
}

/* ---- Owners: each kind has its handlers, which only know the kind ---- */

static void owner_set(struct scheduler *s, enum owner_kind kind, const struct spn_object *o)
{
    struct spn_arena *a = spn_arena_new();
    const struct value *v = value_in(spn_object_value(o, a));
    scheduler__enter(s);
    owners_set(&s->owners, kind, v);
    scheduler__leave(s);
    spn_arena_free(a);
}

static void owner_removed(struct scheduler *s, enum owner_kind kind, const struct spn_object *o)
{
    scheduler__enter(s);
    owners_remove(&s->owners, kind, str_in(spn_object_key(o)));
    scheduler__leave(s);
}

/* clang-format off */
#define OWNER_HANDLERS(name, kind)                                                              \
    static void name##_added(void *arg, const struct spn_object *o, bool is_initial)            \
    {                                                                                           \
        (void)is_initial;                                                                       \
        owner_set(arg, kind, o);                                                                \
    }                                                                                           \
    static void name##_updated(void *arg, const struct spn_object *old_o,                       \
                               const struct spn_object *new_o)                                  \
    {                                                                                           \
        if (spn_object_generation(old_o) != spn_object_generation(new_o) ||                     \
            !spn_object_generation(new_o))                                                      \
            owner_set(arg, kind, new_o);                                                        \
    }                                                                                           \
    static void name##_deleted(void *arg, const struct spn_object *o, bool is_last_known)       \
    {                                                                                           \
        (void)is_last_known;                                                                    \
        owner_removed(arg, kind, o);                                                            \
    }
/* clang-format on */

OWNER_HANDLERS(service, OWNER_SERVICE)
OWNER_HANDLERS(controller, OWNER_REPLICATION_CONTROLLER)
OWNER_HANDLERS(replica_set, OWNER_REPLICA_SET)
OWNER_HANDLERS(stateful_set, OWNER_STATEFUL_SET)

/* ---- Volumes ---- */

static void storage_changed(struct scheduler *s, wait_hint_fn *hint, void *arg)
{
    scheduler__enter(s);
    scheduler__wake(s, VOLUME_CHANGED, hint, arg);
    scheduler__leave(s);
}

static void class_added(void *arg, const struct spn_object *o, bool is_initial)
{
    (void)o;
    (void)is_initial;
    storage_changed(arg, NULL, NULL);
}

static void class_updated(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)old_o;
    class_added(arg, new_o, false);
}

/* Also of an attachment that is gone. */
static void limit_changed(void *arg, const struct spn_object *o, bool is_initial)
{
    struct scheduler *s = arg;
    (void)o;
    (void)is_initial;
    scheduler__enter(s);
    scheduler__wake(s, LIMIT_CHANGED, NULL, NULL);
    scheduler__leave(s);
}

static void limit_updated(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    if (old_o != new_o)
        limit_changed(arg, new_o, false);
}

struct claim_name {
    struct str ns, name;
};

/* A claim helps those who use it. */
static bool claim_may_help(void *arg, const struct sched_pod *p, int plugin)
{
    const struct claim_name *claim = arg;
    (void)plugin;
    if (!str_eq(p->f->ns, claim->ns))
        return false;
    for (size_t i = 0; i < p->f->n_volumes; i++)
        if (str_eq(p->f->volumes[i].claim, claim->name))
            return true;
    return false;
}

static void claim_added(void *arg, const struct spn_object *o, bool is_initial)
{
    struct claim_name claim = { str_in(spn_object_namespace(o)), str_in(spn_object_name(o)) };
    (void)is_initial;
    storage_changed(arg, claim_may_help, &claim);
}

/* Whether a claim has changed in what a pod waits for; most of its changes are steps on the way. */
static bool claim_is_news(const struct value *old_claim, const struct value *claim)
{
    static const struct str notes[] = { STR("pv.kubernetes.io/bind-completed"),
                                        STR("volume.kubernetes.io/selected-node") };
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        if (!value_eq(value_get(value_dig(old_claim, "metadata", "annotations"), notes[i]),
                      value_get(value_dig(claim, "metadata", "annotations"), notes[i])))
            return true;
    return !value_eq(value_dig(old_claim, "spec", "storageClassName"),
                     value_dig(claim, "spec", "storageClassName")) ||
           !value_eq(value_dig(old_claim, "metadata", "deletionTimestamp"),
                     value_dig(claim, "metadata", "deletionTimestamp")) ||
           !value_eq(value_dig(old_claim, "status", "phase"), value_dig(claim, "status", "phase"));
}

static void claim_updated(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    struct spn_arena *a = spn_arena_new();
    bool is_news =
        claim_is_news(value_in(spn_object_value(old_o, a)), value_in(spn_object_value(new_o, a)));
    spn_arena_free(a);
    if (is_news)
        claim_added(arg, new_o, false);
}

/* A volume that is somebody's helps those who use his claim; and needs no promise any more. */
static void tell_of_volume(struct scheduler *s, const struct value *volume)
{
    const struct value *ref = value_dig(volume, "spec", "claimRef");
    struct claim_name claim = { value_text(ref, "namespace"), value_text(ref, "name") };
    scheduler__enter(s);
    if (ref)
        scheduler__forget_promise(s, value_str(value_dig(volume, "metadata", "name")));
    scheduler__wake(s, VOLUME_CHANGED, ref ? claim_may_help : NULL, &claim);
    scheduler__leave(s);
}

static void volume_added(void *arg, const struct spn_object *o, bool is_initial)
{
    struct spn_arena *a = spn_arena_new();
    (void)is_initial;
    tell_of_volume(arg, value_in(spn_object_value(o, a)));
    spn_arena_free(a);
}

static void volume_updated(void *arg, const struct spn_object *old_o,
                           const struct spn_object *new_o)
{
    if (old_o != new_o)
        volume_added(arg, new_o, false);
}

/* ---- Devices ---- */

static bool device_may_help(void *arg, const struct sched_pod *p, int plugin)
{
    const struct claim_name *claim = arg;
    (void)plugin;
    for (size_t i = 0; i < p->f->n_devices; i++)
        if (str_eq(p->f->devices[i].claim, claim->name) && str_eq(p->f->ns, claim->ns))
            return true;
    return false;
}

static void device_added(void *arg, const struct spn_object *o, bool is_initial)
{
    struct scheduler *s = arg;
    struct claim_name claim = { str_in(spn_object_namespace(o)), str_in(spn_object_name(o)) };
    (void)is_initial;
    scheduler__enter(s);
    scheduler__wake(s, 1u << PLUGIN_DEVICES, claim.ns.n ? device_may_help : NULL, &claim);
    scheduler__leave(s);
}

static void device_updated(void *arg, const struct spn_object *old_o,
                           const struct spn_object *new_o)
{
    if (old_o != new_o)
        device_added(arg, new_o, false);
}

/* ---- All of them ---- */

static struct spn_informer *follow(struct scheduler *s, struct spn_target what,
                                   const struct spn_handler *h)
{
    struct spn_informers *all = spn_manager_informers(s->manager);
    struct spn_informer *i = spn_informers_get(all, &(struct spn_informer_options){ .what = what });
    if (h) {
        struct spn_handler ours = *h;
        ours.arg = s;
        spn_informer_handle(i, &ours);
    }
    return i;
}

static struct spn_cache *listen(struct scheduler *s, struct spn_target what,
                                const struct spn_handler *h)
{
    struct spn_informer *i = follow(s, what, h);
    assert(s->n_needed < SCHEDULER_INFORMERS_MAX);
    s->needed[s->n_needed++] = i;
    return spn_informer_cache(i);
}

/* Older servers know nothing of devices; pods without them do not wait for that. */
static void listen_to_devices(struct scheduler *s)
{
    static const struct spn_handler devices = { NULL, device_added, device_updated, NULL };
    static const struct spn_target claims =
        SPN_AT("resource.k8s.io", "v1", "resourceclaims", "", "");
    static const struct spn_target classes =
        SPN_AT("resource.k8s.io", "v1", "deviceclasses", "", "");
    s->device_claims = spn_informer_cache(follow(s, claims, &devices));
    s->device_classes = spn_informer_cache(follow(s, classes, &devices));
}

void scheduler__watch(struct scheduler *s)
{
    static const struct spn_handler nodes = { NULL, node_added, node_updated, node_deleted };
    static const struct spn_handler pods = { NULL, pod_added, pod_updated, pod_deleted };
    static const struct spn_handler spaces = { NULL, namespace_added, namespace_updated,
                                               namespace_deleted };
    static const struct spn_handler services = { NULL, service_added, service_updated,
                                                 service_deleted };
    static const struct spn_handler rcs = { NULL, controller_added, controller_updated,
                                            controller_deleted };
    static const struct spn_handler sets = { NULL, replica_set_added, replica_set_updated,
                                             replica_set_deleted };
    static const struct spn_handler stateful = { NULL, stateful_set_added, stateful_set_updated,
                                                 stateful_set_deleted };
    /* Also of drivers and capacities: whatever may make volumes possible. */
    static const struct spn_handler classes = { NULL, class_added, class_updated, NULL };
    static const struct spn_handler claims = { NULL, claim_added, claim_updated, NULL };
    static const struct spn_handler volumes = { NULL, volume_added, volume_updated, NULL };
    static const struct spn_handler limits = { NULL, limit_changed, limit_updated, NULL };
    static const struct spn_handler freed = { NULL, NULL, NULL, limit_changed };
    listen(s, (struct spn_target)SPN_AT("", "v1", "nodes", "", ""), &nodes);
    listen(s, (struct spn_target)SPN_AT("", "v1", "namespaces", "", ""), &spaces);
    listen(s, (struct spn_target)SPN_AT("", "v1", "services", "", ""), &services);
    listen(s, (struct spn_target)SPN_AT("", "v1", "replicationcontrollers", "", ""), &rcs);
    listen(s, (struct spn_target)SPN_AT("apps", "v1", "replicasets", "", ""), &sets);
    listen(s, (struct spn_target)SPN_AT("apps", "v1", "statefulsets", "", ""), &stateful);
    s->claims =
        listen(s, (struct spn_target)SPN_AT("", "v1", "persistentvolumeclaims", "", ""), &claims);
    s->volumes =
        listen(s, (struct spn_target)SPN_AT("", "v1", "persistentvolumes", "", ""), &volumes);
    scheduler__index_volumes(s);
    s->classes = listen(
        s, (struct spn_target)SPN_AT("storage.k8s.io", "v1", "storageclasses", "", ""), &classes);
    s->drivers = listen(s, (struct spn_target)SPN_AT("storage.k8s.io", "v1", "csidrivers", "", ""),
                        &classes);
    s->capacities =
        listen(s, (struct spn_target)SPN_AT("storage.k8s.io", "v1", "csistoragecapacities", "", ""),
               &classes);
    s->csi_nodes =
        listen(s, (struct spn_target)SPN_AT("storage.k8s.io", "v1", "csinodes", "", ""), &limits);
    s->attachments = listen(
        s, (struct spn_target)SPN_AT("storage.k8s.io", "v1", "volumeattachments", "", ""), &freed);
    scheduler__index_attachments(s);
    s->budgets =
        listen(s, (struct spn_target)SPN_AT("policy", "v1", "poddisruptionbudgets", "", ""), NULL);
    listen_to_devices(s);
    listen(s, (struct spn_target)SPN_AT("", "v1", "pods", "", ""), &pods);
}
