/* exchange.h - the inside of an exchange, for the protocol drivers. Private to this folder.
 *
 * An exchange is freed when two things have happened, in either order: its holder has ended it,
 * and its driver has let go of it (exchange_release). Callbacks to the holder are never made from
 * inside one of the holder's own calls: they wait for the exchange's turn at the end of the
 * loop's. All of it runs on the connection's loop, except where a worker is named.
 *
 * An exchange that takes too long is answered by the loop (`late`), while a worker may still have
 * its arena: such an answer lies in `late_arena`. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "net/http/http.h"
#include "net/loop.h"
#include "net/workers.h"

struct conn;
struct conn_peer;
struct http_home;

/* Bytes of a reply that wait to be sent. */
struct segment {
    struct segment *next;
    struct str rest;
    void (*release)(void *owner);
    void *owner;
    size_t held; /* counted in its home; 0 for bytes that are shared */
};

/* What the holder of a worker and the loop share; see http_send_write(). */
struct send_gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    atomic_bool waiting;
    atomic_size_t sent; /* bytes that have left the queue */
    size_t posted;      /* worker only */
};

/* Whom to tell when it is over: in its arena. */
struct exchange_over {
    struct exchange_over *next;
    void (*call)(void *arg, struct http_exchange *x, int status);
    void *arg;
};

struct http_exchange {
    struct http_request req;
    struct arena arena;
    struct http_home *home;
    void *note;        /* the handler's own */
    struct conn *conn; /* NULL once the connection is no more */
    struct conn_peer *peer;
    TAILQ_ENTRY(http_exchange) link;
    struct loop_msg turn;
    atomic_bool gone;
    bool turn_queued, released, told_gone;
    bool counted; /* in the connection's n_exchanges */

    /* Time; see exchange_clock.c. */
    TAILQ_ENTRY(http_exchange) timed_link;
    bool is_timed;
    int64_t deadline_ns; /* 0: none */
    int64_t stalled_ns;  /* since when the client reads too little; 0: nothing is unsent */
    uint64_t taken, stalled_taken;
    bool late; /* the loop answered in place of its holder */
    struct arena late_arena;

    /* Waiting to be handed over; see exchange_room.c. */
    TAILQ_ENTRY(http_exchange) wait_link;
    bool waits;
    struct allowance allowance; /* of the arena, while a worker has it */

    /* The request. */
    bool head_method;       /* HEAD: the reply has no body */
    bool body_streamed;     /* HTTP_BODY_STREAM */
    bool body_wanted;       /* http_body_start() was called, or it is collected */
    bool body_complete;     /* all of it has arrived */
    bool told_body_end;     /* on_body has had its last call */
    bool paused;            /* HTTP_BODY_LATER: http_go_on() will come */
    bool handed_over;       /* on_request has been called */
    bool headers_too_big;   /* counted, no longer kept */
    int64_t content_length; /* -1: not said */
    struct buf body;        /* collected, or arrived before it was wanted */
    size_t unconsumed;      /* streamed bytes that the holder has not consumed */
    size_t header_list;     /* names, values and 32 for each, as RFC 9113 counts */
    size_t n_counted;       /* headers, kept or not */
    size_t header_cap;
    struct http_header *headers;

    /* The reply. */
    int status; /* 0 until it has begun */
    struct exchange_over *over;
    struct http_observer observer;
    struct http_header added[HTTP_ADDED_HEADERS];
    size_t n_added;
    bool began, ended, whole, refused, close_after, room_wanted;
    struct segment *first, **end;
    struct segment one; /* most replies need no other */
    bool one_used;
    size_t unsent;
    const struct http_header *trailers;
    size_t n_trailers;
    struct http_events events;
    struct http_tunnel tunnel;
    bool is_tunnel, tunnel_paused;

    /* Driver's. */
    struct str head;   /* http1: head of the reply, not yet sent */
    bool chunked;      /* http1 */
    bool last_chunk;   /* http1: the end of the chunks has been made */
    bool expects;      /* http1: 100 Continue is owed */
    int32_t stream_id; /* http2 */
    bool deferred;     /* http2: the data source has nothing at the moment */
    bool end_sent;     /* http2: END_STREAM */
    bool collecting;   /* http2: in the connection's n_collecting */
    int64_t discarded; /* http2: body bytes that were thrown away */

    /* A worker's. */
    struct work work;
    void (*run)(struct http_exchange *x, void *arg);
    void *run_arg;
    bool has_gate;
    struct send_gate gate;
};

/* The exchange holds a place in the connection's list until it is freed. */
struct http_exchange *exchange_new(struct conn *c);

/* Adds to the list's size without keeping anything. False once it is over the limits. */
bool exchange_count_header(struct http_exchange *x, struct str name, struct str value);
/* Keeps a header, names already in lower case; both are copied into the arena unless `in_arena`.
 * False once the list is over the limits: it is then counted but not kept. */
bool exchange_add_header(struct http_exchange *x, struct str name, struct str value, bool in_arena);
/* Splits the target into path and query. */
void exchange_set_target(struct http_exchange *x, struct str target);

/* The head is complete: checks the authority, asks the handler, hands over what has no body to
 * wait for. `has_body`: more may come. */
void exchange_head_done(struct http_exchange *x, bool has_body);
/* Calls the handler, or waits until it may. */
void exchange_hand_over(struct http_exchange *x);
/* Body bytes. False if they do not belong to the exchange any more (it is ended, or was over the
 * limit and has been answered); the driver then decides what becomes of the rest. */
bool exchange_body(struct http_exchange *x, struct str piece);
void exchange_body_end(struct http_exchange *x);
void exchange_drop_body(struct http_exchange *x);
/* Answers with a status and its standard text, in place of the handler. */
void exchange_refuse(struct http_exchange *x, int status);

/* Such an answer, in upstream's form where it has one; in the arena. */
struct exchange_refusal {
    struct http_header headers[4];
    size_t n_headers;
    struct str body;
};
struct exchange_refusal exchange_refusal(struct arena *a, const struct http_limits *l, int status);

struct str exchange_status_words(int status);

/* Gives the head of the reply to the driver, with the headers that were added. */
void exchange_begin(struct http_exchange *x, int status, const struct http_header *headers,
                    size_t n, int64_t length);

/* Adds bytes to the reply, or releases them if the client is gone. */
void exchange_queue(struct http_exchange *x, struct http_bytes bytes);
void exchange_drop(struct http_exchange *x); /* releases all that is queued */
/* Moves up to `cap` bytes of the reply to `to`. */
size_t exchange_take(struct http_exchange *x, char *to, size_t cap);
/* Nothing will be added to the reply's body. */
static inline bool exchange_is_complete(const struct http_exchange *x)
{
    return x->ended || x->late;
}
static inline bool exchange_all_taken(const struct http_exchange *x)
{
    return exchange_is_complete(x) && !x->first;
}
/* Nothing is left to be done for the client. */
static inline bool exchange_all_sent(const struct http_exchange *x)
{
    return x->released || (exchange_all_taken(x) && !x->head.n);
}
/* For what a driver makes of a reply. */
static inline struct arena *exchange_reply_arena(struct http_exchange *x)
{
    return x->late ? &x->late_arena : &x->arena;
}

void exchange_queue_turn(struct http_exchange *x);
void exchange_ended(struct http_exchange *x);
/* The reply is no longer wanted. Tells the holder. */
void exchange_give_up(struct http_exchange *x);
/* The client has gone: the same, and drops what is queued. */
void exchange_lost(struct http_exchange *x);
/* The driver no longer knows the exchange. */
void exchange_release(struct http_exchange *x);
/* The connection is no more. */
void exchange_orphan(struct http_exchange *x);

/* ---- Room ---- */

void exchange_room_init(struct http_home *h, size_t most);
void exchange_room_took(struct http_exchange *x, size_t n);
void exchange_room_gave(struct http_exchange *x, size_t n);
/* Called from time to time, because other loops may have made room. */
void exchange_room_look(struct http_home *h);
/* There is no room for more of this client. */
bool exchange_is_crowded(const struct http_exchange *x);
/* True if the exchange must wait for room; it is handed over later. */
bool exchange_waits(struct http_exchange *x);
void exchange_wait_no_more(struct http_exchange *x);

/* ---- The clock ---- */

void exchange_clock_init(struct http_home *h);
/* It has a deadline or something unsent from now on. */
void exchange_clock_join(struct http_exchange *x);
void exchange_clock_leave(struct http_exchange *x);
/* The home takes no more connections: its timer ends with the last exchange. */
void exchange_clock_drain(struct http_home *h);
/* The client has said all, and is perhaps gone: it has to be answered soon. */
void exchange_hurry(struct http_exchange *x);
