#include "node/register/resources.h"

#include "api/quantity.h"
#include "api/resource_name.h"
#include "base/idiom.h"
#include "base/banned.h"

int resources_parse(struct arena *a, struct str text, struct value *ret, struct err *err)
{
    struct value list = value_object();
    while (text.n) {
        struct str number = str_cut(&text, ','), name = str_cut(&number, '=');
        struct str canonical;
        if (!name.n || !number.n)
            return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not NAME=QUANTITY", STR_ARG(name));
        if (quantity_canonical(a, number, &canonical, err) < 0)
            return err_set(err, ERR_INVALID, "\"" STR_FMT "\" of " STR_FMT " is no quantity",
                           STR_ARG(number), STR_ARG(name));
        if (quantity_sign(canonical) < 0)
            return err_set(err, ERR_INVALID, STR_FMT " is below zero", STR_ARG(name));
        value_put(a, &list, arena_str(a, name), value_string(arena_str(a, canonical)));
    }
    *ret = list;
    return 0;
}

/* ---- Capacity ---- */

static void put_quantity(struct arena *a, struct value *list, const char *name, struct str text)
{
    struct str canonical;
    struct err why = ERR_INIT(a);
    if (quantity_canonical(a, text, &canonical, &why) == 0)
        value_put(a, list, str_of(name), value_string(canonical));
}

/* As a binary quantity: it keeps that family even where it is no multiple of 1024. */
static struct str binary_text(struct arena *a, uint64_t bytes)
{
    struct str kib = arena_printf(a, "%lluKi", (unsigned long long)(bytes / 1024));
    struct str rest = arena_printf(a, "%llu", (unsigned long long)(bytes % 1024));
    return bytes % 1024 ? quantity_add(a, kib, rest) : kib;
}

static struct str page_name(struct arena *a, uint64_t bytes)
{
    struct str size = binary_text(a, bytes), canonical = size;
    struct err why = ERR_INIT(a);
    (void)quantity_canonical(a, size, &canonical, &why);
    return arena_printf(a, STR_FMT STR_FMT, STR_ARG(RESOURCE_HUGE_PAGES), STR_ARG(canonical));
}

static unsigned count_pods(const struct machine *m, const struct resources_limits *limits)
{
    const uint64_t by_cores = (uint64_t)m->cores * limits->pods_per_core;
    return limits->pods_per_core && by_cores < limits->max_pods ? (unsigned)by_cores
                                                                : limits->max_pods;
}

struct value resources_capacity(struct arena *a, const struct machine *m,
                                const struct resources_limits *limits)
{
    struct value list = value_object();
    put_quantity(a, &list, "cpu", arena_printf(a, "%u", m->cores));
    if (m->disk_bytes)
        put_quantity(a, &list, "ephemeral-storage",
                     arena_printf(a, "%llu", (unsigned long long)m->disk_bytes));
    for (size_t i = 0; i < m->n_pages; i++) {
        struct str name = page_name(a, m->pages[i].bytes);
        put_quantity(a, &list, str_cstr(a, name),
                     m->pages[i].count ? binary_text(a, m->pages[i].bytes * m->pages[i].count)
                                       : STR("0"));
    }
    put_quantity(a, &list, "memory", binary_text(a, m->memory_bytes));
    put_quantity(a, &list, "pods", arena_printf(a, "%u", count_pods(m, limits)));
    return list;
}

/* ---- Thresholds ---- */

/* "10%" as upstream has it: a 32-bit fraction of the capacity. */
static int read_percent(struct str text, uint64_t capacity, int64_t *ret, struct err *err)
{
    double percent = 0;
    struct str number = str_take(text, text.n - 1);
    struct err why = ERR_INIT(err->arena);
    struct str canonical;
    if (quantity_canonical(err->arena, number, &canonical, &why) < 0)
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no percentage", STR_ARG(text));
    percent = quantity_double(canonical);
    if (percent < 0 || percent > 100)
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no percentage from 0 to 100",
                       STR_ARG(text));
    *ret = (int64_t)((double)capacity * (double)(float)(percent / 100));
    return 0;
}

static int read_threshold(struct str text, uint64_t capacity, int64_t *ret, struct err *err)
{
    struct str canonical;
    if (str_ends(text, STR("%")))
        return read_percent(text, capacity, ret, err);
    struct err why = ERR_INIT(err->arena);
    if (quantity_canonical(err->arena, text, &canonical, &why) < 0 ||
        quantity_sign(canonical) < 0 || !quantity_units(canonical, false, ret))
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no threshold", STR_ARG(text));
    return 0;
}

int resources_threshold(struct str eviction_hard, struct str signal, uint64_t capacity,
                        int64_t *ret, struct err *err)
{
    *ret = -1;
    while (eviction_hard.n) {
        struct str value = str_cut(&eviction_hard, ',');
        const ptrdiff_t at =
            str_find(value, '<') >= 0 ? str_find(value, '<') : str_find(value, '=');
        if (at < 0)
            return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not SIGNAL<THRESHOLD",
                           STR_ARG(value));
        if (!str_eq(str_take(value, (size_t)at), signal))
            continue;
        return read_threshold(str_skip(value, (size_t)at + 1), capacity, ret, err);
    }
    return 0;
}

/* ---- Allocatable ---- */

/* What eviction keeps free of a resource; 0 if that is none of its business. */
static int evicted_at(struct str name, struct str total, struct str eviction_hard, int64_t *ret,
                      struct err *err)
{
    int64_t capacity = 0;
    struct str signal = STR("");
    if (str_eq(name, STR("memory")))
        signal = STR("memory.available");
    else if (str_eq(name, STR("ephemeral-storage")))
        signal = STR("nodefs.available");
    *ret = 0;
    if (!signal.n || !quantity_units(total, false, &capacity) || capacity < 0)
        return 0;
    int r = resources_threshold(eviction_hard, signal, (uint64_t)capacity, ret, err);
    if (*ret < 0)
        *ret = 0;
    return r;
}

static int allocatable_of(struct arena *a, struct str name, struct str total,
                          const struct resources_limits *limits, struct str *ret, struct err *err)
{
    struct str kube = value_str(value_get(limits->kube_reserved, name));
    struct str host = value_str(value_get(limits->system_reserved, name));
    struct str kept = STR("0");
    int64_t evicted;
    int r = evicted_at(name, total, limits->eviction_hard, &evicted, err);
    if (r < 0)
        return r;
    if (kube.n)
        kept = quantity_add(a, kept, kube);
    if (host.n)
        kept = quantity_add(a, kept, host);
    if (evicted)
        kept = quantity_add(a, kept, arena_printf(a, "%lld", (long long)evicted));
    if (quantity_cmp(kept, total) > 0)
        return err_set(err, ERR_INVALID,
                       "resource \"" STR_FMT "\" has a reservation of " STR_FMT
                       " but a capacity of " STR_FMT,
                       STR_ARG(name), STR_ARG(kept), STR_ARG(total));
    *ret = quantity_sign(kept) ? quantity_subtract(a, total, kept) : total;
    return 0;
}

int resources_allocatable(struct arena *a, const struct value *capacity,
                          const struct resources_limits *limits, struct value *ret, struct err *err)
{
    struct value list = value_object();
    struct str memory = STR("");
    value_each_field (f, capacity) {
        struct str left = STR("");
        int r = allocatable_of(a, f->key, value_str(&f->val), limits, &left, err);
        if (r < 0)
            return r;
        value_put(a, &list, f->key, value_string(left));
        if (str_eq(f->key, STR("memory")))
            memory = left;
    }
    value_each_field (f, capacity) {
        if (resource_is_huge_page(f->key) && memory.n)
            memory = quantity_subtract(a, memory, value_str(&f->val));
    }
    if (memory.n)
        value_put(a, &list, STR("memory"), value_string(memory));
    *ret = list;
    return 0;
}
