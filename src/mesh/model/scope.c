/* What a proxy sees: the Sidecar object that is meant for it, and what that imports. */
#include "mesh/model/host.h"
#include "mesh/model/proxy.h"
#include "base/banned.h"

static void push_service(struct arena *a, struct mesh_services *all, const struct mesh_service *s)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 16;
        all->items = arena_grow(a, all->items, all->cap * sizeof(*all->items),
                                cap * sizeof(*all->items), alignof(void *));
        all->cap = cap;
    }
    all->items[all->n++] = (struct mesh_service *)(uintptr_t)s;
}

static void push_object(struct arena *a, struct mesh_objects *all, struct mesh_object *o)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 16;
        all->items = arena_grow(a, all->items, all->cap * sizeof(*all->items),
                                cap * sizeof(*all->items), alignof(void *));
        all->cap = cap;
    }
    all->items[all->n++] = o;
}

static bool names_gateway(const struct value *gateways, struct str name)
{
    bool has_any = false;
    value_each_item (it, gateways) {
        has_any = true;
        if (str_eq(value_str(it), name))
            return true;
    }
    return !has_any && str_eq(name, STR("mesh"));
}

static bool has_hosts(const struct mesh_object *o)
{
    const struct value *hosts = value_get(o->spec, STR("hosts"));
    return value_is(hosts, VALUE_ARRAY) && hosts->n;
}

void scope_virtual_services(struct arena *a, const struct realm *w, struct str ns,
                            struct str gateway, struct mesh_objects *ret)
{
    *ret = (struct mesh_objects){ 0 };
    for (size_t i = 0; i < w->of[MESH_VIRTUAL_SERVICE].n; i++) {
        struct mesh_object *o = w->of[MESH_VIRTUAL_SERVICE].items[i];
        if (has_hosts(o) && names_gateway(value_get(o->spec, STR("gateways")), gateway) &&
            realm_exports(value_get(o->spec, STR("exportTo")), o->ns, ns))
            push_object(a, ret, o);
    }
}

/* The one that selects the workload, else the namespace's, else that of the root namespace. */
static const struct mesh_object *find_sidecar(const struct realm *w, const struct mesh_proxy *p)
{
    const struct mesh_object *of_ns = NULL, *of_root = NULL;
    for (size_t i = 0; i < w->of[MESH_SIDECAR].n; i++) {
        const struct mesh_object *o = w->of[MESH_SIDECAR].items[i];
        const struct value *selector = value_dig(o->spec, "workloadSelector", "labels");
        bool selects = selector && selector->n;
        if (str_eq(o->ns, p->ns) && selects && realm_selects(selector, p->labels))
            return o;
        if (str_eq(o->ns, p->ns) && !selects && !of_ns)
            of_ns = o;
        if (str_eq(o->ns, w->settings.root_ns) && !selects && !of_root)
            of_root = o;
    }
    return of_ns ? of_ns : of_root;
}

/* Whether an entry of `hosts` ("ns/dns") takes a host of that namespace in. */
static bool entry_takes(struct str entry, struct str my_ns, struct str ns, struct str host,
                        bool is_virtual)
{
    struct str name = entry;
    struct str of = str_cut(&name, '/');
    if (str_eq(of, STR(".")))
        of = my_ns;
    if (str_eq(of, STR("~")) || (!str_eq(of, STR("*")) && !str_eq(of, ns)))
        return false;
    return is_virtual ? host_matches(host, name) : host_is_within(host, name);
}

static bool takes(const struct value *hosts, struct str my_ns, struct str ns, struct str host,
                  bool is_virtual)
{
    value_each_item (it, hosts) {
        if (entry_takes(value_str(it), my_ns, ns, host, is_virtual))
            return true;
    }
    return false;
}

/* With this port only; NULL: it has no such port. */
static const struct mesh_service *with_port(struct arena *a, const struct mesh_service *s, int port)
{
    const struct mesh_port *p = service_port(s, port);
    if (!p || s->n_ports == 1)
        return p ? s : NULL;
    struct mesh_service *copy = arena_dup(a, s, sizeof(*s));
    copy->ports = arena_dup(a, p, sizeof(*p));
    copy->n_ports = 1;
    return copy;
}

/* Of several services with one host: that of the own namespace, else the oldest of Kubernetes, else
 * the oldest. */
static bool is_chosen(const struct realm *w, const struct mesh_service *s, struct str ns)
{
    const struct mesh_service *best = realm_service_for(w, s->host, ns);
    return best == s ||
           (best && str_eq(best->ns, s->ns) && best->is_kubernetes == s->is_kubernetes);
}

static void fill_listener(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                          const struct value *hosts, struct scope_listener *l)
{
    struct mesh_objects all;
    bool by_port = l->port && l->protocol != PROTOCOL_HTTP_PROXY;
    for (size_t i = 0; i < w->services.n; i++) {
        const struct mesh_service *s = w->services.items[i];
        if (!realm_service_visible(s, p->ns) || !takes(hosts, p->ns, s->ns, s->host, false) ||
            !is_chosen(w, s, p->ns))
            continue;
        if (by_port)
            s = with_port(a, s, l->port);
        if (s)
            push_service(a, &l->services, s);
    }
    scope_virtual_services(a, w, p->ns, STR("mesh"), &all);
    for (size_t i = 0; i < all.n; i++) {
        struct mesh_object *o = all.items[i];
        value_each_item (h, value_get(o->spec, STR("hosts"))) {
            if (takes(hosts, p->ns, o->ns, host_lower(a, value_str(h)), true)) {
                push_object(a, &l->virtual_services, o);
                break;
            }
        }
    }
}

static void import(struct arena *a, struct mesh_scope *s, const struct mesh_service *svc)
{
    struct mesh_service *have = map_get(&s->hosts, svc->host);
    if (have) {
        if (have->n_ports >= svc->n_ports || !str_eq(have->ns, svc->ns))
            return;
        for (size_t i = 0; i < s->services.n; i++) {
            if (s->services.items[i] == have)
                s->services.items[i] = (struct mesh_service *)(uintptr_t)svc;
        }
    } else {
        push_service(a, &s->services, svc);
    }
    map_set(&s->hosts, svc->host, (void *)(uintptr_t)svc);
}

/* Destinations of virtual services are imported with them. */
static void import_destinations(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                                struct mesh_scope *s, const struct scope_listener *l)
{
    static const char *const kinds[] = { "http", "tls", "tcp" };
    bool by_port = l->port && l->protocol != PROTOCOL_HTTP_PROXY;
    for (size_t i = 0; i < l->virtual_services.n; i++) {
        for (size_t k = 0; k < 3; k++) {
            value_each_item (rule,
                             value_get(l->virtual_services.items[i]->spec, str_of(kinds[k]))) {
                value_each_item (d, value_get(rule, STR("route"))) {
                    struct str host = value_str(value_dig(d, "destination", "host"));
                    const struct mesh_service *svc = realm_service_for(w, host, p->ns);
                    if (svc && by_port)
                        svc = with_port(a, svc, l->port);
                    if (svc)
                        import(a, s, svc);
                }
                struct str host = value_str(value_dig(rule, "mirror", "host"));
                const struct mesh_service *svc = realm_service_for(w, host, p->ns);
                if (svc && !by_port)
                    import(a, s, svc);
            }
        }
    }
}

static void read_egress(struct scope_listener *l, const struct value *e)
{
    int64_t port = 0;
    l->listener = e;
    if (value_to_int(value_dig(e, "port", "number"), &port) && port > 0 && port < 65536)
        l->port = (int)port;
    l->protocol = protocol_parse(value_str(value_dig(e, "port", "protocol")));
}

void scope_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                struct mesh_scope *ret)
{
    *ret = (struct mesh_scope){ .registry_only = w->settings.registry_only };
    ret->sidecar = p->is_router ? NULL : find_sidecar(w, p);
    const struct value *spec = ret->sidecar ? ret->sidecar->spec : NULL;
    const struct value *egress = value_get(spec, STR("egress"));
    const struct value *policy = value_get(spec, STR("outboundTrafficPolicy"));
    if (policy) {
        ret->registry_only = str_eq(value_text(policy, "mode"), STR("REGISTRY_ONLY")) ||
                             !value_text(policy, "mode").n;
        ret->egress_proxy = value_get(policy, STR("egressProxy"));
    }
    ret->n_egress = value_is(egress, VALUE_ARRAY) && egress->n ? egress->n : 1;
    ret->egress = arena_array(a, struct scope_listener, ret->n_egress);
    struct value *all = arena_new(a, struct value);
    *all = value_array();
    value_put_item(a, all, value_string(STR("*/*")));
    for (size_t i = 0; i < ret->n_egress; i++) {
        const struct value *e = value_at(egress, i);
        if (e)
            read_egress(&ret->egress[i], e);
        fill_listener(a, w, p, e ? value_get(e, STR("hosts")) : all, &ret->egress[i]);
    }
    for (size_t i = 0; i < ret->n_egress; i++) {
        for (size_t k = 0; k < ret->egress[i].services.n; k++)
            import(a, ret, ret->egress[i].services.items[k]);
        import_destinations(a, w, p, ret, &ret->egress[i]);
    }
}

void scope_done(struct mesh_scope *s)
{
    map_done(&s->hosts);
}

const struct mesh_service *scope_service(const struct mesh_scope *s, struct str host)
{
    return map_get(&s->hosts, host);
}
