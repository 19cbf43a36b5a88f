/* What a mirror does when its etcd is shared, goes away, comes back, or has dropped what it needs.
 * A real etcd, which each test gets new. */
#include "remote/remote.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/wire.h"
#include "net/grpc/suite_etcd.h"
#include "remote/remote_wire.h"
#include "store/suite_fixture.h"

static struct suite_etcd etcd = { .pid = -1 };
static struct arena arena;
static char dir[64];

static struct store *open_compacting(int64_t compact_ms)
{
    struct err err = ERR_INIT(&arena);
    const struct str server = str_of(etcd.url);
    struct store *s = NULL;
    int r = remote_open(&(struct remote_options){ .servers = &server,
                                                  .n_servers = 1,
                                                  .prefix = STR("/registry"),
                                                  .compact_ms = compact_ms },
                        &s, &err);
    if (r < 0)
        fail_msg("open: " STR_FMT, STR_ARG(err.msg));
    return s;
}

static struct store *open_mirror(void)
{
    return open_compacting(0);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    (void)snprintf(dir, sizeof(dir), "/tmp/remote_test.XXXXXX");
    return mkdtemp(dir) && suite_etcd_start(&etcd, dir) > 0 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    suite_etcd_kill(&etcd);
    remove_tree(dir);
    arena_done(&arena);
    return 0;
}

/* A call of etcd, by somebody else. */
static struct str call(const char *path, struct str request)
{
    struct str reply;
    struct grpc_client *c =
        grpc_client_new(&(struct grpc_client_options){ .address = str_skip(str_of(etcd.url), 7) });
    assert_int_equal(
        grpc_call_unary(c, str_of(path), request, NULL, 0, 20000, &arena, &reply, NULL, NULL), 0);
    grpc_client_free(c);
    return reply;
}

static void put_raw(const char *key, const char *value)
{
    autobuf b = { 0 };
    wire_bytes(&b, 1, str_of(key));
    wire_bytes(&b, 2, str_of(value));
    (void)call("/etcdserverpb.KV/Put", buf_str(&b));
}

static int put_in(struct store *s, const char *key, const char *value, uint64_t *ret_rev)
{
    struct store_op op = { STORE_PUT, str_of(key), str_of(value), STORE_ANY };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    int r = store_commit(s, &t, NULL);
    if (ret_rev)
        *ret_rev = t.rev;
    return r;
}

static int delete_in(struct store *s, const char *key)
{
    struct store_op op = { STORE_DELETE, str_of(key), STR(""), STORE_ANY };
    return store_commit(s, &(struct store_txn){ .ops = &op, .n_ops = 1 }, NULL);
}

/* "value@revision", or "-". */
static const char *get_in(struct store *s, const char *key)
{
    struct store_snap *snap;
    struct store_entry e;
    assert_int_equal(store_snap_begin(s, 0, &snap, NULL), 0);
    const char *text = "-";
    if (store_snap_get(snap, str_of(key), &e, NULL) == 1)
        text = str_cstr(&arena, arena_printf(&arena, STR_FMT "@%llu", STR_ARG(e.value),
                                             (unsigned long long)e.mod_rev));
    store_snap_end(snap);
    return text;
}

/* ---- Tests ---- */

/* The newest revision is of a key that is not followed: one is written that is. */
static void a_read_is_fresh_beside_foreign_writes(void **state)
{
    (void)state;
    struct store *s = open_mirror();
    for (int i = 0; i < 5; i++) {
        uint64_t before = store_rev(s);
        put_raw("/elsewhere/a", "1");
        assert_int_equal(store_sync_wait(s, NULL), 0);
        assert_true(store_rev(s) > before);
        put_raw("/registry/configmaps/a", "2");
        assert_int_equal(store_sync_wait(s, NULL), 0);
        assert_string_not_equal(get_in(s, "/registry/configmaps/a"), "-");
    }
    struct store_stats stats;
    store_stats(s, &stats);
    assert_int_equal(stats.keys, 1); /* what keeps it fresh is no object */
    store_close(s);
}

/* Two on one etcd: what one has answered the other reads, and conditions hold for both. */
static void two_mirrors_agree(void **state)
{
    (void)state;
    struct store *a = open_mirror(), *b = open_mirror();
    for (int i = 0; i < 50; i++) {
        uint64_t rev;
        assert_int_equal(put_in(a, "/registry/x", "a", &rev), 0);
        assert_int_equal(store_sync_wait(b, NULL), 0);
        assert_true(store_rev(b) >= rev);
        struct store_op op = { STORE_PUT, STR("/registry/x"), STR("b"), rev };
        struct store_txn t = { .ops = &op, .n_ops = 1 };
        assert_int_equal(store_commit(b, &t, NULL), 0);
        /* Refused, and then what it was refused for can be read. */
        op.value = STR("late");
        struct store_txn late = { .ops = &op, .n_ops = 1 };
        assert_int_equal(store_commit(a, &late, NULL), -ERR_CONFLICT);
        assert_int_equal(late.failed_rev, t.rev);
        assert_true(store_rev(a) >= t.rev);
    }
    store_close(a);
    store_close(b);
}

struct watcher {
    struct store_watch w; /* first */
    struct buf text;
    bool is_expired;
};

static enum store_watch_verdict on_event(struct store_watch *w, const struct store_event *ev)
{
    struct watcher *x = (struct watcher *)w;
    buf_printf(&x->text, "%s" STR_FMT "%s" STR_FMT, x->text.n ? " " : "", STR_ARG(ev->now.key),
               ev->type == STORE_PUT ? "=" : "-", STR_ARG(ev->now.value));
    return STORE_WATCH_ON;
}

static void on_expired(struct store_watch *w)
{
    ((struct watcher *)w)->is_expired = true;
}

static void no_wake(void *arg)
{
    (void)arg;
}

static void watch(struct store_feed *f, struct watcher *x, uint64_t rev, bool takes_breaks)
{
    *x = (struct watcher){
        .w = { .on_event = on_event, .on_expired = on_expired, .takes_breaks = takes_breaks }
    };
    assert_int_equal(store_watch_start(f, &x->w, STR(""), rev, NULL), 0);
}

/* While it cannot see etcd, others write, and etcd drops what they did. */
static void what_was_dropped_is_listed_anew(void **state)
{
    (void)state;
    char url[sizeof(etcd.url)];
    struct store *s = open_mirror();
    uint64_t before, between, after;
    assert_int_equal(put_in(s, "/registry/stays", "1", NULL), 0);
    assert_int_equal(put_in(s, "/registry/changes", "1", NULL), 0);
    assert_int_equal(put_in(s, "/registry/goes", "1", &before), 0);
    struct store_feed *f = store_feed_new(s, no_wake, NULL);
    struct watcher strict, easy;
    watch(f, &strict, before, false);
    watch(f, &easy, before, true);

    /* The same etcd at another address. */
    (void)snprintf(url, sizeof(url), "%s", etcd.url);
    suite_etcd_kill(&etcd);
    (void)snprintf(etcd.url, sizeof(etcd.url), "http://127.0.0.1:%u", suite_etcd_free_port());
    assert_int_equal(suite_etcd_restart(&etcd), 1);
    struct store *other = open_mirror();
    assert_int_equal(put_in(other, "/registry/comes", "1", NULL), 0);
    assert_int_equal(put_in(other, "/registry/changes", "2", &between), 0);
    assert_int_equal(delete_in(other, "/registry/goes"), 0);
    assert_int_equal(put_in(other, "/registry/changes", "3", &after), 0);
    assert_int_equal(store_compact(other, after, NULL), 0);
    store_close(other);

    suite_etcd_kill(&etcd);
    (void)snprintf(etcd.url, sizeof(etcd.url), "%s", url);
    assert_int_equal(suite_etcd_restart(&etcd), 1);
    for (int i = 0; i < 600 && store_rev(s) < after; i++)
        (void)store_wait(s, after, NS_PER_SEC / 10, NULL);
    assert_string_equal(get_in(s, "/registry/goes"), "-");
    assert_string_equal(
        get_in(s, "/registry/comes"),
        str_cstr(&arena, arena_printf(&arena, "1@%llu", (unsigned long long)between - 1)));
    assert_string_equal(
        get_in(s, "/registry/changes"),
        str_cstr(&arena, arena_printf(&arena, "3@%llu", (unsigned long long)after)));
    struct store_snap *snap;
    assert_int_equal(store_snap_begin(s, between, &snap, NULL), -ERR_EXPIRED);
    while (store_feed_poll(f))
        ;
    assert_true(strict.is_expired);
    assert_int_equal(strict.text.n, 0);
    assert_false(easy.is_expired);
    buf_byte(&easy.text, '\0');
    assert_string_equal(easy.text.p, "/registry/comes=1 /registry/changes=3 /registry/goes-");
    /* And it goes on: conditions are held against what is there. */
    struct store_op op = { STORE_PUT, STR("/registry/changes"), STR("4"), after };
    assert_int_equal(store_commit(s, &(struct store_txn){ .ops = &op, .n_ops = 1 }, NULL), 0);
    store_watch_stop(&easy.w);
    buf_done(&easy.text);
    buf_done(&strict.text);
    store_feed_free(f);
    store_close(s);
}

/* Somebody deletes more at once than a revision of ours can have. */
static void a_revision_may_be_large(void **state)
{
    (void)state;
    enum { N = LIMIT_STORE_REV_OPS + 100, AT_ONCE = 100 };
    struct store *s = open_mirror();
    for (int i = 0; i < N; i += AT_ONCE) {
        struct store_op ops[AT_ONCE];
        char keys[AT_ONCE][32];
        for (int j = 0; j < AT_ONCE; j++) {
            (void)snprintf(keys[j], sizeof(keys[j]), "/registry/many/%d", i + j);
            ops[j] = (struct store_op){ STORE_PUT, str_of(keys[j]), STR("v"), STORE_ANY };
        }
        assert_int_equal(store_commit(s, &(struct store_txn){ .ops = ops, .n_ops = AT_ONCE }, NULL),
                         0);
    }
    autobuf request = { 0 };
    wire_bytes(&request, 1, STR("/registry/many/"));
    wire_bytes(&request, 2, STR("/registry/many0"));
    (void)call("/etcdserverpb.KV/DeleteRange", buf_str(&request));
    assert_int_equal(store_sync_wait(s, NULL), 0);
    struct store_stats stats;
    store_stats(s, &stats);
    assert_int_equal(stats.keys, 0);
    assert_int_equal(store_compact(s, store_floor(s), NULL), 0); /* a checkpoint takes it, too */
    assert_int_equal(put_in(s, "/registry/many/1", "again", NULL), 0);
    store_close(s);
}

/* Of many writes while etcd is killed each is acknowledged or not; those that are stay. */
static void what_is_acknowledged_stays(void **state)
{
    (void)state;
    enum { N = 400 };
    bool acked[N] = { false };
    char key[32];
    struct store *s = open_mirror();
    for (int i = 0; i < N; i++) {
        (void)snprintf(key, sizeof(key), "/registry/n/%03d", i);
        if (i == N / 2)
            (void)kill(etcd.pid, SIGKILL);
        acked[i] = put_in(s, key, "v", NULL) == 0;
        if (!acked[i] && i < N - 20)
            i = N - 20; /* each of these takes its time to fail */
        if (i == N - 10) {
            suite_etcd_kill(&etcd);
            assert_int_equal(suite_etcd_restart(&etcd), 1);
        }
    }
    while (put_in(s, "/registry/last", "v", NULL) < 0)
        ;
    store_close(s);
    s = open_mirror();
    assert_true(acked[0]);
    for (int i = 0; i < N; i++) {
        (void)snprintf(key, sizeof(key), "/registry/n/%03d", i);
        if (acked[i])
            assert_string_not_equal(get_in(s, key), "-");
    }
    store_close(s);
}

/* The first revisions go, once for all servers; each of them works on. */
static void one_of_several_compacts(void **state)
{
    (void)state;
    struct store *a = open_compacting(50), *b = open_compacting(50);
    uint64_t rev;
    assert_int_equal(put_in(a, "/registry/x", "first", &rev), 0);
    autobuf request = { 0 };
    remote_range_write(&request,
                       &(struct remote_range){ .key = STR("/registry/x"), .revision = rev });
    struct grpc_client *c =
        grpc_client_new(&(struct grpc_client_options){ .address = str_skip(str_of(etcd.url), 7) });
    struct grpc_result result = { 0 };
    for (int i = 0; i < 1200 && result.status == GRPC_OK; i++) {
        struct str reply;
        assert_int_equal(put_in(b, "/registry/x", "more", NULL), 0);
        (void)grpc_call_unary(c, STR("/etcdserverpb.KV/Range"), buf_str(&request), NULL, 0, 20000,
                              &arena, &reply, &result, NULL);
        (void)usleep(50000);
    }
    assert_int_equal(result.status, GRPC_OUT_OF_RANGE);
    grpc_client_free(c);
    assert_int_equal(put_in(a, "/registry/x", "last", NULL), 0);
    store_close(a);
    store_close(b);
}

static void what_has_a_lease_ends(void **state)
{
    (void)state;
    struct store *s = open_mirror();
    struct store_op op = { STORE_PUT, STR("/registry/short"), STR("v"), STORE_ABSENT, .ttl_s = 1 };
    assert_int_equal(store_commit(s, &(struct store_txn){ .ops = &op, .n_ops = 1 }, NULL), 0);
    uint64_t rev = store_rev(s);
    assert_int_equal(store_wait(s, rev + 1, 60 * NS_PER_SEC, NULL), 0);
    assert_string_equal(get_in(s, "/registry/short"), "-");
    store_close(s);
}

/* Who has a lease that others use, too, cannot know that it was ended. */
static void a_lease_that_was_ended_is_replaced(void **state)
{
    (void)state;
    enum { LEASE_OF_KV = 6 };
    struct store *s = open_mirror();
    struct store_op op = { STORE_PUT, STR("/registry/a"), STR("v"), STORE_ANY, .ttl_s = 3600 };
    assert_int_equal(store_commit(s, &(struct store_txn){ .ops = &op, .n_ops = 1 }, NULL), 0);
    autobuf request = { 0 };
    remote_range_write(&request, &(struct remote_range){ .key = STR("/registry/a") });
    uint64_t lease = remote_number(
        remote_text(call("/etcdserverpb.KV/Range", buf_str(&request)), 2), LEASE_OF_KV);
    assert_true(lease);
    buf_reset(&request);
    wire_int(&request, 1, lease);
    (void)call("/etcdserverpb.Lease/LeaseRevoke", buf_str(&request));
    op.key = STR("/registry/b");
    assert_int_equal(store_commit(s, &(struct store_txn){ .ops = &op, .n_ops = 1 }, NULL), 0);
    assert_string_equal(get_in(s, "/registry/a"), "-");
    assert_string_not_equal(get_in(s, "/registry/b"), "-");
    store_close(s);
}

static void a_server_that_is_not_there(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct store *s;
    const struct str none = STR("127.0.0.1:1");
    assert_int_equal(
        remote_open(&(struct remote_options){ .servers = &none, .n_servers = 1 }, &s, &err),
        -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_read_is_fresh_beside_foreign_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(two_mirrors_agree, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_dropped_is_listed_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(a_revision_may_be_large, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_acknowledged_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(one_of_several_compacts, setup, teardown),
        cmocka_unit_test_setup_teardown(what_has_a_lease_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lease_that_was_ended_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_is_not_there, setup, teardown),
    };
    char probe[] = "/tmp/remote_test.XXXXXX";
    int there = mkdtemp(probe) ? suite_etcd_start(&etcd, probe) : 0;
    suite_etcd_kill(&etcd);
    remove_tree(probe);
    if (there < 0) {
        (void)fprintf(stderr, "etcd is not installed\n");
        return 77; /* skipped */
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
