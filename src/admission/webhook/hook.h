/* hook.h - a webhook as somebody has configured it: where it is, and one way to ask it.
 *
 * A clientConfig names a URL or a Service. Of a Service we connect to one of its endpoints, or to
 * its cluster address if it has none in the store: whoever runs without a cluster network still
 * reaches it. Names are checked in any case: NAME.NAMESPACE.svc. Redirects are not followed,
 * answers are bounded in size and time, connections are kept for the next call.
 *
 * A call waits on its caller's thread. So that a slow webhook cannot take all threads, only so many
 * calls of one are under way; whoever comes then is refused and may come again. A call ends when
 * its time is over, when the allowance of its arena ends (the client is gone, the request is late),
 * or when the server stops. Who answers 429 or 5xx with Retry-After in seconds is asked again, all
 * within that time.
 *
 * What goes wrong is told in the words of Go's HTTP client, as far as libcurl's say the same. */
#pragma once

#include <stdatomic.h>

#include "admission/admission.h"

struct hook; /* any thread */

enum { HOOK_CALLS_MAX = 256 }; /* of one webhook at the same time */

/* Who has the same configuration has the same hook: its connections, and the count of its calls,
 * outlive a change of other configuration. `cancel` becomes true when the server stops; it is the
 * server's, and tells servers apart. */
struct hook *hook_for(const struct value *client_config, const atomic_bool *cancel);
struct hook *hook_unref(struct hook *h); /* NULL */

/* Why there can be no call of it at all, in upstream's words: its caBundle is none. Empty: nothing
 * speaks against it. */
struct str hook_fault(const struct hook *h);

/* How the endpoints of Services are found. */
struct hook_services {
    const struct admission_cluster *cluster;
    void *arg;
};

struct hook_request {
    struct str body;     /* JSON */
    int64_t timeout_ms;  /* it is told the webhook, too, in whole seconds */
    bool is_last_moment; /* the whole request has no more time: its allowance ends the call */
    size_t max_reply;
    bool is_client_timeout; /* the words of a call whose client has a time, not its request */
};

/* Where to connect: empty if the URL says it. Reads, but asks nobody outside. ERR_UNKNOWN. */
int hook_locate(struct hook *h, struct arena *a, const struct hook_services *services,
                const struct hook_request *req, struct str *ret, struct err *err);

/* Waits. `*ret` is the body of a successful answer, in the arena. ERR_TIMEOUT,
 * ERR_TOO_MANY_REQUESTS (too many calls are under way), ERR_UNAVAILABLE (the server stops), or
 * ERR_UNKNOWN; what allowance_error() says if the allowance of the arena has ended. */
int hook_post(struct hook *h, struct arena *a, struct str to, const struct hook_request *req,
              struct str *ret, struct err *err);

/* ---- Answers, as upstream's decoder sees them ---- */

/* What a review should be. */
struct hook_review {
    struct str group, version, kind;
};

/* ERR_UNKNOWN in the words of Go's decoder, which also takes YAML. Whoever leaves out what it is,
 * or half of it, is believed; fields are not looked at. */
int hook_read_review(struct arena *a, struct str body, const struct hook_review *wanted,
                     struct value *ret, struct err *err);
/* What a review says it is, as Go prints it: "GROUP/VERSION, Kind=KIND". */
struct str hook_review_name(struct arena *a, const struct value *review);
/* The first of the versions that we speak, v1 or v1beta1; a NULL pointer: none. */
struct str hook_review_version(const struct value *list);

/* ---- For who asks somebody else in the same way ---- */

/* Where a Service can be reached, as HOST:PORT. ERR_UNAVAILABLE in upstream's words. */
int hook_find_service(struct arena *a, const struct hook_services *services, struct str ns,
                      struct str name, int64_t port, struct str *ret, struct err *err);
/* Why a fetch has failed, in the words of Go's HTTP client. `to` is where we connect, `host` whom
 * we want to find there. */
struct str hook_failure(struct arena *a, struct str to, struct str host, bool is_client_timeout,
                        const struct err *why);
