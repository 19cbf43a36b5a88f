/* tls_internal.h - what tls.c and tls_conn.c share. */
#pragma once

#include <openssl/ssl.h>
#include <stdatomic.h>

#include "net/tls.h"

struct tls_context {
    _Atomic uint32_t refs;
    SSL_CTX *ctx;
    BIO_METHOD *socket; /* of its connections */
    bool server, lets_strangers_in;
    SSL_CTX *loopback;   /* only holds the certificate for TLS_LOOPBACK_NAME; NULL: none */
    X509_STORE *proxies; /* whose certificates are those of front proxies; NULL: none */
};

BIO_METHOD *tls__socket_new(void);

/* Takes OpenSSL's newest error for the message and empties its queue. */
int tls__error(struct err *err, enum err_code code, const char *what);
/* False if a common name, organization or alternative name holds a NUL or another control byte:
 * code that compares such a name may see less of it than was signed (CVE-2026-47778). */
bool tls__names_are_text(X509 *cert);
/* Who a certificate says its owner is. ERR_FORBIDDEN where such a name is in it. */
int tls__read_names(X509 *cert, struct arena *a, struct tls_peer *ret, struct err *err);
