#include "net/http/http1_write.h"

#include <assert.h>
#include <stdio.h>

#include "net/http/conn.h"
#include "base/banned.h"

enum {
    HEAD_EXTRA_BYTES = 256, /* status line and the headers added here */
    CHUNK_FRAME_BYTES = 20, /* sixteen digits and two line ends */
};

static const struct str CONTINUE = { "HTTP/1.1 100 Continue\r\n\r\n", 25 };

/* ---- The head ---- */

static char *put(char *to, struct str s)
{
    if (s.n)
        memcpy(to, s.p, s.n);
    return to + s.n;
}

/* A line end inside a value would let the one who chose the value add headers. */
static char *put_value(char *to, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char b = (unsigned char)s.p[i];
        to[i] = b < 0x20 || b == 0x7f ? ' ' : s.p[i];
    }
    return to + s.n;
}

static char *put_header(char *to, struct str name, struct str value)
{
    to = put(to, name);
    to = put(to, STR(": "));
    to = put_value(to, value);
    return put(to, STR("\r\n"));
}

static char *put_number(char *to, uint64_t n)
{
    char digits[20];
    size_t i = sizeof(digits);
    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    return put(to, (struct str){ digits + i, sizeof(digits) - i });
}

static size_t headers_size(const struct http_header *headers, size_t n)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += headers[i].name.n + headers[i].value.n + 4;
    return size;
}

/* Those that say what this layer says itself. */
static bool is_ours(struct str name, bool switching)
{
    return (str_eq(name, STR("connection")) && !switching) ||
           str_eq(name, STR("transfer-encoding")) || str_eq(name, STR("keep-alive"));
}

static char *put_status(char *to, int status)
{
    to = put(to, STR("HTTP/1.1 "));
    to = put_number(to, (uint64_t)status);
    to = put(to, STR(" "));
    to = put(to, exchange_status_words(status));
    return put(to, STR("\r\n"));
}

/* True if the handler has said how long the body is; it then counts as known. */
static bool has_length(const struct http_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(headers[i].name, STR("content-length")))
            return true;
    return false;
}

static char *put_framing(char *to, struct http_exchange *x, int status, int64_t length,
                         bool said_length)
{
    if (status == 204 || status == 304) {
        exchange_drop(x);
        x->head_method = true; /* what is written later is dropped too */
        return to;
    }
    if (said_length)
        return to;
    if (length >= 0) {
        to = put(to, STR("content-length: "));
        to = put_number(to, (uint64_t)length);
        return put(to, STR("\r\n"));
    }
    if (x->req.version == HTTP_1_0) {
        x->close_after = true; /* the end of the connection is the end of the body */
        return to;
    }
    x->chunked = true;
    return put(to, STR("transfer-encoding: chunked\r\n"));
}

void http1_write_head(struct http_exchange *x, int status, const struct http_header *headers,
                      size_t n, int64_t length)
{
    size_t cap = headers_size(headers, n) + HEAD_EXTRA_BYTES;
    char *start = arena_alloc(exchange_reply_arena(x), cap, 1), *to = start;
    bool switching = status == 101;
    to = put_status(to, status);
    bool said_length = length < 0 && has_length(headers, n);
    for (size_t i = 0; i < n; i++) {
        if (is_ours(headers[i].name, switching))
            continue;
        if (length >= 0 && str_eq(headers[i].name, STR("content-length")))
            continue;
        to = put_header(to, headers[i].name, headers[i].value);
    }
    if (!switching) {
        to = put_header(to, STR("date"), http_home_date(x->home));
        to = put_framing(to, x, status, length, said_length);
        if (x->close_after)
            to = put(to, STR("connection: close\r\n"));
        else if (x->req.version == HTTP_1_0)
            to = put(to, STR("connection: keep-alive\r\n"));
    }
    to = put(to, STR("\r\n"));
    assert((size_t)(to - start) <= cap);
    x->head = (struct str){ start, (size_t)(to - start) };
    x->expects = false;
}

/* ---- Moving ---- */

static size_t move_text(struct str *from, char *to, size_t cap)
{
    struct str part = str_take(*from, cap);
    put(to, part);
    *from = str_skip(*from, part.n);
    return part.n;
}

/* All that is there as one chunk. */
static size_t move_chunk(struct http_exchange *x, char *to, size_t cap)
{
    if (!x->unsent || cap <= CHUNK_FRAME_BYTES)
        return 0;
    size_t size = cap - CHUNK_FRAME_BYTES < x->unsent ? cap - CHUNK_FRAME_BYTES : x->unsent;
    int n = snprintf(to, CHUNK_FRAME_BYTES, "%zx\r\n", size);
    assert(n > 0);
    char *p = to + n;
    size_t moved = exchange_take(x, p, size);
    assert(moved == size);
    p = put(p + moved, STR("\r\n"));
    return (size_t)(p - to);
}

/* The last chunk and the trailers take the head's place. */
static void make_last_chunk(struct http_exchange *x)
{
    size_t cap = headers_size(x->trailers, x->n_trailers) + sizeof("0\r\n\r\n");
    char *start = arena_alloc(&x->arena, cap, 1), *to = put(start, STR("0\r\n"));
    for (size_t i = 0; i < x->n_trailers; i++)
        to = put_header(to, x->trailers[i].name, x->trailers[i].value);
    to = put(to, STR("\r\n"));
    x->head = (struct str){ start, (size_t)(to - start) };
    x->last_chunk = true;
}

size_t http1_write_some(struct http_exchange *x, char *to, size_t cap)
{
    if (x->expects && x->body_wanted && !x->began && cap >= CONTINUE.n) {
        x->expects = false;
        put(to, CONTINUE);
        return CONTINUE.n;
    }
    if (!x->began)
        return 0;
    size_t n = move_text(&x->head, to, cap);
    if (x->head.n)
        return n;
    if (!x->chunked || x->head_method)
        return n + exchange_take(x, to + n, cap - n);
    n += move_chunk(x, to + n, cap - n);
    if (exchange_all_taken(x) && !x->last_chunk) {
        make_last_chunk(x);
        n += move_text(&x->head, to + n, cap - n);
    }
    return n;
}

bool http1_written(const struct http_exchange *x)
{
    if (!x->began || x->head.n || !exchange_all_taken(x))
        return false;
    return !x->chunked || x->head_method || x->last_chunk;
}
