/* Fields of features that are off. Upstream keeps what an object already has of such a feature and
 * drops it from all others; so do we, for every gate that it has off by default.
 *
 * Few types have such a field at or below them. Which ones is found once, so that for all others
 * nothing is walked. */
#include <assert.h>
#include <pthread.h>

#include "base/idiom.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

static const struct str gates_off[] = {
    STR("AtomicWriteVolumeUserFields"),
    STR("CSIVolumeHealth"),
    STR("CompositePodGroup"),
    STR("ContainerStopSignals"),
    STR("CoordinatedLeaderElection"),
    STR("DRADerivedAttributes"),
    STR("DRADeviceCompatibilityGroups"),
    STR("DRAListTypeAttributes"),
    STR("DRANodeAllocatableResources"),
    STR("DRAOptionalNodeOperations"),
    STR("DRAPartitionableDevicesType"),
    STR("DRAWorkloadResourceClaims"),
    STR("EmptyDirVolumeMode"),
    STR("EvictionRequestAPI"),
    STR("GRPCContainerProbeTLS"),
    STR("GenericWorkload"),
    STR("H2CContainerProbe"),
    STR("ImageVolumeWithDigest"),
    STR("InPlacePodVerticalScalingSchedulerPreemption"),
    STR("PodGroupPreemptionPolicy"),
    STR("TopologyAwareWorkloadScheduling"),
    STR("VolumeBindMountOptions"),
    STR("WorkloadWithJob"),
};

enum { GATES = ARRAY_LEN(gates_off) };

/* Its place in the table, or GATES if it is on. */
static size_t find_off(struct str gate)
{
    size_t i = 0;
    while (i < GATES && !(gate.n && str_eq(gate, gates_off[i])))
        i++;
    return i;
}

static bool is_off(struct str gate)
{
    return gate.n && find_off(gate) < GATES;
}

/* ---- Which types to look into ---- */

enum { TYPES_MAX = 4096 };

/* By place in kind_types; filled once. */
static bool reaches[TYPES_MAX];
static pthread_once_t reaches_once = PTHREAD_ONCE_INIT;

static bool type_reaches(const struct kind_type *t)
{
    return t >= kind_types && t < kind_types + n_kind_types && reaches[t - kind_types];
}

static bool leads_to_gate(const struct kind_field *f)
{
    return is_off(f->gate) || (f->scalar == KIND_STRUCT && type_reaches(f->type));
}

static bool spread_once(void)
{
    bool changed = false;
    for (size_t i = 0; i < n_kind_types; i++) {
        for (size_t k = 0; !reaches[i] && k < kind_types[i].n_fields; k++) {
            if (!leads_to_gate(&kind_types[i].fields[k]))
                continue;
            reaches[i] = changed = true;
        }
    }
    return changed;
}

static void find_reaches(void)
{
    assert(n_kind_types <= TYPES_MAX);
    while (spread_once())
        continue;
}

/* ---- Walking ---- */

static bool uses(const struct kind_type *t, const struct value *obj, struct str gate);

/* `v` is one value of the field's type. */
static bool value_uses(const struct kind_field *f, const struct value *v, struct str gate)
{
    switch (f->shape) {
    case KIND_LIST:
        value_each_item (it, v)
            if (uses(f->type, it, gate))
                return true;
        return false;
    case KIND_MAP:
        value_each_field (entry, v)
            if (uses(f->type, &entry->val, gate))
                return true;
        return false;
    default:
        return uses(f->type, v, gate);
    }
}

static bool uses(const struct kind_type *t, const struct value *obj, struct str gate)
{
    if (!type_reaches(t))
        return false;
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (!leads_to_gate(f))
            continue;
        const struct value *v = f->flags & KIND_INLINE ? obj : value_get(obj, f->name);
        if (v && (str_eq(f->gate, gate) || (f->scalar == KIND_STRUCT && value_uses(f, v, gate))))
            return true;
    }
    return false;
}

struct drop {
    struct arena *arena;
    const struct kind_type *root;
    const struct value *old_obj;
    enum { NOT_ASKED, USED, UNUSED } by_old[GATES]; /* looked up once per gate */
};

static bool is_unused(struct drop *d, struct str gate)
{
    size_t i = find_off(gate);
    if (i == GATES)
        return false;
    if (d->by_old[i] == NOT_ASKED)
        d->by_old[i] = uses(d->root, d->old_obj, gate) ? USED : UNUSED;
    return d->by_old[i] == UNUSED;
}

static void drop_in(struct drop *d, const struct kind_type *t, struct value *obj);

static void drop_below(struct drop *d, const struct kind_field *f, struct value *v)
{
    if (f->shape == KIND_SINGLE) {
        drop_in(d, f->type, v);
        return;
    }
    if (f->shape == KIND_LIST && v->type == VALUE_ARRAY)
        for (size_t i = 0; i < v->n; i++)
            drop_in(d, f->type, value_edit_at(d->arena, v, i));
    if (f->shape == KIND_MAP && v->type == VALUE_OBJECT)
        for (size_t i = 0; i < v->n; i++)
            drop_in(d, f->type, value_edit(d->arena, v, v->fields[i].key));
}

/* Upstream removes a Lifecycle that became empty. Other structs stay, empty. */
static bool goes_when_empty(const struct kind_field *f)
{
    return f->shape == KIND_SINGLE && str_eq(f->type->name, STR("Lifecycle"));
}

static void drop_in(struct drop *d, const struct kind_type *t, struct value *obj)
{
    if (!type_reaches(t) || obj->type != VALUE_OBJECT)
        return;
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (!leads_to_gate(f))
            continue;
        if (f->flags & KIND_INLINE) {
            drop_in(d, f->type, obj);
            continue;
        }
        if (!value_get(obj, f->name))
            continue;
        if (f->gate.n && is_unused(d, f->gate)) {
            value_drop(d->arena, obj, f->name);
            continue;
        }
        if (f->scalar != KIND_STRUCT)
            continue;
        struct value *v = value_edit(d->arena, obj, f->name);
        bool was_empty = v->n == 0;
        drop_below(d, f, v);
        if (goes_when_empty(f) && !was_empty && v->n == 0)
            value_drop(d->arena, obj, f->name);
    }
}

void strategy__drop_gated(struct arena *a, const struct kind_type *t, struct value *obj,
                          const struct value *old_obj)
{
    struct drop d = { .arena = a, .root = t, .old_obj = old_obj };
    (void)pthread_once(&reaches_once, find_reaches);
    drop_in(&d, t, obj);
}
