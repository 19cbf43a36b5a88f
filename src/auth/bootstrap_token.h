/* bootstrap_token.h - tokens by which new nodes join: ID.SECRET, kept in a Secret of kube-system.
 * Rules only; the Secret is read by the caller. */
#pragma once

#include "auth/user.h"
#include "base/err.h"
#include "base/value.h"

/* Whether it looks like one; then the Secret has this name, in the arena. */
bool bootstrap_token_secret(struct arena *a, struct str token, struct str *ret_name);

/* Whom the Secret makes of the token: 1, or 0 if it makes nobody of it. ERR_UNAUTHORIZED if the
 * Secret has groups that it must not have. */
int bootstrap_token_user(struct arena *a, struct str token, const struct value *secret,
                         int64_t now_sec, struct user *ret, struct err *err);
