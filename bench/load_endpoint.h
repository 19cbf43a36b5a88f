/* load_endpoint.h - a server made ready to be dialled: its address, and TLS as we speak it to it.
 *
 * Only loopback addresses, unless told otherwise: a load generator is not pointed at somebody
 * else's server by accident. One owner; connections borrow it. */
#pragma once

#include <openssl/ssl.h>
#include <sys/socket.h>

#include "bench/load_config.h"

struct load_endpoint {
    struct sockaddr_storage addr;
    socklen_t addr_len;
    bool loopback;
    SSL_CTX *tls;
    struct str authority, server_name, bearer; /* bearer: "Bearer TOKEN", or empty */
};

/* ERR_FORBIDDEN for an address that is not on loopback, unless `remote`. Blocks on the resolver.
 * Text lies in `a`. */
int load_endpoint_init(struct load_endpoint *e, struct arena *a, const struct load_config *config,
                       bool remote, struct err *err);
void load_endpoint_done(struct load_endpoint *e);

/* A TLS session for a connected socket, with the server's name to be checked. NULL if there is no
 * memory for one. */
SSL *load_endpoint_session(const struct load_endpoint *e, int fd);

/* The newest of OpenSSL's complaints, or `otherwise`; static text. */
const char *load_tls_reason(const char *otherwise);
