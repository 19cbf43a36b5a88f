/* load_conn.h - HTTP/2 over TLS as cheaply as it goes: OpenSSL and nghttp2 on non-blocking sockets,
 * one epoll set, one thread.
 *
 * The generator shares its processors with the server that it measures, so what it spends is
 * missing there. Requests and bodies are borrowed, nothing is allocated for an answer, and all that
 * a turn of the loop has to send on a connection leaves in one write.
 *
 * A connection that ends takes its requests with it (status 0) and is not dialled again: whoever
 * measures decides what that means. Windows are those of Go's clients. */
#pragma once

#include "bench/load_endpoint.h"
#include "base/buf.h"

struct load_conn;

struct load_loop {
    int epoll_fd;
    struct load_conn *dirty; /* has something to send before the loop sleeps */
};

/* One exchange. The caller fills the first part and keeps all of it, texts too, until on_done,
 * from where it may be submitted again. */
struct load_request {
    struct str method, path, body;
    struct str accept;                                         /* empty: JSON */
    void (*on_data)(struct load_request *r, struct str bytes); /* may be NULL */
    void (*on_done)(struct load_request *r);
    void *owner;

    int status; /* of the answer; 0: none came */
    uint64_t n_received;
    int64_t begun_ns;
    size_t n_sent;
    struct load_conn *conn;
    struct load_request *next, **prev; /* under way on the same connection */
    char length[24];
};

int load_loop_init(struct load_loop *l, struct err *err);
void load_loop_done(struct load_loop *l);
/* Sends what is due, waits up to `timeout_ms` for events, and works through them. */
void load_loop_turn(struct load_loop *l, int timeout_ms);

/* Starts to dial; the loop does the rest. NULL and `err` if there is no socket to be had. */
struct load_conn *load_conn_new(struct load_loop *l, const struct load_endpoint *e,
                                struct err *err);
/* Closes. Requests that are under way are forgotten without a word. */
struct load_conn *load_conn_free(struct load_conn *c);

/* Ready: TLS is up and the server's settings have arrived. Broken: why, else NULL. */
bool load_conn_is_ready(const struct load_conn *c);
const char *load_conn_broken(const struct load_conn *c);
/* Streams that the server allows at a time. */
uint32_t load_conn_max_streams(const struct load_conn *c);

/* The connection must be ready. False, with on_done not called, if it takes no more requests. */
bool load_conn_submit(struct load_conn *c, struct load_request *r);
