/* Lists over a socket: pages, revisions, encodings, and readers that take their time. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live.h"

#include "api/codec/cbor.h"
#include "api/codec/proto.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "net/http/gzip.h"
#include "server/object/encode.h"
#include "server/object/token.h"

static struct clock_fake now;

static int setup(void **state)
{
    (void)state;
    live_start(&live);
    clock_fake_init(&now, clock_wall_ns(&clock_system)); /* tokens say when lists began */
    live.api.clock = &now.clock;
    return 0;
}

static void fill(const char *ns, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        (void)live_put(&live, ns, live_path("c%05zu", i), i % 2 ? "odd" : "even", size);
}

static const struct value *items_of(const struct value *list)
{
    return value_get(list, STR("items"));
}

/* ---- Pages ---- */

/* Adds the items of all pages to `ret`; each must say right what it leaves. */
static void read_pages(const char *target, size_t limit, size_t total, struct value *ret)
{
    const char *token = "";
    *ret = value_array();
    do {
        struct value page = live_get_json(
            &live, live_path("%slimit=%zu%s%s", target, limit, *token ? "&continue=" : "", token),
            200);
        value_each_item (it, items_of(&page))
            value_put_item(&live.arena, ret, *it);
        const struct value *next = value_dig(&page, "metadata", "continue"),
                           *left = value_dig(&page, "metadata", "remainingItemCount");
        token = live_text(&live, next);
        if (next && total)
            assert_int_equal(left->i, total - ret->n);
        if (!next)
            assert_null(left);
    } while (*token);
}

static void pages_are_the_whole(void **state)
{
    (void)state;
    fill("a", 500, 100);
    fill("b", 3, 100);
    struct value whole = live_get_json(&live, "/api/v1/namespaces/a/configmaps", 200), pages;
    assert_int_equal(items_of(&whole)->n, 500);
    read_pages("/api/v1/namespaces/a/configmaps?", 7, 500, &pages);
    assert_true(value_eq(items_of(&whole), &pages));
    /* Pages that are streamed, since they are longer than what is held. */
    fill("c", 30, 100 << 10);
    whole = live_get_json(&live, "/api/v1/namespaces/c/configmaps", 200);
    read_pages("/api/v1/namespaces/c/configmaps?", 8, 30, &pages);
    assert_true(value_eq(items_of(&whole), &pages));
    read_pages("/api/v1/configmaps?", 100, 533, &pages);
    assert_int_equal(pages.n, 533);
    read_pages("/api/v1/configmaps?labelSelector=x%3Dodd&", 9, 0, &pages);
    assert_int_equal(pages.n, 250 + 1 + 15);
}

static void a_page_is_of_its_revision(void **state)
{
    (void)state;
    fill("a", 10, 10);
    struct value first = live_get_json(&live, "/api/v1/namespaces/a/configmaps?limit=4", 200);
    (void)live_delete(&live, "a", "c00007");
    (void)live_put(&live, "a", "c00005x", NULL, 10);
    struct value rest =
        live_get_json(&live,
                      live_path("/api/v1/namespaces/a/configmaps?continue=%s",
                                live_text(&live, value_dig(&first, "metadata", "continue"))),
                      200);
    assert_int_equal(items_of(&rest)->n, 6);
    assert_string_equal(live_text(&live, value_dig(&first, "metadata", "resourceVersion")),
                        live_text(&live, value_dig(&rest, "metadata", "resourceVersion")));
}

/* Also while its revision is still kept, for watches: counted from the first page. */
static void a_list_can_take_too_long(void **state)
{
    (void)state;
    enum { TTL_MS = 5000 };
    live.api.continue_ttl_ns = TTL_MS * NS_PER_MS;
    for (int i = 0; i < 9; i++)
        (void)live_put(&live, "a", live_path("n%d", i), NULL, 10);
    const char *target = "/api/v1/namespaces/a/configmaps?limit=2";
    struct value page = live_get_json(&live, target, 200);
    for (int i = 0; i < 2; i++) {
        clock_fake_advance(&now, TTL_MS / 2 * NS_PER_MS);
        const char *token = live_text(&live, value_dig(&page, "metadata", "continue"));
        page = live_get_json(&live, live_path("%s&continue=%s", target, token), 200);
    }
    clock_fake_advance(&now, NS_PER_MS);
    const char *token = live_text(&live, value_dig(&page, "metadata", "continue"));
    struct value gone = live_get_json(&live, live_path("%s&continue=%s", target, token), 410);
    assert_true(str_eq(value_str(value_get(&gone, STR("reason"))), STR("Expired")));
    token = live_text(&live, value_dig(&gone, "metadata", "continue"));
    page = live_get_json(&live, live_path("%s&continue=%s", target, token), 200);
    assert_true(str_eq(
        value_str(value_dig(value_at(value_get(&page, STR("items")), 0), "metadata", "name")),
        STR("n6")));
    live.api.clock = &clock_system;
    live.api.continue_ttl_ns = 0;
}

static void an_expired_token_comes_with_another(void **state)
{
    (void)state;
    fill("a", 10, 10);
    struct value first = live_get_json(&live, "/api/v1/namespaces/a/configmaps?limit=4", 200);
    const char *token = live_text(&live, value_dig(&first, "metadata", "continue"));
    (void)live_delete(&live, "a", "c00007");
    uint64_t newest = live_put(&live, "a", "c00005x", NULL, 10);
    struct err err = ERR_INIT(&live.arena);
    assert_int_equal(store_compact(live.api.store, newest, &err), 0);

    const char *target = live_path("/api/v1/namespaces/a/configmaps?limit=4&continue=%s", token);
    struct value gone = live_get_json(&live, target, 410);
    assert_string_equal(live_text(&live, value_get(&gone, STR("reason"))), "Expired");
    const char *fresh = live_text(&live, value_dig(&gone, "metadata", "continue"));
    assert_true(*fresh);
    struct value rest;
    read_pages(live_path("/api/v1/namespaces/a/configmaps?continue=%s&", fresh), 100, 0, &rest);
    assert_int_equal(rest.n, 6); /* one gone, one more */

    struct value exact = live_get_json(
        &live, "/api/v1/namespaces/a/configmaps?resourceVersion=2&resourceVersionMatch=Exact", 410);
    assert_string_equal(live_text(&live, value_get(&exact, STR("message"))),
                        "The resourceVersion for the provided list is too old.");
}

/* Whatever a token says, it stays within the namespace that was asked for. */
static void a_token_never_leaves_its_range(void **state)
{
    (void)state;
    fill("a", 3, 10);
    fill("b", 3, 10);
    const struct token t = { .rev = (int64_t)store_rev(live.api.store),
                             .start = live_key(&live, "b", "c00001") };
    struct str foreign = token_write(&live.arena, &t, live_key(&live, "", ""));
    struct value list = live_get_json(
        &live, live_path("/api/v1/namespaces/a/configmaps?continue=" STR_FMT, STR_ARG(foreign)),
        200);
    value_each_item (it, items_of(&list))
        assert_string_equal(live_text(&live, value_dig(it, "metadata", "namespace")), "a");
}

/* ---- Encodings ---- */

static struct value read_yaml(struct str text)
{
    struct value v;
    struct err err = ERR_INIT(&live.arena);
    if (yaml_read(&live.arena, text, NULL, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return v;
}

static struct value read_cbor(struct str text)
{
    struct value v;
    struct err err = ERR_INIT(&live.arena);
    if (cbor_read(&live.arena, text, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return v;
}

static struct value read_proto(struct str text)
{
    struct value v;
    struct err err = ERR_INIT(&live.arena);
    struct proto_envelope envelope;
    assert_int_equal(proto_envelope_read(text, &envelope, &err), 0);
    bool is_meta = str_starts(envelope.api_version, STR("meta"));
    const struct kind_type *type =
        kind_type_find(is_meta ? STR("meta") : STR(""), STR("v1"), envelope.kind);
    assert_non_null(type);
    if (proto_read(&live.arena, type, envelope.raw, envelope.api_version, envelope.kind, &v, &err) <
        0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return v;
}

static struct value read_json(struct str text)
{
    return live_json(&live, text);
}

/* In protobuf the items do not say what they are. */
static void drop_types(struct value *list)
{
    struct value *items = value_edit(&live.arena, list, STR("items"));
    for (size_t i = 0; items && i < items->n; i++) {
        struct value *item = value_edit_at(&live.arena, items, i);
        value_drop(&live.arena, item, STR("kind"));
        value_drop(&live.arena, item, STR("apiVersion"));
    }
}

static void encodings_say_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        struct value (*read)(struct str text);
    } rows[] = {
        { "application/json", read_json },
        { "application/yaml", read_yaml },
        { "application/cbor", read_cbor },
        { "application/vnd.kubernetes.protobuf", read_proto },
    };
    static const char *const forms[] = { "", ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" };
    static const char *const targets[] = {
        "/api/v1/namespaces/none/configmaps",
        "/api/v1/namespaces/few/configmaps",
        "/api/v1/namespaces/many/configmaps",
        "/api/v1/namespaces/few/configmaps?limit=2",
        "/api/v1/namespaces/many/configmaps?limit=25",
        "/api/v1/configmaps?labelSelector=x%3Dodd",
        "/api/v1/namespaces/many/configmaps?limit=25&pretty=1",
    };
    fill("few", 5, 10);
    fill("many", 30, 60 << 10);
    for (size_t f = 0; f < 2; f++) {
        for (size_t t = 0; t < ARRAY_LEN(targets); t++) {
            struct value want = value_null();
            for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct answer a = live_get(&live, targets[t],
                                           live_path("Accept: %s%s\r\n", rows[i].accept, forms[f]));
                assert_int_equal(a.status, 200);
                struct value got = rows[i].read(a.body);
                drop_types(&got);
                /* It has no empty lists, either. */
                if (rows[i].read == read_proto && items_of(&want)->n == 0)
                    value_put(&live.arena, &got, STR("items"), *items_of(&want));
                if (i == 0)
                    want = got;
                else if (!value_eq(&want, &got))
                    fail_msg("%s as %s%s", targets[t], rows[i].accept, forms[f]);
            }
        }
    }
}

/* A list that was put together from pieces reads as if it had been written as one. */
static void no_seam_is_seen(void **state)
{
    (void)state;
    static const char *const forms[] = { "", ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                                         ";as=Table;g=meta.k8s.io;v=v1" };
    static const char *const spaces[] = { "none", "few", "many" };
    fill("few", 3, 10);
    fill("many", 10, 60 << 10);
    for (size_t f = 0; f < 9; f++) {
        const char *target = live_path("/api/v1/namespaces/%s/configmaps", spaces[f / 3]);
        const char *form = forms[f % 3];
        struct answer json =
            live_get(&live, target, live_path("Accept: application/json%s\r\n", form));
        struct answer pretty =
            live_get(&live, target, live_path("Accept: application/json%s;pretty=1\r\n", form));
        struct answer yaml =
            live_get(&live, target, live_path("Accept: application/yaml%s\r\n", form));
        struct value list = live_json(&live, json.body);
        autobuf text = { 0 };
        json_write(&text, &list);
        buf_byte(&text, '\n');
        assert_true(str_eq(json.body, buf_str(&text)));
        buf_reset(&text);
        json_write_pretty(&text, &list);
        buf_byte(&text, '\n');
        assert_true(str_eq(pretty.body, buf_str(&text)));
        buf_reset(&text);
        const struct format as_yaml = { .media = FORMAT_YAML };
        encode_tree(&text, &live.arena, &as_yaml, NULL, &list);
        assert_true(str_eq(yaml.body, buf_str(&text)));
    }
}

static void gzip_is_the_same_text(void **state)
{
    (void)state;
    static const char *const targets[] = {
        "/api/v1/namespaces/a/configmaps",         /* streamed */
        "/api/v1/namespaces/a/configmaps?limit=5", /* whole */
    };
    fill("a", 40, 40 << 10);
    fill("b", 1, 10);
    for (size_t i = 0; i < 2; i++) {
        struct answer plain = live_get(&live, targets[i], "");
        struct answer packed = live_get(&live, targets[i], "Accept-Encoding: gzip\r\n");
        assert_null(memmem(plain.head.p, plain.head.n, "content-encoding", 16));
        assert_non_null(memmem(packed.head.p, packed.head.n, "content-encoding: gzip", 22));
        autobuf text = { 0 };
        struct err err = ERR_INIT(&live.arena);
        assert_int_equal(gzip_inflate(&text, packed.body, 64 << 20, &err), 0);
        assert_true(str_eq(buf_str(&text), plain.body));
    }
    struct answer small =
        live_get(&live, "/api/v1/namespaces/b/configmaps", "Accept-Encoding: gzip\r\n");
    assert_null(memmem(small.head.p, small.head.n, "content-encoding", 16));
}

/* ---- Readers that take their time ---- */

enum { BIG_OBJECTS = 400, BIG_BYTES = 64 << 10 };

static int open_slowly(const char *target)
{
    int fd = peer_connect(live.address), small = 16 << 10;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    assert_true(peer_send(
        fd, arena_printf(&live.arena, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", target)));
    return fd;
}

static void a_slow_reader_costs_little_and_holds_up_nobody(void **state)
{
    (void)state;
    enum { READERS = 4 };
    fill("a", BIG_OBJECTS, BIG_BYTES); /* 25 MB */
    int fds[READERS];
    struct buf texts[READERS] = { { 0 } };
    size_t before = harness_rss_bytes();
    for (size_t i = 0; i < READERS; i++) {
        fds[i] = open_slowly("/api/v1/namespaces/a/configmaps");
        assert_true(peer_read(fds[i], &texts[i], 1000));
    }
    /* Written after the lists began: in none of them, and answered at once. */
    (void)live_put(&live, "a", "late", NULL, 10);
    struct value one = live_get_json(
        &live, "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Dlate", 200);
    assert_int_equal(items_of(&one)->n, 1);
    harness_sleep_ms(50);
    harness_check_rss(before, 8 << 20);

    for (size_t i = 0; i < READERS; i++) {
        assert_true(peer_read_all(fds[i], &texts[i], SIZE_MAX));
        close(fds[i]);
        struct value list = live_json(&live, h1_body(buf_str(&texts[i])));
        assert_int_equal(items_of(&list)->n, BIG_OBJECTS);
        buf_done(&texts[i]);
    }
}

static void a_reader_may_go_away(void **state)
{
    (void)state;
    fill("a", BIG_OBJECTS, BIG_BYTES);
    for (size_t i = 0; i < 8; i++) {
        int fd = open_slowly(i % 2 ? "/api/v1/configmaps?limit=300" : "/api/v1/configmaps");
        autobuf some = { 0 };
        if (i % 4 < 2)
            assert_true(peer_read(fd, &some, 1000));
        close(fd);
    }
    /* live_stop() waits for all of them. */
}

/* ---- Damage ---- */

static void damage_is_never_left_out(void **state)
{
    (void)state;
    fill("a", 3, 10);
    (void)live_put_bytes(&live, live_key(&live, "a", "c00001x"), STR("junk"));
    struct value status = live_get_json(&live, "/api/v1/namespaces/a/configmaps", 500);
    assert_string_equal(live_text(&live, value_get(&status, STR("kind"))), "Status");
    (void)live_get_json(&live, "/api/v1/namespaces/a/configmaps?labelSelector=x", 500);
    (void)live_get_json(&live, "/api/v1/namespaces/a/configmaps?limit=2", 200);
}

/* All that cannot be read are named, up to a limit, and counted by the store. */
static void a_list_names_what_cannot_be_read(void **state)
{
    (void)state;
    char name[16];
    for (unsigned i = 0; i <= LIMIT_LIST_DAMAGED; i++) {
        (void)snprintf(name, sizeof(name), "c%03u", i);
        (void)live_put_bytes(&live, live_key(&live, "d", name), STR("junk"));
        (void)live_put(&live, "d", name + 1, NULL, 3);
        if (i != 1 && i != LIMIT_LIST_DAMAGED)
            continue;
        struct value status = live_get_json(&live, "/api/v1/namespaces/d/configmaps", 500);
        assert_string_equal(live_text(&live, value_get(&status, STR("reason"))), "StoreReadError");
        const struct value *causes = value_dig(&status, "details", "causes");
        assert_int_equal(causes->n, i + 1);
        const struct value *last = value_at(causes, i);
        assert_string_equal(live_text(&live, value_get(last, STR("reason"))),
                            i == 1 ? "UnexpectedServerResponse" : "FieldValueTooMany");
        if (i == 1)
            assert_string_equal(live_text(&live, value_get(last, STR("field"))),
                                "/registry/configmaps/d/c001");
    }
    struct store_stats stats;
    store_stats(live.api.store, &stats);
    assert_true(stats.damaged >= LIMIT_LIST_DAMAGED);
    for (unsigned i = 0; i <= LIMIT_STORE_DAMAGED_KEYS; i++) {
        (void)snprintf(name, sizeof(name), "k%u", i);
        store_note_damaged(live.api.store, str_of(name), STR("for a test"));
    }
    store_stats(live.api.store, &stats);
    assert_int_equal(stats.damaged, LIMIT_STORE_DAMAGED_KEYS);
}

int main(void)
{
#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, setup, live_teardown)
    const struct CMUnitTest tests[] = {
        LIST_TEST(pages_are_the_whole),
        LIST_TEST(a_page_is_of_its_revision),
        LIST_TEST(a_list_can_take_too_long),
        LIST_TEST(an_expired_token_comes_with_another),
        LIST_TEST(a_token_never_leaves_its_range),
        LIST_TEST(encodings_say_the_same),
        LIST_TEST(no_seam_is_seen),
        LIST_TEST(gzip_is_the_same_text),
        LIST_TEST(a_slow_reader_costs_little_and_holds_up_nobody),
        LIST_TEST(a_reader_may_go_away),
        LIST_TEST(damage_is_never_left_out),
        LIST_TEST(a_list_names_what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
