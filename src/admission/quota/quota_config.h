/* quota_config.h - what may be used only where a quota limits it: ResourceQuotaConfiguration
 * (apiserver.config.k8s.io/v1), the configuration of the plugin ResourceQuota. */
#pragma once

#include "base/err.h"
#include "base/value.h"

struct quota_limited {
    struct str group, plural;
    struct value contains; /* parts of names: things of such names need a quota */
    struct value scopes;   /* requirements: objects in such a scope need a quota for it */
};

struct quota_config {
    const struct quota_limited *limited;
    size_t n;
};

/* Everything lies in the arena. ERR_INVALID. */
int quota_config_read(struct arena *a, const struct value *tree, struct quota_config *ret,
                      struct err *err);
