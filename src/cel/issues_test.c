#include "cel/issues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "cel/ast.h"

static struct arena arena;

static const char *printed(struct issues *is)
{
    return str_cstr(&arena, issues_print(is));
}

static void a_mark_stands_under_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t at;
        const char *want;
    } rows[] = {
        { "a.b", 0, "ERROR: <input>:1:1: x\n | a.b\n | ^" },
        { "a.b", 2, "ERROR: <input>:1:3: x\n | a.b\n | ..^" },
        { "a.b", 3, "ERROR: <input>:1:4: x\n | a.b\n | ...^" },  /* behind the end */
        { "a.b", 99, "ERROR: <input>:1:4: x\n | a.b\n | ...^" }, /* as far as there is text */
        { "a\nbc\nd", 3, "ERROR: <input>:2:2: x\n | bc\n | .^" },
        { "a\nbc\nd", 2, "ERROR: <input>:2:1: x\n | bc\n | ^" },
        { "a\nbc\nd", 1, "ERROR: <input>:1:2: x\n | a\n | .^" }, /* the line end is of its line */
        { "a\n", 2, "ERROR: <input>:2:1: x\n | \n | ^" },
        { "\ta", 1, "ERROR: <input>:1:2: x\n |  a\n | .^" }, /* a tab is as wide as a dot */
        { "é+b", 3, "ERROR: <input>:1:3: x\n | é+b\n | \uff0e.^" },
        { "é", 0, "ERROR: <input>:1:1: x\n | é\n | \uff3e" },
        { "", 0, "ERROR: <input>:1:0: x" },
        { "a.b", AST_NOWHERE, "ERROR: <input>:-1:0: x" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct issues is = { .arena = &arena, .text = str_of(rows[i].text) };
        issues_add(&is, rows[i].at, "x");
        assert_string_equal(printed(&is), rows[i].want);
    }
}

static void they_come_by_place(void **state)
{
    (void)state;
    struct issues is = { .arena = &arena, .text = STR("abc") };
    issues_add(&is, 2, "third");
    issues_add(&is, 0, "first, %s", "one");
    issues_add(&is, AST_NOWHERE, "nowhere");
    issues_add(&is, 0, "first, two"); /* of one place, as they were found */
    assert_string_equal(printed(&is), "ERROR: <input>:-1:0: nowhere\n"
                                      "ERROR: <input>:1:1: first, one\n | abc\n | ^\n"
                                      "ERROR: <input>:1:1: first, two\n | abc\n | ^\n"
                                      "ERROR: <input>:1:3: third\n | abc\n | ..^");
}

static void only_so_many_are_shown(void **state)
{
    (void)state;
    struct issues is = { .arena = &arena, .text = STR("a") };
    for (int i = 0; i < ISSUES_SHOWN_MAX; i++)
        issues_add(&is, 0, "x");
    assert_null(strstr(printed(&is), "truncated"));
    issues_add(&is, 0, "y");
    issues_add(&is, 0, "y");
    assert_int_equal(is.n, ISSUES_SHOWN_MAX);
    const char *text = printed(&is);
    assert_null(strchr(text, 'y'));
    assert_non_null(strstr(text, "\n2 more errors were truncated"));
}

/* A very long line is not repeated for each fault in it. */
static void a_long_line_is_left_out(void **state)
{
    (void)state;
    enum { LONG = 16384 };
    char *text = arena_alloc(&arena, LONG + 1, 1);
    memset(text, 'a', LONG + 1);
    struct issues fits = { .arena = &arena, .text = { text, LONG } };
    struct issues is_longer = { .arena = &arena, .text = { text, LONG + 1 } };
    issues_add(&fits, 5, "x");
    issues_add(&is_longer, 5, "x");
    assert_true(issues_print(&fits).n > LONG);
    assert_string_equal(printed(&is_longer), "ERROR: <input>:1:6: x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_stands_under_the_place),
        cmocka_unit_test(they_come_by_place),
        cmocka_unit_test(only_so_many_are_shown),
        cmocka_unit_test(a_long_line_is_left_out),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
