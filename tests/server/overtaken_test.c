/* Whoever loses to others again and again gets what is true in the end: objects of names that
 * nobody else has are created while many change their namespace or their definition, and an object
 * is deleted while many change it.
 *
 * SAMPAN_CREATES says how many objects each creator makes. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "requests.h"

enum { DISTURBERS = 24, CREATORS = 8 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CREATES = 10 };
#else
enum { CREATES = 60 };
#endif

static struct requests *requests;
static atomic_bool is_over;
static atomic_uint n_wrong, n_changes;
static uint64_t n_creates = CREATES;

#define DEFINITION "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sheets.busy.example.com"

static const char definition[] =
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
    "sheets.busy.example.com}, spec: {group: busy.example.com, scope: Namespaced, names: {plural: "
    "sheets, kind: Sheet}, versions: [{name: v1, served: true, storage: true, schema: "
    "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}";

static void wrong(const char *what, const struct sent *got)
{
    if (atomic_fetch_add(&n_wrong, 1) < 5)
        printf("%s: %d " STR_FMT "\n", what, got->status, STR_ARG(got->body));
}

/* ---- Those who are in the way ---- */

struct disturber {
    pthread_t thread;
    unsigned id;
    const char *path;
};

static void *disturb(void *arg)
{
    const struct disturber *d = arg;
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        struct arena a;
        arena_init(&a);
        struct str body =
            arena_printf(&a, "{\"metadata\":{\"annotations\":{\"a%u\":\"%u\"}}}", d->id, i);
        struct sent got = requests_send(requests, &a, "PATCH", str_of(d->path),
                                        "application/merge-patch+json", "", body);
        if (got.status == 200)
            atomic_fetch_add(&n_changes, 1);
        else if (got.status != 404)
            wrong("patch", &got);
        arena_done(&a);
    }
    return NULL;
}

static void start_disturbing(struct disturber *all, const char *path)
{
    atomic_store(&is_over, false);
    atomic_store(&n_changes, 0);
    for (unsigned i = 0; i < DISTURBERS; i++) {
        all[i] = (struct disturber){ .id = i, .path = path };
        assert_int_equal(pthread_create(&all[i].thread, NULL, disturb, &all[i]), 0);
    }
    while (atomic_load(&n_changes) < DISTURBERS && atomic_load(&n_wrong) == 0)
        (void)sched_yield();
}

static void stop_disturbing(struct disturber *all)
{
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < DISTURBERS; i++)
        pthread_join(all[i].thread, NULL);
    assert_int_equal(atomic_load(&n_wrong), 0);
}

/* ---- Creating ---- */

struct creator {
    pthread_t thread;
    unsigned id;
    const char *path, *head;
};

static void *create(void *arg)
{
    const struct creator *w = arg;
    for (unsigned i = 0; i < n_creates; i++) {
        struct arena a;
        arena_init(&a);
        struct str body =
            i % 2 ? arena_printf(&a, "{%s, metadata: {name: c%u-%u}}", w->head, w->id, i)
                  : arena_printf(&a, "{%s, metadata: {generateName: g%u-}}", w->head, w->id);
        struct sent got =
            requests_send(requests, &a, "POST", str_of(w->path), "application/yaml", "", body);
        if (got.status != 201)
            wrong("create", &got);
        arena_done(&a);
    }
    return NULL;
}

static void create_while_changing(const char *changed, const char *path, const char *head)
{
    struct disturber disturbers[DISTURBERS];
    struct creator creators[CREATORS];
    start_disturbing(disturbers, changed);
    for (unsigned i = 0; i < CREATORS; i++) {
        creators[i] = (struct creator){ .id = i, .path = path, .head = head };
        assert_int_equal(pthread_create(&creators[i].thread, NULL, create, &creators[i]), 0);
    }
    for (unsigned i = 0; i < CREATORS; i++)
        pthread_join(creators[i].thread, NULL);
    stop_disturbing(disturbers);

    struct arena a;
    arena_init(&a);
    struct sent all = requests_json(requests, &a, "GET", str_of(path), NULL);
    assert_int_equal(value_get(&all.obj, STR("items"))->n, CREATORS * n_creates);
    arena_done(&a);
}

static void test_the_namespace_changes(void **state)
{
    (void)state;
    create_while_changing("/api/v1/namespaces/default", "/api/v1/namespaces/default/configmaps",
                          "apiVersion: v1, kind: ConfigMap");
}

static void test_the_definition_changes(void **state)
{
    (void)state;
    create_while_changing(DEFINITION, "/apis/busy.example.com/v1/namespaces/default/sheets",
                          "apiVersion: busy.example.com/v1, kind: Sheet");
}

/* ---- Deleting ---- */

static void test_the_object_changes(void **state)
{
    enum { ROUNDS = 5 };
    (void)state;
    struct arena a;
    arena_init(&a);
    for (int i = 0; i < ROUNDS; i++) {
        struct disturber disturbers[DISTURBERS];
        struct value obj = requests_parse(
            &a, STR("{apiVersion: v1, kind: Secret, metadata: {name: busy}, type: a/b}"));
        struct str all = STR("/api/v1/namespaces/default/secrets");
        assert_int_equal(requests_json(requests, &a, "POST", all, &obj).status, 201);
        start_disturbing(disturbers, "/api/v1/namespaces/default/secrets/busy");
        struct sent got = requests_json(requests, &a, "DELETE",
                                        STR("/api/v1/namespaces/default/secrets/busy"), NULL);
        if (got.status != 200)
            wrong("delete", &got);
        stop_disturbing(disturbers);
    }
    arena_done(&a);
}

/* Words of upstream's for a name beside which there is one to generate from. */
static void test_a_name_that_is_taken(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct str all = STR("/api/v1/namespaces/default/secrets");
    struct value obj = requests_parse(&a, STR("{apiVersion: v1, kind: Secret, metadata: {name: one,"
                                              " generateName: one-}}"));
    assert_int_equal(requests_json(requests, &a, "POST", all, &obj).status, 201);
    struct sent got = requests_json(requests, &a, "POST", all, &obj);
    assert_int_equal(got.status, 409);
    assert_true(str_eq(sent_message(&got),
                       STR("secrets \"one\" already exists, the server was not able to generate a "
                           "unique name for the object")));
    arena_done(&a);
}

static int start(void **state)
{
    (void)state;
    const char *text = getenv("SAMPAN_CREATES");
    assert_true(!text || str_to_u64(str_of(text), &n_creates));
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
        cmocka_unit_test(test_the_namespace_changes),
        cmocka_unit_test(test_the_definition_changes),
        cmocka_unit_test(test_the_object_changes),
        cmocka_unit_test(test_a_name_that_is_taken),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
