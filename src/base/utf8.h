/* utf8.h - one UTF-8 sequence at a time (RFC 3629: no surrogates, no overlong forms, nothing above
 * U+10FFFF). */
#pragma once

#include "base/str.h"

/* Bytes of the valid sequence that starts at `p`, or 0. `n` bytes are there to be read. */
size_t utf8_step(const char *p, size_t n);
bool utf8_valid(struct str s);

/* The code point of a sequence that utf8_step() has accepted with `n` bytes. */
uint32_t utf8_decode(const char *p, size_t n);

/* Writes `code` (below 0x110000, not a surrogate) and returns the number of bytes, 1 to 4. */
size_t utf8_encode(char out[static 4], uint32_t code);
