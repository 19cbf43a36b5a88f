/* fresh.h - what must not be old waits until the store has all that anybody was told of.
 *
 * Only a store that is a mirror can be old (store_sync()); all others are asked nothing. The
 * request waits on its loop, and one question serves all that wait. */
#pragma once

#include "net/http/http.h"
#include "store/store.h"

/* Calls `then` on the exchange's loop, perhaps at once. If nobody can say what is new it answers
 * that itself; if the client goes, nothing more happens. */
void fresh_then(struct http_exchange *x, struct store *store,
                void (*then)(struct http_exchange *x, void *arg), void *arg);
