/* What is read as a token has three parts and is signed by nobody: whatever the bytes say, no key
 * of ours verifies them, and no claim of theirs makes a user. The input is the token. */
#include <stdlib.h>

#include "auth/account_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

/* Made once; no input can hold a signature by it. */
static const struct signature_key *key_of_ours(void)
{
    static struct signature_key *key;
    if (!key) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct str pem;
        must(signature_make(&a, &pem, &err) == 0 && signature_key_read(pem, &key, &err) == 0);
        arena_done(&a);
    }
    return key;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const struct str issuers[] = { STR("https://kubernetes.default.svc"), STR("x") };
    const struct signature_key *keys[] = { key_of_ours() };
    const struct account_rules rules = { .issuers = issuers,
                                         .n_issuers = 2,
                                         .keys = keys,
                                         .n_keys = 1,
                                         .audiences = issuers,
                                         .n_audiences = 1 };
    struct str token = { (const char *)bytes, n };
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct jwt t;
    struct account_claims claims;
    int r = jwt_read(&a, token, &t, &err);
    must(r == 0 || (r == -ERR_INVALID && err.msg.n));
    if (r == 0) {
        must(jwt_looks_like(token) && t.claims.type == VALUE_OBJECT && t.alg.n);
        must(!jwt_verify(&t, keys, 1));
    }
    err_clear(&err);
    r = account_token_open(&rules, &a, token, &claims, &err);
    must(r == 0 || r == -ERR_UNAUTHORIZED);
    arena_done(&a);
    return 0;
}
