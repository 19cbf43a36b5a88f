#include "server/registry/registry.h"

#include <sys/random.h>

#include "admission/memory.h"
#include "admission/xray.h"
#include "expression/expression_check.h"
#include "api/convert/convert.h"
#include "api/field_errors.h"
#include "api/meta.h"
#include "api/names.h"
#include "api/typed.h"
#include "api/validate/initializers.h"
#include "api/validate/validate.h"
#include "server/http/corrupt.h"
#include "api/errors.h"
#include "server/registry/aggregation.h"
#include "server/registry/policy_status.h"
#include "server/registry/quota_charge.h"
#include "server/registry/registry_internal.h"
#include "server/registry/service_claim.h"
#include "server/object/stored.h"
#include "server/registry/strategy.h"
#include "server/core/turns.h"
#include "server/core/uninitialized.h"
#include "base/idiom.h"
#include "base/log.h"
#include "server/apiservice/apiservice.h"
#include "server/audit/audit_event.h"
#include "schema/schema_definition.h"
#include "server/custom/custom.h"
#include "server/custom/custom_definition.h"
#include "server/custom/custom_page.h"
#include "server/flow/flow.h"
#include "server/guard/guard.h"
#include "base/banned.h"

enum { NAME_TRIES = 8, CREATE_TRIES = 100 };

/* ---- Reading ---- */

int registry_find(struct call *c, struct str name, struct registry_entry *ret, struct err *err)
{
    struct store_snap *snap;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    struct store_entry e;
    struct str key = stored_key(c->arena, c->stored, c->req.ns, name);
    r = corrupt_object(c->api->store, key, 0, store_snap_get(snap, key, &e, err), err);
    if (r == 1) {
        e.key = key;
        e.value = ret->bytes = arena_str(c->arena, e.value);
        ret->rev = e.mod_rev;
        ret->is_stale = e.is_stale;
    }
    store_snap_end(snap); /* before anything that may wait for a webhook */
    if (r <= 0)
        return r;
    r = stored_read(c->arena, c->stored->type, &e, &ret->obj, err);
    if (custom_page_wanted(custom_version_of(c->stored), &e))
        r = corrupt_unconverted(key, e.mod_rev, r, err);
    return r < 0 ? corrupt_object(c->api->store, key, e.mod_rev, r, err) : 1;
}

int registry__read_other(struct call *c, struct str group, struct str plural, struct str ns,
                         struct str name, struct registry_entry *ret, struct err *err)
{
    struct call other = *c;
    other.stored = kind_stored_named(group, plural);
    other.req.ns = ns;
    return registry_find(&other, name, ret, err);
}

int registry_get(struct call *c, struct str name, struct registry_entry *ret, struct err *err)
{
    int r = registry_find(c, name, ret, err);
    return r == 0 ? error_not_found(err, c->req.resource, name) : r < 0 ? r : 0;
}

/* ---- Writing ---- */

int registry__commit(struct call *c, struct store_txn *txn, struct err *err)
{
    int64_t began = clock_mono_ns(c->api->clock);
    int r = store_commit(c->api->store, txn, err);
    audit_event_took(c->audit, AUDIT_LAYER_STORE, clock_mono_ns(c->api->clock) - began);
    return r;
}

uint32_t registry__ttl(const struct call *c)
{
    return registry__is(c, STR(""), STR("events")) ? c->api->event_ttl_s : 0;
}

void registry__extra_add(struct call *c, struct registry_extra *extra, struct store_op op)
{
    enum { KEYS_AT_ONCE = 8 };
    if (extra->n % KEYS_AT_ONCE == 0)
        extra->ops = arena_grow(c->arena, extra->ops, extra->n * sizeof(op),
                                (extra->n + KEYS_AT_ONCE) * sizeof(op), alignof(struct store_op));
    extra->ops[extra->n++] = op;
}

void registry__set_revision(struct arena *a, struct value *obj, uint64_t rev)
{
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    value_drop(a, meta, STR("resourceVersion"));
    if (!rev)
        return;
    struct str text = arena_printf(a, "%llu", (unsigned long long)rev);
    value_put(a, meta, STR("resourceVersion"), value_string(text));
}

/* As the kind's table has it: fields in order, nothing else. What the server filled in comes to
 * stand in its place. */
int registry_settle(struct call *c, struct value *obj, struct err *err)
{
    struct value settled;
    int r = typed_read(c->arena, c->stored->type, obj, NULL, &settled, err);
    if (r < 0)
        return r;
    *obj = settled;
    return 0;
}

int registry__settle_unchecked(struct call *c, struct value *obj, bool *ret_has_empty,
                               struct err *err)
{
    struct value settled;
    int r = typed_read_checked(c->arena, c->stored->type, obj, ret_has_empty, &settled, err);
    if (r < 0)
        return r;
    *obj = settled;
    return 0;
}

struct str registry_now(struct call *c)
{
    char *text = arena_alloc(c->arena, CLOCK_TEXT_BYTES, 1);
    return clock_format(clock_wall_ns(c->api->clock), false, text);
}

static void take_warning(void *arg, struct str text)
{
    call_warn(arg, text);
}

struct strategy registry__strategy(struct call *c)
{
    return (struct strategy){
        .arena = c->arena,
        .resource = c->stored,
        .asked = c->req.resource,
        .user = c->user,
        .now = registry_now(c),
        .warn = take_warning,
        .arg = c,
    };
}

/* ---- The namespace ---- */

/* What there is of the namespace, for the plugins to judge. `ret_check` is the condition that keeps
 * it so until the object is in. */
static int look_at_namespace(struct call *c, struct store_op *ret_check, struct err *err)
{
    static const char mark[] = "\"deletionTimestamp\""; /* without it, it need not be read */
    const struct kind_resource *namespaces = kind_stored_named(STR(""), STR("namespaces"));
    struct store_snap *snap;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    struct store_entry e = { 0 };
    struct value ns;
    struct str key = stored_key(c->arena, namespaces, STR(""), c->req.ns);
    r = store_snap_get(snap, key, &e, err);
    bool may_end = r == 1 && memmem(e.value.p, e.value.n, mark, sizeof(mark) - 1);
    if (may_end && stored_read(c->arena, namespaces->type, &e, &ns, err) < 0)
        r = -(int)err->code;
    *ret_check = (struct store_op){ .type = STORE_CHECK,
                                    .key = key,
                                    .expect_rev = r == 1 ? e.mod_rev : STORE_ABSENT };
    store_snap_end(snap);
    if (r < 0)
        return r;
    bool is_ending = may_end && value_dig(&ns, "metadata", "deletionTimestamp");
    c->ns_is = r == 0      ? ADMISSION_NAMESPACE_ABSENT
               : is_ending ? ADMISSION_NAMESPACE_ENDING
                           : ADMISSION_NAMESPACE_THERE;
    return 0;
}

/* ---- Creating ---- */

static struct str generated_name(struct arena *a, struct str base)
{
    uint64_t random;
    while (getrandom(&random, sizeof(random), 0) != sizeof(random))
        continue;
    return name_generate(a, base, random);
}

static void name_if_unnamed(struct call *c, struct value *meta)
{
    struct str base = value_text(meta, "generateName");
    if (value_text(meta, "name").n)
        return;
    if (base.n)
        value_put(c->arena, meta, STR("name"), value_string(generated_name(c->arena, base)));
    else if (strategy_flags(c->stored) & STRATEGY_MAKES_NAMES)
        value_put(c->arena, meta, STR("name"), value_string(meta_new_uid(c->arena)));
}

int registry__check_scope(struct call *c, struct value *meta, struct err *err)
{
    struct str ns = value_text(meta, "namespace");
    if (!c->stored->namespaced) {
        value_drop(c->arena, meta, STR("namespace"));
    } else if (!ns.n) {
        value_put(c->arena, meta, STR("namespace"), value_string(c->req.ns));
    } else if (!str_eq(ns, c->req.ns)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on "
                       "the request");
    }
    return 0;
}

/* What the server decides of the metadata. */
static int wipe_meta(struct call *c, struct value *obj, struct err *err)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    int r = registry__check_scope(c, meta, err);
    if (r < 0)
        return r;
    static const struct str gone[] = { STR("deletionTimestamp"), STR("deletionGracePeriodSeconds"),
                                       STR("selfLink"), STR("uid"), STR("creationTimestamp") };
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        value_drop(c->arena, meta, gone[i]);
    return 0;
}

/* Whatever a plugin has put there. What else it has put there stays in a POST, as with upstream. */
static int set_meta(struct call *c, struct value *obj, struct err *err)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    int r = c->verb == KIND_CREATE ? registry__check_scope(c, meta, err) : wipe_meta(c, obj, err);
    if (r < 0)
        return r;
    value_put(c->arena, meta, STR("uid"), value_string(meta_new_uid(c->arena)));
    value_put(c->arena, meta, STR("creationTimestamp"), value_string(registry_now(c)));
    return 0;
}

/* What the server decides of the rest. */
static int prepare(struct call *c, bool dry_run, struct value *obj,
                   struct registry_extra *ret_extra, bool *ret_has_empty, struct err *err)
{
    int r =
        service_claim_wanted(c->stored) ? service_claim_create(c, dry_run, obj, ret_extra, err) : 0;
    if (r < 0)
        return r;
    struct strategy strategy = registry__strategy(c);
    strategy_create(&strategy, obj);
    return registry__settle_unchecked(c, obj, ret_has_empty, err);
}

void registry__warn(struct call *c, const struct value *obj, const struct value *old_obj)
{
    struct validate_warnings w = { .arena = c->arena };
    validate_warn(&w, c->req.resource, obj, old_obj);
    if (custom_definition_is(c->stored))
        schema_warn_definition(&w, obj, old_obj);
    for (size_t i = 0; i < w.n; i++)
        call_warn(c, w.texts[i]);
}

struct meta_rules registry__meta_rules(struct call *c)
{
    if (c->stored->type->custom)
        return (struct meta_rules){ NAME_SUBDOMAIN, c->stored->namespaced, false };
    /* Names of events have stricter rules in events.k8s.io/v1. */
    const struct kind_resource *asked = c->req.resource;
    bool is_new = str_eq(asked->group, STR("events.k8s.io")) && str_eq(asked->version, STR("v1"));
    return meta_rules_of(is_new ? asked->group : c->stored->group, c->stored->plural,
                         c->stored->namespaced);
}

static int validate_new(struct call *c, const struct value *obj, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct meta_rules rules = registry__meta_rules(c);
    int r = registry__check_others(c, &e, STR(""), obj, NULL, err);
    if (r < 0)
        return r;
    meta_validate_create(&e, &rules, obj);
    initializers_validate(&e, obj);
    validate_create(&e, c->req.resource, obj);
    if (custom_definition_is(c->stored))
        schema_check_definition(&e, obj, NULL);
    expression_check(&e, c->stored, obj, NULL);
    r = e.first ? 0 : registry__check_rights(c, &e, obj, NULL, err);
    if (r < 0)
        return r;
    r = field_errors_report(&e, c->stored->group, c->stored->type->name,
                            value_str(value_dig(obj, "metadata", "name")), err);
    if (r < 0)
        return r;
    registry__warn(c, obj, NULL);
    return 0;
}

static int check_absent(struct call *c, const struct value *obj, struct err *err)
{
    struct registry_entry there;
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    int r = registry_find(c, name, &there, err);
    if (r <= 0)
        return r;
    bool may_generate = value_str(value_dig(obj, "metadata", "generateName")).n;
    r = may_generate ? error_none_generated(err, c->req.resource, name)
                     : error_exists(err, c->req.resource, name);
    if (value_dig(&there.obj, "metadata", "deletionTimestamp"))
        (void)err_wrap(err, "object is being deleted");
    return r;
}

int registry__bytes(struct call *c, struct value *obj, struct buf *out, struct err *err)
{
    const struct custom_version *v = custom_version_of(c->stored);
    const struct custom_version *storage = v ? custom_storage(v->of) : NULL;
    if (!storage || storage == v) {
        stored_write(out, c->stored, obj);
        return 0;
    }
    struct value kept;
    int r = convert_object(c->arena, &v->type, &storage->type, obj, &kept, err);
    if (r < 0)
        return r;
    stored_write(out, &storage->resource, &kept);
    return convert_object(c->arena, &storage->type, &v->type, &kept, obj, err);
}

/* Who serves what, and whether he can be asked. */
static void follow_apiservices(struct call *c, struct str name)
{
    struct api *api = c->api;
    struct err err = ERR_INIT(c->arena);
    bool is_service = registry__is(c, STR(""), STR("services")) ||
                      registry__is(c, STR("discovery.k8s.io"), STR("endpointslices"));
    if (!api->on_apiservice_changed)
        return;
    if (is_service && apiservices_has_foreign(api->apiservices))
        api->on_service_changed(api, c->req.ns);
    if (custom_definition_is(c->stored))
        api->on_definition_changed(api);
    if (c->stored != apiservices_resource())
        return;
    if (apiservices_refresh(api->apiservices, name, &err) < 0)
        log_error("an APIService could not take effect", LOG_STR("name", name), LOG_ERR(&err));
    api->on_apiservice_changed(api, name);
}

void registry__written(struct call *c, struct str name, bool gone)
{
    const struct custom_version *v = custom_version_of(c->stored);
    struct err err = ERR_INIT(c->arena);
    int r = 0;
    guard_changed(c->api->guard, c->stored, c->req.ns, name);
    admission_forget(c->api->admission_memory, c->stored);
    if (flow_changed(c->api->flow, c->stored) && c->api->on_flow_changed)
        c->api->on_flow_changed(c->api);
    aggregation_follow(c);
    quota_charge_written(c, gone);
    if (!gone)
        policy_status_follow(c, name);
    if (custom_definition_is(c->stored)) {
        r = custom_definition_finish(c->api, name, &err);
    } else if (gone && v) {
        struct custom *now = custom_now(v->of);
        if (now && now->terminating)
            r = custom_definition_finish(c->api, now->name, &err);
        custom_unref(now);
    }
    if (r < 0)
        log_error("a definition could not take effect", LOG_STR("name", name), LOG_ERR(&err));
    follow_apiservices(c, name);
}

/* When a definition is deleted its objects are deleted too. An object that is written after that
 * would stay for ever. So the write has the condition that the definition is still there. Built-in
 * kinds need no condition: `*ret` has no key then. */
static int check_definition(struct call *c, struct str name, struct store_op *ret, struct err *err)
{
    const struct custom_version *v = custom_version_of(c->stored);
    const struct kind_resource *definitions =
        kind_stored_named(STR("apiextensions.k8s.io"), STR("customresourcedefinitions"));
    *ret = (struct store_op){ 0 };
    if (!v)
        return 0;
    int r = 0;
    struct custom *now = custom_now(v->of);
    if (!now)
        r = error_not_found(err, definitions, v->of->name);
    else if (now->terminating)
        r = error_forbidden(
            err, c->req.resource, name,
            STR("create not allowed while custom resource definition is terminating"));
    else
        *ret = (struct store_op){ .type = STORE_CHECK,
                                  .key = stored_key(c->arena, definitions, STR(""), now->name),
                                  .expect_rev = now->rev };
    custom_unref(now);
    return r;
}

/* A create that may have to begin again, because somebody else was faster. */
struct creation {
    struct call *call;
    bool dry_run;
    struct str rev;     /* metadata.resourceVersion, by the client or a plugin; usually empty */
    bool is_generated;  /* the name is ours to choose */
    int n_names;        /* that were taken */
    struct str lost_to; /* the key that somebody else wrote */
    struct turn *turn;
};

/* There is one of that name: 1 if another one can be tried, or if it is gone again. */
static int name_taken(struct creation *n, const struct value *obj, struct err *err)
{
    if (n->is_generated && ++n->n_names < NAME_TRIES)
        return 1;
    int r = check_absent(n->call, obj, err);
    return r == 0 ? 1 : r;
}

/* 0; 1 to begin again; or an error. */
static int put_new(struct creation *n, struct value *obj, const struct store_op *ns_check,
                   struct registry_extra *extra, struct err *err)
{
    enum { OBJECT, MAX = 4 };
    struct call *c = n->call;
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    autobuf bytes = { 0 };
    struct store_op definition;
    int r = check_definition(c, name, &definition, err);
    if (r < 0)
        return r;
    r = registry__bytes(c, obj, &bytes, err);
    if (r < 0)
        return r;
    quota_charge_mark(c, name, false, extra);
    struct store_op *ops = arena_array(c->arena, struct store_op, MAX + extra->n);
    size_t n_ops = 0, definition_at = SIZE_MAX;
    ops[n_ops++] = (struct store_op){
        .type = STORE_PUT,
        .key = stored_key(c->arena, c->stored, c->req.ns, name),
        .value = buf_str(&bytes),
        .expect_rev = STORE_ABSENT,
        .ttl_s = registry__ttl(c),
    };
    if (ns_check->key.n)
        ops[n_ops++] = *ns_check;
    if (definition.key.n) {
        definition_at = n_ops;
        ops[n_ops++] = definition;
    }
    bool is_first = initializers_of(obj) &&
                    uninitialized_add(c->api->uninitialized, c->arena, c->stored, &ops[n_ops]);
    n_ops += is_first;
    for (size_t i = 0; i < extra->n; i++)
        ops[n_ops++] = extra->ops[i];
    struct store_txn txn = { .ops = ops, .n_ops = n_ops };
    r = registry__commit(c, &txn, err);
    if (r < 0 && r != -ERR_CONFLICT)
        return r;
    if (r == 0) {
        if (is_first)
            uninitialized_kept(c->api->uninitialized, c->stored);
        registry__set_revision(c->arena, obj, txn.rev);
        registry__written(c, name, false);
        return registry_settle(c, obj, err);
    }
    err_clear(err);
    n->lost_to = ops[txn.failed_op].key;
    extra->lost_charge = extra->is_charged && txn.failed_op >= n_ops - extra->n + extra->charges_at;
    if (txn.failed_op == OBJECT)
        return name_taken(n, obj, err);
    if (txn.failed_op == definition_at)
        r = custom_kinds_refresh(c->api->custom, custom_version_of(c->stored)->of->name, err);
    else
        r = 0;
    return r < 0 ? r : 1;
}

/* The same; where others were only charged first, the object is charged anew. */
static int put_charged(struct creation *n, struct value *obj, const struct store_op *ns_check,
                       struct registry_extra *extra, struct err *err)
{
    struct call *c = n->call;
    struct turn turn = { .of = c->is_step ? NULL : c->api->turns };
    int r = put_new(n, obj, ns_check, extra, err);
    for (int i = 0; r == 1 && extra->lost_charge && i < CREATE_TRIES; i++) {
        turn_end(n->turn);
        turn_lost(&turn, n->lost_to);
        r = registry__charge(c, STR(""), obj, NULL, extra, err);
        if (r < 0)
            break;
        r = put_new(n, obj, ns_check, extra, err);
    }
    turn_end(&turn);
    return r;
}

/* A dry run accepts a resourceVersion and shows it in the answer. */
static int try_dry(const struct creation *n, struct value *obj, struct err *err)
{
    struct arena *a = n->call->arena;
    int r = check_absent(n->call, obj, err);
    if (r < 0)
        return r;
    if (n->rev.n)
        value_put(a, value_edit(a, obj, STR("metadata")), STR("resourceVersion"),
                  value_string(n->rev));
    return 0;
}

/* Makes the object what will be stored, and looks whether that is allowed. */
static int make_new(struct call *c, bool dry_run, struct value *obj, struct registry_extra *extra,
                    struct err *err)
{
    bool has_empty = false;
    xray_stage(c->xray, "registry", STR("metadata"), obj);
    int r = wipe_meta(c, obj, err);
    if (r < 0)
        return r;
    c->asked_name = value_str(value_dig(obj, "metadata", "name"));
    r = registry__admit(c, STR(""), obj, NULL, err);
    if (r < 0)
        return r;
    xray_stage(c->xray, "registry", STR("strategy"), obj);
    r = set_meta(c, obj, err);
    if (r < 0)
        return r;
    name_if_unnamed(c, value_ensure(c->arena, obj, STR("metadata")));
    r = prepare(c, dry_run, obj, extra, &has_empty, err);
    if (r < 0)
        return r;
    xray_stage(c->xray, "validation", c->stored->type->name, obj);
    r = validate_new(c, obj, err);
    if (r < 0)
        return r;
    r = registry__admit_check(c, STR(""), obj, NULL, extra, err);
    if (r < 0)
        return r;
    return has_empty ? registry_settle(c, obj, err) : 0;
}

/* What plugins may see of a new object, and nobody else. */
static void take_revision(struct creation *n, struct value *obj)
{
    struct arena *a = n->call->arena;
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    if (n->call->verb == KIND_CREATE)
        n->rev = value_text(meta, "resourceVersion");
    value_drop(a, meta, STR("resourceVersion"));
    value_drop(a, meta, STR("selfLink"));
}

/* 0; 1 to begin again; or an error. */
static int try_create(struct creation *n, struct value *obj, struct err *err)
{
    struct call *c = n->call;
    struct store_op ns_check = { 0 };
    struct registry_extra extra = { 0 };
    uint64_t rev = 0;
    int r = 0;
    xray_stage(c->xray, "registry", STR("namespace"), obj);
    if (c->stored->namespaced)
        r = look_at_namespace(c, &ns_check, err);
    if (r < 0)
        return r;
    r = make_new(c, n->dry_run, obj, &extra, err);
    if (r < 0)
        return r;
    take_revision(n, obj);
    if (!n->dry_run && str_to_u64(n->rev, &rev) && rev)
        return err_set(err, ERR_UNKNOWN,
                       "resourceVersion should not be set on objects to be created");
    xray_stage(c->xray, "store", n->dry_run ? STR("dry run") : STR("commit"), obj);
    return n->dry_run ? try_dry(n, obj, err) : put_charged(n, obj, &ns_check, &extra, err);
}

int registry_create(struct call *c, bool dry_run, struct value *obj, struct err *err)
{
    struct value given = value_share(obj);
    struct creation n = {
        .call = c,
        .dry_run = dry_run,
        .rev = value_str(value_dig(obj, "metadata", "resourceVersion")),
        .is_generated = !value_str(value_dig(obj, "metadata", "name")).n &&
                        value_str(value_dig(obj, "metadata", "generateName")).n,
    };
    struct turn turn = { .of = c->is_step ? NULL : c->api->turns };
    int r = 1;
    n.turn = &turn;
    for (int i = 0; r > 0 && i < CREATE_TRIES; i++) {
        if (i > 0)
            turn_lost(&turn, n.lost_to);
        *obj = value_share(&given);
        r = try_create(&n, obj, err);
    }
    turn_end(&turn);
    return r > 0 ? error_try_again(err, c->req.resource, STR("create")) : r;
}
