#include "api/convert.h"

#include <assert.h>

#include "api/convert_internal.h"
#include "api/typed.h"
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
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
        if (str_eq(moves[i].group, t->group) && str_eq(moves[i].kind, t->name))
            return moves[i].hub_group;
    return t->group;
}

const struct kind_type *convert_hub(const struct kind_type *t)
{
    if (!(t->flags & KIND_HAS_TYPE_META))
        return t;
    struct str group = hub_group(t);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
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

/* Kinds of which an old version and the hub differ in more than the apiVersion. */
static const struct row {
    struct str group, version, kind; /* of the old one; an empty version is all of them */
    int (*to_hub)(struct arena *a, struct value *obj, struct err *err);
    int (*from_hub)(struct arena *a, struct value *obj, struct err *err);
} rows[] = {
    { STR("autoscaling"), STR("v1"), STR("HorizontalPodAutoscaler"), convert__autoscaler_v1_in,
      convert__autoscaler_v1_out },
    { STR("events.k8s.io"), STR(""), STR("Event"), convert__event_in, convert__event_out },
};

static const struct row *find_row(const struct kind_type *t)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(rows[i].kind, t->name) && str_eq(rows[i].group, t->group) &&
            (!rows[i].version.n || str_eq(rows[i].version, t->version)))
            return &rows[i];
    return NULL;
}

static int retype(struct arena *a, const struct kind_type *to, struct value *obj, struct err *err)
{
    (void)value_set(a, obj, STR("apiVersion"), value_string(convert_api_version(a, to)));
    return typed_read(a, to, obj, NULL, obj, err);
}

static int to_hub(struct arena *a, const struct kind_type *old, const struct kind_type *hub,
                  struct value *obj, struct err *err)
{
    const struct row *row = find_row(old);
    int r = row ? row->to_hub(a, obj, err) : 0;
    return r < 0 ? r : retype(a, hub, obj, err);
}

static int from_hub(struct arena *a, const struct kind_type *old, struct value *obj,
                    struct err *err)
{
    const struct row *row = find_row(old);
    int r = row ? row->from_hub(a, obj, err) : 0;
    return r < 0 ? r : retype(a, old, obj, err);
}

int convert_object(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err)
{
    struct value obj = value_share(in);
    if (from != to) {
        const struct kind_type *hub = convert_hub(from);
        assert(hub == convert_hub(to));
        int r = from == hub ? 0 : to_hub(a, from, hub, &obj, err);
        if (r == 0 && to != hub)
            r = from_hub(a, to, &obj, err);
        if (r < 0)
            return r;
    }
    *ret = obj;
    return 0;
}
