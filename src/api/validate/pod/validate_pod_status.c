/* A pod's status, as its node and the scheduler report it. */
#include "api/ip.h"
#include "api/quantity.h"
#include "api/validate/validate_parts.h"
#include "api/validate/pod/validate_pod.h"
#include "api/validate/validate_resource_list.h"
#include "base/banned.h"

#define STATUS path_root("status")

/* ---- Conditions ---- */

static void check_pod_conditions(struct field_errors *e, const struct value *conditions)
{
    static const struct str ours[] = { STR("PodScheduled"), STR("Ready"), STR("Initialized") };
    size_t i = 0;
    value_each_item (it, conditions) {
        const struct field_path *at = path_item(path_at(STATUS, "conditions"), i++);
        if (validate_int(it, "observedGeneration") < 0)
            fault_int(e, path_at(at, "observedGeneration"), validate_int(it, "observedGeneration"),
                      "must be a non-negative integer");
        if (!words_have(value_text(it, "type"), WORDS(ours)))
            (void)validate_name(e, path_at(at, "Type"), NAME_QUALIFIED, value_text(it, "type"));
    }
}

/* ---- Addresses ---- */

static bool has_ip(const struct value *list, struct str ip)
{
    size_t n = 0;
    value_each_item (it, list)
        if (n++ < 16 && str_eq(value_text(it, "ip"), ip))
            return true;
    return false;
}

/* Two addresses, one of each family. */
static bool is_dual_stack(const struct value *list)
{
    struct ip first, second;
    return list->n == 2 && ip_parse(value_text(value_at(list, 0), "ip"), &first) &&
           ip_parse(value_text(value_at(list, 1), "ip"), &second) &&
           (first.is_v4 || first.is_mapped) != (second.is_v4 || second.is_mapped);
}

static void check_ips(struct field_errors *e, const struct field_path *path,
                      const struct value *list, const struct value *old_list)
{
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        if (!has_ip(old_list, value_text(it, "ip")))
            (void)validate_ip_legacy(e, at, value_text(it, "ip"), NULL);
    }
}

/* As upstream's struct without JSON names: {"IP":"..."}. */
static void fault_ips(struct field_errors *e, const struct field_path *path,
                      const struct value *list, const char *why)
{
    struct value shown = value_array();
    value_each_item (it, list) {
        struct value one = value_object();
        value_put_new(e->arena, &one, STR("IP"), value_string(value_text(it, "ip")));
        value_put_item(e->arena, &shown, one);
    }
    fault_value(e, path, validate__count(list) ? &shown : NULL, "%s", why);
}

static void check_pod_ips(struct field_errors *e, const struct value *status,
                          const struct value *old_status)
{
    const struct value *list = value_get(status, STR("podIPs"));
    const struct field_path *path = path_at(STATUS, "podIPs");
    struct str ip = value_text(status, "podIP");
    check_ips(e, path, list, value_get(old_status, STR("podIPs")));
    if (validate__count(list) > 1 && !is_dual_stack(list))
        fault_ips(e, path, list, "may specify no more than one IP for each IP family");
    struct str first = value_text(value_at(list, 0), "ip");
    if ((ip.n > 0) != (validate__count(list) > 0))
        fault_ips(e, path, list, "podIP and podIPs must either both be set or both be unset");
    else if (!str_eq(ip, first))
        fault_text(e, path_at(path_item(path, 0), "ip"), first, "must be equal to `podIP`");
}

static void check_host_ips(struct field_errors *e, const struct value *status,
                           const struct value *old_status)
{
    const struct value *list = value_get(status, STR("hostIPs"));
    const struct field_path *path = path_at(STATUS, "hostIPs");
    struct str first = value_text(value_at(list, 0), "ip");
    if (!validate__count(list))
        return;
    if (!str_eq(value_text(status, "hostIP"), first))
        fault_text(e, path_at(path_item(path, 0), "ip"), first, "must be equal to `hostIP`");
    check_ips(e, path, list, value_get(old_status, STR("hostIPs")));
    if (list->n > 1 && !is_dual_stack(list))
        fault_ips(e, path, list, "may specify no more than one IP for each IP family");
}

/* ---- Containers ---- */

static bool all_could_restart(const struct value *spec)
{
    for (size_t k = 0; k < 2; k++)
        value_each_item (it, value_get(spec, pod_container_lists[k]))
            value_each_item (rule, value_get(it, STR("restartPolicyRules")))
                if (str_eq(value_text(rule, "action"), STR("RestartAllContainers")))
                    return true;
    return false;
}

static bool rule_matches(const struct value *rule, int64_t code)
{
    const struct value *codes = validate_member(rule, "exitCodes");
    bool listed = false;
    value_each_item (it, value_get(codes, STR("values")))
        listed = listed || validate__int(it) == code;
    struct str operator_ = value_text(codes, "operator");
    return codes && (str_eq(operator_, STR("In"))      ? listed
                     : str_eq(operator_, STR("NotIn")) ? !listed
                                                       : false);
}

static bool should_restart(const struct value *container, const struct value *spec, int64_t code)
{
    const struct value *own = validate_member(container, "restartPolicy");
    value_each_item (it, value_get(container, STR("restartPolicyRules")))
        if (rule_matches(it, code))
            return str_eq(value_text(it, "action"), STR("Restart"));
    struct str policy = own ? value_str(own) : value_text(spec, "restartPolicy");
    return str_eq(policy, STR("Always")) || (str_eq(policy, STR("OnFailure")) && code != 0);
}

static bool may_run_again(const struct value *spec, struct str list, struct str name, int64_t code)
{
    value_each_item (it, value_get(spec, list))
        if (str_eq(value_text(it, "name"), name))
            return should_restart(it, spec, code);
    return false;
}

/* What has ended stays ended, unless it may be restarted. An empty `list`: never. */
static void check_transitions(struct field_errors *e, struct str field, struct str list,
                              const struct value *status, const struct value *old_pod)
{
    const struct value *old_spec = value_get(old_pod, STR("spec")),
                       *old_list = value_get(value_get(old_pod, STR("status")), field);
    if (list.n && all_could_restart(old_spec))
        return;
    autoset now;
    text_set_init(&now);
    value_each_item (it, value_get(status, field))
        (void)text_set_add(&now, value_text(it, "name"), it);
    struct field_path path = field_child(STATUS, field);
    size_t i = 0;
    value_each_item (it, old_list) {
        const struct field_path *at = path_item(&path, i++);
        const struct value *ended = validate_member(validate_member(it, "state"), "terminated"),
                           *same = text_set_get(&now, value_text(it, "name"));
        if (!ended || !same || validate_member(validate_member(same, "state"), "terminated"))
            continue;
        if (!list.n ||
            !may_run_again(old_spec, list, value_text(it, "name"), validate_int(ended, "exitCode")))
            fault_forbidden(e, path_at(at, "state"),
                            "may not be transitioned to non-terminated state");
    }
}

static void check_linux_user(struct field_errors *e, const struct field_path *path,
                             const struct value *user)
{
    int64_t uid = validate_int(user, "uid");
    (void)validate_between(e, path_at(path, "uid"), uid, 0, UINT32_MAX);
    (void)validate_id(e, path_at(path, "gid"), validate_int(user, "gid"));
    size_t i = 0;
    value_each_item (it, value_get(user, STR("supplementalGroups")))
        (void)validate_id(e, path_item(path_at(path, "supplementalGroups"), i++),
                          validate__int(it));
}

static void check_users(struct field_errors *e, const struct value *status, struct str field,
                        const struct value *spec)
{
    const struct value *os = validate_member(spec, "os");
    struct str name = os ? value_text(os, "name") : STR("linux");
    struct field_path path = field_child(STATUS, field);
    size_t i = 0;
    value_each_item (it, value_get(status, field)) {
        const struct field_path *at = path_at(path_item(&path, i), "user");
        const struct value *user = validate_member(validate_member(it, "user"), "linux");
        i++;
        if (user && str_eq(name, STR("windows")))
            fault_forbidden(e, path_at(at, "linux"), "cannot be set for a windows pod");
        else if (user && str_eq(name, STR("linux")))
            check_linux_user(e, path_at(at, "linux"), user);
    }
}

/* ---- Allocated resources ---- */

static bool is_claimed(const struct value *container, struct str name, const struct value *extended)
{
    struct str rest = str_skip(name, 6), request = rest;
    struct str claim = str_cut(&request, '/');
    value_each_item (it, value_dig(container, "resources", "claims")) {
        struct str wanted = value_text(it, "request");
        if (str_eq(value_text(it, "name"), claim) &&
            (wanted.n ? str_eq(wanted, request) : !request.p))
            return true;
    }
    if (!claim.n || !request.n || !str_eq(claim, value_text(extended, "resourceClaimName")))
        return false;
    value_each_item (it, value_get(extended, STR("requestMappings"))) {
        struct str amount = value_str(validate_map_member(
            value_dig(container, "resources", "requests"), value_text(it, "resourceName")));
        if (str_eq(value_text(it, "containerName"), value_text(container, "name")) &&
            str_eq(value_text(it, "requestName"), request) && amount.n &&
            quantity_sign(amount) != 0)
            return true;
    }
    return false;
}

static void check_allocated_name(struct field_errors *e, const struct field_path *path,
                                 struct str name, const struct value *container,
                                 const struct value *status)
{
    if (str_starts(name, STR("claim:"))) {
        if (!is_claimed(container, name, validate_member(status, "extendedResourceClaimStatus")))
            fault_text(e, path, name,
                       "must match one of the container's resource claims as "
                       "'claim:<claimName>/<requestName>' when container.resources.claims[*]."
                       "request is set or 'claim:<claimName>' when it is empty");
    } else if (!validate_map_member(value_dig(container, "resources", "requests"), name)) {
        fault_text(e, path, name, "must match one of the container's resource requests");
    }
}

static void check_allocated_health(struct field_errors *e, const struct field_path *path,
                                   const struct value *resources)
{
    static const struct str states[] = { STR("Healthy"), STR("Unhealthy"), STR("Unknown") };
    enum { MESSAGE_MAX = 1024 };
    autoset seen;
    text_set_init(&seen);
    size_t i = 0;
    value_each_item (it, resources) {
        const struct field_path *at = path_item(path, i++);
        const struct value *message = validate_member(it, "message");
        (void)validate_one_of(e, path_at(at, "health"), value_text(it, "health"), WORDS(states));
        if (message && !value_str(message).n)
            fault_required(e, path_at(at, "message"), "must be non-empty if specified");
        else if (value_str(message).n > MESSAGE_MAX)
            field_too_long(e, path_at(at, "message"), MESSAGE_MAX);
        if (!text_set_add(&seen, value_text(it, "resourceID"), it))
            fault_duplicate(e, path_at(at, "resourceID"), value_text(it, "resourceID"));
    }
}

static const struct value *container_named(const struct value *spec, struct str list,
                                           struct str name)
{
    value_each_item (it, value_get(spec, list))
        if (str_eq(value_text(it, "name"), name))
            return it;
    return NULL;
}

static void check_allocated(struct field_errors *e, const struct value *status, struct str field,
                            struct str list, const struct value *spec)
{
    struct field_path path = field_child(STATUS, field);
    size_t i = 0;
    value_each_item (it, value_get(status, field)) {
        const struct field_path *at = path_at(path_item(&path, i), "allocatedResourcesStatus");
        const struct value *resources = value_get(it, STR("allocatedResourcesStatus"));
        const struct value *container =
            validate__count(resources) ? container_named(spec, list, value_text(it, "name")) : NULL;
        size_t k = 0;
        i++;
        value_each_item (resource, resources) {
            const struct field_path *one = path_item(at, k++);
            if (container)
                check_allocated_name(e, path_at(one, "name"), value_text(resource, "name"),
                                     container, status);
            check_allocated_health(e, path_at(one, "resources"),
                                   value_get(resource, STR("resources")));
        }
    }
}

static void forbid_allocated(struct field_errors *e, const struct value *status, struct str field)
{
    struct field_path path = field_child(STATUS, field);
    size_t i = 0;
    value_each_item (it, value_get(status, field)) {
        const struct field_path *at = path_item(&path, i++);
        if (validate_count(it, "allocatedResourcesStatus"))
            fault_forbidden(e, path_at(at, "allocatedResourcesStatus"),
                            "must not be specified in container status");
    }
}

/* ---- Claims ---- */

static void check_claim_statuses(struct field_errors *e, const struct value *statuses,
                                 const struct value *claims)
{
    autoset declared, seen;
    text_set_init(&declared);
    text_set_init(&seen);
    value_each_item (it, claims)
        (void)text_set_add(&declared, value_text(it, "name"), it);
    size_t i = 0;
    value_each_item (it, statuses) {
        const struct field_path *at = path_item(path_at(STATUS, "resourceClaimStatuses"), i++);
        struct str name = value_text(it, "name");
        const struct value *claim = validate_member(it, "resourceClaimName");
        if (!text_set_has(&declared, name))
            fault_text(e, path_at(at, "name"), name,
                       "must match the name of an entry in `spec.resourceClaims`");
        if (!text_set_add(&seen, name, it))
            fault_duplicate(e, path_at(at, "name"), name);
        if (claim)
            (void)validate_name(e, path_at(at, "resourceClaimName"), NAME_SUBDOMAIN,
                                value_str(claim));
    }
}

static void check_mapping(struct field_errors *e, const struct field_path *path,
                          const struct field_path *at, const struct value *mapping,
                          const struct value *spec)
{
    struct str name = value_text(mapping, "containerName"),
               resource = value_text(mapping, "resourceName");
    const struct value *container = container_named(spec, STR("containers"), name);
    if (!container)
        container = container_named(spec, STR("initContainers"), name);
    if (!container)
        fault_text(e, path_at(at, "containerName"), name,
                   "must match the name of an entry in spec.initContainers.name or "
                   "spec.containers.name");
    else if (!validate_map_member(value_dig(container, "resources", "requests"), resource))
        fault_text(e, path_at(at, "resourceName"), resource,
                   "must match the extended resource name of an entry in "
                   "spec.initContainers.resources.requests or spec.containers.resources.requests");
    (void)validate_name(e, path_at(path, "requestName"), NAME_LABEL,
                        value_text(mapping, "requestName"));
}

static void check_extended_claim(struct field_errors *e, const struct value *extended,
                                 const struct value *spec)
{
    const struct field_path *path = path_at(STATUS, "extendedResourceClaimStatus");
    const struct field_path *list = path_at(path, "requestMappings");
    if (!extended)
        return;
    if (!validate_count(extended, "requestMappings"))
        fault_required(e, list, "at least one request mapping is required");
    autoset seen;
    text_set_init(&seen);
    size_t i = 0;
    value_each_item (it, value_get(extended, STR("requestMappings"))) {
        const struct field_path *at = path_item(list, i++);
        struct str container = value_text(it, "containerName"),
                   resource = value_text(it, "resourceName"),
                   request = value_text(it, "requestName");
        check_mapping(e, path, at, it, spec);
        struct str key = arena_printf(e->arena, STR_FMT "\n" STR_FMT "\n" STR_FMT,
                                      STR_ARG(container), STR_ARG(resource), STR_ARG(request));
        if (text_set_add(&seen, key, it))
            continue;
        fault_duplicate(e, path_at(at, "containerName"), container);
        fault_duplicate(e, path_at(at, "resourceName"), resource);
        fault_duplicate(e, path_at(at, "requestName"), request);
    }
    (void)validate_required_name(e, path_at(path, "resourceClaimName"), NAME_SUBDOMAIN,
                                 value_text(extended, "resourceClaimName"));
}

/* ---- The status ---- */

static void check_nomination(struct field_errors *e, const struct value *pod,
                             const struct value *old_pod)
{
    struct str node = value_str(value_dig(pod, "status", "nominatedNodeName"));
    const struct field_path *path = path_at(STATUS, "nominatedNodeName");
    if (!node.n || str_eq(node, value_str(value_dig(old_pod, "status", "nominatedNodeName"))))
        return;
    (void)validate_name(e, path, NAME_SUBDOMAIN, node);
    if (value_str(value_dig(old_pod, "spec", "nodeName")).n)
        fault_forbidden(e, path, "may not be set on pods that are already bound to a node");
}

void validate_pod_status(struct field_errors *e, const struct value *pod,
                         const struct value *old_pod, const struct pod_rules *rules)
{
    static const struct str statuses[] = { STR("containerStatuses"), STR("initContainerStatuses"),
                                           STR("ephemeralContainerStatuses") };
    static const struct str lists[] = { STR("containers"), STR("initContainers"), STR("") };
    const struct value *status = value_get(pod, STR("status")),
                       *old_status = value_get(old_pod, STR("status")),
                       *spec = value_get(pod, STR("spec"));
    validate_pod_annotations_kept(e, pod, old_pod, rules);
    check_pod_conditions(e, value_get(status, STR("conditions")));
    if (!str_eq(value_text(spec, "nodeName"), value_str(value_dig(old_pod, "spec", "nodeName"))))
        fault_forbidden(e, path_at(STATUS, "nodeName"), "may not be changed directly");
    check_nomination(e, pod, old_pod);
    if (validate_int(status, "observedGeneration") < 0)
        fault_int(e, path_at(STATUS, "observedGeneration"),
                  validate_int(status, "observedGeneration"), "must be a non-negative integer");
    (void)validate_immutable(e, path_at(STATUS, "qosClass"), validate_member(status, "qosClass"),
                             validate_member(old_status, "qosClass"));
    for (size_t i = 0; i < 3; i++)
        check_transitions(e, statuses[i], lists[i], status, old_pod);
    check_claim_statuses(e, value_get(status, STR("resourceClaimStatuses")),
                         value_get(spec, STR("resourceClaims")));
    check_extended_claim(e, validate_member(status, "extendedResourceClaimStatus"), spec);
    check_pod_ips(e, status, old_status);
    check_host_ips(e, status, old_status);
    for (size_t i = 0; i < 3; i++)
        check_users(e, status, statuses[i], spec);
    for (size_t i = 0; i < 2; i++)
        check_allocated(e, status, statuses[i], lists[i], spec);
    forbid_allocated(e, status, statuses[2]);
}
