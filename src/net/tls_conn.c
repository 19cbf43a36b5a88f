/* tls_conn.c - handshake, reading and writing on a nonblocking socket, and who the peer is. */
#include "net/tls_conn.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "net/crypto/pki.h"
#include "net/tls_internal.h"
#include "base/banned.h"

struct tls_conn {
    SSL *ssl;
    struct tls_context *context;
    int fd;
    struct tls_conn *outer; /* instead of the descriptor; NULL: none */
    bool wants_write, failed;
};

/* ---- The socket ---- */

/* OpenSSL's own socket BIO writes without MSG_NOSIGNAL: a peer that has gone would end a process
 * that does not ignore SIGPIPE, and a library must not ask that of its host. */

static int socket_of(BIO *b)
{
    const struct tls_conn *t = BIO_get_data(b);
    return t->fd;
}

static struct tls_conn *outer_of(BIO *b)
{
    const struct tls_conn *t = BIO_get_data(b);
    return t->outer;
}

/* What became of bytes inside of another connection. */
static int passed_on(BIO *b, ssize_t n, int retry_flag)
{
    BIO_clear_retry_flags(b);
    if (n == TLS_AGAIN)
        BIO_set_flags(b, retry_flag | BIO_FLAGS_SHOULD_RETRY);
    return n < 0 ? -1 : (int)n;
}

static int again_or_failed(BIO *b, ssize_t n, int retry_flag)
{
    BIO_clear_retry_flags(b);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_flags(b, retry_flag | BIO_FLAGS_SHOULD_RETRY);
    return (int)n;
}

static int socket_write(BIO *b, const char *p, int n)
{
    if (outer_of(b))
        return passed_on(b, tls_conn_write(outer_of(b), p, (size_t)n), BIO_FLAGS_WRITE);
    return again_or_failed(b, send(socket_of(b), p, (size_t)n, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}

static int socket_read(BIO *b, char *p, int n)
{
    if (outer_of(b))
        return passed_on(b, tls_conn_read(outer_of(b), p, (size_t)n), BIO_FLAGS_READ);
    return again_or_failed(b, recv(socket_of(b), p, (size_t)n, 0), BIO_FLAGS_READ);
}

static long socket_ctrl(BIO *b, int command, long n, void *p)
{
    (void)b;
    (void)n;
    (void)p;
    return command == BIO_CTRL_FLUSH; /* nothing is buffered here, nothing else is supported */
}

BIO_METHOD *tls__socket_new(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket");
    if (!m)
        mem_exhausted(0);
    BIO_meth_set_write(m, socket_write);
    BIO_meth_set_read(m, socket_read);
    BIO_meth_set_ctrl(m, socket_ctrl);
    return m;
}

static bool use_socket(struct tls_conn *t, const BIO_METHOD *socket)
{
    BIO *b = BIO_new(socket);
    if (!b)
        return false;
    BIO_set_data(b, t);
    BIO_set_init(b, 1);
    SSL_set_bio(t->ssl, b, b);
    return true;
}

/* ---- Life ---- */

/* False for a name that cannot be checked; without a name there is nothing to check. */
static bool set_host(SSL *ssl, struct str host)
{
    char name[256];
    if (!host.n)
        return true;
    if (host.n >= sizeof(name) || memchr(host.p, '\0', host.n))
        return false;
    memcpy(name, host.p, host.n);
    name[host.n] = '\0';
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1)
        return true; /* an address; SNI carries names only */
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(param, host.p, host.n) == 1 &&
           SSL_set_tlsext_host_name(ssl, name) == 1;
}

static struct tls_conn *conn_new(struct tls_context *c, int fd, struct tls_conn *outer,
                                 struct str host)
{
    struct tls_conn *t = mem_new(struct tls_conn);
    t->context = tls_context_ref(c);
    t->fd = fd;
    t->outer = outer;
    t->ssl = SSL_new(c->ctx);
    if (!t->ssl || !use_socket(t, c->socket))
        mem_exhausted(sizeof(*t));
    if (c->server) {
        SSL_set_accept_state(t->ssl);
    } else {
        t->failed = !set_host(t->ssl, host);
        SSL_set_connect_state(t->ssl);
    }
    return t;
}

struct tls_conn *tls_conn_new(struct tls_context *c, int fd, struct str host)
{
    return conn_new(c, fd, NULL, host);
}

struct tls_conn *tls_conn_new_inside(struct tls_context *c, struct tls_conn *outer, struct str host)
{
    return conn_new(c, -1, outer, host);
}

struct tls_conn *tls_conn_free(struct tls_conn *t)
{
    if (t) {
        SSL_free(t->ssl);
        tls_context_unref(t->context);
        free(t);
    }
    return NULL;
}

static ssize_t outcome(struct tls_conn *t, int r)
{
    t->wants_write = false;
    if (r > 0)
        return r;
    switch (SSL_get_error(t->ssl, r)) {
    case SSL_ERROR_WANT_WRITE:
        t->wants_write = true;
        return TLS_AGAIN;
    case SSL_ERROR_WANT_READ:
        return TLS_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        t->failed = true; /* OpenSSL forbids SSL_shutdown() from here on */
        return TLS_FAILED;
    }
}

int tls_conn_handshake(struct tls_conn *t, struct err *err)
{
    if (t->failed) {
        (void)err_set(err, ERR_UNAVAILABLE, "TLS handshake: the peer's name cannot be checked");
        return TLS_FAILED;
    }
    ERR_clear_error();
    ssize_t r = outcome(t, SSL_do_handshake(t->ssl));
    if (r == 1 || r == TLS_AGAIN)
        return (int)r;
    t->failed = true;
    long verified = SSL_get_verify_result(t->ssl);
    if (verified != X509_V_OK) {
        ERR_clear_error();
        (void)err_set(err, ERR_UNAVAILABLE, "TLS handshake: %s",
                      X509_verify_cert_error_string(verified));
    } else {
        (void)tls__error(err, ERR_UNAVAILABLE, "TLS handshake");
    }
    return TLS_FAILED;
}

ssize_t tls_conn_read(struct tls_conn *t, void *p, size_t n)
{
    ERR_clear_error();
    return outcome(t, SSL_read(t->ssl, p, n < INT32_MAX ? (int)n : INT32_MAX));
}

ssize_t tls_conn_write(struct tls_conn *t, const void *p, size_t n)
{
    assert(n > 0);
    ERR_clear_error();
    ssize_t r = outcome(t, SSL_write(t->ssl, p, n < INT32_MAX ? (int)n : INT32_MAX));
    return r == 0 ? TLS_FAILED : r;
}

bool tls_conn_wants_write(const struct tls_conn *t)
{
    return t->outer ? t->outer->wants_write : t->wants_write; /* who meets the socket knows */
}

bool tls_conn_has_more(const struct tls_conn *t)
{
    return SSL_has_pending(t->ssl) || (t->outer && SSL_has_pending(t->outer->ssl));
}

void tls_conn_shutdown(struct tls_conn *t)
{
    if (t->failed || !SSL_is_init_finished(t->ssl))
        return;
    ERR_clear_error();
    (void)SSL_shutdown(t->ssl);
    ERR_clear_error();
}

bool tls_conn_is_h2(const struct tls_conn *t)
{
    const unsigned char *name;
    unsigned n;
    SSL_get0_alpn_selected(t->ssl, &name, &n);
    return n == 2 && memcmp(name, "h2", 2) == 0;
}

/* ---- The peer ---- */

static bool bytes_are_text(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < 0x20 || p[i] == 0x7f)
            return false;
    return true;
}

/* As UTF-8, whatever string type the certificate uses. -1 if it cannot be. */
static int name_text(const ASN1_STRING *s, unsigned char **ret)
{
    return ASN1_STRING_to_UTF8(ret, s);
}

static bool entry_is_text(const X509_NAME_ENTRY *entry)
{
    unsigned char *text = NULL;
    int n = name_text(X509_NAME_ENTRY_get_data(entry), &text);
    bool ok = n >= 0 && bytes_are_text(text, (size_t)n);
    OPENSSL_free(text);
    return ok;
}

static bool alternative_is_text(const GENERAL_NAME *name)
{
    const ASN1_STRING *s;
    switch (name->type) {
    case GEN_DNS:
    case GEN_URI:
    case GEN_EMAIL:
        s = name->d.ia5;
        return bytes_are_text(ASN1_STRING_get0_data(s), (size_t)ASN1_STRING_length(s));
    default:
        return true; /* binary by nature, or never read as a name */
    }
}

bool tls__names_are_text(X509 *cert)
{
    const X509_NAME *subject = X509_get_subject_name(cert);
    for (int i = 0; i < X509_NAME_entry_count(subject); i++)
        if (!entry_is_text(X509_NAME_get_entry(subject, i)))
            return false;
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    bool ok = true;
    for (int i = 0; ok && i < sk_GENERAL_NAME_num(names); i++)
        ok = alternative_is_text(sk_GENERAL_NAME_value(names, i));
    GENERAL_NAMES_free(names);
    return ok;
}

static struct str entry_copy(struct arena *a, const X509_NAME *subject, int i)
{
    unsigned char *text = NULL;
    int n = name_text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)), &text);
    struct str copy = { NULL, 0 };
    if (n >= 0)
        copy = arena_str(a, (struct str){ (char *)text, (size_t)n });
    OPENSSL_free(text);
    return copy;
}

static void copy_organizations(struct arena *a, const X509_NAME *subject, struct tls_peer *ret)
{
    size_t n = 0;
    for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_organizationName, i)) >= 0;)
        n++;
    struct str *all = arena_array(a, struct str, n);
    n = 0;
    for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_organizationName, i)) >= 0;)
        all[n++] = entry_copy(a, subject, i);
    ret->organizations = all;
    ret->n_organizations = n;
}

static struct str uid_copy(struct arena *a, const X509_NAME *subject)
{
    ASN1_OBJECT *oid = OBJ_txt2obj(PKI_UID_OID, 1);
    int i = oid ? X509_NAME_get_index_by_OBJ(subject, oid, -1) : -1;
    ASN1_OBJECT_free(oid);
    return i >= 0 ? entry_copy(a, subject, i) : STR("");
}

static int copy_not_after(const X509 *cert, struct tls_peer *ret, struct err *err)
{
    struct tm tm;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) != 1)
        return tls__error(err, ERR_INVALID, "read the end of a certificate's validity");
    ret->not_after = (int64_t)timegm(&tm);
    return 0;
}

static struct str fingerprint(struct arena *a, const X509 *cert)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (X509_digest(cert, EVP_sha256(), hash, &n) != 1)
        mem_exhausted(sizeof(hash));
    char *hex = arena_alloc(a, 2 * (size_t)n, 1);
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    return (struct str){ hex, 2 * (size_t)n };
}

/* Whether a front proxy's authority signed it, to be a client's. */
static bool is_proxy(const struct tls_conn *t, X509 *cert)
{
    X509_STORE_CTX *check = t->context->proxies ? X509_STORE_CTX_new() : NULL;
    bool good = check &&
                X509_STORE_CTX_init(check, t->context->proxies, cert,
                                    SSL_get_peer_cert_chain(t->ssl)) == 1 &&
                X509_STORE_CTX_set_purpose(check, X509_PURPOSE_SSL_CLIENT) == 1 &&
                X509_verify_cert(check) == 1;
    X509_STORE_CTX_free(check);
    ERR_clear_error();
    return good;
}

int tls__read_names(X509 *cert, struct arena *a, struct tls_peer *ret, struct err *err)
{
    /* A resumed session is not verified again, so its names are looked at here too. */
    if (!tls__names_are_text(cert))
        return err_set(err, ERR_FORBIDDEN, "a name in the certificate holds control bytes");
    const X509_NAME *subject = X509_get_subject_name(cert);
    int last = -1; /* the most specific common name is the last one */
    for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;)
        last = i;
    if (last >= 0)
        ret->common_name = entry_copy(a, subject, last);
    copy_organizations(a, subject, ret);
    ret->uid = uid_copy(a, subject);
    ret->fingerprint = fingerprint(a, cert);
    return copy_not_after(cert, ret, err);
}

int tls_conn_peer(const struct tls_conn *t, struct arena *a, struct tls_peer *ret, struct err *err)
{
    X509 *cert = SSL_get0_peer_certificate(t->ssl);
    struct tls_peer peer = {
        .verified = cert && SSL_get_verify_result(t->ssl) == X509_V_OK,
        .is_proxy = cert && is_proxy(t, cert),
    };
    peer.is_stranger = cert && !peer.verified && !peer.is_proxy;
    int r = peer.verified || peer.is_proxy ? tls__read_names(cert, a, &peer, err) : 0;
    if (r < 0)
        return r;
    *ret = peer;
    return 0;
}
