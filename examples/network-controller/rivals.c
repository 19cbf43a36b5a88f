/* rivals.c - see rivals.h. */
#include "rivals.h"

bool rivals_read(struct spn_text key, const struct network *network, struct plan_want *ret,
                 struct plan_refusal *why)
{
    static const struct network_spec nothing;
    const struct network_spec *spec = network->spec ? network->spec : &nothing;
    const struct plan_spec said = {
        .cidr = spec->cidr, .gateway = spec->gateway, .mtu = spec->mtu.value, .nat = spec->nat.value
    };
    return plan_read(key, &said, ret, why);
}

static struct plan_other *rivals_add(struct rivals *all)
{
    if (all->n == all->room) {
        size_t room = all->room ? 2 * all->room : 32;
        struct plan_other *items = spn_arena_alloc(all->arena, room * sizeof(*items));
        if (all->n)
            memcpy(items, all->items, all->n * sizeof(*items));
        all->items = items;
        all->room = room;
    }
    return &all->items[all->n++];
}

static void add_host_address(void *arg, const char *name, const struct prefix *address)
{
    struct rivals *all = arg;
    struct plan_other *other = rivals_add(all);
    other->name = spn_arena_text(all->arena, spn_text_of(name)).p;
    other->has = *address;
}

static int compare_text(struct spn_text a, struct spn_text b)
{
    int r = memcmp(a.p ? a.p : "", b.p ? b.p : "", a.n < b.n ? a.n : b.n);
    return r ? r : (a.n > b.n) - (a.n < b.n);
}

/* Of two that were made in the same second, the first by name. */
static bool is_older(const struct network *a, struct spn_text a_key, const struct network *b,
                     struct spn_text b_key)
{
    int r = compare_text(a->metadata->creation_timestamp, b->metadata->creation_timestamp);
    return r ? r < 0 : compare_text(a_key, b_key) < 0;
}

static struct plan_other *add_network(struct rivals *all, struct spn_text key)
{
    char *bridge = spn_arena_alloc(all->arena, PLAN_NAME);
    plan_bridge_name(key, bridge);
    struct plan_other *other = rivals_add(all);
    other->name = spn_arena_printf(all->arena, "network " SPN_FMT, SPN_ARG(key)).p;
    other->bridge = bridge;
    other->has = claims_get(all->claims, key);
    return other;
}

/* One that cannot be read wants nothing; its own turn will say so. */
static void add_rival(struct rivals *all, const struct spn_object *o, struct spn_text key,
                      const struct network *network)
{
    struct network *rival;
    struct plan_want want;
    struct plan_refusal why;
    struct plan_other *other = add_network(all, spn_object_key(o));
    if (network_of(o, all->arena, &rival, NULL) < 0)
        return;
    other->is_older = is_older(rival, spn_object_key(o), network, key);
    if (!spn_object_is_deleting(o) && rivals_read(spn_object_key(o), rival, &want, &why))
        other->wants = want.cidr;
}

int rivals_find(struct rivals *all, struct spn_text key, const struct network *network,
                struct link *link, struct spn_err *err)
{
    struct spn_objects objects;
    spn_cache_list(all->cache, SPN_TEXT(""), false, &objects);
    for (size_t i = 0; i < objects.n; i++)
        if (!spn_text_eq(spn_object_key(objects.items[i]), key))
            add_rival(all, objects.items[i], key, network);
    spn_objects_done(&objects);
    return link_each_address(link, add_host_address, all, err);
}
