#include "net/digest.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(hashes_are_those_of_the_standard) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
