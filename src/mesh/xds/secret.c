#include "mesh/xds/secret.h"

#include "base/base64.h"
#include "base/buf.h"
#include "mesh/model/tree.h"
#include "base/banned.h"

/* A key of Secret.data, decoded; absent: a NULL pointer. */
static struct str data_of(struct arena *a, const struct mesh_object *o, const char *key)
{
    const struct value *v = o ? value_get(value_get(o->obj, STR("data")), str_of(key)) : NULL;
    autobuf out = { 0 };
    if (!v || !base64_decode(&out, value_str(v)) || !out.n)
        return (struct str){ 0 };
    return arena_str(a, buf_str(&out));
}

static struct str first_of(struct arena *a, const struct mesh_object *o, const char *one,
                           const char *other)
{
    struct str s = data_of(a, o, one);
    return s.p ? s : data_of(a, o, other);
}

static struct value trust(struct arena *a, const struct mesh_object *o, struct str name)
{
    struct str ca = first_of(a, o, "ca.crt", "cacert");
    if (!ca.p)
        return value_null();
    return tree(a, "{name: %s, validation_context: {trusted_ca: {inline_bytes: %s}}}", name, ca);
}

static struct value pair(struct arena *a, const struct mesh_object *o, struct str name)
{
    struct str cert = first_of(a, o, "tls.crt", "cert"), key = first_of(a, o, "tls.key", "key");
    if (!cert.p || !key.p)
        return value_null();
    return tree(a,
                "{name: %s, tls_certificate: {certificate_chain: {inline_bytes: %s}, private_key: "
                "{inline_bytes: %s}}}",
                name, cert, key);
}

/* Secrets of the namespace whose identity the proxy has proved, and no others. */
struct value secret_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                         struct str name)
{
    struct str rest = name, ns = p->verified_ns;
    if (!p->is_router || !p->verified_ns.n)
        return value_null();
    if (str_starts(rest, STR("kubernetes://")))
        rest = str_skip(rest, 13);
    else if (str_starts(rest, STR("kubernetes-gateway://")))
        rest = str_skip(rest, 21);
    else
        return value_null();
    if (str_find(rest, '/') >= 0)
        ns = str_cut(&rest, '/');
    if (!str_eq(ns, p->verified_ns))
        return value_null();
    if (!str_ends(rest, STR("-cacert")))
        return pair(a, realm_find(w, MESH_SECRET, ns, rest), name);
    const struct mesh_object *own = realm_find(w, MESH_SECRET, ns, rest);
    struct str base = str_take(rest, rest.n - 7);
    return trust(a, own ? own : realm_find(w, MESH_SECRET, ns, base), name);
}
