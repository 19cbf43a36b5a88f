#include "api/go/quote.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void texts_are_quoted_as_go_does(void **state)
{
    (void)state;
    static const struct {
        struct str in;
        const char *want;
    } rows[] = {
        { { "", 0 }, "\"\"" },
        { { "plain text", 10 }, "\"plain text\"" },
        { { "a\"b\\c", 5 }, "\"a\\\"b\\\\c\"" },
        { { "\a\b\t\n\v\f\r", 7 }, "\"\\a\\b\\t\\n\\v\\f\\r\"" },
        { { "\0\x1f\x7f", 3 }, "\"\\x00\\x1f\\x7f\"" },
        { { "\xff\xc3", 2 }, "\"\\xff\\xc3\"" },
        { { "\xc3\xa9\xe6\x97\xa5", 5 }, "\"\xc3\xa9\xe6\x97\xa5\"" },
        { { "\xc2\x80\xc2\xa0\xc2\xad", 6 }, "\"\\u0080\\u00a0\\u00ad\"" },
        { { "\xe2\x80\xa8\xef\xbb\xbf", 6 }, "\"\\u2028\\ufeff\"" },
        { { "\xf0\x9f\x98\x80\xf3\xa0\x80\x81", 8 }, "\"\xf0\x9f\x98\x80\\U000e0001\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf out = { 0 };
        quote_go(&out, rows[i].in);
        buf_byte(&out, '\0');
        assert_string_equal(out.p, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts_are_quoted_as_go_does) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
