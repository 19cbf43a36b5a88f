/* dns_forward.h - asks other name servers. In linear code, for threads that may wait. */
#pragma once

#include "dns/dns_message.h"
#include "net/tcp.h"

enum { DNS_UPSTREAMS_MAX = 8 };

/* One after the other, if there is no answer. */
struct dns_forward {
    struct tcp_address upstreams[DNS_UPSTREAMS_MAX];
    size_t n;
};

/* "10.0.0.1", "10.0.0.1:5353", "[::1]:53". ERR_INVALID: it is no address, or one too many. */
int dns_forward_add(struct dns_forward *f, struct str address, struct err *err);
/* The nameserver lines of a resolv.conf; those beyond the maximum are left out. */
int dns_forward_read(struct dns_forward *f, const char *resolv_conf, struct err *err);

/* Sends `packet`, which asks `q`, with an id of its own, from a port of its own, and gives the
 * first reply that fits, with q's id, in the arena. `over_tcp`: as the client does.
 * ERR_UNAVAILABLE: nobody answers. Blocks for some seconds at most. */
int dns_forward_ask(const struct dns_forward *f, struct arena *a, struct str packet,
                    const struct dns_question *q, bool over_tcp, struct str *ret, struct err *err);
/* The packet of a question of our own. */
struct str dns_forward_question(struct arena *a, struct dns_name name, uint16_t type,
                                struct dns_question *ret);
