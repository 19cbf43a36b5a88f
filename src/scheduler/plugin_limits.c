/* NodeVolumeLimits: a node has no more volumes of a CSI driver than its CSINode allows.
 *
 * Volumes count once, however many pods of the node use them. A claim that has no volume yet counts
 * for the provisioner of its class. */
#include "scheduler/plugin_volumes.h"

#include "select/volume_match.h"
#include "base/banned.h"

struct attached {
    struct str driver, handle;
};

struct attached_set {
    struct attached *items;
    size_t n, cap;
};

static bool has(const struct attached_set *all, const struct attached *one)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->items[i].handle, one->handle) && str_eq(all->items[i].driver, one->driver))
            return true;
    return false;
}

static void add(struct cycle *c, struct attached_set *all, struct attached one)
{
    if (!one.driver.n || !one.handle.n || has(all, &one))
        return;
    if (all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 8;
        all->items = arena_grow(c->a, all->items, all->cap * sizeof(one), cap * sizeof(one),
                                alignof(struct attached));
        all->cap = cap;
    }
    all->items[all->n++] = one;
}

static const struct value *volume_named(struct cycle *c, struct str name)
{
    return name.n && c->env->volume ? c->env->volume(c->env->arg, c->a, name) : NULL;
}

static void add_claim(struct cycle *c, struct attached_set *all, struct str ns, struct str name)
{
    const struct value *claim = c->env->claim(c->env->arg, c->a, ns, name);
    const struct value *volume = volume_named(c, value_str(value_dig(claim, "spec", "volumeName")));
    if (volume) {
        const struct value *csi = value_dig(volume, "spec", "csi");
        add(c, all,
            (struct attached){ value_text(csi, "driver"), value_text(csi, "volumeHandle") });
        return;
    }
    struct str class_name = claim ? claim_class(claim) : (struct str){ 0 };
    if (!class_name.n || !c->env->storage_class)
        return;
    const struct value *class = c->env->storage_class(c->env->arg, c->a, class_name);
    add(c, all,
        (struct attached){ value_text(class, "provisioner"),
                           arena_printf(c->a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name)) });
}

static void add_pod(struct cycle *c, struct attached_set *all, const struct pod_facts *f)
{
    for (size_t i = 0; i < f->n_volumes; i++)
        if (f->volumes[i].claim.n)
            add_claim(c, all, f->ns, f->volumes[i].claim);
}

/* Also those that are attached and that no pod uses any more, or yet. */
static void add_attachments(struct cycle *c, struct attached_set *all, struct str node)
{
    const struct value **items = NULL;
    size_t n = c->env->attachments ? c->env->attachments(c->env->arg, c->a, node, &items) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct value *spec = value_get(items[i], STR("spec"));
        const struct value *volume =
            volume_named(c, value_str(value_dig(spec, "source", "persistentVolumeName")));
        add(c, all,
            (struct attached){ value_text(spec, "attacher"),
                               value_str(value_dig(volume, "spec", "csi", "volumeHandle")) });
    }
}

static int64_t count(const struct attached_set *all, struct str driver)
{
    int64_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += str_eq(all->items[i].driver, driver);
    return n;
}

/* Those that no pod of the node uses. */
static int64_t count_new(const struct attached_set *wanted, const struct attached_set *used,
                         struct str driver)
{
    int64_t n = 0;
    for (size_t i = 0; i < wanted->n; i++)
        n += str_eq(wanted->items[i].driver, driver) && !has(used, &wanted->items[i]);
    return n;
}

bool plugin_limits_prepare(struct cycle *c)
{
    if (!c->f->n_volumes || !c->env->claim || !c->env->csi_node)
        return false;
    struct attached_set *wanted = arena_new(c->a, struct attached_set);
    add_pod(c, wanted, c->f);
    c->state[PLUGIN_VOLUME_LIMITS] = wanted;
    return wanted->n > 0;
}

void plugin_limits_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str full = STR("node(s) exceed max volume count");
    const struct attached_set *wanted = c->state[PLUGIN_VOLUME_LIMITS];
    const struct value *drivers =
        value_dig(c->env->csi_node(c->env->arg, c->a, n->name), "spec", "drivers");
    struct attached_set used = { 0 }, all;
    if (!drivers)
        return;
    for (size_t i = 0; i < n->n_pods; i++)
        add_pod(c, &used, n->pods[i]->f);
    all = (struct attached_set){ arena_dup(c->a, used.items, used.n * sizeof(*used.items)), used.n,
                                 used.n };
    add_attachments(c, &all, n->name);
    value_each_item (d, drivers) {
        struct str driver = value_text(d, "name");
        int64_t most, more = count_new(wanted, &used, driver);
        if (more && value_to_int(value_dig(d, "allocatable", "count"), &most) &&
            count(&all, driver) + more > most) {
            verdict_set(v, VERDICT_NO, &full);
            return;
        }
    }
}
