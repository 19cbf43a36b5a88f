/* authorization.h - makes the guard's chain: by flags, or by an AuthorizationConfiguration, whose
 * file is looked at once a minute and on demand.
 *
 * A file that cannot be used any more is told in the log, once for each change; the last good one
 * stays in use. */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "server/guard/guard.h"

struct authorization;

struct authorization_options {
    const char *config_file;  /* NULL: what follows */
    struct guard_modes modes; /* all zero: Node and RBAC */
    /* Of GUARD_WEBHOOK among the modes. */
    const char *webhook_kubeconfig;
    bool webhook_is_v1;
    int64_t webhook_allowed_ttl_ns, webhook_refused_ttl_ns; /* 0: not remembered */
};

/* The options outlive it, and so do the clock and `cancel`: once that is true, webhooks that are
 * being asked fail soon. `*ret_chain` is the caller's. */
int authorization_new(const struct authorization_options *opt, const struct clock *clock,
                      const atomic_bool *cancel, struct authorization **ret,
                      struct guard_chain **ret_chain, struct err *err);
/* NULL is fine here and below. */
struct authorization *authorization_free(struct authorization *z);

/* From now on the guard, which has the chain, follows the file. */
int authorization_follow(struct authorization *z, struct guard *guard, struct err *err);
/* Looks at the file soon. Any thread. */
void authorization_look(struct authorization *z);

void authorization_write_metrics(struct authorization *z, struct buf *out);
