/* cbor_number.h - floats: their three widths in CBOR, and their text in JSON. Private to the CBOR
 * reader and writer. */
#pragma once

#include "base/arena.h"

double cbor_half(uint16_t bits);
/* False where 16 bits cannot hold `d` exactly. */
bool cbor_to_half(double d, uint16_t *ret);

/* The shortest digits that read back as `d` (finite), in the form of Go's JSON encoder: an exponent
 * below 1e-6 and from 1e21 on. */
struct str cbor_double_text(struct arena *a, double d);
