/* percent.h - text with %XX in it, as URLs and some headers have it. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

/* Decoded, in the arena. False for what is not a proper encoding of text: % without two digits, a
 * NUL, bytes that are not UTF-8. */
bool percent_decode(struct arena *a, struct str s, bool plus_is_space, struct str *ret);
/* Adds it with everything encoded but letters, digits and -._~ */
void percent_encode(struct buf *out, struct str s);
