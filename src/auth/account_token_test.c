/* Tokens of service accounts on a cluster of a few objects. */
#include "auth/account_token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/suite_auth.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"

enum { NOW = 1800000000 };

/* ---- The fixture ---- */

struct plane {
    struct arena arena;
    struct signature_key *key, *other;
    const struct signature_key *keys[1];
    struct account_rules rules;
    struct str legacy;         /* what the Secret `old` holds */
    const char *legacy_labels; /* and its labels; NULL: none */
    const char *sa;            /* the account; NULL: the one below */
};

static const struct str issuers[] = { STR("https://issuer"), STR("https://older") };
static const struct str audiences[] = { STR("https://issuer") };

static struct signature_key *new_key(struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct signature_key *key;
    struct str pem;
    assert_int_equal(signature_make(a, &pem, &err), 0);
    assert_int_equal(signature_key_read(pem, &key, &err), 0);
    return key;
}

static int setup(void **state)
{
    struct plane *p = test_calloc(1, sizeof(*p));
    arena_init(&p->arena);
    p->key = new_key(&p->arena);
    p->other = new_key(&p->arena);
    p->keys[0] = p->key;
    p->rules = (struct account_rules){ .issuers = issuers,
                                       .n_issuers = 2,
                                       .keys = p->keys,
                                       .n_keys = 1,
                                       .audiences = audiences,
                                       .n_audiences = 1 };
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct plane *p = *state;
    signature_key_free(p->key);
    signature_key_free(p->other);
    arena_done(&p->arena);
    test_free(p);
    return 0;
}

static const struct {
    const char *plural, *ns, *name, *obj;
} objects[] = {
    { "serviceaccounts", "ns", "sa", "{'metadata':{'uid':'u1'}}" },
    { "serviceaccounts", "ns", "leaving",
      "{'metadata':{'uid':'u2','deletionTimestamp':'2020-01-01T00:00:00Z'}}" },
    { "pods", "ns", "p", "{'metadata':{'uid':'u3'}}" },
    { "nodes", "", "n", "{'metadata':{'uid':'u4'}}" },
    { "secrets", "ns", "s", "{'metadata':{'uid':'u5'}}" },
};

static int read_object(void *arg, struct arena *a, const char *plural, struct str ns,
                       struct str name, struct value *ret, struct err *err)
{
    struct plane *p = arg;
    (void)err;
    if (strcmp(plural, "secrets") == 0 && str_eq(name, STR("old"))) {
        autobuf text = { 0 };
        struct value data = value_object();
        base64_encode(&text, p->legacy);
        value_put(a, &data, STR("token"), value_string(arena_str(a, buf_str(&text))));
        *ret = suite_tree(a, "{'metadata':{'uid':'u6'}}");
        if (p->legacy_labels)
            value_put(a, value_ensure(a, ret, STR("metadata")), STR("labels"),
                      suite_tree(a, p->legacy_labels));
        value_put(a, ret, STR("data"), data);
        return 1;
    }
    if (p->sa && strcmp(plural, "serviceaccounts") == 0) {
        *ret = suite_tree(a, p->sa);
        return 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        if (strcmp(objects[i].plural, plural) != 0 || !str_eq(str_of(objects[i].ns), ns) ||
            !str_eq(str_of(objects[i].name), name))
            continue;
        *ret = suite_tree(a, objects[i].obj);
        return 1;
    }
    return 0;
}

static struct str sign(struct plane *p, const struct signature_key *key, const char *claims)
{
    struct err err = ERR_INIT(&p->arena);
    struct value tree = suite_tree(&p->arena, claims);
    struct str token;
    assert_int_equal(jwt_sign(&p->arena, key, &tree, &token, &err), 0);
    return token;
}

/* Who that is, or why nobody. */
static int find(struct plane *p, struct str token, struct str wanted, struct account_user *ret,
                struct err *err)
{
    const struct account_objects all = { read_object, p };
    struct account_claims claims;
    int r = account_token_open(&p->rules, &p->arena, token, &claims, err);
    if (r <= 0)
        return r;
    r = account_token_user(&p->rules, &p->arena, token, &claims, &wanted, 1, NOW, &all, ret, err);
    return r < 0 ? r : 1;
}

#define ACCOUNT "'serviceaccount':{'name':'sa','uid':'u1'}"
#define GOOD(k8s)                                                                          \
    "{'iss':'https://issuer','aud':['https://issuer','vault'],'exp':1800000100,'jti':'j'," \
    "'kubernetes.io':{'namespace':'ns'," k8s "}}"

/* ---- The tests ---- */

static void a_good_token_makes_the_account(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    struct str token = sign(p, p->key,
                            GOOD(ACCOUNT ",'pod':{'name':'p','uid':'u3'},"
                                         "'node':{'name':'gone','uid':'x'}"));
    assert_int_equal(find(p, token, STR("vault"), &u, &err), 1);
    assert_true(str_eq(u.user.name, STR("system:serviceaccount:ns:sa")));
    assert_true(str_eq(u.user.uid, STR("u1")));
    assert_int_equal(u.user.n_groups, 3);
    assert_true(user_is_in(&u.user, STR("system:serviceaccounts:ns")));
    assert_true(user_is_in(&u.user, USER_AUTHENTICATED));
    assert_int_equal(u.user.n_extra, 5); /* credential, pod and its node */
    assert_int_equal(u.n_audiences, 1);
    assert_true(str_eq(u.audiences[0], STR("vault")));
}

static void what_does_not_hold_is_told(void **state)
{
    struct plane *p = *state;
    static const struct {
        const char *claims, *why;
    } cases[] = {
        { "{'iss':'https://issuer','aud':['vault'],'kubernetes.io':{'namespace':'ns'," ACCOUNT "}}",
          "token audiences [\"vault\"] is invalid for the target audiences [\"https://issuer\"]" },
        { "{'iss':'https://issuer','exp':1799999000,'kubernetes.io':{'namespace':'ns'," ACCOUNT
          "}}",
          "service account token has expired" },
        { "{'iss':'https://issuer','nbf':1800001000,'kubernetes.io':{'namespace':'ns'," ACCOUNT
          "}}",
          "service account token is not valid yet" },
        { "{'iss':'https://issuer','iat':1800001000,'kubernetes.io':{'namespace':'ns'," ACCOUNT
          "}}",
          "service account token is issued in the future" },
        { "{'iss':'https://issuer','exp':1e30,'kubernetes.io':{'namespace':'ns'," ACCOUNT "}}",
          "service account token has expired" },
        { "{'iss':'https://issuer','exp':'1','kubernetes.io':{'namespace':'ns'," ACCOUNT "}}",
          "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate" },
        { "{'iss':'https://issuer','kubernetes.io':{'namespace':'ns','warnafter':[]," ACCOUNT "}}",
          "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate" },
        { "{'iss':'https://issuer','aud':5,'kubernetes.io':{'namespace':'ns'," ACCOUNT "}}",
          "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience" },
        { "{'iss':'https://issuer','aud':['https://issuer',5],'kubernetes.io':{'namespace':"
          "'ns'," ACCOUNT "}}",
          "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience" },
        { GOOD("'serviceaccount':{'uid':'u1'}"), "resource name may not be empty" },
        { GOOD("'serviceaccount':{'name':'absent','uid':'u1'}"),
          "serviceaccounts \"absent\" not found" },
        { GOOD("'serviceaccount':{'name':'sa','uid':'u9'}"),
          "service account UID (u1) does not match claim (u9)" },
        { GOOD("'serviceaccount':{'name':'leaving','uid':'u2'}"),
          "service account ns/leaving has been deleted" },
        { GOOD(ACCOUNT ",'pod':{'name':'absent','uid':'u3'}"),
          "service account token has been invalidated" },
        { GOOD(ACCOUNT ",'pod':{'name':'p','uid':'u9'}"),
          "pod UID (u3) does not match service account pod ref claim (u9)" },
        { GOOD(ACCOUNT ",'secret':{'name':'absent','uid':'u5'}"),
          "service account token has been invalidated" },
        { GOOD(ACCOUNT ",'node':{'name':'n','uid':'u9'}"),
          "node UID (u4) does not match service account node ref claim (u9)" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT(&p->arena);
        struct account_user u;
        int r = find(p, sign(p, p->key, cases[i].claims), audiences[0], &u, &err);
        assert_int_equal(r, -ERR_UNAUTHORIZED);
        assert_string_equal(str_cstr(&p->arena, err.msg), cases[i].why);
    }
}

/* Clocks may differ by a minute. */
static void a_minute_is_forgiven(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    struct str late = sign(p, p->key,
                           "{'iss':'https://older','exp':1799999950,'kubernetes.io':{'namespace':"
                           "'ns'," ACCOUNT "}}"),
               early = sign(p, p->key,
                            "{'iss':'https://older','nbf':1800000050,'kubernetes.io':{'namespace':"
                            "'ns'," ACCOUNT "}}");
    assert_int_equal(find(p, late, audiences[0], &u, &err), 1);
    assert_int_equal(find(p, early, audiences[0], &u, &err), 1);
}

static void only_our_keys_and_issuers_count(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    assert_int_equal(find(p, STR("garbage"), audiences[0], &u, &err), 0);
    assert_int_equal(find(p, sign(p, p->key, "{'iss':'https://else'}"), audiences[0], &u, &err), 0);
    assert_int_equal(find(p, sign(p, p->other, GOOD(ACCOUNT)), audiences[0], &u, &err),
                     -ERR_UNAUTHORIZED);
    assert_string_equal(str_cstr(&p->arena, err.msg), "invalid signature, no keys found");
    /* Forged and over: the signature is what is told. */
    struct str forged = sign(p, p->key, "{'iss':'https://issuer','exp':1}");
    char *text = arena_dup(&p->arena, forged.p, forged.n);
    text[forged.n - 10] = text[forged.n - 10] == 'A' ? 'B' : 'A';
    err_clear(&err);
    assert_int_equal(find(p, (struct str){ text, forged.n }, audiences[0], &u, &err),
                     -ERR_UNAUTHORIZED);
    assert_string_equal(str_cstr(&p->arena, err.msg),
                        "go-jose/go-jose: error in cryptographic primitive");
}

/* A cache may forget the claims while the request still runs. */
static void the_user_outlives_the_claims(void **state)
{
    struct plane *p = *state;
    struct arena short_lived;
    struct err err = ERR_INIT(&p->arena);
    const struct account_objects all = { read_object, p };
    struct account_claims claims;
    struct account_user u;
    struct str token = sign(p, p->key, GOOD(ACCOUNT ",'pod':{'name':'p','uid':'u3'}"));
    arena_init(&short_lived);
    assert_int_equal(account_token_open(&p->rules, &short_lived, token, &claims, &err), 1);
    assert_int_equal(account_token_user(&p->rules, &p->arena, token, &claims, &audiences[0], 1, NOW,
                                        &all, &u, &err),
                     0);
    arena_done(&short_lived);
    assert_string_equal(str_cstr(&p->arena, u.user.uid), "u1");
    assert_string_equal(str_cstr(&p->arena, u.user.extra[1].values[0]), "p");
    assert_string_equal(str_cstr(&p->arena, u.user.extra[2].values[0]), "u3");
}

#define LEGACY(sub, secret)                                                               \
    "{'iss':'kubernetes/serviceaccount','sub':'" sub                                      \
    "','kubernetes.io/serviceaccount/namespace':'ns','kubernetes.io/serviceaccount/"      \
    "secret.name':'" secret "','kubernetes.io/serviceaccount/service-account.name':'sa'," \
    "'kubernetes.io/serviceaccount/service-account.uid':'u1'}"

static void a_legacy_token_stands_in_its_secret(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    struct str token = sign(p, p->key, LEGACY("system:serviceaccount:ns:sa", "old"));
    p->legacy = token;
    assert_int_equal(find(p, token, audiences[0], &u, &err), 1);
    assert_int_equal(u.user.n_extra, 0);
    p->legacy = STR("another");
    assert_int_equal(find(p, token, audiences[0], &u, &err), -ERR_UNAUTHORIZED);
    assert_string_equal(str_cstr(&p->arena, err.msg), "Token does not match server's copy");
    err_clear(&err);
    token = sign(p, p->key, LEGACY("system:serviceaccount:ns:sa", "absent"));
    assert_int_equal(find(p, token, audiences[0], &u, &err), -ERR_UNAUTHORIZED);
    assert_string_equal(str_cstr(&p->arena, err.msg), "Token has been invalidated");
    err_clear(&err);
    token = sign(p, p->key, LEGACY("system:serviceaccount:ns:other", "old"));
    assert_int_equal(find(p, token, audiences[0], &u, &err), -ERR_UNAUTHORIZED);
    assert_string_equal(str_cstr(&p->arena, err.msg), "sub claim is invalid");
}

static void the_use_of_a_legacy_token_is_known(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    char day[ACCOUNT_DAY_BYTES];
    p->legacy = sign(p, p->key, LEGACY("system:serviceaccount:ns:sa", "old"));
    assert_int_equal(find(p, p->legacy, audiences[0], &u, &err), 1);
    assert_true(u.use.has_no_audience);
    assert_string_equal(str_cstr(&p->arena, u.use.subject), "system:serviceaccount:ns:sa");
    assert_string_equal(str_cstr(&p->arena, u.use.secret_ns), "ns");
    assert_string_equal(str_cstr(&p->arena, u.use.secret), "old");
    assert_string_equal(str_cstr(&p->arena, u.use.secret_uid), "u6");
    assert_false(u.use.is_automatic);
    assert_string_equal(str_cstr(&p->arena, account_use_day(&u.use, NOW, day)), "2027-01-15");
    p->sa = "{'metadata':{'uid':'u1'},'secrets':[{'name':'x'},{'name':'old'}]}";
    assert_int_equal(find(p, p->legacy, audiences[0], &u, &err), 1);
    assert_true(u.use.is_automatic);
}

static void a_day_is_noted_once(void **state)
{
    static const struct {
        const char *last_used;
        bool again;
    } cases[] = {
        { "2027-01-14", true },
        { "2027-01-15", false },
        { "2027-01-16", false },
        { "2027-01-17", true },
        { "", true },
    };
    char day[ACCOUNT_DAY_BYTES];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct account_use use = { .secret = STR("s"),
                                         .last_used = str_of(cases[i].last_used) };
        assert_int_equal(account_use_day(&use, NOW, day).n > 0, cases[i].again);
    }
    const struct account_use none = { 0 };
    assert_int_equal(account_use_day(&none, NOW, day).n, 0);
}

static void a_label_ends_a_legacy_token(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    p->legacy = sign(p, p->key, LEGACY("system:serviceaccount:ns:sa", "old"));
    p->legacy_labels = "{'kubernetes.io/legacy-token-last-used':'2027-01-15'}";
    assert_int_equal(find(p, p->legacy, audiences[0], &u, &err), 1);
    assert_string_equal(str_cstr(&p->arena, u.use.last_used), "2027-01-15");
    p->legacy_labels = "{'kubernetes.io/legacy-token-invalid-since':'2027-01-01'}";
    assert_int_equal(find(p, p->legacy, audiences[0], &u, &err), -ERR_UNAUTHORIZED);
    assert_string_equal(
        str_cstr(&p->arena, err.msg),
        "the token in secret ns/old for service account ns/sa has been marked invalid. Use tokens "
        "from the TokenRequest API or manually created secret-based tokens, or remove the "
        "'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use "
        "of this token");
}

static void a_legacy_token_ends_with_its_account(void **state)
{
    static const struct {
        const char *account, *message;
    } cases[] = {
        { "{'metadata':{'uid':'u9'}}", "ServiceAccount UID (u9) does not match claim (u1)" },
        { "{'metadata':{'uid':'u1','deletionTimestamp':'2027-01-15T08:00:00Z'}}",
          "ServiceAccount ns/sa has been deleted" },
    };
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    p->legacy = sign(p, p->key, LEGACY("system:serviceaccount:ns:sa", "old"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        p->sa = cases[i].account;
        assert_int_equal(find(p, p->legacy, audiences[0], &u, &err), -ERR_UNAUTHORIZED);
        assert_string_equal(str_cstr(&p->arena, err.msg), cases[i].message);
        assert_int_equal(u.use.secret.n, 0);
        err_clear(&err);
    }
}

static void an_old_token_is_stale(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    assert_int_equal(
        find(p, sign(p, p->key, GOOD(ACCOUNT ",'warnafter':1799999993")), audiences[0], &u, &err),
        1);
    assert_true(u.use.is_stale);
    assert_int_equal(u.use.stale_sec, 7);
    assert_false(u.use.has_no_audience);
    assert_int_equal(
        find(p, sign(p, p->key, GOOD(ACCOUNT ",'warnafter':1800000001")), audiences[0], &u, &err),
        1);
    assert_false(u.use.is_stale);
}

/* What is granted is what is believed. */
static void what_we_make_we_believe(void **state)
{
    struct plane *p = *state;
    struct err err = ERR_INIT(&p->arena);
    struct account_user u;
    struct value list = suite_tree(&p->arena, "['https://issuer']");
    const struct account_grant g = { .ns = STR("ns"),
                                     .name = STR("sa"),
                                     .uid = STR("u1"),
                                     .jti = STR("j"),
                                     .audiences = &list,
                                     .now_sec = NOW,
                                     .seconds = 600,
                                     .kind = "secret",
                                     .bound_name = STR("s"),
                                     .bound_uid = STR("u5") };
    struct value claims = account_token_claims(&p->arena, issuers[0], &g);
    struct str token;
    assert_int_equal(jwt_sign(&p->arena, p->key, &claims, &token, &err), 0);
    assert_int_equal(find(p, token, audiences[0], &u, &err), 1);
    int64_t exp = 0;
    assert_true(jwt_time(value_get(&claims, STR("exp")), &exp));
    assert_int_equal(exp, NOW + 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_good_token_makes_the_account, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_hold_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(a_minute_is_forgiven, setup, teardown),
        cmocka_unit_test_setup_teardown(only_our_keys_and_issuers_count, setup, teardown),
        cmocka_unit_test_setup_teardown(the_user_outlives_the_claims, setup, teardown),
        cmocka_unit_test_setup_teardown(a_legacy_token_stands_in_its_secret, setup, teardown),
        cmocka_unit_test_setup_teardown(the_use_of_a_legacy_token_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(a_day_is_noted_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_label_ends_a_legacy_token, setup, teardown),
        cmocka_unit_test_setup_teardown(a_legacy_token_ends_with_its_account, setup, teardown),
        cmocka_unit_test_setup_teardown(an_old_token_is_stale, setup, teardown),
        cmocka_unit_test_setup_teardown(what_we_make_we_believe, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
