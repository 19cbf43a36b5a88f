/* digest.h - hashes that protocols ask for, by OpenSSL. */
#pragma once

#include "base/str.h"

enum { DIGEST_SHA1_BYTES = 20, DIGEST_SHA256_BYTES = 32 };

void digest_sha1(struct str text, unsigned char ret[static DIGEST_SHA1_BYTES]);
void digest_sha256(struct str text, unsigned char ret[static DIGEST_SHA256_BYTES]);
/* HMAC with SHA-256 (RFC 2104). */
void digest_hmac_sha256(struct str key, struct str text,
                        unsigned char ret[static DIGEST_SHA256_BYTES]);
