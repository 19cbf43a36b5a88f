/* filter.h - what every request passes before it is served.
 *
 * filter.c lists the filters in their order. Each adds to the request what later filters need,
 * or answers it; an answered request goes no further. Filters run on the loop when the head of the
 * request is there: nobody sends a body only to be refused. A new filter is a function in a file of
 * its own and a row in that list. One may also let the request wait: filter_resume() goes on with
 * it later, on the same loop. */
#pragma once

#include "auth/access.h"
#include "server/core/api.h"
#include "server/http/request_info.h"

struct audit_event;

/* A request on its way through the filters, in its exchange's arena. */
struct filter_request {
    struct api *api;
    struct http_exchange *x;
    const struct http_request *http;
    enum request_place place; /* what it is about: filter_request_info() */
    struct request req;
    struct request_info info;        /* the same by the path alone */
    struct str audit_id;             /* filter_audit_id() */
    struct audit_event *audit;       /* filter_audit(); NULL: it is not audited */
    const struct user *user;         /* filter_authenticate(); never NULL after it */
    const struct user *impersonator; /* who really asks, if it is not him; filter_impersonate() */
    struct flow_ticket *ticket;      /* filter_flow(); NULL: it takes no seats */
    bool waits;                      /* filter_resume() will come */
    size_t n_passed;                 /* filters that let it go on */
};

/* True: the request goes on. False: it is answered, or waits. */
typedef bool filter_fn(struct filter_request *r);

/* All of them. NULL if one has answered. If one lets it wait, its head must wait, too
 * (HTTP_BODY_LATER). */
struct filter_request *filter_pass(struct api *api, struct http_exchange *x);
/* Goes on with a request that waits, behind the filter that let it wait; its body and its handler
 * follow. Not if the filter answers it in the end. */
void filter_resume(struct filter_request *r);

filter_fn filter_request_info;
filter_fn filter_audit_id;
filter_fn filter_count;
filter_fn filter_authenticate; /* whom it refuses, it gives to filter_audit() before */
filter_fn filter_audit;
filter_fn filter_impersonate;
filter_fn filter_flow;
filter_fn filter_authorize;

/* The watch that the exchange is for has begun: it takes no seats any more. */
void filter_watch_began(const struct http_exchange *x);

/* What an authorizer is asked about the request. */
struct access filter_access(const struct filter_request *r);
