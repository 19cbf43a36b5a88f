/* authorization_config.h - an AuthorizationConfiguration (apiserver.config.k8s.io): who is asked
 * whether something is allowed, in order. Reads and checks it in upstream's words. Rules only: no
 * I/O; whoever reads it says what there is to say about files. */
#pragma once

#include "auth/match_conditions.h"
#include "base/err.h"

struct authorization_webhook {
    int64_t allowed_ttl_ns, refused_ttl_ns; /* 0: not remembered */
    int64_t timeout_ns;                     /* of one try */
    bool is_v1;                             /* of SubjectAccessReview; else v1beta1 */
    bool denies_on_failure;                 /* else it has no opinion then */
    struct str kubeconfig;                  /* empty: that of the cluster which the server is in */
    const struct match_conditions *conditions; /* NULL: it is always asked */
};

enum authorizer_type {
    AUTHORIZER_ABAC,
    AUTHORIZER_ALWAYS_ALLOW,
    AUTHORIZER_ALWAYS_DENY,
    AUTHORIZER_NODE,
    AUTHORIZER_RBAC,
    AUTHORIZER_WEBHOOK,
    AUTHORIZER_TYPES,
};

extern const struct str authorizer_type_names[AUTHORIZER_TYPES]; /* "ABAC", ... */

struct authorizer_config {
    enum authorizer_type type;
    struct str name;
    struct authorization_webhook webhook;
};

struct authorization_config {
    const struct authorizer_config *at;
    size_t n;
};

enum {
    AUTHORIZATION_TTL_SEC = 300, /* upstream's defaults */
    AUTHORIZATION_REFUSED_TTL_SEC = 30,
    AUTHORIZATION_FILE_BYTES = 1 << 20,
    AUTHORIZATION_AUTHORIZERS_MAX = 200,
};

struct authorization_reading {
    /* What keeps a kubeconfig from being used, in the arena; empty: nothing. NULL: nobody looks. */
    struct str (*file_fault)(struct arena *a, struct str path);
    unsigned required; /* types that must be there, as bits 1 << type; never of webhooks */
};

/* Everything lies in the arena, which `err` has as well. ERR_INVALID. */
int authorization_config_read(struct arena *a, struct str text,
                              const struct authorization_reading *reading,
                              struct authorization_config *ret, struct err *err);
