#include "etcd/etcd_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/wire.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

/* ---- Spans ---- */

static void spans(void **state)
{
    static const struct {
        struct str key, end, prefix;
        struct str in, out; /* empty: none to ask about */
    } rows[] = {
        { STR("a"), STR(""), STR("a"), STR("a"), STR("aa") },
        { STR("a/"), STR("a0"), STR("a/"), STR("a/b"), STR("a0") },
        { STR("a/m"), STR("a0"), STR("a/"), STR("a/z"), STR("a/b") }, /* the next page of a list */
        { STR("a"), STR("c"), STR(""), STR("b"), STR("c") },
        { STR("/k/a2"), STR("/k/b3"), STR("/k/"), STR("/k/b"), STR("/k/b3") },
        { STR("m"), STR("\0"), STR(""), STR("z"), STR("a") },
        { STR("\0"), STR("\0"), STR(""), STR("z"), STR("") },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct etcd_span s = { rows[i].key, rows[i].end };
        assert_true(str_eq(etcd_span_prefix(&s), rows[i].prefix));
        assert_true(etcd_span_has(&s, rows[i].in));
        if (rows[i].out.n)
            assert_false(etcd_span_has(&s, rows[i].out));
    }
}

/* ---- Messages ---- */

static void add(struct buf *out, unsigned number, struct buf *part)
{
    wire_head(out, number, part->n);
    buf_str_add(out, buf_str(part));
    buf_reset(part);
}

static void add_put(struct buf *out, unsigned branch, const char *key)
{
    autobuf put = { 0 }, op = { 0 };
    wire_bytes(&put, 1, str_of(key));
    add(&op, 2, &put);
    add(out, branch, &op);
}

static void add_delete(struct buf *out, unsigned branch, const char *key, const char *end)
{
    autobuf del = { 0 }, op = { 0 };
    wire_bytes(&del, 1, str_of(key));
    wire_bytes(&del, 2, str_of(end));
    add(&op, 3, &del);
    add(out, branch, &op);
}

static void add_inner(struct buf *out, unsigned branch, struct buf *txn)
{
    autobuf op = { 0 };
    add(&op, 4, txn);
    add(out, branch, &op);
}

static const char *fault_of(struct buf *message)
{
    struct etcd_txn txn;
    return etcd_txn_read(&arena, arena_str(&arena, buf_str(message)), &txn);
}

static const char twice[] = "etcdserver: duplicate key given in txn request";

static void a_key_is_written_once(void **state)
{
    autobuf m = { 0 }, inner = { 0 };
    (void)state;
    add_put(&m, 2, "a");
    add_put(&m, 3, "a"); /* in the other branch */
    assert_null(fault_of(&m));
    add_put(&m, 2, "a");
    assert_string_equal(fault_of(&m), twice);
    buf_reset(&m);
    add_delete(&m, 2, "a", "c");
    add_put(&m, 2, "b");
    assert_string_equal(fault_of(&m), twice);
    buf_reset(&m);
    add_delete(&m, 2, "a", "c");
    add_delete(&m, 2, "b", ""); /* deletes may overlap */
    assert_null(fault_of(&m));
    buf_reset(&m);
    add_put(&inner, 2, "a");
    add_put(&inner, 3, "a"); /* one of them */
    add_inner(&m, 2, &inner);
    assert_null(fault_of(&m));
    add_put(&m, 2, "a"); /* and then once more */
    assert_string_equal(fault_of(&m), twice);
}

static void bounds(void **state)
{
    static const char too_many[] = "etcdserver: too many operations in txn request";
    autobuf m = { 0 }, inner = { 0 };
    (void)state;
    for (int i = 0; i < ETCD_TXN_OPS; i++)
        add_delete(&m, 2, "a", "");
    assert_null(fault_of(&m));
    add_delete(&m, 2, "a", "");
    assert_string_equal(fault_of(&m), too_many);
    buf_reset(&m);
    for (int i = 0; i < 5; i++) { /* few on each level, many in all */
        for (int k = 0; k < 120; k++)
            add_delete(&inner, 2, "a", "");
        add_inner(&m, 2, &inner);
    }
    assert_string_equal(fault_of(&m), too_many);
    buf_reset(&m);
    for (int depth = 0; depth < ETCD_TXN_DEPTH + 2; depth++) {
        add_inner(&m, 2, &inner);
        inner.n = 0;
        buf_str_add(&inner, buf_str(&m));
        m.n = 0;
    }
    assert_non_null(fault_of(&inner));
}

static void bad_messages_are_refused(void **state)
{
    struct etcd_put put;
    struct etcd_delete del;
    struct etcd_range range;
    (void)state;
    assert_string_equal(etcd_put_read(STR(""), &put), "etcdserver: key is not provided");
    assert_non_null(etcd_put_read(STR("\x0a\x09"
                                      "a"),
                                  &put));
    assert_non_null(etcd_put_read(STR("\x0a\x03\0\0x"), &put)); /* the server's own */
    assert_string_equal(etcd_put_read(STR("\x0a\x01"
                                          "a\x12\x01v\x28\x01"),
                                      &put),
                        "etcdserver: value is provided");
    assert_string_equal(etcd_put_read(STR("\x0a\x01"
                                          "a\x18\x01\x30\x01"),
                                      &put),
                        "etcdserver: lease is provided");
    assert_string_equal(etcd_delete_read(STR(""), &del), "etcdserver: key is not provided");
    assert_false(etcd_range_read(STR("\xff"), &range));
    assert_true(etcd_range_read(STR("\x0a\x01"
                                    "a\x28\x07"),
                                &range));
    assert_string_equal(etcd_range_fault(&range), "etcdserver: invalid sort option");
}

static void comparisons(void **state)
{
    const struct etcd_kv kv = {
        .key = STR("a"), .value = STR("m"), .create_rev = 3, .mod_rev = 7, .version = 2
    };
    static const struct {
        struct etcd_compare compare;
        bool holds, holds_for_none;
    } rows[] = {
        { { .result = ETCD_EQUAL, .target = ETCD_COMPARE_MOD, .number = 7 }, true, false },
        { { .result = ETCD_EQUAL, .target = ETCD_COMPARE_MOD }, false, true },
        { { .result = ETCD_GREATER, .target = ETCD_COMPARE_CREATE, .number = 2 }, true, false },
        { { .result = ETCD_LESS, .target = ETCD_COMPARE_VERSION, .number = 2 }, false, true },
        { { .result = ETCD_NOT_EQUAL, .target = ETCD_COMPARE_LEASE, .number = 1 }, true, true },
        { { .result = ETCD_EQUAL, .target = ETCD_COMPARE_VALUE, .value = STR("m") }, true, false },
        { { .result = ETCD_NOT_EQUAL, .target = ETCD_COMPARE_VALUE, .value = STR("x") },
          true,
          false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(etcd_compare_holds(&rows[i].compare, &kv), rows[i].holds);
        assert_int_equal(etcd_compare_holds(&rows[i].compare, &(struct etcd_kv){ 0 }),
                         rows[i].holds_for_none);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans),
        cmocka_unit_test_setup_teardown(a_key_is_written_once, setup, teardown),
        cmocka_unit_test_setup_teardown(bounds, setup, teardown),
        cmocka_unit_test(bad_messages_are_refused),
        cmocka_unit_test(comparisons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
