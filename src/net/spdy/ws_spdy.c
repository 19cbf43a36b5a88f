#include "net/spdy/ws_spdy.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/spdy/spdy.h"
#include "net/ws/ws_frame.h"
#include "base/banned.h"

enum channel { CHANNEL_STDIN, CHANNEL_STDOUT, CHANNEL_STDERR, CHANNEL_ERROR, CHANNEL_RESIZE };
enum { CHANNELS = 5, CHANNEL_CLOSE = 255, STATUS_MAX = 1 << 20 };

struct ws_spdy {
    struct ws_spdy_options opt;
    struct http_exchange *x; /* NULL in tests */
    struct relay_filter filter;
    struct ws_reader ws;
    struct ws_reader_events ws_events;
    struct spdy_reader spdy;
    struct spdy_events spdy_events;
    struct spdy_headers *headers;
    uint32_t streams[CHANNELS]; /* 0: not open */
    bool is_ended[CHANNELS];    /* by the server, or never open */
    unsigned awaited;           /* streams that the server has not taken yet */
    struct buf held;            /* to the server, until it has taken all of them */
    bool stdin_closed;
    struct buf status; /* what the server has said on the error stream */
    bool is_over;
    struct buf *to_client, *to_server; /* during a call of the filter */
};

/* ---- Statuses ---- */

static struct str plain_status(struct arena *a, struct str message)
{
    autobuf out = { 0 }, quoted = { 0 };
    json_write_string(&quoted, message);
    struct str text = str_take(str_skip(buf_str(&quoted), 1), quoted.n - 2);
    buf_printf(
        &out,
        "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Internal error occurred: " STR_FMT
        "\",\"reason\":\"InternalError\",\"details\":{\"causes\":[{\"message\":\"" STR_FMT
        "\"}]},\"code\":500}",
        STR_ARG(text), STR_ARG(text));
    return arena_str(a, buf_str(&out));
}

static struct str exit_status(struct arena *a, const struct value *status)
{
    value_each_item (cause, value_dig(status, "details", "causes")) {
        uint64_t code;
        if (!str_eq(value_text(cause, "reason"), STR("ExitCode")))
            continue;
        if (!str_to_u64(value_text(cause, "message"), &code) || code > 255)
            return plain_status(a, STR("error stream protocol error: invalid exit code value"));
        return arena_printf(a,
                            "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command "
                            "terminated with non-zero exit code: command terminated with exit code "
                            "%u\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{"
                            "\"reason\":\"ExitCode\",\"message\":\"%u\"}]}}",
                            (unsigned)code, (unsigned)code);
    }
    return plain_status(a, STR("error stream protocol error: no ExitCode cause given"));
}

struct str ws_spdy_status(struct arena *a, struct str from_server)
{
    struct value status;
    struct err why = ERR_INIT(a);
    if (!from_server.n)
        return STR("{\"metadata\":{},\"status\":\"Success\"}");
    if (json_read(a, from_server, NULL, &status, &why) < 0)
        return plain_status(
            a, arena_printf(a, "error stream protocol error: " STR_FMT " in \"" STR_FMT "\"",
                            STR_ARG(why.msg), STR_ARG(from_server)));
    if (str_eq(value_text(&status, "status"), STR("Success")))
        return STR("{\"metadata\":{},\"status\":\"Success\"}");
    if (!str_eq(value_text(&status, "status"), STR("Failure")))
        return plain_status(a, STR("error stream protocol error: unknown error"));
    if (str_eq(value_text(&status, "reason"), STR("NonZeroExitCode")))
        return exit_status(a, &status);
    return plain_status(a, value_text(&status, "message"));
}

/* ---- To the client ---- */

static void send_channel(struct ws_spdy *t, unsigned channel, struct str bytes)
{
    autobuf message = { 0 };
    buf_byte(&message, (char)channel);
    buf_str_add(&message, bytes);
    ws_frame_write(t->to_client, WS_OP_BINARY, buf_str(&message));
}

static void end(struct ws_spdy *t, unsigned code)
{
    if (t->is_over)
        return;
    ws_frame_write_close(t->to_client, code, STR(""));
    t->is_over = true;
}

/* Output comes first, then how it ended, then the end. */
static void end_if_all(struct ws_spdy *t)
{
    struct arena a;
    if (!t->is_ended[CHANNEL_STDOUT] || !t->is_ended[CHANNEL_STDERR] ||
        !t->is_ended[CHANNEL_ERROR] || t->is_over)
        return;
    arena_init(&a);
    send_channel(t, CHANNEL_ERROR, ws_spdy_status(&a, buf_str(&t->status)));
    arena_done(&a);
    end(t, WS_CODE_NORMAL);
}

/* ---- From the server ---- */

static int channel_of(const struct ws_spdy *t, uint32_t stream)
{
    for (int i = 0; i < CHANNELS; i++)
        if (stream && t->streams[i] == stream)
            return i;
    return -1;
}

static void on_data(void *arg, uint32_t stream, struct str piece, bool is_last)
{
    struct ws_spdy *t = arg;
    const int channel = channel_of(t, stream);
    if (channel < 0)
        return;
    if (channel == CHANNEL_ERROR)
        buf_str_add(&t->status, str_take(piece, STATUS_MAX - t->status.n));
    else if (piece.n && (channel == CHANNEL_STDOUT || channel == CHANNEL_STDERR))
        send_channel(t, (unsigned)channel, piece);
    if (!is_last)
        return;
    t->is_ended[channel] = true;
    end_if_all(t);
}

static void on_reply(void *arg, uint32_t stream)
{
    struct ws_spdy *t = arg;
    if (channel_of(t, stream) < 0 || !t->awaited || --t->awaited)
        return;
    buf_str_add(t->to_server, buf_str(&t->held));
    buf_done(&t->held);
}

/* An attached container that is gone resets its streams. */
static void on_reset(void *arg, uint32_t stream, uint32_t status)
{
    (void)status;
    on_data(arg, stream, STR(""), true);
}

static void on_spdy_ping(void *arg, uint32_t id)
{
    struct ws_spdy *t = arg;
    if (id % 2 == 0) /* the server's own; ours would be odd */
        spdy_write_ping(t->to_server, id);
}

static void on_goaway(void *arg)
{
    (void)arg;
}

static void from_server(void *arg, struct str bytes, struct buf *to_client, struct buf *to_server)
{
    struct ws_spdy *t = arg;
    t->to_client = to_client;
    t->to_server = to_server;
    if (t->is_over)
        return;
    if (t->opt.is_tunnel) {
        ws_frame_write(to_client, WS_OP_BINARY, bytes);
    } else if (!spdy_reader_feed(&t->spdy, bytes)) {
        send_channel(t, CHANNEL_ERROR,
                     STR("{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Internal error "
                         "occurred: the node does not keep to SPDY\",\"reason\":\"InternalError\","
                         "\"code\":500}"));
        end(t, WS_CODE_NORMAL);
    }
}

static void server_end(void *arg, struct buf *to_client)
{
    struct ws_spdy *t = arg;
    autobuf nowhere = { 0 };
    t->to_client = to_client;
    t->to_server = &nowhere;
    if (!t->opt.is_tunnel)
        for (int i = 0; i < CHANNELS; i++)
            t->is_ended[i] = true;
    if (!t->opt.is_tunnel)
        end_if_all(t);
    end(t, WS_CODE_NORMAL);
}

/* ---- From the client ---- */

/* Nothing is sent into a stream before all are taken, as upstream's clients have it: a program
 * would else find input before it runs. */
static struct buf *way_of_input(struct ws_spdy *t)
{
    return t->awaited ? &t->held : t->to_server;
}

static void on_command_message(struct ws_spdy *t, struct str message)
{
    const unsigned channel = (unsigned char)message.p[0];
    struct str rest = str_skip(message, 1);
    if (channel == CHANNEL_CLOSE) {
        if (rest.n != 1 || (unsigned char)rest.p[0] >= CHANNELS) {
            end(t, WS_CODE_PROTOCOL);
        } else if (rest.p[0] == CHANNEL_STDIN && t->streams[CHANNEL_STDIN] && !t->stdin_closed) {
            t->stdin_closed = true;
            spdy_write_data(way_of_input(t), t->streams[CHANNEL_STDIN], STR(""), true);
        }
        return;
    }
    if (channel == CHANNEL_STDIN && t->streams[CHANNEL_STDIN] && !t->stdin_closed && rest.n)
        spdy_write_data(way_of_input(t), t->streams[CHANNEL_STDIN], rest, false);
    if (channel == CHANNEL_RESIZE && t->streams[CHANNEL_RESIZE] && rest.n)
        spdy_write_data(way_of_input(t), t->streams[CHANNEL_RESIZE], rest, false);
}

static void on_message(void *arg, enum ws_type type, struct str message)
{
    struct ws_spdy *t = arg;
    (void)type;
    if (t->opt.is_tunnel)
        buf_str_add(t->to_server, message);
    else if (message.n)
        on_command_message(t, message);
}

static void on_ws_ping(void *arg, struct str payload)
{
    struct ws_spdy *t = arg;
    ws_frame_write(t->to_client, WS_OP_PONG, payload);
}

static void on_close(void *arg, unsigned code, struct str reason)
{
    struct ws_spdy *t = arg;
    (void)reason;
    end(t, code == WS_CODE_NONE ? WS_CODE_NORMAL : code);
}

static void from_client(void *arg, struct str bytes, struct buf *to_client, struct buf *to_server)
{
    struct ws_spdy *t = arg;
    t->to_client = to_client;
    t->to_server = to_server;
    if (t->is_over)
        return;
    const unsigned code = ws_reader_feed(&t->ws, bytes);
    if (code)
        end(t, code);
}

/* ---- The beginning ---- */

/* The order is that of upstream's clients; ids of a client are odd. */
static void begin(void *arg, struct buf *to_client, struct buf *to_server)
{
    static const struct {
        enum channel channel;
        const char *type;
    } order[] = {
        { CHANNEL_ERROR, "error" },   { CHANNEL_STDIN, "stdin" },   { CHANNEL_STDOUT, "stdout" },
        { CHANNEL_STDERR, "stderr" }, { CHANNEL_RESIZE, "resize" },
    };
    struct ws_spdy *t = arg;
    const bool wanted[CHANNELS] = { t->opt.has_stdin, t->opt.has_stdout,
                                    t->opt.has_stderr && !t->opt.is_tty, true, t->opt.is_tty };
    uint32_t id = 1;
    if (t->opt.is_tunnel)
        return;
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        const enum channel c = order[i].channel;
        const struct spdy_field field = { STR("streamtype"), str_of(order[i].type) };
        t->is_ended[c] = !wanted[c];
        if (!wanted[c])
            continue;
        t->streams[c] = id;
        spdy_write_syn(to_server, t->headers, id, &field, 1, false);
        id += 2;
        t->awaited++;
    }
    t->to_client = to_client;
    send_channel(t,
                 wanted[CHANNEL_STDOUT]   ? CHANNEL_STDOUT
                 : wanted[CHANNEL_STDERR] ? CHANNEL_STDERR
                                          : CHANNEL_ERROR,
                 STR(""));
}

static bool is_over(void *arg)
{
    const struct ws_spdy *t = arg;
    return t->is_over;
}

static size_t held(void *arg)
{
    const struct ws_spdy *t = arg;
    return t->held.n;
}

/* ---- Life ---- */

struct ws_spdy *ws_spdy_make(const struct ws_spdy_options *opt)
{
    struct ws_spdy *t = mem_new(struct ws_spdy);
    t->opt = *opt;
    t->filter =
        (struct relay_filter){ t, begin, from_client, from_server, server_end, is_over, held };
    t->ws_events = (struct ws_reader_events){ t, on_message, on_ws_ping, on_close };
    t->spdy_events =
        (struct spdy_events){ t, on_data, on_reply, on_reset, on_spdy_ping, on_goaway };
    ws_reader_init(&t->ws, LIMIT_WS_MESSAGE_BYTES, &t->ws_events);
    spdy_reader_init(&t->spdy, &t->spdy_events);
    if (!opt->is_tunnel)
        t->headers = spdy_headers_new();
    return t;
}

struct ws_spdy *ws_spdy_free(struct ws_spdy *t)
{
    if (!t)
        return NULL;
    ws_reader_done(&t->ws);
    buf_done(&t->status);
    buf_done(&t->held);
    spdy_headers_free(t->headers);
    free(t);
    return NULL;
}

bool ws_spdy_is_offered(const struct http_request *req, const char *protocol)
{
    if (!ws_wanted(req))
        return false;
    for (size_t i = 0; i < req->n_headers; i++) {
        struct str rest = req->headers[i].value;
        if (!str_eq(req->headers[i].name, STR("sec-websocket-protocol")))
            continue;
        while (rest.n)
            if (str_eq(str_trim(str_cut(&rest, ',')), str_of(protocol)))
                return true;
    }
    return false;
}

static void on_exchange_over(void *arg, struct http_exchange *x, int status)
{
    (void)x;
    (void)status;
    ws_spdy_free(arg);
}

struct ws_spdy *ws_spdy_new(struct http_exchange *x, const struct ws_spdy_options *opt)
{
    const char *protocol = opt->is_tunnel ? WS_SPDY_PORTS : WS_SPDY_COMMAND;
    if (!ws_spdy_is_offered(http_request_of(x), protocol))
        return NULL;
    struct ws_spdy *t = ws_spdy_make(opt);
    t->x = x;
    http_when_over(x, on_exchange_over, t);
    return t;
}

const struct relay_filter *ws_spdy_filter(struct ws_spdy *t)
{
    return &t->filter;
}

void ws_spdy_headers(const struct ws_spdy *t, struct http_header ret[static WS_SPDY_HEADERS])
{
    ret[0] = (struct http_header){ STR("connection"), STR("Upgrade") };
    ret[1] = (struct http_header){ STR("upgrade"), STR("SPDY/3.1") };
    ret[2] = (struct http_header){ STR("x-stream-protocol-version"),
                                   t->opt.is_tunnel ? STR("portforward.k8s.io")
                                                    : STR("v4.channel.k8s.io") };
}

void ws_spdy_answer(const struct ws_spdy *t, struct relay_answer *answer)
{
    struct arena *a = http_arena(t->x);
    struct http_header *h = arena_array(a, struct http_header, 4);
    struct str key = http_header_get(http_request_of(t->x), STR("sec-websocket-key"));
    h[0] = (struct http_header){ STR("connection"), STR("Upgrade") };
    h[1] = (struct http_header){ STR("upgrade"), STR("websocket") };
    h[2] = (struct http_header){ STR("sec-websocket-accept"), ws_accept_value(a, key) };
    h[3] = (struct http_header){ STR("sec-websocket-protocol"),
                                 str_of(t->opt.is_tunnel ? WS_SPDY_PORTS : WS_SPDY_COMMAND) };
    answer->headers = h;
    answer->n_headers = 4;
}
