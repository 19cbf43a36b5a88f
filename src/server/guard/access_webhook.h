/* access_webhook.h - asks a webhook whether something is allowed (SubjectAccessReview). What it
 * answers is remembered for a while; a failure is not. */
#pragma once

#include "auth/authorization_config.h"
#include "base/clock.h"
#include "server/guard/guard_chain.h"

/* The configuration outlives the hook. ERR_INVALID, or what keeps its kubeconfig from being read.
 */
int access_webhook_new(const struct authorization_webhook *config, const struct clock *clock,
                       const atomic_bool *cancel, struct guard_hook **ret, struct err *err);
