#include "server/strategy.h"

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
    { "admissionregistration.k8s.io", NULL, STRATEGY_GENERATION | STRATEGY_CONDITIONAL },
    { "apiextensions.k8s.io", NULL, STRATEGY_GENERATION | STRATEGY_CONDITIONAL },
    { "apiregistration.k8s.io", NULL, STRATEGY_CONDITIONAL },
    { "apps", "daemonsets", STRATEGY_GENERATION },
    { "apps", "deployments", STRATEGY_GENERATION | STRATEGY_ANNOTATIONS },
    { "apps", "replicasets", STRATEGY_GENERATION },
    { "apps", "statefulsets", STRATEGY_GENERATION },
    { "autoscaling", NULL, STRATEGY_GENERATION },
    { "batch", "cronjobs", STRATEGY_GENERATION },
    { "batch", "jobs", STRATEGY_GENERATION | STRATEGY_ORPHAN },
    { "certificates.k8s.io", "clustertrustbundles", STRATEGY_CONDITIONAL },
    { "certificates.k8s.io", "podcertificaterequests", STRATEGY_CONDITIONAL },
    { "coordination.k8s.io", NULL, STRATEGY_UPSERT | STRATEGY_CONDITIONAL },
    { "discovery.k8s.io", NULL, STRATEGY_GENERATION | STRATEGY_ANNOTATIONS | STRATEGY_LABELS },
    { "events.k8s.io", NULL, STRATEGY_UPSERT | STRATEGY_NO_PROPAGATION },
    { "flowcontrol.apiserver.k8s.io", NULL, STRATEGY_GENERATION },
    { "networking.k8s.io", "ingresses", STRATEGY_GENERATION },
    { "networking.k8s.io", "ingressclasses", STRATEGY_GENERATION },
    { "networking.k8s.io", "networkpolicies", STRATEGY_GENERATION },
    { "node.k8s.io", NULL, STRATEGY_UPSERT | STRATEGY_CONDITIONAL },
    { "policy", NULL, STRATEGY_GENERATION | STRATEGY_CONDITIONAL },
    { "rbac.authorization.k8s.io", NULL, STRATEGY_UPSERT },
    { "resource.k8s.io", "deviceclasses", STRATEGY_GENERATION },
    { "resource.k8s.io", "devicetaintrules", STRATEGY_GENERATION },
    { "resource.k8s.io", "resourceslices", STRATEGY_GENERATION },
    { "scheduling.k8s.io", "priorityclasses", STRATEGY_GENERATION },
    { "scheduling.k8s.io", "podgroups", STRATEGY_CONDITIONAL },
    { "scheduling.k8s.io", "workloads", STRATEGY_CONDITIONAL },
    { "storage.k8s.io", "csidrivers", STRATEGY_CONDITIONAL },
    { "storage.k8s.io", "csinodes", STRATEGY_CONDITIONAL },
    { "storage.k8s.io", "csistoragecapacities", STRATEGY_CONDITIONAL },
    { "storage.k8s.io", "volumeattachments", STRATEGY_CONDITIONAL },
    { "storagemigration.k8s.io", NULL, STRATEGY_CONDITIONAL },
};

unsigned strategy_flags(const struct kind_resource *r)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(r->group, str_of(rows[i].group)) &&
            (!rows[i].resource || str_eq(r->plural, str_of(rows[i].resource))))
            return rows[i].flags;
    return 0;
}

struct str strategy_warning(const struct kind_resource *r)
{
    static const struct {
        struct str resource, warning;
    } deprecated[] = {
        { STR("componentstatuses"), STR("v1 ComponentStatus is deprecated in v1.19+") },
        { STR("endpoints"), STR("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 "
                                "EndpointSlice") },
    };
    for (size_t i = 0; !r->group.n && i < sizeof(deprecated) / sizeof(deprecated[0]); i++)
        if (str_eq(r->plural, deprecated[i].resource))
            return deprecated[i].warning;
    return STR("");
}

/* ---- What one kind does ---- */

static bool is(const struct kind_resource *r, const char *group, const char *resource)
{
    return str_eq(r->group, str_of(group)) && str_eq(r->plural, str_of(resource));
}

static bool has_item(const struct value *list, struct str text)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return true;
    return false;
}

static void create_namespace(struct arena *a, struct value *obj)
{
    struct value *spec = value_ensure(a, obj, STR("spec"));
    struct value *finalizers = value_edit(a, spec, STR("finalizers"));
    if (!finalizers)
        finalizers = value_set(a, spec, STR("finalizers"), value_array());
    if (!has_item(finalizers, STR("kubernetes")))
        (void)value_push(a, finalizers, value_string(STR("kubernetes")));
    struct value *status = value_set(a, obj, STR("status"), value_object());
    (void)value_set(a, status, STR("phase"), value_string(STR("Active")));
}

/* ---- In general ---- */

static bool has_status(const struct kind_resource *r)
{
    for (size_t i = 0; i < r->n_subresources; i++)
        if (str_eq(r->subresources[i].name, STR("status")))
            return true;
    return false;
}

static void copy_field(struct arena *a, struct value *obj, const struct value *old_obj,
                       struct str name)
{
    const struct value *old_value = value_get(old_obj, name);
    if (old_value)
        (void)value_set(a, obj, name, value_borrow(old_value));
    else
        (void)value_remove(a, obj, name);
}

void strategy_create(struct arena *a, const struct kind_resource *r, struct value *obj)
{
    unsigned flags = strategy_flags(r);
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    if (flags & STRATEGY_GENERATION)
        (void)value_set(a, meta, STR("generation"), value_int(1));
    if (has_status(r) && !(flags & STRATEGY_KEEP_STATUS))
        (void)value_remove(a, obj, STR("status"));
    if (is(r, "", "namespaces"))
        create_namespace(a, obj);
}

static bool part_of_spec(struct str field)
{
    return !str_eq(field, STR("metadata")) && !str_eq(field, STR("status")) &&
           !str_eq(field, STR("kind")) && !str_eq(field, STR("apiVersion"));
}

static bool same_spec_in(const struct value *obj, const struct value *other)
{
    value_each_field (f, obj)
        if (part_of_spec(f->key) &&
            (!value_get(other, f->key) || !value_eq(&f->val, value_get(other, f->key))))
            return false;
    return true;
}

static bool same_value(const struct value *v, const struct value *w)
{
    return v == w || (v && w && value_eq(v, w));
}

static bool counts_as_change(const struct kind_resource *r, const struct value *obj,
                             const struct value *old_obj)
{
    if (!same_spec_in(obj, old_obj) || !same_spec_in(old_obj, obj))
        return true;
    unsigned flags = strategy_flags(r);
    if ((flags & STRATEGY_ANNOTATIONS) &&
        !same_value(value_dig(obj, "metadata", "annotations"),
                    value_dig(old_obj, "metadata", "annotations")))
        return true;
    return (flags & STRATEGY_LABELS) && !same_value(value_dig(obj, "metadata", "labels"),
                                                    value_dig(old_obj, "metadata", "labels"));
}

static void count_generation(struct arena *a, const struct kind_resource *r, struct value *obj,
                             const struct value *old_obj)
{
    int64_t generation = 0;
    if (!(strategy_flags(r) & STRATEGY_GENERATION) || !counts_as_change(r, obj, old_obj))
        return;
    (void)value_to_int(value_dig(old_obj, "metadata", "generation"), &generation);
    (void)value_set(a, value_ensure(a, obj, STR("metadata")), STR("generation"),
                    value_int(generation + 1));
}

void strategy_update(struct arena *a, const struct kind_resource *r, struct value *obj,
                     const struct value *old_obj)
{
    if (has_status(r))
        copy_field(a, obj, old_obj, STR("status"));
    if (is(r, "", "namespaces"))
        copy_field(a, obj, old_obj, STR("spec"));
    count_generation(a, r, obj, old_obj);
}

void strategy_update_status(struct arena *a, const struct kind_resource *r, struct value *obj,
                            const struct value *old_obj)
{
    struct value kept = value_object();
    (void)r;
    value_each_field (f, old_obj)
        if (!str_eq(f->key, STR("status")) && !str_eq(f->key, STR("metadata")))
            (void)value_add(a, &kept, f->key, value_borrow(&f->val));
    const struct value *meta = value_get(obj, STR("metadata")),
                       *status = value_get(obj, STR("status"));
    if (meta) {
        struct value *m = value_add(a, &kept, STR("metadata"), value_borrow(meta));
        copy_field(a, m, value_get(old_obj, STR("metadata")), STR("labels"));
    }
    if (status)
        (void)value_add(a, &kept, STR("status"), value_borrow(status));
    *obj = kept;
}

/* ---- Deleting ---- */

bool strategy_is_graceful(const struct kind_resource *r)
{
    return is(r, "", "pods");
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
