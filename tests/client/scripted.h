/* scripted.h - a server in this process that answers whatever a test says. */
#pragma once

#include "net/http/http.h"

struct scripted;

enum { SCRIPTED_SILENCE = 0, SCRIPTED_CUT = -1 }; /* instead of a status */

struct scripted_answer {
    int status;
    struct http_header headers[4];
    size_t n_headers;
    struct str body; /* static, or in the arena of the request */
};

/* On the server's one thread. The arena is the request's. */
typedef struct scripted_answer scripted_fn(void *arg, const struct http_request *req,
                                           struct arena *a);

/* Takes over a request for a WebSocket. */
typedef void scripted_socket_fn(void *arg, struct http_exchange *x);

struct scripted *scripted_start(scripted_fn *fn, void *arg);
/* Without this, such requests are answered as others. Before the first one. */
void scripted_on_socket(struct scripted *s, scripted_socket_fn *fn);
void scripted_stop(struct scripted *s);
const char *scripted_url(const struct scripted *s);

struct scripted_answer scripted_json(int status, const char *body);
