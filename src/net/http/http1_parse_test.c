#include "net/http/http1_parse.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct http_limits small_limits(void)
{
    return (struct http_limits){ .header_bytes = 400, .header_count = 4, .request_line_bytes = 40 };
}

/* ---- The end of a head ---- */

struct scan_row {
    struct str bytes;
    ptrdiff_t result;
};

#define ROW(text, result)                  \
    {                                      \
        { text, sizeof(text) - 1 }, result \
    }

static const struct scan_row scan_rows[] = {
    ROW("GET / HTTP/1.1\r\n\r\n", 18),
    ROW("GET / HTTP/1.1\r\nA: b\r\n\r\nmore", 24),
    ROW("\r\nGET / HTTP/1.1\r\n\r\n", 20),
    ROW("\r\n\r\nGET / HTTP/1.1\r\n\r\n", -400),
    ROW("GET / HTTP/1.1\r\n\r", 0),
    ROW("GET / HTTP/1.1\n\r\n", -400),
    ROW("GET / HTTP/1.1\r\n\n", -400),
    ROW("\n", -400),
    ROW("", 0),
    ROW("GET /0123456789012345678901234567890123456789", -414),
    ROW("GET /0123456789012345678901234567890123456789 HTTP/1.1\r\n\r\n", -414),
    ROW("GET / HTTP/1.1\r\na:\r\nb:\r\nc:\r\nd:\r\n\r\n", 34),
    ROW("GET / HTTP/1.1\r\na:\r\nb:\r\nc:\r\nd:\r\ne:\r\nf:\r\n\r\n", -431),
};

/* Given all at once, and then byte by byte. */
static void the_end_of_a_head_is_found(void **state)
{
    (void)state;
    struct http_limits limits = small_limits();
    for (size_t i = 0; i < ARRAY_LEN(scan_rows); i++) {
        const struct scan_row *r = &scan_rows[i];
        struct http1_scan scan = { 0 };
        assert_int_equal(http1_scan(&scan, r->bytes, &limits), r->result);
        scan = (struct http1_scan){ 0 };
        ptrdiff_t got = 0;
        for (size_t n = 0; n <= r->bytes.n && got == 0; n++)
            got = http1_scan(&scan, str_take(r->bytes, n), &limits);
        assert_int_equal(got, r->result);
    }
}

static void an_endless_head_is_refused(void **state)
{
    (void)state;
    struct http_limits limits = small_limits();
    struct http1_scan scan = { 0 };
    char bytes[1000] = "GET / HTTP/1.1\r\nA: ";
    memset(bytes + 19, 'a', sizeof(bytes) - 19);
    assert_int_equal(http1_scan(&scan, (struct str){ bytes, 440 }, &limits), 0);
    assert_int_equal(http1_scan(&scan, (struct str){ bytes, 441 }, &limits), -431);
}

/* ---- Heads ---- */

static int parse(struct arena *a, const char *text, struct http1_head *ret)
{
    struct http_limits limits = small_limits();
    struct str copy = arena_str(a, str_of(text));
    return http1_head_parse(a, (char *)copy.p, copy.n, &limits, ret);
}

static void a_head_is_taken_apart(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct http1_head head;
    assert_int_equal(parse(&a,
                           "POST http://Host:1/p?q HTTP/1.1\r\nHOST: host:1\r\n"
                           "Content-Length: 12\r\nX: \t y z\t\r\nConnection: a, Close\r\n\r\n",
                           &head),
                     0);
    assert_true(str_eq(head.method, STR("POST")));
    assert_true(str_eq(head.target, STR("/p?q")));
    assert_true(str_eq(head.authority, STR("host:1")));
    assert_int_equal(head.version, HTTP_1_1);
    assert_int_equal(head.content_length, 12);
    assert_true(head.close);
    assert_false(head.chunked);
    assert_int_equal(head.n_headers, 4);
    assert_true(str_eq(head.headers[0].name, STR("host")));
    assert_true(str_eq(head.headers[2].value, STR("y z")));
    arena_done(&a);
}

static void connections_live_or_end_by_version(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct http1_head head;
    assert_int_equal(parse(&a, "GET / HTTP/1.0\r\n\r\n", &head), 0);
    assert_true(head.close);
    assert_int_equal(parse(&a, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &head), 0);
    assert_false(head.close);
    assert_int_equal(parse(&a, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", &head), 0);
    assert_false(head.close);
    arena_done(&a);
}

static void the_header_list_is_bounded(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct http1_head head;
    struct str fits = arena_printf(&a, "GET / HTTP/1.0\r\nA: %.*s\r\n\r\n", 400 - 33,
                                   (const char *)memset(arena_alloc(&a, 400, 1), 'a', 400));
    assert_int_equal(parse(&a, str_cstr(&a, fits), &head), 0);
    assert_int_equal(head.header_list, 400);
    struct str over = arena_printf(&a, "GET / HTTP/1.0\r\nA: %.*s\r\n\r\n", 401 - 33,
                                   (const char *)memset(arena_alloc(&a, 400, 1), 'a', 400));
    assert_int_equal(parse(&a, str_cstr(&a, over), &head), 431);
    arena_done(&a);
}

/* ---- Chunks ---- */

struct chunk_row {
    struct str bytes;
    const char *body; /* NULL: refused with 400 */
    size_t left_over; /* bytes behind the end */
};

#define CHUNKS(text, body, left_over)               \
    {                                               \
        { text, sizeof(text) - 1 }, body, left_over \
    }

static const struct chunk_row chunk_rows[] = {
    CHUNKS("0\r\n\r\n", "", 0),
    CHUNKS("5\r\nhello\r\n0\r\n\r\nGET", "hello", 3),
    CHUNKS("1\r\na\r\n00b\r\n0123456789a\r\n000\r\n\r\n", "a0123456789a", 0),
    CHUNKS("A;x=y\r\n0123456789\r\n0;z\r\nT: r\r\n\r\n", "0123456789", 0),
    CHUNKS("1\r\nab", NULL, 0),
    CHUNKS("1\na\r\n", NULL, 0),
    CHUNKS(" 1\r\na\r\n", NULL, 0),
    CHUNKS("1 \r\na\r\n", NULL, 0),
    CHUNKS("-1\r\n", NULL, 0),
    CHUNKS(";x\r\n", NULL, 0),
    CHUNKS("fffffffffffffffff\r\n", NULL, 0),
    CHUNKS("0\r\n T: r\r\n\r\n", NULL, 0),
    CHUNKS("0\r\nT: r\n\r\n", NULL, 0),
    CHUNKS("0\r\n\rx", NULL, 0),
};

/* Feeds `step` bytes at a time. HTTP1_END, HTTP1_MORE or a status. */
static int feed(const struct chunk_row *r, size_t step, char *body, size_t *ret_n, size_t *ret_left)
{
    struct http_limits limits = small_limits();
    struct http1_chunks chunks = { 0 };
    int got = HTTP1_MORE;
    *ret_n = 0;
    for (size_t at = 0; at < r->bytes.n && got == HTTP1_MORE; at += step) {
        struct str in = str_take(str_skip(r->bytes, at), step), piece;
        while ((got = http1_chunks_next(&chunks, &in, &piece, &limits)) == HTTP1_PIECE) {
            memcpy(body + *ret_n, piece.p, piece.n);
            *ret_n += piece.n;
        }
        *ret_left = (size_t)(r->bytes.p + r->bytes.n - in.p);
    }
    return got;
}

static void chunks_are_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(chunk_rows); i++) {
        const struct chunk_row *r = &chunk_rows[i];
        for (size_t step = 1; step <= r->bytes.n; step++) {
            char body[64];
            size_t n, left;
            int got = feed(r, step, body, &n, &left);
            assert_int_equal(got, r->body ? HTTP1_END : -400);
            if (r->body) {
                assert_true(str_eq((struct str){ body, n }, str_of(r->body)));
                assert_int_equal(left, r->left_over);
            }
        }
    }
}

/* ---- Answers ---- */

static void heads_of_answers_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int result, status;
        int64_t length;
        bool chunked;
    } rows[] = {
        { "HTTP/1.1 200 OK\r\n\r\n", 0, 200, -1, false },
        { "HTTP/1.0 404\r\n\r\n", 0, 404, -1, false },
        { "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", 0, 200, 7, false },
        { "HTTP/1.1 200 OK\r\ncontent-length: 7\r\nContent-Length: 7\r\n\r\n", 0, 200, 7, false },
        { "HTTP/1.1 200 OK\r\ncontent-length: 7\r\ncontent-length: 8\r\n\r\n", 400, 0, 0, false },
        { "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", 400, 0, 0, false },
        { "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\ncontent-length: 9\r\n\r\n", 0, 200, -1,
          true },
        { "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n", 400, 0, 0, false },
        { "HTTP/2 200 OK\r\n\r\n", 400, 0, 0, false },
        { "HTTP/1.1 20 OK\r\n\r\n", 400, 0, 0, false },
        { "HTTP/1.1 099 OK\r\n\r\n", 400, 0, 0, false },
        { "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", 400, 0, 0, false },
        { "\r\nHTTP/1.1 200 OK\r\n\r\n", 400, 0, 0, false },
    };
    const struct http_limits limits = small_limits();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        struct http1_answer answer;
        arena_init(&a);
        const struct str text = str_of(rows[i].text);
        char *copy = arena_dup(&a, text.p, text.n);
        assert_int_equal(http1_answer_parse(&a, copy, text.n, &limits, &answer), rows[i].result);
        if (!rows[i].result) {
            assert_int_equal(answer.status, rows[i].status);
            assert_int_equal(answer.content_length, rows[i].length);
            assert_int_equal(answer.chunked, rows[i].chunked);
        }
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_head_is_found),
        cmocka_unit_test(an_endless_head_is_refused),
        cmocka_unit_test(a_head_is_taken_apart),
        cmocka_unit_test(connections_live_or_end_by_version),
        cmocka_unit_test(the_header_list_is_bounded),
        cmocka_unit_test(chunks_are_taken_apart),
        cmocka_unit_test(heads_of_answers_are_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
