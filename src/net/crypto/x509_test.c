/* Certificates, requests and keys; broken ones above all. */
#include "net/crypto/x509.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/idiom.h"
#include "net/crypto/x509_data_test.h"

#define NL "\n"

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
    return 0;
}

/* The bytes of a PEM block. */
static struct str der_of(const char *pem)
{
    char *type = NULL, *header = NULL;
    unsigned char *bytes = NULL;
    long n = 0;
    BIO *in = BIO_new_mem_buf(pem, -1);
    assert_int_equal(PEM_read_bio(in, &type, &header, &bytes, &n), 1);
    struct str der = arena_str(&arena, (struct str){ (char *)bytes, (size_t)n });
    OPENSSL_free(type);
    OPENSSL_free(header);
    OPENSSL_free(bytes);
    BIO_free(in);
    return der;
}

static void certificates_are_read(void **state)
{
    struct x509_certificate c, leaf;
    struct x509_request request;
    (void)state;
    assert_true(x509_read_certificate(&arena, der_of(CA_PEM(NL)), &c));
    assert_true(c.is_ca);
    assert_int_equal(c.key.type, X509_KEY_EC);
    assert_true(str_eq(c.key.curve, STR("P-256")));
    assert_int_equal(c.not_before, 1794756304);
    assert_int_equal(c.not_after, 4948356304);
    assert_true(x509_read_certificate(&arena, der_of(LEAF_PEM(NL)), &leaf));
    assert_false(leaf.is_ca);
    assert_true(x509_read_request(&arena, der_of(REQUEST_PEM(NL)), &request));
    assert_true(str_eq(request.key.der, leaf.key.der));
    assert_false(str_eq(request.key.der, c.key.der));
    assert_false(x509_is_of(&request, STR("nobody")));
    assert_false(x509_read_certificate(&arena, der_of(REQUEST_PEM(NL)), &c));
}

static void keys_are_read(void **state)
{
    static const char ed25519[] =
        "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00\x1d\x7a\x08\x39\x3d\x1a\x36\xee\x35\x3d"
        "\x47\x23\x3c\xff\x4b\xca\xea\xe4\x55\xc8\x58\xe3\x5f\x0d\x12\x9e\x80\x53\x70\x2c\xe1\xf7";
    /* RSA with a modulus of sixteen bits */
    static const char rsa[] = "\x30\x1e\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00"
                              "\x03\x0d\x00\x30\x0a\x02\x03\x00\xd3\x62\x02\x03\x01\x00\x01";
    struct x509_key k;
    (void)state;
    assert_true(x509_read_key(&arena, (struct str){ ed25519, sizeof(ed25519) - 1 }, &k));
    assert_int_equal(k.type, X509_KEY_ED25519);
    assert_true(x509_read_key(&arena, (struct str){ rsa, sizeof(rsa) - 1 }, &k));
    assert_int_equal(k.type, X509_KEY_RSA);
    assert_int_equal(k.rsa_bits, 16);
    assert_false(x509_read_key(&arena, (struct str){ rsa, sizeof(rsa) - 2 }, &k));
    assert_false(x509_read_key(&arena, STR(""), &k));
}

struct entry {
    const char *key;
    int kind; /* of text */
    struct str text;
};

/* A request with these entries of its subject, and other names. */
static struct str make_request(const struct entry *entries, size_t n_entries, const char *names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509_REQ *req = X509_REQ_new();
    STACK_OF(X509_EXTENSION) *extensions = sk_X509_EXTENSION_new_null();
    unsigned char *der = NULL;
    for (size_t i = 0; i < n_entries; i++)
        assert_true(X509_NAME_add_entry_by_txt(
            X509_REQ_get_subject_name(req), entries[i].key, entries[i].kind,
            (const unsigned char *)entries[i].text.p, (int)entries[i].text.n, -1, 0));
    if (names)
        sk_X509_EXTENSION_push(extensions,
                               X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names));
    X509_REQ_add_extensions(req, extensions);
    X509_REQ_set_pubkey(req, key);
    assert_true(X509_REQ_sign(req, key, EVP_sha256()) > 0);
    int n = i2d_X509_REQ(req, &der);
    struct str result = arena_str(&arena, (struct str){ (char *)der, (size_t)n });
    OPENSSL_free(der);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    X509_REQ_free(req);
    EVP_PKEY_free(key);
    return result;
}

static void requests_say_who_they_are_for(void **state)
{
    static const struct entry entries[] = {
        { "CN", V_ASN1_UTF8STRING, STR("first") },
        { "O", V_ASN1_UTF8STRING, STR("one") },
        { "CN", V_ASN1_UTF8STRING, STR("last") },
        { "O", V_ASN1_UTF8STRING, STR("two") },
    };
    struct x509_request r;
    (void)state;
    struct str der = make_request(entries, ARRAY_LEN(entries),
                                  "DNS:a,DNS:b,IP:1.2.3.4,email:a@b.c,URI:http://a/,URI:http://b/");
    assert_true(x509_read_request(&arena, der, &r));
    assert_string_equal(str_cstr(&arena, r.name), "last");
    assert_int_equal(r.n_organizations, 2);
    assert_true(x509_is_of(&r, STR("one")) && x509_is_of(&r, STR("two")));
    assert_int_equal(r.n_dns_names * 1000 + r.n_ips * 100 + r.n_emails * 10 + r.n_uris, 2112);
}

/* Sixteen bits a letter are the same name: nobody hides system:masters so. */
static void a_name_is_read_in_any_kind_of_text(void **state)
{
    static const struct entry entries[] = {
        { "O", V_ASN1_UTF8STRING, STR("system:masters") },
        { "O", V_ASN1_IA5STRING, STR("system:masters") },
        { "O", V_ASN1_T61STRING, STR("system:masters") },
        { "O", V_ASN1_BMPSTRING, STR("\0s\0y\0s\0t\0e\0m\0:\0m\0a\0s\0t\0e\0r\0s") },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        struct x509_request r;
        assert_true(x509_read_request(&arena, make_request(&entries[i], 1, NULL), &r));
        assert_true(x509_is_of(&r, STR("system:masters")));
    }
}

static void check_all(struct str der)
{
    struct x509_certificate c;
    struct x509_request r;
    struct x509_key k;
    (void)x509_read_certificate(&arena, der, &c);
    (void)x509_read_request(&arena, der, &r);
    (void)x509_read_key(&arena, der, &k);
    assert_int_equal(ERR_peek_error(), 0); /* a TLS connection would take it for its own */
    arena_reset(&arena);
}

/* In memory of its exact size, so that a sanitizer sees what is read behind it. */
static void check_shorter(struct str der)
{
    struct x509_certificate c;
    struct x509_request r;
    for (size_t n = 0; n < der.n; n++) {
        char *exact = malloc(n ? n : 1);
        assert_non_null(exact);
        memcpy(exact, der.p, n);
        assert_false(x509_read_certificate(&arena, (struct str){ exact, n }, &c));
        assert_false(x509_read_request(&arena, (struct str){ exact, n }, &r));
        check_all((struct str){ exact, n });
        free(exact);
    }
}

static void broken_bytes_do_no_harm(void **state)
{
    static const char *const texts[] = { CA_PEM(NL), REQUEST_PEM(NL) };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
        struct str der = der_of(texts[k]);
        char *bytes = malloc(der.n);
        assert_non_null(bytes);
        memcpy(bytes, der.p, der.n);
        der.p = bytes;
        check_shorter(der);
        for (size_t i = 0; i < der.n; i++)
            for (unsigned x = 1; x < 256; x <<= 1) {
                bytes[i] ^= (char)x;
                check_all(der);
                bytes[i] ^= (char)x;
            }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(certificates_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(requests_say_who_they_are_for, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_is_read_in_any_kind_of_text, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_bytes_do_no_harm, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
