#include "auth/bootstrap_token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/suite_auth.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"

#define TOKEN STR("abc123.0123456789abcdef")
enum { NOW = 1800000000 }; /* 2027-01-15 */

/* A Secret from fields in the clear. */
static struct value secret(struct arena *a, const char *type, const char *json)
{
    struct value plain = suite_tree(a, json), data = value_object(), obj = value_object();
    value_each_field (f, &plain) {
        autobuf text = { 0 };
        base64_encode(&text, value_str(&f->val));
        value_put(a, &data, f->key, value_string(arena_str(a, buf_str(&text))));
    }
    value_put(a, &obj, STR("type"), value_string(str_of(type)));
    value_put(a, &obj, STR("data"), data);
    return obj;
}

#define TYPE "bootstrap.kubernetes.io/token"
#define GOOD "'token-id':'abc123','token-secret':'0123456789abcdef'"
#define USED "'usage-bootstrap-authentication':'true'"

static void secrets_make_users_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *type, *data;
        int result;
    } cases[] = {
        { TYPE, "{" GOOD "," USED "}", 1 },
        { TYPE, "{" GOOD "," USED ",'expiration':'2099-01-01T00:00:00Z'}", 1 },
        { TYPE, "{" GOOD "," USED ",'expiration':'2020-01-01T00:00:00Z'}", 0 },
        { TYPE, "{" GOOD "," USED ",'expiration':'soon'}", 0 },
        { TYPE, "{" GOOD "}", 0 },
        { TYPE, "{" GOOD ",'usage-bootstrap-authentication':'false'}", 0 },
        { TYPE, "{'token-id':'abc123'," USED "}", 0 },
        { TYPE, "{'token-id':'abc124','token-secret':'0123456789abcdef'," USED "}", 0 },
        { TYPE, "{'token-id':'abc123','token-secret':'0123456789abcdee'," USED "}", 0 },
        { "Opaque", "{" GOOD "," USED "}", 0 },
        { TYPE, "{" GOOD "," USED ",'auth-extra-groups':'system:masters'}", -ERR_UNAUTHORIZED },
        { TYPE, "{" GOOD "," USED ",'auth-extra-groups':'system:bootstrappers:'}",
          -ERR_UNAUTHORIZED },
        { TYPE, "{" GOOD "," USED ",'auth-extra-groups':'system:bootstrappers:a-'}",
          -ERR_UNAUTHORIZED },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct user u;
        struct value s = secret(&a, cases[i].type, cases[i].data);
        int r = bootstrap_token_user(&a, TOKEN, &s, NOW, &u, &err);
        if (r != cases[i].result)
            fail_msg("%s: %d", cases[i].data, r);
        arena_done(&a);
    }
}

static void groups_are_sorted_and_bounded(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct user u;
    struct value s = secret(&a, TYPE,
                            "{" GOOD "," USED ",'auth-extra-groups':'system:bootstrappers:z,"
                            "system:bootstrappers:a:b,system:bootstrappers:z'}");
    assert_int_equal(bootstrap_token_user(&a, TOKEN, &s, NOW, &u, &err), 1);
    assert_true(str_eq(u.name, STR("system:bootstrap:abc123")));
    assert_int_equal(u.n_groups, 4);
    assert_true(str_eq(u.groups[0], STR("system:bootstrappers")));
    assert_true(str_eq(u.groups[1], STR("system:bootstrappers:a:b")));
    assert_true(str_eq(u.groups[2], STR("system:bootstrappers:z")));
    assert_true(str_eq(u.groups[3], USER_AUTHENTICATED));
    arena_done(&a);
}

static void only_their_shape_names_a_secret(void **state)
{
    (void)state;
    static const char *const others[] = { "",
                                          "abc123",
                                          "abc123.",
                                          "abc123.0123456789abcde",
                                          "ABC123.0123456789abcdef",
                                          "abc123.0123456789abcdeF",
                                          "abc123.0123456789abcdef0",
                                          "abc12/.0123456789abcdef" };
    struct arena a;
    arena_init(&a);
    struct str name;
    assert_true(bootstrap_token_secret(&a, TOKEN, &name));
    assert_true(str_eq(name, STR("bootstrap-token-abc123")));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(bootstrap_token_secret(&a, str_of(others[i]), &name));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_make_users_or_not),
        cmocka_unit_test(groups_are_sorted_and_bounded),
        cmocka_unit_test(only_their_shape_names_a_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
