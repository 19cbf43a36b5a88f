#include "server/registry/aggregation.h"

#include "base/log.h"
#include "select/labels.h"
#include "server/object/stored.h"
#include "server/registry/registry.h"
#include "base/banned.h"

/* All cluster roles, by name. */
struct roles {
    struct arena *arena;
    struct value *items;
    size_t n, cap;
};

static int add_role(struct roles *all, const struct kind_resource *stored,
                    const struct store_entry *e, struct err *err)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 64;
        all->items = arena_grow(all->arena, all->items, all->cap * sizeof(*all->items),
                                cap * sizeof(*all->items), alignof(struct value));
        all->cap = cap;
    }
    const struct store_entry kept = { .key = arena_str(all->arena, e->key),
                                      .value = arena_str(all->arena, e->value),
                                      .mod_rev = e->mod_rev };
    int r = stored_read(all->arena, stored->type, &kept, &all->items[all->n], err);
    if (r < 0)
        return r;
    all->n++;
    return 0;
}

static int read_roles(struct call *c, struct roles *all, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, stored_key(c->arena, c->stored, STR(""), STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) > 0) {
        r = add_role(all, c->stored, &e, err);
        if (r < 0)
            break;
    }
    store_snap_end(snap);
    return r;
}

static bool has_rule(const struct value *rules, const struct value *rule)
{
    value_each_item (it, rules)
        if (value_eq(it, rule))
            return true;
    return false;
}

static void add_rules(struct arena *a, const struct value *role, struct value *rules)
{
    value_each_item (rule, value_get(role, STR("rules")))
        if (!has_rule(rules, rule))
            value_put_item(a, rules, value_borrow(rule));
}

/* The rules of all roles that one of the selectors takes, but its own. */
static int gather(const struct roles *all, const struct value *of, struct value *ret,
                  struct err *err)
{
    struct str name = value_str(value_dig(of, "metadata", "name"));
    *ret = value_array();
    value_each_item (it, value_dig(of, "aggregationRule", "clusterRoleSelectors")) {
        struct labels_selector selector;
        int r = labels_from_value(all->arena, it, &selector, err);
        if (r < 0)
            return r;
        for (size_t i = 0; i < all->n; i++) {
            const struct value *role = &all->items[i];
            if (!str_eq(value_str(value_dig(role, "metadata", "name")), name) &&
                labels_match_value(&selector, value_dig(role, "metadata", "labels")))
                add_rules(all->arena, role, ret);
        }
    }
    return 0;
}

/* An update that sets the rules. */
struct gathered {
    struct arena *arena;
    const struct value *rules;
};

static int set_rules(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                     struct err *err)
{
    const struct gathered *g = u->arg;
    (void)err;
    *ret = value_borrow(&now->obj);
    value_put(g->arena, ret, STR("rules"), value_borrow(g->rules));
    return 0;
}

static bool is_up_to_date(const struct value *role, const struct value *rules)
{
    const struct value *now = value_get(role, STR("rules"));
    return value_is(now, VALUE_ARRAY) ? value_eq(now, rules) : !rules->n;
}

/* Brings the first role that needs it up to date: writing it leads here again. */
static int follow(struct call *c, struct err *err)
{
    struct roles all = { .arena = c->arena };
    int r = read_roles(c, &all, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < all.n; i++) {
        const struct value *role = &all.items[i];
        struct value rules, result;
        if (!value_get(role, STR("aggregationRule")))
            continue;
        r = gather(&all, role, &rules, err);
        if (r < 0)
            return r;
        if (is_up_to_date(role, &rules))
            continue;
        struct gathered g = { c->arena, &rules };
        struct registry_update u = { .change = set_rules, .arg = &g, .tries_again = true };
        return registry_update(c, value_str(value_dig(role, "metadata", "name")), &u, &result, err);
    }
    return 0;
}

void aggregation_follow(struct call *c)
{
    static const struct str group = STR("rbac.authorization.k8s.io");
    if (!c->api->aggregates_roles || !str_eq(c->stored->plural, STR("clusterroles")) ||
        !str_eq(c->stored->group, group))
        return;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct call own = { .api = c->api, .arena = &a, .stored = c->stored, .is_step = true };
    own.req.resource = c->stored;
    if (follow(&own, &err) < 0)
        log_error("cluster roles could not be aggregated", LOG_ERR(&err));
    arena_done(&a);
}
