#include "store/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"

static const uint64_t seed = 0x1234567890abcdef;

static void write_two(struct buf *b)
{
    struct record_op ops[2] = {
        { STORE_PUT, STR("key"), STR("value"), 5, 4 },
        { STORE_DELETE, STR("gone"), STR(""), 3, 6 },
    };
    size_t at = record_begin(b, 7, 6, 99);
    record_add(b, at, &ops[0]);
    record_add(b, at, &ops[1]);
    record_end(b, at, seed);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    autobuf b = { 0 };
    write_two(&b);
    struct record rec;
    struct record_op op;
    size_t need = 0;
    assert_int_equal(record_read(buf_str(&b), seed, &rec, &need), RECORD_GOOD);
    assert_int_equal(rec.rev, 7);
    assert_int_equal(rec.group_rev, 6);
    assert_int_equal(rec.wall_ns, 99);
    assert_int_equal(rec.n_ops, 2);
    assert_int_equal(rec.bytes, b.n);
    assert_int_equal(b.n % 8, 0);
    assert_true(record_op_next(&rec.ops, &op));
    assert_true(op.type == STORE_PUT && str_eq(op.key, STR("key")) &&
                str_eq(op.value, STR("value")) && op.create_rev == 5 && op.prev_rev == 4);
    assert_true(record_op_next(&rec.ops, &op));
    assert_true(op.type == STORE_DELETE && str_eq(op.key, STR("gone")) && op.value.n == 0);
    assert_false(record_op_next(&rec.ops, &op));
}

static void every_bit_counts(void **state)
{
    (void)state;
    autobuf b = { 0 };
    write_two(&b);
    struct record rec;
    size_t need;
    assert_int_equal(record_read(buf_str(&b), seed + 1, &rec, &need), RECORD_BAD);
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
        assert_int_not_equal(record_read(buf_str(&b), seed, &rec, &need), RECORD_GOOD);
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t n = 0; n < b.n; n++) {
        assert_int_equal(record_read((struct str){ b.p, n }, seed, &rec, &need), RECORD_MORE);
        assert_true(need > n);
    }
    memset(b.p, 0, b.n);
    assert_int_equal(record_read(buf_str(&b), seed, &rec, &need), RECORD_BAD);
    memset(b.p, 255, b.n); /* a length of four gigabytes is not asked for */
    assert_int_equal(record_read(buf_str(&b), seed, &rec, &need), RECORD_BAD);
}

static void the_largest_transaction_fits(void **state)
{
    (void)state;
    autobuf b = { 0 };
    autofree char *bytes = mem_zalloc(LIMIT_STORE_TXN_BYTES);
    size_t at = record_begin(&b, 2, 2, 0), total = 0;
    for (size_t i = 0; i < LIMIT_STORE_TXN_OPS; i++) {
        size_t value_n = LIMIT_STORE_TXN_BYTES / LIMIT_STORE_TXN_OPS - LIMIT_STORE_KEY_BYTES;
        struct record_op op = {
            STORE_PUT, { bytes, LIMIT_STORE_KEY_BYTES }, { bytes, value_n }, 2, 0
        };
        record_add(&b, at, &op);
        total += LIMIT_STORE_KEY_BYTES + value_n;
    }
    assert_int_equal(total, LIMIT_STORE_TXN_BYTES);
    record_end(&b, at, seed);
    struct record rec;
    size_t need;
    assert_int_equal(record_read(buf_str(&b), seed, &rec, &need), RECORD_GOOD);
}

static void segment_headers_are_summed(void **state)
{
    (void)state;
    struct record_segment h = { 1, 2, 3, 4, -5 }, back;
    char text[RECORD_SEGMENT_BYTES];
    record_segment_write(&h, text);
    struct str s = { text, sizeof(text) };
    assert_true(record_segment_read(s, &back));
    assert_true(back.store_id == 1 && back.seed == 2 && back.first_rev == 3 &&
                back.prev_first_rev == 4 && back.made_ns == -5);
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)(text[i] ^ 8);
        assert_false(record_segment_read(s, &back));
        text[i] = (char)(text[i] ^ 8);
    }
    assert_false(record_segment_read(str_take(s, sizeof(text) - 1), &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(the_largest_transaction_fits),
        cmocka_unit_test(segment_headers_are_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
