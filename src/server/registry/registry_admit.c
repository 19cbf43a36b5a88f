/* The way of an object through admission: what the plugins of src/admission are told of a call, and
 * what upstream does beside its plugins. */
#include "admission/admission.h"
#include "admission/webhook/hook.h"
#include "api/defaults/defaults.h"
#include "api/go/goduration.h"
#include "api/text_set.h"
#include "base/json.h"
#include "merge/managed.h"
#include "server/audit/audit_event.h"
#include "server/custom/custom.h"
#include "server/custom/custom_webhook.h"
#include "api/errors.h"
#include "server/object/stored.h"
#include "server/registry/escalation.h"
#include "server/guard/guard.h"
#include "server/registry/managers.h"
#include "server/registry/quota_charge.h"
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

/* Built-in kinds by their tables, custom ones by their definition. */
static const struct kind_resource *version(void *arg, const struct kind_resource *stored, size_t i)
{
    const struct call *c = arg;
    const struct custom_version *custom = custom_version_of(stored);
    for (size_t k = 0; custom && k < custom->of->n_versions; k++)
        if (custom->of->versions[k].served && i-- == 0)
            return &custom->of->versions[k].resource;
    for (size_t k = 0; !custom && k < n_kind_versions; k++) {
        const struct kind_resource *r = kind_version_is(&kind_versions[k], c->api->versions)
                                            ? kind_resource_find(&kind_versions[k], stored->plural)
                                            : NULL;
        if (r && kind_stored(r) == stored && i-- == 0)
            return r;
    }
    return NULL;
}

static int count_in(void *arg, struct str group, struct str plural, struct str ns, uint64_t *ret,
                    struct err *err)
{
    struct call *c = arg;
    struct store_snap *snap;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = store_count(snap, stored_key(c->arena, kind_stored_named(group, plural), ns, STR("")),
                    STR(""), ret, err);
    store_snap_end(snap);
    return r;
}

int registry_each_in(struct call *c, struct str group, struct str plural, struct str ns,
                     admission_take *take, void *to, struct err *err)
{
    const struct kind_resource *resource = kind_stored_named(group, plural);
    struct store_snap *snap;
    struct store_entry e;
    struct arena one;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    arena_init(&one);
    store_range_begin(snap, stored_key(c->arena, resource, ns, STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        struct value obj;
        arena_reset(&one);
        r = stored_read(&one, resource->type, &e, &obj, err);
        if (r < 0)
            break;
        r = take(to, &obj);
        if (r < 0)
            break;
    }
    store_snap_end(snap);
    arena_done(&one);
    return r < 0 ? r : 0;
}

static int read_each_in(void *arg, struct str group, struct str plural, struct str ns,
                        admission_take *take, void *to, struct err *err)
{
    return registry_each_in(arg, group, plural, ns, take, to, err);
}

static bool ask_guard_why(void *arg, const struct access *q, struct str *ret_reason)
{
    struct call *c = arg;
    *ret_reason = STR("");
    return !c->api->guard || guard_decide(c->api->guard, c->arena, q, ret_reason);
}

static int convert(void *arg, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err)
{
    const struct call *c = arg;
    return custom_webhook_convert_bare(c->arena, from, to, in, ret, err);
}

static bool ask_guard(void *arg, const struct access *q)
{
    struct str reason;
    return ask_guard_why(arg, q, &reason);
}

static void annotate(void *arg, struct str key, struct str value)
{
    call_annotate(arg, key, value);
}

static void annotate_request(void *arg, struct str key, struct str value)
{
    struct call *c = arg;
    if (audit_event_wants_object(c->audit))
        call_annotate(c, key, value);
}

static void warn(void *arg, struct str text)
{
    call_warn(arg, text);
}

static int make_namespace(void *arg, struct str name, struct err *err)
{
    struct call *c = arg;
    struct call own = { .api = c->api, .arena = c->arena, .is_step = true };
    struct value obj = value_object();
    own.req.resource = own.stored = kind_stored_named(STR(""), STR("namespaces"));
    value_put(c->arena, value_ensure(c->arena, &obj, STR("metadata")), STR("name"),
              value_string(name));
    defaults_apply(c->arena, own.stored->type, &obj);
    managers_update(&own, managers_own_request(&own, STR("")), NULL, &obj);
    c->ns_is = ADMISSION_NAMESPACE_UNREAD;
    int r = registry_create(&own, false, &obj, err);
    if (r != -ERR_EXISTS)
        return r;
    err_clear(err);
    return 0;
}

/* Which of the two a write turned out to be decides what its options are called. */
static const struct value *tell_options(struct call *c, enum admission_operation operation)
{
    struct value *ret = arena_new(c->arena, struct value);
    *ret = options_tell(c, operation == ADMISSION_UPDATE ? "UpdateOptions" : "CreateOptions");
    return ret;
}

/* That the client has given it; dispatch.c has found it good. */
static int64_t timeout_of(const struct call *c)
{
    struct str text = request_param(&c->req, STR("timeout"));
    int64_t ns;
    return text.n && goduration_parse(text, &ns, NULL) == 0 && ns > 0 ? ns / NS_PER_MS : 0;
}

static const struct admission_cluster cluster = {
    .read = read_one,
    .each = read_each,
    .version = version,
    .convert = convert,
    .each_in = read_each_in,
    .count_in = count_in,
    .each_quota = quota_charge_each,
    .find_kind = registry__find_kind,
    .each_of_kind = registry__each_of_kind,
    .allows = ask_guard,
    .decides = ask_guard_why,
    .annotate = annotate,
    .annotate_request = annotate_request,
    .warn = warn,
    .make_namespace = make_namespace,
};

int registry_find_service(struct call *c, struct str ns, struct str name, int64_t port,
                          struct str *ret, struct err *err)
{
    const struct hook_services services = { &cluster, c };
    return hook_find_service(c->arena, &services, ns, name, port, ret, err);
}

static struct admission_request request_of(struct call *c, enum admission_operation operation,
                                           struct str sub, struct str name,
                                           const struct value *old_obj)
{
    return (struct admission_request){
        .arena = c->arena,
        .resource = c->req.resource,
        .stored = c->stored,
        .operation = operation,
        .ns = c->req.ns,
        .ns_is = c->ns_is,
        .name = name,
        .sub = sub,
        .user = c->user,
        .old_obj = old_obj,
        .timeout_ms = timeout_of(c),
        .dry_run = request_param(&c->req, STR("dryRun")).n > 0,
        .cluster = &cluster,
        .arg = c,
        .choice = c->api->admission,
        .memory = c->api->admission_memory,
        .config = c->api->admission_config,
        .clock = c->api->clock,
        .xray = c->xray,
    };
}

static struct admission_request write_of(struct call *c, struct str sub, const struct value *obj,
                                         const struct value *old_obj)
{
    enum admission_operation operation = old_obj ? ADMISSION_UPDATE : ADMISSION_CREATE;
    struct str name = value_str(value_dig(old_obj ? old_obj : obj, "metadata", "name"));
    bool is_asked = !old_obj && c->asked_name.n; /* a request does not change with its object */
    struct admission_request req =
        request_of(c, operation, sub, is_asked ? c->asked_name : name, old_obj);
    req.options = tell_options(c, operation);
    return req;
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

/* ---- Changing ---- */

/* Managers that a plugin, or whoever it asks, has made nonsense of are put back. */
static void keep_managers(struct call *c, const struct value *before, struct value *obj)
{
    const struct value *after = value_dig(obj, "metadata", "managedFields");
    struct err why = ERR_INIT(c->arena);
    if (!after || (before && value_is_twin(before, after)) ||
        managed_check_fields(c->arena, after, &why) == 0)
        return;
    struct value *meta = value_edit(c->arena, obj, STR("metadata"));
    if (before)
        value_put(c->arena, meta, STR("managedFields"), value_borrow(before));
    else
        value_drop(c->arena, meta, STR("managedFields"));
    call_warn(c, arena_printf(c->arena,
                              ".metadata.managedFields was in an invalid state after admission; "
                              "this could be caused by an outdated mutating admission controller; "
                              "please fix your requests: " STR_FMT,
                              STR_ARG(why.msg)));
}

static int mutate(struct call *c, struct admission_request *req, struct value *obj, struct err *err)
{
    const struct value *managers = value_dig(obj, "metadata", "managedFields");
    struct value before = managers ? value_borrow(managers) : value_null();
    int r = admission_mutate(req, obj, err);
    if (r < 0)
        return r;
    keep_managers(c, managers ? &before : NULL, obj);
    return 0;
}

/* ---- All of it ---- */

bool registry__is_admitted(const struct call *c, struct str sub)
{
    return str_eq(sub, c->req.sub ? c->req.sub->name : STR(""));
}

int registry__admit(struct call *c, struct str sub, struct value *obj, const struct value *old_obj,
                    struct err *err)
{
    struct admission_request req = write_of(c, sub, obj, old_obj);
    const struct custom_version *v = custom_version_of(c->stored);
    if (sub.n)
        return mutate(c, &req, obj, err);
    unite_owners(c, obj);
    if (!old_obj && v && v->of->terminating)
        return error_forbidden(
            err, c->req.resource, value_str(value_dig(obj, "metadata", "name")),
            STR("create not allowed while custom resource definition is terminating"));
    int r = mutate(c, &req, obj, err);
    return r < 0 ? r : escalation_check(c, obj, old_obj, err);
}

static struct str asked_sub(const struct call *c)
{
    return c->req.sub ? c->req.sub->name : STR("");
}

static struct admission_request post_of(struct call *c, const struct kind_type *type,
                                        const struct value *obj)
{
    struct str name = c->req.name.p ? c->req.name : value_str(value_dig(obj, "metadata", "name"));
    struct admission_request req = request_of(c, ADMISSION_CREATE, asked_sub(c), name, NULL);
    req.type = type;
    req.options = tell_options(c, ADMISSION_CREATE);
    return req;
}

int registry_admit_posted(struct call *c, const struct kind_type *type, struct value *obj,
                          struct err *err)
{
    struct admission_request req = post_of(c, type, obj);
    return mutate(c, &req, obj, err);
}

int registry_admit_posted_check(struct call *c, const struct kind_type *type,
                                const struct value *obj, struct err *err)
{
    struct admission_request req = post_of(c, type, obj);
    return admission_validate(&req, obj, err);
}

static struct admission_request part_of(struct call *c, const struct value *old_obj)
{
    struct admission_request req =
        request_of(c, ADMISSION_UPDATE, asked_sub(c), c->req.name, old_obj);
    req.type = c->req.sub->type;
    req.options = tell_options(c, ADMISSION_UPDATE);
    return req;
}

int registry_admit_part(struct call *c, struct value *obj, const struct value *old_obj,
                        struct err *err)
{
    struct admission_request req = part_of(c, old_obj);
    return mutate(c, &req, obj, err);
}

int registry_admit_part_check(struct call *c, const struct value *obj, const struct value *old_obj,
                              struct err *err)
{
    struct admission_request req = part_of(c, old_obj);
    return admission_validate(&req, obj, err);
}

int registry_admit_connect(struct call *c, struct value *options, struct err *err)
{
    struct admission_request req =
        request_of(c, ADMISSION_CONNECT, asked_sub(c), c->req.name, NULL);
    req.type = c->req.sub->type;
    req.dry_run = false;
    int r = admission_mutate(&req, options, err);
    return r < 0 ? r : admission_validate(&req, options, err);
}

int registry__admit_delete(struct call *c, const struct delete_options *o, const struct value *obj,
                           struct err *err)
{
    if (c->req.sub) /* the pod of an eviction, which was admitted as such */
        return 0;
    struct value options = options_tell_delete(c, o);
    /* Of a collection nobody has named the object. */
    struct admission_request req = request_of(c, ADMISSION_DELETE, STR(""), c->req.name, obj);
    req.dry_run = o->dry_run;
    req.options = &options;
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
                          const struct value *old_obj, struct registry_extra *extra,
                          struct err *err)
{
    int r = old_obj ? 0 : check_may_create(c, value_str(value_dig(obj, "metadata", "name")), err);
    if (r < 0)
        return r;
    struct admission_request req = write_of(c, sub, obj, old_obj);
    struct admission_charging charging = { 0 };
    req.charging = &charging;
    r = admission_validate(&req, obj, err);
    return r < 0 ? r : quota_charge_add(c, &charging, extra, err);
}

int registry__charge(struct call *c, struct str sub, const struct value *obj,
                     const struct value *old_obj, struct registry_extra *extra, struct err *err)
{
    struct admission_request req = write_of(c, sub, obj, old_obj);
    struct admission_charging charging = { 0 };
    req.charging = &charging;
    extra->n = extra->charges_at;
    int r = admission_charge(&req, obj, err);
    return r < 0 ? r : quota_charge_add(c, &charging, extra, err);
}
