/* HTTP/1.1 heads and chunked bodies: the same bytes mean the same, however reads cut them. The
 * first byte chooses the cuts. */
#include <stdlib.h>

#include "base/buf.h"
#include "net/http/http1_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static size_t cut(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return 1 + (*seed >> 24) % 23;
}

/* What a body came to: its bytes, how it ended, how many bytes were eaten. */
struct outcome {
    struct buf body;
    int end;
    size_t eaten;
};

static struct outcome read_chunks(struct str in, uint32_t seed, const struct http_limits *limits)
{
    struct outcome o = { .end = HTTP1_MORE };
    struct http1_chunks chunks = { 0 };
    while (o.eaten < in.n && o.end == HTTP1_MORE) {
        struct str part = str_take(str_skip(in, o.eaten), seed ? cut(&seed) : in.n);
        struct str rest = part, piece;
        while ((o.end = http1_chunks_next(&chunks, &rest, &piece, limits)) == HTTP1_PIECE)
            buf_str_add(&o.body, piece);
        o.eaten += part.n - rest.n;
    }
    return o;
}

static void check_chunks(struct str in, uint32_t seed, const struct http_limits *limits)
{
    struct outcome whole = read_chunks(in, 0, limits), cuts = read_chunks(in, seed, limits);
    must(whole.end == cuts.end && whole.eaten == cuts.eaten);
    must(str_eq(buf_str(&whole.body), buf_str(&cuts.body)));
    must(whole.body.n <= in.n);
    buf_done(&whole.body);
    buf_done(&cuts.body);
}

static ptrdiff_t scan_cut(struct str in, uint32_t seed, const struct http_limits *limits)
{
    struct http1_scan scan = { 0 };
    ptrdiff_t r = 0;
    for (size_t n = cut(&seed); r == 0; n += cut(&seed)) {
        r = http1_scan(&scan, str_take(in, n), limits);
        if (n >= in.n)
            break;
    }
    return r;
}

static void check_head(struct arena *a, const struct http1_head *head)
{
    must(head->method.n > 0 && head->target.n > 0);
    must(!(head->chunked && head->content_length >= 0));
    for (size_t i = 0; i < head->n_headers; i++) {
        must(head->headers[i].name.n > 0);
        must(!memchr(head->headers[i].value.p, '\n', head->headers[i].value.n));
    }
    (void)a;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 2)
        return 0;
    uint32_t seed = bytes[0] + 1u;
    struct str in = { (const char *)bytes + 1, n - 1 };
    struct http_limits limits = { .header_bytes = 4096,
                                  .header_count = 20,
                                  .request_line_bytes = 256 };
    struct http1_scan scan = { 0 };
    ptrdiff_t whole = http1_scan(&scan, in, &limits), cuts = scan_cut(in, seed, &limits);
    /* Cut up, a line that is too long may be seen before what is wrong with its end. */
    must(whole == cuts || (whole < 0 && cuts < 0));
    check_chunks(in, seed, &limits);
    if (whole <= 0)
        return 0;
    struct arena a;
    arena_init(&a);
    struct http1_head head;
    char *text = arena_dup(&a, in.p, (size_t)whole);
    if (http1_head_parse(&a, text, (size_t)whole, &limits, &head) == 0)
        check_head(&a, &head);
    check_chunks(str_skip(in, (size_t)whole), seed, &limits);
    arena_done(&a);
    return 0;
}
