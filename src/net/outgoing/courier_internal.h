/* courier_internal.h - the two ways that a delivery can go. Private to this folder. */
#pragma once

#include <stdatomic.h>

#include "net/outgoing/courier.h"
#include "net/outgoing/fetch_internal.h"
#include "net/outgoing/h2_client.h"

struct courier_way;

/* What delivery_head() and so on do. */
struct courier_way_ops {
    int (*head)(struct courier_way *w, struct fetch_reply *ret, struct err *err);
    int (*read)(struct courier_way *w, int64_t timeout_ms, struct buf *ret, struct err *err);
    void (*when_ready)(struct courier_way *w, void (*fn)(void *arg), void *arg); /* or NULL */
    void (*cancel)(struct courier_way *w);
    void (*free)(struct courier_way *w);
};

struct courier_way {
    const struct courier_way_ops *ops;
    bool was_not_sent; /* written before it ends */
    bool no_http2;     /* it failed because the server does not speak HTTP/2 */
};

/* Over HTTP/2. */
struct courier_way *courier_h2_send(struct h2_client *c, const struct courier_request *req);

/* Over HTTP/1.1: handles of libcurl with their connections, kept for the next. */
struct courier_h1;
struct courier_h1 *courier_h1_new(const struct courier_options *opt);
struct courier_h1 *courier_h1_free(struct courier_h1 *c);
/* The request is lent until the way is freed. */
int courier_h1_send(struct courier_h1 *c, const struct courier_request *req,
                    struct courier_way **ret, struct err *err);

enum { COURIER_TIMEOUT_MS = 30000, COURIER_HEAD_BYTES = 1 << 10 /* the usual head */ };
int64_t courier_deadline(int64_t timeout_ms); /* monotonic ns; negative: never */
