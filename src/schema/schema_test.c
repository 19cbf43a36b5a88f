/* The schema of a custom resource; expectations are what kube-apiserver answers. */
#include "schema/schema_test.h"
#include "base/idiom.h"

struct fixture {
    struct arena a;
    const struct schema *s;
};

static struct value parse(struct arena *a, const char *json)
{
    return parse_yaml(a, str_of(json));
}

static void start(struct fixture *f, const char *schema)
{
    arena_init(&f->a);
    struct value props = parse(&f->a, schema);
    f->s = schema_compile(&f->a, &props);
}

static void expect_json(struct arena *a, const struct value *got, const char *want)
{
    struct value wanted = parse(a, want);
    autobuf text = { 0 };
    json_write(&text, got);
    if (!value_eq(got, &wanted))
        fail_msg("want %s\ngot  " STR_FMT, want, STR_ARG(buf_str(&text)));
}

static void prunes(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, "{\"type\":\"object\",\"properties\":{"
              "\"spec\":{\"type\":\"object\",\"properties\":{"
              "\"a\":{\"type\":\"string\"},"
              "\"open\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,"
              "\"properties\":{\"in\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":"
              "\"string\"}}}}},"
              "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"y\":{"
              "\"type\":\"string\"}}}},"
              "\"map\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\","
              "\"properties\":{\"z\":{}}}}}}}}");
    struct value v = parse(
        &f.a,
        "{\"apiVersion\":\"g/v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"},\"extra\":1,"
        "\"spec\":{\"a\":\"1\",\"b\":2,\"open\":{\"u\":{\"v\":1},\"in\":{\"x\":\"1\",\"w\":2}},"
        "\"list\":[{\"y\":\"1\"},{\"q\":1}],\"map\":{\"k\":{\"z\":1,\"t\":2}}}}");
    struct schema_unknown unknown = { .n = 0 };
    schema_prune(&f.a, f.s, &v, true, &unknown);
    expect_json(&f.a, &v,
                "{\"apiVersion\":\"g/v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"},"
                "\"spec\":{\"a\":\"1\",\"open\":{\"u\":{\"v\":1},\"in\":{\"x\":\"1\"}},"
                "\"list\":[{\"y\":\"1\"},{}],\"map\":{\"k\":{\"z\":1}}}}");
    static const char *const paths[] = { "extra", "spec.b", "spec.list[1].q", "spec.map.k.t",
                                         "spec.open.in.w" };
    assert_int_equal(unknown.n, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(str_eq(unknown.paths[i], str_of(paths[i])));
    arena_done(&f.a);
}

static void defaults(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, "{\"type\":\"object\",\"properties\":{"
              "\"s\":{\"type\":\"object\",\"default\":{},\"properties\":{"
              "\"n\":{\"type\":\"integer\",\"default\":3},"
              "\"nul\":{\"type\":\"string\",\"nullable\":true,\"default\":\"d\"},"
              "\"not\":{\"type\":\"string\"}}},"
              "\"l\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"p\":{"
              "\"type\":\"string\",\"default\":\"TCP\"}}}},"
              "\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\","
              "\"default\":\"x\"}}}}");
    struct value v = parse(&f.a, "{\"l\":[{},{\"p\":\"UDP\"}],\"m\":{\"a\":null,\"b\":\"y\"}}");
    schema_drop_nulls(&f.a, f.s, &v);
    schema_default(&f.a, f.s, &v);
    expect_json(&f.a, &v,
                "{\"s\":{\"n\":3,\"nul\":\"d\"},\"l\":[{\"p\":\"TCP\"},{\"p\":\"UDP\"}],"
                "\"m\":{\"a\":\"x\",\"b\":\"y\"}}");
    v = parse(&f.a, "{\"s\":{\"n\":null,\"nul\":null,\"not\":null}}");
    schema_drop_nulls(&f.a, f.s, &v);
    schema_default(&f.a, f.s, &v);
    expect_json(&f.a, &v, "{\"s\":{\"n\":3,\"nul\":null}}");
    arena_done(&f.a);
}

static void validates(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *value, *faults;
    } rows[] = {
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}", "{\"a\":\"x\"}",
          "a: Invalid value: \"string\": a in body must be of type integer: \"string\"" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":1,"
          "\"maximum\":5}}}",
          "{\"a\":0}", "a: Invalid value: 0: a in body should be greater than or equal to 1" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\",\"maximum\":1.5,"
          "\"exclusiveMaximum\":true}}}",
          "{\"a\":1.5}", "a: Invalid value: 1.5: a in body should be less than 1.5" },
        { "{\"type\":\"object\",\"required\":[\"a\"]}", "{}", "a: Required value" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"]}}"
          "}",
          "{\"a\":\"z\"}", "a: Unsupported value: \"z\": supported values: \"x\", \"y\"" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^b\"}}}",
          "{\"a\":\"z\"}", "a: Invalid value: \"z\": a in body should match '^b'" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"maxLength\":1}}}",
          "{\"a\":\"zz\"}", "a: Too long: may not be more than 1 byte" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"maxItems\":1,\"items\":"
          "{\"type\":\"string\"}}}}",
          "{\"a\":[\"1\",\"2\"]}", "a: Too many: 2: must have at most 1 item" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"x-kubernetes-int-or-string\":true}}}",
          "{\"a\":true}",
          "a: Invalid value: \"boolean\": a in body must be of type integer,string: \"boolean\"" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":null}",
          "a: Invalid value: \"null\": a in body must be of type string: \"null\"" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"object\",\"oneOf\":[{"
          "\"required\":[\"x\"]},{\"required\":[\"y\"]}]}}}",
          "{\"a\":{\"x\":1,\"y\":1}}",
          "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found "
          "2 valid alternatives" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"format\":\"int32\"}}"
          "}",
          "{\"a\":2147483648}",
          "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
          "a" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"format\":\"date-"
          "time\"}}}",
          "{\"a\":\"no\"}",
          "a: Invalid value: \"no\": a in body must be of type date-time: \"no\"" },
        { "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"format\":\"unheard-"
          "of\"}}}",
          "{\"a\":\"no\"}", "" },
        { "{\"type\":\"object\",\"properties\":{\"m\":{\"type\":\"object\","
          "\"additionalProperties\":{\"type\":\"string\"}}}}",
          "{\"m\":{\"k\":1}}",
          "m.k: Invalid value: \"integer\": m.k in body must be of type string: \"integer\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f;
        start(&f, rows[i].schema);
        struct value v = parse(&f.a, rows[i].value);
        struct field_errors e = FIELD_ERRORS_INIT(&f.a);
        schema_validate(&e, f.s, NULL, &v, NULL);
        struct str got = str_of(faults_text(&f.a, &e));
        if (!str_eq(got, str_of(rows[i].faults)))
            fail_msg("%s\nwant %s\ngot  " STR_FMT, rows[i].value, rows[i].faults, STR_ARG(got));
        /* The same again is no fault on an update that changes nothing there. */
        struct field_errors again = FIELD_ERRORS_INIT(&f.a);
        schema_validate(&again, f.s, NULL, &v, &v);
        assert_int_equal(again.n, 0);
        arena_done(&f.a);
    }
}

static void lists(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, "{\"type\":\"object\",\"properties\":{"
              "\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":"
              "\"string\"}},"
              "\"map\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-"
              "map-keys\":[\"k\"],"
              "\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"}}}}}}");
    struct value v = parse(&f.a, "{\"set\":[\"a\",\"b\",\"a\",\"a\"],\"map\":[{\"k\":\"1\"},{\"k\":"
                                 "\"2\"},{\"k\":\"1\",\"v\":2}]}");
    struct field_errors e = FIELD_ERRORS_INIT(&f.a);
    schema_check_lists(&e, f.s, &v);
    struct str got = str_of(faults_text(&f.a, &e));
    struct str want = STR("set[2]: Duplicate value: \"a\"\nmap[2]: Duplicate value: {\"k\":\"1\"}");
    if (!str_eq(got, want))
        fail_msg("got " STR_FMT, STR_ARG(got));
    arena_done(&f.a);
}

/* A text that does not match because there was no time to look is not called wrong. */
static void gives_up(void **state)
{
    (void)state;
    struct fixture f;
    struct allowance w = { 0 };
    start(&f, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
              "\"pattern\":\"^a$\"}}}");
    struct value v = parse(&f.a, "{\"a\":\"b\"}");
    struct field_errors e = FIELD_ERRORS_INIT(&f.a);
    struct err err = ERR_INIT(&f.a);
    arena_allow(&f.a, &w);
    schema_validate(&e, f.s, NULL, &v, NULL);
    assert_int_equal(field_errors_report(&e, STR("g"), STR("K"), STR("n"), &err), -ERR_INVALID);
    allowance_finish(&w, ALLOWANCE_LATE);
    err_clear(&err);
    assert_int_equal(field_errors_report(&e, STR("g"), STR("K"), STR("n"), &err), -ERR_TIMEOUT);
    struct field_errors none = FIELD_ERRORS_INIT(&f.a);
    schema_validate(&none, f.s, NULL, &v, NULL);
    assert_int_equal(none.n, 0);
    arena_done(&f.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prunes), cmocka_unit_test(defaults), cmocka_unit_test(validates),
        cmocka_unit_test(lists),  cmocka_unit_test(gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
