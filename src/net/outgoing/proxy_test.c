#include "net/outgoing/proxy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void assert_bytes(struct str got, struct str want)
{
    if (!str_eq(got, want))
        fail_msg("got \"" STR_FMT "\" (%zu), want \"" STR_FMT "\" (%zu)", STR_ARG(got), got.n,
                 STR_ARG(want), want.n);
}

/* ---- Which one ---- */

static void urls(void **state)
{
    static const struct {
        const char *url, *address, *user, *password, *curl;
        enum proxy_kind kind;
    } rows[] = {
        { "http://p", "p:80", NULL, NULL, "http://p:80", PROXY_HTTP },
        { "http://p:3128/", "p:3128", NULL, NULL, "http://p:3128", PROXY_HTTP },
        { "https://p", "p:443", NULL, NULL, "https://p:443", PROXY_HTTPS },
        { "socks5://p", "p:1080", NULL, NULL, "socks5h://p:1080", PROXY_SOCKS5 },
        { "socks5h://p:1", "p:1", NULL, NULL, "socks5h://p:1", PROXY_SOCKS5 },
        { "http://[::1]:8080", "[::1]:8080", NULL, NULL, "http://[::1]:8080", PROXY_HTTP },
        { "http://u%40x:p%3Aw@p", "p:80", "u@x", "p:w", "http://p:80", PROXY_HTTP },
        { "socks5://u@p", "p:1080", "u", NULL, "socks5h://p:1080", PROXY_SOCKS5 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct proxy p;
        assert_int_equal(proxy_read(&arena, str_of(rows[i].url), &p, NULL), 0);
        assert_int_equal(p.kind, rows[i].kind);
        assert_bytes(p.address, str_of(rows[i].address));
        assert_bytes(p.user, str_of(rows[i].user));
        assert_bytes(p.password, str_of(rows[i].password));
        assert_int_equal(p.user.p != NULL, rows[i].user != NULL);
        assert_bytes(proxy_for_curl(&arena, &p), str_of(rows[i].curl));
    }
}

static void names_of_certificates(void **state)
{
    (void)state;
    struct proxy p;
    assert_int_equal(proxy_read(&arena, STR("https://u:p@[fd00::1]:1"), &p, NULL), 0);
    assert_bytes(proxy_host(&p), STR("fd00::1"));
    assert_int_equal(proxy_read(&arena, STR("https://a.b"), &p, NULL), 0);
    assert_bytes(proxy_host(&p), STR("a.b"));
}

static void no_urls(void **state)
{
    static const char *const rows[] = { "ftp://p", "http://", "http://p:99999", "://",
                                        "http://a b" };
    (void)state;
    struct proxy p;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(proxy_read(&arena, str_of(rows[i]), &p, NULL), -ERR_INVALID);
    assert_int_equal(proxy_read(&arena, STR("http://p\0q"), &p, NULL), -ERR_INVALID);
    assert_int_equal(proxy_read(&arena, STR(""), &p, NULL), 0);
    assert_int_equal(p.kind, PROXY_NONE);
    assert_bytes(proxy_for_curl(&arena, &p), STR(""));
}

/* ---- The way through it ---- */

enum { STEPS_MAX = 4 };

/* A conversation: what is said first, and then what follows from each answer. It ends with 1, or
 * with an error whose words are given. */
struct talk {
    const char *proxy, *target;
    struct str first;
    struct {
        struct str in, out;
    } steps[STEPS_MAX];
    const char *refusal;
};

static const struct talk talks[] = {
    { "http://p",
      "a.example:6443",
      STR("CONNECT a.example:6443 HTTP/1.1\r\nHost: a.example:6443\r\n\r\n"),
      { { STR("HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n"), STR("") } },
      NULL },
    { "http://joe:secret@p",
      "[::1]:443",
      STR("CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n"
          "Proxy-Authorization: Basic am9lOnNlY3JldA==\r\n\r\n"),
      { { STR("HTTP/1.0 200 OK\r\n\r\n"), STR("") } },
      NULL },
    { "http://p",
      "a:1",
      STR("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
      { { STR("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), STR("") } },
      "the proxy refuses: 407 Proxy Authentication Required" },
    { "http://p",
      "a:1",
      STR("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
      { { STR("220 mail.example ESMTP\r\n\r\n"), STR("") } },
      "the proxy does not speak HTTP" },
    { "http://p",
      "a:1",
      STR("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
      { { STR("HTTP/1.1 200 OK\r\n\r\nmore"), STR("") } },
      "the proxy says more than it was asked" },
    { "socks5://p",
      "a.example:6443",
      STR("\5\1\0"),
      { { STR("\5\0"), STR("\5\1\0\3\11a.example\x19\x2b") },
        { STR("\5\0\0\1\0\0\0\0\0\0"), STR("") } },
      NULL },
    { "socks5://p",
      "127.0.0.1:256",
      STR("\5\1\0"),
      { { STR("\5\0"), STR("\5\1\0\1\x7f\0\0\1\1\0") }, { STR("\5\0\0\3\3a.b\0\1"), STR("") } },
      NULL },
    { "socks5://p",
      "[::1]:1",
      STR("\5\1\0"),
      { { STR("\5\0"), STR("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\1") },
        { STR("\5\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\1"), STR("") } },
      NULL },
    { "socks5://joe:pw@p",
      "a:1",
      STR("\5\2\0\2"),
      { { STR("\5\2"), STR("\1\3joe\2pw") },
        { STR("\1\0"), STR("\5\1\0\3\1a\0\1") },
        { STR("\5\0\0\1\0\0\0\0\0\0"), STR("") } },
      NULL },
    { "socks5://joe:pw@p",
      "a:1",
      STR("\5\2\0\2"),
      { { STR("\5\2"), STR("\1\3joe\2pw") }, { STR("\1\1"), STR("") } },
      "the proxy refuses the user name and password" },
    { "socks5://p",
      "a:1",
      STR("\5\1\0"),
      { { STR("\5\xff"), STR("") } },
      "the proxy wants to know who asks" },
    { "socks5://p",
      "a:1",
      STR("\5\1\0"),
      { { STR("\5\2"), STR("") } },
      "the proxy wants to know who asks" },
    { "socks5://p",
      "a:1",
      STR("\5\1\0"),
      { { STR("HT"), STR("") } },
      "the proxy does not speak SOCKS 5" },
    { "socks5://p",
      "a:1",
      STR("\5\1\0"),
      { { STR("\5\0"), STR("\5\1\0\3\1a\0\1") }, { STR("\5\5"), STR("") } },
      "the proxy refuses: connection refused" },
    { "socks5://p",
      "a:1",
      STR("\5\1\0"),
      { { STR("\5\0"), STR("\5\1\0\3\1a\0\1") }, { STR("\5\x63\0"), STR("") } },
      "the proxy refuses: unknown code" },
};

/* `at_once`: how many bytes come together. */
static int play_step(struct tunnel *t, struct str in, size_t at_once, struct buf *out,
                     struct err *err)
{
    int r = 0;
    while (in.n && r == 0) {
        r = tunnel_feed(t, str_take(in, at_once), out, err);
        in = str_skip(in, at_once);
    }
    if (r == 1) /* it is open with the last byte and not before */
        assert_int_equal(in.n, 0);
    return r;
}

static void play(const struct talk *talk, size_t at_once)
{
    struct proxy p;
    struct tunnel t;
    struct err err = ERR_INIT(&arena);
    autobuf out = { 0 };
    int r = 0;
    assert_int_equal(proxy_read(&arena, str_of(talk->proxy), &p, NULL), 0);
    assert_int_equal(tunnel_begin(&t, &p, str_of(talk->target), &out, &err), 0);
    assert_bytes(buf_str(&out), talk->first);
    for (size_t i = 0; i < STEPS_MAX && talk->steps[i].in.n && r == 0; i++) {
        buf_reset(&out);
        r = play_step(&t, talk->steps[i].in, at_once, &out, &err);
        assert_bytes(buf_str(&out), talk->steps[i].out);
    }
    tunnel_done(&t);
    if (talk->refusal) {
        assert_int_equal(r, -ERR_UNAVAILABLE);
        assert_bytes(err.msg, str_of(talk->refusal));
    } else {
        assert_int_equal(r, 1);
    }
}

static void conversations(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(talks); i++)
        play(&talks[i], SIZE_MAX);
}

/* Only what comes after an answer depends on how it is cut. */
static void byte_by_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(talks); i++)
        if (!talks[i].refusal)
            play(&talks[i], 1);
}

static void what_cannot_be_said(void **state)
{
    (void)state;
    char name[300];
    memset(name, 'a', sizeof(name));
    const struct str long_name = { name, sizeof(name) };
    const struct proxy p = { .kind = PROXY_SOCKS5, .address = STR("p:1") };
    const struct proxy strange = { .kind = PROXY_SOCKS5, .address = STR("p:1"), .user = long_name };
    const struct str targets[] = {
        STR("a"),       STR("a:"),  STR(":1"),
        STR("a:65536"), STR("a:x"), arena_printf(&arena, STR_FMT ":1", STR_ARG(long_name))
    };
    struct tunnel t;
    autobuf out = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(targets); i++)
        assert_int_equal(tunnel_begin(&t, &p, targets[i], &out, NULL), -ERR_INVALID);
    assert_int_equal(tunnel_begin(&t, &strange, STR("a:1"), &out, NULL), -ERR_INVALID);
    assert_int_equal(out.n, 0);
}

static void an_answer_without_an_end(void **state)
{
    (void)state;
    const struct proxy p = { .kind = PROXY_HTTP, .address = STR("p:1") };
    struct tunnel t;
    autobuf out = { 0 };
    char piece[1 << 10];
    memset(piece, 'x', sizeof(piece));
    assert_int_equal(tunnel_begin(&t, &p, STR("a:1"), &out, NULL), 0);
    int r = 0;
    size_t n = 0;
    for (; r == 0 && n < 2 * LIMIT_PROXY_BYTES; n += sizeof(piece))
        r = tunnel_feed(&t, (struct str){ piece, sizeof(piece) }, &out, NULL);
    assert_int_equal(r, -ERR_UNAVAILABLE);
    assert_true(n <= LIMIT_PROXY_BYTES + sizeof(piece));
    tunnel_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls),
        cmocka_unit_test(names_of_certificates),
        cmocka_unit_test(no_urls),
        cmocka_unit_test(conversations),
        cmocka_unit_test(byte_by_byte),
        cmocka_unit_test(what_cannot_be_said),
        cmocka_unit_test(an_answer_without_an_end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
