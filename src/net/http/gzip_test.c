#include "net/http/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"

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

/* Compresses neither well nor badly, and is the same in every run. */
static struct str sample(size_t n)
{
    char *p = arena_alloc(&arena, n + 1, 1);
    uint32_t x = 12345;
    for (size_t i = 0; i < n; i++) {
        x = x * 1103515245 + 12345;
        p[i] = (char)('a' + (x >> 16) % 12);
    }
    return (struct str){ p, n };
}

static void round_trip(void **state)
{
    (void)state;
    const size_t sizes[] = { 0, 1, 100, 16383, 16384, 16385, 1000000 };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        autobuf packed = { 0 };
        autobuf plain = { 0 };
        struct str in = sample(sizes[i]);
        buf_str_add(&plain, STR("before "));
        gzip_deflate(&packed, in, 6);
        assert_int_equal(gzip_inflate(&plain, buf_str(&packed), in.n, NULL), 0);
        assert_true(str_eq(str_skip(buf_str(&plain), 7), in));
    }
}

static void bound_is_exact(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct str in = sample(50000);
    autobuf packed = { 0 };
    autobuf plain = { 0 };
    gzip_deflate(&packed, in, 1);
    assert_int_equal(gzip_inflate(&plain, buf_str(&packed), in.n - 1, &err), -ERR_TOO_LARGE);
    assert_int_equal(plain.n, 0);
    assert_int_equal(gzip_inflate(&plain, buf_str(&packed), 0, &err), -ERR_TOO_LARGE);
    assert_int_equal(gzip_inflate(&plain, buf_str(&packed), in.n, &err), 0);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autobuf packed = { 0 };
    autobuf plain = { 0 };
    gzip_deflate(&packed, sample(3000), 6);
    for (size_t n = 0; n < packed.n; n++)
        assert_int_equal(gzip_inflate(&plain, str_take(buf_str(&packed), n), 5000, &err),
                         -ERR_BAD_REQUEST);
    buf_byte(&packed, 'x');
    assert_int_equal(gzip_inflate(&plain, buf_str(&packed), 5000, &err), -ERR_BAD_REQUEST);
    packed.n--;
    packed.p[packed.n - 6] ^= 1; /* the checksum */
    assert_int_equal(gzip_inflate(&plain, buf_str(&packed), 5000, &err), -ERR_BAD_REQUEST);
    assert_int_equal(gzip_inflate(&plain, STR("hello"), 5000, &err), -ERR_BAD_REQUEST);
}

/* CVE-2026-48044: what would become 256 MiB stops at the bound, not after it. */
static void bomb_stops_at_the_bound(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autobuf packed = { 0 };
    autobuf plain = { 0 };
    autofree char *zeros = mem_zalloc(1 << 20);
    struct gzip *g = gzip_new(1);
    for (int i = 0; i < 256; i++)
        gzip_add(g, &packed, (struct str){ zeros, 1 << 20 }, false);
    gzip_end(g, &packed);
    gzip_free(g);
    assert_true(packed.n < 2 << 20);
    assert_int_equal(gzip_inflate(&plain, buf_str(&packed), LIMIT_BODY_BYTES, &err),
                     -ERR_TOO_LARGE);
    assert_true(plain.cap <= 3 * LIMIT_BODY_BYTES);
}

static void flushed_pieces_can_be_read(void **state)
{
    (void)state;
    struct gzip *g = gzip_new(6);
    autobuf packed = { 0 };
    autobuf plain = { 0 };
    gzip_add(g, &packed, STR("{\"type\":\"ADDED\"}\n"), true);
    size_t first = packed.n;
    assert_true(first > 17); /* something was let out: the header is ten bytes */
    gzip_add(g, &packed, STR(""), false);
    assert_int_equal(packed.n, first);
    gzip_add(g, &packed, STR("{\"type\":\"DELETED\"}\n"), true);
    gzip_end(g, &packed);
    gzip_free(g);
    assert_int_equal(gzip_inflate(&plain, buf_str(&packed), 1000, NULL), 0);
    assert_true(str_eq(buf_str(&plain), STR("{\"type\":\"ADDED\"}\n{\"type\":\"DELETED\"}\n")));
}

/* However small the pieces are that go in and come out. */
static void a_stream_is_opened_piece_by_piece(void **state)
{
    static const size_t rooms[] = { 1, 7, 1 << 20 };
    autobuf packed = { 0 }, text = { 0 };
    (void)state;
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "line %d\n", i);
    gzip_deflate(&packed, buf_str(&text), 6);
    for (size_t i = 0; i < ARRAY_LEN(rooms); i++) {
        struct gunzip *g = gunzip_new();
        autobuf plain = { 0 };
        struct str rest = buf_str(&packed);
        int r = 0;
        while (r == 0 && rest.n) {
            struct str piece = str_take(rest, 3), left = piece;
            size_t before = plain.n;
            r = gunzip_next(g, &left, &plain, rooms[i], NULL);
            assert_true(plain.n - before <= rooms[i]);
            rest = str_skip(rest, piece.n - left.n);
        }
        assert_int_equal(r, 1);
        assert_true(str_eq(buf_str(&plain), buf_str(&text)));
        gunzip_free(g);
    }
}

static void a_stream_of_something_else_is_refused(void **state)
{
    struct gunzip *g = gunzip_new();
    autobuf plain = { 0 };
    struct str rest = STR("{\"kind\":\"Cup\"}");
    (void)state;
    assert_int_equal(gunzip_next(g, &rest, &plain, 100, NULL), -ERR_BAD_REQUEST);
    gunzip_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(bound_is_exact),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(bomb_stops_at_the_bound),
        cmocka_unit_test(flushed_pieces_can_be_read),
        cmocka_unit_test(a_stream_is_opened_piece_by_piece),
        cmocka_unit_test(a_stream_of_something_else_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
