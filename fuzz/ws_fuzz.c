/* The WebSocket frame reader: whatever the pieces, it hears the same and stays within its bound.
 * The first byte of the input is the size of the pieces. */
#include "net/ws/ws_frame.h"

#include <assert.h>

#include "base/banned.h"

enum { MAX_MESSAGE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    uint64_t hash;
    size_t n;
};

static void hear(struct heard *h, unsigned what, struct str s)
{
    h->hash = h->hash * 31 + what;
    for (size_t i = 0; i < s.n; i++)
        h->hash = h->hash * 31 + (unsigned char)s.p[i];
    h->n++;
}

static void on_message(void *arg, enum ws_type type, struct str message)
{
    assert(message.n <= MAX_MESSAGE);
    hear(arg, type, message);
}

static void on_ping(void *arg, struct str payload)
{
    assert(payload.n <= WS_CONTROL_MAX);
    hear(arg, WS_OP_PING, payload);
}

static void on_close(void *arg, unsigned code, struct str reason)
{
    assert(code == WS_CODE_NONE || ws_code_valid(code));
    hear(arg, code, reason);
}

static unsigned read_in(struct str bytes, size_t step, struct heard *ret)
{
    const struct ws_reader_events events = { ret, on_message, on_ping, on_close };
    struct ws_reader r;
    unsigned code = 0;
    ws_reader_init(&r, MAX_MESSAGE, &events);
    for (; bytes.n && !code; bytes = str_skip(bytes, step)) {
        code = ws_reader_feed(&r, str_take(bytes, step));
        assert(r.message.n <= MAX_MESSAGE);
    }
    ws_reader_done(&r);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct str bytes = { (const char *)data + 1, size - 1 };
    struct heard whole = { 0 }, pieces = { 0 };
    unsigned code = read_in(bytes, SIZE_MAX, &whole);
    assert(read_in(bytes, (size_t)data[0] + 1, &pieces) == code);
    assert(whole.hash == pieces.hash && whole.n == pieces.n);
    return 0;
}
