#include "api/pod_qos.h"

#include "api/quantity.h"
#include "api/resource_name.h"
#include "base/banned.h"

enum qos { QOS_BEST_EFFORT, QOS_BURSTABLE, QOS_GUARANTEED };

static struct str amount_of(const struct value *resources, struct str list, struct str name)
{
    struct str text = value_str(value_get(value_get(resources, list), name));
    return text.n ? text : STR("0");
}

static enum qos qos_of_resource(const struct value *resources, struct str name)
{
    struct str request = amount_of(resources, STR("requests"), name),
               limit = amount_of(resources, STR("limits"), name);
    if (quantity_cmp(request, limit) != 0)
        return QOS_BURSTABLE;
    return quantity_sign(request) == 0 ? QOS_BEST_EFFORT : QOS_GUARANTEED;
}

static enum qos qos_of(const struct value *resources)
{
    enum qos cpu = qos_of_resource(resources, STR("cpu")),
             memory = qos_of_resource(resources, STR("memory"));
    return cpu == memory ? cpu : QOS_BURSTABLE;
}

static bool asks_for_something(const struct value *resources)
{
    static const struct str lists[] = { STR("requests"), STR("limits") };
    for (size_t i = 0; i < 2; i++)
        value_each_field (f, value_get(resources, lists[i]))
            if (resource_is_pod_level(f->key))
                return true;
    return false;
}

struct str pod_qos_class(const struct value *spec)
{
    static const struct str names[] = { STR("BestEffort"), STR("Burstable"), STR("Guaranteed") };
    static const struct str lists[] = { STR("initContainers"), STR("containers") };
    const struct value *own = value_get(spec, STR("resources"));
    if (asks_for_something(own))
        return names[qos_of(own)];
    bool first = true;
    enum qos qos = QOS_BEST_EFFORT;
    for (size_t i = 0; i < 2; i++)
        value_each_item (it, value_get(spec, lists[i])) {
            enum qos one = qos_of(value_get(it, STR("resources")));
            qos = first || one == qos ? one : QOS_BURSTABLE;
            first = false;
        }
    return names[qos];
}
