#include "server/registry/strategy.h"

#include "api/defaults/defaults.h"
#include "api/pod_phase.h"
#include "base/idiom.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

/* ---- The table ---- */

/* Kinds that need no functions of their own. */
const struct strategy_rules strategy__plain[] = {
    { STR(""), STR("endpoints"), STRATEGY_UPSERT },
    { STR(""), STR("events"), STRATEGY_UPSERT | STRATEGY_NO_PROPAGATION },
    { STR(""), STR("limitranges"), STRATEGY_UPSERT | STRATEGY_MAKES_NAMES },
    { STR(""), STR("podtemplates"), STRATEGY_GENERATION },
    { STR(""), STR("replicationcontrollers"), STRATEGY_GENERATION | STRATEGY_ORPHAN },
    { STR("admissionregistration.k8s.io"),
      .flags = STRATEGY_GENERATION | STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { STR("apps"), STR("deployments"),
      STRATEGY_GENERATION | STRATEGY_ANNOTATIONS | STRATEGY_STATUS_LABELS },
    { STR("apps"), STR("replicasets"), STRATEGY_GENERATION },
    { STR("apps"), STR("statefulsets"), STRATEGY_GENERATION },
    { STR("autoscaling"), .flags = STRATEGY_GENERATION },
    { STR("batch"), STR("cronjobs"), STRATEGY_GENERATION },
    { STR("certificates.k8s.io"), STR("clustertrustbundles"), STRATEGY_CONDITIONAL },
    { STR("certificates.k8s.io"), STR("podcertificaterequests"),
      STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { STR("coordination.k8s.io"), .flags = STRATEGY_UPSERT | STRATEGY_CONDITIONAL },
    { STR("events.k8s.io"), .flags = STRATEGY_UPSERT | STRATEGY_NO_PROPAGATION },
    { STR("flowcontrol.apiserver.k8s.io"), .flags = STRATEGY_GENERATION | STRATEGY_STATUS_META },
    { STR("networking.k8s.io"), STR("ingresses"), STRATEGY_GENERATION },
    { STR("networking.k8s.io"), STR("ingressclasses"), STRATEGY_GENERATION },
    { STR("networking.k8s.io"), STR("networkpolicies"), STRATEGY_GENERATION },
    { STR("networking.k8s.io"), STR("servicecidrs"), STRATEGY_STATUS_META },
    { STR("node.k8s.io"), .flags = STRATEGY_UPSERT | STRATEGY_CONDITIONAL },
    { STR("policy"), STR("podsecuritypolicies"), 0 },
    { STR("policy"), .flags = STRATEGY_GENERATION | STRATEGY_CONDITIONAL },
    { STR("rbac.authorization.k8s.io"), .flags = STRATEGY_UPSERT },
    { STR("resource.k8s.io"), STR("deviceclasses"), STRATEGY_GENERATION },
    { STR("resource.k8s.io"), STR("resourceslices"), STRATEGY_GENERATION },
    { STR("scheduling.k8s.io"), STR("priorityclasses"),
      STRATEGY_GENERATION | STRATEGY_GENERATION_ONCE },
    { STR("scheduling.k8s.io"), STR("podgroups"), STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { STR("scheduling.k8s.io"), STR("workloads"), STRATEGY_CONDITIONAL },
    { STR("storage.k8s.io"), STR("csidrivers"),
      STRATEGY_GENERATION | STRATEGY_GENERATION_LATE | STRATEGY_CONDITIONAL },
    { STR("storage.k8s.io"), STR("csinodes"), STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { STR("storage.k8s.io"), STR("csistoragecapacities"), STRATEGY_CONDITIONAL },
    { STR("storage.k8s.io"), STR("volumeattachments"),
      STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { STR("storagemigration.k8s.io"), .flags = STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { .group = { NULL, 0 } },
};

static const struct strategy_rules custom_rules = {
    .flags =
        STRATEGY_GENERATION | STRATEGY_CONDITIONAL | STRATEGY_STATUS_META | STRATEGY_STATUS_COUNTS,
};

const struct strategy_rules *strategy__rules(const struct kind_resource *r)
{
#define STRATEGY_LIST(name) strategy__##name,
    static const struct strategy_rules *const tables[] = { STRATEGY_TABLES(STRATEGY_LIST) };
#undef STRATEGY_LIST
    static const struct strategy_rules none;
    const struct strategy_rules *of_group = &none;
    if (r->type->custom)
        return &custom_rules;
    for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
        for (const struct strategy_rules *row = tables[t]; row->group.p; row++) {
            if ((row->resource.p && !str_eq(row->resource, r->plural)) ||
                !str_eq(row->group, r->group))
                continue;
            if (row->resource.p)
                return row;
            of_group = row;
        }
    }
    return of_group;
}

unsigned strategy_flags(const struct kind_resource *r)
{
    return strategy__rules(r)->flags;
}

bool strategy_orphans(const struct kind_resource *asked)
{
    static const struct {
        struct str group, version;
        struct str resources[4];
    } old[] = {
        { STR("extensions"),
          STR("v1beta1"),
          { STR("deployments"), STR("replicasets"), STR("daemonsets") } },
        { STR("apps"), STR("v1beta1"), { STR("deployments"), STR("statefulsets") } },
        { STR("apps"),
          STR("v1beta2"),
          { STR("deployments"), STR("replicasets"), STR("daemonsets"), STR("statefulsets") } },
        { STR("batch"), STR("v1beta1"), { STR("cronjobs") } },
        { STR("batch"), STR("v2alpha1"), { STR("cronjobs") } },
    };
    for (size_t i = 0; i < ARRAY_LEN(old); i++) {
        if (!str_eq(asked->group, old[i].group) || !str_eq(asked->version, old[i].version))
            continue;
        for (size_t k = 0; k < 4; k++)
            if (str_eq(asked->plural, old[i].resources[k]))
                return true;
    }
    return strategy_flags(kind_stored(asked)) & STRATEGY_ORPHAN;
}

/* ---- Pieces that strategies share ---- */

void strategy__keep(struct arena *a, struct value *obj, const struct value *old_obj,
                    struct str field)
{
    const struct value *old_value = value_get(old_obj, field);
    if (old_value)
        value_put(a, obj, field, value_borrow(old_value));
    else
        value_drop(a, obj, field);
}

void strategy__keep_metadata(struct arena *a, struct value *obj, const struct value *old_obj)
{
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    const struct value *old_meta = value_get(old_obj, STR("metadata"));
    strategy__keep(a, meta, old_meta, STR("labels"));
    strategy__keep(a, meta, old_meta, STR("annotations"));
    strategy__keep(a, meta, old_meta, STR("finalizers"));
    strategy__keep(a, meta, old_meta, STR("ownerReferences"));
}

bool strategy__same(const struct value *v, const struct value *w)
{
    return v == w || (v && w && value_eq(v, w));
}

bool strategy__has_item(const struct value *list, struct str text)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return true;
    return false;
}

void strategy__add_item(struct arena *a, struct value *obj, struct str field, struct str text)
{
    struct value *list = value_edit(a, obj, field);
    if (!value_is(list, VALUE_ARRAY))
        list = value_set(a, obj, field, value_array());
    if (!strategy__has_item(list, text))
        value_put_item(a, list, value_string(text));
}

/* ---- In general ---- */

/* Whether the status has a path of its own, in the version of the request. */
static bool has_status(const struct strategy *s)
{
    return kind_subresource_find(s->asked ? s->asked : s->resource, STR("status"));
}

void strategy_create(const struct strategy *s, struct value *obj)
{
    const struct strategy_rules *rules = strategy__rules(s->resource);
    unsigned flags = rules->flags;
    struct value *meta = value_ensure(s->arena, obj, STR("metadata"));
    if ((flags & STRATEGY_GENERATION) && !(flags & STRATEGY_GENERATION_LATE))
        value_put(s->arena, meta, STR("generation"), value_int(1));
    if (has_status(s) && !(flags & STRATEGY_KEEP_STATUS)) {
        value_drop(s->arena, obj, STR("status"));
        if (s->resource->type->custom) /* a schema may have a default for it */
            defaults_apply(s->arena, s->resource->type, obj);
    }
    defaults_stamp(s->arena, s->resource->type, obj, s->now);
    strategy__drop_gated(s->arena, s->resource->type, obj, NULL);
    if (rules->create)
        rules->create(s, obj);
}

static bool part_of_spec(struct str field, bool status_counts)
{
    static const struct str others[] = { STR("metadata"), STR("kind"), STR("apiVersion") };
    return !words_have(field, WORDS(others)) && (status_counts || !str_eq(field, STR("status")));
}

static bool same_spec_in(const struct value *obj, const struct value *other, bool status_counts)
{
    value_each_field (f, obj)
        if (part_of_spec(f->key, status_counts) &&
            (!value_get(other, f->key) || !value_eq(&f->val, value_get(other, f->key))))
            return false;
    return true;
}

static bool counts_as_change(const struct kind_resource *r, const struct value *obj,
                             const struct value *old_obj)
{
    unsigned flags = strategy_flags(r);
    /* A status with a path of its own was already set to the old one. */
    bool status = flags & STRATEGY_STATUS_COUNTS;
    if (!same_spec_in(obj, old_obj, status) || !same_spec_in(old_obj, obj, status))
        return true;
    if ((flags & STRATEGY_ANNOTATIONS) &&
        !strategy__same(value_dig(obj, "metadata", "annotations"),
                        value_dig(old_obj, "metadata", "annotations")))
        return true;
    return (flags & STRATEGY_LABELS) && !strategy__same(value_dig(obj, "metadata", "labels"),
                                                        value_dig(old_obj, "metadata", "labels"));
}

void strategy__count_generation(const struct strategy *s, struct value *obj,
                                const struct value *old_obj)
{
    unsigned flags = strategy_flags(s->resource);
    int64_t generation = 0;
    if (!(flags & STRATEGY_GENERATION) || (flags & STRATEGY_GENERATION_ONCE) ||
        !counts_as_change(s->resource, obj, old_obj))
        return;
    (void)value_to_int(value_dig(old_obj, "metadata", "generation"), &generation);
    value_put(s->arena, value_ensure(s->arena, obj, STR("metadata")), STR("generation"),
              value_int(generation + 1));
}

static void update_all(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    const struct strategy_rules *rules = strategy__rules(s->resource);
    if (has_status(s))
        strategy__keep(s->arena, obj, old_obj, STR("status"));
    defaults_stamp(s->arena, s->resource->type, obj, s->now);
    strategy__drop_gated(s->arena, s->resource->type, obj, old_obj);
    if (rules->update)
        rules->update(s, obj, old_obj);
}

static void update_status(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    const struct strategy_rules *rules = strategy__rules(s->resource);
    unsigned flags = rules->flags;
    struct value kept = value_object();
    value_each_field (f, old_obj)
        if (!str_eq(f->key, STR("status")) && !str_eq(f->key, STR("metadata")))
            value_put_new(s->arena, &kept, f->key, value_borrow(&f->val));
    const struct value *meta = value_get(obj, STR("metadata")),
                       *status = value_get(obj, STR("status"));
    if (meta)
        value_put_new(s->arena, &kept, STR("metadata"), value_borrow(meta));
    if (status)
        value_put_new(s->arena, &kept, STR("status"), value_borrow(status));
    *obj = kept;
    if (flags & STRATEGY_STATUS_META)
        strategy__keep_metadata(s->arena, obj, old_obj);
    if (flags & STRATEGY_STATUS_LABELS)
        strategy__keep(s->arena, value_ensure(s->arena, obj, STR("metadata")),
                       value_get(old_obj, STR("metadata")), STR("labels"));
    if (rules->update_status)
        rules->update_status(s, obj, old_obj);
    strategy__drop_gated(s->arena, s->resource->type, obj, old_obj);
}

static strategy_update_fn *find_sub(const struct kind_resource *r, struct str name)
{
    const struct strategy_sub *sub = strategy__rules(r)->subs;
    for (; sub && sub->name.p; sub++)
        if (str_eq(sub->name, name))
            return sub->update;
    return NULL;
}

void strategy_update(const struct strategy *s, struct str sub, struct value *obj,
                     const struct value *old_obj)
{
    if (str_eq(sub, STR("status"))) {
        update_status(s, obj, old_obj);
        return;
    }
    strategy_update_fn *update = sub.n ? find_sub(s->resource, sub) : update_all;
    if (update)
        update(s, obj, old_obj);
    strategy__count_generation(s, obj, old_obj);
}

/* ---- Deleting ---- */

bool strategy_is_graceful(const struct kind_resource *r)
{
    return strategy_flags(r) & STRATEGY_GRACEFUL;
}

int64_t strategy_grace(const struct kind_resource *r, const struct value *obj, const int64_t *asked)
{
    if (!strategy_is_graceful(r))
        return 0;
    int64_t grace = 30;
    if (asked)
        grace = *asked;
    else
        (void)value_to_int(value_dig(obj, "spec", "terminationGracePeriodSeconds"), &grace);
    if (!value_str(value_dig(obj, "spec", "nodeName")).n ||
        pod_phase_is_final(value_str(value_dig(obj, "status", "phase"))))
        return 0;
    return grace < 0 ? 1 : grace;
}
