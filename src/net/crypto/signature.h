/* signature.h - keys that sign tokens, and keys that verify them: RSA and ECDSA, by OpenSSL.
 *
 * Signatures have the form of JSON Web Signatures (RFC 7518). Keys sign with RS256 for RSA, and
 * with ES256, ES384 or ES512 by the curve; they verify RS384, RS512, PS256, PS384 and PS512 as
 * well. A key is sealed; any thread may use it. */
#pragma once

#include "base/err.h"

struct signature_key;

/* The first key of a PEM text: a private key, a public one, or that of a certificate. ERR_INVALID.
 */
int signature_key_read(struct str pem, struct signature_key **ret, struct err *err);
/* All of them, for verification: up to `max`, at least one. After an error the `*ret_n` that were
 * read before it are the caller's as well. */
int signature_keys_read(struct str pem, size_t max, struct signature_key **ret, size_t *ret_n,
                        struct err *err);
struct signature_key *signature_key_free(struct signature_key *k);

/* A new ECDSA P-256 key, as PEM in the arena. */
int signature_make(struct arena *a, struct str *ret_pem, struct err *err);

const char *signature_algorithm(const struct signature_key *k); /* "RS256" */
/* base64url of the SHA-256 of the public key in DER; as upstream names keys. */
struct str signature_key_id(const struct signature_key *k);

/* ERR_INVALID if it is only a public key. In the arena. */
int signature_sign(const struct signature_key *k, struct arena *a, struct str text, struct str *ret,
                   struct err *err);
bool signature_fits(const struct signature_key *k, struct str text, struct str signature);
/* The same by an algorithm that a token names ("PS256"). False also if it is none for this kind of
 * key. */
bool signature_fits_as(const struct signature_key *k, struct str algorithm, struct str text,
                       struct str signature);

/* The public key as a JSON Web Key has it, in base64url; empty where the kind of key has no such
 * part. In the arena. */
struct signature_jwk {
    struct str kty, crv, n, e, x, y;
};
int signature_jwk(const struct signature_key *k, struct arena *a, struct signature_jwk *ret,
                  struct err *err);
/* The other way round: a key that verifies. ERR_INVALID. */
int signature_key_of_jwk(const struct signature_jwk *jwk, struct signature_key **ret,
                         struct err *err);
