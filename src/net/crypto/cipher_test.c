#include "net/crypto/cipher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

static struct str hex(const char *text)
{
    size_t n = strlen(text) / 2;
    char *p = arena_alloc(&arena, n + 1, 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(str_hex_digit(text[2 * i]) << 4 | str_hex_digit(text[2 * i + 1]));
    return (struct str){ p, n };
}

#define SP800_38A_TEXT                                                 \
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" \
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
#define GCM_TEXT                                                       \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" \
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define GCM_KEY     "feffe9928665731c6d6a8f9467308308"
#define GCM_NONCE   "cafebabefacedbaddecaf888"
#define GCM_ABOUT   "feedfacedeadbeeffeedfacedeadbeefabaddad2"
#define COUNTING_IV "000102030405060708090a0b0c0d0e0f"

/* What was published: the specification of GCM (test cases 4, 10 and 16), SP 800-38A (F.2.1, F.2.3
 * and F.2.5; ours has a block of padding behind it), and NaCl's own test of secretbox. */
static const struct vector {
    enum cipher cipher;
    const char *key, *nonce, *about, *text, *sealed;
    bool is_head; /* of what comes out */
} vectors[] = {
    { CIPHER_AESGCM, GCM_KEY, GCM_NONCE, GCM_ABOUT, GCM_TEXT,
      "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
      "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0915bc94fbc"
      "3221a5db94fae95ae7121a47",
      false },
    { CIPHER_AESGCM, GCM_KEY "feffe9928665731c", GCM_NONCE, GCM_ABOUT, GCM_TEXT,
      "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
      "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda27102519498e"
      "80f1478f37ba55bd6d27618c",
      false },
    { CIPHER_AESGCM, GCM_KEY GCM_KEY, GCM_NONCE, GCM_ABOUT, GCM_TEXT,
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
      "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece"
      "0f4e1768cddf8853bb2d551b",
      false },
    { CIPHER_AESCBC, "2b7e151628aed2a6abf7158809cf4f3c", COUNTING_IV, "", SP800_38A_TEXT,
      "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
      "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
      true },
    { CIPHER_AESCBC, "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", COUNTING_IV, "",
      SP800_38A_TEXT,
      "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
      "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
      true },
    { CIPHER_AESCBC, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
      COUNTING_IV, "", SP800_38A_TEXT,
      "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
      "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
      true },
    { CIPHER_SECRETBOX, "1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389",
      "69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37", "",
      "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc"
      "e5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31"
      "0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde"
      "048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864"
      "5e0705",
      "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce"
      "48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972"
      "71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae"
      "90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3"
      "7973f622a43d14a6599b1f654cb45a74e355a5",
      false },
};

static void published_vectors_come_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        const struct vector *v = &vectors[i];
        struct str nonce = hex(v->nonce), want = hex(v->sealed), text = hex(v->text);
        autobuf out = { 0 };
        assert_int_equal(
            cipher_seal_with(v->cipher, hex(v->key), nonce, hex(v->about), text, &out, NULL), 0);
        struct str sealed = str_skip(buf_str(&out), nonce.n);
        assert_true(v->is_head ? str_starts(sealed, want) : str_eq(sealed, want));
        char plain[256];
        size_t n = 0;
        assert_int_equal(
            cipher_open(v->cipher, hex(v->key), hex(v->about), buf_str(&out), plain, &n, NULL), 0);
        assert_true(str_eq((struct str){ plain, n }, text));
    }
}

/* RFC 5869, A.1. */
static void keys_are_derived_as_in_the_rfc(void **state)
{
    (void)state;
    unsigned char key[CIPHER_DERIVED_BYTES];
    cipher_derive(hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"),
                  hex("f0f1f2f3f4f5f6f7f8f9"), key);
    assert_memory_equal(key,
                        hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf").p,
                        sizeof(key));
}

static const enum cipher all[] = { CIPHER_AESGCM, CIPHER_AESCBC, CIPHER_SECRETBOX };
static const struct str key_a = { "0123456789abcdef0123456789abcdef", 32 },
                        key_b = { "0123456789abcdef0123456789abcdeF", 32 };

/* Texts of every length around a block, each opened again; no two come out alike. */
static void texts_of_all_lengths_come_back(void **state)
{
    (void)state;
    char text[200], plain[300];
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        for (size_t n = 0; n <= sizeof(text); n++) {
            autobuf one = { 0 }, two = { 0 };
            struct str t = { text, n };
            size_t got = 0;
            assert_int_equal(cipher_seal(all[i], key_a, STR("/a"), t, &one, NULL), 0);
            assert_int_equal(cipher_seal(all[i], key_a, STR("/a"), t, &two, NULL), 0);
            assert_true(one.n <= n + CIPHER_OVERHEAD);
            assert_false(str_eq(buf_str(&one), buf_str(&two)));
            assert_int_equal(
                cipher_open(all[i], key_a, STR("/a"), buf_str(&one), plain, &got, NULL), 0);
            assert_true(str_eq((struct str){ plain, got }, t));
        }
    }
}

static int open_changed(enum cipher c, struct str key, struct str about, struct str sealed,
                        struct err *err)
{
    char plain[300];
    size_t n;
    err_clear(err);
    return cipher_open(c, key, about, sealed, plain, &n, err);
}

/* Each bit that is turned, each byte that is missing, another key and another place. */
static void what_was_changed_is_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    const enum cipher checked[] = { CIPHER_AESGCM, CIPHER_SECRETBOX };
    for (size_t i = 0; i < ARRAY_LEN(checked); i++) {
        enum cipher c = checked[i];
        autobuf out = { 0 };
        assert_int_equal(cipher_seal(c, key_a, STR("/a"), STR("some text"), &out, NULL), 0);
        for (size_t bit = 0; bit < 8 * out.n; bit++) {
            out.p[bit / 8] ^= (char)(1 << bit % 8);
            assert_int_equal(open_changed(c, key_a, STR("/a"), buf_str(&out), &err), -ERR_DAMAGED);
            out.p[bit / 8] ^= (char)(1 << bit % 8);
        }
        for (size_t n = 0; n < out.n; n++)
            assert_int_equal(open_changed(c, key_a, STR("/a"), str_take(buf_str(&out), n), &err),
                             -ERR_DAMAGED);
        assert_int_equal(open_changed(c, key_b, STR("/a"), buf_str(&out), &err), -ERR_DAMAGED);
        int elsewhere = open_changed(c, key_a, STR("/b"), buf_str(&out), &err);
        assert_int_equal(elsewhere, c == CIPHER_AESGCM ? -ERR_DAMAGED : 0);
    }
}

/* Of CBC only the padding can be wrong. */
static void padding_is_checked(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autobuf out = { 0 };
    assert_int_equal(cipher_seal(CIPHER_AESCBC, key_a, STR(""), STR("0123456789"), &out, NULL), 0);
    struct str sealed = buf_str(&out);
    assert_int_equal(open_changed(CIPHER_AESCBC, key_a, STR(""), str_take(sealed, 16), &err),
                     -ERR_DAMAGED);
    assert_true(str_eq(err.msg, STR("invalid PKCS7 data (empty or not padded)")));
    assert_int_equal(open_changed(CIPHER_AESCBC, key_a, STR(""), str_take(sealed, 31), &err),
                     -ERR_DAMAGED);
    assert_true(str_eq(err.msg, STR("the stored data is not a multiple of the block size")));
    out.p[15] ^= 7; /* the IV: the last byte of the text becomes 1, so its padding is whole */
    assert_int_equal(open_changed(CIPHER_AESCBC, key_a, STR(""), sealed, &err), 0);
    out.p[15] ^= 7 ^ 1;
    assert_int_equal(open_changed(CIPHER_AESCBC, key_a, STR(""), sealed, &err), -ERR_DAMAGED);
    assert_true(str_eq(err.msg, STR("invalid padding on input")));
    assert_int_equal(open_changed(CIPHER_AESCBC, key_a, STR(""), str_take(sealed, 15), &err),
                     -ERR_DAMAGED);
    assert_true(str_eq(err.msg, STR("the stored data was shorter than the required size")));
}

static void keys_have_their_sizes(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++) {
        assert_int_equal(cipher_takes_key(CIPHER_AESGCM, n), n == 16 || n == 24 || n == 32);
        assert_int_equal(cipher_takes_key(CIPHER_AESCBC, n), n == 16 || n == 24 || n == 32);
        assert_int_equal(cipher_takes_key(CIPHER_SECRETBOX, n), n == 32);
    }
}

int main(void)
{
    arena_init(&arena);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors_come_out),
        cmocka_unit_test(keys_are_derived_as_in_the_rfc),
        cmocka_unit_test(texts_of_all_lengths_come_back),
        cmocka_unit_test(what_was_changed_is_refused),
        cmocka_unit_test(padding_is_checked),
        cmocka_unit_test(keys_have_their_sizes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
