#include "mesh/model/realm.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/yaml.h"
#include "mesh/model/host.h"
#include "mesh/model/realm_internal.h"
#include "base/banned.h"

struct realm *realm_new(struct arena *a, uint64_t number)
{
    struct realm *w = arena_new(a, struct realm);
    w->arena = a;
    w->number = number;
    w->settings = (struct mesh_settings){ .root_ns = STR("istio-system"),
                                          .domain = STR("cluster.local"),
                                          .trust_domain = STR("cluster.local"),
                                          .auto_mtls = true,
                                          .connect_timeout = STR("10s") };
    return w;
}

void realm_done(struct realm *w)
{
    map_done(&w->hosts);
    map_done(&w->labels_of);
    map_done(&w->pods);
    map_done(&w->owners);
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

struct mesh_object *realm_add_made(struct realm *w, enum mesh_kind kind, const struct value *obj)
{
    const struct value *meta = value_get(obj, STR("metadata"));
    struct mesh_object *o = arena_new(w->arena, struct mesh_object);
    o->ns = value_text(meta, "namespace");
    o->name = value_text(meta, "name");
    o->created = value_text(meta, "creationTimestamp");
    o->labels = value_get(meta, STR("labels"));
    o->annotations = value_get(meta, STR("annotations"));
    o->obj = obj;
    o->spec = value_get(obj, STR("spec"));
    push_object(w->arena, &w->of[kind], o);
    return o;
}

void realm_add(struct realm *w, enum mesh_kind kind, const struct value *obj)
{
    (void)realm_add_made(w, kind, obj);
}

static int by_age(const void *a, const void *b)
{
    const struct mesh_object *x = *(struct mesh_object *const *)a;
    const struct mesh_object *y = *(struct mesh_object *const *)b;
    int c = str_cmp(x->created, y->created);
    if (c)
        return c;
    c = str_cmp(x->name, y->name);
    return c ? c : str_cmp(x->ns, y->ns);
}

static void sort_kind(struct realm *w, enum mesh_kind kind)
{
    struct mesh_objects *all = &w->of[kind];
    if (all->n)
        qsort(all->items, all->n, sizeof(*all->items), by_age);
}

static struct str or_else(struct str s, struct str usual)
{
    return s.n ? s : usual;
}

/* ConfigMap "istio" of the root namespace, key "mesh": YAML. What cannot be read is as if it were
 * not there. */
static void read_settings(struct realm *w)
{
    const struct mesh_object *o = realm_find(w, MESH_CONFIG_MAP, w->settings.root_ns, STR("istio"));
    struct str text = o ? value_str(value_dig(o->obj, "data", "mesh")) : STR("");
    if (!text.n)
        return;
    struct value *v = arena_new(w->arena, struct value);
    struct err err = ERR_INIT(w->arena);
    if (yaml_read(w->arena, text, NULL, v, &err) < 0 || v->type != VALUE_OBJECT)
        return;
    struct mesh_settings *s = &w->settings;
    int64_t port = 0;
    s->mesh = v;
    s->root_ns = or_else(value_text(v, "rootNamespace"), s->root_ns);
    s->trust_domain = or_else(value_text(v, "trustDomain"), s->trust_domain);
    s->connect_timeout = or_else(value_text(v, "connectTimeout"), s->connect_timeout);
    s->access_log_file = value_text(v, "accessLogFile");
    s->access_log_format = value_text(v, "accessLogFormat");
    if (value_to_int(value_get(v, STR("proxyHttpPort")), &port) && port > 0 && port < 65536)
        s->http_proxy_port = (int)port;
    const struct value *mtls = value_get(v, STR("enableAutoMtls"));
    if (value_is(mtls, VALUE_BOOL))
        s->auto_mtls = mtls->b;
    s->registry_only =
        str_eq(value_str(value_dig(v, "outboundTrafficPolicy", "mode")), STR("REGISTRY_ONLY"));
}

static void index_objects(struct realm *w)
{
    for (size_t i = 0; i < w->of[MESH_NAMESPACE].n; i++) {
        const struct mesh_object *o = w->of[MESH_NAMESPACE].items[i];
        if (o->labels)
            map_set(&w->labels_of, o->name, (void *)(uintptr_t)o->labels);
    }
    for (size_t i = 0; i < w->of[MESH_POD].n; i++) {
        struct mesh_object *o = w->of[MESH_POD].items[i];
        map_set(&w->pods,
                arena_printf(w->arena, STR_FMT "/" STR_FMT, STR_ARG(o->ns), STR_ARG(o->name)), o);
    }
}

static void index_owner(struct realm *w, const struct mesh_service *s, const struct mesh_port *p,
                        const struct mesh_endpoint *e)
{
    char text[512];
    uint64_t *n = map_get(&w->owners, e->address);
    if (!n) {
        n = arena_new(w->arena, uint64_t);
        map_set(&w->owners, e->address, n);
    }
    int len = snprintf(text, sizeof(text), "%d %d " STR_FMT, p->number, e->port, STR_ARG(s->host));
    *n += map_hash((struct str){ text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) });
}

static void index_owners(struct realm *w)
{
    for (size_t i = 0; i < w->services.n; i++) {
        const struct mesh_service *s = w->services.items[i];
        for (size_t k = 0; k < s->n_ports; k++) {
            for (size_t e = 0; e < s->ports[k].n_endpoints; e++)
                index_owner(w, s, &s->ports[k], &s->ports[k].endpoints[e]);
        }
    }
}

void realm_seal(struct realm *w)
{
    for (int k = 0; k < MESH_KINDS; k++)
        sort_kind(w, k);
    read_settings(w);
    index_objects(w);
    realm__make_services(w);
    realm__add_endpoints(w);
    index_owners(w);
}

void realm_finish(struct realm *w)
{
    sort_kind(w, MESH_GATEWAY);
    sort_kind(w, MESH_VIRTUAL_SERVICE);
    realm__make_rules(w);
    realm__make_virtual_services(w);
}

bool realm_exports(const struct value *export_to, struct str ns, struct str from)
{
    if (!value_is(export_to, VALUE_ARRAY) || !export_to->n)
        return true;
    value_each_item (it, export_to) {
        struct str s = value_str(it);
        if (str_eq(s, STR("*")) || str_eq(s, from) || (str_eq(s, STR(".")) && str_eq(ns, from)))
            return true;
    }
    return false;
}

bool realm_service_visible(const struct mesh_service *s, struct str from)
{
    if (!s->export_note.n)
        return realm_exports(s->export_to, s->ns, from);
    struct str rest = s->export_note;
    while (rest.n) {
        struct str one = str_trim(str_cut(&rest, ','));
        if (str_eq(one, STR("*")) || str_eq(one, from) ||
            (str_eq(one, STR(".")) && str_eq(s->ns, from)))
            return true;
    }
    return false;
}

bool realm_selects(const struct value *selector, const struct value *labels)
{
    value_each_field (f, selector) {
        const struct value *have = value_get(labels, f->key);
        if (!have || !str_eq(value_str(have), value_str(&f->val)))
            return false;
    }
    return true;
}

const struct mesh_services *realm_services_of(const struct realm *w, struct str host)
{
    return map_get(&w->hosts, host);
}

const struct mesh_service *realm_service_for(const struct realm *w, struct str host, struct str ns)
{
    const struct mesh_services *all = realm_services_of(w, host);
    const struct mesh_service *found = NULL;
    for (size_t i = 0; all && i < all->n; i++) {
        const struct mesh_service *s = all->items[i];
        if (!realm_service_visible(s, ns))
            continue;
        if (str_eq(s->ns, ns))
            return s;
        if (!found || (!found->is_kubernetes && s->is_kubernetes))
            found = s;
    }
    return found;
}

const struct mesh_port *service_port(const struct mesh_service *s, int number)
{
    for (size_t i = 0; s && i < s->n_ports; i++) {
        if (s->ports[i].number == number)
            return &s->ports[i];
    }
    return NULL;
}

const struct mesh_object *realm_find(const struct realm *w, enum mesh_kind kind, struct str ns,
                                     struct str name)
{
    const struct mesh_objects *all = &w->of[kind];
    for (size_t i = 0; i < all->n; i++) {
        if (str_eq(all->items[i]->name, name) && str_eq(all->items[i]->ns, ns))
            return all->items[i];
    }
    return NULL;
}

struct str realm_note(const struct mesh_object *o, const char *name)
{
    return value_str(value_get(o->annotations, str_of(name)));
}
