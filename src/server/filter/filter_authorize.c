/* filter_authorize.c - whether that is allowed. */
#include "api/errors.h"
#include "server/audit/audit_event.h"
#include "server/filter/filter.h"
#include "server/guard/guard.h"
#include "server/http/reply.h"
#include "base/banned.h"

struct access filter_access(const struct filter_request *r)
{
    const struct request_info *info = &r->info;
    return (struct access){
        .user = r->user,
        .verb = info->verb,
        .is_resource = info->is_resource,
        .group = info->group,
        .version = info->version,
        .resource = info->resource,
        .sub = info->sub,
        .ns = info->ns,
        .name = info->name,
        .path = info->path,
        .fields = info->fields,
    };
}

static void note(const struct filter_request *r, const char *decision, struct str reason)
{
    audit_event_annotate(r->audit, STR("authorization.k8s.io/decision"), str_of(decision));
    audit_event_annotate(r->audit, STR("authorization.k8s.io/reason"), reason);
}

static void refuse(const struct filter_request *r, const struct access *q)
{
    struct arena *a = http_arena(r->x);
    struct err err = ERR_INIT(a);
    struct str why = access_refusal(a, q), reason = guard_reason(r->api->guard, a, q);
    note(r, "forbid", reason);
    if (reason.n)
        why = arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(why), STR_ARG(reason));
    const struct kind_resource asked = { .group = q->group, .plural = q->resource };
    if (q->is_resource)
        (void)error_forbidden(&err, &asked, q->name, why);
    else
        (void)err_set(&err, ERR_FORBIDDEN, "forbidden: " STR_FMT, STR_ARG(why));
    reply_error(r->x, &err);
}

bool filter_authorize(struct filter_request *r)
{
    const struct access q = filter_access(r);
    if (!guard_allows(r->api->guard, &q)) {
        refuse(r, &q);
        return false;
    }
    if (r->audit)
        note(r, "allow", guard_reason(r->api->guard, http_arena(r->x), &q));
    if (r->place == REQUEST_FOUND && !request_info_fits(&r->info, &r->req))
        r->place = REQUEST_NO_RESOURCE; /* what was allowed is not what would be served */
    return true;
}
