/* identity.h - who asks: what the server believes of a request's certificate and token.
 *
 * Sealed once made; loops ask it without a lock. */
#pragma once

#include "auth/user.h"
#include "net/http.h"

struct identity;

struct identity_options {
    const char *token_file; /* of static tokens (auth/token_file.h); NULL: none */
};

int identity_new(const struct identity_options *opt, struct identity **ret, struct err *err);
struct identity *identity_free(struct identity *i);

/* Who sent the request: in the arena, or static. Somebody who shows nothing is system:anonymous.
 * ERR_UNAUTHORIZED, with the reason for the log, if what he shows is not believed. On a loop. */
int identity_find(const struct identity *i, struct arena *a, const struct http_request *http,
                  const struct user **ret, struct err *err);

/* Who has a token, as far as this server knows. ERR_UNAUTHORIZED if it does not. */
int identity_of_token(const struct identity *i, struct arena *a, struct str token,
                      const struct user **ret, struct err *err);
