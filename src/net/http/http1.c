/* http1.c - the HTTP/1.1 driver of a connection.
 *
 * Requests are served one after the other, so replies are in order by nature. What a client sends
 * ahead waits in the buffer of one read and then in the socket: reading stops until the running
 * exchange has ended. After LIMIT_PIPELINE requests in a row other connections get their turn.
 *
 * A request whose body was not read to its end closes the connection: where it would end is not
 * worth finding out. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/http/conn.h"
#include "net/http/http1_parse.h"
#include "net/http/http1_write.h"
#include "base/banned.h"

enum state {
    AT_HEAD,
    AT_LENGTH,  /* in a body of known length */
    AT_CHUNKS,  /* in a chunked one */
    AT_TUNNEL,  /* bytes belong to the exchange */
    AT_THE_END, /* whatever else comes is dropped */
};

struct http1 {
    enum state state;
    struct buf in; /* read but not parsed */
    struct http1_scan scan;
    struct http1_chunks chunks;
    uint64_t left;                 /* of AT_LENGTH */
    struct http_exchange *current; /* the newest, until its reply has been taken */
    int64_t head_since_ns;         /* when the head being read began; 0: between requests */
    size_t in_a_row;
    bool eof;
};

static struct http1 *http1_of(struct conn *c)
{
    return c->proto;
}

static void http1_open(struct conn *c)
{
    struct http1 *h = mem_new(struct http1);
    h->head_since_ns = c->opened_ns;
    c->proto = h;
}

static void http1_close(struct conn *c)
{
    struct http1 *h = take(&c->proto);
    buf_done(&h->in);
    free(h);
}

/* ---- Requests ---- */

static void refuse(struct conn *c, struct http_exchange *x, int status)
{
    http1_of(c)->state = AT_THE_END;
    x->close_after = true;
    exchange_refuse(x, status);
}

static void request_from_head(struct http_exchange *x, const struct http1_head *head)
{
    x->req.method = head->method;
    x->req.authority = head->authority;
    x->req.version = head->version;
    x->req.headers = head->headers;
    x->req.n_headers = head->n_headers;
    x->content_length = head->content_length;
    x->close_after = head->close;
    x->expects = head->expects_continue;
    exchange_set_target(x, head->target);
}

static void start_body(struct http1 *h, const struct http1_head *head)
{
    if (head->chunked) {
        h->state = AT_CHUNKS;
        h->chunks = (struct http1_chunks){ 0 };
    } else if (head->content_length > 0) {
        h->state = AT_LENGTH;
        h->left = (uint64_t)head->content_length;
    }
}

static void start_exchange(struct conn *c, struct str head_bytes)
{
    struct http1 *h = http1_of(c);
    struct http_exchange *x = exchange_new(c);
    char *text = arena_dup(&x->arena, head_bytes.p, head_bytes.n);
    struct http1_head head;
    int status = http1_head_parse(&x->arena, text, head_bytes.n, c->home->limits, &head);
    h->current = x;
    h->in_a_row++;
    h->head_since_ns = 0;
    h->scan = (struct http1_scan){ 0 };
    x->req.version = head.version;
    if (status) {
        refuse(c, x, status);
        return;
    }
    if (head.target.p[0] == '*') {
        refuse(c, x, 404); /* OPTIONS *: there is nothing to say about all resources */
        return;
    }
    request_from_head(x, &head);
    start_body(h, &head);
    exchange_head_done(x, h->state != AT_HEAD);
    if (x->is_tunnel && h->state == AT_HEAD)
        h->state = AT_TUNNEL;
}

/* Bytes eaten; 0 if more are needed. */
static size_t step_head(struct conn *c, struct str bytes)
{
    struct http1 *h = http1_of(c);
    ptrdiff_t n = http1_scan(&h->scan, bytes, c->home->limits);
    if (n > 0) {
        start_exchange(c, str_take(bytes, (size_t)n));
        return (size_t)n;
    }
    if (n == 0) {
        if (!h->head_since_ns)
            h->head_since_ns = loop_now_ns(c->home->loop);
        return 0;
    }
    struct http_exchange *x = exchange_new(c);
    x->req.version = HTTP_1_1;
    h->current = x;
    refuse(c, x, (int)-n);
    return bytes.n;
}

static void body_over(struct conn *c)
{
    struct http1 *h = http1_of(c);
    h->state = AT_HEAD;
    exchange_body_end(h->current);
    if (c->phase == CONN_OPEN && h->current->is_tunnel) /* its handler may have cut it off */
        h->state = AT_TUNNEL;
}

static void body_piece(struct conn *c, struct str piece)
{
    struct http1 *h = http1_of(c);
    if (!exchange_body(h->current, piece))
        h->state = AT_THE_END;
}

static size_t step_length(struct conn *c, struct str bytes)
{
    struct http1 *h = http1_of(c);
    struct str piece = h->left < bytes.n ? str_take(bytes, (size_t)h->left) : bytes;
    h->left -= piece.n;
    body_piece(c, piece);
    if (!h->left && h->state == AT_LENGTH)
        body_over(c);
    return piece.n;
}

static void bad_chunks(struct conn *c, int status)
{
    struct http_exchange *x = http1_of(c)->current;
    if (x->handed_over)
        conn_close(c); /* its holder would not learn that the body is broken */
    else if (!x->ended)
        refuse(c, x, status);
}

static size_t step_chunks(struct conn *c, struct str bytes)
{
    struct http1 *h = http1_of(c);
    struct str rest = bytes, piece;
    int r = http1_chunks_next(&h->chunks, &rest, &piece, c->home->limits);
    if (r < 0)
        bad_chunks(c, -r);
    else if (r == HTTP1_PIECE)
        body_piece(c, piece);
    else if (r == HTTP1_END)
        body_over(c);
    return bytes.n - rest.n;
}

static size_t step_tunnel(struct conn *c, struct str bytes)
{
    struct http_exchange *x = http1_of(c)->current;
    if (x && !x->ended && x->tunnel.on_bytes)
        x->tunnel.on_bytes(x->tunnel.arg, x, bytes);
    return bytes.n;
}

/* True while nothing more may be parsed. */
static bool must_wait(struct conn *c)
{
    struct http1 *h = http1_of(c);
    const struct http_exchange *x = h->current;
    switch (h->state) {
    case AT_HEAD:
        if (h->in_a_row >= c->home->limits->pipeline) {
            conn_resume(c);
            return true;
        }
        return x && !x->ended && !x->late;
    case AT_LENGTH:
    case AT_CHUNKS:
        return !x->ended && (x->paused || (x->body_streamed &&
                                           x->unconsumed >= c->home->limits->h2_window_bytes));
    case AT_TUNNEL:
        return x && x->tunnel_paused;
    case AT_THE_END:
        break;
    }
    return false;
}

static size_t step(struct conn *c, struct str bytes)
{
    switch (http1_of(c)->state) {
    case AT_HEAD:
        return step_head(c, bytes);
    case AT_LENGTH:
        return step_length(c, bytes);
    case AT_CHUNKS:
        return step_chunks(c, bytes);
    case AT_TUNNEL:
        return step_tunnel(c, bytes);
    case AT_THE_END:
        break;
    }
    return bytes.n;
}

/* Parses as much as may be parsed now; returns how much that was. */
static size_t run(struct conn *c, struct str bytes)
{
    size_t used = 0;
    bool waiting = false;
    while (used < bytes.n && c->phase == CONN_OPEN && !(waiting = must_wait(c))) {
        size_t n = step(c, str_skip(bytes, used));
        if (!n)
            break;
        used += n;
    }
    if (c->phase == CONN_OPEN)
        conn_pause(c, waiting || must_wait(c));
    return used;
}

/* The client sends no more: once what it sent is answered, we are done. */
static void finish_if_over(struct conn *c)
{
    struct http1 *h = http1_of(c);
    if (h->eof && !h->current && !c->paused)
        conn_finish(c, false);
}

static void http1_on_bytes(struct conn *c, struct str bytes)
{
    struct http1 *h = http1_of(c);
    if (h->in.n) {
        buf_str_add(&h->in, bytes);
        size_t used = run(c, buf_str(&h->in));
        if (c->phase == CONN_OPEN)
            buf_drop(&h->in, used);
    } else {
        size_t used = run(c, bytes);
        if (c->phase == CONN_OPEN && used < bytes.n)
            buf_str_add(&h->in, str_skip(bytes, used));
    }
    if (c->phase == CONN_OPEN && !h->in.n)
        buf_done(&h->in);
}

static void http1_resume(struct conn *c)
{
    struct http1 *h = http1_of(c);
    h->in_a_row = 0;
    if (h->state == AT_HEAD && h->current && h->current->is_tunnel && !h->current->ended)
        h->state = AT_TUNNEL; /* upgraded after the head was done with */
    size_t used = run(c, buf_str(&h->in));
    if (c->phase != CONN_OPEN)
        return;
    if (used)
        buf_drop(&h->in, used);
    if (!h->in.n)
        buf_done(&h->in);
    finish_if_over(c);
}

static void http1_on_eof(struct conn *c)
{
    struct http1 *h = http1_of(c);
    struct http_exchange *x = h->current;
    bool in_body = h->state == AT_LENGTH || h->state == AT_CHUNKS;
    /* A client may close its side and still wait for the reply. A streamed reply must end as soon
     * as the client is gone, and a request that waits to be taken must not be taken then, and the
     * two cannot be told apart. */
    bool ends = x && !x->ended && (x->events.on_gone || x->paused);
    if (in_body || h->state == AT_TUNNEL || ends) {
        conn_close(c);
        return;
    }
    if (x && !x->ended)
        exchange_hurry(x);
    h->eof = c->eof; /* else there may be more in the socket, which we do not read now */
    finish_if_over(c);
}

/* ---- Replies ---- */

static void http1_begin(struct http_exchange *x, int status, const struct http_header *headers,
                        size_t n, int64_t length)
{
    struct conn *c = x->conn;
    if (c->home->draining || (!x->body_complete && (x->whole || x->refused)))
        x->close_after = true;
    http1_write_head(x, status, headers, n, length);
    if (x->whole)
        conn_resume(c);
    if (x->is_tunnel)
        conn_resume(c);
}

static void http1_more(struct http_exchange *x)
{
    if (x->ended)
        conn_resume(x->conn);
}

static void http1_abort(struct http_exchange *x)
{
    conn_close(x->conn);
}

static void http1_want_body(struct http_exchange *x)
{
    conn_resume(x->conn);
}

static void http1_consumed(struct http_exchange *x, size_t n)
{
    (void)n;
    conn_resume(x->conn);
}

/* All of a reply has been taken. */
static void reply_over(struct conn *c, struct http_exchange *x)
{
    struct http1 *h = http1_of(c);
    bool unread = !x->body_complete;
    if (h->current == x)
        h->current = NULL;
    exchange_release(x);
    if (x->close_after || unread || x->is_tunnel || c->home->draining) {
        h->state = AT_THE_END;
        conn_finish(c, unread || x->refused || x->is_tunnel || h->in.n);
        return;
    }
    h->in_a_row = h->in.n ? h->in_a_row : 0;
    if (h->eof || h->in.n)
        conn_resume(c);
}

static size_t http1_pull(struct conn *c, char *to, size_t cap)
{
    size_t n = 0;
    struct http_exchange *x, *next;
    for (x = TAILQ_FIRST(&c->exchanges); x; x = next) {
        next = TAILQ_NEXT(x, link);
        if (x->released)
            continue;
        n += http1_write_some(x, to + n, cap - n);
        if (!http1_written(x))
            break;
        reply_over(c, x);
        if (c->close_when_sent)
            break;
    }
    return n;
}

/* ---- Deadlines ---- */

static struct conn_due http1_due(struct conn *c)
{
    const struct http1 *h = http1_of(c);
    const struct http_limits *l = c->home->limits;
    if (h->state == AT_LENGTH || h->state == AT_CHUNKS) {
        if (c->paused)
            return (struct conn_due){ 0, CONN_NEVER };
        return (struct conn_due){ c->read_ns + l->idle_ms * NS_PER_MS, CONN_IDLE };
    }
    if (h->current || h->state == AT_TUNNEL)
        return (struct conn_due){ 0, CONN_NEVER };
    if (h->head_since_ns)
        return (struct conn_due){ h->head_since_ns + l->read_header_ms * NS_PER_MS,
                                  CONN_HEAD_LATE };
    return (struct conn_due){ c->read_ns + l->idle_ms * NS_PER_MS, CONN_IDLE };
}

static void http1_late(struct conn *c)
{
    conn_close(c);
}

static void http1_drain(struct conn *c)
{
    const struct http1 *h = http1_of(c);
    if (!h->current && h->state == AT_HEAD && !h->in.n)
        conn_finish(c, false);
}

const struct conn_driver http1_driver = {
    .open = http1_open,
    .close = http1_close,
    .on_bytes = http1_on_bytes,
    .on_eof = http1_on_eof,
    .pull = http1_pull,
    .due = http1_due,
    .resume = http1_resume,
    .drain = http1_drain,
    .late = http1_late,
    .begin = http1_begin,
    .more = http1_more,
    .abort = http1_abort,
    .want_body = http1_want_body,
    .consumed = http1_consumed,
};
