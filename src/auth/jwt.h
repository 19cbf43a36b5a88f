/* jwt.h - signed tokens (JSON Web Tokens in compact form): taken apart, verified, made.
 *
 * Reading believes nothing: claims of a token count only once jwt_verify() has found the key that
 * signed it. A key has one algorithm, and a token that names another is not believed, so neither
 * `none` nor a public key taken for a secret gets through. Rules only: no I/O, no clock. */
#pragma once

#include "base/err.h"
#include "base/value.h"
#include "net/crypto/signature.h"

struct jwt {
    struct str alg, kid; /* empty: the header has none */
    bool is_conditional; /* its header makes conditions that we do not know: it is not believed */
    struct value claims; /* an object */
    struct str text;     /* what is signed */
    struct str signature;
};

/* Whether it could be one at all: three parts between dots. */
bool jwt_looks_like(struct str token);

/* ERR_INVALID with what is wrong. All of it lies in the arena, or points into the token. */
int jwt_read(struct arena *a, struct str token, struct jwt *ret, struct err *err);

/* Whether the token names this key, or none. */
bool jwt_could_be_of(const struct jwt *t, const struct signature_key *key);
/* The key that signed it, of those that it could be of. NULL: none. */
const struct signature_key *jwt_verify(const struct jwt *t, const struct signature_key *const *keys,
                                       size_t n_keys);

/* A token with these claims. */
int jwt_sign(struct arena *a, const struct signature_key *key, const struct value *claims,
             struct str *ret, struct err *err);

/* A claim that is a time in seconds, also with a fraction; one that is too large is INT64_MIN, as
 * in Go. False if it is no number. */
bool jwt_time(const struct value *claim, int64_t *ret);
