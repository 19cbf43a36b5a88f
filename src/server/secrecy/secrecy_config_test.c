#include "server/secrecy/secrecy_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"

static struct arena arena;

#define HEAD  "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"
#define KEY32 "c2VjcmV0IGlzIHNlY3VyZSwgb3IgaXMgaXQ/Pz8/Pz8="
#define KEY16 "c2VjcmV0IGlzIHNlY3VyZQ=="
#define RULE(resources, provider) \
    HEAD "resources: [{resources: " resources ", providers: [" provider "]}]"
#define SECRETS(provider) RULE("[secrets]", provider)
#define GCM(key)          "{aesgcm: {keys: [{name: a, secret: " key "}]}}"
#define KMS(fields)       "{kms: {apiVersion: v2, name: k, endpoint: 'unix:///x'" fields "}}"

static int parse(const char *text, struct secrecy_config *ret, struct err *err)
{
    return secrecy_config_read(&arena, "f.yaml", str_of(text), ret, err);
}

static void all_that_can_be_said_is_read(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct secrecy_config c;
    int r =
        parse(HEAD "resources:\n"
                   "- resources: [secrets, deployments.apps, '*.example.com']\n"
                   "  providers:\n"
                   "  - aesgcm: {keys: [{name: one, secret: " KEY16 "}]}\n"
                   "  - aescbc: {keys: [{name: two, secret: " KEY32
                   "}, {name: three, secret: " KEY16 "}]}\n"
                   "  - secretbox: {keys: [{name: four, secret: " KEY32 "}]}\n"
                   "  - kms: {apiVersion: v2, name: five, endpoint: 'unix:///run/x', timeout: 5s}\n"
                   "  - identity: {}\n"
                   "- resources: ['*.']\n"
                   "  providers: [{identity: {}}]\n"
                   "- resources: ['*.*']\n"
                   "  providers: [{kms: {apiVersion: v2, name: six, endpoint: 'unix:///y'}}]\n",
              &c, &err);
    assert_int_equal(r, 0);
    assert_int_equal(c.n_rules, 3);
    const struct secrecy_rule *rule = &c.rules[0];
    assert_int_equal(rule->n_resources, 3);
    const char *names[] = { "secrets", "deployments.apps", "*.example.com" };
    for (size_t i = 0; i < 3; i++)
        assert_true(str_eq(secrecy_resource_text(&arena, &rule->resources[i]), str_of(names[i])));
    assert_int_equal(rule->n_providers, 5);
    const enum secrecy_type types[] = { SECRECY_AESGCM, SECRECY_AESCBC, SECRECY_SECRETBOX,
                                        SECRECY_KMS, SECRECY_IDENTITY };
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(rule->providers[i].type, types[i]);
    assert_int_equal(rule->providers[1].n_keys, 2);
    assert_true(str_eq(rule->providers[1].keys[1].name, STR("three")));
    assert_true(str_eq(rule->providers[0].keys[0].secret, STR("secret is secure")));
    assert_int_equal(rule->providers[3].timeout_ns, 5 * NS_PER_SEC);
    assert_true(str_eq(rule->providers[3].endpoint, STR("unix:///run/x")));
    assert_int_equal(c.rules[2].providers[0].timeout_ns, 3 * NS_PER_SEC);
    assert_true(str_eq(secrecy_resource_text(&arena, &c.rules[1].resources[0]), STR("*.")));
    assert_true(str_eq(secrecy_resource_text(&arena, &c.rules[2].resources[0]), STR("*.*")));
}

#define DECODING \
    "error while parsing file: error decoding encryption provider configuration file \"f.yaml\": "
#define PARSING "error while parsing file: "

/* The words are upstream's; what it says of values of the wrong type is shorter here. */
static const struct {
    const char *text, *says;
} faults[] = {
    { "", PARSING "error while loading file: encryption provider configuration file \"f.yaml\" is "
                  "empty" },
    { "a: [", DECODING "yaml: line 1: did not find expected node content" },
    { "kind: EncryptionConfiguration", DECODING "Object 'apiVersion' is missing" },
    { "apiVersion: v1", DECODING "Object 'Kind' is missing" },
    { "apiVersion: v1\nkind: Pod", DECODING "no kind \"Pod\" is registered for version \"v1\"" },
    { HEAD "kind: x", DECODING "strict decoding error: key \"kind\" already set" },
    { HEAD "more: 1\nresources: []", DECODING "strict decoding error: unknown field \"more\"" },
    { HEAD "resources: 1", DECODING "resources must be a list" },
    { HEAD "resources: [1]", DECODING "resources[0] must be an object" },
    { RULE("[1]", "{identity: {}}"), DECODING "resources[0].resources[0] must be a string" },
    { SECRETS("{identity: {a: 1}}"),
      DECODING "strict decoding error: unknown field \"resources[0].providers[0].identity.a\"" },
    { SECRETS("{aes: {}}"),
      DECODING "strict decoding error: unknown field \"resources[0].providers[0].aes\"" },
    { HEAD, PARSING "resources: Required value: at least one resources is required" },
    { RULE("[]", "{identity: {}}"),
      PARSING "resources[0].resources: Required value: at least one resources[0].resources is "
              "required" },
    { SECRETS(""), PARSING "resources[0].providers: Required value: at least one "
                           "resources[0].providers is required" },
    { SECRETS("{}"),
      PARSING "resources[0].providers[0]: Invalid value: {}: provider does not contain any of the "
              "expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity" },
    { SECRETS("{identity: {}, aescbc: {}}"),
      PARSING "resources[0].providers[0]: Invalid value: \"REDACTED\": more than one provider "
              "specified in a single element, should split into different list elements" },
    { SECRETS("{aesgcm: {}}"),
      PARSING "resources[0].providers[0].aesgcm.keys: Required value: at least one keys is "
              "required" },
    { SECRETS("{aesgcm: {keys: [{}]}}"),
      PARSING "[resources[0].providers[0].aesgcm.keys[0].name: Required value: name is a mandatory "
              "field for a key, resources[0].providers[0].aesgcm.keys[0].secret: Required value: "
              "secret is a mandatory field for a key]" },
    { SECRETS(GCM("'no base64'")),
      PARSING "resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: \"REDACTED\": "
              "secrets must be base64 encoded" },
    { SECRETS(GCM("YWJj")),
      PARSING "resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: \"REDACTED\": "
              "secret is not of the expected length, got 3, expected one of [16 24 32]" },
    { SECRETS("{secretbox: {keys: [{name: a, secret: " KEY16 "}]}}"),
      PARSING "resources[0].providers[0].secretbox.keys[0].secret: Invalid value: \"REDACTED\": "
              "secret is not of the expected length, got 16, expected one of [32]" },
    { RULE("[Secrets]", "{identity: {}}"),
      PARSING "resources[0].resources[0]: Invalid value: \"Secrets\": resource name should not "
              "contain capital letters" },
    { RULE("['*']", "{identity: {}}"),
      PARSING "resources[0].resources[0]: Invalid value: \"*\": use '*.' to encrypt all the "
              "resources from core API group or *.* to encrypt all resources" },
    { RULE("[apiserveripinfo]", "{identity: {}}"),
      PARSING "resources[0].resources[0]: Invalid value: \"apiserveripinfo\": resources which do "
              "not have REST API/s cannot be encrypted" },
    { RULE("[events.events.k8s.io]", "{identity: {}}"),
      PARSING "resources[0].resources[0]: Invalid value: \"events.events.k8s.io\": "
              "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use "
              "'events' instead in the config file" },
    { RULE("['*.extensions']", "{identity: {}}"),
      PARSING "resources[0].resources[0]: Invalid value: \"*.extensions\": 'extensions' group has "
              "been removed and cannot be used for encryption" },
    { RULE("['secrets.*']", "{identity: {}}"),
      PARSING "resources[0].resources[0]: Invalid value: \"secrets.*\": encrypting the same "
              "resource across groups is not supported" },
    { RULE("[a, a]", "{identity: {}}"),
      PARSING "resources[0].resources: Invalid value: [\"a\",\"a\"]: the same resource cannot be "
              "specified multiple times" },
    { RULE("[a, '*.']", "{identity: {}}"),
      PARSING "resources[0].resources: Invalid value: [\"a\",\"*.\"]: using overlapping resources "
              "such as 'secrets' and '*.' in the same resource list is not allowed as they will be "
              "masked" },
    { HEAD "resources: [{resources: ['*.'], providers: [{identity: {}}]}, {resources: [secrets], "
           "providers: [{identity: {}}]}]",
      "error while building transformers: resource \"secrets\" is masked by earlier rule \"*.\"" },
    { HEAD "resources: [{resources: ['*.*'], providers: [{identity: {}}]}, {resources: ['*.apps'], "
           "providers: [{identity: {}}]}]",
      "error while building transformers: resource \"*.apps\" is masked by earlier rule \"*.*\"" },
    { SECRETS("{kms: {apiVersion: v2, endpoint: 'unix:///x'}}"),
      PARSING "resources[0].providers[0].kms.name: Required value: name is a mandatory field for a "
              "provider" },
    { SECRETS("{kms: {apiVersion: v2, name: 'a:b', endpoint: 'unix:///x'}}"),
      PARSING "resources[0].providers[0].kms.name: Invalid value: \"a:b\": invalid KMS provider "
              "name a:b, must not contain ':'" },
    { SECRETS(KMS("") ", " KMS("")),
      PARSING "resources[0].providers[1].kms.name: Invalid value: \"k\": duplicate KMS provider "
              "name k, names must be unique" },
    { SECRETS(KMS(", timeout: 0s")),
      PARSING "resources[0].providers[0].kms.timeout: Invalid value: \"0s\": timeout should be a "
              "positive value" },
    { SECRETS(KMS(", timeout: soon")), DECODING "resources[0].providers[0].kms.timeout must be a "
                                                "duration" },
    { SECRETS(KMS(", cachesize: 5")),
      PARSING "resources[0].providers[0].kms.cachesize: Invalid value: 5: cachesize is not "
              "supported in v2" },
    { SECRETS("{kms: {apiVersion: v2, name: k}}"), PARSING
      "resources[0].providers[0].kms.endpoint: Invalid value: \"\": endpoint is a mandatory "
      "field for a kms" },
    { SECRETS("{kms: {apiVersion: v2, name: k, endpoint: 'http://x'}}"),
      PARSING "resources[0].providers[0].kms.endpoint: Invalid value: \"http://x\": unsupported "
              "scheme \"http\" for KMS provider, only unix is supported" },
    { SECRETS("{kms: {apiVersion: v3, name: k, endpoint: 'unix:///x'}}"),
      PARSING "resources[0].providers[0].kms.apiVersion: Invalid value: \"v3\": unsupported "
              "apiVersion apiVersion for KMS provider, only v1 and v2 are supported" },
    { SECRETS("{kms: {name: k, endpoint: 'unix:///x'}}"), DECODING
      "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 "
      "instead." },
};

static void faults_are_told_in_upstreams_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct err err = ERR_INIT(&arena);
        struct secrecy_config c;
        assert_int_equal(parse(faults[i].text, &c, &err), -ERR_INVALID);
        assert_string_equal(str_cstr(&arena, err.msg), faults[i].says);
    }
}

/* What a message shows never has a part of a key in it. */
static void keys_are_never_shown(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct secrecy_config c;
    assert_int_equal(
        parse(SECRETS("{identity: {}, aesgcm: {keys: [{name: a, secret: topsecret}]}}"), &c, &err),
        -ERR_INVALID);
    assert_null(memmem(err.msg.p, err.msg.n, "topsecret", 9));
    err_clear(&err);
    assert_int_equal(parse(SECRETS(GCM("topsecret")), &c, &err), -ERR_INVALID);
    assert_null(memmem(err.msg.p, err.msg.n, "topsecret", 9));
}

int main(void)
{
    arena_init(&arena);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_can_be_said_is_read),
        cmocka_unit_test(faults_are_told_in_upstreams_words),
        cmocka_unit_test(keys_are_never_shown),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
