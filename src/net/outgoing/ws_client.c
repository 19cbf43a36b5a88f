#include "net/outgoing/ws_client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/outgoing/courier_internal.h"
#include "net/outgoing/fetch_internal.h"
#include "net/ws/ws_frame.h"
#include "base/banned.h"

enum {
    HANDSHAKE_MS = 30000,
    PIECE_BYTES = 16 << 10,
    REFUSAL_MAX = 1 << 20,
    KEY_BYTES = 16,
};

struct ws_client {
    struct arena arena; /* of the request */
    struct fetch_trust trust;
    struct str url, server_name;
    struct fetch_request req;
    struct fetch_transfer transfer;
    CURL *easy;
    bool is_open;
    struct pollfd fds[2]; /* the socket, and what wakes who waits for it */
    atomic_bool is_cancelled;
    struct str protocol;

    pthread_mutex_t io_lock;   /* of `easy`, whose calls do not wait */
    pthread_mutex_t send_lock; /* one frame after the other: held while it is sent */

    struct ws_reader reader; /* the reading thread's, as all below */
    struct ws_reader_events events;
    struct buf inbox; /* messages, each with its length in front */
    size_t inbox_at;
    bool is_closed;
    unsigned close_code;

    pthread_mutex_t pong_lock; /* of what follows */
    struct buf pong;           /* a whole frame that waits to be sent */
};

/* ---- Bytes ---- */

static void random_bytes(void *p, size_t n)
{
    while (getrandom(p, n, 0) != (ssize_t)n) {
    }
}

/* Waits for the socket. */
static int wait_for(struct ws_client *w, short events, int64_t deadline_ns, struct err *err)
{
    struct pollfd fds[2] = { w->fds[0], w->fds[1] };
    fds[0].events = events;
    int64_t left = -1;
    if (deadline_ns >= 0)
        left = (deadline_ns - clock_mono_ns(&clock_system)) / NS_PER_MS + 1;
    if (atomic_load(&w->is_cancelled))
        return err_set(err, ERR_GONE, "cancelled");
    if (deadline_ns >= 0 && left <= 0)
        return err_set(err, ERR_TIMEOUT, "no answer in time");
    int n = poll(fds, 2, left < 0 ? -1 : (int)(left < INT32_MAX ? left : INT32_MAX));
    if (n < 0 && errno != EINTR)
        return err_set(err, ERR_UNAVAILABLE, "poll: %s", strerror(errno));
    return 0;
}

static int send_all(struct ws_client *w, struct str bytes, int64_t deadline_ns, struct err *err)
{
    while (bytes.n) {
        size_t sent = 0;
        (void)pthread_mutex_lock(&w->io_lock);
        CURLcode code = curl_easy_send(w->easy, bytes.p, bytes.n, &sent);
        (void)pthread_mutex_unlock(&w->io_lock);
        if (code != CURLE_OK && code != CURLE_AGAIN)
            return err_set(err, ERR_UNAVAILABLE, "send: %s", curl_easy_strerror(code));
        bytes = str_skip(bytes, sent);
        int r = sent ? 0 : wait_for(w, POLLOUT, deadline_ns, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* 1: some came; 0: the peer has ended it. */
static int receive(struct ws_client *w, char *to, size_t room, size_t *ret_n, int64_t deadline_ns,
                   struct err *err)
{
    for (;;) {
        (void)pthread_mutex_lock(&w->io_lock);
        CURLcode code = curl_easy_recv(w->easy, to, room, ret_n);
        (void)pthread_mutex_unlock(&w->io_lock);
        if (code == CURLE_OK)
            return *ret_n > 0;
        if (code != CURLE_AGAIN)
            return err_set(err, ERR_UNAVAILABLE, "receive: %s", curl_easy_strerror(code));
        int r = wait_for(w, POLLIN, deadline_ns, err);
        if (r < 0)
            return r;
    }
}

/* ---- Frames ---- */

static void add_frame(struct buf *out, enum ws_opcode opcode, struct str payload)
{
    unsigned char mask[4];
    random_bytes(mask, sizeof(mask));
    ws_frame_write_masked(out, opcode, payload, mask);
}

/* Whoever writes sends the answer to a ping, too; so the reader never waits for a writer. Called
 * with `send_lock` held. */
static int send_pong(struct ws_client *w, struct err *err)
{
    autobuf pong = { 0 };
    (void)pthread_mutex_lock(&w->pong_lock);
    buf_str_add(&pong, buf_str(&w->pong));
    buf_reset(&w->pong);
    (void)pthread_mutex_unlock(&w->pong_lock);
    return send_all(w, buf_str(&pong), -1, err);
}

static void on_message(void *arg, enum ws_type type, struct str message)
{
    struct ws_client *w = arg;
    uint64_t n = message.n;
    (void)type;
    buf_add(&w->inbox, &n, sizeof(n));
    buf_str_add(&w->inbox, message);
}

/* Of several pings the newest is answered, as RFC 6455 5.5.3 allows. */
static void on_ping(void *arg, struct str payload)
{
    struct ws_client *w = arg;
    (void)pthread_mutex_lock(&w->pong_lock);
    buf_reset(&w->pong);
    add_frame(&w->pong, WS_OP_PONG, payload);
    (void)pthread_mutex_unlock(&w->pong_lock);
}

static void on_close(void *arg, unsigned code, struct str reason)
{
    struct ws_client *w = arg;
    (void)reason;
    w->is_closed = true;
    w->close_code = code;
}

static int feed(struct ws_client *w, struct str bytes, struct err *err)
{
    unsigned code = ws_reader_feed(&w->reader, bytes);
    if (code == WS_CODE_TOO_LARGE)
        return err_set(err, ERR_TOO_LARGE, "a message larger than %zu bytes",
                       w->reader.max_message);
    if (code)
        return err_set(err, ERR_UNAVAILABLE, "the server breaks the WebSocket protocol");
    if (pthread_mutex_trylock(&w->send_lock) != 0)
        return 0; /* the writer will see to the pong */
    int r = send_pong(w, err);
    (void)pthread_mutex_unlock(&w->send_lock);
    return r;
}

static bool take_message(struct ws_client *w, struct buf *ret)
{
    struct str rest = str_skip(buf_str(&w->inbox), w->inbox_at);
    uint64_t n;
    if (!rest.n)
        return false;
    memcpy(&n, rest.p, sizeof(n));
    buf_str_add(ret, str_take(str_skip(rest, sizeof(n)), n));
    w->inbox_at += sizeof(n) + n;
    if (w->inbox_at == w->inbox.n) {
        buf_reset(&w->inbox);
        w->inbox_at = 0;
    }
    return true;
}

static int end_of(const struct ws_client *w, struct err *err)
{
    if (w->close_code == WS_CODE_NORMAL || w->close_code == WS_CODE_NONE)
        return 0;
    return err_set(err, ERR_UNAVAILABLE, "the server closed with code %u", w->close_code);
}

int ws_client_read(struct ws_client *w, int64_t timeout_ms, struct buf *ret, struct err *err)
{
    char piece[PIECE_BYTES];
    int64_t deadline = timeout_ms < 0 ? -1 : courier_deadline(timeout_ms);
    buf_reset(ret);
    while (!take_message(w, ret)) {
        size_t n;
        if (w->is_closed)
            return end_of(w, err);
        int r = receive(w, piece, sizeof(piece), &n, deadline, err);
        if (r < 0)
            return r;
        if (r == 0)
            return err_set(err, ERR_UNAVAILABLE, "the connection ended without a goodbye");
        r = feed(w, (struct str){ piece, n }, err);
        if (r < 0)
            return r;
    }
    return 1;
}

static int send_frame(struct ws_client *w, struct str frame, struct err *err)
{
    int r = send_all(w, frame, -1, err);
    if (r < 0)
        return r;
    return send_pong(w, err);
}

int ws_client_write(struct ws_client *w, enum ws_type type, struct str message, struct err *err)
{
    autobuf frame = { 0 };
    add_frame(&frame, type == WS_TEXT ? WS_OP_TEXT : WS_OP_BINARY, message);
    (void)pthread_mutex_lock(&w->send_lock);
    int r = send_frame(w, buf_str(&frame), err);
    (void)pthread_mutex_unlock(&w->send_lock);
    return r;
}

/* ---- The handshake ---- */

static struct str new_key(struct arena *a)
{
    unsigned char bytes[KEY_BYTES];
    autobuf text = { 0 };
    random_bytes(bytes, sizeof(bytes));
    base64_encode(&text, (struct str){ (const char *)bytes, sizeof(bytes) });
    return arena_str(a, buf_str(&text));
}

/* The URL's own parts: "https://HOST/PREFIX". */
static void url_parts(struct str url, struct str *ret_host, struct str *ret_prefix)
{
    struct str rest = str_skip(url, str_starts(url, STR("https://")) ? 8 : 7);
    *ret_prefix = rest;
    *ret_host = str_cut(ret_prefix, '/');
    if (ret_prefix->p)
        *ret_prefix = (struct str){ ret_prefix->p - 1, ret_prefix->n + 1 };
    while (str_ends(*ret_prefix, STR("/")))
        ret_prefix->n--;
}

static bool breaks_lines(struct str s)
{
    return str_find(s, '\r') >= 0 || str_find(s, '\n') >= 0 || str_find(s, '\0') >= 0;
}

static int add_line(struct buf *out, struct str name, struct str value, struct err *err)
{
    if (breaks_lines(name) || breaks_lines(value))
        return err_set(err, ERR_BAD_REQUEST, "header that cannot be sent");
    buf_printf(out, STR_FMT ": " STR_FMT "\r\n", STR_ARG(name), STR_ARG(value));
    return 0;
}

static int write_request(struct buf *out, struct str url, const struct ws_client_request *req,
                         struct str key, struct err *err)
{
    struct str host, prefix;
    autobuf protocols = { 0 };
    url_parts(url, &host, &prefix);
    if (breaks_lines(req->path) || str_find(req->path, ' ') >= 0)
        return err_set(err, ERR_BAD_REQUEST, "path that cannot be sent");
    for (size_t i = 0; i < req->n_protocols; i++)
        buf_printf(&protocols, "%s" STR_FMT, i ? ", " : "", STR_ARG(req->protocols[i]));
    buf_printf(out,
               "GET " STR_FMT STR_FMT " HTTP/1.1\r\nHost: " STR_FMT "\r\nUpgrade: websocket\r\n"
               "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n",
               STR_ARG(prefix), STR_ARG(req->path), STR_ARG(host));
    int r = add_line(out, STR("Sec-WebSocket-Key"), key, err);
    if (r < 0)
        return r;
    r = add_line(out, STR("Sec-WebSocket-Protocol"), buf_str(&protocols), err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < req->n_headers; i++) {
        r = add_line(out, req->headers[i].name, req->headers[i].value, err);
        if (r < 0)
            return r;
    }
    buf_str_add(out, STR("\r\n"));
    return 0;
}

/* The head of the answer, and what came behind it. */
struct ws_answer {
    struct buf bytes;
    size_t head_n; /* with its empty line */
    int status;
};

static struct str answer_header(const struct ws_answer *a, struct str name)
{
    struct str rest = str_take(buf_str(&a->bytes), a->head_n);
    while (rest.n) {
        struct str value = str_cut(&rest, '\n');
        struct str key = str_cut(&value, ':');
        if (value.p && str_eq_nocase(str_trim(key), name))
            return str_trim(value);
    }
    return STR("");
}

static bool find_head(struct ws_answer *a)
{
    const char *end = a->bytes.n ? memmem(a->bytes.p, a->bytes.n, "\r\n\r\n", 4) : NULL;
    uint64_t status = 0;
    if (!end)
        return false;
    struct str line = buf_str(&a->bytes);
    a->head_n = (size_t)(end - a->bytes.p) + 4;
    (void)str_cut(&line, ' ');
    (void)str_to_u64(str_take(line, 3), &status);
    a->status = (int)status;
    return true;
}

static int receive_head(struct ws_client *w, struct ws_answer *a, int64_t deadline, struct err *err)
{
    char piece[PIECE_BYTES];
    while (!find_head(a)) {
        size_t n;
        if (a->bytes.n > LIMIT_HEADER_BYTES)
            return err_set(err, ERR_TOO_LARGE, "the head of the answer is too large");
        int r = receive(w, piece, sizeof(piece), &n, deadline, err);
        if (r < 0)
            return r;
        if (r == 0)
            return err_set(err, ERR_UNAVAILABLE, "the server ended the connection");
        buf_add(&a->bytes, piece, n);
    }
    return 0;
}

/* What a server says instead: as much as it announces, or as comes. */
static void receive_refusal(struct ws_client *w, struct ws_answer *a, int64_t deadline,
                            struct arena *arena, struct ws_client_refusal *ret)
{
    char piece[PIECE_BYTES];
    uint64_t length = REFUSAL_MAX;
    size_t n;
    (void)str_to_u64(answer_header(a, STR("content-length")), &length);
    if (length > REFUSAL_MAX)
        length = REFUSAL_MAX;
    while (a->bytes.n - a->head_n < length &&
           receive(w, piece, sizeof(piece), &n, deadline, NULL) > 0)
        buf_add(&a->bytes, piece, n);
    ret->status = a->status;
    ret->body = arena_str(arena, str_skip(buf_str(&a->bytes), a->head_n));
}

static int check_answer(struct ws_client *w, const struct ws_client_request *req, struct str key,
                        const struct ws_answer *a, struct err *err)
{
    struct str chosen = answer_header(a, STR("sec-websocket-protocol"));
    if (!str_eq(answer_header(a, STR("sec-websocket-accept")), ws_accept_value(&w->arena, key)))
        return err_set(err, ERR_UNAVAILABLE, "the server knows nothing of WebSocket");
    for (size_t i = 0; i < req->n_protocols; i++)
        if (str_eq(req->protocols[i], chosen))
            w->protocol = arena_str(&w->arena, chosen);
    if (!w->protocol.n && req->n_protocols)
        return err_set(err, ERR_UNAVAILABLE, "the server speaks none of our protocols");
    return 0;
}

static int shake_hands(struct ws_client *w, const struct ws_client_request *req, struct arena *a,
                       struct ws_answer *answer, struct ws_client_refusal *refusal, struct err *err)
{
    struct str key = new_key(&w->arena);
    int64_t deadline = courier_deadline(w->req.timeout_ms);
    autobuf request = { 0 };
    int r = write_request(&request, w->url, req, key, err);
    if (r < 0)
        return r;
    r = send_all(w, buf_str(&request), deadline, err);
    if (r < 0)
        return r;
    r = receive_head(w, answer, deadline, err);
    if (r < 0)
        return r;
    if (answer->status != 101) {
        receive_refusal(w, answer, deadline, a, refusal);
        return err_set(err, ERR_CONFLICT, "HTTP status %d", answer->status);
    }
    r = check_answer(w, req, key, answer, err);
    if (r < 0)
        return r;
    return feed(w, str_skip(buf_str(&answer->bytes), answer->head_n), err);
}

/* ---- Beginning and end ---- */

static int ends_early(void *arg, curl_off_t down, curl_off_t now_down, curl_off_t up,
                      curl_off_t now_up)
{
    (void)down;
    (void)now_down;
    (void)up;
    (void)now_up;
    return atomic_load(&((struct ws_client *)arg)->is_cancelled);
}

static int connect_to(struct ws_client *w, const struct ws_client_request *req, struct err *err)
{
    w->req = (struct fetch_request){
        .method = STR("GET"),
        .url = w->url,
        .server_name = w->server_name,
        .timeout_ms = req->timeout_ms > 0 ? req->timeout_ms : (int64_t)HANDSHAKE_MS,
    };
    w->transfer = (struct fetch_transfer){
        .req = &w->req, .trust = &w->trust, .easy = w->easy, .arena = &w->arena
    };
    int r = fetch_transfer_prepare(&w->transfer, err);
    if (r < 0)
        return r;
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_setopt(w->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(w->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    curl_easy_setopt(w->easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(w->easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(w->easy, CURLOPT_XFERINFOFUNCTION, ends_early);
    curl_easy_setopt(w->easy, CURLOPT_XFERINFODATA, w);
    CURLcode code = curl_easy_perform(w->easy);
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return err_set(err, ERR_GONE, "cancelled");
    if (code != CURLE_OK)
        return fetch_transfer_error(&w->transfer, code, err);
    if (curl_easy_getinfo(w->easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd < 0)
        return err_set(err, ERR_UNAVAILABLE, "no connection");
    w->fds[0] = (struct pollfd){ .fd = fd };
    return 0;
}

struct ws_client *ws_client_new(const struct courier_options *to)
{
    struct ws_client *w = mem_new(struct ws_client);
    arena_init(&w->arena);
    fetch_trust_init(&w->trust, &to->trust);
    w->url = arena_str(&w->arena, to->url);
    w->server_name = arena_str(&w->arena, to->server_name);
    w->easy = fetch_easy_new();
    w->fds[0].fd = -1;
    w->fds[1] = (struct pollfd){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .events = POLLIN };
    (void)pthread_mutex_init(&w->io_lock, NULL);
    (void)pthread_mutex_init(&w->send_lock, NULL);
    (void)pthread_mutex_init(&w->pong_lock, NULL);
    w->events = (struct ws_reader_events){
        .arg = w, .on_message = on_message, .on_ping = on_ping, .on_close = on_close
    };
    ws_reader_init(&w->reader, LIMIT_WS_MESSAGE_BYTES, &w->events);
    w->reader.is_client = true;
    return w;
}

int ws_client_open(struct ws_client *w, const struct ws_client_request *req, struct arena *a,
                   struct ws_client_refusal *ret_refusal, struct err *err)
{
    struct ws_answer answer = { .status = 0 };
    *ret_refusal = (struct ws_client_refusal){ 0 };
    int r = connect_to(w, req, err);
    if (r < 0)
        return r;
    r = shake_hands(w, req, a, &answer, ret_refusal, err);
    buf_done(&answer.bytes);
    w->is_open = r == 0;
    return r;
}

struct str ws_client_protocol(const struct ws_client *w)
{
    return w->protocol;
}

void ws_client_cancel(struct ws_client *w)
{
    const uint64_t one = 1;
    atomic_store(&w->is_cancelled, true);
    if (write(w->fds[1].fd, &one, sizeof(one)) < 0) {
        /* it is set already */
    }
}

static void say_goodbye(struct ws_client *w)
{
    autobuf frame = { 0 };
    size_t sent;
    if (!w->is_open)
        return;
    add_frame(&frame, WS_OP_CLOSE, STR("\x03\xe8")); /* 1000 */
    (void)curl_easy_send(w->easy, frame.p, frame.n, &sent);
}

struct ws_client *ws_client_free(struct ws_client *w)
{
    if (!w)
        return NULL;
    say_goodbye(w);
    curl_easy_cleanup(w->easy);
    fetch_transfer_done(&w->transfer);
    fetch_trust_done(&w->trust);
    (void)close(w->fds[1].fd);
    ws_reader_done(&w->reader);
    buf_done(&w->inbox);
    buf_done(&w->pong);
    (void)pthread_mutex_destroy(&w->io_lock);
    (void)pthread_mutex_destroy(&w->send_lock);
    (void)pthread_mutex_destroy(&w->pong_lock);
    arena_done(&w->arena);
    free(w);
    return NULL;
}
