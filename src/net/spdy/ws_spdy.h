/* ws_spdy.h - turns the WebSocket of a client into the SPDY that a node or a container runtime
 * speaks: for commands (v5.channel.k8s.io) and for ports (SPDY/3.1+portforward.k8s.io).
 *
 *     client ── WebSocket, channels ──► ws_spdy ──► SPDY/3.1, a stream each ──► server
 *
 * A filter of a relay (net/outgoing/relay.h): bytes in, bytes out, no I/O. The relay asks the
 * server for SPDY with ws_spdy_headers(), and the client is answered with ws_spdy_answer(). */
#pragma once

#include "net/outgoing/relay.h"

#define WS_SPDY_COMMAND "v5.channel.k8s.io"
#define WS_SPDY_PORTS   "SPDY/3.1+portforward.k8s.io"

struct ws_spdy_options {
    bool is_tunnel; /* WS_SPDY_PORTS: messages are SPDY already; the rest does not count */
    bool has_stdin, has_stdout, has_stderr, is_tty;
};

struct ws_spdy;

/* Lives until the exchange is over. NULL: the request asks for neither, or is no WebSocket. */
struct ws_spdy *ws_spdy_new(struct http_exchange *x, const struct ws_spdy_options *opt);
/* Whether the request offers the protocol. */
bool ws_spdy_is_offered(const struct http_request *req, const char *protocol);

const struct relay_filter *ws_spdy_filter(struct ws_spdy *t);
/* The headers by which the server is asked for it. */
enum { WS_SPDY_HEADERS = 3 };
void ws_spdy_headers(const struct ws_spdy *t, struct http_header ret[static WS_SPDY_HEADERS]);
/* The headers of the 101 that the client gets, in the exchange's arena. */
void ws_spdy_answer(const struct ws_spdy *t, struct relay_answer *answer);

/* Without an exchange, for tests. */
struct ws_spdy *ws_spdy_make(const struct ws_spdy_options *opt);
struct ws_spdy *ws_spdy_free(struct ws_spdy *t);

/* The Status that a client of the fifth version is told for the one that came by SPDY, as upstream
 * puts it; JSON. */
struct str ws_spdy_status(struct arena *a, struct str from_server);
