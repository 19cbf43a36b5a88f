/* openid_keys.h - what an OpenID issuer publishes: where its keys are, and the keys (RFC 7517).
 *
 * Keys that nothing can be verified by are passed over: an issuer may have more than we know. What
 * was read is sealed; any thread may use it. Rules only: no I/O. */
#pragma once

#include "auth/jwt.h"

enum { OPENID_KEYS_MAX = 256 };

/* The discovery document. It must be of this issuer. ERR_INVALID in upstream's words. */
int openid_discovery_read(struct arena *a, struct str text, struct str issuer, struct str *ret_jwks,
                          struct err *err);

struct openid_keys;

/* A set of web keys. ERR_INVALID. */
int openid_keys_read(struct str text, struct openid_keys **ret, struct err *err);
struct openid_keys *openid_keys_free(struct openid_keys *k);
size_t openid_keys_count(const struct openid_keys *k);

/* Whether one of them has signed the token; of those with its key id, if it names one. NULL has
 * none. */
bool openid_keys_signed(const struct openid_keys *k, const struct jwt *t);
