/* $(NAME) in texts, and files of variables. */
#include "node/pod/expand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "node/pod/env_file.h"

static bool lookup(void *arg, struct str name, struct str *ret)
{
    (void)arg;
    if (str_eq(name, STR("A")))
        *ret = STR("one");
    else if (str_eq(name, STR("EMPTY")))
        *ret = STR("");
    else
        return false;
    return true;
}

static void test_expand(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expanded;
    } rows[] = {
        { "", "" },
        { "plain", "plain" },
        { "$(A)", "one" },
        { "x$(A)y$(A)", "xoneyone" },
        { "$$(A)", "$(A)" },
        { "$$$(A)", "$one" },
        { "$$$$(A)", "$$(A)" },
        { "$(NONE)", "$(NONE)" },
        { "$(EMPTY)|", "|" },
        { "$A", "$A" },
        { "$", "$" },
        { "a$", "a$" },
        { "$$", "$" },
        { "$(A", "$(A" },
        { "$(", "$(" },
        { "$()", "$()" },
        { "$(A$(A))", "$(A$(A))" },
        { "\\$(A)", "\\one" },
        { "$x$(A)", "$xone" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(str_cstr(&a, expand(&a, str_of(rows[i].text), lookup, NULL)),
                            rows[i].expanded);
    arena_done(&a);
}

static void test_env_file(void **state)
{
    (void)state;
    static const struct {
        const char *file, *name, *value; /* NULL: `error` */
        const char *error;
    } rows[] = {
        { "A='x'\n", "A", "x", NULL },
        { "  # note\n\n\tA='x' # note\nB='y'", "B", "y", NULL },
        { "A='one\ntwo'\n", "A", "one\ntwo", NULL },
        { "A='x'", "B", "", NULL },
        { "A= 'x'\n", "A", "", NULL },
        { "A='$B'", "A", "$B", NULL },
        { "A='x'\r\n", "A", "x", NULL },
        { "A\n", "A", NULL, "invalid environment variable format at line 1: missing '='" },
        { "A='x'\n='y'\n", "B", NULL,
          "invalid environment variable format at line 2: empty variable name" },
        { "A ='x'", "A", NULL,
          "invalid environment variable format at line 1: whitespace before '=' is not allowed" },
        { "A=x", "A", NULL,
          "invalid environment variable format at line 1: value must be enclosed in single "
          "quotes" },
        { "A='x''y'", "A", NULL,
          "invalid environment variable format at line 1: unexpected content after closing "
          "quote" },
        { "A='x\n", "A", NULL,
          "invalid environment variable format starting at line 1: unclosed single quote" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct str value;
        int r = env_file_get(&a, str_of(rows[i].file), str_of(rows[i].name), &value, &err);
        if (rows[i].value) {
            assert_int_equal(r, 0);
            assert_string_equal(str_cstr(&a, value), rows[i].value);
        } else {
            assert_true(r < 0);
            assert_string_equal(str_cstr(&a, err.msg), rows[i].error);
        }
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expand),
        cmocka_unit_test(test_env_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
