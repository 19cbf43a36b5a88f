#include "mesh/model/proxy.h"

#include "base/banned.h"

static bool says(const struct value *meta, const char *key, const char *what)
{
    return str_eq(value_str(value_get(meta, str_of(key))), str_of(what));
}

bool mesh_proxy_read(struct arena *a, const struct value *node, struct mesh_proxy *ret)
{
    struct str rest = arena_str(a, value_text(node, "id"));
    *ret = (struct mesh_proxy){ .id = rest };
    struct str type = str_cut(&rest, '~');
    ret->ip = str_cut(&rest, '~');
    struct str full = str_cut(&rest, '~');
    ret->domain = rest;
    ret->is_router = str_eq(type, STR("router"));
    if ((!ret->is_router && !str_eq(type, STR("sidecar"))) || !ret->domain.n)
        return false;
    ret->name = str_cut(&full, '.');
    ret->ns = full;
    struct value *meta = arena_new(a, struct value);
    const struct value *given = value_get(node, STR("metadata"));
    *meta = given ? value_clone(a, given) : value_object();
    ret->meta = meta;
    ret->labels = value_get(meta, STR("LABELS"));
    ret->no_capture = says(meta, "INTERCEPTION_MODE", "NONE");
    ret->is_unprivileged = says(meta, "UNPRIVILEGED_POD", "true");
    struct str ns = value_text(meta, "NAMESPACE");
    if (ns.n)
        ret->ns = ns;
    return true;
}
