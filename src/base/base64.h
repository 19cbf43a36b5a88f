/* base64.h - RFC 4648: the standard alphabet with padding, and the URL one without. */
#pragma once

#include "base/buf.h"

void base64_encode(struct buf *out, struct str bytes);
void base64url_encode(struct buf *out, struct str bytes);
/* Strict: no white space, right padding, no stray bits. False, with `out` as it was, otherwise. */
bool base64_decode(struct buf *out, struct str text);
bool base64url_decode(struct buf *out, struct str text);
