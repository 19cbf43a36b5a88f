/* plain_server.h - for benches: a server inside of the process, over HTTP without TLS, with a store
 * in memory. Nobody is asked who they are; it ends with the process. */
#pragma once

#include "server/core/api.h"

/* Starts it with so many workers. Its address ("http://127.0.0.1:PORT") is in the arena. */
struct api *plain_server_start(struct arena *a, unsigned workers, struct str *ret_url);
