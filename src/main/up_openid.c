#include "main/up_openid.h"

#include <stdio.h>

#include "base/banned.h"

const char up_openid_usage[] =
    "  --authentication-config FILE\n"
    "                      whose tokens are believed: an AuthenticationConfiguration, see\n"
    "                      docs/authentication.md; takes effect when it changes\n"
    "  --oidc-issuer-url URL, --oidc-client-id ID\n"
    "                      the one OpenID issuer whose tokens are believed, if they are for ID\n"
    "  --oidc-ca-file FILE the authority of the issuer's certificate (default the system's)\n"
    "  --oidc-username-claim CLAIM, --oidc-username-prefix TEXT\n"
    "                      what users are called (default sub, and the issuer's URL and a #\n"
    "                      in front; - for nothing in front)\n"
    "  --oidc-groups-claim CLAIM, --oidc-groups-prefix TEXT\n"
    "                      which groups they are in\n"
    "  --oidc-required-claim CLAIM=VALUE\n"
    "                      what a token must say; may be repeated\n"
    "  --oidc-signing-algs LIST\n"
    "                      how tokens may be signed (default RS256)\n";

void up_openid_init(struct up_openid *o)
{
    *o = (struct up_openid){ .flags = { .username_claim = STR("sub") } };
}

static bool take_required(const char *given, struct up_openid *ret)
{
    if (ret->n_required == UP_OPENID_CLAIMS_MAX) {
        fprintf(stderr, "sampan up: --oidc-required-claim is given more than %d times\n",
                UP_OPENID_CLAIMS_MAX);
        return false;
    }
    if (!strchr(given, '=')) {
        fprintf(stderr, "sampan up: --oidc-required-claim must be CLAIM=VALUE, not '%s'\n", given);
        return false;
    }
    ret->required[ret->n_required++] = str_of(given);
    return true;
}

static bool take_algorithms(const char *given, struct up_openid *ret)
{
    struct str rest = str_of(given);
    ret->n_algorithms = 0;
    while (rest.n) {
        if (ret->n_algorithms == UP_OPENID_ALGS_MAX) {
            fprintf(stderr, "sampan up: --oidc-signing-algs has more than %d items\n",
                    UP_OPENID_ALGS_MAX);
            return false;
        }
        ret->algorithms[ret->n_algorithms++] = str_cut(&rest, ',');
    }
    return true;
}

bool up_openid_take(enum up_openid_flag flag, const char *given, struct up_openid *ret)
{
    ret->has_flags |= flag != UP_OPENID_CONFIG;
    switch (flag) {
    case UP_OPENID_CONFIG:
        ret->config = given;
        return true;
    case UP_OPENID_ISSUER_URL:
        ret->flags.issuer_url = str_of(given);
        return true;
    case UP_OPENID_CLIENT_ID:
        ret->flags.client_id = str_of(given);
        return true;
    case UP_OPENID_CA_FILE:
        ret->ca_file = given;
        return true;
    case UP_OPENID_USERNAME_CLAIM:
        ret->flags.username_claim = str_of(given);
        return true;
    case UP_OPENID_USERNAME_PREFIX:
        ret->flags.username_prefix = str_of(given);
        return true;
    case UP_OPENID_GROUPS_CLAIM:
        ret->flags.groups_claim = str_of(given);
        return true;
    case UP_OPENID_GROUPS_PREFIX:
        ret->flags.groups_prefix = str_of(given);
        return true;
    case UP_OPENID_REQUIRED_CLAIM:
        return take_required(given, ret);
    case UP_OPENID_SIGNING_ALGS:
        return take_algorithms(given, ret);
    case UP_OPENID_END:
        break;
    }
    return false;
}

bool up_openid_check(const struct up_openid *o)
{
    if (o->config && o->has_flags) {
        fprintf(stderr, "sampan up: authentication-config file and oidc-* flags are mutually "
                        "exclusive\n");
        return false;
    }
    if (o->has_flags && (!o->flags.issuer_url.n || !o->flags.client_id.n)) {
        fprintf(stderr, "sampan up: oidc-issuer-url and oidc-client-id must be specified together "
                        "when any oidc-* flags are set\n");
        return false;
    }
    return true;
}

const struct authentication_flags *up_openid_flags(struct up_openid *o, struct str ca)
{
    if (!o->has_flags)
        return NULL;
    o->flags.ca = ca;
    o->flags.required = o->required;
    o->flags.n_required = o->n_required;
    o->flags.algorithms = o->algorithms;
    o->flags.n_algorithms = o->n_algorithms;
    return &o->flags;
}
