/* http_reply.c - what a handler calls on the loop. */
#include <assert.h>
#include <stdio.h>

#include "base/idiom.h"
#include "net/http/conn.h"
#include "net/http/http.h"
#include "base/banned.h"

struct str http_header_get(const struct http_request *req, struct str name)
{
    for (size_t i = 0; i < req->n_headers; i++)
        if (str_eq(req->headers[i].name, name))
            return req->headers[i].value;
    return (struct str){ NULL, 0 };
}

const struct http_request *http_request_of(const struct http_exchange *x)
{
    return &x->req;
}

void http_set_note(struct http_exchange *x, void *note)
{
    x->note = note;
}

void *http_note(const struct http_exchange *x)
{
    return x->note;
}

struct arena *http_arena(struct http_exchange *x)
{
    return &x->arena;
}

struct loop *http_loop(struct http_exchange *x)
{
    return x->home->loop;
}

static bool has_close(const struct http_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(headers[i].name, STR("connection")))
            return str_eq_nocase(str_trim(headers[i].value), STR("close"));
    return false;
}

void http_add_header(struct http_exchange *x, struct str name, struct str value)
{
    assert(x->n_added < HTTP_ADDED_HEADERS);
    x->added[x->n_added++] = (struct http_header){ name, value };
}

void http_observe(struct http_exchange *x, const struct http_observer *o)
{
    x->observer = *o;
}

void exchange_begin(struct http_exchange *x, int status, const struct http_header *headers,
                    size_t n, int64_t length)
{
    if (x->n_added) {
        struct http_header *all =
            arena_array(exchange_reply_arena(x), struct http_header, n + x->n_added);
        if (n)
            memcpy(all, headers, n * sizeof(*all));
        memcpy(all + n, x->added, x->n_added * sizeof(*all));
        headers = all;
        n += x->n_added;
    }
    x->conn->driver->begin(x, status, headers, n, length);
    conn_wake(x->conn);
}

static void begin(struct http_exchange *x, int status, const struct http_header *headers, size_t n,
                  int64_t length)
{
    assert((!x->began || x->late) && !x->ended);
    assert(status >= 200 && status <= 999);
    if (x->late)
        return;
    x->began = true;
    x->status = status;
    if (http_is_gone(x))
        return;
    x->close_after |= has_close(headers, n);
    exchange_begin(x, status, headers, n, length);
}

static void observe_begin(struct http_exchange *x, int status, const struct http_header *headers,
                          size_t n)
{
    if (x->observer.on_begin && !x->late)
        x->observer.on_begin(x->observer.arg, x, status, headers, n);
}

void http_reply(struct http_exchange *x, int status, const struct http_header *headers,
                size_t n_headers, struct http_bytes body)
{
    loop_assert_owner(x->home->loop);
    size_t length = body.s.n;
    if (x->observer.on_whole && !x->late)
        x->observer.on_whole(x->observer.arg, x, status, headers, n_headers, body.s);
    exchange_queue(x, body);
    x->whole = true;
    begin(x, status, headers, n_headers, (int64_t)length);
    exchange_ended(x);
}

void http_reply_begin(struct http_exchange *x, int status, const struct http_header *headers,
                      size_t n_headers)
{
    loop_assert_owner(x->home->loop);
    observe_begin(x, status, headers, n_headers);
    begin(x, status, headers, n_headers, -1);
}

/* Tells the driver that there is more to send. */
static void more(struct http_exchange *x)
{
    if (http_is_gone(x))
        return;
    x->conn->driver->more(x);
    conn_wake(x->conn);
}

void http_reply_write(struct http_exchange *x, struct http_bytes bytes)
{
    loop_assert_owner(x->home->loop);
    assert(x->began && !x->ended);
    if (x->observer.on_bytes && !x->late)
        x->observer.on_bytes(x->observer.arg, x, bytes.s);
    exchange_queue(x, bytes);
    (void)http_reply_room(x); /* it is told when there is some again */
    more(x);
}

static void copy_trailers(struct http_exchange *x, const struct http_header *trailers, size_t n)
{
    struct http_header *copy = arena_array(&x->arena, struct http_header, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = (struct http_header){ arena_str(&x->arena, trailers[i].name),
                                        arena_str(&x->arena, trailers[i].value) };
    x->trailers = copy;
    x->n_trailers = n;
}

void http_reply_end(struct http_exchange *x, const struct http_header *trailers, size_t n_trailers)
{
    loop_assert_owner(x->home->loop);
    assert(x->began && !x->ended);
    if (n_trailers)
        copy_trailers(x, trailers, n_trailers);
    exchange_ended(x);
    more(x);
}

size_t http_reply_room(struct http_exchange *x)
{
    size_t most = x->home->limits->write_buffer_bytes;
    if (x->unsent < most && !exchange_is_crowded(x))
        return most - x->unsent;
    x->room_wanted = x->home->room_wanted = true;
    exchange_clock_join(x);
    return 0;
}

void http_abort(struct http_exchange *x)
{
    loop_assert_owner(x->home->loop);
    bool gone = http_is_gone(x);
    if (!x->late)
        exchange_drop(x);
    exchange_ended(x);
    if (!gone)
        x->conn->driver->abort(x);
}

void http_close_after(struct http_exchange *x)
{
    loop_assert_owner(x->home->loop);
    x->close_after = true;
}

void http_listen_to(struct http_exchange *x, const struct http_events *events)
{
    loop_assert_owner(x->home->loop);
    x->events = *events;
    if (http_is_gone(x))
        exchange_queue_turn(x);
}

void http_body_start(struct http_exchange *x)
{
    loop_assert_owner(x->home->loop);
    assert(x->body_streamed);
    if (x->body_wanted)
        return;
    x->body_wanted = true;
    exchange_queue_turn(x);
    if (!http_is_gone(x))
        x->conn->driver->want_body(x);
}

void http_body_consumed(struct http_exchange *x, size_t n)
{
    loop_assert_owner(x->home->loop);
    assert(n <= x->unconsumed);
    x->unconsumed -= n;
    if (n && !http_is_gone(x))
        x->conn->driver->consumed(x, n);
}

static const char *status_words(int status)
{
    static const struct {
        int status;
        const char *words;
    } known[] = {
        { 101, "Switching Protocols" },
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 304, "Not Modified" },
        { 307, "Temporary Redirect" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 411, "Length Required" },
        { 413, "Payload Too Large" },
        { 414, "URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 421, "Misdirected Request" },
        { 422, "Unprocessable Entity" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
        { 507, "Insufficient Storage" },
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].status == status)
            return known[i].words;
    return "Unknown";
}

struct str exchange_status_words(int status)
{
    return str_of(status_words(status));
}

/* ---- Refusals ---- */

static struct str refusal_status(struct arena *a, int status, struct str message,
                                 const char *reason)
{
    return arena_printf(a,
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                        "\"status\":\"Failure\",\"message\":\"" STR_FMT "\",%s\"code\":%d}\n",
                        STR_ARG(message), reason, status);
}

/* Upstream: what its HTTP library refuses is a text, what the API does a Status, and who comes when
 * there are too many gets a text again. */
struct exchange_refusal exchange_refusal(struct arena *a, const struct http_limits *l, int status)
{
    static const struct http_header plain = { STR("content-type"),
                                              STR("text/plain; charset=utf-8") },
                                    json = { STR("content-type"), STR("application/json") },
                                    nosniff = { STR("x-content-type-options"), STR("nosniff") },
                                    retry = { STR("retry-after"), STR("1") };
    switch (status) {
    case 413:
        return (struct exchange_refusal){
            { json },
            1,
            refusal_status(a, status,
                           arena_printf(a, "Request entity too large: limit is %zu", l->body_bytes),
                           "\"reason\":\"RequestEntityTooLarge\",")
        };
    case 421:
        return (struct exchange_refusal){
            { json }, 1, refusal_status(a, status, exchange_status_words(status), "")
        };
    case 429:
        return (struct exchange_refusal){ { plain, nosniff, retry },
                                          3,
                                          STR("Too many requests, please try again later.\n") };
    case 504:
        return (struct exchange_refusal){
            { json },
            1,
            refusal_status(a, status,
                           STR("Timeout: request did not complete within the allotted timeout"),
                           "\"reason\":\"Timeout\",\"details\":{},")
        };
    default:
        return (struct exchange_refusal){
            { plain }, 1, arena_printf(a, "%d %s\n", status, status_words(status))
        };
    }
}

void exchange_refuse(struct http_exchange *x, int status)
{
    struct exchange_refusal refusal = exchange_refusal(&x->arena, x->home->limits, status);
    x->refused = true;
    exchange_drop_body(x);
    http_reply(x, status, refusal.headers, refusal.n_headers, HTTP_BYTES(refusal.body));
}

/* ---- Tunnels ---- */

void http_upgrade(struct http_exchange *x, const struct http_header *headers, size_t n_headers,
                  const struct http_tunnel *tunnel)
{
    loop_assert_owner(x->home->loop);
    assert(!x->began && !x->ended && x->req.version != HTTP_2);
    observe_begin(x, 101, headers, n_headers);
    x->began = true;
    x->status = 101;
    x->is_tunnel = true;
    x->tunnel = *tunnel;
    http_set_time(x, 0);
    if (http_is_gone(x)) {
        exchange_queue_turn(x);
        return;
    }
    exchange_begin(x, 101, headers, n_headers, -1);
}

void http_tunnel_write(struct http_exchange *x, struct http_bytes bytes)
{
    assert(x->is_tunnel);
    http_reply_write(x, bytes);
}

void http_tunnel_pause(struct http_exchange *x, bool pause)
{
    loop_assert_owner(x->home->loop);
    assert(x->is_tunnel);
    x->tunnel_paused = pause;
    if (!http_is_gone(x))
        conn_resume(x->conn);
}

void http_tunnel_close(struct http_exchange *x)
{
    loop_assert_owner(x->home->loop);
    assert(x->is_tunnel);
    exchange_ended(x);
    more(x);
}
