#include "main/up_webhooks.h"

#include <stdio.h>

#include "api/go/goduration.h"
#include "auth/authorization_config.h"
#include "base/clock.h"
#include "base/banned.h"

const char up_webhooks_usage[] =
    "  --authorization-mode LIST\n"
    "                      who decides, in this order: Node, RBAC, Webhook (default Node,RBAC);\n"
    "                      AlwaysAllow and AlwaysDeny for tests\n"
    "  --authorization-webhook-config-file FILE\n"
    "                      how to reach the webhook that decides: a kubeconfig\n"
    "  --authorization-webhook-version VERSION\n"
    "                      of the SubjectAccessReviews that it gets: v1beta1 (default) or v1\n"
    "  --authorization-webhook-cache-authorized-ttl TIME,\n"
    "  --authorization-webhook-cache-unauthorized-ttl TIME\n"
    "                      how long its answers are remembered (default 5m and 30s)\n"
    "  --authorization-config FILE\n"
    "                      who decides, instead of the flags above: an "
    "AuthorizationConfiguration,\n"
    "                      see docs/authorization.md; looked at every minute and on SIGHUP\n"
    "  --authentication-token-webhook-config-file FILE\n"
    "                      how to reach the webhook that knows tokens: a kubeconfig\n"
    "  --authentication-token-webhook-version VERSION\n"
    "                      of the TokenReviews that it gets: v1beta1 (default) or v1\n"
    "  --authentication-token-webhook-cache-ttl TIME\n"
    "                      how long its answers are remembered (default 2m)\n";

static bool take_time(const char *flag, const char *given, int64_t *ret)
{
    if (goduration_parse(str_of(given), ret, NULL) == 0 && *ret >= 0)
        return true;
    fprintf(stderr, "sampan up: --%s must be a time like 90s or 2m, not '%s'\n", flag, given);
    return false;
}

static bool take_version(const char *flag, const char *given, bool *ret_is_v1)
{
    *ret_is_v1 = strcmp(given, "v1") == 0;
    if (*ret_is_v1 || strcmp(given, "v1beta1") == 0)
        return true;
    fprintf(stderr, "sampan up: --%s must be v1 or v1beta1, not '%s'\n", flag, given);
    return false;
}

static bool take_modes(const char *given, struct guard_modes *ret)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    int r = guard_modes_parse(str_of(given), ret, &err);
    if (r < 0)
        fprintf(stderr, "sampan up: --authorization-mode: " STR_FMT "\n", STR_ARG(err.msg));
    arena_done(&a);
    return r == 0;
}

void up_webhooks_default(struct up_options *ret)
{
    ret->token_webhook.ttl_ns = TOKEN_WEBHOOK_TTL_SEC * NS_PER_SEC;
    ret->authorization.webhook_allowed_ttl_ns = AUTHORIZATION_TTL_SEC * NS_PER_SEC;
    ret->authorization.webhook_refused_ttl_ns = AUTHORIZATION_REFUSED_TTL_SEC * NS_PER_SEC;
}

static bool take_token_webhook(enum up_webhook_flag flag, const char *given,
                               struct token_webhook_options *ret)
{
    if (flag == UP_TOKEN_WEBHOOK_VERSION)
        return take_version("authentication-token-webhook-version", given, &ret->is_v1);
    if (flag == UP_TOKEN_WEBHOOK_TTL)
        return take_time("authentication-token-webhook-cache-ttl", given, &ret->ttl_ns);
    ret->kubeconfig = given;
    return true;
}

static bool take_access_webhook(enum up_webhook_flag flag, const char *given,
                                struct authorization_options *ret)
{
    switch (flag) {
    case UP_AUTHORIZATION_WEBHOOK_VERSION:
        return take_version("authorization-webhook-version", given, &ret->webhook_is_v1);
    case UP_AUTHORIZATION_WEBHOOK_TTL:
        return take_time("authorization-webhook-cache-authorized-ttl", given,
                         &ret->webhook_allowed_ttl_ns);
    case UP_AUTHORIZATION_WEBHOOK_REFUSED_TTL:
        return take_time("authorization-webhook-cache-unauthorized-ttl", given,
                         &ret->webhook_refused_ttl_ns);
    default:
        ret->webhook_kubeconfig = given;
        return true;
    }
}

bool up_webhooks_take(enum up_webhook_flag flag, const char *given, struct up_options *ret)
{
    if (flag <= UP_TOKEN_WEBHOOK_TTL)
        return take_token_webhook(flag, given, &ret->token_webhook);
    if (flag == UP_AUTHORIZATION_CONFIG) {
        ret->authorization.config_file = given;
        return true;
    }
    ret->has_authorization_flags = true;
    if (flag == UP_AUTHORIZATION_MODE)
        return take_modes(given, &ret->authorization.modes);
    return take_access_webhook(flag, given, &ret->authorization);
}

static bool has_webhook(const struct guard_modes *modes)
{
    for (size_t i = 0; i < modes->n; i++)
        if (modes->at[i] == GUARD_WEBHOOK)
            return true;
    return false;
}

/* In upstream's words. */
bool up_webhooks_check(const struct up_options *opt)
{
    const struct authorization_options *z = &opt->authorization;
    const char *fault = NULL;
    if (z->config_file && opt->has_authorization_flags)
        fault = "--authorization-config can not be specified when --authorization-mode or "
                "--authorization-webhook-* flags are defined";
    else if (has_webhook(&z->modes) && !z->webhook_kubeconfig)
        fault = "authorization-mode Webhook's authorization config file not passed";
    else if (z->webhook_kubeconfig && !has_webhook(&z->modes))
        fault = "cannot specify --authorization-webhook-config-file without mode Webhook";
    if (fault)
        fprintf(stderr, "sampan up: %s\n", fault);
    return !fault;
}
