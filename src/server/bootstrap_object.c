#include "server/bootstrap_object.h"

#include "api/meta.h"
#include "api/typed.h"
#include "base/buf.h"
#include "server/object/stored.h"
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

int bootstrap_find(struct call *c, struct str name, struct value *obj,
                   struct registry_entry *ret_there, struct err *err)
{
    struct value typed;
    int r = typed_read(c->arena, c->stored->type, obj, NULL, &typed, err);
    if (r < 0)
        return r;
    *obj = typed;
    return registry_find(c, name, ret_there, err);
}

int bootstrap_write(struct bootstrap_batch *b, struct api *api, struct err *err)
{
    struct store_txn txn = { .ops = b->ops, .n_ops = b->n };
    b->n = 0;
    return txn.n_ops ? store_commit(api->store, &txn, err) : 0;
}

int bootstrap_add(struct bootstrap_batch *b, struct call *c, struct str name, struct value *obj,
                  struct err *err)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    value_put(c->arena, meta, STR("uid"), value_string(meta_new_uid(c->arena)));
    value_put(c->arena, meta, STR("creationTimestamp"), value_string(registry_now(c)));
    managers_update(c, managers_own_request(c, STR("")), NULL, obj);
    int r = registry_settle(c, obj, err);
    if (r < 0)
        return r;
    autobuf bytes = { 0 };
    stored_write(&bytes, c->stored, obj);
    if (b->n == LIMIT_STORE_TXN_OPS) {
        r = bootstrap_write(b, c->api, err);
        if (r < 0)
            return r;
    }
    b->ops[b->n++] = (struct store_op){ .type = STORE_PUT,
                                        .key = stored_key(c->arena, c->stored, c->req.ns, name),
                                        .value = arena_str(c->arena, buf_str(&bytes)),
                                        .expect_rev = STORE_ABSENT };
    return 0;
}
