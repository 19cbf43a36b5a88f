#include "server/registry/quota_charge.h"

#include "admission/quota/quota_usage.h"
#include "base/buf.h"
#include "server/object/stored.h"
#include "server/registry/managers.h"
#include "base/banned.h"

#define KEYS "/sampan/quotas/"

struct str quota_charge_key(struct arena *a, struct str ns)
{
    return arena_printf(a, KEYS STR_FMT, STR_ARG(ns));
}

static const struct kind_resource *quotas(void)
{
    return kind_stored_named(STR(""), STR("resourcequotas"));
}

static int each_quota(struct call *c, struct store_snap *snap, struct str ns, admission_take *take,
                      void *to, uint64_t *ret_rev, struct err *err)
{
    struct store_entry e;
    struct value quota;
    int r = store_snap_get(snap, quota_charge_key(c->arena, ns), &e, err);
    if (r < 0)
        return r;
    *ret_rev = r == 1 ? e.mod_rev : 0;
    store_range_begin(snap, stored_key(c->arena, quotas(), ns, STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        r = stored_read(c->arena, quotas()->type, &e, &quota, err);
        if (r < 0)
            return r;
        r = take(to, &quota);
        if (r < 0)
            return r;
    }
    return r;
}

/* 1, 0 or an error. */
static int has_any(struct store_snap *snap, struct arena *a, struct err *err)
{
    struct store_entry e;
    store_range_begin(snap, STR(KEYS), STR(""));
    int r = store_range_next(snap, &e, err);
    if (r != 0)
        return r;
    store_range_begin(snap, stored_key(a, quotas(), STR(""), STR("")), STR(""));
    return store_range_next(snap, &e, err);
}

int quota_charge_load(struct api *api, struct err *err)
{
    struct store_snap *snap;
    int r = store_snap_begin(api->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = has_any(snap, err->arena, err);
    store_snap_end(snap);
    atomic_store(&api->has_quotas, r != 0);
    return r < 0 ? r : 0;
}

int quota_charge_each(void *call, struct str ns, admission_take *take, void *to, uint64_t *ret_rev,
                      struct err *err)
{
    struct call *c = call;
    struct store_snap *snap;
    *ret_rev = 0;
    if (!atomic_load(&c->api->has_quotas))
        return 0;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = each_quota(c, snap, ns, take, to, ret_rev, err);
    store_snap_end(snap);
    return r;
}

/* The bytes of a quota of which more is used. */
static int charged(struct call *c, const struct admission_charge *charge, struct str *ret,
                   struct err *err)
{
    struct call own = { .api = c->api, .arena = c->arena, .stored = quotas() };
    struct value quota = value_borrow(&charge->quota);
    autobuf bytes = { 0 };
    own.req.resource = own.stored;
    value_put(c->arena, value_ensure(c->arena, &quota, STR("status")), STR("used"),
              value_borrow(&charge->used));
    managers_update(&own, managers_own_request(&own, STR("status")), &charge->quota, &quota);
    int r = registry_settle(&own, &quota, err);
    if (r < 0)
        return r;
    stored_write(&bytes, own.stored, &quota);
    *ret = arena_str(c->arena, buf_str(&bytes));
    return 0;
}

int quota_charge_add(struct call *c, const struct admission_charging *charging,
                     struct registry_extra *extra, struct err *err)
{
    if (!charging->is_asked)
        return 0;
    extra->is_charged = true;
    extra->charges_at = extra->n;
    registry__extra_add(c, extra,
                        (struct store_op){ .type = STORE_CHECK,
                                           .key = quota_charge_key(c->arena, c->req.ns),
                                           .expect_rev = charging->quotas_rev });
    for (const struct admission_charge *it = charging->first; it; it = it->next) {
        const struct value *meta = value_get(&it->quota, STR("metadata"));
        struct store_op op = { .type = STORE_PUT,
                               .key = stored_key(c->arena, quotas(), c->req.ns,
                                                 value_text(meta, "name")),
                               .goes_first = true };
        if (!str_to_u64(value_text(meta, "resourceVersion"), &op.expect_rev))
            return err_set(err, ERR_INTERNAL, "a quota has no revision");
        int r = charged(c, it, &op.value, err);
        if (r < 0)
            return r;
        registry__extra_add(c, extra, op);
    }
    return 0;
}

void quota_charge_mark(struct call *c, struct str name, bool gone, struct registry_extra *extra)
{
    bool is_quota = registry__is(c, STR(""), STR("resourcequotas")),
         is_namespace = gone && registry__is(c, STR(""), STR("namespaces"));
    if (!is_quota && !is_namespace)
        return;
    if (is_quota)
        atomic_store(&c->api->has_quotas, true); /* before it is there */
    struct store_op op = { .type = is_quota ? STORE_PUT : STORE_DELETE,
                           .key = quota_charge_key(c->arena, is_quota ? c->req.ns : name),
                           .value = is_quota ? STR("1") : STR(""),
                           .expect_rev = STORE_ANY,
                           .is_ending = gone };
    for (size_t i = 0; i < extra->n; i++) /* a new quota counts itself, and has the condition */
        if (str_eq(extra->ops[i].key, op.key)) {
            op.expect_rev = extra->ops[i].expect_rev;
            extra->ops[i] = op;
            return;
        }
    registry__extra_add(c, extra, op);
}

void quota_charge_written(struct call *c, bool gone)
{
    if (!c->stored->namespaced || !c->api->on_quota_changed)
        return;
    if (registry__is(c, STR(""), STR("resourcequotas")))
        c->api->on_quota_changed(c->api, c->req.ns);
    else if (gone)
        c->api->on_less_used(c->api, c->req.ns);
}

void quota_charge_replaced(struct call *c, const struct value *old_obj, const struct value *obj)
{
    const struct quota_item was = { .arena = c->arena,
                                    .group = c->stored->group,
                                    .plural = c->stored->plural,
                                    .obj = old_obj,
                                    .now_sec = clock_wall_ns(c->api->clock) / NS_PER_SEC };
    if (c->stored->namespaced && c->api->on_less_used && quota_may_shrink(&was, obj))
        c->api->on_less_used(c->api, c->req.ns);
}
