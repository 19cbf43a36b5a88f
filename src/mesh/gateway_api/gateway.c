/* Gateways: each listener becomes a Gateway of Istio's with one server. */
#include "mesh/gateway_api/gateway_api_internal.h"
#include "mesh/model/host.h"
#include "mesh/model/tree.h"
#include "base/banned.h"

void api__condition(struct arena *a, struct value *list, const char *type, bool status,
                    const char *reason, struct str message)
{
    value_put_item(a, list,
                   tree(a, "{type: %t, status: %t, reason: %t, message: %s}", type,
                        status ? "True" : "False", reason, message));
}

void api__status(struct realm *w, struct api_statuses *all, enum mesh_kind kind,
                 const struct mesh_object *of, struct value status)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 16;
        all->items = arena_grow(w->arena, all->items, all->cap * sizeof(*all->items),
                                cap * sizeof(*all->items), alignof(struct api_status));
        all->cap = cap;
    }
    all->items[all->n++] = (struct api_status){ kind, of, status };
}

static bool grants(const struct value *spec, const char *from_kind, struct str from_ns,
                   const char *to_kind, struct str to_name)
{
    bool from = false;
    value_each_item (it, value_get(spec, STR("from")))
        from = from || (str_eq(value_text(it, "kind"), str_of(from_kind)) &&
                        str_eq(value_text(it, "group"), STR(GATEWAY_API_GROUP)) &&
                        str_eq(value_text(it, "namespace"), from_ns));
    value_each_item (it, from ? value_get(spec, STR("to")) : NULL) {
        struct str name = value_text(it, "name");
        if (str_eq(value_text(it, "kind"), str_of(to_kind)) && !value_text(it, "group").n &&
            (!name.n || str_eq(name, to_name)))
            return true;
    }
    return false;
}

bool api__granted(const struct realm *w, const char *from_kind, struct str from_ns,
                  const char *to_kind, struct str to_ns, struct str to_name)
{
    if (str_eq(from_ns, to_ns))
        return true;
    for (size_t i = 0; i < w->of[MESH_API_REFERENCE_GRANT].n; i++) {
        const struct mesh_object *o = w->of[MESH_API_REFERENCE_GRANT].items[i];
        if (str_eq(o->ns, to_ns) && grants(o->spec, from_kind, from_ns, to_kind, to_name))
            return true;
    }
    return false;
}

static bool is_ours(const struct realm *w, const struct mesh_object *gateway)
{
    struct str name = value_text(gateway->spec, "gatewayClassName");
    const struct mesh_object *class = realm_find(w, MESH_API_GATEWAY_CLASS, STR(""), name);
    if (class) {
        struct str by = value_text(class->spec, "controllerName");
        return str_eq(by, STR(GATEWAY_API_CONTROLLER)) || str_eq(by, STR(GATEWAY_API_UNMANAGED));
    }
    return str_eq(name, STR("istio"));
}

/* The Services in front: those that are named as addresses, else the one that is deployed for it.
 */
static struct str service_of(struct realm *w, const struct mesh_object *o)
{
    value_each_item (it, value_get(o->spec, STR("addresses"))) {
        struct str type = value_text(it, "type"), rest = value_text(it, "value");
        if (!str_eq(type, STR("Hostname")))
            continue;
        struct str name = str_cut(&rest, '.'), ns = rest.n ? str_cut(&rest, '.') : o->ns;
        return arena_printf(w->arena, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
    }
    return arena_printf(w->arena, STR_FMT "/" STR_FMT "-" STR_FMT, STR_ARG(o->ns), STR_ARG(o->name),
                        STR_ARG(value_text(o->spec, "gatewayClassName")));
}

/* Hosts of the server with the namespaces that may come to it. */
static struct value hosts_of(struct realm *w, const struct mesh_object *o,
                             const struct api_listener *l)
{
    struct arena *a = w->arena;
    const struct value *namespaces = value_dig(l->spec, "allowedRoutes", "namespaces");
    struct str from = value_text(namespaces, "from");
    struct str host = l->hostname.n ? l->hostname : STR("*");
    struct value out = value_array();
    if (str_eq(from, STR("All"))) {
        value_put_item(a, &out, value_string(arena_printf(a, "*/" STR_FMT, STR_ARG(host))));
    } else if (str_eq(from, STR("Selector"))) {
        const struct value *labels = value_dig(namespaces, "selector", "matchLabels");
        for (size_t i = 0; i < w->of[MESH_NAMESPACE].n; i++) {
            const struct mesh_object *ns = w->of[MESH_NAMESPACE].items[i];
            if (realm_selects(labels, ns->labels))
                value_put_item(a, &out,
                               value_string(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns->name),
                                                         STR_ARG(host))));
        }
    } else {
        value_put_item(
            a, &out,
            value_string(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(o->ns), STR_ARG(host))));
    }
    return out;
}

static bool is_key_pair(const struct mesh_object *secret)
{
    const struct value *data = value_get(secret->obj, STR("data"));
    return tree_has(value_get(data, STR("tls.crt"))) && tree_has(value_get(data, STR("tls.key")));
}

/* The certificate of a listener; what is wrong with it goes into the conditions. */
static struct value tls_of(struct realm *w, const struct mesh_object *o, const struct value *tls,
                           const char **ret_reason)
{
    struct arena *a = w->arena;
    *ret_reason = NULL;
    if (str_eq(value_text(tls, "mode"), STR("Passthrough")))
        return tree(a, "{mode: PASSTHROUGH}");
    const struct value *ref = value_at(value_get(tls, STR("certificateRefs")), 0);
    struct str name = value_text(ref, "name"), ns = value_text(ref, "namespace");
    struct str kind = value_text(ref, "kind"), group = value_text(ref, "group");
    if (!ns.n)
        ns = o->ns;
    const struct mesh_object *secret = realm_find(w, MESH_SECRET, ns, name);
    const bool is_secret = ref && (!kind.n || str_eq(kind, STR("Secret"))) && !group.n;
    if (is_secret && !api__granted(w, "Gateway", o->ns, "Secret", ns, name))
        *ret_reason = "RefNotPermitted";
    else if (!is_secret || !secret || !is_key_pair(secret))
        *ret_reason = "InvalidCertificateRef";
    return tree(
        a, "{mode: SIMPLE, credentialName: %s}",
        arena_printf(a, "kubernetes-gateway://" STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name)));
}

static void make_gateway(struct realm *w, const struct mesh_object *o, struct api_listener *l,
                         struct value tls)
{
    struct arena *a = w->arena;
    struct str name = arena_printf(a, STR_FMT "-istio-autogenerated-k8s-gateway-" STR_FMT,
                                   STR_ARG(o->name), STR_ARG(l->name));
    struct value *obj = arena_new(a, struct value);
    *obj =
        tree(a,
             "{metadata: {name: %s, namespace: %s, creationTimestamp: %s}, spec: {servers: [{port: "
             "{number: %d, protocol: %s, name: default}, hosts: %v, tls: %v}]}}",
             name, o->ns, o->created.p ? o->created : STR(""), l->port, l->protocol,
             hosts_of(w, o, l), tls);
    struct mesh_object *made = realm_add_made(w, MESH_GATEWAY, obj);
    made->is_api = true;
    made->service = service_of(w, o);
    l->gateway = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(o->ns), STR_ARG(name));
}

static bool is_protocol(const struct api_listener *l, const char *name)
{
    return str_eq(l->protocol, str_of(name));
}

/* Why a listener cannot be beside an earlier one; NULL: it can. */
static const char *conflict(const struct api_gateway *g, const struct api_listener *l)
{
    for (const struct api_listener *o = g->listeners; o != l; o++) {
        if (o->port != l->port)
            continue;
        bool both_tls = (is_protocol(o, "HTTPS") || is_protocol(o, "TLS")) &&
                        (is_protocol(l, "HTTPS") || is_protocol(l, "TLS"));
        if (!str_eq(o->protocol, l->protocol) && !both_tls)
            return "ProtocolConflict";
        if (str_eq(o->hostname, l->hostname))
            return "HostnameConflict";
    }
    return NULL;
}

static void healthy_conditions(struct arena *a, struct value *list, const char *unresolved,
                               const char *unaccepted, struct str words)
{
    struct str fine = STR("No errors found");
    api__condition(a, list, "Accepted", !unaccepted, unaccepted ? unaccepted : "Accepted",
                   unaccepted ? words : fine);
    api__condition(a, list, "Conflicted", false, "NoConflicts", fine);
    api__condition(a, list, "Programmed", !unresolved, unresolved ? "Invalid" : "Programmed",
                   unresolved ? STR("Bad TLS configuration") : fine);
    api__condition(a, list, "ResolvedRefs", !unresolved, unresolved ? unresolved : "ResolvedRefs",
                   unresolved ? words : fine);
}

static void read_listener(struct realm *w, struct api_gateway *g, struct api_listener *l,
                          const struct value *spec)
{
    struct arena *a = w->arena;
    int64_t port = 0;
    const char *reason = NULL, *clash;
    (void)value_to_int(value_get(spec, STR("port")), &port);
    *l = (struct api_listener){ .spec = spec,
                                .name = value_text(spec, "name"),
                                .hostname = value_text(spec, "hostname"),
                                .protocol = value_text(spec, "protocol"),
                                .port = (int)port,
                                .conditions = value_array() };
    l->takes_http = is_protocol(l, "HTTP") || is_protocol(l, "HTTPS");
    l->takes_tls = is_protocol(l, "TLS");
    l->takes_tcp = is_protocol(l, "TCP");
    clash = conflict(g, l);
    if (clash) {
        struct str words =
            STR("Listener has a conflict with another listener attached to the same Gateway");
        api__condition(a, &l->conditions, "Accepted", false, clash, words);
        api__condition(a, &l->conditions, "Conflicted", true, clash, words);
        api__condition(a, &l->conditions, "Programmed", false, clash, words);
        return;
    }
    if (!l->takes_http && !l->takes_tls && !l->takes_tcp) {
        healthy_conditions(
            a, &l->conditions, NULL, "UnsupportedProtocol",
            arena_printf(a, "protocol \"" STR_FMT "\" is unsupported", STR_ARG(l->protocol)));
        return;
    }
    const struct value *tls = value_get(spec, STR("tls"));
    struct value made = value_null();
    if (is_protocol(l, "HTTPS") || l->takes_tls)
        made = tls_of(w, g->of, tls, &reason);
    bool forbidden = reason && str_eq(str_of(reason), STR("RefNotPermitted"));
    healthy_conditions(a, &l->conditions, reason, forbidden ? "NoValidCACertificate" : NULL,
                       STR("the certificate that is referred to cannot be used"));
    l->is_valid = true;
    make_gateway(w, g->of, l, made);
}

void api__gateways(struct realm *w, struct api_gateways *ret)
{
    const struct mesh_objects *all = &w->of[MESH_API_GATEWAY];
    *ret = (struct api_gateways){ arena_array(w->arena, struct api_gateway, all->n), 0 };
    for (size_t i = 0; i < all->n; i++) {
        const struct value *listeners = value_get(all->items[i]->spec, STR("listeners"));
        if (!is_ours(w, all->items[i]))
            continue;
        struct api_gateway *g = &ret->items[ret->n++];
        g->of = all->items[i];
        g->listeners = arena_array(w->arena, struct api_listener, listeners ? listeners->n : 0);
        value_each_item (it, listeners) {
            read_listener(w, g, &g->listeners[g->n], it);
            g->n++;
        }
    }
}

static struct value kinds_of(struct arena *a, const struct api_listener *l)
{
    struct value out = value_array();
    static const char *const http[] = { "HTTPRoute", "GRPCRoute" };
    for (size_t i = 0; l->takes_http && i < 2; i++)
        value_put_item(a, &out, tree(a, "{group: '" GATEWAY_API_GROUP "', kind: %t}", http[i]));
    if (l->takes_tls)
        value_put_item(a, &out, tree(a, "{group: '" GATEWAY_API_GROUP "', kind: TLSRoute}"));
    if (l->takes_tcp)
        value_put_item(a, &out, tree(a, "{group: '" GATEWAY_API_GROUP "', kind: TCPRoute}"));
    return out;
}

static bool is_bad(const struct api_listener *l)
{
    value_each_item (it, &l->conditions) {
        bool is_conflict = str_eq(value_text(it, "type"), STR("Conflicted"));
        if (str_eq(value_text(it, "status"), is_conflict ? STR("True") : STR("False")))
            return true;
    }
    return false;
}

/* Whether the Service in front has all ports. */
static void programmed(struct realm *w, const struct api_gateway *g, struct value *conditions,
                       struct value *ret_addresses)
{
    struct arena *a = w->arena;
    struct str name = service_of(w, g->of), ns = str_cut(&name, '/');
    struct str host = arena_printf(a, STR_FMT "." STR_FMT ".svc." STR_FMT, STR_ARG(name),
                                   STR_ARG(ns), STR_ARG(w->settings.domain));
    const struct mesh_services *found = realm_services_of(w, host);
    struct str missing = STR(""), have = STR("");
    *ret_addresses = value_null();
    for (size_t i = 0; i < g->n; i++) {
        bool has = found && service_port(found->items[0], g->listeners[i].port);
        if (has)
            have = arena_printf(a, STR_FMT "%s" STR_FMT ":%d", STR_ARG(have), have.n ? " and " : "",
                                STR_ARG(host), g->listeners[i].port);
        else
            missing = found ? arena_printf(a, "port %d not found for hostname \"" STR_FMT "\"",
                                           g->listeners[i].port, STR_ARG(host))
                            : arena_printf(a, "hostname \"" STR_FMT "\" not found", STR_ARG(host));
    }
    if (found)
        *ret_addresses = tree(a, "[{type: Hostname, value: %s}]", host);
    if (missing.n)
        api__condition(a, conditions, "Programmed", false, "AddressNotUsable",
                       arena_printf(a, "failed to assign to all requested addresses: " STR_FMT,
                                    STR_ARG(missing)));
    else
        api__condition(
            a, conditions, "Programmed", true, "Programmed",
            arena_printf(a, "Resource programmed, assigned to service(s) " STR_FMT, STR_ARG(have)));
}

void api__gateway_statuses(struct realm *w, const struct api_gateways *all,
                           struct api_statuses *ret)
{
    struct arena *a = w->arena;
    for (size_t i = 0; i < all->n; i++) {
        const struct api_gateway *g = &all->items[i];
        struct value conditions = value_array(), listeners = value_array(), addresses;
        size_t bad = 0;
        for (size_t k = 0; k < g->n; k++) {
            const struct api_listener *l = &g->listeners[k];
            bad += is_bad(l);
            value_put_item(a, &listeners,
                           tree(a,
                                "{name: %s, attachedRoutes: %d, supportedKinds: %v, conditions: "
                                "%v}",
                                l->name, l->attached, kinds_of(a, l),
                                value_clone(a, &l->conditions)));
        }
        api__condition(a, &conditions, "Accepted", !bad || bad < g->n,
                       bad ? "ListenersNotValid" : "Accepted",
                       bad ? STR("One or more of the Gateway's listeners are invalid")
                           : STR("Resource accepted"));
        programmed(w, g, &conditions, &addresses);
        api__condition(a, &conditions, "ResolvedRefs", true, "ResolvedRefs",
                       STR("All references resolved"));
        api__status(w, ret, MESH_API_GATEWAY, g->of,
                    tree(a, "{conditions: %v, listeners: %v, addresses: %v}", conditions, listeners,
                         addresses));
    }
}
