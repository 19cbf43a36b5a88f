#include "api/pod_resources.h"

#include "api/quantity.h"
#include "base/banned.h"

static struct str plus(struct arena *a, struct str sum, struct str more)
{
    return sum.n && more.n ? quantity_add(a, sum, more) : sum.n ? sum : more;
}

static struct str larger(struct str a, struct str b)
{
    return !a.n || (b.n && quantity_cmp(b, a) > 0) ? b : a;
}

struct str pod_resources_total(struct arena *a, const struct value *spec,
                               pod_resources_asked *asked, const void *arg)
{
    struct str sum = STR(""), beside = STR(""), most = STR("");
    value_each_item (it, value_get(spec, STR("containers")))
        sum = plus(a, sum, asked(arg, it));
    value_each_item (it, value_get(spec, STR("initContainers"))) {
        struct str one = asked(arg, it);
        if (str_eq(value_text(it, "restartPolicy"), STR("Always"))) {
            sum = plus(a, sum, one);
            beside = plus(a, beside, one);
            most = larger(most, beside);
        } else {
            most = larger(most, plus(a, one, beside));
        }
    }
    return larger(sum, most);
}

struct named {
    struct str list, name;
};

static struct str asked_in_spec(const void *arg, const struct value *container)
{
    const struct named *of = arg;
    const struct value *resources = value_get(container, STR("resources"));
    return value_str(value_get(value_get(resources, of->list), of->name));
}

struct str pod_resources_sum(struct arena *a, const struct value *spec, struct str list,
                             struct str name)
{
    const struct named of = { list, name };
    return pod_resources_total(a, spec, asked_in_spec, &of);
}
