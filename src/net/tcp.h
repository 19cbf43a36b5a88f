/* tcp.h - addresses that are dialled: names to addresses, which of them lead where, how a
 * connection notices that its peer is dead. */
#pragma once

#include <sys/socket.h>

#include "base/err.h"

struct tcp_address {
    struct sockaddr_storage any;
    socklen_t n;
};

enum { TCP_ADDRESSES_MAX = 8 };
struct tcp_addresses {
    struct tcp_address list[TCP_ADDRESSES_MAX];
    size_t n; /* at least one */
};

/* Looks a name up, or reads an address. May wait for a name server. ERR_UNAVAILABLE: there is none;
 * the message is Go's, without what a resolver says of itself. */
int tcp_resolve(struct arena *a, struct str host, struct str port, struct tcp_addresses *ret,
                struct err *err);

/* "10.0.0.1:443" or "[::1]:443". */
struct str tcp_text(struct arena *a, const struct tcp_address *at);

/* No loopback, link-local, multicast or unspecified address: Go's IsGlobalUnicast(). */
bool tcp_is_global(const struct tcp_address *at);

/* An address of nodes and pods that are only simulated (198.18.0.0/15): nobody dials them. */
bool tcp_leads_nowhere(struct str address);

/* For a client's socket: small packets go at once, and a dead peer is noticed. */
void tcp_set_client_options(int fd);
