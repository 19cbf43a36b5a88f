/* Heads of answers, as nodes and pods may send them: texts lie inside the head, and what is said
 * about the body's length is one thing only. */
#include <assert.h>

#include "net/http/http1_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct str part, const char *whole, size_t n)
{
    assert(!part.n || (part.p >= whole && part.p + part.n <= whole + n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct http_limits limits = http_limits_default();
    struct http1_scan scan = { 0 };
    struct http1_answer answer;
    struct arena a;
    const ptrdiff_t n = http1_scan(&scan, (struct str){ (const char *)data, size }, &limits);
    if (n <= 0)
        return 0;
    arena_init(&a);
    char *text = arena_dup(&a, data, (size_t)n);
    if (http1_answer_parse(&a, text, (size_t)n, &limits, &answer) == 0) {
        assert(answer.status >= 100 && answer.status <= 999);
        assert(answer.n_headers <= limits.header_count);
        assert(!answer.chunked || answer.content_length < 0);
        for (size_t i = 0; i < answer.n_headers; i++) {
            check_inside(answer.headers[i].name, text, (size_t)n);
            check_inside(answer.headers[i].value, text, (size_t)n);
        }
    }
    arena_done(&a);
    return 0;
}
