/* Replacing an object in the store, on condition that it is still the one that was read. */
#include "expression/expression_check.h"
#include "api/field_errors.h"
#include "api/validate/validate.h"
#include "api/errors.h"
#include "server/registry/managers.h"
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

static int commit(struct call *c, struct store_op op, const struct registry_extra *extra,
                  uint64_t *ret_rev, struct err *err)
{
    struct store_op *ops = arena_array(c->arena, struct store_op, 1 + extra->n);
    ops[0] = op;
    for (size_t i = 0; i < extra->n; i++)
        ops[1 + i] = extra->ops[i];
    struct store_txn txn = { .ops = ops, .n_ops = 1 + extra->n };
    int r = store_commit(c->api->store, &txn, err);
    if (r == -ERR_CONFLICT) {
        err_clear(err);
        return 1;
    }
    *ret_rev = txn.rev;
    return r;
}

int registry__replace(struct call *c, struct str name, const struct registry_entry *was,
                      struct value *obj, const struct registry_extra *extra, struct err *err)
{
    autobuf bytes = { 0 };
    uint64_t rev = was->rev;
    int r = registry__bytes(c, obj, &bytes, err);
    if (r < 0)
        return r;
    if (was->is_stale || !str_eq(buf_str(&bytes), was->bytes)) {
        struct store_op op = {
            .type = STORE_PUT,
            .key = stored_key(c->arena, c->stored, c->req.ns, name),
            .value = buf_str(&bytes),
            .expect_rev = was->rev,
            .is_ending = value_dig(obj, "metadata", "deletionTimestamp"),
        };
        r = commit(c, op, extra, &rev, err);
        if (r != 0)
            return r;
        registry__written(c, name, false);
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

static int check_conditions(struct call *c, const struct registry_update *u, struct str name,
                            const struct value *obj, const struct registry_entry *now,
                            bool *ret_exact, struct err *err)
{
    struct str uid = value_str(value_dig(obj, "metadata", "uid")),
               now_uid = value_str(value_dig(&now->obj, "metadata", "uid")),
               text = value_str(value_dig(obj, "metadata", "resourceVersion"));
    uint64_t rev = 0;
    if (text.n && !str_to_u64(text, &rev))
        return err_set(err, ERR_UNKNOWN,
                       "strconv.ParseUint: parsing \"" STR_FMT "\": invalid syntax", STR_ARG(text));
    *ret_exact = rev != 0;
    if (uid.n && !u->tries_again && !str_eq(uid, now_uid))
        return error_other_uid(err, c->req.resource, name,
                               stored_key(c->arena, c->stored, c->req.ns, name), uid, now_uid);
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

/* What the server decides, whatever the client has written. */
static int apply_strategy(struct call *c, const struct registry_update *u, struct value *obj,
                          const struct value *old_obj, struct registry_extra *ret_extra,
                          struct err *err)
{
    struct strategy strategy = registry__strategy(c);
    int r = registry__is_admitted(c, u->sub) ? registry__admit(c, u->sub, obj, old_obj, err) : 0;
    if (r < 0)
        return r;
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

static int check_changed(struct call *c, struct str sub, const struct value *obj,
                         const struct value *old_obj, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct validate_warnings forgiven = { .arena = c->arena };
    struct meta_rules rules = registry__meta_rules(c);
    e.warnings = &forgiven;
    int r = registry__check_others(c, &e, sub, obj, old_obj, err);
    if (r < 0)
        return r;
    meta_validate_update(&e, &rules, obj, old_obj);
    if (sub.n)
        validate_update_sub(&e, c->req.resource, sub, obj, old_obj);
    else
        validate_update(&e, c->req.resource, obj, old_obj);
    if (!sub.n && custom_definition_is(c->stored))
        schema_check_definition(&e, obj, old_obj);
    if (!sub.n)
        expression_check(&e, c->stored, obj, old_obj);
    for (size_t i = 0; i < forgiven.n; i++)
        call_warn(c, forgiven.texts[i]);
    r = field_errors_report(&e, c->stored->group, c->stored->type->name,
                            value_str(value_dig(obj, "metadata", "name")), err);
    if (r < 0)
        return r;
    registry__warn(c, obj, old_obj);
    return registry__is_admitted(c, sub) ? registry__admit_check(c, sub, obj, old_obj, err) : 0;
}

/* 0; 1 if somebody was faster; or an error. */
static int try_update(struct call *c, struct str name, struct registry_update *u,
                      const struct registry_entry *now, struct value *ret, struct err *err)
{
    struct registry_extra extra = { 0 };
    bool exact = false, has_empty = false;
    uint64_t rev;
    int r = u->change(u, now, ret, err);
    if (r < 0)
        return r;
    r = check_conditions(c, u, name, ret, now, &exact, err);
    if (r < 0)
        return r;
    r = prepare(c, u, ret, now, &extra, &has_empty, err);
    if (r < 0)
        return r;
    if (!u->as_is)
        r = check_changed(c, u->sub, ret, &now->obj, err);
    if (r < 0)
        return r;
    if (has_empty)
        r = registry_settle(c, ret, err);
    if (r < 0 || u->dry_run)
        return r;
    if (registry__is_finished(ret) && value_dig(&now->obj, "metadata", "deletionTimestamp"))
        r = registry__remove(c, name, now, &rev, err);
    else
        r = registry__replace(c, name, now, ret, &extra, err);
    return r == 1 && exact && !u->tries_again ? error_modified(err, c->req.resource, name) : r;
}

int registry_update(struct call *c, struct str name, struct registry_update *u, struct value *ret,
                    struct err *err)
{
    struct str key = stored_key(c->arena, c->stored, c->req.ns, name);
    struct turn turn;
    turn_begin(&turn, u->dry_run ? NULL : c->api->turns, key);
    int r = 1;
    for (int i = 0; r > 0 && i < UPDATE_TRIES; i++) {
        struct registry_entry now;
        if (i > 0)
            turn_lost(&turn, key);
        r = registry_get(c, name, &now, err);
        if (r < 0)
            break;
        r = try_update(c, name, u, &now, ret, err);
    }
    turn_end(&turn);
    return r > 0 ? error_modified(err, c->req.resource, name) : r;
}
