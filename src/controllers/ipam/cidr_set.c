#include "controllers/ipam/cidr_set.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

typedef unsigned __int128 address; /* one of IPv4 in the lowest 32 bits */

/* More blocks are not told apart: IPv6 as upstream, and IPv4 so that memory stays small. */
enum { MOST_BITS_V4 = 24, MOST_BITS_V6 = 16 };

struct cidr_set {
    struct cidr network;
    address base;
    unsigned width, bits; /* of an address, of a block's prefix */
    size_t n, n_taken, next;
    unsigned char *taken; /* a byte each */
};

/* ---- Addresses as numbers ---- */

static unsigned width_of(const struct ip *ip)
{
    return ip->is_v4 ? 32 : 128;
}

static address to_number(const struct ip *ip)
{
    address n = 0;
    for (unsigned i = 0; i < width_of(ip) / 8; i++)
        n = n << 8 | ip->bytes[i];
    return n;
}

static void to_ip(address n, struct ip *ip)
{
    for (unsigned i = width_of(ip) / 8; i-- > 0; n >>= 8)
        ip->bytes[i] = (unsigned char)n;
}

/* How many addresses a prefix of so many bits has, less one: all bits behind it. */
static address tail(unsigned width, unsigned bits)
{
    if (bits == 0)
        return width == 128 ? ~(address)0 : ((address)1 << width) - 1;
    return ((address)1 << (width - bits)) - 1;
}

/* ---- Blocks ---- */

int cidr_set_new(struct cidr network, unsigned bits, struct cidr_set **ret, struct err *err)
{
    unsigned width = width_of(&network.ip);
    unsigned most = network.ip.is_v4 ? MOST_BITS_V4 : MOST_BITS_V6;
    if (bits < network.bits || bits > width)
        return err_set(err, ERR_INVALID, "a network of %u bits has no blocks of %u bits for nodes",
                       network.bits, bits);
    if (bits - network.bits > most)
        return err_set(err, ERR_INVALID, "New CIDR set failed; the node CIDR size is too big");
    struct cidr_set *s = mem_new(struct cidr_set);
    s->network = network;
    s->width = width;
    s->bits = bits;
    s->base = to_number(&network.ip) & ~tail(width, network.bits);
    to_ip(s->base, &s->network.ip);
    s->n = (size_t)1 << (bits - network.bits);
    s->taken = mem_zalloc(s->n);
    *ret = s;
    return 0;
}

struct cidr_set *cidr_set_free(struct cidr_set *s)
{
    if (s)
        free(s->taken);
    free(s);
    return NULL;
}

bool cidr_set_take(struct cidr_set *s, struct cidr *ret)
{
    if (s->n_taken == s->n)
        return false;
    size_t i = s->next;
    while (s->taken[i])
        i = (i + 1) % s->n;
    s->next = (i + 1) % s->n;
    s->taken[i] = true;
    s->n_taken++;
    *ret = s->network;
    ret->bits = s->bits;
    to_ip(s->base + ((address)i << (s->width - s->bits)), &ret->ip);
    return true;
}

/* From the first to the last block that it touches. */
static bool find_blocks(const struct cidr_set *s, const struct cidr *c, size_t *first, size_t *last)
{
    if (c->ip.is_v4 != s->network.ip.is_v4 || c->bits > s->width)
        return false;
    address from = to_number(&c->ip) & ~tail(s->width, c->bits);
    address to = from + tail(s->width, c->bits);
    address end = s->base + tail(s->width, s->network.bits);
    if (from > end || to < s->base)
        return false;
    from = from < s->base ? s->base : from;
    to = to > end ? end : to;
    *first = (size_t)((from - s->base) >> (s->width - s->bits));
    *last = (size_t)((to - s->base) >> (s->width - s->bits));
    return true;
}

static bool set(struct cidr_set *s, const struct cidr *c, bool is_taken)
{
    size_t first, last;
    if (!find_blocks(s, c, &first, &last))
        return false;
    for (size_t i = first; i <= last; i++) {
        if ((bool)s->taken[i] == is_taken)
            continue;
        s->taken[i] = is_taken;
        s->n_taken += is_taken ? 1 : (size_t)-1;
    }
    return true;
}

bool cidr_set_occupy(struct cidr_set *s, const struct cidr *c)
{
    return set(s, c, true);
}

bool cidr_set_release(struct cidr_set *s, const struct cidr *c)
{
    return set(s, c, false);
}
