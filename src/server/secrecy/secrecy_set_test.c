#include "server/secrecy/secrecy_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/idiom.h"

#define HEAD "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
#define ONE  "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
#define TWO  "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWU="

static struct arena arena;

static struct secrecy_set *set_from(const char *text)
{
    struct err err = ERR_INIT(&arena);
    struct secrecy_config *c = arena_new(&arena, struct secrecy_config);
    struct secrecy_set *s = arena_new(&arena, struct secrecy_set);
    struct str whole = arena_printf(&arena, HEAD "%s", text);
    int r = secrecy_config_read(&arena, "f", whole, c, &err);
    if (r < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    secrecy_set_init(s, &arena, c);
    return s;
}

static struct secrecy_set *set_of(const char *providers)
{
    return set_from(
        arena_printf(&arena, "- resources: [secrets]\n  providers: [%s]\n", providers).p);
}

/* ---- Whose a key is ---- */

static void keys_find_their_rule(void **state)
{
    (void)state;
    struct secrecy_set *s =
        set_from("- {resources: [secrets, deployments.apps], providers: [{identity: {}}]}\n"
                 "- {resources: [services, widgets.example.com], providers: [{identity: {}}]}\n"
                 "- {resources: ['*.example.com', '*.apps'], providers: [{identity: {}}]}\n"
                 "- {resources: ['*.'], providers: [{identity: {}}]}\n"
                 "- {resources: ['*.*'], providers: [{identity: {}}]}\n");
    static const struct {
        const char *key, *rule;
    } cases[] = {
        { "/registry/secrets/default/a", "secrets" },
        { "/registry/deployments/default/a", "deployments.apps" },
        { "/registry/statefulsets/default/a", "*.apps" },
        { "/registry/services/specs/default/a", "services" },
        { "/registry/services/endpoints/default/a", "*." },
        { "/registry/configmaps/default/a", "*." },
        { "/registry/events/default/a", "*." },
        { "/registry/roles/default/a", "*.*" },
        { "/registry/apiextensions.k8s.io/customresourcedefinitions/a", "*.*" },
        { "/registry/example.com/widgets/default/a", "widgets.example.com" },
        { "/registry/example.com/gadgets/default/a", "*.example.com" },
        { "/registry/other.com/gadgets/a", "*.*" },
        { "/registry/ranges/servicenodeports/30000", NULL },
        { "/registry/secrets", "secrets" },
        { "/registry/", NULL },
        { "/registry", NULL },
        { "/other/secrets/default/a", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct secrecy_chain *c = secrecy_set_find(s, str_of(cases[i].key));
        const char *got =
            c ? str_cstr(&arena, secrecy_resource_text(&arena, &c->resource)) : "nobody";
        assert_string_equal(got, cases[i].rule ? cases[i].rule : "nobody");
    }
    secrecy_set_done(s);
}

static void what_nobody_names_is_nobodys(void **state)
{
    (void)state;
    struct secrecy_set *s = set_of("{identity: {}}");
    assert_null(secrecy_set_find(s, STR("/registry/configmaps/default/a")));
    assert_null(secrecy_set_find(s, STR("/registry/example.com/secrets/default/a")));
    assert_non_null(secrecy_set_find(s, STR("/registry/secrets/default/a")));
    secrecy_set_done(s);
}

/* ---- Rotation ---- */

#define GCM(name, key) "{aesgcm: {keys: [{name: " name ", secret: " key "}]}}"
#define CBC(name, key) "{aescbc: {keys: [{name: " name ", secret: " key "}]}}"
#define BOX(name, key) "{secretbox: {keys: [{name: " name ", secret: " key "}]}}"
#define PLAIN          "{identity: {}}"
#define AT             "/registry/secrets/default/a"
#define NO_KEY         "no matching key was found for the provided AES transformer"
#define NOT_AUTHENTIC  "cipher: message authentication failed"
#define STALE          "stale"

/* What `writes` has sealed, as `reads` sees it: "" is fresh, STALE, or why it cannot be opened. */
static const struct {
    const char *writes, *reads, *says;
} rotations[] = {
    { GCM("a", ONE), GCM("a", ONE), "" },
    { CBC("a", ONE), CBC("a", ONE), "" },
    { BOX("a", ONE), BOX("a", ONE), "" },
    { PLAIN, PLAIN, "" },
    { GCM("a", ONE), GCM("b", TWO) "," GCM("a", ONE), STALE },
    { GCM("a", ONE), "{aesgcm: {keys: [{name: b, secret: " TWO "}, {name: a, secret: " ONE "}]}}",
      STALE },
    { GCM("a", ONE), "{aesgcm: {keys: [{name: a, secret: " TWO "}, {name: a, secret: " ONE "}]}}",
      STALE },
    { GCM("a", ONE), GCM("a", TWO) "," GCM("a", ONE), STALE },
    { GCM("a", ONE), BOX("a", ONE) "," CBC("a", ONE) "," GCM("a", ONE), STALE },
    { PLAIN, GCM("a", ONE) "," PLAIN, STALE },
    { GCM("a", ONE), PLAIN "," GCM("a", ONE), STALE }, /* on the way back */
    { PLAIN, PLAIN "," GCM("a", ONE), "" },
    { PLAIN, GCM("a", ONE), "no matching prefix found" },
    { GCM("a", ONE), PLAIN, "no matching prefix found" },
    { GCM("a", ONE), CBC("a", ONE), "no matching prefix found" },
    { GCM("a", ONE), GCM("b", ONE), NO_KEY },
    { GCM("ab", ONE), GCM("a", ONE), NO_KEY },
    { GCM("a", ONE), GCM("ab", ONE), NO_KEY },
    { GCM("a", ONE), GCM("a", TWO), NOT_AUTHENTIC },
    { GCM("a", ONE), GCM("a", TWO) "," GCM("b", TWO), "[" NOT_AUTHENTIC ", " NO_KEY "]" },
    { GCM("a", ONE), GCM("a", TWO) "," GCM("a", TWO), NOT_AUTHENTIC },
    { BOX("a", ONE), BOX("a", TWO), "output array was not large enough for encryption" },
    { BOX("a", ONE), BOX("b", ONE),
      "no matching key was found for the provided Secretbox transformer" },
};

static struct str stored_by(const char *providers, struct str key, struct str value)
{
    struct secrecy_set *s = set_of(providers);
    autobuf out = { 0 };
    int r = secrecy_set_seal(s, key, value, &out, NULL);
    assert_true(r >= 0);
    secrecy_set_done(s);
    return r ? arena_str(&arena, buf_str(&out)) : value;
}

static const char *seen_by(const char *providers, struct str key, struct str stored,
                           struct str want)
{
    struct secrecy_set *s = set_of(providers);
    struct err err = ERR_INIT(&arena);
    struct store_entry e = { .key = key, .value = stored };
    int r = secrecy_set_open(s, &arena, &e, &err);
    secrecy_set_done(s);
    if (r < 0) {
        assert_int_equal(r, -ERR_DAMAGED);
        return str_cstr(&arena, err.causes->msg);
    }
    assert_true(str_eq(e.value, want));
    return e.is_stale ? STALE : "";
}

static void keys_change(void **state)
{
    (void)state;
    struct str value = STR("J\x01plain {}");
    for (size_t i = 0; i < ARRAY_LEN(rotations); i++) {
        struct str stored = stored_by(rotations[i].writes, STR(AT), value);
        assert_string_equal(seen_by(rotations[i].reads, STR(AT), stored, value), rotations[i].says);
    }
}

static void what_is_sealed_says_by_whom(void **state)
{
    (void)state;
    assert_true(
        str_starts(stored_by(GCM("a", ONE), STR(AT), STR("x")), STR("k8s:enc:aesgcm:v1:a:")));
    assert_true(
        str_starts(stored_by(CBC("a", ONE), STR(AT), STR("x")), STR("k8s:enc:aescbc:v1:a:")));
    assert_true(
        str_starts(stored_by(BOX("a", ONE), STR(AT), STR("x")), STR("k8s:enc:secretbox:v1:a:")));
}

/* A value that was copied to another key is refused, where the cipher can tell. */
static void values_belong_to_their_key(void **state)
{
    (void)state;
    struct str other = STR("/registry/secrets/default/b");
    struct str stored = stored_by(GCM("a", ONE), STR(AT), STR("x"));
    assert_string_equal(seen_by(GCM("a", ONE), other, stored, STR("x")), NOT_AUTHENTIC);
}

/* Of a resource that is not encrypted, too: what is sealed is never shown. */
static void sealed_values_of_other_kinds_are_refused(void **state)
{
    (void)state;
    struct str stored = stored_by(GCM("a", ONE), STR(AT), STR("x")),
               maps = STR("/registry/configmaps/default/a");
    assert_string_equal(seen_by(GCM("a", ONE), maps, stored, STR("")),
                        "identity transformer tried to read encrypted data");
    assert_string_equal(seen_by(GCM("a", ONE), maps, STR("J plain"), STR("J plain")), "");
}

int main(void)
{
    arena_init(&arena);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_find_their_rule),
        cmocka_unit_test(what_nobody_names_is_nobodys),
        cmocka_unit_test(keys_change),
        cmocka_unit_test(what_is_sealed_says_by_whom),
        cmocka_unit_test(values_belong_to_their_key),
        cmocka_unit_test(sealed_values_of_other_kinds_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
