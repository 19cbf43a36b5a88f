#include "base/percent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

static void texts_are_decoded_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool plus;
        const char *decoded; /* NULL: refused */
    } cases[] = {
        { "", false, "" },        { "a/b", false, "a/b" }, { "a%2Fb%2fc", false, "a/b/c" },
        { "a+b", false, "a+b" },  { "a+b", true, "a b" },  { "%C3%A4", false, "\xC3\xA4" },
        { "%", false, NULL },     { "%4", false, NULL },   { "%zz", false, NULL },
        { "a%00b", false, NULL }, { "%ff", false, NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        struct str got;
        bool good = percent_decode(&a, str_of(cases[i].text), cases[i].plus, &got);
        assert_int_equal(good, cases[i].decoded != NULL);
        if (good)
            assert_string_equal(str_cstr(&a, got), cases[i].decoded);
        arena_done(&a);
    }
}

static void texts_are_encoded(void **state)
{
    (void)state;
    struct buf out = { 0 };
    percent_encode(&out, STR("aZ09-._~ /=\xC3\xA4"));
    assert_true(str_eq(buf_str(&out), STR("aZ09-._~%20%2F%3D%C3%A4")));
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts_are_decoded_or_refused),
                                        cmocka_unit_test(texts_are_encoded) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
