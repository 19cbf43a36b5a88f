#include "controllers/endpoints/zones.h"

#include <math.h>
#include <sampan/meta.h>
#include <sampan/typed.h>
#include <stdlib.h>

#include "api/quantity.h"
#include "client/bridge.h"
#include "base/banned.h"

/* A zone may have to serve so much more than its share. */
static const double overload = 0.2;

/* What one zone should get and has. */
struct allocation {
    int64_t min, max, has;
    double wanted;
    int64_t gives, takes;
};

/* ---- Zones ---- */

static bool counts(const struct spn_value *node)
{
    const struct spn_value *labels = spn_value_dig(node, "metadata", "labels");
    return !spn_value_get(labels, "node-role.kubernetes.io/control-plane") &&
           !spn_value_get(labels, "node-role.kubernetes.io/master") &&
           spn_text_eq(spn_value_text(spn_value_get(spn_condition_get(node, "Ready"), "status")),
                       SPN_TEXT("True"));
}

static void add_cpu(struct spn_arena *a, struct zones *all, struct spn_text name, double cpu)
{
    struct zone *items = (struct zone *)(uintptr_t)all->items;
    for (size_t i = 0; i < all->n; i++) {
        if (spn_text_eq(items[i].name, name)) {
            items[i].share += cpu;
            return;
        }
    }
    struct zone *more = spn_arena_alloc(a, (all->n + 1) * sizeof(*more));
    for (size_t i = 0; i < all->n; i++)
        more[i] = items[i];
    more[all->n++] = (struct zone){ spn_arena_text(a, name), cpu };
    all->items = more;
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(str_in(((const struct zone *)x)->name), str_in(((const struct zone *)y)->name));
}

struct zones zones_of(struct spn_arena *a, const struct spn_value *const *nodes, size_t n)
{
    struct zones all = { 0 };
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        if (!counts(nodes[i]))
            continue;
        struct spn_text name = spn_value_text(
            spn_value_dig(nodes[i], "metadata", "labels", "topology.kubernetes.io/zone"));
        struct spn_text cpu =
            spn_value_text(spn_value_dig(nodes[i], "status", "allocatable", "cpu"));
        int64_t milli = 0;
        if (!name.n || !cpu.n || !quantity_units(str_in(cpu), true, &milli) || milli <= 0)
            return (struct zones){ 0 };
        add_cpu(a, &all, name, (double)milli);
        total += (double)milli;
    }
    if (all.n < 2)
        return (struct zones){ 0 };
    struct zone *items = (struct zone *)(uintptr_t)all.items;
    qsort(items, all.n, sizeof(*items), by_name);
    for (size_t i = 0; i < all.n; i++)
        items[i].share /= total;
    return all;
}

bool zones_are_wanted(const struct spn_value *service)
{
    const struct spn_value *notes = spn_value_dig(service, "metadata", "annotations");
    const struct spn_value *mode =
        spn_value_get(notes, "service.kubernetes.io/topology-aware-hints");
    if (!mode)
        mode = spn_value_get(notes, "service.kubernetes.io/topology-mode");
    return spn_text_eq(spn_value_text(mode), SPN_TEXT("Auto")) ||
           spn_text_eq(spn_value_text(mode), SPN_TEXT("auto"));
}

/* ---- What each zone should get ---- */

static bool is_ready(const struct spn_value *endpoint)
{
    return spn_value_is_true(spn_value_dig(endpoint, "conditions", "ready"));
}

static int64_t count_ready(const struct zone_slice *slices, size_t n)
{
    int64_t ready = 0;
    for (size_t i = 0; i < n; i++) {
        const struct spn_value *all = spn_value_get(slices[i].slice, "endpoints");
        for (size_t k = 0; k < spn_value_count(all); k++)
            ready += is_ready(spn_value_at(all, k));
    }
    return ready;
}

/* NULL, or why not. */
static const char *allocate(struct spn_arena *a, const struct zones *z, int64_t n_endpoints,
                            struct allocation *all)
{
    int64_t min_total = 0;
    if (!z->n)
        return "Insufficient Node information: allocatable CPU or zone not specified on one or "
               "more nodes";
    if ((int64_t)z->n > n_endpoints)
        return spn_arena_printf(a, "Insufficient number of endpoints (%lld endpoints, %zu zones)",
                                (long long)n_endpoints, z->n)
            .p;
    for (size_t i = 0; i < z->n; i++) {
        double wanted = z->items[i].share * (double)n_endpoints;
        all[i].min = (int64_t)ceil(wanted * (1 / (1 + overload)));
        all[i].wanted = fmax(wanted, (double)all[i].min);
        min_total += all[i].min;
        if (min_total > n_endpoints)
            return spn_arena_printf(a,
                                    "Unable to allocate minimum required endpoints to each zone "
                                    "without exceeding overload threshold (%lld endpoints, %zu "
                                    "zones)",
                                    (long long)n_endpoints, z->n)
                .p;
    }
    for (size_t i = 0; i < z->n; i++)
        all[i].max = all[i].min + n_endpoints - min_total;
    return NULL;
}

/* ---- What is there ---- */

/* The place of a zone, or `n`. */
static size_t zone_index(const struct zones *z, struct spn_text name)
{
    size_t i = 0;
    while (i < z->n && !spn_text_eq(z->items[i].name, name))
        i++;
    return i;
}

/* Counts the hints of a slice that could stay as it is. False: it cannot. */
static bool count_hints(struct spn_arena *a, const struct zones *z, const struct spn_value *slice,
                        struct allocation *all)
{
    int64_t *here = spn_arena_alloc(a, (z->n + 1) * sizeof(*here));
    const struct spn_value *endpoints = spn_value_get(slice, "endpoints");
    for (size_t i = 0; i < spn_value_count(endpoints); i++) {
        const struct spn_value *e = spn_value_at(endpoints, i);
        const struct spn_value *zones = spn_value_dig(e, "hints", "forZones");
        if (!is_ready(e))
            continue;
        if (!spn_value_count(zones))
            return false;
        for (size_t k = 0; k < spn_value_count(zones); k++) {
            size_t at =
                zone_index(z, spn_value_text(spn_value_get(spn_value_at(zones, k), "name")));
            if (at == z->n)
                return false;
            here[at]++;
        }
    }
    for (size_t i = 0; i < z->n; i++)
        if (here[i] && here[i] + all[i].has > all[i].max)
            return false;
    for (size_t i = 0; i < z->n; i++)
        all[i].has += here[i];
    return true;
}

/* ---- Hints ---- */

static void set_hint(struct spn_arena *a, struct spn_value *endpoint, struct spn_text zone)
{
    struct spn_value *hints = spn_value_new(a, SPN_OBJECT), *list = spn_value_new(a, SPN_ARRAY);
    struct spn_value *one = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, one, "name", zone);
    spn_value_push(a, list, one);
    spn_value_set(a, hints, "forZones", list);
    spn_value_set(a, endpoint, "hints", hints);
}

/* Each endpoint for its own zone first. False: one has none. */
static bool hint_own(struct spn_arena *a, const struct zones *z, struct spn_value *slice,
                     struct allocation *all)
{
    struct spn_value *endpoints = spn_value_edit(a, slice, "endpoints");
    for (size_t i = 0; i < spn_value_count(endpoints); i++) {
        struct spn_value *e = spn_value_edit_at(a, endpoints, i);
        struct spn_text zone = spn_value_text(spn_value_get(e, "zone"));
        if (!is_ready(e)) {
            spn_value_remove(a, e, "hints");
            continue;
        }
        if (!zone.n)
            return false;
        size_t at = zone_index(z, zone);
        if (at < z->n)
            all[at].has++;
        set_hint(a, e, zone);
    }
    return true;
}

static size_t most(const double *left, size_t n)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (left[i] > 0 && (best == n || left[i] > left[best]))
            best = i;
    return best;
}

/* Who has too many, and who has too few. */
static void balance(struct spn_arena *a, struct allocation *all, size_t n)
{
    double *give = spn_arena_alloc(a, (n + 1) * sizeof(*give));
    double *take = spn_arena_alloc(a, (n + 1) * sizeof(*take));
    for (size_t i = 0; i < n; i++) {
        give[i] = (double)all[i].has - all[i].wanted;
        take[i] = -give[i];
    }
    for (;;) {
        size_t from = most(give, n), to = most(take, n);
        if (from == n || to == n || (give[from] < 1.0 && take[to] < 1.0) || give[from] < 0.5 ||
            take[to] < 0.5)
            return;
        all[from].gives++;
        give[from]--;
        all[to].takes++;
        take[to]--;
    }
}

static void redistribute(struct spn_arena *a, const struct zones *z, struct spn_value *slice,
                         struct allocation *all)
{
    struct spn_value *endpoints = spn_value_edit(a, slice, "endpoints");
    for (size_t i = 0; i < spn_value_count(endpoints); i++) {
        struct spn_value *e = spn_value_edit_at(a, endpoints, i);
        size_t from = zone_index(z, spn_value_text(spn_value_get(e, "zone"))), to = 0;
        if (!is_ready(e) || from == z->n || all[from].gives <= 0)
            continue;
        while (to < z->n && all[to].takes <= 0)
            to++;
        if (to == z->n)
            return;
        all[from].gives--;
        all[to].takes--;
        set_hint(a, e, z->items[to].name);
    }
}

const char *zones_hint(struct spn_arena *a, const struct zones *z, struct zone_slice *slices,
                       size_t n)
{
    struct allocation *all = spn_arena_alloc(a, (z->n + 1) * sizeof(*all));
    const char *why_not = allocate(a, z, count_ready(slices, n), all);
    if (why_not)
        return why_not;
    for (size_t i = 0; i < n; i++)
        if (!slices[i].is_written)
            slices[i].is_written = !count_hints(a, z, slices[i].slice, all);
    for (size_t i = 0; i < n; i++)
        if (slices[i].is_written && !hint_own(a, z, slices[i].slice, all))
            return "One or more endpoints do not have a zone specified";
    balance(a, all, z->n);
    for (size_t i = 0; i < n; i++)
        if (slices[i].is_written)
            redistribute(a, z, slices[i].slice, all);
    return NULL;
}
