/* Replacing an object in the store, on condition that it is still the one that was read. */
#include "admission/xray.h"
#include "expression/expression_check.h"
#include "api/field_errors.h"
#include "api/validate/initializers.h"
#include "api/validate/validate.h"
#include "api/errors.h"
#include "server/registry/managers.h"
#include "server/registry/quota_charge.h"
#include "server/registry/registry_internal.h"
#include "server/registry/service_claim.h"
#include "server/object/stored.h"
#include "server/registry/strategy.h"
#include "server/core/turns.h"
#include "schema/schema_definition.h"
#include "server/custom/custom_definition.h"
#include "base/banned.h"

enum { UPDATE_TRIES = 100 };

/* ---- One step into the store ---- */

static int commit(struct call *c, struct store_op op, struct registry_extra *extra,
                  uint64_t *ret_rev, struct err *err)
{
    struct store_op *ops = arena_array(c->arena, struct store_op, 1 + extra->n);
    ops[0] = op;
    for (size_t i = 0; i < extra->n; i++)
        ops[1 + i] = extra->ops[i];
    struct store_txn txn = { .ops = ops, .n_ops = 1 + extra->n };
    int r = registry__commit(c, &txn, err);
    if (r == -ERR_CONFLICT) {
        err_clear(err);
        extra->lost_to = txn.failed_op ? ops[txn.failed_op].key : STR("");
        extra->lost_charge = extra->is_charged && txn.failed_op > extra->charges_at;
        return 1;
    }
    *ret_rev = txn.rev;
    return r;
}

int registry__replace(struct call *c, struct str name, const struct registry_entry *was,
                      struct value *obj, struct registry_extra *extra, struct err *err)
{
    autobuf bytes = { 0 };
    uint64_t rev = was->rev;
    int r = registry__bytes(c, obj, &bytes, err);
    if (r < 0)
        return r;
    if (was->is_stale || !stored_is_same(was->bytes, buf_str(&bytes))) {
        struct store_op op = {
            .type = STORE_PUT,
            .key = stored_key(c->arena, c->stored, c->req.ns, name),
            .value = buf_str(&bytes),
            .expect_rev = was->rev,
            .is_ending = value_dig(obj, "metadata", "deletionTimestamp"),
            .ttl_s = registry__ttl(c),
        };
        quota_charge_mark(c, name, false, extra);
        r = commit(c, op, extra, &rev, err);
        if (r != 0)
            return r;
        registry__written(c, name, false);
        quota_charge_replaced(c, &was->obj, obj);
    }
    registry__set_revision(c->arena, obj, rev);
    return registry_settle(c, obj, err);
}

int registry__remove(struct call *c, struct str name, const struct registry_entry *was,
                     uint64_t *ret_rev, struct err *err)
{
    struct store_op op = {
        .type = STORE_DELETE,
        .key = stored_key(c->arena, c->stored, c->req.ns, name),
        .expect_rev = was->rev,
    };
    struct registry_extra extra = { 0 };
    if (service_claim_wanted(c->stored))
        service_claim_release(c, &was->obj, &extra);
    quota_charge_mark(c, name, true, &extra);
    int r = commit(c, op, &extra, ret_rev, err);
    if (r != 0)
        return r;
    registry__written(c, name, true);
    return 0;
}

bool registry__is_finished(const struct value *obj)
{
    const struct value *meta = value_get(obj, STR("metadata")),
                       *finalizers = value_get(meta, STR("finalizers")),
                       *spec_finalizers = value_dig(obj, "spec", "finalizers");
    int64_t grace = 0;
    (void)value_to_int(value_get(meta, STR("deletionGracePeriodSeconds")), &grace);
    bool namespace_held = str_eq(value_text(obj, "kind"), STR("Namespace")) &&
                          value_is(spec_finalizers, VALUE_ARRAY) && spec_finalizers->n;
    return value_get(meta, STR("deletionTimestamp")) && grace == 0 && !namespace_held &&
           !(value_is(finalizers, VALUE_ARRAY) && finalizers->n);
}

/* ---- Conditions that the new object itself names ---- */

static int require_revision(struct call *c, struct str name, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct field_path meta = { .name = STR("metadata") };
    struct field_path path = field_child(&meta, STR("resourceVersion"));
    field_error(&e, FIELD_INVALID, &path, STR("0"), "must be specified for an update");
    return field_errors_report(&e, c->req.resource->group, c->req.resource->plural, name, err);
}

static int check_uid(struct call *c, const struct registry_update *u, struct str name,
                     const struct value *obj, const struct registry_entry *now, struct err *err)
{
    struct str uid = value_str(value_dig(obj, "metadata", "uid")),
               now_uid = value_str(value_dig(&now->obj, "metadata", "uid"));
    if (!uid.n || u->tries_again || str_eq(uid, now_uid))
        return 0;
    return error_other_uid(err, c->req.resource, name,
                           stored_key(c->arena, c->stored, c->req.ns, name), uid, now_uid);
}

static int check_revision(struct call *c, const struct registry_update *u, struct str name,
                          const struct value *obj, const struct registry_entry *now,
                          bool *ret_exact, struct err *err)
{
    struct str text = value_str(value_dig(obj, "metadata", "resourceVersion"));
    uint64_t rev = 0;
    if (text.n && !str_to_u64(text, &rev))
        return err_set(err, ERR_UNKNOWN,
                       "strconv.ParseUint: parsing \"" STR_FMT "\": invalid syntax", STR_ARG(text));
    *ret_exact = rev != 0;
    if (!rev && !u->any_revision && (strategy_flags(c->stored) & STRATEGY_CONDITIONAL))
        return require_revision(c, name, err);
    if (rev && rev != now->rev)
        return error_modified(err, c->req.resource, name);
    return 0;
}

/* ---- The new object ---- */

static void carry_over(struct arena *a, struct value *meta, const struct value *old_meta,
                       struct str field, bool only_if_absent)
{
    const struct value *was = value_get(old_meta, field);
    if (only_if_absent && value_get(meta, field))
        return;
    if (was)
        value_put(a, meta, field, value_borrow(was));
    else
        value_drop(a, meta, field);
}

/* Plugins see the object as the client has sent it, with nothing carried over. */
static int admit(struct call *c, const struct registry_update *u, struct value *obj,
                 const struct registry_entry *now, struct err *err)
{
    int r = registry__check_scope(c, value_ensure(c->arena, obj, STR("metadata")), err);
    if (r < 0 || u->as_is || !registry__is_admitted(c, u->sub))
        return r;
    return registry__admit(c, u->sub, obj, &now->obj, err);
}

/* What the server decides, whatever the client has written. */
static int apply_strategy(struct call *c, const struct registry_update *u, struct value *obj,
                          const struct value *old_obj, struct registry_extra *ret_extra,
                          struct err *err)
{
    struct strategy strategy = registry__strategy(c);
    int r = 0;
    xray_stage(c->xray, "registry", STR("strategy"), obj);
    if (!u->sub.n && service_claim_wanted(c->stored))
        r = service_claim_update(c, u->dry_run, obj, old_obj, ret_extra, err);
    if (r < 0)
        return r;
    strategy_update(&strategy, u->sub, obj, old_obj);
    return 0;
}

static int prepare(struct call *c, const struct registry_update *u, struct value *obj,
                   const struct registry_entry *now, struct registry_extra *ret_extra,
                   bool *ret_has_empty, struct err *err)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    const struct value *was = value_get(&now->obj, STR("metadata"));
    int r = registry__check_scope(c, meta, err);
    if (r < 0)
        return r;
    carry_over(c->arena, meta, was, STR("uid"), true);
    carry_over(c->arena, meta, was, STR("creationTimestamp"), false);
    carry_over(c->arena, meta, was, STR("deletionTimestamp"), true);
    if (value_get(was, STR("deletionTimestamp")))
        carry_over(c->arena, meta, was, STR("deletionGracePeriodSeconds"), true);
    carry_over(c->arena, meta, was, STR("generation"), false);
    value_drop(c->arena, meta, STR("selfLink"));
    registry__set_revision(c->arena, obj, now->rev);
    if (!u->as_is)
        r = apply_strategy(c, u, obj, &now->obj, ret_extra, err);
    if (r < 0)
        return r;
    r = registry__settle_unchecked(c, obj, ret_has_empty, err);
    if (r < 0)
        return r;
    managers_keep_times(c->arena, obj, &now->obj);
    return 0;
}

/* A pod that is still being made may become any other. */
static void check_fields(struct call *c, struct field_errors *e, struct str sub,
                         const struct value *obj, const struct value *old_obj)
{
    bool is_made = registry__is(c, STR(""), STR("pods")) && initializers_are_pending(old_obj);
    static const struct field_path status = { .name = STR("status") };
    if (is_made && str_eq(sub, STR("status")))
        field_error(e, FIELD_FORBIDDEN, &status, STR(""),
                    "must not update status when the object is uninitialized");
    if (sub.n)
        validate_update_sub(e, c->req.resource, sub, obj, old_obj);
    else if (is_made)
        validate_create(e, c->req.resource, obj);
    else
        validate_update(e, c->req.resource, obj, old_obj);
}

/* Plugins are asked about what the client has written, which may stand for a part of it. */
static int ask_plugins(struct call *c, struct registry_update *u, const struct value *obj,
                       const struct value *old_obj, struct registry_extra *extra, struct err *err)
{
    if (u->admit_check)
        return u->admit_check(u, obj, old_obj, err);
    return registry__is_admitted(c, u->sub)
               ? registry__admit_check(c, u->sub, obj, old_obj, extra, err)
               : 0;
}

static int check_changed(struct call *c, struct registry_update *u, const struct value *obj,
                         const struct value *old_obj, struct registry_extra *extra, struct err *err)
{
    struct str sub = u->sub;
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct validate_warnings forgiven = { .arena = c->arena };
    struct meta_rules rules = registry__meta_rules(c);
    e.warnings = &forgiven;
    int r = registry__check_others(c, &e, sub, obj, old_obj, err);
    if (r < 0)
        return r;
    meta_validate_update(&e, &rules, obj, old_obj);
    initializers_validate(&e, obj);
    initializers_validate_update(&e, obj, old_obj);
    check_fields(c, &e, sub, obj, old_obj);
    if (!sub.n && custom_definition_is(c->stored))
        schema_check_definition(&e, obj, old_obj);
    if (!sub.n)
        expression_check(&e, c->stored, obj, old_obj);
    r = sub.n || e.first ? 0 : registry__check_rights(c, &e, obj, old_obj, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < forgiven.n; i++)
        call_warn(c, forgiven.texts[i]);
    r = field_errors_report(&e, c->stored->group, c->stored->type->name,
                            value_str(value_dig(obj, "metadata", "name")), err);
    if (r < 0)
        return r;
    registry__warn(c, obj, old_obj);
    return ask_plugins(c, u, obj, old_obj, extra, err);
}

/* An initializer has refused it: it was shown so once, and goes, whatever holds it. */
static int remove_refused(struct call *c, struct str name, struct err *err)
{
    struct registry_entry now;
    uint64_t rev;
    int r = 1;
    for (int i = 0; r > 0 && i < UPDATE_TRIES; i++) {
        r = registry_find(c, name, &now, err);
        if (r <= 0 || !initializers_result(&now.obj))
            return r < 0 ? r : 0;
        r = registry__remove(c, name, &now, &rev, err);
    }
    return r;
}

/* Where others were only charged first, the object is charged anew. */
static int replace_charged(struct call *c, struct str name, const struct registry_update *u,
                           const struct registry_entry *now, struct value *obj,
                           struct registry_extra *extra, struct turn *held, struct err *err)
{
    struct turn turn = { .of = c->is_step ? NULL : c->api->turns };
    int r = registry__replace(c, name, now, obj, extra, err);
    for (int i = 0; r == 1 && extra->lost_charge && i < UPDATE_TRIES; i++) {
        turn_end(held);
        turn_lost(&turn, extra->lost_to);
        r = registry__charge(c, u->sub, obj, &now->obj, extra, err);
        if (r < 0)
            break;
        r = registry__replace(c, name, now, obj, extra, err);
    }
    turn_end(&turn);
    return r;
}

/* 0; 1 if somebody was faster; or an error. */
static int try_update(struct call *c, struct str name, struct registry_update *u,
                      const struct registry_entry *now, struct value *ret, struct turn *turn,
                      struct err *err)
{
    struct registry_extra extra = { 0 };
    bool exact = false, has_empty = false;
    uint64_t rev;
    int r = u->change(u, now, ret, err);
    if (r < 0)
        return r;
    r = check_uid(c, u, name, ret, now, err);
    if (r < 0)
        return r;
    r = admit(c, u, ret, now, err);
    if (r < 0)
        return r;
    r = check_revision(c, u, name, ret, now, &exact, err);
    if (r < 0)
        return r;
    xray_stage(c->xray, "registry", STR("metadata"), ret);
    r = prepare(c, u, ret, now, &extra, &has_empty, err);
    if (r < 0)
        return r;
    xray_stage(c->xray, "validation", c->stored->type->name, ret);
    if (!u->as_is)
        r = check_changed(c, u, ret, &now->obj, &extra, err);
    if (r < 0)
        return r;
    if (has_empty)
        r = registry_settle(c, ret, err);
    xray_stage(c->xray, "store", u->dry_run ? STR("dry run") : STR("commit"), ret);
    if (r < 0 || u->dry_run)
        return r;
    if (registry__is_finished(ret) && value_dig(&now->obj, "metadata", "deletionTimestamp"))
        r = registry__remove(c, name, now, &rev, err);
    else
        r = replace_charged(c, name, u, now, ret, &extra, turn, err);
    if (r == 0 && initializers_result(ret))
        return remove_refused(c, name, err);
    if (r == 1 && extra.lost_to.n) /* the object is still the one that was meant */
        return 1;
    return r == 1 && exact && !u->tries_again ? error_modified(err, c->req.resource, name) : r;
}

int registry_update(struct call *c, struct str name, struct registry_update *u, struct value *ret,
                    struct err *err)
{
    struct str key = stored_key(c->arena, c->stored, c->req.ns, name);
    struct turn turn;
    bool takes_turns = !u->dry_run && !c->is_step && !call_may_wait(c);
    turn_begin(&turn, takes_turns ? c->api->turns : NULL, key);
    int r = 1;
    for (int i = 0; r > 0 && i < UPDATE_TRIES; i++) {
        struct registry_entry now;
        if (i > 0)
            turn_lost(&turn, key);
        xray_stage(c->xray, "store", STR("read"), NULL);
        r = registry_get(c, name, &now, err);
        if (r < 0)
            break;
        r = try_update(c, name, u, &now, ret, &turn, err);
    }
    turn_end(&turn);
    return r > 0 ? error_modified(err, c->req.resource, name) : r;
}
