/* What a proxy says, in pieces: the first byte chooses the proxy and the length of the pieces. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "net/outgoing/proxy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hear(struct tunnel *t, struct str bytes, size_t at_once)
{
    autobuf out = { 0 };
    int r = 0;
    while (bytes.n && r == 0) {
        r = tunnel_feed(t, str_take(bytes, at_once), &out, NULL);
        bytes = str_skip(bytes, at_once);
        assert(t->in.n <= LIMIT_PROXY_BYTES + at_once);
    }
    assert(r != 1 || t->in.n == 0);
    assert(out.n < 2048);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct proxy proxies[] = {
        { .kind = PROXY_HTTP, .address = STR("p:1") },
        { .kind = PROXY_SOCKS5, .address = STR("p:1") },
        { .kind = PROXY_SOCKS5, .address = STR("p:1"), .user = STR("joe"), .password = STR("pw") },
    };
    struct tunnel t;
    autobuf out = { 0 };
    if (!size)
        return 0;
    int r = tunnel_begin(&t, &proxies[data[0] % 3], STR("a.example:6443"), &out, NULL);
    assert(r == 0);
    hear(&t, (struct str){ (const char *)data + 1, size - 1 }, 1 + data[0] / 3);
    tunnel_done(&t);
    return 0;
}
