/* POST to a collection. */
#include "admission/xray.h"
#include "api/defaults/defaults.h"
#include "api/validate/initializers.h"
#include "server/registry/hub.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "server/verbs/verbs.h"
#include "server/watch/awaited.h"
#include "base/banned.h"

/* Fields that the server sets have no manager. */
static void wipe(struct call *c, struct value *obj)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    value_drop(c->arena, meta, STR("deletionTimestamp"));
    value_drop(c->arena, meta, STR("deletionGracePeriodSeconds"));
}

/* Decode, default, convert, own the fields; the registry then admits, validates and stores. */
static int create(struct call *c, struct value *ret, struct err *err)
{
    const struct kind_type *type = c->req.resource->type;
    struct write_options options;
    struct value sent;
    xray_stage(c->xray, "decode", STR("body"), NULL);
    int r = options_read(c, "CreateOptions", &options, err);
    if (r < 0)
        return r;
    r = decode_body(c, type, options.validation, &sent, err);
    if (r < 0)
        return r;
    wipe(c, &sent);
    xray_stage(c->xray, "defaults", type->name, &sent);
    defaults_apply(c->arena, type, &sent);
    r = hub_take(c, &sent, NULL, ret, err);
    if (r < 0)
        return r;
    r = managers_own(c, managers_request(c, &options, type), NULL, &sent, ret, err);
    if (r < 0)
        return r;
    return registry_create(c, options.dry_run, ret, err);
}

void verb_create(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj;
    if (create(c, &obj, &err) < 0)
        call_fail(c, &err);
    else if (!initializers_of(&obj))
        call_object(c, 201, c->stored->type, &obj);
    else if (request_flag(&c->req, STR("includeUninitialized")))
        call_object(c, 202, c->stored->type, &obj);
    else
        awaited_begin(c, &obj);
}
