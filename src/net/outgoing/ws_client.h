/* ws_client.h - WebSocket (RFC 6455), client side, in linear code.
 *
 * The connection is libcurl's, so TLS, proxies and names of certificates are as with courier.h. One
 * thread reads and one may write at the same time; any thread may cancel. Pings are answered while
 * somebody reads. Messages are bounded by LIMIT_WS_MESSAGE_BYTES. */
#pragma once

#include "base/buf.h"
#include "net/outgoing/courier.h"
#include "net/ws/ws.h"

struct ws_client;

/* `to` is copied. Nothing is connected yet, but it can be cancelled already. */
struct ws_client *ws_client_new(const struct courier_options *to);

struct ws_client_request {
    struct str path; /* with its query; what the URL has before it is put in front */
    const struct http_header *headers;
    size_t n_headers;
    const struct str *protocols; /* what we speak; the server chooses one */
    size_t n_protocols;
    int64_t timeout_ms; /* for the handshake; 0: 30 s */
};

/* What a server answers instead, in the arena. */
struct ws_client_refusal {
    int status; /* 0: none */
    struct str body;
};

/* Once; waits for the handshake. ERR_UNAVAILABLE, ERR_TIMEOUT, ERR_BAD_REQUEST (the URL or a
 * header), ERR_GONE (cancelled); ERR_CONFLICT: the server refuses, see `ret_refusal`. */
int ws_client_open(struct ws_client *w, const struct ws_client_request *req, struct arena *a,
                   struct ws_client_refusal *ret_refusal, struct err *err);
struct str ws_client_protocol(const struct ws_client *w); /* the chosen one; lent */

/* Waits for a message, at most so long (-1: for ever), and gives it in `ret`, whose old content is
 * dropped. 1: there is one; 0: the server has closed in good order. ERR_TIMEOUT, ERR_GONE
 * (cancelled), ERR_UNAVAILABLE (broken), ERR_TOO_LARGE. */
int ws_client_read(struct ws_client *w, int64_t timeout_ms, struct buf *ret, struct err *err);
/* Waits until it is sent. Errors as above. */
int ws_client_write(struct ws_client *w, enum ws_type type, struct str message, struct err *err);
void ws_client_cancel(struct ws_client *w);
/* Says goodbye, if that does not wait. */
struct ws_client *ws_client_free(struct ws_client *w);
