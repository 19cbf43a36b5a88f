/* What an old pod has although it may not: a change of it may keep that. */
#include "api/validate/pod/validate_pod.h"
#include "api/validate/validate_resource_list.h"
#include "base/banned.h"

static bool has_odd_hugepages(const struct value *amounts)
{
    value_each_field (f, amounts)
        if (resource_is_huge_page(f->key) &&
            !validate_resource_is_divisible(f->key, value_str(&f->val)))
            return true;
    return false;
}

static bool term_has_bad_value(const struct value *term)
{
    return validate_selector_has_bad_value(validate_member(term, "labelSelector")) ||
           validate_selector_has_bad_value(validate_member(term, "namespaceSelector"));
}

static bool has_bad_affinity_value(const struct value *affinity)
{
    value_each_item (it, value_get(affinity, STR("requiredDuringSchedulingIgnoredDuringExecution")))
        if (term_has_bad_value(it))
            return true;
    value_each_item (it,
                     value_get(affinity, STR("preferredDuringSchedulingIgnoredDuringExecution")))
        if (term_has_bad_value(validate_member(it, "podAffinityTerm")))
            return true;
    return false;
}

static bool has_bad_node_value(const struct value *spec)
{
    const struct value *required = value_dig(spec, "affinity", "nodeAffinity",
                                             "requiredDuringSchedulingIgnoredDuringExecution");
    value_each_item (it, value_get(required, STR("nodeSelectorTerms")))
        if (validate_selector_has_bad_value(it)) /* its matchExpressions are looked at */
            return true;
    return false;
}

static bool has_bad_token_path(const struct value *projected)
{
    value_each_item (it, value_get(projected, STR("sources"))) {
        struct str path = value_text(validate_member(it, "serviceAccountToken"), "path"),
                   rest = path;
        if (str_starts(path, STR("/")) || str_starts(path, STR("..")))
            return true;
        while (rest.n)
            if (str_eq(str_cut(&rest, '/'), STR("..")))
                return true;
    }
    return false;
}

static void look_at_volumes(struct pod_rules *r, const struct value *spec)
{
    value_each_item (it, value_get(spec, STR("volumes"))) {
        const struct value *image = validate_member(it, "image");
        r->keeps_token_path =
            r->keeps_token_path || has_bad_token_path(validate_member(it, "projected"));
        r->keeps_image_reference =
            r->keeps_image_reference || (image && !value_text(image, "reference").n);
    }
}

static bool adds_sys_admin(const struct value *sc)
{
    if (value_is_true(value_get(sc, STR("allowPrivilegeEscalation"))))
        return false;
    value_each_item (it, value_dig(sc, "capabilities", "add"))
        if (str_eq(value_str(it), STR("CAP_SYS_ADMIN")))
            return true;
    return false;
}

static void look_at_container(struct pod_rules *r, const struct value *container, bool has_userns)
{
    const struct value *resources = value_get(container, STR("resources"));
    if (has_odd_hugepages(value_get(resources, STR("limits"))) ||
        has_odd_hugepages(value_get(resources, STR("requests"))))
        r->keeps_hugepages = true;
    if (has_userns && validate_count(container, "volumeDevices"))
        r->keeps_userns_devices = true;
    if (adds_sys_admin(validate_member(container, "securityContext")))
        r->keeps_sys_admin = true;
}

static void look_at_containers(struct pod_rules *r, const struct value *spec, bool has_userns)
{
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++)
        value_each_item (it, value_get(spec, pod_container_lists[k]))
            look_at_container(r, it, has_userns);
    value_each_item (it, value_get(spec, STR("initContainers")))
        value_each_item (policy,
                         validate_is_sidecar(it) ? NULL : value_get(it, STR("resizePolicy")))
            if (str_eq(value_text(policy, "restartPolicy"), STR("RestartContainer")))
                r->keeps_init_resize = true;
    if (has_odd_hugepages(value_get(spec, STR("overhead"))))
        r->keeps_hugepages = true;
}

static void look_at_scheduling(struct pod_rules *r, const struct value *spec)
{
    const struct value *affinity = validate_member(spec, "affinity");
    r->keeps_selector_values = has_bad_affinity_value(validate_member(affinity, "podAffinity")) ||
                               has_bad_affinity_value(validate_member(affinity, "podAntiAffinity"));
    r->keeps_node_values = has_bad_node_value(spec);
    value_each_item (it, value_get(spec, STR("topologySpreadConstraints"))) {
        if (!validate_is_label_selector(validate_member(it, "labelSelector"), 0))
            r->keeps_spread_selectors = true;
        if (!validate_has_good_label_keys(it))
            r->keeps_spread_keys = true;
    }
    value_each_item (it, value_get(spec, STR("tolerations")))
        if (validate_operator_of(value_text(it, "operator")) == OPERATOR_WITH_NUMBER)
            r->keeps_toleration_order = true;
}

struct pod_rules validate_pod_rules_of(const struct value *old_spec, const struct value *old_meta)
{
    struct pod_rules r = { 0 };
    if (old_spec) {
        const struct value *host_users = validate_member(old_spec, "hostUsers");
        bool has_userns = host_users && !value_is_true(host_users);
        const char *field;
        look_at_volumes(&r, old_spec);
        look_at_containers(&r, old_spec, has_userns);
        look_at_scheduling(&r, old_spec);
        r.keeps_userns_host_network =
            has_userns && value_is_true(value_get(old_spec, STR("hostNetwork")));
        value_each_item (it, value_dig(old_spec, "securityContext", "sysctls"))
            if (validate_sysctl_is_of_host(old_spec, value_text(it, "name"), &field))
                r.keeps_host_sysctls = true;
    }
    if (old_meta)
        r.keeps_deletion_cost = !validate_is_deletion_cost(value_get(old_meta, STR("annotations")));
    return r;
}
