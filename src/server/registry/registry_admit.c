/* The way of an object through admission: what the plugins of src/admission are told of a call, and
 * what upstream does beside its plugins. */
#include "admission/admission.h"
#include "api/text_set.h"
#include "base/json.h"
#include "server/audit/audit_event.h"
#include "server/custom/custom.h"
#include "api/errors.h"
#include "server/object/stored.h"
#include "server/registry/escalation.h"
#include "server/guard/guard.h"
#include "server/registry/registry_internal.h"
#include "base/banned.h"

bool registry__is(const struct call *c, struct str group, struct str plural)
{
    return str_eq(c->stored->plural, plural) && str_eq(c->stored->group, group);
}

/* ---- What plugins may ask ---- */

static int read_one(void *arg, struct str group, struct str plural, struct str ns, struct str name,
                    struct value *ret, struct err *err)
{
    struct registry_entry e;
    int r = registry__read_other(arg, group, plural, ns, name, &e, err);
    if (r == 1)
        *ret = e.obj;
    return r;
}

static int read_each(void *arg, struct str group, struct str plural, struct str mark,
                     admission_take *take, void *to, struct err *err)
{
    struct call *c = arg;
    const struct kind_resource *resource = kind_stored_named(group, plural);
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, stored_key(c->arena, resource, STR(""), STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        struct value obj;
        if (!memmem(e.value.p, e.value.n, mark.p, mark.n))
            continue;
        r = stored_read(c->arena, resource->type, &e, &obj, err);
        if (r < 0)
            break;
        r = take(to, &obj);
        if (r < 0)
            break;
    }
    store_snap_end(snap);
    return r < 0 ? r : 0;
}

static bool ask_guard(void *arg, const struct access *q)
{
    struct call *c = arg;
    struct str reason;
    return !c->api->guard || guard_decide(c->api->guard, c->arena, q, &reason);
}

static void annotate(void *arg, struct str key, struct str value)
{
    const struct call *c = arg;
    audit_event_annotate(c->audit, key, value);
}

static struct admission_request request_of(struct call *c, enum admission_operation operation,
                                           struct str sub, struct str name,
                                           const struct value *old_obj)
{
    static const struct admission_cluster cluster = { .read = read_one,
                                                      .each = read_each,
                                                      .allows = ask_guard },
                                          audited = { .read = read_one,
                                                      .each = read_each,
                                                      .allows = ask_guard,
                                                      .annotate = annotate };
    return (struct admission_request){
        .arena = c->arena,
        .resource = c->req.resource,
        .stored = c->stored,
        .operation = operation,
        .ns = c->req.ns,
        .name = name,
        .sub = sub,
        .user = c->user,
        .old_obj = old_obj,
        .cluster = c->audit ? &audited : &cluster,
        .arg = c,
        .choice = c->api->admission,
    };
}

static struct admission_request write_of(struct call *c, struct str sub, const struct value *obj,
                                         const struct value *old_obj)
{
    return request_of(c, old_obj ? ADMISSION_UPDATE : ADMISSION_CREATE, sub,
                      value_str(value_dig(old_obj ? old_obj : obj, "metadata", "name")), old_obj);
}

/* ---- Owners: each is named once ---- */

static void warn_of_owners(struct call *c, struct str uids)
{
    bool is_patch = c->verb == KIND_PATCH; /* upstream warns of a patch at a later moment */
    call_warn(c, arena_printf(
                     c->arena,
                     ".metadata.ownerReferences contains duplicate entries%s; API server "
                     "dedups owner references in 1.20+, and may reject such requests as "
                     "early as 1.24; please fix your requests; duplicate UID(s) observed: " STR_FMT,
                     is_patch ? " after mutating admission happens" : "", STR_ARG(uids)));
}

static void unite_owners(struct call *c, struct value *obj)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    const struct value *owners = value_get(meta, STR("ownerReferences"));
    struct value kept = value_array();
    autobuf text = { 0 }, uids = { 0 };
    autoset seen;
    text_set_init(&seen);
    if (!value_is(owners, VALUE_ARRAY) || owners->n < 2)
        return;
    value_each_item (it, owners) {
        buf_reset(&text);
        json_write(&text, it);
        if (!text_set_has(&seen, buf_str(&text))) {
            (void)text_set_add(&seen, arena_str(c->arena, buf_str(&text)), it);
            value_put_item(c->arena, &kept, value_borrow(it));
        } else {
            buf_printf(&uids, "%s" STR_FMT, uids.n ? ", " : "", STR_ARG(value_text(it, "uid")));
        }
    }
    if (kept.n == owners->n)
        return;
    warn_of_owners(c, buf_str(&uids));
    value_put(c->arena, meta, STR("ownerReferences"), kept);
}

/* ---- All of it ---- */

bool registry__is_admitted(const struct call *c, struct str sub)
{
    return !sub.n || (c->req.sub && str_eq(c->req.sub->name, sub));
}

int registry__admit(struct call *c, struct str sub, struct value *obj, const struct value *old_obj,
                    struct err *err)
{
    struct admission_request req = write_of(c, sub, obj, old_obj);
    const struct custom_version *v = custom_version_of(c->stored);
    if (sub.n)
        return admission_mutate(&req, obj, err);
    unite_owners(c, obj);
    if (!old_obj && v && v->of->terminating)
        return error_forbidden(
            err, c->req.resource, value_str(value_dig(obj, "metadata", "name")),
            STR("create not allowed while custom resource definition is terminating"));
    int r = admission_mutate(&req, obj, err);
    return r < 0 ? r : escalation_check(c, obj, old_obj, err);
}

int registry_admit_posted(struct call *c, struct value *obj, struct err *err)
{
    struct admission_request req =
        request_of(c, ADMISSION_CREATE, c->req.sub ? c->req.sub->name : STR(""), c->req.name, NULL);
    return admission_mutate(&req, obj, err);
}

int registry__admit_delete(struct call *c, struct str name, const struct value *obj,
                           struct err *err)
{
    if (c->req.sub) /* the pod of an eviction, which was admitted as such */
        return 0;
    struct admission_request req = request_of(c, ADMISSION_DELETE, STR(""), name, obj);
    int r = admission_mutate(&req, NULL, err);
    return r < 0 ? r : admission_validate(&req, NULL, err);
}

/* Who creates an object by an update or a patch must be allowed to create it, too. */
static int check_may_create(struct call *c, struct str name, struct err *err)
{
    const struct access q = { .user = c->user,
                              .is_resource = true,
                              .verb = STR("create"),
                              .group = c->req.resource->group,
                              .version = c->req.resource->version,
                              .resource = c->req.resource->plural,
                              .ns = c->req.ns,
                              .name = name };
    struct str reason, why;
    if (!c->user || !c->api->guard || c->verb == KIND_CREATE ||
        guard_decide(c->api->guard, c->arena, &q, &reason))
        return 0;
    why = access_refusal(c->arena, &q);
    if (reason.n)
        why = arena_printf(c->arena, STR_FMT ": " STR_FMT, STR_ARG(why), STR_ARG(reason));
    return error_forbidden(err, c->req.resource, name, why);
}

int registry__admit_check(struct call *c, struct str sub, const struct value *obj,
                          const struct value *old_obj, struct err *err)
{
    int r = old_obj ? 0 : check_may_create(c, value_str(value_dig(obj, "metadata", "name")), err);
    if (r < 0)
        return r;
    struct admission_request req = write_of(c, sub, obj, old_obj);
    return admission_validate(&req, obj, err);
}
