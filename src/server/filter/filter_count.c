/* filter_count.c - counts requests, and how long they took. */
#include "server/custom/custom.h"
#include "server/filter/filter.h"
#include "server/http/tally.h"
#include "base/banned.h"

struct counted {
    const struct api *api;
    struct tally_sort sort;
    struct custom *custom; /* what the request is of is kept until it is over */
};

static void count_over(void *arg, struct http_exchange *x, int status)
{
    const struct counted *c = arg;
    tally_end(c->api->tally, api_loop_index(c->api, http_loop(x)), &c->sort, status,
              loop_now_ns(http_loop(x)) - http_request_of(x)->arrived_ns);
    custom_unref(c->custom);
}

bool filter_count(struct filter_request *r)
{
    const struct request *req = r->place == REQUEST_FOUND ? &r->req : NULL;
    struct counted *c = arena_new(http_arena(r->x), struct counted);
    c->api = r->api;
    c->custom = req ? req->custom : NULL;
    c->sort = tally_sort_of(r->http->method, req, req ? request_verb(r->http, req) : 0);
    tally_begin(r->api->tally, api_loop_index(r->api, http_loop(r->x)), &c->sort);
    http_when_over(r->x, count_over, c);
    return true;
}
