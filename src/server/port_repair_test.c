#include "server/port_repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "server/object/stored.h"

static struct api api;
static struct arena arena;

static int setup(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    arena_init(&arena);
    return store_open(&(struct store_options){ .engine = STORE_MEMORY }, &api.store, &err);
}

static int teardown(void **state)
{
    (void)state;
    store_close(api.store);
    arena_done(&arena);
    return 0;
}

static void put(const char *key, struct str value)
{
    struct err err = ERR_INIT(&arena);
    struct store_op op = {
        .type = STORE_PUT, .key = str_of(key), .value = value, .expect_rev = STORE_ANY
    };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(api.store, &txn, &err), 0);
}

static void put_service(const char *name, const char *spec)
{
    struct err err = ERR_INIT(&arena);
    struct value obj;
    struct str text = arena_printf(
        &arena,
        "{\"metadata\":{\"name\":\"%s\",\"uid\":\"u\",\"creationTimestamp\":\"t\"},\"spec\":%s}",
        name, spec);
    assert_int_equal(json_read(&arena, text, NULL, &obj, &err), 0);
    autobuf bytes = { 0 };
    stored_write(&bytes, NULL, &obj);
    put(arena_printf(&arena, "/registry/services/specs/n/%s", name).p, buf_str(&bytes));
}

static void expect_note(const char *key, const char *want)
{
    struct store_snap *snap;
    struct store_entry e;
    assert_int_equal(store_snap_begin(api.store, 0, &snap, NULL), 0);
    assert_int_equal(store_snap_get(snap, str_of(key), &e, NULL), want ? 1 : 0);
    if (want)
        assert_true(str_eq(e.value, str_of(want)));
    store_snap_end(snap);
}

#define NOTE "/registry/ranges/servicenodeports/"

static void test_repair(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct port_repairs done;
    put_service("a", "{\"ports\":[{\"nodePort\":30001},{\"nodePort\":30002},{\"port\":80}]}");
    put_service("b", "{\"healthCheckNodePort\":30003,\"ports\":[{\"nodePort\":30001}]}");
    put_service("c", "{}");
    put(NOTE "30002", STR("n/a"));
    put(NOTE "30009", STR("n/gone"));
    put(NOTE "what", STR("x"));
    assert_int_equal(port_repair_run(&api, &done, &err), 0);
    assert_int_equal(done.made, 2);
    assert_int_equal(done.removed, 2);
    expect_note(NOTE "30001", "n/a"); /* of two the first */
    expect_note(NOTE "30002", "n/a");
    expect_note(NOTE "30003", "n/b");
    expect_note(NOTE "30009", NULL);
    expect_note(NOTE "what", NULL);
    assert_int_equal(port_repair_run(&api, &done, &err), 0);
    assert_int_equal(done.made + done.removed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_repair, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
