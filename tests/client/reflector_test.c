/* What an informer asks its server for, and what it tells its handlers, when things go as a test
 * says: a server in this process plays scenes, request by request. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <sampan/config.h>
#include <sampan/informer.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "client/suite_client.h"
#include "scripted.h"

enum { STEPS_MAX = 8, NAMES = 4, WAIT_MS = 60000 };

/* ---- Scenes ---- */

/* One request, as describe() has it, and the answer. */
struct step {
    const char *want;
    int status;
    const char *body;
};

struct scene {
    struct spn_informer_options opt;
    struct step steps[STEPS_MAX]; /* the last one is met with silence */
    const char *told; /* to the handlers of each object: how fast they are decides about the rest */
};

struct stage {
    const struct scene *scene;
    pthread_mutex_t lock; /* of what follows */
    size_t at;
    struct buf wrong;
    struct buf told[NAMES]; /* of the objects a, b, ... */
};

#define LIST(version, more, ...)                                                           \
    "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":" \
    "\"" version "\"" more "},\"items\":[" __VA_ARGS__ "]}"
#define OBJECT(name, version)                                                      \
    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name \
    "\",\"namespace\":\"n\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(version, more)                                                      \
    EVENT("BOOKMARK", "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{" \
                      "\"resourceVersion\":\"" version "\"" more "}}")
#define INITIAL_END ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"
#define TOO_OLD                                                                                \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"too old " \
    "resource version\",\"reason\":\"Expired\",\"code\":410}"
#define REFUSED(reason, code)                                                               \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no\"," \
    "\"reason\":\"" reason "\",\"code\":" code "}"

/* "watch from=7", "stream", "list rv=0 limit=500": the parts of a query that matter. */
static void describe(struct buf *out, const struct http_request *req)
{
    struct str query = req->query;
    bool is_watch = false, is_stream = false;
    autobuf more = { 0 };
    while (query.p) {
        struct str value = str_cut(&query, '&'), key = str_cut(&value, '=');
        is_watch |= str_eq(key, STR("watch"));
        is_stream |= str_eq(key, STR("sendInitialEvents"));
        if (str_eq(key, STR("resourceVersion")))
            buf_printf(&more, " rv=" STR_FMT, STR_ARG(value));
        if (str_eq(key, STR("continue")) || str_eq(key, STR("limit")) ||
            str_eq(key, STR("labelSelector")) || str_eq(key, STR("fieldSelector")))
            buf_printf(&more, " " STR_FMT "=" STR_FMT, STR_ARG(key), STR_ARG(value));
    }
    buf_printf(out, "%s " STR_FMT STR_FMT,
               is_stream  ? "stream"
               : is_watch ? "watch"
                          : "list",
               STR_ARG(req->path), STR_ARG(buf_str(&more)));
}

static size_t steps_of(const struct scene *scene)
{
    size_t n = 0;
    while (n < STEPS_MAX && scene->steps[n].want)
        n++;
    return n;
}

/* The last one has no answer, so it may come again. */
static const struct step *next_step(struct stage *s)
{
    size_t n = steps_of(s->scene);
    return &s->scene->steps[s->at < n ? s->at++ : n - 1];
}

static struct scripted_answer play(void *arg, const struct http_request *req, struct arena *a)
{
    struct stage *s = arg;
    struct scripted_answer answer = { .status = SCRIPTED_SILENCE };
    autobuf got = { 0 };
    (void)a;
    describe(&got, req);
    (void)pthread_mutex_lock(&s->lock);
    const struct step *step = next_step(s);
    if (!str_eq(buf_str(&got), str_of(step->want)))
        buf_printf(&s->wrong, "request \"" STR_FMT "\" instead of \"%s\"\n", STR_ARG(buf_str(&got)),
                   step->want);
    else if (step->body)
        answer = scripted_json(step->status, step->body);
    else
        answer.status = step->status;
    (void)pthread_mutex_unlock(&s->lock);
    return answer;
}

/* ---- What is told ---- */

static void note(struct stage *s, const char *what, const struct spn_object *o, const char *more)
{
    size_t name = (size_t)(spn_object_name(o).p[0] - 'a');
    assert_in_range(name, 0, NAMES - 1);
    (void)pthread_mutex_lock(&s->lock);
    struct buf *told = &s->told[name];
    buf_printf(told, "%s%s " SPN_FMT "@" SPN_FMT "%s", told->n ? ", " : "", what,
               SPN_ARG(spn_object_name(o)), SPN_ARG(spn_object_version(o)), more);
    (void)pthread_mutex_unlock(&s->lock);
}

/* "add a@5, delete a@6; add b@7" */
static void put_told(struct stage *s, struct buf *out)
{
    for (size_t i = 0; i < NAMES; i++)
        if (s->told[i].n)
            buf_printf(out, "%s" STR_FMT, out->n ? "; " : "", STR_ARG(buf_str(&s->told[i])));
}

static bool is_told(struct stage *s)
{
    autobuf told = { 0 };
    put_told(s, &told);
    return str_eq(buf_str(&told), str_of(s->scene->told));
}

static void on_add(void *arg, const struct spn_object *o, bool is_initial)
{
    note(arg, "add", o, is_initial ? " initial" : "");
}

static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)old_o;
    note(arg, "update", new_o, "");
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    note(arg, "delete", o, is_last_known ? " last known" : "");
}

/* ---- Playing ---- */

static bool is_over(struct stage *s)
{
    (void)pthread_mutex_lock(&s->lock);
    bool yes = s->wrong.n || (s->at >= steps_of(s->scene) && is_told(s));
    (void)pthread_mutex_unlock(&s->lock);
    return yes;
}

static void check_stage(struct stage *s, const struct spn_informer_stats *stats)
{
    autobuf told = { 0 };
    put_told(s, &told);
    if (s->wrong.n || !is_told(s))
        fail_msg(STR_FMT "told: " STR_FMT "\nwant: %s\nlast error: %s", STR_ARG(buf_str(&s->wrong)),
                 STR_ARG(buf_str(&told)), s->scene->told, stats->last_error);
    assert_int_equal(s->at, steps_of(s->scene));
    buf_done(&s->wrong);
    for (size_t i = 0; i < NAMES; i++)
        buf_done(&s->told[i]);
    (void)pthread_mutex_destroy(&s->lock);
}

static struct spn_informer_stats play_scene(const struct scene *scene)
{
    struct stage stage = { .scene = scene, .lock = PTHREAD_MUTEX_INITIALIZER };
    struct scripted *server = scripted_start(play, &stage);
    struct spn_client *c;
    const struct spn_config cfg = { .server = spn_text_of(scripted_url(server)), .qps = -1 };
    assert_int_equal(spn_client_new(&cfg, &c, NULL), 0);
    struct spn_informer_options opt = scene->opt;
    opt.max_pause_ms = opt.max_pause_ms ? opt.max_pause_ms : 1;
    struct spn_informer *i = spn_informer_new(c, &opt);
    const struct spn_handler h = { &stage, on_add, on_update, on_delete };
    spn_informer_handle(i, &h);
    assert_int_equal(spn_informer_start(i, NULL), 0);
    for (int k = 0; k < WAIT_MS && !is_over(&stage); k++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    struct spn_informer_stats stats;
    spn_informer_stats(i, &stats);
    spn_informer_free(i);
    spn_client_free(c);
    scripted_stop(server);
    check_stage(&stage, &stats);
    return stats;
}

#define ALL "/api/v1/configmaps"
#define CONFIG_MAPS                                            \
    {                                                          \
        .version = { "v1", 2 }, .plural = { "configmaps", 10 } \
    }

/* ---- Where a watch goes on ---- */

static void a_watch_goes_on_from_the_bookmark(void **state)
{
    (void)state;
    static const struct scene scene = {
        .opt = { .what = CONFIG_MAPS, .no_stream = true },
        .steps = { { "list " ALL " limit=500 rv=0", 200, LIST("7", "", OBJECT("a", "5")) },
                   { "watch " ALL " rv=7", 200,
                     EVENT("ADDED", OBJECT("b", "8")) BOOKMARK("20", "") },
                   { "watch " ALL " rv=20", 200, EVENT("MODIFIED", OBJECT("b", "21")) },
                   { "watch " ALL " rv=21", SCRIPTED_CUT, NULL }, /* the server is restarted */
                   { "watch " ALL " rv=21", 503, REFUSED("ServiceUnavailable", "503") },
                   { "watch " ALL " rv=21", 200, EVENT("DELETED", OBJECT("a", "30")) },
                   { "watch " ALL " rv=30", SCRIPTED_SILENCE, NULL } },
        .told = "add a@5 initial, delete a@30; add b@8, update b@21",
    };
    struct spn_informer_stats stats = play_scene(&scene);
    assert_int_equal(stats.lists, 1);
    assert_int_equal(stats.events, 3);
    assert_string_equal(stats.resource_version, "30");
}

/* What vanished meanwhile is told with its last state. */
static void too_old_is_listed_anew(void **state)
{
    (void)state;
    static const struct scene scenes[] = {
        { .opt = { .what = CONFIG_MAPS, .no_stream = true },
          .steps = { { "list " ALL " limit=500 rv=0", 200,
                       LIST("7", "", OBJECT("a", "5") "," OBJECT("b", "6")) },
                     { "watch " ALL " rv=7", 410, TOO_OLD },
                     { "list " ALL " limit=500", 200,
                       LIST("40", "", OBJECT("b", "33") "," OBJECT("c", "34")) },
                     { "watch " ALL " rv=40", SCRIPTED_SILENCE, NULL } },
          .told =
              "add a@5 initial, delete a@5 last known; add b@6 initial, update b@33; add c@34" },
        { .opt = { .what = CONFIG_MAPS },
          .steps = { { "stream " ALL, 200,
                       EVENT("ADDED", OBJECT("a", "5")) BOOKMARK("7", INITIAL_END)
                           EVENT("MODIFIED", OBJECT("a", "8")) EVENT("ERROR", TOO_OLD) },
                     { "stream " ALL, 200, BOOKMARK("40", INITIAL_END) },
                     { "watch " ALL " rv=40", SCRIPTED_SILENCE, NULL } },
          .told = "add a@5 initial, update a@8, delete a@8 last known" },
    };
    for (size_t i = 0; i < ARRAY_LEN(scenes); i++)
        assert_int_equal(play_scene(&scenes[i]).lists, 2);
}

/* ---- The first list ---- */

static void a_server_without_streams_is_listed(void **state)
{
    (void)state;
    static const struct scene scene = {
        .opt = { .what = CONFIG_MAPS },
        .steps = { { "stream " ALL, 422, REFUSED("Invalid", "422") },
                   { "list " ALL " limit=500 rv=0", 200, LIST("7", "", OBJECT("a", "5")) },
                   { "watch " ALL " rv=7", 410, TOO_OLD },
                   { "list " ALL " limit=500", 200, LIST("9", "", OBJECT("a", "5")) },
                   { "watch " ALL " rv=9", SCRIPTED_SILENCE, NULL } },
        .told = "add a@5 initial, update a@5",
    };
    (void)play_scene(&scene); /* it is not asked for a stream again */
}

/* A stream that breaks off leaves nothing behind that is not there. */
static void a_stream_that_breaks_off(void **state)
{
    (void)state;
    static const struct scene scene = {
        .opt = { .what = CONFIG_MAPS },
        .steps = { { "stream " ALL, 200, EVENT("ADDED", OBJECT("a", "5")) },
                   { "stream " ALL, 200,
                     EVENT("ADDED", OBJECT("b", "6")) BOOKMARK("7", INITIAL_END) },
                   { "watch " ALL " rv=7", SCRIPTED_SILENCE, NULL } },
        .told = "add b@6 initial",
    };
    assert_int_equal(play_scene(&scene).lists, 2);
}

static void lists_come_in_pages(void **state)
{
    (void)state;
    static const struct scene scene = {
        .opt = { .what = CONFIG_MAPS, .no_stream = true, .page = 2 },
        .steps = { { "list " ALL " limit=2 rv=0", 200,
                     LIST("7", ",\"continue\":\"x/y\"", OBJECT("a", "1") "," OBJECT("b", "2")) },
                   { "list " ALL " continue=x%2Fy limit=2", 410, TOO_OLD },
                   { "list " ALL " limit=2", 200,
                     LIST("9", ",\"continue\":\"z\"", OBJECT("b", "2") "," OBJECT("c", "3")) },
                   { "list " ALL " continue=z limit=2", 200, LIST("9", "", OBJECT("d", "4")) },
                   { "watch " ALL " rv=9", SCRIPTED_SILENCE, NULL } },
        .told = "add b@2 initial; add c@3 initial; add d@4 initial",
    };
    (void)play_scene(&scene);
}

static void filters(void **state)
{
    (void)state;
    static const struct scene scenes[] = {
        { .opt = { .what = { .group = { "apps", 4 },
                             .version = { "v1", 2 },
                             .plural = { "deployments", 11 },
                             .ns = { "shop", 4 } },
                   .labels = "app=web",
                   .fields = "metadata.name!=x",
                   .no_stream = true },
          .steps = { { "list /apis/apps/v1/namespaces/shop/deployments labelSelector=app%3Dweb "
                       "fieldSelector=metadata.name%21%3Dx limit=500 rv=0",
                       200, LIST("7", "", OBJECT("a", "5")) },
                     { "watch /apis/apps/v1/namespaces/shop/deployments labelSelector=app%3Dweb "
                       "fieldSelector=metadata.name%21%3Dx rv=7",
                       SCRIPTED_SILENCE, NULL } },
          .told = "add a@5 initial" },
        { .opt = { .what = { .version = { "v1", 2 },
                             .plural = { "configmaps", 10 },
                             .ns = { "n", 1 },
                             .name = { "a", 1 } } },
          .steps = { { "stream /api/v1/namespaces/n/configmaps fieldSelector=metadata.name%3Da",
                       200, EVENT("ADDED", OBJECT("a", "5")) BOOKMARK("7", INITIAL_END) },
                     { "watch /api/v1/namespaces/n/configmaps fieldSelector=metadata.name%3Da rv=7",
                       SCRIPTED_SILENCE, NULL } },
          .told = "add a@5 initial" },
    };
    for (size_t i = 0; i < ARRAY_LEN(scenes); i++)
        (void)play_scene(&scenes[i]);
}

/* ---- Errors ---- */

/* It waits between attempts, and longer if the server asks for it. A slow machine only takes
 * longer. */
static void pauses_after_errors(void **state)
{
    (void)state;
    enum { PAUSE_MS = 30 };
    static const struct scene scene = {
        .opt = { .what = CONFIG_MAPS, .no_stream = true, .max_pause_ms = PAUSE_MS },
        .steps = { { "list " ALL " limit=500 rv=0", 403, REFUSED("Forbidden", "403") },
                   { "list " ALL " limit=500 rv=0", 500, "no JSON at all" },
                   { "list " ALL " limit=500 rv=0", 404, REFUSED("NotFound", "404") },
                   { "list " ALL " limit=500 rv=0", 200, LIST("7", "", OBJECT("a", "5")) },
                   { "watch " ALL " rv=7", SCRIPTED_SILENCE, NULL } },
        .told = "add a@5 initial",
    };
    int64_t began = clock_mono_ns(&clock_system);
    struct spn_informer_stats stats = play_scene(&scene);
    assert_true(clock_mono_ns(&clock_system) - began >= 3 * PAUSE_MS * NS_PER_MS);
    assert_int_equal(stats.errors, 3);
}

/* An event that cannot be read, or an object without a name, is no reason to go on without it. */
static void nonsense_is_listed_anew(void **state)
{
    (void)state;
    static const struct scene scene = {
        .opt = { .what = CONFIG_MAPS, .no_stream = true },
        .steps = { { "list " ALL " limit=500 rv=0", 200, LIST("7", "", OBJECT("a", "5")) },
                   { "watch " ALL " rv=7", 200, "{\"type\":\"ADDED\",\"object\":{}}\n" },
                   { "list " ALL " limit=500", 200, LIST("8", "", OBJECT("a", "5")) },
                   { "watch " ALL " rv=8", 200, "{\"type\":\"ADDED\",\n" },
                   { "list " ALL " limit=500", 200, LIST("9", "", OBJECT("a", "9")) },
                   { "watch " ALL " rv=9", SCRIPTED_SILENCE, NULL } },
        .told = "add a@5 initial, update a@5, update a@9",
    };
    assert_int_equal(play_scene(&scene).errors, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_goes_on_from_the_bookmark),
        cmocka_unit_test(too_old_is_listed_anew),
        cmocka_unit_test(a_server_without_streams_is_listed),
        cmocka_unit_test(a_stream_that_breaks_off),
        cmocka_unit_test(lists_come_in_pages),
        cmocka_unit_test(filters),
        cmocka_unit_test(pauses_after_errors),
        cmocka_unit_test(nonsense_is_listed_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
