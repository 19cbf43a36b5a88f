#include "bench/load_endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/banned.h"

/* OpenSSL takes a whole buffer off the socket at once: four records instead of one. */
enum { READ_AHEAD_BYTES = 64 << 10 };

const char *load_tls_reason(const char *otherwise)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return reason ? reason : otherwise;
}

/* ---- The address ---- */

static bool is_loopback(const struct sockaddr *at)
{
    if (at->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)at;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    if (at->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)at;
        if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
            return v6->sin6_addr.s6_addr[12] == 127;
        return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    }
    return false;
}

/* The first address is the one that is dialled, so it is the one that is judged. */
static int resolve(struct load_endpoint *e, struct arena *a, const struct load_config *config,
                   bool remote, struct err *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    int r = getaddrinfo(str_cstr(a, config->host), str_cstr(a, config->port), &hints, &found);
    if (r != 0)
        return err_set(err, ERR_NOT_FOUND, STR_FMT ": %s", STR_ARG(config->host), gai_strerror(r));
    memcpy(&e->addr, found->ai_addr, found->ai_addrlen);
    e->addr_len = found->ai_addrlen;
    e->loopback = is_loopback(found->ai_addr);
    freeaddrinfo(found);
    if (!e->loopback && !remote)
        return err_set(err, ERR_FORBIDDEN,
                       STR_FMT " is not on loopback; --remote if the load is welcome there",
                       STR_ARG(config->authority));
    return 0;
}

/* ---- TLS ---- */

static int bad_pem(struct err *err, const char *what)
{
    return err_set(err, ERR_BAD_REQUEST, "%s: %s", what, load_tls_reason("not PEM"));
}

static int trust(SSL_CTX *tls, struct str pem, struct err *err)
{
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509_STORE *store = SSL_CTX_get_cert_store(tls);
    size_t n = 0;
    bool ok = in != NULL;
    for (X509 *cert; ok && (cert = PEM_read_bio_X509(in, NULL, NULL, NULL)); n++) {
        ok = X509_STORE_add_cert(store, cert) == 1;
        X509_free(cert);
    }
    BIO_free(in);
    if (!ok || n == 0)
        return bad_pem(err, "certificate-authority");
    ERR_clear_error(); /* the end of the PEM is an error to OpenSSL */
    return 0;
}

/* The first certificate is ours, the others lead to its authority. */
static bool use_chain(SSL_CTX *tls, BIO *in)
{
    X509 *cert = PEM_read_bio_X509(in, NULL, NULL, NULL);
    bool ok = cert && SSL_CTX_use_certificate(tls, cert) == 1;
    X509_free(cert);
    while (ok && (cert = PEM_read_bio_X509(in, NULL, NULL, NULL))) {
        ok = SSL_CTX_add1_chain_cert(tls, cert) == 1;
        X509_free(cert);
    }
    return ok;
}

static int identify(SSL_CTX *tls, struct str cert_pem, struct str key_pem, struct err *err)
{
    BIO *in = BIO_new_mem_buf(cert_pem.p, (int)cert_pem.n);
    bool ok = in && use_chain(tls, in);
    BIO_free(in);
    if (!ok)
        return bad_pem(err, "client-certificate");
    ERR_clear_error();
    in = BIO_new_mem_buf(key_pem.p, (int)key_pem.n);
    EVP_PKEY *key = in ? PEM_read_bio_PrivateKey(in, NULL, NULL, NULL) : NULL;
    BIO_free(in);
    ok = key && SSL_CTX_use_PrivateKey(tls, key) == 1;
    EVP_PKEY_free(key);
    return ok ? 0 : bad_pem(err, "client-key");
}

static int make_tls(struct load_endpoint *e, const struct load_config *config, struct err *err)
{
    static const unsigned char h2[] = { 2, 'h', '2' };
    SSL_CTX *tls = e->tls = SSL_CTX_new(TLS_client_method());
    if (!tls || SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_alpn_protos(tls, h2, sizeof(h2)) != 0)
        return err_set(err, ERR_INTERNAL, "TLS: %s", load_tls_reason("no context"));
    /* In the order in which Go's clients offer them on such machines. */
    (void)SSL_CTX_set_ciphersuites(
        tls, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
    (void)SSL_CTX_set_mode(tls,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_default_read_buffer_len(tls, READ_AHEAD_BYTES);
    SSL_CTX_set_read_ahead(tls, 1);
    SSL_CTX_set_verify(tls, config->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    int r = 0;
    if (config->ca_pem.n)
        r = trust(tls, config->ca_pem, err);
    else if (!config->insecure && SSL_CTX_set_default_verify_paths(tls) != 1)
        r = bad_pem(err, "the system's authorities");
    if (r == 0 && config->cert_pem.n)
        r = identify(tls, config->cert_pem, config->key_pem, err);
    return r;
}

int load_endpoint_init(struct load_endpoint *e, struct arena *a, const struct load_config *config,
                       bool remote, struct err *err)
{
    *e = (struct load_endpoint){ .authority = config->authority };
    e->server_name = str_of(str_cstr(a, config->server_name)); /* ends in a NUL, for OpenSSL */
    if (config->token.n)
        e->bearer = arena_printf(a, "Bearer " STR_FMT, STR_ARG(config->token));
    int r = resolve(e, a, config, remote, err);
    return r == 0 ? make_tls(e, config, err) : r;
}

void load_endpoint_done(struct load_endpoint *e)
{
    SSL_CTX_free(e->tls);
    e->tls = NULL;
}

SSL *load_endpoint_session(const struct load_endpoint *e, int fd)
{
    SSL *ssl = SSL_new(e->tls);
    if (!ssl || SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        return NULL;
    }
    unsigned char raw[16];
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    const char *name = e->server_name.p;
    bool ip = inet_pton(AF_INET, name, raw) == 1 || inet_pton(AF_INET6, name, raw) == 1;
    bool ok = ip ? X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1
                 : X509_VERIFY_PARAM_set1_host(param, name, 0) == 1 &&
                       SSL_set_tlsext_host_name(ssl, name) == 1;
    if (!ok) {
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_connect_state(ssl);
    return ssl;
}
