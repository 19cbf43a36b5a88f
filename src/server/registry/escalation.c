#include "server/registry/escalation.h"

#include <stdlib.h>

#include "api/errors.h"
#include "api/go/quote.h"
#include "auth/rbac_covers.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "server/guard/guard.h"
#include "base/banned.h"

static const struct str group = STR("rbac.authorization.k8s.io");

/* ---- What is granted ---- */

/* What is to be granted, held against what the user has. */
struct grant {
    struct call *call;
    const struct value *obj;
    bool is_binding;
    struct err *err;
};

static struct str user_text(struct arena *a, const struct user *user)
{
    autobuf out = { 0 };
    quote_go(&out, user->name);
    buf_str_add(&out, STR(" (groups=["));
    for (size_t i = 0; i < user->n_groups; i++) {
        if (i)
            buf_byte(&out, ' ');
        quote_go(&out, user->groups[i]);
    }
    buf_str_add(&out, STR("])"));
    return arena_str(a, buf_str(&out));
}

static struct str resolution_errors(struct arena *a, const struct rbac_holding *held)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < held->n_missing; i++) {
        buf_str_add(&out, i ? STR(", ") : STR(""));
        buf_str_add(&out, held->missing[i]);
    }
    const char *open = held->n_missing > 1 ? "[" : "", *close = held->n_missing > 1 ? "]" : "";
    return arena_printf(a, "; resolution errors: [%s" STR_FMT "%s]", open, STR_ARG(buf_str(&out)),
                        close);
}

/* 0, or a refusal that says what is missing. */
static int check_held(const struct grant *g, const struct rbac *rbac,
                      const struct rbac_rules *rules)
{
    struct call *c = g->call;
    struct rbac_holding held;
    struct str missing;
    rbac_holding_of(rbac, c->arena, c->user, c->req.ns, &held);
    int r = rbac_uncovered(c->arena, held.rules, held.n_rules, rules, &missing, g->err);
    if (r < 0 || !missing.n)
        return r;
    struct str why = arena_printf(
        c->arena,
        "user " STR_FMT
        " is attempting to grant RBAC permissions not currently held:\n" STR_FMT STR_FMT,
        STR_ARG(user_text(c->arena, c->user)), STR_ARG(missing),
        STR_ARG(held.n_missing ? resolution_errors(c->arena, &held) : STR("")));
    return error_forbidden(g->err, c->req.resource,
                           value_str(value_dig(g->obj, "metadata", "name")), why);
}

static int check_binding(const struct grant *g, const struct rbac *rbac)
{
    struct call *c = g->call;
    const struct value *ref = value_get(g->obj, STR("roleRef"));
    struct str kind = value_text(ref, "kind"), name = value_text(ref, "name"), missing;
    const struct rbac_rules *rules =
        rbac_role_rules(rbac, c->arena, kind, c->req.ns, name, &missing);
    if (rules)
        return check_held(g, rbac, rules);
    bool is_local = str_eq(kind, STR("Role"));
    if (is_local && !c->req.ns.n)
        return err_set(g->err, ERR_BAD_REQUEST, "Namespace parameter required.");
    const struct kind_resource roles = { .group = group,
                                         .plural = is_local ? STR("role") : STR("clusterrole") };
    return error_not_found(g->err, &roles, name);
}

/* Setting a rule that gathers others' rules takes everything. */
static int check_aggregation(const struct grant *g, const struct rbac *rbac)
{
    static const struct str star[] = { STR("*") };
    static const struct rbac_rule all[] = {
        { .verbs = { star, 1 }, .groups = { star, 1 }, .resources = { star, 1 } },
        { .verbs = { star, 1 }, .urls = { star, 1 } },
    };
    static const struct rbac_rules everything = { 2, all };
    if (check_held(g, rbac, &everything) == 0)
        return 0;
    err_clear(g->err);
    return error_forbidden(g->err, g->call->req.resource,
                           value_str(value_dig(g->obj, "metadata", "name")),
                           STR("must have cluster-admin privileges to use the aggregationRule"));
}

static bool aggregates(const struct value *role)
{
    const struct value *selectors = value_dig(role, "aggregationRule", "clusterRoleSelectors");
    return value_is(selectors, VALUE_ARRAY) && selectors->n;
}

static int check_role(const struct grant *g, const struct rbac *rbac)
{
    struct rbac_rules *rules = rbac_rules_new(value_get(g->obj, STR("rules")));
    int r = check_held(g, rbac, rules);
    free(rules);
    return r;
}

struct question {
    struct grant grant;
    const struct value *old_obj;
};

static int check_grant(const struct rbac *rbac, void *arg)
{
    const struct question *q = arg;
    const struct grant *g = &q->grant;
    if (!rbac)
        return 0;
    if (g->is_binding)
        return check_binding(g, rbac);
    int r = check_role(g, rbac);
    if (r < 0 || (!aggregates(g->obj) && !aggregates(q->old_obj)))
        return r;
    return check_aggregation(g, rbac);
}

/* ---- Who need not be asked ---- */

/* Nothing but what the garbage collector goes by has changed. A replaced object, which says all of
 * itself again, must have changed there. */
static bool is_gc_only(const struct call *c, const struct value *obj, const struct value *old_obj)
{
    static const struct str fields[] = { STR("ownerReferences"), STR("finalizers"),
                                         STR("managedFields"), STR("resourceVersion"),
                                         STR("generation") };
    struct arena *a = c->arena;
    struct value now = value_borrow(obj), old = value_borrow(old_obj);
    bool has_changed = false;
    for (size_t i = 0; i < 2; i++) {
        const struct value *x = value_get(value_get(obj, STR("metadata")), fields[i]),
                           *y = value_get(value_get(old_obj, STR("metadata")), fields[i]);
        has_changed |= !x != !y || (x && !value_eq(x, y));
    }
    if (c->verb == KIND_UPDATE && !has_changed)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        value_drop(a, value_ensure(a, &now, STR("metadata")), fields[i]);
        value_drop(a, value_ensure(a, &old, STR("metadata")), fields[i]);
    }
    return value_eq(&now, &old);
}

static bool has_verb(struct call *c, bool is_binding, const struct value *obj)
{
    const struct value *ref = value_get(obj, STR("roleRef"));
    struct access q = { .user = c->user,
                        .is_resource = true,
                        .verb = STR("escalate"),
                        .group = group,
                        .version = STR("*"),
                        .resource = c->stored->plural,
                        .ns = c->req.ns,
                        .name = c->req.name };
    if (is_binding) {
        bool is_local = str_eq(value_text(ref, "kind"), STR("Role"));
        q.verb = STR("bind");
        q.group = value_text(ref, "apiGroup");
        q.resource = is_local ? STR("roles") : STR("clusterroles");
        q.name = value_text(ref, "name");
    }
    struct str reason;
    return guard_decide(c->api->guard, c->arena, &q, &reason);
}

int escalation_check(struct call *c, const struct value *obj, const struct value *old_obj,
                     struct err *err)
{
    bool is_binding = str_ends(c->stored->plural, STR("rolebindings"));
    if (!str_eq(c->stored->group, group) || !c->user || user_is_in(c->user, USER_MASTERS))
        return 0;
    if ((old_obj && is_gc_only(c, obj, old_obj)) || has_verb(c, is_binding, obj))
        return 0;
    struct question q = { .grant = { c, obj, is_binding, err }, .old_obj = old_obj };
    return guard_with_rbac(c->api->guard, check_grant, &q);
}
