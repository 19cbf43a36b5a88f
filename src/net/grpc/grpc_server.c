/* grpc_server.c - gRPC calls on streamed exchanges.
 *
 * A call runs on its exchange's loop. Its holder ends it exactly once; if we know better by then
 * (deadline over, malformed message, client gone) that status goes out instead of the holder's,
 * who has been told by on_gone. The call is its own block of memory, because its holder may end it
 * inside one of our callbacks: the exchange is then ended when that callback has returned.
 *
 * Received bytes go back to flow control at once unless the holder's own messages have filled the
 * room for unsent bytes: a client that does not read the answers cannot send more questions. */
#include <assert.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/grpc/grpc_wire.h"
#include "net/loop.h"
#include "base/banned.h"

struct grpc_call {
    struct http_exchange *x;
    struct grpc_call_events events;
    struct grpc_reader reader;
    struct loop_timer deadline;
    size_t held_back; /* received bytes not yet given back */
    bool began, half_closed;
    unsigned depth; /* of our callbacks to the holder */

    bool ended;  /* by the holder */
    bool failed; /* `status` is ours, and the holder has been told */
    enum grpc_status status;
    struct buf message;
};

static const struct http_header content_type = { { "content-type", 12 },
                                                 { "application/grpc", 16 } };

/* ---- Ending ---- */

static struct str status_digits(char text[static 4], enum grpc_status status)
{
    size_t n = 0;
    if (status >= 10)
        text[n++] = (char)('0' + status / 10);
    text[n++] = (char)('0' + status % 10);
    return (struct str){ text, n };
}

/* Status and message, as trailers or, if nothing has been sent, as the only headers. */
static void send_status(struct http_exchange *x, bool began, enum grpc_status status,
                        struct str message)
{
    char digits[4];
    autobuf encoded = { 0 };
    grpc_message_encode(&encoded, message);
    const struct http_header headers[] = {
        content_type,
        { STR("grpc-status"), status_digits(digits, status) },
        { STR("grpc-message"), buf_str(&encoded) },
    };
    size_t n = encoded.n ? 2 : 1;
    if (began)
        http_reply_end(x, headers + 1, n);
    else
        http_reply(x, 200, headers, 1 + n, HTTP_BYTES(STR("")));
}

static void call_free(struct grpc_call *call)
{
    loop_timer_cancel(&call->deadline);
    grpc_reader_done(&call->reader);
    send_status(call->x, call->began, call->status, buf_str(&call->message));
    buf_done(&call->message);
    free(call);
}

static void leave(struct grpc_call *call)
{
    call->depth--;
    if (call->ended && !call->depth)
        call_free(call);
}

static void set_status(struct grpc_call *call, enum grpc_status status, struct str message)
{
    call->status = status;
    buf_reset(&call->message);
    buf_str_add(&call->message, message);
}

/* Decides the status and tells the holder, once. Ends the call if on_gone is not set. Called inside
 * one of our callbacks, which frees the call when it returns. */
static void fail_inside(struct grpc_call *call, enum grpc_status status, struct str message)
{
    assert(call->depth);
    if (call->failed || call->ended)
        return;
    call->failed = true;
    set_status(call, status, message);
    loop_timer_cancel(&call->deadline);
    if (call->events.on_gone)
        call->events.on_gone(call->events.arg, call);
    else
        call->ended = true;
}

static void fail(struct grpc_call *call, enum grpc_status status, struct str message)
{
    call->depth++;
    fail_inside(call, status, message);
    leave(call);
}

void grpc_call_end(struct grpc_call *call, enum grpc_status status, struct str message)
{
    assert(!call->ended);
    if (!call->failed)
        set_status(call, status, message);
    call->ended = true;
    if (!call->depth)
        call_free(call);
}

/* ---- Receiving ---- */

static int on_message(void *arg, struct str message)
{
    struct grpc_call *call = arg;
    if (call->events.on_message)
        call->events.on_message(call->events.arg, call, message);
    return call->ended || call->failed ? -ERR_GONE : 0;
}

static void fail_reading(struct grpc_call *call, int r)
{
    if (r == -ERR_TOO_LARGE)
        fail_inside(call, GRPC_RESOURCE_EXHAUSTED, STR("message is larger than allowed"));
    else if (r == -ERR_BAD_REQUEST)
        fail_inside(call, GRPC_UNIMPLEMENTED, STR("message is compressed or malformed"));
}

static void give_back(struct grpc_call *call)
{
    if (!call->held_back || !http_reply_room(call->x))
        return;
    size_t n = call->held_back;
    call->held_back = 0;
    http_body_consumed(call->x, n);
}

static void half_closed(struct grpc_call *call)
{
    call->half_closed = true;
    if (call->reader.partial.n)
        fail_inside(call, GRPC_INVALID_ARGUMENT, STR("the last message was cut short"));
    else if (call->events.on_half_close)
        call->events.on_half_close(call->events.arg, call);
}

static void on_body(void *arg, struct http_exchange *x, struct str piece, bool end)
{
    (void)x;
    struct grpc_call *call = arg;
    call->held_back += piece.n;
    call->depth++;
    if (!call->failed)
        fail_reading(call, grpc_reader_feed(&call->reader, piece, on_message, call, NULL));
    if (end && !call->failed && !call->ended)
        half_closed(call);
    give_back(call);
    leave(call);
}

static void on_room(void *arg, struct http_exchange *x)
{
    (void)x;
    struct grpc_call *call = arg;
    call->depth++;
    if (call->events.on_room && !call->failed)
        call->events.on_room(call->events.arg, call);
    give_back(call);
    leave(call);
}

static void on_gone(void *arg, struct http_exchange *x)
{
    (void)x;
    fail(arg, GRPC_CANCELLED, STR("the client has gone"));
}

static void on_deadline(struct loop_timer *t)
{
    struct grpc_call *call = container_of(t, struct grpc_call, deadline);
    fail(call, GRPC_DEADLINE_EXCEEDED, STR("deadline exceeded"));
}

/* ---- Starting ---- */

static const struct grpc_method *find_method(const struct http_request *req,
                                             const struct grpc_method *methods, size_t n)
{
    if (req->query.n)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (str_eq(req->path, str_of(methods[i].path)))
            return &methods[i];
    return NULL;
}

/* True if the call may go on; `*ret_ns` is -1 without a timeout. */
static bool read_timeout(const struct http_request *req, int64_t *ret_ns)
{
    struct str text = http_header_get(req, STR("grpc-timeout"));
    *ret_ns = -1;
    return !text.p || grpc_timeout_parse(text, ret_ns);
}

/* Answers what cannot become a call. */
static bool refuse(struct http_exchange *x, const struct grpc_method *method, bool timeout_ok)
{
    const struct http_request *req = http_request_of(x);
    if (req->version != HTTP_2)
        http_reply(x, 505, NULL, 0, HTTP_BYTES(STR("gRPC needs HTTP/2\n")));
    else if (!str_eq(req->method, STR("POST")))
        http_reply(x, 405, NULL, 0, HTTP_BYTES(STR("gRPC calls are POST\n")));
    else if (!grpc_content_type(http_header_get(req, STR("content-type"))))
        http_reply(x, 415, NULL, 0, HTTP_BYTES(STR("not application/grpc\n")));
    else if (!method)
        send_status(x, false, GRPC_UNIMPLEMENTED, STR("unknown method"));
    else if (!timeout_ok)
        send_status(x, false, GRPC_INTERNAL, STR("malformed grpc-timeout"));
    else
        return false;
    return true;
}

static void set_deadline(struct grpc_call *call, int64_t timeout_ns)
{
    struct loop *l = http_loop(call->x);
    int64_t at;
    if (timeout_ns >= 0 && !__builtin_add_overflow(loop_now_ns(l), timeout_ns, &at))
        loop_timer_set(l, &call->deadline, at);
}

void grpc_serve(struct http_exchange *x, const struct grpc_method *methods, size_t n_methods,
                void *arg)
{
    const struct http_request *req = http_request_of(x);
    const struct grpc_method *method = find_method(req, methods, n_methods);
    int64_t timeout_ns;
    bool timeout_ok = read_timeout(req, &timeout_ns);
    if (refuse(x, method, timeout_ok))
        return;
    struct grpc_call *call = mem_new(struct grpc_call);
    call->x = x;
    call->deadline.on_fire = on_deadline;
    set_deadline(call, timeout_ns);
    const struct http_events events = { call, on_room, on_gone, on_body };
    http_listen_to(x, &events);
    call->depth++;
    method->start(arg, call);
    if (!call->ended)
        http_body_start(x);
    leave(call);
}

/* ---- For the holder ---- */

void grpc_call_listen(struct grpc_call *call, const struct grpc_call_events *events)
{
    call->events = *events;
}

struct arena *grpc_call_arena(struct grpc_call *call)
{
    return http_arena(call->x);
}

const struct http_request *grpc_call_request(const struct grpc_call *call)
{
    return http_request_of(call->x);
}

static void release_bytes(void *owner)
{
    free(owner);
}

void grpc_call_send(struct grpc_call *call, struct str message)
{
    assert(!call->ended);
    if (call->failed)
        return;
    if (!call->began) {
        call->began = true;
        http_reply_begin(call->x, 200, &content_type, 1);
    }
    struct buf frame = { 0 }; /* handed over */
    grpc_frame(&frame, message);
    http_reply_write(call->x, (struct http_bytes){ buf_str(&frame), release_bytes, frame.p });
}

size_t grpc_call_room(const struct grpc_call *call)
{
    return call->failed ? 0 : http_reply_room(call->x);
}
