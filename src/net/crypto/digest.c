#include "net/crypto/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/mem.h"
#include "base/banned.h"

/* These hashes are always there, so it can only be out of memory. */
static void digest(struct str text, const EVP_MD *type, unsigned char *ret)
{
    if (EVP_Digest(text.p, text.n, ret, NULL, type, NULL) != 1)
        mem_exhausted(0);
}

void digest_sha1(struct str text, unsigned char ret[static DIGEST_SHA1_BYTES])
{
    digest(text, EVP_sha1(), ret);
}

void digest_sha256(struct str text, unsigned char ret[static DIGEST_SHA256_BYTES])
{
    digest(text, EVP_sha256(), ret);
}

void digest_hmac_sha256(struct str key, struct str text,
                        unsigned char ret[static DIGEST_SHA256_BYTES])
{
    static const char none[] = ""; /* a key of no bytes is one, too */
    if (!HMAC(EVP_sha256(), key.p ? key.p : none, (int)key.n, (const unsigned char *)text.p, text.n,
              ret, NULL))
        mem_exhausted(0);
}
