/* filter_flow.c - whether a request is served now, waits, or is turned away: priority and fairness
 * (server/flow/flow.h). Who asks is known, what he may is not: refusing takes seats, too. */
#include "server/audit/audit_event.h"
#include "server/filter/filter.h"
#include "server/flow/flow.h"
#include "base/banned.h"

/* As upstream words it. */
static void turn_away(struct http_exchange *x)
{
    static const struct http_header headers[] = {
        { STR("retry-after"), STR("1") },
        { STR("content-type"), STR("text/plain; charset=utf-8") },
        { STR("x-content-type-options"), STR("nosniff") },
    };
    http_reply(x, 429, headers, 3, HTTP_BYTES(STR("Too many requests, please try again later.\n")));
}

static void go_on(void *arg, bool has_seats)
{
    struct filter_request *r = arg;
    audit_event_took(r->audit, AUDIT_LAYER_QUEUE, loop_now_ns(http_loop(r->x)) - r->waits_since_ns);
    if (has_seats)
        filter_resume(r);
    else if (!http_is_gone(r->x))
        turn_away(r->x);
}

/* A watch that is told nothing of what it knows begins with all that there are. */
static bool wants_objects(const struct request *req)
{
    struct str rev = request_param(req, STR("resourceVersion"));
    return request_flag(req, STR("sendInitialEvents")) || !rev.n || str_eq(rev, STR("0"));
}

static struct flow_question *question(const struct filter_request *r)
{
    struct flow_question *q = arena_new(http_arena(r->x), struct flow_question);
    struct err err = ERR_INIT(http_arena(r->x));
    q->access = filter_access(r);
    bool watches = str_eq(q->access.verb, STR("watch"));
    if (!watches && !str_eq(q->access.verb, STR("list")))
        return q;
    (void)request_int(&r->req, STR("limit"), &q->limit, &err);
    q->has_selector = request_param(&r->req, STR("labelSelector")).n ||
                      request_param(&r->req, STR("fieldSelector")).n;
    q->wants_objects = watches && wants_objects(&r->req);
    return q;
}

bool filter_flow(struct filter_request *r)
{
    const struct flow_holder holder = { .go_on = go_on, .arg = r };
    if (!r->api->flow)
        return true;
    switch (flow_enter(r->api->flow, r->x, question(r), &holder, &r->ticket)) {
    case FLOW_GOES:
        return true;
    case FLOW_WAITS:
        r->waits = true;
        r->waits_since_ns = loop_now_ns(http_loop(r->x));
        return false;
    case FLOW_NO_SEAT:
    case FLOW_QUEUE_FULL:
        turn_away(r->x);
        break;
    }
    return false;
}

void filter_watch_began(const struct http_exchange *x)
{
    const struct filter_request *r = http_note(x);
    if (r)
        flow_started(r->ticket);
}
