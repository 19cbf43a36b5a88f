/* What is refused changes nothing: deletes of collections whose parameters are wrong, writes whose
 * answer could not be given. Of a built-in and of a custom kind. */
#include <stdatomic.h>
#include <stdio.h>

#include "requests.h"
#include "base/idiom.h"

#define TABLE   "application/json;as=Table;g=meta.k8s.io;v=v1"
#define PARTIAL "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

enum { N_OBJECTS = 5 };

static struct requests *requests;
static struct arena a; /* of one test */

static const struct sort {
    const char *path, *head;
} sorts[] = {
    { "/api/v1/namespaces/default/configmaps", "apiVersion: v1, kind: ConfigMap" },
    { "/apis/refused.example.com/v1/namespaces/default/sheets",
      "apiVersion: refused.example.com/v1, kind: Sheet" },
};
enum { N_SORTS = ARRAY_LEN(sorts) };

static const char definition[] =
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
    "sheets.refused.example.com}, spec: {group: refused.example.com, scope: Namespaced, names: "
    "{plural: sheets, kind: Sheet}, versions: [{name: v1, served: true, storage: true, schema: "
    "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}";

static struct sent send_to(const char *method, const char *target, const char *accept,
                           const char *type, const char *body)
{
    return requests_send(requests, &a, method, str_of(target), type, accept, str_of(body));
}

static const char *below(const char *path, const char *rest)
{
    return str_cstr(&a, arena_printf(&a, "%s%s", path, rest));
}

static struct str object(const struct sort *s, const char *name)
{
    return arena_printf(&a, "{%s, metadata: {name: %s, labels: {app: x}}}", s->head, name);
}

static void fill(const struct sort *s)
{
    for (int i = 0; i < N_OBJECTS; i++) {
        struct str name = arena_printf(&a, "o%d", i);
        struct value obj = requests_parse(&a, object(s, str_cstr(&a, name)));
        struct sent got = requests_json(requests, &a, "POST", str_of(s->path), &obj);
        assert_int_equal(got.status, 201);
    }
}

/* Names and revisions of all there is, to compare. */
static const char *all_of(const struct sort *s)
{
    struct sent got = requests_json(requests, &a, "GET", str_of(s->path), NULL);
    assert_int_equal(got.status, 200);
    autobuf text = { 0 };
    value_each_item (item, value_get(&got.obj, STR("items")))
        buf_printf(&text, STR_FMT "@" STR_FMT " ",
                   STR_ARG(value_str(value_dig(item, "metadata", "name"))),
                   STR_ARG(value_str(value_dig(item, "metadata", "resourceVersion"))));
    return str_cstr(&a, buf_str(&text));
}

static void clear(const struct sort *s)
{
    assert_int_equal(requests_json(requests, &a, "DELETE", str_of(s->path), NULL).status, 200);
    assert_string_equal(all_of(s), "");
}

/* ---- Collections ---- */

static void test_a_refused_delete_of_a_collection(void **state)
{
    static const struct {
        const char *query, *accept, *body;
        int status;
    } rows[] = {
        { "?resourceVersion=abc", "", "", 400 },
        { "?resourceVersion=-1", "", "", 400 },
        { "?resourceVersion=999999999", "", "", 504 },
        { "?resourceVersion=999999999&resourceVersionMatch=Exact", "", "", 504 },
        { "?resourceVersionMatch=Exact", "", "", 422 },
        { "?resourceVersion=1&resourceVersionMatch=Maybe", "", "", 422 },
        { "?continue=abc", "", "", 400 },
        { "?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhIn0&resourceVersion=5", "",
          "", 400 },
        { "?limit=abc", "", "", 400 },
        { "?labelSelector=%21%21", "", "", 400 },
        { "?fieldSelector=spec.x%3Dy", "", "", 400 },
        { "?timeoutSeconds=abc", "", "", 400 },
        { "?sendInitialEvents=true", "", "", 422 },
        { "?dryRun=Some", "", "", 422 },
        { "?gracePeriodSeconds=abc", "", "", 400 },
        { "?propagationPolicy=Sideways", "", "", 422 },
        { "", "", "{\"propagationPolicy\":\"Sideways\"}", 422 },
        { "", "", "{\"gracePeriodSeconds\":\"x\"}", 400 },
        { "", "", "{", 400 },
        { "?includeObject=Some", TABLE, "", 400 },
        { "", PARTIAL, "", 406 },
        { "", "image/png", "", 406 },
    };
    (void)state;
    arena_init(&a);
    for (size_t k = 0; k < N_SORTS; k++) {
        fill(&sorts[k]);
        const char *before = all_of(&sorts[k]);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct sent got = send_to("DELETE", below(sorts[k].path, rows[i].query), rows[i].accept,
                                      *rows[i].body ? "application/json" : "", rows[i].body);
            if (got.status != rows[i].status || strcmp(all_of(&sorts[k]), before) != 0)
                fail_msg("%s%s %s%s: %d " STR_FMT "\nleft: %s", sorts[k].path, rows[i].query,
                         rows[i].accept, rows[i].body, got.status, STR_ARG(got.body),
                         all_of(&sorts[k]));
        }
        clear(&sorts[k]);
    }
    arena_done(&a);
}

/* It deletes what a list with the same parameters shows, and no more. */
static void test_a_page_of_a_collection(void **state)
{
    (void)state;
    arena_init(&a);
    for (size_t k = 0; k < N_SORTS; k++) {
        const struct sort *s = &sorts[k];
        fill(s);
        struct sent page = send_to("GET", below(s->path, "?limit=3"), "", "", "");
        struct str token = value_str(value_dig(&page.obj, "metadata", "continue"));
        assert_true(token.n > 0);
        struct str rest = arena_printf(&a, "%s?limit=1&continue=" STR_FMT, s->path, STR_ARG(token));
        struct sent got = send_to("DELETE", str_cstr(&a, rest), "", "", "");
        assert_int_equal(got.status, 200);
        assert_int_equal(value_get(&got.obj, STR("items"))->n, 1);
        const char *left = all_of(s);
        assert_non_null(strstr(left, "o0@"));
        assert_non_null(strstr(left, "o2@"));
        assert_null(strstr(left, "o3@"));
        assert_non_null(strstr(left, "o4@"));
        clear(s);
    }
    arena_done(&a);
}

/* As of a revision: what came later stays. */
static void test_a_collection_of_long_ago(void **state)
{
    (void)state;
    arena_init(&a);
    const struct sort *s = &sorts[0];
    fill(s);
    struct sent now = requests_json(requests, &a, "GET", str_of(s->path), NULL);
    struct str rev = value_str(value_dig(&now.obj, "metadata", "resourceVersion"));
    struct value late = requests_parse(&a, object(s, "late"));
    assert_int_equal(requests_json(requests, &a, "POST", str_of(s->path), &late).status, 201);
    struct str then = arena_printf(&a, "%s?resourceVersionMatch=Exact&resourceVersion=" STR_FMT,
                                   s->path, STR_ARG(rev));
    assert_int_equal(send_to("DELETE", str_cstr(&a, then), "", "", "").status, 200);
    assert_int_equal(strncmp(all_of(s), "late@", 5), 0);
    clear(s);
    arena_done(&a);
}

/* ---- History that ends meanwhile ---- */

static atomic_bool is_over;

static void *forget_history(void *arg)
{
    (void)arg;
    struct arena scratch;
    arena_init(&scratch);
    while (!atomic_load(&is_over)) {
        struct err err = ERR_INIT(&scratch);
        (void)store_compact(live.api.store, store_rev(live.api.store), &err);
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    return NULL;
}

/* What has begun is finished, also if the revision it began with is forgotten on the way. */
static void test_a_collection_outlives_its_history(void **state)
{
    enum { N = 1700 };
    (void)state;
    arena_init(&a);
    for (int i = 0; i < N; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "m%04d", i);
        (void)live_put(&live, "many", name, NULL, 10);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, forget_history, NULL), 0);
    struct sent got = send_to("DELETE", "/api/v1/namespaces/many/configmaps", "", "", "");
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    assert_int_equal(got.status, 200);
    got = send_to("GET", "/api/v1/namespaces/many/configmaps", "", "", "");
    assert_int_equal(value_get(&got.obj, STR("items"))->n, 0);
    arena_done(&a);
}

/* ---- One object ---- */

static void test_an_answer_that_cannot_be_given(void **state)
{
    static const struct {
        const char *method, *rest, *type, *body;
    } rows[] = {
        { "POST", "", "application/yaml", NULL },
        { "PUT", "/o1", "application/yaml", NULL },
        { "PATCH", "/o1", "application/merge-patch+json",
          "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}" },
        { "PATCH", "/new?fieldManager=m", "application/apply-patch+yaml", NULL },
        { "DELETE", "/o1", "", "" },
    };
    (void)state;
    arena_init(&a);
    for (size_t k = 0; k < N_SORTS; k++) {
        const struct sort *s = &sorts[k];
        fill(s);
        const char *before = all_of(s);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const char *name = strcmp(rows[i].method, "PUT") == 0 ? "o1" : "new";
            const char *body = rows[i].body ? rows[i].body : str_cstr(&a, object(s, name));
            const char *mark = strchr(rows[i].rest, '?') ? "&" : "?";
            struct str target =
                arena_printf(&a, "%s%s%sincludeObject=Some", s->path, rows[i].rest, mark);
            struct sent got =
                send_to(rows[i].method, str_cstr(&a, target), TABLE, rows[i].type, body);
            if (got.status != 400 || strcmp(all_of(s), before) != 0)
                fail_msg("%s " STR_FMT ": %d " STR_FMT "\nleft: %s", rows[i].method,
                         STR_ARG(target), got.status, STR_ARG(got.body), all_of(s));
        }
        clear(s);
    }
    arena_done(&a);
}

static int start(void **state)
{
    (void)state;
    live_start(&live);
    live_populate(&live);
    requests = requests_new(&live);
    requests_define(requests, &live.arena, definition);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    requests_free(requests);
    live_stop(&live);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_refused_delete_of_a_collection),
        cmocka_unit_test(test_a_page_of_a_collection),
        cmocka_unit_test(test_a_collection_of_long_ago),
        cmocka_unit_test(test_a_collection_outlives_its_history),
        cmocka_unit_test(test_an_answer_that_cannot_be_given),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
