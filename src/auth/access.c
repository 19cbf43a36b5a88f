#include "auth/access.h"

#include "api/go/quote.h"
#include "base/banned.h"

static void add_resource(struct buf *out, const struct access *q)
{
    buf_str_add(out, STR(" resource "));
    autobuf resource = { 0 };
    buf_str_add(&resource, q->resource);
    if (q->sub.n) {
        buf_byte(&resource, '/');
        buf_str_add(&resource, q->sub);
    }
    quote_go(out, buf_str(&resource));
    buf_str_add(out, STR(" in API group "));
    quote_go(out, q->group);
    if (!q->ns.n) {
        buf_str_add(out, STR(" at the cluster scope"));
        return;
    }
    buf_str_add(out, STR(" in the namespace "));
    quote_go(out, q->ns);
}

struct str access_refusal(struct arena *a, const struct access *q)
{
    autobuf out = { 0 };
    buf_str_add(&out, STR("User "));
    quote_go(&out, q->user->name);
    buf_str_add(&out, STR(" cannot "));
    buf_str_add(&out, q->verb);
    if (q->is_resource) {
        add_resource(&out, q);
    } else {
        buf_str_add(&out, STR(" path "));
        quote_go(&out, q->path);
    }
    return arena_str(a, buf_str(&out));
}
