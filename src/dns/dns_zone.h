/* dns_zone.h - the names of a cluster: services, their endpoints and pods, as Kubernetes has them
 * (DNS-Based Service Discovery 1.1) and CoreDNS answers them.
 *
 *     NAME.NAMESPACE.svc.ZONE              cluster IPs; of a headless service, its ready endpoints;
 *                                          of an external name, an alias
 *     HOST.NAME.NAMESPACE.svc.ZONE         one endpoint, by its host name or 10-0-0-1
 *     _PORT._PROTOCOL.NAME.NAMESPACE...    SRV: port and target
 *     10-0-0-1.NAMESPACE.pod.ZONE          the address that it says
 *     ...in-addr.arpa, ...ip6.arpa         the name of a cluster IP or endpoint
 *
 * Answers come from caches and are as fresh as these. Any thread; nothing blocks. */
#pragma once

#include <sampan/cache.h>

#include "dns/dns_message.h"

struct dns_zone {
    struct dns_name name; /* cluster.local */
    uint32_t ttl;
    struct str own[2]; /* the server's own IPv4 and IPv6 address, as bytes; empty: none */
    struct spn_cache *services, *slices, *namespaces;
};

/* The indices that answers need. Once, before the first answer. */
void dns_zone_add_indices(const struct dns_zone *z);

enum dns_zone_verdict {
    DNS_ZONE_ANSWERED,
    DNS_ZONE_ALIAS, /* answered with an alias whose target, the last one, others know */
    DNS_ZONE_FOREIGN,
};
enum dns_zone_verdict dns_zone_answer(const struct dns_zone *z, struct arena *a,
                                      const struct dns_question *q, struct dns_reply *ret);
