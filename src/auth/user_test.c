#include "auth/user.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/access.h"
#include "base/idiom.h"

static void service_accounts_have_two_parts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *ns, *account; /* NULL: nobody's */
    } cases[] = {
        { "system:serviceaccount:kube-system:default", "kube-system", "default" },
        { "system:serviceaccount:a:b:c", NULL, NULL },
        { "system:serviceaccount:Bad_NS:b", NULL, NULL },
        { "system:serviceaccount:a:b/c", NULL, NULL },
        { "system:serviceaccount:a:", NULL, NULL },
        { "system:serviceaccount::b", NULL, NULL },
        { "system:serviceaccount:a", NULL, NULL },
        { "system:serviceaccounts:a:b", NULL, NULL },
        { "alice", NULL, NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str ns, name;
        bool is = user_service_account(str_of(cases[i].name), &ns, &name);
        assert_int_equal(is, cases[i].ns != NULL);
        if (is) {
            assert_true(str_eq(ns, str_of(cases[i].ns)));
            assert_true(str_eq(name, str_of(cases[i].account)));
        }
    }
}

static void service_accounts_are_named_and_grouped(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct str *groups;
    assert_true(str_eq(user_service_account_name(&a, STR("ns"), STR("sa")),
                       STR("system:serviceaccount:ns:sa")));
    assert_int_equal(user_service_account_groups(&a, STR("ns"), &groups), 2);
    assert_true(str_eq(groups[0], STR("system:serviceaccounts")));
    assert_true(str_eq(groups[1], STR("system:serviceaccounts:ns")));
    arena_done(&a);
}

static void groups_are_looked_up_whole(void **state)
{
    (void)state;
    const struct str groups[] = { STR("devs"), STR("ops") };
    const struct user u = { .name = STR("u"), .groups = groups, .n_groups = 2 };
    assert_true(user_is_in(&u, STR("ops")));
    assert_false(user_is_in(&u, STR("op")));
    assert_false(user_is_in(&(struct user){ .name = STR("u") }, STR("ops")));
}

static void refusals_say_who_what_and_where(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct user u = { .name = STR("al\"ice") };
    const struct {
        struct access q;
        const char *text;
    } cases[] = {
        { { .is_resource = true, .verb = STR("get"), .resource = STR("pods"), .ns = STR("n") },
          "User \"al\\\"ice\" cannot get resource \"pods\" in API group \"\" in the namespace "
          "\"n\"" },
        { { .is_resource = true,
            .verb = STR("list"),
            .group = STR("apps"),
            .resource = STR("deployments"),
            .sub = STR("scale") },
          "User \"al\\\"ice\" cannot list resource \"deployments/scale\" in API group \"apps\" at "
          "the cluster scope" },
        { { .verb = STR("post"), .path = STR("/x") },
          "User \"al\\\"ice\" cannot post path \"/x\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct access q = cases[i].q;
        q.user = &u;
        assert_string_equal(str_cstr(&a, access_refusal(&a, &q)), cases[i].text);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(service_accounts_have_two_parts),
        cmocka_unit_test(service_accounts_are_named_and_grouped),
        cmocka_unit_test(groups_are_looked_up_whole),
        cmocka_unit_test(refusals_say_who_what_and_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
