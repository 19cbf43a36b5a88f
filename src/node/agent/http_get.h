/* http_get.h - requests of probes and hooks to containers, with errors in Go's words. */
#pragma once

#include "base/value.h"
#include "net/outgoing/fetch.h"

struct http_got {
    int status;
    struct str body;
    bool left_host; /* it redirects to another host, where nobody goes */
};

/* `get` is an HTTPGetAction; its port may be a name of the container's. Redirects on the same host
 * are followed. `purpose` is told as the user agent: "kube-PURPOSE". */
int http_get(struct fetcher *f, const struct value *get, const struct value *container,
             struct str ip, const char *purpose, int64_t timeout_ms, struct arena *a,
             struct http_got *ret, struct err *err);

/* A number, or the name of a port of the container. */
int container_port(const struct value *port, const struct value *container, uint16_t *ret,
                   struct err *err);

/* Connects and closes. "dial tcp 10.0.0.1:80: connect: connection refused". */
int tcp_dial(struct str host, uint16_t port, int64_t timeout_ms, struct arena *a, struct err *err);
struct str host_port(struct arena *a, struct str host, uint16_t port); /* "[::1]:80" */
