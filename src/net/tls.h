/* tls.h - TLS 1.2 and 1.3 by OpenSSL 3, for our listeners and our clients.
 *
 * A context is immutable once made, shared by reference between listeners and threads; reloading
 * certificates means making a new one and handing it to the server. Every listener that takes
 * client certificates gets the same context, so revocation and limits hold on all of them. */
#pragma once

#include "base/err.h"

struct tls_context;

struct tls_config {
    struct str cert_pem, key_pem; /* own chain and key; a client may have none */
    struct str ca_pem;            /* whom to believe; empty: ask for no client certificate */
    struct str crl_pem;           /* optional revocation list of that CA */
    struct str proxy_ca_pem;      /* of front proxies, which speak for others; empty: none */
    /* What a server shows to those who ask for TLS_LOOPBACK_NAME; empty: the above. Copied. */
    struct str loopback_cert_pem, loopback_key_pem;
    bool server;
    bool http1;        /* a client offers HTTP/1.1 instead of HTTP/2 */
    bool require_peer; /* refuse a handshake without a certificate; else it is optional */
    /* A certificate that is not believed does not end the handshake: who shows it is a stranger. Of
     * a client: it believes any server; for kubeconfigs that say so. */
    bool lets_strangers_in;
};

/* The name by which programs that came with the server ask for it, whatever its certificate says;
 * upstream's. */
#define TLS_LOOPBACK_NAME "apiserver-loopback-client"

/* As in Go, each certificate of `ca_pem` is believed for what it is, be it an authority or not. */
int tls_context_new(const struct tls_config *config, struct tls_context **ret, struct err *err);
struct tls_context *tls_context_ref(struct tls_context *c);
struct tls_context *tls_context_unref(struct tls_context *c);

/* Who is at the other end: filled after the handshake. Names are those of a certificate that was
 * verified, by the CA or by that of the proxies.
 * Names with a NUL or another control byte are refused with the handshake. */
struct tls_peer {
    bool verified;    /* by the CA */
    bool is_proxy;    /* by the CA of proxies */
    bool is_stranger; /* it has shown one that nobody believes */
    struct str common_name;
    struct str uid; /* empty: none */
    const struct str *organizations;
    size_t n_organizations;
    struct str fingerprint; /* SHA-256 of the certificate, hex */
    int64_t not_after;      /* seconds since 1970 */
};
