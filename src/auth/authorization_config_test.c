#include "auth/authorization_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct str file_fault(struct arena *a, struct str path)
{
    return str_eq(path, STR("/gone"))
               ? arena_printf(a, "error loading file: " STR_FMT " is gone", STR_ARG(path))
               : STR("");
}

static int read(const char *text, unsigned required, struct authorization_config *ret,
                struct err *err)
{
    const struct authorization_reading reading = { .file_fault = file_fault, .required = required };
    *err = ERR_INIT(&arena);
    return authorization_config_read(&arena, str_of(text), &reading, ret, err);
}

#define HEAD \
    "{apiVersion: apiserver.config.k8s.io/v1, kind: AuthorizationConfiguration, authorizers: "
#define GOOD                                                                                    \
    "timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: " \
    "KubeConfigFile, kubeConfigFile: /etc/hook}"

static void a_good_one_is_read(void **state)
{
    static const char text[] =
        "apiVersion: apiserver.config.k8s.io/v1beta1\n"
        "kind: AuthorizationConfiguration\n"
        "authorizers:\n"
        "- type: Node\n"
        "  name: node\n"
        "- type: Webhook\n"
        "  name: harbour.example\n"
        "  webhook:\n"
        "    timeout: 1500ms\n"
        "    authorizedTTL: 1m\n"
        "    cacheUnauthorizedRequests: false\n"
        "    subjectAccessReviewVersion: v1\n"
        "    matchConditionSubjectAccessReviewVersion: v1\n"
        "    failurePolicy: NoOpinion\n"
        "    connectionInfo: {type: KubeConfigFile, kubeConfigFile: /etc/hook}\n"
        "    matchConditions: [{expression: request.user != 'a'}]\n"
        "- type: Webhook\n"
        "  name: other\n"
        "  webhook: {" GOOD "}\n"
        "- {type: RBAC, name: rbac}\n";
    struct authorization_config c;
    struct err err;
    (void)state;
    assert_int_equal(read(text, 1 << AUTHORIZER_RBAC | 1 << AUTHORIZER_NODE, &c, &err), 0);
    assert_int_equal(c.n, 4);
    assert_int_equal(c.at[0].type, AUTHORIZER_NODE);
    assert_int_equal(c.at[3].type, AUTHORIZER_RBAC);
    const struct authorization_webhook *w = &c.at[1].webhook;
    assert_string_equal(str_cstr(&arena, c.at[1].name), "harbour.example");
    assert_int_equal(w->timeout_ns, 1500 * NS_PER_MS);
    assert_int_equal(w->allowed_ttl_ns, 60 * NS_PER_SEC);
    assert_int_equal(w->refused_ttl_ns, 0);
    assert_true(w->is_v1);
    assert_false(w->denies_on_failure);
    assert_non_null(w->conditions);
    assert_string_equal(str_cstr(&arena, w->kubeconfig), "/etc/hook");
    assert_int_equal(c.at[2].webhook.allowed_ttl_ns, 300 * NS_PER_SEC);
    assert_int_equal(c.at[2].webhook.refused_ttl_ns, 30 * NS_PER_SEC);
    assert_true(c.at[2].webhook.denies_on_failure);
    assert_null(c.at[2].webhook.conditions);
}

#define LOAD            "failed to load AuthorizationConfiguration from file: "
#define WEBHOOK(fields) HEAD "[{type: Webhook, name: w, webhook: {" fields "}}]}"

static void faults_are_upstreams(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "", "authorizers: Required value: at least one authorization mode must be defined" },
        { HEAD "[]}",
          "authorizers: Required value: at least one authorization mode must be defined" },
        { HEAD "[{name: x}]}", "authorizers[0].type: Required value" },
        { HEAD "[{type: Magic, name: x}]}",
          "authorizers[0].type: Unsupported value: \"Magic\": supported values: \"ABAC\", "
          "\"AlwaysAllow\", \"AlwaysDeny\", \"Node\", \"RBAC\", \"Webhook\"" },
        { HEAD "[{type: RBAC, name: rbac}, {type: RBAC, name: b}]}",
          "authorizers[1].type: Duplicate value: \"RBAC\"" },
        { HEAD "[{type: RBAC}]}", "authorizers[0].name: Required value" },
        { HEAD "[{type: RBAC, name: a}, {type: Node, name: a}]}",
          "authorizers[1].name: Duplicate value: \"a\"" },
        { HEAD "[{type: RBAC, name: a}, {type: Node, name: node}]}",
          "expected name rbac for authorizer RBAC instead of a" },
        { HEAD "[{type: RBAC, name: a}, {type: Node, name: b}]}",
          "[expected name rbac for authorizer RBAC instead of a, expected name node for authorizer "
          "Node instead of b]" },
        { HEAD "[{type: RBAC, name: rbac, webhook: {}}]}",
          "authorizers[0].webhook: Invalid value: \"non-null\": may only be specified when "
          "type=Webhook" },
        { HEAD "[{type: Webhook, name: w}]}",
          "authorizers[0].webhook: Required value: required when type=Webhook" },
        { WEBHOOK(""), "[authorizers[0].timeout: Required value, "
                       "authorizers[0].subjectAccessReviewVersion: Required value, "
                       "authorizers[0].failurePolicy: Required value, "
                       "authorizers[0].connectionInfo.type: Required value]" },
        { WEBHOOK(GOOD ", timeout: 31s"),
          LOAD "strict decoding error: key \"authorizers[0].webhook."
               "timeout\" already set in map" },
        { WEBHOOK("timeout: 61s, authorizedTTL: -1s, unauthorizedTTL: -90s, "
                  "subjectAccessReviewVersion: v2, failurePolicy: Allow, "
                  "matchConditionSubjectAccessReviewVersion: v1beta1, "
                  "connectionInfo: {type: KubeConfigFile}"),
          "[authorizers[0].timeout: Invalid value: \"1m1s\": must be > 0s and <= 30s, "
          "authorizers[0].authorizedTTL: Invalid value: \"-1s\": must be > 0s, "
          "authorizers[0].unauthorizedTTL: Invalid value: \"-1m30s\": must be > 0s, "
          "authorizers[0].subjectAccessReviewVersion: Unsupported value: \"v2\": supported values: "
          "\"v1\", \"v1beta1\", "
          "authorizers[0].matchConditionSubjectAccessReviewVersion: Unsupported value: "
          "\"v1beta1\": supported values: \"v1\", "
          "authorizers[0].failurePolicy: Unsupported value: \"Allow\": supported values: "
          "\"NoOpinion\", \"Deny\", "
          "authorizers[0].connectionInfo.kubeConfigFile: Required value]" },
        { WEBHOOK("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, "
                  "connectionInfo: {type: KubeConfigFile, kubeConfigFile: etc/hook}"),
          "authorizers[0].connectionInfo.kubeConfigFile: Invalid value: \"etc/hook\": must be an "
          "absolute path" },
        { WEBHOOK("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, "
                  "connectionInfo: {type: KubeConfigFile, kubeConfigFile: /gone}"),
          "authorizers[0].connectionInfo.kubeConfigFile: Invalid value: \"/gone\": error loading "
          "file: /gone is gone" },
        { WEBHOOK("timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, "
                  "connectionInfo: {type: InClusterConfig, kubeConfigFile: /x}"),
          "authorizers[0].connectionInfo.kubeConfigFile: Invalid value: \"/x\": can only be set "
          "when type=KubeConfigFile" },
        { WEBHOOK(GOOD ", matchConditions: [{expression: 'true'}]"),
          "authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if "
          "match conditions are specified" },
        { WEBHOOK(GOOD ", matchConditionSubjectAccessReviewVersion: v1, "
                       "matchConditions: [{expression: ''}]"),
          "authorizers[0].matchConditions[0].expression: Required value" },
        { HEAD "[{type: RBAC, name: rbac, nme: x}], more: 1}",
          LOAD "strict decoding error: unknown field \"more\", unknown field "
               "\"authorizers[0].nme\"" },
        { WEBHOOK(GOOD ", ttl: 3s"),
          LOAD "strict decoding error: unknown field \"authorizers[0].webhook.ttl\"" },
        { "{apiVersion: apiserver.config.k8s.io/v2, kind: AuthorizationConfiguration}",
          LOAD "no kind \"AuthorizationConfiguration\" is registered for version "
               "\"apiserver.config.k8s.io/v2\"" },
        { "{kind: AuthorizationConfiguration}", LOAD "Object 'apiVersion' is missing" },
        { "[]", LOAD "Object 'Kind' is missing" },
        { HEAD "{}}", LOAD "authorizers must be a list" },
        { HEAD "[[]]}", LOAD "authorizers[0] must be an object" },
        { WEBHOOK("timeout: 3"), LOAD "authorizers[0].webhook.timeout must be a string" },
        { WEBHOOK("timeout: soon"), LOAD "time: invalid duration \"soon\"" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct authorization_config c;
        struct err err;
        assert_int_equal(read(cases[i].text, 0, &c, &err), -ERR_INVALID);
        assert_string_equal(str_cstr(&arena, err.msg), cases[i].words);
    }
}

static void what_was_there_at_the_start_must_stay(void **state)
{
    struct authorization_config c;
    struct err err;
    (void)state;
    assert_int_equal(read(WEBHOOK(GOOD), 1 << AUTHORIZER_RBAC | 1 << AUTHORIZER_NODE, &c, &err),
                     -ERR_INVALID);
    assert_string_equal(str_cstr(&arena, err.msg), "missing required types: [Node RBAC]");
}

static void there_may_not_be_any_number(void **state)
{
    struct authorization_config c;
    struct err err;
    autobuf text = { 0 };
    (void)state;
    buf_str_add(&text, STR(HEAD "["));
    for (int i = 0; i <= AUTHORIZATION_AUTHORIZERS_MAX; i++)
        buf_printf(&text, "{type: Webhook, name: w%d, webhook: {" GOOD "}},", i);
    buf_str_add(&text, STR("]}"));
    assert_int_equal(read(str_cstr(&arena, buf_str(&text)), 0, &c, &err), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_good_one_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_are_upstreams, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_there_at_the_start_must_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(there_may_not_be_any_number, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
