/* foreign.h - requests for what somebody else serves: passed on to the server of an APIService.
 *
 * They have passed all filters. The server behind is told who asks, by headers that it believes
 * because of our front proxy's certificate; credentials of the client are never passed on. */
#pragma once

#include "auth/user.h"
#include "server/core/api.h"
#include "server/http/request.h"

/* True if the path is below a version that somebody else serves; the exchange is then answered. */
bool foreign_serve(struct api *api, struct http_exchange *x, const struct request *req,
                   const struct user *user, struct str audit_id);
