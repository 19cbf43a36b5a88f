#include "api/der.h"

#include "base/banned.h"

enum { LONG_LENGTH = 0x80 }; /* the length is in as many bytes as the other bits say */

unsigned der_next(struct str *in, struct str *ret)
{
    const unsigned char *p = (const unsigned char *)in->p;
    if (in->n < 2)
        return 0;
    size_t length = p[1], head = 2;
    if (length & LONG_LENGTH) {
        size_t bytes = length & ~(size_t)LONG_LENGTH;
        if (bytes < 1 || bytes > 3 || in->n < 2 + bytes)
            return 0;
        for (length = 0; head < 2 + bytes; head++)
            length = length << 8 | p[head];
    }
    if (length > in->n - head)
        return 0;
    *ret = str_take(str_skip(*in, head), length);
    *in = str_skip(*in, head + length);
    return p[0];
}

bool der_expect(struct str *in, unsigned tag, struct str *ret)
{
    return der_next(in, ret) == tag;
}

bool der_maybe(struct str *in, unsigned tag, struct str *ret)
{
    struct str rest = *in;
    if (der_next(&rest, ret) != tag)
        return false;
    *in = rest;
    return true;
}
