/* client.h - requests below the verbs, for the rooms of this folder. */
#pragma once

#include <sampan/client.h>

#include "base/buf.h"
#include "client/bridge.h"
#include "client/stop_internal.h"
#include "net/outgoing/courier.h"
#include "net/outgoing/ws_client.h"

/* Who a client is to its server, and the way there. Any thread. */
struct client_link;

struct client_headers {
    struct http_header *items; /* in the arena of the request */
    size_t n;
};

int client_link_new(const struct spn_config *cfg, struct client_link **ret, struct spn_err *err);
struct client_link *client_link_free(struct client_link *l);
/* The courier to send by, with a reference, and headers that say who asks, in the arena. */
int client_link_take(struct client_link *l, struct arena *a, struct courier **ret,
                     struct client_headers *ret_headers, struct spn_err *err);
/* The way alone, for a connection of one's own. Texts lie in the arena, or are the link's. */
int client_link_way(struct client_link *l, struct arena *a, struct courier_options *ret,
                    struct client_headers *ret_headers, struct spn_err *err);
/* The server has answered 401. */
void client_link_refused(struct client_link *l);

struct client_request {
    struct str method, path; /* with its query */
    struct str accept, content_type, body;
    bool is_endless;
    const struct spn_pair *more; /* headers */
    size_t n_more;
    int *ret_status; /* NULL: only 2xx is a success */
};

/* The whole answer, with a status of 2xx; else an error. */
int client_call(struct spn_client *c, const struct client_request *req, const struct spn_call *how,
                struct arena *a, struct str *ret, struct spn_err *err);
/* Several that are under way at once; only what each came to matters. Those whose result is not 0
 * already are left out. */
void client_call_many(struct spn_client *c, const struct client_request *reqs, size_t n,
                      const struct spn_call *how, struct arena *a, int *results);
/* Only its head; the body is to be read. No request is repeated. */
int client_open(struct spn_client *c, const struct client_request *req, struct spn_stop *stop,
                struct arena *a, struct delivery **ret, struct spn_err *err);

/* ---- spn_watch.c: instead of waiting ---- */

/* As delivery_when_ready(); before it, spn_watch_next() must have had nothing. */
bool watch_can_tell(const struct spn_watch *w);
void watch_when_ready(struct spn_watch *w, void (*fn)(void *arg), void *arg);

struct pool;
struct pool *client_pool(struct spn_client *c); /* for what its informers do */

/* A WebSocket that speaks one of these protocols. */
int client_socket(struct spn_client *c, struct str path, const struct str *protocols,
                  size_t n_protocols, struct spn_stop *stop, struct arena *a,
                  struct ws_client **ret, struct spn_err *err);

bool client_speaks_protobuf(const struct spn_client *c);
bool client_shows_uninitialized(const struct spn_client *c);
struct str client_manager(const struct spn_client *c); /* of fields, if the caller names none */

/* ---- client_path.c ---- */

struct client_query {
    struct buf text; /* "?a=b&c=d" */
};
void query_add(struct client_query *q, const char *key, struct str value);  /* nothing if empty */
void query_add_bool(struct client_query *q, const char *key, bool value);   /* nothing if false */
void query_add_int(struct client_query *q, const char *key, int64_t value); /* nothing if zero */
/* "/apis/apps/v1/namespaces/NS/deployments/NAME/SUB?...", in the arena. SPN_BAD_REQUEST: a name has
 * what no name has. */
int client_path(struct arena *a, const struct spn_target *at, const struct client_query *q,
                struct str *ret, struct spn_err *err);

/* ---- client_status.c ---- */

/* What an answer that is no success means. The body lies in the arena. */
int client_status_error(struct arena *a, int http_status, int retry_after_sec, struct str body,
                        struct spn_err *err);
/* The same of a Status that came as an object. */
int client_status_of(struct value *status, struct spn_err *err);
/* An error of the connection. */
int client_transport_error(const struct err *why, struct spn_err *err);
