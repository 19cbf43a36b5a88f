#include "api/pod_resources.h"
#include "node/pod/cri_tree.h"
#include "node/pod/node_facts.h"
#include "node/pod/pod_amount.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

enum { OOM_GUARANTEED = -997, OOM_BEST_EFFORT = 1000 };

static struct value linux_resources(struct arena *a, int64_t request_milli, int64_t limit_milli,
                                    int64_t memory)
{
    struct value v = value_object();
    tree_int(a, &v, STR("cpu_period"), CPU_PERIOD_US);
    tree_int(a, &v, STR("cpu_quota"), cpu_quota(limit_milli));
    tree_int(a, &v, STR("cpu_shares"), cpu_shares(request_milli));
    tree_int(a, &v, STR("memory_limit_in_bytes"), memory);
    return v;
}

/* The container's own limit; where it has none, that of the pod as a whole. */
static struct str limit_of(const struct value *pod, const struct value *container, struct str name)
{
    struct str own = amount_of(value_get(container, STR("resources")), STR("limits"), name);
    if (amount_milli(own) || !pod_has_own_resources(pod))
        return own;
    return amount_of(value_dig(pod, "spec", "resources"), STR("limits"), name);
}

static int64_t huge_limit(struct arena *a, const struct value *resources, struct str size,
                          int64_t otherwise)
{
    value_each_field (f, value_get(resources, STR("limits")))
        if (str_eq(huge_page_size(a, f->key), size))
            return amount_units(value_str(&f->val));
    return otherwise;
}

/* Every size that the kernel has gets a limit, 0 where the container asks for none. */
static struct value huge_limits(struct arena *a, const struct value *pod,
                                const struct value *container)
{
    struct str *sizes;
    struct value list = value_array();
    const size_t n = huge_page_sizes(a, &sizes);
    for (size_t i = 0; i < n; i++) {
        const int64_t of_pod = huge_limit(a, value_dig(pod, "spec", "resources"), sizes[i], 0);
        struct value one = value_object();
        tree_text(a, &one, STR("page_size"), sizes[i]);
        tree_int(a, &one, STR("limit"),
                 huge_limit(a, value_get(container, STR("resources")), sizes[i], of_pod));
        value_put_item(a, &list, one);
    }
    return list;
}

static struct value unified(struct arena *a)
{
    struct value v = value_object();
    tree_text(a, &v, STR("memory.min"), STR("0"));
    tree_text(a, &v, STR("memory.low"), STR("0"));
    tree_text(a, &v, STR("memory.swap.max"), STR("0"));
    return v;
}

struct value container_resources(struct arena *a, const struct node_facts *node,
                                 const struct value *pod, const struct value *container)
{
    const struct value *own = value_get(container, STR("resources"));
    struct str request = amount_of(own, STR("requests"), STR("cpu")),
               limit = limit_of(pod, container, STR("cpu"));
    const int64_t memory = amount_units(limit_of(pod, container, STR("memory")));
    struct value v =
        linux_resources(a, amount_milli(request.n ? request : limit), amount_milli(limit), memory);
    tree_int(a, &v, STR("oom_score_adj"), container_oom_score(a, node, pod, container));
    tree_some(a, &v, STR("hugepage_limits"), huge_limits(a, pod, container));
    if (node->cgroup_v2)
        tree_some(a, &v, STR("unified"), unified(a));
    else if (node->counts_swap)
        tree_int(a, &v, STR("memory_swap_limit_in_bytes"), memory);
    return v;
}

struct value sandbox_resources(struct arena *a, const struct node_facts *node,
                               const struct value *pod)
{
    (void)node;
    const int64_t limit = amount_milli(pod_amount(a, pod, STR("limits"), STR("cpu"), false));
    struct str request = pod_amount(a, pod, STR("requests"), STR("cpu"), false);
    return linux_resources(a, request.n ? amount_milli(request) : limit, limit,
                           amount_units(pod_amount(a, pod, STR("limits"), STR("memory"), false)));
}

struct value overhead_resources(struct arena *a, const struct value *pod)
{
    const struct value *overhead = value_dig(pod, "spec", "overhead");
    if (!value_is(overhead, VALUE_OBJECT))
        return value_object();
    const int64_t cpu = amount_milli(value_text(overhead, "cpu"));
    return linux_resources(a, cpu, cpu, amount_units(value_text(overhead, "memory")));
}

/* ---- When memory is short ---- */

static int64_t memory_request(const struct value *container)
{
    return amount_units(
        amount_of(value_get(container, STR("resources")), STR("requests"), STR("memory")));
}

/* What the pod asks for as a whole and no container does, for each of them. */
static int64_t memory_left(struct arena *a, const struct value *pod)
{
    const struct value *spec = pod_spec(pod), *main = value_get(spec, STR("containers")),
                       *init = value_get(spec, STR("initContainers"));
    const int64_t all =
        amount_units(amount_of(value_get(spec, STR("resources")), STR("requests"), STR("memory")));
    const int64_t n = (main ? main->n : 0) + (init ? init->n : 0);
    if (all == 0 || n == 0)
        return 0;
    const int64_t asked = amount_units(pod_resources_sum(a, spec, STR("requests"), STR("memory")));
    return all > asked ? (all - asked) / n : 0;
}

static bool is_sidecar(const struct value *pod, const struct value *container)
{
    if (!str_eq(value_text(container, "restartPolicy"), STR("Always")))
        return false;
    value_each_item (c, value_dig(pod, "spec", "initContainers"))
        if (str_eq(value_text(c, "name"), value_text(container, "name")))
            return true;
    return false;
}

static int64_t least_memory(const struct value *pod)
{
    int64_t least = INT64_MAX;
    value_each_item (c, value_dig(pod, "spec", "containers"))
        if (memory_request(c) < least)
            least = memory_request(c);
    return least == INT64_MAX ? 0 : least;
}

static int64_t score(int64_t memory, uint64_t all)
{
    return all ? 1000 - (int64_t)(1000.0L * (long double)memory / (long double)all) : 1000;
}

int64_t container_oom_score(struct arena *a, const struct node_facts *node, const struct value *pod,
                            const struct value *container)
{
    struct str class = pod_class(pod);
    if (pod_is_node_critical(pod) || str_eq(class, STR("Guaranteed")))
        return OOM_GUARANTEED;
    if (str_eq(class, STR("BestEffort")))
        return OOM_BEST_EFFORT;
    const int64_t left = memory_left(a, pod);
    int64_t adj = score(memory_request(container) + left, node->memory_bytes);
    if (is_sidecar(pod, container)) {
        const int64_t of_others = score(least_memory(pod) + left, node->memory_bytes);
        adj = adj > of_others ? of_others : adj;
    }
    if (adj < OOM_BEST_EFFORT + OOM_GUARANTEED)
        return OOM_BEST_EFFORT + OOM_GUARANTEED;
    return adj == OOM_BEST_EFFORT ? adj - 1 : adj;
}
