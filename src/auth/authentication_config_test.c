/* The AuthenticationConfiguration: what is read, and what is refused in which words. Expected
 * messages are those of upstream's validation. */
#include "auth/authentication_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

#define HEAD     "{apiVersion: apiserver.config.k8s.io/v1, kind: AuthenticationConfiguration, "
#define ISSUER   "issuer: {url: 'https://i', audiences: [a]}"
#define MAPPINGS "claimMappings: {username: {claim: sub, prefix: ''}}"

static const struct str own_issuers[] = { STR("https://kubernetes.default.svc"), STR("https://b") };
static const struct authentication_own own = { own_issuers, ARRAY_LEN(own_issuers) };

/* NULL: it is good. Lies in the arena. */
static const char *fault_of(struct arena *a, const char *text)
{
    struct err err = ERR_INIT(a);
    struct authentication_config c;
    if (authentication_config_read(a, str_of(text), &own, &c, &err) == 0)
        return NULL;
    assert_int_equal(err.code, ERR_INVALID);
    return str_cstr(a, err.msg);
}

struct row {
    const char *text, *fault;
};

static void check_rows(const struct row *rows, size_t n, const char *before)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        const char *got = fault_of(&a, rows[i].text);
        struct str wanted = arena_printf(&a, "%s%s", before, rows[i].fault ? rows[i].fault : "");
        if (!rows[i].fault != !got)
            fail_msg("%s\n gives %s", rows[i].text, got ? got : "no fault");
        if (got && strcmp(got, str_cstr(&a, wanted)) != 0)
            fail_msg("%s\n gives %s\n not   " STR_FMT, rows[i].text, got, STR_ARG(wanted));
        arena_done(&a);
    }
}

static void what_is_no_such_file_is_refused(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "", "empty config data" },
        { "{kind: AuthenticationConfiguration}",
          "Object 'apiVersion' is missing in '{\"kind\":\"AuthenticationConfiguration\"}'" },
        { "{apiVersion: apiserver.config.k8s.io/v1}",
          "Object 'Kind' is missing in '{\"apiVersion\":\"apiserver.config.k8s.io/v1\"}'" },
        { "{apiVersion: apiserver.config.k8s.io/v2, kind: AuthenticationConfiguration}",
          "no kind \"AuthenticationConfiguration\" is registered for version "
          "\"apiserver.config.k8s.io/v2\"" },
        { HEAD "jwt: [], more: 1}", "strict decoding error: unknown field \"more\"" },
        { HEAD "jwt: [{issuer: {URL: x}, b: {}}]}",
          "strict decoding error: unknown field \"jwt[0].issuer.URL\", unknown field "
          "\"jwt[0].b\"" },
        { HEAD "jwt: [{claimMappings: {uid: {prefix: x}}}]}",
          "strict decoding error: unknown field \"jwt[0].claimMappings.uid.prefix\"" },
        { "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
          "jwt: []\njwt: []\n",
          "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"jwt\" already set in "
          "map" },
        { HEAD "jwt: {}}", "jwt must be a list" },
        { HEAD "jwt: [1]}", "jwt[0] must be an object" },
        { HEAD "jwt: [{issuer: {audiences: [1]}}]}",
          "jwt[0].issuer.audiences[0] must be a string" },
        { HEAD "anonymous: {enabled: yes please}}", "anonymous.enabled must be true or false" },
        { HEAD "jwt: []}", NULL },
        { HEAD "jwt: null, anonymous: null}", NULL },
        { "{apiVersion: apiserver.config.k8s.io/v1beta1, kind: AuthenticationConfiguration}",
          NULL },
        { "{apiVersion: apiserver.config.k8s.io/v1alpha1, kind: AuthenticationConfiguration}",
          NULL },
    };
    check_rows(rows, ARRAY_LEN(rows), "");
}

#define ONE(issuer) HEAD "jwt: [{issuer: {" issuer "}, " MAPPINGS "}]}"

static void issuers_are_checked(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { ONE("url: 'https://i', audiences: [a]"), NULL },
        { ONE("audiences: [a]"), "jwt[0].issuer.url: Required value" },
        { ONE("url: 'http://i', audiences: [a]"),
          "jwt[0].issuer.url: Invalid value: \"http://i\": URL scheme must be https" },
        { ONE("url: 'https://u:p@i?q#f', audiences: [a]"),
          "[jwt[0].issuer.url: Invalid value: \"https://u:p@i?q#f\": URL must not contain a "
          "username or password, jwt[0].issuer.url: Invalid value: \"https://u:p@i?q#f\": URL must "
          "not contain a query, jwt[0].issuer.url: Invalid value: \"https://u:p@i?q#f\": URL must "
          "not contain a fragment]" },
        { ONE("url: 'https://b', audiences: [a]"),
          "jwt[0].issuer.url: Invalid value: \"https://b\": URL must not overlap with disallowed "
          "issuers: [https://b https://kubernetes.default.svc]" },
        { ONE("url: 'https://i', discoveryURL: 'https://i/', audiences: [a]"),
          "jwt[0].issuer.discoveryURL: Invalid value: \"https://i/\": discoveryURL must be "
          "different from URL" },
        { ONE("url: 'https://i', discoveryURL: 'http://d', audiences: [a]"),
          "jwt[0].issuer.discoveryURL: Invalid value: \"http://d\": URL scheme must be https" },
        { ONE("url: 'https://i'"),
          "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is "
          "required" },
        { ONE("url: 'https://i', audienceMatchPolicy: MatchAny, audiences: [a, '', a]"),
          "[jwt[0].issuer.audiences[1]: Required value, jwt[0].issuer.audiences[2]: Duplicate "
          "value: \"a\"]" },
        { ONE("url: 'https://i', audiences: [a, b]"),
          "jwt[0].issuer.audienceMatchPolicy: Invalid value: \"\": audienceMatchPolicy must be "
          "MatchAny for multiple audiences" },
        { ONE("url: 'https://i', audiences: [a], audienceMatchPolicy: All"),
          "jwt[0].issuer.audienceMatchPolicy: Invalid value: \"All\": audienceMatchPolicy must be "
          "empty or MatchAny for single audience" },
        { ONE("url: 'https://i', audiences: [a], certificateAuthority: nothing"),
          "jwt[0].issuer.certificateAuthority: Invalid value: \"<omitted>\": data does not contain "
          "any valid RSA or ECDSA certificates" },
        { ONE("url: 'https://i', audiences: [a], egressSelectorType: etcd"),
          "jwt[0].issuer.egressSelectorType: Invalid value: \"etcd\": egress selector must be "
          "either controlplane or cluster" },
        { HEAD "jwt: [{" ISSUER ", " MAPPINGS "}, {" ISSUER ", " MAPPINGS "}]}",
          "jwt[1].issuer.url: Duplicate value: \"https://i\"" },
    };
    check_rows(rows, ARRAY_LEN(rows), "invalid authentication configuration: ");
}

#define RULES(rules) HEAD "jwt: [{" ISSUER ", " MAPPINGS ", claimValidationRules: [" rules "]}]}"
#define USERS(rules) HEAD "jwt: [{" ISSUER ", " MAPPINGS ", userValidationRules: [" rules "]}]}"

static void rules_are_checked(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { RULES("{claim: hd, requiredValue: x}, {expression: 'claims.a == 1', message: m}"), NULL },
        { RULES("{claim: hd, expression: 'true'}"),
          "jwt[0].claimValidationRules[0]: Invalid value: \"hd\": claim and expression can't both "
          "be set" },
        { RULES("{message: m}"),
          "jwt[0].claimValidationRules[0]: Required value: claim or expression is required" },
        { RULES("{claim: hd, message: m}, {claim: hd}"),
          "[jwt[0].claimValidationRules[0].message: Invalid value: \"m\": may not be specified "
          "when claim is set, jwt[0].claimValidationRules[1].claim: Duplicate value: \"hd\"]" },
        { RULES("{expression: 'true', requiredValue: v}, {expression: 'true'}"),
          "[jwt[0].claimValidationRules[0].requiredValue: Invalid value: \"v\": may not be "
          "specified when expression is set, jwt[0].claimValidationRules[1].expression: Duplicate "
          "value: \"true\"]" },
        { RULES("{expression: 'claims.a'}"),
          "jwt[0].claimValidationRules[0].expression: Invalid value: \"claims.a\": must evaluate "
          "to bool" },
        { RULES("{expression: 'user.a'}"),
          "jwt[0].claimValidationRules[0].expression: Invalid value: \"user.a\": compilation "
          "failed: ERROR: <input>:1:1: undeclared reference to 'user' (in container '')\n"
          " | user.a\n | ^" },
        { USERS("{expression: '!user.username.startsWith(\"system:\")'}, "
                "{expression: 'user.groups.all(g, g != \"x\") && size(user.extra) == 0'}"),
          NULL },
        { USERS("{message: m}"), "jwt[0].userValidationRules[0].expression: Required value" },
        { USERS("{expression: 'true'}, {expression: 'true'}"),
          "jwt[0].userValidationRules[1].expression: Duplicate value: \"true\"" },
        { USERS("{expression: 'user.uid'}"),
          "jwt[0].userValidationRules[0].expression: Invalid value: \"user.uid\": must evaluate to "
          "bool" },
        { USERS("{expression: 'user.name'}"),
          "jwt[0].userValidationRules[0].expression: Invalid value: \"user.name\": compilation "
          "failed: ERROR: <input>:1:5: undefined field 'name'\n | user.name\n | ....^" },
    };
    check_rows(rows, ARRAY_LEN(rows), "invalid authentication configuration: ");
}

#define MAPS(mappings) HEAD "jwt: [{" ISSUER ", claimMappings: {" mappings "}}]}"
#define NAMED          "username: {claim: sub, prefix: ''}, "
#define VERIFIED                                                                         \
    "claims.email_verified must be used in claimMappings.username.expression or "        \
    "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when " \
    "claims.email is used in claimMappings.username.expression"

static void mappings_are_checked(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { MAPS(""), "jwt[0].claimMappings.username: Required value: claim or expression is "
                    "required" },
        { MAPS("username: {claim: sub}"),
          "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is "
          "set. It can be set to an empty string to disable prefixing" },
        { MAPS("username: {claim: sub, expression: claims.sub}"),
          "jwt[0].claimMappings.username: Invalid value: \"\": claim and expression can't both be "
          "set" },
        { MAPS("username: {prefix: p, expression: claims.sub}"),
          "jwt[0].claimMappings.username.prefix: Invalid value: \"p\": may not be specified when "
          "expression is set" },
        { MAPS("username: {expression: claims.email}"),
          "jwt[0].claimMappings.username.expression: Invalid value: \"claims.email\": " VERIFIED },
        { MAPS("username: {expression: 'claims.email_verified ? claims.email : \"\"'}"), NULL },
        { MAPS("username: {expression: claims.email}, extra: [{key: 'e.org/v', valueExpression: "
               "'string(claims.email_verified)'}]"),
          NULL },
        { MAPS(NAMED "groups: {claim: g}"),
          "jwt[0].claimMappings.groups.prefix: Required value: prefix is required when claim is "
          "set. It can be set to an empty string to disable prefixing" },
        { MAPS(NAMED "groups: {expression: clams.g}"),
          "jwt[0].claimMappings.groups.expression: Invalid value: \"clams.g\": compilation failed: "
          "ERROR: <input>:1:1: undeclared reference to 'clams' (in container '')\n | clams.g\n | "
          "^" },
        { MAPS(NAMED "uid: {claim: u, expression: claims.u}"),
          "jwt[0].claimMappings.uid: Invalid value: \"\": claim and expression can't both be set" },
        { MAPS(NAMED "extra: [{key: plain, valueExpression: claims.a}]"),
          "jwt[0].claimMappings.extra[0].key: Invalid value: \"plain\": must be a domain-prefixed "
          "path (such as \"acme.io/foo\")" },
        { MAPS(NAMED "extra: [{key: a.k8s.io/b, valueExpression: claims.a}]"),
          "jwt[0].claimMappings.extra[0].key: Invalid value: \"a.k8s.io/b\": k8s.io, kubernetes.io "
          "and their subdomains are reserved for Kubernetes use" },
        { MAPS(NAMED "extra: [{key: e.org/B, valueExpression: claims.a}]"),
          "jwt[0].claimMappings.extra[0].key: Invalid value: \"e.org/B\": must be lowercase" },
        { MAPS(NAMED "extra: [{key: e.org/b, valueExpression: claims.a}, {key: e.org/b}, {key: "
                     "e.org/c}]"),
          "[jwt[0].claimMappings.extra[1].key: Duplicate value: \"e.org/b\", "
          "jwt[0].claimMappings.extra[2].valueExpression: Required value]" },
        { HEAD "anonymous: {enabled: false, conditions: [{path: /healthz}]}}",
          "anonymous.conditions: Invalid value: [{\"Path\":\"/healthz\"}]: enabled should be set "
          "to true when conditions are defined" },
    };
    check_rows(rows, ARRAY_LEN(rows), "invalid authentication configuration: ");
}

static void there_are_at_most_64_issuers(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct str text = STR(HEAD "jwt: [");
    for (int i = 0; i <= AUTHENTICATION_JWT_MAX; i++)
        text = arena_printf(&a, STR_FMT "{},", STR_ARG(text));
    text = arena_printf(&a, STR_FMT "]}", STR_ARG(text));
    assert_string_equal(fault_of(&a, str_cstr(&a, text)),
                        "invalid authentication configuration: jwt: Too many: 65: must have at "
                        "most 64 items");
    arena_done(&a);
}

static void what_is_read_is_there(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct authentication_config c;
    assert_int_equal(
        authentication_config_read(
            &a,
            STR(HEAD
                "anonymous: {enabled: true, conditions: [{path: /healthz}, {path: /livez}]}, "
                "jwt: [{issuer: {url: 'https://i', discoveryURL: 'https://d/x', audiences: [a]}"
                ", claimMappings: {username: {claim: sub, prefix: 'p:'}, groups: {expression: "
                "claims.g__dot__h}}, userValidationRules: [{expression: 'true'}]}]}"),
            &own, &c, &err),
        0);
    assert_int_equal(c.n_jwt, 1);
    assert_int_equal(c.n_algorithms, 9);
    assert_true(str_eq(c.jwt[0].url, STR("https://i")));
    assert_true(str_eq(c.jwt[0].discovery_url, STR("https://d/x")));
    assert_true(str_eq(c.jwt[0].audiences[0], STR("a")));
    assert_true(str_eq(c.jwt[0].username.prefix, STR("p:")));
    assert_null(c.jwt[0].username.program);
    assert_non_null(c.jwt[0].groups.program);
    assert_non_null(c.jwt[0].user_rules[0].program);
    assert_true(c.jwt[0].has_escapes);
    assert_true(authentication_anonymous_may(&c.anonymous, STR("/livez")));
    assert_false(authentication_anonymous_may(&c.anonymous, STR("/livez/")));
    assert_false(authentication_anonymous_may(&c.anonymous, STR("/readyz")));
    struct authentication_anonymous fewer = c.anonymous;
    assert_true(authentication_anonymous_eq(&c.anonymous, &fewer));
    fewer.n_conditions = 1;
    assert_false(authentication_anonymous_eq(&c.anonymous, &fewer));
    arena_done(&a);
}

static int of_flags(struct arena *a, const struct authentication_flags *flags,
                    struct authentication_config *ret, struct err *err)
{
    *err = ERR_INIT(a);
    return authentication_config_of_flags(a, flags, &own, ret, err);
}

static void flags_say_the_same_of_one_issuer(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err;
    struct authentication_config c;
    const struct str required[] = { STR("hd=x=y"), STR("tier=1"), STR("hd=z") };
    struct authentication_flags f = { .issuer_url = STR("https://i"),
                                      .client_id = STR("me"),
                                      .username_claim = STR("sub"),
                                      .groups_claim = STR("groups"),
                                      .required = required,
                                      .n_required = ARRAY_LEN(required) };
    assert_int_equal(of_flags(&a, &f, &c, &err), 0);
    assert_true(str_eq(c.jwt[0].username.prefix, STR("https://i#")));
    assert_int_equal(c.jwt[0].n_claim_rules, 2);
    assert_true(str_eq(c.jwt[0].claim_rules[0].required, STR("z")));
    assert_true(str_eq(c.algorithms[0], STR("RS256")) && c.n_algorithms == 1);
    f.username_prefix = STR("-");
    assert_int_equal(of_flags(&a, &f, &c, &err), 0);
    assert_int_equal(c.jwt[0].username.prefix.n, 0);
    f.username_prefix = STR("");
    f.username_claim = STR("email");
    assert_int_equal(of_flags(&a, &f, &c, &err), 0);
    assert_int_equal(c.jwt[0].username.prefix.n, 0);
    f.algorithms = &STR("HS256");
    f.n_algorithms = 1;
    assert_int_equal(of_flags(&a, &f, &c, &err), -ERR_INVALID);
    assert_true(str_eq(err.msg, STR("oidc: unsupported signing alg: \"HS256\"")));
    f.issuer_url = STR("http://i");
    assert_int_equal(of_flags(&a, &f, &c, &err), -ERR_INVALID);
    f = (struct authentication_flags){ 0 };
    assert_int_equal(of_flags(&a, &f, &c, &err), 0);
    assert_int_equal(c.n_jwt, 0);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_such_file_is_refused),
        cmocka_unit_test(issuers_are_checked),
        cmocka_unit_test(rules_are_checked),
        cmocka_unit_test(mappings_are_checked),
        cmocka_unit_test(there_are_at_most_64_issuers),
        cmocka_unit_test(what_is_read_is_there),
        cmocka_unit_test(flags_say_the_same_of_one_issuer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
