/* ws.c - the WebSocket handshake, and a tunnel that carries frames.
 *
 * All of it runs on the exchange's loop. Pings are answered at once while there is room, else only
 * the newest is kept for later, as RFC 6455 5.5.3 allows: a client that sends pings and reads
 * nothing costs one pong. What a client offers as subprotocol is compared and never repeated or
 * logged, since Kubernetes clients put bearer tokens there. */
#include "net/ws/ws.h"

#include <assert.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/crypto/digest.h"
#include "net/loop.h"
#include "net/ws/ws_frame.h"
#include "base/banned.h"

enum { KEY_BYTES = 16 };

#define BEARER_PREFIX STR("base64url.bearer.authorization.k8s.io.")

struct ws {
    struct http_exchange *x;
    struct ws_handler handler;
    struct ws_reader_events reader_events;
    struct ws_reader reader;
    struct str protocol; /* one of the caller's, copied into the exchange's arena */
    struct loop_timer close_wait;
    bool close_sent, peer_closed;
    unsigned peer_code;
    bool pong_waits;
    size_t pong_n;
    char pong[WS_CONTROL_MAX];
};

/* ---- The handshake ---- */

/* Calls for every element of the comma-separated lists in the headers of that name, until true. */
static bool any_element(const struct http_request *req, struct str name,
                        bool (*is_it)(struct str element, struct str wanted), struct str wanted)
{
    for (size_t i = 0; i < req->n_headers; i++) {
        struct str list = req->headers[i].value;
        if (!str_eq(req->headers[i].name, name))
            continue;
        while (list.n)
            if (is_it(str_trim(str_cut(&list, ',')), wanted))
                return true;
    }
    return false;
}

static size_t count_headers(const struct http_request *req, struct str name)
{
    size_t n = 0;
    for (size_t i = 0; i < req->n_headers; i++)
        n += str_eq(req->headers[i].name, name);
    return n;
}

static bool key_valid(struct str key)
{
    autobuf raw = { 0 };
    return key.n == 24 && base64_decode(&raw, key) && raw.n == KEY_BYTES;
}

bool ws_wanted(const struct http_request *req)
{
    return req->version == HTTP_1_1 && str_eq(req->method, STR("GET")) &&
           any_element(req, STR("upgrade"), str_eq_nocase, STR("websocket")) &&
           any_element(req, STR("connection"), str_eq_nocase, STR("upgrade")) &&
           str_eq(http_header_get(req, STR("sec-websocket-version")), STR("13")) &&
           count_headers(req, STR("sec-websocket-key")) == 1 &&
           key_valid(http_header_get(req, STR("sec-websocket-key")));
}

static bool is_offer(struct str element, struct str unused)
{
    (void)unused;
    return element.n && !str_starts(element, BEARER_PREFIX);
}

/* False if the client has offered something and nothing fits. */
static bool choose_protocol(const struct http_request *req, const struct str *protocols, size_t n,
                            struct str *ret)
{
    const struct str header = STR("sec-websocket-protocol");
    for (size_t i = 0; i < n; i++) {
        if (any_element(req, header, str_eq, protocols[i])) {
            *ret = protocols[i];
            return true;
        }
    }
    *ret = STR("");
    return !any_element(req, header, is_offer, STR(""));
}

/* RFC 6455 4.2.2: the key and a fixed text, hashed, show that we know what we are doing. */
struct str ws_accept_value(struct arena *a, struct str key)
{
    unsigned char digest[DIGEST_SHA1_BYTES];
    struct str text = arena_printf(a, STR_FMT "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", STR_ARG(key));
    digest_sha1(text, digest);
    autobuf encoded = { 0 };
    base64_encode(&encoded, (struct str){ (const char *)digest, sizeof(digest) });
    return arena_str(a, buf_str(&encoded));
}

static void refuse(struct http_exchange *x, struct str why)
{
    const struct http_header headers[] = { { STR("content-type"), STR("text/plain") },
                                           { STR("sec-websocket-version"), STR("13") } };
    http_reply(x, 400, headers, 2, HTTP_BYTES(why));
}

/* ---- Sending ---- */

static void release_bytes(void *owner)
{
    free(owner);
}

static void write_frame(struct ws *ws, struct buf *frame)
{
    http_tunnel_write(ws->x, (struct http_bytes){ buf_str(frame), release_bytes, frame->p });
}

static void send_frame(struct ws *ws, enum ws_opcode opcode, struct str payload)
{
    struct buf frame = { 0 }; /* handed over */
    ws_frame_write(&frame, opcode, payload);
    write_frame(ws, &frame);
}

static void send_close(struct ws *ws, unsigned code, struct str reason)
{
    if (ws->close_sent)
        return;
    ws->close_sent = true;
    struct buf frame = { 0 }; /* handed over */
    ws_frame_write_close(&frame, code, reason);
    write_frame(ws, &frame);
}

static void finish(struct ws *ws, unsigned code)
{
    loop_timer_cancel(&ws->close_wait);
    http_tunnel_close(ws->x);
    ws->handler.on_close(ws->handler.arg, ws, code);
    ws_reader_done(&ws->reader);
    free(ws);
}

/* ---- Receiving ---- */

static void on_message(void *arg, enum ws_type type, struct str message)
{
    struct ws *ws = arg;
    if (!ws->close_sent)
        ws->handler.on_message(ws->handler.arg, ws, type, message);
}

static void on_ping(void *arg, struct str payload)
{
    struct ws *ws = arg;
    if (ws->close_sent)
        return;
    ws->pong_waits = http_reply_room(ws->x) == 0;
    if (!ws->pong_waits) {
        send_frame(ws, WS_OP_PONG, payload);
        return;
    }
    ws->pong_n = payload.n;
    memcpy(ws->pong, payload.p, payload.n);
}

static void on_peer_close(void *arg, unsigned code, struct str reason)
{
    (void)reason;
    struct ws *ws = arg;
    ws->peer_closed = true;
    ws->peer_code = code;
}

static void on_bytes(void *arg, struct http_exchange *x, struct str bytes)
{
    (void)x;
    struct ws *ws = arg;
    unsigned broken = ws_reader_feed(&ws->reader, bytes);
    if (broken) {
        send_close(ws, broken, STR(""));
        finish(ws, broken);
    } else if (ws->peer_closed) {
        send_close(ws, ws->peer_code, STR(""));
        finish(ws, ws->peer_code);
    }
}

static void on_room(void *arg, struct http_exchange *x)
{
    (void)x;
    struct ws *ws = arg;
    if (ws->pong_waits && !ws->close_sent)
        send_frame(ws, WS_OP_PONG, (struct str){ ws->pong, ws->pong_n });
    ws->pong_waits = false;
    if (ws->handler.on_room && !ws->close_sent)
        ws->handler.on_room(ws->handler.arg, ws);
}

static void on_gone(void *arg, struct http_exchange *x)
{
    (void)x;
    finish(arg, WS_CODE_GONE);
}

static void on_close_wait(struct loop_timer *t)
{
    struct ws *ws = container_of(t, struct ws, close_wait);
    finish(ws, WS_CODE_GONE);
}

/* ---- For the callers ---- */

static struct ws *ws_new(struct http_exchange *x, struct str protocol,
                         const struct ws_handler *handler)
{
    struct ws *ws = mem_new(struct ws);
    ws->x = x;
    ws->handler = *handler;
    ws->protocol = arena_str(http_arena(x), protocol);
    ws->close_wait.on_fire = on_close_wait;
    ws->reader_events = (struct ws_reader_events){ ws, on_message, on_ping, on_peer_close };
    ws_reader_init(&ws->reader, LIMIT_WS_MESSAGE_BYTES, &ws->reader_events);
    if (!handler->on_message)
        ws->reader_events.on_message = NULL;
    return ws;
}

struct ws *ws_accept(struct http_exchange *x, const struct str *protocols, size_t n_protocols,
                     const struct ws_handler *handler)
{
    const struct http_request *req = http_request_of(x);
    struct str protocol;
    if (!ws_wanted(req)) {
        refuse(x, STR("not a WebSocket handshake\n"));
        return NULL;
    }
    if (!choose_protocol(req, protocols, n_protocols, &protocol)) {
        refuse(x, STR("none of the offered subprotocols is supported\n"));
        return NULL;
    }
    struct ws *ws = ws_new(x, protocol, handler);
    struct str key = http_header_get(req, STR("sec-websocket-key"));
    const struct http_header headers[] = {
        { STR("upgrade"), STR("websocket") },
        { STR("connection"), STR("Upgrade") },
        { STR("sec-websocket-accept"), ws_accept_value(http_arena(x), key) },
        { STR("sec-websocket-protocol"), protocol },
    };
    const struct http_tunnel tunnel = { ws, on_bytes, on_room, on_gone };
    http_upgrade(x, headers, protocol.n ? 4 : 3, &tunnel);
    return ws;
}

struct str ws_protocol(const struct ws *ws)
{
    return ws->protocol;
}

void ws_send(struct ws *ws, enum ws_type type, struct str message)
{
    if (!ws->close_sent)
        send_frame(ws, type == WS_TEXT ? WS_OP_TEXT : WS_OP_BINARY, message);
}

size_t ws_room(struct ws *ws)
{
    return ws->close_sent ? 0 : http_reply_room(ws->x);
}

void ws_close(struct ws *ws, unsigned code, struct str reason)
{
    if (ws->close_sent)
        return;
    send_close(ws, code, reason);
    struct loop *l = http_loop(ws->x);
    loop_timer_set(l, &ws->close_wait, loop_now_ns(l) + LIMIT_WS_CLOSE_MS * NS_PER_MS);
}
