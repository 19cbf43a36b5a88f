#include "node/pod/pod_amount.h"

#include <dirent.h>
#include <stdlib.h>

#include "api/pod_resources.h"
#include "api/quantity.h"
#include "api/resource_name.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

enum { SHARES_MIN = 2, SHARES_MAX = 262144, SHARES_PER_CPU = 1024, QUOTA_MIN_US = 1000 };

static int64_t count(struct str quantity, bool milli)
{
    int64_t n;
    return quantity.n && quantity_units(quantity, milli, &n) ? n : 0;
}

int64_t amount_units(struct str quantity)
{
    return count(quantity, false);
}

int64_t amount_milli(struct str quantity)
{
    return count(quantity, true);
}

struct str amount_of(const struct value *resources, struct str list, struct str name)
{
    return value_str(value_get(value_get(resources, list), name));
}

bool pod_has_own_resources(const struct value *pod)
{
    static const struct str lists[] = { STR("requests"), STR("limits") };
    const struct value *own = value_dig(pod, "spec", "resources");
    for (size_t i = 0; i < 2; i++)
        value_each_field (f, value_get(own, lists[i]))
            if (resource_is_pod_level(f->key))
                return true;
    return false;
}

struct str pod_amount(struct arena *a, const struct value *pod, struct str list, struct str name,
                      bool with_overhead)
{
    struct str sum = resource_is_pod_level(name)
                         ? amount_of(value_dig(pod, "spec", "resources"), list, name)
                         : STR("");
    if (!sum.n)
        sum = pod_resources_sum(a, pod_spec(pod), list, name);
    struct str overhead = value_str(value_get(value_dig(pod, "spec", "overhead"), name));
    if (!with_overhead || !overhead.n)
        return sum;
    if (!sum.n)
        return str_eq(list, STR("requests")) ? overhead : sum;
    return quantity_add(a, sum, overhead);
}

int64_t cpu_shares(int64_t milli)
{
    const int64_t shares =
        milli > INT64_MAX / SHARES_PER_CPU ? SHARES_MAX : milli * SHARES_PER_CPU / 1000;
    return shares < SHARES_MIN ? SHARES_MIN : shares > SHARES_MAX ? SHARES_MAX : shares;
}

int64_t cpu_quota(int64_t milli)
{
    if (milli == 0)
        return 0;
    const int64_t quota = milli * (CPU_PERIOD_US / 1000);
    return quota < QUOTA_MIN_US ? QUOTA_MIN_US : quota;
}

int64_t cpu_weight(int64_t shares)
{
    return shares >= SHARES_MAX ? 10000 : 1 + (shares - 2) * 9999 / 262142;
}

static bool all_limit(const struct value *pod, struct str name)
{
    static const struct str lists[] = { STR("initContainers"), STR("containers") };
    if (amount_milli(amount_of(value_dig(pod, "spec", "resources"), STR("limits"), name)))
        return true;
    for (size_t i = 0; i < 2; i++)
        value_each_item (c, value_get(pod_spec(pod), lists[i]))
            if (!amount_milli(amount_of(value_get(c, STR("resources")), STR("limits"), name)))
                return false;
    return true;
}

struct pod_limits pod_limits(struct arena *a, const struct value *pod)
{
    struct str class = pod_class(pod);
    struct pod_limits l = { SHARES_MIN, -1, -1 };
    if (str_eq(class, STR("BestEffort")))
        return l;
    const bool is_guaranteed = str_eq(class, STR("Guaranteed"));
    l.shares = cpu_shares(amount_milli(pod_amount(a, pod, STR("requests"), STR("cpu"), true)));
    if (is_guaranteed || all_limit(pod, STR("cpu")))
        l.quota = cpu_quota(amount_milli(pod_amount(a, pod, STR("limits"), STR("cpu"), true)));
    if (is_guaranteed || all_limit(pod, STR("memory")))
        l.memory = amount_units(pod_amount(a, pod, STR("limits"), STR("memory"), true));
    return l;
}

/* ---- Huge pages ---- */

static struct str page_size_text(struct arena *a, int64_t bytes)
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
    size_t unit = 0;
    while (bytes && bytes % 1024 == 0 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1024;
        unit++;
    }
    return arena_printf(a, "%lld%s", (long long)bytes, units[unit]);
}

struct str huge_page_size(struct arena *a, struct str resource)
{
    int64_t bytes;
    struct str canonical, size;
    struct err err = ERR_INIT(a);
    if (!resource_is_huge_page(resource))
        return STR("");
    size = str_skip(resource, RESOURCE_HUGE_PAGES.n);
    if (quantity_canonical(a, size, &canonical, &err) < 0 || !quantity_units(size, false, &bytes))
        return STR("");
    return page_size_text(a, bytes);
}

size_t huge_page_sizes(struct arena *a, struct str **ret)
{
    enum { SIZES_MAX = 16 };
    struct str *sizes = arena_array(a, struct str, SIZES_MAX);
    size_t n = 0;
    *ret = sizes;
    DIR *dir = opendir("/sys/kernel/mm/hugepages");
    if (!dir)
        return 0;
    for (const struct dirent *e = readdir(dir); e && n < SIZES_MAX; e = readdir(dir)) {
        uint64_t kib;
        struct str name = str_of(e->d_name);
        if (!str_starts(name, RESOURCE_HUGE_PAGES) || !str_ends(name, STR("kB")))
            continue;
        name = str_skip(str_take(name, name.n - 2), RESOURCE_HUGE_PAGES.n);
        if (str_to_u64(name, &kib) && kib < (uint64_t)1 << 50)
            sizes[n++] = page_size_text(a, (int64_t)kib * 1024);
    }
    (void)closedir(dir);
    return n;
}
