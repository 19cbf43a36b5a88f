#include "mesh/xds/server.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mesh/xds/server_internal.h"
#include "base/banned.h"

#define ADS "/envoy.service.discovery.v3.AggregatedDiscoveryService/"

struct class_entry {
    struct class *class;
    size_t n;
    char key[];
};

static void drop_classes(struct xds_server *s);

struct class *xds__class_of(struct xds_server *s, const struct mesh_proxy *p)
{
    struct arena a;
    arena_init(&a);
    struct str key = class_key(&a, s->snapshot->realm, p);
    struct class_entry *e = map_get(&s->classes, key);
    if (!e) {
        if (s->classes.n >= XDS_CLASSES_MIN + s->n_streams)
            drop_classes(s); /* most are of proxies that have gone */
        e = mem_zalloc(sizeof(*e) + key.n);
        memcpy(e->key, key.p, key.n);
        e->n = key.n;
        e->class = class_new(s->snapshot, p);
        map_set(&s->classes, (struct str){ e->key, e->n }, e);
    }
    arena_done(&a);
    return e->class;
}

static void drop_classes(struct xds_server *s)
{
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&s->classes, &pos, &key, &p)) {
        struct class_entry *e = p;
        class_free(e->class);
        free(e);
    }
    map_done(&s->classes);
    s->classes = (struct map){ 0 };
}

void xds_server_set(struct xds_server *s, struct snapshot *snap, unsigned mask)
{
    struct stream *st, *next;
    loop_assert_owner(s->solo.loop);
    drop_classes(s);
    s->snapshot = snapshot_unref(s->snapshot);
    s->snapshot = snap;
    for (st = LIST_FIRST(&s->streams); st; st = next) {
        next = LIST_NEXT(st, link);
        xds__stream_push(st, mask);
    }
}

struct snapshot *xds_server_snapshot(struct xds_server *s)
{
    return s->snapshot;
}

void xds_server_each(struct xds_server *s, void (*visit)(void *arg, const struct xds_peer *p),
                     void *arg)
{
    for (struct stream *st = LIST_FIRST(&s->streams); st; st = LIST_NEXT(st, link)) {
        struct xds_peer peer = { .proxy = &st->proxy, .is_delta = st->is_delta };
        if (!st->has_node || !s->snapshot)
            continue;
        peer.class = xds__class_of(s, &st->proxy);
        for (int t = 0; t < XDS_TYPES; t++) {
            peer.sent[t] = st->of[t].n_sent;
            peer.acked[t] = st->of[t].n_acked;
            peer.refused[t] = st->of[t].n_refused;
            peer.last_refusal[t] = str_of(st->of[t].refusal);
            peer.names[t] = &st->of[t].names;
        }
        visit(arg, &peer);
    }
}

static void start_sotw(void *arg, struct grpc_call *call)
{
    xds__stream_start(arg, call, false);
}

static void start_delta(void *arg, struct grpc_call *call)
{
    xds__stream_start(arg, call, true);
}

static const struct grpc_method methods[] = {
    { ADS "StreamAggregatedResources", start_sotw },
    { ADS "DeltaAggregatedResources", start_delta },
};

static bool is_grpc(const struct http_request *req)
{
    return str_starts(http_header_get(req, STR("content-type")), STR("application/grpc"));
}

static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    (void)arg;
    return is_grpc(http_request_of(x)) ? HTTP_BODY_STREAM : HTTP_BODY_COLLECT;
}

static void on_request(void *arg, struct http_exchange *x)
{
    struct xds_server *s = arg;
    if (is_grpc(http_request_of(x)))
        grpc_serve(x, methods, sizeof(methods) / sizeof(*methods), s);
    else if (s->opt.on_request)
        s->opt.on_request(s, x);
    else
        http_reply(x, 404, NULL, 0, HTTP_BYTES(STR("not found\n")));
}

static int start(struct xds_server *s, struct err *err)
{
    struct http_limits limits = http_limits_default();
    limits.connections = XDS_STREAMS_MAX + 64;
    limits.h2_any_name = true;
    int r =
        solo_init(&s->solo, &(struct http_handler){ s, on_head, on_request }, &limits, NULL, err);
    if (r < 0)
        return r;
    r = http_server_listen(s->solo.http, s->opt.listen, NULL, &s->arena, &s->address, err);
    if (r < 0)
        return r;
    if (s->opt.listen_tls.n) {
        r = http_server_listen(s->solo.http, s->opt.listen_tls, s->opt.tls, &s->arena, NULL, err);
        if (r < 0)
            return r;
    }
    return solo_run(&s->solo, err);
}

int xds_server_start(const struct xds_options *opt, struct xds_server **ret, struct err *err)
{
    struct xds_server *s = mem_new(struct xds_server);
    s->opt = *opt;
    arena_init(&s->arena);
    LIST_INIT(&s->streams);
    int r = start(s, err);
    if (r < 0) {
        solo_done(&s->solo);
        arena_done(&s->arena);
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct ending {
    struct loop_msg msg;
    struct xds_server *server;
};

static void end_streams(struct loop *l, struct loop_msg *m)
{
    struct xds_server *s = ((struct ending *)m)->server;
    (void)l;
    while (!LIST_EMPTY(&s->streams))
        xds__stream_end(LIST_FIRST(&s->streams), GRPC_UNAVAILABLE, "the mesh stops");
    free(m);
}

struct xds_server *xds_server_stop(struct xds_server *s)
{
    if (!s)
        return NULL;
    struct ending *e = mem_new(struct ending);
    e->msg.run = end_streams;
    e->server = s;
    loop_post(s->solo.loop, &e->msg);
    solo_done(&s->solo);
    drop_classes(s);
    snapshot_unref(s->snapshot);
    arena_done(&s->arena);
    free(s);
    return NULL;
}

struct str xds_server_address(const struct xds_server *s)
{
    return s->address;
}

struct loop *xds_server_loop(struct xds_server *s)
{
    return s->solo.loop;
}
