/* http.h - requests and replies, the same for HTTP/1.1 and HTTP/2, TLS or cleartext.
 *
 * An exchange is one request and its reply. It lives on its connection's loop, from the handler's
 * first call until its reply has ended, even if the client goes away before. Its holder ends it
 * exactly once, with http_reply(), http_reply_end() or http_abort(). Its arena lives as long;
 * header and body text lie there.
 *
 * A handler answers on the loop if it can do so from memory. Otherwise it moves the exchange to a
 * worker (http_to_worker) and uses the http_send functions there, in linear code that may wait.
 *
 * Everything a client can make large, slow or many is bounded by struct http_limits. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "net/tls.h"

struct http_exchange;
struct http_server;
struct loop;
struct workers;

struct http_header {
    struct str name; /* lower case */
    struct str value;
};

enum http_version { HTTP_1_0 = 10, HTTP_1_1 = 11, HTTP_2 = 20 };

struct http_peer {
    struct str address; /* "127.0.0.1:40000", "[::1]:40000" or "unix" */
    bool tls;
    struct tls_peer cert;
};

struct http_request {
    struct str method;
    struct str path;      /* as sent, before any '?'; starts with '/' */
    struct str query;     /* as sent, after the '?' */
    struct str authority; /* Host or :authority */
    const struct http_header *headers;
    size_t n_headers;
    struct str body; /* collected bodies only */
    enum http_version version;
    const struct http_peer *peer;
    int64_t arrived_ns; /* monotonic */
};

/* The first header of that (lower case) name; empty with a NULL pointer if there is none. */
struct str http_header_get(const struct http_request *req, struct str name);

const struct http_request *http_request_of(const struct http_exchange *x);
struct arena *http_arena(struct http_exchange *x); /* for the thread that holds x */
struct loop *http_loop(struct http_exchange *x);
/* What on_head wants to find again in on_request; NULL at first. */
void http_set_note(struct http_exchange *x, void *note);
void *http_note(const struct http_exchange *x);

enum http_body_mode {
    HTTP_BODY_COLLECT, /* on_request is called with the whole body; past the limit: 413 */
    HTTP_BODY_STREAM,  /* on_request is called now; then http_body_start() */
    /* Nothing of it is taken until http_go_on(), and then it is collected. Who has to wait holds no
     * memory but his own. If the client goes meanwhile, the exchange just ends. */
    HTTP_BODY_LATER,
};

struct http_handler {
    void *arg;
    /* The head is complete. May be NULL: every body is collected. If it answers the request, the
     * body is not read, and on_request is not called. */
    enum http_body_mode (*on_head)(void *arg, struct http_exchange *x);
    void (*on_request)(void *arg, struct http_exchange *x);
};

/* After HTTP_BODY_LATER, on the loop, once: the body is read, and on_request follows, perhaps
 * within this call. Not after the request was answered; nothing happens if the client has gone. */
void http_go_on(struct http_exchange *x);

/* ---- Replying on the loop ---- */

/* Bytes to send. Without `release` they must live until the exchange ends (its arena, or static);
 * with it, until it is called, once, on the loop. */
struct http_bytes {
    struct str s;
    void (*release)(void *owner);
    void *owner;
    bool shared; /* shared with others: not counted as memory of this exchange */
};
#define HTTP_BYTES(str_value) ((struct http_bytes){ .s = (str_value) })

/* A whole reply. Content-Length is added; header names in lower case. Headers are copied. */
void http_reply(struct http_exchange *x, int status, const struct http_header *headers,
                size_t n_headers, struct http_bytes body);

/* A streamed reply: begin, any number of writes, end. Writes are queued without limit, so a writer
 * of much checks http_reply_room() and waits for on_room. */
void http_reply_begin(struct http_exchange *x, int status, const struct http_header *headers,
                      size_t n_headers);
void http_reply_write(struct http_exchange *x, struct http_bytes bytes);
void http_reply_end(struct http_exchange *x, const struct http_header *trailers, size_t n_trailers);
size_t http_reply_room(struct http_exchange *x); /* 0: enough is queued, here or by all */
/* Breaks the reply off: a reset (HTTP/2) or a closed connection (HTTP/1.1). */
void http_abort(struct http_exchange *x);

/* Callbacks to the holder of a streamed exchange, on the loop. Any may be NULL. */
struct http_events {
    void *arg;
    void (*on_room)(void *arg, struct http_exchange *x);
    /* The client has gone; replies go nowhere from now on, but x must still be ended. */
    void (*on_gone)(void *arg, struct http_exchange *x);
    /* A piece of a streamed request body; `end` with the last, perhaps empty, one. */
    void (*on_body)(void *arg, struct http_exchange *x, struct str piece, bool end);
};
void http_listen_to(struct http_exchange *x, const struct http_events *events);
bool http_is_gone(const struct http_exchange *x); /* any thread */
/* True if the client has as many unread replies as it may have. A large answer should then be
 * refused (ERR_TOO_MANY_REQUESTS). Any thread. */
bool http_is_crowded(const struct http_exchange *x);

/* When the answer must be complete, in milliseconds after the request came; 0: never, as for a
 * watch. The default for requests whose body is collected is LIMIT_REQUEST_MS. After that time the
 * client gets 504, or is cut off if its answer has begun. To the holder, which still ends x, it
 * looks as if the client had gone. */
void http_set_time(struct http_exchange *x, int64_t ms);

/* The connection ends with this exchange: a GOAWAY (HTTP/2) or Connection: close. */
void http_close_after(struct http_exchange *x);

/* Called once, on the loop, when the exchange is over and nothing else will happen to it; its
 * arena still stands. `status` is what was answered, 0 if nothing was. Several may be asked for:
 * the last one is called first. */
void http_when_over(struct http_exchange *x,
                    void (*over)(void *arg, struct http_exchange *x, int status), void *arg);

/* A header of whatever is answered, a refusal by the server included; name in lower case, both in
 * the exchange's arena or static. On the loop, before the exchange is handed on; no more than
 * HTTP_ADDED_HEADERS. */
enum { HTTP_ADDED_HEADERS = 4 };
void http_add_header(struct http_exchange *x, struct str name, struct str value);

/* Somebody who sees what is answered, before it is sent. All on the loop. The 504 of
 * http_set_time() is only seen at the end. */
struct http_observer {
    void *arg;
    /* The whole answer. */
    void (*on_whole)(void *arg, struct http_exchange *x, int status,
                     const struct http_header *headers, size_t n_headers, struct str body);
    /* One that is streamed, and its pieces. */
    void (*on_begin)(void *arg, struct http_exchange *x, int status,
                     const struct http_header *headers, size_t n_headers);
    void (*on_bytes)(void *arg, struct http_exchange *x, struct str bytes);
    /* The holder has ended it; its arena still stands. `status` as of http_when_over(). */
    void (*on_end)(void *arg, struct http_exchange *x, int status);
};
/* One at most; it is copied. */
void http_observe(struct http_exchange *x, const struct http_observer *o);

/* Streamed request bodies: pieces come after http_body_start(), and only as many as were
 * consumed, so that a slow handler slows its client down. */
void http_body_start(struct http_exchange *x);
void http_body_consumed(struct http_exchange *x, size_t n);

/* ---- Replying from a worker ---- */

/* Runs `run(x, arg)` on a worker, which then has the exchange; its arena has an allowance from then
 * on (base/allowance.h), which ends when the client goes or the time is over. Answers 429 itself
 * and returns false if the workers' queue is full, or the memory for requests is used up. If the
 * client goes before a worker takes it, `run` is never called and the exchange is ended. */
bool http_to_worker(struct http_exchange *x, struct workers *w,
                    void (*run)(struct http_exchange *x, void *arg), void *arg);

/* As the http_reply functions; bytes are copied or, if they have a release, handed over. With
 * http_send_begin() the exchange's arena is the loop's again. http_send_write() waits while too
 * much is unsent and returns -ERR_GONE when the client is gone; http_send_end() must still follow.
 */
void http_send(struct http_exchange *x, int status, const struct http_header *headers,
               size_t n_headers, struct http_bytes body);
void http_send_begin(struct http_exchange *x, int status, const struct http_header *headers,
                     size_t n_headers);
int http_send_write(struct http_exchange *x, struct http_bytes bytes);
void http_send_end(struct http_exchange *x, const struct http_header *trailers, size_t n_trailers);
/* Gives the exchange back to its loop, which calls `run` with it. */
void http_to_loop(struct http_exchange *x, void (*run)(struct http_exchange *x, void *arg),
                  void *arg);

/* ---- Taking the connection over (HTTP/1.1 Upgrade) ---- */

/* Answers 101 with these headers; from then on bytes go both ways as they are. The exchange is the
 * tunnel's handle until http_tunnel_close(). */
struct http_tunnel {
    void *arg;
    void (*on_bytes)(void *arg, struct http_exchange *x, struct str bytes);
    void (*on_room)(void *arg, struct http_exchange *x);
    void (*on_gone)(void *arg, struct http_exchange *x); /* still needs http_tunnel_close() */
};
void http_upgrade(struct http_exchange *x, const struct http_header *headers, size_t n_headers,
                  const struct http_tunnel *tunnel);
void http_tunnel_write(struct http_exchange *x, struct http_bytes bytes);
void http_tunnel_pause(struct http_exchange *x, bool pause); /* stop or go on reading */
void http_tunnel_close(struct http_exchange *x);             /* sends what is queued, then closes */

/* ---- The server ---- */

/* Named after the constants in base/limits.h, which are the defaults; tests choose small ones. */
struct http_limits {
    size_t body_bytes, collected_bytes, header_bytes, header_count, request_line_bytes;
    size_t connections, handshakes, pipeline, write_buffer_bytes, write_stall_bytes;
    size_t reply_bytes, reply_bytes_all, request_memory, request_memory_all;
    int64_t handshake_ms, read_header_ms, body_ms, request_ms, half_closed_ms, idle_ms;
    int64_t write_stall_ms, write_crowd_ms, drain_ms;
    size_t h2_streams, h2_window_bytes, h2_frame_bytes, h2_continuations, h2_settings;
    size_t h2_resets, h2_resets_per_sec, h2_control_frames, h2_ack_queue;
    /* In the clear, too, HTTP/2 clients may call the server by any name: for gRPC, whose clients do
     * (Envoy: by that of its cluster), and which pages in browsers cannot speak. */
    bool h2_any_name;
};
struct http_limits http_limits_default(void);

struct http_server_options {
    struct http_handler handler;
    struct loop **loops; /* connections are dealt out to these; they outlive the server */
    size_t n_loops;
    const struct http_limits *limits; /* NULL: defaults; copied */
};

struct http_server *http_server_new(const struct http_server_options *opt);

/* "127.0.0.1:6443", "[::1]:0" or "unix:/run/x.sock". Without TLS only loopback and unix addresses
 * are taken (ERR_FORBIDDEN else). Before the loops run, or on the first loop's thread.
 * `ret_address` gets the bound address, in the arena, when not NULL. */
int http_server_listen(struct http_server *s, struct str address, struct tls_context *tls,
                       struct arena *a, struct str *ret_address, struct err *err);

/* Sets the certificates for new connections. */
void http_server_set_tls(struct http_server *s, struct tls_context *tls);

/* Stops accepting, tells clients (GOAWAY, Connection: close), lets running exchanges end, cuts
 * what is left at the deadline, then calls `done` on the first loop. */
void http_server_drain(struct http_server *s, void (*done)(void *arg), void *arg);
struct http_server *http_server_free(struct http_server *s); /* drained, or loops not running */

/* Counters since the start; any thread. */
struct http_stats {
    uint64_t connections_open, connections_total, connections_refused;
    uint64_t handshakes_open, handshakes_failed;
    uint64_t exchanges_open, exchanges_total;
    uint64_t bytes_in, bytes_out;
    uint64_t closed_for_abuse; /* a limit was passed */
};
void http_server_stats(const struct http_server *s, struct http_stats *ret);
