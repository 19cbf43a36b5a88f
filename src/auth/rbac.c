#include "auth/rbac.h"

#include <stdlib.h>

#include "auth/rbac_internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

/* ---- Subjects: who has something in a scope ---- */

/* A name in a scope, and what it was given there. Service accounts are users by their full name. */
struct holder {
    uint64_t hash;
    bool is_group;
    struct str scope, name;     /* in the block */
    struct rbac_grants *grants; /* atomic; NULL or without bindings: nothing any more */
};

/* Sealed but for its slots, which are filled one by one. */
struct holders {
    size_t mask;
    struct holder *slots[]; /* atomic */
};

struct rbac {
    struct rbac_retire retire;
    struct holders *holders; /* atomic */
    size_t n_holders;        /* this and what follows: the writer's */
    struct map roles;        /* "NS/NAME" to struct rbac_role */
    struct map bindings;     /* "NS/NAME" to struct rbac_binding */
};

enum { HOLDERS_MIN = 64 };

static struct holders *holders_new(size_t cap)
{
    struct holders *h = mem_zalloc(sizeof(*h) + cap * sizeof(struct holder *));
    h->mask = cap - 1;
    return h;
}

/* So that the name of a user and of a group hash apart. */
static uint64_t hash_of(uint64_t scope_hash, bool is_group, struct str name)
{
    return (map_hash(name) + is_group) * UINT64_C(0x9E3779B97F4A7C15) ^ scope_hash;
}

const struct rbac_grants *rbac__grants(const struct rbac *r, struct str scope, uint64_t scope_hash,
                                       bool is_group, struct str name)
{
    const struct holders *all = __atomic_load_n(&r->holders, __ATOMIC_ACQUIRE);
    uint64_t hash = hash_of(scope_hash, is_group, name);
    for (size_t i = hash & all->mask;; i = (i + 1) & all->mask) {
        const struct holder *h = __atomic_load_n(&all->slots[i], __ATOMIC_ACQUIRE);
        if (!h)
            return NULL;
        if (h->hash == hash && h->is_group == is_group && str_eq(h->name, name) &&
            str_eq(h->scope, scope))
            return __atomic_load_n(&h->grants, __ATOMIC_ACQUIRE);
    }
}

static void put_holder(struct holders *all, struct holder *h)
{
    size_t i = h->hash & all->mask;
    while (all->slots[i])
        i = (i + 1) & all->mask;
    __atomic_store_n(&all->slots[i], h, __ATOMIC_RELEASE);
}

static void retire(struct rbac *r, void *block)
{
    if (block)
        r->retire.block(r->retire.arg, block);
}

/* Holders without grants are left behind. */
static void grow(struct rbac *r)
{
    struct holders *old = r->holders;
    size_t n = 0, cap = HOLDERS_MIN;
    for (size_t i = 0; i <= old->mask; i++)
        n += old->slots[i] && old->slots[i]->grants;
    while (cap < 4 * n)
        cap *= 2;
    struct holders *all = holders_new(cap);
    for (size_t i = 0; i <= old->mask; i++)
        if (old->slots[i] && old->slots[i]->grants)
            put_holder(all, old->slots[i]);
        else
            retire(r, old->slots[i]);
    __atomic_store_n(&r->holders, all, __ATOMIC_RELEASE);
    r->n_holders = n;
    retire(r, old);
}

static struct holder *holder_of(struct rbac *r, struct str scope, bool is_group, struct str name)
{
    uint64_t hash = hash_of(map_hash(scope), is_group, name);
    for (size_t i = hash & r->holders->mask; r->holders->slots[i]; i = (i + 1) & r->holders->mask) {
        struct holder *h = r->holders->slots[i];
        if (h->hash == hash && h->is_group == is_group && str_eq(h->name, name) &&
            str_eq(h->scope, scope))
            return h;
    }
    if (2 * (r->n_holders + 1) > r->holders->mask + 1)
        grow(r);
    struct holder *h = mem_zalloc(sizeof(*h) + scope.n + name.n);
    char *text = (char *)(h + 1);
    *h = (struct holder){ .hash = hash, .is_group = is_group };
    h->scope = (struct str){ memcpy(text, scope.n ? scope.p : "", scope.n), scope.n };
    h->name = (struct str){ memcpy(text + scope.n, name.n ? name.p : "", name.n), name.n };
    put_holder(r->holders, h);
    r->n_holders++;
    return h;
}

/* ---- The writer ---- */

static struct str key_of(struct buf *out, struct str ns, struct str name)
{
    buf_str_add(out, ns);
    buf_byte(out, '/');
    buf_str_add(out, name);
    return buf_str(out);
}

static struct rbac_role *role_of(struct rbac *r, struct str ns, struct str name)
{
    autobuf text = { 0 };
    struct str key = key_of(&text, ns, name);
    struct rbac_role *role = map_get(&r->roles, key);
    if (role)
        return role;
    role = mem_zalloc(sizeof(*role) + key.n);
    char *kept = memcpy(role + 1, key.p, key.n);
    role->ns = (struct str){ kept, ns.n };
    role->name = (struct str){ kept + ns.n + 1, name.n };
    (void)map_set(&r->roles, (struct str){ kept, key.n }, role);
    return role;
}

/* What nothing refers to any more is forgotten. */
static void role_unused(struct rbac *r, struct rbac_role *role)
{
    if (!role || role->rules || role->bindings)
        return;
    struct str key = { role->ns.p, role->ns.n + 1 + role->name.n };
    (void)map_remove(&r->roles, key);
    retire(r, role);
}

static void publish(struct rbac *r, struct holder *h, struct rbac_grants *grants)
{
    struct rbac_grants *old = h->grants;
    if (!grants->n_bindings) {
        free(grants);
        grants = NULL;
    }
    __atomic_store_n(&h->grants, grants, __ATOMIC_RELEASE);
    if (old && (!grants || grants->table != old->table))
        retire(r, old->table);
    retire(r, old);
}

bool rbac__subject_is(const struct rbac_subject *s, struct str scope, struct buf *text,
                      bool *ret_group, struct str *ret_name)
{
    *ret_group = str_eq(s->kind, STR("Group"));
    *ret_name = s->name;
    if (*ret_group || str_eq(s->kind, STR("User")))
        return true;
    struct str ns = s->ns.n ? s->ns : scope;
    if (!str_eq(s->kind, STR("ServiceAccount")) || !ns.n)
        return false;
    buf_reset(text);
    buf_str_add(text, USER_SERVICE_ACCOUNT);
    buf_str_add(text, ns);
    buf_byte(text, ':');
    buf_str_add(text, s->name);
    *ret_name = buf_str(text);
    return true;
}

enum change { ADD, REMOVE, RENEW };

static void change_subject(struct rbac *r, const struct rbac_binding *b,
                           const struct rbac_subject *s, enum change what)
{
    autobuf text = { 0 };
    bool is_group;
    struct str name;
    if (!rbac__subject_is(s, b->ns, &text, &is_group, &name))
        return;
    struct holder *h = holder_of(r, b->ns, is_group, name);
    if (what == ADD)
        publish(r, h, rbac_grants_add(h->grants, b));
    else if (what == REMOVE && h->grants)
        publish(r, h, rbac_grants_remove(h->grants, b));
    else if (what == RENEW && h->grants && h->grants->table)
        publish(r, h, rbac_grants_renew(h->grants));
}

/* A subject that is named twice counts once. */
static bool is_repeated(const struct rbac_binding *b, size_t i)
{
    const struct rbac_subject *s = &b->subjects[i];
    for (size_t k = 0; k < i; k++)
        if (str_eq(b->subjects[k].kind, s->kind) && str_eq(b->subjects[k].ns, s->ns) &&
            str_eq(b->subjects[k].name, s->name))
            return true;
    return false;
}

static void change_binding(struct rbac *r, const struct rbac_binding *b, enum change what)
{
    for (size_t i = 0; i < b->n_subjects; i++)
        if (!is_repeated(b, i))
            change_subject(r, b, &b->subjects[i], what);
}

void rbac_set_role(struct rbac *r, struct str ns, struct str name, const struct value *role)
{
    struct rbac_role *entry = role_of(r, ns, name);
    struct rbac_rules *old = entry->rules,
                      *rules = role ? rbac_rules_new(value_get(role, STR("rules"))) : NULL;
    __atomic_store_n(&entry->rules, rules, __ATOMIC_RELEASE);
    for (const struct rbac_binding *b = entry->bindings; b; b = b->next)
        change_binding(r, b, RENEW);
    retire(r, old);
    role_unused(r, entry);
}

/* Copies text into the block. */
static struct str keep(char **at, struct str s)
{
    struct str kept = { *at, s.n };
    if (s.n)
        memcpy(*at, s.p, s.n);
    *at += s.n;
    return kept;
}

static struct rbac_binding *binding_new(struct str ns, struct str name, const struct value *obj)
{
    const struct value *ref = value_get(obj, STR("roleRef")),
                       *subjects = value_get(obj, STR("subjects"));
    size_t n = value_is(subjects, VALUE_ARRAY) ? subjects->n : 0;
    size_t bytes = ns.n + name.n + 1 + value_text(ref, "kind").n + value_text(ref, "name").n;
    value_each_item (s, subjects)
        bytes += value_text(s, "kind").n + value_text(s, "namespace").n + value_text(s, "name").n;
    struct rbac_binding *b = mem_zalloc(sizeof(*b) + n * sizeof(struct rbac_subject) + bytes);
    struct rbac_subject *to = (struct rbac_subject *)(b + 1);
    char *text = (char *)(to + n);
    b->ns = keep(&text, ns);
    *text++ = '/'; /* the key stands in the block, too */
    b->name = keep(&text, name);
    b->role_kind = keep(&text, value_text(ref, "kind"));
    b->role_name = keep(&text, value_text(ref, "name"));
    b->subjects = to;
    value_each_item (s, subjects)
        to[b->n_subjects++] = (struct rbac_subject){ keep(&text, value_text(s, "kind")),
                                                     keep(&text, value_text(s, "namespace")),
                                                     keep(&text, value_text(s, "name")) };
    return b;
}

static struct str binding_key(const struct rbac_binding *b)
{
    return (struct str){ b->ns.p, b->ns.n + 1 + b->name.n };
}

static void link_role(struct rbac *r, struct rbac_binding *b)
{
    bool is_local = str_eq(b->role_kind, STR("Role"));
    if (!is_local && !str_eq(b->role_kind, STR("ClusterRole")))
        return;
    b->role = role_of(r, is_local ? b->ns : STR(""), b->role_name);
    b->next = b->role->bindings;
    b->link = &b->role->bindings;
    if (b->next)
        b->next->link = &b->next;
    b->role->bindings = b;
}

static void unlink_role(struct rbac_binding *b)
{
    if (!b->role)
        return;
    *b->link = b->next;
    if (b->next)
        b->next->link = b->link;
}

void rbac_set_binding(struct rbac *r, struct str ns, struct str name, const struct value *binding)
{
    autobuf text = { 0 };
    struct rbac_binding *old = map_get(&r->bindings, key_of(&text, ns, name)), *now = NULL;
    if (binding) {
        now = binding_new(ns, name, binding);
        link_role(r, now);
        (void)map_set(&r->bindings, binding_key(now), now);
        change_binding(r, now, ADD); /* first, so that nobody is without it in between */
    }
    if (!old)
        return;
    if (!now)
        (void)map_remove(&r->bindings, binding_key(old));
    change_binding(r, old, REMOVE);
    unlink_role(old);
    role_unused(r, old->role);
    retire(r, old);
}

struct rbac *rbac_new(const struct rbac_retire *retire)
{
    struct rbac *r = mem_new(struct rbac);
    r->retire = *retire;
    r->holders = holders_new(HOLDERS_MIN);
    return r;
}

struct rbac *rbac_free(struct rbac *r)
{
    if (!r)
        return NULL;
    for (size_t i = 0; i <= r->holders->mask; i++) {
        struct holder *h = r->holders->slots[i];
        if (h && h->grants)
            free(h->grants->table);
        if (h)
            free(h->grants);
        free(h);
    }
    free(r->holders);
    struct str key;
    void *p;
    for (size_t pos = 0; map_next(&r->bindings, &pos, &key, &p);)
        free(p);
    for (size_t pos = 0; map_next(&r->roles, &pos, &key, &p);) {
        free(((struct rbac_role *)p)->rules);
        free(p);
    }
    map_done(&r->bindings);
    map_done(&r->roles);
    free(r);
    return NULL;
}

/* ---- The readers ---- */

static bool scope_allows(const struct rbac *r, const struct access *q, struct str scope)
{
    uint64_t hash = map_hash(scope);
    const struct rbac_grants *g = rbac__grants(r, scope, hash, false, q->user->name);
    if (g && rbac_grants_allow(g, q))
        return true;
    for (size_t i = 0; i < q->user->n_groups; i++) {
        g = rbac__grants(r, scope, hash, true, q->user->groups[i]);
        if (g && rbac_grants_allow(g, q))
            return true;
    }
    return false;
}

bool rbac_allows(const struct rbac *r, const struct access *q)
{
    return scope_allows(r, q, STR("")) || (q->ns.n && scope_allows(r, q, q->ns));
}

const struct rbac_rules *rbac_role_rules(const struct rbac *r, struct arena *a, struct str kind,
                                         struct str ns, struct str name, struct str *ret_missing)
{
    autobuf text = { 0 };
    bool is_local = str_eq(kind, STR("Role"));
    const struct rbac_role *role = map_get(&r->roles, key_of(&text, is_local ? ns : STR(""), name));
    if (role && role->rules)
        return role->rules;
    *ret_missing = rbac__missing_role(a, is_local ? "role" : "clusterrole", name);
    return NULL;
}
