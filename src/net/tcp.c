#include "net/tcp.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/idiom.h"
#include "base/banned.h"

enum {
    NAME_MAX_BYTES = 253,
    KEEPALIVE_IDLE_SEC = 20,
    KEEPALIVE_EVERY_SEC = 5,
    KEEPALIVE_COUNT = 3,
    UNACKED_MS = 30000,
};

void tcp_set_client_options(int fd)
{
    const struct {
        int level, name, value;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_NODELAY, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_SEC },
        { IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY_SEC },
        { IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT },
        { IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKED_MS },
    };
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

/* ---- Names ---- */

static int no_such_host(struct err *err, struct str host, int why)
{
    return err_set(err, ERR_UNAVAILABLE, "dial tcp: lookup " STR_FMT ": %s", STR_ARG(host),
                   why == EAI_AGAIN ? "i/o timeout" : "no such host");
}

static void keep(const struct addrinfo *found, struct tcp_addresses *ret)
{
    ret->n = 0;
    for (; found && ret->n < TCP_ADDRESSES_MAX; found = found->ai_next) {
        struct tcp_address *at = &ret->list[ret->n++];
        *at = (struct tcp_address){ .n = found->ai_addrlen };
        memcpy(&at->any, found->ai_addr, found->ai_addrlen);
    }
}

int tcp_resolve(struct arena *a, struct str host, struct str port, struct tcp_addresses *ret,
                struct err *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    if (!host.n || host.n > NAME_MAX_BYTES || memchr(host.p, 0, host.n))
        return no_such_host(err, host, EAI_NONAME);
    int r = getaddrinfo(str_cstr(a, host), str_cstr(a, port), &hints, &found);
    if (r)
        return no_such_host(err, host, r);
    keep(found, ret);
    freeaddrinfo(found);
    return ret->n ? 0 : no_such_host(err, host, EAI_NONAME);
}

/* ---- Addresses ---- */

struct str tcp_text(struct arena *a, const struct tcp_address *at)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getnameinfo((const struct sockaddr *)&at->any, at->n, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
        return STR("?");
    const bool is_v6 = at->any.ss_family == AF_INET6;
    return arena_printf(a, "%s%s%s:%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

static bool is_global_v4(uint32_t ip)
{
    const bool is_multicast = ip >> 28 == 0xe, is_link_local = ip >> 16 == 0xa9fe;
    return ip != INADDR_ANY && ip != INADDR_BROADCAST && ip >> 24 != 127 && !is_multicast &&
           !is_link_local;
}

bool tcp_is_global(const struct tcp_address *at)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)&at->any;
    const struct in6_addr *ip = &((const struct sockaddr_in6 *)&at->any)->sin6_addr;
    uint32_t mapped;
    if (at->any.ss_family == AF_INET)
        return is_global_v4(ntohl(in->sin_addr.s_addr));
    if (at->any.ss_family != AF_INET6)
        return false;
    memcpy(&mapped, ip->s6_addr + 12, sizeof(mapped));
    if (IN6_IS_ADDR_V4MAPPED(ip))
        return is_global_v4(ntohl(mapped));
    return !IN6_IS_ADDR_UNSPECIFIED(ip) && !IN6_IS_ADDR_LOOPBACK(ip) &&
           !IN6_IS_ADDR_MULTICAST(ip) && !IN6_IS_ADDR_LINKLOCAL(ip);
}

bool tcp_leads_nowhere(struct str address)
{
    return str_starts(address, STR("198.18.")) || str_starts(address, STR("198.19."));
}
