#include "api/ip.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/banned.h"

static bool parse_v4(struct str s, struct ip *ret)
{
    for (size_t i = 0; i < 4; i++) {
        if ((i < 3) != (str_find(s, '.') >= 0))
            return false;
        struct str part = str_cut(&s, '.');
        uint64_t n = 0;
        if (!str_to_u64(part, &n) || n > 255)
            return false;
        ret->has_zeros = ret->has_zeros || (part.n > 1 && part.p[0] == '0');
        ret->bytes[i] = (unsigned char)n;
    }
    return true;
}

static bool parse_v6(struct str s, struct ip *ret)
{
    char text[IP_TEXT_MAX] = "";
    if (!s.n || s.n >= sizeof(text) || str_find(s, '\0') >= 0)
        return false;
    memcpy(text, s.p, s.n);
    if (inet_pton(AF_INET6, text, ret->bytes) != 1)
        return false;
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    ret->is_mapped = memcmp(ret->bytes, mapped, sizeof(mapped)) == 0;
    return true;
}

bool ip_parse(struct str text, struct ip *ret)
{
    *ret = (struct ip){ .is_v4 = true };
    if (parse_v4(text, ret))
        return true;
    *ret = (struct ip){ 0 };
    return parse_v6(text, ret);
}

static bool bit_is_set(const struct ip *ip, unsigned bit)
{
    return ip->bytes[bit / 8] >> (7 - bit % 8) & 1;
}

static unsigned width_of(const struct ip *ip)
{
    return ip->is_v4 ? 32 : 128;
}

bool ip_cidr_parse(struct str text, struct cidr *ret)
{
    *ret = (struct cidr){ 0 };
    struct str bits = text;
    struct str address = str_cut(&bits, '/');
    uint64_t n = 0;
    if (!bits.p || bits.n > 10 || !ip_parse(address, &ret->ip) || !str_to_u64(bits, &n) ||
        n > width_of(&ret->ip))
        return false;
    ret->bits = (unsigned)n;
    ret->has_zeros = ret->ip.has_zeros || (bits.n > 1 && bits.p[0] == '0');
    for (unsigned i = ret->bits; i < width_of(&ret->ip); i++)
        ret->has_host = ret->has_host || bit_is_set(&ret->ip, i);
    return true;
}

/* The first of the longest runs of zero groups becomes "::". */
static size_t format_v6(const unsigned char *bytes, char *out, size_t size)
{
    unsigned groups[8];
    size_t run_at = 8, run = 1, at = 0;
    for (size_t i = 0; i < 8; i++)
        groups[i] = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
    for (size_t i = 0; i < 8; i++) {
        size_t n = 0;
        while (i + n < 8 && groups[i + n] == 0)
            n++;
        if (n > run) {
            run = n;
            run_at = i;
        }
    }
    for (size_t i = 0; i < 8; i++) {
        if (i == run_at) {
            at += (size_t)snprintf(out + at, size - at, "::");
            i += run - 1;
            continue;
        }
        bool colon = i && i != run_at + run;
        at += (size_t)snprintf(out + at, size - at, "%s%x", colon ? ":" : "", groups[i]);
    }
    return at;
}

struct str ip_format(const struct ip *ip, char out[IP_TEXT_MAX])
{
    const unsigned char *b = ip->is_mapped ? ip->bytes + 12 : ip->bytes;
    if (ip->is_v4 || ip->is_mapped)
        return (struct str){ out, (size_t)snprintf(out, IP_TEXT_MAX, "%u.%u.%u.%u", b[0], b[1],
                                                   b[2], b[3]) };
    return (struct str){ out, format_v6(b, out, IP_TEXT_MAX) };
}

struct str ip_cidr_format(const struct cidr *c, char out[IP_TEXT_MAX])
{
    struct ip first = c->ip;
    for (unsigned i = c->bits; i < width_of(&c->ip); i++)
        first.bytes[i / 8] &= (unsigned char)~(1u << (7 - i % 8));
    size_t at = ip_format(&first, out).n;
    unsigned bits = c->ip.is_mapped && c->bits >= 96 ? c->bits - 96 : c->bits;
    at += (size_t)snprintf(out + at, IP_TEXT_MAX - at, "/%u", bits);
    return (struct str){ out, at };
}

bool ip_cidr_has(const struct cidr *c, const struct ip *ip)
{
    if (c->ip.is_v4 != ip->is_v4)
        return false;
    for (unsigned i = 0; i < c->bits; i++)
        if (bit_is_set(&c->ip, i) != bit_is_set(ip, i))
            return false;
    return true;
}
