/* grpc.h - gRPC on HTTP/2: message framing, a server side on http.h, and a client.
 *
 * Messages are opaque bytes here; protobuf is for the callers. Every message is bounded by
 * LIMIT_GRPC_MESSAGE_BYTES before it is allocated. */
#pragma once

#include "base/buf.h"
#include "net/http/http.h"

enum grpc_status {
    GRPC_OK = 0,
    GRPC_CANCELLED = 1,
    GRPC_UNKNOWN = 2,
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_DEADLINE_EXCEEDED = 4,
    GRPC_NOT_FOUND = 5,
    GRPC_ALREADY_EXISTS = 6,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_FAILED_PRECONDITION = 9,
    GRPC_ABORTED = 10,
    GRPC_OUT_OF_RANGE = 11,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_INTERNAL = 13,
    GRPC_UNAVAILABLE = 14,
    GRPC_DATA_LOSS = 15,
    GRPC_UNAUTHENTICATED = 16,
};

/* ---- Framing: five bytes before each message. Pure. ---- */

struct grpc_reader {
    struct buf partial;
    size_t max;
};
void grpc_frame(struct buf *out, struct str message);
/* Feeds bytes; calls `on_message` for each complete one. ERR_TOO_LARGE, or ERR_BAD_REQUEST for a
 * compressed or malformed frame. */
int grpc_reader_feed(struct grpc_reader *r, struct str bytes,
                     int (*on_message)(void *arg, struct str message), void *arg, struct err *err);
void grpc_reader_done(struct grpc_reader *r);

/* ---- Server ---- */

struct grpc_call; /* one call; lives on the exchange's loop */

struct grpc_method {
    const char *path; /* "/etcdserverpb.KV/Range" */
    /* Called when the call starts; sets the callbacks by grpc_call_listen(). */
    void (*start)(void *arg, struct grpc_call *call);
};

struct grpc_call_events {
    void *arg;
    void (*on_message)(void *arg, struct grpc_call *call, struct str message);
    void (*on_half_close)(void *arg, struct grpc_call *call); /* the client has sent all */
    void (*on_room)(void *arg, struct grpc_call *call);
    void (*on_gone)(void *arg, struct grpc_call *call); /* grpc_call_end() must still follow */
};

/* Answers the exchange as gRPC: unknown or non-canonical paths get UNIMPLEMENTED, a wrong
 * content-type 415. The exchange must come with HTTP_BODY_STREAM. */
void grpc_serve(struct http_exchange *x, const struct grpc_method *methods, size_t n_methods,
                void *arg);
void grpc_call_listen(struct grpc_call *call, const struct grpc_call_events *events);
struct arena *grpc_call_arena(struct grpc_call *call); /* as long as the call */
const struct http_request *grpc_call_request(const struct grpc_call *call); /* metadata */
void grpc_call_send(struct grpc_call *call, struct str message);
size_t grpc_call_room(const struct grpc_call *call);
void grpc_call_end(struct grpc_call *call, enum grpc_status status, struct str message);

/* ---- Client: linear code for workers, any thread ---- */

struct grpc_client;

struct grpc_client_options {
    struct str address;      /* "127.0.0.1:2379" or "unix:/run/containerd/containerd.sock" */
    struct tls_context *tls; /* NULL: cleartext */
    struct str authority;    /* empty: the address */
    int64_t connect_ms;      /* 0: 5000 */
};

/* Connects when first used and again after a loss; owns a thread. NULL if the system has no thread
 * or descriptor left. */
struct grpc_client *grpc_client_new(const struct grpc_client_options *opt);
struct grpc_client *grpc_client_free(struct grpc_client *c); /* no stream may be left */

struct grpc_result {
    enum grpc_status status;
    struct str message;  /* grpc-message, in the arena */
    bool surely_not_run; /* the server cannot have seen the call: safe to retry */
};

/* One request, one reply, in the arena. 0 with GRPC_OK; else a negative code and `ret_result` says
 * what the server or the connection said. Waits at most `timeout_ms`. */
int grpc_call_unary(struct grpc_client *c, struct str path, struct str request,
                    const struct http_header *metadata, size_t n_metadata, int64_t timeout_ms,
                    struct arena *a, struct str *ret, struct grpc_result *ret_result,
                    struct err *err);

/* A call with many messages each way. One thread may send while another receives. */
struct grpc_stream;
int grpc_stream_open(struct grpc_client *c, struct str path, const struct http_header *metadata,
                     size_t n_metadata, struct grpc_stream **ret, struct err *err);
int grpc_stream_send(struct grpc_stream *s, struct str message, struct err *err);
void grpc_stream_half_close(struct grpc_stream *s);
/* 1 and a message, 0 at the end (`ret_result` filled), ERR_TIMEOUT after `timeout_ms` (-1: never).
 * Not taking messages stops the server by flow control. */
int grpc_stream_receive(struct grpc_stream *s, int64_t timeout_ms, struct buf *ret,
                        struct grpc_result *ret_result, struct arena *a, struct err *err);
struct grpc_stream *grpc_stream_free(struct grpc_stream *s); /* cancels if not ended */
