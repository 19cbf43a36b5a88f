/* openid_users.h - users of OpenID issuers, as --oidc-* or --authentication-config say.
 *
 * The file is looked at every ten seconds and when asked to. A new one takes effect once all of its
 * issuers are found; one that cannot be used leaves the old one in force. Who shows nothing is
 * treated as the first file said: that cannot be changed while we run. One thread does all that;
 * there is none without a file. */
#pragma once

#include "auth/authentication_config.h"
#include "base/buf.h"
#include "server/guard/identity.h"

struct openid_users;

struct openid_users_options {
    const char *file;                         /* NULL: the flags count */
    const struct authentication_flags *flags; /* texts outlive the users; NULL: none */
    bool has_anonymous_flag; /* then the file must not speak of anonymous requests */
    struct identity_names issuers, audiences; /* ours; none: the usual ones */
    const struct clock *clock;
};

/* ERR_INVALID in upstream's words. Nobody is waited for. */
int openid_users_new(const struct openid_users_options *opt, struct openid_users **ret,
                     struct err *err);
/* Ends what is being fetched, soon: nobody waits for issuers any more. NULL is fine in all that
 * follow. */
void openid_users_stop(struct openid_users *u);
/* Nobody asks any more. Waits. */
struct openid_users *openid_users_free(struct openid_users *u);

/* Knows the users' tokens; belongs to the users. */
const struct token_asker *openid_users_asker(const struct openid_users *u);
/* NULL: nothing is said of it. */
const struct authentication_anonymous *openid_users_anonymous(const struct openid_users *u);

/* Looks at the file soon. Any thread. */
void openid_users_look(struct openid_users *u);
void openid_users_metrics(struct openid_users *u, struct buf *out);
