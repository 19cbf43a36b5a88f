/* The events of one request after the other, by how it was answered. */
#include "server/audit/audit_event.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "server/http/reply.h"
#include "server/http/suite_server.h"

#define POLICY                                                                       \
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [Panic]\n"               \
    "rules:\n"                                                                       \
    "- {level: None, verbs: [none]}\n"                                               \
    "- {level: Metadata, verbs: [metadata]}\n"                                       \
    "- {level: RequestResponse, omitStages: [ResponseComplete], verbs: [omitted]}\n" \
    "- {level: RequestResponse}\n"

static struct arena arena;
static struct suite_server server;
static struct audit *audit;
static struct clock_fake fake;
static char dir[] = "/tmp/sampan-audit-event.XXXXXX";
static const char *log_path;

/* ---- A server that audits what it says ---- */

static void stream(struct http_exchange *x, size_t n_pieces, struct str piece)
{
    static const struct http_header json = { STR("content-type"), STR("application/json") };
    http_reply_begin(x, 200, &json, 1);
    http_reply_write(x, HTTP_BYTES(STR("{\"kind\":\"PodList\",\"x\":\"")));
    for (size_t i = 0; i < n_pieces; i++)
        http_reply_write(x, HTTP_BYTES(piece));
    http_reply_write(x, HTTP_BYTES(STR("\"}\n")));
    http_reply_end(x, NULL, 0);
}

static void answer(struct http_exchange *x, struct str how)
{
    static char many[1 << 20];
    memset(many, 'x', sizeof(many));
    if (str_eq(how, STR("abort")))
        http_abort(x);
    else if (str_eq(how, STR("refused")) || str_eq(how, STR("stranger")))
        reply_refusal(x, ERR_UNAUTHORIZED, "Unauthorized");
    else if (str_eq(how, STR("unacceptable")))
        reply_refusal(x, ERR_NOT_ACCEPTABLE, "no");
    else if (str_eq(how, STR("text")))
        reply_text(x, 200, STR("ok"));
    else if (str_eq(how, STR("stream")) || str_eq(how, STR("long")))
        stream(x, 1, STR("y"));
    else if (str_eq(how, STR("large")))
        stream(x, 1, (struct str){ many, sizeof(many) });
    else if (str_eq(how, STR("huge")))
        stream(x, LIMIT_AUDIT_OBJECT_BYTES >> 20, (struct str){ many, sizeof(many) });
    else
        reply_json(x, 201, STR("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}"));
}

static void on_request(void *arg, struct http_exchange *x)
{
    static const struct user alice = { .name = STR("alice") };
    struct str how = str_skip(http_request_of(x)->path, 1);
    struct access *about = arena_new(http_arena(x), struct access);
    struct audit_event *e;
    (void)arg;
    *about = (struct access){ .user = str_eq(how, STR("stranger")) ? NULL : &alice,
                              .verb = how,
                              .is_resource = true,
                              .resource = STR("pods") };
    const struct audit_subject s = { .id = how,
                                     .about = about,
                                     .is_long = str_starts(how, STR("long")) };
    assert_true(audit_event_begin(audit, x, &s, &e));
    audit_event_annotate(e, STR("k"), STR("v"));
    audit_event_annotate(e, STR("k"), STR("too late"));
    if (str_eq(how, STR("slow"))) {
        clock_fake_advance(&fake, 700 * NS_PER_MS);
        audit_event_took(e, AUDIT_LAYER_STORE, 300 * NS_PER_MS);
        audit_event_took(e, AUDIT_LAYER_STORE, 25 * NS_PER_MS);
    }
    answer(x, how);
}

static int setup(void **state)
{
    struct err err = ERR_INIT(&arena);
    struct audit_options opt = audit_options_default();
    (void)state;
    arena_init(&arena);
    memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    assert_non_null(mkdtemp(dir));
    opt.policy_file = arena_printf(&arena, "%s/policy", dir).p;
    opt.log_path = log_path = arena_printf(&arena, "%s/log", dir).p;
    assert_int_equal(file_write_atomic(opt.policy_file, STR(POLICY), 0600, FILE_CHEAP, NULL), 0);
    clock_fake_init(&fake, INT64_C(1794819600) * NS_PER_SEC);
    if (audit_new(&opt, &fake.clock, &audit, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    suite_server_start(&server, on_request, NULL, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    suite_server_free(&server);
    audit_free(audit);
    assert_int_equal(system(arena_printf(&arena, "rm -r %s", dir).p), 0);
    arena_done(&arena);
    return 0;
}

/* ---- What the log says ---- */

/* "STAGE CODE KIND MESSAGE; ..." */
static const char *events(void)
{
    autobuf text = { 0 }, out = { 0 };
    assert_int_equal(file_read(log_path, 64 << 20, &text, NULL), 0);
    struct str rest = buf_str(&text);
    while (rest.n) {
        struct value e;
        int64_t code = 0;
        assert_int_equal(json_read(&arena, str_cut(&rest, '\n'), NULL, &e, NULL), 0);
        (void)value_to_int(value_dig(&e, "responseStatus", "code"), &code);
        const struct value *cut = value_dig(&e, "annotations", "audit.k8s.io/truncated");
        struct str note = value_str(value_dig(&e, "annotations", "k"));
        buf_printf(&out, "%s" STR_FMT " %d " STR_FMT " " STR_FMT "%s" STR_FMT, out.n ? "; " : "",
                   STR_ARG(value_text(&e, "stage")), (int)code,
                   STR_ARG(value_str(value_dig(&e, "responseObject", "kind"))),
                   STR_ARG(value_str(value_dig(&e, "responseStatus", "message"))),
                   cut ? "truncated " : "", STR_ARG(note));
    }
    return str_cstr(&arena, buf_str(&out));
}

static void ask(const char *how)
{
    struct fetcher *f = fetcher_new(&(struct fetcher_options){ .insecure = true });
    struct err err = ERR_INIT(&arena);
    struct fetch_reply reply;
    const struct fetch_request req = {
        .method = STR("GET"),
        .url = arena_printf(&arena, "http://" STR_FMT "/%s", STR_ARG(server.address), how),
        .max_reply = 64 << 20,
    };
    if (fetch(f, &req, &arena, &reply, &err) < 0)
        fail_msg("%s: " STR_FMT, how, STR_ARG(err.msg));
    fetcher_free(f);
}

static void a_slow_one_says_where_its_time_went(void **state)
{
    autobuf text = { 0 };
    (void)state;
    ask("slow");
    suite_server_stop(&server);
    audit = audit_free(audit);
    assert_int_equal(file_read(log_path, 1 << 20, &text, NULL), 0);
    assert_non_null(strstr(str_cstr(&arena, buf_str(&text)),
                           "\"annotations\":{\"apiserver.latency.k8s.io/etcd\":\"325ms\","
                           "\"apiserver.latency.k8s.io/total\":\"7"));
}

static void each_stage_says_what_is_known(void **state)
{
    static const struct {
        const char *how, *events;
    } cases[] = {
        { "none", "" },
        { "metadata", "RequestReceived 0  ; ResponseComplete 201  v" },
        { "all", "RequestReceived 0  ; ResponseComplete 201 Pod v" },
        { "omitted", "RequestReceived 0  " },
        { "text", "RequestReceived 0  ; ResponseComplete 200  v" },
        { "refused", "RequestReceived 0  ; ResponseComplete 401 Status Unauthorizedv" },
        { "unacceptable", "RequestReceived 0  ; ResponseComplete 406  v" },
        { "stranger", "ResponseStarted 401 Status Unauthorizedv" },
        { "stream", "RequestReceived 0  ; ResponseComplete 200 PodList v" },
        { "long", "RequestReceived 0  ; ResponseStarted 200  v; ResponseComplete 200  v" },
        { "longer", "RequestReceived 0  ; ResponseStarted 201 Pod v; ResponseComplete 201 Pod v" },
        { "large", "RequestReceived 0  ; ResponseComplete 200 PodList v" },
        { "huge", "RequestReceived 0  ; ResponseComplete 200  truncated v" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ask(cases[i].how);
        suite_server_free(&server);
        audit = audit_free(audit); /* writes what is still on its way */
        assert_string_equal(events(), cases[i].events);
        assert_int_equal(system(arena_printf(&arena, "rm -r %s", dir).p), 0);
        arena_done(&arena);
        (void)setup(NULL);
    }
}

static void who_is_not_answered_has_gone(void **state)
{
    struct fetcher *f = fetcher_new(&(struct fetcher_options){ .insecure = true });
    struct err err = ERR_INIT(&arena);
    struct fetch_reply reply;
    const struct fetch_request req = {
        .method = STR("GET"),
        .url = arena_printf(&arena, "http://" STR_FMT "/abort", STR_ARG(server.address)),
    };
    (void)state;
    assert_true(fetch(f, &req, &arena, &reply, &err) < 0);
    fetcher_free(f);
    suite_server_stop(&server);
    audit = audit_free(audit);
    assert_string_equal(events(),
                        "RequestReceived 0  ; ResponseComplete 200  Connection closed earlyv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_stage_says_what_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(a_slow_one_says_where_its_time_went, setup, teardown),
        cmocka_unit_test_setup_teardown(who_is_not_answered_has_gone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
