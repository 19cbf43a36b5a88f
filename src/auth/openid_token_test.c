/* Whether a token of an issuer is good, and whom it makes. */
#include "auth/openid_token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/suite_auth.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"

#define HEAD         "{apiVersion: apiserver.config.k8s.io/v1, kind: AuthenticationConfiguration, jwt: [{"
#define ISSUER       "issuer: {url: 'https://i', audiences: [a]}, "
#define CONFIG(rest) HEAD ISSUER rest "}]}"
#define SUB          "claimMappings: {username: {claim: sub, prefix: 'p:'}"

static struct arena a;

static int setup(void **state)
{
    (void)state;
    arena_init(&a);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&a);
    return 0;
}

static struct authentication_config config_of(const char *text)
{
    struct err err = ERR_INIT(&a);
    const struct authentication_own own = { 0 };
    struct authentication_config c;
    if (authentication_config_read(&a, str_of(text), &own, &c, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return c;
}

static struct jwt token_of(const char *claims)
{
    return (struct jwt){ .alg = STR("RS256"), .claims = suite_tree(&a, claims) };
}

static void add_texts(struct buf *out, const struct str *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s" STR_FMT, i ? "," : "", STR_ARG(texts[i]));
}

/* `NAME/UID/GROUP,GROUP/KEY=VALUE,VALUE/...`, or what is wrong. */
static const char *user_text(const char *config, const char *claims)
{
    struct authentication_config c = config_of(config);
    struct jwt t = token_of(claims);
    struct user u;
    struct err err = ERR_INIT(&a);
    autobuf out = { 0 };
    if (openid_token_user(&c.jwt[0], &a, &t, NULL, OPENID_BUDGET, &u, &err) < 0) {
        assert_int_equal(err.code, ERR_UNAUTHORIZED);
        return str_cstr(&a, err.msg);
    }
    buf_printf(&out, STR_FMT "/" STR_FMT "/", STR_ARG(u.name), STR_ARG(u.uid));
    add_texts(&out, u.groups, u.n_groups);
    for (size_t i = 0; i < u.n_extra; i++) {
        buf_printf(&out, "/" STR_FMT "=", STR_ARG(u.extra[i].key));
        add_texts(&out, u.extra[i].values, u.extra[i].n_values);
    }
    return str_cstr(&a, buf_str(&out));
}

struct row {
    const char *config, *claims, *wanted;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = user_text(rows[i].config, rows[i].claims);
        if (strcmp(got, rows[i].wanted) != 0)
            fail_msg("%s\n%s\n gives %s\n not   %s", rows[i].config, rows[i].claims, got,
                     rows[i].wanted);
    }
}

static void claims_make_a_user(void **state)
{
    (void)state;
    static const char plain[] = CONFIG(SUB ", groups: {claim: g, prefix: 'q:'}, uid: {claim: u}}"),
                      mail[] = CONFIG("claimMappings: {username: {claim: email, prefix: ''}}");
    static const struct row rows[] = {
        { plain, "{'sub':'me','u':'1','g':['x','y'],'jti':'7'}",
          "p:me/1/q:x,q:y/authentication.kubernetes.io/credential-id=JTI=7" },
        { plain, "{'sub':'me','u':'1','g':'x'}", "p:me/1/q:x" },
        { plain, "{'sub':'me','u':'1'}", "p:me/1/" },
        { plain, "{'sub':'me','u':'1','g':null}", "p:me/1/" },
        { plain, "{'u':'1'}", "oidc: parse username claims \"sub\": claim not present" },
        { plain, "{'sub':1,'u':'1'}",
          "oidc: parse username claims \"sub\": json: cannot unmarshal number into Go value of "
          "type string" },
        { plain, "{'sub':'me','u':'1','g':[1]}",
          "oidc: parse groups claim \"g\": json: cannot unmarshal array into Go value of type "
          "string" },
        { plain, "{'sub':'me','u':'1','g':{}}",
          "oidc: parse groups claim \"g\": json: cannot unmarshal object into Go value of type "
          "string" },
        { plain, "{'sub':'me'}", "oidc: parse uid claim \"u\": claim not present" },
        { mail, "{'email':'m@e'}", "m@e//" },
        { mail, "{'email':'m@e','email_verified':true}", "m@e//" },
        { mail, "{'email':'m@e','email_verified':false}", "oidc: email not verified" },
        { mail, "{'email':'m@e','email_verified':'true'}",
          "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type "
          "bool" },
        { mail, "{'email':''}", "oidc: the username is empty" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void expressions_make_a_user(void **state)
{
    (void)state;
    static const char name[] =
        CONFIG("claimMappings: {username: {expression: 'claims.user.name + \"@\" + claims.hd'}}"),
                      groups[] = CONFIG(SUB ", groups: {expression: claims.roles}}"),
                      extra[] = CONFIG(SUB ", extra: [{key: e.org/a, valueExpression: "
                                           "'claims.?tier.orValue(\"none\")'}, {key: e.org/b, "
                                           "valueExpression: claims.b}]}"),
                      dotted[] = CONFIG(
                          "claimMappings: {username: {expression: claims.a__dot__b.c__slash__d}}"),
                      uid[] = CONFIG(SUB ", uid: {expression: claims.n}}");
    static const struct row rows[] = {
        { name, "{'user':{'name':'me'},'hd':'e.org'}", "me@e.org//" },
        { name, "{'user':{},'hd':'e.org'}",
          "oidc: error evaluating username claim expression: expression 'claims.user.name + \"@\" "
          "+ claims.hd' resulted in error: no such key: name" },
        { groups, "{'sub':'me','roles':['x','','y']}", "p:me//x,y" },
        { groups, "{'sub':'me','roles':'x'}", "p:me//x" },
        { groups, "{'sub':'me','roles':null}", "p:me//" },
        { groups, "{'sub':'me','roles':[1]}",
          "oidc: error evaluating group claim expression: expression must return a string or a "
          "list of strings" },
        { extra, "{'sub':'me','b':['1','2']}", "p:me///e.org/a=none/e.org/b=1,2" },
        { extra, "{'sub':'me','b':''}", "p:me///e.org/a=none" },
        { extra, "{'sub':'me','b':true}",
          "oidc: error evaluating extra claim expression: claims.b: expression must return a "
          "string or a list of strings" },
        { dotted, "{'a.b':{'c/d':'me'}}", "me//" },
        { dotted, "{'a.b':{'c/d':''}}", "oidc: empty username via CEL expression is not allowed" },
        { uid, "{'sub':'me','n':1}",
          "oidc: error evaluating uid claim expression: uid claim expression must return a "
          "string" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void rules_refuse_users(void **state)
{
    (void)state;
    static const char required[] =
        CONFIG(SUB "}, claimValidationRules: [{claim: hd, requiredValue: e.org}]"),
                      lifetime[] = CONFIG(
                          SUB "}, claimValidationRules: [{expression: 'claims.exp - claims.nbf <= "
                              "86400', message: too long}]"),
                      system[] =
                          CONFIG(SUB ", groups: {claim: g, prefix: ''}}, userValidationRules: ["
                                     "{expression: 'user.groups.all(g, !g.startsWith(\"system:\"))'"
                                     ", message: reserved}]"),
                      costly[] =
                          CONFIG(SUB "}, claimValidationRules: [{expression: 'claims.l.all(x, "
                                     "claims.l.all(y, claims.l.all(z, x != y || z != 7.5)))'}]");
    static const struct row rows[] = {
        { required, "{'sub':'me','hd':'e.org'}", "p:me//" },
        { required, "{'sub':'me'}", "oidc: required claim hd not present in ID token" },
        { required, "{'sub':'me','hd':'f.org'}",
          "oidc: required claim hd value does not match. Got = f.org, want = e.org" },
        { required, "{'sub':'me','hd':1}",
          "oidc: parse claim hd: json: cannot unmarshal number into Go value of type string" },
        { lifetime, "{'sub':'me','exp':86410,'nbf':10}", "p:me//" },
        { lifetime, "{'sub':'me','exp':86411,'nbf':10}",
          "oidc: error evaluating claim validation expression: validation expression 'claims.exp - "
          "claims.nbf <= 86400' failed: too long" },
        { system, "{'sub':'me','g':['x']}", "p:me//x" },
        { system, "{'sub':'me'}", "p:me//" },
        { system, "{'sub':'me','g':['x','system:masters']}",
          "oidc: error evaluating user info validation rule: validation expression "
          "'user.groups.all(g, !g.startsWith(\"system:\"))' failed: reserved" },
    };
    check_rows(rows, ARRAY_LEN(rows));
    struct buf many = { 0 };
    buf_str_add(&many, STR("{'sub':'me','l':[0"));
    for (int i = 1; i < 200; i++)
        buf_printf(&many, ",%d", i);
    buf_str_add(&many, STR("]}"));
    const char *got = user_text(costly, str_cstr(&a, buf_str(&many)));
    buf_done(&many);
    assert_non_null(strstr(got, "cost"));
}

static const char *check_text(const char *config, const char *claims, int64_t now_sec)
{
    struct authentication_config c = config_of(config);
    struct jwt t = token_of(claims);
    struct err err = ERR_INIT(&a);
    if (openid_token_check(&c.jwt[0], &a, STR("https://i"), &t, now_sec * NS_PER_SEC, &err) == 0)
        return "good";
    return str_cstr(&a, err.msg);
}

static void audiences_and_times_are_checked(void **state)
{
    (void)state;
    static const char one[] = CONFIG(SUB "}"),
                      two[] = HEAD "issuer: {url: 'https://i', audienceMatchPolicy: MatchAny, "
                                   "audiences: [a, b]}, " SUB "}}]}";
    static const struct {
        const char *config, *claims;
        int64_t now;
        const char *wanted;
    } rows[] = {
        { one, "{'iss':'https://i','aud':'a','exp':100}", 100, "good" },
        { one, "{'iss':'https://i','aud':['x','a'],'exp':100}", 99, "good" },
        { two, "{'iss':'https://i','aud':['x','b'],'exp':100}", 99, "good" },
        { one, "{'iss':'https://j','aud':'a','exp':100}", 99,
          "oidc: id token issued by a different provider, expected \"https://i\" got "
          "\"https://j\"" },
        { one, "{'iss':'https://i','aud':['x','y'],'exp':100}", 99,
          "oidc: expected audience \"a\" got [\"x\" \"y\"]" },
        { one, "{'iss':'https://i','exp':100}", 99, "oidc: expected audience \"a\" got []" },
        { one, "{'iss':'https://i','aud':[],'exp':100}", 99,
          "oidc: expected audience \"a\" got []" },
        { one, "{'iss':'https://i','aud':{},'exp':100}", 99,
          "oidc: failed to unmarshal claims: aud" },
        { one, "{'iss':'https://i','aud':[1],'exp':100}", 99,
          "oidc: failed to unmarshal claims: aud" },
        { two, "{'iss':'https://i','aud':'x','exp':100}", 99,
          "oidc: expected audience in [\"a\" \"b\"] got [\"x\"]" },
        { one, "{'iss':'https://i','aud':'a','exp':100}", 101,
          "oidc: token is expired (Token Expiry: 1970-01-01T00:01:40Z)" },
        { one, "{'iss':'https://i','aud':'a'}", 100,
          "oidc: token is expired (Token Expiry: 1970-01-01T00:00:00Z)" },
        { one, "{'iss':'https://i','aud':'a','exp':1000,'nbf':160}", 100, "good" },
        { one, "{'iss':'https://i','aud':'a','exp':1000,'nbf':161}", 100,
          "oidc: current time 1970-01-01T00:01:40Z before the nbf (not before) time" },
        { one, "{'iss':'https://i','aud':'a','exp':1000,'nbf':'x'}", 100,
          "oidc: failed to unmarshal claims: nbf" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(check_text(rows[i].config, rows[i].claims, rows[i].now),
                            rows[i].wanted);
}

static void a_token_is_of_one_issuer(void **state)
{
    (void)state;
    struct authentication_config c =
        config_of(HEAD ISSUER SUB
                  "}}, {issuer: {url: 'https://accounts.google.com', audiences: [a]}, " SUB "}}]}");
    struct jwt t = token_of("{'iss':'https://i'}");
    struct err err = ERR_INIT(&a);
    assert_ptr_equal(openid_token_issuer(&c, &t), &c.jwt[0]);
    assert_int_equal(openid_token_algorithm(&c, &t, &err), 0);
    t = token_of("{'iss':'accounts.google.com'}");
    assert_ptr_equal(openid_token_issuer(&c, &t), &c.jwt[1]);
    t = token_of("{'iss':'https://i/'}");
    assert_null(openid_token_issuer(&c, &t));
    t = token_of("{}");
    assert_null(openid_token_issuer(&c, &t));
    t.alg = STR("HS256");
    assert_int_equal(openid_token_algorithm(&c, &t, &err), -ERR_UNAUTHORIZED);
    assert_true(str_eq(err.msg, STR("oidc: id token signed with unsupported algorithm, expected "
                                    "[\"ES256\" \"ES384\" \"ES512\" \"PS256\" \"PS384\" \"PS512\" "
                                    "\"RS256\" \"RS384\" \"RS512\"] got \"HS256\"")));
}

static void groups_may_be_elsewhere(void **state)
{
    (void)state;
    struct authentication_config c = config_of(CONFIG(SUB ", groups: {claim: g, prefix: 'q:'}}"));
    struct openid_endpoint end;
    struct err err = ERR_INIT(&a);
    struct jwt t = token_of("{'sub':'me','_claim_names':{'g':'s'},'_claim_sources':{'s':{"
                            "'endpoint':'https://e','access_token':'t'}}}");
    assert_int_equal(openid_token_source(&c.jwt[0], &t, &end, &err), 1);
    assert_true(str_eq(end.url, STR("https://e")) && str_eq(end.access_token, STR("t")));
    struct value fetched = suite_tree(&a, "['x']");
    struct user u;
    assert_int_equal(openid_token_user(&c.jwt[0], &a, &t, &fetched, OPENID_BUDGET, &u, &err), 0);
    assert_int_equal(u.n_groups, 1);
    assert_true(str_eq(u.groups[0], STR("q:x")));
    t = token_of("{'g':[],'_claim_names':{'g':'s'}}");
    assert_int_equal(openid_token_source(&c.jwt[0], &t, &end, &err), 0);
    t = token_of("{'_claim_names':{'h':'s'},'_claim_sources':{}}");
    assert_int_equal(openid_token_source(&c.jwt[0], &t, &end, &err), 0);
    t = token_of("{'_claim_names':{'g':'s'}}");
    assert_int_equal(openid_token_source(&c.jwt[0], &t, &end, &err), -ERR_UNAUTHORIZED);
    t = token_of("{'_claim_names':{'g':'s'},'_claim_sources':{'r':{}}}");
    assert_int_equal(openid_token_source(&c.jwt[0], &t, &end, &err), -ERR_UNAUTHORIZED);
    t = token_of("{'_claim_names':{'g':'s'},'_claim_sources':{'s':{'JWT':'x'}}}");
    assert_int_equal(openid_token_source(&c.jwt[0], &t, &end, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(claims_make_a_user, setup, teardown),
        cmocka_unit_test_setup_teardown(expressions_make_a_user, setup, teardown),
        cmocka_unit_test_setup_teardown(rules_refuse_users, setup, teardown),
        cmocka_unit_test_setup_teardown(audiences_and_times_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_is_of_one_issuer, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_may_be_elsewhere, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
