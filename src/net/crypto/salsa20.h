/* salsa20.h - the stream cipher Salsa20 and what XSalsa20 makes of it, as NaCl defines them.
 *
 * OpenSSL has neither; cipher.c needs them for secretbox. Additions, rotations and exclusive ors
 * only: no table and no branch depends on a key. Rules only: no I/O. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SALSA20_KEY_BYTES = 32, SALSA20_BLOCK_BYTES = 64, XSALSA20_NONCE_BYTES = 24 };

struct salsa20 {
    uint32_t state[16];
};

/* The stream of XSalsa20 with this key and nonce, from its first block on. */
void xsalsa20_init(struct salsa20 *s, const unsigned char key[static SALSA20_KEY_BYTES],
                   const unsigned char nonce[static XSALSA20_NONCE_BYTES]);
/* The next block of the stream. */
void salsa20_block(struct salsa20 *s, unsigned char ret[static SALSA20_BLOCK_BYTES]);
