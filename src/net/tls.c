/* tls.c - contexts: what is offered, whom we believe, how much a peer may send.
 *
 * TLS 1.2 with ECDHE and AEAD ciphers only, or TLS 1.3; no renegotiation, no compression. The
 * number of certificates a peer sends is checked before any of them is verified, so that a heap of
 * cross-signed intermediates costs nothing (CVE-2018-16875). */
#include "net/tls.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/tls_internal.h"
#include "base/banned.h"

enum { CERT_LIST_BYTES = 64 << 10 }; /* of a peer's Certificate message */

static const char CIPHERS_TLS12[] = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL";

int tls__error(struct err *err, enum err_code code, const char *what)
{
    char text[160] = "unknown reason";
    unsigned long e = ERR_get_error();
    if (e)
        ERR_error_string_n(e, text, sizeof(text));
    ERR_clear_error();
    return err_set(err, code, "%s: %s", what, text);
}

static int no_password(char *to, int size, int writing, void *arg)
{
    (void)to;
    (void)size;
    (void)writing;
    (void)arg;
    return -1; /* an encrypted key is an error, not a question on the terminal */
}

static void bio_cleanup(BIO **b)
{
    BIO_free(*b);
}

static BIO *pem_open(struct str pem)
{
    BIO *b = BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
    if (!b)
        mem_exhausted(pem.n);
    return b;
}

/* Reading past the last object of a PEM text fails like reading a bad one; only this reason means
 * the end. */
static bool pem_at_end(void)
{
    unsigned long e = ERR_peek_last_error();
    bool end =
        e == 0 || (ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE);
    if (end)
        ERR_clear_error();
    return end;
}

static int load_chain(SSL_CTX *ctx, struct str pem, struct err *err)
{
    __attribute__((cleanup(bio_cleanup))) BIO *bio = pem_open(pem);
    X509 *leaf = PEM_read_bio_X509_AUX(bio, NULL, no_password, NULL);
    if (!leaf)
        return tls__error(err, ERR_INVALID, "read the certificate");
    int ok = SSL_CTX_use_certificate(ctx, leaf);
    X509_free(leaf);
    if (ok != 1)
        return tls__error(err, ERR_INVALID, "use the certificate");
    X509 *ca;
    while ((ca = PEM_read_bio_X509(bio, NULL, no_password, NULL)))
        if (SSL_CTX_add0_chain_cert(ctx, ca) != 1) {
            X509_free(ca);
            return tls__error(err, ERR_INVALID, "use the certificate chain");
        }
    return pem_at_end() ? 0 : tls__error(err, ERR_INVALID, "read the certificate chain");
}

static int load_key(SSL_CTX *ctx, struct str pem, struct err *err)
{
    __attribute__((cleanup(bio_cleanup))) BIO *bio = pem_open(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    if (!key)
        return tls__error(err, ERR_INVALID, "read the private key");
    int ok = SSL_CTX_use_PrivateKey(ctx, key);
    EVP_PKEY_free(key);
    if (ok != 1 || SSL_CTX_check_private_key(ctx) != 1)
        return tls__error(err, ERR_INVALID, "use the private key");
    return 0;
}

/* libcrypto reads extensions when they are first asked for, and keeps them in the certificate: that
 * is done before threads share it. What is wrong with them matters to those who verify. */
static void read_extensions(X509 *cert)
{
    (void)ERR_set_mark();
    (void)X509_check_ca(cert);
    (void)ERR_pop_to_mark();
}

/* `ctx` tells clients whose certificates are wanted; NULL: nobody is told. */
static int load_cas(X509_STORE *store, SSL_CTX *ctx, struct str pem, struct err *err)
{
    __attribute__((cleanup(bio_cleanup))) BIO *bio = pem_open(pem);
    size_t n = 0;
    X509 *ca;
    for (; (ca = PEM_read_bio_X509(bio, NULL, no_password, NULL)); n++) {
        read_extensions(ca);
        int ok = X509_STORE_add_cert(store, ca);
        if (ok == 1 && ctx)
            ok = SSL_CTX_add_client_CA(ctx, ca);
        X509_free(ca);
        if (ok != 1)
            return tls__error(err, ERR_INVALID, "use the CA certificate");
    }
    if (!pem_at_end())
        return tls__error(err, ERR_INVALID, "read the CA certificates");
    return n ? 0 : err_set(err, ERR_INVALID, "no CA certificate in the text given");
}

static int load_crls(SSL_CTX *ctx, struct str pem, struct err *err)
{
    __attribute__((cleanup(bio_cleanup))) BIO *bio = pem_open(pem);
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    size_t n = 0;
    X509_CRL *crl;
    for (; (crl = PEM_read_bio_X509_CRL(bio, NULL, no_password, NULL)); n++) {
        int ok = X509_STORE_add_crl(store, crl);
        X509_CRL_free(crl);
        if (ok != 1)
            return tls__error(err, ERR_INVALID, "use the revocation list");
    }
    if (!pem_at_end())
        return tls__error(err, ERR_INVALID, "read the revocation list");
    if (!n)
        return err_set(err, ERR_INVALID, "no revocation list in the text given");
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
    return 0;
}

/* In place of OpenSSL's own: the same verification, after the chain has been counted. `arg` says
 * whether strangers are let in; the result of the verification says that they are some. */
static int verify_chain(X509_STORE_CTX *store, void *arg)
{
    const bool *lets_strangers_in = arg;
    const STACK_OF(X509) *sent = X509_STORE_CTX_get0_untrusted(store);
    if (sent && sk_X509_num(sent) > (int)LIMIT_TLS_CHAIN) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_CHAIN_TOO_LONG);
        return 0;
    }
    int ok = X509_verify_cert(store);
    if (ok == 1 && !tls__names_are_text(X509_STORE_CTX_get0_cert(store))) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_SUBJECT_ISSUER_MISMATCH);
        return 0;
    }
    if (ok != 1 && *lets_strangers_in && X509_STORE_CTX_get_error(store) == X509_V_OK)
        X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
    return *lets_strangers_in ? 1 : ok;
}

static const unsigned char ALPN_SERVER[] = "\x02h2\x08http/1.1";
static const unsigned char ALPN_CLIENT[] = "\x02h2";
static const unsigned char ALPN_CLIENT_HTTP1[] = "\x08http/1.1";

static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
                           const unsigned char *offered, unsigned offered_n, void *arg)
{
    (void)ssl;
    (void)arg;
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, ret_n, ALPN_SERVER, sizeof(ALPN_SERVER) - 1, offered,
                              offered_n) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *ret = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static int offer_protocol(SSL_CTX *ctx, bool http1)
{
    return http1 ? SSL_CTX_set_alpn_protos(ctx, ALPN_CLIENT_HTTP1, sizeof(ALPN_CLIENT_HTTP1) - 1)
                 : SSL_CTX_set_alpn_protos(ctx, ALPN_CLIENT, sizeof(ALPN_CLIENT) - 1);
}

static int set_rules(SSL_CTX *ctx, bool server, bool http1)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(ctx, 1); /* one system call for many records */
    SSL_CTX_set_verify_depth(ctx, (int)LIMIT_TLS_CHAIN);
    SSL_CTX_set_max_cert_list(ctx, CERT_LIST_BYTES);
    /* Sessions live in tickets, at the client; nothing is cached here. */
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    static const unsigned char session_context[] = "sampan";
    if (server) {
        SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
        SSL_CTX_set_num_tickets(ctx, 1);
        if (SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1) != 1)
            return -1;
    } else if (offer_protocol(ctx, http1) != 0) {
        return -1;
    }
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
                   SSL_CTX_set_cipher_list(ctx, CIPHERS_TLS12) == 1
               ? 0
               : -1;
}

static void set_verification(SSL_CTX *ctx, const struct tls_config *config)
{
    int mode = SSL_VERIFY_NONE;
    if (!config->server || config->ca_pem.n)
        mode = SSL_VERIFY_PEER;
    if (config->server && config->require_peer)
        mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_CTX_set_verify(ctx, mode, NULL);
    X509_STORE_set_flags(SSL_CTX_get_cert_store(ctx), X509_V_FLAG_PARTIAL_CHAIN);
}

static int load_own(SSL_CTX *ctx, const struct tls_config *config, struct err *err)
{
    if (!config->server && !config->cert_pem.n)
        return 0;
    int r = load_chain(ctx, config->cert_pem, err);
    if (r < 0)
        return r;
    return load_key(ctx, config->key_pem, err);
}

static int load_trusted(SSL_CTX *ctx, const struct tls_config *config, struct err *err)
{
    if (config->ca_pem.n)
        return load_cas(SSL_CTX_get_cert_store(ctx), config->server ? ctx : NULL, config->ca_pem,
                        err);
    if (config->server || config->lets_strangers_in)
        return 0; /* nobody is asked who signed for him; the system's list is long to read */
    if (SSL_CTX_set_default_verify_paths(ctx) != 1)
        return tls__error(err, ERR_INTERNAL, "read the system's CA list");
    return 0;
}

static int context_fill(SSL_CTX *ctx, const struct tls_config *config, struct err *err)
{
    if (set_rules(ctx, config->server, config->http1) < 0)
        return tls__error(err, ERR_INTERNAL, "set up TLS");
    set_verification(ctx, config);
    int r = load_own(ctx, config, err);
    if (r < 0)
        return r;
    r = load_trusted(ctx, config, err);
    if (r < 0)
        return r;
    return config->crl_pem.n ? load_crls(ctx, config->crl_pem, err) : 0;
}

/* Only the certificate and the key change; all rules stay those of the connection's own context.
 * (SSL_set_SSL_CTX() would also verify clients by the other one.) */
static int choose_certificate(SSL *ssl, int *alert, void *arg)
{
    const struct tls_context *c = arg;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    (void)alert;
    if (!name || strcmp(name, TLS_LOOPBACK_NAME) != 0)
        return SSL_TLSEXT_ERR_OK;
    SSL_certs_clear(ssl);
    return SSL_use_certificate(ssl, SSL_CTX_get0_certificate(c->loopback)) == 1 &&
                   SSL_use_PrivateKey(ssl, SSL_CTX_get0_privatekey(c->loopback)) == 1
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int load_loopback(struct tls_context *c, const struct tls_config *config, struct err *err)
{
    c->loopback = SSL_CTX_new(TLS_server_method());
    if (!c->loopback)
        return tls__error(err, ERR_INTERNAL, "set up TLS");
    int r = load_chain(c->loopback, config->loopback_cert_pem, err);
    if (r < 0)
        return r;
    SSL_CTX_set_tlsext_servername_callback(c->ctx, choose_certificate);
    SSL_CTX_set_tlsext_servername_arg(c->ctx, c);
    return load_key(c->loopback, config->loopback_key_pem, err);
}

static int load_proxies(struct tls_context *c, struct str pem, struct err *err)
{
    c->proxies = X509_STORE_new();
    if (!c->proxies)
        return tls__error(err, ERR_INTERNAL, "set up TLS");
    X509_STORE_set_flags(c->proxies, X509_V_FLAG_PARTIAL_CHAIN);
    return load_cas(c->proxies, c->ctx, pem, err);
}

static int load_more(struct tls_context *c, const struct tls_config *config, struct err *err)
{
    int r = config->proxy_ca_pem.n ? load_proxies(c, config->proxy_ca_pem, err) : 0;
    if (r < 0)
        return r;
    return config->loopback_cert_pem.n ? load_loopback(c, config, err) : 0;
}

int tls_context_new(const struct tls_config *config, struct tls_context **ret, struct err *err)
{
    if (config->require_peer && !config->ca_pem.n)
        return err_set(err, ERR_INVALID, "peer certificates are required but no CA is given");
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(config->server ? TLS_server_method() : TLS_client_method());
    if (!ctx)
        return tls__error(err, ERR_INTERNAL, "set up TLS");
    int r = context_fill(ctx, config, err);
    if (r < 0) {
        SSL_CTX_free(ctx);
        return r;
    }
    struct tls_context *c = mem_new(struct tls_context);
    atomic_init(&c->refs, 1);
    c->ctx = ctx;
    c->socket = tls__socket_new();
    c->server = config->server;
    c->lets_strangers_in = config->lets_strangers_in;
    SSL_CTX_set_cert_verify_callback(ctx, verify_chain, &c->lets_strangers_in);
    r = load_more(c, config, err);
    if (r < 0) {
        tls_context_unref(c);
        return r;
    }
    *ret = c;
    return 0;
}

struct tls_context *tls_context_ref(struct tls_context *c)
{
    if (c)
        atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

struct tls_context *tls_context_unref(struct tls_context *c)
{
    if (c && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) {
        SSL_CTX_free(c->ctx);
        SSL_CTX_free(c->loopback);
        X509_STORE_free(c->proxies);
        BIO_meth_free(c->socket);
        free(c);
    }
    return NULL;
}
