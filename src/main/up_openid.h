/* up_openid.h - the flags of `sampan up` about OpenID issuers, named and read as kube-apiserver's.
 */
#pragma once

#include <getopt.h>

#include "auth/authentication_config.h"

/* What getopt_long() returns for them; those of up_webhooks.h are smaller. */
enum up_openid_flag {
    UP_OPENID_CONFIG = 768,
    UP_OPENID_ISSUER_URL,
    UP_OPENID_CLIENT_ID,
    UP_OPENID_CA_FILE,
    UP_OPENID_USERNAME_CLAIM,
    UP_OPENID_USERNAME_PREFIX,
    UP_OPENID_GROUPS_CLAIM,
    UP_OPENID_GROUPS_PREFIX,
    UP_OPENID_REQUIRED_CLAIM,
    UP_OPENID_SIGNING_ALGS,
    UP_OPENID_END,
};

#define UP_OPENID_OPTIONS                                                               \
    { "authentication-config", required_argument, NULL, UP_OPENID_CONFIG },             \
        { "oidc-issuer-url", required_argument, NULL, UP_OPENID_ISSUER_URL },           \
        { "oidc-client-id", required_argument, NULL, UP_OPENID_CLIENT_ID },             \
        { "oidc-ca-file", required_argument, NULL, UP_OPENID_CA_FILE },                 \
        { "oidc-username-claim", required_argument, NULL, UP_OPENID_USERNAME_CLAIM },   \
        { "oidc-username-prefix", required_argument, NULL, UP_OPENID_USERNAME_PREFIX }, \
        { "oidc-groups-claim", required_argument, NULL, UP_OPENID_GROUPS_CLAIM },       \
        { "oidc-groups-prefix", required_argument, NULL, UP_OPENID_GROUPS_PREFIX },     \
        { "oidc-required-claim", required_argument, NULL, UP_OPENID_REQUIRED_CLAIM },   \
    {                                                                                   \
        "oidc-signing-algs", required_argument, NULL, UP_OPENID_SIGNING_ALGS            \
    }

extern const char up_openid_usage[];

enum { UP_OPENID_CLAIMS_MAX = 32, UP_OPENID_ALGS_MAX = 16 };

struct up_openid {
    const char *config;  /* the file */
    const char *ca_file; /* of the flags; what is in it is for flags.ca */
    bool has_flags;      /* one of the others was given */
    struct authentication_flags flags;
    struct str required[UP_OPENID_CLAIMS_MAX], algorithms[UP_OPENID_ALGS_MAX];
    size_t n_required, n_algorithms;
};

void up_openid_init(struct up_openid *o);
/* False, after a message, if `given` is nothing for that flag. */
bool up_openid_take(enum up_openid_flag flag, const char *given, struct up_openid *ret);
/* Whether the flags go together; false after a message. */
bool up_openid_check(const struct up_openid *o);
/* The flags with their lists, which lie in `o`; NULL: there are none. `ca` is what is in the file.
 */
const struct authentication_flags *up_openid_flags(struct up_openid *o, struct str ca);
