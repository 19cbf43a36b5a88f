#include "live.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "server/bootstrap.h"
#include "server/filter/filter.h"
#include "server/custom/custom.h"
#include "server/discovery/discovery.h"
#include "server/verbs/list_counts.h"
#include "server/verbs/list_sizes.h"
#include "server/discovery/openapi.h"
#include "server/guard/guard.h"
#include "server/guard/identity.h"
#include "server/http/tally.h"
#include "server/verbs/dispatch.h"
#include "server/object/stored.h"
#include "server/core/turns.h"
#include "server/watch/watch.h"

/* ---- The server ---- */

/* As the server does, but for the filters: everybody may do everything. */
static void on_request(void *arg, struct http_exchange *x)
{
    struct live *l = arg;
    struct filter_request r = { .api = &l->api, .x = x, .http = http_request_of(x) };
    filter_request_info(&r);
    filter_count(&r);
    if (!discovery_serve(x, &l->api, l->address) && !openapi_serve(x, &l->api) &&
        !dispatch_serve(&l->api, x, r.place, &r.req, NULL, NULL))
        http_reply(x, 404, NULL, 0, HTTP_BYTES(STR("")));
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

void live_start(struct live *l)
{
    *l = (struct live){ 0 };
    arena_init(&l->arena);
    struct err err = ERR_INIT(&l->arena);
    const struct store_options opt = { .engine = STORE_MEMORY };
    assert_int_equal(store_open(&opt, &l->api.store, &err), 0);
    l->api.clock = &clock_system;
    l->api.guard = guard_new(l->api.store, &(struct guard_modes){ { GUARD_ALWAYS_ALLOW }, 1 });
    assert_int_equal(identity_new(&(struct identity_options){ 0 }, l->api.store, l->api.clock,
                                  &l->api.identity, &err),
                     0);
    l->api.workers = workers_new(64, 100);
    l->api.hook_workers = workers_new(8, 100);
    l->api.read_workers = workers_new(8, 100);
    l->api.list_counts = list_counts_new();
    l->api.list_sizes = list_sizes_new();
    l->api.turns = turns_new();
    l->api.custom = custom_kinds_new(l->api.store);
    l->api.on_kinds_changed = watch_hubs_look;
    l->api.versions = KIND_ALL_VERSIONS;
    l->api.tally = tally_new(LIVE_LOOPS);
    for (; l->api.n_loops < LIVE_LOOPS; l->api.n_loops++) {
        struct loop *loop = loop_new(NULL, &err);
        assert_non_null(loop);
        l->api.loops[l->api.n_loops] = loop;
        l->api.hubs[l->api.n_loops] = watch_hub_new(&l->api, loop);
    }
    l->http = http_server_new(&(struct http_server_options){
        .handler = { .arg = l, .on_request = on_request },
        .loops = l->api.loops,
        .n_loops = l->api.n_loops,
    });
    assert_int_equal(
        http_server_listen(l->http, STR("127.0.0.1:0"), NULL, &l->arena, &l->address, &err), 0);
    for (size_t i = 0; i < l->api.n_loops; i++)
        assert_int_equal(pthread_create(&l->threads[i], NULL, run_loop, l->api.loops[i]), 0);
}

void live_populate(struct live *l)
{
    struct err err = ERR_INIT(&l->arena);
    if (service_ranges_parse(STR(SERVICE_CIDRS_DEFAULT), STR(SERVICE_PORTS_DEFAULT),
                             &l->api.services, &err) < 0 ||
        bootstrap(&l->api, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
}

static void on_drained(void *arg)
{
    ((struct live *)arg)->is_drained = true;
}

struct drain_msg {
    struct loop_msg msg;
    struct live *l;
};

static void start_drain(struct loop *loop, struct loop_msg *m)
{
    (void)loop;
    struct live *l = ((struct drain_msg *)m)->l;
    http_server_drain(l->http, on_drained, l);
}

void live_drain(struct live *l)
{
    if (l->is_draining)
        return;
    l->is_draining = true;
    struct drain_msg *m = arena_new(&l->arena, struct drain_msg);
    *m = (struct drain_msg){ { .run = start_drain }, l };
    for (size_t i = 0; i < l->api.n_loops; i++)
        watch_hub_close(l->api.hubs[i]);
    loop_post(l->api.loops[0], &m->msg);
}

void live_stop(struct live *l)
{
    live_drain(l);
    harness_wait(l->is_drained);
    for (size_t i = 0; i < l->api.n_loops; i++)
        loop_stop(l->api.loops[i]);
    for (size_t i = 0; i < l->api.n_loops; i++)
        pthread_join(l->threads[i], NULL);
    http_server_free(l->http);
    workers_free(l->api.workers);
    workers_free(l->api.hook_workers);
    workers_free(l->api.read_workers);
    for (size_t i = 0; i < l->api.n_loops; i++) {
        assert_int_equal(watch_hub_count(l->api.hubs[i]), 0);
        watch_hub_free(l->api.hubs[i]);
        loop_free(l->api.loops[i]);
    }
    list_counts_free(l->api.list_counts);
    list_sizes_free(l->api.list_sizes);
    tally_free(l->api.tally);
    turns_free(l->api.turns);
    custom_kinds_free(l->api.custom);
    guard_free(l->api.guard);
    identity_free(l->api.identity);
    store_close(l->api.store);
    arena_done(&l->arena);
}

/* ---- The usual one ---- */

struct live live;

int live_setup(void **state)
{
    (void)state;
    live_start(&live);
    return 0;
}

int live_teardown(void **state)
{
    (void)state;
    live_stop(&live);
    return 0;
}

const char *live_path(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = arena_vprintf(&live.arena, fmt, ap);
    va_end(ap);
    return str_cstr(&live.arena, s);
}

/* ---- Objects ---- */

static const struct kind_resource *configmaps(void)
{
    const struct kind_version *v = kind_version_find(STR(""), STR("v1"));
    for (size_t i = 0; i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, STR("configmaps")))
            return &v->resources[i];
    return NULL;
}

struct str live_key(struct live *l, const char *ns, const char *name)
{
    return stored_key(&l->arena, configmaps(), str_of(ns), str_of(name));
}

static uint64_t commit(struct live *l, struct store_op op)
{
    struct err err = ERR_INIT(&l->arena);
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(l->api.store, &txn, &err), 0);
    return txn.rev;
}

uint64_t live_put_bytes(struct live *l, struct str key, struct str bytes)
{
    return commit(l, (struct store_op){ STORE_PUT, key, bytes, STORE_ANY });
}

uint64_t live_put(struct live *l, const char *ns, const char *name, const char *x, size_t size)
{
    struct arena a;
    arena_init(&a);
    struct value obj = value_object(), meta = value_object(), labels = value_object(),
                 data = value_object();
    char *filling = arena_alloc(&a, size, 1);
    memset(filling, 'v', size);
    value_put_new(&a, &meta, STR("name"), value_string(str_of(name)));
    value_put_new(&a, &meta, STR("namespace"), value_string(str_of(ns)));
    value_put_new(&a, &meta, STR("creationTimestamp"), value_string(STR("2026-01-02T03:04:05Z")));
    if (x) {
        value_put_new(&a, &labels, STR("x"), value_string(str_of(x)));
        value_put_new(&a, &meta, STR("labels"), labels);
    }
    value_put_new(&a, &data, STR("k"), value_string((struct str){ filling, size }));
    value_put_new(&a, &obj, STR("metadata"), meta);
    value_put_new(&a, &obj, STR("data"), data);
    autobuf bytes = { 0 };
    stored_write(&bytes, NULL, &obj);
    struct str key = stored_key(&a, configmaps(), str_of(ns), str_of(name));
    uint64_t rev = live_put_bytes(l, key, buf_str(&bytes));
    arena_done(&a);
    return rev;
}

uint64_t live_delete(struct live *l, const char *ns, const char *name)
{
    return commit(l, (struct store_op){ STORE_DELETE, live_key(l, ns, name), STR(""), STORE_ANY });
}

/* ---- Requests ---- */

int live_open(struct live *l, const char *target, const char *headers)
{
    int fd = peer_connect(l->address);
    struct str request =
        arena_printf(&l->arena, "GET %s HTTP/1.0\r\nHost: localhost\r\n%s\r\n", target, headers);
    assert_true(peer_send(fd, request));
    return fd;
}

struct answer live_get(struct live *l, const char *target, const char *headers)
{
    int fd = live_open(l, target, headers);
    autobuf reply = { 0 };
    assert_true(peer_read_all(fd, &reply, SIZE_MAX));
    close(fd);
    struct str text = arena_str(&l->arena, buf_str(&reply)), body = h1_body(text);
    return (struct answer){ h1_status(text), str_take(text, text.n - body.n), body };
}

struct value live_json(struct live *l, struct str text)
{
    struct value v;
    struct err err = ERR_INIT(&l->arena);
    if (json_read(&l->arena, text, NULL, &v, &err) < 0)
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(err.msg), STR_ARG(str_take(text, 300)));
    return v;
}

struct value live_get_json(struct live *l, const char *target, int status)
{
    struct answer a = live_get(l, target, "");
    if (a.status != status)
        fail_msg("%s: %d " STR_FMT, target, a.status, STR_ARG(str_take(a.body, 300)));
    return live_json(l, a.body);
}

const char *live_text(struct live *l, const struct value *v)
{
    return str_cstr(&l->arena, value_str(v));
}

/* ---- Streams ---- */

bool stream_line(struct stream *s, struct str *ret)
{
    for (;;) {
        struct str rest = str_skip(buf_str(&s->in), s->at);
        ptrdiff_t end = str_find(rest, '\n');
        if (end >= 0) {
            *ret = str_take(rest, (size_t)end);
            s->at += (size_t)end + 1;
            return true;
        }
        if (!peer_read(s->fd, &s->in, 1))
            return false;
    }
}

void stream_open(struct stream *s, struct live *l, const char *target)
{
    struct str line;
    *s = (struct stream){ .fd = live_open(l, target, "") };
    assert_true(stream_line(s, &line));
    if (!str_starts(str_skip(line, 8), STR(" 200 ")))
        fail_msg("%s: " STR_FMT, target, STR_ARG(line));
    while (line.n > 1)
        assert_true(stream_line(s, &line));
}

void stream_close(struct stream *s)
{
    close(s->fd);
    buf_done(&s->in);
}

const char *stream_event(struct stream *s, struct live *l)
{
    struct str line;
    if (!stream_line(s, &line))
        return "END";
    struct value event = live_json(l, arena_str(&l->arena, line));
    const struct value *obj = value_get(&event, STR("object"));
    struct str name = value_str(value_dig(obj, "metadata", "name")),
               rev = value_str(value_dig(obj, "metadata", "resourceVersion"));
    return str_cstr(&l->arena, arena_printf(&l->arena, STR_FMT " " STR_FMT " " STR_FMT,
                                            STR_ARG(value_str(value_get(&event, STR("type")))),
                                            STR_ARG(name), STR_ARG(rev)));
}
