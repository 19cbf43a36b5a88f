/* filter_authenticate.c - who asks. What is not believed is answered with 401, which does not say
 * why; the log does, without the secret. */
#include "base/log.h"
#include "server/filter/filter.h"
#include "server/guard/identity.h"
#include "server/http/reply.h"
#include "base/banned.h"

bool filter_authenticate(struct filter_request *r)
{
    struct err err = ERR_INIT(http_arena(r->x));
    size_t loop = api_loop_index(r->api, http_loop(r->x));
    if (identity_find(api_identity(r->api), loop, http_arena(r->x), r->http, &r->user, &err) < 0) {
        log_debug("a request was not authenticated", LOG_STR("client", r->http->peer->address),
                  LOG_ERR(&err));
        r->user = NULL;
        if (filter_audit(r))
            reply_refusal(r->x, ERR_UNAUTHORIZED, "Unauthorized");
        return false;
    }
    /* As upstream, an anonymous HTTP/2 connection gets one request. */
    if (str_eq(r->user->name, USER_ANONYMOUS) && r->http->version == HTTP_2)
        http_close_after(r->x);
    return true;
}
