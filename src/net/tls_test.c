/* Contexts: which certificates, keys and lists they take, and what they say of others. */
#include "net/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "net/crypto/pki.h"

static struct arena arena;
static struct pki_pair ca, other_ca, leaf, other_leaf;
static const int64_t now_sec = 1700000000;

static void issue(const struct pki_pair *by, struct pki_pair *ret)
{
    const struct str names[] = { STR("sampan.test") };
    const struct pki_leaf wish = { .common_name = STR("x"),
                                   .dns_names = names,
                                   .n_dns_names = 1,
                                   .server = true,
                                   .client = true,
                                   .now_sec = now_sec,
                                   .days = 1 };
    assert_int_equal(pki_issue(&arena, by, &wish, ret, NULL), 0);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    assert_int_equal(pki_make_ca(&arena, STR("ca"), now_sec, 1, &ca, NULL), 0);
    assert_int_equal(pki_make_ca(&arena, STR("other"), now_sec, 1, &other_ca, NULL), 0);
    issue(&ca, &leaf);
    issue(&other_ca, &other_leaf);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct str both(struct str a, struct str b)
{
    return arena_printf(&arena, STR_FMT STR_FMT, STR_ARG(a), STR_ARG(b));
}

static void expect_taken(struct tls_config config)
{
    struct err err = ERR_INIT(&arena);
    struct tls_context *c;
    if (tls_context_new(&config, &c, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    assert_ptr_equal(tls_context_ref(c), c);
    assert_null(tls_context_unref(c));
    assert_null(tls_context_unref(c));
}

static void expect_refused(struct tls_config config, const char *words)
{
    struct err err = ERR_INIT(&arena);
    struct tls_context *c = NULL;
    assert_int_equal(tls_context_new(&config, &c, &err), -ERR_INVALID);
    assert_null(c);
    if (!str_starts(err.msg, str_of(words)))
        fail_msg("%s: " STR_FMT, words, STR_ARG(err.msg));
}

static struct tls_config server(struct str cert, struct str key)
{
    return (struct tls_config){ .server = true, .cert_pem = cert, .key_pem = key };
}

static void what_is_whole_is_taken(void **state)
{
    (void)state;
    expect_taken(server(leaf.cert_pem, leaf.key_pem));
    expect_taken(server(both(leaf.cert_pem, ca.cert_pem), leaf.key_pem)); /* a chain */
    expect_taken(server(both(STR("some words in front\n"), leaf.cert_pem), leaf.key_pem));
    struct tls_config config = server(leaf.cert_pem, leaf.key_pem);
    config.ca_pem = both(ca.cert_pem, other_ca.cert_pem);
    config.require_peer = true;
    expect_taken(config);
    expect_taken((struct tls_config){ .ca_pem = ca.cert_pem });
    expect_taken((struct tls_config){ 0 }); /* a client that believes whom the system believes */
    expect_taken((struct tls_config){
        .ca_pem = ca.cert_pem, .cert_pem = leaf.cert_pem, .key_pem = leaf.key_pem });
}

static void a_server_needs_a_certificate_and_its_key(void **state)
{
    (void)state;
    expect_refused(server(STR(""), STR("")), "read the certificate");
    expect_refused(server(STR("no pem"), leaf.key_pem), "read the certificate");
    expect_refused(server(leaf.key_pem, leaf.key_pem), "read the certificate");
    expect_refused(server(leaf.cert_pem, STR("")), "read the private key");
    expect_refused(server(leaf.cert_pem, leaf.cert_pem), "read the private key");
    expect_refused(server(leaf.cert_pem, other_leaf.key_pem), "use the private key");
    struct str cut = str_take(leaf.cert_pem, leaf.cert_pem.n / 2);
    expect_refused(server(cut, leaf.key_pem), "read the certificate");
    expect_refused(server(both(leaf.cert_pem, cut), leaf.key_pem), "read the certificate chain");
}

static void a_client_that_has_a_certificate_has_its_key(void **state)
{
    (void)state;
    expect_refused((struct tls_config){ .ca_pem = ca.cert_pem, .cert_pem = leaf.cert_pem },
                   "read the private key");
    expect_refused((struct tls_config){ .ca_pem = ca.cert_pem,
                                        .cert_pem = leaf.cert_pem,
                                        .key_pem = other_leaf.key_pem },
                   "use the private key");
}

static void whom_to_believe_must_be_readable(void **state)
{
    (void)state;
    struct tls_config config = server(leaf.cert_pem, leaf.key_pem);
    config.require_peer = true;
    expect_refused(config, "peer certificates are required but no CA is given");
    config.ca_pem = STR("no pem");
    expect_refused(config, "no CA certificate in the text given");
    config.ca_pem = both(ca.cert_pem, str_take(other_ca.cert_pem, other_ca.cert_pem.n / 2));
    expect_refused(config, "read the CA certificates");
    config.ca_pem = ca.cert_pem;
    config.crl_pem = ca.cert_pem; /* which is no list */
    expect_refused(config, "no revocation list in the text given");
    config.crl_pem = STR("-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n");
    expect_refused(config, "read the revocation list");
}

/* The terminal is not asked for a password: whoever starts a server may not be there. */
static void an_encrypted_key_is_refused(void **state)
{
    (void)state;
    const struct str locked =
        STR("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
            "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgAAAAAAAAAAAICCAAw\n"
            "-----END ENCRYPTED PRIVATE KEY-----\n");
    expect_refused(server(leaf.cert_pem, locked), "read the private key");
}

/* What OpenSSL has noted of one failure is not said of the next. */
static void a_failure_leaves_nothing_behind(void **state)
{
    (void)state;
    expect_refused(server(STR("no pem"), leaf.key_pem), "read the certificate");
    expect_taken(server(both(leaf.cert_pem, ca.cert_pem), leaf.key_pem));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_whole_is_taken),
        cmocka_unit_test(a_server_needs_a_certificate_and_its_key),
        cmocka_unit_test(a_client_that_has_a_certificate_has_its_key),
        cmocka_unit_test(whom_to_believe_must_be_readable),
        cmocka_unit_test(an_encrypted_key_is_refused),
        cmocka_unit_test(a_failure_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
