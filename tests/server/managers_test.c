/* Who owns which fields, after each way to write them. */
#include "script.h"

#include "base/idiom.h"
#include "base/json.h"

static struct script script;

#define MAPS   "/api/v1/namespaces/default/configmaps"
#define DEPLOY "/apis/apps/v1/namespaces/default/deployments"
#define APPLY  "application/apply-patch+yaml"

/* ---- What is shown of managers ---- */

struct manager {
    const char *name, *operation, *sub; /* "": none */
    const char *fields;                 /* in single quotes; NULL: whatever */
    bool is_timeless;
};

static struct str quoted(struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    for (size_t i = 0; i < out.n; i++)
        if (out.p[i] == '"')
            out.p[i] = '\'';
    return arena_str(&script.arena, buf_str(&out));
}

static void check_one(const char *path, const struct value *got, const struct manager *want)
{
    struct str name = value_str(value_get(got, STR("manager"))),
               operation = value_str(value_get(got, STR("operation"))),
               sub = value_str(value_get(got, STR("subresource")));
    const struct value *fields = value_get(got, STR("fieldsV1"));
    struct value shown = fields ? value_borrow(fields) : value_null();
    if (!value_get(got, STR("time")) != want->is_timeless)
        fail_msg("%s: time of " STR_FMT " " STR_FMT, path, STR_ARG(name), STR_ARG(operation));
    assert_true(str_eq(value_str(value_get(got, STR("fieldsType"))), STR("FieldsV1")));
    if (!str_eq(name, str_of(want->name)) || !str_eq(operation, str_of(want->operation)) ||
        !str_eq(sub, str_of(want->sub)) ||
        (want->fields && !str_eq(quoted(&shown), str_of(want->fields))))
        fail_msg("%s: want %s %s '%s' %s\ngot " STR_FMT " " STR_FMT " '" STR_FMT "' " STR_FMT, path,
                 want->name, want->operation, want->sub, want->fields ? want->fields : "",
                 STR_ARG(name), STR_ARG(operation), STR_ARG(sub), STR_ARG(quoted(&shown)));
}

static void check(const char *path, const struct manager *want, size_t n)
{
    struct sent got = requests_json(script.requests, &script.arena, "GET", str_of(path), NULL);
    assert_int_equal(got.status, 200);
    const struct value *list = value_dig(&got.obj, "metadata", "managedFields");
    assert_int_equal(list ? list->n : 0, n);
    for (size_t i = 0; i < n; i++)
        check_one(path, value_at(list, i), &want[i]);
}

#define CHECK(path, ...)                               \
    do {                                               \
        const struct manager want[] = { __VA_ARGS__ }; \
        check(path, want, ARRAY_LEN(want));            \
    } while (0)

static void play(const char *method, const char *path, const char *type, const char *body,
                 int status, const char *says)
{
    const struct script_step step = { method, path, type, NULL, body, status, says, NULL };
    script_play(&script, &step, 1);
}

/* ---- Creating and changing ---- */

static void writers_get_what_they_change(void **state)
{
    (void)state;
    play("POST", MAPS "?fieldManager=one", NULL,
         "{metadata: {name: a, labels: {l: m}}, data: {x: '1'}}", 201, NULL);
    CHECK(MAPS "/a",
          { "one", "Update", "",
            "{'f:data':{'.':{},'f:x':{}},'f:metadata':{'f:labels':{'.':{},'f:l':{}}}}" });
    play("PATCH", MAPS "/a?fieldManager=two", NULL, "{data: {x: '2', w: '1'}}", 200, NULL);
    CHECK(MAPS "/a",
          { "one", "Update", "", "{'f:data':{},'f:metadata':{'f:labels':{'.':{},'f:l':{}}}}" },
          { "two", "Update", "", "{'f:data':{'f:w':{},'f:x':{}}}" });
    /* What a PUT leaves out is nobody's. */
    play("PUT", MAPS "/a?fieldManager=three", NULL, "{metadata: {name: a}, data: {x: '2'}}", 200,
         NULL);
    CHECK(MAPS "/a", { "one", "Update", "", "{'f:data':{}}" },
          { "two", "Update", "", "{'f:data':{'f:x':{}}}" });
    /* Whoever writes what is there already owns nothing of it. */
    play("PATCH", MAPS "/a?fieldManager=four", NULL, "{data: {x: '2'}}", 200, NULL);
    CHECK(MAPS "/a", { "one", "Update", "", NULL }, { "two", "Update", "", NULL });
}

static void a_manager_has_a_name(void **state)
{
    (void)state;
    play("POST", MAPS, NULL, "{metadata: {name: named}, data: {x: '1'}}", 201, NULL);
    struct sent got =
        requests_json(script.requests, &script.arena, "GET", STR(MAPS "/named"), NULL);
    /* The User-Agent up to its slash, if it is not said. */
    const struct value *first = value_at(value_dig(&got.obj, "metadata", "managedFields"), 0);
    assert_true(value_str(value_get(first, STR("manager"))).n > 0);
    assert_true(str_eq(value_str(value_get(first, STR("apiVersion"))), STR("v1")));
    play("POST", MAPS "?fieldManager=a%0A", NULL, "{metadata: {name: m}}", 422,
         "fieldManager: Invalid value: \\\"a\\\\n\\\": invalid character U+000A (at position 1)");
}

/* An empty list forgets all; no list changes nothing. */
static void tracking_can_be_reset(void **state)
{
    (void)state;
    play("POST", MAPS "?fieldManager=one", NULL, "{metadata: {name: r}, data: {x: '1'}}", 201,
         NULL);
    play("PATCH", MAPS "/r?fieldManager=two", NULL,
         "{metadata: {managedFields: null}, data: {w: '1'}}", 200, NULL);
    CHECK(MAPS "/r", { "one", "Update", "", NULL },
          { "two", "Update", "", "{'f:data':{'f:w':{}}}" });
    play("PATCH", MAPS "/r?fieldManager=three", NULL, "{metadata: {managedFields: [{}]}}", 200,
         NULL);
    check(MAPS "/r", NULL, 0);
    play("PATCH", MAPS "/r?fieldManager=four", NULL, "{data: {z: '1'}}", 200, NULL);
    check(MAPS "/r", NULL, 0); /* it stays off */
}

/* ---- Applying ---- */

#define A_MAP(data) "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: " data

static void who_applies(void **state)
{
    (void)state;
    play("PATCH", MAPS "/s?fieldManager=ann", APPLY, A_MAP("{x: '1', w: '1'}"), 201, NULL);
    CHECK(MAPS "/s", { "ann", "Apply", "", "{'f:data':{'f:w':{},'f:x':{}}}" });
    /* Equal values are shared, which is no change and has no time; others are somebody's. */
    play("PATCH", MAPS "/s?fieldManager=bob", APPLY, A_MAP("{x: '1'}"), 200, NULL);
    CHECK(MAPS "/s", { "bob", "Apply", "", "{'f:data':{'f:x':{}}}", true },
          { "ann", "Apply", "", "{'f:data':{'f:w':{},'f:x':{}}}" });
    play("PATCH", MAPS "/s?fieldManager=bob", APPLY, A_MAP("{x: '2'}"), 409,
         "Apply failed with 1 conflict: conflict with \\\"ann\\\": .data.x");
    play("PATCH", MAPS "/s?fieldManager=bob", APPLY, A_MAP("{x: '2'}"), 409,
         "\"causes\":[{\"reason\":\"FieldManagerConflict\",\"message\":\"conflict with "
         "\\\"ann\\\"\",\"field\":\".data.x\"}]");
    play("PATCH", MAPS "/s?fieldManager=bob&force=true", APPLY, A_MAP("{x: '2'}"), 200, NULL);
    CHECK(MAPS "/s", { "ann", "Apply", "", "{'f:data':{'f:w':{}}}" },
          { "bob", "Apply", "", "{'f:data':{'f:x':{}}}" });
    /* What nobody applies any more is gone. */
    play("PATCH", MAPS "/s?fieldManager=ann", APPLY, A_MAP("{z: '1'}"), 200,
         "\"data\":{\"x\":\"2\",\"z\":\"1\"}");
    /* An update takes fields away without asking. */
    play("PATCH", MAPS "/s?fieldManager=carl", NULL, "{data: {x: '3'}}", 200, NULL);
    CHECK(MAPS "/s", { "ann", "Apply", "", "{'f:data':{'f:z':{}}}" },
          { "carl", "Update", "", "{'f:data':{'f:x':{}}}" });
}

static void appliers_say_who_and_what(void **state)
{
    (void)state;
    play("PATCH", MAPS "/t", APPLY, A_MAP("{}"), 422,
         "PatchOptions.meta.k8s.io \\\"\\\" is invalid: fieldManager: Required value: is required "
         "for "
         "apply patch");
    play("PATCH", MAPS "/t?force=true", NULL, "{}", 422,
         "force: Forbidden: may not be specified for non-apply patch");
    play("PATCH", MAPS "/s?fieldManager=ann", APPLY,
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s, managedFields: [{manager: x}]}\n",
         400, "metadata.managedFields must be nil");
    play("PATCH", MAPS "/s?fieldManager=ann", APPLY, "kind: ConfigMap\nmetadata: {name: s}\n", 400,
         NULL);
    play("PATCH", MAPS "/other?fieldManager=ann", APPLY, A_MAP("{}"), 400,
         "the name of the object (s) does not match the name on the URL (other)");
}

/* ---- Subresources ---- */

#define TEMPLATE                                                                                  \
    "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: " \
    "[{name: c, image: i}]}}"

static void statuses_have_their_own_managers(void **state)
{
    (void)state;
    play("POST", DEPLOY "?fieldManager=one", NULL, "{metadata: {name: d}, spec: {" TEMPLATE "}}",
         201, NULL);
    play("PATCH", DEPLOY "/d/status?fieldManager=one", NULL, "{status: {replicas: 3}}", 200, NULL);
    CHECK(DEPLOY "/d", { "one", "Update", "", NULL },
          { "one", "Update", "status", "{'f:status':{'f:replicas':{}}}" });
    /* A status that comes with the rest belongs to nobody, and so does a spec that comes with it.
     */
    play("PATCH", DEPLOY "/d?fieldManager=two", NULL, "{status: {replicas: 9}}", 200, NULL);
    play("PATCH", DEPLOY "/d/status?fieldManager=two", NULL, "{spec: {replicas: 9}}", 200, NULL);
    CHECK(DEPLOY "/d", { "one", "Update", "", NULL }, { "one", "Update", "status", NULL });
}

static void scaling(void **state)
{
    (void)state;
    play("PATCH", DEPLOY "/e?fieldManager=ann", APPLY,
         "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: e}\nspec: {replicas: 1, " TEMPLATE
         "}",
         201, NULL);
    play("PATCH", DEPLOY "/e/scale?fieldManager=auto", NULL, "{spec: {replicas: 4}}", 200,
         "\"kind\":\"Scale\"");
    CHECK(DEPLOY "/e", { "ann", "Apply", "", NULL },
          { "auto", "Update", "scale", "{'f:spec':{'f:replicas':{}}}", true });
    play("PATCH", DEPLOY "/e?fieldManager=ann", APPLY,
         "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: e}\nspec: {replicas: 1, " TEMPLATE
         "}",
         409,
         "conflict with \\\"auto\\\" with subresource \\\"scale\\\" using apps/v1: .spec.replicas");
    play("GET", DEPLOY "/e/scale", NULL, NULL, 200, "\"replicas\":4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_get_what_they_change),
        cmocka_unit_test(a_manager_has_a_name),
        cmocka_unit_test(tracking_can_be_reset),
        cmocka_unit_test(who_applies),
        cmocka_unit_test(appliers_say_who_and_what),
        cmocka_unit_test(statuses_have_their_own_managers),
        cmocka_unit_test(scaling),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
