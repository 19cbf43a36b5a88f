#include "base/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* The vectors of RFC 3720, section B.4. */
static void known_answers(void **state)
{
    (void)state;
    unsigned char bytes[32] = { 0 };
    assert_int_equal(crc32c(0, bytes, 32), 0x8A9136AAu);
    memset(bytes, 0xff, 32);
    assert_int_equal(crc32c(0, bytes, 32), 0x62A8AB43u);
    for (unsigned i = 0; i < 32; i++)
        bytes[i] = (unsigned char)i;
    assert_int_equal(crc32c(0, bytes, 32), 0x46DD794Eu);
    assert_int_equal(crc32c(0, "123456789", 9), 0xE3069283u);
}

/* The fast path joins lanes: its result must be that of the pieces, at every length. */
static void whole_equals_pieces(void **state)
{
    (void)state;
    unsigned char bytes[4000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 131 + i / 7);
    for (size_t n = 0; n <= sizeof(bytes); n += 37) {
        uint32_t crc = 0;
        for (size_t i = 0; i < n; i += 5)
            crc = crc32c(crc, bytes + i, n - i < 5 ? n - i : 5);
        assert_int_equal(crc32c(0, bytes, n), crc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(whole_equals_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
