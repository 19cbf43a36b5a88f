/* Every verb of the client against a server in this process, and attempts, deadlines and
 * credentials against one that is scripted. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <sampan/client.h>
#include <sampan/config.h>

#include "../server/live.h"
#include "base/idiom.h"
#include "client/suite_client.h"
#include "client/suite_folder.h"
#include "scripted.h"

static struct spn_client *client; /* to the live server */
static struct spn_err err;

static struct spn_client *client_by(const struct spn_config *cfg)
{
    struct spn_client *c;
    if (spn_client_new(cfg, &c, &err) < 0)
        fail_msg("%s", err.message);
    return c;
}

static int setup(void **state)
{
    (void)live_setup(state);
    live_populate(&live);
    const char *url = live_path("http://" STR_FMT, STR_ARG(live.address));
    client = client_by(&(struct spn_config){ .server = spn_text_of(url),
                                             .user_agent = SPN_TEXT("tester/1.0 (c)") });
    *state = spn_arena_new();
    return 0;
}

static int teardown(void **state)
{
    client = spn_client_free(client);
    *state = spn_arena_free(*state);
    return live_teardown(state);
}

static struct spn_value *tree(struct spn_arena *a, const char *json)
{
    struct spn_value *v;
    if (spn_value_read_json(a, spn_text_of(json), &v, &err) < 0)
        fail_msg("%s", err.message);
    return v;
}

#define must(call)                                                     \
    do {                                                               \
        if ((call) < 0)                                                \
            fail_msg("line %d: %s: %s", __LINE__, #call, err.message); \
    } while (0)

static struct spn_target config_map(const char *name)
{
    struct spn_target at = SPN_AT("", "v1", "configmaps", "default", "");
    at.name = spn_text_of(name);
    return at;
}

static struct spn_value *get(struct spn_arena *a, struct spn_target at)
{
    struct spn_value *v;
    must(spn_client_get(client, &at, NULL, a, &v, &err));
    return v;
}

static void create_map(struct spn_arena *a, const char *name, const char *app)
{
    struct spn_target at = config_map("");
    struct spn_text json = spn_arena_printf(
        a, "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"%s\"}},\"data\":{\"a\":\"1\"}}",
        name, app);
    must(spn_client_create(client, &at, tree(a, json.p), NULL, a, NULL, &err));
}

#define DEPLOYMENT                                                                             \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\"},"     \
    "\"spec\":{\"replicas\":2,\"selector\":{\"matchLabels\":{\"app\":\"web\"}},\"template\":{" \
    "\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"name\":\"c\","   \
    "\"image\":\"nginx\"}]}}}}"

static const struct spn_target web = { .group = { "apps", 4 },
                                       .version = { "v1", 2 },
                                       .plural = { "deployments", 11 },
                                       .ns = { "default", 7 },
                                       .name = { "web", 3 } };

static int64_t number(const struct spn_value *v)
{
    int64_t n = -1;
    assert_true(spn_value_int(v, &n));
    return n;
}

/* ---- Verbs ---- */

static void write_and_read(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("one");
    struct spn_value *v;
    must(spn_client_create(client, &at,
                           tree(a, "{\"metadata\":{\"name\":\"one\"},\"data\":{\"a\":\"1\"}}"),
                           NULL, a, &v, &err));
    assert_text(spn_value_text(spn_value_dig(v, "data", "a")), "1");
    assert_int_equal(spn_client_create(client, &at, tree(a, "{\"metadata\":{\"name\":\"one\"}}"),
                                       NULL, a, NULL, &err),
                     -SPN_EXISTS);
    assert_string_equal(err.reason, "AlreadyExists");
    assert_int_equal(err.http_status, 409);
    spn_value_set_text(a, spn_value_edit(a, v, "data"), "a", SPN_TEXT("2"));
    struct spn_value *updated;
    must(spn_client_update(client, &at, v, NULL, a, &updated, &err));
    assert_text(spn_value_text(spn_value_dig(get(a, at), "data", "a")), "2");
    assert_int_equal(spn_client_update(client, &at, v, NULL, a, NULL, &err), -SPN_CONFLICT);
    /* The manager is what stands before the slash in the client's name. */
    const struct spn_value *managers = spn_value_dig(updated, "metadata", "managedFields");
    assert_text(spn_value_text(spn_value_get(spn_value_at(managers, 0), "manager")), "tester");
    must(spn_client_delete(client, &at, NULL, NULL, a, &v, &err));
    assert_int_equal(spn_client_get(client, &at, NULL, a, &v, &err), -SPN_NOT_FOUND);
    assert_text(spn_value_text(spn_value_dig(err.status, "details", "kind")), "configmaps");
}

static void patches(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("p");
    struct spn_value *v;
    create_map(a, "p", "x");
    must(spn_client_patch(client, &at, SPN_JSON_PATCH,
                          SPN_TEXT("[{\"op\":\"add\",\"path\":\"/data/b\",\"value\":\"2\"}]"), NULL,
                          a, &v, &err));
    assert_text(spn_value_text(spn_value_dig(v, "data", "b")), "2");
    must(spn_client_patch(client, &at, SPN_MERGE_PATCH, SPN_TEXT("{\"data\":{\"a\":null}}"), NULL,
                          a, &v, &err));
    assert_null(spn_value_dig(v, "data", "a"));
    must(spn_client_create(client, &web, tree(a, DEPLOYMENT), NULL, a, NULL, &err));
    must(spn_client_patch(
        client, &web, SPN_STRATEGIC_PATCH,
        SPN_TEXT("{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"d\","
                 "\"image\":\"redis\"}]}}}}"),
        NULL, a, &v, &err));
    assert_int_equal(spn_value_count(spn_value_dig(v, "spec", "template", "spec", "containers")),
                     2);
    assert_int_equal(spn_client_patch(client, &at, SPN_JSON_PATCH,
                                      SPN_TEXT("[{\"op\":\"remove\",\"path\":\"/none\"}]"), NULL, a,
                                      &v, &err),
                     -SPN_INVALID);
}

static void applying(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("applied");
    const char *first = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                        "\"applied\"},\"data\":{\"a\":\"1\"}}";
    const char *other = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                        "\"applied\"},\"data\":{\"a\":\"2\"}}";
    struct spn_call how = { .manager = "alice" };
    struct spn_value *v;
    must(spn_client_apply(client, &at, tree(a, first), &how, a, &v, &err));
    how.manager = "bob";
    assert_int_equal(spn_client_apply(client, &at, tree(a, other), &how, a, &v, &err),
                     -SPN_CONFLICT);
    const struct spn_value *cause = spn_value_at(spn_value_dig(err.status, "details", "causes"), 0);
    assert_text(spn_value_text(spn_value_get(cause, "field")), ".data.a");
    assert_text(spn_value_text(spn_value_get(cause, "reason")), "FieldManagerConflict");
    how.force = true;
    must(spn_client_apply(client, &at, tree(a, other), &how, a, &v, &err));
    assert_text(spn_value_text(spn_value_dig(v, "data", "a")), "2");
}

static void subresources(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target status = web, scale = web;
    status.sub = SPN_TEXT("status");
    scale.sub = SPN_TEXT("scale");
    struct spn_value *v;
    must(spn_client_create(client, &web, tree(a, DEPLOYMENT), NULL, a, &v, &err));
    struct spn_value *in = spn_value_ensure(a, v, "status");
    spn_value_set_int(a, in, "replicas", 2);
    spn_value_set_int(a, spn_value_edit(a, v, "spec"), "replicas", 9);
    must(spn_client_update(client, &status, v, NULL, a, &v, &err));
    assert_int_equal(number(spn_value_dig(v, "status", "replicas")), 2);
    assert_int_equal(number(spn_value_dig(v, "spec", "replicas")), 2); /* not through the status */
    must(spn_client_get(client, &scale, NULL, a, &v, &err));
    assert_text(spn_value_text(spn_value_get(v, "kind")), "Scale");
    must(spn_client_patch(client, &scale, SPN_MERGE_PATCH, SPN_TEXT("{\"spec\":{\"replicas\":5}}"),
                          NULL, a, NULL, &err));
    assert_int_equal(number(spn_value_dig(get(a, web), "spec", "replicas")), 5);
}

static void dry_run(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("dry");
    const struct spn_call dry = { .dry_run = true };
    struct spn_value *v;
    must(spn_client_create(client, &at, tree(a, "{\"metadata\":{\"name\":\"dry\"}}"), &dry, a, &v,
                           &err));
    assert_text(spn_value_text(spn_value_dig(v, "metadata", "name")), "dry");
    assert_int_equal(spn_client_get(client, &at, NULL, a, &v, &err), -SPN_NOT_FOUND);
    create_map(a, "dry", "x");
    must(spn_client_patch(client, &at, SPN_MERGE_PATCH, SPN_TEXT("{\"data\":{\"a\":\"9\"}}"), &dry,
                          a, NULL, &err));
    must(spn_client_delete(client, &at, NULL, &dry, a, NULL, &err));
    assert_text(spn_value_text(spn_value_dig(get(a, at), "data", "a")), "1");
}

static void unknown_fields(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("");
    const struct spn_call strict = { .validation = "Strict" }, ignore = { .validation = "Ignore" };
    struct spn_value *v = tree(a, "{\"metadata\":{\"name\":\"u\"},\"dat\":{}}");
    assert_int_equal(spn_client_create(client, &at, v, &strict, a, NULL, &err), -SPN_BAD_REQUEST);
    assert_non_null(strstr(err.message, "unknown field \"dat\""));
    must(spn_client_create(client, &at, v, &ignore, a, NULL, &err));
}

static void deleting(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("d");
    create_map(a, "d", "x");
    struct spn_value *v = get(a, at);
    const struct spn_delete other = { .uid = SPN_TEXT("00000000-0000-0000-0000-000000000000") };
    const struct spn_delete older = { .resource_version = SPN_TEXT("1") };
    assert_int_equal(spn_client_delete(client, &at, &other, NULL, a, NULL, &err), -SPN_CONFLICT);
    assert_int_equal(spn_client_delete(client, &at, &older, NULL, a, NULL, &err), -SPN_CONFLICT);
    const struct spn_delete foreground = {
        .propagation = "Foreground",
        .uid = spn_value_text(spn_value_dig(v, "metadata", "uid")),
        .resource_version = spn_value_text(spn_value_dig(v, "metadata", "resourceVersion")),
    };
    must(spn_client_delete(client, &at, &foreground, NULL, a, NULL, &err));
    v = get(a, at); /* it waits for what it owns */
    assert_text(spn_value_text(spn_value_at(spn_value_dig(v, "metadata", "finalizers"), 0)),
                "foregroundDeletion");
    const int64_t now = 0;
    const struct spn_delete nonsense = { .grace_seconds = &now, .propagation = "Sideways" };
    assert_int_equal(spn_client_delete(client, &at, &nonsense, NULL, a, NULL, &err), -SPN_INVALID);
}

static size_t count(struct spn_arena *a, const struct spn_select *which)
{
    struct spn_target at = config_map("");
    struct spn_value *list;
    must(spn_client_list(client, &at, which, NULL, a, &list, &err));
    return spn_value_count(spn_value_get(list, "items"));
}

static void many(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("");
    for (int i = 0; i < 10; i++)
        create_map(a, spn_arena_printf(a, "m%d", i).p, i % 2 ? "odd" : "even");
    const struct spn_select odd = { .labels = "app=odd" }, named = { .fields = "metadata.name=m4" };
    assert_int_equal(count(a, &odd), 5);
    assert_int_equal(count(a, &named), 1);
    const struct spn_call dry = { .dry_run = true };
    must(spn_client_delete_all(client, &at, &odd, NULL, &dry, a, &err));
    assert_int_equal(count(a, &odd), 5);
    must(spn_client_delete_all(client, &at, &odd, NULL, NULL, a, &err));
    assert_int_equal(count(a, &odd), 0);
    assert_int_equal(count(a, &(struct spn_select){ .labels = "app=even" }), 5);
    struct spn_value *v;
    const struct spn_select bad = { .labels = "app in" };
    assert_int_equal(spn_client_list(client, &at, &bad, NULL, a, &v, &err), -SPN_BAD_REQUEST);
}

static void pages(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("");
    for (int i = 0; i < 7; i++)
        create_map(a, spn_arena_printf(a, "p%d", i).p, "paged");
    struct spn_select which = { .labels = "app=paged", .limit = 3 };
    size_t n = 0, n_pages = 0;
    do {
        struct spn_value *page;
        must(spn_client_list(client, &at, &which, NULL, a, &page, &err));
        size_t k = spn_value_count(spn_value_get(page, "items"));
        assert_true(k <= 3);
        n += k;
        n_pages++;
        which.resume = spn_value_text(spn_value_dig(page, "metadata", "continue"));
    } while (which.resume.n);
    assert_int_equal(n, 7);
    assert_int_equal(n_pages, 3);
    which.resume = SPN_TEXT("nonsense");
    struct spn_value *page;
    assert_int_equal(spn_client_list(client, &at, &which, NULL, a, &page, &err), -SPN_BAD_REQUEST);
}

static void metadata_only(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("m");
    const struct spn_call how = { .metadata_only = true };
    struct spn_value *v;
    create_map(a, "m", "x");
    must(spn_client_get(client, &at, &how, a, &v, &err));
    assert_text(spn_value_text(spn_value_get(v, "kind")), "PartialObjectMetadata");
    assert_null(spn_value_get(v, "data"));
    at.name = SPN_TEXT("");
    must(spn_client_list(client, &at, NULL, &how, a, &v, &err));
    assert_text(spn_value_text(spn_value_get(v, "kind")), "PartialObjectMetadataList");
    assert_null(spn_value_get(spn_value_at(spn_value_get(v, "items"), 0), "data"));
}

static void raw(void **state)
{
    struct spn_arena *a = *state;
    struct spn_text text;
    must(spn_client_raw(client, "GET", SPN_TEXT("/api/v1/namespaces/default"), SPN_TEXT(""),
                        SPN_TEXT(""), NULL, a, &text, &err));
    struct spn_value *v;
    must(spn_value_read_json(a, text, &v, &err));
    assert_text(spn_value_text(spn_value_get(v, "kind")), "Namespace");
    must(spn_client_raw(client, "POST", SPN_TEXT("/api/v1/namespaces?dryRun=All"),
                        SPN_TEXT("application/yaml"), SPN_TEXT("metadata:\n  name: raw\n"), NULL, a,
                        &text, &err));
    assert_int_equal(spn_client_raw(client, "GET", SPN_TEXT("/none"), SPN_TEXT(""), SPN_TEXT(""),
                                    NULL, a, &text, &err),
                     -SPN_NOT_FOUND);
    assert_int_equal(spn_client_raw(client, "GET", SPN_TEXT("none"), SPN_TEXT(""), SPN_TEXT(""),
                                    NULL, a, &text, &err),
                     -SPN_BAD_REQUEST);
}

static void names_that_lead_astray(void **state)
{
    static const char *const bad[] = { "..", ".", "a/b", "a%2fb" };
    struct spn_arena *a = *state;
    struct spn_value *v;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct spn_target at = config_map(bad[i]);
        assert_int_equal(spn_client_get(client, &at, NULL, a, &v, &err), -SPN_BAD_REQUEST);
        assert_int_equal(err.http_status, 0); /* nothing was sent */
    }
}

/* ---- Watching ---- */

static struct spn_event next(struct spn_arena *a, struct spn_watch *w)
{
    struct spn_event e;
    int r = spn_watch_next(w, 30000, a, &e, &err);
    if (r != 1)
        fail_msg("%d: %s", r, r < 0 ? err.message : "the watch has ended");
    return e;
}

static void watching(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("");
    struct spn_value *list;
    must(spn_client_list(client, &at, NULL, NULL, a, &list, &err));
    const struct spn_watch_options opt = {
        .labels = "app=w",
        .from = spn_value_text(spn_value_dig(list, "metadata", "resourceVersion")),
    };
    struct spn_watch *w;
    must(spn_client_watch(client, &at, &opt, NULL, a, &w, &err));
    struct spn_event e;
    assert_int_equal(spn_watch_next(w, 10, a, &e, &err), -SPN_TIMEOUT); /* nothing yet */
    create_map(a, "other", "x");
    create_map(a, "w", "w");
    assert_int_equal(next(a, w).type, SPN_EVENT_ADDED);
    struct spn_target one = config_map("w");
    must(spn_client_patch(client, &one, SPN_MERGE_PATCH, SPN_TEXT("{\"data\":{\"b\":\"2\"}}"), NULL,
                          a, NULL, &err));
    e = next(a, w);
    assert_int_equal(e.type, SPN_EVENT_MODIFIED);
    assert_text(spn_value_text(spn_value_dig(e.object, "data", "b")), "2");
    must(spn_client_delete(client, &one, NULL, NULL, a, NULL, &err));
    assert_int_equal(next(a, w).type, SPN_EVENT_DELETED);
    spn_watch_free(w);
}

static void bookmarks(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("");
    const struct spn_watch_options opt = {
        .initial_events = true, .bookmarks = true, .metadata_only = true, .timeout_sec = 1
    };
    struct spn_watch *w;
    struct spn_event e;
    create_map(a, "b", "x");
    must(spn_client_watch(client, &at, &opt, NULL, a, &w, &err));
    while ((e = next(a, w)).type == SPN_EVENT_ADDED)
        assert_text(spn_value_text(spn_value_get(e.object, "kind")), "PartialObjectMetadata");
    assert_int_equal(e.type, SPN_EVENT_BOOKMARK);
    assert_text(spn_value_text(spn_value_dig(e.object, "metadata", "annotations",
                                             "k8s.io/initial-events-end")),
                "true");
    int r;
    while ((r = spn_watch_next(w, 60000, a, &e, &err)) == 1)
        assert_int_equal(e.type, SPN_EVENT_BOOKMARK);
    assert_int_equal(r, 0); /* the server has ended it, as it was told */
    spn_watch_free(w);
}

static struct scripted_answer old_watch(void *arg, const struct http_request *req, struct arena *a)
{
    (void)arg;
    (void)req;
    (void)a;
    return scripted_json(
        200, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n"
             "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"message\":\"too old resource "
             "version\",\"reason\":\"Expired\",\"code\":410}}\n");
}

static struct spn_client *client_to(const struct scripted *s)
{
    return client_by(&(struct spn_config){ .server = spn_text_of(scripted_url(s)) });
}

static void expired_in_the_middle(void **state)
{
    struct spn_arena *a = *state;
    struct scripted *server = scripted_start(old_watch, NULL);
    struct spn_client *c = client_to(server);
    struct spn_target at = config_map("");
    struct spn_watch *w;
    struct spn_event e;
    must(spn_client_watch(c, &at, NULL, NULL, a, &w, &err));
    assert_int_equal(next(a, w).type, SPN_EVENT_ADDED);
    assert_int_equal(spn_watch_next(w, -1, a, &e, &err), -SPN_EXPIRED);
    assert_int_equal(err.http_status, 410);
    spn_watch_free(w);
    spn_client_free(c);
    scripted_stop(server);
}

/* ---- Attempts ---- */

struct script {
    _Atomic unsigned asked;
    unsigned bad;   /* so many are answered so */
    int status;     /* or SCRIPTED_CUT, SCRIPTED_SILENCE */
    bool says_when; /* Retry-After: 0 */
    const char *token;
};

static struct scripted_answer by_script(void *arg, const struct http_request *req, struct arena *a)
{
    struct script *s = arg;
    unsigned n = atomic_fetch_add(&s->asked, 1);
    if (s->token) {
        struct str want = arena_printf(a, "Bearer %s", s->token);
        bool knows = str_eq(http_header_get(req, STR("authorization")), want);
        return knows ? scripted_json(200, "{}")
                     : scripted_json(401, "{\"kind\":\"Status\",\"reason\":\"Unauthorized\"}");
    }
    if (n >= s->bad)
        return scripted_json(200, "{\"n\":1}");
    struct scripted_answer answer = scripted_json(s->status, "no");
    if (s->says_when)
        answer.headers[answer.n_headers++] = (struct http_header){ STR("retry-after"), STR("0") };
    return answer;
}

static int call_script(struct spn_arena *a, struct script *s, bool is_write)
{
    struct scripted *server = scripted_start(by_script, s);
    struct spn_client *c = client_to(server);
    struct spn_target at = config_map("x");
    struct spn_value *v;
    int r = is_write ? spn_client_create(c, &at, tree(a, "{}"), NULL, a, NULL, &err)
                     : spn_client_get(c, &at, NULL, a, &v, &err);
    spn_client_free(c);
    scripted_stop(server);
    return r;
}

static void attempts(void **state)
{
    static const struct {
        struct script script;
        bool is_write;
        int want;
        unsigned asked;
    } cases[] = {
        { { .bad = 2, .status = 429, .says_when = true }, false, 0, 3 },
        { { .bad = 2, .status = 429, .says_when = true }, true, 0, 3 },
        { { .bad = 1, .status = 503, .says_when = true }, true, 0, 2 },
        { { .bad = 1, .status = 500, .says_when = true }, false, 0, 2 },
        { { .bad = 1, .status = 500 }, false, -SPN_SERVER_ERROR, 1 },
        { { .bad = 1, .status = 429 }, false, -SPN_TOO_MANY_REQUESTS, 1 },
        { { .bad = 1, .status = 404, .says_when = true }, false, -SPN_NOT_FOUND, 1 },
        { { .bad = 2, .status = SCRIPTED_CUT }, false, 0, 3 },
        { { .bad = 1, .status = SCRIPTED_CUT },
          true,
          -SPN_UNAVAILABLE,
          1 }, /* perhaps it was done */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct script s = cases[i].script;
        int r = call_script(*state, &s, cases[i].is_write);
        if (r != cases[i].want || atomic_load(&s.asked) != cases[i].asked)
            fail_msg("case %zu: %d (%s), asked %u times", i, r, r < 0 ? err.message : "",
                     atomic_load(&s.asked));
    }
}

/* Retry-After that is longer than the call has time for is an answer, not a reason to wait. */
static struct scripted_answer much_later(void *arg, const struct http_request *req, struct arena *a)
{
    (void)req;
    (void)a;
    atomic_fetch_add((_Atomic unsigned *)arg, 1);
    struct scripted_answer answer =
        scripted_json(429, "{\"kind\":\"Status\",\"reason\":\"TooManyRequests\"}");
    answer.headers[answer.n_headers++] = (struct http_header){ STR("retry-after"), STR("3000") };
    return answer;
}

static void later_than_the_deadline(void **state)
{
    struct spn_arena *a = *state;
    _Atomic unsigned asked = 0;
    struct scripted *server = scripted_start(much_later, &asked);
    struct spn_client *c = client_to(server);
    struct spn_target at = config_map("x");
    struct spn_value *v;
    assert_int_equal(spn_client_get(c, &at, NULL, a, &v, &err), -SPN_TOO_MANY_REQUESTS);
    assert_int_equal(err.retry_after_sec, 3000);
    assert_int_equal(atomic_load(&asked), 1);
    spn_client_free(c);
    scripted_stop(server);
}

static void *set_soon(void *stop)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50 * 1000000 }, NULL);
    spn_stop_set(stop);
    return NULL;
}

static void deadline_and_cancellation(void **state)
{
    struct spn_arena *a = *state;
    struct script silent = { .bad = 1000, .status = SCRIPTED_SILENCE };
    struct scripted *server = scripted_start(by_script, &silent);
    struct spn_client *c = client_to(server);
    struct spn_target at = config_map("x");
    struct spn_value *v;
    struct spn_watch *w;
    assert_int_equal(spn_client_get(c, &at, &(struct spn_call){ .timeout_ms = 50 }, a, &v, &err),
                     -SPN_TIMEOUT);
    struct spn_stop *stop = spn_stop_new();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, set_soon, stop), 0);
    assert_int_equal(spn_client_get(c, &at, &(struct spn_call){ .stop = stop }, a, &v, &err),
                     -SPN_CANCELLED);
    (void)pthread_join(thread, NULL);
    unsigned asked = atomic_load(&silent.asked);
    assert_int_equal(spn_client_get(c, &at, &(struct spn_call){ .stop = stop }, a, &v, &err),
                     -SPN_CANCELLED);
    assert_int_equal(spn_client_watch(c, &at, NULL, stop, a, &w, &err), -SPN_CANCELLED);
    assert_int_equal(atomic_load(&silent.asked), asked); /* nothing is sent after a stop */
    spn_stop_free(stop);
    spn_client_free(c);
    scripted_stop(server);
}

static void cancelled_watch(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = config_map("");
    struct spn_stop *stop = spn_stop_new();
    const struct spn_watch_options opt = { .labels = "app=none" };
    struct spn_watch *w;
    struct spn_event e;
    pthread_t thread;
    must(spn_client_watch(client, &at, &opt, stop, a, &w, &err));
    assert_int_equal(pthread_create(&thread, NULL, set_soon, stop), 0);
    assert_int_equal(spn_watch_next(w, -1, a, &e, &err), -SPN_CANCELLED);
    (void)pthread_join(thread, NULL);
    spn_watch_free(w);
    spn_stop_free(stop);
}

static void rate_limit(void **state)
{
    struct spn_arena *a = *state;
    struct script good = { 0 };
    struct scripted *server = scripted_start(by_script, &good);
    struct spn_client *c = client_by(&(struct spn_config){
        .server = spn_text_of(scripted_url(server)), .qps = 0.0001, .burst = 2 });
    struct spn_target at = config_map("x");
    struct spn_value *v;
    must(spn_client_get(c, &at, NULL, a, &v, &err));
    must(spn_client_get(c, &at, NULL, a, &v, &err));
    assert_int_equal(spn_client_get(c, &at, NULL, a, &v, &err), -SPN_TIMEOUT);
    assert_int_equal(atomic_load(&good.asked), 2);
    spn_client_free(c);
    scripted_stop(server);
}

/* A server that forgets a token is asked again with the one that the file has now. */
static void new_credentials(void **state)
{
    struct suite_folder *folder = *state;
    struct spn_arena *a = folder->arena;
    struct script s = { .token = "first" };
    struct scripted *server = scripted_start(by_script, &s);
    const char *path = suite_file(folder, "token", "first\n");
    struct spn_client *c = client_by(&(struct spn_config){
        .server = spn_text_of(scripted_url(server)), .token_file = spn_text_of(path) });
    struct spn_target at = config_map("x");
    struct spn_value *v;
    must(spn_client_get(c, &at, NULL, a, &v, &err));
    assert_int_equal(atomic_load(&s.asked), 1);
    s.token = "second";
    (void)suite_file(folder, "token", "second\n");
    must(spn_client_get(c, &at, NULL, a, &v, &err));
    assert_int_equal(atomic_load(&s.asked), 3);
    s.token = "third"; /* which nobody knows: one more attempt, and then it is an error */
    assert_int_equal(spn_client_get(c, &at, NULL, a, &v, &err), -SPN_UNAUTHORIZED);
    assert_int_equal(atomic_load(&s.asked), 5);
    spn_client_free(c);
    scripted_stop(server);
}

/* "name: value" of all headers that say for whom one speaks, as the body. */
static struct scripted_answer tell_who(void *arg, const struct http_request *req, struct arena *a)
{
    (void)arg;
    autobuf out = { 0 };
    for (size_t i = 0; i < req->n_headers; i++)
        if (str_starts(req->headers[i].name, STR("impersonate-")))
            buf_printf(&out, STR_FMT ": " STR_FMT "\n",
                       STR_ARG(str_skip(req->headers[i].name, strlen("impersonate-"))),
                       STR_ARG(req->headers[i].value));
    return (struct scripted_answer){ .status = 200, .body = arena_str(a, buf_str(&out)) };
}

/* However many groups somebody has, all are named. */
static void for_somebody_else(void **state)
{
    enum { GROUPS = 40 };
    struct spn_arena *a = *state;
    struct scripted *server = scripted_start(tell_who, NULL);
    struct spn_text groups[GROUPS], got;
    const struct spn_text values[] = { SPN_TEXT("a"), SPN_TEXT("b") };
    const struct spn_extra extra[] = { { SPN_TEXT("Example.com/50%"), { values, 2 } } };
    autobuf want = { 0 };
    buf_printf(&want, "user: jane\nuid: 7\n");
    for (int i = 0; i < GROUPS; i++) {
        groups[i] = spn_arena_printf(a, "g%d", i);
        buf_printf(&want, "group: g%d\n", i);
    }
    buf_printf(&want, "extra-example.com%%2f50%%25: a\nextra-example.com%%2f50%%25: b\n");
    struct spn_client *c =
        client_by(&(struct spn_config){ .server = spn_text_of(scripted_url(server)),
                                        .as = { .user = SPN_TEXT("jane"),
                                                .uid = SPN_TEXT("7"),
                                                .groups = { groups, GROUPS },
                                                .extra = extra,
                                                .n_extra = 1 } });
    must(spn_client_raw(c, "GET", SPN_TEXT("/who"), SPN_TEXT(""), SPN_TEXT(""), NULL, a, &got,
                        &err));
    buf_byte(&want, '\0');
    assert_text(got, want.p);
    spn_client_free(c);
    scripted_stop(server);
}

static void nobody_listens(void **state)
{
    struct spn_arena *a = *state;
    struct spn_client *c =
        client_by(&(struct spn_config){ .server = SPN_TEXT("http://127.0.0.1:1") });
    struct spn_target at = config_map("x");
    struct spn_value *v;
    const struct spn_call quick = { .timeout_ms = 200 };
    assert_int_equal(spn_client_get(c, &at, &quick, a, &v, &err), -SPN_UNAVAILABLE);
    assert_int_equal(err.http_status, 0);
    spn_client_free(c);
}

/* ---- Threads ---- */

static void *read_often(void *arg)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_target at = config_map("shared");
    for (int i = 0; i < 30; i++) {
        struct spn_value *v;
        if (spn_client_get(client, &at, NULL, a, &v, NULL) == 0 &&
            spn_text_eq(spn_value_text(spn_value_dig(v, "data", "a")), SPN_TEXT("1")))
            atomic_fetch_add((_Atomic unsigned *)arg, 1);
        spn_arena_reset(a);
    }
    spn_arena_free(a);
    return NULL;
}

static void many_threads(void **state)
{
    pthread_t threads[8];
    _Atomic unsigned good = 0;
    create_map(*state, "shared", "x");
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &good), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        (void)pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&good), 30 * ARRAY_LEN(threads));
}

#define with_server(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_server(write_and_read),
        with_server(patches),
        with_server(applying),
        with_server(subresources),
        with_server(dry_run),
        with_server(unknown_fields),
        with_server(deleting),
        with_server(many),
        with_server(pages),
        with_server(metadata_only),
        with_server(raw),
        with_server(names_that_lead_astray),
        with_server(watching),
        with_server(bookmarks),
        with_server(cancelled_watch),
        with_server(many_threads),
        suite_test(expired_in_the_middle),
        suite_test(attempts),
        suite_test(later_than_the_deadline),
        suite_test(deadline_and_cancellation),
        suite_test(rate_limit),
        suite_folder_test(new_credentials),
        suite_test(for_somebody_else),
        suite_test(nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
