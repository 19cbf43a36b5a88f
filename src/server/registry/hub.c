#include "server/registry/hub.h"

#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "base/banned.h"

int hub_take(struct call *c, struct value *obj, const struct value *live, struct value *ret,
             struct err *err)
{
    const struct kind_type *sent = c->req.resource->type, *hub = c->stored->type;
    int r = convert_object(c->arena, sent, hub, obj, ret, err);
    if (r < 0 || sent == hub)
        return r;
    if (live)
        r = convert_keep(c->arena, sent, live, ret, err);
    if (r < 0)
        return r;
    /* Today's rules ask for what today's defaults fill in. Of a version that is still served
     * upstream, the rules are made for what it can say. */
    const struct kind_version *v = kind_version_find(sent->group, sent->version);
    if (v && v->is_old)
        defaults_apply(c->arena, hub, ret);
    return 0;
}

int hub_show(struct call *c, const struct value *obj, struct value *ret, struct err *err)
{
    struct value stored = value_borrow(obj);
    return convert_object(c->arena, c->stored->type, c->req.resource->type, &stored, ret, err);
}
