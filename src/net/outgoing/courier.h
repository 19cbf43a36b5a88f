/* courier.h - outgoing HTTP to one server, with many requests under way at once.
 *
 * Over TLS they share a connection of HTTP/2, if the server speaks it (h2_client.h). Else, and in
 * cleartext or through a proxy with TLS of its own, each that is under way has a connection of
 * HTTP/1.1, by libcurl.
 * Those who send wait on their own threads, in linear code, and read the answer in pieces while it
 * comes. A reader who is slow slows the server down. Redirects are not followed, proxies from the
 * environment are ignored. Any thread may send; a delivery belongs to one thread, which alone reads
 * and frees it; any thread may cancel it. */
#pragma once

#include "base/buf.h"
#include "net/outgoing/fetch.h"

struct courier;
struct delivery; /* one request and its answer */

struct courier_options {
    struct fetcher_options trust; /* `cancel` is not used */
    struct str url;               /* of the server: "https://127.0.0.1:6443/prefix" */
    struct str server_name;       /* what its certificate must say; empty: the URL's host */
    bool no_http2;
};

/* Texts are copied. ERR_INVALID: the URL, the proxy's or a certificate cannot be read. */
int courier_new(const struct courier_options *opt, struct courier **ret, struct err *err);
/* Each delivery holds a reference, too. */
struct courier *courier_ref(struct courier *c);
struct courier *courier_unref(struct courier *c);

struct courier_request {
    struct str method;
    struct str path; /* "/api/v1/pods?limit=500"; what the URL has before it is put in front */
    const struct http_header *headers;
    size_t n_headers;
    struct str body;
    int64_t timeout_ms; /* to the end of the answer; 0: 30 s */
    bool is_endless;    /* the answer may go on for ever; the time is for its head alone */
};

/* Begins to send; texts are copied. */
int courier_send(struct courier *c, const struct courier_request *req, struct delivery **ret,
                 struct err *err);

/* Waits for the head of the answer, before any of its body is read: status and headers, which the
 * delivery lends. ERR_UNAVAILABLE (refused, TLS, name, broken), ERR_TIMEOUT, ERR_TOO_LARGE (the
 * head), ERR_GONE (cancelled). */
int delivery_head(struct delivery *d, struct fetch_reply *ret, struct err *err);

/* Waits for more of the body, at most `timeout_ms` (-1: for as long as the request may take), and
 * gives it in `ret`, whose old content is dropped. 1: there is something; 0: that was all; else
 * errors as above. */
int delivery_read(struct delivery *d, int64_t timeout_ms, struct buf *ret, struct err *err);

/* Calls `fn` once, as soon as delivery_read() would not wait: now, or from another thread, where it
 * must be quick. Not after delivery_free(). Only of one that can tell; with others one has to wait.
 */
void delivery_when_ready(struct delivery *d, void (*fn)(void *arg), void *arg);
bool delivery_can_tell(const struct delivery *d); /* once it has its head */

/* After an error: the server cannot have seen the request, so it may be sent again. */
bool delivery_was_not_sent(const struct delivery *d);

void delivery_cancel(struct delivery *d);           /* whoever waits for it stops waiting */
struct delivery *delivery_free(struct delivery *d); /* ends it if it is still under way */
