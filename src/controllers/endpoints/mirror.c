#include "controllers/endpoints/mirror.h"

#include "api/ip.h"
#include "controllers/endpoints/subsets.h"
#include "base/banned.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* Endpoints of one family with the same ports: they become one slice. */
struct pile {
    struct spn_text key;
    bool is_v6;
    struct spn_value *ports, *endpoints;
};

struct piles {
    struct pile *items;
    size_t n;
};

bool mirror_is_wanted(const struct spn_value *endpoints)
{
    const struct spn_value *meta = spn_value_get(endpoints, "metadata");
    return !spn_text_eq(spn_value_text(spn_value_dig(meta, "labels",
                                                     "endpointslice.kubernetes.io/skip-mirror")),
                        SPN_TEXT("true")) &&
           !spn_value_dig(meta, "annotations", "control-plane.alpha.kubernetes.io/leader");
}

/* ---- What should be ---- */

/* NULL: it is no address. */
static struct spn_value *endpoint_of(struct spn_arena *a, const struct spn_value *address,
                                     bool is_ready, bool *is_v6)
{
    struct ip ip;
    char text[IP_TEXT_MAX];
    struct spn_text given = spn_value_text(spn_value_get(address, "ip"));
    if (!ip_parse((struct str){ given.p, given.n }, &ip))
        return NULL;
    *is_v6 = !ip.is_v4 && !ip.is_mapped;
    struct str s = ip_format(&ip, text);
    struct spn_value *e = spn_value_new(a, SPN_OBJECT), *list = spn_value_new(a, SPN_ARRAY);
    spn_value_push(a, list,
                   spn_value_new_text(a, spn_arena_text(a, (struct spn_text){ s.p, s.n })));
    spn_value_set(a, e, "addresses", list);
    spn_value_set_bool(a, spn_value_ensure(a, e, "conditions"), "ready", is_ready);
    static const char *const copied[] = { "targetRef", "nodeName", "hostname" };
    for (size_t i = 0; i < 3; i++) {
        const struct spn_value *v = spn_value_get(address, copied[i]);
        if (v)
            spn_value_set(a, e, copied[i], spn_value_copy(a, v));
    }
    return e;
}

static struct spn_value *ports_of(struct spn_arena *a, const struct spn_value *given)
{
    struct spn_value *ports = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(given); i++) {
        struct spn_value *port = spn_value_copy(a, spn_value_at(given, i));
        if (!spn_value_get(port, "name"))
            spn_value_set_text(a, port, "name", SPN_TEXT(""));
        spn_value_push(a, ports, port);
    }
    return ports;
}

static struct pile *pile_of(struct spn_arena *a, struct piles *all, const struct spn_value *ports,
                            bool is_v6)
{
    struct spn_text key = slice_ports_key(a, ports);
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].is_v6 == is_v6 && spn_text_eq(all->items[i].key, key))
            return &all->items[i];
    struct pile *p = &all->items[all->n++];
    *p = (struct pile){ .key = key,
                        .is_v6 = is_v6,
                        .ports = spn_value_copy(a, ports),
                        .endpoints = spn_value_new(a, SPN_ARRAY) };
    return p;
}

static void add_addresses(struct spn_arena *a, struct piles *all, const struct spn_value *addresses,
                          bool is_ready, const struct spn_value *ports, size_t *n_added,
                          struct mirror_skips *skips)
{
    for (size_t i = 0; i < spn_value_count(addresses) && *n_added < MIRROR_MAX; i++) {
        bool is_v6;
        struct spn_value *e = endpoint_of(a, spn_value_at(addresses, i), is_ready, &is_v6);
        if (e) {
            spn_value_push(a, pile_of(a, all, ports, is_v6)->endpoints, e);
            (*n_added)++;
        } else {
            skips->n_invalid++;
        }
    }
}

static struct piles make_piles(struct spn_arena *a, const struct spn_value *endpoints,
                               struct mirror_skips *skips)
{
    const struct spn_value *subsets = subsets_repacked(a, spn_value_get(endpoints, "subsets"));
    size_t n = spn_value_count(subsets);
    struct piles all = { .items = spn_arena_alloc(a, (2 * n + 1) * sizeof(*all.items)) };
    for (size_t i = 0; i < n; i++) {
        const struct spn_value *s = spn_value_at(subsets, i);
        const struct spn_value *ports = ports_of(a, spn_value_get(s, "ports"));
        size_t n_added = 0;
        add_addresses(a, &all, spn_value_get(s, "addresses"), true, ports, &n_added, skips);
        add_addresses(a, &all, spn_value_get(s, "notReadyAddresses"), false, ports, &n_added,
                      skips);
        skips->n_skipped += spn_value_count(spn_value_get(s, "addresses")) +
                            spn_value_count(spn_value_get(s, "notReadyAddresses")) - n_added;
    }
    return all;
}

/* ---- Slices ---- */

static struct spn_value *without(struct spn_arena *a, const struct spn_value *map, const char *one,
                                 const char *two)
{
    struct spn_value *left =
        spn_value_count(map) ? spn_value_copy(a, map) : spn_value_new(a, SPN_OBJECT);
    spn_value_remove(a, left, one);
    spn_value_remove(a, left, two);
    return left;
}

static struct spn_value *new_slice(struct spn_arena *a, const struct spn_value *endpoints,
                                   const struct pile *p, struct spn_text name)
{
    const struct spn_value *of = spn_value_get(endpoints, "metadata");
    struct spn_value *slice = slice_new(a, endpoints, "Endpoints", p->is_v6);
    struct spn_value *meta = spn_value_ensure(a, slice, "metadata");
    struct spn_text service = spn_value_text(spn_value_get(of, "name"));
    struct spn_value *labels =
        without(a, spn_value_get(of, "labels"), SLICE_SERVICE_LABEL, SLICE_MANAGED_BY);
    spn_value_set_text(a, labels, SLICE_SERVICE_LABEL, service);
    spn_value_set_text(a, labels, SLICE_MANAGED_BY, SPN_TEXT(SLICE_MIRRORING));
    spn_value_set(a, meta, "labels", labels);
    struct spn_value *notes =
        without(a, spn_value_get(of, "annotations"), SLICE_TRIGGER_TIME, LAST_APPLIED);
    if (spn_value_count(notes))
        spn_value_set(a, meta, "annotations", notes);
    if (name.n)
        spn_value_set_text(a, meta, "name", name);
    else
        spn_value_set_text(a, meta, "generateName",
                           spn_arena_printf(a, SPN_FMT "-", SPN_ARG(service)));
    slice_set_list(a, slice, "ports", spn_value_copy(a, p->ports));
    slice_set_list(a, slice, "endpoints", spn_value_copy(a, p->endpoints));
    return slice;
}

static const struct spn_value *find_endpoint(struct spn_arena *a, const struct spn_value *all,
                                             struct spn_text key)
{
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(slice_endpoint_key(a, spn_value_at(all, i)), key))
            return spn_value_at(all, i);
    return NULL;
}

static bool same_endpoints(struct spn_arena *a, const struct spn_value *now,
                           const struct spn_value *wanted)
{
    if (spn_value_count(now) != spn_value_count(wanted))
        return false;
    for (size_t i = 0; i < spn_value_count(wanted); i++) {
        const struct spn_value *e = spn_value_at(wanted, i);
        const struct spn_value *has = find_endpoint(a, now, slice_endpoint_key(a, e));
        if (!has || !slice_endpoint_eq(has, e))
            return false;
    }
    return true;
}

static bool same_owner(const struct spn_value *x, const struct spn_value *y)
{
    const struct spn_value *a = spn_value_dig(x, "metadata", "ownerReferences");
    const struct spn_value *b = spn_value_dig(y, "metadata", "ownerReferences");
    return spn_text_eq(spn_value_text(spn_value_get(spn_value_at(a, 0), "uid")),
                       spn_value_text(spn_value_get(spn_value_at(b, 0), "uid")));
}

static bool is_right(struct spn_arena *a, const struct spn_value *now,
                     const struct spn_value *wanted)
{
    const struct spn_value *x = spn_value_get(now, "metadata");
    const struct spn_value *y = spn_value_get(wanted, "metadata");
    return same_endpoints(a, spn_value_get(now, "endpoints"), spn_value_get(wanted, "endpoints")) &&
           spn_value_eq(spn_value_get(x, "labels"), spn_value_get(y, "labels")) &&
           spn_value_eq(without(a, spn_value_get(x, "annotations"), "", ""),
                        without(a, spn_value_get(y, "annotations"), "", "")) &&
           same_owner(now, wanted);
}

static bool is_for(struct spn_arena *a, const struct spn_value *slice, const struct pile *p)
{
    return spn_text_eq(spn_value_text(spn_value_get(slice, "addressType")),
                       p->is_v6 ? SPN_TEXT("IPv6") : SPN_TEXT("IPv4")) &&
           spn_text_eq(slice_ports_key(a, spn_value_get(slice, "ports")), p->key);
}

/* The first slice of a pile stays; more of them are too many. */
static void plan_pile(struct spn_arena *a, const struct spn_value *endpoints, const struct pile *p,
                      const struct spn_value *const *slices, size_t n_slices, bool *taken,
                      struct slice_plan *ret)
{
    const struct spn_value *first = NULL;
    for (size_t i = 0; i < n_slices && !first; i++) {
        if (taken[i] || !is_for(a, slices[i], p))
            continue;
        taken[i] = true;
        first = slices[i];
    }
    struct spn_text name = spn_value_text(spn_value_dig(first, "metadata", "name"));
    struct spn_value *wanted = new_slice(a, endpoints, p, name);
    if (!first)
        slice_list_add(a, &ret->create, wanted);
    else if (!is_right(a, first, wanted))
        slice_list_add(a, &ret->update, wanted);
}

void mirror_plan(struct spn_arena *a, const struct spn_value *endpoints,
                 const struct spn_value *const *slices, size_t n_slices, struct slice_plan *ret,
                 struct mirror_skips *ret_skips)
{
    const struct piles all = make_piles(a, endpoints, ret_skips);
    bool *taken = spn_arena_alloc(a, n_slices + 1);
    for (size_t i = 0; i < all.n; i++)
        plan_pile(a, endpoints, &all.items[i], slices, n_slices, taken, ret);
    for (size_t i = 0; i < n_slices; i++)
        if (!taken[i])
            slice_list_add(a, &ret->remove, spn_value_copy(a, slices[i]));
    slices_recycle(a, endpoints, "Endpoints", ret);
}
