/* bearer.h - which token a request shows: `Authorization: Bearer TOKEN` or, of a WebSocket, a
 * protocol base64url.bearer.authorization.k8s.io.TOKEN beside others. Browsers can set no other
 * header. */
#pragma once

#include "base/err.h"
#include "net/http/http.h"

/* The token, in the request's memory or in the arena; empty: it shows none. ERR_UNAUTHORIZED, with
 * the reason for the log, if it shows one in a way that cannot be. */
int bearer_find(struct arena *a, const struct http_request *http, struct str *ret, struct err *err);
/* True if a space too many makes the header one without a token, which is worth a warning. */
bool bearer_is_misspelt(const struct http_request *http);
