/* up_accounts.h - the flags of `sampan up` about tokens of service accounts; named and read as
 * kube-apiserver's. */
#pragma once

#include <getopt.h>

#include "server/guard/identity.h"

struct up_accounts {
    const char *signing_key, *audiences, *keys_uri; /* NULL: not given */
    const char *keys[IDENTITY_NAMES_MAX], *issuers[IDENTITY_NAMES_MAX];
    size_t n_keys, n_issuers;
    int64_t max_sec; /* 0: as long as is asked for */
    bool no_extension;
};

/* What getopt_long() returns for them; those of up_kubelet.h are smaller. */
enum up_accounts_flag {
    UP_ACCOUNTS_SIGNING_KEY = 1280,
    UP_ACCOUNTS_KEY,
    UP_ACCOUNTS_ISSUER,
    UP_ACCOUNTS_KEYS_URI,
    UP_ACCOUNTS_MAX,
    UP_ACCOUNTS_EXTEND,
    UP_ACCOUNTS_AUDIENCES,
    UP_ACCOUNTS_END,
};

#define UP_ACCOUNTS_OPTIONS                                                                   \
    { "service-account-signing-key-file", required_argument, NULL, UP_ACCOUNTS_SIGNING_KEY }, \
        { "service-account-key-file", required_argument, NULL, UP_ACCOUNTS_KEY },             \
        { "service-account-issuer", required_argument, NULL, UP_ACCOUNTS_ISSUER },            \
        { "service-account-jwks-uri", required_argument, NULL, UP_ACCOUNTS_KEYS_URI },        \
        { "service-account-max-token-expiration", required_argument, NULL, UP_ACCOUNTS_MAX }, \
        { "service-account-extend-token-expiration", required_argument, NULL,                 \
          UP_ACCOUNTS_EXTEND },                                                               \
    {                                                                                         \
        "api-audiences", required_argument, NULL, UP_ACCOUNTS_AUDIENCES                       \
    }

extern const char up_accounts_usage[];

/* False, after a message, if the value is wrong. */
bool up_accounts_take(enum up_accounts_flag flag, const char *given, struct up_accounts *ret);
