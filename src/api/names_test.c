#include "api/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"

#define A10  "aaaaaaaaaa"
#define A63  A10 A10 A10 A10 A10 A10 "aaa"
#define A253 A63 A63 A63 A63 "a"

#define SUBDOMAIN_WORDS                                                                           \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL_WORDS                                                                              \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and " \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "   \
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define LABEL_1035_WORDS                                                                         \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "         \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define QUALIFIED_WORDS                                                                         \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "      \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define CONFIG_KEY_WORDS                                                                 \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. " \
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "          \
    "'[-._a-zA-Z0-9]+')"

struct row {
    enum name_rule rule;
    struct str name;
    const char *want; /* joined by "; "; empty where the name is good */
};

static void check_rows(const struct row *rows, size_t n,
                       bool (*check)(enum name_rule, struct str, struct name_faults *))
{
    for (size_t i = 0; i < n; i++) {
        struct name_faults f = { 0 };
        autobuf got = { 0 };
        bool good = check(rows[i].rule, rows[i].name, &f);
        for (size_t j = 0; j < f.n; j++)
            buf_printf(&got, "%s%s%s", j ? "; " : "", f.list[j].part, f.list[j].why);
        assert_int_equal(good, f.n == 0);
        buf_byte(&got, '\0');
        if (strcmp(got.p, rows[i].want) != 0)
            fail_msg("rule %d, " STR_FMT ": got %s, want %s", rows[i].rule, STR_ARG(rows[i].name),
                     got.p, rows[i].want);
    }
}

static void names_follow_their_rule(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { NAME_SUBDOMAIN, STR("a"), "" },
        { NAME_SUBDOMAIN, STR("0"), "" },
        { NAME_SUBDOMAIN, STR("a-b.c--d.9"), "" },
        { NAME_SUBDOMAIN, STR(A253), "" },
        { NAME_SUBDOMAIN, STR(A253 "a"), "must be no more than 253 characters" },
        { NAME_SUBDOMAIN, STR(""), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("A"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("a_b"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("a..b"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR(".a"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("a."), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("a-.b"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("a.-b"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("a\n"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("a\0b"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("\u00e4"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR(A253 "A"), "must be no more than 253 characters; " SUBDOMAIN_WORDS },
        { NAME_LONG, STR("a.b"), "" },
        { NAME_LONG, STR(A253 "a"), "must be no more than 253 bytes" },
        { NAME_LABEL, STR("0-a"), "" },
        { NAME_LABEL, STR(A63), "" },
        { NAME_LABEL, STR(A63 "a"), "must be no more than 63 characters" },
        { NAME_LABEL, STR("a.b"), "must not contain dots" },
        { NAME_LABEL, STR("-a"), LABEL_WORDS },
        { NAME_LABEL, STR("a.B"), LABEL_WORDS },
        { NAME_LABEL, STR(""), LABEL_WORDS },
        { NAME_LABEL_1035, STR("a0"), "" },
        { NAME_LABEL_1035, STR("0a"), LABEL_1035_WORDS },
        { NAME_LABEL_1035, STR("a.b"), LABEL_1035_WORDS },
        { NAME_LABEL_1035, STR(""), LABEL_1035_WORDS },
        { NAME_PATH_SEGMENT, STR("system:Node \u00e4"), "" },
        { NAME_PATH_SEGMENT, STR("..."), "" },
        { NAME_PATH_SEGMENT, STR("."), "may not be '.'" },
        { NAME_PATH_SEGMENT, STR(".."), "may not be '..'" },
        { NAME_PATH_SEGMENT, STR("a/%"), "may not contain '/'; may not contain '%'" },
        { NAME_ANY, STR("/"), "" },
        { NAME_CONFIG_KEY, STR("A_b.c-"), "" },
        { NAME_CONFIG_KEY, STR(""), CONFIG_KEY_WORDS },
        { NAME_CONFIG_KEY, STR("a b"), CONFIG_KEY_WORDS },
        { NAME_CONFIG_KEY, STR("."), "must not be '.'" },
        { NAME_CONFIG_KEY, STR(".."), "must not be '..'" },
        { NAME_CONFIG_KEY, STR("..a"), "must not start with '..'" },
        { NAME_STORAGE_VERSION, STR("apps.deployments"), "" },
        { NAME_STORAGE_VERSION, STR("a"), "name must be in the form of <group>.<resource>" },
        { NAME_STORAGE_VERSION, STR("A.0"),
          "the group segment " SUBDOMAIN_WORDS "; the resource segment " LABEL_1035_WORDS },
        { NAME_QUALIFIED, STR("a.B/c_D"), "prefix part " SUBDOMAIN_WORDS },
        { NAME_QUALIFIED, STR("a.b/c_D"), "" },
        { NAME_QUALIFIED, STR("/"),
          "prefix part must be non-empty; name part must be non-empty; name "
          "part " QUALIFIED_WORDS },
        { NAME_QUALIFIED, STR(A253 "A/" A63 "_"),
          "prefix part must be no more than 253 bytes; prefix part " SUBDOMAIN_WORDS
          "; name part must be no more than 63 bytes; name part " QUALIFIED_WORDS },
        { NAME_LABEL_VALUE, STR(""), "" },
        { NAME_LABEL_VALUE, STR(A63 "a"), "must be no more than 63 bytes" },
    };
    check_rows(rows, ARRAY_LEN(rows), name_check);
}

static void addresses_have_one_text(void **state)
{
    (void)state;
#define NO_ADDRESS "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    static const struct row rows[] = {
        { NAME_IP, STR("10.0.0.1"), "" },
        { NAME_IP, STR("::"), "" },
        { NAME_IP, STR("::1"), "" },
        { NAME_IP, STR("1::"), "" },
        { NAME_IP, STR("2001:db8::1"), "" },
        { NAME_IP, STR("1:0:0:2::3"), "" }, /* the longer run */
        { NAME_IP, STR("1:2:3:4:5:6:7:8"), "" },
        { NAME_IP, STR("1:0:3:4:5:6:7:8"), "" },
        { NAME_IP, STR("::102:304"), "" },
        { NAME_IP, STR("1::2:0:0:3"), "" },
        { NAME_IP, STR("1:0:0:2:3::4"), "must be in canonical form (\"1::2:3:0:0:4\")" },
        { NAME_IP, STR("::1.2.3.4"), "must be in canonical form (\"::102:304\")" },
        { NAME_IP, STR("2001:DB8::1"), "must be in canonical form (\"2001:db8::1\")" },
        { NAME_IP, STR("2001:db8:0::1"), "must be in canonical form (\"2001:db8::1\")" },
        { NAME_IP, STR("1::3:4:5:6:7:8"), "must be in canonical form (\"1:0:3:4:5:6:7:8\")" },
        { NAME_IP, STR("010.0.0.1"), "must not have leading 0s" },
        { NAME_IP, STR("::ffff:1.2.3.4"), "must not be an IPv4-mapped IPv6 address" },
        { NAME_IP, STR("10.0.0"), NO_ADDRESS },
        { NAME_IP, STR("10.0.0.256"), NO_ADDRESS },
        { NAME_IP, STR("10.0.0.1.2"), NO_ADDRESS },
        { NAME_IP, STR("10.0.0."), NO_ADDRESS },
        { NAME_IP, STR("fe80::1%lo"), NO_ADDRESS },
        { NAME_IP, STR("::1\0"), NO_ADDRESS },
        { NAME_IP, STR(A63), NO_ADDRESS },
    };
    check_rows(rows, ARRAY_LEN(rows), name_check);
#undef NO_ADDRESS
}

static void a_prefix_may_end_in_a_dash(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { NAME_SUBDOMAIN, STR("a-"), "" },
        { NAME_SUBDOMAIN, STR("a--"), "" },
        { NAME_SUBDOMAIN, STR("a.-"), "" },
        { NAME_SUBDOMAIN, STR("_-"), "" }, /* upstream hides the character before the dash too */
        { NAME_SUBDOMAIN, STR("-"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("_a-"), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR("a."), SUBDOMAIN_WORDS },
        { NAME_SUBDOMAIN, STR(A253 "-"), "" },
        { NAME_SUBDOMAIN, STR(A253 "a-"), "must be no more than 253 characters" },
        { NAME_LABEL, STR("a-"), "" },
        { NAME_LABEL, STR("a.b-"), "must not contain dots" },
        { NAME_LONG, STR("_"), "" },
        { NAME_PATH_SEGMENT, STR("a/-"), "may not contain '/'" },
    };
    check_rows(rows, ARRAY_LEN(rows), name_check_prefix);
}

static void resources_have_their_rule(void **state)
{
    (void)state;
    static const struct {
        struct str group, resource;
        enum name_rule rule;
    } rows[] = {
        { STR(""), STR("pods"), NAME_SUBDOMAIN },
        { STR(""), STR("services"), NAME_LABEL },
        { STR("example.com"), STR("services"), NAME_SUBDOMAIN },
        { STR("events.k8s.io"), STR("events"), NAME_SUBDOMAIN },
        { STR(""), STR("events"), NAME_ANY },
        { STR("rbac.authorization.k8s.io"), STR("roles"), NAME_PATH_SEGMENT },
        { STR("networking.k8s.io"), STR("ipaddresses"), NAME_IP },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(name_rule_of(rows[i].group, rows[i].resource), rows[i].rule);
}

static void generated_names_fit_a_label(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    assert_true(str_eq(name_generate(&a, STR("web-"), 0), STR("web-bbbbb")));
    assert_true(str_eq(name_generate(&a, STR("web-"), 1 + 27 * 26), STR("web-c9bbb")));
    assert_true(str_eq(name_generate(&a, STR(""), 2), STR("dbbbb")));
    struct str longest = name_generate(&a, STR(A63), UINT64_MAX);
    assert_int_equal(longest.n, NAME_LABEL_MAX);
    assert_true(str_starts(longest, str_take(STR(A63), 58)));
    struct name_faults f = { 0 };
    assert_true(name_check(NAME_LABEL, longest, &f));
    /* 57 bytes and half of a character: the half is not taken. */
    struct str cut = str_take(STR(A63), 57);
    struct str text = arena_printf(&a, STR_FMT "\u00e4\u00e4", STR_ARG(cut));
    assert_int_equal(name_generate(&a, text, 0).n, 62);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_follow_their_rule),     cmocka_unit_test(addresses_have_one_text),
        cmocka_unit_test(a_prefix_may_end_in_a_dash),  cmocka_unit_test(resources_have_their_rule),
        cmocka_unit_test(generated_names_fit_a_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
