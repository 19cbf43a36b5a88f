/* openid_token.h - tokens of OpenID issuers: whether one is good, and whom it makes.
 *
 * The order is: openid_token_issuer() finds the issuer that a token says it is from;
 * openid_token_algorithm() whether it may be signed that way; somebody verifies the signature
 * (openid_keys.h); openid_token_check() looks at audience and times; openid_token_source() says
 * whether the groups are to be fetched elsewhere; openid_token_user() makes the user. Errors are
 * ERR_UNAUTHORIZED in upstream's words, for the log: they have claims in them, never the token.
 * Rules only: no I/O, no clock. */
#pragma once

#include "auth/authentication_config.h"
#include "auth/jwt.h"
#include "auth/user.h"

/* NULL: the token is of none of them. */
const struct authentication_jwt *openid_token_issuer(const struct authentication_config *c,
                                                     const struct jwt *t);
/* The issuer that a token names; nothing of that is verified. */
struct str openid_token_named_issuer(const struct jwt *t);

int openid_token_algorithm(const struct authentication_config *c, const struct jwt *t,
                           struct err *err);
/* Once its signature is verified. `issuer` is whose keys have signed it. */
int openid_token_check(const struct authentication_jwt *jwt, struct arena *a, struct str issuer,
                       const struct jwt *t, int64_t now_ns, struct err *err);
/* When it ends, in nanoseconds since 1970. */
int64_t openid_token_expiry_ns(const struct jwt *t);

/* Where a distributed claim is to be had (OpenID Connect Core, 5.6.2). */
struct openid_endpoint {
    struct str url, access_token;
};
/* 1 if the groups are there, 0 if the token has them itself or not at all. */
int openid_token_source(const struct authentication_jwt *jwt, const struct jwt *t,
                        struct openid_endpoint *ret, struct err *err);

/* What one expression may cost: upstream's bound, and one that holds up nobody. */
enum { OPENID_BUDGET = 1000000, OPENID_BUDGET_AT_ONCE = 10000 };

/* `groups` are what was fetched, or NULL. The user lies in the arena; system:authenticated is not
 * among the groups yet. */
int openid_token_user(const struct authentication_jwt *jwt, struct arena *a, const struct jwt *t,
                      const struct value *groups, uint64_t budget, struct user *ret,
                      struct err *err);
