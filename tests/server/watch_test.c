/* Watches over a socket: what they begin with, what they see, and how they end. */
#include <sys/socket.h>
#include <unistd.h>

#include "live.h"

#include "api/codec/cbor.h"
#include "api/codec/proto.h"
#include "base/json.h"
#include "server/watch/watch.h"

#define CONFIGMAPS "/api/v1/namespaces/a/configmaps?watch=1"

static void expect(struct stream *s, const char *type, const char *name, uint64_t rev)
{
    assert_string_equal(stream_event(s, &live),
                        live_path("%s %s %llu", type, name, (unsigned long long)rev));
}

static size_t count_watches(void)
{
    size_t n = 0;
    for (size_t i = 0; i < live.api.n_loops; i++)
        n += watch_hub_count(live.api.hubs[i]);
    return n;
}

/* ---- What is seen ---- */

static void changes_are_seen_as_they_happen(void **state)
{
    (void)state;
    uint64_t before = live_put(&live, "a", "old", NULL, 10);
    struct stream s;
    stream_open(&s, &live,
                live_path(CONFIGMAPS "&resourceVersion=%llu", (unsigned long long)before));
    uint64_t added = live_put(&live, "a", "p", NULL, 10);
    (void)live_put(&live, "b", "p", NULL, 10); /* another namespace */
    uint64_t changed = live_put(&live, "a", "p", NULL, 20);
    uint64_t deleted = live_delete(&live, "a", "p");
    expect(&s, "ADDED", "p", added);
    expect(&s, "MODIFIED", "p", changed);
    expect(&s, "DELETED", "p", deleted);
    stream_close(&s);

    /* And again from history. */
    stream_open(
        &s, &live,
        live_path(CONFIGMAPS "&timeoutSeconds=1&resourceVersion=%llu", (unsigned long long)added));
    expect(&s, "MODIFIED", "p", changed);
    expect(&s, "DELETED", "p", deleted);
    assert_string_equal(stream_event(&s, &live), "END");
    stream_close(&s);
}

static void it_begins_with_what_there_is(void **state)
{
    (void)state;
    uint64_t b = live_put(&live, "a", "b", NULL, 10), a = live_put(&live, "a", "a", NULL, 10);
    static const char *const params[] = {
        "", "&resourceVersion=0",
        "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=2"
    };
    for (size_t i = 0; i < 3; i++) {
        struct stream s;
        stream_open(&s, &live, live_path(CONFIGMAPS "%s", params[i]));
        expect(&s, "ADDED", "a", a);
        expect(&s, "ADDED", "b", b);
        expect(&s, "ADDED", "c", live_put(&live, "a", "c", NULL, 10));
        expect(&s, "DELETED", "c", live_delete(&live, "a", "c"));
        stream_close(&s);
    }
}

static void many_initial_events_are_of_one_revision(void **state)
{
    (void)state;
    enum { OBJECTS = 3000 };
    for (size_t i = 0; i < OBJECTS; i++)
        (void)live_put(&live, "a", live_path("c%05zu", i), i % 3 ? "no" : "yes", 500);
    struct stream s;
    stream_open(&s, &live,
                CONFIGMAPS "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                           "&allowWatchBookmarks=true&labelSelector=x%3Dyes");
    size_t n = 0;
    const char *event;
    while (str_starts(str_of(event = stream_event(&s, &live)), STR("ADDED ")))
        assert_true(str_starts(str_of(event), str_of(live_path("ADDED c%05zu ", n++ * 3))));
    assert_int_equal(n, OBJECTS / 3);
    assert_true(str_starts(str_of(event), STR("BOOKMARK ")));
    uint64_t rev = live_put(&live, "a", "c00000", "no", 10);
    expect(&s, "DELETED", "c00000", rev);
    stream_close(&s);
}

static void selectors_turn_changes_into_comings_and_goings(void **state)
{
    (void)state;
    uint64_t start = live_put(&live, "a", "p", "no", 10);
    struct stream s, named;
    stream_open(&s, &live,
                live_path(CONFIGMAPS "&labelSelector=x%%3Dyes&resourceVersion=%llu",
                          (unsigned long long)start));
    stream_open(&named, &live,
                live_path(CONFIGMAPS "&fieldSelector=metadata.name%%3Dp&resourceVersion=%llu",
                          (unsigned long long)start));
    uint64_t in = live_put(&live, "a", "p", "yes", 10),
             stays = live_put(&live, "a", "p", "yes", 20),
             out = live_put(&live, "a", "p", "no", 20);
    (void)live_put(&live, "a", "p", "no", 30);
    (void)live_put(&live, "a", "p2", "no", 30);
    uint64_t again = live_put(&live, "a", "p", "yes", 10), gone = live_delete(&live, "a", "p");
    expect(&s, "ADDED", "p", in);
    expect(&s, "MODIFIED", "p", stays);
    expect(&s, "DELETED", "p", out);
    expect(&s, "ADDED", "p", again);
    expect(&s, "DELETED", "p", gone);
    stream_close(&s);
    expect(&named, "MODIFIED", "p", in);
    expect(&named, "MODIFIED", "p", stays);
    expect(&named, "MODIFIED", "p", out);
    assert_true(str_starts(str_of(stream_event(&named, &live)), STR("MODIFIED p ")));
    expect(&named, "MODIFIED", "p", again);
    expect(&named, "DELETED", "p", gone);
    stream_close(&named);
}

/* A DELETED that a selector made has the object as it was when it last matched. */
static void what_leaves_a_selector_is_shown_as_it_was(void **state)
{
    (void)state;
    uint64_t start = live_put(&live, "a", "p", "yes", 3);
    struct stream s;
    struct str line;
    stream_open(&s, &live,
                live_path(CONFIGMAPS "&labelSelector=x%%3Dyes&resourceVersion=%llu",
                          (unsigned long long)start));
    uint64_t out = live_put(&live, "a", "p", "no", 5);
    assert_true(stream_line(&s, &line));
    struct value event = live_json(&live, arena_str(&live.arena, line));
    const struct value *obj = value_get(&event, STR("object"));
    assert_string_equal(live_text(&live, value_dig(obj, "metadata", "labels", "x")), "yes");
    assert_string_equal(live_text(&live, value_dig(obj, "data", "k")), "vvv");
    assert_string_equal(live_text(&live, value_dig(obj, "metadata", "resourceVersion")),
                        live_path("%llu", (unsigned long long)out));
    stream_close(&s);
}

/* ---- Forms ---- */

static void a_table_names_its_columns_once(void **state)
{
    (void)state;
    (void)live_put(&live, "a", "p", NULL, 3);
    (void)live_put(&live, "a", "q", NULL, 3);
    int fd = live_open(&live, CONFIGMAPS "&timeoutSeconds=1&resourceVersion=0",
                       "Accept: application/json;as=Table;g=meta.k8s.io;v=v1\r\n");
    autobuf text = { 0 };
    assert_true(peer_read_all(fd, &text, SIZE_MAX));
    close(fd);
    struct str body = h1_body(buf_str(&text));
    for (size_t i = 0; i < 2; i++) {
        struct value event = live_json(&live, str_cut(&body, '\n'));
        const struct value *columns = value_dig(&event, "object", "columnDefinitions"),
                           *rows = value_dig(&event, "object", "rows");
        assert_int_equal(columns->type, i == 0 ? VALUE_ARRAY : VALUE_NULL);
        assert_int_equal(rows->n, 1);
    }
}

static void protobuf_comes_in_frames(void **state)
{
    (void)state;
    uint64_t rev = live_put(&live, "a", "p", NULL, 300);
    struct answer a = live_get(&live, CONFIGMAPS "&timeoutSeconds=1&resourceVersion=0",
                               "Accept: application/vnd.kubernetes.protobuf;stream=watch\r\n");
    assert_non_null(memmem(a.head.p, a.head.n, "protobuf;stream=watch", 21));
    const unsigned char *p = (const unsigned char *)a.body.p;
    assert_true(a.body.n > 4);
    assert_int_equal(a.body.n - 4, (size_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]);

    /* type = 1, object = 2 with raw = 1: the envelope follows two lengths of two bytes each. */
    assert_memory_equal(p + 4,
                        "\x0a\x05"
                        "ADDED\x12",
                        8);
    struct str envelope = str_skip(a.body, 4 + 7 + 3 + 3);
    struct proto_envelope e;
    struct err err = ERR_INIT(&live.arena);
    struct value obj;
    assert_int_equal(proto_envelope_read(envelope, &e, &err), 0);
    assert_int_equal(proto_read(&live.arena, kind_type_find(STR(""), STR("v1"), e.kind), e.raw,
                                e.api_version, e.kind, &obj, &err),
                     0);
    assert_string_equal(live_text(&live, value_dig(&obj, "metadata", "resourceVersion")),
                        live_path("%llu", (unsigned long long)rev));
}

static void cbor_comes_in_a_sequence(void **state)
{
    (void)state;
    (void)live_put(&live, "a", "p", NULL, 3);
    (void)live_put(&live, "a", "q", NULL, 3);
    struct answer a = live_get(&live, CONFIGMAPS "&timeoutSeconds=1&resourceVersion=0",
                               "Accept: application/cbor-seq\r\n");
    struct err err = ERR_INIT(&live.arena);
    static const char *const names[] = { "p", "q" };
    for (size_t i = 0; i < 2; i++) {
        struct value event;
        assert_int_equal(cbor_read_next(&live.arena, &a.body, &event, &err), 0);
        assert_string_equal(live_text(&live, value_get(&event, STR("type"))), "ADDED");
        assert_string_equal(live_text(&live, value_dig(&event, "object", "metadata", "name")),
                            names[i]);
    }
    assert_int_equal(a.body.n, 0);
}

/* ---- WebSocket ---- */

/* One frame of the server's, without a mask. */
static struct str ws_frame(int fd, struct buf *in, unsigned *ret_opcode)
{
    buf_reset(in);
    unsigned char head[4];
    assert_int_equal(recv(fd, head, 2, MSG_WAITALL), 2);
    *ret_opcode = head[0] & 15;
    size_t n = head[1];
    if (n == 126) {
        assert_int_equal(recv(fd, head + 2, 2, MSG_WAITALL), 2);
        n = (size_t)head[2] << 8 | head[3];
    }
    buf_reserve(in, n);
    assert_int_equal(recv(fd, in->p, n, MSG_WAITALL), n);
    in->n = n;
    return buf_str(in);
}

static void a_web_socket_has_a_message_for_each(void **state)
{
    (void)state;
    (void)live_put(&live, "a", "p", NULL, 300);
    (void)live_put(&live, "a", "q", NULL, 300);
    int fd = peer_connect(live.address);
    assert_true(peer_send(
        fd, STR("GET " CONFIGMAPS "&timeoutSeconds=1 HTTP/1.1\r\nHost: localhost\r\n"
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")));
    char head[4096];
    size_t n = 0;
    while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
        assert_true(n < sizeof(head));
        assert_int_equal(recv(fd, head + n++, 1, 0), 1);
    }
    assert_memory_equal(head, "HTTP/1.1 101 ", 13);
    static const char *const names[] = { "p", "q" };
    autobuf in = { 0 };
    unsigned opcode;
    for (size_t i = 0; i < 2; i++) {
        struct value event = live_json(&live, arena_str(&live.arena, ws_frame(fd, &in, &opcode)));
        assert_int_equal(opcode, 1);
        assert_string_equal(live_text(&live, value_dig(&event, "object", "metadata", "name")),
                            names[i]);
    }
    struct str close_frame = ws_frame(fd, &in, &opcode);
    assert_int_equal(opcode, 8);
    assert_memory_equal(close_frame.p, "\x03\xe8", 2); /* 1000 */
    close(fd);
}

/* ---- Bookmarks and ends ---- */

static void a_bookmark_comes_before_the_end(void **state)
{
    (void)state;
    uint64_t rev = live_put(&live, "b", "p", NULL, 3);
    struct stream s;
    struct str line;
    stream_open(&s, &live,
                CONFIGMAPS "&timeoutSeconds=2&sendInitialEvents=true&allowWatchBookmarks=true"
                           "&resourceVersionMatch=NotOlderThan");
    assert_true(stream_line(&s, &line));
    struct value event = live_json(&live, arena_str(&live.arena, line));
    assert_string_equal(live_text(&live, value_dig(&event, "object", "metadata", "annotations",
                                                   "k8s.io/initial-events-end")),
                        "true");
    assert_true(stream_line(&s, &line));
    assert_true(
        str_eq(line, str_of(live_path("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\","
                                      "\"apiVersion\":\"v1\",\"metadata\":{"
                                      "\"resourceVersion\":\"%llu\"}}}",
                                      (unsigned long long)rev))));
    assert_string_equal(stream_event(&s, &live), "END");
    stream_close(&s);
}

static int64_t error_code(struct stream *s, const char **ret_reason)
{
    struct str line;
    assert_true(stream_line(s, &line));
    struct value event = live_json(&live, arena_str(&live.arena, line));
    assert_string_equal(live_text(&live, value_get(&event, STR("type"))), "ERROR");
    *ret_reason = live_text(&live, value_dig(&event, "object", "reason"));
    assert_string_equal(stream_event(s, &live), "END");
    return value_dig(&event, "object", "code")->i;
}

static void what_is_too_old_is_told(void **state)
{
    (void)state;
    (void)live_put(&live, "a", "p", NULL, 3);
    uint64_t newest = live_put(&live, "a", "p", NULL, 3);
    struct err err = ERR_INIT(&live.arena);
    assert_int_equal(store_compact(live.api.store, newest, &err), 0);
    struct stream s;
    const char *reason;
    stream_open(&s, &live, CONFIGMAPS "&resourceVersion=1");
    assert_int_equal(error_code(&s, &reason), 410);
    assert_string_equal(reason, "Expired");
    stream_close(&s);
}

static void damage_ends_a_watch(void **state)
{
    (void)state;
    uint64_t rev = live_put(&live, "a", "p", NULL, 3);
    struct stream live_one, first, picky;
    const char *reason;
    const char *after = live_path(CONFIGMAPS "&resourceVersion=%llu", (unsigned long long)rev);
    stream_open(&live_one, &live, after);
    stream_open(&picky, &live, live_path("%s&labelSelector=x", after));
    (void)live_put_bytes(&live, live_key(&live, "a", "q"), STR("junk"));
    assert_int_equal(error_code(&live_one, &reason), 500);
    assert_int_equal(error_code(&picky, &reason), 500);
    stream_open(&first, &live, CONFIGMAPS);
    expect(&first, "ADDED", "p", rev);
    assert_int_equal(error_code(&first, &reason), 500);
    stream_close(&live_one);
    stream_close(&picky);
    stream_close(&first);
}

static void a_stopping_server_ends_them(void **state)
{
    (void)state;
    enum { WATCHES = 50 };
    struct stream streams[WATCHES];
    for (size_t i = 0; i < WATCHES; i++)
        stream_open(&streams[i], &live, CONFIGMAPS);
    harness_wait(count_watches() == WATCHES);
    uint64_t rev = live_put(&live, "a", "p", NULL, 3);
    for (size_t i = 0; i < WATCHES; i++)
        expect(&streams[i], "ADDED", "p", rev);
    live_drain(&live);
    for (size_t i = 0; i < WATCHES; i++) {
        assert_string_equal(stream_event(&streams[i], &live), "END");
        stream_close(&streams[i]);
    }
}

static void a_client_may_go_away(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2000; i++)
        (void)live_put(&live, "a", live_path("c%zu", i), NULL, 500);
    struct stream s;
    for (size_t i = 0; i < 20; i++) {
        stream_open(&s, &live, CONFIGMAPS);
        if (i % 2)
            assert_true(peer_read(s.fd, &s.in, 1));
        stream_close(&s);
    }
    harness_wait(count_watches() == 0);
}

/* Nothing is queued for whoever does not read, and nothing is lost to them either. */
static void a_slow_watcher_holds_up_nobody_and_misses_nothing(void **state)
{
    (void)state;
    enum { EVENTS = 400, BYTES = 64 << 10 };
    uint64_t start = live_put(&live, "a", "p", NULL, BYTES);
    struct stream s = { .fd = peer_connect(live.address) }, quick;
    struct str line;
    int small = 16 << 10;
    setsockopt(s.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    const char *target = live_path(CONFIGMAPS "&resourceVersion=%llu", (unsigned long long)start);
    assert_true(
        peer_send(s.fd, str_of(live_path("GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", target))));
    do
        assert_true(stream_line(&s, &line));
    while (line.n > 1);

    stream_open(&quick, &live, live_path("%s&labelSelector=x", target));
    for (size_t i = 0; i < EVENTS; i++)
        (void)live_put(&live, "a", "p", NULL, BYTES);
    uint64_t last = live_put(&live, "a", "q", "seen", 3);
    expect(&quick, "ADDED", "q", last); /* not held up */
    stream_close(&quick);
    for (size_t i = 1; i <= EVENTS; i++)
        expect(&s, "MODIFIED", "p", start + i);
    expect(&s, "ADDED", "q", last);
    stream_close(&s);
}

/* One that reads next to nothing. */
static int open_unread(const char *target, const char *headers)
{
    int fd = peer_connect(live.address), small = 4 << 10;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    assert_true(peer_send(
        fd, str_of(live_path("GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", target, headers))));
    return fd;
}

/* What they begin with, and what happens then, is held once for all of them. */
static void whoever_does_not_read_holds_no_copy(void **state)
{
    (void)state;
    /* Copies would be 420 MB. Each loop has both events, the test itself reads one, and buffers of
     * both grow by doubling: some 60 MB, as it comes. */
    enum { WATCHES = 30, BYTES = 7000000, MOST = 120 << 20 };
    int fds[WATCHES];
    (void)live_put(&live, "a", "p", NULL, BYTES);
    size_t rss = harness_rss_bytes();
    for (size_t i = 0; i < WATCHES; i++)
        fds[i] = open_unread(CONFIGMAPS, "");
    harness_wait(count_watches() == WATCHES);
    uint64_t rev = live_put(&live, "a", "q", NULL, BYTES);
    struct stream s;
    stream_open(&s, &live,
                live_path(CONFIGMAPS "&resourceVersion=%llu", (unsigned long long)rev - 1));
    expect(&s, "ADDED", "q", rev);
    harness_check_rss(rss, MOST);
    for (size_t i = 0; i < WATCHES; i++)
        close(fds[i]);
    stream_close(&s);
    harness_wait(count_watches() == 0);
}

/* A client of a watch has nothing to say: what it says takes no memory. */
static void frames_of_a_web_socket_are_not_kept(void **state)
{
    (void)state;
    enum { WATCHES = 20, BYTES = 8 << 20, MOST = 48 << 20 };
    static const char head[] = "\x82\xff\0\0\0\0\x01\x00\0\0abcd"; /* of 16 MiB, masked */
    int fds[WATCHES];
    char *half = calloc(1, BYTES);
    size_t rss = harness_rss_bytes();
    for (size_t i = 0; i < WATCHES; i++) {
        fds[i] = open_unread(CONFIGMAPS, "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                         "Sec-WebSocket-Version: 13\r\n"
                                         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
        autobuf reply = { 0 };
        assert_true(peer_read(fds[i], &reply, 12));
        assert_int_equal(h1_status(buf_str(&reply)), 101);
        assert_true(peer_send(fds[i], (struct str){ head, sizeof(head) - 1 }));
        assert_true(peer_send(fds[i], (struct str){ half, BYTES }));
    }
    harness_check_rss(rss, MOST);
    assert_int_equal(count_watches(), WATCHES);
    for (size_t i = 0; i < WATCHES; i++)
        close(fds[i]);
    free(half);
    harness_wait(count_watches() == 0);
}

int main(void)
{
#define WATCH_TEST(name) cmocka_unit_test_setup_teardown(name, live_setup, live_teardown)
    const struct CMUnitTest tests[] = {
        WATCH_TEST(changes_are_seen_as_they_happen),
        WATCH_TEST(it_begins_with_what_there_is),
        WATCH_TEST(many_initial_events_are_of_one_revision),
        WATCH_TEST(selectors_turn_changes_into_comings_and_goings),
        WATCH_TEST(what_leaves_a_selector_is_shown_as_it_was),
        WATCH_TEST(a_table_names_its_columns_once),
        WATCH_TEST(protobuf_comes_in_frames),
        WATCH_TEST(cbor_comes_in_a_sequence),
        WATCH_TEST(a_web_socket_has_a_message_for_each),
        WATCH_TEST(a_bookmark_comes_before_the_end),
        WATCH_TEST(what_is_too_old_is_told),
        WATCH_TEST(damage_ends_a_watch),
        WATCH_TEST(a_stopping_server_ends_them),
        WATCH_TEST(a_client_may_go_away),
        WATCH_TEST(a_slow_watcher_holds_up_nobody_and_misses_nothing),
        WATCH_TEST(whoever_does_not_read_holds_no_copy),
        WATCH_TEST(frames_of_a_web_socket_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
