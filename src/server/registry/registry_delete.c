/* Deleting: conditions, grace, finalizers; what is not held by anything goes at once. */
#include "api/go/gotime.h"
#include "api/errors.h"
#include "api/keys.h"
#include "api/words.h"
#include "server/registry/registry_internal.h"
#include "server/object/stored.h"
#include "server/registry/strategy_internal.h"
#include "server/core/turns.h"
#include "server/custom/custom_definition.h"
#include "base/banned.h"

enum { DELETE_TRIES = 100 };

/* ---- Conditions ---- */

static bool is_namespace(const struct call *c)
{
    return !c->stored->group.n && str_eq(c->stored->plural, STR("namespaces"));
}

/* Classes that the server made. In a collection they may go, as with upstream. */
static bool is_system_class(const struct call *c, struct str name)
{
    static const struct str names[] = { STR("system-node-critical"),
                                        STR("system-cluster-critical") };
    return c->req.name.n && words_have(name, WORDS(names)) &&
           registry__is(c, STR("scheduling.k8s.io"), STR("priorityclasses"));
}

int registry_check_preconditions(struct call *c, struct str name, const struct delete_options *o,
                                 const struct registry_entry *now, struct err *err)
{
    struct str uid = value_str(value_dig(&now->obj, "metadata", "uid"));
    struct str rev = value_str(value_dig(&now->obj, "metadata", "resourceVersion"));
    if (o->uid.p && !str_eq(o->uid, uid))
        return is_namespace(c)
                   ? error_conflict(
                         err, c->req.resource, name,
                         arena_printf(c->arena,
                                      "Precondition failed: UID in precondition: " STR_FMT
                                      ", UID in object meta: " STR_FMT,
                                      STR_ARG(o->uid), STR_ARG(uid)))
                   : error_conflict_of(err, c->req.resource, name,
                                       arena_printf(c->arena,
                                                    "the UID in the precondition (" STR_FMT
                                                    ") does not match the UID in record (" STR_FMT
                                                    "). The object might have been deleted and "
                                                    "then recreated",
                                                    STR_ARG(o->uid), STR_ARG(uid)));
    if (o->revision.p && !str_eq(o->revision, rev))
        return error_conflict_of(
            err, c->req.resource, name,
            arena_printf(c->arena,
                         "the ResourceVersion in the precondition (" STR_FMT
                         ") does not match the ResourceVersion in record (" STR_FMT
                         "). The object might have been modified",
                         STR_ARG(o->revision), STR_ARG(rev)));
    if (o->ignore_read_error)
        return error_conflict(
            err, c->req.resource, name,
            arena_printf(c->arena,
                         "StorageError: invalid object, Code: 4, Key: " STR_FMT "/" STR_FMT
                         "%s" STR_FMT
                         ", ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not "
                         "allowed because the object is decodable from storage",
                         STR_ARG(c->stored->etcd_prefix), STR_ARG(c->req.ns),
                         c->stored->namespaced ? "/" : "", STR_ARG(name)));
    return 0;
}

/* ---- Finalizers of the garbage collector ---- */

/* Sets the finalizers that the propagation policy asks for. Other finalizers stay. */
static void set_finalizers(struct call *c, const struct delete_options *o, struct value *obj)
{
    static const struct str orphan = STR(FINALIZER_ORPHAN), foreground = STR(FINALIZER_FOREGROUND);
    unsigned flags = strategy_flags(c->stored);
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    const struct value *was = value_get(meta, STR("finalizers"));
    if (flags & STRATEGY_NO_PROPAGATION)
        return;
    bool said = o->propagation != OPTIONS_DEFAULT;
    bool wants_foreground =
        said ? o->propagation == OPTIONS_FOREGROUND : strategy__has_item(was, foreground);
    bool wants_orphan = said ? o->propagation == OPTIONS_ORPHAN
                        : strategy__has_item(was, orphan)
                            ? true
                            : !wants_foreground && strategy_orphans(c->req.resource);
    struct value list = value_array();
    value_each_item (it, was)
        if (!str_eq(value_str(it), orphan) && !str_eq(value_str(it), foreground))
            value_put_item(c->arena, &list, *it);
    if (wants_orphan)
        value_put_item(c->arena, &list, value_string(orphan));
    if (wants_foreground)
        value_put_item(c->arena, &list, value_string(foreground));
    if (list.n)
        value_put(c->arena, meta, STR("finalizers"), list);
    else
        value_drop(c->arena, meta, STR("finalizers"));
}

/* ---- Marking ---- */

static void mark(struct call *c, struct value *obj, int64_t grace)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    int64_t generation = 0;
    char *text = arena_alloc(c->arena, CLOCK_TEXT_BYTES, 1);
    int64_t at = clock_wall_ns(c->api->clock) + grace * NS_PER_SEC;
    if (value_to_int(value_get(meta, STR("generation")), &generation) && generation > 0)
        value_put(c->arena, meta, STR("generation"), value_int(generation + 1));
    value_put(c->arena, meta, STR("deletionTimestamp"),
              value_string(clock_format(at, false, text)));
    value_put(c->arena, meta, STR("deletionGracePeriodSeconds"), value_int(grace));
}

/* Already marked: the time can only become shorter, counted from the first request. */
static void shorten(struct call *c, struct value *obj, int64_t was_grace, int64_t grace)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    struct str was = value_text(meta, "deletionTimestamp");
    struct gotime at;
    if (grace >= was_grace || gotime_parse(was, false, &at, NULL) < 0)
        return;
    at.sec += grace - was_grace;
    value_put(c->arena, meta, STR("deletionTimestamp"),
              value_string(gotime_format(c->arena, at, false)));
    value_put(c->arena, meta, STR("deletionGracePeriodSeconds"), value_int(grace));
}

/* A namespace first goes into the phase Terminating, until its contents are gone. */
static bool begin_namespace(struct call *c, struct value *obj)
{
    struct value *meta = value_ensure(c->arena, obj, STR("metadata"));
    const struct value *finalizers = value_dig(obj, "spec", "finalizers");
    if (value_get(meta, STR("deletionTimestamp")))
        return value_is(finalizers, VALUE_ARRAY) && finalizers->n;
    value_put(c->arena, meta, STR("deletionTimestamp"), value_string(registry_now(c)));
    struct value *status = value_ensure(c->arena, obj, STR("status"));
    value_put(c->arena, status, STR("phase"), value_string(STR("Terminating")));
    return true;
}

/* Makes `obj` what it will be; true if it stays. */
static bool plan(struct call *c, const struct delete_options *o, struct value *obj)
{
    const struct value *meta = value_get(obj, STR("metadata"));
    int64_t was_grace = 0;
    bool marked = value_get(meta, STR("deletionTimestamp"));
    (void)value_to_int(value_get(meta, STR("deletionGracePeriodSeconds")), &was_grace);
    if (is_namespace(c)) {
        if (!marked)
            set_finalizers(c, o, obj);
        if (begin_namespace(c, obj))
            return true;
    }
    if (!marked && custom_definition_is(c->stored)) {
        custom_definition_mark_deleted(c->arena, obj, registry_now(c));
        return true;
    }
    int64_t grace = strategy_grace(c->stored, obj, o->grace_given ? &o->grace : NULL);
    if (marked && !o->grace_given && was_grace > 0)
        return true;
    set_finalizers(c, o, obj);
    const struct value *finalizers = value_dig(obj, "metadata", "finalizers");
    bool held = value_is(finalizers, VALUE_ARRAY) && finalizers->n;
    if (marked)
        shorten(c, obj, was_grace, grace);
    else if (held || grace || strategy_is_graceful(c->stored))
        mark(c, obj, grace);
    return held || (marked ? was_grace > 0 && grace > 0 : grace > 0);
}

/* A watch sees a gracefully deleted object marked before it is gone, even with no grace period
 * left. Who sees that may be faster with the second step. */
static int remove_marked(struct call *c, struct str name, const struct delete_options *o,
                         const struct registry_entry *now, struct value *obj, bool *ret_marked,
                         struct err *err)
{
    struct registry_entry marked = *now;
    struct registry_extra none = { 0 };
    uint64_t rev = 0;
    bool is_graceful = strategy_is_graceful(c->stored);
    int r = is_graceful ? registry__replace(c, name, now, obj, &none, err) : 0;
    if (r != 0)
        return r;
    *ret_marked |= is_graceful;
    /* These are two steps, and plugins are asked about both. */
    r = is_graceful ? registry__admit_delete(c, o, obj, err) : 0;
    if (r < 0)
        return r;
    (void)str_to_u64(value_str(value_dig(obj, "metadata", "resourceVersion")), &marked.rev);
    r = registry__remove(c, name, &marked, &rev, err);
    if (r != 0)
        return r;
    registry__set_revision(c->arena, obj, rev);
    return 0;
}

/* Removes an object that cannot be read. Its finalizers, its uid and the keys that belong to it are
 * not known, so none of them is looked at. */
static int remove_unreadable(struct call *c, struct str name, const struct delete_options *o,
                             struct value *ret, bool *ret_gone, struct err *err)
{
    struct store_op op = {
        .type = STORE_DELETE,
        .key = stored_key(c->arena, c->stored, c->req.ns, name),
        .expect_rev = STORE_ANY,
    };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    err_clear(err);
    *ret = value_null();
    *ret_gone = true;
    int r = o->dry_run ? 0 : registry__commit(c, &t, err);
    if (r < 0)
        return r;
    registry__written(c, name, true);
    return 0;
}

/* The options as upstream has completed them by the time plugins are asked. Those of a collection
 * are as they were sent. */
static struct delete_options tell(struct call *c, const struct delete_options *o,
                                  const struct value *obj)
{
    struct delete_options ret = *o;
    if (!c->req.name.n)
        return ret;
    bool marked = value_dig(obj, "metadata", "deletionTimestamp");
    if (!o->uid.p && (is_namespace(c) || custom_definition_is(c->stored)))
        ret.uid = value_str(value_dig(obj, "metadata", "uid"));
    if (strategy_is_graceful(c->stored) && !(marked && !o->grace_given)) {
        ret.grace = strategy_grace(c->stored, obj, o->grace_given ? &o->grace : NULL);
        ret.grace_given = true;
    }
    return ret;
}

/* It is told to go already, and no sooner now: plugins were asked about that. */
static bool is_pending(const struct call *c, const struct delete_options *o,
                       const struct value *obj)
{
    const struct value *meta = value_get(obj, STR("metadata"));
    int64_t grace;
    return strategy_is_graceful(c->stored) && value_get(meta, STR("deletionTimestamp")) &&
           value_to_int(value_get(meta, STR("deletionGracePeriodSeconds")), &grace) &&
           (!o->grace_given || o->grace >= grace);
}

/* 0; 1 if somebody was faster; or an error. `*ret_marked` becomes true when it was told to go at
 * once. */
static int try_delete(struct call *c, struct str name, const struct delete_options *o,
                      struct value *ret, bool *ret_gone, bool *ret_marked, struct err *err)
{
    struct registry_entry now;
    struct registry_extra none = { 0 };
    int r = registry_get(c, name, &now, err);
    if (r == -ERR_DAMAGED && o->ignore_read_error)
        return remove_unreadable(c, name, o, ret, ret_gone, err);
    if (r < 0)
        return r;
    r = registry_check_preconditions(c, name, o, &now, err);
    if (r < 0)
        return r;
    struct delete_options told = tell(c, o, &now.obj);
    r = is_pending(c, o, &now.obj) ? 0 : registry__admit_delete(c, &told, &now.obj, err);
    if (r < 0)
        return r;
    *ret = value_share(&now.obj);
    *ret_gone = !plan(c, o, ret);
    r = registry_settle(c, ret, err);
    if (r < 0 || o->dry_run)
        return r;
    return *ret_gone ? remove_marked(c, name, &told, &now, ret, ret_marked, err)
                     : registry__replace(c, name, &now, ret, &none, err);
}

int registry_delete(struct call *c, struct str name, const struct delete_options *o,
                    struct value *ret, bool *ret_gone, struct err *err)
{
    struct str key = stored_key(c->arena, c->stored, c->req.ns, name);
    struct turn turn;
    if (is_system_class(c, name))
        return error_forbidden(err, c->req.resource, name,
                               STR("this is a system priority class and cannot be deleted"));
    turn_begin(&turn, o->dry_run || call_may_wait(c) ? NULL : c->api->turns, key);
    int r = 1;
    bool marked = false;
    for (int i = 0; r > 0 && i < DELETE_TRIES; i++) {
        if (i > 0)
            turn_lost(&turn, key);
        r = try_delete(c, name, o, ret, ret_gone, &marked, err);
    }
    turn_end(&turn);
    if (r == -ERR_NOT_FOUND && marked) { /* as we wanted; the last try has left `ret` as it was */
        err_clear(err);
        *ret_gone = true;
        return 0;
    }
    return r > 0 ? error_modified(err, c->req.resource, name) : r;
}
