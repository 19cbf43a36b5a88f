/* relay.h - a request that is passed on to another HTTP server, and its answer back.
 *
 *     client ── exchange ── relay ── HTTP/1.1, a connection of its own ── server
 *
 * All of it runs on the exchange's loop, so nobody waits for a slow or silent server but the client
 * that asked. A client that reads slowly slows the server down: a relay holds no more than one read
 * and what the exchange may have unsent. If the server agrees to an upgrade, bytes go both ways as
 * they are until one side ends. When the client goes, the connection to the server is closed. */
#pragma once

#include <sys/queue.h>

#include "base/buf.h"
#include "net/http/http.h"
#include "net/tcp.h"

enum { RELAY_CONNECT_MS = 30000, RELAY_COLLECT_BYTES = 50000 };

/* Those of a loop, so that they can be ended with the server; LIST_INIT() before. */
struct relay;
LIST_HEAD(relay_set, relay);

/* Stands between the two sides of a tunnel that speak differently, and turns the bytes of one into
 * bytes for either. Called on the loop, with what is to be sent in two buffers. */
struct relay_filter {
    void *arg;
    void (*begin)(void *arg, struct buf *to_client, struct buf *to_server); /* both may be NULL */
    void (*from_client)(void *arg, struct str bytes, struct buf *to_client, struct buf *to_server);
    void (*from_server)(void *arg, struct str bytes, struct buf *to_client, struct buf *to_server);
    /* The server has closed its side, or is lost: the last words to the client. */
    void (*server_end)(void *arg, struct buf *to_client);
    bool (*is_over)(void *arg); /* the tunnel ends after what was sent last */
    /* Bytes of the client that it has not passed on yet: who has sent many has to wait. */
    size_t (*held)(void *arg);
};

struct relay_request {
    struct relay_set *set; /* of the exchange's loop; NULL: nobody ends it early */
    struct tcp_addresses to;
    struct tls_context *tls; /* a client's that speaks HTTP/1.1; NULL: cleartext */
    struct str tls_name;     /* what the certificate must say; empty: nobody looks */
    struct str method, target;
    const struct http_header *headers; /* with a Host; how long the body is is added */
    size_t n_headers;
    struct str body;
    int64_t head_ms; /* how long the head of the answer may take; 0: for ever */
    bool
        opens_gzip; /* an answer that comes compressed is opened: the client has not asked for it */
    const struct relay_filter *filter; /* of a tunnel; NULL: bytes are passed on as they are */
};

struct relay_answer {
    int status;
    const struct http_header *headers;
    size_t n_headers;
};

/* Callbacks on the loop. One of the last two answers the exchange, or the relay does. */
struct relay_holder {
    void *arg;
    /* The head has come. True: the answer is passed on, with what the holder leaves in `answer`.
     * False: its body is collected, the first RELAY_COLLECT_BYTES of it. 101 can only be passed
     * on. */
    bool (*on_head)(void *arg, struct http_exchange *x, struct relay_answer *answer);
    void (*on_collected)(void *arg, struct http_exchange *x, const struct relay_answer *answer,
                         struct str body);
    /* Nothing was passed on, in Go's words; `is_dialled`: the server was reached. */
    void (*on_failed)(void *arg, struct http_exchange *x, bool is_dialled, const struct err *err);
};

/* Takes the exchange, on its loop; the request's texts live as long as the exchange, and so does
 * what `holder->arg` points to. A reference to `tls` is taken. */
void relay_start(struct http_exchange *x, const struct relay_request *req,
                 const struct relay_holder *holder);

/* Ends those that have begun to answer: what came is all, as far as the client sees. On the loop.
 */
void relay_set_close(struct relay_set *set);
