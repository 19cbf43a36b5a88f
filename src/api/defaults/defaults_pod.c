/* Pods, wherever they are described: alone, or as the template of a workload. What a Pod has and a
 * template has not is in defaults__pod(). */
#include "api/defaults/defaults_rules.h"

#include "base/banned.h"

/* An image that may change under its name is always asked for. */
static struct value pull_policy(const struct value *image)
{
    return value_string(defaults__is_latest_image(value_str(image)) ? STR("Always")
                                                                    : STR("IfNotPresent"));
}

void defaults__container(struct arena *a, struct value *container)
{
    defaults__fill_zero(a, container, STR("imagePullPolicy"),
                        pull_policy(value_get(container, STR("image"))));
}

void defaults__image_volume(struct arena *a, struct value *source)
{
    defaults__fill_zero(a, source, STR("pullPolicy"),
                        pull_policy(value_get(source, STR("reference"))));
}

void defaults__volume(struct arena *a, struct value *volume)
{
    value_each_field (f, volume)
        if (!str_eq(f->key, STR("name")) && f->val.type != VALUE_NULL)
            return;
    value_put(a, volume, STR("emptyDir"), value_object());
}

/* Two names of one field; the newer one wins. */
void defaults__pod_spec(struct arena *a, struct value *spec)
{
    struct str old_name = STR("serviceAccount"), name = STR("serviceAccountName");
    struct str account = value_str(value_get(spec, name));
    struct str old_account = value_str(value_get(spec, old_name));
    if (str_eq(account, old_account))
        return;
    if (!account.n)
        value_put(a, spec, name, value_string(old_account));
    else
        value_put(a, spec, old_name, value_string(account));
}

/* Old kubelets know one address only, so where the two disagree it is the one that counts. */
void defaults__pod_status(struct arena *a, struct value *status)
{
    const struct value *ips = value_get(status, STR("podIPs"));
    struct str first = value_text(value_at(ips, 0), "ip");
    struct str ip = value_text(status, "podIP");
    if (!ip.n) {
        if (first.n)
            value_put(a, status, STR("podIP"), value_string(first));
        return;
    }
    if (str_eq(ip, first))
        return;
    struct value entry = value_object(), list = value_array();
    value_put_new(a, &entry, STR("ip"), value_string(ip));
    value_put_item(a, &list, entry);
    value_put(a, status, STR("podIPs"), list);
}

/* ---- Pods that are no templates ---- */

static void request_limits(struct arena *a, struct value *container)
{
    const struct value *limits = value_dig(container, "resources", "limits");
    if (value_is(limits, VALUE_OBJECT) && limits->n)
        defaults__fill_map(a, value_edit(a, container, STR("resources")), STR("requests"), limits);
}

static void open_host_ports(struct arena *a, struct value *container)
{
    struct value *ports = value_edit(a, container, STR("ports"));
    for (size_t i = 0; value_is(ports, VALUE_ARRAY) && i < ports->n; i++) {
        struct value *port = value_edit_at(a, ports, i);
        int64_t number;
        if (port->type == VALUE_OBJECT &&
            value_to_int(value_get(port, STR("containerPort")), &number))
            defaults__fill_zero(a, port, STR("hostPort"), value_int(number));
    }
}

static void default_containers(struct arena *a, struct value *spec, struct str list,
                               bool on_host_network)
{
    struct value *containers = value_edit(a, spec, list);
    for (size_t i = 0; value_is(containers, VALUE_ARRAY) && i < containers->n && !arena_spent(a);
         i++) {
        struct value *container = value_edit_at(a, containers, i);
        if (container->type != VALUE_OBJECT)
            continue;
        request_limits(a, container);
        if (on_host_network)
            open_host_ports(a, container);
    }
}

void defaults__pod(struct arena *a, struct value *pod)
{
    struct value *spec = value_ensure(a, pod, STR("spec"));
    if (!spec)
        return;
    int64_t grace;
    if (value_to_int(value_get(spec, STR("terminationGracePeriodSeconds")), &grace) && grace < 0)
        value_put(a, spec, STR("terminationGracePeriodSeconds"), value_int(1));
    bool on_host_network = !defaults__is_zero(value_get(spec, STR("hostNetwork")));
    default_containers(a, spec, STR("containers"), on_host_network);
    default_containers(a, spec, STR("initContainers"), on_host_network);
    defaults__fill(a, spec, STR("enableServiceLinks"), value_bool(true));
}
