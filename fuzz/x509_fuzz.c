/* The names of a certificate: what gets through holds no control byte, is UTF-8 where it is a name
 * of ours, and lies in the arena. And what certificates, requests and keys say to the rules of
 * kinds. The input is one of them in DER. */
#include <stdlib.h>

#include "net/tls_internal.h"
#include "net/crypto/x509.h"

#include <openssl/err.h>

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

static bool is_whole(const struct x509_key *key)
{
    return key->der.n && (key->type != X509_KEY_EC || key->curve.n);
}

/* Nothing is left for a TLS connection to stumble over. */
static void read_all(struct arena *a, struct str der)
{
    struct x509_certificate cert;
    struct x509_request request;
    struct x509_key key;
    must(!x509_read_certificate(a, der, &cert) || is_whole(&cert.key));
    must(!x509_read_request(a, der, &request) || is_whole(&request.key));
    must(!x509_read_key(a, der, &key) || is_whole(&key));
    must(ERR_peek_error() == 0);
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
    ERR_clear_error();
    read_all(&a, (struct str){ (const char *)bytes, n });
    arena_done(&a);
    return 0;
}
