/* token_webhook.h - asks a webhook whose a token is (TokenReview). What it knows and what it does
 * not know is remembered for a while; a failure is not. */
#pragma once

#include <stdatomic.h>

#include "base/clock.h"
#include "server/guard/token_asker.h"

struct token_webhook_options {
    const char *kubeconfig; /* NULL: there is none */
    bool is_v1;             /* else v1beta1 */
    int64_t ttl_ns;         /* 0: nothing is remembered */
    const atomic_bool *cancel;
};

enum { TOKEN_WEBHOOK_TTL_SEC = 120 }; /* upstream's default */

/* `implicit` are the audiences of this server, which tokens are for unless the webhook says more.
 * They and the clock outlive it. ERR_INVALID, or what keeps the file from being read. */
int token_webhook_new(const struct token_webhook_options *opt, const struct clock *clock,
                      const struct str *implicit, size_t n_implicit, struct token_asker *ret,
                      struct err *err);
