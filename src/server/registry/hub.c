#include "server/registry/hub.h"

#include "admission/xray.h"
#include "api/convert/convert.h"
#include "base/banned.h"

/* Where there are no initializers nobody may leave a list of them. */
static void drop_initializers(struct call *c, struct value *obj)
{
    if (!c->api->uninitialized && value_dig(obj, "metadata", "initializers"))
        value_drop(c->arena, value_edit(c->arena, obj, STR("metadata")), STR("initializers"));
}

int hub_take(struct call *c, struct value *obj, const struct value *live, struct value *ret,
             struct err *err)
{
    drop_initializers(c, obj);
    const struct kind_type *sent = c->req.resource->type, *hub = c->stored->type;
    if (c->xray)
        xray_stage(c->xray, "conversion",
                   arena_printf(c->arena, STR_FMT " to " STR_FMT,
                                STR_ARG(convert_api_version(c->arena, sent)),
                                STR_ARG(convert_api_version(c->arena, hub))),
                   obj);
    return convert_take(c->arena, sent, hub, obj, live, ret, err);
}

int hub_show(struct call *c, const struct value *obj, struct value *ret, struct err *err)
{
    struct value stored = value_borrow(obj);
    return convert_object(c->arena, c->stored->type, c->req.resource->type, &stored, ret, err);
}
