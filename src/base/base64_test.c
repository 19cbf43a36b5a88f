#include "base/base64.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* RFC 4648, section 10. */
static void known_answers(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf text = { 0 };
        autobuf bytes = { 0 };
        base64_encode(&text, str_of(rows[i][0]));
        assert_true(str_eq(buf_str(&text), str_of(rows[i][1])));
        assert_true(base64_decode(&bytes, buf_str(&text)));
        assert_true(str_eq(buf_str(&bytes), str_of(rows[i][0])));
    }
}

static void every_byte_survives(void **state)
{
    (void)state;
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)(255 - i);
    for (size_t n = 0; n <= 256; n++) {
        autobuf text = { 0 };
        autobuf bytes = { 0 };
        base64url_encode(&text, (struct str){ all, n });
        assert_true(str_find(buf_str(&text), '+') < 0 && str_find(buf_str(&text), '=') < 0);
        assert_true(base64url_decode(&bytes, buf_str(&text)));
        assert_true(str_eq(buf_str(&bytes), (struct str){ all, n }));
    }
}

static void sloppy_text_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = { "Z",     "Zg",     "Zg=",  "Zg===", "Zh==",  "Zm9",
                                        "Zm9v ", "Zm9v\n", "Zm9-", "=Zm9",  "Zm=9v", "====" };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf bytes = { 0 };
        buf_byte(&bytes, 'x');
        assert_false(base64_decode(&bytes, str_of(rows[i])));
        assert_int_equal(bytes.n, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(every_byte_survives),
        cmocka_unit_test(sloppy_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
