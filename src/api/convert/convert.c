#include "api/convert/convert.h"

#include "api/convert/convert_internal.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/banned.h"

struct str convert_api_version(struct arena *a, const struct kind_type *t)
{
    if (!t->group.n)
        return t->version;
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(t->group), STR_ARG(t->version));
}

/* ---- Hubs ---- */

/* Kinds that moved to another group. */
static const struct {
    struct str group, kind, hub_group;
} moves[] = {
    { STR("apps"), STR("Scale"), STR("autoscaling") },
    { STR("events.k8s.io"), STR("Event"), STR("") },
    { STR("extensions"), STR("DaemonSet"), STR("apps") },
    { STR("extensions"), STR("Deployment"), STR("apps") },
    { STR("extensions"), STR("DeploymentRollback"), STR("apps") },
    { STR("extensions"), STR("Ingress"), STR("networking.k8s.io") },
    { STR("extensions"), STR("NetworkPolicy"), STR("networking.k8s.io") },
    { STR("extensions"), STR("PodSecurityPolicy"), STR("policy") },
    { STR("extensions"), STR("ReplicaSet"), STR("apps") },
    { STR("extensions"), STR("Scale"), STR("autoscaling") },
};

/* All that any built-in group has, highest first: stable ones, then betas, then alphas. */
static const struct str versions[] = {
    STR("v2"),       STR("v1"),       STR("v2beta2"),  STR("v2beta1"),
    STR("v1beta3"),  STR("v1beta2"),  STR("v1beta1"),  STR("v2alpha1"),
    STR("v1alpha3"), STR("v1alpha2"), STR("v1alpha1"),
};

static struct str hub_group(const struct kind_type *t)
{
    for (size_t i = 0; i < ARRAY_LEN(moves); i++)
        if (str_eq(moves[i].group, t->group) && str_eq(moves[i].kind, t->name))
            return moves[i].hub_group;
    return t->group;
}

const struct kind_type *convert_hub(const struct kind_type *t)
{
    if (t->custom || !(t->flags & KIND_HAS_TYPE_META))
        return t;
    struct str group = hub_group(t);
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        const struct kind_type *hub = kind_type_find(group, versions[i], t->name);
        if (hub)
            return hub;
    }
    return t;
}

bool convert_same_kind(const struct kind_type *a, const struct kind_type *b)
{
    return convert_hub(a) == convert_hub(b);
}

/* ---- Rows ---- */

/* Kinds of which an old version and the hub differ in more than the apiVersion. A row without
 * `from_hub` is of the hub itself, and of what upstream does to it on its way in and out. */
static const struct row {
    struct str group, version, kind; /* an empty version is all of them */
    int (*to_hub)(struct arena *a, struct value *obj, struct err *err);
    int (*from_hub)(struct arena *a, struct value *obj, struct err *err);
} rows[] = {
#define ROW(group, version, kind, name)                                                  \
    {                                                                                    \
        STR(group), STR(version), STR(kind), convert__##name##_in, convert__##name##_out \
    }
#define HUB(group, version, kind, name)                                     \
    {                                                                       \
        STR(group), STR(version), STR(kind), convert__##name##_settle, NULL \
    }
    HUB("apps", "v1", "DaemonSet", daemon_set),
    HUB("apps", "v1", "Deployment", deployment),
    HUB("autoscaling", "v2", "HorizontalPodAutoscaler", autoscaler),
    ROW("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition", definition),
    ROW("apps", "v1beta1", "Deployment", deployment),
    ROW("apps", "", "Scale", scale),
    ROW("authorization.k8s.io", "v1beta1", "LocalSubjectAccessReview", access_review),
    ROW("authorization.k8s.io", "v1beta1", "SubjectAccessReview", access_review),
    ROW("autoscaling", "v1", "HorizontalPodAutoscaler", autoscaler_v1),
    ROW("autoscaling", "v2beta1", "HorizontalPodAutoscaler", autoscaler_beta1),
    ROW("autoscaling", "v2beta2", "HorizontalPodAutoscaler", autoscaler_beta2),
    ROW("discovery.k8s.io", "v1beta1", "EndpointSlice", endpoint_slice),
    ROW("events.k8s.io", "", "Event", event),
    ROW("extensions", "v1beta1", "DaemonSet", daemon_set),
    ROW("extensions", "v1beta1", "Deployment", deployment),
    ROW("extensions", "v1beta1", "Ingress", ingress),
    ROW("extensions", "v1beta1", "Scale", scale),
    ROW("flowcontrol.apiserver.k8s.io", "v1beta1", "PriorityLevelConfiguration", priority_level),
    ROW("flowcontrol.apiserver.k8s.io", "v1beta2", "PriorityLevelConfiguration", priority_level),
    ROW("flowcontrol.apiserver.k8s.io", "v1beta3", "PriorityLevelConfiguration", priority_level_3),
    ROW("networking.k8s.io", "v1beta1", "Ingress", ingress),
    ROW("node.k8s.io", "v1alpha1", "RuntimeClass", runtime_class),
    ROW("policy", "v1beta1", "PodDisruptionBudget", disruption),
    ROW("rbac.authorization.k8s.io", "v1alpha1", "ClusterRoleBinding", role_binding),
    ROW("rbac.authorization.k8s.io", "v1alpha1", "RoleBinding", role_binding),
    ROW("resource.k8s.io", "v1beta1", "ResourceClaim", resource_claim),
    ROW("resource.k8s.io", "v1beta1", "ResourceClaimTemplate", claim_template),
    ROW("resource.k8s.io", "v1beta1", "ResourceSlice", resource_slice),
#undef ROW
#undef HUB
};

static const struct row *find_row(const struct kind_type *t)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].kind, t->name) && str_eq(rows[i].group, t->group) &&
            (!rows[i].version.n || str_eq(rows[i].version, t->version)))
            return &rows[i];
    return NULL;
}

static int retype(struct arena *a, const struct kind_type *to, struct value *obj, struct err *err)
{
    value_put(a, obj, STR("kind"), value_string(to->name));
    value_put(a, obj, STR("apiVersion"), value_string(convert_api_version(a, to)));
    return typed_read(a, to, obj, NULL, obj, err);
}

/* What comes in and cannot be converted is refused in the words that a body gets that cannot be
 * decoded. */
static int run_in(const struct row *row, struct arena *a, const struct kind_type *t,
                  struct value *obj, struct err *err)
{
    int r = row ? row->to_hub(a, obj, err) : 0;
    if (r < 0)
        return err_wrap(err, STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT,
                        STR_ARG(t->name), STR_ARG(t->version), STR_ARG(t->name));
    return 0;
}

static int to_hub(struct arena *a, const struct kind_type *old, const struct kind_type *hub,
                  struct value *obj, struct err *err)
{
    int r = run_in(find_row(old), a, old, obj, err);
    return r < 0 ? r : retype(a, hub, obj, err);
}

static int from_hub(struct arena *a, const struct kind_type *old, struct value *obj,
                    struct err *err)
{
    const struct row *row = find_row(old);
    int r = row ? row->from_hub(a, obj, err) : 0;
    return r < 0 ? r : retype(a, old, obj, err);
}

static int between(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                   struct value *obj, struct err *err)
{
    const struct kind_type *hub = convert_hub(from);
    if (convert_hub(to) != hub)
        return retype(a, to, obj, err); /* nothing is known of how they differ */
    int r = from == hub ? 0 : to_hub(a, from, hub, obj, err);
    return r < 0 || to == hub ? r : from_hub(a, to, obj, err);
}

static int settle(struct arena *a, const struct kind_type *t, struct value *obj, struct err *err)
{
    const struct row *row = find_row(t);
    return row && !row->from_hub ? run_in(row, a, t, obj, err) : 0;
}

int convert_object(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err)
{
    if (to->custom)
        return to->custom->convert(a, from, to, in, ret, err);
    struct value obj = value_share(in);
    int r = from == to ? settle(a, to, &obj, err) : between(a, from, to, &obj, err);
    if (r < 0)
        return r;
    *ret = obj;
    return 0;
}
