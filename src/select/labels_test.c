#include "select/labels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "api/label_syntax.h"

#define NAME_RULE                                                                               \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "      \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_RULE                                                                              \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "          \
    "'my_value',  or '12345', regex used for validation is "                                    \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define PREFIX_RULE                                                                              \
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "        \
    "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "       \
    "'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a" \
    "-z0-9]*[a-z0-9])?)*')"
#define BAD "unable to parse requirement: "
#define S63 "a23456789012345678901234567890123456789012345678901234567890123"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct labels_selector parsed(struct str text)
{
    struct labels_selector s;
    struct err err = ERR_INIT(&arena);
    if (labels_parse(&arena, text, &s, &err) < 0)
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(text), STR_ARG(err.msg));
    return s;
}

static const char *written(const struct labels_selector *s)
{
    autobuf out = { 0 };
    labels_write(&out, s);
    return str_cstr(&arena, buf_str(&out));
}

static struct value json(const char *text)
{
    struct value v;
    assert_int_equal(json_read(&arena, str_of(text), NULL, &v, NULL), 0);
    return v;
}

static void good_text_has_a_canonical_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        { "", "" },
        { "  \t\r\n", "" },
        { "a", "a" },
        { "!a", "!a" },
        { "! a", "!a" },
        { "a=b", "a=b" },
        { "a==b", "a==b" },
        { "a!=b", "a!=b" },
        { "a = b , c == d", "a=b,c==d" },
        { "a=", "a=" },
        { "a= ,b", "a=,b" },
        { "a!=,b==", "a!=,b==" },
        { "c,b,a", "a,b,c" },
        { "a=2,a=1,a!=3", "a=2,a=1,a!=3" },
        { "x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()" },
        { "x in (b,a,b)", "x in (a,b)" },
        { "x in (a,)", "x in (,a)" },
        { "x in (,)", "x in ()" },
        { "x in (,,)", "x in ()" },
        { "x in (,a,,)", "x in (,a)" },
        { "x in(a)", "x in (a)" },
        { "x\tnotin\n( a , b )", "x notin (a,b)" },
        { "in in (in,notin)", "in in (in,notin)" },
        { "notin", "notin" },
        { "in=notin", "in=notin" },
        { "!in,notin!=in", "!in,notin!=in" },
        { "x>1,y<-0", NULL },
        { "x>1,x<7", "x>1,x<7" },
        { "x > 007", "x>007" },
        { "example.com/x!=1", "example.com/x!=1" },
        { "a-b.c/D_e.F=G-h.I_j", "a-b.c/D_e.F=G-h.I_j" },
        { S63 "=" S63, S63 "=" S63 },
        { "a=b,c==d,e!=f,g in (x,y),h notin (z),i,!j,k>1,l<2",
          "a=b,c==d,e!=f,g in (x,y),h notin (z),i,!j,k>1,l<2" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!rows[i].canonical) {
            assert_true(labels_parse(&arena, str_of(rows[i].text), NULL, NULL) < 0);
            continue;
        }
        struct labels_selector s = parsed(str_of(rows[i].text));
        assert_string_equal(written(&s), rows[i].canonical);
        struct labels_selector again = parsed(str_of(rows[i].canonical));
        assert_string_equal(written(&again), rows[i].canonical);
    }
}

static void nul_is_skipped_behind_a_word_and_ends_elsewhere(void **state)
{
    (void)state;
    struct labels_selector s = parsed((struct str){ "a=\0b\0,c", 7 });
    assert_string_equal(written(&s), "a=b,c");
    s = parsed((struct str){ "a \0,,,", 6 });
    assert_string_equal(written(&s), "a");
}

static void bad_text_is_refused_in_upstreams_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *msg;
    } rows[] = {
        { ",", "found ',', expected: !, identifier, or 'end of string'" },
        { "=a", "found '=', expected: !, identifier, or 'end of string'" },
        { "==a", "found '==', expected: !, identifier, or 'end of string'" },
        { "!=x", "found '!=', expected: !, identifier, or 'end of string'" },
        { "(a)", "found '(', expected: !, identifier, or 'end of string'" },
        { ")", "found ')', expected: !, identifier, or 'end of string'" },
        { "<1", "found '<', expected: !, identifier, or 'end of string'" },
        { "a,", "found '', expected: identifier after ','" },
        { "a=b,", "found '', expected: identifier after ','" },
        { "a,,b", "found ',', expected: identifier after ','" },
        { "a,=b", "found '=', expected: identifier after ','" },
        { "a=b=c", "found '=', expected: ',' or 'end of string'" },
        { "!a=b", "found '=', expected: ',' or 'end of string'" },
        { "!a in (b)", "found 'in', expected: ',' or 'end of string'" },
        { "a in (b) c", "found 'c', expected: ',' or 'end of string'" },
        { "a=b c", "found 'c', expected: ',' or 'end of string'" },
        { "!", BAD "found '', expected: identifier" },
        { "!,a", BAD "found ',', expected: identifier" },
        { "!!a", BAD "found '!', expected: identifier" },
        { "a===b", BAD "found '=', expected: identifier" },
        { "a=(b)", BAD "found '(', expected: identifier" },
        { "a>!b", BAD "found '!', expected: identifier" },
        { "a b", BAD "found 'b', expected: in, notin, =, ==, !=, gt, lt" },
        { "a!b", BAD "found '!', expected: in, notin, =, ==, !=, gt, lt" },
        { "a(b)", BAD "found '(', expected: in, notin, =, ==, !=, gt, lt" },
        { "a in", BAD "found '' expected: '('" },
        { "a in b", BAD "found 'b' expected: '('" },
        { "a notin,b", BAD "found ',' expected: '('" },
        { "a in (", BAD "found '', expected: ',', ')' or identifier" },
        { "a in (=)", BAD "found '=', expected: ',', ')' or identifier" },
        { "a in (b", BAD "found '', expected: ',' or ')'" },
        { "a in (b c)", BAD "found 'c', expected: ',' or ')'" },
        { "a in (b=c)", BAD "found '=', expected: ',' or ')'" },
        { "a in (,", BAD "found '', expected: ',', or identifier" },
        { "a in (b,!)", BAD "found '!', expected: ',', or identifier" },
        { "a/b/c=x", BAD "<nil>: Invalid value: \"a/b/c\": a valid label key " NAME_RULE
                         " with an optional DNS subdomain prefix and '/' (e.g. "
                         "'example.com/MyName')" },
        { "-a", BAD "<nil>: Invalid value: \"-a\": name part " NAME_RULE },
        { "a\"", BAD "<nil>: Invalid value: \"a\\\"\": name part " NAME_RULE },
        { "a/",
          BAD "<nil>: Invalid value: \"a/\": name part must be non-empty; name part " NAME_RULE },
        { "/a", BAD "<nil>: Invalid value: \"/a\": prefix part must be non-empty" },
        { "A/a", BAD "<nil>: Invalid value: \"A/a\": " PREFIX_RULE },
        { "a-.b/c", BAD "<nil>: Invalid value: \"a-.b/c\": " PREFIX_RULE },
        { "a..b/c", BAD "<nil>: Invalid value: \"a..b/c\": " PREFIX_RULE },
        { ".a/c", BAD "<nil>: Invalid value: \".a/c\": " PREFIX_RULE },
        { S63 "x",
          BAD "<nil>: Invalid value: \"" S63 "x\": name part must be no more than 63 bytes" },
        { "a=o*", BAD "values[0][a]: Invalid value: \"o*\": " VALUE_RULE },
        { "a=b_", BAD "values[0][a]: Invalid value: \"b_\": " VALUE_RULE },
        { "a=" S63 "x",
          BAD "values[0][a]: Invalid value: \"" S63 "x\": must be no more than 63 bytes" },
        { "a in (z,-y,+x)", BAD "[values[0][a]: Invalid value: \"+x\": " VALUE_RULE
                                ", values[1][a]: Invalid value: \"-y\": " VALUE_RULE "]" },
        { "a>x", BAD "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be "
                     "an integer" },
        { "a<",
          BAD "values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an "
              "integer" },
        { "a>9223372036854775808", BAD "values[0]: Invalid value: \"9223372036854775808\": for "
                                       "'Gt', 'Lt' operators, the value must be an integer" },
        { "a>-5", BAD "values[0][a]: Invalid value: \"-5\": " VALUE_RULE },
        { "a>+5", BAD "values[0][a]: Invalid value: \"+5\": " VALUE_RULE },
        { "a>+-5",
          BAD "[values[0]: Invalid value: \"+-5\": for 'Gt', 'Lt' operators, the value must "
              "be an integer, values[0][a]: Invalid value: \"+-5\": " VALUE_RULE "]" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct labels_selector s;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(labels_parse(&arena, str_of(rows[i].text), &s, &err), -ERR_BAD_REQUEST);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].msg);
    }
}

static void prefixes_have_their_own_length(void **state)
{
    (void)state;
    char key[LABEL_PREFIX_MAX + 4];
    autobuf why = { 0 };
    for (size_t i = 0; i < sizeof(key); i++)
        key[i] = i % 50 == 49 ? '.' : 'a';
    memcpy(key + LABEL_PREFIX_MAX, "/x", 2);
    assert_true(label_key_check((struct str){ key, LABEL_PREFIX_MAX + 2 }, &why));
    memcpy(key + LABEL_PREFIX_MAX, "b/x", 3);
    assert_false(label_key_check((struct str){ key, LABEL_PREFIX_MAX + 3 }, &why));
    assert_true(str_eq(buf_str(&why), STR("prefix part must be no more than 253 bytes")));
}

static void objects_match_or_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *text, *labels;
        bool want;
    } rows[] = {
        { "", "{}", true },
        { "", "{\"a\":\"b\"}", true },
        { "a", "{\"a\":\"\"}", true },
        { "a", "{\"b\":\"a\"}", false },
        { "!a", "{\"b\":\"a\"}", true },
        { "!a", "{\"a\":\"\"}", false },
        { "a=b", "{\"a\":\"b\"}", true },
        { "a=b", "{\"a\":\"bb\"}", false },
        { "a=b", "{}", false },
        { "a==b", "{\"x\":\"y\",\"a\":\"b\"}", true },
        { "a=", "{\"a\":\"\"}", true },
        { "a=", "{}", false },
        { "a!=b", "{}", true },
        { "a!=b", "{\"a\":\"c\"}", true },
        { "a!=b", "{\"a\":\"b\"}", false },
        { "a!=", "{\"a\":\"\"}", false },
        { "a in (b,c)", "{\"a\":\"c\"}", true },
        { "a in (b,c)", "{\"a\":\"d\"}", false },
        { "a in (b,c)", "{}", false },
        { "a in ()", "{\"a\":\"\"}", true },
        { "a in (e,d,c,b,a,f)", "{\"a\":\"f\"}", true },
        { "a in (e,d,c,b,a,f)", "{\"a\":\"g\"}", false },
        { "a notin (b,c)", "{}", true },
        { "a notin (b,c)", "{\"a\":\"d\"}", true },
        { "a notin (b,c)", "{\"a\":\"b\"}", false },
        { "n>5", "{\"n\":\"6\"}", true },
        { "n>5", "{\"n\":\"5\"}", false },
        { "n>5", "{\"n\":\"10\"}", true },
        { "n>5", "{\"n\":\"six\"}", false },
        { "n>5", "{\"n\":\"\"}", false },
        { "n>5", "{}", false },
        { "n<5", "{\"n\":\"4\"}", true },
        { "n<5", "{\"n\":\"-4\"}", true },
        { "n<5", "{\"n\":\"005\"}", false },
        { "n<5", "{\"n\":\"99999999999999999999\"}", false },
        { "a=b,c!=d,!e", "{\"a\":\"b\"}", true },
        { "a=b,c!=d,!e", "{\"a\":\"b\",\"e\":\"\"}", false },
        { "a=b,a=c", "{\"a\":\"b\"}", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct labels_selector s = parsed(str_of(rows[i].text));
        struct value labels = json(rows[i].labels);
        struct labels_pair pairs[4];
        size_t n = 0;
        value_each_field (f, &labels)
            pairs[n++] = (struct labels_pair){ f->key, value_str(&f->val) };
        if (labels_match_value(&s, &labels) != rows[i].want ||
            labels_match(&s, pairs, n) != rows[i].want)
            fail_msg("%s on %s", rows[i].text, rows[i].labels);
    }
    struct labels_selector absent = parsed(STR("!a"));
    assert_true(labels_match_value(&absent, NULL));
    assert_true(labels_match(&absent, NULL, 0));
}

static void objects_say_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *object, *canonical;
    } rows[] = {
        { "{}", "" },
        { "{\"matchLabels\":null,\"matchExpressions\":null}", "" },
        { "{\"matchLabels\":{},\"matchExpressions\":[]}", "" },
        { "{\"matchLabels\":{\"b\":\"2\",\"a\":\"1\"}}", "a=1,b=2" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"y\",\"x\",\"y\"]"
          "}]}",
          "a in (x,y,y)" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"x\"]}]}",
          "a notin (x)" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"},{\"key\":\"b\","
          "\"operator\":\"DoesNotExist\",\"values\":[]}],\"matchLabels\":{\"c\":\"\"}}",
          "a,!b,c=" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct labels_selector s;
        struct value v = json(rows[i].object);
        assert_int_equal(labels_from_value(&arena, &v, &s, NULL), 0);
        assert_string_equal(written(&s), rows[i].canonical);
        assert_int_equal(labels_empty(&s), rows[i].canonical[0] == '\0');
    }
}

static void an_absent_object_matches_nothing(void **state)
{
    (void)state;
    struct labels_selector s;
    struct value null = value_null();
    assert_int_equal(labels_from_value(&arena, NULL, &s, NULL), 0);
    assert_false(labels_match(&s, NULL, 0));
    assert_false(labels_empty(&s));
    assert_int_equal(labels_from_value(&arena, &null, &s, NULL), 0);
    assert_false(labels_match_value(&s, NULL));
    assert_string_equal(written(&s), "");
}

static void bad_objects_are_refused_in_upstreams_words(void **state)
{
    (void)state;
    static const struct {
        const char *object, *msg;
    } rows[] = {
        { "[]", "a label selector must be an object" },
        { "{\"matchLabels\":[]}", "matchLabels must be an object" },
        { "{\"matchLabels\":{\"a\":1}}", "the values of matchLabels must be strings" },
        { "{\"matchExpressions\":{}}", "matchExpressions must be a list" },
        { "{\"matchExpressions\":[1]}", "\"\" is not a valid label selector operator" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Foo\"}]}",
          "\"Foo\" is not a valid label selector operator" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"in\",\"values\":[\"x\"]}]}",
          "\"in\" is not a valid label selector operator" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":\"x\"}]}",
          "values must be a list" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[1]}]}",
          "values must be strings" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
          "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[]}]}",
          "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"y\",\"x\"]}]"
          "}",
          "values: Invalid value: [\"y\",\"x\"]: values set must be empty for exists and does not "
          "exist" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"DoesNotExist\",\"values\":[\"<\"]}]"
          "}",
          "[values: Invalid value: [\"\\u003c\"]: values set must be empty for exists and does not "
          "exist, values[0][a]: Invalid value: \"<\": " VALUE_RULE "]" },
        { "{\"matchLabels\":{\"a b\":\"c\"}}",
          "key: Invalid value: \"a b\": name part " NAME_RULE },
        { "{\"matchExpressions\":[{\"operator\":\"Exists\"}]}",
          "key: Invalid value: \"\": name part must be non-empty; name part " NAME_RULE },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"z\",\"-\"]}]}",
          "values[1][a]: Invalid value: \"-\": " VALUE_RULE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct labels_selector s;
        struct err err = ERR_INIT(&arena);
        struct value v = json(rows[i].object);
        assert_int_equal(labels_from_value(&arena, &v, &s, &err), -ERR_INVALID);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].msg);
    }
}

static void exact_values_are_seen(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "a=b", "b" },       { "a==b,c", "b" },   { "a in (b)", "b" }, { "a in (b,c)", NULL },
        { "a!=b", NULL },     { "a", NULL },       { "b=a", NULL },     { "", NULL },
        { "a!=x,a=b", NULL }, { "a=b,a!=x", "b" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct labels_selector s = parsed(str_of(rows[i].text));
        struct str value;
        assert_int_equal(labels_exact(&s, STR("a"), &value), rows[i].want != NULL);
        if (rows[i].want)
            assert_true(str_eq(value, str_of(rows[i].want)));
    }
}

static void refuses(const struct buf *text, const char *msg)
{
    struct labels_selector s;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(labels_parse(&arena, buf_str(text), &s, &err), -ERR_BAD_REQUEST);
    assert_string_equal(str_cstr(&arena, err.msg), msg);
}

static void selectors_have_limits(void **state)
{
    (void)state;
    autobuf reqs = { 0 };
    autobuf values = { 0 };
    for (size_t i = 0; i < LIMIT_SELECTOR_REQUIREMENTS; i++)
        buf_printf(&reqs, "%sk%zu", i ? "," : "", i);
    assert_int_equal(parsed(buf_str(&reqs)).n, LIMIT_SELECTOR_REQUIREMENTS);
    buf_str_add(&reqs, STR(",x"));
    refuses(&reqs, BAD "the label selector has more than 1000 requirements");

    buf_str_add(&values, STR("a in ("));
    for (size_t i = 0; i < LIMIT_SELECTOR_VALUES; i++)
        buf_printf(&values, "%sv%zu", i ? "," : "", i);
    buf_str_add(&values, STR(")"));
    struct labels_selector s = parsed(buf_str(&values));
    assert_int_equal(s.reqs[0].n_values, LIMIT_SELECTOR_VALUES);
    struct labels_pair last = { STR("a"), STR("v9999") };
    assert_true(labels_match(&s, &last, 1));
    buf_str_add(&values, STR(",b=c"));
    refuses(&values, BAD "the label selector has more than 10000 values");
}

static void a_message_lists_only_so_many_faults(void **state)
{
    (void)state;
    autobuf text = { 0 };
    struct labels_selector s;
    struct err err = ERR_INIT(&arena);
    buf_str_add(&text, STR("a in ("));
    for (size_t i = 0; i < 5000; i++)
        buf_printf(&text, "-%zu,", i);
    buf_byte(&text, ')');
    assert_int_equal(labels_parse(&arena, buf_str(&text), &s, &err), -ERR_BAD_REQUEST);
    assert_in_range(err.msg.n, 10000, 50000);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(good_text_has_a_canonical_form),
        TEST(nul_is_skipped_behind_a_word_and_ends_elsewhere),
        TEST(bad_text_is_refused_in_upstreams_words),
        TEST(prefixes_have_their_own_length),
        TEST(objects_match_or_do_not),
        TEST(objects_say_the_same),
        TEST(an_absent_object_matches_nothing),
        TEST(bad_objects_are_refused_in_upstreams_words),
        TEST(exact_values_are_seen),
        TEST(selectors_have_limits),
        TEST(a_message_lists_only_so_many_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
