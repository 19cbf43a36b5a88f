/* The forms in which objects travel, of custom kinds as of built-in ones: JSON, YAML and CBOR in
 * and out, of single objects, lists, watches and patches, all of the same content. Custom objects
 * have no protobuf: who insists on it gets 406 or 415. */
#include <stdio.h>
#include <stdlib.h>

#include "api/codec/cbor.h"
#include "base/idiom.h"
#include "base/json.h"
#include "requests.h"

#define CBOR  "application/cbor"
#define PROTO "application/vnd.kubernetes.protobuf"

static struct requests *requests;

/* An object of each sort. */
static const struct sort {
    const char *path, *obj, *changed, *applied;
} sorts[] = {
    { "/apis/forms.example.com/v1/namespaces/default/sheets",
      "{apiVersion: forms.example.com/v1, kind: Sheet, metadata: {name: one, labels: {a: b}}, "
      "spec: "
      "{text: \"\\u00e9 \\u2028\", num: 5, big: 1152921504606846976, part: 1.5, right: true, none: "
      "null,"
      " list: [1, [2]], deep: {a: {b: []}}}}",
      "{apiVersion: forms.example.com/v1, kind: Sheet, metadata: {name: one}, spec: {num: 6}}",
      "{apiVersion: forms.example.com/v1, kind: Sheet, metadata: {name: two}, spec: {num: 7}}" },
    { "/api/v1/namespaces/default/configmaps",
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, labels: {a: b}}, data: {k: "
      "\"\\u00e9\"}, binaryData: {b: AAEC}}",
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {n: '6'}}",
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {n: '7'}}" },
};
enum { N_SORTS = ARRAY_LEN(sorts) };

static const char definition[] =
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
    "sheets.forms.example.com}, spec: {group: forms.example.com, scope: Namespaced, names: {plural:"
    " sheets, kind: Sheet}, versions: [{name: v1, served: true, storage: true, subresources: "
    "{status: {}}, schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, "
    "x-kubernetes-preserve-unknown-fields: true}, spec: {type: object, "
    "x-kubernetes-preserve-unknown-fields: true}}}}}]}}";

static struct arena a; /* of one test */

static struct str one_of(const struct sort *s, const char *name)
{
    return arena_printf(&a, "%s/%s", s->path, name);
}

static struct str as_cbor(const char *text)
{
    struct value v = requests_parse(&a, str_of(text));
    autobuf out = { 0 };
    cbor_write(&out, NULL, &v);
    return arena_str(&a, buf_str(&out));
}

/* Custom objects are replaced only by what says which of them it has seen. */
static struct sent replace(struct str path, const char *text)
{
    struct value obj = requests_parse(&a, str_of(text));
    struct sent now = requests_json(requests, &a, "GET", path, NULL);
    const struct value *rev = value_dig(&now.obj, "metadata", "resourceVersion");
    value_put(&a, value_edit(&a, &obj, STR("metadata")), STR("resourceVersion"), value_borrow(rev));
    autobuf out = { 0 };
    cbor_write(&out, NULL, &obj);
    return requests_send(requests, &a, "PUT", path, CBOR, CBOR, buf_str(&out));
}

static struct value from_cbor(const struct sent *got, int status)
{
    struct value v = value_null();
    struct err err = ERR_INIT(&a);
    assert_int_equal(got->status, status);
    assert_true(str_eq(got->type, STR(CBOR)));
    assert_true(cbor_is(got->body));
    if (cbor_read(&a, got->body, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return v;
}

static void expect_same(const struct value *x, const struct value *y)
{
    autobuf left = { 0 }, right = { 0 };
    json_write(&left, x);
    json_write(&right, y);
    if (!value_eq(x, y))
        fail_msg(STR_FMT "\n" STR_FMT, STR_ARG(buf_str(&left)), STR_ARG(buf_str(&right)));
}

static struct sent get(struct str path, const char *accept)
{
    return requests_send(requests, &a, "GET", path, "", accept, STR(""));
}

static int start(void **state)
{
    (void)state;
    arena_init(&a);
    struct value crd = requests_parse(&a, str_of(definition));
    struct str all = STR("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
    int status = requests_json(requests, &a, "POST", all, &crd).status;
    assert_true(status == 201 || status == 409);
    for (size_t i = 0; i < N_SORTS; i++) {
        struct sent got = requests_send(requests, &a, "POST", str_of(sorts[i].path), CBOR, CBOR,
                                        as_cbor(sorts[i].obj));
        struct value made = from_cbor(&got, 201);
        struct sent now = get(one_of(&sorts[i], "one"), "application/json");
        assert_int_equal(now.status, 200);
        expect_same(&made, &now.obj);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTS; i++) {
        struct sent got =
            requests_send(requests, &a, "DELETE", str_of(sorts[i].path), "", CBOR, STR(""));
        assert_int_equal(got.status, 200);
    }
    arena_done(&a);
    return 0;
}

/* ---- Reading ---- */

static void objects_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTS; i++) {
        struct str path = one_of(&sorts[i], "one");
        struct sent json = get(path, "application/json"), yaml = get(path, "application/yaml"),
                    cbor = get(path, CBOR);
        struct value from_yaml = requests_parse(&a, yaml.body), read = from_cbor(&cbor, 200);
        expect_same(&json.obj, &from_yaml);
        expect_same(&json.obj, &read);
        struct value given = requests_parse(&a, str_of(sorts[i].obj));
        value_each_field (f, &given)
            if (!str_eq(f->key, STR("metadata")))
                expect_same(value_get(&json.obj, f->key), &f->val);
    }
}

static void lists_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTS; i++) {
        struct sent json = get(str_of(sorts[i].path), "application/json"),
                    cbor = get(str_of(sorts[i].path), CBOR);
        struct value read = from_cbor(&cbor, 200);
        expect_same(&json.obj, &read);
        assert_true(value_get(&read, STR("items"))->n >= 1);
    }
}

static void watches_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTS; i++) {
        struct str path = arena_printf(&a,
                                       "%s?watch=1&timeoutSeconds=1&fieldSelector="
                                       "metadata.name=one&resourceVersion=0",
                                       sorts[i].path);
        struct sent json = get(path, "application/json"), cbor = get(path, "application/cbor-seq");
        struct value event = value_null(), line = value_null();
        struct err err = ERR_INIT(&a);
        assert_true(str_eq(cbor.type, STR("application/cbor-seq")));
        assert_int_equal(cbor_read_next(&a, &cbor.body, &event, &err), 0);
        assert_int_equal(json_read(&a, str_cut(&json.body, '\n'), NULL, &line, &err), 0);
        assert_true(str_eq(value_str(value_get(&event, STR("type"))), STR("ADDED")));
        expect_same(&event, &line);
        assert_int_equal(cbor.body.n, 0);
    }
}

/* ---- Writing ---- */

static void objects_are_replaced(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTS; i++) {
        struct sent got = replace(one_of(&sorts[i], "one"), sorts[i].changed);
        struct value put = from_cbor(&got, 200);
        struct sent json = get(one_of(&sorts[i], "one"), "application/json");
        expect_same(&put, &json.obj);
        const char *field = i == 0 ? "spec" : "data";
        struct value want = requests_parse(&a, str_of(sorts[i].changed));
        expect_same(value_get(&put, str_of(field)), value_get(&want, str_of(field)));
    }
}

static void objects_are_applied(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTS; i++) {
        struct str path = arena_printf(&a, "%s/two?fieldManager=m", sorts[i].path);
        struct sent got = requests_send(requests, &a, "PATCH", path, "application/apply-patch+cbor",
                                        CBOR, as_cbor(sorts[i].applied));
        struct value first = from_cbor(&got, 201);
        got = requests_send(requests, &a, "PATCH", path, "application/apply-patch+yaml", CBOR,
                            str_of(sorts[i].applied));
        struct value again = from_cbor(&got, 200);
        expect_same(&first, &again); /* nothing changed: the same manager applied the same */
        got = requests_send(requests, &a, "PATCH", path, "application/apply-patch+cbor", "",
                            STR("\xff\xff"));
        assert_int_equal(got.status, 400);
        assert_true(sent_says(&got, "error decoding CBOR: "));
    }
}

/* Other patches are JSON; their answers may be anything. */
static void objects_are_patched(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTS; i++) {
        struct sent got = requests_send(requests, &a, "PATCH", one_of(&sorts[i], "one"),
                                        "application/merge-patch+json", CBOR,
                                        STR("{\"metadata\":{\"labels\":{\"a\":\"c\"}}}"));
        struct value v = from_cbor(&got, 200);
        assert_true(str_eq(value_str(value_dig(&v, "metadata", "labels", "a")), STR("c")));
        got = requests_send(requests, &a, "PATCH", one_of(&sorts[i], "one"), CBOR, "",
                            as_cbor("{metadata: {labels: {a: d}}}"));
        assert_int_equal(got.status, 415);
    }
}

static void faults_are_told_in_cbor(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SORTS; i++) {
        struct sent got = get(one_of(&sorts[i], "nothing"), CBOR);
        struct value status = from_cbor(&got, 404);
        assert_true(str_eq(value_str(value_get(&status, STR("kind"))), STR("Status")));
        got = requests_send(requests, &a, "POST", str_of(sorts[i].path), CBOR, "",
                            STR("\xd9\xd9\xf7\xa1"));
        assert_int_equal(got.status, 400);
    }
}

static void status_in_cbor(void **state)
{
    (void)state;
    struct str path = one_of(&sorts[0], "one/status");
    struct sent got =
        replace(path, "{apiVersion: forms.example.com/v1, kind: Sheet, metadata: {name: "
                      "one}, status: {phase: good}}");
    struct value v = from_cbor(&got, 200);
    assert_true(str_eq(value_str(value_dig(&v, "status", "phase")), STR("good")));
    int64_t n = 0;
    assert_true(value_to_int(value_dig(&v, "spec", "num"), &n) && n == 5);
}

/* ---- Protobuf ---- */

static void custom_objects_have_no_protobuf(void **state)
{
    (void)state;
    const struct sort *s = &sorts[0];
    const struct str reads[] = { one_of(s, "one"), str_of(s->path),
                                 arena_printf(&a, "%s?watch=1&timeoutSeconds=1", s->path) };
    for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
        assert_int_equal(get(reads[i], PROTO).status, 406);
        struct sent got = get(reads[i], PROTO ",application/json");
        assert_int_equal(got.status, 200);
        assert_true(str_starts(got.type, STR("application/json")));
    }
    static const char *const methods[] = { "POST", "PUT", "PATCH" };
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        struct str path = i == 0 ? str_of(s->path) : one_of(s, "one");
        struct sent got = requests_send(requests, &a, methods[i], path, PROTO, "", STR("k8s"));
        assert_int_equal(got.status, 415);
    }
    assert_int_equal(get(one_of(&sorts[1], "one"), PROTO).status, 200);
}

int main(void)
{
#define FORMS_TEST(f) cmocka_unit_test_setup_teardown(f, start, end)
    const struct CMUnitTest tests[] = {
        FORMS_TEST(objects_are_the_same),
        FORMS_TEST(lists_are_the_same),
        FORMS_TEST(watches_are_the_same),
        FORMS_TEST(objects_are_replaced),
        FORMS_TEST(objects_are_applied),
        FORMS_TEST(objects_are_patched),
        FORMS_TEST(faults_are_told_in_cbor),
        FORMS_TEST(status_in_cbor),
        FORMS_TEST(custom_objects_have_no_protobuf),
    };
    live_start(&live);
    live_populate(&live);
    requests = requests_new(&live);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    requests_free(requests);
    live_stop(&live);
    return failed;
}
