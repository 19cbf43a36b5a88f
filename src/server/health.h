/* health.h - /livez, /readyz and /healthz, answered as kube-apiserver does: `ok`, or every check
 * by name with ?verbose, single checks under their own path, ?exclude=NAME. */
#pragma once

#include "net/http/http.h"
#include "server/secrecy/secrecy.h"
#include "store/store.h"

struct health {
    struct store *store;
    struct workers *workers; /* that write */
    const struct secrecy *secrecy;
    const bool *ready;    /* false while starting and stopping */
    const char *endpoint; /* "livez", "readyz" or "healthz" */
};

/* `rest` is what follows the endpoint in the path: empty, or "/NAME". */
void health_serve(const struct health *h, struct http_exchange *x, struct str rest);
