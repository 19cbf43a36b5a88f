#include "server/expire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "server/object/stored.h"

static struct clock_fake clock_of_test;
static struct api api;
static struct arena arena;
static struct expire_marks marks;

/* 2026-01-01T00:00:00Z */
#define START_SEC INT64_C(1767225600)

static int setup(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    arena_init(&arena);
    marks = (struct expire_marks){ 0 };
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

static size_t run_after(int64_t sec)
{
    clock_fake_advance(&clock_of_test, sec * NS_PER_SEC);
    return expire_run(&api, &marks, EXPIRE_EVENT_NS);
}

static void events_end_an_hour_after_they_were_written(void **state)
{
    (void)state;
    put("/registry/events/n/old", "2025-12-31T22:59:59Z", "");
    put("/registry/events/n/young", "2025-12-31T23:30:00Z", "");
    put("/registry/configmaps/n/old", "2025-12-31T20:00:00Z", "");
    assert_int_equal(run_after(0), 1);
    assert_false(is_there("/registry/events/n/old"));
    assert_true(is_there("/registry/events/n/young"));
    assert_true(is_there("/registry/configmaps/n/old"));
    assert_int_equal(run_after(1801), 1);
    assert_false(is_there("/registry/events/n/young"));
    assert_int_equal(run_after(3600), 0);
}

/* Whatever times it speaks of, they are the client's. */
static void no_client_makes_them_stay(void **state)
{
    (void)state;
    static const char *const times[] = {
        ",\"lastTimestamp\":\"2999-01-01T00:00:00Z\"",
        ",\"eventTime\":\"2999-01-01T00:00:00.000000Z\"",
        ",\"series\":{\"lastObservedTime\":\"2999-01-01T00:00:00.000000Z\"}",
    };
    enum { N = ARRAY_LEN(times) };
    char key[64];
    for (int is_changed = 0; is_changed < 2; is_changed++) {
        for (int i = 0; i < N; i++) {
            (void)snprintf(key, sizeof(key), "/registry/events/n/e%d", i);
            for (int j = 0; j <= is_changed; j++)
                put(key, "2026-01-01T00:00:00Z", times[i]);
        }
        assert_int_equal(run_after(60), 0);
        assert_int_equal(run_after(3500), 0);
        assert_int_equal(run_after(150), N);
    }
}

/* Each write begins the time anew. */
static void a_changed_event_stays_an_hour_more(void **state)
{
    (void)state;
    put("/registry/events/n/e", "2026-01-01T00:00:00Z", "");
    for (int i = 0; i < 50; i++) {
        assert_int_equal(run_after(1000), 0);
        put("/registry/events/n/e", "2026-01-01T00:00:00Z", "");
    }
    assert_int_equal(run_after(60), 0);
    assert_int_equal(run_after(3500), 0);
    assert_int_equal(run_after(200), 1);
}

/* More looks than marks: the time is still right, to a part of it. */
static void marks_are_bounded(void **state)
{
    (void)state;
    put("/registry/events/n/e", "2026-01-01T00:00:00Z", "");
    put("/registry/events/n/e", "2026-01-01T00:00:00Z", "");
    size_t deleted = 0;
    int looks = 0;
    for (; looks < 3600 && !deleted; looks++)
        deleted = run_after(2);
    assert_int_equal(deleted, 1);
    assert_in_range(looks, 1800, 1900);
    assert_in_range(marks.n, 1, EXPIRE_MARKS);
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
    assert_int_equal(expire_run(&api, &marks, EXPIRE_EVENT_NS), N / 2);
    assert_int_equal(expire_run(&api, &marks, 0), N / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_end_an_hour_after_they_were_written, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(no_client_makes_them_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_event_stays_an_hour_more, setup, teardown),
        cmocka_unit_test_setup_teardown(marks_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(many_pages_of_them, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
