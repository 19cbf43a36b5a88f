/* Fills in what spec.resources of a pod leaves out, from the sum of its containers.
 *
 * Init containers run one after the other, so only the largest of them counts. Those that restart
 * (sidecars) keep running, so they count together with all that come later. */
#include "api/quantity.h"
#include "api/resource_name.h"
#include "base/idiom.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

/* There are two resources and a few sizes of huge pages. Longer lists are left as they are. */
enum { RESOURCES_MAX = 64 };

static void add_list(struct arena *a, struct value *sum, const struct value *list)
{
    value_each_field (f, list) {
        struct str was = value_str(value_get(sum, f->key)), more = value_str(&f->val);
        if (more.n && resource_is_pod_level(f->key) && (was.n || sum->n < RESOURCES_MAX))
            value_put(a, sum, f->key, value_string(was.n ? quantity_add(a, was, more) : more));
    }
}

static void max_list(struct arena *a, struct value *most, const struct value *list)
{
    value_each_field (f, list) {
        struct str was = value_str(value_get(most, f->key)), more = value_str(&f->val);
        if (more.n && (was.n ? quantity_cmp(more, was) > 0 : most->n < RESOURCES_MAX))
            value_put(a, most, f->key, value_string(more));
    }
}

/* `what` is "requests" or "limits". */
static struct value aggregate(struct arena *a, const struct value *spec, struct str what)
{
    struct value sum = value_object(), beside = value_object(), most = value_object();
    value_each_item (container, value_get(spec, STR("containers")))
        add_list(a, &sum, value_get(value_get(container, STR("resources")), what));
    value_each_item (container, value_get(spec, STR("initContainers"))) {
        const struct value *list = value_get(value_get(container, STR("resources")), what);
        struct value one = value_object();
        if (str_eq(value_text(container, "restartPolicy"), STR("Always"))) {
            add_list(a, &sum, list);
            add_list(a, &beside, list);
            add_list(a, &one, &beside);
        } else {
            add_list(a, &one, list);
            add_list(a, &one, &beside);
        }
        max_list(a, &most, &one);
    }
    max_list(a, &sum, &most);
    return sum;
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
