/* server.h - the inside of a server, for server.c and server_listen.c. Private to this folder. */
#pragma once

#include "net/http/conn.h"

struct listener {
    struct loop_fd fd; /* first */
    struct loop_timer pause;
    int64_t asked_ns; /* when idle connections were asked to make room, if that did not help */
    struct listener *next;
    struct http_server *server;
    struct tls_context *tls; /* NULL: cleartext */
    bool is_tcp;
    char *path; /* of a unix socket; removed at the end */
};

struct http_server {
    _Atomic uint32_t refs; /* the owner, connections, exchanges, messages on their way */
    struct http_limits limits;
    struct http_handler handler;
    struct shares shares;
    struct http_home **homes;
    size_t n_homes, next_home;
    struct listener *listeners; /* the first loop's */

    _Atomic uint64_t connections_open, connections_total, connections_refused, handshakes_open;
    atomic_bool draining, done_posted;
    struct loop_timer cut;
    struct loop_msg drain_msg, done_msg;
    void (*done)(void *arg);
    void *done_arg;
};

/* Gives the connection to a home; takes the descriptor. On the first loop. */
void server__deal(struct http_server *s, int fd, struct tls_context *tls, struct str address,
                  bool is_tcp);
void server__close_listeners(struct http_server *s);
/* Has idle connections of strangers closed, on every loop. */
void server__make_room(struct http_server *s);
