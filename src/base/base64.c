#include "base/base64.h"
#include "base/banned.h"

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode(struct buf *out, struct str bytes, const char *alphabet, bool pad)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        uint32_t group = (uint32_t)p[i] << 16;
        if (left > 1)
            group |= (uint32_t)p[i + 1] << 8;
        if (left > 2)
            group |= p[i + 2];
        buf_byte(out, alphabet[group >> 18]);
        buf_byte(out, alphabet[group >> 12 & 63]);
        if (left > 1)
            buf_byte(out, alphabet[group >> 6 & 63]);
        else if (pad)
            buf_byte(out, '=');
        if (left > 2)
            buf_byte(out, alphabet[group & 63]);
        else if (pad)
            buf_byte(out, '=');
    }
}

void base64_encode(struct buf *out, struct str bytes)
{
    encode(out, bytes, standard, true);
}

void base64url_encode(struct buf *out, struct str bytes)
{
    encode(out, bytes, url_safe, false);
}

static int digit(char c, const char *alphabet)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == alphabet[62])
        return 62;
    return c == alphabet[63] ? 63 : -1;
}

/* `text` without padding. */
static bool decode(struct buf *out, struct str text, const char *alphabet)
{
    size_t start = out->n;
    uint32_t bits = 0;
    unsigned n_bits = 0;
    for (size_t i = 0; i < text.n; i++) {
        int d = digit(text.p[i], alphabet);
        if (d < 0)
            break;
        bits = bits << 6 | (uint32_t)d;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            buf_byte(out, (char)(bits >> n_bits));
            bits &= (1u << n_bits) - 1;
        }
        if (i + 1 == text.n && n_bits < 6 && bits == 0)
            return true;
    }
    if (text.n == 0)
        return true;
    out->n = start;
    return false;
}

bool base64_decode(struct buf *out, struct str text)
{
    if (text.n % 4)
        return false;
    for (int i = 0; i < 2 && text.n && text.p[text.n - 1] == '='; i++)
        text.n--;
    return decode(out, text, standard);
}

bool base64url_decode(struct buf *out, struct str text)
{
    return decode(out, text, url_safe);
}
