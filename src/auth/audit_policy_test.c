#include "auth/audit_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

#define HEAD "apiVersion: audit.k8s.io/v1\nkind: Policy\n"

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

static struct audit_policy *read_good(const char *text)
{
    struct err err = ERR_INIT(&arena);
    struct audit_policy *p = NULL;
    if (audit_policy_read(str_of(text), &p, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return p;
}

/* "alice get pods/log core ns name": a dash is nothing. A path instead of the resource starts with
 * a slash. */
static struct access ask(const char *words, struct user *user)
{
    static const struct str groups[] = { STR("devs"), STR("system:authenticated") };
    struct str rest = str_of(words), word[6];
    for (size_t i = 0; i < ARRAY_LEN(word); i++) {
        word[i] = str_cut(&rest, ' ');
        if (str_eq(word[i], STR("-")))
            word[i] = STR("");
    }
    *user = (struct user){ .name = word[0], .groups = groups, .n_groups = ARRAY_LEN(groups) };
    struct access q = { .user = word[0].n ? user : NULL, .verb = word[1] };
    q.is_resource = !str_starts(word[2], STR("/"));
    if (q.is_resource) {
        q.sub = word[2];
        q.resource = str_cut(&q.sub, '/');
        q.group = word[3];
        q.ns = word[4];
        q.name = word[5];
    } else {
        q.path = word[2];
    }
    return q;
}

static void a_rule_fits_by_all_that_it_names(void **state)
{
    static const struct {
        const char *rule, *request;
        bool fits;
    } cases[] = {
        { "{}", "alice get pods - a p", true },
        { "{}", "- get /healthz", true },
        { "users: [alice, bob]", "bob get pods - a p", true },
        { "users: [alice]", "bob get pods - a p", false },
        { "users: [alice]", "- get pods - a p", false },
        { "userGroups: [ops, devs]", "alice get pods - a p", true },
        { "userGroups: [ops]", "alice get pods - a p", false },
        { "userGroups: [devs]", "- get pods - a p", false },
        { "verbs: [list, watch]", "alice watch pods - a -", true },
        { "verbs: [list]", "alice get pods - a p", false },
        { "resources: [{}]", "alice get pods - a p", true },
        { "resources: [{}]", "alice get deployments apps a p", false },
        { "resources: [{}]", "alice get /healthz", false },
        { "resources: [{group: '*'}]", "alice get deployments apps a p", true },
        { "resources: [{group: apps}]", "alice get deployments apps a p", true },
        { "resources: [{resources: [pods]}]", "alice get pods - a p", true },
        { "resources: [{resources: [pods]}]", "alice get pods/log - a p", false },
        { "resources: [{resources: [pods/log]}]", "alice get pods/log - a p", true },
        { "resources: [{resources: [pods/log]}]", "alice get pods - a p", false },
        { "resources: [{resources: ['pods/*']}]", "alice get pods/log - a p", true },
        { "resources: [{resources: ['pods/*']}]", "alice get pods - a p", true },
        { "resources: [{resources: ['pods/*']}]", "alice get nodes/log - a p", false },
        { "resources: [{resources: ['*/log']}]", "alice get pods/log - a p", true },
        { "resources: [{resources: ['*/log']}]", "alice get pods/exec - a p", false },
        { "resources: [{resources: ['*/log']}]", "alice get pods - a p", false },
        { "resources: [{resources: ['*']}]", "alice get pods/log - a p", true },
        { "resources: [{resources: [pods], resourceNames: [p]}]", "alice get pods - a p", true },
        { "resources: [{resources: [pods], resourceNames: [q]}]", "alice get pods - a p", false },
        { "resources: [{resources: [pods], resourceNames: [q]}]", "alice list pods - a -", false },
        { "resources: [{resources: [nodes]}, {resources: [pods]}]", "alice get pods - a p", true },
        { "namespaces: [a, b]", "alice get pods - b p", true },
        { "namespaces: [a]", "alice get pods - b p", false },
        { "namespaces: ['']", "alice get nodes - - n", true },
        { "namespaces: ['']", "alice get pods - a p", false },
        { "namespaces: ['']", "alice get /healthz", false },
        { "nonResourceURLs: [/healthz]", "alice get /healthz", true },
        { "nonResourceURLs: [/healthz]", "alice get /healthz/log", false },
        { "nonResourceURLs: ['/healthz*']", "alice get /healthz/log", true },
        { "nonResourceURLs: ['/healthz*']", "alice get /health", false },
        { "nonResourceURLs: ['*']", "alice get /anything", true },
        { "nonResourceURLs: ['*']", "alice get pods - a p", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *rule = arena_printf(&arena, "%s", cases[i].rule).p;
        bool is_empty = strcmp(rule, "{}") == 0;
        struct audit_policy *p =
            read_good(arena_printf(&arena, HEAD "rules:\n- level: Request\n%s%s\n- level: None\n",
                                   is_empty ? "" : "  ", is_empty ? "" : rule)
                          .p);
        struct user user;
        const struct access q = ask(cases[i].request, &user);
        if ((audit_policy_decide(p, &q).level == AUDIT_REQUEST) != cases[i].fits)
            fail_msg("%s: %s", cases[i].rule, cases[i].request);
        audit_policy_free(p);
    }
}

static void the_first_rule_that_fits_decides(void **state)
{
    static const struct {
        const char *request;
        enum audit_level level;
        unsigned omitted;
        bool omits_managers;
    } cases[] = {
        { "alice get pods - a p", AUDIT_NONE, 1u << AUDIT_PANIC, true },
        { "bob get pods - a p", AUDIT_METADATA, 1u << AUDIT_PANIC | 1u << AUDIT_REQUEST_RECEIVED,
          true },
        { "carol get pods - a p", AUDIT_REQUEST_RESPONSE, 1u << AUDIT_PANIC, false },
        { "dave get pods - a p", AUDIT_NONE, 1u << AUDIT_PANIC, true },
    };
    struct audit_policy *p = read_good(
        HEAD "omitStages: [Panic]\nomitManagedFields: true\nrules:\n"
             "- {level: None, users: [alice]}\n"
             "- {level: Metadata, users: [alice, bob], omitStages: [RequestReceived]}\n"
             "- {level: RequestResponse, users: [carol, bob], omitManagedFields: false}\n");
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct user user;
        const struct access q = ask(cases[i].request, &user);
        struct audit_decision d = audit_policy_decide(p, &q);
        if (d.level != cases[i].level || d.omitted != cases[i].omitted ||
            d.omits_managers != cases[i].omits_managers)
            fail_msg("%s", cases[i].request);
    }
    audit_policy_free(p);
}

static void json_will_do(void **state)
{
    (void)state;
    audit_policy_free(read_good("{\"apiVersion\": \"audit.k8s.io/v1\", \"kind\": \"Policy\", "
                                "\"unknown\": 1, \"rules\": [{\"level\": \"None\"}]}"));
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "kind: Policy\n",
          "failed decoding: Object 'apiVersion' is missing in '{\"kind\":\"Policy\"}'" },
        { "apiVersion: audit.k8s.io/v1\n",
          "failed decoding: Object 'Kind' is missing in '{\"apiVersion\":\"audit.k8s.io/v1\"}'" },
        { "apiVersion: audit.k8s.io/v1beta1\nkind: Policy\n",
          "failed decoding: no kind \"Policy\" is registered for version "
          "\"audit.k8s.io/v1beta1\" in scheme \"k8s.io/apiserver/pkg/audit/scheme.go:30\"" },
        { HEAD, "loaded illegal policy with 0 rules" },
        { HEAD "rules: {}",
          "failed decoding: json: cannot unmarshal object into Go struct field Policy.rules of "
          "type []v1.PolicyRule" },
        { HEAD "rules: [{level: None, users: alice}]",
          "failed decoding: json: cannot unmarshal string into Go struct field users of type "
          "[]string" },
        { HEAD "rules: [{}]", "rules[0].level: Required value" },
        { HEAD "rules: [{level: FooBar}]",
          "rules[0].level: Unsupported value: \"FooBar\": supported values: \"None\", "
          "\"Metadata\", \"Request\", \"RequestResponse\"" },
        { HEAD "omitStages: [foo]\nrules: [{level: None}]",
          "omitStages[0]: Invalid value: \"foo\": allowed stages are "
          "RequestReceived,ResponseStarted,ResponseComplete,Panic" },
        { HEAD "rules: [{level: None, namespaces: [a], nonResourceURLs: ['/logs*']}]",
          "rules[0].nonResourceURLs: Invalid value: [\"/logs*\"]: rules cannot apply to both "
          "regular resources and non-resource URLs" },
        { HEAD "rules: [{level: None, nonResourceURLs: [logs, '/a*b']}]",
          "[rules[0].nonResourceURLs[0]: Invalid value: \"logs\": non-resource URL rules must "
          "begin with a '/' character, rules[0].nonResourceURLs[1]: Invalid value: \"/a*b\": "
          "non-resource URL wildcards '*' must be the final character of the rule]" },
        { HEAD "rules: [{level: None, resources: [{resourceNames: [x]}]}]",
          "rules[0].resources.resourceNames: Invalid value: [\"x\"]: using resourceNames requires "
          "at least one resource" },
        { HEAD "rules: [{level: None, resources: [{group: a/v1}]}]",
          "rules[0].resources.group: Invalid value: \"a/v1\": a lowercase RFC 1123 subdomain must "
          "consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
          "an alphanumeric character (e.g. 'example.com', regex used for validation is "
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT(&arena);
        struct audit_policy *p = NULL;
        assert_int_equal(audit_policy_read(str_of(cases[i].text), &p, &err), -ERR_INVALID);
        assert_string_equal(str_cstr(&arena, err.msg), cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_rule_fits_by_all_that_it_names, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_rule_that_fits_decides, setup, teardown),
        cmocka_unit_test_setup_teardown(json_will_do, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
