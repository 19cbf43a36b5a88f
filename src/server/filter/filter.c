#include "server/filter/filter.h"

#include "admission/xray.h"
#include "base/idiom.h"
#include "base/banned.h"

static const struct {
    const char *name;
    filter_fn *pass;
} filters[] = {
    { "audit-id", filter_audit_id },
    { "request-info", filter_request_info },
    { "count", filter_count }, /* everybody's requests, also those that are refused */
    { "authenticate", filter_authenticate },
    { "audit", filter_audit },
    { "impersonate", filter_impersonate },
    { "flow", filter_flow },
    { "authorize", filter_authorize },
};

/* False: it is answered, or waits. */
static bool pass(struct filter_request *r)
{
    while (r->n_passed < ARRAY_LEN(filters)) {
        xray_stage(r->xray, "filter", str_of(filters[r->n_passed].name), NULL);
        if (!filters[r->n_passed].pass(r))
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
    if (str_eq(http_header_get(r->http, STR("x-sampan-xray")), STR("1")))
        r->xray = xray_new(http_arena(x), api->clock);
    return pass(r) || r->waits ? r : NULL;
}

struct xray *filter_xray(const struct http_exchange *x)
{
    const struct filter_request *r = http_note(x);
    return r ? r->xray : NULL;
}

void filter_retry(struct filter_request *r)
{
    r->waits = false;
    if (pass(r))
        http_go_on(r->x);
}

void filter_resume(struct filter_request *r)
{
    r->n_passed++;
    filter_retry(r);
}

bool filter_request_info(struct filter_request *r)
{
    struct arena *a = http_arena(r->x);
    r->place = request_parse(a, r->http, r->api->versions, r->api->custom, &r->req);
    request_info_read(a, r->http, &r->req, &r->info);
    return true;
}
