/* sampan/credentials.h - what a configuration has to send just now.
 *
 * Token files are read anew every minute, certificate files every five minutes. A credential plugin
 * is run when its credentials have expired. Those who have configured it alike for the same cluster
 * share what it says, so it runs once for all of them. Any thread. */
#pragma once

#include <sampan/config.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_credentials;

struct spn_credential {
    struct spn_text token; /* for "Authorization: Bearer"; empty: none */
    struct spn_text username, password;
    struct spn_text ca, cert, key; /* PEM; empty: none */
    uint64_t connection; /* is higher if one of these three has changed: connect anew then */
    uint64_t version;    /* is higher if any of it has changed */
};

/* `cfg` lives longer. */
SPN_API struct spn_credentials *spn_credentials_new(const struct spn_config *cfg);
SPN_API struct spn_credentials *spn_credentials_free(struct spn_credentials *c);

/* In the arena. May wait for a plugin. SPN_FILE: a file was never read. SPN_UNAUTHORIZED: the
 * plugin fails, in the words of client-go. */
SPN_API int spn_credentials_get(struct spn_credentials *c, struct spn_arena *a,
                                struct spn_credential *ret, struct spn_err *err);
/* The server has answered 401 to what `used` says. The next one who asks gets newer ones, if there
 * are any, unless somebody has got them meanwhile. */
SPN_API void spn_credentials_refused(struct spn_credentials *c, const struct spn_credential *used);

#ifdef __cplusplus
}
#endif
