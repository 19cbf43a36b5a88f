/* cbor_number.h - floats of 16 bits. Private to the CBOR reader and writer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

double cbor_half(uint16_t bits);
/* False where 16 bits cannot hold `d` exactly. */
bool cbor_to_half(double d, uint16_t *ret);
