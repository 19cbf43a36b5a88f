/* Informers against a server in this process, directly and behind a proxy that treats them badly.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sampan/config.h>
#include <sampan/informer.h>

#include "../server/live.h"
#include "base/idiom.h"
#include "base/map.h"
#include "client/suite_client.h"
#include "faulty.h"
#include "scripted.h"

enum { NAMES = 60, NAMESPACES = 4, SYNC_MS = 60000 };

static const struct spn_target config_maps = { .version = { "v1", 2 },
                                               .plural = { "configmaps", 10 } };

static struct spn_client *client_to(const char *url)
{
    struct spn_client *c;
    struct spn_err err;
    const struct spn_config cfg = { .server = spn_text_of(url), .qps = -1, .insecure = true };
    if (spn_client_new(&cfg, &c, &err) < 0)
        fail_msg("%s", err.message);
    return c;
}

static const char *live_url(void)
{
    return live_path("http://" STR_FMT, STR_ARG(live.address));
}

/* ---- What the handlers were told ---- */

/* An object as its handler has it. Events that do not fit what came before are counted. */
struct told {
    struct map versions; /* key to version; both are ours */
    unsigned added, updated, deleted, wrong;
};

static char *text_copy(struct spn_text t)
{
    return strndup(t.p, t.n);
}

static void told_set(struct told *t, const struct spn_object *o, bool should_be_known)
{
    char *key = text_copy(spn_object_key(o));
    char *old = map_get(&t->versions, str_of(key));
    t->wrong += (old != NULL) != should_be_known;
    if (old)
        map_remove(&t->versions, str_of(key));
    free(old);
    /* The key lies in front of the version, in one block. */
    size_t n = strlen(key) + 1;
    struct spn_text version = spn_object_version(o);
    char *both = malloc(n + version.n + 1);
    memcpy(both, key, n);
    memcpy(both + n, version.p, version.n);
    both[n + version.n] = '\0';
    map_set(&t->versions, str_of(both), both);
    free(key);
}

static void on_add(void *arg, const struct spn_object *o, bool is_initial)
{
    struct told *t = arg;
    (void)is_initial;
    t->added++;
    told_set(t, o, false);
}

static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    struct told *t = arg;
    t->updated++;
    t->wrong += !spn_text_eq(spn_object_key(old_o), spn_object_key(new_o));
    told_set(t, new_o, true);
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    struct told *t = arg;
    (void)is_last_known;
    struct spn_text key = spn_object_key(o);
    char *old = map_remove(&t->versions, (struct str){ key.p, key.n });
    t->deleted++;
    t->wrong += old == NULL;
    free(old);
}

static void told_done(struct told *t)
{
    size_t pos = 0;
    struct str key;
    void *p;
    while (map_next(&t->versions, &pos, &key, &p)) {
        map_remove(&t->versions, key);
        free(p);
    }
    map_done(&t->versions);
}

/* ---- Writing ---- */

/* One random change, by a client that nobody disturbs. Changes that do not fit are refused by the
 * server, which is all the same to us. */
static void change(struct spn_client *c, struct spn_arena *a, unsigned *seed)
{
    char ns[16], name[16];
    (void)snprintf(ns, sizeof(ns), "ns%d", rand_r(seed) % NAMESPACES);
    (void)snprintf(name, sizeof(name), "c%d", rand_r(seed) % NAMES);
    struct spn_target at = config_maps;
    at.ns = spn_text_of(ns);
    at.name = spn_text_of(name);
    struct spn_text obj = spn_arena_printf(
        a, "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"even\":\"%s\"}},\"data\":{\"n\":\"%d\"}}",
        name, rand_r(seed) % 2 ? "no" : "yes", rand_r(seed));
    struct spn_value *v;
    assert_int_equal(spn_value_read_json(a, obj, &v, NULL), 0);
    switch (rand_r(seed) % 4) {
    case 0:
        (void)spn_client_delete(c, &at, NULL, NULL, a, NULL, NULL);
        break;
    case 1:
        (void)spn_client_create(c, &at, v, NULL, a, NULL, NULL);
        break;
    default:
        if (spn_client_update(c, &at, v, NULL, a, NULL, NULL) == -SPN_NOT_FOUND)
            (void)spn_client_create(c, &at, v, NULL, a, NULL, NULL);
    }
    spn_arena_reset(a);
}

static void make_namespaces(struct spn_client *c, struct spn_arena *a)
{
    for (int i = 0; i < NAMESPACES; i++) {
        struct spn_target at = SPN_AT("", "v1", "namespaces", "", "");
        struct spn_value *v;
        struct spn_text text = spn_arena_printf(a, "{\"metadata\":{\"name\":\"ns%d\"}}", i);
        assert_int_equal(spn_value_read_json(a, text, &v, NULL), 0);
        assert_int_equal(spn_client_create(c, &at, v, NULL, a, NULL, NULL), 0);
    }
}

/* ---- Comparing ---- */

/* All of it but what an informer leaves away; items of a list have no kind of their own. */
static bool is_same(struct spn_arena *a, const struct spn_value *item, const struct spn_object *o)
{
    struct spn_value *want = spn_value_copy(a, item), *got = spn_object_value(o, a);
    spn_value_remove(a, spn_value_edit(a, want, "metadata"), "managedFields");
    spn_value_remove(a, got, "kind");
    spn_value_remove(a, got, "apiVersion");
    return spn_text_eq(spn_value_json(a, want), spn_value_json(a, got));
}

/* How many objects differ between a direct list and what the informer has. */
static size_t differences(struct spn_client *direct, struct spn_arena *a, const char *labels,
                          struct spn_informer *i)
{
    struct spn_value *list;
    struct spn_err err;
    const struct spn_select which = { .labels = labels };
    if (spn_client_list(direct, &config_maps, &which, NULL, a, &list, &err) < 0)
        fail_msg("%s", err.message);
    const struct spn_value *items = spn_value_get(list, "items");
    struct spn_cache *cache = spn_informer_cache(i);
    size_t n = spn_value_count(items), wrong = spn_cache_count(cache) != n;
    for (size_t k = 0; k < n; k++) {
        const struct spn_value *meta = spn_value_get(spn_value_at(items, k), "metadata");
        struct spn_text ns = spn_value_text(spn_value_get(meta, "namespace"));
        struct spn_text name = spn_value_text(spn_value_get(meta, "name"));
        struct spn_object *o = spn_cache_get(
            cache, spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(ns), SPN_ARG(name)));
        wrong += !o || !is_same(a, spn_value_at(items, k), o);
        spn_object_unref(o);
    }
    spn_arena_reset(a);
    return wrong;
}

static void wait_equal(struct spn_client *direct, struct spn_arena *a, const char *labels,
                       struct spn_informer *i)
{
    size_t wrong = 1;
    for (int k = 0; k < SYNC_MS / 20 && wrong; k++) {
        wrong = differences(direct, a, labels, i);
        if (wrong)
            nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000000 }, NULL);
    }
    if (wrong) {
        struct spn_informer_stats s;
        spn_informer_stats(i, &s);
        fail_msg("%zu objects differ; the informer is at %s, last error: %s", wrong,
                 s.resource_version, s.last_error);
    }
}

/* What the handler was told is what the cache has. After the informer has stopped. */
static void check_told(struct told *t, struct spn_informer *i)
{
    struct spn_objects all;
    assert_int_equal(t->wrong, 0);
    spn_cache_list(spn_informer_cache(i), SPN_TEXT(""), false, &all);
    assert_int_equal(all.n, t->versions.n);
    for (size_t k = 0; k < all.n; k++) {
        struct spn_text key = spn_object_key(all.items[k]);
        const char *both = map_get(&t->versions, (struct str){ key.p, key.n });
        assert_non_null(both);
        assert_true(
            spn_text_eq(spn_text_of(both + strlen(both) + 1), spn_object_version(all.items[k])));
    }
    spn_objects_done(&all);
}

/* ---- Tests ---- */

struct watcher {
    struct spn_informer *informer;
    struct told told;
    const char *labels;
};

static void watcher_start(struct watcher *w, struct spn_client *c,
                          const struct spn_informer_options *opt)
{
    *w = (struct watcher){ .labels = opt->labels };
    w->informer = spn_informer_new(c, opt);
    const struct spn_handler h = { &w->told, on_add, on_update, on_delete };
    spn_informer_handle(w->informer, &h);
    assert_int_equal(spn_informer_start(w->informer, NULL), 0);
}

static void watcher_end(struct watcher *w, struct spn_client *direct, struct spn_arena *a)
{
    wait_equal(direct, a, w->labels, w->informer);
    spn_informer_stop(w->informer);
    check_told(&w->told, w->informer);
    w->informer = spn_informer_free(w->informer);
    told_done(&w->told);
}

static unsigned operations(void)
{
    const char *text = getenv("SAMPAN_OPERATIONS");
    return text ? (unsigned)strtoul(text, NULL, 10) : 10000;
}

static void print_counts(const struct faulty_counts *n)
{
    print_message("proxy: %u answers passed, %u refused, %u dropped, %u cut, %u ended, %u pieces "
                  "delayed, %u events repeated\n",
                  n->passed, n->refused, n->dropped, n->cut, n->ended, n->delayed, n->repeated);
}

/* Nothing is lost and nothing is invented, whatever the proxy does. */
static void follow_behind_a_bad_proxy(bool tls)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_client *direct = client_to(live_url());
    struct faulty *proxy = faulty_start(live_url(), 42, tls);
    struct spn_client *c = client_to(faulty_url(proxy));
    const struct spn_informer_options options[] = {
        { .what = config_maps, .max_pause_ms = 10 },
        { .what = config_maps, .max_pause_ms = 10, .no_stream = true, .page = 7 },
        { .what = config_maps, .max_pause_ms = 10, .labels = "even=yes" },
        { .what = config_maps,
          .max_pause_ms = 10,
          .labels = "even=yes",
          .no_stream = true,
          .resync_ms = 100 },
    };
    struct watcher watchers[ARRAY_LEN(options)];
    unsigned seed = 1, n = operations();
    make_namespaces(direct, a);
    faulty_set_rate(proxy, 50);
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        watcher_start(&watchers[i], c, &options[i]);
    for (unsigned k = 0; k < n; k++) {
        change(direct, a, &seed);
        if (k % 500 == 499)
            faulty_cut_all(proxy);
    }
    faulty_set_rate(proxy, 0);
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        watcher_end(&watchers[i], direct, a);
    print_counts(faulty_counts(proxy));
    const struct faulty_counts *counts = faulty_counts(proxy);
    assert_true(counts->refused && counts->dropped && counts->cut && counts->repeated);
    spn_client_free(c);
    faulty_stop(proxy);
    spn_client_free(direct);
    spn_arena_free(a);
}

static void behind_a_bad_proxy(void **state)
{
    (void)state;
    follow_behind_a_bad_proxy(false);
}

/* Watches that are quiet have no thread then. */
static void behind_a_bad_proxy_with_http2(void **state)
{
    (void)state;
    follow_behind_a_bad_proxy(true);
}

/* A handler that comes late is told of everything, and both are told the same from then on. */
static void late_handler(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_client *c = client_to(live_url());
    unsigned seed = 2;
    struct watcher w;
    struct told late = { 0 };
    const struct spn_handler h = { &late, on_add, on_update, on_delete };
    make_namespaces(c, a);
    watcher_start(&w, c, &(struct spn_informer_options){ .what = config_maps });
    assert_true(spn_informer_wait(w.informer, NULL, SYNC_MS));
    for (int k = 0; k < 600; k++) {
        change(c, a, &seed);
        if (k != 300)
            continue;
        wait_equal(c, a, NULL, w.informer); /* so that some have come and gone by now */
        spn_informer_handle(w.informer, &h);
    }
    wait_equal(c, a, NULL, w.informer);
    spn_informer_stop(w.informer);
    check_told(&late, w.informer);
    check_told(&w.told, w.informer);
    assert_true(late.added < w.told.added);
    spn_informer_free(w.informer);
    told_done(&late);
    told_done(&w.told);
    spn_client_free(c);
    spn_arena_free(a);
}

static void drop_data(void *arg, struct spn_arena *a, struct spn_value *obj)
{
    (void)arg;
    spn_value_remove(a, obj, "data");
}

/* What a transform takes away is not kept, and of metadata only there is nothing else. */
static void less_than_everything(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_client *c = client_to(live_url());
    const struct spn_informer_options options[] = {
        { .what = config_maps, .transform = drop_data },
        { .what = config_maps, .transform = drop_data, .no_stream = true },
        { .what = config_maps, .metadata_only = true },
        { .what = config_maps, .metadata_only = true, .no_stream = true },
    };
    unsigned seed = 3;
    make_namespaces(c, a);
    for (int k = 0; k < 50; k++)
        change(c, a, &seed);
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        struct spn_objects all;
        struct spn_informer *inf = spn_informer_new(c, &options[i]);
        assert_int_equal(spn_informer_start(inf, NULL), 0);
        assert_true(spn_informer_wait(inf, NULL, SYNC_MS));
        spn_cache_list(spn_informer_cache(inf), SPN_TEXT(""), true, &all);
        assert_true(all.n > 0);
        for (size_t k = 0; k < all.n; k++) {
            const struct spn_value *v = spn_object_value(all.items[k], a);
            assert_null(spn_value_get(v, "data"));
            assert_null(spn_value_dig(v, "metadata", "managedFields"));
            assert_text(spn_value_text(spn_value_get(v, "kind")),
                        options[i].metadata_only ? "PartialObjectMetadata" : "ConfigMap");
        }
        spn_objects_done(&all);
        spn_informer_free(inf);
    }
    spn_client_free(c);
    spn_arena_free(a);
}

/* Whoever asks for the same gets the same. */
static void shared_ones(void **state)
{
    (void)state;
    struct spn_client *c = client_to(live_url());
    struct spn_informers *all = spn_informers_new(c);
    struct spn_informer_options opt = { .what = config_maps };
    struct spn_informer *one = spn_informers_get(all, &opt);
    assert_ptr_equal(spn_informers_get(all, &opt), one);
    opt.what.ns = SPN_TEXT("default");
    struct spn_informer *two = spn_informers_get(all, &opt);
    assert_ptr_not_equal(two, one);
    assert_ptr_equal(spn_informers_get(all, &opt), two);
    assert_int_equal(spn_informers_start(all, NULL), 0);
    assert_true(spn_informers_wait(all, NULL, SYNC_MS));
    assert_true(spn_informer_has_synced(one) && spn_informer_has_synced(two));
    spn_informers_free(all);
    spn_client_free(c);
}

/* Nothing grows and nothing hangs, also while it is still syncing. */
static void a_hundred_times(void **state)
{
    (void)state;
    struct spn_client *c = client_to(live_url());
    for (int k = 0; k < 100; k++) {
        struct spn_informer *i =
            spn_informer_new(c, &(struct spn_informer_options){ .what = config_maps });
        assert_int_equal(spn_informer_start(i, NULL), 0);
        if (k % 3)
            assert_true(spn_informer_wait(i, NULL, SYNC_MS));
        spn_informer_free(i);
    }
    spn_client_free(c);
}

/* 24 informers over 100,000 objects, and one that sees them all. */
static void many_informers(void **state)
{
    (void)state;
    enum { INFORMERS = 24 };
    const char *text = getenv("SAMPAN_OBJECTS");
    size_t each = (text ? strtoul(text, NULL, 10) : 100000) / INFORMERS;
    struct spn_client *c = client_to(live_url());
    struct spn_informer *informers[INFORMERS + 1];
    for (int i = 0; i < INFORMERS; i++)
        for (size_t k = 0; k < each; k++)
            live_put(&live, live_path("ns%d", i), live_path("c%zu", k), NULL, 10);
    for (int i = 0; i <= INFORMERS; i++) {
        struct spn_informer_options opt = { .what = config_maps };
        if (i < INFORMERS)
            opt.what.ns = spn_text_of(live_path("ns%d", i));
        informers[i] = spn_informer_new(c, &opt);
        assert_int_equal(spn_informer_start(informers[i], NULL), 0);
    }
    for (int i = 0; i <= INFORMERS; i++) {
        assert_true(spn_informer_wait(informers[i], NULL, SYNC_MS));
        assert_int_equal(spn_cache_count(spn_informer_cache(informers[i])),
                         i < INFORMERS ? each : each * INFORMERS);
    }
    for (int i = 0; i <= INFORMERS; i++)
        spn_informer_free(informers[i]);
    spn_client_free(c);
}

/* A server that is not there: it tries again and again, and can be stopped at once. */
static void nobody_there(void **state)
{
    (void)state;
    struct spn_client *c = client_to("http://127.0.0.1:1");
    struct spn_informer *i =
        spn_informer_new(c, &(struct spn_informer_options){ .what = config_maps });
    struct spn_informer_stats s = { 0 };
    assert_int_equal(spn_informer_start(i, NULL), 0);
    while (s.errors < 2) {
        nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000000 }, NULL);
        spn_informer_stats(i, &s);
    }
    assert_true(strlen(s.last_error) > 0);
    assert_false(spn_informer_has_synced(i));
    assert_false(spn_informer_wait(i, NULL, 10));
    spn_informer_free(i);
    spn_client_free(c);
}

/* Others do not wait for what the server does not have. */
static void a_resource_that_is_not_served(void **state)
{
    (void)state;
    struct spn_client *c = client_to(live_url());
    struct spn_informers *all = spn_informers_new(c);
    const struct spn_target nothing = SPN_AT("example.com", "v1", "nothings", "", "");
    struct spn_informer *there =
        spn_informers_get(all, &(struct spn_informer_options){ .what = config_maps });
    struct spn_informer *absent =
        spn_informers_get(all, &(struct spn_informer_options){ .what = nothing });
    assert_int_equal(spn_informers_start(all, NULL), 0);
    assert_true(spn_informers_wait(all, NULL, SYNC_MS));
    assert_true(spn_informer_has_synced(there));
    assert_false(spn_informer_has_synced(absent));
    spn_informers_free(all);
    spn_client_free(c);
}

static bool asks(const struct http_request *req, const char *what)
{
    return memmem(req->query.p, req->query.n, what, strlen(what));
}

/* As a kube-apiserver whose etcd cannot tell how far it is. */
static struct scripted_answer without_streams(void *arg, const struct http_request *req,
                                              struct arena *a)
{
    (void)arg;
    (void)a;
    if (asks(req, "sendInitialEvents=true"))
        return scripted_json(200,
                             "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500,"
                             "\"reason\":\"InternalError\",\"message\":\"no progress\"}}\n");
    if (asks(req, "watch=true"))
        return (struct scripted_answer){ .status = SCRIPTED_SILENCE };
    return scripted_json(200, "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{"
                              "\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{\"name\":\"a\","
                              "\"namespace\":\"n\",\"resourceVersion\":\"5\"}}]}");
}

static void a_server_that_fails_at_streaming(void **state)
{
    (void)state;
    struct scripted *server = scripted_start(without_streams, NULL);
    struct spn_client *c = client_to(scripted_url(server));
    struct spn_informer *i =
        spn_informer_new(c, &(struct spn_informer_options){ .what = config_maps });
    assert_int_equal(spn_informer_start(i, NULL), 0);
    assert_true(spn_informer_wait(i, NULL, SYNC_MS));
    assert_int_equal(spn_cache_count(spn_informer_cache(i)), 1);
    spn_informer_free(i);
    spn_client_free(c);
    scripted_stop(server);
}

/* informer_test [PATTERN] - only the tests whose names fit. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(late_handler, live_setup, live_teardown),
        cmocka_unit_test_setup_teardown(less_than_everything, live_setup, live_teardown),
        cmocka_unit_test_setup_teardown(shared_ones, live_setup, live_teardown),
        cmocka_unit_test_setup_teardown(a_hundred_times, live_setup, live_teardown),
        cmocka_unit_test_setup_teardown(many_informers, live_setup, live_teardown),
        cmocka_unit_test_setup_teardown(nobody_there, live_setup, live_teardown),
        cmocka_unit_test_setup_teardown(a_resource_that_is_not_served, live_setup, live_teardown),
        cmocka_unit_test(a_server_that_fails_at_streaming),
        cmocka_unit_test_setup_teardown(behind_a_bad_proxy, live_setup, live_teardown),
        cmocka_unit_test_setup_teardown(behind_a_bad_proxy_with_http2, live_setup, live_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
