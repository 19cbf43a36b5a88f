/* rbac_explain.c - decisions with their reasons, and what a user holds: binding by binding, as
 * upstream walks. For those who ask, and for refusals. */
#include <stdlib.h>

#include "api/go/quote.h"
#include "auth/rbac_internal.h"
#include "base/map.h"
#include "base/banned.h"

/* The bindings of a user in a scope. */
struct found {
    struct arena *arena;
    const struct rbac_binding **items;
    size_t n, cap;
};

static void find_in(struct found *f, const struct rbac_grants *g)
{
    if (!g)
        return;
    if (f->n + g->n_bindings > f->cap) {
        size_t cap = 2 * (f->n + g->n_bindings);
        f->items = arena_grow(f->arena, f->items, f->cap * sizeof(*f->items),
                              cap * sizeof(*f->items), alignof(void *));
        f->cap = cap;
    }
    for (size_t i = 0; i < g->n_bindings; i++)
        f->items[f->n++] = g->bindings[i];
}

static int by_name(const void *x, const void *y)
{
    const struct rbac_binding *const *a = x, *const *b = y;
    return str_cmp((*a)->name, (*b)->name);
}

/* By name, each once. */
static void find_bindings(const struct rbac *r, const struct user *user, struct str scope,
                          struct found *f)
{
    uint64_t hash = map_hash(scope);
    f->n = 0;
    find_in(f, rbac__grants(r, scope, hash, false, user->name));
    for (size_t i = 0; i < user->n_groups; i++)
        find_in(f, rbac__grants(r, scope, hash, true, user->groups[i]));
    if (!f->n)
        return;
    qsort(f->items, f->n, sizeof(*f->items), by_name);
    size_t n = 1;
    for (size_t i = 1; i < f->n; i++)
        if (f->items[i] != f->items[n - 1])
            f->items[n++] = f->items[i];
    f->n = n;
}

struct str rbac__missing_role(struct arena *a, const char *resource, struct str name)
{
    autobuf out = { 0 };
    buf_str_add(&out, str_of(resource));
    buf_str_add(&out, STR(".rbac.authorization.k8s.io "));
    quote_go(&out, name);
    buf_str_add(&out, STR(" not found"));
    return arena_str(a, buf_str(&out));
}

/* NULL if it does not exist. */
static const struct rbac_rules *bound_rules(const struct rbac_binding *b)
{
    return b->role ? __atomic_load_n(&b->role->rules, __ATOMIC_ACQUIRE) : NULL;
}

static struct str why_missing(struct arena *a, const struct rbac_binding *b)
{
    if (b->role)
        return rbac__missing_role(a, b->role->ns.n ? "role" : "clusterrole", b->role->name);
    autobuf out = { 0 };
    buf_str_add(&out, STR("unsupported role reference kind: "));
    quote_go(&out, b->role_kind);
    return arena_str(a, buf_str(&out));
}

/* The first subject of the binding that means the user. */
static const struct rbac_subject *subject_of(const struct rbac_binding *b, const struct user *user)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < b->n_subjects; i++) {
        bool is_group;
        struct str name;
        if (rbac__subject_is(&b->subjects[i], b->ns, &text, &is_group, &name) &&
            (is_group ? user_is_in(user, name) : str_eq(name, user->name)))
            return &b->subjects[i];
    }
    return NULL;
}

/* "NAME", or "NAME/NS" where there is a namespace. */
static void quote_placed(struct buf *out, struct str name, struct str ns)
{
    autobuf text = { 0 };
    buf_str_add(&text, name);
    if (ns.n) {
        buf_byte(&text, '/');
        buf_str_add(&text, ns);
    }
    quote_go(out, buf_str(&text));
}

static struct str allowed_by(struct arena *a, const struct rbac_binding *b, const struct user *user)
{
    const struct rbac_subject *s = subject_of(b, user);
    autobuf out = { 0 };
    buf_str_add(&out, b->ns.n ? STR("RBAC: allowed by RoleBinding ")
                              : STR("RBAC: allowed by ClusterRoleBinding "));
    quote_placed(&out, b->name, b->ns);
    buf_str_add(&out, STR(" of "));
    buf_str_add(&out, b->role_kind);
    buf_byte(&out, ' ');
    quote_go(&out, b->role_name);
    buf_str_add(&out, STR(" to "));
    if (s) {
        bool has_ns = str_eq(s->kind, STR("ServiceAccount"));
        buf_str_add(&out, s->kind);
        buf_byte(&out, ' ');
        quote_placed(&out, s->name, !has_ns ? STR("") : s->ns.n ? s->ns : b->ns);
    }
    return arena_str(a, buf_str(&out));
}

static bool binding_allows(const struct rbac_binding *b, const struct access *q)
{
    const struct rbac_rules *rules = bound_rules(b);
    for (size_t i = 0; rules && i < rules->n; i++)
        if (rbac_rule_allows(&rules->items[i], q))
            return true;
    return false;
}

/* Each word once, as upstream joins errors: alone, or in brackets. */
static struct str join_missing(struct arena *a, const struct str *items, size_t n)
{
    autobuf out = { 0 };
    size_t n_said = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_said = false;
        for (size_t k = 0; k < i; k++)
            is_said |= str_eq(items[k], items[i]);
        if (is_said)
            continue;
        if (n_said++)
            buf_str_add(&out, STR(", "));
        buf_str_add(&out, items[i]);
    }
    return n_said > 1 ? arena_printf(a, "RBAC: [" STR_FMT "]", STR_ARG(buf_str(&out)))
                      : arena_printf(a, "RBAC: " STR_FMT, STR_ARG(buf_str(&out)));
}

bool rbac_explain(const struct rbac *r, struct arena *a, const struct access *q,
                  struct str *ret_reason)
{
    struct found f = { .arena = a };
    struct rbac_holding h;
    const struct str scopes[] = { STR(""), q->ns };
    for (size_t i = 0; i < (q->ns.n ? 2 : 1); i++) {
        find_bindings(r, q->user, scopes[i], &f);
        for (size_t k = 0; k < f.n; k++)
            if (binding_allows(f.items[k], q)) {
                *ret_reason = allowed_by(a, f.items[k], q->user);
                return true;
            }
    }
    rbac_holding_of(r, a, q->user, q->ns, &h);
    *ret_reason = h.n_missing ? join_missing(a, h.missing, h.n_missing) : STR("");
    return false;
}

/* Adds what the bindings of a scope give. */
static void hold(struct arena *a, const struct found *f, struct rbac_holding *h)
{
    size_t n = h->n_rules;
    for (size_t i = 0; i < f->n; i++)
        n += bound_rules(f->items[i]) ? bound_rules(f->items[i])->n : 0;
    const struct rbac_rule **rules = arena_array(a, const struct rbac_rule *, n);
    struct str *missing = arena_array(a, struct str, h->n_missing + f->n);
    if (h->n_rules)
        memcpy(rules, h->rules, h->n_rules * sizeof(*rules));
    if (h->n_missing)
        memcpy(missing, h->missing, h->n_missing * sizeof(*missing));
    h->rules = rules;
    h->missing = missing;
    for (size_t i = 0; i < f->n; i++) {
        const struct rbac_rules *of = bound_rules(f->items[i]);
        if (!of)
            missing[h->n_missing++] = why_missing(a, f->items[i]);
        for (size_t k = 0; of && k < of->n && h->n_rules < n; k++)
            rules[h->n_rules++] = &of->items[k];
    }
}

void rbac_holding_of(const struct rbac *r, struct arena *a, const struct user *user, struct str ns,
                     struct rbac_holding *ret)
{
    struct found f = { .arena = a };
    *ret = (struct rbac_holding){ 0 };
    find_bindings(r, user, STR(""), &f);
    hold(a, &f, ret);
    if (!ns.n)
        return;
    find_bindings(r, user, ns, &f);
    hold(a, &f, ret);
}
