/* PEM blocks, and the certificates, requests and keys in them; broken ones above all. */
#include "api/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/certificate_data_test.h"
#include "base/idiom.h"

#define NL "\n"

/* The types of all blocks of a text, with their sizes. */
static void check_blocks(const char *text, const char *want)
{
    struct str rest = str_of(text);
    autobuf have = { 0 };
    autopem block = { 0 };
    while (pem_next(&rest, &block))
        buf_printf(&have, STR_FMT "%s %zu;", STR_ARG(block.type), block.has_headers ? "+" : "",
                   block.bytes.n);
    if (!str_eq(buf_str(&have), str_of(want)))
        fail_msg("%s\nwant: %s\nhave: " STR_FMT, text, want, STR_ARG(buf_str(&have)));
}

static void blocks_are_found(void **state)
{
    (void)state;
    check_blocks("", "");
    check_blocks("junk", "");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END A-----\n", "A 3;");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END A-----", "A 3;");
    check_blocks("-----BEGIN A-----\r\nAA\r\nAA\r\n-----END A-----\r\n", "A 3;");
    check_blocks("-----BEGIN A-----\n-----END A-----\n", "A 0;");
    check_blocks("words\n-----BEGIN A B-----\nAAAA\n-----END A B-----\nmore\n"
                 "-----BEGIN C-----\nAA==\n-----END C-----\n",
                 "A B 3;C 1;");
    check_blocks("-----BEGIN A-----\nK: v\nL: w\n\nAAAA\n-----END A-----\n", "A+ 3;");
    check_blocks(CA_PEM(NL) LEAF_PEM(NL), "CERTIFICATE 384;CERTIFICATE 307;");
}

static void broken_blocks_are_passed_over(void **state)
{
    (void)state;
    check_blocks("-----BEGIN A-----\nAAAA\n", "");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END B-----\n", "");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END A----\n", "");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END A----- x\n", "");
    check_blocks("-----BEGIN A----\nAAAA\n-----END A-----\n", "");
    check_blocks("-----BEGIN A-----\nA*AA\n-----END A-----\n", "");
    check_blocks("-----BEGIN A-----\nAAA\n-----END A-----\n", "");
    check_blocks("x-----BEGIN A-----\nAAAA\n-----END A-----\n", "");
    check_blocks("-----BEGIN A-----\nAAAA-----END A-----\n", "");
    check_blocks("-----END A-----\n", "");
    check_blocks("-----BEGIN A-----\n-----BEGIN B-----\nAAAA\n-----END B-----\n", "B 3;");
    check_blocks("-----BEGIN A-----\nA\n-----END A-----\n-----BEGIN B-----\nAAAA\n"
                 "-----END B-----\n",
                 "B 3;");
}

/* Megabytes of beginnings end soon. */
static void many_beginnings_cost_little(void **state)
{
    (void)state;
    static const struct str starts[] = { STR("-----BEGIN A-----\n"), STR("-----BEGIN A:-----\n"),
                                         STR("-----END A-----\n"), STR("K: v\n") };
    for (size_t k = 0; k < ARRAY_LEN(starts); k++) {
        autobuf text = { 0 };
        autopem block = { 0 };
        while (text.n < 3 << 20)
            buf_str_add(&text, starts[k]);
        buf_str_add(&text, STR("-----END A-----\n"));
        struct str rest = buf_str(&text);
        while (pem_next(&rest, &block))
            ;
    }
}

static void decode(struct str text, struct pem_block *ret)
{
    if (!pem_next(&text, ret))
        fail_msg("no block");
}

static void certificates_are_read(void **state)
{
    (void)state;
    struct certificate c, leaf, request;
    autopem ca_block = { 0 }, leaf_block = { 0 }, request_block = { 0 };
    decode(STR(CA_PEM(NL)), &ca_block);
    assert_true(certificate_read(buf_str(&ca_block.bytes), &c));
    assert_true(c.is_ca);
    assert_int_equal(c.key_type, KEY_EC);
    assert_true(str_eq(c.curve, STR("P-256")));
    assert_int_equal(c.not_before, 1794756304);
    assert_int_equal(c.not_after, 4948356304);
    decode(STR(LEAF_PEM(NL)), &leaf_block);
    assert_true(certificate_read(buf_str(&leaf_block.bytes), &leaf));
    assert_false(leaf.is_ca);
    decode(STR(REQUEST_PEM(NL)), &request_block);
    assert_true(certificate_request_read(buf_str(&request_block.bytes), &request));
    assert_true(str_eq(request.key, leaf.key));
    assert_false(certificate_is_of(request.subject, STR("nobody")));
    assert_false(certificate_is_of(str_take(request.subject, 3), STR("nobody")));
    assert_false(str_eq(request.key, c.key));
    assert_false(certificate_read(buf_str(&request_block.bytes), &c));
}

static void keys_are_read(void **state)
{
    (void)state;
    static const char ed25519[] =
        "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00\x1d\x7a\x08\x39\x3d\x1a\x36\xee\x35\x3d"
        "\x47\x23\x3c\xff\x4b\xca\xea\xe4\x55\xc8\x58\xe3\x5f\x0d\x12\x9e\x80\x53\x70\x2c\xe1\xf7";
    /* RSA with a modulus of sixteen bits */
    static const char rsa[] = "\x30\x1e\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00"
                              "\x03\x0d\x00\x30\x0a\x02\x03\x00\xd3\x62\x02\x03\x01\x00\x01";
    struct certificate c;
    assert_true(certificate_key_read((struct str){ ed25519, sizeof(ed25519) - 1 }, &c));
    assert_int_equal(c.key_type, KEY_ED25519);
    assert_true(certificate_key_read((struct str){ rsa, sizeof(rsa) - 1 }, &c));
    assert_int_equal(c.key_type, KEY_RSA);
    assert_int_equal(c.rsa_bits, 16);
    assert_false(certificate_key_read((struct str){ rsa, sizeof(rsa) - 2 }, &c));
    assert_false(certificate_key_read(STR(""), &c));
}

static void check_all(struct str der)
{
    struct certificate c;
    (void)certificate_read(der, &c);
    (void)certificate_request_read(der, &c);
    (void)certificate_key_read(der, &c);
}

/* In memory of its exact size, so that a sanitizer sees what is read behind it. */
static void broken_bytes_do_no_harm(void **state)
{
    (void)state;
    static const struct str texts[] = { STR(CA_PEM(NL)), STR(REQUEST_PEM(NL)) };
    for (size_t k = 0; k < 2; k++) {
        autopem block = { 0 };
        struct certificate c;
        decode(texts[k], &block);
        struct str der = buf_str(&block.bytes);
        for (size_t n = 0; n < der.n; n++) {
            char *copy = malloc(n + 1);
            assert_non_null(copy);
            memcpy(copy, der.p, n);
            char *exact = realloc(copy, n ? n : 1);
            assert_non_null(exact);
            assert_false(certificate_read((struct str){ exact, n }, &c));
            assert_false(certificate_request_read((struct str){ exact, n }, &c));
            check_all((struct str){ exact, n });
            free(exact);
        }
        for (size_t i = 0; i < der.n; i++)
            for (unsigned x = 1; x < 256; x++) {
                block.bytes.p[i] ^= (char)x;
                check_all(der);
                block.bytes.p[i] ^= (char)x;
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_found),
        cmocka_unit_test(keys_are_read),
        cmocka_unit_test(broken_blocks_are_passed_over),
        cmocka_unit_test(certificates_are_read),
        cmocka_unit_test(many_beginnings_cost_little),
        cmocka_unit_test(broken_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
