/* up_webhooks.h - the flags of `sampan up` about who is asked whose a token is, and what is
 * allowed; named and read as kube-apiserver's. */
#pragma once

#include <getopt.h>

#include "main/up_options.h"

/* What getopt_long() returns for them; those of up_audit.h are smaller. */
enum up_webhook_flag {
    UP_TOKEN_WEBHOOK_CONFIG = 512,
    UP_TOKEN_WEBHOOK_VERSION,
    UP_TOKEN_WEBHOOK_TTL,
    UP_AUTHORIZATION_MODE,
    UP_AUTHORIZATION_CONFIG,
    UP_AUTHORIZATION_WEBHOOK_CONFIG,
    UP_AUTHORIZATION_WEBHOOK_VERSION,
    UP_AUTHORIZATION_WEBHOOK_TTL,
    UP_AUTHORIZATION_WEBHOOK_REFUSED_TTL,
    UP_WEBHOOK_END,
};

#define UP_WEBHOOK_OPTIONS                                                            \
    { "authentication-token-webhook-config-file", required_argument, NULL,            \
      UP_TOKEN_WEBHOOK_CONFIG },                                                      \
        { "authentication-token-webhook-version", required_argument, NULL,            \
          UP_TOKEN_WEBHOOK_VERSION },                                                 \
        { "authentication-token-webhook-cache-ttl", required_argument, NULL,          \
          UP_TOKEN_WEBHOOK_TTL },                                                     \
        { "authorization-mode", required_argument, NULL, UP_AUTHORIZATION_MODE },     \
        { "authorization-config", required_argument, NULL, UP_AUTHORIZATION_CONFIG }, \
        { "authorization-webhook-config-file", required_argument, NULL,               \
          UP_AUTHORIZATION_WEBHOOK_CONFIG },                                          \
        { "authorization-webhook-version", required_argument, NULL,                   \
          UP_AUTHORIZATION_WEBHOOK_VERSION },                                         \
        { "authorization-webhook-cache-authorized-ttl", required_argument, NULL,      \
          UP_AUTHORIZATION_WEBHOOK_TTL },                                             \
    {                                                                                 \
        "authorization-webhook-cache-unauthorized-ttl", required_argument, NULL,      \
            UP_AUTHORIZATION_WEBHOOK_REFUSED_TTL                                      \
    }

extern const char up_webhooks_usage[];

void up_webhooks_default(struct up_options *ret);
/* False, after a message, if `given` is nothing for that flag. */
bool up_webhooks_take(enum up_webhook_flag flag, const char *given, struct up_options *ret);
/* False, after a message, if the flags do not go together. */
bool up_webhooks_check(const struct up_options *opt);
