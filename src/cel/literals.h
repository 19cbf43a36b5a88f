/* literals.h - the values that literals of an expression stand for. Private to this folder. */
#pragma once

#include "base/arena.h"

/* With the sign, if it has one; 0x for hexadecimal. False beyond 64 bits. */
bool literals_int(struct str text, bool negative, int64_t *ret);
bool literals_uint(struct str text, uint64_t *ret); /* without the u */
/* Any number that Go's ParseFloat reads and that is not beyond a double. */
bool literals_double(struct arena *a, struct str text, double *ret);
/* A quoted string without its b; NULL, or what is wrong with it. Bytes may hold anything. */
const char *literals_string(struct arena *a, struct str text, bool bytes, struct str *ret);
