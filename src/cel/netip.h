/* netip.h - IP addresses and prefixes as strictly as Go's net/netip reads them, and its words when
 * they are wrong. Private to this folder. */
#pragma once

#include "api/ip.h"
#include "base/arena.h"

struct netip {
    struct ip ip;
    bool has_zone; /* fe80::1%eth0 */
};

/* NULL, or what Go says: ParseAddr("1.2.3"): IPv4 address too short. In the arena. */
const char *netip_parse(struct arena *a, struct str text, struct netip *ret);
/* The same for a prefix, which keeps the bits behind it. */
const char *netip_parse_prefix(struct arena *a, struct str text, struct cidr *ret);
