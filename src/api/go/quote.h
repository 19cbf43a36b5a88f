/* quote.h - text in the double quotes of Go's %q, as upstream's messages have it. */
#pragma once

#include "base/buf.h"

/* Escapes quotes, backslashes, controls, bytes that are not UTF-8, and the blocks of Unicode that
 * never print (spaces other than ' ', formatting, private use, noncharacters). Code points that
 * Unicode has not given a meaning yet are written as they are; Go would escape them. */
void quote_go(struct buf *out, struct str s);

/* Whether quote_go() writes a code point as it is (or, for " and \\, behind a backslash). */
bool quote_is_printable(uint32_t code);
