#include "mesh/xds/resource.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "mesh/cluster/cluster.h"
#include "mesh/envoy_filter/envoy_filter.h"
#include "mesh/listener/listener.h"
#include "mesh/model/tree.h"
#include "mesh/route/route.h"
#include "mesh/xds/secret.h"
#include "wire/message.h"
#include "base/banned.h"

#define PREFIX "type.googleapis.com/"

static const char *const messages[XDS_TYPES] = {
    [XDS_CLUSTER] = PREFIX "envoy.config.cluster.v3.Cluster",
    [XDS_ENDPOINT] = PREFIX "envoy.config.endpoint.v3.ClusterLoadAssignment",
    [XDS_LISTENER] = PREFIX "envoy.config.listener.v3.Listener",
    [XDS_ROUTE] = PREFIX "envoy.config.route.v3.RouteConfiguration",
    [XDS_SECRET] = PREFIX "envoy.extensions.transport_sockets.tls.v3.Secret",
};

struct str xds_type_url(enum xds_type t)
{
    return str_of(messages[t]);
}

bool xds_type_find(struct str url, enum xds_type *ret)
{
    for (int t = 0; t < XDS_TYPES; t++) {
        if (str_eq(url, str_of(messages[t]))) {
            *ret = t;
            return true;
        }
    }
    return false;
}

struct resource *resource_ref(struct resource *r)
{
    if (r)
        r->refs++;
    return r;
}

struct resource *resource_unref(struct resource *r)
{
    if (r && --r->refs == 0)
        free(r);
    return NULL;
}

struct snapshot *snapshot_new(uint64_t number)
{
    struct snapshot *s = mem_new(struct snapshot);
    s->refs = 1;
    arena_init(&s->arena);
    s->realm = realm_new(&s->arena, number);
    return s;
}

struct snapshot *snapshot_ref(struct snapshot *s)
{
    s->refs++;
    return s;
}

struct snapshot *snapshot_unref(struct snapshot *s)
{
    if (s && --s->refs == 0) {
        realm_done(s->realm);
        arena_done(&s->arena);
        free(s);
    }
    return NULL;
}

struct class
{
    struct snapshot *snapshot;
    struct arena arena; /* of the proxy, its scope and gateways */
    struct mesh_proxy proxy;
    struct mesh_scope scope;
    struct merged_gateways gateways;
    struct resource_list all[XDS_TYPES];
    bool has_all[XDS_TYPES];
    struct map one[XDS_TYPES]; /* name -> resource */
};

static struct mesh_proxy copy_proxy(struct arena *a, const struct mesh_proxy *p)
{
    struct mesh_proxy out = *p;
    struct value *meta = arena_new(a, struct value);
    *meta = p->meta ? value_clone(a, p->meta) : value_object();
    out.id = arena_str(a, p->id);
    out.ip = arena_str(a, p->ip);
    out.name = arena_str(a, p->name);
    out.ns = arena_str(a, p->ns);
    out.domain = arena_str(a, p->domain);
    out.account = arena_str(a, p->account);
    out.verified_ns = arena_str(a, p->verified_ns);
    out.meta = meta;
    out.labels = value_get(meta, STR("LABELS"));
    return out;
}

struct class *class_new(struct snapshot *s, const struct mesh_proxy *p)
{
    struct class *c = mem_new(struct class);
    c->snapshot = snapshot_ref(s);
    arena_init(&c->arena);
    c->proxy = copy_proxy(&c->arena, p);
    scope_make(&c->arena, s->realm, &c->proxy, &c->scope);
    gateways_merge(&c->arena, s->realm, &c->proxy, &c->gateways);
    return c;
}

static void drop_ones(struct class *c, enum xds_type t)
{
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&c->one[t], &pos, &key, &p))
        resource_unref(p);
    map_done(&c->one[t]);
    c->one[t] = (struct map){ 0 };
}

size_t class_kept(const struct class *c, enum xds_type t)
{
    return c->one[t].n;
}

struct class *class_free(struct class *c)
{
    if (!c)
        return NULL;
    for (int t = 0; t < XDS_TYPES; t++) {
        drop_ones(c, t);
        for (size_t i = 0; i < c->all[t].n; i++)
            resource_unref(c->all[t].items[i]);
        free(c->all[t].items);
    }
    scope_done(&c->scope);
    arena_done(&c->arena);
    c->snapshot = snapshot_unref(c->snapshot);
    free(c);
    return NULL;
}

/* NULL: the tree is no such message, which is said in the log. */
static struct resource *encode(enum xds_type t, struct str name, const struct value *v)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    autobuf out = { 0 };
    struct resource *r = NULL;
    struct str type = str_skip(str_of(messages[t]), sizeof(PREFIX) - 1);
    if (message_write(&out, message_find(type), v, &err) < 0) {
        log_error("a resource cannot be written", LOG_STR("type", type), LOG_STR("name", name),
                  LOG_ERR(&err));
    } else {
        r = mem_alloc(sizeof(*r) + name.n + out.n);
        char *p = (char *)(r + 1);
        memcpy(p, name.p, name.n);
        if (out.n)
            memcpy(p + name.n, out.p, out.n);
        *r = (struct resource){ .refs = 1,
                                .hash = map_hash(buf_str(&out)),
                                .name = { p, name.n },
                                .bytes = { p + name.n, out.n } };
    }
    arena_done(&a);
    return r;
}

static struct value make_all(struct class *c, struct arena *a, enum xds_type t)
{
    const struct realm *w = c->snapshot->realm;
    struct value out;
    if (t == XDS_CLUSTER) {
        out = clusters_make(a, w, &c->proxy, &c->scope);
        envoy_filter_clusters(a, w, &c->proxy, &out);
    } else {
        out = listeners_make(a, w, &c->proxy, &c->scope, &c->gateways);
        envoy_filter_listeners(a, w, &c->proxy, &out);
    }
    return out;
}

static struct value make_one(struct class *c, struct arena *a, enum xds_type t, struct str name)
{
    const struct realm *w = c->snapshot->realm;
    struct value out;
    switch (t) {
    case XDS_ENDPOINT:
        return cluster_endpoints(a, w, &c->proxy, &c->scope, name);
    case XDS_ROUTE:
        out = routes_make(a, w, &c->proxy, &c->scope, &c->gateways, name);
        envoy_filter_routes(a, w, &c->proxy, &out);
        return out;
    case XDS_SECRET:
        return secret_make(a, w, &c->proxy, name);
    default:
        return value_null();
    }
}

const struct resource_list *class_all(struct class *c, enum xds_type t)
{
    assert(t == XDS_CLUSTER || t == XDS_LISTENER);
    if (c->has_all[t])
        return &c->all[t];
    struct arena a;
    arena_init(&a);
    struct value all = make_all(c, &a, t);
    struct resource_list *list = &c->all[t];
    list->items = mem_array(all.n + 1, sizeof(*list->items));
    value_each_item (it, &all) {
        struct resource *r = encode(t, value_text(it, "name"), it);
        if (r)
            list->items[list->n++] = r;
    }
    arena_done(&a);
    c->has_all[t] = true;
    return list;
}

struct resource *class_one(struct class *c, enum xds_type t, struct str name)
{
    if (t == XDS_CLUSTER || t == XDS_LISTENER) {
        const struct resource_list *all = class_all(c, t);
        for (size_t i = 0; i < all->n; i++) {
            if (str_eq(all->items[i]->name, name))
                return all->items[i];
        }
        return NULL;
    }
    struct resource *r = map_get(&c->one[t], name);
    if (r)
        return r;
    struct arena a;
    arena_init(&a);
    struct value v = make_one(c, &a, t, name);
    if (v.type != VALUE_NULL)
        r = encode(t, name, &v);
    arena_done(&a);
    if (r && c->one[t].n >= CLASS_KEPT_MAX)
        drop_ones(c, t); /* somebody makes up names */
    if (r)
        map_set(&c->one[t], r->name, r);
    return r;
}

struct value class_tree(struct class *c, struct arena *a, enum xds_type t, struct str name)
{
    if (t != XDS_CLUSTER && t != XDS_LISTENER)
        return make_one(c, a, t, name);
    struct value all = make_all(c, a, t);
    value_each_item (it, &all) {
        if (str_eq(value_text(it, "name"), name))
            return value_borrow(it);
    }
    return value_null();
}

/* Where a proxy is an endpoint matters, its address as such does not. */
struct str class_key(struct arena *a, const struct realm *w, const struct mesh_proxy *p)
{
    autobuf labels = { 0 };
    uint64_t *owns = map_get(&w->owners, p->ip);
    if (p->labels)
        json_write(&labels, p->labels);
    return arena_printf(a, "%d|%d|%d|" STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT "|%llx",
                        p->is_router, p->no_capture, p->is_unprivileged, STR_ARG(p->ns),
                        STR_ARG(p->domain), STR_ARG(p->verified_ns), STR_ARG(buf_str(&labels)),
                        owns ? (unsigned long long)*owns : 0ULL);
}
