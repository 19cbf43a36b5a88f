/* Services of the mesh, from Services and ServiceEntries, and their endpoints, from EndpointSlices
 * and WorkloadEntries. */
#include <stdlib.h>

#include "mesh/model/host.h"
#include "mesh/model/realm_internal.h"
#include "base/banned.h"

static void push_service(struct arena *a, struct mesh_services *all, struct mesh_service *s)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 4;
        all->items = arena_grow(a, all->items, all->cap * sizeof(*all->items),
                                cap * sizeof(*all->items), alignof(void *));
        all->cap = cap;
    }
    all->items[all->n++] = s;
}

static void enter(struct realm *w, struct mesh_service *s)
{
    push_service(w->arena, &w->services, s);
}

static int small_int(const struct value *v)
{
    int64_t n = 0;
    return value_to_int(v, &n) && n > 0 && n < 1000000 ? (int)n : 0;
}

static struct mesh_port *make_ports(struct realm *w, struct mesh_service *s,
                                    const struct value *ports)
{
    s->n_ports = value_is(ports, VALUE_ARRAY) ? ports->n : 0;
    s->ports = arena_array(w->arena, struct mesh_port, s->n_ports);
    return s->ports;
}

static void add_kubernetes(struct realm *w, const struct mesh_object *o)
{
    struct mesh_service *s = arena_new(w->arena, struct mesh_service);
    const struct value *ports = value_get(o->spec, STR("ports"));
    struct mesh_port *p = make_ports(w, s, ports);
    struct str ip = value_text(o->spec, "clusterIP");
    s->host = arena_printf(w->arena, STR_FMT "." STR_FMT ".svc." STR_FMT, STR_ARG(o->name),
                           STR_ARG(o->ns), STR_ARG(w->settings.domain));
    s->ns = o->ns;
    s->name = o->name;
    s->created = o->created;
    s->of = o;
    s->is_kubernetes = true;
    s->selector = value_get(o->spec, STR("selector"));
    s->labels = o->labels;
    s->export_note = realm_note(o, "networking.istio.io/exportTo");
    if (str_eq(ip, STR("None")))
        s->resolution = RESOLUTION_NONE;
    else
        s->vip = ip;
    if (str_eq(value_text(o->spec, "type"), STR("ExternalName"))) {
        s->resolution = RESOLUTION_ALIAS;
        s->external_name = value_text(o->spec, "externalName");
    }
    value_each_item (it, ports) {
        const struct value *target = value_get(it, STR("targetPort"));
        p->name = value_text(it, "name");
        p->number = small_int(value_get(it, STR("port")));
        p->target = small_int(target);
        p->target_name = value_str(target);
        p->protocol = protocol_of_port(value_text(it, "appProtocol"), p->name,
                                       value_text(it, "protocol"), p->number);
        p++;
    }
    enter(w, s);
}

static enum mesh_resolution resolution_of(struct str s)
{
    if (str_eq(s, STR("STATIC")))
        return RESOLUTION_STATIC;
    if (str_eq(s, STR("DNS")))
        return RESOLUTION_DNS;
    if (str_eq(s, STR("DNS_ROUND_ROBIN")))
        return RESOLUTION_DNS_ROUND_ROBIN;
    return RESOLUTION_NONE;
}

static void add_entry_host(struct realm *w, const struct mesh_object *o, struct str host)
{
    struct mesh_service *s = arena_new(w->arena, struct mesh_service);
    const struct value *ports = value_get(o->spec, STR("ports"));
    struct mesh_port *p = make_ports(w, s, ports);
    s->host = host_lower(w->arena, host);
    s->ns = o->ns;
    s->name = o->name;
    s->created = o->created;
    s->of = o;
    s->labels = o->labels;
    s->export_to = value_get(o->spec, STR("exportTo"));
    s->selector = value_dig(o->spec, "workloadSelector", "labels");
    s->addresses = value_get(o->spec, STR("addresses"));
    s->sans = value_get(o->spec, STR("subjectAltNames"));
    s->is_external = !str_eq(value_text(o->spec, "location"), STR("MESH_INTERNAL"));
    s->resolution = resolution_of(value_text(o->spec, "resolution"));
    const struct value *address = value_at(s->addresses, 0);
    if (address && str_find(value_str(address), '/') < 0)
        s->vip = value_str(address);
    value_each_item (it, ports) {
        p->name = value_text(it, "name");
        p->number = small_int(value_get(it, STR("number")));
        p->target = small_int(value_get(it, STR("targetPort")));
        p->protocol = protocol_parse(value_text(it, "protocol"));
        p++;
    }
    enter(w, s);
}

static int by_age(const void *a, const void *b)
{
    const struct mesh_service *x = *(struct mesh_service *const *)a;
    const struct mesh_service *y = *(struct mesh_service *const *)b;
    int c = str_cmp(x->created, y->created);
    if (c)
        return c;
    c = str_cmp(x->host, y->host);
    return c ? c : str_cmp(x->ns, y->ns);
}

void realm__make_services(struct realm *w)
{
    for (size_t i = 0; i < w->of[MESH_SERVICE].n; i++)
        add_kubernetes(w, w->of[MESH_SERVICE].items[i]);
    for (size_t i = 0; i < w->of[MESH_SERVICE_ENTRY].n; i++) {
        const struct mesh_object *o = w->of[MESH_SERVICE_ENTRY].items[i];
        value_each_item (it, value_get(o->spec, STR("hosts")))
            add_entry_host(w, o, value_str(it));
    }
    if (w->services.n)
        qsort(w->services.items, w->services.n, sizeof(*w->services.items), by_age);
    for (size_t i = 0; i < w->services.n; i++) {
        struct mesh_service *s = w->services.items[i];
        struct mesh_services *same = map_get(&w->hosts, s->host);
        if (!same) {
            same = arena_new(w->arena, struct mesh_services);
            map_set(&w->hosts, s->host, same);
        }
        push_service(w->arena, same, s);
    }
}

struct mesh_endpoint *realm__endpoint(struct realm *w, struct mesh_port *p)
{
    if (p->n_endpoints == p->cap_endpoints) {
        size_t cap = p->cap_endpoints ? 2 * p->cap_endpoints : 4;
        p->endpoints = arena_grow(w->arena, p->endpoints, p->cap_endpoints * sizeof(*p->endpoints),
                                  cap * sizeof(*p->endpoints), alignof(struct mesh_endpoint));
        p->cap_endpoints = cap;
    }
    struct mesh_endpoint *e = &p->endpoints[p->n_endpoints++];
    *e = (struct mesh_endpoint){ .is_ready = true };
    return e;
}

static bool is_mutual(const struct value *labels)
{
    return str_eq(value_text(labels, "security.istio.io/tlsMode"), STR("istio"));
}

/* An endpoint as ServiceEntries and WorkloadEntries write it. */
static void add_workload(struct realm *w, struct mesh_service *s, const struct value *we,
                         const struct value *labels, struct str ns)
{
    for (size_t i = 0; i < s->n_ports; i++) {
        struct mesh_port *p = &s->ports[i];
        const struct value *ports = value_get(we, STR("ports"));
        int port = small_int(value_get(ports, p->name));
        if (!port && p->target_name.n)
            port = small_int(value_get(ports, p->target_name));
        if (!port)
            port = p->target ? p->target : p->number;
        struct mesh_endpoint *e = realm__endpoint(w, p);
        e->address = value_text(we, "address");
        e->port = port;
        e->weight = small_int(value_get(we, STR("weight")));
        e->labels = labels;
        e->locality = value_text(we, "locality");
        e->account = value_text(we, "serviceAccount");
        e->ns = ns;
        e->is_mutual = is_mutual(labels);
    }
}

static void add_selected(struct realm *w, struct mesh_service *s)
{
    if (!value_is(s->selector, VALUE_OBJECT) || !s->selector->n)
        return;
    for (size_t i = 0; i < w->of[MESH_WORKLOAD_ENTRY].n; i++) {
        const struct mesh_object *o = w->of[MESH_WORKLOAD_ENTRY].items[i];
        const struct value *labels = value_get(o->spec, STR("labels"));
        if (str_eq(o->ns, s->ns) && realm_selects(s->selector, labels))
            add_workload(w, s, o->spec, labels, o->ns);
    }
}

/* Pods that a ServiceEntry picks. */
static void add_pods(struct realm *w, struct mesh_service *s)
{
    if (s->is_kubernetes || !value_is(s->selector, VALUE_OBJECT) || !s->selector->n)
        return;
    for (size_t i = 0; i < w->of[MESH_POD].n; i++) {
        const struct mesh_object *o = w->of[MESH_POD].items[i];
        struct str ip = value_str(value_dig(o->obj, "status", "podIP"));
        if (!ip.n || !str_eq(o->ns, s->ns) || !realm_selects(s->selector, o->labels))
            continue;
        for (size_t k = 0; k < s->n_ports; k++) {
            struct mesh_endpoint *e = realm__endpoint(w, &s->ports[k]);
            e->address = ip;
            e->port = s->ports[k].target ? s->ports[k].target : s->ports[k].number;
            e->labels = o->labels;
            e->account = value_text(o->spec, "serviceAccountName");
            e->ns = o->ns;
            e->is_mutual = is_mutual(o->labels);
        }
    }
}

static void add_inline(struct realm *w, struct mesh_service *s)
{
    const struct value *all = s->is_kubernetes ? NULL : value_get(s->of->spec, STR("endpoints"));
    value_each_item (it, all)
        add_workload(w, s, it, value_get(it, STR("labels")), s->ns);
    if (s->resolution == RESOLUTION_DNS || s->resolution == RESOLUTION_DNS_ROUND_ROBIN) {
        if (!all || !all->n) {
            struct value *self = arena_new(w->arena, struct value);
            *self = value_object();
            value_put(w->arena, self, STR("address"), value_string(s->host));
            if (!host_is_wild(s->host))
                add_workload(w, s, self, NULL, s->ns);
        }
    }
}

static struct mesh_service *kubernetes_service(struct realm *w, struct str ns, struct str name)
{
    struct str host = arena_printf(w->arena, STR_FMT "." STR_FMT ".svc." STR_FMT, STR_ARG(name),
                                   STR_ARG(ns), STR_ARG(w->settings.domain));
    const struct mesh_services *all = realm_services_of(w, host);
    for (size_t i = 0; all && i < all->n; i++) {
        if (all->items[i]->is_kubernetes)
            return all->items[i];
    }
    return NULL;
}

static void add_slice_endpoint(struct realm *w, struct mesh_port *p, const struct value *it,
                               int number, struct str ns)
{
    const struct value *ready = value_dig(it, "conditions", "ready");
    const struct value *ref = value_get(it, STR("targetRef"));
    const struct mesh_object *pod = NULL;
    if (str_eq(value_text(ref, "kind"), STR("Pod")))
        pod = map_get(&w->pods, arena_printf(w->arena, STR_FMT "/" STR_FMT, STR_ARG(ns),
                                             STR_ARG(value_text(ref, "name"))));
    value_each_item (address, value_get(it, STR("addresses"))) {
        struct mesh_endpoint *e = realm__endpoint(w, p);
        e->address = value_str(address);
        e->port = number;
        e->ns = ns;
        e->labels = pod ? pod->labels : NULL;
        e->account = pod ? value_text(pod->spec, "serviceAccountName") : STR("");
        e->is_mutual = pod && is_mutual(pod->labels);
        e->is_ready = !value_is(ready, VALUE_BOOL) || ready->b;
    }
}

static void add_slice(struct realm *w, const struct mesh_object *o)
{
    struct str name = value_text(o->labels, "kubernetes.io/service-name");
    struct mesh_service *s = name.n ? kubernetes_service(w, o->ns, name) : NULL;
    if (!s)
        return;
    for (size_t i = 0; i < s->n_ports; i++) {
        value_each_item (port, value_get(o->obj, STR("ports"))) {
            if (!str_eq(value_text(port, "name"), s->ports[i].name))
                continue;
            int number = small_int(value_get(port, STR("port")));
            value_each_item (it, value_get(o->obj, STR("endpoints")))
                add_slice_endpoint(w, &s->ports[i], it, number, o->ns);
        }
    }
}

void realm__add_endpoints(struct realm *w)
{
    for (size_t i = 0; i < w->services.n; i++) {
        add_inline(w, w->services.items[i]);
        add_selected(w, w->services.items[i]);
        add_pods(w, w->services.items[i]);
    }
    for (size_t i = 0; i < w->of[MESH_ENDPOINT_SLICE].n; i++)
        add_slice(w, w->of[MESH_ENDPOINT_SLICE].items[i]);
}
