#include "mesh/security/select.h"

#include "mesh/model/tree.h"
#include "base/banned.h"

static bool targets(const struct value *ref, const struct mesh_object *o,
                    const struct mesh_proxy *p)
{
    struct str gateway = value_text(p->labels, "gateway.networking.k8s.io/gateway-name");
    return gateway.n && str_eq(o->ns, p->ns) && str_eq(value_text(ref, "kind"), STR("Gateway")) &&
           str_eq(value_text(ref, "name"), gateway);
}

bool policy_is_for(const struct realm *w, const struct mesh_object *o, const struct mesh_proxy *p)
{
    const struct value *ref = value_get(o->spec, STR("targetRef"));
    const struct value *refs = value_get(o->spec, STR("targetRefs"));
    if (!str_eq(o->ns, p->ns) && !str_eq(o->ns, w->settings.root_ns))
        return false;
    if (ref || tree_has(refs)) {
        if (ref && targets(ref, o, p))
            return true;
        value_each_item (it, refs) {
            if (targets(it, o, p))
                return true;
        }
        return false;
    }
    return realm_selects(value_dig(o->spec, "selector", "matchLabels"), p->labels);
}
