/* token_asker.h - somebody who knows tokens that this server does not know by itself, and who may
 * have to wait for others to find out: an OpenID issuer's keys, a webhook. */
#pragma once

#include "auth/account_token.h"

enum token_patience {
    TOKEN_AT_ONCE, /* what is not known at once is TOKEN_LATER; on a loop, too */
    TOKEN_WAITS,   /* not on a loop */
};

enum { TOKEN_UNKNOWN = 0, TOKEN_KNOWN = 1, TOKEN_LATER = 2 };

struct token_asker {
    void *self;
    /* TOKEN_KNOWN: who has the token, which is for one of these audiences (none: for this server),
     * and for which of them; in the arena. ERR_UNAUTHORIZED with what is wrong, for the log and for
     * TokenReview; the askers behind it are asked all the same. Any thread. */
    int (*ask)(void *self, struct arena *a, struct str token, const struct str *audiences,
               size_t n_audiences, enum token_patience patience, struct account_user *ret,
               struct err *err);
    void (*free)(void *self); /* NULL: it is not the identity's */
    /* Others are asked from now on, but for requests that have begun: what is only remembered can
     * go. Any thread. NULL: nothing is. */
    void (*retire)(void *self);
};
