/* wire.h - a TLS connection of a client that does as it likes: sends what it wants, when it wants,
 * and reads nothing unless it wants to. Blocking, one thread at a time. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct target {
    struct str url, address; /* "https://127.0.0.1:1", "127.0.0.1:1" */
    struct str ca_pem, cert_pem, key_pem;
};

struct wire;

/* `alpn` is "h2" or "http/1.1". NULL if it cannot be had. */
struct wire *wire_open(const struct target *t, const char *alpn, bool with_certificate);
struct wire *wire_close(struct wire *w);
bool wire_send(struct wire *w, struct str bytes); /* false if the other side has closed */
/* Reads and drops what is there within a moment; false if the other side has closed. */
bool wire_drain(struct wire *w);
