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
#include "server/guard/guard.h"
#include "server/http/request_info.h"

struct audit_annotation;
struct audit_event;
struct filter_answers;
struct xray;

/* A request on its way through the filters, in its exchange's arena. */
struct filter_request {
    struct api *api;
    struct http_exchange *x;
    const struct http_request *http;
    enum request_place place; /* what it is about: filter_request_info() */
    struct request req;
    struct request_info info;        /* the same by the path alone */
    struct str audit_id;             /* filter_audit_id() */
    struct audit_annotation *notes;  /* of filter_token_use(), for the first event */
    struct audit_event *audit;       /* filter_audit(); NULL: it is not audited */
    const struct user *user;         /* filter_authenticate(); never NULL after it */
    const struct user *impersonator; /* who really asks, if it is not him; filter_impersonate() */
    struct filter_answers *answers;  /* that filter_impersonate() had to wait for */
    struct flow_ticket *ticket;      /* filter_flow(); NULL: it takes no seats */
    int64_t waits_since_ns;          /* in filter_flow() */
    bool waits;                      /* filter_resume() will come */
    size_t n_passed;                 /* filters that let it go on */
    struct xray *xray;               /* NULL: nobody looks */
};

/* True: the request goes on. False: it is answered, or waits. */
typedef bool filter_fn(struct filter_request *r);

/* All of them. NULL if one has answered. If one lets it wait, its head must wait, too
 * (HTTP_BODY_LATER). */
struct filter_request *filter_pass(struct api *api, struct http_exchange *x);
/* Goes on with a request that waits, behind the filter that let it wait; its body and its handler
 * follow. Not if the filter answers it in the end. */
void filter_resume(struct filter_request *r);
/* The same, but the filter that let it wait is asked once more. */
void filter_retry(struct filter_request *r);

filter_fn filter_request_info;
filter_fn filter_audit_id;
filter_fn filter_count;
filter_fn filter_authenticate; /* whom it refuses, it gives to filter_audit() before */
filter_fn filter_audit;
filter_fn filter_impersonate;
filter_fn filter_flow;
filter_fn filter_authorize;

/* What `user` shows of his token: has its Secret labelled and, if it is believed, notes it and
 * warns him. */
void filter_token_use(struct filter_request *r, bool is_believed);

/* The watch that the exchange is for has begun: it takes no seats any more. */
void filter_watch_began(const struct http_exchange *x);

/* How the request of the exchange has come so far; NULL: nobody looks. */
struct xray *filter_xray(const struct http_exchange *x);

/* Asks the guard. False: the request waits, and `then` has the answer later, on the loop; it goes
 * on with the request or answers it. */
typedef void filter_answer_fn(struct filter_request *r, const struct guard_decision *d);
bool filter_ask(struct filter_request *r, const struct access *about, filter_answer_fn *then,
                struct guard_decision *ret);

/* What an authorizer is asked about the request. */
struct access filter_access(const struct filter_request *r);
