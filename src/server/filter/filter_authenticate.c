/* filter_authenticate.c - who asks. What is not believed is answered with 401, which does not say
 * why; the log does, without the secret. A token that others have to be asked about lets the
 * request wait. */
#include "base/log.h"
#include "server/filter/filter.h"
#include "server/guard/bearer.h"
#include "server/guard/errand.h"
#include "server/guard/identity.h"
#include "server/http/reply.h"
#include "base/banned.h"

static bool refuse(struct filter_request *r, const struct err *err)
{
    log_debug("a request was not authenticated", LOG_STR("client", r->http->peer->address),
              LOG_ERR(err));
    r->user = NULL;
    if (filter_audit(r))
        reply_refusal(r->x, ERR_UNAUTHORIZED, "Unauthorized");
    return false;
}

/* ---- Later ---- */

struct question {
    struct errand errand;
    const struct identity *identity;
    struct str token;
    const struct user *user;
    struct err err;
    int result;
};

static void run(struct errand *e) /* on a worker */
{
    struct question *q = (struct question *)e;
    q->err = ERR_INIT(&e->arena);
    q->result = identity_of_bearer(q->identity, &e->arena, q->token, &q->user, &q->err);
}

static void back(struct errand *e, void *arg)
{
    const struct question *q = (struct question *)e;
    struct filter_request *r = arg;
    if (q->result < 0) {
        (void)refuse(r, &q->err);
        return;
    }
    r->user = user_copy(http_arena(r->x), q->user);
    filter_resume(r);
}

static bool ask_others(struct filter_request *r)
{
    static const struct errand_calls calls = { .run = run, .back = back };
    struct err err = ERR_INIT(http_arena(r->x));
    struct str token = STR("");
    (void)bearer_find(http_arena(r->x), r->http, &token, &err);
    struct question *q = errand_new(sizeof(*q), &calls);
    q->identity = api_identity(r->api);
    q->token = arena_str(&q->errand.arena, token);
    r->waits = errand_send(&q->errand, r->api->token_workers, r->x, r);
    if (r->waits)
        return false;
    errand_free(&q->errand);
    (void)err_set(&err, ERR_UNAUTHORIZED, "too many tokens are being asked about");
    return refuse(r, &err);
}

bool filter_authenticate(struct filter_request *r)
{
    struct err err = ERR_INIT(http_arena(r->x));
    size_t loop = api_loop_index(r->api, http_loop(r->x));
    int e = identity_find(api_identity(r->api), loop, http_arena(r->x), r->http, &r->user, &err);
    filter_token_use(r, e == 0);
    if (bearer_is_misspelt(r->http))
        http_add_header(r->x, STR("warning"),
                        STR("299 - \"the provided Authorization header contains extra space before "
                            "the bearer token, and is ignored\""));
    if (e < 0)
        return refuse(r, &err);
    if (e == IDENTITY_LATER)
        return ask_others(r);
    /* As upstream, an anonymous HTTP/2 connection gets one request. */
    if (str_eq(r->user->name, USER_ANONYMOUS) && r->http->version == HTTP_2)
        http_close_after(r->x);
    return true;
}
