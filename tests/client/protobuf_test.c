/* Objects of every built-in kind, by JSON and by protobuf: reading, writing and watching must not
 * tell which of them it was. */
#include <sampan/config.h>

#include "../server/live.h"
#include "api/codec/proto.h"
#include "api/random/random_object.h"
#include "base/idiom.h"
#include "client/calls/client_codec.h"
#include "client/calls/lines.h"
#include "client/suite_client.h"
#include "net/http/gzip.h"
#include "scripted.h"
#include "server/object/stored.h"

enum { DEPTH = 6, SEEDS = 3 };

static struct spn_client *by_json, *by_proto;

static struct spn_client *client_to(const char *url, bool protobuf)
{
    struct spn_client *c;
    struct spn_err err;
    const struct spn_config cfg = { .server = spn_text_of(url), .protobuf = protobuf };
    if (spn_client_new(&cfg, &c, &err) < 0)
        fail_msg("%s", err.message);
    return c;
}

static int setup(void **state)
{
    (void)live_setup(state);
    live_populate(&live);
    const char *url = live_path("http://" STR_FMT, STR_ARG(live.address));
    by_json = client_to(url, false);
    by_proto = client_to(url, true);
    *state = spn_arena_new();
    return 0;
}

static int teardown(void **state)
{
    by_json = spn_client_free(by_json);
    by_proto = spn_client_free(by_proto);
    *state = spn_arena_free(*state);
    return live_teardown(state);
}

static struct spn_text text_of(struct str s)
{
    return (struct spn_text){ s.p, s.n };
}

static struct spn_target place_of(const struct kind_resource *r, const char *name)
{
    return (struct spn_target){ .group = text_of(r->group),
                                .version = text_of(r->version),
                                .plural = text_of(r->plural),
                                .ns = r->namespaced ? SPN_TEXT("default") : SPN_TEXT(""),
                                .name = spn_text_of(name) };
}

/* What nobody would write, but with metadata that can be stored. */
static struct value random_of(struct arena *a, const struct kind_resource *r, uint64_t seed,
                              const char *name)
{
    struct random random = { .seed = seed };
    struct value v, meta = value_object();
    assert_true(random_typed(&random, a, r->type, DEPTH, &v));
    value_put_new(a, &meta, STR("name"), value_string(str_of(name)));
    if (r->namespaced)
        value_put_new(a, &meta, STR("namespace"), value_string(STR("default")));
    value_put_new(a, &meta, STR("creationTimestamp"), value_string(STR("2026-01-02T03:04:05Z")));
    value_put(a, &v, STR("metadata"), meta);
    return v;
}

static void store(struct arena *a, const struct kind_resource *r, const char *name, struct value *v)
{
    autobuf bytes = { 0 };
    stored_write(&bytes, NULL, v);
    struct str ns = r->namespaced ? STR("default") : STR("");
    (void)live_put_bytes(&live, stored_key(a, r, ns, str_of(name)), buf_str(&bytes));
}

typedef void resource_fn(struct spn_arena *a, const struct kind_resource *r, uint64_t seed);

/* Those that are stored as they are. */
static unsigned each_resource(struct spn_arena *a, uint8_t verbs, resource_fn *fn)
{
    unsigned n = 0;
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            if (!r->etcd_prefix.n || kind_stored(r) != r || (r->verbs & verbs) != verbs ||
                kind_versions[v].is_old)
                continue;
            for (uint64_t seed = 1; seed <= SEEDS; seed++)
                fn(a, r, 1000 * n + seed);
            n++;
            spn_arena_reset(a);
        }
    return n;
}

static void assert_same(struct spn_arena *a, const struct kind_resource *r,
                        const struct spn_value *x, const struct spn_value *y)
{
    if (!spn_value_eq(x, y))
        fail_msg(STR_FMT ": JSON gives\n" SPN_FMT "\nprotobuf gives\n" SPN_FMT, STR_ARG(r->plural),
                 SPN_ARG(spn_value_json(a, x)), SPN_ARG(spn_value_json(a, y)));
}

/* ---- Reading ---- */

static void read_both(struct spn_arena *a, const struct kind_resource *r, uint64_t seed)
{
    struct value v = random_of((struct arena *)a, r, seed, "one");
    struct spn_value *x, *y;
    struct spn_err err;
    store((struct arena *)a, r, "one", &v);
    struct spn_target at = place_of(r, "one");
    if (spn_client_get(by_json, &at, NULL, a, &x, &err) < 0)
        fail_msg("%s", err.message);
    if (spn_client_get(by_proto, &at, NULL, a, &y, &err) < 0)
        fail_msg("%s", err.message);
    assert_same(a, r, x, y);
    at.name = SPN_TEXT("");
    assert_int_equal(spn_client_list(by_json, &at, NULL, NULL, a, &x, &err), 0);
    if (spn_client_list(by_proto, &at, NULL, NULL, a, &y, &err) < 0)
        fail_msg("%s", err.message);
    assert_same(a, r, x, y);
    const struct spn_call meta = { .metadata_only = true };
    assert_int_equal(spn_client_list(by_json, &at, NULL, &meta, a, &x, &err), 0);
    assert_int_equal(spn_client_list(by_proto, &at, NULL, &meta, a, &y, &err), 0);
    assert_same(a, r, x, y);
}

static void reading(void **state)
{
    assert_true(each_resource(*state, KIND_GET | KIND_LIST_VERB, read_both) > 50);
}

/* ---- Writing ---- */

static void without_own_facts(struct spn_arena *a, struct spn_value *obj)
{
    static const char *const keys[] = { "uid", "creationTimestamp", "managedFields" };
    struct spn_value *meta = spn_value_edit(a, obj, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        spn_value_remove(a, meta, keys[i]);
}

static unsigned n_taken, n_refused;

/* Both are refused with the same words, or both are taken. */
static void write_both(struct spn_arena *a, const struct kind_resource *r, uint64_t seed)
{
    struct value v = random_of((struct arena *)a, r, seed, "two");
    const struct spn_value *obj = (const struct spn_value *)&v;
    const struct spn_call dry = { .dry_run = true, .manager = "test" };
    const struct spn_target at = place_of(r, "");
    struct spn_value *x, *y;
    struct spn_err first, second;
    int r1 = spn_client_create(by_json, &at, obj, &dry, a, &x, &first);
    int r2 = spn_client_create(by_proto, &at, obj, &dry, a, &y, &second);
    if (r1 != r2 || (r1 < 0 && strcmp(first.message, second.message) != 0))
        fail_msg(STR_FMT ": JSON: %d %s\nprotobuf: %d %s\n%s", STR_ARG(r->plural), r1,
                 r1 < 0 ? first.message : "", r2, r2 < 0 ? second.message : "",
                 spn_value_json(a, obj).p);
    n_taken += r1 == 0;
    n_refused += r1 < 0;
    if (r1 < 0)
        return;
    without_own_facts(a, x);
    without_own_facts(a, y);
    assert_same(a, r, x, y);
}

static void writing(void **state)
{
    assert_true(each_resource(*state, KIND_CREATE, write_both) > 50);
    assert_true(n_taken > 0 && n_refused > 0);
}

/* It is protobuf that is sent, not JSON that happens to do. */
static void what_is_sent(void **state)
{
    struct spn_arena *a = *state;
    const struct kind_type *t = kind_find(STR("v1"), STR("ConfigMap"));
    struct spn_value *v;
    autobuf out = { 0 };
    assert_int_equal(spn_value_read_json(a, SPN_TEXT("{\"data\":{\"a\":\"b\"}}"), &v, NULL), 0);
    assert_true(codec_write_proto(&out, t, (struct value *)v));
    assert_true(proto_is_envelope(buf_str(&out)));
    static const char *const others[] = { "{\"data\":{\"a\":1}}",
                                          "{\"data\":{\"a\":\"b\"},\"unknown\":1}",
                                          "{\"kind\":\"Secret\",\"apiVersion\":\"v1\"}",
                                          "{\"apiVersion\":\"v2\"}", "[]" };
    size_t n = out.n;
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        assert_int_equal(spn_value_read_json(a, spn_text_of(others[i]), &v, NULL), 0);
        assert_false(codec_write_proto(&out, t, (struct value *)v));
        assert_int_equal(out.n, n);
    }
}

/* A Status is the same in protobuf, and unknown fields are still the server's to report. */
static void errors(void **state)
{
    struct spn_arena *a = *state;
    struct spn_target at = SPN_AT("", "v1", "configmaps", "default", "none");
    const struct spn_call strict = { .validation = "Strict" };
    struct spn_value *v;
    struct spn_err err;
    assert_int_equal(spn_client_get(by_proto, &at, NULL, a, &v, &err), -SPN_NOT_FOUND);
    assert_string_equal(err.message, "configmaps \"none\" not found");
    assert_text(spn_value_text(spn_value_dig(err.status, "details", "name")), "none");
    assert_int_equal(
        spn_value_read_json(a, SPN_TEXT("{\"metadata\":{\"name\":\"x\"},\"unknown\":1}"), &v, NULL),
        0);
    assert_int_equal(spn_client_create(by_proto, &at, v, &strict, a, NULL, &err), -SPN_BAD_REQUEST);
    assert_non_null(strstr(err.message, "unknown field \"unknown\""));
}

/* ---- Watching ---- */

static void watching(void **state)
{
    struct spn_arena *a = *state;
    const struct spn_target at = SPN_AT("", "v1", "configmaps", "default", "");
    struct spn_watch *watches[2];
    const struct spn_watch_options opt = { .initial_events = true, .bookmarks = true };
    for (int i = 0; i < 3; i++)
        (void)live_put(&live, "default", live_path("c%d", i), "1", i == 1 ? 100000 : 10);
    assert_int_equal(spn_client_watch(by_json, &at, &opt, NULL, a, &watches[0], NULL), 0);
    assert_int_equal(spn_client_watch(by_proto, &at, &opt, NULL, a, &watches[1], NULL), 0);
    unsigned bookmarks = 0, objects = 0;
    while (bookmarks == 0) {
        struct spn_event x, y;
        struct spn_err err;
        assert_int_equal(spn_watch_next(watches[0], 30000, a, &x, &err), 1);
        int r = spn_watch_next(watches[1], 30000, a, &y, &err);
        if (r != 1)
            fail_msg("%d: %s", r, err.message);
        assert_int_equal(x.type, y.type);
        assert_true(spn_value_eq(x.object, y.object));
        bookmarks += x.type == SPN_EVENT_BOOKMARK;
        objects += x.type == SPN_EVENT_ADDED;
    }
    assert_true(objects >= 3);
    for (int i = 0; i < 2; i++)
        spn_watch_free(watches[i]);
}

static void frames(void **state)
{
    (void)state;
    static const char bytes[] = "\0\0\0\3abc\0\0\0\0\0\0\0\5hello\0\0\1";
    for (size_t step = 1; step < sizeof(bytes); step++) {
        struct lines l = { .is_framed = true };
        struct str got;
        autobuf all = { 0 };
        for (size_t at = 0; at < sizeof(bytes) - 1; at += step) {
            struct str rest = { bytes + at, sizeof(bytes) - 1 - at };
            buf_reset(&l.piece);
            buf_str_add(&l.piece, str_take(rest, step));
            lines_refilled(&l);
            while (lines_next(&l, &got))
                buf_printf(&all, "[" STR_FMT "]", STR_ARG(got));
        }
        assert_true(str_eq(buf_str(&all), STR("[abc][][hello]")));
        assert_int_equal(lines_held(&l), 3);
        lines_done(&l);
    }
}

static void bad_events(void **state)
{
    (void)state;
    static const struct str bad[] = {
        STR(""),
        STR("\x0a"),
        STR("\x0a\x05zzz"),
        STR("\x08\x01"),
        STR("\x0a\x01zq"),
        STR("\x12\x02\x0a"),
        STR("\x12\x02\x12\x00"),
        STR("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
    };
    struct str type, object;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(codec_read_event(bad[i], &type, &object, NULL), -ERR_BAD_REQUEST);
    assert_int_equal(codec_read_event(STR("\x0a\x03NEW\x12\x04\x0a\x02ob"), &type, &object, NULL),
                     0);
    assert_true(str_eq(type, STR("NEW")) && str_eq(object, STR("ob")));
}

/* ---- gzip ---- */

struct zipped {
    struct buf body;
    bool asked;
};

static struct scripted_answer answer_zipped(void *arg, const struct http_request *req,
                                            struct arena *a)
{
    struct zipped *z = arg;
    (void)a;
    z->asked = str_eq(http_header_get(req, STR("accept-encoding")), STR("gzip"));
    if (!z->asked)
        return scripted_json(200, "{\"plain\":true}");
    return (struct scripted_answer){ .status = 200,
                                     .headers = { { STR("content-encoding"), STR("gzip") } },
                                     .n_headers = 1,
                                     .body = buf_str(&z->body) };
}

static void compressed(void **state)
{
    struct spn_arena *a = *state;
    struct zipped z = { 0 };
    struct spn_value *v;
    struct spn_err err;
    gzip_deflate(&z.body, STR("{\"zipped\":true}"), 6);
    struct scripted *server = scripted_start(answer_zipped, &z);
    struct spn_client *c = client_to(scripted_url(server), false);
    const struct spn_target at = SPN_AT("", "v1", "configmaps", "default", "x");
    const struct spn_call quick = { .timeout_ms = 1000 };
    assert_int_equal(spn_client_get(c, &at, NULL, a, &v, &err), 0);
    assert_true(spn_value_is_true(spn_value_get(v, "zipped")));
    z.body.n -= 4; /* a read that was cut short is tried again until its time is over */
    assert_int_equal(spn_client_get(c, &at, &quick, a, &v, &err), -SPN_UNAVAILABLE);
    spn_client_free(c);
    const struct spn_config plain = { .server = spn_text_of(scripted_url(server)),
                                      .disable_compression = true };
    assert_int_equal(spn_client_new(&plain, &c, &err), 0);
    assert_int_equal(spn_client_get(c, &at, NULL, a, &v, &err), 0);
    assert_true(spn_value_is_true(spn_value_get(v, "plain")));
    spn_client_free(c);
    scripted_stop(server);
    buf_done(&z.body);
}

/* A real server's large lists come so. */
static void compressed_list(void **state)
{
    struct spn_arena *a = *state;
    const struct spn_target at = SPN_AT("", "v1", "configmaps", "default", "");
    struct spn_value *x, *y;
    for (int i = 0; i < 40; i++)
        (void)live_put(&live, "default", live_path("big%d", i), NULL, 20000);
    struct spn_client *plain;
    const struct spn_config cfg = { .server = spn_text_of(
                                        live_path("http://" STR_FMT, STR_ARG(live.address))),
                                    .disable_compression = true };
    assert_int_equal(spn_client_new(&cfg, &plain, NULL), 0);
    assert_int_equal(spn_client_list(plain, &at, NULL, NULL, a, &x, NULL), 0);
    assert_int_equal(spn_client_list(by_json, &at, NULL, NULL, a, &y, NULL), 0);
    assert_true(spn_value_eq(x, y));
    spn_client_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reading, setup, teardown),
        cmocka_unit_test_setup_teardown(writing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(errors, setup, teardown),
        cmocka_unit_test_setup_teardown(watching, setup, teardown),
        cmocka_unit_test(frames),
        cmocka_unit_test(bad_events),
        cmocka_unit_test_setup_teardown(compressed, setup, teardown),
        cmocka_unit_test_setup_teardown(compressed_list, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
