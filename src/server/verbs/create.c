/* POST to a collection. */
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

/* What the server decides is nobody's; what else it decides no manager ever owns. */
static void wipe(struct call *c, struct value *obj)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    (void)value_remove(c->arena, meta, STR("deletionTimestamp"));
    (void)value_remove(c->arena, meta, STR("deletionGracePeriodSeconds"));
}

static int create(struct call *c, struct value *ret, struct err *err)
{
    struct write_options options;
    struct value body;
    int r = options_read(c, "CreateOptions", &options, err);
    if (r == 0)
        r = decode_body(c, c->req.resource->type, options.validation, &body, err);
    if (r < 0)
        return r;
    wipe(c, &body);
    r = managers_store(c, managers_request(c, &options, c->req.resource->type), NULL, &body, ret,
                       err);
    if (r == 0)
        r = registry_create(c, options.dry_run, ret, err);
    return r;
}

void verb_create(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj;
    if (create(c, &obj, &err) < 0)
        call_fail(c, &err);
    else
        call_object(c, 201, c->stored->type, &obj);
}
