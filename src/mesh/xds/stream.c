/* One ADS stream. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/wire.h"
#include "mesh/xds/server_internal.h"
#include "wire/message.h"
#include "base/banned.h"

static struct sent *want(struct subscription *sub, struct str name)
{
    struct sent *s = map_get(&sub->names, name);
    if (s || name.n > XDS_NAME_BYTES_MAX || sub->names.n >= XDS_NAMES_MAX ||
        sub->name_bytes + name.n > XDS_NAMES_BYTES_MAX)
        return s;
    sub->name_bytes += name.n;
    s = mem_zalloc(sizeof(*s) + name.n);
    s->n = name.n;
    memcpy(s->name, name.p, name.n);
    map_set(&sub->names, (struct str){ s->name, s->n }, s);
    return s;
}

static void forget(struct subscription *sub, struct str name)
{
    struct sent *s = map_remove(&sub->names, name);
    sub->name_bytes -= s ? s->n : 0;
    free(s);
}

static void forget_all(struct subscription *sub)
{
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&sub->names, &pos, &key, &p))
        free(p);
    map_done(&sub->names);
    sub->names = (struct map){ 0 };
    sub->name_bytes = 0;
}

/* ---- Sending ---- */

struct reply {
    struct buf body; /* resources */
    struct buf gone; /* names, of delta */
    size_t n, n_gone;
};

static void put_any(struct buf *out, unsigned number, enum xds_type t, struct str bytes)
{
    struct str url = xds_type_url(t);
    wire_head(out, number, wire_bytes_size(1, url.n) + wire_bytes_size(2, bytes.n));
    wire_bytes(out, 1, url);
    wire_bytes(out, 2, bytes);
}

static void put_resource(const struct stream *st, struct reply *r, enum xds_type t,
                         const struct resource *res)
{
    r->n++;
    if (!st->is_delta) {
        put_any(&r->body, 2, t, res->bytes);
        return;
    }
    char version[24];
    int len = snprintf(version, sizeof(version), "%" PRIx64, res->hash);
    autobuf one = { 0 };
    wire_bytes(&one, 1, (struct str){ version, (size_t)len });
    put_any(&one, 2, t, res->bytes);
    wire_bytes(&one, 3, res->name);
    wire_bytes(&r->body, 2, buf_str(&one));
}

static void put_gone(struct reply *r, struct str name)
{
    r->n_gone++;
    wire_bytes(&r->gone, 6, name);
}

static void send_reply(struct stream *st, enum xds_type t, struct reply *r)
{
    struct subscription *sub = &st->of[t];
    struct xds_server *s = st->server;
    char version[24], nonce[24];
    autobuf out = { 0 };
    sub->nonce = ++s->next_nonce;
    int v = snprintf(version, sizeof(version), "%" PRIu64, s->snapshot->realm->number);
    int n = snprintf(nonce, sizeof(nonce), "%" PRIu64, sub->nonce);
    wire_bytes(&out, 1, (struct str){ version, (size_t)v });
    buf_str_add(&out, buf_str(&r->body));
    wire_bytes(&out, 4, xds_type_url(t));
    wire_bytes(&out, 5, (struct str){ nonce, (size_t)n });
    buf_str_add(&out, buf_str(&r->gone));
    sub->n_sent++;
    grpc_call_send(st->call, buf_str(&out));
}

/* Clusters and listeners: state of the world sends all if one has changed. Names of clusters that
 * have changed have their endpoints marked. */
static void push_wild(struct stream *st, struct class *c, enum xds_type t)
{
    struct subscription *sub = &st->of[t];
    const struct resource_list *all = class_all(c, t);
    struct reply r = { 0 };
    struct map now = { 0 };
    bool changed = sub->must_answer;
    for (size_t i = 0; i < all->n; i++) {
        struct sent *was = map_get(&sub->names, all->items[i]->name);
        map_set(&now, all->items[i]->name, all->items[i]);
        bool differs = !was || was->hash != all->items[i]->hash;
        changed = changed || differs;
        if (differs && t == XDS_CLUSTER) {
            struct sent *endpoints = map_get(&st->of[XDS_ENDPOINT].names, all->items[i]->name);
            if (endpoints)
                endpoints->hash = 0;
        }
        if (differs && st->is_delta)
            put_resource(st, &r, t, all->items[i]);
    }
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&sub->names, &pos, &key, &p)) {
        if (!map_get(&now, key)) {
            changed = true;
            put_gone(&r, key);
        }
    }
    map_done(&now);
    if (changed) {
        forget_all(sub);
        for (size_t i = 0; i < all->n; i++) {
            struct sent *w = want(sub, all->items[i]->name);
            if (w)
                w->hash = all->items[i]->hash;
            if (!st->is_delta)
                put_resource(st, &r, t, all->items[i]);
        }
        if (!st->is_delta)
            buf_reset(&r.gone);
        send_reply(st, t, &r);
    }
    sub->must_answer = false;
    buf_done(&r.body);
    buf_done(&r.gone);
}

static void push_named(struct stream *st, struct class *c, enum xds_type t)
{
    struct subscription *sub = &st->of[t];
    struct reply r = { 0 };
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&sub->names, &pos, &key, &p)) {
        struct sent *was = p;
        const struct resource *res = class_one(c, t, key);
        if (res && res->hash != was->hash) {
            was->hash = res->hash;
            put_resource(st, &r, t, res);
        } else if (!res && st->is_delta && was->hash != 1 && (t != XDS_SECRET || was->hash)) {
            /* A secret that never was may still come: who waits for it goes on waiting. */
            was->hash = 1; /* said to be gone */
            put_gone(&r, key);
        }
    }
    if (r.n || r.n_gone)
        send_reply(st, t, &r);
    sub->must_answer = false;
    buf_done(&r.body);
    buf_done(&r.gone);
}

void xds__stream_push(struct stream *st, unsigned mask)
{
    static const enum xds_type order[] = { XDS_CLUSTER, XDS_ENDPOINT, XDS_LISTENER, XDS_ROUTE,
                                           XDS_SECRET };
    mask |= st->waiting;
    st->waiting = 0;
    if (!st->has_node || st->is_gone || !st->server->snapshot)
        return;
    struct class *c = xds__class_of(st->server, &st->proxy);
    for (int i = 0; i < XDS_TYPES; i++) {
        enum xds_type t = order[i];
        if (!(mask & 1u << t) || !st->of[t].is_active)
            continue;
        if (!grpc_call_room(st->call)) {
            st->waiting |= 1u << t;
            continue;
        }
        if (t == XDS_CLUSTER)
            mask |= 1u << XDS_ENDPOINT;
        if (st->of[t].is_wild && (t == XDS_CLUSTER || t == XDS_LISTENER))
            push_wild(st, c, t);
        else
            push_named(st, c, t);
    }
}

/* ---- Receiving ---- */

static bool take_node(struct stream *st, const struct value *node)
{
    if (st->has_node)
        return true;
    if (!node || !mesh_proxy_read(&st->arena, node, &st->proxy))
        return false;
    const struct http_request *req = grpc_call_request(st->call);
    if (st->server->opt.trusts_plain && !req->peer->tls)
        st->proxy.verified_ns = st->proxy.ns;
    st->has_node = true;
    return true;
}

static void take_refusal(struct stream *st, enum xds_type t, const struct value *detail)
{
    struct subscription *sub = &st->of[t];
    struct str why = str_take(value_text(detail, "message"), sizeof(sub->refusal) - 1);
    sub->n_refused++;
    if (sub->refused_nonce == sub->nonce)
        return; /* it was said */
    sub->refused_nonce = sub->nonce;
    (void)snprintf(sub->refusal, sizeof(sub->refusal), STR_FMT, STR_ARG(why));
    log_warn("a proxy refuses its configuration", LOG_STR("proxy", st->proxy.id),
             LOG_STR("type", xds_type_url(t)), LOG_STR("why", why));
    if (st->server->opt.on_refused)
        st->server->opt.on_refused(st->server->opt.arg, &st->proxy, t, why);
}

static bool is_current(const struct subscription *sub, struct str nonce)
{
    uint64_t n;
    return str_to_u64(nonce, &n) && n == sub->nonce;
}

/* The names of a request of the state of the world: the whole set. True: one is new. */
static bool take_names(struct subscription *sub, const struct value *names)
{
    struct map now = { 0 };
    bool is_new = false;
    value_each_item (it, names) {
        struct str name = value_str(it);
        is_new = is_new || !map_get(&sub->names, name);
        if (want(sub, name))
            map_set(&now, name, sub);
    }
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&sub->names, &pos, &key, &p)) {
        if (!map_get(&now, key))
            forget(sub, key);
    }
    map_done(&now);
    return is_new;
}

static void on_sotw(struct stream *st, const struct value *req, enum xds_type t)
{
    struct subscription *sub = &st->of[t];
    struct str nonce = value_text(req, "response_nonce");
    const struct value *names = value_get(req, STR("resource_names"));
    bool can_be_wild = t == XDS_CLUSTER || t == XDS_LISTENER;
    bool is_first = !sub->is_active;
    if (!is_first && nonce.n && !is_current(sub, nonce))
        return;
    const struct value *detail = value_get(req, STR("error_detail"));
    if (detail)
        take_refusal(st, t, detail);
    else if (nonce.n && !is_first)
        sub->n_acked++;
    sub->is_active = true;
    if (can_be_wild) {
        sub->is_wild = true;
        if (is_first) {
            sub->must_answer = true;
            xds__stream_push(st, 1u << t);
        }
        return;
    }
    if (take_names(sub, names) || is_first)
        xds__stream_push(st, 1u << t);
}

static bool names_wildcard(const struct value *names)
{
    value_each_item (it, names) {
        if (str_eq(value_str(it), STR("*")))
            return true;
    }
    return !value_is(names, VALUE_ARRAY) || !names->n;
}

static void take_versions(struct subscription *sub, const struct value *versions)
{
    value_each_field (f, versions) {
        struct sent *w = want(sub, f->key);
        struct str v = value_str(&f->val);
        uint64_t hash = 0;
        for (size_t i = 0; i < v.n && i < 16 && str_hex_digit(v.p[i]) >= 0; i++)
            hash = hash << 4 | (unsigned)str_hex_digit(v.p[i]);
        if (w)
            w->hash = hash;
    }
}

static void on_delta(struct stream *st, const struct value *req, enum xds_type t)
{
    struct subscription *sub = &st->of[t];
    struct str nonce = value_text(req, "response_nonce");
    const struct value *more = value_get(req, STR("resource_names_subscribe"));
    const struct value *less = value_get(req, STR("resource_names_unsubscribe"));
    const struct value *detail = value_get(req, STR("error_detail"));
    bool is_first = !sub->is_active, asks = false;
    if (detail)
        take_refusal(st, t, detail);
    else if (nonce.n)
        sub->n_acked++;
    sub->is_active = true;
    if (is_first && (t == XDS_CLUSTER || t == XDS_LISTENER) && names_wildcard(more))
        sub->is_wild = sub->must_answer = asks = true;
    if (is_first)
        take_versions(sub, value_get(req, STR("initial_resource_versions")));
    value_each_item (it, more) {
        if (str_eq(value_str(it), STR("*")))
            continue;
        struct sent *w = want(sub, value_str(it));
        if (w && !(is_first && w->hash))
            w->hash = 0; /* an answer is owed, changed or not */
        asks = true;
    }
    value_each_item (it, less) {
        if (!sub->is_wild)
            forget(sub, value_str(it));
    }
    if (asks)
        xds__stream_push(st, 1u << t);
}

static void on_message(void *arg, struct grpc_call *call, struct str message)
{
    struct stream *st = arg;
    struct arena a;
    struct value req;
    enum xds_type t;
    (void)call;
    if (st->is_gone)
        return;
    struct allowance allowance = { .max = XDS_REQUEST_MEMORY };
    arena_init(&a);
    arena_allow(&a, &allowance);
    struct err err = ERR_INIT(&a);
    const char *type = st->is_delta ? "envoy.service.discovery.v3.DeltaDiscoveryRequest"
                                    : "envoy.service.discovery.v3.DiscoveryRequest";
    if (message_read(&a, message_find(str_of(type)), message, &req, &err) < 0)
        xds__stream_end(st, GRPC_INVALID_ARGUMENT, "the message is no discovery request");
    else if (!take_node(st, value_get(&req, STR("node"))))
        xds__stream_end(st, GRPC_INVALID_ARGUMENT, "the first request must name its node");
    else if (!xds_type_find(value_text(&req, "type_url"), &t))
        log_debug("a type that is not served", LOG_STR("type", value_text(&req, "type_url")));
    else if (st->is_delta)
        on_delta(st, &req, t);
    else
        on_sotw(st, &req, t);
    arena_done(&a);
}

static void on_room(void *arg, struct grpc_call *call)
{
    struct stream *st = arg;
    (void)call;
    if (st->waiting)
        xds__stream_push(st, 0);
}

static void on_end(void *arg, struct grpc_call *call)
{
    (void)call;
    xds__stream_end(arg, GRPC_OK, "");
}

static void free_stream(struct loop *l, struct loop_msg *m);

struct stream_end {
    struct loop_msg msg;
    struct stream *stream;
};

/* Freed later in this turn: callbacks of the call may still be on the stack. */
void xds__stream_end(struct stream *st, enum grpc_status status, const char *why)
{
    if (st->is_gone)
        return;
    st->is_gone = true;
    LIST_REMOVE(st, link);
    st->server->n_streams--;
    grpc_call_end(st->call, status, str_of(why));
    struct stream_end *e = mem_new(struct stream_end);
    e->msg.run = free_stream;
    e->stream = st;
    loop_defer(st->server->solo.loop, &e->msg);
}

static void free_stream(struct loop *l, struct loop_msg *m)
{
    struct stream_end *e = (struct stream_end *)m;
    (void)l;
    for (int t = 0; t < XDS_TYPES; t++)
        forget_all(&e->stream->of[t]);
    arena_done(&e->stream->arena);
    free(e->stream);
    free(e);
}

void xds__stream_start(struct xds_server *s, struct grpc_call *call, bool is_delta)
{
    if (s->n_streams >= XDS_STREAMS_MAX) {
        grpc_call_listen(call, &(struct grpc_call_events){ 0 });
        grpc_call_end(call, GRPC_RESOURCE_EXHAUSTED, STR("too many streams"));
        return;
    }
    struct stream *st = mem_new(struct stream);
    st->server = s;
    st->call = call;
    st->is_delta = is_delta;
    arena_init(&st->arena);
    LIST_INSERT_HEAD(&s->streams, st, link);
    s->n_streams++;
    grpc_call_listen(call, &(struct grpc_call_events){ .arg = st,
                                                       .on_message = on_message,
                                                       .on_half_close = on_end,
                                                       .on_room = on_room,
                                                       .on_gone = on_end });
}
