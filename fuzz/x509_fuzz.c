/* The names of a certificate: what gets through holds no control byte, is UTF-8 where it is a name
 * of ours, and lies in the arena. The input is the certificate in DER. */
#include <stdlib.h>

#include "net/tls_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static bool is_text(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const unsigned char *p = bytes;
    X509 *cert = d2i_X509(NULL, &p, (long)n);
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct tls_peer peer = { 0 };
    if (cert && tls__read_names(cert, &a, &peer, &err) == 0) {
        must(is_text(peer.common_name) && is_text(peer.uid) && peer.fingerprint.n == 64);
        for (size_t i = 0; i < peer.n_organizations; i++)
            must(is_text(peer.organizations[i]));
    }
    X509_free(cert);
    arena_done(&a);
    return 0;
}
