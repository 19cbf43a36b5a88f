/* ws.h - WebSocket (RFC 6455), server side, on an HTTP/1.1 exchange.
 *
 * The frame reader is pure: bytes in, messages out, no I/O. Messages are bounded by
 * LIMIT_WS_MESSAGE_BYTES before anything is allocated; pings are answered; unmasked, fragmented
 * control, over-long or reserved frames close the connection with the code the RFC names. */
#pragma once

#include "net/http/http.h"

struct ws;

enum ws_type { WS_TEXT = 1, WS_BINARY = 2 };

struct ws_handler {
    void *arg;
    /* NULL: messages of the peer are dropped and take no memory. */
    void (*on_message)(void *arg, struct ws *ws, enum ws_type type, struct str message);
    void (*on_room)(void *arg, struct ws *ws);
    /* The last call: the peer closed, broke the rules or went away. `ws` is gone after it. */
    void (*on_close)(void *arg, struct ws *ws, unsigned code);
};

/* True if the request asks for a WebSocket and carries what the RFC demands. */
bool ws_wanted(const struct http_request *req);

/* Takes the exchange over. `protocols` are what we speak, in order of preference; the first that
 * the client offers too is chosen and named in the reply. If the client offers some and none fits,
 * or the handshake is wrong, the exchange is answered with 400 and NULL returned. */
struct ws *ws_accept(struct http_exchange *x, const struct str *protocols, size_t n_protocols,
                     const struct ws_handler *handler);
/* What the server must answer to a client's key, in the arena. */
struct str ws_accept_value(struct arena *a, struct str key);
struct str ws_protocol(const struct ws *ws); /* the chosen one; may be empty */
void ws_send(struct ws *ws, enum ws_type type, struct str message); /* copied */
size_t ws_room(struct ws *ws);
void ws_close(struct ws *ws, unsigned code, struct str reason); /* on_close follows */
