/* What an issuer publishes is refused with a reason, or read; keys that cannot be used are passed
 * over, and none of them has signed a token that nobody signed. */
#include <stdlib.h>

#include "auth/openid_keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str text = { (const char *)bytes, n }, url;
    const struct jwt unsigned_token = { .alg = STR("RS256"), .text = STR("a.b") };
    struct openid_keys *keys = NULL;
    if (openid_discovery_read(&a, text, STR("https://i"), &url, &err) == 0)
        must(url.n > 0);
    else
        must(err.code == ERR_INVALID && err.msg.n > 0);
    if (openid_keys_read(text, &keys, &err) == 0)
        must(openid_keys_count(keys) <= OPENID_KEYS_MAX);
    must(!openid_keys_signed(keys, &unsigned_token));
    openid_keys_free(keys);
    arena_done(&a);
    return 0;
}
