#include "auth/token_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

static struct token_file *read_good(const char *text)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct token_file *f = NULL;
    if (token_file_read(str_of(text), STR("f"), &f, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    arena_done(&a);
    return f;
}

static void check_user(const struct user *u, const char *name, const char *uid, size_t n_groups)
{
    assert_non_null(u);
    assert_true(str_eq(u->name, str_of(name)));
    assert_true(str_eq(u->uid, str_of(uid)));
    assert_int_equal(u->n_groups, n_groups);
    assert_true(user_is_in(u, USER_AUTHENTICATED));
}

static void lines_are_users(void **state)
{
    (void)state;
    struct token_file *f = read_good("t1,alice,u1,\"devs,everyone\"\r\n"
                                     "\n"
                                     "t2,bob,\n"
                                     "\"t\"\"3\",\"a, b\",u3,ops,ignored,more\n"
                                     ",nobody,u\n"
                                     "t1,carol,u4");
    check_user(token_file_user(f, STR("t1")), "carol", "u4", 1);
    check_user(token_file_user(f, STR("t2")), "bob", "", 1);
    check_user(token_file_user(f, STR("t\"3")), "a, b", "u3", 2);
    assert_true(user_is_in(token_file_user(f, STR("t\"3")), STR("ops")));
    assert_null(token_file_user(f, STR("")));
    assert_null(token_file_user(f, STR("t")));
    token_file_free(f);
}

static void groups_are_cut_at_commas(void **state)
{
    (void)state;
    struct token_file *f = read_good("t,u,1,\"a,b\"");
    check_user(token_file_user(f, STR("t")), "u", "1", 3);
    assert_true(user_is_in(token_file_user(f, STR("t")), STR("b")));
    token_file_free(f);
    f = read_good("");
    assert_null(token_file_user(f, STR("t")));
    token_file_free(f);
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "t,u", "token file 'f' must have at least 3 columns (token, user name, user uid), "
                 "found 2" },
        { "t,u,1\n\"t,u,1", "f: line 2: a quote is not closed" },
        { "\"t\"x,u,1", "f: line 1: text follows a closing quote" },
        { "t,u\"x,1", "f: line 1: a quote within a field" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct token_file *f;
        assert_int_equal(token_file_read(str_of(cases[i].text), STR("f"), &f, &err), -ERR_INVALID);
        assert_string_equal(str_cstr(&a, err.msg), cases[i].message);
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_users),
        cmocka_unit_test(groups_are_cut_at_commas),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
