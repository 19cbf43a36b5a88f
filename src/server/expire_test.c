#include "server/expire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"
#include "server/stored.h"

static struct clock_fake clock_of_test;
static struct api api;
static struct arena arena;

/* 2026-01-01T00:00:00Z */
#define START_SEC INT64_C(1767225600)

static int setup(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    arena_init(&arena);
    clock_fake_init(&clock_of_test, START_SEC * NS_PER_SEC);
    api = (struct api){ .clock = &clock_of_test.clock };
    return store_open(&(struct store_options){ .engine = STORE_MEMORY }, &api.store, &err);
}

static int teardown(void **state)
{
    (void)state;
    store_close(api.store);
    arena_done(&arena);
    return 0;
}

static void put(const char *key, const char *created, const char *rest)
{
    struct err err = ERR_INIT(&arena);
    struct value event;
    struct str text = arena_printf(
        &arena, "{\"metadata\":{\"name\":\"e\",\"uid\":\"u\",\"creationTimestamp\":\"%s\"}%s}",
        created, rest);
    assert_int_equal(json_read(&arena, text, NULL, &event, &err), 0);
    autobuf bytes = { 0 };
    stored_write(&bytes, NULL, &event);
    struct store_op op = {
        .type = STORE_PUT, .key = str_of(key), .value = buf_str(&bytes), .expect_rev = STORE_ANY
    };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(api.store, &txn, &err), 0);
}

static bool is_there(const char *key)
{
    struct store_snap *snap;
    struct store_entry e;
    assert_int_equal(store_snap_begin(api.store, 0, &snap, NULL), 0);
    int r = store_snap_get(snap, str_of(key), &e, NULL);
    store_snap_end(snap);
    return r == 1;
}

static void events_end_an_hour_after_they_were_seen(void **state)
{
    (void)state;
    put("/registry/events/n/old", "2025-12-31T22:59:59Z", "");
    put("/registry/events/n/young", "2025-12-31T23:30:00Z", "");
    put("/registry/events/n/again", "2025-12-31T20:00:00Z",
        ",\"lastTimestamp\":\"2025-12-31T23:59:00Z\"");
    put("/registry/events/n/series", "2025-12-31T20:00:00Z",
        ",\"series\":{\"lastObservedTime\":\"2025-12-31T23:59:00.000000Z\"}");
    put("/registry/configmaps/n/old", "2025-12-31T20:00:00Z", "");
    assert_int_equal(expire_run(&api, EXPIRE_EVENT_NS), 1);
    assert_false(is_there("/registry/events/n/old"));
    assert_true(is_there("/registry/events/n/young"));
    assert_true(is_there("/registry/events/n/again"));
    assert_true(is_there("/registry/events/n/series"));
    assert_true(is_there("/registry/configmaps/n/old"));

    clock_fake_advance(&clock_of_test, 1800 * NS_PER_SEC + NS_PER_SEC);
    assert_int_equal(expire_run(&api, EXPIRE_EVENT_NS), 1);
    assert_false(is_there("/registry/events/n/young"));
    clock_fake_advance(&clock_of_test, 3600 * NS_PER_SEC);
    assert_int_equal(expire_run(&api, EXPIRE_EVENT_NS), 2);
    assert_int_equal(expire_run(&api, EXPIRE_EVENT_NS), 0);
}

static void many_pages_of_them(void **state)
{
    (void)state;
    enum { N = 2000 };
    char key[64];
    for (int i = 0; i < N; i++) {
        (void)snprintf(key, sizeof(key), "/registry/events/n/e%d", i);
        put(key, i % 2 ? "2025-12-31T20:00:00Z" : "2025-12-31T23:30:00Z", "");
    }
    assert_int_equal(expire_run(&api, EXPIRE_EVENT_NS), N / 2);
    assert_int_equal(expire_run(&api, 0), N / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_end_an_hour_after_they_were_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(many_pages_of_them, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
