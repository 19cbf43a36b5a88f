/* The rules that are declared of fields: formats, what is required and what may change. */
#include "api/validate/declared.h"

#include "api/suite_json.h"
#include "api/validate/suite_validate.h"

static void check(const struct declared_type *type, const char *old_text, const char *text,
                  const char *want)
{
    struct arena a;
    arena_init(&a);
    struct value obj = suite_json(&a, text), old = suite_json(&a, old_text ? old_text : "null");
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    declared_check(&e, NULL, type, &obj, old_text ? &old : NULL);
    assert_true(suite_validate_same(&e, want, text));
    arena_done(&a);
}

static void check_format(enum declared_format format, const char *text, const char *want)
{
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct field_path path = field_child(NULL, STR("f"));
    declared_check_format(&e, &path, format, str_of(text));
    if (*want == '*') {
        if (!e.first || !memmem(e.first->msg.p, e.first->msg.n, want + 1, strlen(want + 1)))
            fail_msg("%s: %zu faults, none with %s", text, e.n, want + 1);
    } else {
        assert_true(suite_validate_same(&e, want, text));
    }
    arena_done(&a);
}

static void formats_are_checked(void **state)
{
    (void)state;
    check_format(DECLARED_ANY, "", "");
    check_format(DECLARED_SHORT_NAME, "a-1", "");
    check_format(DECLARED_SHORT_NAME, "a.b", "f: Invalid value: 'a.b': must not contain dots");
    check_format(DECLARED_SHORT_NAME, "", "*RFC 1123 label");
    check_format(DECLARED_LONG_NAME, "a.b", "");
    check_format(DECLARED_LONG_NAME, "A", "*RFC 1123 subdomain");
    check_format(DECLARED_LONG_NAME_CASELESS, "A.b-c", "");
    check_format(DECLARED_LONG_NAME_CASELESS, "a..b", "*RFC 1123 subdomain");
    check_format(DECLARED_LONG_NAME_CASELESS, "a-.b", "*RFC 1123 subdomain");
    check_format(DECLARED_LONG_NAME_CASELESS, "a-", "*RFC 1123 subdomain");
    check_format(DECLARED_LABEL_KEY, "a.b/c", "");
    check_format(DECLARED_LABEL_KEY, "a b", "*name part must consist of");
    check_format(DECLARED_UUID, "123e4567-e89b-12d3-a456-426614174000", "");
    check_format(DECLARED_UUID, "123E4567-e89b-12d3-a456-426614174000", "*lowercase UUID");
    check_format(DECLARED_UUID, "123e4567-e89b-12d3-a456-42661417400", "*lowercase UUID");
    check_format(DECLARED_POOL_NAME, "a/b.c", "");
    check_format(DECLARED_POOL_NAME, "a//b",
                 "f: Invalid value: 'a//b': segment 1: must not be empty");
    check_format(DECLARED_FULL_NAME, "a.b/c_1", "");
    check_format(DECLARED_FULL_NAME, "a.b/1c", "*C identifier");
    check_format(DECLARED_FULL_NAME, "/c", "f: Invalid value: '': prefix must not be empty");
    check_format(DECLARED_FULL_NAME, "a/", "f: Invalid value: '': name must not be empty");
    check_format(DECLARED_FULL_NAME, "c",
                 "f: Invalid value: 'c': a fully qualified name must be a domain and a name "
                 "separated by a slash");
    check_format(DECLARED_EXTENDED_NAME, "example.com/gpu", "");
    check_format(DECLARED_EXTENDED_NAME, "kubernetes.io/gpu", "*kubernetes.io/");
    check_format(DECLARED_EXTENDED_NAME, "requests.a/b", "*requests.");
}

DECLARED_TYPE(leaf, { STR("name"), .flags = DECLARED_REQUIRED, .max_bytes = 4 },
              { STR("kind"), .values = { STR("a"), STR("b") } },
              { STR("size"), .flags = DECLARED_MIN, .min = 1 }, { STR("label"), .max_chars = 2 });
DECLARED_TYPE(tree, { STR("leaf"), .flags = DECLARED_STRUCT, .type = &leaf },
              { STR("items"), .flags = DECLARED_UNIQUE, .max_items = 2, .keys = { STR("name") },
                .type = &leaf },
              { STR("texts"), .flags = DECLARED_UNIQUE, .format = DECLARED_SHORT_NAME,
                .max_item_bytes = 3 },
              { STR("map"), .flags = DECLARED_MAP, .format = DECLARED_SHORT_NAME, .type = &leaf },
              { STR("never"), .flags = DECLARED_FORBIDDEN });

static void fields_are_checked(void **state)
{
    (void)state;
    check(&leaf, NULL, "{'name':'x'}", "");
    check(&leaf, NULL, "{}", "name: Required value");
    check(&leaf, NULL, "null", "name: Required value");
    check(&leaf, NULL, "[]", "name: Required value");
    check(&leaf, NULL, "{'name':''}", "name: Required value");
    check(&leaf, NULL, "{'name':'12345'}", "name: Too long: may not be more than 4 bytes");
    check(&leaf, NULL, "{'name':'x','kind':'c'}",
          "kind: Unsupported value: 'c': supported values: 'a', 'b'");
    check(&leaf, NULL, "{'name':'x','size':0}",
          "size: Invalid value: 0: must be greater than or equal to 1");
    check(&leaf, NULL, "{'name':'x','size':'1'}", "");
    check(&leaf, NULL, "{'name':'x','label':'\xc3\xa4\xc3\xb6'}", "");
    check(&leaf, NULL, "{'name':'x','label':'abc'}",
          "label: Too long: may not be more than 2 characters");
}

static void fields_below_are_checked(void **state)
{
    (void)state;
    check(&tree, NULL, "{}", "leaf.name: Required value"); /* a struct is always there */
    check(&tree, NULL, "{'leaf':{'name':'x'},'never':1}", "never: Forbidden");
    check(&tree, NULL, "{'leaf':{'name':'x'},'items':[{'name':'a'},{'name':'a'}]}",
          "items[1]: Duplicate value: {'name':'a'}");
    check(&tree, NULL, "{'leaf':{'name':'x'},'items':[{'name':'a'},{'name':'b'},{}]}",
          "items: Too many: 3: must have at most 2 items");
    check(&tree, NULL, "{'leaf':{'name':'x'},'texts':['a','a']}", "texts[1]: Duplicate value: 'a'");
    check(&tree, NULL, "{'leaf':{'name':'x'},'texts':['abcd']}",
          "texts[0]: Too long: may not be more than 3 bytes");
    check(&tree, NULL, "{'leaf':{'name':'x'},'map':{'k':{}}}", "map[k].name: Required value");
}

/* What was there already is not looked at again. */
static void old_faults_are_kept(void **state)
{
    (void)state;
    check(&tree, "{}", "{}", "");
    check(&tree, "{'items':[{'size':0}]}", "{'items':[{'size':0}],'texts':['a']}", "");
    check(&tree, "{'items':[{'name':'a','size':0}]}",
          "{'items':[{'name':'b'},{'name':'a','size':0}]}", "");
    check(&tree, "{'items':[{'name':'a','size':0}]}",
          "{'items':[{'name':'b','size':0},{'name':'a','size':0}]}",
          "items[0].size: Invalid value: 0: must be greater than or equal to 1");
    check(&tree, "{'texts':['abcd']}", "{'texts':['b','abcd']}", "");
    check(&tree, "{'map':{'k':{}}}", "{'map':{'j':{'name':'x'},'k':{}}}", "");
}

static void changes_are_checked(void **state)
{
    (void)state;
    static const struct declared_field fields[] = {
        { STR("fixed"), .flags = DECLARED_IMMUTABLE },
        { STR("set"), .flags = DECLARED_NO_MODIFY },
        { { NULL, 0 }, 0 },
    };
    static const struct declared_type type = { .fields = fields };
    check(&type, NULL, "{'fixed':1,'set':1}", "");
    check(&type, "{'fixed':1}", "{'fixed':1}", "");
    check(&type, "{'fixed':1}", "{'fixed':2}", "fixed: Invalid value: null: field is immutable");
    check(&type, "{'fixed':1}", "{}", "fixed: Invalid value: null: field is immutable");
    check(&type, "{}", "{'set':1}", "");
    check(&type, "{'set':1}", "{}", "");
    check(&type, "{'set':1}", "{'set':2}",
          "set: Invalid value: null: field cannot be modified once set");
}

static void one_of_many_is_set(void **state)
{
    (void)state;
    static const struct declared_union one_of = { { STR("a"), STR("b"), STR("c") } };
    static const struct declared_field none[] = { { { NULL, 0 }, 0 } };
    static const struct declared_type member = { .one_of = &one_of,
                                                 .needs = { { STR("a"), STR("d") } },
                                                 .fields = none };
    static const struct declared_field fields[] = {
        { STR("u"), .flags = DECLARED_STRUCT, .type = &member },
        { { NULL, 0 }, 0 },
    };
    static const struct declared_type type = { .fields = fields };
    check(&type, NULL, "{'u':{'b':1}}", "");
    check(&type, NULL, "{'u':{'a':1,'d':1}}", "");
    check(&type, NULL, "{'u':{'a':1}}", "u.d: Required value: must be set when a is set");
    check(&type, NULL, "{}", "u: Invalid value: '': must specify one of: `a`, `b`, `c`");
    check(&type, NULL, "{'u':{'b':0,'c':1}}",
          "u: Invalid value: '{b, c}': must specify exactly one of: `a`, `b`, `c`");
    check(&type, "{'u':{}}", "{'u':{'d':1}}", "");
    check(&type, "{'u':{'b':1}}", "{'u':{}}",
          "u: Invalid value: '': must specify one of: `a`, `b`, `c`");
}

/* Rules see objects of a kind, where lists are lists; others may be at fault, no more. */
static void other_types_do_no_harm(void **state)
{
    (void)state;
    static const char *const texts[] = { "null", "[]",    "''",           "1",
                                         "true", "[[1]]", "{'name':'x'}", "[{'k':null}]" };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
            struct arena a;
            arena_init(&a);
            struct value old = suite_json(&a, texts[k]), obj = value_object();
            for (const struct declared_field *f = tree_fields; f->name.p; f++)
                value_put(&a, &obj, f->name, suite_json(&a, texts[i]));
            struct value old_obj = value_object();
            for (const struct declared_field *f = tree_fields; f->name.p; f++)
                value_put(&a, &old_obj, f->name, old);
            struct field_errors e = FIELD_ERRORS_INIT(&a);
            declared_check(&e, NULL, &tree, &obj, NULL);
            declared_check(&e, NULL, &tree, &obj, &old_obj);
            declared_check(&e, NULL, &tree, &obj, &old);
            arena_done(&a);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_checked),      cmocka_unit_test(fields_are_checked),
        cmocka_unit_test(fields_below_are_checked), cmocka_unit_test(old_faults_are_kept),
        cmocka_unit_test(changes_are_checked),      cmocka_unit_test(one_of_many_is_set),
        cmocka_unit_test(other_types_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
