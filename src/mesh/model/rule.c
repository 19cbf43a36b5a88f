/* Destination rules: those of one namespace for one host are one. */
#include "mesh/model/host.h"
#include "mesh/model/realm_internal.h"
#include "base/banned.h"

static void push_rule(struct arena *a, struct mesh_rules *all, struct mesh_rule *r)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 8;
        all->items = arena_grow(a, all->items, all->cap * sizeof(*all->items),
                                cap * sizeof(*all->items), alignof(void *));
        all->cap = cap;
    }
    all->items[all->n++] = r;
}

static bool has_subset(const struct mesh_rule *r, struct str name)
{
    value_each_item (it, &r->subsets) {
        if (str_eq(value_text(it, "name"), name))
            return true;
    }
    return false;
}

/* The older one has the word; what it does not say is taken over. */
static void merge(struct realm *w, struct mesh_rule *r, const struct mesh_object *o)
{
    const struct value *policy = value_get(o->spec, STR("trafficPolicy"));
    if (r->policy.type == VALUE_NULL && policy)
        r->policy = value_borrow(policy);
    value_each_item (it, value_get(o->spec, STR("subsets"))) {
        if (!has_subset(r, value_text(it, "name")))
            value_put_item(w->arena, &r->subsets, value_borrow(it));
    }
}

static bool is_twin(const struct mesh_rule *r, struct str host, const struct mesh_object *o)
{
    const struct value *selector = value_dig(o->spec, "workloadSelector", "matchLabels");
    const struct value *export_to = value_get(o->spec, STR("exportTo"));
    bool same_selector =
        r->selector && selector ? value_eq(r->selector, selector) : r->selector == selector;
    bool same_export =
        r->export_to && export_to ? value_eq(r->export_to, export_to) : r->export_to == export_to;
    return str_eq(r->ns, o->ns) && str_eq(r->host, host) && same_selector && same_export;
}

static void add_rule(struct realm *w, const struct mesh_object *o)
{
    struct str host = host_lower(
        w->arena, host_expand(w->arena, value_text(o->spec, "host"), o->ns, w->settings.domain));
    for (size_t i = 0; i < w->rules.n; i++) {
        if (is_twin(w->rules.items[i], host, o)) {
            merge(w, w->rules.items[i], o);
            return;
        }
    }
    struct mesh_rule *r = arena_new(w->arena, struct mesh_rule);
    r->host = host;
    r->ns = o->ns;
    r->name = o->name;
    r->of = o;
    r->export_to = value_get(o->spec, STR("exportTo"));
    r->selector = value_dig(o->spec, "workloadSelector", "matchLabels");
    r->policy = value_null();
    r->subsets = value_array();
    merge(w, r, o);
    push_rule(w->arena, &w->rules, r);
}

void realm__make_rules(struct realm *w)
{
    for (size_t i = 0; i < w->of[MESH_DESTINATION_RULE].n; i++)
        add_rule(w, w->of[MESH_DESTINATION_RULE].items[i]);
}

static bool is_better(const struct mesh_rule *r, const struct mesh_rule *than)
{
    if (!than)
        return true;
    int c = host_order(r->host, than->host);
    if (c)
        return c < 0;
    return r->selector && !than->selector;
}

/* The rule of a namespace whose host is the most specific. `local`: as the namespace itself sees
 * them. */
static const struct mesh_rule *best_of(const struct realm *w, struct str host, struct str ns,
                                       struct str client_ns, const struct value *labels)
{
    const struct mesh_rule *best = NULL;
    for (size_t i = 0; i < w->rules.n; i++) {
        const struct mesh_rule *r = w->rules.items[i];
        if (!str_eq(r->ns, ns) || !host_is_within(host, r->host))
            continue;
        if (!realm_exports(r->export_to, r->ns, client_ns))
            continue;
        if (r->selector && (!str_eq(client_ns, ns) || !realm_selects(r->selector, labels)))
            continue;
        if (is_better(r, best))
            best = r;
    }
    return best;
}

/* Only rules that are meant for the namespace alone. */
static const struct mesh_rule *private_of(const struct realm *w, struct str host, struct str ns,
                                          const struct value *labels)
{
    const struct mesh_rule *r = best_of(w, host, ns, ns, labels);
    bool is_private = r && value_is(r->export_to, VALUE_ARRAY) && r->export_to->n == 1 &&
                      str_eq(value_str(value_at(r->export_to, 0)), STR("."));
    return is_private ? r : NULL;
}

const struct mesh_rule *realm_rule_for(const struct realm *w, const struct mesh_service *s,
                                       struct str ns, const struct value *client_labels)
{
    const struct mesh_rule *own = str_eq(ns, w->settings.root_ns)
                                      ? private_of(w, s->host, ns, client_labels)
                                      : best_of(w, s->host, ns, ns, client_labels);
    if (own)
        return own;
    const struct mesh_rule *theirs = s->ns.n ? best_of(w, s->host, s->ns, ns, client_labels) : NULL;
    return theirs ? theirs : best_of(w, s->host, w->settings.root_ns, ns, client_labels);
}
