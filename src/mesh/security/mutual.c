/* PeerAuthentication: whether a port takes mutual TLS, the clear, or both. */
#include "mesh/security/security.h"
#include "base/banned.h"

static bool read_mode(const struct value *v, enum mutual_mode *ret)
{
    struct str s = value_text(v, "mode");
    if (str_eq(s, STR("STRICT")))
        *ret = MUTUAL_STRICT;
    else if (str_eq(s, STR("PERMISSIVE")))
        *ret = MUTUAL_PERMISSIVE;
    else if (str_eq(s, STR("DISABLE")))
        *ret = MUTUAL_DISABLE;
    else
        return false;
    return true;
}

/* The oldest of the root namespace, of the namespace and of the workload; the narrower one wins
 * where it says something. */
enum mutual_mode security_mutual_mode(const struct realm *w, const struct mesh_proxy *p, int port)
{
    enum mutual_mode mode = MUTUAL_PERMISSIVE;
    const struct mesh_object *found[3] = { NULL, NULL, NULL };
    for (size_t i = 0; i < w->of[MESH_PEER_AUTHENTICATION].n; i++) {
        const struct mesh_object *o = w->of[MESH_PEER_AUTHENTICATION].items[i];
        const struct value *selector = value_dig(o->spec, "selector", "matchLabels");
        bool selects = selector && selector->n;
        int level = selects ? 2 : str_eq(o->ns, p->ns) ? 1 : 0;
        if (!str_eq(o->ns, p->ns) && (selects || !str_eq(o->ns, w->settings.root_ns)))
            continue;
        if (selects && !realm_selects(selector, p->labels))
            continue;
        if (!found[level])
            found[level] = o;
    }
    for (int i = 0; i < 3; i++) {
        if (found[i])
            (void)read_mode(value_get(found[i]->spec, STR("mtls")), &mode);
    }
    value_each_field (f, found[2] ? value_get(found[2]->spec, STR("portLevelMtls")) : NULL) {
        uint64_t number;
        if (str_to_u64(f->key, &number) && number == (uint64_t)port)
            (void)read_mode(&f->val, &mode);
    }
    return mode;
}
