/* Volumes and claims. */
#include "base/idiom.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

/* ---- PersistentVolumes ---- */

static void create_volume(const struct strategy *s, struct value *obj)
{
    struct value *status = value_set(s->arena, obj, STR("status"), value_object());
    value_put(s->arena, status, STR("phase"), value_string(STR("Pending")));
    value_put(s->arena, status, STR("lastPhaseTransitionTime"), value_string(s->now));
}

static void update_volume_status(const struct strategy *s, struct value *obj,
                                 const struct value *old_obj)
{
    struct str field = STR("lastPhaseTransitionTime");
    const struct value *old_status = value_get(old_obj, STR("status"));
    struct value *status = value_ensure(s->arena, obj, STR("status"));
    bool same_phase = str_eq(value_text(status, "phase"), value_text(old_status, "phase"));
    const struct value *time = value_get(status, field);
    if (same_phase && !time)
        strategy__keep(s->arena, status, old_status, field);
    else if (!same_phase && (!time || strategy__same(time, value_get(old_status, field))))
        value_put(s->arena, status, field, value_string(s->now));
}

/* ---- PersistentVolumeClaims ---- */

static bool is_claim_or_snapshot(const struct value *source)
{
    struct str kind = value_text(source, "kind"), group = value_text(source, "apiGroup");
    return (str_eq(kind, STR("PersistentVolumeClaim")) && !group.n) ||
           (str_eq(kind, STR("VolumeSnapshot")) && str_eq(group, STR("snapshot.storage.k8s.io")));
}

static void copy_reference(struct arena *a, struct value *spec, struct str from, struct str to)
{
    static const struct str fields[] = { STR("apiGroup"), STR("kind"), STR("name") };
    const struct value *given = value_get(spec, from);
    struct value reference = value_object();
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (value_get(given, fields[i]))
            value_put_new(a, &reference, fields[i], value_borrow(value_get(given, fields[i])));
    value_put(a, spec, to, reference);
}

/* dataSource and dataSourceRef mean the same. The older one takes only claims and snapshots. */
static void settle_data_sources(struct arena *a, struct value *obj, const struct value *old_obj)
{
    struct str old_name = STR("dataSource"), name = STR("dataSourceRef");
    const struct value *old_spec = value_get(old_obj, STR("spec"));
    struct value *spec = value_ensure(a, obj, STR("spec"));
    bool in_use = value_get(old_spec, old_name) || value_get(old_spec, name);
    /* Sources in other namespaces are behind a gate that is off. */
    if (value_str(value_dig(spec, "dataSourceRef", "namespace")).n && !value_get(old_spec, name))
        value_drop(a, spec, name);
    if (!in_use && !value_get(spec, name) && !is_claim_or_snapshot(value_get(spec, old_name)))
        value_drop(a, spec, old_name);
    const struct value *source = value_get(spec, old_name), *ref = value_get(spec, name);
    if (source && !ref)
        copy_reference(a, spec, old_name, name);
    else if (ref && !source && !value_text(ref, "namespace").n)
        copy_reference(a, spec, name, old_name);
}

static void create_claim(const struct strategy *s, struct value *obj)
{
    struct value *status = value_set(s->arena, obj, STR("status"), value_object());
    value_put(s->arena, status, STR("phase"), value_string(STR("Pending")));
    settle_data_sources(s->arena, obj, NULL);
}

static void update_claim(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    settle_data_sources(s->arena, obj, old_obj);
}

const struct strategy_rules strategy__storage[] = {
    { STR(""), STR("persistentvolumes"), .create = create_volume,
      .update_status = update_volume_status },
    { STR(""), STR("persistentvolumeclaims"), .create = create_claim, .update = update_claim },
    { .group = { NULL, 0 } },
};
