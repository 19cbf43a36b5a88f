/* A continue token never leads out of the prefix of its request, and what is made of an accepted
 * one is accepted too and means the same. The input is the token; without one that is accepted it
 * is also taken as the JSON inside. */
#include <stdlib.h>

#include "base/base64.h"
#include "server/object/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define PREFIX STR("/registry/configmaps/a/")

static void must(bool good)
{
    if (!good)
        abort();
}

static bool check(struct arena *a, struct str text)
{
    struct token t, again;
    struct err err = ERR_INIT(a);
    if (token_read(a, text, PREFIX, &t, &err) < 0) {
        must(err.code == ERR_BAD_REQUEST && err.msg.n > 0);
        return false;
    }
    must(str_starts(t.start, PREFIX) && t.rev != 0);
    if (t.start.n == PREFIX.n)
        return true; /* "/", which is the beginning and has no token of its own */
    must(token_read(a, token_write(a, &t, PREFIX), PREFIX, &again, &err) == 0);
    must(str_eq(t.start, again.start) && t.rev == again.rev && t.began_ms == again.began_ms);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct str text = { (const char *)bytes, n };
    if (!check(&a, text)) {
        autobuf encoded = { 0 };
        base64url_encode(&encoded, text);
        (void)check(&a, buf_str(&encoded));
    }
    arena_done(&a);
    return 0;
}
