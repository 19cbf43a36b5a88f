#include "server/registry/strategy.h"

#include "api/defaults/defaults.h"
#include "base/idiom.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

/* ---- Flags ---- */

static const struct {
    const char *group, *resource; /* NULL: all of the group */
    unsigned flags;
} rows[] = {
    { "", "endpoints", STRATEGY_UPSERT },
    { "", "events", STRATEGY_UPSERT | STRATEGY_NO_PROPAGATION },
    { "", "limitranges", STRATEGY_UPSERT },
    { "", "nodes", STRATEGY_KEEP_STATUS },
    { "", "pods", STRATEGY_GENERATION },
    { "", "podtemplates", STRATEGY_GENERATION },
    { "", "replicationcontrollers", STRATEGY_GENERATION | STRATEGY_ORPHAN },
    { "", "services", STRATEGY_UPSERT },
    { "admissionregistration.k8s.io", NULL,
      STRATEGY_GENERATION | STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { "apiextensions.k8s.io", NULL, STRATEGY_GENERATION | STRATEGY_CONDITIONAL },
    { "apiregistration.k8s.io", NULL, STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { "apps", "daemonsets", STRATEGY_GENERATION },
    { "apps", "deployments", STRATEGY_GENERATION | STRATEGY_ANNOTATIONS | STRATEGY_STATUS_LABELS },
    { "apps", "replicasets", STRATEGY_GENERATION },
    { "apps", "statefulsets", STRATEGY_GENERATION },
    { "autoscaling", NULL, STRATEGY_GENERATION },
    { "batch", "cronjobs", STRATEGY_GENERATION },
    { "batch", "jobs", STRATEGY_GENERATION | STRATEGY_ORPHAN },
    { "certificates.k8s.io", "clustertrustbundles", STRATEGY_CONDITIONAL },
    { "certificates.k8s.io", "podcertificaterequests",
      STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { "coordination.k8s.io", NULL, STRATEGY_UPSERT | STRATEGY_CONDITIONAL },
    { "discovery.k8s.io", NULL, STRATEGY_GENERATION | STRATEGY_LABELS },
    { "events.k8s.io", NULL, STRATEGY_UPSERT | STRATEGY_NO_PROPAGATION },
    { "flowcontrol.apiserver.k8s.io", NULL, STRATEGY_GENERATION | STRATEGY_STATUS_META },
    { "networking.k8s.io", "ingresses", STRATEGY_GENERATION },
    { "networking.k8s.io", "ingressclasses", STRATEGY_GENERATION },
    { "networking.k8s.io", "networkpolicies", STRATEGY_GENERATION },
    { "networking.k8s.io", "servicecidrs", STRATEGY_STATUS_META },
    { "node.k8s.io", NULL, STRATEGY_UPSERT | STRATEGY_CONDITIONAL },
    { "policy", "podsecuritypolicies", 0 },
    { "policy", NULL, STRATEGY_GENERATION | STRATEGY_CONDITIONAL },
    { "rbac.authorization.k8s.io", NULL, STRATEGY_UPSERT },
    { "resource.k8s.io", "deviceclasses", STRATEGY_GENERATION },
    { "resource.k8s.io", "devicetaintrules",
      STRATEGY_GENERATION | STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { "resource.k8s.io", "resourceclaims", STRATEGY_STATUS_META },
    { "resource.k8s.io", "resourceslices", STRATEGY_GENERATION },
    { "scheduling.k8s.io", "priorityclasses", STRATEGY_GENERATION | STRATEGY_GENERATION_ONCE },
    { "scheduling.k8s.io", "podgroups", STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { "scheduling.k8s.io", "workloads", STRATEGY_CONDITIONAL },
    { "settings.k8s.io", NULL, STRATEGY_GENERATION | STRATEGY_GENERATION_ONCE },
    { "storage.k8s.io", "csidrivers",
      STRATEGY_GENERATION | STRATEGY_GENERATION_LATE | STRATEGY_CONDITIONAL },
    { "storage.k8s.io", "csinodes", STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { "storage.k8s.io", "csistoragecapacities", STRATEGY_CONDITIONAL },
    { "storage.k8s.io", "volumeattachments", STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
    { "storagemigration.k8s.io", NULL, STRATEGY_CONDITIONAL | STRATEGY_STATUS_META },
};

unsigned strategy_flags(const struct kind_resource *r)
{
    if (r->type->custom)
        return STRATEGY_GENERATION | STRATEGY_CONDITIONAL | STRATEGY_STATUS_META |
               STRATEGY_STATUS_COUNTS;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(r->group, str_of(rows[i].group)) &&
            (!rows[i].resource || str_eq(r->plural, str_of(rows[i].resource))))
            return rows[i].flags;
    return 0;
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

static const struct strategy_rules *find_rules(const struct kind_resource *r)
{
    static const struct strategy_rules *const tables[] = {
        strategy__cluster, strategy__pod, strategy__service, strategy__storage, strategy__workload,
    };
    static const struct strategy_rules none;
    for (size_t t = 0; t < ARRAY_LEN(tables); t++)
        for (const struct strategy_rules *rule = tables[t]; rule->resource.p; rule++)
            if (str_eq(rule->resource, r->plural) && str_eq(rule->group, r->group))
                return rule;
    return &none;
}

/* Whether the status has a path of its own, in the version of the request. */
static bool has_status(const struct strategy *s)
{
    const struct kind_resource *r = s->asked ? s->asked : s->resource;
    for (size_t i = 0; i < r->n_subresources; i++)
        if (str_eq(r->subresources[i].name, STR("status")))
            return true;
    return false;
}

void strategy_create(const struct strategy *s, struct value *obj)
{
    unsigned flags = strategy_flags(s->resource);
    const struct strategy_rules *rules = find_rules(s->resource);
    struct value *meta = value_ensure(s->arena, obj, STR("metadata"));
    if ((flags & STRATEGY_GENERATION) && !(flags & STRATEGY_GENERATION_LATE))
        value_put(s->arena, meta, STR("generation"), value_int(1));
    if (has_status(s) && !(flags & STRATEGY_KEEP_STATUS))
        value_drop(s->arena, obj, STR("status"));
    defaults_stamp(s->arena, s->resource->type, obj, s->now);
    strategy__drop_gated(s->arena, s->resource->type, obj, NULL);
    if (rules->create)
        rules->create(s, obj);
}

static bool part_of_spec(struct str field, bool status_counts)
{
    return !str_eq(field, STR("metadata")) && (status_counts || !str_eq(field, STR("status"))) &&
           !str_eq(field, STR("kind")) && !str_eq(field, STR("apiVersion"));
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
    bool status = flags & STRATEGY_STATUS_COUNTS; /* one with its own path is as it was by now */
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
    const struct strategy_rules *rules = find_rules(s->resource);
    if (has_status(s))
        strategy__keep(s->arena, obj, old_obj, STR("status"));
    defaults_stamp(s->arena, s->resource->type, obj, s->now);
    strategy__drop_gated(s->arena, s->resource->type, obj, old_obj);
    if (rules->update)
        rules->update(s, obj, old_obj);
}

static void update_status(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    const struct strategy_rules *rules = find_rules(s->resource);
    unsigned flags = strategy_flags(s->resource);
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

void strategy_update(const struct strategy *s, struct str sub, struct value *obj,
                     const struct value *old_obj)
{
    static const struct {
        struct str sub;
        void (*update)(const struct strategy *s, struct value *obj, const struct value *old_obj);
    } paths[] = {
        { STR("status"), update_status },
        { STR("approval"), strategy__approval },
        { STR("ephemeralcontainers"), strategy__ephemeral_containers },
        { STR("resize"), strategy__resize },
        { STR(""), update_all },
    };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (!str_eq(sub, paths[i].sub))
            continue;
        paths[i].update(s, obj, old_obj);
        break;
    }
    if (!str_eq(sub, STR("status")))
        strategy__count_generation(s, obj, old_obj);
}

/* ---- Deleting ---- */

bool strategy_is_graceful(const struct kind_resource *r)
{
    return !r->group.n && str_eq(r->plural, STR("pods"));
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
    struct str phase = value_str(value_dig(obj, "status", "phase"));
    if (!value_str(value_dig(obj, "spec", "nodeName")).n || str_eq(phase, STR("Failed")) ||
        str_eq(phase, STR("Succeeded")))
        return 0;
    return grace < 0 ? 1 : grace;
}
