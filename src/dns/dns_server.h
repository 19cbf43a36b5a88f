/* dns_server.h - a name server over UDP and TCP: the cluster's names from a zone, all others from
 * other name servers.
 *
 * One thread has all sockets and answers for the zone; questions for others wait for their answers
 * on threads of their own, of which there is a bounded number. A client that does not read holds
 * one connection and one answer. */
#pragma once

#include "dns/dns_forward.h"
#include "dns/dns_zone.h"

struct dns_server;

enum { DNS_LISTEN_MAX = 4 };

struct dns_server_options {
    struct dns_zone zone;              /* its `own` is filled in from the addresses */
    struct dns_forward forward;        /* none: names that are not the cluster's are refused */
    struct str listen[DNS_LISTEN_MAX]; /* "10.96.0.10:53"; port 0: any free one */
    size_t n_listen;
};

/* Names and caches of the zone outlive it. Listens when it returns 0. */
int dns_server_start(const struct dns_server_options *opt, struct dns_server **ret,
                     struct err *err);
/* Where the first address really is: "127.0.0.1:40123". */
struct str dns_server_address(const struct dns_server *s);
struct dns_server *dns_server_stop(struct dns_server *s);
