/* TLS against a running server: who gets in, with what, and how fast others are turned away. */
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "harness.h"

static struct harness h;

#define GET_WHOAMI "GET /whoami HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

static int start(void **state)
{
    (void)state;
    struct harness_options opt = harness_defaults();
    opt.tls = true;
    harness_start(&h, &opt);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    harness_stop(&h);
    return 0;
}

/* ---- A client ---- */

static BIO *bio_of(struct str pem)
{
    return BIO_new_mem_buf(pem.p, (int)pem.n);
}

static X509 *cert_of(struct str pem)
{
    BIO *b = bio_of(pem);
    X509 *cert = PEM_read_bio_X509(b, NULL, NULL, NULL);
    BIO_free(b);
    assert_non_null(cert);
    return cert;
}

static EVP_PKEY *key_of(struct str pem)
{
    BIO *b = bio_of(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(b, NULL, NULL, NULL);
    BIO_free(b);
    assert_non_null(key);
    return key;
}

static SSL_CTX *client_new(const struct harness *to)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    X509 *ca = cert_of(to->ca.cert_pem);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca);
    X509_free(ca);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    return ctx;
}

static void client_use(SSL_CTX *ctx, X509 *cert, EVP_PKEY *key)
{
    assert_int_equal(SSL_CTX_use_certificate(ctx, cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
    X509_free(cert);
    EVP_PKEY_free(key);
}

/* Asks who we are. False if the handshake failed or nothing came back: with TLS 1.3 a client
 * learns only then that its certificate was not liked. Takes the context. */
static bool ask(struct harness *to, SSL_CTX *ctx, struct buf *ret)
{
    autoclose int fd = peer_connect(to->tls);
    SSL *ssl = SSL_new(ctx);
    SSL_set_fd(ssl, fd);
    struct str request = STR(GET_WHOAMI);
    bool ok = SSL_connect(ssl) == 1 && SSL_write(ssl, request.p, (int)request.n) > 0;
    char reply[2000];
    int n;
    while (ok && (n = SSL_read(ssl, reply, sizeof(reply))) > 0)
        buf_add(ret, reply, (size_t)n);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    ERR_clear_error();
    return ret->n > 0;
}

static void check_alive(struct harness *to)
{
    autobuf reply = { 0 };
    assert_true(ask(to, client_new(to), &reply));
    assert_int_equal(h1_status(buf_str(&reply)), 200);
}

/* ---- Versions and protocols ---- */

static bool connects(SSL_CTX *ctx)
{
    autobuf reply = { 0 };
    return ask(&h, ctx, &reply);
}

static void versions_and_ciphers(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *ciphers;
        bool ok;
    } rows[] = {
        { TLS1_1_VERSION, "ALL:@SECLEVEL=0", false },
        { TLS1_2_VERSION, "ECDHE+AESGCM", true },
        { TLS1_2_VERSION, "ECDHE+CHACHA20", true },
        { TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0", false }, /* CBC */
        { TLS1_2_VERSION, "kRSA:@SECLEVEL=0", false },                   /* no forward secrecy */
        { TLS1_2_VERSION, "aNULL:@SECLEVEL=0", false },
        { TLS1_3_VERSION, "ALL", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        SSL_CTX *ctx = client_new(&h);
        SSL_CTX_set_min_proto_version(ctx, rows[i].version);
        SSL_CTX_set_max_proto_version(ctx, rows[i].version);
        assert_int_equal(SSL_CTX_set_cipher_list(ctx, rows[i].ciphers), 1);
        if (connects(ctx) != rows[i].ok)
            fail_msg("row %zu: %s", i, rows[i].ciphers);
    }
}

static void alpn_chooses_the_protocol(void **state)
{
    (void)state;
    static const struct {
        const char *offered; /* NULL: no ALPN */
        const char *chosen;  /* NULL: refused */
    } rows[] = {
        { "\x02h2\x08http/1.1", "h2" }, { "\x08http/1.1\x02h2", "h2" },
        { "\x08http/1.1", "http/1.1" }, { NULL, "" },
        { "\x06spdy/3", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        SSL_CTX *ctx = client_new(&h);
        const char *offered = rows[i].offered;
        if (offered)
            SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)offered, (unsigned)strlen(offered));
        autoclose int fd = peer_connect(h.tls);
        SSL *ssl = SSL_new(ctx);
        SSL_set_fd(ssl, fd);
        bool ok = SSL_connect(ssl) == 1;
        assert_int_equal(ok, rows[i].chosen != NULL);
        if (ok) {
            const unsigned char *name;
            unsigned n;
            SSL_get0_alpn_selected(ssl, &name, &n);
            assert_true(str_eq((struct str){ (const char *)name, n }, str_of(rows[i].chosen)));
        }
        SSL_free(ssl);
        SSL_CTX_free(ctx);
        ERR_clear_error();
    }
}

static void renegotiation_is_refused(void **state)
{
    (void)state;
    SSL_CTX *ctx = client_new(&h);
    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    autoclose int fd = peer_connect(h.tls);
    SSL *ssl = SSL_new(ctx);
    SSL_set_fd(ssl, fd);
    assert_int_equal(SSL_connect(ssl), 1);
    assert_int_equal(SSL_renegotiate(ssl), 1);
    assert_true(SSL_do_handshake(ssl) <= 0);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    ERR_clear_error();
    check_alive(&h);
}

static void not_tls_at_all(void **state)
{
    (void)state;
    static const struct str greetings[] = { { "GET / HTTP/1.1\r\n\r\n", 18 },
                                            { "\x16\x03\x01\xff\xff", 5 },
                                            { "\x80\x2e\x01\x00\x02", 5 } };
    for (size_t i = 0; i < ARRAY_LEN(greetings); i++) {
        autoclose int fd = peer_connect(h.tls);
        assert_true(peer_send(fd, greetings[i]));
        if (i == 0)
            assert_true(peer_wait_closed(fd));
    }
    check_alive(&h);
}

/* The server's end of a connection that was reset; SIGPIPE would end this process. */
static void a_client_that_leaves_in_the_middle(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < 20; i++) {
        SSL_CTX *ctx = client_new(&h);
        int fd = peer_connect(h.tls);
        SSL *ssl = SSL_new(ctx);
        SSL_set_fd(ssl, fd);
        assert_int_equal(SSL_connect(ssl), 1);
        struct str request = STR("GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_true(SSL_write(ssl, request.p, (int)request.n) > 0);
        char scratch[100];
        assert_true(SSL_read(ssl, scratch, sizeof(scratch)) > 0);
        close(fd);
        SSL_free(ssl);
        SSL_CTX_free(ctx);
    }
    harness_wait(harness_stats(&h).connections_open == 0);
    signal(SIGPIPE, SIG_IGN);
    ERR_clear_error();
}

/* ---- Client certificates ---- */

static void the_peer_is_named(void **state)
{
    (void)state;
    autobuf reply = { 0 };
    SSL_CTX *ctx = client_new(&h);
    client_use(ctx, cert_of(h.client_pair.cert_pem), key_of(h.client_pair.key_pem));
    assert_true(ask(&h, ctx, &reply));
    assert_true(str_eq(h1_body(buf_str(&reply)),
                       STR("tls cn=skipper o=system:masters o=crew uid=u-7 verified=1 fp=64")));
    buf_reset(&reply);
    assert_true(ask(&h, client_new(&h), &reply));
    assert_true(str_eq(h1_body(buf_str(&reply)), STR("tls cn= verified=0 fp=0")));
}

static void a_resumed_session_keeps_its_name(void **state)
{
    (void)state;
    SSL_CTX *ctx = client_new(&h);
    client_use(ctx, cert_of(h.client_pair.cert_pem), key_of(h.client_pair.key_pem));
    SSL_SESSION *session = NULL;
    for (int round = 0; round < 2; round++) {
        autobuf reply = { 0 };
        autoclose int fd = peer_connect(h.tls);
        SSL *ssl = SSL_new(ctx);
        SSL_set_fd(ssl, fd);
        if (session)
            SSL_set_session(ssl, session);
        assert_int_equal(SSL_connect(ssl), 1);
        assert_int_equal(SSL_session_reused(ssl), round);
        struct str request = STR(GET_WHOAMI);
        assert_true(SSL_write(ssl, request.p, (int)request.n) > 0);
        char text[2000];
        int n;
        while ((n = SSL_read(ssl, text, sizeof(text))) > 0)
            buf_add(&reply, text, (size_t)n);
        assert_true(str_ends(buf_str(&reply), STR("verified=1 fp=64")));
        SSL_SESSION_free(session);
        session = SSL_get1_session(ssl);
        SSL_shutdown(ssl); /* else the library forgets the session */
        SSL_free(ssl);
    }
    SSL_SESSION_free(session);
    SSL_CTX_free(ctx);
    ERR_clear_error();
}

static void a_certificate_can_be_required(void **state)
{
    (void)state;
    struct harness strict;
    struct harness_options opt = harness_defaults();
    opt.tls = opt.require_client = true;
    harness_start(&strict, &opt);
    autobuf reply = { 0 };
    assert_false(ask(&strict, client_new(&strict), &reply));
    SSL_CTX *ctx = client_new(&strict);
    client_use(ctx, cert_of(strict.client_pair.cert_pem), key_of(strict.client_pair.key_pem));
    assert_true(ask(&strict, ctx, &reply));
    harness_stop(&strict);
}

static void a_certificate_of_another_ca_is_refused(void **state)
{
    (void)state;
    struct pki_pair other;
    struct pki_pair leaf;
    int64_t now = clock_wall_ns(&clock_system) / NS_PER_SEC;
    struct pki_leaf want = {
        .common_name = STR("skipper"), .client = true, .now_sec = now, .days = 2
    };
    assert_int_equal(pki_make_ca(&h.arena, STR("test CA"), now, 2, &other, NULL), 0);
    assert_int_equal(pki_issue(&h.arena, &other, &want, &leaf, NULL), 0);
    SSL_CTX *ctx = client_new(&h);
    client_use(ctx, cert_of(leaf.cert_pem), key_of(leaf.key_pem));
    autobuf reply = { 0 };
    assert_false(ask(&h, ctx, &reply));
}

static void an_expired_certificate_is_refused(void **state)
{
    (void)state;
    struct pki_pair leaf;
    struct pki_leaf want = { .common_name = STR("skipper"),
                             .client = true,
                             .now_sec = clock_wall_ns(&clock_system) / NS_PER_SEC - 10 * 86400,
                             .days = 2 };
    assert_int_equal(pki_issue(&h.arena, &h.ca, &want, &leaf, NULL), 0);
    SSL_CTX *ctx = client_new(&h);
    client_use(ctx, cert_of(leaf.cert_pem), key_of(leaf.key_pem));
    autobuf reply = { 0 };
    assert_false(ask(&h, ctx, &reply));
}

/* ---- Certificates that no honest CA would make ---- */

/* For `key`, signed by the harness' CA. `san` may be NULL. */
static X509 *sign(EVP_PKEY *key, struct str common_name, const struct str *san)
{
    static long serial = 1000;
    X509 *ca = cert_of(h.ca.cert_pem);
    EVP_PKEY *ca_key = key_of(h.ca.key_pem);
    X509 *cert = X509_new();
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_NAME_add_entry_by_NID(X509_get_subject_name(cert), NID_commonName, V_ASN1_UTF8STRING,
                               (const unsigned char *)common_name.p, (int)common_name.n, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(ca));
    X509_set_pubkey(cert, key);
    if (san) {
        GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_IA5STRING *text = ASN1_IA5STRING_new();
        ASN1_STRING_set(text, san->p, (int)san->n);
        GENERAL_NAME_set0_value(name, GEN_DNS, text);
        sk_GENERAL_NAME_push(names, name);
        X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0);
        GENERAL_NAMES_free(names);
    }
    assert_true(X509_sign(cert, ca_key, EVP_sha256()) > 0);
    X509_free(ca);
    EVP_PKEY_free(ca_key);
    return cert;
}

/* CVE-2026-47778: a name that ends early for whoever stops at a NUL */
static void names_with_control_bytes_are_refused(void **state)
{
    (void)state;
    const struct str nul = STR("admin\0.evil"), tab = STR("a\tb"), plain = STR("admin.evil");
    const struct {
        struct str cn;
        const struct str *san;
        bool ok;
    } rows[] = {
        { plain, NULL, true },  { plain, &plain, true }, { nul, NULL, false },
        { plain, &nul, false }, { tab, NULL, false },    { plain, &tab, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        EVP_PKEY *key = EVP_EC_gen("P-256");
        SSL_CTX *ctx = client_new(&h);
        client_use(ctx, sign(key, rows[i].cn, rows[i].san), key);
        autobuf reply = { 0 };
        assert_int_equal(ask(&h, ctx, &reply), rows[i].ok);
    }
}

/* For `key`; without an issuer it signs itself. */
static X509 *link_of_chain(EVP_PKEY *key, const char *common_name, X509 *issuer,
                           EVP_PKEY *issuer_key, bool is_ca)
{
    static long serial = 5000;
    X509 *cert = X509_new();
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                               (const unsigned char *)common_name, -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(issuer ? issuer : cert));
    X509_set_pubkey(cert, key);
    X509_EXTENSION *constraints = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints,
                                                      is_ca ? "critical,CA:TRUE" : "CA:FALSE");
    X509_add_ext(cert, constraints, -1);
    X509_EXTENSION_free(constraints);
    assert_true(X509_sign(cert, issuer_key ? issuer_key : key, EVP_sha256()) > 0);
    return cert;
}

static struct str pem_of(struct arena *a, X509 *cert)
{
    BIO *b = BIO_new(BIO_s_mem());
    char *p;
    assert_int_equal(PEM_write_bio_X509(b, cert), 1);
    long n = BIO_get_mem_data(b, &p);
    struct str pem = arena_str(a, (struct str){ p, (size_t)n });
    BIO_free(b);
    return pem;
}

/* CVE-2016-7075: who somebody is, says the leaf alone. */
static void an_intermediate_names_nobody(void **state)
{
    (void)state;
    struct harness own;
    struct arena a;
    struct harness_options opt = harness_defaults();
    EVP_PKEY *root_key = EVP_EC_gen("P-256"), *admin_key = EVP_EC_gen("P-256"),
             *alice_key = EVP_EC_gen("P-256");
    X509 *root = link_of_chain(root_key, "root", NULL, NULL, true),
         *admin = link_of_chain(admin_key, "admin", root, root_key, true),
         *alice = link_of_chain(alice_key, "alice", admin, admin_key, false);
    arena_init(&a);
    opt.tls = true;
    opt.more_ca_pem = pem_of(&a, root);
    harness_start(&own, &opt);
    SSL_CTX *ctx = client_new(&own);
    client_use(ctx, alice, alice_key);
    assert_int_equal(SSL_CTX_add0_chain_cert(ctx, admin), 1);
    autobuf reply = { 0 };
    assert_true(ask(&own, ctx, &reply));
    buf_byte(&reply, '\0');
    assert_non_null(strstr(reply.p, "cn=alice verified=1"));
    harness_stop(&own);
    X509_free(root);
    EVP_PKEY_free(root_key);
    EVP_PKEY_free(admin_key);
    arena_done(&a);
}

/* CVE-2018-16875; past LIMIT_TLS_CHAIN */
static void a_heap_of_intermediates_is_refused_at_once(void **state)
{
    (void)state;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    SSL_CTX *ctx = client_new(&h);
    EVP_PKEY_up_ref(key);
    client_use(ctx, sign(key, STR("leaf"), NULL), key);
    for (int i = 0; i < 100; i++) /* the same name and key, signed again and again */
        assert_int_equal(SSL_CTX_add0_chain_cert(ctx, sign(key, STR("intermediate"), NULL)), 1);
    EVP_PKEY_free(key);
    autobuf reply = { 0 };
    int64_t begun = harness_now_ms();
    assert_false(ask(&h, ctx, &reply));
    assert_true(harness_now_ms() - begun < 5000);
    check_alive(&h);
}

static X509 *patch(X509 *cert, struct str what, char with)
{
    unsigned char *der = NULL;
    int n = i2d_X509(cert, &der);
    unsigned char *at = memmem(der, (size_t)n, what.p, what.n);
    assert_non_null(at);
    at[what.n - 1] = (unsigned char)with;
    const unsigned char *p = der;
    X509 *patched = d2i_X509(NULL, &p, n);
    OPENSSL_free(der);
    X509_free(cert);
    ERR_clear_error();
    return patched;
}

/* CVE-2022-0778: explicit curve parameters whose modulus is no prime, the point compressed. The
 * client's own library would not use such a key, so it goes along as an intermediate. */
static void bad_curve_parameters_do_not_hang(void **state)
{
    (void)state;
    EVP_PKEY *odd = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    EVP_PKEY_set_utf8_string_param(odd, "encoding", "explicit");
    EVP_PKEY_set_utf8_string_param(odd, "point-format", "compressed");
    const struct str prime =
        STR("\xff\xff\xff\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"
            "\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    X509 *bad = patch(sign(odd, STR("odd"), NULL), prime, (char)0xfd);
    EVP_PKEY_free(odd);
    SSL_CTX *ctx = client_new(&h);
    SSL_CTX_set_security_level(ctx, 0);
    client_use(ctx, sign(key, STR("leaf"), NULL), key);
    if (bad && SSL_CTX_add0_chain_cert(ctx, bad) != 1)
        fail_msg("the client's library does not send it");
    autobuf reply = { 0 };
    (void)ask(&h, ctx, &reply);
    check_alive(&h);
}

/* GHSA-3wh4-j44w-pg92: revoked is revoked, on every listener */
static void a_revoked_certificate_is_refused_on_every_listener(void **state)
{
    (void)state;
    X509 *ca = cert_of(h.ca.cert_pem);
    EVP_PKEY *ca_key = key_of(h.ca.key_pem), *key = EVP_EC_gen("P-256");
    X509 *revoked_cert = sign(key, STR("revoked"), NULL);
    X509_CRL *crl = X509_CRL_new();
    X509_CRL_set_version(crl, 1);
    X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca));
    ASN1_TIME *t = X509_gmtime_adj(NULL, -60);
    X509_CRL_set1_lastUpdate(crl, t);
    X509_gmtime_adj(t, 86400);
    X509_CRL_set1_nextUpdate(crl, t);
    X509_REVOKED *entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked_cert));
    X509_REVOKED_set_revocationDate(entry, t);
    X509_CRL_add0_revoked(crl, entry);
    assert_true(X509_CRL_sign(crl, ca_key, EVP_sha256()) > 0);
    BIO *out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509_CRL(out, crl);
    char *pem;
    size_t pem_n = (size_t)BIO_get_mem_data(out, &pem);

    struct tls_config config = { .cert_pem = h.server_pair.cert_pem,
                                 .key_pem = h.server_pair.key_pem,
                                 .ca_pem = h.ca.cert_pem,
                                 .crl_pem = { pem, pem_n },
                                 .server = true };
    struct tls_context *context;
    struct err err = ERR_INIT(&h.arena);
    assert_int_equal(tls_context_new(&config, &context, &err), 0);
    struct harness two;
    struct harness_options opt = harness_defaults();
    opt.tls = true;
    harness_start(&two, &opt);
    two.ca = h.ca;
    http_server_set_tls(two.server, context); /* reloading is tested along the way */
    tls_context_unref(context);
    for (int i = 0; i < 2; i++) {
        autobuf reply = { 0 };
        SSL_CTX *good = client_new(&two);
        client_use(good, cert_of(h.client_pair.cert_pem), key_of(h.client_pair.key_pem));
        assert_true(ask(&two, good, &reply));
        buf_reset(&reply);
        SSL_CTX *ctx = client_new(&two);
        X509_up_ref(revoked_cert);
        EVP_PKEY_up_ref(key);
        client_use(ctx, revoked_cert, key);
        if (i == 1)
            SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)"\x02h2", 3);
        assert_false(ask(&two, ctx, &reply));
    }
    harness_stop(&two);
    BIO_free(out);
    ASN1_TIME_free(t);
    X509_CRL_free(crl);
    X509_free(revoked_cert);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    X509_free(ca);
}

/* ---- Contexts ---- */

static void bad_configurations_are_errors(void **state)
{
    (void)state;
    const struct tls_config rows[] = {
        { .server = true },
        { .server = true, .cert_pem = STR("nonsense"), .key_pem = h.server_pair.key_pem },
        { .server = true, .cert_pem = h.server_pair.cert_pem },
        { .server = true,
          .cert_pem = h.server_pair.cert_pem,
          .key_pem = h.client_pair.key_pem }, /* of another certificate */
        { .server = true,
          .cert_pem = h.server_pair.cert_pem,
          .key_pem = h.server_pair.key_pem,
          .require_peer = true }, /* but no CA */
        { .ca_pem = STR("nonsense") },
        { .ca_pem = h.ca.cert_pem, .crl_pem = h.ca.cert_pem },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&h.arena);
        struct tls_context *c = NULL;
        assert_true(tls_context_new(&rows[i], &c, &err) < 0);
        assert_null(c);
        assert_true(err.msg.n > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_ciphers),
        cmocka_unit_test(alpn_chooses_the_protocol),
        cmocka_unit_test(renegotiation_is_refused),
        cmocka_unit_test(not_tls_at_all),
        cmocka_unit_test(a_client_that_leaves_in_the_middle),
        cmocka_unit_test(the_peer_is_named),
        cmocka_unit_test(a_resumed_session_keeps_its_name),
        cmocka_unit_test(a_certificate_can_be_required),
        cmocka_unit_test(a_certificate_of_another_ca_is_refused),
        cmocka_unit_test(an_expired_certificate_is_refused),
        cmocka_unit_test(names_with_control_bytes_are_refused),
        cmocka_unit_test(an_intermediate_names_nobody),
        cmocka_unit_test(a_heap_of_intermediates_is_refused_at_once),
        cmocka_unit_test(bad_curve_parameters_do_not_hang),
        cmocka_unit_test(a_revoked_certificate_is_refused_on_every_listener),
        cmocka_unit_test(bad_configurations_are_errors),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, start, stop);
}
