/* prefix.c - see prefix.h. */
#include "prefix.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

unsigned prefix_bits(int family)
{
    return family == AF_INET6 ? 128 : 32;
}

unsigned prefix_bytes(int family)
{
    return prefix_bits(family) / 8;
}

bool prefix_parse_address(const char *text, size_t n, struct prefix *ret)
{
    char copy[PREFIX_TEXT];
    if (n == 0 || n >= sizeof(copy) || memchr(text, 0, n))
        return false;
    memcpy(copy, text, n);
    copy[n] = 0;

    struct prefix p = { .family = memchr(copy, ':', n) ? AF_INET6 : AF_INET };
    p.len = prefix_bits(p.family);
    if (inet_pton(p.family, copy, p.bytes) != 1)
        return false;
    *ret = p;
    return true;
}

/* Digits only, no zero in front: what others read as octal or not at all is no length here. */
static bool parse_length(const char *text, size_t n, unsigned max, unsigned *ret)
{
    if (n == 0 || n > 3 || (n > 1 && text[0] == '0'))
        return false;
    unsigned len = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        len = len * 10 + (unsigned)(text[i] - '0');
    }
    if (len > max)
        return false;
    *ret = len;
    return true;
}

bool prefix_parse(const char *text, size_t n, struct prefix *ret)
{
    const char *slash = n > 0 ? memchr(text, '/', n) : NULL;
    if (!slash)
        return false;
    size_t head = (size_t)(slash - text);
    struct prefix p;
    if (!prefix_parse_address(text, head, &p) ||
        !parse_length(slash + 1, n - head - 1, prefix_bits(p.family), &p.len))
        return false;
    *ret = p;
    return true;
}

char *prefix_address_text(const struct prefix *p, char *buf)
{
    if (!inet_ntop(p->family, p->bytes, buf, PREFIX_TEXT))
        buf[0] = 0;
    return buf;
}

char *prefix_text(const struct prefix *p, char *buf)
{
    prefix_address_text(p, buf);
    size_t n = strlen(buf);
    snprintf(buf + n, PREFIX_TEXT - n, "/%u", p->len);
    return buf;
}

/* The mask of one byte of an address, of whose bits `len` count. */
static uint8_t mask_at(unsigned len, unsigned i)
{
    if (len >= 8 * (i + 1))
        return 0xff;
    return len <= 8 * i ? 0 : (uint8_t)(0xff << (8 * (i + 1) - len));
}

static bool is_same_up_to(const struct prefix *a, const struct prefix *b, unsigned len)
{
    if (a->family != b->family)
        return false;
    for (unsigned i = 0; i < prefix_bytes(a->family); i++)
        if ((a->bytes[i] ^ b->bytes[i]) & mask_at(len, i))
            return false;
    return true;
}

bool prefix_eq(const struct prefix *a, const struct prefix *b)
{
    return a->len == b->len && is_same_up_to(a, b, 128);
}

bool prefix_overlaps(const struct prefix *a, const struct prefix *b)
{
    return is_same_up_to(a, b, a->len < b->len ? a->len : b->len);
}

bool prefix_contains(const struct prefix *outer, const struct prefix *address)
{
    return is_same_up_to(outer, address, outer->len);
}

struct prefix prefix_network(const struct prefix *p)
{
    struct prefix net = *p;
    for (unsigned i = 0; i < prefix_bytes(p->family); i++)
        net.bytes[i] &= mask_at(p->len, i);
    return net;
}

struct prefix prefix_last(const struct prefix *p)
{
    struct prefix last = *p;
    for (unsigned i = 0; i < prefix_bytes(p->family); i++)
        last.bytes[i] |= (uint8_t)~mask_at(p->len, i);
    return last;
}
