/* Keys that sign and verify; the RSA key is made by the openssl command, the peer of these tests.
 */
#include "net/crypto/signature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"

/* What a shell command prints. */
static struct str output(struct arena *a, const char *command)
{
    autobuf out = { 0 };
    char piece[4096];
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;)
        buf_str_add(&out, (struct str){ piece, n });
    assert_int_equal(pclose(f), 0);
    return arena_str(a, buf_str(&out));
}

static struct signature_key *key_of(struct str pem)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct signature_key *k = NULL;
    if (signature_key_read(pem, &k, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    arena_done(&a);
    return k;
}

static const struct {
    const char *make, *algorithm;
    size_t signature_bytes;
} kinds[] = {
    { "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2>/dev/null", "RS256", 256 },
    { "openssl ecparam -name prime256v1 -genkey 2>/dev/null", "ES256", 64 },
    { "openssl ecparam -name secp384r1 -genkey -noout 2>/dev/null", "ES384", 96 },
    { "openssl ecparam -name secp521r1 -genkey -noout 2>/dev/null", "ES512", 132 },
};

static void check_signature(struct arena *a, const struct signature_key *key,
                            const struct signature_key *public, size_t n)
{
    struct err err = ERR_INIT(a);
    struct str sig;
    assert_int_equal(signature_sign(key, a, STR("a text"), &sig, &err), 0);
    assert_int_equal(sig.n, n);
    assert_true(signature_fits(public, STR("a text"), sig));
    assert_false(signature_fits(public, STR("a texT"), sig));
    assert_false(signature_fits(public, STR("a text"), str_take(sig, n - 1)));
    assert_false(signature_fits(public, STR("a text"), STR("")));
    char *spoiled = arena_dup(a, sig.p, n);
    spoiled[n / 2] ^= 1;
    assert_false(signature_fits(public, STR("a text"), (struct str){ spoiled, n }));
    assert_int_equal(signature_sign(public, a, STR("a text"), &sig, &err), -ERR_INVALID);
}

static void what_a_key_signs_its_public_half_verifies(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct arena a;
        arena_init(&a);
        char file[] = "/tmp/sampan-signature.XXXXXX";
        int fd = mkstemp(file);
        struct str pem = output(&a, kinds[i].make);
        assert_int_equal(write(fd, pem.p, pem.n), (ssize_t)pem.n);
        struct str half = output(
            &a, str_cstr(&a, arena_printf(&a, "openssl pkey -in %s -pubout 2>/dev/null", file)));
        struct signature_key *key = key_of(pem), *public = key_of(half);
        assert_string_equal(signature_algorithm(key), kinds[i].algorithm);
        assert_true(str_eq(signature_key_id(key), signature_key_id(public)));
        assert_int_equal(signature_key_id(key).n, 43);
        check_signature(&a, key, public, kinds[i].signature_bytes);
        signature_key_free(key);
        signature_key_free(public);
        close(fd);
        unlink(file);
        arena_done(&a);
    }
}

static void a_key_that_we_make_signs(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str pem;
    struct signature_jwk jwk;
    assert_int_equal(signature_make(&a, &pem, &err), 0);
    struct signature_key *key = key_of(pem);
    assert_string_equal(signature_algorithm(key), "ES256");
    assert_int_equal(signature_jwk(key, &a, &jwk, &err), 0);
    assert_true(str_eq(jwk.kty, STR("EC")) && str_eq(jwk.crv, STR("P-256")));
    autobuf x = { 0 };
    assert_true(base64url_decode(&x, jwk.x));
    assert_int_equal(x.n, 32);
    assert_int_equal(jwk.n.n, 0);
    signature_key_free(key);
    arena_done(&a);
}

/* What the openssl command signs with the key in the file. */
static struct str signed_by_command(struct arena *a, const char *file, int bits, bool pss)
{
    const char *padding = pss ? "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:-1" : "";
    struct str command = arena_printf(
        a, "printf 'a text' | openssl dgst -sha%d -sign %s %s 2>/dev/null", bits, file, padding);
    return output(a, str_cstr(a, command));
}

static void rsa_verifies_by_the_algorithm_that_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *algorithm;
        int bits;
        bool pss;
    } all[] = {
        { "RS256", 256, false }, { "RS384", 384, false }, { "RS512", 512, false },
        { "PS256", 256, true },  { "PS384", 384, true },  { "PS512", 512, true },
    };
    struct arena a;
    arena_init(&a);
    char file[] = "/tmp/sampan-signature.XXXXXX";
    int fd = mkstemp(file);
    struct str pem = output(&a, kinds[0].make);
    assert_int_equal(write(fd, pem.p, pem.n), (ssize_t)pem.n);
    struct signature_key *key = key_of(pem);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct str sig = signed_by_command(&a, file, all[i].bits, all[i].pss);
        for (size_t j = 0; j < ARRAY_LEN(all); j++)
            assert_int_equal(signature_fits_as(key, str_of(all[j].algorithm), STR("a text"), sig),
                             i == j);
        assert_false(signature_fits_as(key, str_of(all[i].algorithm), STR("a texT"), sig));
        assert_false(signature_fits_as(key, STR("ES256"), STR("a text"), sig));
        assert_false(signature_fits_as(key, STR("none"), STR("a text"), sig));
        assert_false(signature_fits_as(key, STR("HS256"), STR("a text"), sig));
    }
    signature_key_free(key);
    close(fd);
    unlink(file);
    arena_done(&a);
}

static void a_web_key_verifies_what_its_key_signs(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct signature_key *key = key_of(output(&a, kinds[i].make)), *half;
        struct signature_jwk jwk;
        struct str sig;
        assert_int_equal(signature_jwk(key, &a, &jwk, &err), 0);
        assert_int_equal(signature_key_of_jwk(&jwk, &half, &err), 0);
        assert_int_equal(signature_sign(key, &a, STR("a text"), &sig, &err), 0);
        assert_true(signature_fits_as(half, str_of(kinds[i].algorithm), STR("a text"), sig));
        assert_true(str_eq(signature_key_id(key), signature_key_id(half)));
        signature_key_free(half);
        jwk.x = jwk.y; /* no point of the curve */
        jwk.n = STR("AQAB");
        assert_int_equal(signature_key_of_jwk(&jwk, &half, &err), -ERR_INVALID);
        jwk.kty = STR("oct");
        assert_int_equal(signature_key_of_jwk(&jwk, &half, &err), -ERR_INVALID);
        signature_key_free(key);
        arena_done(&a);
    }
}

static void several_keys_are_read(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str one, two;
    struct signature_key *keys[2];
    size_t n;
    assert_int_equal(signature_make(&a, &one, &err), 0);
    assert_int_equal(signature_make(&a, &two, &err), 0);
    struct str both =
        arena_printf(&a, "words\n" STR_FMT "between\n" STR_FMT, STR_ARG(one), STR_ARG(two));
    assert_int_equal(signature_keys_read(both, 2, keys, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_false(str_eq(signature_key_id(keys[0]), signature_key_id(keys[1])));
    signature_key_free(keys[0]);
    signature_key_free(keys[1]);
    arena_done(&a);
}

static void what_is_no_key_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "nothing",
        "-----BEGIN PUBLIC KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct signature_key *k;
        assert_int_equal(signature_key_read(str_of(texts[i]), &k, &err), -ERR_INVALID);
        arena_done(&a);
    }
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct signature_key *k;
    struct str weak =
        output(&a, "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 2>/dev/null");
    assert_int_equal(signature_key_read(weak, &k, &err), -ERR_INVALID);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_key_signs_its_public_half_verifies),
        cmocka_unit_test(a_key_that_we_make_signs),
        cmocka_unit_test(rsa_verifies_by_the_algorithm_that_is_named),
        cmocka_unit_test(a_web_key_verifies_what_its_key_signs),
        cmocka_unit_test(several_keys_are_read),
        cmocka_unit_test(what_is_no_key_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
