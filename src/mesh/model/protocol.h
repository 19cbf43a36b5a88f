/* protocol.h - what a port speaks, by the names of Istio. Rules only. */
#pragma once

#include "base/str.h"

enum mesh_protocol {
    PROTOCOL_AUTO, /* not said: what comes is looked at */
    PROTOCOL_HTTP,
    PROTOCOL_HTTP2,
    PROTOCOL_GRPC,
    PROTOCOL_GRPC_WEB,
    PROTOCOL_HTTPS,
    PROTOCOL_TLS,
    PROTOCOL_TCP,
    PROTOCOL_UDP,
    PROTOCOL_HTTP_PROXY,
};

/* "HTTP", "grpc-web", "Mongo" (which is TCP to us). PROTOCOL_AUTO: unknown. */
enum mesh_protocol protocol_parse(struct str s);
/* Of a Service's port: its appProtocol, else the first part of its name. */
enum mesh_protocol protocol_of_port(struct str app_protocol, struct str name, struct str transport,
                                    int number);
bool protocol_is_http(enum mesh_protocol p);
bool protocol_is_http_or_auto(enum mesh_protocol p);
bool protocol_is_http2(enum mesh_protocol p); /* HTTP/2 to the backend */
bool protocol_is_tls(enum mesh_protocol p);   /* HTTPS or TLS */
