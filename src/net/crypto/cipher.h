/* cipher.h - bytes sealed with a key: AES-GCM, AES-CBC and secretbox, by OpenSSL.
 *
 * What is sealed is laid out as Kubernetes lays it out at rest:
 *
 *     CIPHER_AESGCM      12 bytes of nonce, the text, 16 bytes of tag; bound to `about`
 *     CIPHER_AESCBC      16 bytes of IV, the text padded by PKCS#7; nothing tells a forged one
 *     CIPHER_SECRETBOX   24 bytes of nonce, 16 bytes of tag, the text (XSalsa20 and Poly1305)
 *
 * Nonces are random. Any thread; nothing blocks. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum cipher { CIPHER_AESGCM, CIPHER_AESCBC, CIPHER_SECRETBOX };

/* How many bytes more than the text the sealed one has at most. */
enum { CIPHER_OVERHEAD = 40, CIPHER_KEY_MAX = 32, CIPHER_DERIVED_BYTES = 32 };

/* Whether a key of so many bytes fits. */
bool cipher_takes_key(enum cipher c, size_t n);

/* Adds `text`, sealed, to `out`. `about` is not kept but must be the same when it is opened. The
 * key fits. ERR_INTERNAL if there is no randomness. */
int cipher_seal(enum cipher c, struct str key, struct str about, struct str text, struct buf *out,
                struct err *err);
/* The same with a nonce of the caller's, who never uses one twice: for tests. */
int cipher_seal_with(enum cipher c, struct str key, struct str nonce, struct str about,
                     struct str text, struct buf *out, struct err *err);
/* Writes the text, at most `sealed.n` bytes, to `ret`, and its length. ERR_DAMAGED in Kubernetes'
 * words if this key has not sealed it, or not for `about`. */
int cipher_open(enum cipher c, struct str key, struct str about, struct str sealed, char *ret,
                size_t *ret_n, struct err *err);

/* ERR_INTERNAL if the system has no randomness. */
int cipher_random(void *ret, size_t n, struct err *err);
/* The first bytes of HKDF's second step with SHA-256 (RFC 5869, 2.3). */
void cipher_derive(struct str seed, struct str info,
                   unsigned char ret[static CIPHER_DERIVED_BYTES]);
