/* conn.h - one connection: socket, TLS, output, deadlines. Private to this folder.
 *
 * The protocol sits behind a conn_driver, which has no I/O: it is given bytes and asked for bytes.
 * Reading and writing go through one pair of buffers per loop, so that an idle connection holds
 * none; only what the socket did not take is kept by the connection.
 *
 * A connection is freed in its own turn at the end of the loop's, never inside a callback. */
#pragma once

#include <netinet/in.h>
#include <sys/queue.h>

#include "net/http/exchange.h"
#include "net/http/share.h"
#include "net/tls_conn.h"

enum { CONN_BUFFER_BYTES = 64 << 10, CONN_SPARE_EXCHANGES = 64, CONN_SPARE_ARENA_BYTES = 64 << 10 };

struct http_counters { /* written by one loop, read by any thread */
    _Atomic uint64_t connections_closed, handshakes_failed;
    _Atomic uint64_t exchanges_open, exchanges_total;
    _Atomic uint64_t bytes_in, bytes_out, closed_for_abuse;
};

TAILQ_HEAD(conn_list, conn);
TAILQ_HEAD(exchange_list, http_exchange);

/* What one server keeps on one loop. */
struct http_home {
    struct http_server *server;
    struct loop *loop;
    const struct http_limits *limits;
    const struct http_handler *handler;
    struct conn_list conns, handshaking; /* the latter oldest first */
    size_t n_handshaking, most_handshaking;
    struct exchange_list
        timed; /* that have a deadline, or something unsent; see exchange_clock.c */
    struct loop_timer tick;
    struct exchange_list waiting; /* for room for their replies; see exchange_room.c */
    size_t n_waiting;
    size_t held, most_held; /* bytes of replies */
    struct loop_msg room;
    bool room_queued, room_wanted;    /* the latter by a streamed reply */
    struct shares *shares;            /* the server's */
    char *read_buffer, *write_buffer; /* CONN_BUFFER_BYTES each, made when first needed */
    struct http_exchange *spare;      /* for reuse, linked by link.tqe_next */
    size_t n_spare;
    char date[32]; /* "Sun, 06 Nov 1994 08:49:37 GMT" */
    size_t date_n;
    int64_t date_ns;
    bool draining;
    struct http_counters count;
};

/* Shared by a connection and its exchanges, which may outlive it. Counted on the loop only. */
struct conn_peer {
    size_t refs;
    struct http_peer peer;
    struct share *share; /* once it is known who it is */
    struct arena arena;  /* of the certificate's names */
    char address[64];
};
void conn_peer_unref(struct http_home *h, struct conn_peer *p);

enum conn_phase {
    CONN_HANDSHAKE,
    CONN_SNIFF, /* cleartext: HTTP/1.1 or the HTTP/2 preface? */
    CONN_OPEN,
    CONN_LINGER, /* all is sent; what the client still sends is dropped */
    CONN_CLOSED, /* to be freed in its turn */
};

enum conn_why { CONN_NEVER, CONN_HANDSHAKE_LATE, CONN_HEAD_LATE, CONN_IDLE, CONN_STALLED };

struct conn_due {
    int64_t at_ns;
    enum conn_why why;
};

struct conn_driver {
    void (*open)(struct conn *c);
    void (*close)(struct conn *c); /* frees c->proto */
    void (*on_bytes)(struct conn *c, struct str bytes);
    void (*on_eof)(struct conn *c);
    size_t (*pull)(struct conn *c, char *to, size_t cap); /* bytes to send; 0: none now */
    struct conn_due (*due)(struct conn *c);               /* what the client owes, if anything */
    void (*resume)(struct conn *c); /* in the connection's turn, if conn_resume() was called */
    void (*drain)(struct conn *c);  /* be finished soon */
    void (*late)(struct conn *c);   /* idle for too long: say goodbye, if the protocol can */

    /* Of an exchange. `length` is -1 when it is not known. */
    void (*begin)(struct http_exchange *x, int status, const struct http_header *headers, size_t n,
                  int64_t length);
    void (*more)(struct http_exchange *x); /* segments or the end were added */
    void (*abort)(struct http_exchange *x);
    void (*want_body)(struct http_exchange *x);
    void (*consumed)(struct http_exchange *x, size_t n);
};

extern const struct conn_driver http1_driver;
extern const struct conn_driver http2_driver;

struct conn {
    struct loop_fd fd; /* first */
    struct loop_timer timer;
    struct loop_msg turn;
    struct http_home *home;
    TAILQ_ENTRY(conn) link, handshaking_link;
    struct tls_conn *tls; /* NULL: cleartext */
    const struct conn_driver *driver;
    void *proto;
    struct exchange_list exchanges;
    size_t n_exchanges; /* not yet both ended and done with by the driver */
    size_t unsent;      /* of all its exchanges */
    struct buf pending;
    size_t pending_at;

    int64_t opened_ns, read_ns;
    int64_t armed_ns; /* 0: no timer */
    int64_t stalled_ns;
    uint64_t sent, stalled_sent; /* bytes in all, and when the stall began */
    size_t lingered;
    enum conn_phase phase;
    uint8_t sniffed; /* bytes that looked like the preface */
    bool turn_queued, paused, eof, blocked, read_again, resume_wanted;
    bool half_closed_seen;
    bool close_when_sent, linger_wanted;
    bool loopback_names_only; /* cleartext TCP: see exchange_head_done() */

    struct conn_peer *peer;
};

struct http_home *http_home_new(struct http_server *s, struct loop *l);
/* Loops not running, or nothing left. */
void http_home_free(struct http_home *h);
struct str http_home_date(struct http_home *h);
/* Called by the server's parts. */
void http_server_conn_closed(struct http_server *s); /* gives the connection's reference back */
void http_server_handshake_done(struct http_server *s);
struct http_home *http_server_home(struct http_server *s, size_t i);
void http_server_ref(struct http_server *s);
void http_server_unref(struct http_server *s);

/* Takes the descriptor and the reference to the context, if any. */
void conn_start(struct http_home *h, int fd, struct tls_context *tls, struct str address,
                bool is_tcp);
void conn_close(struct conn *c);
void conn_drain(struct conn *c);
/* Something can be sent, or reading goes on: looked after at the end of the loop's turn. */
void conn_wake(struct conn *c);
void conn_resume(struct conn *c);
void conn_pause(struct conn *c, bool pause); /* stop or go on reading */
/* Closes once everything is sent. `linger`: the client may still be sending. */
void conn_finish(struct conn *c, bool linger);
void conn_abuse(struct conn *c); /* counts it */

/* Only the home's loop writes, so no locked instruction is needed. */
static inline void count_add(_Atomic uint64_t *n, uint64_t by)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + by,
                          memory_order_relaxed);
}
