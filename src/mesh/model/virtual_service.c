/* Virtual services: names become whole, delegates are merged into those that name them. */
#include "mesh/model/host.h"
#include "mesh/model/realm_internal.h"
#include "base/banned.h"

static void expand_host(struct realm *w, const struct mesh_object *o, struct value *dest)
{
    struct value *host = dest ? value_edit(w->arena, dest, STR("host")) : NULL;
    if (host)
        *host = value_string(host_expand(w->arena, value_str(host), o->ns, w->settings.domain));
}

static void expand_gateways(struct realm *w, const struct mesh_object *o, struct value *v)
{
    struct value *all = v ? value_edit(w->arena, v, STR("gateways")) : NULL;
    if (!value_is(all, VALUE_ARRAY))
        return;
    for (size_t i = 0; i < all->n; i++) {
        struct value *it = value_edit_at(w->arena, all, i);
        struct str s = value_str(it);
        if (!str_eq(s, STR("mesh")) && str_find(s, '/') < 0) {
            struct str rest = s;
            struct str first = str_cut(&rest, '.');
            struct str ns = rest.n ? str_cut(&rest, '.') : o->ns;
            *it = value_string(
                arena_printf(w->arena, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(first)));
        }
    }
}

static void expand_rule(struct realm *w, const struct mesh_object *o, struct value *rule)
{
    struct value *matches = value_edit(w->arena, rule, STR("match"));
    for (size_t i = 0; value_is(matches, VALUE_ARRAY) && i < matches->n; i++)
        expand_gateways(w, o, value_edit_at(w->arena, matches, i));
    static const char *const lists[] = { "route", "mirrors" };
    for (size_t k = 0; k < 2; k++) {
        struct value *list = value_edit(w->arena, rule, str_of(lists[k]));
        for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++)
            expand_host(w, o,
                        value_edit(w->arena, value_edit_at(w->arena, list, i), STR("destination")));
    }
    expand_host(w, o, value_edit(w->arena, rule, STR("mirror")));
}

/* The spec with whole names: a copy. */
static struct value expand(struct realm *w, const struct mesh_object *o)
{
    struct value spec = value_clone(w->arena, o->spec);
    struct value *hosts = value_edit(w->arena, &spec, STR("hosts"));
    for (size_t i = 0; value_is(hosts, VALUE_ARRAY) && i < hosts->n; i++) {
        struct value *h = value_edit_at(w->arena, hosts, i);
        *h = value_string(host_expand(w->arena, value_str(h), o->ns, w->settings.domain));
    }
    expand_gateways(w, o, &spec);
    static const char *const kinds[] = { "http", "tls", "tcp" };
    for (size_t k = 0; k < 3; k++) {
        struct value *rules = value_edit(w->arena, &spec, str_of(kinds[k]));
        for (size_t i = 0; value_is(rules, VALUE_ARRAY) && i < rules->n; i++)
            expand_rule(w, o, value_edit_at(w->arena, rules, i));
    }
    return spec;
}

/* Whether a match of a delegate can never hold where its root's holds. */
static bool text_conflicts(const struct value *root, const struct value *leaf)
{
    if (!root || !leaf)
        return false;
    struct str re = value_text(root, "exact"), rp = value_text(root, "prefix");
    struct str le = value_text(leaf, "exact"), lp = value_text(leaf, "prefix");
    bool root_regex = value_text(root, "regex").n > 0;
    bool leaf_regex = value_text(leaf, "regex").n > 0;
    if (root_regex && (leaf_regex || le.n || lp.n))
        return true;
    if (leaf_regex && (re.n || rp.n))
        return true;
    if (re.n)
        return lp.n || !str_eq(le, re);
    if (rp.n && lp.n)
        return !str_starts(lp, rp);
    if (rp.n && le.n)
        return !str_starts(le, rp);
    return true;
}

static bool maps_conflict(const struct value *root, const struct value *leaf)
{
    value_each_field (f, leaf) {
        if (text_conflicts(value_get(root, f->key), &f->val))
            return true;
    }
    return false;
}

static bool gateways_conflict(const struct value *root, const struct value *leaf)
{
    if (!value_is(root, VALUE_ARRAY) || !value_is(leaf, VALUE_ARRAY) || !root->n || !leaf->n)
        return false;
    value_each_item (l, leaf) {
        bool found = false;
        value_each_item (r, root)
            found = found || value_eq(l, r);
        if (!found)
            return true;
    }
    return root->n < leaf->n;
}

static bool labels_conflict(const struct value *root, const struct value *leaf)
{
    value_each_field (f, leaf) {
        const struct value *have = value_get(root, f->key);
        if (have && !value_eq(have, &f->val))
            return true;
    }
    return false;
}

static bool conflicts(const struct value *root, const struct value *leaf)
{
    static const char *const texts[] = { "uri", "scheme", "method", "authority" };
    static const char *const maps[] = { "headers", "withoutHeaders", "queryParams" };
    for (size_t i = 0; i < 4; i++) {
        if (text_conflicts(value_get(root, str_of(texts[i])), value_get(leaf, str_of(texts[i]))))
            return true;
    }
    for (size_t i = 0; i < 3; i++) {
        if (maps_conflict(value_get(root, str_of(maps[i])), value_get(leaf, str_of(maps[i]))))
            return true;
    }
    const struct value *rp = value_get(root, STR("port")), *lp = value_get(leaf, STR("port"));
    struct str ns = value_text(root, "sourceNamespace");
    if (value_is_true(value_get(root, STR("ignoreUriCase"))) !=
        value_is_true(value_get(leaf, STR("ignoreUriCase"))))
        return true;
    if (rp && lp && !value_eq(rp, lp))
        return true;
    if (ns.n && !str_eq(ns, value_text(leaf, "sourceNamespace")))
        return true;
    return labels_conflict(value_get(root, STR("sourceLabels")),
                           value_get(leaf, STR("sourceLabels"))) ||
           gateways_conflict(value_get(root, STR("gateways")), value_get(leaf, STR("gateways")));
}

static struct str join_names(struct realm *w, struct str root, struct str leaf)
{
    if (!root.n || !leaf.n)
        return root.n ? root : leaf;
    return arena_printf(w->arena, STR_FMT "-" STR_FMT, STR_ARG(root), STR_ARG(leaf));
}

static struct value merge_match(struct realm *w, const struct value *root, const struct value *leaf)
{
    struct value out = value_borrow(leaf);
    value_each_field (f, root) {
        struct value *have = value_edit(w->arena, &out, f->key);
        if (!have) {
            value_put(w->arena, &out, f->key, value_borrow(&f->val));
        } else if (have->type == VALUE_OBJECT &&
                   (str_eq(f->key, STR("headers")) || str_eq(f->key, STR("withoutHeaders")) ||
                    str_eq(f->key, STR("queryParams")) || str_eq(f->key, STR("sourceLabels")))) {
            value_each_field (g, &f->val) {
                if (!value_get(have, g->key))
                    value_put(w->arena, have, g->key, value_borrow(&g->val));
            }
        }
    }
    struct str name = join_names(w, value_text(root, "name"), value_text(leaf, "name"));
    if (name.n)
        value_put(w->arena, &out, STR("name"), value_string(name));
    return out;
}

/* False: the route of the delegate can never be taken. */
static bool merge_matches(struct realm *w, const struct value *roots, const struct value *leaves,
                          struct value *ret)
{
    *ret = value_array();
    value_each_item (leaf, leaves) {
        bool found = false;
        value_each_item (root, roots) {
            if (conflicts(root, leaf))
                continue;
            value_put_item(w->arena, ret, merge_match(w, root, leaf));
            found = true;
        }
        if (!found)
            return false;
    }
    return ret->n > 0;
}

static bool has_items(const struct value *v)
{
    return value_is(v, VALUE_ARRAY) && v->n;
}

static void merge_route(struct realm *w, struct value *out, const struct value *root,
                        const struct value *leaf)
{
    static const char *const inherited[] = {
        "rewrite",       "directResponse",   "timeout",    "retries", "fault",  "mirror",
        "mirrorPercent", "mirrorPercentage", "corsPolicy", "mirrors", "headers"
    };
    const struct value *roots = value_get(root, STR("match")),
                       *leaves = value_get(leaf, STR("match"));
    struct value route = value_borrow(leaf), matches;
    if (has_items(roots) && has_items(leaves)) {
        if (!merge_matches(w, roots, leaves, &matches))
            return;
        value_put(w->arena, &route, STR("match"), matches);
    } else if (has_items(roots)) {
        value_put(w->arena, &route, STR("match"), value_borrow(roots));
    }
    for (size_t i = 0; i < sizeof(inherited) / sizeof(*inherited); i++) {
        const struct value *v = value_get(root, str_of(inherited[i]));
        if (v && !value_get(leaf, str_of(inherited[i])))
            value_put(w->arena, &route, str_of(inherited[i]), value_borrow(v));
    }
    struct str name = join_names(w, value_text(root, "name"), value_text(leaf, "name"));
    if (name.n)
        value_put(w->arena, &route, STR("name"), value_string(name));
    value_put_item(w->arena, out, route);
}

static void add_delegate(struct realm *w, const struct mesh_object *o, struct value *out,
                         const struct value *root)
{
    const struct value *ref = value_get(root, STR("delegate"));
    struct str ns = value_text(ref, "namespace");
    const struct mesh_object *d =
        realm_find(w, MESH_VIRTUAL_SERVICE, ns.n ? ns : o->ns, value_text(ref, "name"));
    if (!d || has_items(value_get(d->spec, STR("hosts"))) ||
        !realm_exports(value_get(d->spec, STR("exportTo")), d->ns, o->ns))
        return;
    struct value spec = expand(w, d);
    value_each_item (leaf, value_get(&spec, STR("http"))) {
        if (!value_get(leaf, STR("delegate")))
            merge_route(w, out, root, leaf);
    }
}

static void take_delegates(struct realm *w, const struct mesh_object *o, struct value *spec)
{
    struct value out = value_array();
    bool found = false;
    value_each_item (route, value_get(spec, STR("http"))) {
        if (value_get(route, STR("delegate"))) {
            add_delegate(w, o, &out, route);
            found = true;
        } else {
            value_put_item(w->arena, &out, value_borrow(route));
        }
    }
    if (found)
        value_put(w->arena, spec, STR("http"), out);
}

void realm__make_virtual_services(struct realm *w)
{
    struct mesh_objects *all = &w->of[MESH_VIRTUAL_SERVICE];
    struct value *specs = arena_array(w->arena, struct value, all->n);
    for (size_t i = 0; i < all->n; i++) {
        specs[i] = expand(w, all->items[i]);
        take_delegates(w, all->items[i], &specs[i]);
    }
    for (size_t i = 0; i < all->n; i++)
        all->items[i]->spec = &specs[i];
}
