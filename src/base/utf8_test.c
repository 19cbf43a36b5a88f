/* UTF-8 steps and the block scans of plain.h, each form against a byte-by-byte reading. */
#include "base/idiom.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/plain.h"

static void every_code_point_survives(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x110000; code++) {
        if (code >= 0xd800 && code < 0xe000)
            continue;
        char text[4];
        size_t n = utf8_encode(text, code);
        if (utf8_step(text, n) != n || utf8_decode(text, n) != code || utf8_step(text, n - 1))
            fail_msg("U+%04X", (unsigned)code);
    }
}

static void bad_sequences_are_refused(void **state)
{
    (void)state;
    static const struct str bad[] = {
        { "\x80", 1 },
        { "\xbf", 1 },
        { "\xc0\x80", 2 },         /* overlong NUL */
        { "\xc1\xbf", 2 },         /* overlong */
        { "\xe0\x9f\xbf", 3 },     /* overlong */
        { "\xf0\x8f\xbf\xbf", 4 }, /* overlong */
        { "\xed\xa0\x80", 3 },     /* surrogate */
        { "\xed\xbf\xbf", 3 },     /* surrogate */
        { "\xf4\x90\x80\x80", 4 }, /* above U+10FFFF */
        { "\xf5\x80\x80\x80", 4 },
        { "\xff", 1 },
        { "\xc3\x28", 2 },
        { "\xe2\x82", 2 },
        { "\xe2\x28\xa1", 3 },
        { "\xf0\x9f\x98", 3 },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(utf8_step(bad[i].p, bad[i].n), 0);
        assert_false(utf8_valid(bad[i]));
    }
    assert_true(utf8_valid(STR("")));
    assert_true(utf8_valid(STR("plain ascii, \"quoted\" \\ and \x01 gr\xc3\xbc\xc3\x9f"
                               "e \xf0\x9f\x98\x80")));
}

static void check_scans(const char *p, size_t n)
{
    size_t want = 0;
    while (want < n && plain_is(p[want]))
        want++;
    char to[80];
    assert_int_equal(plain_span(p, n), want);
    assert_int_equal(plain_span_swar(p, n), want);
    assert_int_equal(plain_copy(to, p, n), want);
    assert_memory_equal(to, p, want);
    memset(to, 0, sizeof(to));
    assert_int_equal(plain_copy_swar(to, p, n), want);
    assert_memory_equal(to, p, want);
}

/* Every byte value at every place of every length up to 70, in a piece of exactly that size so
 * that AddressSanitizer sees a read past it. */
static void scans_stop_at_the_first_special_byte(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 70; n++) {
        autofree char *text = mem_alloc(n);
        memset(text, 'x', n);
        check_scans(text, n);
        for (size_t i = 0; i < n; i++) {
            for (int c = 0; c < 256; c += i % 3 ? 17 : 1) {
                text[i] = (char)c;
                check_scans(text, n);
                if (i + 5 < n) {
                    text[i + 5] = '"';
                    check_scans(text, n);
                    text[i + 5] = 'x';
                }
            }
            text[i] = 'x';
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_survives),
        cmocka_unit_test(bad_sequences_are_refused),
        cmocka_unit_test(scans_stop_at_the_first_special_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
