/* spn_stream.c - channels on a WebSocket: the first byte of a message says which one it is of. */
#include <sampan/stream.h>

#include <stdlib.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "client/calls/client.h"
#include "base/banned.h"

enum {
    CHANNEL_STATUS = 3,
    CHANNEL_SIZE = 4,
    CHANNEL_CLOSE = 255, /* of v5 */
    PORTS_MAX = 64,
};

#define V5 STR("v5.channel.k8s.io")
#define V4 STR("v4.channel.k8s.io")

struct spn_stream {
    struct stop_listener listener; /* first */
    struct spn_stop *stop;
    struct ws_client *socket;
    struct buf message;
    bool is_forward;
    bool can_close;                /* one channel alone */
    bool has_begun[2 * PORTS_MAX]; /* of a forward: a channel's first message names its port */
    bool has_ended;                /* its Status has come */
    int exit_code;
};

static void on_stop(struct stop_listener *l)
{
    ws_client_cancel(((struct spn_stream *)l)->socket);
}

/* ---- Opening ---- */

static struct spn_target pod_part(struct spn_text ns, struct spn_text pod, const char *sub)
{
    return (struct spn_target){ .version = SPN_TEXT("v1"),
                                .plural = SPN_TEXT("pods"),
                                .ns = ns,
                                .name = pod,
                                .sub = spn_text_of(sub) };
}

static int connect_to(struct spn_client *c, const struct spn_target *at,
                      const struct client_query *q, struct spn_stop *stop, struct arena *a,
                      struct ws_client **ret, struct spn_err *err)
{
    const struct str protocols[] = { V5, V4 };
    bool is_forward = str_eq(str_in(at->sub), STR("portforward"));
    struct str path;
    if (!at->name.n || !at->ns.n)
        return spn_err_set(err, SPN_BAD_REQUEST, "a pod without a name or a namespace");
    int r = client_path(a, at, q, &path, err);
    if (r < 0)
        return r;
    /* Ports are forwarded by v4 alone. */
    return client_socket(c, path, is_forward ? &protocols[1] : protocols, is_forward ? 1 : 2, stop,
                         a, ret, err);
}

static int open_stream(struct spn_client *c, const struct spn_target *at,
                       const struct client_query *q, struct spn_stop *stop, struct spn_arena *a,
                       struct spn_stream **ret, struct spn_err *err)
{
    struct ws_client *socket;
    int r = connect_to(c, at, q, stop, arena_in(a), &socket, err);
    if (r < 0)
        return r;
    struct spn_stream *s = mem_new(struct spn_stream);
    s->listener.on_stop = on_stop;
    s->socket = socket;
    s->stop = stop;
    s->exit_code = -1;
    s->can_close = str_eq(ws_client_protocol(socket), V5);
    stop_listen(stop, &s->listener);
    *ret = s;
    return 0;
}

static int open_run(struct spn_client *c, const struct spn_target *at, const struct spn_run *what,
                    struct spn_stop *stop, struct spn_arena *a, struct spn_stream **ret,
                    struct spn_err *err)
{
    struct client_query q = { 0 };
    query_add(&q, "container", what->container ? str_of(what->container) : STR(""));
    for (size_t i = 0; i < what->command.n; i++)
        query_add(&q, "command", str_in(what->command.items[i]));
    query_add_bool(&q, "stdin", what->in);
    query_add_bool(&q, "stdout", what->out);
    query_add_bool(&q, "stderr", what->err && !what->tty); /* a terminal has one way out */
    query_add_bool(&q, "tty", what->tty);
    int r = open_stream(c, at, &q, stop, a, ret, err);
    buf_done(&q.text);
    return r;
}

int spn_client_exec(struct spn_client *c, struct spn_text ns, struct spn_text pod,
                    const struct spn_run *what, struct spn_stop *stop, struct spn_arena *a,
                    struct spn_stream **ret, struct spn_err *err)
{
    const struct spn_target at = pod_part(ns, pod, "exec");
    if (!what->command.n)
        return spn_err_set(err, SPN_BAD_REQUEST, "no command");
    return open_run(c, &at, what, stop, a, ret, err);
}

int spn_client_attach(struct spn_client *c, struct spn_text ns, struct spn_text pod,
                      const struct spn_run *what, struct spn_stop *stop, struct spn_arena *a,
                      struct spn_stream **ret, struct spn_err *err)
{
    const struct spn_target at = pod_part(ns, pod, "attach");
    struct spn_run no_command = *what;
    no_command.command.n = 0;
    return open_run(c, &at, &no_command, stop, a, ret, err);
}

int spn_client_forward(struct spn_client *c, struct spn_text ns, struct spn_text pod,
                       const uint16_t *ports, size_t n, struct spn_stop *stop, struct spn_arena *a,
                       struct spn_stream **ret, struct spn_err *err)
{
    const struct spn_target at = pod_part(ns, pod, "portforward");
    struct client_query q = { 0 };
    if (!n || n > PORTS_MAX)
        return spn_err_set(err, SPN_BAD_REQUEST, "no ports, or more than %d", PORTS_MAX);
    for (size_t i = 0; i < n; i++)
        query_add_int(&q, "ports", ports[i]);
    int r = open_stream(c, &at, &q, stop, a, ret, err);
    buf_done(&q.text);
    if (r < 0)
        return r;
    (*ret)->is_forward = true;
    return 0;
}

struct spn_stream *spn_stream_free(struct spn_stream *s)
{
    if (!s)
        return NULL;
    stop_unlisten(s->stop, &s->listener);
    ws_client_free(s->socket);
    buf_done(&s->message);
    free(s);
    return NULL;
}

/* ---- Reading ---- */

/* "ExitCode" among the causes of a Status that is a failure. */
static int exit_code_of(const struct value *status)
{
    int64_t code;
    value_each_item (cause, value_dig(status, "details", "causes"))
        if (str_eq(value_text(cause, "reason"), STR("ExitCode")) &&
            str_to_i64(value_text(cause, "message"), &code) && code >= 0 && code < 256)
            return (int)code;
    return -1;
}

/* 0: it has ended well. */
static int read_status(struct spn_stream *s, struct arena *a, struct str text, struct spn_err *err)
{
    struct value *status = arena_new(a, struct value);
    struct err why = ERR_INIT(a);
    s->has_ended = true;
    if (json_read(a, text, NULL, status, &why) < 0)
        return err_out(err, &why, SPN_MALFORMED);
    if (str_eq(value_text(status, "status"), STR("Success"))) {
        s->exit_code = 0;
        return 0;
    }
    s->exit_code = exit_code_of(status);
    return client_status_of(status, err);
}

/* The first message of each channel of a forward is its port. */
static bool is_greeting(struct spn_stream *s, unsigned channel)
{
    if (!s->is_forward || channel >= ARRAY_LEN(s->has_begun) || s->has_begun[channel])
        return false;
    s->has_begun[channel] = true;
    return true;
}

int spn_stream_read(struct spn_stream *s, int64_t timeout_ms, struct spn_arena *a,
                    struct spn_piece *ret, struct spn_err *err)
{
    for (;;) {
        struct err why = ERR_INIT(arena_in(a));
        int r = ws_client_read(s->socket, timeout_ms, &s->message, &why);
        if (s->has_ended && r <= 0)
            return 0;
        if (r == 0)
            return s->is_forward ? 0
                                 : spn_err_set(err, SPN_UNAVAILABLE, "it ended without a Status");
        if (r < 0)
            return client_transport_error(&why, err);
        if (!s->message.n)
            continue;
        unsigned channel = (unsigned char)s->message.p[0];
        struct str data = arena_str(arena_in(a), str_skip(buf_str(&s->message), 1));
        if (channel == CHANNEL_STATUS && !s->is_forward)
            return read_status(s, arena_in(a), data, err);
        if (!data.n || is_greeting(s, channel))
            continue; /* an empty one only says that the channel is there */
        *ret = (struct spn_piece){ channel, text_out(data) };
        return 1;
    }
}

int spn_stream_exit_code(const struct spn_stream *s)
{
    return s->exit_code;
}

/* ---- Writing ---- */

static int write_to(struct spn_stream *s, unsigned channel, struct str data, struct spn_err *err)
{
    autobuf message = { 0 };
    struct arena a;
    buf_byte(&message, (char)channel);
    buf_str_add(&message, data);
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = ws_client_write(s->socket, WS_BINARY, buf_str(&message), &why);
    if (r < 0)
        r = client_transport_error(&why, err);
    arena_done(&a);
    return r;
}

int spn_stream_write(struct spn_stream *s, unsigned channel, struct spn_text data,
                     struct spn_err *err)
{
    enum { PIECE = 32 << 10 }; /* servers bound what they take at once */
    struct str rest = str_in(data);
    while (rest.n) {
        int r = write_to(s, channel, str_take(rest, PIECE), err);
        if (r < 0)
            return r;
        rest = str_skip(rest, PIECE);
    }
    return 0;
}

int spn_stream_close(struct spn_stream *s, unsigned channel, struct spn_err *err)
{
    const char which = (char)channel;
    if (!s->can_close)
        return spn_err_set(err, SPN_UNSUPPORTED, "the server cannot close one channel alone");
    return write_to(s, CHANNEL_CLOSE, (struct str){ &which, 1 }, err);
}

int spn_stream_resize(struct spn_stream *s, uint16_t columns, uint16_t rows, struct spn_err *err)
{
    autobuf size = { 0 };
    buf_printf(&size, "{\"Width\":%u,\"Height\":%u}", columns, rows);
    return write_to(s, CHANNEL_SIZE, buf_str(&size), err);
}
