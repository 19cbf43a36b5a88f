#include "server/filter/filter.h"

#include "base/idiom.h"
#include "base/banned.h"

static filter_fn *const filters[] = {
    filter_audit_id,     filter_request_info, filter_count, /* everybody's requests, also those that
                                                               are refused */
    filter_authenticate, filter_audit,        filter_impersonate, filter_flow, filter_authorize,
};

/* False: it is answered, or waits. */
static bool pass(struct filter_request *r)
{
    while (r->n_passed < ARRAY_LEN(filters)) {
        if (!filters[r->n_passed](r))
            return false;
        r->n_passed++;
    }
    return true;
}

struct filter_request *filter_pass(struct api *api, struct http_exchange *x)
{
    struct filter_request *r = arena_new(http_arena(x), struct filter_request);
    r->api = api;
    r->x = x;
    r->http = http_request_of(x);
    return pass(r) || r->waits ? r : NULL;
}

void filter_resume(struct filter_request *r)
{
    r->waits = false;
    r->n_passed++;
    if (pass(r))
        http_go_on(r->x);
}

bool filter_request_info(struct filter_request *r)
{
    struct arena *a = http_arena(r->x);
    r->place = request_parse(a, r->http, r->api->versions, r->api->custom, &r->req);
    request_info_read(a, r->http, &r->req, &r->info);
    return true;
}
