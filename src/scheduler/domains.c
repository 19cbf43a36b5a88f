#include "scheduler/domains.h"

#include "base/map.h"
#include "base/banned.h"

/* Where the value is, or should be. */
static struct domain **place_of(const struct domains *d, struct str value)
{
    size_t i = map_hash(value) & (d->cap - 1);
    while (d->table[i] && !str_eq(d->table[i]->value, value))
        i = (i + 1) & (d->cap - 1);
    return &d->table[i];
}

struct domain *domains_get(struct domains *d, struct str value)
{
    if (d->last && str_eq(d->last->value, value))
        return d->last;
    struct domain *found = d->cap ? *place_of(d, value) : NULL;
    if (found)
        d->last = found;
    return found;
}

static void grow(struct domains *d, struct arena *a)
{
    struct domain **old = d->table;
    size_t old_cap = d->cap;
    d->cap = old_cap ? old_cap * 2 : 16;
    d->table = arena_array(a, struct domain *, d->cap);
    for (size_t i = 0; i < old_cap; i++)
        if (old[i])
            *place_of(d, old[i]->value) = old[i];
}

struct domain *domains_make(struct domains *d, struct arena *a, struct str value)
{
    struct domain *found = domains_get(d, value);
    if (found)
        return found;
    if (2 * (d->n + 1) > d->cap)
        grow(d, a);
    found = arena_new(a, struct domain);
    found->value = value;
    *place_of(d, value) = found;
    d->n++;
    d->last = found;
    return found;
}

int64_t domains_least(const struct domains *d)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < d->cap; i++)
        if (d->table[i] && d->table[i]->n < least)
            least = d->table[i]->n;
    return least == INT64_MAX ? 0 : least;
}
