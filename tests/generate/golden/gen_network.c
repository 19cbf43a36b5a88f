/* gen_network.c - made by `sampan generate`, not to be edited. */
#include "gen_network.h"

static const struct spn_field network_fields[] = {
    SPN_FIELD(network, api_version, "apiVersion", SPN_IS_TEXT),
    SPN_FIELD(network, kind, "kind", SPN_IS_TEXT),
    SPN_STRUCT_FIELD(network, metadata, "metadata", SPN_ONE, meta_v1_object_meta),
    SPN_STRUCT_FIELD(network, spec, "spec", SPN_ONE, network_spec),
    SPN_STRUCT_FIELD(network, status, "status", SPN_ONE, network_status),
};
const struct spn_struct network_table = SPN_STRUCT(network, network_fields);

static const struct spn_field network_spec_fields[] = {
    SPN_FIELD(network_spec, cidr, "cidr", SPN_IS_TEXT),
    SPN_FIELD(network_spec, gateway, "gateway", SPN_IS_TEXT),
    SPN_FIELD(network_spec, nat, "nat", SPN_IS_BOOL),
    SPN_FIELD(network_spec, mtu, "mtu", SPN_IS_INT),
    SPN_STRUCT_FIELD(network_spec, routes, "routes", SPN_LIST, network_route),
};
const struct spn_struct network_spec_table = SPN_STRUCT(network_spec, network_spec_fields);

static const struct spn_field network_route_fields[] = {
    SPN_FIELD(network_route, destination, "destination", SPN_IS_TEXT),
    SPN_FIELD(network_route, via, "via", SPN_IS_TEXT),
    SPN_FIELD(network_route, origin, "origin", SPN_IS_TEXT),
};
const struct spn_struct network_route_table = SPN_STRUCT(network_route, network_route_fields);

static const struct spn_field network_status_fields[] = {
    SPN_FIELD(network_status, observed_generation, "observedGeneration", SPN_IS_INT),
    SPN_STRUCT_FIELD(network_status, conditions, "conditions", SPN_LIST, meta_v1_condition),
};
const struct spn_struct network_status_table = SPN_STRUCT(network_status, network_status_fields);

static const struct spn_kind network_kind =
    SPN_KIND("samplecrd.k8s.io", "v1", "Network", "networks", network, true);

int network_get(struct spn_client *client, struct spn_text ns, struct spn_text name,
                const struct spn_call *how, struct spn_arena *a, struct network **ret,
                struct spn_err *err)
{
    return spn_typed_get(client, &network_kind, ns, name, how, a, ret, err);
}

int network_list(struct spn_client *client, struct spn_text ns, const struct spn_select *which,
                 const struct spn_call *how, struct spn_arena *a, struct network_list *ret,
                 struct spn_page *ret_page, struct spn_err *err)
{
    return spn_typed_list(client, &network_kind, ns, which, how, a, ret, ret_page, err);
}

int network_create(struct spn_client *client, const struct network *obj, const struct spn_call *how,
                   struct spn_arena *a, struct network **ret, struct spn_err *err)
{
    return spn_typed_create(client, &network_kind, obj, how, a, ret, err);
}

int network_update(struct spn_client *client, const struct network *obj, const struct spn_call *how,
                   struct spn_arena *a, struct network **ret, struct spn_err *err)
{
    return spn_typed_update(client, &network_kind, NULL, obj, how, a, ret, err);
}

int network_update_status(struct spn_client *client, const struct network *obj,
                          const struct spn_call *how, struct spn_arena *a, struct network **ret,
                          struct spn_err *err)
{
    return spn_typed_update(client, &network_kind, "status", obj, how, a, ret, err);
}

int network_apply(struct spn_client *client, const struct network *obj, const struct spn_call *how,
                  struct spn_arena *a, struct network **ret, struct spn_err *err)
{
    return spn_typed_apply(client, &network_kind, NULL, obj, how, a, ret, err);
}

int network_apply_status(struct spn_client *client, const struct network *obj,
                         const struct spn_call *how, struct spn_arena *a, struct network **ret,
                         struct spn_err *err)
{
    return spn_typed_apply(client, &network_kind, "status", obj, how, a, ret, err);
}

int network_patch(struct spn_client *client, struct spn_text ns, struct spn_text name,
                  enum spn_patch_kind kind, struct spn_text patch, const struct spn_call *how,
                  struct spn_arena *a, struct network **ret, struct spn_err *err)
{
    return spn_typed_patch(client, &network_kind, ns, name, kind, patch, how, a, ret, err);
}

int network_delete(struct spn_client *client, struct spn_text ns, struct spn_text name,
                   const struct spn_delete *what, const struct spn_call *how, struct spn_err *err)
{
    return spn_typed_delete(client, &network_kind, ns, name, what, how, err);
}

struct spn_informer *network_informer(struct spn_informers *all, struct spn_text ns)
{
    return spn_typed_informer(all, &network_kind, ns);
}

int network_of(const struct spn_object *o, struct spn_arena *a, struct network **ret,
               struct spn_err *err)
{
    return spn_typed_of(&network_kind, o, a, ret, err);
}

int network_lister_get(struct spn_cache *cache, struct spn_text ns, struct spn_text name,
                       struct spn_arena *a, struct network **ret, struct spn_err *err)
{
    return spn_typed_cached(cache, &network_kind, ns, name, a, ret, err);
}

int network_lister_list(struct spn_cache *cache, struct spn_text ns, const char *labels,
                        struct spn_arena *a, struct network_list *ret, struct spn_err *err)
{
    return spn_typed_cached_list(cache, &network_kind, ns, labels, a, ret, err);
}

struct network *network_new(const struct network *from)
{
    return spn_typed_new(&network_table, from);
}

struct spn_arena *network_arena(struct network *obj)
{
    return spn_typed_arena(obj);
}

struct network *network_free(struct network *obj)
{
    return spn_typed_free(obj);
}
