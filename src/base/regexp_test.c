/* Expectations are what Go's regexp package answers. */
#include "base/regexp.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"

static void finds(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text, *found; /* NULL: no match */
    } rows[] = {
        { "", "abc", "" },
        { "b", "abc", "b" },
        { "^b", "abc", NULL },
        { "^[a-z]([-a-z0-9]*[a-z0-9])?$", "my-name-1", "my-name-1" },
        { "^[a-z]([-a-z0-9]*[a-z0-9])?$", "my-name-", NULL },
        { "a|ab", "ab", "a" },
        { "(?:a|ab)(?:c|bcd)", "abcd", "abcd" },
        { "a+?", "aaa", "a" },
        { "a*", "baaa", "" },
        { "(?U)a+", "aaa", "a" },
        { "(?U)a+?", "aaa", "aaa" },
        { "x{2,4}", "xxxxx", "xxxx" },
        { "x{2,4}?", "xxxxx", "xx" },
        { "x{2,}", "xxxxx", "xxxxx" },
        { "x{3}", "xx", NULL },
        { "x{0}y", "xy", "y" },
        { "x{,2}", "x{,2}", "x{,2}" },
        { "a{2", "a{2", "a{2" },
        { "(a*)*b", "aaaab", "aaaab" },
        { "(|a)*", "aa", "" },
        { "(|a)+", "aa", "" },
        { "(a|b)*?c", "abac", "abac" },
        { ".", "\n", NULL },
        { "(?s).", "\n", "\n" },
        { "(?m)^b$", "a\nb\nc", "b" },
        { "^b$", "a\nb\nc", NULL },
        { "(?i)straSSe", "STRAsse", "STRAsse" },
        { "(?i)k", "\xe2\x84\xaa", "\xe2\x84\xaa" }, /* the Kelvin sign */
        { "(?i)\xe2\x84\xaa", "k", "k" },
        { "(?i)\xcf\x82", "\xce\xa3", "\xce\xa3" }, /* sigmas */
        { "(?i)a(?-i)b", "Ab", "Ab" },
        { "(?i)a(?-i)b", "AB", NULL },
        { "(?i:a)b", "Ab", "Ab" },
        { "(a(?i)b)c", "aBC", NULL },
        { "[^a-c]+", "abcdef", "def" },
        { "[]a]+", "a]b", "a]" },
        { "[^]a]+", "a]b", "b" },
        { "[a-]+", "-a", "-a" },
        { "[\\d\\-x]+", "a1-x", "1-x" },
        { "[[:alpha:]_]+", "12ab_", "ab_" },
        { "[[:^alpha:]]+", "12ab_", "12" },
        { "\\w+\\W", "ab c", "ab " },
        { "[\\D]+", "1ab2", "ab" },
        { "\\bfoo\\b", "a foo b", "foo" },
        { "\\bfoo\\b", "afoo b", NULL },
        { "\\Boo", "foo", "oo" },
        { "\\A\\x41\\x{42}\\103\\z", "ABC", "ABC" },
        { "\\Qa.b\\Ec", "a.bc", "a.bc" },
        { "\\Qa.b", "a.b", "a.b" },
        { "\\.\\*\\-\\/", ".*-/", ".*-/" },
        { "\\p{Greek}+", "abc\xce\xb1\xce\xb2", "\xce\xb1\xce\xb2" },
        { "\\pL+", "1\xc3\xa4\xc3\xb6.", "\xc3\xa4\xc3\xb6" },
        { "\\PL+", "ab12", "12" },
        { "\\p{^L}+", "ab12", "12" },
        { "[\\p{Lu}\\d]+", "aB1c", "B1" },
        { "(?i)\\p{Lu}+", "1ab", "ab" },
        { "^.{2}$", "\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac" }, /* characters, not bytes */
        { "(?P<name>a)(?<other>b)", "ab", "ab" },
        { "a||b", "b", "" },
        { "()", "x", "" },
        { "^*", "x", "" },
        { "\\Qab\\E*", "abbb", "abbb" },
        { "(?i)\\W", "a_s\xc5\xbf", NULL },
        { "a(?i)*", "aaa", "aaa" },
        { "(?P<n>a)(?P<n>b)", "ab", "ab" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct regexp *re;
        size_t start = 0, end = 0;
        if (regexp_compile(&a, str_of(rows[i].pattern), &re, &err) < 0)
            fail_msg("%s: " STR_FMT, rows[i].pattern, STR_ARG(err.msg));
        struct str text = str_of(rows[i].text);
        bool found = regexp_find(re, text, 0, NULL, &start, &end);
        if (found != !!rows[i].found || found != regexp_match(re, text, NULL))
            fail_msg("%s in %s: %d", rows[i].pattern, rows[i].text, found);
        struct str got = str_take(str_skip(text, start), end - start);
        if (found && !str_eq(got, str_of(rows[i].found)))
            fail_msg("%s in %s: " STR_FMT, rows[i].pattern, rows[i].text, STR_ARG(got));
    }
    arena_done(&a);
}

static void refuses(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "(a", "missing closing ): `(a`" },
        { "a)", "unexpected ): `a)`" },
        { "(?i", "missing closing ): `(?i`" },
        { "a[b", "missing closing ]: `[b`" },
        { "[a-", "missing closing ]: `[a-`" },
        { "[z-a]", "invalid character class range: `z-a`" },
        { "[[:foo:]]", "invalid character class range: `[:foo:]`" },
        { "\\p{Nope}", "invalid character class range: `\\p{Nope}`" },
        { "a**", "invalid nested repetition operator: `**`" },
        { "a*+?b", "invalid nested repetition operator: `*+?`" },
        { "*a", "missing argument to repetition operator: `*`" },
        { "(+)", "missing argument to repetition operator: `+`" },
        { "a|?", "missing argument to repetition operator: `?`" },
        { "{2}", "missing argument to repetition operator: `{2}`" },
        { "a{1001}", "invalid repeat count: `{1001}`" },
        { "a{3,2}", "invalid repeat count: `{3,2}`" },
        { "(a{100}){100}", "invalid repeat count: `{100}`" },
        { "a\\", "trailing backslash at end of expression: ``" },
        { "\\y", "invalid escape sequence: `\\y`" },
        { "\\8", "invalid escape sequence: `\\8`" },
        { "\\1", "invalid escape sequence: `\\1`" },
        { "\\x{110000}", "invalid escape sequence: `\\x{110000`" },
        { "a(?", "invalid or unsupported Perl syntax: `(?`" },
        { "\\Q\\E*", "missing argument to repetition operator: `*`" },
        { "(?=a)", "invalid or unsupported Perl syntax: `(?=`" },
        { "(?!a)", "invalid or unsupported Perl syntax: `(?!`" },
        { "(?i-)", "invalid or unsupported Perl syntax: `(?i-)`" },
        { "a{2}{1001}", "invalid repeat count: `{1001}`" },
        { "*?", "missing argument to repetition operator: `*?`" },
        { "(?P<a-b>a)", "invalid named capture: `(?P<a-b>`" },
        { "(?P<a", "invalid named capture: `(?P<a`" },
        { "\xff", "invalid UTF-8: `\xff`" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct regexp *re;
        assert_int_equal(regexp_compile(&a, str_of(rows[i][0]), &re, &err), -ERR_INVALID);
        struct str want = arena_printf(&a, "error parsing regexp: %s", rows[i][1]);
        if (!str_eq(err.msg, want))
            fail_msg("%s: " STR_FMT, rows[i][0], STR_ARG(err.msg));
    }
    arena_done(&a);
}

/* A pattern of so many thousand instructions and one. */
static struct str thousands(struct arena *a, unsigned n)
{
    autobuf pattern = { 0 };
    for (unsigned i = 0; i < n; i++)
        buf_str_add(&pattern, STR("(.{1000})"));
    return arena_str(a, buf_str(&pattern));
}

/* Where a backtracking matcher would take 2^n steps, and where a program would be huge. */
static void bounded(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct regexp *re;
    enum { N = 20000 };
    autofree char *text = mem_alloc(N + 1);
    memset(text, 'a', N);
    text[N] = 'b';
    assert_int_equal(regexp_compile(&a, STR("^(a*)*(a|aa)+c$"), &re, &err), 0);
    assert_false(regexp_match(re, (struct str){ text, N + 1 }, NULL));

    assert_int_equal(regexp_compile(&a, thousands(&a, LIMIT_REGEXP_INSTS / 1000 - 1), &re, &err),
                     0);
    assert_int_equal(regexp_compile(&a, thousands(&a, LIMIT_REGEXP_INSTS / 1000), &re, &err),
                     -ERR_INVALID);
    assert_true(str_starts(err.msg, STR("error parsing regexp: expression too large")));

    err_clear(&err);
    memset(text, '(', N);
    assert_int_equal(regexp_compile(&a, (struct str){ text, N }, &re, &err), -ERR_INVALID);
    assert_true(str_starts(err.msg, STR("error parsing regexp: expression nests too deeply")));
    arena_done(&a);
}

static void *finish(void *w)
{
    allowance_finish(w, ALLOWANCE_LATE);
    return NULL;
}

/* A match that would take ten thousand million steps, whose time ends under way. */
static void gives_up(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct regexp *re;
    struct allowance w = { 0 };
    pthread_t other;
    autofree char *text = mem_alloc(N);
    memset(text, 'a', N);
    struct str pattern = arena_printf(&a, STR_FMT "b", STR_ARG(thousands(&a, 90)));
    assert_int_equal(regexp_compile(&a, pattern, &re, &err), 0);
    assert_int_equal(pthread_create(&other, NULL, finish, &w), 0);
    assert_false(regexp_match(re, (struct str){ text, N }, &w));
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(allowance_ended(&w), ALLOWANCE_LATE);

    size_t start, end;
    assert_int_equal(regexp_compile(&a, STR("a"), &re, &err), 0);
    assert_true(regexp_match(re, STR("a"), NULL));
    assert_false(regexp_match(re, STR("a"), &w));
    assert_false(regexp_find(re, STR("a"), 0, &w, &start, &end));
    arena_done(&a);
}

static void goes_on(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct regexp *re;
    size_t start, end;
    assert_int_equal(regexp_compile(&a, STR("[0-9]+"), &re, &err), 0);
    struct str text = STR("a12b345");
    assert_true(regexp_find(re, text, 0, NULL, &start, &end));
    assert_true(start == 1 && end == 3);
    assert_true(regexp_find(re, text, end, NULL, &start, &end));
    assert_true(start == 4 && end == 7);
    assert_false(regexp_find(re, text, end, NULL, &start, &end));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),    cmocka_unit_test(refuses), cmocka_unit_test(bounded),
        cmocka_unit_test(gives_up), cmocka_unit_test(goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
