/* AuthorizationPolicy as filters: those that deny come before those that allow. */
#include "mesh/model/tree.h"
#include "mesh/security/security_internal.h"
#include "mesh/security/select.h"
#include "base/banned.h"

static bool has_action(const struct mesh_object *o, const char *action)
{
    struct str s = value_text(o->spec, "action");
    return str_eq(s.n ? s : STR("ALLOW"), str_of(action));
}

static void add_policy(struct arena *a, const struct mesh_object *o, bool is_tcp, bool denies,
                       struct value *policies)
{
    size_t i = 0;
    value_each_item (rule, value_get(o->spec, STR("rules"))) {
        struct value policy;
        struct str name = arena_printf(a, "ns[" STR_FMT "]-policy[" STR_FMT "]-rule[%zu]",
                                       STR_ARG(o->ns), STR_ARG(o->name), i++);
        if (security__rule(a, rule, is_tcp, denies, &policy))
            value_put(a, policies, name, policy);
    }
}

/* All policies with this action in one filter; none if no policy is for this proxy. */
static void add_action(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                       bool is_tcp, bool denies, struct value *filters)
{
    struct value policies = value_object();
    bool found = false;
    for (size_t i = 0; i < w->of[MESH_AUTHORIZATION_POLICY].n; i++) {
        const struct mesh_object *o = w->of[MESH_AUTHORIZATION_POLICY].items[i];
        if (!has_action(o, denies ? "DENY" : "ALLOW") || !policy_is_for(w, o, p))
            continue;
        found = true;
        add_policy(a, o, is_tcp, denies, &policies);
    }
    if (!found || (denies && !policies.n))
        return;
    struct value rules = tree(a, "{action: %t, policies: %v}", denies ? "DENY" : "ALLOW", policies);
    if (is_tcp)
        value_put_item(a, filters,
                       tree_extension(a, "envoy.filters.network.rbac",
                                      "envoy.extensions.filters.network.rbac.v3.RBAC",
                                      tree(a, "{rules: %v, stat_prefix: 'tcp.'}", rules)));
    else
        value_put_item(a, filters,
                       tree_extension(a, "envoy.filters.http.rbac",
                                      "envoy.extensions.filters.http.rbac.v3.RBAC",
                                      tree(a, "{rules: %v}", rules)));
}

void security_http_filters(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           struct value *filters)
{
    security__jwt(a, w, p, filters);
    add_action(a, w, p, false, true, filters);
    add_action(a, w, p, false, false, filters);
}

void security_network_filters(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                              struct value *filters)
{
    add_action(a, w, p, true, true, filters);
    add_action(a, w, p, true, false, filters);
}
