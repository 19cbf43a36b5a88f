/* grpc_stream.h - one call of a gRPC client, between the threads that use it and the loop that
 * moves its bytes. Private to this folder.
 *
 * The lock guards what both sides touch and is a leaf. The server, the connection, a deadline or
 * the caller may end the stream; the first of them decides its result. Received bytes
 * are given back to flow control as soon as less than GRPC_STREAM_HELD waits to be taken, so a
 * stream holds at most that, a window, and one message. */
#pragma once

#include <pthread.h>

#include "net/grpc/grpc_wire.h"
#include "net/outgoing/h2_client.h"

enum {
    GRPC_STREAM_WINDOW = 1 << 20,
    GRPC_STREAM_HELD = GRPC_STREAM_WINDOW / 2,
    GRPC_STREAM_UNSENT = 256 << 10, /* past it, senders wait */
};

struct grpc_message;

struct grpc_stream {
    struct h2_stream h2; /* first */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool submitted, half_closed, ended;
    bool starved; /* the loop keeps received bytes from flow control */
    struct buf out;
    size_t out_at;
    struct grpc_message *first, **last;
    size_t held; /* bytes of the messages that wait */
    enum grpc_status status;
    struct buf status_message;
    bool surely_not_run;

    /* The loop's. */
    size_t unconsumed;
    struct grpc_reader reader;
    int http_status;
    bool is_grpc, has_status;
    enum grpc_status got_status;
    struct buf got_message;
};

/* One reference each for the caller and for the loop. `timeout_ms` 0: no deadline is told. */
struct grpc_stream *grpc_stream_new(struct h2_client *c, struct str path,
                                    const struct http_header *metadata, size_t n_metadata,
                                    int64_t timeout_ms);

/* Sets the result unless there is one. The lock is held. */
void grpc_stream_end(struct grpc_stream *s, enum grpc_status status, struct str message,
                     bool surely_not_run);
/* The result, with its text in the arena. The lock is held. */
struct grpc_result grpc_stream_result(struct grpc_stream *s, struct arena *a);
/* Takes the oldest message. False if none waits. The lock is held. */
bool grpc_stream_take(struct grpc_stream *s, struct buf *ret);
/* Waits for a change until the monotonic time, or for ever. False when it is over. */
bool grpc_stream_wait(struct grpc_stream *s, int64_t until_ns);
int64_t grpc_stream_until(int64_t timeout_ms); /* -1: for ever */
