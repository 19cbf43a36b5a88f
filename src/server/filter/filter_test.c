/* The order of the filters: what each needs is there when its turn comes, and whoever refuses a
 * request refuses it after it was counted as what it is. */
#include "server/filter/filter.h"

#include <unistd.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/crypto/pki.h"
#include "server/guard/guard.h"
#include "server/guard/identity.h"
#include "server/http/reply.h"
#include "server/http/suite_server.h"
#include "server/http/tally.h"
#include "server/object/stored.h"

static struct arena arena;
static struct api api;
static struct tls_context *tls;
static struct pki_pair ca, client;
static struct suite_server server;

static void make_certificates(void)
{
    const int64_t now = clock_wall_ns(&clock_system) / NS_PER_SEC;
    static const struct str ips[] = { STR("127.0.0.1") }, crew[] = { STR("crew") };
    const struct pki_leaf own = { .common_name = STR("server"),
                                  .ips = ips,
                                  .n_ips = 1,
                                  .server = true,
                                  .now_sec = now,
                                  .days = 2 },
                          skipper = { .common_name = STR("skipper"),
                                      .uid = STR("u-7"),
                                      .organizations = crew,
                                      .n_organizations = 1,
                                      .client = true,
                                      .now_sec = now,
                                      .days = 2 };
    struct pki_pair pair;
    assert_int_equal(pki_make_ca(&arena, STR("test CA"), now, 2, &ca, NULL), 0);
    assert_int_equal(pki_issue(&arena, &ca, &own, &pair, NULL), 0);
    assert_int_equal(pki_issue(&arena, &ca, &skipper, &client, NULL), 0);
    const struct tls_config config = {
        .cert_pem = pair.cert_pem, .key_pem = pair.key_pem, .ca_pem = ca.cert_pem, .server = true
    };
    assert_int_equal(tls_context_new(&config, &tls, NULL), 0);
}

static void put_object(const char *plural, const char *name, const char *json)
{
    struct err err = ERR_INIT(&arena);
    const struct kind_resource *r =
        kind_stored_named(STR("rbac.authorization.k8s.io"), str_of(plural));
    struct value obj;
    autobuf bytes = { 0 };
    assert_int_equal(json_read(&arena, str_of(json), NULL, &obj, &err), 0);
    stored_write(&bytes, r, &obj);
    struct store_op op = { .type = STORE_PUT,
                           .key = stored_key(&arena, r, STR(""), str_of(name)),
                           .value = buf_str(&bytes),
                           .expect_rev = STORE_ANY };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(api.store, &txn, &err), 0);
}

/* ---- Others who are asked ---- */

/* Knows one token, and is slow. */
static int ask_token(void *self, struct arena *a, struct str token, const struct str *audiences,
                     size_t n_audiences, enum token_patience patience, struct account_user *ret,
                     struct err *err)
{
    static const struct str groups[] = { STR("passengers") };
    (void)self;
    (void)a;
    (void)audiences;
    (void)n_audiences;
    if (patience == TOKEN_AT_ONCE)
        return TOKEN_LATER;
    if (!str_eq(token, STR("ticket")))
        return err_set(err, ERR_UNAUTHORIZED, "no such ticket");
    *ret = (struct account_user){
        .user = { .name = STR("ann"), .uid = STR("u-8"), .groups = groups, .n_groups = 1 }
    };
    return TOKEN_KNOWN;
}

/* Thinks by the verb and the name, and is slow: whoever is asked about `quay` lets go, whoever is
 * asked about `reef` does not, and `fog` keeps it from seeing anything. */
static int ask_pilot(struct guard_hook *h, struct arena *a, const struct access *q,
                     enum guard_patience patience, struct guard_decision *ret)
{
    (void)h;
    if (patience == GUARD_AT_ONCE)
        return GUARD_LATER;
    *ret = (struct guard_decision){ .opinion = ACCESS_NO_OPINION };
    if (patience == GUARD_GIVES_UP || str_eq(q->name, STR("fog")))
        ret->error = STR("the pilot sees <nothing>");
    else if (str_eq(q->name, STR("quay")) || str_eq(q->verb, STR("impersonate")))
        ret->opinion = ACCESS_ALLOWED;
    else if (str_eq(q->name, STR("reef")))
        ret->opinion = ACCESS_DENIED;
    if (ret->opinion != ACCESS_NO_OPINION)
        ret->reason = arena_printf(a, "the pilot knows " STR_FMT, STR_ARG(q->name));
    return 0;
}

static void take_pilot(void)
{
    static struct guard_hook pilot = { .ask = ask_pilot };
    struct guard_chain *chain = guard_chain_new();
    guard_chain_add(chain, GUARD_WEBHOOK, STR("pilot"), &pilot);
    guard_chain_add(chain, GUARD_RBAC, STR("rbac"), NULL);
    guard_set_chain(api.guard, chain);
}

/* The crew may do everything, and everybody may see what is public. */
static void make_guard(void)
{
    const struct store_options memory = { .engine = STORE_MEMORY };
    const struct token_asker asker = { .ask = ask_token };
    const struct identity_options options = { .asker = &asker };
    struct err err = ERR_INIT(&arena);
    assert_int_equal(store_open(&memory, &api.store, &err), 0);
    put_object("clusterroles", "all",
               "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"name\":\"all\"},"
               "\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":["
               "\"*\"],\"resources\":[\"*\"]},{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]}");
    put_object("clusterrolebindings", "crew",
               "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"name\":\"crew\"},"
               "\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":"
               "\"all\"},\"subjects\":[{\"kind\":\"Group\",\"name\":\"crew\"}]}");
    put_object("clusterroles", "public",
               "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"name\":\"public\"},"
               "\"rules\":[{\"verbs\":[\"get\"],"
               "\"nonResourceURLs\":[\"/healthz\",\"/livez\",\"/readyz\",\"/version\"]}]}");
    put_object("clusterrolebindings", "public",
               "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"name\":\"public\"},"
               "\"roleRef\":{\"kind\":\"ClusterRole\","
               "\"name\":\"public\"},\"subjects\":[{\"kind\":\"Group\",\"name\":"
               "\"system:unauthenticated\"}]}");
    api.guard = guard_new(api.store, &(struct guard_modes){ { GUARD_RBAC }, 1 });
    assert_int_equal(guard_load(api.guard, &err), 0);
    assert_int_equal(identity_new(&options, api.store, &clock_system, &api.identity, &err), 0);
}

static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    (void)arg;
    struct filter_request *r = filter_pass(&api, x);
    http_set_note(x, r);
    return r && r->waits ? HTTP_BODY_LATER : HTTP_BODY_COLLECT;
}

/* Says what the filters have found out, and how many requests are being counted. */
static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    const struct filter_request *r = http_note(x);
    autobuf counts = { 0 };
    tally_write(&counts, api.tally);
    struct str about = r->place == REQUEST_FOUND ? r->req.resource->plural : STR("nothing");
    bool is_counted = memmem(counts.p, counts.n, "{request_kind=\"readOnly\"} 1\n", 28);
    reply_text(x, 200,
               arena_printf(http_arena(x), STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT "%s",
                            STR_ARG(about), STR_ARG(r->user->name), STR_ARG(r->user->uid),
                            STR_ARG(r->user->groups[r->user->n_groups - 1]),
                            is_counted ? " counted" : ""));
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    make_certificates();
    api = (struct api){ .clock = &clock_system,
                        .tally = tally_new(1),
                        .n_loops = 1,
                        .token_workers = workers_new(1, 1),
                        .access_workers = workers_new(1, 1) };
    make_guard();
    suite_server_handle(
        &server, &(struct http_handler){ .on_head = on_head, .on_request = on_request }, tls);
    api.loops[0] = server.loop;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    suite_server_stop(&server);
    workers_free(api.token_workers);
    workers_free(api.access_workers);
    suite_server_free(&server);
    tally_free(api.tally);
    guard_free(api.guard);
    identity_free(api.identity);
    store_close(api.store);
    tls_context_unref(tls);
    arena_done(&arena);
    return 0;
}

/* The status and the answer; `cert`: as the skipper. */
static const char *ask(bool cert, const char *method, const char *path, int want)
{
    struct fetcher_options options = { .ca_pem = ca.cert_pem };
    if (cert) {
        options.cert_pem = client.cert_pem;
        options.key_pem = client.key_pem;
    }
    struct fetcher *f = fetcher_new(&options);
    struct fetch_reply reply = suite_server_ask(&server, f, method, path);
    fetcher_free(f);
    if (reply.status != want)
        fail_msg("%s %s: %d", method, path, reply.status);
    return str_cstr(&server.arena, reply.body);
}

static void what_gets_through_is_known_and_counted(void **state)
{
    static const struct {
        bool cert;
        const char *path, *want;
    } cases[] = {
        { true, "/api/v1/pods", "pods skipper u-7 system:authenticated counted" },
        { true, "/nowhere", "nothing skipper u-7 system:authenticated counted" },
        { false, "/livez", "nothing system:anonymous  system:unauthenticated counted" },
        { false, "/readyz", "nothing system:anonymous  system:unauthenticated counted" },
        { false, "/version", "nothing system:anonymous  system:unauthenticated counted" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(ask(cases[i].cert, "GET", cases[i].path, 200), cases[i].want);
}

static void others_are_refused_in_words(void **state)
{
    static const struct {
        const char *method, *path, *words;
    } cases[] = {
        { "GET", "/api/v1/pods", "cannot list resource \\\"pods\\\" in API group" },
        { "DELETE", "/api/v1/nodes/n", "cannot delete resource \\\"nodes\\\" in API group" },
        { "GET", "/healthz/log", "cannot get path \\\"/healthz/log\\\"" },
        /* Only what is named is public. */
        { "GET", "/version/x", "cannot get path \\\"/version/x\\\"" },
        { "GET", "/livezz", "cannot get path \\\"/livezz\\\"" },
        { "GET", "/sampan/v1/backup", "forbidden: User \\\"system:anonymous\\\" cannot get path" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *body = ask(false, cases[i].method, cases[i].path, 403);
        if (!strstr(body, cases[i].words))
            fail_msg("%s", body);
    }
}

/* ---- Waiting ---- */

static const char *ask_as(const struct http_header *headers, size_t n, const char *path, int want)
{
    struct fetcher *f = fetcher_new(&(struct fetcher_options){ .ca_pem = ca.cert_pem });
    struct err err = ERR_INIT(&server.arena);
    struct fetch_reply reply;
    const struct fetch_request req = { .method = STR("GET"),
                                       .url = arena_printf(&server.arena, "https://" STR_FMT "%s",
                                                           STR_ARG(server.address), path),
                                       .headers = headers,
                                       .n_headers = n };
    int r = fetch(f, &req, &server.arena, &reply, &err);
    fetcher_free(f);
    assert_int_equal(r, 0);
    const char *body = str_cstr(&server.arena, reply.body);
    if (reply.status != want)
        fail_msg("%s: %d %s", path, reply.status, body);
    return body;
}

static const struct http_header ticket[] = { { STR("authorization"), STR("Bearer ticket") },
                                             { STR("impersonate-user"), STR("bob") },
                                             { STR("impersonate-group"), STR("guests") } },
                                forged[] = { { STR("authorization"), STR("Bearer paper") } };

static void a_token_can_be_waited_for(void **state)
{
    (void)state;
    assert_non_null(strstr(ask_as(ticket, 1, "/api/v1/pods", 403), "User \\\"ann\\\" cannot list"));
    (void)ask_as(forged, 1, "/api/v1/pods", 401);
}

static void a_decision_can_be_waited_for(void **state)
{
    (void)state;
    take_pilot();
    assert_string_equal(ask_as(ticket, 1, "/api/v1/nodes/quay", 200),
                        "nodes ann u-8 system:authenticated counted");
    assert_non_null(strstr(ask_as(ticket, 1, "/api/v1/nodes/reef", 403),
                           "at the cluster scope: the pilot knows reef\""));
    assert_non_null(strstr(ask_as(ticket, 1, "/api/v1/nodes/elsewhere", 403), "scope\""));
    assert_string_equal(
        ask_as(ticket, 1, "/api/v1/nodes/fog?a=b", 500),
        "Internal Server Error: \"/api/v1/nodes/fog?a=b\": the pilot sees &lt;nothing&gt;\n");
    /* The pilot stands before the roles. */
    (void)ask(true, "GET", "/api/v1/nodes/reef", 403);
    assert_string_equal(ask(true, "GET", "/api/v1/nodes/fog", 200),
                        "nodes skipper u-7 system:authenticated counted");
}

/* Each claim is asked about, and waited for, on its own. */
static void an_impersonation_can_be_waited_for(void **state)
{
    (void)state;
    take_pilot();
    assert_string_equal(ask_as(ticket, 3, "/api/v1/nodes/quay", 200),
                        "nodes bob  system:authenticated counted");
    assert_non_null(strstr(ask_as(ticket, 3, "/api/v1/nodes/reef", 403), "User \\\"bob\\\""));
    const struct http_header fog[] = { ticket[0], { STR("impersonate-user"), STR("fog") } };
    assert_non_null(strstr(ask_as(fog, 2, "/api/v1/nodes/quay", 403), "the pilot sees <nothing>"));
}

static void who_finds_nobody_to_ask_goes_on_without(void **state)
{
    (void)state;
    take_pilot();
    struct workers *token_workers = take(&api.token_workers);
    (void)ask_as(ticket, 1, "/api/v1/nodes/quay", 401);
    api.token_workers = token_workers;
    struct workers *access_workers = take(&api.access_workers);
    (void)ask_as(ticket, 1, "/api/v1/nodes/quay", 500);
    (void)ask(true, "GET", "/api/v1/nodes/quay", 200);
    api.access_workers = access_workers;
}

static bool has_line(const struct buf *counts, const char *line)
{
    return counts->n && memmem(counts->p, counts->n, line, strlen(line));
}

/* A refused request is in the numbers, under the resource that it was about. */
static void what_is_refused_is_counted_as_what_it_is(void **state)
{
    static const char line[] =
        "apiserver_request_total{code=\"403\",component=\"apiserver\",dry_run=\"\",group=\"\","
        "resource=\"pods\",scope=\"cluster\",subresource=\"\",verb=\"LIST\",version=\"v1\"} 2\n";
    enum { STEPS = 500 };
    autobuf counts = { 0 };
    (void)state;
    (void)ask(false, "GET", "/api/v1/pods", 403);
    (void)ask(false, "GET", "/api/v1/pods", 403);
    /* It is counted when it is over, a moment after its answer has come. */
    for (int i = 0; i < STEPS && !has_line(&counts, line); i++) {
        (void)usleep(10000);
        buf_reset(&counts);
        tally_write(&counts, api.tally);
    }
    if (!has_line(&counts, line))
        fail_msg(STR_FMT, STR_ARG(buf_str(&counts)));
}

/* Everybody's answer has an id of its own, also a refusal. */
static void answers_have_an_audit_id(void **state)
{
    struct fetcher *f = fetcher_new(&(struct fetcher_options){ .ca_pem = ca.cert_pem });
    const char *ids[3];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        const char *path = i ? "/version" : "/api/v1/pods";
        const struct fetch_reply reply = suite_server_ask(&server, f, "GET", path);
        ids[i] = suite_server_header(&server, &reply, "audit-id");
        assert_int_equal(strlen(ids[i]), 36);
        assert_int_equal(ids[i][14], '4');
    }
    fetcher_free(f);
    assert_string_not_equal(ids[0], ids[1]);
    assert_string_not_equal(ids[1], ids[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_gets_through_is_known_and_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_refused_in_words, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_can_be_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(a_decision_can_be_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(an_impersonation_can_be_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(who_finds_nobody_to_ask_goes_on_without, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_refused_is_counted_as_what_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_have_an_audit_id, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
