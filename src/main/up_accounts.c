#include "main/up_accounts.h"

#include <stdio.h>

#include "api/go/goduration.h"
#include "base/clock.h"
#include "base/banned.h"

const char up_accounts_usage[] =
    "  --service-account-signing-key-file FILE\n"
    "                      the key that signs tokens (default DIR/pki/sa.key)\n"
    "  --service-account-key-file FILE\n"
    "                      more keys that tokens are believed by; may be repeated\n"
    "  --service-account-issuer URL\n"
    "                      who tokens are from; may be repeated, the first one signs\n"
    "                      (default https://kubernetes.default.svc)\n"
    "  --service-account-jwks-uri URL\n"
    "                      where others find the keys (default /openid/v1/jwks of this server)\n"
    "  --service-account-max-token-expiration TIME\n"
    "                      how long a token lasts at most, e.g. 24h (default as long as is asked\n"
    "                      for)\n"
    "  --service-account-extend-token-expiration BOOL\n"
    "                      false: tokens of pods last no longer than is asked for (default true:\n"
    "                      a year, and using them later than that is warned of)\n"
    "  --api-audiences LIST\n"
    "                      whom tokens must be for (default the issuers)\n";

/* A flag that may be repeated. */
static bool add_name(const char *flag, const char *given, const char *names[IDENTITY_NAMES_MAX],
                     size_t *n)
{
    if (*n == IDENTITY_NAMES_MAX) {
        fprintf(stderr, "sampan up: --%s is given more than %d times\n", flag, IDENTITY_NAMES_MAX);
        return false;
    }
    names[(*n)++] = given;
    return true;
}

static bool take_max(const char *given, int64_t *ret_sec)
{
    int64_t ns = 0;
    if (goduration_parse(str_of(given), &ns, NULL) < 0) {
        fprintf(stderr,
                "sampan up: --service-account-max-token-expiration must be a time like 24h, not "
                "'%s'\n",
                given);
        return false;
    }
    *ret_sec = ns / NS_PER_SEC;
    if (!ns || (*ret_sec >= 3600 && *ret_sec <= INT64_C(1) << 32))
        return true;
    fprintf(stderr, "sampan up: the service-account-max-token-expiration must be between 1 hour "
                    "and 2^32 seconds\n");
    return false;
}

static bool take_extend(const char *given, bool *ret_no)
{
    *ret_no = strcmp(given, "false") == 0;
    if (*ret_no || strcmp(given, "true") == 0)
        return true;
    fprintf(stderr,
            "sampan up: --service-account-extend-token-expiration must be true or false, not "
            "'%s'\n",
            given);
    return false;
}

static bool take_uri(const char *given, const char **ret)
{
    *ret = given;
    if (str_starts(str_of(given), STR("https://")))
        return true;
    fprintf(stderr, "sampan up: service-account-jwks-uri requires https scheme, parsed as: %s\n",
            given);
    return false;
}

bool up_accounts_take(enum up_accounts_flag flag, const char *given, struct up_accounts *ret)
{
    switch (flag) {
    case UP_ACCOUNTS_SIGNING_KEY:
        ret->signing_key = given;
        return true;
    case UP_ACCOUNTS_KEY:
        return add_name("service-account-key-file", given, ret->keys, &ret->n_keys);
    case UP_ACCOUNTS_ISSUER:
        return add_name("service-account-issuer", given, ret->issuers, &ret->n_issuers);
    case UP_ACCOUNTS_KEYS_URI:
        return take_uri(given, &ret->keys_uri);
    case UP_ACCOUNTS_MAX:
        return take_max(given, &ret->max_sec);
    case UP_ACCOUNTS_EXTEND:
        return take_extend(given, &ret->no_extension);
    case UP_ACCOUNTS_AUDIENCES:
        ret->audiences = given;
        return true;
    case UP_ACCOUNTS_END:
        break;
    }
    return false;
}
