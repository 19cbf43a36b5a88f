#include "auth/rbac_grants.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

enum { TAIL_MAX = 32 }; /* roles that are looked at one by one */

/* ---- The table ---- */

struct slot {
    uint64_t hash;
    const struct rbac_rule *rule; /* NULL: empty */
};

/* Rules by what they are about. Those that no single hash finds (with *, or of paths) stand apart.
 */
struct rbac_table {
    size_t mask, n_wide;
    const struct rbac_rule **wide;
    struct slot slots[];
};

static uint64_t mix(uint64_t h, struct str s)
{
    return (h ^ map_hash(s)) * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_of(struct str group, struct str resource, struct str name)
{
    uint64_t h = mix(mix(mix(1, group), resource), name);
    return h ? h : 1;
}

static bool has_star(struct rbac_words words)
{
    for (size_t i = 0; i < words.n; i++)
        if (memchr(words.items[i].p, '*', words.items[i].n))
            return true;
    return false;
}

static bool is_wide(const struct rbac_rule *rule)
{
    return rule->urls.n || has_star(rule->groups) || has_star(rule->resources);
}

static size_t keys_of(const struct rbac_rule *rule)
{
    return rule->groups.n * rule->resources.n * (rule->names.n ? rule->names.n : 1);
}

static void put(struct rbac_table *t, uint64_t hash, const struct rbac_rule *rule)
{
    size_t i = hash & t->mask;
    while (t->slots[i].rule)
        i = (i + 1) & t->mask;
    t->slots[i] = (struct slot){ hash, rule };
}

static void put_rule(struct rbac_table *t, const struct rbac_rule *rule)
{
    if (is_wide(rule)) {
        t->wide[t->n_wide++] = rule;
        return;
    }
    for (size_t g = 0; g < rule->groups.n; g++)
        for (size_t k = 0; k < rule->resources.n; k++) {
            struct str group = rule->groups.items[g], resource = rule->resources.items[k];
            for (size_t i = 0; i < rule->names.n; i++)
                put(t, hash_of(group, resource, rule->names.items[i]), rule);
            if (!rule->names.n)
                put(t, hash_of(group, resource, STR("")), rule);
        }
}

static const struct rbac_rules *rules_of(const struct rbac_role *role)
{
    return __atomic_load_n(&role->rules, __ATOMIC_ACQUIRE);
}

static struct rbac_table *table_new(struct rbac_role *const *roles, size_t n_roles)
{
    size_t n_keys = 0, n_wide = 0, cap = 64;
    for (size_t i = 0; i < n_roles; i++) {
        const struct rbac_rules *rules = rules_of(roles[i]);
        for (size_t k = 0; rules && k < rules->n; k++) {
            n_keys += is_wide(&rules->items[k]) ? 0 : keys_of(&rules->items[k]);
            n_wide += is_wide(&rules->items[k]);
        }
    }
    while (cap < 2 * n_keys)
        cap *= 2;
    struct rbac_table *t =
        mem_zalloc(sizeof(*t) + cap * sizeof(struct slot) + n_wide * sizeof(void *));
    t->mask = cap - 1;
    t->wide = (const struct rbac_rule **)(t->slots + cap);
    for (size_t i = 0; i < n_roles; i++) {
        const struct rbac_rules *rules = rules_of(roles[i]);
        for (size_t k = 0; rules && k < rules->n; k++)
            put_rule(t, &rules->items[k]);
    }
    return t;
}

static bool table_has(const struct rbac_table *t, const struct access *q, struct str name)
{
    char text[512];
    struct str resource = q->resource;
    if (q->sub.n) {
        resource = (struct str){ text, q->resource.n + 1 + q->sub.n };
        if (resource.n > sizeof(text))
            return false; /* no resource has such a name */
        if (q->resource.n)
            memcpy(text, q->resource.p, q->resource.n);
        text[q->resource.n] = '/';
        memcpy(text + q->resource.n + 1, q->sub.p, q->sub.n);
    }
    uint64_t hash = hash_of(q->group, resource, name);
    for (size_t i = hash & t->mask; t->slots[i].rule; i = (i + 1) & t->mask)
        if (t->slots[i].hash == hash && rbac_rule_allows(t->slots[i].rule, q))
            return true;
    return false;
}

static bool table_allows(const struct rbac_table *t, const struct access *q)
{
    if (q->is_resource && (table_has(t, q, STR("")) || (q->name.n && table_has(t, q, q->name))))
        return true;
    for (size_t i = 0; i < t->n_wide; i++)
        if (rbac_rule_allows(t->wide[i], q))
            return true;
    return false;
}

/* ---- Grants ---- */

static struct rbac_grants *grants_new(size_t n_bindings, size_t n_roles)
{
    struct rbac_grants *g = mem_zalloc(sizeof(*g) + (n_bindings + n_roles) * sizeof(void *));
    g->bindings = (const struct rbac_binding **)(g + 1);
    g->roles = (struct rbac_role **)(g->bindings + n_bindings);
    return g;
}

static bool has_role(const struct rbac_grants *g, const struct rbac_role *role)
{
    for (size_t i = 0; i < g->n_roles; i++)
        if (g->roles[i] == role)
            return true;
    return false;
}

static void add_role(struct rbac_grants *g, struct rbac_role *role)
{
    if (role && !has_role(g, role))
        g->roles[g->n_roles++] = role;
}

/* `old` has the table that is taken along as long as few roles are missing in it; NULL: none. */
static void set_table(struct rbac_grants *g, const struct rbac_grants *old)
{
    if (old && old->table && g->n_roles - old->n_in_table <= TAIL_MAX) {
        g->table = old->table;
        g->n_in_table = old->n_in_table;
    } else if (g->n_roles > TAIL_MAX) {
        g->table = table_new(g->roles, g->n_roles);
        g->n_in_table = g->n_roles;
    }
}

struct rbac_grants *rbac_grants_add(const struct rbac_grants *old, const struct rbac_binding *b)
{
    size_t n = old ? old->n_bindings : 0, at = 0;
    struct rbac_grants *g = grants_new(n + 1, (old ? old->n_roles : 0) + 1);
    while (at < n && str_cmp(old->bindings[at]->name, b->name) < 0)
        at++;
    for (size_t i = 0; i < n; i++)
        g->bindings[i + (i >= at)] = old->bindings[i];
    g->bindings[at] = b;
    g->n_bindings = n + 1;
    for (size_t i = 0; old && i < old->n_roles; i++)
        g->roles[g->n_roles++] = old->roles[i];
    add_role(g, b->role);
    set_table(g, old);
    return g;
}

/* The roles without one. The table is kept if it does not know that one. */
static void copy_roles_but(struct rbac_grants *g, const struct rbac_grants *old,
                           const struct rbac_role *gone)
{
    size_t at = old->n_roles;
    for (size_t i = 0; i < old->n_roles; i++) {
        if (old->roles[i] == gone)
            at = i;
        else
            g->roles[g->n_roles++] = old->roles[i];
    }
    set_table(g, at >= old->n_in_table ? old : NULL);
}

struct rbac_grants *rbac_grants_remove(const struct rbac_grants *old, const struct rbac_binding *b)
{
    struct rbac_grants *g = grants_new(old->n_bindings, old->n_roles);
    bool is_given_otherwise = false;
    for (size_t i = 0; i < old->n_bindings; i++) {
        if (old->bindings[i] == b)
            continue;
        g->bindings[g->n_bindings++] = old->bindings[i];
        is_given_otherwise |= old->bindings[i]->role == b->role;
    }
    copy_roles_but(g, old, is_given_otherwise ? NULL : b->role);
    return g;
}

struct rbac_grants *rbac_grants_renew(const struct rbac_grants *old)
{
    struct rbac_grants *g = grants_new(old->n_bindings, old->n_roles);
    memcpy(g->bindings, old->bindings, old->n_bindings * sizeof(*g->bindings));
    memcpy(g->roles, old->roles, old->n_roles * sizeof(*g->roles));
    g->n_bindings = old->n_bindings;
    g->n_roles = old->n_roles;
    set_table(g, NULL);
    return g;
}

bool rbac_grants_allow(const struct rbac_grants *g, const struct access *q)
{
    if (g->table && table_allows(g->table, q))
        return true;
    for (size_t i = g->n_in_table; i < g->n_roles; i++) {
        const struct rbac_rules *rules = rules_of(g->roles[i]);
        for (size_t k = 0; rules && k < rules->n; k++)
            if (rbac_rule_allows(&rules->items[k], q))
                return true;
    }
    return false;
}
