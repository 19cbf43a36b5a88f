/* URLs and what Go says of bad ones. */
#include "api/go/go_url.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct row {
    const char *text;
    const char *scheme, *user, *host, *query, *fragment;
};

static void parts_are_found(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "", "", "", "", "", "" },
        { "https://h", "https", "", "h", "", "" },
        { "HTTPS://h:1/p?q=1#f", "https", "", "h:1", "q=1", "f" },
        { "https://u:p@h/x", "https", "u:p", "h", "", "" },
        { "https://a@b@h", "https", "a@b", "h", "", "" },
        { "https://[::1]:443/", "https", "", "[::1]:443", "", "" },
        { "https://h:", "https", "", "h:", "", "" },
        { "https:///p", "https", "", "", "", "" },
        { "mailto:a@b", "mailto", "", "", "", "" },
        { "//h/p", "", "", "h", "", "" },
        { "/p:1", "", "", "", "", "" },
        { "h/p", "", "", "", "", "" },
        { "?a", "", "", "", "a", "" },
        { "#", "", "", "", "", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        struct go_url url;
        arena_init(&a);
        const char *fault = go_url_parse(&a, str_of(rows[i].text), &url);
        if (fault)
            fail_msg("%s: %s", rows[i].text, fault);
        assert_true(str_eq(url.scheme, str_of(rows[i].scheme)));
        assert_true(str_eq(url.user, str_of(rows[i].user)));
        assert_true(str_eq(url.host, str_of(rows[i].host)));
        assert_true(str_eq(url.query, str_of(rows[i].query)));
        assert_true(str_eq(url.fragment, str_of(rows[i].fragment)));
        assert_int_equal(url.has_user, rows[i].user[0] != 0);
        arena_done(&a);
    }
}

static void faults_have_words(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { ":", "missing protocol scheme" },
        { "https://h:x", "invalid port \":x\" after host" },
        { "https://[::1", "missing ']' in host" },
        { "https://[::1]x", "invalid port \"x\" after host" },
        { "https://a b", "invalid character \" \" in host name" },
        { "https://h/%zz", "invalid URL escape \"%zz\"" },
        { "https://h/%1", "invalid URL escape \"%1\"" },
        { "a:b:c/%", NULL },
        { "a b:c", "first path segment in URL cannot contain colon" },
        { "1:x", "first path segment in URL cannot contain colon" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        struct go_url url;
        arena_init(&a);
        const char *fault = go_url_parse(&a, str_of(rows[i][0]), &url);
        if (!rows[i][1]) {
            assert_null(fault);
        } else {
            struct str want = arena_printf(&a, "parse \"%s\": %s", rows[i][0], rows[i][1]);
            if (!fault || !str_eq(str_of(fault), want))
                fail_msg("%s: want " STR_FMT ", have %s", rows[i][0], STR_ARG(want),
                         fault ? fault : "no fault");
        }
        arena_done(&a);
    }
}

static void control_characters_are_refused(void **state)
{
    (void)state;
    struct arena a;
    struct go_url url;
    arena_init(&a);
    assert_string_equal(go_url_parse(&a, STR("https://h/\n"), &url),
                        "parse \"https://h/\\n\": net/url: invalid control character in URL");
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_found),
        cmocka_unit_test(faults_have_words),
        cmocka_unit_test(control_characters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
