#include "server/bootstrap_object.h"

#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "server/registry/managers.h"
#include "base/banned.h"

struct call bootstrap_call(struct api *api, struct arena *a, struct str group, struct str resource,
                           struct str ns)
{
    struct call c = { .api = api, .arena = a };
    c.req.resource = c.stored = kind_stored_named(group, resource);
    c.req.ns = ns;
    return c;
}

int bootstrap_object_make(struct call *c, struct str name, struct value *obj,
                          struct registry_entry *ret_there, struct err *err)
{
    struct value typed;
    int r = typed_read(c->arena, c->stored->type, obj, NULL, &typed, err);
    if (r < 0)
        return r;
    *obj = typed;
    r = registry_find(c, name, ret_there, err);
    if (r != 0)
        return r;
    defaults_apply(c->arena, c->stored->type, obj);
    managers_update(c, managers_own_request(c, STR("")), NULL, obj);
    return registry_create(c, false, obj, err);
}
