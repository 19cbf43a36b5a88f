#include "net/digest.h"

#include <openssl/evp.h>

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
