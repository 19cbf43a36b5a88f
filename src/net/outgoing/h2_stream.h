/* h2_stream.h - one request of an HTTP/2 client and its answer, as the connection sees it. Private
 * to this folder.
 *
 * Whoever makes requests embeds this first in a struct of his own and says by `ops` what its bytes
 * are. The loop has one reference while the stream is on its way, callers have theirs. */
#pragma once

#include <stdatomic.h>
#include <sys/queue.h>

#include "net/http/http.h"
#include "net/loop.h"

struct h2_client;
struct h2_conn;
struct h2_stream;

/* All but `free` on the loop. */
struct h2_stream_ops {
    /* From now on the server may see it. False if it has ended meanwhile. */
    bool (*submit)(struct h2_stream *s);
    bool (*has_ended)(struct h2_stream *s); /* by its caller: it is to be reset */
    /* Moves up to `cap` bytes to send. `ret_end`: they are the last. */
    size_t (*pull)(struct h2_stream *s, void *to, size_t cap, bool *ret_end);
    void (*on_header)(struct h2_stream *s, struct str name, struct str value);
    void (*on_head)(struct h2_stream *s); /* a block of headers is complete; or NULL */
    /* False if the stream has failed and must be reset. */
    bool (*on_data)(struct h2_stream *s, struct str bytes);
    /* How many received bytes flow control may have back. */
    size_t (*consume)(struct h2_stream *s);
    /* No more will come: by an HTTP/2 error code, or because the connection was lost. */
    void (*closed)(struct h2_stream *s, uint32_t h2_code);
    void (*lost)(struct h2_stream *s, struct str why);
    void (*free)(struct h2_stream *s); /* the last reference is gone */
};

enum h2_stream_place { H2_STREAM_NEW, H2_STREAM_WAITING, H2_STREAM_OPEN, H2_STREAM_DONE };

struct h2_stream {
    const struct h2_stream_ops *ops;
    struct h2_client *client;
    _Atomic unsigned refs;
    struct loop_msg poke;
    atomic_bool poked;  /* it is in the mailbox */
    struct arena arena; /* of the request's headers; nothing is added later */
    struct http_header *headers;
    size_t n_headers;

    /* The loop's. */
    enum h2_stream_place place;
    TAILQ_ENTRY(h2_stream) link;
    struct h2_conn *conn;
    int32_t id;
    bool sent; /* its headers have left */
};

TAILQ_HEAD(h2_stream_list, h2_stream);

/* One reference each for the caller and for the loop. `n_headers` is room for that many. */
void h2_stream_init(struct h2_stream *s, struct h2_client *c, const struct h2_stream_ops *ops,
                    size_t n_headers);
void h2_stream_put_header(struct h2_stream *s, struct str name, struct str value); /* copies */
struct h2_stream *h2_stream_unref(struct h2_stream *s);

/* There are bytes to send or to consume, or the caller has ended it; the first time: it is to be
 * sent. Any thread. */
void h2_stream_poke(struct h2_stream *s);
