#include "scheduler/storage_room.h"

#include "api/quantity.h"
#include "base/banned.h"

static struct room read_room(struct cycle *c, const struct value *v)
{
    struct room r = { .nodes.nothing = true };
    const struct value *nodes = value_get(v, STR("nodeTopology"));
    struct str most = value_text(v, "maximumVolumeSize");
    struct err err = ERR_INIT(c->a);
    r.size = most.n ? most : value_text(v, "capacity");
    if (nodes && labels_from_value(c->a, nodes, &r.nodes, &err) < 0)
        r.nodes = (struct labels_selector){ .nothing = true };
    return r;
}

struct rooms rooms_read(struct cycle *c, const struct value *class)
{
    struct rooms ret = { 0 };
    const struct value **all = NULL;
    struct str by = value_text(class, "provisioner");
    const struct value *driver =
        by.n && c->env->driver ? c->env->driver(c->env->arg, c->a, by) : NULL;
    ret.counts = c->env->capacities && value_is_true(value_dig(driver, "spec", "storageCapacity"));
    if (!ret.counts)
        return ret;
    struct str name = value_str(value_dig(class, "metadata", "name"));
    size_t n = c->env->capacities(c->env->arg, c->a, &all);
    struct room *items = arena_array(c->a, struct room, n + 1);
    for (size_t i = 0; i < n; i++)
        if (str_eq(value_text(all[i], "storageClassName"), name))
            items[ret.n++] = read_room(c, all[i]);
    ret.items = items;
    return ret;
}

bool rooms_suffice(const struct rooms *r, const struct value *claim, const struct sched_node *n)
{
    struct str wish = value_str(value_dig(claim, "spec", "resources", "requests", "storage"));
    if (!r->counts || !wish.n)
        return true;
    for (size_t i = 0; i < r->n; i++)
        if (r->items[i].size.n && quantity_cmp(r->items[i].size, wish) >= 0 &&
            labels_match(&r->items[i].nodes, n->labels.items, n->labels.n))
            return true;
    return false;
}
