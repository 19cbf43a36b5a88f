/* Diffs as Python's difflib and upstream's messages have them. */
#include "api/text_diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/limits.h"

static void check(const char *before, const char *after, const char *want)
{
    struct arena a;
    autobuf got = { 0 };
    arena_init(&a);
    text_diff(&got, &a, str_of(before), str_of(after));
    if (!str_eq(buf_str(&got), str_of(want)))
        fail_msg("want:\n%s\ngot:\n" STR_FMT, want, STR_ARG(buf_str(&got)));
    arena_done(&a);
}

static void changes_are_shown_with_context(void **state)
{
    (void)state;
    check("a", "a", "");
    check("a", "b", "@@ -1 +1 @@\n-a\n+b\n");
    check("a\nb\nc", "a\nc", "@@ -1,3 +1,2 @@\n a\n-b\n c\n");
    check("a", "a\nb", "@@ -1 +1,2 @@\n a\n+b\n");
    check("1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\nx\n6\n7\n8",
          "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
    /* A gap of up to six lines joins two changes, a longer one parts them. */
    check("a\n1\n2\n3\n4\n5\n6\nb", "A\n1\n2\n3\n4\n5\n6\nB",
          "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
    check("a\n1\n2\n3\n4\n5\n6\n7\nb", "A\n1\n2\n3\n4\n5\n6\n7\nB",
          "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

static void the_longest_run_comes_first(void **state)
{
    (void)state;
    check(
        "{\n \"H\": {\n  \"P\": 1\n },\n \"G\": null,\n \"N\": null,\n \"R\": null\n}",
        "{\n \"H\": null,\n \"G\": null,\n \"N\": {\n  \"S\": 1\n },\n \"R\": null\n}",
        "@@ -1,8 +1,8 @@\n {\n- \"H\": {\n-  \"P\": 1\n+ \"H\": null,\n+ \"G\": null,\n+ \"N\": {\n"
        "+  \"S\": 1\n  },\n- \"G\": null,\n- \"N\": null,\n  \"R\": null\n }\n");
}

/* Texts of many equal lines, and of too many lines, end soon. */
static void large_texts_are_bounded(void **state)
{
    (void)state;
    struct arena a;
    autobuf one = { 0 }, other = { 0 }, out = { 0 };
    arena_init(&a);
    for (size_t i = 0; i < LIMIT_DIFF_LINES - 1; i++) {
        buf_printf(&one, "x%zu\n", i % 100);
        buf_printf(&other, "x%zu\n", (i * 7) % 100);
    }
    text_diff(&out, &a, buf_str(&one), buf_str(&other));
    assert_true(out.n > 0);
    buf_reset(&out);
    for (size_t i = 0; i < 10; i++)
        buf_str_add(&one, STR("more\n"));
    text_diff(&out, &a, buf_str(&one), buf_str(&other));
    assert_int_equal(out.n, 0);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_shown_with_context),
        cmocka_unit_test(the_longest_run_comes_first),
        cmocka_unit_test(large_texts_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
