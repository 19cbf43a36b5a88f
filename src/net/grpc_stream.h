/* grpc_stream.h - one call of a gRPC client, between the threads that use it and the loop that
 * moves its bytes. Private to this folder.
 *
 * The lock guards what both sides touch and is a leaf. The server, the connection, a deadline or
 * the caller may end the stream; the first of them decides its result. The loop learns of changes
 * by the stream's one message, which is posted unless it is already in the mailbox. Received bytes
 * are given back to flow control as soon as less than GRPC_STREAM_HELD waits to be taken, so a
 * stream holds at most that, a window, and one message. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "net/grpc_wire.h"
#include "net/loop.h"

enum {
    GRPC_STREAM_WINDOW = 1 << 20,
    GRPC_STREAM_HELD = GRPC_STREAM_WINDOW / 2,
    GRPC_STREAM_UNSENT = 256 << 10, /* past it, senders wait */
};

struct grpc_conn;
struct grpc_message;

enum grpc_stream_place { GRPC_STREAM_NEW, GRPC_STREAM_WAITING, GRPC_STREAM_OPEN, GRPC_STREAM_DONE };

struct grpc_stream {
    struct grpc_client *client;
    struct loop *loop;
    _Atomic unsigned refs;
    struct loop_msg poke;
    struct arena arena; /* of the request's headers; nothing is added later */
    struct http_header *headers;
    size_t n_headers;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool poked, submitted, half_closed, ended;
    bool starved; /* the loop keeps received bytes from flow control */
    struct buf out;
    size_t out_at;
    struct grpc_message *first, **last;
    size_t held; /* bytes of the messages that wait */
    enum grpc_status status;
    struct buf status_message;
    bool surely_not_run;

    /* The loop's. */
    enum grpc_stream_place place;
    TAILQ_ENTRY(grpc_stream) link;
    struct grpc_conn *conn;
    int32_t id;
    bool sent; /* its headers have left */
    size_t unconsumed;
    struct grpc_reader reader;
    int http_status;
    bool is_grpc, has_status;
    enum grpc_status got_status;
    struct buf got_message;
};

TAILQ_HEAD(grpc_stream_list, grpc_stream);

/* One reference each for the caller and for the loop. `timeout_ms` 0: no deadline is told. */
struct grpc_stream *grpc_stream_new(struct grpc_client *c, struct loop *l, struct str authority,
                                    bool tls, struct str path, const struct http_header *metadata,
                                    size_t n_metadata, int64_t timeout_ms);
struct grpc_stream *grpc_stream_unref(struct grpc_stream *s);

/* Posts to the loop. The lock is held. */
void grpc_stream_poke(struct grpc_stream *s);
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

/* ---- The loop's side ---- */

/* From now on the server may see it. False if it has ended meanwhile. */
bool grpc_stream_submit(struct grpc_stream *s);
bool grpc_stream_has_ended(struct grpc_stream *s);
/* Moves up to `cap` bytes to send. `ret_end`: they are the last. */
size_t grpc_stream_pull(struct grpc_stream *s, void *to, size_t cap, bool *ret_end);
void grpc_stream_on_header(struct grpc_stream *s, struct str name, struct str value);
/* False if the stream has failed and must be reset. */
bool grpc_stream_on_data(struct grpc_stream *s, struct str bytes);
/* How many received bytes flow control may have back. */
size_t grpc_stream_consume(struct grpc_stream *s);
/* No more will come: by an HTTP/2 error code, or because the connection was lost. */
void grpc_stream_closed(struct grpc_stream *s, uint32_t h2_code);
void grpc_stream_lost(struct grpc_stream *s, struct str why);
