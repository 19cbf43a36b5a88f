/* A client's WebSocket turned into SPDY: whatever either side sends, in whatever pieces, both hear
 * the same, and it comes to an end. The first byte is the size of the pieces, the second says who
 * sends. */
#include "net/spdy/ws_spdy.h"

#include <assert.h>

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    struct buf to_client, to_server;
    bool is_over;
};

static struct heard play(unsigned how, struct str bytes, size_t piece)
{
    const struct ws_spdy_options opt = { .is_tunnel = how & 2,
                                         .has_stdin = true,
                                         .has_stdout = true,
                                         .has_stderr = !(how & 4),
                                         .is_tty = how & 4 };
    struct ws_spdy *t = ws_spdy_make(&opt);
    const struct relay_filter *f = ws_spdy_filter(t);
    struct heard h = { 0 };
    f->begin(f->arg, &h.to_client, &h.to_server);
    while (bytes.n && !f->is_over(f->arg)) {
        struct str next = str_take(bytes, piece);
        bytes = str_skip(bytes, piece);
        (how & 1 ? f->from_client : f->from_server)(f->arg, next, &h.to_client, &h.to_server);
    }
    h.is_over = f->is_over(f->arg);
    if (!h.is_over)
        f->server_end(f->arg, &h.to_client);
    assert(f->is_over(f->arg));
    ws_spdy_free(t);
    return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct str bytes = { (const char *)data + 2, size - 2 };
    struct heard whole = play(data[1], bytes, bytes.n ? bytes.n : 1);
    struct heard parts = play(data[1], bytes, data[0] % 16 + 1u);
    assert(whole.is_over == parts.is_over);
    if (data[1] & 1) /* what goes to the server is the same whatever the pieces */
        assert(str_eq(buf_str(&whole.to_server), buf_str(&parts.to_server)));
    buf_done(&whole.to_client);
    buf_done(&whole.to_server);
    buf_done(&parts.to_client);
    buf_done(&parts.to_server);
    return 0;
}
