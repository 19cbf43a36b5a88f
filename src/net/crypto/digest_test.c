#include "net/crypto/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/idiom.h"

static void expect(const unsigned char *bytes, size_t n, const char *hex)
{
    char text[2 * DIGEST_SHA256_BYTES + 1];
    for (size_t i = 0; i < n; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, hex);
}

/* The examples of FIPS 180. */
static void hashes_are_those_of_the_standard(void **state)
{
    (void)state;
    unsigned char sha1[DIGEST_SHA1_BYTES], sha256[DIGEST_SHA256_BYTES];
    digest_sha1(STR("abc"), sha1);
    expect(sha1, sizeof(sha1), "a9993e364706816aba3e25717850c26c9cd0d89d");
    digest_sha256(STR("abc"), sha256);
    expect(sha256, sizeof(sha256),
           "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_sha256(STR(""), sha256);
    expect(sha256, sizeof(sha256),
           "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/* RFC 4231, the second case; and a key of no bytes. */
static void keyed_hashes_are_too(void **state)
{
    (void)state;
    unsigned char mac[DIGEST_SHA256_BYTES];
    digest_hmac_sha256(STR("Jefe"), STR("what do ya want for nothing?"), mac);
    expect(mac, sizeof(mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    digest_hmac_sha256((struct str){ 0 }, STR(""), mac);
    expect(mac, sizeof(mac), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(hashes_are_those_of_the_standard),
                                        cmocka_unit_test(keyed_hashes_are_too) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
