#include "api/codec/cbor_number.h"

#include <math.h>

#include "base/banned.h"

enum { HALF_MANTISSA = 10, HALF_BIAS = 15 };

double cbor_half(uint16_t bits)
{
    int exponent = bits >> HALF_MANTISSA & 0x1f, mantissa = bits & 0x3ff;
    double d;
    if (exponent == 0x1f)
        d = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        d = ldexp(mantissa, 1 - HALF_BIAS - HALF_MANTISSA);
    else
        d = ldexp(mantissa + 0x400, exponent - HALF_BIAS - HALF_MANTISSA);
    return bits & 0x8000 ? -d : d;
}

bool cbor_to_half(double d, uint16_t *ret)
{
    int exponent;
    (void)frexp(d, &exponent);
    exponent += HALF_BIAS - 1;
    if (exponent > 30)
        return false;
    if (exponent < 1 || d == 0)
        exponent = 1; /* zero and subnormals share the smallest exponent */
    double scaled = ldexp(fabs(d), HALF_BIAS + HALF_MANTISSA - exponent);
    unsigned mantissa = (unsigned)scaled;
    if (mantissa != scaled)
        return false;
    /* The bit above the mantissa counts as one more of the exponent. */
    unsigned bits = ((unsigned)(exponent - 1) << HALF_MANTISSA) + mantissa;
    *ret = (uint16_t)(bits | (signbit(d) ? 0x8000u : 0));
    return true;
}
