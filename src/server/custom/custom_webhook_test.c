#include "server/custom/custom_webhook.h"

#include "base/idiom.h"
#include "base/json.h"
#include "server/custom/custom_build.h"
#include "server/custom/suite_webhook.h"
#include "server/object/stored.h"

static struct api api;
static struct suite_webhook webhook;

static int setup(void **state)
{
    (void)state;
    suite_webhook_start(&webhook, &api);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    suite_webhook_stop(&webhook);
    return 0;
}

#define GROUP "suite.example.com"
#define IN \
    "{'kind':'Widget','apiVersion':'" GROUP "/v1','metadata':{'name':'a','uid':'1'},'spec':{}}"

static struct value object(const char *text)
{
    struct value v;
    char *copy = arena_dup(&webhook.arena, text, strlen(text));
    for (char *p = copy; p < copy + strlen(text); p++)
        *p = *p == '\'' ? '"' : *p;
    if (json_read(&webhook.arena, (struct str){ copy, strlen(text) }, NULL, &v, NULL) < 0)
        fail_msg("%s", text);
    return v;
}

static const char *shown(const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    for (size_t i = 0; i < out.n; i++)
        out.p[i] = out.p[i] == '"' ? '\'' : out.p[i];
    return str_cstr(&webhook.arena, buf_str(&out));
}

/* What was said against one call about these objects; "": nothing. */
static const char *call(const struct custom_version *to, struct value *objs, size_t n,
                        bool *ret_answered)
{
    struct err err = ERR_INIT(&webhook.arena);
    int r = custom_webhook_call(&webhook.arena, to, objs, n, ret_answered, &err);
    if (r < 0)
        assert_int_equal(r, -ERR_UNKNOWN);
    return r < 0 ? str_cstr(&webhook.arena, err.msg) : "";
}

static void expect_words(const char *got, const char *want)
{
    if (!strstr(got, want))
        fail_msg("want \"%s\", got \"%s\"", want, got);
}

/* ---- What it gives ---- */

static void what_is_of_the_version_stays_at_home(void **state)
{
    bool answered;
    (void)state;
    struct value objs[] = {
        object(IN),
        object("{'kind':'Widget','apiVersion':'" GROUP "/v2','metadata':{'name':'b'}}"),
    };
    assert_string_equal(call(webhook.v2, objs, ARRAY_LEN(objs), &answered), "");
    assert_true(answered);
    assert_int_equal(webhook.n_objects, 1);
    assert_string_equal(shown(&objs[0]), "{'kind':'Widget','apiVersion':'" GROUP
                                         "/v2','metadata':{'name':'a','uid':'1'},"
                                         "'spec':{'by':'webhook'}}");
    assert_string_equal(shown(&objs[1]),
                        "{'kind':'Widget','apiVersion':'" GROUP "/v2','metadata':{'name':'b'}}");
    assert_string_equal(call(webhook.v2, objs, ARRAY_LEN(objs), &answered), "");
    assert_int_equal(webhook.n_calls, 1);
}

#define REVIEW                                                                                 \
    "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1','response':{'uid':'$'," \
    "'result':{'status':'Success'},'convertedObjects':"
#define OUT(meta) "{'kind':'Widget','apiVersion':'" GROUP "/v2','metadata':" meta "}"

/* Of the metadata only labels and annotations can change. */
static void metadata_come_back_as_they_were(void **state)
{
    static const struct {
        const char *in, *answer, *want;
    } cases[] = {
        { "{'name':'a','uid':'1','generation':3}",
          REVIEW "[" OUT("{'name':'a','uid':'1','generation':9,'labels':{'x':'y'}}") "]}}",
          "{'name':'a','uid':'1','generation':3,'labels':{'x':'y'}}" },
        { "{'name':'a','labels':{'x':'y'},'annotations':{'n':'1'}}",
          REVIEW "[" OUT("{'name':'a','annotations':{'n':'2'},'finalizers':['f']}") "]}}",
          "{'name':'a','annotations':{'n':'2'}}" },
        /* What was wrong before may stay so. */
        { "{'name':'a','labels':{'x':'-'}}",
          REVIEW "[" OUT("{'name':'a','labels':{'x':'-'}}") "]}}",
          "{'name':'a','labels':{'x':'-'}}" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool answered;
        struct value obj = object("{'kind':'Widget','apiVersion':'" GROUP "/v1'}");
        value_put(&webhook.arena, &obj, STR("metadata"), object(cases[i].in));
        webhook.answer = cases[i].answer;
        assert_string_equal(call(webhook.v2, &obj, 1, &answered), "");
        assert_string_equal(shown(value_get(&obj, STR("metadata"))), cases[i].want);
    }
}

/* ---- What will not do ---- */

static void answers_are_checked(void **state)
{
    static const struct {
        const char *answer, *words;
    } cases[] = {
        { "{", " failed: couldn't get version/kind; json parse error: " },
        { "{'kind':'Pod','apiVersion':'v1'}",
          " failed: no kind \"Pod\" is registered for version \"v1\" in scheme "
          "\"k8s.io/apiserver/pkg/util/webhook/client.go:74\"" },
        { "{'response':{'uid':'$'}}",
          " failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, "
          "got /, Kind=" },
        { "no JSON", " failed: couldn't get version/kind; json parse error: json: cannot unmarshal "
                     "string into Go value of type struct { APIVersion string " },
        { "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1'}",
          " failed: no response provided" },
        { "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1','response':"
          "{'uid':'other'}}",
          ", got \"other\"" },
        { "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1','response':"
          "{'uid':'$','result':{'status':'Maybe'}}}",
          " failed: response.result.status was 'Maybe', not 'Success'" },
        { "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1','response':"
          "{'uid':'$','result':{'status':'Failure','message':'no way'}}}",
          " failed: no way" },
        { REVIEW "[]}}", " returned 0 objects, expected 1" },
        { REVIEW "{}}}", " returned 0 objects, expected 1" },
        { REVIEW "[{'apiVersion':'x'}]}}", "Object 'Kind' is missing in '{\"apiVersion\":\"x\"}'" },
        { REVIEW "[" IN "]}}",
          " returned invalid object at index 0: invalid groupVersion (expected " GROUP
          "/v2, received " GROUP "/v1)" },
        { REVIEW "[{'kind':'Wadget','apiVersion':'" GROUP "/v2'}]}}",
          ": invalid kind (expected Widget, received Wadget)" },
        { REVIEW "[" OUT("{'name':'b','uid':'1'}") "]}}",
          " returned invalid object: must have the same name: a != b" },
        { REVIEW "[" OUT("{'name':'a','namespace':'x','uid':'1'}") "]}}",
          "must have the same namespace:  != x" },
        { REVIEW "[" OUT("{'name':'a'}") "]}}", "must have the same UID: 1 != " },
        { REVIEW "[" OUT("{'name':'a','uid':'1','labels':7}") "]}}",
          " returned invalid metadata: invalid metadata.labels of type int64 in converted "
          "object" },
        { REVIEW "[" OUT("{'name':'a','uid':'1','annotations':{'n':null}}") "]}}",
          "metadata.annotations[n] must be a string, but is <nil> in converted object" },
        { REVIEW "[" OUT("{'name':'a','uid':'1','labels':{'x':'-'}}") "]}}",
          " returned invalid metadata: metadata.labels: Invalid value: \"-\": " },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool answered;
        struct value obj = object(IN);
        webhook.answer = cases[i].answer;
        const char *got = call(webhook.v2, &obj, 1, &answered);
        expect_words(got, cases[i].words);
        assert_true(answered);
        if (!strstr(got, "is missing"))
            expect_words(got, "conversion webhook for " GROUP "/v1, Kind=Widget ");
    }
}

/* Of several, the one is named that will not do. */
static void the_one_of_many_is_named(void **state)
{
    bool answered;
    (void)state;
    struct value objs[] = { object(IN), object(IN) };
    webhook.answer =
        REVIEW "[" OUT("{'name':'a','uid':'1'}") "," OUT("{'name':'c','uid':'1'}") "]}}";
    expect_words(call(webhook.v2, objs, 2, &answered),
                 " returned invalid converted object at index 1: must have the same name: a != c");
}

static void other_answers_are_told_in_words(void **state)
{
    static const struct {
        int status;
        const char *answer, *words;
    } cases[] = {
        { 404, "{}", " failed: the server could not find the requested resource" },
        { 418, "{}",
          " failed: the server responded with the status code 418 but did not return more "
          "information" },
        { 500, "{}",
          " failed: an error on the server (\"unknown\") has prevented the request from "
          "succeeding" },
        { 500, "{'kind':'Status','status':'Failure','message':'out of order'}",
          " failed: out of order" },
        { 200, "{'kind':'Status','status':'Failure','message':'not today'}",
          " failed: converting (v1.Status) to (v1.ConversionReview): unknown conversion" },
        { 406, "{}",
          " failed: the server was unable to respond with a content type that the client "
          "supports" },
        { 200, "",
          " failed: 0-length response with status code: 200 and content type: application/json" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool answered;
        struct value obj = object(IN);
        webhook.answer = cases[i].answer;
        webhook.status = cases[i].status;
        expect_words(call(webhook.v2, &obj, 1, &answered), cases[i].words);
        assert_int_equal(answered, cases[i].status == 200 && *cases[i].answer);
    }
}

/* ---- The way there ---- */

/* The kind with another webhook. */
static struct custom *define(const char *client_config, const char *review_versions)
{
    struct err err = ERR_INIT(&webhook.arena);
    struct value crd;
    uint64_t rev;
    assert_int_equal(
        custom_read_definition(api.custom, &webhook.arena, webhook.custom->name, &crd, &rev, &err),
        1);
    struct value *spec = value_edit(&webhook.arena, &crd, STR("spec")),
                 *conversion = value_edit(&webhook.arena, spec, STR("conversion")),
                 *hook = value_edit(&webhook.arena, conversion, STR("webhook"));
    value_put(&webhook.arena, hook, STR("clientConfig"), object(client_config));
    value_put(&webhook.arena, hook, STR("conversionReviewVersions"), object(review_versions));
    return custom_build(api.custom, &crd, rev);
}

static void put_service(const char *spec)
{
    const struct kind_resource *services = kind_stored_named(STR(""), STR("services"));
    struct value obj = object("{'metadata':{'name':'hooks','namespace':'x',"
                              "'creationTimestamp':'2026-01-02T03:04:05Z'}}");
    autobuf bytes = { 0 };
    value_put(&webhook.arena, &obj, STR("spec"), object(spec));
    stored_write(&bytes, NULL, &obj);
    struct store_op op = { STORE_PUT, stored_key(&webhook.arena, services, STR("x"), STR("hooks")),
                           buf_str(&bytes), STORE_ANY };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(api.store, &txn, NULL), 0);
}

static const char *call_through(const char *client_config, const char *review_versions)
{
    bool answered;
    struct value obj = object(IN);
    struct custom *c = define(client_config, review_versions);
    const char *got = call(custom_named(c, STR("v2")), &obj, 1, &answered);
    assert_false(answered);
    custom_unref(c);
    return got;
}

#define HOOKS "{'service':{'namespace':'x','name':'hooks','path':'go','port':1}}"

static void a_webhook_may_be_nowhere(void **state)
{
    static const struct {
        const char *service, *words; /* NULL: there is none */
    } cases[] = {
        { NULL, " failed: Post \"https://hooks.x.svc:1/go?timeout=30s\": service \"hooks\" not "
                "found" },
        { "{'ports':[{'port':80}]}", "no service port 1 found for service \"hooks\"" },
        { "{'ports':[{'port':1}],'clusterIP':'None'}",
          "cannot route to service with ClusterIP \"None\"" },
        /* Nobody listens on port 1. */
        { "{'type':'ExternalName','externalName':'127.0.0.1','ports':[]}",
          ": dial tcp 127.0.0.1:1: connect: connection refused" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].service)
            put_service(cases[i].service);
        expect_words(call_through(HOOKS, "['v1']"), cases[i].words);
    }
    expect_words(call_through("{'url':'http://127.0.0.1:1/x'}", "['v1']"),
                 " failed: Post \"http://127.0.0.1:1/x?timeout=30s\": dial tcp ");
    expect_words(call_through("{'url':'http://127.0.0.1:1'}", "['v7','v8']"),
                 "no supported conversion review versions");
}

/* The first form of the API asked for less. */
static void an_old_review_is_not_checked_for_its_origin(void **state)
{
    bool answered;
    struct value obj = object(IN);
    (void)state;
    struct str url = arena_printf(&webhook.arena, "{'url':'http://" STR_FMT "'}",
                                  STR_ARG(webhook.server.address));
    struct custom *c = define(str_cstr(&webhook.arena, url), "['v0','v1beta1']");
    webhook.answer = "{'response':{'result':{'status':'Success'},'convertedObjects':[" OUT(
        "{'name':'a','uid':'1'}") "]}}";
    assert_string_equal(call(custom_named(c, STR("v2")), &obj, 1, &answered), "");
    custom_unref(c);
}

/* ---- One object ---- */

static void one_object_is_converted(void **state)
{
    struct err err = ERR_INIT(&webhook.arena);
    struct value in = object(IN), out;
    (void)state;
    assert_int_equal(custom_webhook_convert(&webhook.arena, &webhook.v1->type, &webhook.v2->type,
                                            &in, &out, &err),
                     0);
    expect_words(shown(&out), "'spec':{'by':'webhook'}");
    assert_int_equal(webhook.n_calls, 1);
    /* There is nothing to ask about these. */
    in = object(IN);
    assert_int_equal(custom_webhook_convert(&webhook.arena, &webhook.v1->type, &webhook.v1->type,
                                            &in, &out, &err),
                     0);
    in = object("{'kind':'Widget','apiVersion':'" GROUP "/v1'}");
    assert_int_equal(custom_webhook_convert(&webhook.arena, &webhook.v1->type, &webhook.v2->type,
                                            &in, &out, &err),
                     0);
    assert_int_equal(webhook.n_calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_of_the_version_stays_at_home, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata_come_back_as_they_were, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(the_one_of_many_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(other_answers_are_told_in_words, setup, teardown),
        cmocka_unit_test_setup_teardown(a_webhook_may_be_nowhere, setup, teardown),
        cmocka_unit_test_setup_teardown(an_old_review_is_not_checked_for_its_origin, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(one_object_is_converted, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
