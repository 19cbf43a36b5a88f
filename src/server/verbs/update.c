/* PUT of an object, of its status, and of other parts that have a path of their own. */
#include "admission/xray.h"
#include "api/defaults/defaults.h"
#include "api/errors.h"
#include "server/registry/hub.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "server/object/stored.h"
#include "server/registry/strategy.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

int verb_update_check_name(struct call *c, const struct value *obj, struct err *err)
{
    struct str name = value_str(value_dig(obj, "metadata", "name")),
               ns = value_str(value_dig(obj, "metadata", "namespace"));
    if (!name.n)
        return err_set(err, ERR_BAD_REQUEST,
                       "the name of the object (" STR_FMT
                       " based on URL) was undeterminable: name must be provided",
                       STR_ARG(c->req.name));
    if (!str_eq(name, c->req.name))
        return err_set(err, ERR_BAD_REQUEST,
                       "the name of the object (" STR_FMT
                       ") does not match the name on the URL (" STR_FMT ")",
                       STR_ARG(name), STR_ARG(c->req.name));
    if (c->stored->namespaced && ns.n && !str_eq(ns, c->req.ns))
        return err_set(err, ERR_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on "
                       "the request");
    return 0;
}

struct put {
    struct call *call;
    const struct managed_request *managers;
    struct value obj; /* as sent */
};

/* Convert, own the fields. */
static int take_sent(struct put *put, const struct registry_entry *now, struct value *ret,
                     struct err *err)
{
    int r = hub_take(put->call, &put->obj, now ? &now->obj : NULL, ret, err);
    return r < 0 ? r : managers_own(put->call, put->managers, now, &put->obj, ret, err);
}

static int take_all(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                    struct err *err)
{
    return take_sent(u->arg, now, ret, err);
}

static bool is_sub(const struct call *c, const char *name)
{
    return c->req.sub && str_eq(c->req.sub->name, str_of(name));
}

/* Only spec.finalizers, and those of the metadata. */
static int take_finalizers(struct registry_update *u, const struct registry_entry *now,
                           struct value *ret, struct err *err)
{
    struct put *put = u->arg;
    struct arena *a = put->call->arena;
    const struct value *finalizers = value_dig(&put->obj, "spec", "finalizers"),
                       *status = value_get(&now->obj, STR("status"));
    int r = take_all(u, now, ret, err);
    if (r < 0)
        return r;
    struct value *spec = value_set(a, ret, STR("spec"), value_object());
    if (finalizers)
        value_put(a, spec, STR("finalizers"), value_borrow(finalizers));
    if (status)
        value_put(a, ret, STR("status"), value_borrow(status));
    return 0;
}

/* A custom object of the wrong kind is invalid, but only if there is one to be replaced. */
static int prefer_not_found(struct call *c, int r, struct err *err)
{
    struct registry_entry ignored;
    struct err none = ERR_INIT(c->arena);
    if (r != -ERR_INVALID || !c->req.resource->type->custom ||
        registry_get(c, c->req.name, &ignored, &none) != -ERR_NOT_FOUND)
        return r;
    *err = none;
    return -ERR_NOT_FOUND;
}

/* 200, 201 if it was not there, or an error. */
static int update(struct call *c, struct value *ret, struct err *err)
{
    struct write_options options;
    struct put put = { .call = c };
    xray_stage(c->xray, "decode", STR("body"), NULL);
    int r = options_read(c, "UpdateOptions", &options, err);
    if (r < 0)
        return r;
    r = prefer_not_found(
        c, decode_body(c, c->req.resource->type, options.validation, &put.obj, err), err);
    if (r < 0)
        return r;
    r = verb_update_check_name(c, &put.obj, err);
    if (r < 0)
        return r;
    xray_stage(c->xray, "defaults", c->req.resource->type->name, &put.obj);
    defaults_apply(c->arena, c->req.resource->type, &put.obj);
    put.managers = managers_request(c, &options, c->req.resource->type);
    struct registry_update u = {
        .change = is_sub(c, "finalize") ? take_finalizers : take_all,
        .arg = &put,
        .sub = c->req.sub ? c->req.sub->name : STR(""),
        .dry_run = options.dry_run,
    };
    r = registry_update(c, c->req.name, &u, ret, err);
    if (r != -ERR_NOT_FOUND || c->req.sub || !(strategy_flags(c->stored) & STRATEGY_UPSERT))
        return r < 0 ? r : 200;
    err_clear(err);
    struct str uid = value_str(value_dig(&put.obj, "metadata", "uid"));
    if (uid.n)
        return error_other_uid(err, c->req.resource, c->req.name,
                               stored_key(c->arena, c->stored, c->req.ns, c->req.name), uid,
                               STR(""));
    r = take_sent(&put, NULL, ret, err);
    if (r < 0)
        return r;
    value_drop(c->arena, value_ensure(c->arena, ret, STR("metadata")), STR("resourceVersion"));
    r = registry_create(c, options.dry_run, ret, err);
    return r < 0 ? r : 201;
}

void verb_update(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj;
    int status = update(c, &obj, &err);
    if (status < 0)
        call_fail(c, &err);
    else
        call_object(c, status, c->stored->type, &obj);
}
