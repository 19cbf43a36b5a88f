/* ip.h - IP addresses and CIDR blocks as upstream reads them: sloppily, and saying how sloppy the
 * text was, so that the rules can refuse what only old objects may have. */
#pragma once

#include "base/str.h"

struct ip {
    unsigned char bytes[16]; /* an IPv4 address has its four in front */
    bool is_v4;              /* written with dots alone */
    bool is_mapped;          /* an IPv4 address written as ::ffff:1.2.3.4 */
    bool has_zeros;          /* numbers with zeros in front, as in 010.1.1.1 */
};

struct cidr {
    struct ip ip;
    unsigned bits;
    bool has_zeros; /* in the address or in the number of bits */
    bool has_host;  /* bits are set beyond the prefix */
};

enum { IP_TEXT_MAX = 64 };

bool ip_parse(struct str text, struct ip *ret);
bool ip_cidr_parse(struct str text, struct cidr *ret);

/* The canonical text (RFC 5952; a mapped address as the IPv4 one), in `out`. */
struct str ip_format(const struct ip *ip, char out[IP_TEXT_MAX]);
/* The same of a block, without the bits beyond its prefix. */
struct str ip_cidr_format(const struct cidr *c, char out[IP_TEXT_MAX]);
/* Whether the block has the address; of different families never. */
bool ip_cidr_has(const struct cidr *c, const struct ip *ip);
