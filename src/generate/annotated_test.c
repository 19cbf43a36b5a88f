/* Annotated headers: what becomes of members and markers, and what is said of mistakes. */
#include "generate/annotated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"

static struct arena arena;
static struct err err;

static int read_text(const char *text, struct value *ret)
{
    struct annotated in;
    err = ERR_INIT(&arena);
    int r = annotated_read(&arena, "t.h", str_of(text), &in, &err);
    if (r < 0)
        return r;
    return annotated_definitions(&in, ret, &err);
}

/* The first definition of a header. */
static const struct value *define(const char *text)
{
    struct value *all = arena_new(&arena, struct value);
    if (read_text(text, all) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return value_at(all, 0);
}

static void check_json(const struct value *v, const char *want)
{
    struct value wanted;
    assert_int_equal(json_read(&arena, str_of(want), NULL, &wanted, &err), 0);
    if (v && value_eq(v, &wanted))
        return;
    struct buf got = { 0 };
    if (v)
        json_write(&got, v);
    fail_msg("got " STR_FMT "\nand not %s", STR_ARG(buf_str(&got)), want);
}

static const struct value *version_of(const struct value *crd)
{
    return value_at(value_dig(crd, "spec", "versions"), 0);
}

/* The schema of the member `x` of a kind that has only this one. */
static const struct value *member(const char *markers, const char *type)
{
    const char *text =
        arena_printf(&arena,
                     "// +groupName=e.com\n// +genclient\nstruct k {\n%s\n%s x;\n};\n"
                     "struct inner { struct spn_bool on; };\n",
                     markers, type)
            .p;
    return value_dig(version_of(define(text)), "schema", "openAPIV3Schema", "properties", "x");
}

static void types(void **state)
{
    static const char *const rows[][2] = {
        { "struct spn_text", "{\"type\":\"string\"}" },
        { "struct spn_int", "{\"type\":\"integer\",\"format\":\"int64\"}" },
        { "struct spn_bool", "{\"type\":\"boolean\"}" },
        { "struct spn_number", "{\"type\":\"number\"}" },
        { "const struct spn_value *", "{\"x-kubernetes-preserve-unknown-fields\":true}" },
        { "struct spn_texts", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}" },
        { "struct spn_pairs",
          "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}" },
        { "struct inner *", "{\"type\":\"object\",\"properties\":{\"on\":{\"type\":\"boolean\"}},"
                            "\"required\":[\"on\"]}" },
        { "struct inner_list",
          "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"on\":{\"type\":"
          "\"boolean\"}},\"required\":[\"on\"]}}" },
        { "struct inner_map",
          "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{"
          "\"on\":{\"type\":\"boolean\"}},\"required\":[\"on\"]}}" },
        { "struct core_v1_local_object_reference *",
          "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
          "\"x-kubernetes-map-type\":\"atomic\"}" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_json(member("", rows[i][0]), rows[i][1]);
}

static void validation(void **state)
{
    static const char *const rows[][3] = {
        { "// +kubebuilder:validation:Minimum=-1.5", "struct spn_number",
          "{\"type\":\"number\",\"minimum\":-1.5}" },
        { "// +kubebuilder:validation:MaxLength=3\n// +kubebuilder:validation:Pattern=`^a=\"b\"$`",
          "struct spn_text",
          "{\"type\":\"string\",\"maxLength\":3,\"pattern\":\"^a=\\\"b\\\"$\"}" },
        { "// +kubebuilder:validation:Enum=a;\"b c\"", "struct spn_text",
          "{\"type\":\"string\",\"enum\":[\"a\",\"b c\"]}" },
        { "// +kubebuilder:validation:Enum={1,2}\n// +kubebuilder:validation:Format=int32",
          "struct spn_int", "{\"type\":\"integer\",\"format\":\"int32\",\"enum\":[1,2]}" },
        { "// +kubebuilder:validation:items:MinLength=1\n// "
          "+kubebuilder:validation:UniqueItems=false",
          "struct spn_texts",
          "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},\"uniqueItems\":"
          "false}" },
        { "// +kubebuilder:default={\"a\",\"b\"}\n// +listType=set", "struct spn_texts",
          "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"default\":[\"a\",\"b\"],"
          "\"x-kubernetes-list-type\":\"set\"}" },
        { "// +kubebuilder:default={a: \"1\"}", "struct spn_pairs",
          "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},\"default\":{\"a\":"
          "\"1\"}}" },
        { "// +kubebuilder:default=true\n// +nullable", "struct spn_bool",
          "{\"type\":\"boolean\",\"default\":true,\"nullable\":true}" },
        { "// +default=\"5\"", "struct spn_text", "{\"type\":\"string\",\"default\":\"5\"}" },
        { "// +kubebuilder:validation:XValidation:rule=\"self.on, true\",message=`no \"way\"`",
          "struct spn_int",
          "{\"type\":\"integer\",\"format\":\"int64\",\"x-kubernetes-validations\":[{\"rule\":"
          "\"self.on, true\",\"message\":\"no \\\"way\\\"\"}]}" },
        { "// +listType=map\n// +listMapKey=a\n// +listMapKey=b", "struct spn_values",
          "{\"type\":\"array\",\"items\":{\"x-kubernetes-preserve-unknown-fields\":true},"
          "\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"a\",\"b\"]}" },
        { "/* The first line\n * and the second.\n *\n * +optional */", "struct spn_bool",
          "{\"description\":\"The first line and the second.\",\"type\":\"boolean\"}" },
        { "// Far away.\n\n// Near.\n// +some-other-tool:x=y", "struct spn_bool",
          "{\"description\":\"Near.\",\"type\":\"boolean\"}" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_json(member(rows[i][0], rows[i][1]), rows[i][2]);
}

static void kinds(void **state)
{
    (void)state;
    const struct value *crd = define(
        "#define X \\\n  struct ignored\n"
        "extern \"C\" {\n"
        "struct forward;\n"
        "// +groupName=apps.e.com\n"
        "// +versionName=v1beta2\n"
        "// +genclient\n"
        "// +kubebuilder:resource:path=policies,scope=Cluster,shortName={p,pp},categories=all;net\n"
        "// +kubebuilder:subresource:scale:specpath=.spec.n,statuspath=.status.n\n"
        "// +kubebuilder:printcolumn:name=N,type=integer,JSONPath=.spec.n,priority=1\n"
        "// +kubebuilder:metadata:annotations=\"a=b=c\",labels=\"l=m\"\n"
        "// +kubebuilder:deprecatedversion:warning=\"use v2\"\n"
        "struct traffic_policy {\n"
        "    struct spn_text api_version, kind;\n"
        "    struct meta_v1_object_meta *metadata;\n"
        "    struct spn_int first, second; // +optional\n"
        "    struct spn_text name; // +json=name-\n"
        "    struct spn_value *rest;\n"
        "};\n"
        "}\n");
    check_json(value_get(crd, STR("metadata")),
               "{\"name\":\"policies.apps.e.com\",\"annotations\":{\"a\":\"b=c\"},"
               "\"labels\":{\"l\":\"m\"}}");
    check_json(value_dig(crd, "spec", "names"),
               "{\"kind\":\"TrafficPolicy\",\"listKind\":\"TrafficPolicyList\",\"plural\":"
               "\"policies\",\"singular\":\"trafficpolicy\",\"shortNames\":[\"p\",\"pp\"],"
               "\"categories\":[\"all\",\"net\"]}");
    assert_true(str_eq(value_text(value_get(crd, STR("spec")), "scope"), STR("Cluster")));
    const struct value *v = version_of(crd);
    check_json(
        value_get(v, STR("subresources")),
        "{\"scale\":{\"specReplicasPath\":\".spec.n\",\"statusReplicasPath\":\".status.n\"}}");
    check_json(value_get(v, STR("additionalPrinterColumns")),
               "[{\"name\":\"N\",\"type\":\"integer\",\"jsonPath\":\".spec.n\",\"priority\":1}]");
    assert_true(str_eq(value_text(v, "deprecationWarning"), STR("use v2")));
    assert_true(str_eq(value_text(v, "name"), STR("v1beta2")));
}

static void mistakes(void **state)
{
    static const char *const rows[][2] = {
        { "/* no end", "t.h:1: a comment does not end" },
        { "struct a {\n// \xff\n};", "t.h:2: the text is not UTF-8" },
        { "\nextern \"C\n{", "t.h:2: a text in quotes does not end" },
        { "extern int", "t.h:1: found `int` and expected \"C\"" },
        { "struct a { struct b", "t.h:1: the name of a member is missing at the end of the file" },
        { "struct a { struct b c }", "t.h:1: found `}` and expected `;`" },
        { "struct a { };\n\nstruct a { };", "t.h:3: struct a is declared twice" },
        { "// +groupName=g\n// +genclient\nstruct a { struct spn_text *x; };",
          "t.h:3: x: the type is none of sampan/typed.h, no pointer to a struct and no list or map "
          "of structs" },
        { "// +groupName=g\n// +genclient\nstruct a { struct spn_text x;\nstruct spn_int x; };",
          "t.h:4: \"x\" is there twice" },
        { "// +groupName=g\n// +genclient\n// +kubebuilder:resource:scope=Planet\nstruct a { };",
          "t.h:3: the scope is Namespaced or Cluster" },
        { "// +groupName=g\n// +genclient\n// +kubebuilder:resource:colour=red\nstruct a { };",
          "t.h:3: +kubebuilder:resource:colour=red: there is no `colour`" },
        { "// +groupName=g\n// +genclient\n// +genclient:onlyVerbs=get,look\nstruct a { };",
          "t.h:3: +genclient:onlyVerbs=get,look: there is no `look`" },
        { "// +groupName=g\n// +genclient\n// +genclient:skipVerbs=\nstruct a { };",
          "t.h:3: +genclient:skipVerbs=: there is no ``" },
        { "// +groupName=g\n// +genclient\n// +genclient:skipVerbs=get\n"
          "// +genclient:onlyVerbs=list\nstruct a { };",
          "t.h:4: verbs are either chosen (onlyVerbs) or left out (skipVerbs)" },
        { "// +groupName=g\n// +genclient\n// +genclient:someVerbs\nstruct a { };",
          "t.h:3: there is no marker +genclient:someVerbs" },
        { "// +groupName=g\n// +genclient\n// +kubebuilder:printcolumn:name=a\nstruct a { };",
          "t.h:3: a column needs name, type and JSONPath" },
        { "// +groupName=g\n// +genclient\nstruct a {\n// +kubebuilder:validation:items:Pattern=a\n"
          "struct spn_text x; };",
          "t.h:4: +kubebuilder:validation:items:Pattern=a: this is no list" },
        { "// +groupName=g\n// +genclient\nstruct a {\nstruct apiextensions_v1_json_schema_props "
          "*x; "
          "};",
          "t.h:4: JSONSchemaProps cannot be part of a definition: it has itself in it" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v;
        assert_int_equal(read_text(rows[i][0], &v), -ERR_INVALID);
        if (!str_eq(err.msg, str_of(rows[i][1])))
            fail_msg("got " STR_FMT "\nand not %s", STR_ARG(err.msg), rows[i][1]);
    }
}

static void too_many_structs(void **state)
{
    (void)state;
    struct buf text = { 0 };
    for (int i = 0; i < 4097; i++)
        buf_printf(&text, "struct s%d { };\n", i);
    struct annotated in;
    err = ERR_INIT(&arena);
    assert_int_equal(annotated_read(&arena, "t.h", buf_str(&text), &in, &err), -ERR_INVALID);
    assert_true(str_eq(err.msg, STR("t.h:4097: there are more than 4096 structs")));
    buf_done(&text);
}

static int done(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),    cmocka_unit_test(validation),       cmocka_unit_test(kinds),
        cmocka_unit_test(mistakes), cmocka_unit_test(too_many_structs),
    };
    arena_init(&arena);
    return cmocka_run_group_tests(tests, NULL, done);
}
