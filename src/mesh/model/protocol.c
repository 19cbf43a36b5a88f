#include "mesh/model/protocol.h"

#include "base/idiom.h"
#include "base/banned.h"

static const struct {
    const char *name;
    enum mesh_protocol protocol;
} names[] = {
    { "http", PROTOCOL_HTTP },
    { "http2", PROTOCOL_HTTP2 },
    { "kubernetes.io/h2c", PROTOCOL_HTTP2 },
    { "h2c", PROTOCOL_HTTP2 },
    { "grpc", PROTOCOL_GRPC },
    { "grpc-web", PROTOCOL_GRPC_WEB },
    { "https", PROTOCOL_HTTPS },
    { "tls", PROTOCOL_TLS },
    { "tcp", PROTOCOL_TCP },
    { "mongo", PROTOCOL_TCP },
    { "redis", PROTOCOL_TCP },
    { "mysql", PROTOCOL_TCP },
    { "udp", PROTOCOL_UDP },
    { "http_proxy", PROTOCOL_HTTP_PROXY },
    { "kubernetes.io/ws", PROTOCOL_HTTP },
    { "kubernetes.io/wss", PROTOCOL_HTTPS },
};

enum mesh_protocol protocol_parse(struct str s)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(s, str_of(names[i].name)))
            return names[i].protocol;
    }
    return PROTOCOL_AUTO;
}

/* Servers speak first on these: looking at what a client sends would wait for ever. */
static bool is_known_tcp(int number)
{
    static const int known[] = { 25, 3306, 27017, 6379, 4222 };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (number == known[i])
            return true;
    }
    return false;
}

enum mesh_protocol protocol_of_port(struct str app_protocol, struct str name, struct str transport,
                                    int number)
{
    if (str_eq(transport, STR("UDP")))
        return PROTOCOL_UDP;
    if (app_protocol.n)
        return protocol_parse(app_protocol);
    enum mesh_protocol p = protocol_parse(name);
    if (p != PROTOCOL_AUTO)
        return p;
    if (str_starts(name, STR("grpc-web-")))
        return PROTOCOL_GRPC_WEB;
    struct str rest = name;
    p = protocol_parse(str_cut(&rest, '-'));
    if (p == PROTOCOL_AUTO && is_known_tcp(number))
        return PROTOCOL_TCP;
    return p;
}

bool protocol_is_http(enum mesh_protocol p)
{
    return p == PROTOCOL_HTTP || p == PROTOCOL_HTTP2 || p == PROTOCOL_GRPC ||
           p == PROTOCOL_GRPC_WEB || p == PROTOCOL_HTTP_PROXY;
}

bool protocol_is_http_or_auto(enum mesh_protocol p)
{
    return protocol_is_http(p) || p == PROTOCOL_AUTO;
}

bool protocol_is_http2(enum mesh_protocol p)
{
    return p == PROTOCOL_HTTP2 || p == PROTOCOL_GRPC || p == PROTOCOL_GRPC_WEB;
}

bool protocol_is_tls(enum mesh_protocol p)
{
    return p == PROTOCOL_HTTPS || p == PROTOCOL_TLS;
}
