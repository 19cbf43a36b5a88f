/* RequestAuthentication: tokens, as Envoy's jwt_authn checks them. No token passes; a bad one does
 * not. */
#include "mesh/cluster/cluster.h"
#include "mesh/model/tree.h"
#include "mesh/security/security_internal.h"
#include "mesh/security/select.h"
#include "base/banned.h"

static struct value headers_of(struct arena *a, const struct value *rule)
{
    struct value out = value_array();
    value_each_item (it, value_get(rule, STR("fromHeaders")))
        value_put_item(a, &out,
                       tree(a, "{name: %v, value_prefix: %v}",
                            tree_copy(value_get(it, STR("name"))),
                            tree_copy(value_get(it, STR("prefix")))));
    return out.n ? out : value_null();
}

static struct value claims_of(struct arena *a, const struct value *rule)
{
    struct value out = value_array();
    value_each_item (it, value_get(rule, STR("outputClaimToHeaders")))
        value_put_item(a, &out,
                       tree(a, "{header_name: %v, claim_name: %v}",
                            tree_copy(value_get(it, STR("header"))),
                            tree_copy(value_get(it, STR("claim")))));
    return out.n ? out : value_null();
}

static struct value filled(const struct value *v)
{
    return tree_has(v) ? tree_copy(v) : value_null();
}

/* "https://host:port/path": the cluster of the host, which has to be known to the mesh. */
static struct str cluster_of_uri(struct arena *a, struct str uri)
{
    bool is_tls = str_starts(uri, STR("https://"));
    struct str rest = str_skip(uri, is_tls ? 8 : 7);
    struct str host = str_cut(&rest, '/'), port = host;
    uint64_t number = is_tls ? 443 : 80;
    struct str name = str_cut(&port, ':');
    if (port.n && (!str_to_u64(port, &number) || number > 65535))
        number = 0;
    return cluster_name(a, "outbound", (int)number, STR(""), name);
}

static void put_keys(struct arena *a, const struct value *rule, struct value *out)
{
    struct str keys = value_text(rule, "jwks"), uri = value_text(rule, "jwksUri");
    if (!uri.n)
        uri = value_text(rule, "jwks_uri");
    if (keys.n)
        value_put(a, out, STR("local_jwks"), tree(a, "{inline_string: %s}", keys));
    else
        value_put(a, out, STR("remote_jwks"),
                  tree(a,
                       "{http_uri: {uri: %s, cluster: %s, timeout: '5s'}, cache_duration: "
                       "'300s'}",
                       uri.n ? uri : STR("http://unknown.invalid/"),
                       uri.n ? cluster_of_uri(a, uri) : STR("BlackHoleCluster")));
}

static struct value provider(struct arena *a, const struct value *rule)
{
    struct value out = tree(
        a,
        "{issuer: %v, audiences: %v, forward: %b, payload_in_metadata: payload, from_headers: %v, "
        "from_params: %v, from_cookies: %v, forward_payload_header: %v, claim_to_headers: %v}",
        tree_copy(value_get(rule, STR("issuer"))), filled(value_get(rule, STR("audiences"))),
        value_is_true(value_get(rule, STR("forwardOriginalToken"))), headers_of(a, rule),
        filled(value_get(rule, STR("fromParams"))), filled(value_get(rule, STR("fromCookies"))),
        filled(value_get(rule, STR("outputPayloadToHeader"))), claims_of(a, rule));
    put_keys(a, rule, &out);
    return out;
}

void security__jwt(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                   struct value *filters)
{
    struct value providers = value_object(), any = value_array();
    const struct mesh_objects *all = &w->of[MESH_REQUEST_AUTHENTICATION];
    for (size_t i = 0; i < all->n; i++) {
        if (!policy_is_for(w, all->items[i], p))
            continue;
        value_each_item (rule, value_get(all->items[i]->spec, STR("jwtRules"))) {
            struct str name = arena_printf(a, "origins-%u", (unsigned)providers.n);
            value_put(a, &providers, name, provider(a, rule));
            value_put_item(a, &any, tree(a, "{provider_name: %s}", name));
        }
    }
    if (!providers.n)
        return;
    value_put_item(a, &any, tree(a, "{allow_missing: {}}"));
    struct value config = tree(a,
                               "{providers: %v, bypass_cors_preflight: true, rules: [{match: "
                               "{prefix: '/'}, requires: {requires_any: {requirements: %v}}}]}",
                               providers, any);
    value_put_item(a, filters,
                   tree_extension(a, "envoy.filters.http.jwt_authn",
                                  "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
                                  config));
}
