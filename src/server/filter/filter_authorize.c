/* filter_authorize.c - whether that is allowed. */
#include "api/errors.h"
#include "api/go/quote.h"
#include "base/buf.h"
#include "base/log.h"
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
        .labels = info->labels,
    };
}

static void note(const struct filter_request *r, const char *decision, struct str reason)
{
    audit_event_annotate(r->audit, STR("authorization.k8s.io/decision"), str_of(decision));
    audit_event_annotate(r->audit, STR("authorization.k8s.io/reason"), reason);
}

static void refuse(const struct filter_request *r, const struct access *q, struct str reason)
{
    struct arena *a = http_arena(r->x);
    struct err err = ERR_INIT(a);
    struct str why = access_refusal(a, q);
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

/* So that nothing in it looks like HTML. */
static void add_plain(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '&' || c == '<' || c == '>')
            buf_str_add(out, c == '&' ? STR("&amp;") : c == '<' ? STR("&lt;") : STR("&gt;"));
        else
            buf_byte(out, c);
    }
}

/* As upstream answers when nobody allowed it and somebody could not be asked. */
static void fail(const struct filter_request *r, struct str error)
{
    struct arena *a = http_arena(r->x);
    struct str query = r->http->query;
    autobuf uri = { 0 }, text = { 0 };
    quote_go(&uri, arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(r->http->path), query.n ? "?" : "",
                                STR_ARG(query)));
    buf_str_add(&text, STR("Internal Server Error: "));
    add_plain(&text, buf_str(&uri));
    buf_str_add(&text, STR(": "));
    add_plain(&text, error);
    buf_byte(&text, '\n');
    audit_event_annotate(r->audit, STR("authorization.k8s.io/reason"), STR("internal error"));
    log_debug("a request could not be authorized", LOG_STR("error", error));
    reply_text(r->x, 500, arena_str(a, buf_str(&text)));
}

static bool obey(struct filter_request *r, const struct guard_decision *d)
{
    if (d->opinion != ACCESS_ALLOWED) {
        const struct access q = filter_access(r);
        if (d->error.n)
            fail(r, d->error);
        else
            refuse(r, &q, d->reason);
        return false;
    }
    note(r, "allow", d->reason);
    if (r->place == REQUEST_FOUND && !request_info_fits(&r->info, &r->req))
        r->place = REQUEST_NO_RESOURCE; /* what was allowed is not what would be served */
    return true;
}

static void obey_later(struct filter_request *r, const struct guard_decision *d)
{
    if (obey(r, d))
        filter_resume(r);
}

bool filter_authorize(struct filter_request *r)
{
    const struct access q = filter_access(r);
    struct guard_decision decision = { .opinion = ACCESS_ALLOWED };
    bool is_clear = !r->audit && guard_allows(r->api->guard, &q);
    if (!is_clear && !filter_ask(r, &q, obey_later, &decision))
        return false;
    return obey(r, &decision);
}
