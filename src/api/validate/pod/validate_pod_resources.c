/* Resources of a whole pod, against those of its containers. */
#include "api/quantity.h"
#include "api/validate/pod/validate_pod.h"
#include "api/validate/validate_resource_list.h"
#include "base/banned.h"

static struct str amount_of(const struct value *container, struct str list, struct str name)
{
    return value_str(
        validate_map_member(value_get(value_get(container, STR("resources")), list), name));
}

static struct str plus(struct arena *a, struct str sum, struct str more)
{
    if (!more.n)
        return sum;
    return sum.n ? quantity_add(a, sum, more) : more;
}

static struct str larger(struct str x, struct str y)
{
    if (!x.n || !y.n)
        return x.n ? x : y;
    return quantity_cmp(x, y) >= 0 ? x : y;
}

struct str validate_pod_aggregate(struct arena *a, const struct value *spec, struct str list,
                                  struct str name)
{
    struct str sum = STR(""), sidecars = STR(""), init = STR("");
    value_each_item (it, value_get(spec, STR("containers")))
        sum = plus(a, sum, amount_of(it, list, name));
    value_each_item (it, value_get(spec, STR("initContainers"))) {
        struct str own = amount_of(it, list, name);
        if (validate_is_sidecar(it)) {
            sum = plus(a, sum, own);
            sidecars = plus(a, sidecars, own);
            init = larger(init, sidecars);
        } else {
            init = larger(init, plus(a, own, sidecars));
        }
    }
    return larger(sum, init);
}

static void check_aggregate(struct field_errors *e, const struct field_path *path,
                            const struct value *spec, struct str list,
                            const struct value_field *own, const char *words)
{
    struct str sum = validate_pod_aggregate(e->arena, spec, list, own->key),
               given = value_str(&own->val);
    if (sum.n && given.n && quantity_cmp(sum, given) > 0)
        fault_text(e, path_key(path, own->key), given,
                   "must be greater than or equal to aggregate container %s of " STR_FMT, words,
                   STR_ARG(sum));
}

static void check_container_limits(struct field_errors *e, const struct field_path *path,
                                   const struct value *spec, const struct value *limits)
{
    size_t i = 0;
    value_each_item (it, value_get(spec, STR("containers"))) {
        const struct field_path *at = path_item(path_at(path, "containers"), i++);
        value_each_field (f, value_dig(it, "resources", "limits")) {
            const struct value *of_pod = validate_map_member(limits, f->key);
            struct str own = value_str(&f->val);
            if (of_pod && own.n && value_str(of_pod).n && quantity_cmp(own, value_str(of_pod)) > 0)
                fault_text(e, path_at(path_key(at, f->key), "limits"), own,
                           "must be less than or equal to pod limits of " STR_FMT,
                           STR_ARG(value_str(of_pod)));
        }
    }
}

void validate_pod_resources(struct field_errors *e, const struct field_path *path,
                            const struct value *spec, const struct pod_rules *rules)
{
    const struct value *resources = validate_member(spec, "resources"),
                       *limits = value_get(resources, STR("limits"));
    if (!resources)
        return;
    if (str_eq(value_str(value_dig(spec, "os", "name")), STR("windows"))) {
        fault_forbidden(e, path, "may not be set for a windows pod");
        return;
    }
    if (validate_count(resources, "claims"))
        fault_forbidden(e, path_at(path, "claims"),
                        "claims may not be set for Resources at pod-level");
    validate_resource_requirements(e, path, resources, value_get(spec, STR("resourceClaims")),
                                   RESOURCES_OF_POD |
                                       (rules->keeps_hugepages ? RESOURCES_ANY_HUGEPAGES : 0));
    value_each_field (f, value_get(resources, STR("requests")))
        check_aggregate(e, path_at(path, "requests"), spec, STR("requests"), f, "requests");
    value_each_field (f, limits)
        if (resource_is_huge_page(f->key))
            check_aggregate(e, path_at(path, "limits"), spec, STR("limits"), f, "limits");
    check_container_limits(e, path, spec, limits);
}
