/* Many writers, one object. Those who patch or apply change their own fields, a thousand times
 * each in every way there is, and nothing of it is lost; those who replace the whole object are
 * told when somebody was faster, begin again, and lose nothing either.
 *
 * SAMPAN_WRITERS and SAMPAN_WRITES say how many there are and how often they write; sanitizers need
 * smaller numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "live.h"
#include "net/outgoing/fetch.h"

enum { TRIES_MAX = 100000 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { WRITERS = 20, WRITES = 40 };
#else
enum { WRITERS = 50, WRITES = 1000 };
#endif

static struct fetcher *fetcher;
static struct str url; /* of the object */
static unsigned n_writers, n_writes;
static atomic_uint n_failed, n_conflicts;

static unsigned number_of(const char *name, unsigned usual)
{
    const char *text = getenv(name);
    uint64_t n = usual;
    if (text && !str_to_u64(str_of(text), &n))
        fail_msg("%s is not a number", name);
    return (unsigned)n;
}

/* ---- one request ---- */

struct writer {
    unsigned id;
    pthread_t thread;
    struct arena arena; /* of one write */
    uint64_t *revs;     /* what each write got */
};

static int send_to(struct arena *a, struct str target, const char *method, const char *type,
                   struct str body, struct value *ret)
{
    const struct http_header headers[] = { { STR("Content-Type"), str_of(type) },
                                           { STR("User-Agent"), STR("writer/1") } };
    const struct fetch_request req = {
        .method = str_of(method), .url = target, .headers = headers, .n_headers = 2, .body = body
    };
    struct fetch_reply reply;
    struct err err = ERR_INIT(a);
    if (fetch(fetcher, &req, a, &reply, &err) < 0) {
        printf("no answer: " STR_FMT "\n", STR_ARG(err.msg));
        return -1;
    }
    if (json_read(a, reply.body, NULL, ret, &err) < 0)
        return -1;
    return reply.status;
}

static void failed(const struct writer *w, int status, const struct value *answer)
{
    autobuf text = { 0 };
    json_write(&text, answer);
    if (atomic_fetch_add(&n_failed, 1) < 5)
        printf("writer %u: %d " STR_FMT "\n", w->id, status,
               STR_ARG(str_take(buf_str(&text), 500)));
}

static void make_object(const char *name)
{
    struct value answer;
    struct str body =
        arena_printf(&live.arena,
                     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"},"
                     "\"data\":{\"sum\":\"0\"}}",
                     name);
    struct str all =
        arena_printf(&live.arena, "http://" STR_FMT "/api/v1/namespaces/default/configmaps",
                     STR_ARG(live.address));
    assert_int_equal(send_to(&live.arena, all, "POST", "application/json", body, &answer), 201);
    url = arena_printf(&live.arena, STR_FMT "/%s", STR_ARG(all), name);
}

static struct value get_object(struct arena *a)
{
    struct value answer = value_null();
    assert_int_equal(send_to(a, url, "GET", "application/json", STR(""), &answer), 200);
    return answer;
}

static uint64_t revision_of(const struct value *obj)
{
    uint64_t rev = 0;
    (void)str_to_u64(value_str(value_dig(obj, "metadata", "resourceVersion")), &rev);
    return rev;
}

static void run_all(void *(*run)(void *), struct writer *writers)
{
    n_failed = n_conflicts = 0;
    for (unsigned i = 0; i < n_writers; i++) {
        writers[i] = (struct writer){ .id = i };
        writers[i].revs = calloc(n_writes, sizeof(uint64_t));
        assert_non_null(writers[i].revs);
    }
    for (unsigned i = 0; i < n_writers; i++)
        assert_int_equal(pthread_create(&writers[i].thread, NULL, run, &writers[i]), 0);
    for (unsigned i = 0; i < n_writers; i++)
        pthread_join(writers[i].thread, NULL);
}

static int by_number(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return (a > b) - (a < b);
}

/* Every write made a revision of its own. */
static void check_revisions(struct writer *writers, size_t each)
{
    size_t n = n_writers * each;
    uint64_t *all = calloc(n, sizeof(uint64_t));
    assert_non_null(all);
    for (unsigned i = 0; i < n_writers; i++) {
        memcpy(all + i * each, writers[i].revs, each * sizeof(uint64_t));
        free(writers[i].revs);
    }
    qsort(all, n, sizeof(uint64_t), by_number);
    for (size_t i = 1; i < n; i++)
        assert_true(all[i] > all[i - 1]);
    free(all);
}

/* ---- patch and apply ---- */

enum way { APPLY, MERGE, STRATEGIC, JSON_PATCH, N_WAYS };

/* The field had `now - 1` and gets `now`. */
static struct str body_of(struct writer *w, enum way way, unsigned now)
{
    struct arena *a = &w->arena;
    if (way == APPLY)
        return arena_printf(a,
                            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: patched\n"
                            "data:\n  w%u: '%u'\n",
                            w->id, now);
    if (way == JSON_PATCH && now > 1)
        return arena_printf(a,
                            "[{\"op\":\"test\",\"path\":\"/data/w%u\",\"value\":\"%u\"},"
                            "{\"op\":\"replace\",\"path\":\"/data/w%u\",\"value\":\"%u\"}]",
                            w->id, now - 1, w->id, now);
    if (way == JSON_PATCH)
        return arena_printf(a, "[{\"op\":\"add\",\"path\":\"/data/w%u\",\"value\":\"%u\"}]", w->id,
                            now);
    return arena_printf(a, "{\"data\":{\"w%u\":\"%u\"}}", w->id, now);
}

static void patch_once(struct writer *w, unsigned now)
{
    static const char *const types[] = {
        [APPLY] = "application/apply-patch+yaml",
        [MERGE] = "application/merge-patch+json",
        [STRATEGIC] = "application/strategic-merge-patch+json",
        [JSON_PATCH] = "application/json-patch+json",
    };
    enum way way = (enum way)((w->id + now) % N_WAYS);
    struct arena *a = &w->arena;
    struct value answer = value_null();
    struct str target = arena_printf(a, STR_FMT "?fieldManager=w%u%s", STR_ARG(url), w->id,
                                     way == APPLY ? "&force=true" : "");
    int status = send_to(a, target, "PATCH", types[way], body_of(w, way, now), &answer);
    struct str key = arena_printf(a, "w%u", w->id), want = arena_printf(a, "%u", now);
    if (status != 200 || !str_eq(value_str(value_get(value_get(&answer, STR("data")), key)), want))
        failed(w, status, &answer);
    w->revs[now - 1] = revision_of(&answer);
}

static void *patch_many(void *arg)
{
    struct writer *w = arg;
    arena_init(&w->arena);
    for (unsigned i = 1; i <= n_writes; i++) {
        patch_once(w, i);
        arena_reset(&w->arena);
    }
    arena_done(&w->arena);
    return NULL;
}

static void patches_and_applies_lose_nothing(void **state)
{
    (void)state;
    struct writer *writers = calloc(n_writers, sizeof(*writers));
    assert_non_null(writers);
    make_object("patched");
    run_all(patch_many, writers);
    assert_int_equal(n_failed, 0);
    struct value obj = get_object(&live.arena);
    const struct value *data = value_get(&obj, STR("data"));
    assert_int_equal(data->n, n_writers + 1);
    for (unsigned i = 0; i < n_writers; i++) {
        struct str key = arena_printf(&live.arena, "w%u", i),
                   want = arena_printf(&live.arena, "%u", n_writes);
        assert_true(str_eq(value_str(value_get(data, key)), want));
    }
    check_revisions(writers, n_writes);
    free(writers);
}

/* ---- replace ---- */

static unsigned replaces_each(void)
{
    return n_writes / 20 ? n_writes / 20 : 1;
}

/* One more in the sum, and in the writer's own field: true if nobody was faster. */
static bool replace_once(struct writer *w, unsigned now)
{
    struct arena *a = &w->arena;
    struct value obj = value_null(), answer = value_null();
    uint64_t sum = 0;
    autobuf body = { 0 };
    int status = send_to(a, url, "GET", "application/json", STR(""), &obj);
    struct value *data = value_edit(a, &obj, STR("data"));
    if (status != 200 || !data) {
        failed(w, status, &obj);
        return true;
    }
    (void)str_to_u64(value_str(value_get(data, STR("sum"))), &sum);
    value_put(a, data, STR("sum"),
              value_string(arena_printf(a, "%llu", (unsigned long long)sum + 1)));
    value_put(a, data, arena_printf(a, "w%u", w->id), value_string(arena_printf(a, "%u", now)));
    json_write(&body, &obj);
    status = send_to(a, url, "PUT", "application/json", buf_str(&body), &answer);
    if (status == 409) {
        atomic_fetch_add(&n_conflicts, 1);
        return false;
    }
    if (status != 200)
        failed(w, status, &answer);
    w->revs[now - 1] = revision_of(&answer);
    return true;
}

static void *replace_many(void *arg)
{
    struct writer *w = arg;
    arena_init(&w->arena);
    for (unsigned i = 1, tries = 0; i <= replaces_each() && tries < TRIES_MAX; tries++) {
        i += replace_once(w, i);
        arena_reset(&w->arena);
    }
    arena_done(&w->arena);
    return NULL;
}

static void replaces_that_come_late_are_told(void **state)
{
    (void)state;
    struct writer *writers = calloc(n_writers, sizeof(*writers));
    assert_non_null(writers);
    make_object("replaced");
    run_all(replace_many, writers);
    assert_int_equal(n_failed, 0);
    assert_true(n_conflicts > 0);
    struct value obj = get_object(&live.arena);
    struct str sum = arena_printf(&live.arena, "%u", n_writers * replaces_each());
    assert_true(str_eq(value_str(value_dig(&obj, "data", "sum")), sum));
    check_revisions(writers, replaces_each());
    free(writers);
}

static int set_up(void **state)
{
    (void)state;
    n_writers = number_of("SAMPAN_WRITERS", WRITERS);
    n_writes = number_of("SAMPAN_WRITES", WRITES);
    live_start(&live);
    live_populate(&live);
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fetcher_free(fetcher);
    live_stop(&live);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_and_applies_lose_nothing),
        cmocka_unit_test(replaces_that_come_late_are_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
