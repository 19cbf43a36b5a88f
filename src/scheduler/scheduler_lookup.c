/* What a cycle asks for beside the world: volumes, claims, classes and budgets, from caches. */
#include "scheduler/scheduler_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "select/volume_match.h"
#include "base/banned.h"

struct promise {
    struct arena mem;
    struct str volume, claim;
};

static const struct value *from_cache(struct spn_cache *cache, struct arena *a, struct str key)
{
    struct spn_object *o = spn_cache_get(cache, text_out(key));
    const struct value *v = o ? value_in(spn_object_value(o, arena_out(a))) : NULL;
    spn_object_unref(o);
    return v;
}

/* Gives the references back. */
static size_t read_all(struct arena *a, struct spn_objects *all, const struct value ***ret)
{
    size_t n = all->n;
    const struct value **items = arena_array(a, const struct value *, n + 1);
    for (size_t i = 0; i < n; i++)
        items[i] = value_in(spn_object_value(all->items[i], arena_out(a)));
    spn_objects_done(all);
    *ret = items;
    return n;
}

static const struct value *find_claim(void *arg, struct arena *a, struct str ns, struct str name)
{
    struct scheduler *s = arg;
    return from_cache(s->claims, a,
                      arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name)));
}

static const struct value *find_volume(void *arg, struct arena *a, struct str name)
{
    struct scheduler *s = arg;
    return from_cache(s->volumes, a, name);
}

static const struct value *find_class(void *arg, struct arena *a, struct str name)
{
    struct scheduler *s = arg;
    return from_cache(s->classes, a, name);
}

#define BY_CLASS "storage-class"
#define BY_NODE  "attached-node"

static void index_class(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_index_values *out)
{
    (void)arg;
    spn_index_put(out, text_out(volume_class(value_in(spn_object_value(o, a)))));
}

void scheduler__index_volumes(struct scheduler *s)
{
    (void)spn_cache_add_index(s->volumes, BY_CLASS, index_class, NULL, NULL);
}

static size_t list_volumes(void *arg, struct arena *a, struct str class, const struct value ***ret)
{
    struct scheduler *s = arg;
    struct spn_objects all = { 0 };
    (void)spn_cache_by_index(s->volumes, BY_CLASS, text_out(class), &all, NULL);
    return read_all(a, &all, ret);
}

static size_t list_budgets(void *arg, struct arena *a, struct str ns, const struct value ***ret)
{
    struct scheduler *s = arg;
    struct spn_objects all;
    spn_cache_list(s->budgets, text_out(ns), false, &all);
    return read_all(a, &all, ret);
}

static const struct value *find_driver(void *arg, struct arena *a, struct str name)
{
    struct scheduler *s = arg;
    return from_cache(s->drivers, a, name);
}

static size_t list_capacities(void *arg, struct arena *a, const struct value ***ret)
{
    struct scheduler *s = arg;
    struct spn_objects all;
    spn_cache_list(s->capacities, SPN_TEXT(""), false, &all);
    return read_all(a, &all, ret);
}

static const struct value *find_csi_node(void *arg, struct arena *a, struct str node)
{
    struct scheduler *s = arg;
    return from_cache(s->csi_nodes, a, node);
}

static void index_attached_node(void *arg, const struct spn_object *o, struct spn_arena *a,
                                struct spn_index_values *out)
{
    (void)arg;
    spn_index_put(out, spn_value_text(spn_value_dig(spn_object_value(o, a), "spec", "nodeName")));
}

void scheduler__index_attachments(struct scheduler *s)
{
    (void)spn_cache_add_index(s->attachments, BY_NODE, index_attached_node, NULL, NULL);
}

static size_t list_attachments(void *arg, struct arena *a, struct str node,
                               const struct value ***ret)
{
    struct scheduler *s = arg;
    struct spn_objects all = { 0 };
    (void)spn_cache_by_index(s->attachments, BY_NODE, text_out(node), &all, NULL);
    return read_all(a, &all, ret);
}

static const struct value *find_device_claim(void *arg, struct arena *a, struct str ns,
                                             struct str name)
{
    struct scheduler *s = arg;
    return from_cache(s->device_claims, a,
                      arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name)));
}

static const struct value *find_device_class(void *arg, struct arena *a, struct str name)
{
    struct scheduler *s = arg;
    return from_cache(s->device_classes, a, name);
}

static bool find_selector(void *arg, struct arena *a, const struct pod_facts *f,
                          struct labels_selector *ret)
{
    struct scheduler *s = arg;
    return owners_selector(&s->owners, a, f, ret);
}

/* ---- Promises: volumes that were chosen a moment ago ---- */

static void free_promise(struct promise *p)
{
    if (p)
        arena_done(&p->mem);
    free(p);
}

void scheduler__promise(struct scheduler *s, struct str volume, struct str ns, struct str claim)
{
    struct promise *p = mem_new(struct promise);
    arena_init(&p->mem);
    p->volume = arena_str(&p->mem, volume);
    p->claim = arena_printf(&p->mem, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(claim));
    free_promise(map_set(&s->promised, p->volume, p));
}

void scheduler__forget_promise(struct scheduler *s, struct str volume)
{
    free_promise(map_remove(&s->promised, volume));
}

void scheduler__forget_promises(struct scheduler *s)
{
    struct str key;
    void *p;
    for (size_t pos = 0; map_next(&s->promised, &pos, &key, &p);)
        free_promise(p);
    map_done(&s->promised);
}

static bool is_promised(void *arg, struct str volume, struct str claim_key)
{
    struct scheduler *s = arg;
    const struct promise *p = map_get(&s->promised, volume);
    return p && !str_eq(p->claim, claim_key);
}

/* ---- Claims that a pod waits for, after it has found its node. Any thread ---- */

static bool is_older(const struct value *obj, int64_t version)
{
    int64_t has = 0;
    (void)str_to_i64(value_str(value_dig(obj, "metadata", "resourceVersion")), &has);
    return has < version;
}

static bool is_complete(const struct value *claim)
{
    return value_str(value_dig(claim, "spec", "volumeName")).n &&
           value_get(value_dig(claim, "metadata", "annotations"),
                     STR("pv.kubernetes.io/bind-completed"));
}

/* Whether the pod is still there and the volume can be had on its node. */
static int check_place(struct scheduler *s, struct arena *a, const struct call *c,
                       const struct value *volume, struct spn_err *err)
{
    const struct value *rules = value_dig(volume, "spec", "nodeAffinity", "required");
    struct str key = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(c->pod.ns), STR_ARG(c->pod.name));
    struct node_terms terms = node_terms_read(a, value_get(rules, STR("nodeSelectorTerms")), false);
    scheduler__enter(s);
    const struct sched_pod *p = world_pod(&s->world, key);
    const struct sched_node *n = world_node(&s->world, c->node);
    bool is_there = p && str_eq(p->f->uid, c->pod.uid);
    bool holds = n && (!rules || node_terms_hold(terms, STR(""), n->labels));
    scheduler__leave(s);
    if (!is_there)
        return spn_err_set(err, SPN_NOT_FOUND,
                           "pod does not exist any more: pod \"" STR_FMT "\" not found",
                           STR_ARG(c->pod.name));
    if (!n)
        return spn_err_set(err, SPN_INVALID, "failed to get node \"" STR_FMT "\"",
                           STR_ARG(c->node));
    if (!holds)
        return spn_err_set(err, SPN_INVALID,
                           "pv \"" STR_FMT "\" node affinity doesn't match node \"" STR_FMT
                           "\": no matching NodeSelectorTerms",
                           STR_ARG(value_str(value_dig(volume, "metadata", "name"))),
                           STR_ARG(c->node));
    return 0;
}

/* A volume that is there. 1: its claim has it; 0: not yet. */
static int check_given(struct scheduler *s, struct arena *a, const struct call *c,
                       const struct volume_choice *v, const struct value *claim,
                       struct spn_err *err)
{
    const struct value *volume = find_volume(s, a, v->volume);
    if (!volume)
        return spn_err_set(err, SPN_INVALID,
                           "failed to check binding: could not find persistentvolume \"" STR_FMT
                           "\"",
                           STR_ARG(v->volume));
    if (is_older(volume, v->version))
        return 0;
    if (!value_str(value_dig(volume, "spec", "claimRef", "uid")).n)
        return spn_err_set(err, SPN_INVALID, "ClaimRef got reset for pv \"" STR_FMT "\"",
                           STR_ARG(v->volume));
    int r = check_place(s, a, c, volume, err);
    return r < 0 ? r : is_complete(claim);
}

/* A volume that is being made. The provisioner takes the node away if it cannot. */
static int check_made(struct scheduler *s, struct arena *a, const struct call *c,
                      const struct volume_choice *v, const struct value *claim, struct spn_err *err)
{
    struct str name = value_str(value_dig(claim, "spec", "volumeName"));
    const struct value *notes = value_dig(claim, "metadata", "annotations");
    const struct value *volume = name.n ? find_volume(s, a, name) : NULL;
    if (is_older(claim, v->version))
        return 0;
    if (!str_eq(value_str(value_get(notes, STR("volume.kubernetes.io/selected-node"))), c->node))
        return spn_err_set(err, SPN_INVALID, "%s for PVC \"" STR_FMT "\"",
                           notes ? "provisioning failed" : "selectedNode annotation reset",
                           STR_ARG(v->claim));
    int r = check_place(s, a, c, volume, err);
    return r < 0 ? r : volume && is_complete(claim);
}

int scheduler__check_volumes(void *arg, const struct call *c, struct spn_err *err)
{
    struct arena a;
    int r = 1;
    arena_init(&a);
    for (size_t i = 0; i < c->n_volumes && r > 0; i++) {
        const struct volume_choice *v = &c->volumes[i];
        const struct value *claim = find_claim(arg, &a, c->pod.ns, v->claim);
        if (!claim)
            r = spn_err_set(err, SPN_INVALID,
                            "failed to check binding: could not find persistentvolumeclaim "
                            "\"" STR_FMT "/" STR_FMT "\"",
                            STR_ARG(c->pod.ns), STR_ARG(v->claim));
        else
            r = v->volume.n ? check_given(arg, &a, c, v, claim, err)
                            : check_made(arg, &a, c, v, claim, err);
    }
    arena_done(&a);
    return r;
}

void scheduler__init_env(struct scheduler *s)
{
    s->env = (struct cycle_env){ .arg = s,
                                 .claim = find_claim,
                                 .volume = find_volume,
                                 .storage_class = find_class,
                                 .volumes = list_volumes,
                                 .is_promised = is_promised,
                                 .driver = find_driver,
                                 .capacities = list_capacities,
                                 .csi_node = find_csi_node,
                                 .attachments = list_attachments,
                                 .device_claim = find_device_claim,
                                 .device_class = find_device_class,
                                 .budgets = list_budgets,
                                 .default_selector = find_selector };
}
