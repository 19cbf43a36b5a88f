#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json_fault.h"

static void check(const char *text, const char *words)
{
    struct arena a;
    arena_init(&a);
    struct str got = json_fault(&a, str_of(text));
    if (!str_eq(got, str_of(words)))
        fail_msg("%s: got \"" STR_FMT "\", want \"%s\"", text, STR_ARG(got), words);
    arena_done(&a);
}

/* As encoding/json says it. */
static void words_of_go(void **state)
{
    (void)state;
    check("", "unexpected end of JSON input");
    check(" \n", "unexpected end of JSON input");
    check("{", "unexpected end of JSON input");
    check("{\"a\":", "unexpected end of JSON input");
    check("[1,", "unexpected end of JSON input");
    check("hello", "invalid character 'h' looking for beginning of value");
    check("{name: a}", "invalid character 'n' looking for beginning of object key string");
    check("{'a':1}", "invalid character '\\'' looking for beginning of object key string");
    check("{\"a\" 1}", "invalid character '1' after object key");
    check("{\"a\":02}", "invalid character '2' after object key:value pair");
    check("{\"a\":1,}", "invalid character '}' looking for beginning of object key string");
    check("[1 2]", "invalid character '2' after array element");
    check("[1,]", "invalid character ']' looking for beginning of value");
    check("{}}", "invalid character '}' after top-level value");
    check("{} x", "invalid character 'x' after top-level value");
    check("\"a\nb\"", "invalid character '\\n' in string literal");
    check("\"\\q\"", "invalid character 'q' in string escape code");
    check("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape");
    check("nope", "invalid character 'o' in literal null (expecting 'u')");
    check("tru", "unexpected end of JSON input");
    check("-x", "invalid character 'x' in numeric literal");
    check("1.x", "invalid character 'x' after decimal point in numeric literal");
    check("1ex", "invalid character 'x' in exponent of numeric literal");
    check("\xc3\xa4", "invalid character '\xc3\x83' looking for beginning of value");
    check("\x01", "invalid character '\\x01' looking for beginning of value");
    check("\"\a\"", "invalid character '\\a' in string literal");
    check("\"\b\"", "invalid character '\\b' in string literal");
    check("\"\f\"", "invalid character '\\f' in string literal");
    check("\"\r\"", "invalid character '\\r' in string literal");
    check("\"\t\"", "invalid character '\\t' in string literal");
    check("\"\v\"", "invalid character '\\v' in string literal");
    check("\\", "invalid character '\\\\' looking for beginning of value");
    check("{\"a\" \"b\"}", "invalid character '\"' after object key");
    check("\x81", "invalid character '\\u0081' looking for beginning of value");
}

/* Each text that is cut short, wherever it is: there was nothing wrong but its end. */
static void an_end_that_comes_early(void **state)
{
    (void)state;
    static const char whole[] = "{\"a\\n\\u0041\": [ true , null, -1.5e+3, {} ], \"b\" : \"c\" }";
    char text[sizeof(whole)];
    for (size_t n = 0; n + 1 < sizeof(whole); n++) {
        memcpy(text, whole, n);
        text[n] = '\0';
        check(text, "unexpected end of JSON input");
    }
    check(whole, "");
    check("-", "unexpected end of JSON input");
    check("1.", "unexpected end of JSON input");
    check("1e", "unexpected end of JSON input");
    check("1e+", "unexpected end of JSON input");
    check("\"\\", "unexpected end of JSON input");
    check("\"\\u12", "unexpected end of JSON input");
}

static void no_fault(void **state)
{
    (void)state;
    check("{}", "");
    check(" [1, {\"a\": [], \"b\": {}}, -0.5e+3, \"\\u0041\", true, null] ", "");
}

static void deep(void **state)
{
    (void)state;
    enum { DEPTH = 20000 };
    static char text[DEPTH + 1];
    memset(text, '[', DEPTH);
    check(text, "exceeded max depth");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_go),
        cmocka_unit_test(an_end_that_comes_early),
        cmocka_unit_test(no_fault),
        cmocka_unit_test(deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
