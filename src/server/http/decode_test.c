#include "server/http/decode.h"

#include "api/codec/cbor.h"
#include "api/codec/proto.h"
#include "server/http/suite_call.h"
#include "base/idiom.h"

#define MAPS  "/api/v1/namespaces/default/configmaps"
#define YAML  "application/yaml"
#define CBOR  "application/cbor"
#define PROTO "application/vnd.kubernetes.protobuf"

static int decode(struct suite_call *s, enum decode_validation validation, struct value *ret)
{
    return decode_body(&s->call, s->call.req.resource->type, validation, ret, &s->err);
}

/* ---- What it is ---- */

#define MAP(rest) "{'kind':'ConfigMap','apiVersion':'v1','metadata':{}" rest "}"

static void kinds_and_versions(void **state)
{
    static const struct {
        const char *target, *body, *want, *refusal; /* one of them is NULL */
    } cases[] = {
        { MAPS, "{}", MAP(""), NULL },
        { MAPS, "null", MAP(""), NULL },
        { MAPS, "{'kind':'ConfigMap'}", MAP(""), NULL },
        { MAPS, "{'apiVersion':'v1','data':{'a':'b'}}", MAP(",'data':{'a':'b'}"), NULL },
        /* In front, whatever the order they came in. */
        { MAPS, "{'data':{'a':'b'},'kind':'ConfigMap'}", MAP(",'data':{'a':'b'}"), NULL },
        { MAPS, "{'kind':'Secret','apiVersion':'v1'}", NULL,
          "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to "
          "(core.ConfigMap): unknown conversion" },
        { MAPS, "{'kind':'Thing','apiVersion':'x.example.com/v1'}", NULL,
          "Thing in version \"v1\" cannot be handled as a ConfigMap: no kind \"Thing\" is "
          "registered for version \"x.example.com/v1\" in scheme "
          "\"pkg/api/legacyscheme/scheme.go:30\"" },
        { "/apis/apps/v1/namespaces/default/deployments",
          "{'kind':'Deployment','apiVersion':'apps/v1beta1'}", NULL,
          "the API version in the data (apps/v1beta1) does not match the expected API version "
          "(apps/v1)" },
        { MAPS, "{'apiVersion':'a/b/c'}", NULL,
          "the object provided is unrecognized (must be of type ConfigMap): unexpected "
          "GroupVersion string: a/b/c ({\"apiVersion\":\"a/b/c\"})" },
        { MAPS, "{'kind':7}", NULL,
          "the object provided is unrecognized (must be of type ConfigMap): couldn't get "
          "version/kind; json parse error: json: cannot unmarshal number into Go struct field "
          ".kind of type string ({\"kind\":7})" },
        { MAPS, "[]", NULL,
          "the object provided is unrecognized (must be of type ConfigMap): couldn't get "
          "version/kind; json parse error: json: cannot unmarshal array into Go value of type "
          "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
          "\"json:\\\"kind,omitempty\\\"\" } (5b5d)" },
        { MAPS, "{'data':{'a':1}}", NULL,
          "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
          "number into Go struct field ConfigMap.data of type string" },
        /* Of a long body only its beginning is shown. */
        { MAPS, "{'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa':", NULL,
          "the object provided is unrecognized (must be of type ConfigMap): couldn't get "
          "version/kind; json parse error: unexpected end of JSON input "
          "({\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa ...)" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct value obj;
        suite_call_init(&s, cases[i].target, NULL, STR(""));
        s.http.body = suite_call_quoted(&s.arena, cases[i].body);
        int r = decode(&s, DECODE_STRICT, &obj);
        assert_int_equal(r, cases[i].want ? 0 : -ERR_BAD_REQUEST);
        if (cases[i].want)
            assert_string_equal(suite_call_shown(&s, &obj), cases[i].want);
        else
            assert_string_equal(suite_call_refusal(&s), cases[i].refusal);
        suite_call_done(&s);
    }
}

/* ---- Encodings ---- */

static void media_types(void **state)
{
    static const struct {
        const char *type; /* NULL: not said */
        const char *body;
        int want;
    } cases[] = {
        { NULL, "{}", 0 },
        { "application/json", "{}", 0 },
        { "application/json; charset=utf-8", "{}", 0 },
        { YAML, "data: {a: b}\n", 0 },
        { YAML, "data: {a: b}\n---\ndata: 7\n", 0 }, /* of several the first counts */
        { YAML, "", 0 },
        { YAML, "{", -ERR_BAD_REQUEST },
        { "application/json", "data: {a: b}\n", -ERR_BAD_REQUEST },
        { "text/plain", "{}", -ERR_UNSUPPORTED_MEDIA_TYPE },
        { "application/json;", "{}", 0 },
        { "application/json; charset", "{}", -ERR_UNSUPPORTED_MEDIA_TYPE },
        { CBOR, "{}", -ERR_BAD_REQUEST },
        { PROTO, "{}", -ERR_BAD_REQUEST },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct value obj;
        suite_call_init(&s, MAPS, cases[i].type, str_of(cases[i].body));
        if (decode(&s, DECODE_STRICT, &obj) != cases[i].want)
            fail_msg("%s %s: %s", cases[i].type, cases[i].body, suite_call_refusal(&s));
        suite_call_done(&s);
    }
}

/* An object written in a binary form, read for the path `target`. */
static int decode_written(struct suite_call *s, const char *target, const char *type,
                          const char *json, struct value *ret)
{
    struct value obj;
    autobuf bytes = { 0 };
    suite_call_init(s, target, NULL, STR(""));
    s->http.body = suite_call_quoted(&s->arena, json);
    const struct kind_type *maps = kind_type_find(STR(""), STR("v1"), STR("ConfigMap"));
    assert_int_equal(decode_body(&s->call, maps, DECODE_STRICT, &obj, &s->err), 0);
    if (str_eq(str_of(type), STR(CBOR)))
        cbor_write(&bytes, maps, &obj);
    else
        proto_envelope_write(&bytes, maps, &obj);
    s->type.value = str_of(type);
    s->http.n_headers = 1;
    s->http.body = arena_str(&s->arena, buf_str(&bytes));
    return decode(s, DECODE_STRICT, ret);
}

static void binary_forms(void **state)
{
    static const char *const types[] = { CBOR, PROTO };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct suite_call s;
        struct value obj;
        assert_int_equal(decode_written(&s, MAPS, types[i],
                                        "{'metadata':{'name':'n'},'binaryData':{'b':'AAE='}}",
                                        &obj),
                         0);
        assert_string_equal(suite_call_shown(&s, value_get(&obj, STR("binaryData"))),
                            "{'b':'AAE='}");
        suite_call_done(&s);
        assert_int_equal(decode_written(&s, "/api/v1/namespaces/default/secrets", types[i],
                                        "{'metadata':{'name':'n'}}", &obj),
                         -ERR_BAD_REQUEST);
        assert_string_equal(suite_call_refusal(&s),
                            "ConfigMap in version \"v1\" cannot be handled as a Secret: converting "
                            "(v1.ConfigMap) to (core.Secret): unknown conversion");
        suite_call_done(&s);
    }
}

/* ---- Fields that are unknown, and those that come twice ---- */

#define STRICT \
    "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "

static void field_validation(void **state)
{
    static const struct {
        const char *type, *body, *warnings, *refusal, *data;
    } cases[] = {
        { "application/json", "{\"data\":{\"a\":\"b\"}}", "", NULL, "{'a':'b'}" },
        { "application/json", "{\"dta\":1,\"metadata\":{\"nme\":2}}",
          "unknown field \"dta\"\nunknown field \"metadata.nme\"\n",
          STRICT "unknown field \"dta\", unknown field \"metadata.nme\"", "" },
        { "application/json", "{\"data\":{\"a\":\"b\"},\"data\":{\"c\":\"d\"}}",
          "duplicate field \"data\"\n", STRICT "duplicate field \"data\"", "{'c':'d'}" },
        /* Go reads names in any case, but does not say so. */
        { "application/json", "{\"Data\":{\"a\":\"b\"}}", "unknown field \"Data\"\n",
          STRICT "unknown field \"Data\"", "" },
        { YAML, "data: {a: b}\ndata: {c: d}\nx: 1\n",
          "line 2: key \"data\" already set in map\nunknown field \"x\"\n",
          STRICT "yaml: unmarshal errors:\n  line 2: key \"data\" already set in map, unknown "
                 "field \"x\"",
          "{'c':'d'}" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int v = DECODE_IGNORE; v <= DECODE_STRICT; v++) {
            struct suite_call s;
            struct value obj;
            suite_call_init(&s, MAPS, cases[i].type, str_of(cases[i].body));
            int r = decode(&s, (enum decode_validation)v, &obj);
            bool refused = v == DECODE_STRICT && cases[i].refusal;
            assert_int_equal(r, refused ? -ERR_BAD_REQUEST : 0);
            assert_string_equal(suite_call_refusal(&s), refused ? cases[i].refusal : "");
            assert_string_equal(suite_call_warnings(&s), v == DECODE_WARN ? cases[i].warnings : "");
            if (!refused)
                assert_string_equal(suite_call_shown(&s, value_get(&obj, STR("data"))),
                                    cases[i].data);
            suite_call_done(&s);
        }
    }
}

/* ---- The rest ---- */

static void defaults_are_left_to_the_verb(void **state)
{
    struct suite_call s;
    struct value obj;
    (void)state;
    suite_call_init(&s, "/api/v1/namespaces/default/secrets", NULL, STR("{}"));
    assert_int_equal(decode(&s, DECODE_STRICT, &obj), 0);
    assert_string_equal(suite_call_shown(&s, &obj),
                        "{'kind':'Secret','apiVersion':'v1','metadata':{}}");
    suite_call_done(&s);
}

/* An empty list of managers ends the tracking; no list leaves it alone. */
static void managers_can_be_reset(void **state)
{
    static const struct {
        const char *body, *want;
    } cases[] = {
        { "{\"metadata\":{\"managedFields\":[]}}", "[]" },
        { "{\"metadata\":{\"managedFields\":null}}", "" },
        { "{\"metadata\":{}}", "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct value obj;
        suite_call_init(&s, MAPS, NULL, str_of(cases[i].body));
        assert_int_equal(decode(&s, DECODE_STRICT, &obj), 0);
        assert_string_equal(suite_call_shown(&s, value_dig(&obj, "metadata", "managedFields")),
                            cases[i].want);
        suite_call_done(&s);
    }
}

static void delete_options(void **state)
{
    static const struct {
        const char *body, *refusal; /* NULL: none */
    } cases[] = {
        { "{}", NULL },
        { "{'kind':'DeleteOptions','apiVersion':'v1'}", NULL },
        { "{'kind':'DeleteOptions','apiVersion':'apps/v1','unknown':1}", NULL },
        { "{'kind':'ConfigMap','apiVersion':'v1'}",
          "no kind \"ConfigMap\" is registered for version \"v1\" in scheme "
          "\"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\"" },
        { "{'preconditions':7}",
          "json: cannot unmarshal number into Go struct field DeleteOptions.preconditions of type "
          "v1.Preconditions" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suite_call s;
        struct value obj;
        suite_call_init(&s, MAPS "/a", NULL, STR(""));
        s.http.body = suite_call_quoted(&s.arena, cases[i].body);
        assert_int_equal(decode_delete_options(&s.call, &obj, &s.err),
                         cases[i].refusal ? -ERR_BAD_REQUEST : 0);
        assert_string_equal(suite_call_refusal(&s), cases[i].refusal ? cases[i].refusal : "");
        suite_call_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_versions),
        cmocka_unit_test(media_types),
        cmocka_unit_test(binary_forms),
        cmocka_unit_test(field_validation),
        cmocka_unit_test(defaults_are_left_to_the_verb),
        cmocka_unit_test(managers_can_be_reset),
        cmocka_unit_test(delete_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
