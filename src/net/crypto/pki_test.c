#include "net/crypto/pki.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/file.h"
#include "base/idiom.h"

#define NOW INT64_C(1800000000)
#define DAY INT64_C(86400)

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return ERR_peek_error() ? -1 : 0; /* every path leaves OpenSSL's queue empty */
}

static struct pki_pair make_ca(const char *name)
{
    struct pki_pair ca;
    assert_int_equal(pki_make_ca(&arena, str_of(name), NOW, 3650, &ca, NULL), 0);
    return ca;
}

static struct pki_leaf server_leaf(void)
{
    static const struct str dns[] = { { "localhost", 9 }, { "*.svc.cluster.local", 19 } };
    static const struct str ips[] = { { "127.0.0.1", 9 }, { "::1", 3 }, { "fd00::10", 8 } };
    static const struct str orgs[] = { { "system:masters", 14 }, { "team, a = b", 11 } };
    return (struct pki_leaf){ .common_name = STR("system:kube-apiserver"),
                              .organizations = orgs,
                              .n_organizations = 2,
                              .dns_names = dns,
                              .n_dns_names = 2,
                              .ips = ips,
                              .n_ips = 3,
                              .server = true,
                              .client = true,
                              .now_sec = NOW,
                              .days = 365 };
}

static X509 *parse(struct str pem)
{
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *cert = PEM_read_bio_X509(in, NULL, NULL, NULL);
    BIO_free(in);
    assert_non_null(cert);
    return cert;
}

/* 0, or OpenSSL's reason why `leaf` is not good for `purpose` at `when` under `ca`. */
static int verify(struct str ca_pem, struct str leaf_pem, int purpose, int64_t when)
{
    X509 *ca = parse(ca_pem), *leaf = parse(leaf_pem);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *vfy = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, ca);
    X509_STORE_CTX_init(vfy, store, leaf, NULL);
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(vfy);
    X509_VERIFY_PARAM_set_purpose(param, purpose);
    X509_VERIFY_PARAM_set_time(param, (time_t)when);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
    int why = X509_verify_cert(vfy) == 1 ? 0 : X509_STORE_CTX_get_error(vfy);
    X509_STORE_CTX_free(vfy);
    X509_STORE_free(store);
    X509_free(leaf);
    X509_free(ca);
    ERR_clear_error();
    return why;
}

static void leaf_verifies_under_its_ca_only(void **state)
{
    (void)state;
    struct pki_pair ca = make_ca("sampan-ca"), other = make_ca("sampan-ca"), leaf;
    struct pki_leaf want = server_leaf();
    assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, NULL), 0);
    assert_int_equal(verify(ca.cert_pem, leaf.cert_pem, X509_PURPOSE_SSL_SERVER, NOW), 0);
    assert_int_equal(verify(ca.cert_pem, leaf.cert_pem, X509_PURPOSE_SSL_CLIENT, NOW), 0);
    assert_int_equal(verify(ca.cert_pem, leaf.cert_pem, X509_PURPOSE_SSL_SERVER, NOW - 60), 0);
    assert_int_equal(verify(ca.cert_pem, leaf.cert_pem, X509_PURPOSE_SSL_SERVER, NOW + 366 * DAY),
                     X509_V_ERR_CERT_HAS_EXPIRED);
    assert_int_not_equal(verify(other.cert_pem, leaf.cert_pem, X509_PURPOSE_SSL_SERVER, NOW), 0);
}

static void usage_is_kept_apart(void **state)
{
    (void)state;
    struct pki_pair ca = make_ca("ca"), leaf;
    struct pki_leaf want = server_leaf();
    want.server = false;
    assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, NULL), 0);
    assert_int_equal(verify(ca.cert_pem, leaf.cert_pem, X509_PURPOSE_SSL_CLIENT, NOW), 0);
    assert_int_not_equal(verify(ca.cert_pem, leaf.cert_pem, X509_PURPOSE_SSL_SERVER, NOW), 0);
    want.client = false;
    assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, NULL), -ERR_INVALID);
}

static void names_are_there(void **state)
{
    (void)state;
    struct pki_pair ca = make_ca("ca"), leaf;
    struct pki_leaf want = server_leaf();
    assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, NULL), 0);
    X509 *cert = parse(leaf.cert_pem);
    assert_int_equal(X509_check_host(cert, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(cert, "x.svc.cluster.local", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(cert, "example.com", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(cert, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(cert, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(cert, "fd00::10", 0), 1);
    assert_int_equal(X509_check_ip_asc(cert, "127.0.0.2", 0), 0);
    char line[256];
    X509_NAME_oneline(X509_get_subject_name(cert), line, sizeof(line));
    assert_string_equal(line, "/O=system:masters/O=team, a = b/CN=system:kube-apiserver");
    X509_free(cert);
}

static void ca_may_sign_leaves_only(void **state)
{
    (void)state;
    struct pki_pair ca = make_ca("ca"), leaf, below;
    struct pki_leaf want = server_leaf();
    X509 *cert = parse(ca.cert_pem);
    assert_int_equal(X509_get_pathlen(cert), 0);
    assert_int_equal(X509_get_key_usage(cert), KU_KEY_CERT_SIGN | KU_CRL_SIGN);
    assert_non_null(X509_get0_subject_key_id(cert));
    X509_free(cert);
    assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, NULL), 0);
    assert_int_equal(pki_issue(&arena, &leaf, &want, &below, NULL), -ERR_INVALID);
    struct pki_pair mixed = { ca.cert_pem, leaf.key_pem };
    assert_int_equal(pki_issue(&arena, &mixed, &want, &below, NULL), -ERR_INVALID);
}

static void serials_differ_and_are_long(void **state)
{
    (void)state;
    struct pki_pair ca = make_ca("ca"), one, two;
    struct pki_leaf want = server_leaf();
    assert_int_equal(pki_issue(&arena, &ca, &want, &one, NULL), 0);
    assert_int_equal(pki_issue(&arena, &ca, &want, &two, NULL), 0);
    X509 *a = parse(one.cert_pem), *b = parse(two.cert_pem);
    assert_int_not_equal(ASN1_INTEGER_cmp(X509_get_serialNumber(a), X509_get_serialNumber(b)), 0);
    assert_true(ASN1_STRING_length(X509_get_serialNumber(a)) > 8);
    X509_free(a);
    X509_free(b);
}

static void end_of_validity(void **state)
{
    (void)state;
    struct pki_pair ca = make_ca("ca"), leaf;
    struct pki_leaf want = server_leaf();
    int64_t end = 0;
    assert_int_equal(pki_not_after(ca.cert_pem, &end, NULL), 0);
    assert_int_equal(end, NOW + 3650 * DAY);
    want.days = 36500; /* cut to what the CA has left */
    assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, NULL), 0);
    assert_int_equal(pki_not_after(leaf.cert_pem, &end, NULL), 0);
    assert_int_equal(end, NOW + 3650 * DAY);
    want.now_sec = NOW + 3650 * DAY;
    assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, NULL), -ERR_INVALID);
    assert_int_equal(pki_not_after(STR("no PEM"), &end, NULL), -ERR_INVALID);
    assert_int_equal(pki_not_after(STR(""), &end, NULL), -ERR_INVALID);
    assert_int_equal(pki_make_ca(&arena, STR("ca"), NOW, 0, &ca, NULL), -ERR_INVALID);
    assert_int_equal(pki_make_ca(&arena, STR("ca"), NOW, 36501, &ca, NULL), -ERR_INVALID);
}

/* CVE-2026-47778: a NUL in a name never gets into a certificate of ours. */
static void bad_names_are_refused(void **state)
{
    (void)state;
    struct pki_pair ca = make_ca("ca"), leaf;
    struct err err = ERR_INIT(&arena);
    char long_name[65], long_dns[254];
    memset(long_name, 'n', sizeof(long_name));
    memset(long_dns, 'd', sizeof(long_dns));
    const struct str names[] = { STR(""),      STR("admin\0.evil"), STR("a\nb"),
                                 STR("a\x7f"), STR("\xff\xfe"),     { long_name, 65 } };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct pki_leaf want = server_leaf();
        want.common_name = names[i];
        assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, &err), -ERR_INVALID);
        want = server_leaf();
        want.organizations = &names[i];
        want.n_organizations = 1;
        assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, &err), -ERR_INVALID);
        assert_int_equal(pki_make_ca(&arena, names[i], NOW, 10, &leaf, &err), -ERR_INVALID);
    }
    const struct str dns[] = {
        STR(""), STR("admin\0.evil"), STR("a b"), STR("a,IP:1.2.3.4"), { long_dns, 254 }
    };
    for (size_t i = 0; i < ARRAY_LEN(dns); i++) {
        struct pki_leaf want = server_leaf();
        want.dns_names = &dns[i];
        want.n_dns_names = 1;
        assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, &err), -ERR_INVALID);
    }
    const struct str ips[] = { STR(""),      STR("127.0.0.1\0"),  STR("010.0.0.1"),
                               STR("1.2.3"), STR("fe80::1%eth0"), STR("host") };
    for (size_t i = 0; i < ARRAY_LEN(ips); i++) {
        struct pki_leaf want = server_leaf();
        want.ips = &ips[i];
        want.n_ips = 1;
        assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, &err), -ERR_INVALID);
    }
    long_name[63] = 'x';
    assert_int_equal(pki_make_ca(&arena, (struct str){ long_name, 64 }, NOW, 10, &leaf, &err), 0);
}

static int run_openssl(const char *const *argv)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)!freopen("/dev/null", "w", stdout);
        (void)!freopen("/dev/null", "w", stderr);
        execvp("openssl", (char *const *)argv);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_command_line_tool_agrees(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    struct str pattern = arena_printf(&arena, "%s/pki_test.XXXXXX", tmp ? tmp : "/tmp");
    const char *folder = mkdtemp((char *)str_cstr(&arena, pattern));
    assert_non_null(folder);
    struct pki_pair ca = make_ca("ca"), leaf;
    struct pki_leaf want = server_leaf();
    assert_int_equal(pki_issue(&arena, &ca, &want, &leaf, NULL), 0);
    const char *ca_path = str_cstr(&arena, arena_printf(&arena, "%s/ca.pem", folder));
    const char *leaf_path = str_cstr(&arena, arena_printf(&arena, "%s/leaf.pem", folder));
    const char *key_path = str_cstr(&arena, arena_printf(&arena, "%s/key.pem", folder));
    assert_int_equal(file_write_atomic(ca_path, ca.cert_pem, 0600, FILE_CHEAP, NULL), 0);
    assert_int_equal(file_write_atomic(leaf_path, leaf.cert_pem, 0600, FILE_CHEAP, NULL), 0);
    assert_int_equal(file_write_atomic(key_path, leaf.key_pem, 0600, FILE_CHEAP, NULL), 0);
    const char *verify_args[] = { "openssl",    "verify",   "-x509_strict", "-attime",
                                  "1800000000", "-purpose", "sslserver",    "-verify_ip",
                                  "::1",        "-CAfile",  ca_path,        leaf_path,
                                  NULL };
    const char *key_args[] = { "openssl", "pkey", "-in", key_path, "-check", "-noout", NULL };
    int verified = run_openssl(verify_args);
    int key_checked = run_openssl(key_args);
    (void)unlink(ca_path);
    (void)unlink(leaf_path);
    (void)unlink(key_path);
    (void)rmdir(folder);
    if (verified == 127) {
        print_message("the openssl command is not installed\n");
        skip();
    }
    assert_int_equal(verified, 0);
    assert_int_equal(key_checked, 0);
}

/* A request in DER that asks for names, some of which nobody gets, and to be a CA. */
static struct str request_of(const char *sans)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509_REQ *req = X509_REQ_new();
    STACK_OF(X509_EXTENSION) *exts = sk_X509_EXTENSION_new_null();
    X509V3_CTX v3;
    unsigned char *der = NULL;
    X509V3_set_ctx_nodb(&v3);
    X509V3_set_ctx(&v3, NULL, NULL, req, NULL, 0);
    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(req), "O", MBSTRING_UTF8,
                               (const unsigned char *)"devs", -1, -1, 0);
    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(req), "CN", MBSTRING_UTF8,
                               (const unsigned char *)"jane", -1, -1, 0);
    sk_X509_EXTENSION_push(exts, X509V3_EXT_conf_nid(NULL, &v3, NID_basic_constraints, "CA:TRUE"));
    if (sans)
        sk_X509_EXTENSION_push(exts, X509V3_EXT_conf_nid(NULL, &v3, NID_subject_alt_name, sans));
    assert_true(X509_REQ_add_extensions(req, exts) && X509_REQ_set_pubkey(req, key) &&
                X509_REQ_sign(req, key, EVP_sha256()));
    int n = i2d_X509_REQ(req, &der);
    struct str copy = arena_str(&arena, (struct str){ (char *)der, (size_t)n });
    OPENSSL_free(der);
    sk_X509_EXTENSION_pop_free(exts, X509_EXTENSION_free);
    X509_REQ_free(req);
    EVP_PKEY_free(key);
    return copy;
}

static void a_request_gets_its_names_and_nothing_more(void **state)
{
    (void)state;
    static const char *const client[] = { "1.3.6.1.5.5.7.3.2", NULL };
    struct pki_pair ca = make_ca("ca");
    struct str pem;
    char name[64];
    const struct pki_request req = { request_of("DNS:a.b,IP:10.0.0.1,RID:1.2.3"), 1, client, NOW,
                                     3600 };
    assert_int_equal(pki_sign_request(&arena, &ca, &req, &pem, NULL), 0);
    assert_int_equal(verify(ca.cert_pem, pem, X509_PURPOSE_SSL_CLIENT, NOW + 10), 0);
    assert_int_not_equal(verify(ca.cert_pem, pem, X509_PURPOSE_SSL_SERVER, NOW + 10), 0);
    assert_int_not_equal(verify(ca.cert_pem, pem, X509_PURPOSE_SSL_CLIENT, NOW + 3601), 0);
    X509 *cert = parse(pem);
    assert_int_equal(X509_check_ca(cert), 0);
    assert_int_equal(X509_get_key_usage(cert), KU_DIGITAL_SIGNATURE);
    X509_NAME_oneline(X509_get_subject_name(cert), name, sizeof(name));
    assert_string_equal(name, "/O=devs/CN=jane");
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    assert_int_equal(sk_GENERAL_NAME_num(names), 2);
    GENERAL_NAMES_free(names);
    X509_free(cert);
}

static void a_request_must_be_signed(void **state)
{
    (void)state;
    struct pki_pair ca = make_ca("ca");
    struct str pem;
    struct err err = ERR_INIT(&arena);
    struct pki_request req = { request_of(NULL), 0, NULL, NOW, 3600 };
    assert_int_equal(pki_sign_request(&arena, &ca, &req, &pem, NULL), 0);
    char *broken = arena_alloc(&arena, req.der.n, 1);
    memcpy(broken, req.der.p, req.der.n);
    broken[req.der.n - 1] ^= 1;
    req.der.p = broken;
    assert_true(pki_sign_request(&arena, &ca, &req, &pem, &err) < 0);
    req.der.n = 10;
    assert_true(pki_sign_request(&arena, &ca, &req, &pem, &err) < 0);
}

/* What we ask for is signed like what others ask for, and is good with the key that came with it.
 */
static void our_own_request_is_signed(void **state)
{
    (void)state;
    static const char *const server[] = { "1.3.6.1.5.5.7.3.1", NULL };
    const struct str group = STR("system:nodes"), dns = STR("n1"), ip = STR("10.0.0.1");
    const struct pki_leaf leaf = { .common_name = STR("system:node:n1"),
                                   .organizations = &group,
                                   .n_organizations = 1,
                                   .dns_names = &dns,
                                   .n_dns_names = 1,
                                   .ips = &ip,
                                   .n_ips = 1 };
    struct pki_pair ca = make_ca("ca");
    struct str request, key, pem;
    char name[64];
    int64_t from;
    assert_int_equal(pki_make_request(&arena, &leaf, &request, &key, NULL), 0);
    BIO *in = BIO_new_mem_buf(request.p, (int)request.n);
    X509_REQ *read = PEM_read_bio_X509_REQ(in, NULL, NULL, NULL);
    unsigned char *der = NULL;
    const int n = i2d_X509_REQ(read, &der);
    const struct pki_request req = { { (char *)der, (size_t)n }, 1, server, NOW, 3600 };
    assert_int_equal(pki_sign_request(&arena, &ca, &req, &pem, NULL), 0);
    assert_int_equal(verify(ca.cert_pem, pem, X509_PURPOSE_SSL_SERVER, NOW + 10), 0);
    assert_int_equal(pki_not_before(pem, &from, NULL), 0);
    assert_true(from <= NOW && from > NOW - 3600);
    X509 *cert = parse(pem);
    X509_NAME_oneline(X509_get_subject_name(cert), name, sizeof(name));
    assert_string_equal(name, "/O=system:nodes/CN=system:node:n1");
    assert_int_equal(X509_check_host(cert, "n1", 2, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(cert, "10.0.0.1", 0), 1);
    BIO *key_in = BIO_new_mem_buf(key.p, (int)key.n);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(key_in, NULL, NULL, NULL);
    assert_int_equal(X509_check_private_key(cert, pkey), 1);
    EVP_PKEY_free(pkey);
    X509_free(cert);
    OPENSSL_free(der);
    X509_REQ_free(read);
    BIO_free(in);
    BIO_free(key_in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(leaf_verifies_under_its_ca_only, setup, teardown),
        cmocka_unit_test_setup_teardown(usage_is_kept_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_there, setup, teardown),
        cmocka_unit_test_setup_teardown(ca_may_sign_leaves_only, setup, teardown),
        cmocka_unit_test_setup_teardown(serials_differ_and_are_long, setup, teardown),
        cmocka_unit_test_setup_teardown(end_of_validity, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_names_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_gets_its_names_and_nothing_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_must_be_signed, setup, teardown),
        cmocka_unit_test_setup_teardown(our_own_request_is_signed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_command_line_tool_agrees, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
