/* plain_server.h - for benches: a server inside of the process, over HTTP without TLS, with a store
 * in memory. Nobody is asked who they are; it ends with the process. */
#pragma once

#include "net/outgoing/fetch.h"
#include "server/core/api.h"

/* Starts it with so many workers. Its address ("http://127.0.0.1:PORT") is in the arena. */
struct api *plain_server_start(struct arena *a, unsigned workers, struct str *ret_url);

/* Sends it, which must succeed; how many bytes were answered. */
size_t plain_server_ask(struct fetcher *f, struct fetch_request req);

/* Writes the stored bytes of the object with that number, and returns its name. */
typedef struct str plain_server_make(void *arg, unsigned i, struct buf *out);
/* Puts objects of namespace `default` into the store, from one number up to another, many at
 * once. */
void plain_server_fill(struct arena *a, const struct kind_resource *r, unsigned from, unsigned to,
                       plain_server_make *make, void *arg);
