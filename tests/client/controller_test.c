/* Controllers against a server in this process: relations, results, the stop, the lease, health. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sampan/config.h>
#include <sampan/controller.h>
#include <sampan/log.h>
#include <sampan/meta.h>

#include "../server/live.h"
#include "base/idiom.h"
#include "client/suite_client.h"
#include "faulty.h"

enum { PATIENCE_MS = 60000 };

static const struct spn_target config_maps = SPN_AT("", "v1", "configmaps", "", "");
static const struct spn_target secrets = SPN_AT("", "v1", "secrets", "", "");
static const struct spn_target leases = SPN_AT("coordination.k8s.io", "v1", "leases", "", "");
static const struct spn_target events = SPN_AT("", "v1", "events", "", "");

/* ---- A server, a client, a manager with one controller ---- */

struct bench {
    struct spn_client *client;
    struct spn_arena *arena;
    struct spn_stop *stop;
};

static struct spn_client *client_to(const char *url)
{
    struct spn_client *c;
    struct spn_err err;
    const struct spn_config cfg = { .server = spn_text_of(url), .qps = -1 };
    if (spn_client_new(&cfg, &c, &err) < 0)
        fail_msg("%s", err.message);
    return c;
}

static const char *live_url(void)
{
    return live_path("http://" STR_FMT, STR_ARG(live.address));
}

static int bench_setup(void **state)
{
    live_start(&live);
    live_populate(&live);
    struct bench *b = calloc(1, sizeof(*b));
    b->client = client_to(live_url());
    b->arena = spn_arena_new();
    b->stop = spn_stop_new();
    *state = b;
    return 0;
}

static int bench_teardown(void **state)
{
    struct bench *b = *state;
    spn_client_free(b->client);
    spn_arena_free(b->arena);
    spn_stop_free(b->stop);
    free(b);
    live_stop(&live);
    return 0;
}
#define bench_test(fn) cmocka_unit_test_setup_teardown(fn, bench_setup, bench_teardown)

/* A manager on a thread of its own. */
struct running {
    struct spn_manager *manager;
    pthread_t thread;
    int result;
    struct spn_err err;
    atomic_bool has_ended;
};

static void *run_manager(void *arg)
{
    struct running *r = arg;
    r->result = spn_manager_run(r->manager, &r->err);
    r->has_ended = true;
    return NULL;
}

static struct spn_manager *manager_with(const struct spn_manager_options *opt)
{
    struct spn_manager *m;
    struct spn_err err;
    if (spn_manager_new(opt, &m, &err) < 0)
        fail_msg("%s", err.message);
    return m;
}

static struct spn_manager *manager_of(struct bench *b)
{
    return manager_with(&(struct spn_manager_options){ .client = b->client, .stop = b->stop });
}

static void running_start(struct running *r, struct spn_manager *m)
{
    *r = (struct running){ .manager = m };
    assert_int_equal(pthread_create(&r->thread, NULL, run_manager, r), 0);
}

static int running_join(struct running *r)
{
    assert_int_equal(pthread_join(r->thread, NULL), 0);
    spn_manager_free(r->manager);
    return r->result;
}

static void stop_and_check(struct bench *b, struct running *r)
{
    spn_stop_set(b->stop);
    if (running_join(r) < 0)
        fail_msg("%s", r->err.message);
}

static void pause_ms(int64_t ms)
{
    (void)nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

#define wait_for(condition)                             \
    do {                                                \
        int left__ = PATIENCE_MS / 5;                   \
        while (!(condition) && left__--)                \
            pause_ms(5);                                \
        if (left__ < 0)                                 \
            fail_msg("waited in vain for " #condition); \
    } while (0)

/* ---- Objects ---- */

static struct spn_target at(struct spn_target what, const char *name)
{
    what.ns = SPN_TEXT("default");
    what.name = spn_text_of(name);
    return what;
}

static struct spn_value *object(struct spn_arena *a, const char *json)
{
    struct spn_value *v;
    struct spn_err err;
    if (spn_value_read_json(a, spn_text_of(json), &v, &err) < 0)
        fail_msg("%s", err.message);
    return v;
}

static void create(struct bench *b, struct spn_target what, const char *name, const char *rest)
{
    struct spn_err err;
    struct spn_target place = at(what, name);
    struct spn_text json =
        spn_arena_printf(b->arena, "{\"metadata\":{\"name\":\"%s\"%s}}", name, rest ? rest : "");
    if (spn_client_create(b->client, &place, object(b->arena, json.p), NULL, b->arena, NULL, &err) <
        0)
        fail_msg("%s", err.message);
}

static struct spn_value *get(struct bench *b, struct spn_target what, const char *name)
{
    struct spn_value *v;
    struct spn_target place = at(what, name);
    return spn_client_get(b->client, &place, NULL, b->arena, &v, NULL) < 0 ? NULL : v;
}

static void touch(struct bench *b, struct spn_target what, const char *name, int i)
{
    struct spn_err err;
    struct spn_target place = at(what, name);
    struct spn_text patch =
        spn_arena_printf(b->arena, "{\"metadata\":{\"annotations\":{\"i\":\"%d\"}}}", i);
    if (spn_client_patch(b->client, &place, SPN_MERGE_PATCH, patch, NULL, b->arena, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

static void delete (struct bench *b, struct spn_target what, const char *name)
{
    struct spn_err err;
    struct spn_target place = at(what, name);
    if (spn_client_delete(b->client, &place, NULL, NULL, b->arena, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

/* ---- Relations ---- */

/* Every ConfigMap with the label gets a Secret of its name. */
static int make_child(void *arg, struct spn_work *w, struct spn_err *err)
{
    atomic_uint *most_owned = arg;
    struct spn_value *obj = spn_work_object(w);
    const struct spn_object *const *owned;
    if (!obj)
        return spn_done();
    size_t n = spn_work_owned(w, &secrets, &owned);
    if (n > *most_owned)
        *most_owned = (unsigned)n;
    struct spn_target child = secrets;
    child.ns = w->ns;
    child.name = w->name;
    if (spn_work_cached(w, &child))
        return spn_done();
    struct spn_value *secret = spn_value_new(w->arena, SPN_OBJECT);
    spn_value_set_text(w->arena, spn_value_ensure(w->arena, secret, "metadata"), "name", w->name);
    int r = spn_set_controller(w->arena, secret, obj, err);
    if (r < 0)
        return r;
    r = spn_client_create(w->client, &child, secret, &w->how, w->arena, NULL, err);
    return r == -SPN_EXISTS ? spn_again() : r;
}

static void owned_children_come_back(void **state)
{
    struct bench *b = *state;
    struct running run;
    atomic_uint most_owned = 0;
    struct spn_manager *m = manager_of(b);
    struct spn_controller *c =
        spn_manager_add(m, &(struct spn_controller_options){ .name = "parents",
                                                             .what = config_maps,
                                                             .kind = "ConfigMap",
                                                             .labels = "role=parent",
                                                             .reconcile = make_child,
                                                             .arg = &most_owned });
    spn_controller_owns(c, &secrets);
    create(b, config_maps, "early", ",\"labels\":{\"role\":\"parent\"}");
    running_start(&run, m);
    create(b, config_maps, "late", ",\"labels\":{\"role\":\"parent\"}");
    create(b, config_maps, "other", NULL);
    wait_for(get(b, secrets, "early") && get(b, secrets, "late"));
    struct spn_text uid = spn_value_text(spn_value_dig(get(b, secrets, "late"), "metadata", "uid"));
    delete (b, secrets, "late");
    wait_for(get(b, secrets, "late"));
    wait_for(most_owned == 1);
    const struct spn_value *child = get(b, secrets, "late");
    assert_false(spn_text_eq(uid, spn_value_text(spn_value_dig(child, "metadata", "uid"))));
    const struct spn_value *ref =
        spn_value_at(spn_value_dig(child, "metadata", "ownerReferences"), 0);
    assert_text(spn_value_text(spn_value_get(ref, "kind")), "ConfigMap");
    assert_null(get(b, secrets, "other"));
    stop_and_check(b, &run);
    assert_int_equal(most_owned, 1);
}

/* ---- Keys ---- */

/* Keeps the last key that it was called for. */
struct last {
    atomic_uint calls;
    char key[64];
};

static int note_key(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)err;
    struct last *l = arg;
    (void)snprintf(l->key, sizeof(l->key), SPN_FMT, SPN_ARG(w->key));
    l->calls++;
    return spn_done();
}

static void to_label(void *arg, const struct spn_object *o, struct spn_arena *a,
                     struct spn_keys *out)
{
    (void)arg;
    struct spn_text name = spn_object_label(o, a, "of");
    if (name.p)
        spn_keys_put(out, spn_object_namespace(o), name);
}

static void watched_objects_are_mapped(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct last last = { 0 };
    struct spn_manager *m = manager_of(b);
    struct spn_controller *c =
        spn_manager_add(m, &(struct spn_controller_options){ .name = "mapped",
                                                             .what = config_maps,
                                                             .labels = "none=here",
                                                             .reconcile = note_key,
                                                             .arg = &last });
    spn_controller_watches(c, &secrets, to_label, NULL);
    running_start(&run, m);
    create(b, secrets, "plain", NULL);
    create(b, secrets, "s", ",\"labels\":{\"of\":\"someone\"}");
    wait_for(last.calls == 1);
    assert_string_equal(last.key, "default/someone");
    delete (b, secrets, "s");
    wait_for(last.calls == 2);
    spn_controller_enqueue(c, SPN_TEXT("default"), SPN_TEXT("by-hand"));
    wait_for(last.calls == 3);
    stop_and_check(b, &run);
    assert_string_equal(last.key, "default/by-hand");
}

static void create_owned(struct bench *b, const char *name, const char *api_version,
                         const char *kind)
{
    struct spn_value *owner =
        object(b->arena, spn_arena_printf(b->arena,
                                          "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":"
                                          "{\"name\":\"of-%s\",\"uid\":\"u-%s\"}}",
                                          api_version, kind, name, name)
                             .p);
    struct spn_value *obj =
        object(b->arena, spn_arena_printf(b->arena, "{\"metadata\":{\"name\":\"%s\"}}", name).p);
    struct spn_err err;
    struct spn_target place = at(secrets, name);
    if (spn_set_controller(b->arena, obj, owner, &err) < 0 ||
        spn_client_create(b->client, &place, obj, NULL, b->arena, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

/* Only an owner of our kind and group counts. If it has no namespace, its key has none. */
static void owners_are_told_apart(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct last last = { 0 };
    const struct spn_target namespaces = SPN_AT("", "v1", "namespaces", "", "");
    struct spn_manager *m = manager_of(b);
    struct spn_controller *c =
        spn_manager_add(m, &(struct spn_controller_options){ .name = "wide",
                                                             .what = namespaces,
                                                             .kind = "Namespace",
                                                             .labels = "none=here",
                                                             .has_no_namespace = true,
                                                             .reconcile = note_key,
                                                             .arg = &last });
    spn_controller_owns(c, &secrets);
    running_start(&run, m);
    create_owned(b, "other-group", "x.io/v1", "Namespace");
    create_owned(b, "other-kind", "v1", "Node");
    create_owned(b, "ours", "v1", "Namespace");
    wait_for(last.calls == 1);
    stop_and_check(b, &run);
    assert_string_equal(last.key, "of-ours");
    assert_int_equal(last.calls, 1);
}

static bool when_data_is_there(void *arg, const struct spn_object *old_o,
                               const struct spn_object *new_o)
{
    (void)old_o;
    atomic_uint *asked = arg;
    (*asked)++;
    return new_o && spn_text_eq(spn_object_name(new_o), SPN_TEXT("wanted"));
}

static void predicates_decide(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct last last = { 0 };
    atomic_uint asked = 0;
    struct spn_manager *m = manager_of(b);
    spn_manager_add(m, &(struct spn_controller_options){ .name = "some",
                                                         .what = config_maps,
                                                         .when = when_data_is_there,
                                                         .when_arg = &asked,
                                                         .reconcile = note_key,
                                                         .arg = &last });
    running_start(&run, m);
    create(b, config_maps, "unwanted", NULL);
    create(b, config_maps, "wanted", NULL);
    wait_for(last.calls == 1);
    assert_string_equal(last.key, "default/wanted");
    delete (b, config_maps, "wanted");
    unsigned before = asked;
    create(b, config_maps, "end", NULL);
    wait_for(asked > before);
    stop_and_check(b, &run);
    assert_int_equal(last.calls, 1);
}

static void predicates_of_the_library(void **state)
{
    struct bench *b = *state;
    struct spn_object *first = suite_object(
        b->arena, "{\"metadata\":{\"name\":\"x\",\"generation\":1,\"resourceVersion\":\"5\"}}");
    struct spn_object *status = suite_object(
        b->arena, "{\"metadata\":{\"name\":\"x\",\"generation\":1,\"resourceVersion\":\"6\"}}");
    struct spn_object *spec = suite_object(
        b->arena, "{\"metadata\":{\"name\":\"x\",\"generation\":2,\"resourceVersion\":\"7\"}}");
    assert_true(spn_when_generation_changes(NULL, NULL, first));
    assert_true(spn_when_generation_changes(NULL, first, NULL));
    assert_false(spn_when_generation_changes(NULL, first, status));
    assert_true(spn_when_generation_changes(NULL, status, spec));
    assert_true(spn_when_version_changes(NULL, first, status));
    assert_false(spn_when_version_changes(NULL, first, first));
    spn_object_unref(first);
    spn_object_unref(status);
    spn_object_unref(spec);
}

static void a_resync_looks_again(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct last last = { 0 };
    struct spn_manager *m = manager_of(b);
    spn_manager_add(m, &(struct spn_controller_options){ .name = "again",
                                                         .what = config_maps,
                                                         .fields = "metadata.name=x",
                                                         .resync_ms = 20,
                                                         .reconcile = note_key,
                                                         .arg = &last });
    create(b, config_maps, "x", NULL);
    running_start(&run, m);
    wait_for(last.calls > 3);
    stop_and_check(b, &run);
    assert_string_equal(last.key, "default/x");
}

static void owns_needs_a_kind(void **state)
{
    struct bench *b = *state;
    struct spn_err err;
    struct last last = { 0 };
    struct spn_manager *m = manager_of(b);
    struct spn_controller *c = spn_manager_add(
        m, &(struct spn_controller_options){
               .name = "nameless", .what = config_maps, .reconcile = note_key, .arg = &last });
    spn_controller_owns(c, &secrets);
    assert_int_equal(spn_manager_run(m, &err), -SPN_INVALID);
    assert_string_equal(err.message, "controller nameless owns secrets, but has no kind");
    spn_manager_free(m);
}

/* ---- Results ---- */

struct results {
    atomic_uint calls, wrong;
    int64_t after_ms;
};

static int fail_thrice(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct results *r = arg;
    unsigned n = r->calls++;
    r->wrong += w->retries != (n < 3 ? n : 0) && n < 3;
    return n < 3 ? spn_err_set(err, SPN_SERVER_ERROR, "not yet") : spn_done();
}

static atomic_uint lines_logged;

static void count_errors(void *arg, enum spn_log_level level, struct spn_text line)
{
    (void)arg;
    lines_logged += level == SPN_LOG_ERROR && memmem(line.p, line.n, "not yet", 7);
}

static void errors_are_tried_again(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct results results = { 0 };
    lines_logged = 0;
    spn_log_to(count_errors, NULL, SPN_LOG_INFO);
    struct spn_manager *m = manager_of(b);
    spn_manager_add(m, &(struct spn_controller_options){ .name = "failing",
                                                         .what = config_maps,
                                                         .fields = "metadata.name=x",
                                                         .reconcile = fail_thrice,
                                                         .arg = &results });
    create(b, config_maps, "x", NULL);
    running_start(&run, m);
    wait_for(results.calls == 4);
    stop_and_check(b, &run);
    spn_log_to(NULL, NULL, SPN_LOG_INFO);
    assert_int_equal(results.calls, 4);
    assert_int_equal(results.wrong, 0);
    assert_int_equal(lines_logged, 3);
}

static int five_times(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)err;
    struct results *r = arg;
    unsigned n = ++r->calls;
    r->wrong += w->retries != 0;
    return n < 5 ? spn_again_after(r->after_ms) : spn_done();
}

static void it_comes_again_after_a_while(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct results results = { .after_ms = 10 };
    struct spn_manager *m = manager_of(b);
    spn_manager_add(m, &(struct spn_controller_options){ .name = "patient",
                                                         .what = config_maps,
                                                         .fields = "metadata.name=x",
                                                         .reconcile = five_times,
                                                         .arg = &results });
    create(b, config_maps, "x", NULL);
    running_start(&run, m);
    wait_for(results.calls == 5);
    stop_and_check(b, &run);
    assert_int_equal(results.wrong, 0);
}

static void results_are_what_they_say(void **state)
{
    (void)state;
    assert_int_equal(spn_done(), 0);
    assert_true(spn_again() > 0 && spn_again() != spn_again_after(INT64_MAX));
    assert_int_equal(spn_again_after(-5), 1);
    assert_int_equal(spn_again_after(1500), 1500);
}

/* ---- Never one key twice at a time ---- */

enum { BUSY_KEYS = 5, BUSY_ROUNDS = 40 };

struct busy {
    atomic_uint inside[BUSY_KEYS], calls, twice, at_once, most_at_once;
};

static int be_busy(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)err;
    struct busy *busy = arg;
    atomic_uint *mine = &busy->inside[(w->name.p[1] - '0') % BUSY_KEYS];
    busy->twice += atomic_fetch_add(mine, 1) != 0;
    unsigned now = ++busy->at_once;
    if (now > busy->most_at_once)
        busy->most_at_once = now;
    pause_ms(2);
    busy->at_once--;
    (*mine)--;
    busy->calls++;
    return spn_done();
}

static void no_key_is_worked_on_twice(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct busy busy = { 0 };
    struct spn_manager *m = manager_of(b);
    struct spn_controller *c =
        spn_manager_add(m, &(struct spn_controller_options){ .name = "busy",
                                                             .what = config_maps,
                                                             .labels = "busy=yes",
                                                             .workers = 8,
                                                             .reconcile = be_busy,
                                                             .arg = &busy });
    for (int i = 0; i < BUSY_KEYS; i++)
        create(b, config_maps, spn_arena_printf(b->arena, "k%d", i).p,
               ",\"labels\":{\"busy\":\"yes\"}");
    running_start(&run, m);
    for (int round = 0; round < BUSY_ROUNDS; round++)
        for (int i = 0; i < BUSY_KEYS; i++) {
            struct spn_text name = spn_arena_printf(b->arena, "k%d", i);
            touch(b, config_maps, name.p, round);
            spn_controller_enqueue(c, SPN_TEXT("default"), name);
        }
    wait_for(busy.calls >= BUSY_KEYS);
    stop_and_check(b, &run);
    assert_int_equal(busy.twice, 0);
    assert_true(busy.most_at_once > 1);
}

/* ---- The stop ---- */

struct slow {
    atomic_uint begun, ended, cut;
    int64_t ms;
};

static int be_slow(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)err;
    struct slow *s = arg;
    s->begun++;
    s->cut += spn_stop_wait(w->how.stop, s->ms);
    s->ended++;
    return spn_done();
}

static void slow_controller(struct spn_manager *m, struct slow *slow, unsigned workers)
{
    spn_manager_add(m, &(struct spn_controller_options){ .name = "slow",
                                                         .what = config_maps,
                                                         .labels = "slow=yes",
                                                         .workers = workers,
                                                         .reconcile = be_slow,
                                                         .arg = slow });
}

static void a_stop_lets_work_finish(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct slow slow = { .ms = 200 };
    struct spn_manager *m = manager_of(b);
    slow_controller(m, &slow, 1);
    for (int i = 0; i < 3; i++)
        create(b, config_maps, spn_arena_printf(b->arena, "s%d", i).p,
               ",\"labels\":{\"slow\":\"yes\"}");
    running_start(&run, m);
    wait_for(slow.begun == 1);
    stop_and_check(b, &run);
    assert_int_equal(slow.begun, 3);
    assert_int_equal(slow.ended, 3);
    assert_int_equal(slow.cut, 0);
}

static void a_stop_does_not_wait_for_ever(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct slow slow = { .ms = PATIENCE_MS };
    struct spn_manager *m = manager_with(
        &(struct spn_manager_options){ .client = b->client, .stop = b->stop, .grace_ms = 50 });
    slow_controller(m, &slow, 1);
    for (int i = 0; i < 3; i++)
        create(b, config_maps, spn_arena_printf(b->arena, "s%d", i).p,
               ",\"labels\":{\"slow\":\"yes\"}");
    running_start(&run, m);
    wait_for(slow.begun == 1);
    stop_and_check(b, &run);
    assert_int_equal(slow.begun, 1);
    assert_int_equal(slow.cut, 1);
}

static void a_stop_before_the_start(void **state)
{
    struct bench *b = *state;
    struct slow slow = { .ms = 1 };
    struct spn_err err;
    struct spn_manager *m = manager_of(b);
    slow_controller(m, &slow, 2);
    spn_stop_set(b->stop);
    assert_int_equal(spn_manager_run(m, &err), 0);
    assert_int_equal(slow.begun, 0);
    spn_manager_free(m);
}

/* ---- Losing the server ---- */

static void it_survives_a_bad_connection(void **state)
{
    struct bench *b = *state;
    struct running run;
    atomic_uint most_owned = 0;
    struct faulty *f = faulty_start(live_url(), 7, false);
    struct spn_client *through = client_to(faulty_url(f));
    struct spn_manager *m =
        manager_with(&(struct spn_manager_options){ .client = through, .stop = b->stop });
    struct spn_controller *c =
        spn_manager_add(m, &(struct spn_controller_options){ .name = "parents",
                                                             .what = config_maps,
                                                             .kind = "ConfigMap",
                                                             .labels = "role=parent",
                                                             .workers = 3,
                                                             .reconcile = make_child,
                                                             .arg = &most_owned });
    spn_controller_owns(c, &secrets);
    running_start(&run, m);
    faulty_set_rate(f, 40);
    for (int i = 0; i < 20; i++) {
        create(b, config_maps, spn_arena_printf(b->arena, "p%d", i).p,
               ",\"labels\":{\"role\":\"parent\"}");
        if (i % 7 == 3)
            faulty_cut_all(f);
    }
    for (int i = 0; i < 20; i++)
        wait_for(get(b, secrets, spn_arena_printf(b->arena, "p%d", i).p));
    faulty_set_rate(f, 0);
    stop_and_check(b, &run);
    spn_client_free(through);
    faulty_stop(f);
}

/* ---- The lease ---- */

static const struct spn_election_options quick_election = {
    .ns = "default", .name = "lead", .lease_ms = 3000, .renew_ms = 2000, .retry_ms = 100
};

/* Of which at most one may be inside at a time. */
static atomic_uint leaders, two_leaders;

static int lead(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)w;
    (void)err;
    atomic_uint *calls = arg;
    two_leaders += leaders++ != 0;
    pause_ms(2);
    leaders--;
    (*calls)++;
    return spn_again_after(1);
}

static struct spn_manager *candidate(struct bench *b, struct spn_stop *stop, const char *identity,
                                     atomic_uint *calls)
{
    struct spn_election_options e = quick_election;
    e.identity = identity;
    struct spn_manager *m = manager_with(
        &(struct spn_manager_options){ .client = b->client, .stop = stop, .election = &e });
    spn_manager_add(m, &(struct spn_controller_options){ .name = "lead",
                                                         .what = config_maps,
                                                         .fields = "metadata.name=x",
                                                         .reconcile = lead,
                                                         .arg = calls });
    return m;
}

static struct spn_text lease_text(struct bench *b, const char *field)
{
    return spn_value_text(spn_value_dig(get(b, leases, "lead"), "spec", field));
}

static void leadership_is_handed_over(void **state)
{
    struct bench *b = *state;
    struct running one, two;
    struct spn_stop *second_stop = spn_stop_new();
    atomic_uint first = 0, second = 0;
    int64_t n = -1;
    create(b, config_maps, "x", NULL);
    struct spn_manager *m1 = candidate(b, b->stop, "one", &first);
    struct spn_manager *m2 = candidate(b, second_stop, "two", &second);
    running_start(&one, m1);
    wait_for(first > 3);
    running_start(&two, m2);
    unsigned before = first;
    wait_for(first > before + 100);
    assert_int_equal(second, 0);
    assert_true(spn_manager_is_leader(m1) && !spn_manager_is_leader(m2));
    assert_text(lease_text(b, "holderIdentity"), "one");
    stop_and_check(b, &one);
    wait_for(second > 3);
    assert_text(lease_text(b, "holderIdentity"), "two");
    assert_true(
        spn_value_int(spn_value_dig(get(b, leases, "lead"), "spec", "leaseTransitions"), &n));
    assert_int_equal(n, 1);
    spn_stop_set(second_stop);
    assert_int_equal(running_join(&two), 0);
    assert_text(lease_text(b, "holderIdentity"), "");
    assert_true(
        spn_value_int(spn_value_dig(get(b, leases, "lead"), "spec", "leaseDurationSeconds"), &n));
    assert_int_equal(n, 1);
    assert_int_equal(two_leaders, 0);
    spn_stop_free(second_stop);
}

static void who_loses_the_lease_ends(void **state)
{
    struct bench *b = *state;
    struct running run;
    atomic_uint calls = 0;
    create(b, config_maps, "x", NULL);
    running_start(&run, candidate(b, b->stop, "one", &calls));
    wait_for(calls > 3);
    struct spn_target lease = at(leases, "lead");
    assert_int_equal(spn_client_patch(b->client, &lease, SPN_MERGE_PATCH,
                                      SPN_TEXT("{\"spec\":{\"holderIdentity\":\"thief\"}}"), NULL,
                                      b->arena, NULL, NULL),
                     0);
    assert_int_equal(running_join(&run), -SPN_EXPIRED);
    assert_non_null(strstr(run.err.message, "leader election lost"));
    assert_text(lease_text(b, "holderIdentity"), "thief");
}

/* Others may lead by then; so what it does is cut off, too. */
static void a_leader_without_a_server_ends(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct slow slow = { .ms = PATIENCE_MS };
    struct spn_election_options e = quick_election;
    struct spn_manager *m = manager_with(&(struct spn_manager_options){
        .client = b->client, .stop = b->stop, .election = &e, .grace_ms = PATIENCE_MS });
    slow_controller(m, &slow, 1);
    create(b, config_maps, "s", ",\"labels\":{\"slow\":\"yes\"}");
    running_start(&run, m);
    wait_for(slow.begun == 1);
    live_stop(&live);
    assert_int_equal(running_join(&run), -SPN_EXPIRED);
    assert_int_equal(slow.cut, 1);
    live_start(&live);
}

static void a_dead_leader_is_replaced(void **state)
{
    struct bench *b = *state;
    struct running run;
    atomic_uint calls = 0;
    struct spn_target lease = at(leases, "lead");
    create(b, config_maps, "x", NULL);
    assert_int_equal(
        spn_client_create(b->client, &lease,
                          object(b->arena, "{\"metadata\":{\"name\":\"lead\"},\"spec\":{"
                                           "\"holderIdentity\":\"dead\",\"leaseDurationSeconds\":1,"
                                           "\"leaseTransitions\":4,"
                                           "\"acquireTime\":\"2099-01-01T00:00:00.000000Z\","
                                           "\"renewTime\":\"2099-01-01T00:00:00.000000Z\"}}"),
                          NULL, b->arena, NULL, NULL),
        0);
    running_start(&run, candidate(b, b->stop, "heir", &calls));
    wait_for(calls > 0);
    int64_t n = -1;
    assert_text(lease_text(b, "holderIdentity"), "heir");
    assert_true(
        spn_value_int(spn_value_dig(get(b, leases, "lead"), "spec", "leaseTransitions"), &n));
    assert_int_equal(n, 5);
    stop_and_check(b, &run);
}

static void durations_must_fit(void **state)
{
    struct bench *b = *state;
    struct spn_election *e;
    struct spn_err err;
    struct spn_election_options wrong = quick_election;
    wrong.renew_ms = wrong.lease_ms;
    assert_int_equal(spn_election_new(b->client, &wrong, &e, &err), -SPN_INVALID);
    wrong = quick_election;
    wrong.retry_ms = wrong.renew_ms;
    assert_int_equal(spn_election_new(b->client, &wrong, &e, &err), -SPN_INVALID);
    wrong = quick_election;
    wrong.name = NULL;
    assert_int_equal(spn_election_new(b->client, &wrong, &e, &err), -SPN_INVALID);
}

/* ---- Events ---- */

static const struct spn_value *events_of(struct bench *b, const char *reason)
{
    struct spn_value *list;
    struct spn_err err;
    struct spn_target place = at(events, "");
    const struct spn_select which = { .fields = spn_arena_printf(b->arena, "reason=%s", reason).p };
    if (spn_client_list(b->client, &place, &which, NULL, b->arena, &list, &err) < 0)
        fail_msg("%s", err.message);
    return spn_value_get(list, "items");
}

static struct spn_recorder *recorder_of(struct bench *b)
{
    struct spn_recorder *r;
    const struct spn_recorder_options opt = { .component = "tester" };
    assert_int_equal(spn_recorder_new(b->client, &opt, &r, NULL), 0);
    return r;
}

static void a_recorder_has_several_voices(void **state)
{
    struct bench *b = *state;
    struct spn_recorder *r = recorder_of(b), *other = spn_recorder_as(r, "other");
    create(b, config_maps, "x", NULL);
    spn_event(other, get(b, config_maps, "x"), SPN_NORMAL, "Voiced", "by another");
    assert_true(spn_recorder_flush(r, PATIENCE_MS));
    const struct spn_value *one = spn_value_at(events_of(b, "Voiced"), 0);
    assert_text(spn_value_text(spn_value_get(one, "reportingComponent")), "other");
    assert_text(spn_value_text(spn_value_dig(one, "source", "component")), "other");
    spn_recorder_free(r);
}

static void equal_events_are_counted(void **state)
{
    struct bench *b = *state;
    struct spn_recorder *r = recorder_of(b);
    create(b, config_maps, "x", NULL);
    const struct spn_value *obj = get(b, config_maps, "x");
    for (int i = 0; i < 3; i++)
        spn_event(r, obj, SPN_WARNING, "Same", "it is %s", "broken");
    assert_true(spn_recorder_flush(r, PATIENCE_MS));
    const struct spn_value *all = events_of(b, "Same"), *one = spn_value_at(all, 0);
    int64_t n = 0;
    assert_int_equal(spn_value_count(all), 1);
    assert_true(spn_value_int(spn_value_get(one, "count"), &n));
    assert_int_equal(n, 3);
    assert_text(spn_value_text(spn_value_get(one, "message")), "it is broken");
    assert_text(spn_value_text(spn_value_get(one, "type")), "Warning");
    assert_text(spn_value_text(spn_value_get(one, "reportingComponent")), "tester");
    assert_text(spn_value_text(spn_value_dig(one, "source", "component")), "tester");
    assert_text(spn_value_text(spn_value_dig(one, "involvedObject", "kind")), "ConfigMap");
    assert_true(spn_text_eq(spn_value_text(spn_value_dig(one, "involvedObject", "uid")),
                            spn_value_text(spn_value_dig(obj, "metadata", "uid"))));
    spn_recorder_free(r);
}

static void similar_events_are_combined(void **state)
{
    struct bench *b = *state;
    struct spn_recorder *r = recorder_of(b);
    create(b, config_maps, "x", NULL);
    const struct spn_value *obj = get(b, config_maps, "x");
    for (int i = 0; i < 14; i++)
        spn_event(r, obj, SPN_NORMAL, "Similar", "number %d", i);
    assert_true(spn_recorder_flush(r, PATIENCE_MS));
    const struct spn_value *all = events_of(b, "Similar");
    size_t combined = 0;
    assert_int_equal(spn_value_count(all), 10);
    for (size_t i = 0; i < 10; i++) {
        const struct spn_value *one = spn_value_at(all, i);
        struct spn_text message = spn_value_text(spn_value_get(one, "message"));
        int64_t n = 0;
        if (message.p[0] != '(')
            continue;
        combined++;
        assert_text(message, "(combined from similar events): number 13");
        assert_true(spn_value_int(spn_value_get(one, "count"), &n));
        assert_int_equal(n, 5);
    }
    assert_int_equal(combined, 1);
    spn_recorder_free(r);
}

static void too_many_events_are_filtered(void **state)
{
    struct bench *b = *state;
    struct spn_recorder *r = recorder_of(b);
    struct spn_recorder_stats s;
    create(b, config_maps, "x", NULL);
    const struct spn_value *obj = get(b, config_maps, "x");
    for (int i = 0; i < 60; i++)
        spn_event(r, obj, SPN_NORMAL, spn_arena_printf(b->arena, "Reason%d", i).p, "spam");
    assert_true(spn_recorder_flush(r, PATIENCE_MS));
    spn_recorder_stats(r, &s);
    assert_int_equal(s.written, 25);
    assert_int_equal(s.filtered, 35);
    spn_recorder_free(r);
}

static void a_deleted_event_is_made_anew(void **state)
{
    struct bench *b = *state;
    struct spn_recorder *r = recorder_of(b);
    struct spn_target all = at(events, "");
    struct spn_value *node =
        object(b->arena, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}");
    int64_t n = 0;
    spn_event(r, node, SPN_NORMAL, "Old", "of a cluster's object, so in default");
    assert_true(spn_recorder_flush(r, PATIENCE_MS));
    assert_int_equal(spn_value_count(events_of(b, "Old")), 1);
    assert_int_equal(spn_client_delete_all(b->client, &all, NULL, NULL, NULL, b->arena, NULL), 0);
    spn_event(r, node, SPN_NORMAL, "Old", "of a cluster's object, so in default");
    assert_true(spn_recorder_flush(r, PATIENCE_MS));
    const struct spn_value *again = events_of(b, "Old");
    assert_int_equal(spn_value_count(again), 1);
    assert_true(spn_value_int(spn_value_get(spn_value_at(again, 0), "count"), &n));
    assert_int_equal(n, 2);
    spn_recorder_free(r);
}

static void a_full_queue_drops(void **state)
{
    struct bench *b = *state;
    struct spn_recorder *r;
    struct spn_recorder_stats s;
    struct spn_client *nowhere = client_to("http://127.0.0.1:1");
    const struct spn_recorder_options opt = { .component = "tester", .max_queued = 5 };
    assert_int_equal(spn_recorder_new(nowhere, &opt, &r, NULL), 0);
    struct spn_value *obj =
        object(b->arena, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}");
    for (int i = 0; i < 20; i++)
        spn_event(r, obj, SPN_NORMAL, "Lost", "lost %d", i);
    spn_recorder_stats(r, &s);
    assert_true(s.dropped >= 14 && s.queued <= 5);
    assert_false(spn_recorder_flush(r, 1));
    spn_recorder_free(r);
    spn_client_free(nowhere);
}

/* ---- Finalizers ---- */

static int clean_up(void *arg, struct spn_work *w, struct spn_err *err)
{
    atomic_uint *cleaned = arg;
    struct spn_value *obj = spn_work_object(w);
    if (!obj)
        return spn_done();
    if (!spn_value_dig(obj, "metadata", "deletionTimestamp")) {
        return spn_finalizer_add(w->client, &w->at, obj, "test.io/clean", &w->how, w->arena, err);
    }
    if (!spn_finalizer_has(obj, "test.io/clean"))
        return spn_done();
    (*cleaned)++;
    return spn_finalizer_remove(w->client, &w->at, obj, "test.io/clean", &w->how, w->arena, err);
}

static void finalizers_hold_an_object(void **state)
{
    struct bench *b = *state;
    struct running run;
    atomic_uint cleaned = 0;
    struct spn_manager *m = manager_of(b);
    spn_manager_add(m, &(struct spn_controller_options){ .name = "cleaner",
                                                         .what = config_maps,
                                                         .fields = "metadata.name=x",
                                                         .reconcile = clean_up,
                                                         .arg = &cleaned });
    running_start(&run, m);
    create(b, config_maps, "x", NULL);
    wait_for(spn_finalizer_has(get(b, config_maps, "x"), "test.io/clean"));
    delete (b, config_maps, "x");
    wait_for(!get(b, config_maps, "x"));
    assert_int_equal(cleaned, 1);
    stop_and_check(b, &run);
}

static struct spn_text version_of(const struct spn_value *obj)
{
    return spn_value_text(spn_value_dig(obj, "metadata", "resourceVersion"));
}

static void finalizers_of_others_stay(void **state)
{
    struct bench *b = *state;
    struct spn_target place = at(config_maps, "x");
    struct spn_err err;
    create(b, config_maps, "x", NULL);
    struct spn_value *old = get(b, config_maps, "x"), *older = spn_value_copy(b->arena, old);
    assert_int_equal(spn_finalizer_add(b->client, &place, old, "test.io/one", NULL, b->arena, &err),
                     0);
    assert_int_equal(spn_finalizer_add(b->client, &place, old, "test.io/one", NULL, b->arena, &err),
                     0);
    assert_true(spn_text_eq(version_of(old), version_of(get(b, config_maps, "x"))));
    /* This one knows nothing of the first. */
    assert_int_equal(
        spn_finalizer_add(b->client, &place, older, "test.io/two", NULL, b->arena, &err), 0);
    assert_int_equal(
        spn_value_count(spn_value_dig(get(b, config_maps, "x"), "metadata", "finalizers")), 2);
    assert_int_equal(
        spn_finalizer_remove(b->client, &place, old, "test.io/one", NULL, b->arena, &err), 0);
    struct spn_value *now = get(b, config_maps, "x");
    assert_true(spn_finalizer_has(now, "test.io/two") && !spn_finalizer_has(now, "test.io/one"));
    delete (b, config_maps, "x");
    assert_int_equal(spn_finalizer_add(b->client, &place, now, "test.io/new", NULL, b->arena, &err),
                     -SPN_INVALID);
    assert_int_equal(
        spn_finalizer_remove(b->client, &place, now, "test.io/two", NULL, b->arena, &err), 0);
    assert_null(get(b, config_maps, "x"));
    assert_int_equal(
        spn_finalizer_remove(b->client, &place, older, "test.io/two", NULL, b->arena, &err), 0);
}

/* ---- Health ---- */

static int ask(struct bench *b, struct spn_client *c, const char *path, struct spn_text *ret)
{
    struct spn_err err = { 0 };
    const struct spn_call how = { .timeout_ms = 2000 };
    if (spn_client_raw(c, "GET", spn_text_of(path), SPN_TEXT(""), SPN_TEXT(""), &how, b->arena, ret,
                       &err) < 0)
        return err.http_status;
    return 200;
}

static bool is_set(void *arg)
{
    return *(atomic_bool *)arg;
}

static void has(struct spn_text text, const char *part)
{
    if (!memmem(text.p, text.n, part, strlen(part)))
        fail_msg("no \"%s\" in \"" SPN_FMT "\"", part, SPN_ARG(text));
}

static void health_is_served(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct results results = { 0 };
    struct spn_text text;
    atomic_bool is_well = false;
    struct spn_election_options e = quick_election;
    struct spn_manager *m = manager_with(&(struct spn_manager_options){
        .client = b->client, .stop = b->stop, .health_address = "127.0.0.1:0", .election = &e });
    spn_manager_add(m, &(struct spn_controller_options){ .name = "tell",
                                                         .what = config_maps,
                                                         .fields = "metadata.name=x",
                                                         .reconcile = fail_thrice,
                                                         .arg = &results });
    spn_manager_check(m, SPN_CHECK_READY, "mine", is_set, &is_well);
    create(b, config_maps, "x", NULL);
    running_start(&run, m);
    wait_for(results.calls == 4);
    struct spn_text address = spn_manager_health_address(m, b->arena);
    struct spn_client *c = client_to(spn_arena_printf(b->arena, "http://%s", address.p).p);
    assert_int_equal(ask(b, c, "/healthz", &text), 200);
    assert_text(text, "ok");
    assert_int_equal(ask(b, c, "/healthz?verbose", &text), 200);
    assert_text(text, "[+]ping ok\n[+]leaderElection ok\nhealthz check passed\n");
    assert_int_equal(ask(b, c, "/readyz", &text), 500);
    assert_int_equal(ask(b, c, "/readyz/informers", &text), 200);
    assert_int_equal(ask(b, c, "/readyz/mine", &text), 500);
    assert_int_equal(ask(b, c, "/readyz?exclude=mine", &text), 200);
    assert_int_equal(ask(b, c, "/readyz/absent", &text), 404);
    is_well = true;
    assert_int_equal(ask(b, c, "/readyz", &text), 200);
    assert_int_equal(ask(b, c, "/elsewhere", &text), 404);
    static const char all_done[] = "workqueue_work_duration_seconds_count{name=\"tell\"} 4\n";
    wait_for(ask(b, c, "/metrics", &text) == 200 &&
             memmem(text.p, text.n, all_done, strlen(all_done)));
    has(text, "controller_runtime_reconcile_total{controller=\"tell\",result=\"success\"} 1\n");
    has(text, "controller_runtime_reconcile_total{controller=\"tell\",result=\"error\"} 3\n");
    has(text,
        "controller_runtime_reconcile_time_seconds_bucket{controller=\"tell\",le=\"+Inf\"} 4\n");
    has(text, "workqueue_depth{name=\"tell\"} 0\n");
    has(text, "workqueue_queue_duration_seconds_bucket{name=\"tell\",le=\"+Inf\"} 4\n");
    has(text, "leader_election_master_status{name=\"lead\"} 1\n");
    has(text, "informer_objects{group=\"\",resource=\"configmaps\",namespace=\"\"} 1\n");
    spn_client_free(c);
    stop_and_check(b, &run);
}

static void others_get_tls(void **state)
{
    struct bench *b = *state;
    struct running run;
    struct spn_text text, address;
    struct spn_client *c;
    struct spn_manager *m = manager_with(&(struct spn_manager_options){
        .client = b->client, .stop = b->stop, .health_address = "0.0.0.0:0" });
    running_start(&run, m);
    wait_for((address = spn_manager_health_address(m, b->arena)).n);
    const char *url = spn_arena_printf(b->arena, "https://127.0.0.1%s", strchr(address.p, ':')).p;
    const struct spn_config cfg = { .server = spn_text_of(url), .insecure = true };
    assert_int_equal(spn_client_new(&cfg, &c, NULL), 0);
    assert_int_equal(ask(b, c, "/readyz", &text), 200);
    assert_text(text, "ok");
    spn_client_free(c);
    stop_and_check(b, &run);
}

static void a_bad_address_is_refused(void **state)
{
    struct bench *b = *state;
    struct spn_err err;
    struct spn_manager *m = manager_with(&(struct spn_manager_options){
        .client = b->client, .stop = b->stop, .health_address = "nowhere" });
    assert_int_equal(spn_manager_run(m, &err), -SPN_UNAVAILABLE);
    assert_non_null(strstr(err.message, "health at nowhere"));
    spn_manager_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        bench_test(owned_children_come_back),
        bench_test(watched_objects_are_mapped),
        bench_test(owners_are_told_apart),
        bench_test(predicates_decide),
        bench_test(predicates_of_the_library),
        bench_test(a_resync_looks_again),
        bench_test(owns_needs_a_kind),
        bench_test(errors_are_tried_again),
        bench_test(it_comes_again_after_a_while),
        bench_test(results_are_what_they_say),
        bench_test(no_key_is_worked_on_twice),
        bench_test(a_stop_lets_work_finish),
        bench_test(a_stop_does_not_wait_for_ever),
        bench_test(a_stop_before_the_start),
        bench_test(it_survives_a_bad_connection),
        bench_test(leadership_is_handed_over),
        bench_test(who_loses_the_lease_ends),
        bench_test(a_leader_without_a_server_ends),
        bench_test(a_dead_leader_is_replaced),
        bench_test(durations_must_fit),
        bench_test(a_recorder_has_several_voices),
        bench_test(equal_events_are_counted),
        bench_test(similar_events_are_combined),
        bench_test(too_many_events_are_filtered),
        bench_test(a_deleted_event_is_made_anew),
        bench_test(a_full_queue_drops),
        bench_test(finalizers_hold_an_object),
        bench_test(finalizers_of_others_stay),
        bench_test(health_is_served),
        bench_test(others_get_tls),
        bench_test(a_bad_address_is_refused),
    };
    return cmocka_run_group_tests_name("controller", tests, NULL, NULL);
}
