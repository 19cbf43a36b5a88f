#include "client/calls/lines.h"

#include <stdlib.h>

#include "client/suite_client.h"

static void refill(struct lines *l, struct str bytes)
{
    buf_reset(&l->piece);
    buf_str_add(&l->piece, bytes);
    lines_refilled(l);
}

static void expect(struct lines *l, struct str want)
{
    struct str line;
    assert_true(lines_next(l, &line));
    assert_true(str_eq(line, want));
}

/* Whoever has no time to wait asks again and again. */
static void expect_nothing(struct lines *l)
{
    struct str line;
    for (int i = 0; i < 3; i++)
        assert_false(lines_next(l, &line));
}

static void lines_end_with_newlines(void **state)
{
    (void)state;
    struct lines l = { 0 };
    expect_nothing(&l);
    refill(&l, STR("one\ntwo\nth"));
    expect(&l, STR("one"));
    expect(&l, STR("two"));
    expect_nothing(&l);
    assert_int_equal(lines_held(&l), 2);
    refill(&l, STR("re"));
    expect_nothing(&l);
    refill(&l, STR("e\n\n"));
    expect(&l, STR("three"));
    expect(&l, STR(""));
    expect_nothing(&l);
    lines_done(&l);
}

static void frames_have_their_length(void **state)
{
    (void)state;
    struct lines l = { .is_framed = true };
    expect_nothing(&l);
    refill(&l, STR("\0\0\0\3one\0\0\0\0\0\0"));
    expect(&l, STR("one"));
    expect(&l, STR(""));
    expect_nothing(&l);
    refill(&l, STR("\0\3t"));
    expect_nothing(&l);
    refill(&l, STR("wo"));
    expect(&l, STR("two"));
    expect_nothing(&l);
    /* A piece that begins with half a frame. */
    refill(&l, STR("\0\0\0\5thr"));
    expect_nothing(&l);
    assert_int_equal(lines_held(&l), 7);
    refill(&l, STR("ee\0\0\0\4four"));
    expect(&l, STR("three"));
    expect(&l, STR("four"));
    expect_nothing(&l);
    lines_done(&l);
}

/* ---- Against the whole ---- */

enum { N_EVENTS = 400 };

static void put_event(struct buf *out, unsigned i, bool is_framed)
{
    unsigned n = i * 7 % 90;
    if (is_framed) {
        const unsigned char head[] = { 0, 0, 0, (unsigned char)n };
        buf_add(out, head, sizeof(head));
    }
    for (unsigned k = 0; k < n; k++)
        buf_byte(out, (char)('a' + (i + k) % 26));
    if (!is_framed)
        buf_byte(out, '\n');
}

/* Pieces of any size, and waits in vain wherever they may be. */
static void however_it_is_cut(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 40; seed++) {
        struct lines l = { .is_framed = seed % 2 };
        struct buf all = { 0 };
        struct str line;
        unsigned random = seed;
        for (unsigned i = 0; i < N_EVENTS; i++)
            put_event(&all, i, l.is_framed);
        unsigned n = 0;
        for (struct str rest = buf_str(&all); rest.n || n < N_EVENTS;) {
            struct str piece = str_take(rest, (size_t)rand_r(&random) % (seed * 3 + 5) + 1);
            rest = str_skip(rest, piece.n);
            refill(&l, piece);
            while (lines_next(&l, &line)) {
                struct buf want = { 0 };
                put_event(&want, n++, l.is_framed);
                size_t skip = l.is_framed ? 4 : 0;
                assert_int_equal(line.n, l.is_framed ? want.n - 4 : want.n - 1);
                assert_true(str_eq(line, str_take(str_skip(buf_str(&want), skip), line.n)));
                buf_done(&want);
            }
            expect_nothing(&l);
        }
        assert_int_equal(n, N_EVENTS);
        buf_done(&all);
        lines_done(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_newlines),
        cmocka_unit_test(frames_have_their_length),
        cmocka_unit_test(however_it_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
