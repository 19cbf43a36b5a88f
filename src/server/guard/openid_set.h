/* openid_set.h - a configuration of OpenID issuers in use: its rules, and what is known of each
 * issuer.
 *
 * A set never changes its rules; another configuration is another set. For each issuer a thread
 * looks for it, and again every ten seconds until it is found; only then its tokens are believed.
 * Whoever uses a set holds a reference, taken and given back without waiting; openid_users.c frees
 * sets that nobody holds any more. */
#pragma once

#include "auth/authentication_config.h"
#include "auth/openid_token.h"
#include "base/buf.h"
#include "base/clock.h"

struct openid_set;

struct openid_set_options {
    struct str text; /* an AuthenticationConfiguration; without one the flags count */
    const struct authentication_flags *flags;
    struct authentication_own own;
    const struct clock *clock;
};

/* The text is copied; those of the flags must outlive the set. ERR_INVALID. Nobody is asked yet. */
int openid_set_new(const struct openid_set_options *opt, struct openid_set **ret, struct err *err);
/* Starts to look for the issuers. */
int openid_set_start(struct openid_set *s, struct err *err);
/* Ends what is being fetched, soon, without waiting. Its tokens are not believed any more. */
void openid_set_cancel(struct openid_set *s);
/* Nobody holds it. Waits for its threads. */
struct openid_set *openid_set_free(struct openid_set *s);

void openid_set_ref(struct openid_set *s);
void openid_set_unref(struct openid_set *s);
bool openid_set_is_held(const struct openid_set *s);

const struct authentication_config *openid_set_config(const struct openid_set *s);
/* Whether all issuers are found; names one that is not. */
bool openid_set_is_ready(struct openid_set *s, struct str *ret_missing);

/* 1 and who has the token, in the arena, and when it ends; 0: it is of none of the issuers.
 * ERR_UNAUTHORIZED. Waits. */
int openid_set_user(struct openid_set *s, struct arena *a, struct str token, struct user *ret,
                    int64_t *ret_expiry_ns, struct err *err);
/* The same on a loop. OPENID_LATER: something has to be fetched, or takes too long;
 * openid_set_user() knows then. Most tokens are of known keys and need nothing else. */
enum { OPENID_LATER = 2 };
int openid_set_user_at_once(struct openid_set *s, struct arena *a, struct str token,
                            struct user *ret, int64_t *ret_expiry_ns, struct err *err);

/* When keys were fetched last; labels have the server's id. */
void openid_set_metrics(struct openid_set *s, const char *server_id, struct buf *out);
