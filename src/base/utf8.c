#include "base/utf8.h"
#include "base/plain.h"
#include "base/banned.h"

static bool is_tail(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The second byte decides whether the sequence is overlong, a surrogate or too large. */
static bool second_fits(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0;
    case 0xed:
        return second <= 0x9f;
    case 0xf0:
        return second >= 0x90;
    case 0xf4:
        return second <= 0x8f;
    default:
        return true;
    }
}

size_t utf8_step(const char *p, size_t n)
{
    if (n == 0)
        return 0;
    unsigned char first = (unsigned char)p[0];
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    size_t want = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (n < want)
        return 0;
    for (size_t i = 1; i < want; i++)
        if (!is_tail(p[i]))
            return 0;
    return second_fits(first, (unsigned char)p[1]) ? want : 0;
}

bool utf8_valid(struct str s)
{
    size_t i = 0;
    while (i < s.n) {
        i += plain_span(s.p + i, s.n - i);
        if (i == s.n)
            break;
        size_t step = utf8_step(s.p + i, s.n - i);
        if (!step)
            return false;
        i += step;
    }
    return true;
}

uint32_t utf8_decode(const char *p, size_t n)
{
    static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t code = (unsigned char)p[0] & first_bits[n];
    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)p[i] & 0x3f);
    return code;
}

size_t utf8_encode(char out[static 4], uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first_mark[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(first_mark[n] | code);
    return n;
}
