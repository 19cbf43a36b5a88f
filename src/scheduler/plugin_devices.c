/* DynamicResources: a pod that wants devices waits until its claims are there and somebody has
 * allocated them, and goes where the devices are. Nobody here allocates. */
#include "base/idiom.h"
#include "scheduler/plugins.h"
#include "base/banned.h"

struct device {
    bool is_allocated, has_rules;
    struct node_terms where;
};

static bool is_made_for(const struct value *claim, const struct pod_facts *f)
{
    value_each_item (o, value_dig(claim, "metadata", "ownerReferences"))
        if (value_is_true(value_get(o, STR("controller"))) && str_eq(value_text(o, "uid"), f->uid))
            return true;
    return false;
}

/* What is wrong with a claim itself; empty: nothing. */
static struct str trouble(struct cycle *c, const struct pod_device *d, const struct value *claim)
{
    if (!d->claim.n)
        return arena_printf(c->a, "pod \"" STR_FMT "\": ResourceClaim not created yet",
                            STR_ARG(c->f->key));
    if (!claim)
        return arena_printf(c->a, "resourceclaim.resource.k8s.io \"" STR_FMT "\" not found",
                            STR_ARG(d->claim));
    if (value_dig(claim, "metadata", "deletionTimestamp"))
        return arena_printf(c->a, "resourceclaim \"" STR_FMT "\" is being deleted",
                            STR_ARG(d->claim));
    if (d->is_made && !is_made_for(claim, c->f))
        return arena_printf(c->a,
                            "ResourceClaim " STR_FMT "/" STR_FMT " was not created for Pod " STR_FMT
                            " (Pod is not owner)",
                            STR_ARG(c->f->ns), STR_ARG(d->claim), STR_ARG(c->f->key));
    return (struct str){ 0 };
}

/* A class that is asked for and is not there; empty: all are. */
static struct str missing_class(struct cycle *c, const struct value *claim)
{
    value_each_item (request, value_dig(claim, "spec", "devices", "requests")) {
        struct str class = value_str(value_dig(request, "exactly", "deviceClassName"));
        if (class.n && c->env->device_class && !c->env->device_class(c->env->arg, c->a, class))
            return arena_printf(c->a,
                                "request " STR_FMT ": device class " STR_FMT " does not exist",
                                STR_ARG(value_text(request, "name")), STR_ARG(class));
    }
    return (struct str){ 0 };
}

static void read_allocation(struct cycle *c, const struct value *claim, struct device *ret)
{
    const struct value *allocation = value_dig(claim, "status", "allocation");
    const struct value *rules = value_get(allocation, STR("nodeSelector"));
    ret->is_allocated = allocation;
    ret->has_rules = value_is(rules, VALUE_OBJECT);
    ret->where = node_terms_read(c->a, value_get(rules, STR("nodeSelectorTerms")), false);
}

bool plugin_devices_prepare(struct cycle *c)
{
    if (!c->f->n_devices || !c->env->device_claim)
        return false;
    struct device *all = arena_array(c->a, struct device, c->f->n_devices);
    for (size_t i = 0; i < c->f->n_devices; i++) {
        const struct pod_device *d = &c->f->devices[i];
        const struct value *claim =
            d->claim.n ? c->env->device_claim(c->env->arg, c->a, c->f->ns, d->claim) : NULL;
        struct str why = trouble(c, d, claim);
        if (!why.n && !value_dig(claim, "status", "allocation"))
            why = missing_class(c, claim);
        if (why.n) {
            cycle_reject(c, PLUGIN_DEVICES, why);
            return false;
        }
        read_allocation(c, claim, &all[i]);
    }
    c->state[PLUGIN_DEVICES] = all;
    return true;
}

void plugin_devices_filter(struct cycle *c, struct sched_node *n, struct verdict *v)
{
    static const struct str none = STR("cannot allocate all claims");
    static const struct str elsewhere = STR("resourceclaim not available on the node");
    const struct device *all = c->state[PLUGIN_DEVICES];
    bool is_open = false, is_here = true;
    for (size_t i = 0; i < c->f->n_devices; i++) {
        is_open |= !all[i].is_allocated;
        is_here &= !all[i].has_rules || node_terms_hold(all[i].where, n->name, n->labels);
    }
    if (is_open || !is_here)
        verdict_set(v, VERDICT_NEVER, is_open ? &none : &elsewhere);
}
