/* dispatch.h - from what a request is about to the verb that answers it.
 *
 * Finds the resource, the verb and the form of the answer, and hands the call to its verb
 * (verbs.h). Reads are answered on the loop. Writes may wait for the store, so they run on a
 * worker, in linear code. */
#pragma once

#include "server/http/call.h"

/* `place` and `req` as request_parse() has them. True if the path is one of objects; the exchange
 * is then answered, or will be. `audit` may be NULL. */
bool dispatch_serve(struct api *api, struct http_exchange *x, enum request_place place,
                    const struct request *req, const struct user *user, struct audit_event *audit);
