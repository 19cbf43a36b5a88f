/* The client against a real etcd, which is started on loopback in a folder of its own. Protobuf
 * is written by hand: all that is needed are bytes fields and nested messages. */
#include "net/grpc/grpc.h"

#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "net/grpc/suite_etcd.h"

enum { CALL_MS = 20000 };

static struct arena arena;
static const char *folder;
static struct suite_etcd etcd = { .pid = -1 };
static struct grpc_client *client;

static int call(const char *path, struct str request, struct str *ret, struct grpc_result *result)
{
    return grpc_call_unary(client, str_of(path), request, NULL, 0, CALL_MS, &arena, ret, result,
                           NULL);
}

/* ---- Protobuf ---- */

static void put_varint(struct buf *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_byte(b, (char)(n | 0x80));
    buf_byte(b, (char)n);
}

static void put_bytes(struct buf *b, unsigned field, struct str s)
{
    put_varint(b, field << 3 | 2);
    put_varint(b, s.n);
    buf_str_add(b, s);
}

static uint64_t get_varint(struct str *s)
{
    uint64_t n = 0;
    for (unsigned shift = 0; s->n; shift += 7) {
        unsigned char c = (unsigned char)s->p[0];
        *s = str_skip(*s, 1);
        n |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            break;
    }
    return n;
}

/* The bytes of the n-th field of that number; NULL if there are fewer. */
static struct str get_bytes(struct str s, unsigned field, size_t nth)
{
    while (s.n) {
        uint64_t tag = get_varint(&s);
        uint64_t n = get_varint(&s); /* of a varint field: the value itself */
        if ((tag & 7) != 2)
            continue;
        if (tag >> 3 == field && nth-- == 0)
            return str_take(s, n);
        s = str_skip(s, n);
    }
    return (struct str){ NULL, 0 };
}

static void put_key(const char *key, struct str value)
{
    autobuf b = { 0 };
    struct str reply;
    put_bytes(&b, 1, str_of(key));
    put_bytes(&b, 2, value);
    assert_int_equal(call("/etcdserverpb.KV/Put", buf_str(&b), &reply, NULL), 0);
    assert_non_null(get_bytes(reply, 1, 0).p);
}

static struct str get_key(const char *key)
{
    autobuf b = { 0 };
    struct str reply;
    put_bytes(&b, 1, str_of(key));
    assert_int_equal(call("/etcdserverpb.KV/Range", buf_str(&b), &reply, NULL), 0);
    return get_bytes(get_bytes(reply, 2, 0), 5, 0);
}

/* ---- The tests ---- */

static void put_and_range(void **state)
{
    (void)state;
    autofree char *big = mem_zalloc(1 << 20);
    put_key("/a", STR("value of a"));
    put_key("/big", (struct str){ big, 1 << 20 });
    assert_true(str_eq(get_key("/a"), STR("value of a")));
    assert_int_equal(get_key("/big").n, 1 << 20);
    assert_null(get_key("/absent").p);
}

static void errors_have_status_and_text(void **state)
{
    (void)state;
    struct str reply;
    struct grpc_result result;
    assert_int_equal(call("/etcdserverpb.KV/Put", STR(""), &reply, &result), -ERR_BAD_REQUEST);
    assert_int_equal(result.status, GRPC_INVALID_ARGUMENT);
    assert_true(str_eq(result.message, STR("etcdserver: key is not provided")));
    assert_false(result.surely_not_run);
    assert_int_equal(call("/no.Such/Method", STR(""), &reply, &result), -ERR_UNIMPLEMENTED);
    autofree char *big = mem_zalloc((16 << 20) - 4096);
    autobuf b = { 0 };
    put_bytes(&b, 1, STR("/big"));
    put_bytes(&b, 2, (struct str){ big, (16 << 20) - 4096 });
    assert_true(call("/etcdserverpb.KV/Put", buf_str(&b), &reply, &result) < 0);
    assert_true(result.status == GRPC_INVALID_ARGUMENT || result.status == GRPC_RESOURCE_EXHAUSTED);
}

static struct str next_of(struct grpc_stream *s, struct buf *b)
{
    assert_int_equal(grpc_stream_receive(s, CALL_MS, b, NULL, &arena, NULL), 1);
    return buf_str(b);
}

static void watch_sees_every_put(void **state)
{
    (void)state;
    enum { PUTS = 200 };
    autobuf create = { 0 };
    autobuf request = { 0 };
    autobuf got = { 0 };
    struct grpc_stream *watch;
    const struct http_header leader = { STR("hasleader"), STR("true") };
    put_bytes(&create, 1, STR("/watched/"));
    put_bytes(&create, 2, STR("/watched0"));
    put_bytes(&request, 1, buf_str(&create));
    assert_int_equal(
        grpc_stream_open(client, STR("/etcdserverpb.Watch/Watch"), &leader, 1, &watch, NULL), 0);
    assert_int_equal(grpc_stream_send(watch, buf_str(&request), NULL), 0);
    assert_null(get_bytes(next_of(watch, &got), 11, 0).p); /* created */
    for (int i = 0; i < PUTS; i++)
        put_key("/watched/x", arena_printf(&arena, "%d", i));
    for (int i = 0; i < PUTS;) {
        struct str response = next_of(watch, &got), event;
        for (size_t n = 0; (event = get_bytes(response, 11, n)).p; n++, i++)
            assert_true(
                str_eq(get_bytes(get_bytes(event, 2, 0), 5, 0), arena_printf(&arena, "%d", i)));
    }
    struct err err = ERR_INIT(&arena);
    assert_int_equal(grpc_stream_receive(watch, 50, &got, NULL, &arena, &err), -ERR_TIMEOUT);
    grpc_stream_free(watch);
    assert_true(str_eq(get_key("/watched/x"), STR("199"))); /* the connection goes on */
}

static void half_close_ends_a_stream(void **state)
{
    (void)state;
    struct grpc_stream *leases;
    struct grpc_result result;
    autobuf got = { 0 };
    assert_int_equal(
        grpc_stream_open(client, STR("/etcdserverpb.Lease/LeaseKeepAlive"), NULL, 0, &leases, NULL),
        0);
    grpc_stream_half_close(leases);
    assert_int_equal(grpc_stream_receive(leases, CALL_MS, &got, &result, &arena, NULL), 0);
    assert_int_equal(result.status, GRPC_OK);
    grpc_stream_free(leases);
}

enum { THREADS = 4, CALLS = 250 };

static void *call_often(void *arg)
{
    _Atomic unsigned *good = arg;
    for (int i = 0; i < CALLS; i++) {
        struct arena a;
        arena_init(&a);
        struct str reply;
        if (grpc_call_unary(client, STR("/etcdserverpb.KV/Range"), STR("\n\2/a"), NULL, 0, CALL_MS,
                            &a, &reply, NULL, NULL) == 0)
            atomic_fetch_add(good, 1);
        arena_done(&a);
    }
    return NULL;
}

static void many_threads_share_the_connection(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    _Atomic unsigned good = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &good), 0);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    assert_int_equal(good, THREADS * CALLS);
}

static void a_dead_server_is_noticed(void **state)
{
    (void)state;
    struct grpc_stream *watch;
    struct grpc_result result;
    struct str reply;
    autobuf got = { 0 };
    assert_int_equal(
        grpc_stream_open(client, STR("/etcdserverpb.Watch/Watch"), NULL, 0, &watch, NULL), 0);
    assert_true(str_eq(get_key("/a"), STR("value of a")));
    suite_etcd_kill(&etcd);
    assert_int_equal(grpc_stream_receive(watch, CALL_MS, &got, &result, &arena, NULL), 0);
    assert_int_equal(result.status, GRPC_UNAVAILABLE);
    assert_false(result.surely_not_run);
    grpc_stream_free(watch);
    assert_int_equal(call("/etcdserverpb.KV/Range", STR("\n\2/a"), &reply, &result),
                     -ERR_UNAVAILABLE);
    assert_true(result.surely_not_run);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    const char *tmp = getenv("TMPDIR");
    struct str pattern = arena_printf(&arena, "%s/grpc_etcd_test.XXXXXX", tmp ? tmp : "/tmp");
    folder = mkdtemp((char *)str_cstr(&arena, pattern));
    return folder ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    client = grpc_client_free(client);
    suite_etcd_kill(&etcd);
    int r = nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    arena_done(&arena);
    return r;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_and_range),
        cmocka_unit_test(errors_have_status_and_text),
        cmocka_unit_test(watch_sees_every_put),
        cmocka_unit_test(half_close_ends_a_stream),
        cmocka_unit_test(many_threads_share_the_connection),
        cmocka_unit_test(a_dead_server_is_noticed),
    };
    if (setup(NULL) < 0)
        return 1;
    int started = suite_etcd_start(&etcd, folder);
    if (started <= 0) {
        (void)teardown(NULL);
        (void)fprintf(stderr, "%s\n", started ? "etcd is not installed" : "etcd did not start");
        return started ? 77 : 1; /* 77: skipped */
    }
    client = grpc_client_new(
        &(struct grpc_client_options){ .address = str_skip(str_of(etcd.url), STR("http://").n) });
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    return teardown(NULL) < 0 ? 1 : r;
}
