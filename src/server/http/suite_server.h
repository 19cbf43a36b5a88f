/* suite_server.h - an HTTP server of a test: one loop on a thread of its own, one handler, on
 * loopback. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "net/outgoing/fetch.h"
#include "net/http/http.h"
#include "net/loop.h"
#include "net/tls.h"

struct suite_server {
    struct arena arena;
    struct loop *loop;
    pthread_t thread;
    struct http_server *http;
    struct str address; /* HOST:PORT */
    bool is_tls, is_stopped;
};

/* Without `tls`, in cleartext. */
void suite_server_start(struct suite_server *s, void (*on_request)(void *, struct http_exchange *),
                        void *arg, struct tls_context *tls);
/* The same with a handler of heads, too. */
void suite_server_handle(struct suite_server *s, const struct http_handler *handler,
                         struct tls_context *tls);
/* The loop ends; what it has done stays to be looked at. */
void suite_server_stop(struct suite_server *s);
void suite_server_free(struct suite_server *s); /* stops it, too */

/* A request and its answer, which lies in the arena. */
struct fetch_reply suite_server_ask(struct suite_server *s, struct fetcher *f, const char *method,
                                    const char *path);
/* The first of that (lower case) name; "": there is none. */
const char *suite_server_header(struct suite_server *s, const struct fetch_reply *reply,
                                const char *name);
