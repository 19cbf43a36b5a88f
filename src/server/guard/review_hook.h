/* review_hook.h - sends a review (a TokenReview, a SubjectAccessReview) to a webhook and reads its
 * status, with upstream's patience: what may pass is tried again, later each time. */
#pragma once

#include <stdatomic.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/value.h"

struct review_hook;

struct review_hook_options {
    const char *kubeconfig;    /* server/core/kubeconfig.h */
    struct str kind;           /* "TokenReview" */
    struct str api_version;    /* "authentication.k8s.io/v1" */
    int64_t timeout_ms;        /* of one try */
    const atomic_bool *cancel; /* once true, it ends soon; NULL: never */
};

/* One try, for metrics. */
enum review_result {
    REVIEW_SUCCESS,
    REVIEW_ERROR,
    REVIEW_TIMEOUT,
    REVIEW_CANCELED,
    REVIEW_RESULTS
};
struct review_watcher {
    void (*tried)(void *arg, enum review_result result, int64_t ns);
    void *arg;
};

int review_hook_new(const struct review_hook_options *opt, struct review_hook **ret,
                    struct err *err);
struct review_hook *review_hook_free(struct review_hook *h);

/* The status that the webhook gives to this spec, in the arena. Waits. `most_ms`: of all tries
 * together. */
int review_hook_ask(struct review_hook *h, struct arena *a, const struct value *spec,
                    int64_t most_ms, const struct review_watcher *watcher, struct value *ret,
                    struct err *err);
