#include "scheduler/plugin_volumes.h"

#include "base/idiom.h"
#include "scheduler/storage_room.h"
#include "select/volume_match.h"
#include "base/banned.h"

/* ---- Restrictions: what cannot be used twice ---- */

struct restrictions {
    const struct str *exclusive; /* claims that one pod may use at a time */
    size_t n;
    int64_t users; /* of these, on nodes */
    bool may_clash;
};

static bool is_exclusive(const struct value *claim)
{
    value_each_item (mode, value_dig(claim, "spec", "accessModes"))
        if (str_eq(value_str(mode), STR("ReadWriteOncePod")))
            return true;
    return false;
}

static int64_t uses(const struct restrictions *r, const struct pod_facts *f)
{
    int64_t n = 0;
    for (size_t i = 0; i < f->n_volumes; i++)
        for (size_t k = 0; k < r->n; k++)
            n += f->volumes[i].claim.n && str_eq(f->volumes[i].claim, r->exclusive[k]);
    return n;
}

static void count_users(struct cycle *c, struct restrictions *r)
{
    struct str key;
    void *p;
    for (size_t pos = 0; map_next(&c->w->pods, &pos, &key, &p);) {
        const struct sched_pod *pod = p;
        if (pod->on && pod != c->pod && str_eq(pod->f->ns, c->f->ns))
            r->users += uses(r, pod->f);
    }
}

bool plugin_restrictions_prepare(struct cycle *c)
{
    if (!c->f->n_volumes)
        return false;
    struct restrictions *r = arena_new(c->a, struct restrictions);
    struct str *exclusive = arena_array(c->a, struct str, c->f->n_volumes);
    for (size_t i = 0; i < c->f->n_volumes; i++) {
        const struct pod_volume *v = &c->f->volumes[i];
        r->may_clash |= v->source != NULL;
        if (!v->claim.n || v->is_ephemeral || !c->env->claim)
            continue;
        const struct value *claim = c->env->claim(c->env->arg, c->a, c->f->ns, v->claim);
        if (!claim)
            cycle_reject(c, PLUGIN_VOLUME_RESTRICTIONS,
                         arena_printf(c->a, "persistentvolumeclaim \"" STR_FMT "\" not found",
                                      STR_ARG(v->claim)));
        else if (is_exclusive(claim))
            exclusive[r->n++] = v->claim;
    }
    r->exclusive = exclusive;
    if (r->n)
        count_users(c, r);
    c->state[PLUGIN_VOLUME_RESTRICTIONS] = r;
    return r->may_clash || r->users;
}

static bool share_text(const struct value *a, const struct value *b)
{
    value_each_item (x, a)
        value_each_item (y, b)
            if (str_eq(value_str(x), value_str(y)))
                return true;
    return false;
}

/* Whether both are the same disk and one of them writes. */
static bool same_disk(const struct value *a, const struct value *b)
{
    static const struct {
        struct str kind, id;
        bool can_share; /* if all only read */
    } disks[] = {
        { STR("gcePersistentDisk"), STR("pdName"), true },
        { STR("awsElasticBlockStore"), STR("volumeID"), false },
        { STR("iscsi"), STR("iqn"), true },
        { STR("rbd"), STR("image"), true },
    };
    for (size_t i = 0; i < ARRAY_LEN(disks); i++) {
        const struct value *x = value_get(a, disks[i].kind), *y = value_get(b, disks[i].kind);
        if (!x || !y ||
            !str_eq(value_str(value_get(x, disks[i].id)), value_str(value_get(y, disks[i].id))))
            continue;
        if (str_eq(disks[i].kind, STR("rbd")) &&
            (!str_eq(value_text(x, "pool"), value_text(y, "pool")) ||
             !share_text(value_get(x, STR("monitors")), value_get(y, STR("monitors")))))
            continue;
        bool read_only = value_is_true(value_get(x, STR("readOnly"))) &&
                         value_is_true(value_get(y, STR("readOnly")));
        if (!disks[i].can_share || !read_only)
            return true;
    }
    return false;
}

static bool disks_clash(const struct pod_facts *a, const struct pod_facts *b)
{
    for (size_t i = 0; i < a->n_volumes; i++)
        for (size_t k = 0; a->volumes[i].source && k < b->n_volumes; k++)
            if (b->volumes[k].source && same_disk(a->volumes[i].source, b->volumes[k].source))
                return true;
    return false;
}

void plugin_restrictions_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str disk = STR("node(s) had no available disk");
    static const struct str once =
        STR("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
            "already in-use by another pod");
    const struct restrictions *r = c->state[PLUGIN_VOLUME_RESTRICTIONS];
    for (size_t i = 0; r->may_clash && i < n->n_pods; i++)
        if (disks_clash(c->f, n->pods[i]->f)) {
            verdict_set(v, VERDICT_NO, &disk);
            return;
        }
    if (r->users > 0)
        verdict_set(v, VERDICT_NO, &once);
}

void plugin_restrictions_moved(struct cycle *c, const struct pod_facts *f, struct sched_node *n,
                               int delta)
{
    struct restrictions *r = c->state[PLUGIN_VOLUME_RESTRICTIONS];
    (void)n;
    if (str_eq(f->ns, c->f->ns))
        r->users += delta * uses(r, f);
}

/* ---- Binding ---- */

struct bound_volume {
    bool is_there;
    bool has_rules;
    struct node_terms where;
    struct label_set labels;
};

struct free_volume {
    const struct value *v;
    struct str name;
    bool has_rules;
    struct node_terms where;
};

struct open_claim {
    const struct value *v, *class;
    struct str name, key, class_name, selected; /* the node that was chosen before */
    struct labels_selector selector;
    bool has_selector, is_bad; /* its selector is none */
    struct rooms rooms;        /* where one can be made */
};

struct binding {
    struct bound_volume *bound;
    struct open_claim *open;
    struct free_volume *free; /* volumes that may be bound to */
    size_t n_bound, n_open, n_free;
};

static struct str annotation(const struct value *obj, struct str key)
{
    return value_str(value_get(value_dig(obj, "metadata", "annotations"), key));
}

static void read_rules(struct cycle *c, const struct value *volume, bool *has,
                       struct node_terms *ret)
{
    const struct value *required = value_dig(volume, "spec", "nodeAffinity", "required");
    *has = value_is(required, VALUE_OBJECT);
    *ret = node_terms_read(c->a, value_get(required, STR("nodeSelectorTerms")), false);
}

static void add_bound(struct cycle *c, struct binding *b, const struct value *claim)
{
    struct bound_volume *to = &b->bound[b->n_bound++];
    const struct value *v =
        c->env->volume
            ? c->env->volume(c->env->arg, c->a, value_str(value_dig(claim, "spec", "volumeName")))
            : NULL;
    to->is_there = v;
    if (!v)
        return;
    read_rules(c, v, &to->has_rules, &to->where);
    to->labels = label_set_read(c->a, value_dig(v, "metadata", "labels"));
}

/* False: nobody waits for the pod to bind it. */
static bool add_open(struct cycle *c, struct binding *b, const struct value *claim)
{
    struct open_claim *to = &b->open[b->n_open];
    const struct value *selector = value_dig(claim, "spec", "selector");
    struct err err = ERR_INIT(c->a);
    to->v = claim;
    to->name = value_str(value_dig(claim, "metadata", "name"));
    to->key = arena_printf(c->a, STR_FMT "/" STR_FMT, STR_ARG(c->f->ns), STR_ARG(to->name));
    to->selected = annotation(claim, STR("volume.kubernetes.io/selected-node"));
    to->class_name = claim_class(claim);
    to->class = to->class_name.n && c->env->storage_class
                    ? c->env->storage_class(c->env->arg, c->a, to->class_name)
                    : NULL;
    to->has_selector = selector;
    to->is_bad = selector && labels_from_value(c->a, selector, &to->selector, &err) < 0;
    if (!class_waits_for_consumer(to->class) || value_str(value_dig(claim, "spec", "volumeName")).n)
        return false;
    to->rooms = rooms_read(c, to->class);
    b->n_open++;
    return true;
}

/* The smallest wish first, so that it takes the smallest volume. */
static void sort_open(struct binding *b)
{
    for (size_t i = 1; i < b->n_open; i++) {
        struct open_claim o = b->open[i];
        size_t k = i;
        for (; k > 0 && claim_cmp_size(o.v, b->open[k - 1].v) < 0; k--)
            b->open[k] = b->open[k - 1];
        b->open[k] = o;
    }
}

static bool is_first_of_class(const struct binding *b, size_t open)
{
    for (size_t i = 0; i < open; i++)
        if (str_eq(b->open[i].class_name, b->open[open].class_name))
            return false;
    return true;
}

static void collect_class(struct cycle *c, struct binding *b, struct str class)
{
    const struct value **all = NULL;
    size_t n = c->env->volumes ? c->env->volumes(c->env->arg, c->a, class, &all) : 0;
    struct free_volume *free = arena_array(c->a, struct free_volume, b->n_free + n + 1);
    if (b->n_free)
        memcpy(free, b->free, b->n_free * sizeof(*free));
    b->free = free;
    for (size_t i = 0; i < n; i++) {
        struct free_volume *to = &b->free[b->n_free++];
        to->v = all[i];
        to->name = value_str(value_dig(all[i], "metadata", "name"));
        read_rules(c, all[i], &to->has_rules, &to->where);
    }
}

static void collect_free(struct cycle *c, struct binding *b)
{
    for (size_t i = 0; i < b->n_open; i++)
        if (is_first_of_class(b, i))
            collect_class(c, b, b->open[i].class_name);
}

static bool is_made_for(const struct value *claim, const struct pod_facts *f)
{
    value_each_item (o, value_dig(claim, "metadata", "ownerReferences"))
        if (value_is_true(value_get(o, STR("controller"))) && str_eq(value_text(o, "uid"), f->uid))
            return true;
    return false;
}

/* What is wrong with a claim itself; empty: nothing. */
static struct str claim_trouble(struct cycle *c, const struct pod_volume *v,
                                const struct value *claim)
{
    if (!claim && v->is_ephemeral)
        return arena_printf(c->a,
                            "waiting for ephemeral volume controller to create the "
                            "persistentvolumeclaim \"" STR_FMT "\"",
                            STR_ARG(v->claim));
    if (!claim)
        return arena_printf(c->a, "persistentvolumeclaim \"" STR_FMT "\" not found",
                            STR_ARG(v->claim));
    if (str_eq(value_str(value_dig(claim, "status", "phase")), STR("Lost")))
        return arena_printf(c->a,
                            "persistentvolumeclaim \"" STR_FMT
                            "\" bound to non-existent persistentvolume \"" STR_FMT "\"",
                            STR_ARG(v->claim),
                            STR_ARG(value_str(value_dig(claim, "spec", "volumeName"))));
    if (value_dig(claim, "metadata", "deletionTimestamp"))
        return arena_printf(c->a, "persistentvolumeclaim \"" STR_FMT "\" is being deleted",
                            STR_ARG(v->claim));
    if (v->is_ephemeral && !is_made_for(claim, c->f))
        return arena_printf(c->a,
                            "PVC " STR_FMT "/" STR_FMT " was not created for pod " STR_FMT
                            "/" STR_FMT " (pod is not owner)",
                            STR_ARG(c->f->ns), STR_ARG(v->claim), STR_ARG(c->f->ns),
                            STR_ARG(c->f->name));
    return (struct str){ 0 };
}

static bool is_bound(const struct value *claim)
{
    return value_str(value_dig(claim, "spec", "volumeName")).n &&
           value_get(value_dig(claim, "metadata", "annotations"),
                     STR("pv.kubernetes.io/bind-completed"));
}

bool plugin_binding_prepare(struct cycle *c)
{
    if (!c->f->n_volumes)
        return false;
    struct binding *b = arena_new(c->a, struct binding);
    b->bound = arena_array(c->a, struct bound_volume, c->f->n_volumes + 1);
    b->open = arena_array(c->a, struct open_claim, c->f->n_volumes + 1);
    c->state[PLUGIN_VOLUME_BINDING] = b;
    bool waits_for_none = false;
    for (size_t i = 0; i < c->f->n_volumes; i++) {
        const struct pod_volume *v = &c->f->volumes[i];
        if (!v->claim.n || !c->env->claim)
            continue;
        const struct value *claim = c->env->claim(c->env->arg, c->a, c->f->ns, v->claim);
        struct str trouble = claim_trouble(c, v, claim);
        if (trouble.n) {
            cycle_reject(c, PLUGIN_VOLUME_BINDING, trouble);
            return false;
        }
        if (is_bound(claim))
            add_bound(c, b, claim);
        else
            waits_for_none |= !add_open(c, b, claim);
    }
    if (waits_for_none)
        cycle_reject(c, PLUGIN_VOLUME_BINDING,
                     STR("pod has unbound immediate PersistentVolumeClaims"));
    sort_open(b);
    collect_free(c, b);
    return b->n_bound || b->n_open;
}

/* ---- Which volume for which claim ---- */

static bool is_chosen(const struct volume_choice *done, size_t n, struct str volume)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(done[i].volume, volume))
            return true;
    return false;
}

/* The smallest that is large enough, or the one that was made for the claim. */
static const struct free_volume *match_volume(struct cycle *c, const struct binding *b,
                                              const struct open_claim *o,
                                              const struct sched_node *n,
                                              const struct volume_choice *done, size_t n_done)
{
    const struct free_volume *best = NULL;
    for (size_t i = 0; i < b->n_free && !o->is_bad; i++) {
        const struct free_volume *v = &b->free[i];
        if (is_chosen(done, n_done, v->name) ||
            (c->env->is_promised && c->env->is_promised(c->env->arg, v->name, o->key)))
            continue;
        enum volume_fit fit = volume_fit(v->v, o->v, o->has_selector ? &o->selector : NULL);
        if (fit == VOLUME_UNFIT)
            continue;
        bool is_here = !v->has_rules || node_terms_hold(v->where, STR(""), n->labels);
        if (fit == VOLUME_RESERVED)
            return is_here ? v : NULL;
        if (is_here && volume_has_modes(v->v, o->v) &&
            (!best || volume_cmp_size(v->v, best->v) < 0))
            best = v;
    }
    return best;
}

/* Whether one can be made on the node. */
static bool can_provision(const struct open_claim *o, const struct sched_node *n)
{
    struct str by = value_text(o->class, "provisioner");
    const struct value *topologies = value_get(o->class, STR("allowedTopologies"));
    if (!by.n || str_eq(by, STR("kubernetes.io/no-provisioner")))
        return false;
    bool holds = !value_is(topologies, VALUE_ARRAY) || !topologies->n;
    value_each_item (term, topologies) {
        bool all = true;
        value_each_item (e, value_get(term, STR("matchLabelExpressions"))) {
            struct str has = label_get(n->labels, value_text(e, "key"));
            bool found = false;
            value_each_item (v, value_get(e, STR("values")))
                found |= has.p && str_eq(has, value_str(v));
            all &= found;
        }
        holds |= all;
    }
    return holds;
}

static const struct str no_volume = STR("node(s) didn't find available persistent volumes to bind");
static const struct str no_room = STR("node(s) did not have enough free storage");

/* What each open claim gets on the node. NULL, or why one gets nothing. */
static const struct str *choose(struct cycle *c, const struct binding *b,
                                const struct sched_node *n, struct volume_choice *ret,
                                size_t *ret_n)
{
    *ret_n = 0;
    for (size_t i = 0; i < b->n_open; i++) {
        const struct open_claim *o = &b->open[i];
        if (o->selected.n && !str_eq(o->selected, n->name))
            return &no_volume;
        const struct free_volume *v = o->selected.n ? NULL : match_volume(c, b, o, n, ret, *ret_n);
        if (!v && !can_provision(o, n))
            return &no_volume;
        if (!v && !rooms_suffice(&o->rooms, o->v, n))
            return &no_room;
        ret[(*ret_n)++] =
            (struct volume_choice){ .claim = o->name, .volume = v ? v->name : STR("") };
    }
    return NULL;
}

void plugin_binding_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str elsewhere =
        STR("node(s) didn't match PersistentVolume's node affinity");
    static const struct str gone =
        STR("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
    const struct binding *b = c->state[PLUGIN_VOLUME_BINDING];
    struct str why[3];
    size_t n_why = 0, n_chosen;
    bool is_gone = false;
    for (size_t i = 0; i < b->n_bound; i++) {
        is_gone = !b->bound[i].is_there;
        bool is_here = is_gone || !b->bound[i].has_rules ||
                       node_terms_hold(b->bound[i].where, STR(""), n->labels);
        if (!is_here)
            why[n_why++] = elsewhere;
        if (!is_here || is_gone)
            break;
    }
    const struct str *trouble =
        b->n_open ? choose(c, b, n, arena_array(c->a, struct volume_choice, b->n_open), &n_chosen)
                  : NULL;
    if (trouble)
        why[n_why++] = *trouble;
    if (is_gone)
        why[n_why++] = gone;
    if (!n_why)
        return;
    v->code = VERDICT_NEVER;
    v->why = arena_dup(c->a, why, n_why * sizeof(why[0]));
    v->n = (uint16_t)n_why;
}

void plugin_volumes_choose(struct cycle *c, struct sched_node *n, struct decision *ret)
{
    const struct binding *b = c->state[PLUGIN_VOLUME_BINDING];
    if (!b || !b->n_open)
        return;
    ret->volumes = arena_array(c->a, struct volume_choice, b->n_open);
    (void)choose(c, b, n, ret->volumes, &ret->n_volumes);
}

/* ---- Zones ---- */

static const struct str zone_keys[] = {
    STR("topology.kubernetes.io/zone"),
    STR("topology.kubernetes.io/region"),
    STR("failure-domain.beta.kubernetes.io/zone"),
    STR("failure-domain.beta.kubernetes.io/region"),
};

bool plugin_zone_prepare(struct cycle *c)
{
    const struct binding *b = c->state[PLUGIN_VOLUME_BINDING];
    for (size_t i = 0; b && i < b->n_bound; i++)
        for (size_t k = 0; k < ARRAY_LEN(zone_keys); k++)
            if (label_get(b->bound[i].labels, zone_keys[k]).p)
                return true;
    return false;
}

/* A volume may be in several zones: "a__b". */
static bool in_zones(struct str zones, struct str zone)
{
    for (size_t from = 0, i = 0; i <= zones.n; i++)
        if (i == zones.n || str_starts(str_skip(zones, i), STR("__"))) {
            if (str_eq(str_take(str_skip(zones, from), i - from), zone))
                return true;
            from = i + 2;
        }
    return false;
}

/* The old keys mean the same as the new ones. */
static struct str zone_of(const struct sched_node *n, size_t key)
{
    struct str v = label_get(n->labels, zone_keys[key]);
    return v.p ? v : label_get(n->labels, zone_keys[(key + 2) % 4]);
}

void plugin_zone_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str why = STR("node(s) had no available volume zone");
    const struct binding *b = c->state[PLUGIN_VOLUME_BINDING];
    bool has_zone = false;
    for (size_t k = 0; k < ARRAY_LEN(zone_keys); k++)
        has_zone |= label_get(n->labels, zone_keys[k]).p != NULL;
    if (!has_zone)
        return;
    for (size_t i = 0; i < b->n_bound; i++)
        for (size_t k = 0; k < ARRAY_LEN(zone_keys); k++) {
            struct str zones = label_get(b->bound[i].labels, zone_keys[k]);
            struct str zone = zone_of(n, k);
            if (zones.p && (!zone.p || !in_zones(zones, zone))) {
                verdict_set(v, VERDICT_NEVER, &why);
                return;
            }
        }
}
