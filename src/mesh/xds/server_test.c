/* What proxies can make grow: names, requests, and classes of those that have gone. */
#include "mesh/xds/server.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/wire.h"
#include "mesh/xds/server_internal.h"

#define SOTW "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"

enum { WAIT_MS = 20000, MANY_CLASSES = 300, MANY_NAMES = 30000, LONG_NAMES = 8000 };

struct look {
    struct loop_msg msg;
    struct xds_server *s;
    struct snapshot *set;
    size_t classes, names, name_bytes;
    sem_t done;
};

static void look_on_loop(struct loop *l, struct loop_msg *m)
{
    struct look *k = container_of(m, struct look, msg);
    struct stream *st;
    (void)l;
    if (k->set)
        xds_server_set(k->s, k->set, 0);
    k->classes = k->s->classes.n;
    LIST_FOREACH(st, &k->s->streams, link)
    {
        k->names += st->of[XDS_ENDPOINT].names.n;
        k->name_bytes += st->of[XDS_ENDPOINT].name_bytes;
    }
    sem_post(&k->done);
}

static struct look look_at(struct xds_server *s, struct snapshot *set)
{
    struct look k = { .msg.run = look_on_loop, .s = s, .set = set };
    assert_int_equal(sem_init(&k.done, 0, 0), 0);
    loop_post(xds_server_loop(s), &k.msg);
    while (sem_wait(&k.done) < 0)
        continue;
    return k;
}

static void add_node(struct buf *out, struct str ns)
{
    autobuf node = { 0 }, id = { 0 };
    buf_str_add(&id, STR("sidecar~10.0.0.1~a."));
    buf_str_add(&id, ns);
    buf_str_add(&id, STR("~x.svc.cluster.local"));
    wire_bytes(&node, 1, buf_str(&id));
    wire_bytes(out, 2, buf_str(&node));
}

static struct grpc_stream *open_stream(struct grpc_client *c, struct err *err)
{
    struct grpc_stream *st;
    assert_int_equal(grpc_stream_open(c, STR(SOTW), NULL, 0, &st, err), 0);
    return st;
}

/* Says so, and waits for the answer: clusters are always answered. */
static int ask_clusters(struct grpc_stream *st, struct str ns, struct arena *a, struct err *err)
{
    autobuf ask = { 0 }, answer = { 0 };
    struct grpc_result result;
    add_node(&ask, ns);
    wire_bytes(&ask, 4, xds_type_url(XDS_CLUSTER));
    assert_int_equal(grpc_stream_send(st, buf_str(&ask), err), 0);
    return grpc_stream_receive(st, WAIT_MS, &answer, &result, a, err);
}

struct bench {
    struct arena arena;
    struct err err;
    struct xds_server *server;
    struct grpc_client *client;
    size_t refused_bytes; /* the loop's */
};

static void count_refusals(void *arg, const struct mesh_proxy *p, enum xds_type t, struct str why)
{
    size_t *bytes = arg;
    (void)p;
    (void)t;
    *bytes += why.n;
}

static int set_up(void **state)
{
    static struct bench b;
    arena_init(&b.arena);
    b.err = (struct err)ERR_INIT(&b.arena);
    b.refused_bytes = 0;
    const struct xds_options opt = { .listen = STR("127.0.0.1:0"),
                                     .arg = &b.refused_bytes,
                                     .on_refused = count_refusals };
    assert_int_equal(xds_server_start(&opt, &b.server, &b.err), 0);
    (void)look_at(b.server, snapshot_new(1));
    b.client =
        grpc_client_new(&(struct grpc_client_options){ .address = xds_server_address(b.server) });
    assert_non_null(b.client);
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    grpc_client_free(b->client);
    xds_server_stop(b->server);
    arena_done(&b->arena);
    return 0;
}

static void test_classes(void **state)
{
    struct bench *b = *state;
    for (int i = 0; i < MANY_CLASSES; i++) {
        struct grpc_stream *st = open_stream(b->client, &b->err);
        struct str ns = arena_printf(&b->arena, "ns-%d", i);
        assert_int_equal(ask_clusters(st, ns, &b->arena, &b->err), 1);
        grpc_stream_free(st);
    }
    assert_in_range(look_at(b->server, NULL).classes, 1, 2 * XDS_CLASSES_MIN);
}

/* Asks for endpoints that do not exist, then for clusters, so the first has been seen. */
static struct look ask_names(struct bench *b, size_t n, int width)
{
    struct grpc_stream *st = open_stream(b->client, &b->err);
    autobuf ask = { 0 };
    add_node(&ask, STR("names"));
    for (size_t i = 0; i < n; i++)
        wire_bytes(&ask, 3, arena_printf(&b->arena, "%0*zu", width, i));
    wire_bytes(&ask, 4, xds_type_url(XDS_ENDPOINT));
    assert_int_equal(grpc_stream_send(st, buf_str(&ask), &b->err), 0);
    assert_int_equal(ask_clusters(st, STR("names"), &b->arena, &b->err), 1);
    const struct look k = look_at(b->server, NULL);
    grpc_stream_free(st);
    return k;
}

static void test_names(void **state)
{
    assert_int_equal(ask_names(*state, MANY_NAMES, 8).names, XDS_NAMES_MAX);
}

static void test_long_names(void **state)
{
    const struct look k = ask_names(*state, LONG_NAMES, 1000);
    assert_in_range(k.name_bytes, 1, XDS_NAMES_BYTES_MAX);
    assert_in_range(k.names, 1, XDS_NAMES_BYTES_MAX / 1000);
}

/* Two bytes each, and a value of a tree is much larger. */
static void test_large_request(void **state)
{
    struct bench *b = *state;
    struct grpc_stream *st = open_stream(b->client, &b->err);
    autobuf ask = { 0 }, answer = { 0 };
    struct grpc_result result = { 0 };
    add_node(&ask, STR("large"));
    while (ask.n < 8 << 20)
        buf_add(&ask, "\x1a\0", 2);
    wire_bytes(&ask, 4, xds_type_url(XDS_CLUSTER));
    assert_int_equal(grpc_stream_send(st, buf_str(&ask), &b->err), 0);
    assert_int_not_equal(grpc_stream_receive(st, WAIT_MS, &answer, &result, &b->arena, &b->err), 1);
    assert_int_equal(result.status, GRPC_INVALID_ARGUMENT);
    grpc_stream_free(st);
}

/* Gateways get an empty route of any name. */
static void test_made_up_routes(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct snapshot *s = snapshot_new(1);
    const struct mesh_proxy router = { .is_router = true, .ns = STR("n"), .domain = STR("d") };
    struct class *c = class_new(s, &router);
    for (int i = 0; i < 3 * CLASS_KEPT_MAX; i++)
        assert_non_null(class_one(c, XDS_ROUTE, arena_printf(&a, "r%d", i)));
    assert_in_range(class_kept(c, XDS_ROUTE), 1, CLASS_KEPT_MAX);
    class_free(c);
    snapshot_unref(s);
    arena_done(&a);
}

/* Long refusals of one answer are told once, and shortly. */
static void test_refusals(void **state)
{
    struct bench *b = *state;
    struct grpc_stream *st = open_stream(b->client, &b->err);
    autobuf why = { 0 }, no = { 0 };
    assert_int_equal(ask_clusters(st, STR("n"), &b->arena, &b->err), 1);
    for (int i = 0; i < 5000; i++)
        buf_byte(&why, 'x');
    autobuf detail = { 0 };
    wire_bytes(&detail, 2, buf_str(&why));
    wire_bytes(&no, 4, xds_type_url(XDS_CLUSTER));
    wire_bytes(&no, 5, STR("1"));
    wire_bytes(&no, 6, buf_str(&detail));
    for (int i = 0; i < 100; i++)
        assert_int_equal(grpc_stream_send(st, buf_str(&no), &b->err), 0);
    autobuf end = { 0 }, answer = { 0 }; /* ends the stream when all else was heard */
    struct grpc_result result = { 0 };
    buf_add(&end, "\xff", 1);
    assert_int_equal(grpc_stream_send(st, buf_str(&end), &b->err), 0);
    assert_int_not_equal(grpc_stream_receive(st, WAIT_MS, &answer, &result, &b->arena, &b->err), 1);
    grpc_stream_free(st);
    (void)look_at(b->server, NULL);
    assert_int_equal(b->refused_bytes, 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_classes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test(test_made_up_routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
