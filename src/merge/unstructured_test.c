#include "base/idiom.h"
#include "merge/unstructured.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "merge/trees_test.h"

static const struct {
    const char *value, *as_value, *as_string;
} cases[] = {
    { "null", "<nil>", "%!s(<nil>)" },
    { "true", "true", "%!s(bool=true)" },
    { "-7", "-7", "%!s(int64=-7)" },
    { "'x y'", "x y", "x y" },
    { "''", "", "" },
    { "[]", "[]", "[]" },
    { "{}", "map[]", "map[]" },
    { "{'b':[1,'2',null],'a':{'c':false}}", "map[a:map[c:false] b:[1 2 <nil>]]",
      "map[a:map[c:%!s(bool=false)] b:[%!s(int64=1) 2 %!s(<nil>)]]" },
    { "[[],[{}]]", "[[] [map[]]]", "[[] [map[]]]" },
    { "1.0", "1", "%!s(float64=1)" },
    { "-0.5", "-0.5", "%!s(float64=-0.5)" },
    { "0.0", "0", "%!s(float64=0)" },
    { "-0", "-0", "%!s(float64=-0)" },
    { "120.50", "120.5", "%!s(float64=120.5)" },
    { "100000.0", "100000", "%!s(float64=100000)" },
    { "999999.5", "999999.5", "%!s(float64=999999.5)" },
    { "1000000.0", "1e+06", "%!s(float64=1e+06)" },
    { "1234567.5", "1.2345675e+06", "%!s(float64=1.2345675e+06)" },
    { "0.0001", "0.0001", "%!s(float64=0.0001)" },
    { "0.000012", "1.2e-05", "%!s(float64=1.2e-05)" },
    { "1e100", "1e+100", "%!s(float64=1e+100)" },
    { "12345678901234567890", "1.2345678901234567e+19", "%!s(float64=1.2345678901234567e+19)" },
    { "1e400", "1e400", "%!s(float64=1e400)" }, /* which Go would not have read */
};

static void test_print(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value v = tree(cases[i].value);
        assert_string_equal(str_cstr(&arena, unstructured_text(&arena, &v)), cases[i].as_value);
        assert_string_equal(str_cstr(&arena, unstructured_as_string(&arena, &v)),
                            cases[i].as_string);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_print, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
