#include "server/registry/quota_count.h"

#include "admission/quota/quota_usage.h"
#include "api/quantity.h"
#include "api/text_set.h"
#include "server/custom/custom.h"
#include "server/object/stored.h"
#include "server/registry/managers.h"
#include "server/registry/quota_charge.h"
#include "base/banned.h"

enum { PAGE_OBJECTS = 512 };

struct counted {
    struct value obj; /* the quota */
    uint64_t rev;
    const struct value *spec, *hard;
    struct value used;
    bool has_scopes;
};

struct count {
    struct api *api;
    struct arena *arena;
    struct str ns;
    uint64_t rev; /* at which everything is read */
    struct counted *quotas;
    size_t n, room;
    int64_t now_sec;
};

/* ---- Quotas ---- */

static void add_quota(struct count *c, struct value obj, uint64_t rev)
{
    if (c->n == c->room) {
        size_t room = c->room ? 2 * c->room : 4;
        c->quotas = arena_grow(c->arena, c->quotas, c->room * sizeof(*c->quotas),
                               room * sizeof(*c->quotas), alignof(struct counted));
        c->room = room;
    }
    struct counted *q = &c->quotas[c->n++];
    *q = (struct counted){ .obj = obj, .rev = rev, .used = value_object() };
    q->spec = value_get(&obj, STR("spec"));
    q->hard = value_get(q->spec, STR("hard"));
    q->has_scopes = quota_scopes(c->arena, q->spec).n > 0;
}

static int read_quotas(struct count *c, const struct kind_resource *quotas, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    struct value obj;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    c->rev = store_snap_rev(snap);
    store_range_begin(snap, stored_key(c->arena, quotas, c->ns, STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        r = stored_read(c->arena, quotas->type, &e, &obj, err);
        if (r < 0)
            break;
        add_quota(c, obj, e.mod_rev);
    }
    store_snap_end(snap);
    return r;
}

/* ---- Objects ---- */

/* Of one kind, whose objects use some of the things that quotas name. */
struct tallied {
    struct str group, plural;
    const struct kind_resource *stored;
};

static void add(struct count *c, struct counted *q, struct str name, struct str amount)
{
    struct str was = value_str(value_get(&q->used, name));
    struct str sum = was.n && amount.n ? quantity_add(c->arena, was, amount) : was.n ? was : amount;
    value_put(c->arena, &q->used, name, value_string(sum.n ? arena_str(c->arena, sum) : STR("0")));
}

/* The arena of the item is gone with the next one. */
static void add_object(struct count *c, const struct quota_item *item)
{
    for (size_t i = 0; i < c->n; i++) {
        struct counted *q = &c->quotas[i];
        if (!quota_is_in_scopes(item, q->spec))
            continue;
        value_each_field (f, q->hard)
            if (quota_counts(item->group, item->plural, f->key))
                add(c, q, f->key, quota_usage(item, f->key));
    }
}

/* Some objects, from `start` on, which then says where to go on: 1 if there are more. */
static int read_page(struct count *c, const struct tallied *t, struct arena *scratch,
                     struct buf *start, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    struct value obj;
    size_t n = 0;
    int r = store_snap_begin(c->api->store, c->rev, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, stored_key(c->arena, t->stored, c->ns, STR("")), buf_str(start));
    while (n < PAGE_OBJECTS && (r = store_range_next(snap, &e, err)) == 1) {
        arena_reset(scratch);
        r = stored_read(scratch, t->stored->type, &e, &obj, err);
        if (r < 0)
            break;
        const struct quota_item item = { .arena = scratch,
                                         .group = t->group,
                                         .plural = t->plural,
                                         .obj = &obj,
                                         .now_sec = c->now_sec };
        add_object(c, &item);
        n++;
        buf_reset(start);
        buf_str_add(start, e.key);
        buf_byte(start, '\0');
    }
    store_snap_end(snap);
    return r < 0 ? r : n == PAGE_OBJECTS;
}

static int add_objects(struct count *c, const struct tallied *t, struct err *err)
{
    struct arena scratch;
    autobuf start = { 0 };
    int r = 1;
    arena_init(&scratch);
    while (r > 0)
        r = read_page(c, t, &scratch, &start, err);
    arena_done(&scratch);
    return r;
}

/* Of most kinds only the number counts, so nothing has to be read. They have no scopes. */
static int add_number(struct count *c, const struct tallied *t, struct err *err)
{
    struct store_snap *snap;
    uint64_t n = 0;
    int r = store_snap_begin(c->api->store, c->rev, &snap, err);
    if (r < 0)
        return r;
    r = store_count(snap, stored_key(c->arena, t->stored, c->ns, STR("")), STR(""), &n, err);
    store_snap_end(snap);
    if (r < 0)
        return r;
    struct str number = arena_printf(c->arena, "%llu", (unsigned long long)n);
    for (size_t i = 0; i < c->n; i++)
        value_each_field (f, c->quotas[i].hard)
            if (quota_counts(t->group, t->plural, f->key) && !c->quotas[i].has_scopes)
                add(c, &c->quotas[i], f->key, number);
    return 0;
}

/* ---- All kinds that quotas name ---- */

/* Zero, so that a thing is known to be used even if nothing uses it. */
static void begin_kind(struct count *c, const struct tallied *t)
{
    for (size_t i = 0; i < c->n; i++)
        value_each_field (f, c->quotas[i].hard)
            if (quota_counts(t->group, t->plural, f->key))
                add(c, &c->quotas[i], f->key, STR(""));
}

static int count_stored(struct count *c, const struct tallied *t, struct err *err)
{
    begin_kind(c, t);
    return quota_is_measured(t->group, t->plural) ? add_objects(c, t, err) : add_number(c, t, err);
}

/* What is not there, or not in namespaces, is not counted. */
static int count_kind(struct count *c, struct str group, struct str plural, struct err *err)
{
    struct tallied t = { group, plural, kind_stored_named(group, plural) };
    struct custom *custom =
        t.stored || !c->api->custom ? NULL : custom_find(c->api->custom, group, plural);
    const struct custom_version *storage = custom ? custom_storage(custom) : NULL;
    int r = 0;
    if (storage)
        t.stored = &storage->resource;
    if (t.stored && t.stored->namespaced && !quota_ignores(group, plural))
        r = count_stored(c, &t, err);
    custom_unref(custom);
    return r;
}

static int count_all(struct count *c, struct err *err)
{
    autoset seen;
    text_set_init(&seen);
    for (size_t i = 0; i < c->n; i++)
        value_each_field (f, c->quotas[i].hard) {
            struct quota_kind kinds[QUOTA_KINDS_MAX];
            size_t n = quota_kinds_of(f->key, kinds);
            for (size_t k = 0; k < n; k++) {
                struct str name = arena_printf(c->arena, STR_FMT "/" STR_FMT,
                                               STR_ARG(kinds[k].group), STR_ARG(kinds[k].plural));
                if (!text_set_add(&seen, name, c))
                    continue;
                int r = count_kind(c, kinds[k].group, kinds[k].plural, err);
                if (r < 0)
                    return r;
            }
        }
    return 0;
}

/* ---- Writing ---- */

static bool is_same(const struct value *a, const struct value *b)
{
    size_t n_a = value_is(a, VALUE_OBJECT) ? a->n : 0, n_b = value_is(b, VALUE_OBJECT) ? b->n : 0;
    value_each_field (f, a) {
        const struct value *other = value_get(b, f->key);
        if (!other || quantity_cmp(value_str(&f->val), value_str(other)) != 0)
            return false;
    }
    return n_a == n_b;
}

/* What nobody could count stays as it was. */
static void keep_unknown(struct count *c, struct counted *q)
{
    value_each_field (f, value_dig(&q->obj, "status", "used"))
        if (value_get(q->hard, f->key) && !value_get(&q->used, f->key))
            value_put(c->arena, &q->used, f->key, value_borrow(&f->val));
}

/* 0; 1 if somebody was faster; or an error. */
static int write_quota(struct count *c, struct call *call, struct counted *q, struct err *err)
{
    const struct value *status = value_get(&q->obj, STR("status")),
                       *old_hard = value_get(status, STR("hard")),
                       *old_used = value_get(status, STR("used"));
    bool is_bounded_anew = !old_hard || !is_same(old_hard, q->hard);
    struct value obj = value_borrow(&q->obj), now = value_object();
    autobuf bytes = { 0 };
    keep_unknown(c, q);
    if (!is_bounded_anew && old_used && is_same(old_used, &q->used))
        return 0;
    value_put(c->arena, &now, STR("hard"), q->hard ? value_borrow(q->hard) : value_object());
    value_put(c->arena, &now, STR("used"), q->used);
    value_put(c->arena, &obj, STR("status"), now);
    managers_update(call, managers_own_request(call, STR("status")), &q->obj, &obj);
    int r = registry_settle(call, &obj, err);
    if (r < 0)
        return r;
    stored_write(&bytes, call->stored, &obj);
    struct store_op ops[2] = {
        { .type = STORE_PUT,
          .key = stored_key(c->arena, call->stored, c->ns,
                            value_str(value_dig(&q->obj, "metadata", "name"))),
          .value = buf_str(&bytes),
          .expect_rev = q->rev },
        /* Who has not been charged for what is bounded only now must look again. */
        { .type = STORE_PUT,
          .key = quota_charge_key(c->arena, c->ns),
          .value = STR("1"),
          .expect_rev = STORE_ANY },
    };
    struct store_txn txn = { .ops = ops, .n_ops = is_bounded_anew ? 2 : 1 };
    r = store_commit(c->api->store, &txn, err);
    if (r != -ERR_CONFLICT)
        return r;
    err_clear(err);
    return 1;
}

static int count_namespace(struct count *c, bool *ret_any, struct err *err)
{
    struct call call = { .api = c->api,
                         .arena = c->arena,
                         .stored = kind_stored_named(STR(""), STR("resourcequotas")) };
    bool is_late = false;
    call.req.resource = call.stored;
    call.req.ns = c->ns;
    int r = read_quotas(c, call.stored, err);
    if (r < 0)
        return r;
    *ret_any = c->n > 0;
    r = count_all(c, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < c->n; i++) {
        r = write_quota(c, &call, &c->quotas[i], err);
        if (r < 0)
            return r;
        is_late |= r == 1;
    }
    return is_late;
}

int quota_count(struct api *api, struct str ns, bool *ret_any, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct count c = {
        .api = api, .arena = &a, .ns = ns, .now_sec = clock_wall_ns(api->clock) / NS_PER_SEC
    };
    int r = count_namespace(&c, ret_any, err);
    arena_done(&a);
    return r;
}
