/* Gateways of one router: servers of one port are one listener, as far as they go together. */
#include "mesh/model/host.h"
#include "mesh/model/proxy.h"
#include "base/banned.h"

bool server_is_tls(const struct mesh_server *s)
{
    return protocol_is_tls(s->protocol);
}

struct str server_tls_mode(const struct mesh_server *s)
{
    return value_str(value_dig(s->server, "tls", "mode"));
}

bool server_passes(const struct mesh_server *s)
{
    struct str mode = server_tls_mode(s);
    bool has_tls = value_get(s->server, STR("tls")) != NULL;
    return has_tls &&
           (!mode.n || str_eq(mode, STR("PASSTHROUGH")) || str_eq(mode, STR("AUTO_PASSTHROUGH")));
}

/* "./x" is of the gateway's namespace, and all namespaces need no name. */
static void read_hosts(struct arena *a, struct mesh_server *s)
{
    const struct value *hosts = value_get(s->server, STR("hosts"));
    s->hosts = arena_array(a, struct str, hosts ? hosts->n : 0);
    value_each_item (it, hosts) {
        struct str h = value_str(it), name = h;
        struct str ns = str_find(h, '/') >= 0 ? str_cut(&name, '/') : STR("");
        if (str_eq(ns, STR(".")))
            h = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(s->gateway->ns), STR_ARG(name));
        else if (str_eq(ns, STR("*")))
            h = name;
        s->hosts[s->n_hosts++] = h;
    }
}

static struct str route_name(struct arena *a, const struct mesh_server *s)
{
    if (protocol_is_http(s->protocol))
        return s->bind.n ? arena_printf(a, "http.%d." STR_FMT, s->port, STR_ARG(s->bind))
                         : arena_printf(a, "http.%d", s->port);
    if (s->protocol != PROTOCOL_HTTPS || server_passes(s))
        return STR("");
    int64_t number = 0;
    (void)value_to_int(value_dig(s->server, "port", "number"), &number);
    struct str name = value_str(value_dig(s->server, "port", "name"));
    return arena_printf(a, "https.%d." STR_FMT "." STR_FMT "." STR_FMT "%s" STR_FMT, (int)number,
                        STR_ARG(name), STR_ARG(s->gateway->name), STR_ARG(s->gateway->ns),
                        s->bind.n ? "." : "", STR_ARG(s->bind));
}

static struct mesh_bind *find_bind(const struct merged_gateways *m, int port, struct str bind)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->binds[i].port == port && str_eq(m->binds[i].bind, bind))
            return &m->binds[i];
    }
    return NULL;
}

static void push_server(struct arena *a, struct mesh_bind *b, struct mesh_server *s)
{
    if (b->n == b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 4;
        b->servers = arena_grow(a, b->servers, b->cap * sizeof(*b->servers),
                                cap * sizeof(*b->servers), alignof(void *));
        b->cap = cap;
    }
    b->servers[b->n++] = s;
}

static struct mesh_bind *push_bind(struct arena *a, struct merged_gateways *m)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 8;
        m->binds = arena_grow(a, m->binds, m->cap * sizeof(*m->binds), cap * sizeof(*m->binds),
                              alignof(struct mesh_bind));
        m->cap = cap;
    }
    struct mesh_bind *b = &m->binds[m->n++];
    *b = (struct mesh_bind){ 0 };
    return b;
}

/* Two servers that terminate or route TLS on one port need different names. */
static bool repeats_host(const struct mesh_bind *b, const struct mesh_server *s)
{
    for (size_t i = 0; i < b->n; i++) {
        if (!value_get(b->servers[i]->server, STR("tls")))
            continue;
        for (size_t k = 0; k < b->servers[i]->n_hosts; k++) {
            for (size_t h = 0; h < s->n_hosts; h++) {
                if (str_eq(s->hosts[h], b->servers[i]->hosts[k]))
                    return true;
            }
        }
    }
    return false;
}

/* The first server of a port decides what others may join it. */
static bool may_join(const struct mesh_bind *b, const struct mesh_server *s)
{
    bool plain = !protocol_is_tls(b->protocol);
    if (plain)
        return protocol_is_http(b->protocol) && protocol_is_http(s->protocol);
    if (!server_is_tls(s) || !value_get(s->server, STR("tls")))
        return false;
    for (size_t i = 0; s->route_name.n && i < b->n; i++) {
        if (str_eq(b->servers[i]->route_name, s->route_name))
            return false;
    }
    return !repeats_host(b, s);
}

static void add_server(struct arena *a, struct merged_gateways *m, struct mesh_server *s)
{
    struct mesh_bind *b = find_bind(m, s->port, s->bind);
    if (!b) {
        b = push_bind(a, m);
        b->port = s->port;
        b->bind = s->bind;
        b->protocol = s->protocol;
        b->route_name = s->route_name;
        push_server(a, b, s);
    } else if (may_join(b, s)) {
        push_server(a, b, s);
    }
}

/* The port behind the Service in front: its target. */
static int resolve_port(const struct realm *w, const struct mesh_proxy *p, int number)
{
    for (size_t i = 0; i < w->services.n; i++) {
        const struct mesh_service *s = w->services.items[i];
        const struct mesh_port *port = service_port(s, number);
        if (!port || !s->is_kubernetes || !str_eq(s->ns, p->ns))
            continue;
        for (size_t k = 0; k < port->n_endpoints; k++) {
            if (str_eq(port->endpoints[k].address, p->ip))
                return port->endpoints[k].port;
        }
    }
    return number;
}

static bool is_for(const struct realm *w, const struct mesh_object *o, const struct mesh_proxy *p)
{
    if (o->is_api) {
        struct str name = o->service;
        struct str ns = str_cut(&name, '/');
        for (size_t i = 0; i < w->services.n; i++) {
            const struct mesh_service *s = w->services.items[i];
            if (!s->is_kubernetes || !str_eq(s->ns, ns) || !str_eq(s->name, name))
                continue;
            for (size_t k = 0; k < s->n_ports; k++) {
                for (size_t e = 0; e < s->ports[k].n_endpoints; e++) {
                    if (str_eq(s->ports[k].endpoints[e].address, p->ip))
                        return true;
                }
            }
        }
        return false;
    }
    const struct value *selector = value_get(o->spec, STR("selector"));
    return realm_selects(selector, p->labels);
}

static void add_gateway(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                        struct merged_gateways *m, const struct mesh_object *o)
{
    value_each_item (it, value_get(o->spec, STR("servers"))) {
        int64_t number = 0;
        if (!value_to_int(value_dig(it, "port", "number"), &number) || number < 1 || number > 65535)
            continue;
        struct mesh_server *s = arena_new(a, struct mesh_server);
        s->server = it;
        s->gateway = o;
        s->gateway_name = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(o->ns), STR_ARG(o->name));
        s->protocol = protocol_parse(value_str(value_dig(it, "port", "protocol")));
        s->bind = value_text(it, "bind");
        s->port = resolve_port(w, p, (int)number);
        read_hosts(a, s);
        s->route_name = route_name(a, s);
        add_server(a, m, s);
    }
}

void gateways_merge(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                    struct merged_gateways *ret)
{
    *ret = (struct merged_gateways){ 0 };
    for (size_t i = 0; p->is_router && i < w->of[MESH_GATEWAY].n; i++) {
        const struct mesh_object *o = w->of[MESH_GATEWAY].items[i];
        if (is_for(w, o, p))
            add_gateway(a, w, p, ret, o);
    }
}
