/* Fills in what spec.resources of a pod leaves out, from the sum of its containers. */
#include "api/pod_resources.h"
#include "api/quantity.h"
#include "api/resource_name.h"
#include "base/idiom.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

/* There are two resources and a few sizes of huge pages. Longer lists are left as they are. */
enum { RESOURCES_MAX = 64 };

/* The sums of all that a pod can ask for as a whole and a container has in that list: "requests" or
 * "limits". */
static struct value aggregate(struct arena *a, const struct value *spec, struct str list)
{
    static const struct str containers[] = { STR("containers"), STR("initContainers") };
    struct value sums = value_object();
    for (size_t i = 0; i < ARRAY_LEN(containers); i++)
        value_each_item (it, value_get(spec, containers[i]))
            value_each_field (f, value_get(value_get(it, STR("resources")), list))
                if (resource_is_pod_level(f->key) && sums.n < RESOURCES_MAX &&
                    !value_get(&sums, f->key))
                    value_put_new(a, &sums, f->key,
                                  value_string(pod_resources_sum(a, spec, list, f->key)));
    return sums;
}

static bool every_container_limits(const struct value *spec, struct str resource)
{
    static const struct str lists[] = { STR("initContainers"), STR("containers"),
                                        STR("ephemeralContainers") };
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        value_each_item (container, value_get(spec, lists[l]))
            if (!value_get(value_dig(container, "resources", "limits"), resource))
                return false;
    return true;
}

static void put(struct arena *a, struct value *resources, struct str what, struct str name,
                struct str amount)
{
    struct value *list = value_ensure(a, resources, what);
    if (list && !value_get(list, name))
        value_put(a, list, name, value_string(amount));
}

static void fill_requests(struct arena *a, struct value *resources, const struct value *sums)
{
    value_each_field (f, sums)
        if (resource_is_pod_level(f->key) && !resource_is_huge_page(f->key))
            put(a, resources, STR("requests"), f->key, value_str(&f->val));
    const struct value *limits = value_get(resources, STR("limits"));
    struct value given = limits ? value_borrow(limits) : value_null();
    value_each_field (f, &given)
        if (resource_is_pod_level(f->key))
            put(a, resources, STR("requests"), f->key, value_str(&f->val));
}

static void fill_limits(struct arena *a, struct value *resources, const struct value *spec,
                        const struct value *sums)
{
    const struct value *requests = value_get(resources, STR("requests"));
    struct value given = requests ? value_borrow(requests) : value_null();
    value_each_field (f, &given) {
        struct str sum = value_str(value_get(sums, f->key)), request = value_str(&f->val);
        if (!resource_is_pod_level(f->key) || !sum.n || !every_container_limits(spec, f->key))
            continue;
        put(a, resources, STR("limits"), f->key,
            request.n && quantity_cmp(request, sum) > 0 ? request : sum);
    }
}

static size_t count(const struct value *list)
{
    return value_is(list, VALUE_OBJECT) ? list->n : 0;
}

void strategy__fill_pod_resources(struct arena *a, struct value *spec)
{
    const struct value *given = value_get(spec, STR("resources"));
    size_t n = count(value_get(given, STR("requests"))) + count(value_get(given, STR("limits")));
    if (n == 0 || n > RESOURCES_MAX)
        return;
    struct value requests = aggregate(a, spec, STR("requests")),
                 limits = aggregate(a, spec, STR("limits"));
    struct value *resources = value_edit(a, spec, STR("resources"));
    value_each_field (f, &limits)
        if (resource_is_huge_page(f->key) &&
            !value_get(value_get(resources, STR("requests")), f->key))
            put(a, resources, STR("limits"), f->key, value_str(&f->val));
    fill_requests(a, resources, &requests);
    fill_limits(a, resources, spec, &limits);
}
