#include "api/validate/kinds/validate_service.h"

#include "api/inner.h"
#include "api/ip.h"
#include "api/text_set.h"
#include "api/validate/validate_parts.h"
#include "base/banned.h"

#define RANGES     STR("service.beta.kubernetes.io/load-balancer-source-ranges")
#define HINTS      STR("service.kubernetes.io/topology-aware-hints")
#define MODE       STR("service.kubernetes.io/topology-mode")
#define ONLY_LB    "may only be used when `type` is 'LoadBalancer'"
#define SPEC(name) path_at(path_root("spec"), name)

static bool has_type(const struct value *spec, const char *type)
{
    return str_eq(value_text(spec, "type"), str_of(type));
}

static bool is_none(const struct value *ip)
{
    return str_eq(value_str(ip), STR("None"));
}

static bool is_headless(const struct value *spec)
{
    const struct value *ips = value_get(spec, STR("clusterIPs"));
    return validate__count(ips) == 1 && is_none(value_at(ips, 0));
}

/* ---- Addresses ---- */

static void check_first_address(struct field_errors *e, const struct value *spec,
                                const struct value *ips)
{
    struct str ip = value_text(spec, "clusterIP");
    const struct field_path *path = SPEC("clusterIPs");
    if (ip.n && !validate__count(ips))
        fault_required(e, path, "");
    else if (ip.n && !str_eq(value_str(value_at(ips, 0)), ip))
        fault_value(e, path, ips, "first value must match `clusterIP`");
    else if (!ip.n && validate__count(ips))
        fault_value(e, path, ips, "must be empty when `clusterIP` is not specified");
}

static void check_families(struct field_errors *e, const struct value *spec)
{
    static const struct str known[] = { STR("IPv4"), STR("IPv6") };
    static const struct str policies[] = { STR("PreferDualStack"), STR("RequireDualStack"),
                                           STR("SingleStack") };
    const struct value *families = value_get(spec, STR("ipFamilies"));
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, families) {
        const struct field_path *at = path_item(SPEC("ipFamilies"), i++);
        validate_one_of(e, at, value_str(it), WORDS(known));
        if (!text_set_add(&seen, value_str(it), it))
            fault_duplicate(e, at, value_str(it));
    }
    if (validate_member(spec, "ipFamilyPolicy"))
        validate_one_of(e, SPEC("ipFamilyPolicy"), value_text(spec, "ipFamilyPolicy"),
                        WORDS(policies));
}

static bool check_addresses(struct field_errors *e, const struct value *ips,
                            const struct value *old_ips)
{
    const struct field_path *path = SPEC("clusterIPs");
    size_t n = validate__count(ips), i = 0;
    bool good = true;
    value_each_item (it, ips) {
        if (i == 0 && is_none(it)) {
            if (n > 1)
                good = fault_value(e, path, ips, "'None' must be the first and only value");
        } else {
            good = validate_ip_legacy(e, path_item(path, i), value_str(it), old_ips) && good;
        }
        i++;
    }
    if (n > 2)
        fault_value(e, path, ips, "may only hold up to 2 values");
    return good;
}

static bool is_v6(struct str text)
{
    struct ip ip;
    return ip_parse(text, &ip) && !ip.is_v4 && !ip.is_mapped;
}

static bool is_dual(const struct value *ips)
{
    bool v4 = false, v6 = false;
    value_each_item (it, ips) {
        bool six = is_v6(value_str(it));
        v4 = v4 || !six;
        v6 = v6 || six;
    }
    return v4 && v6;
}

static void check_agreement(struct field_errors *e, const struct value *spec,
                            const struct value *ips)
{
    const struct field_path *path = SPEC("clusterIPs");
    const struct value *families = value_get(spec, STR("ipFamilies"));
    size_t n = validate__count(ips), n_families = validate__count(families);
    if (n > 1 && !is_dual(ips))
        fault_value(e, path, ips, "may specify no more than one IP for each IP family");
    for (size_t i = 0; !is_headless(spec) && i < n && i < n_families; i++) {
        struct str ip = value_str(value_at(ips, i)), family = value_str(value_at(families, i));
        bool six = is_v6(ip);
        if (str_eq(family, STR("IPv4")) && six)
            fault_text(e, path_item(path, i), ip,
                       "expected an IPv4 value as indicated by `ipFamilies[%zu]`", i);
        if (str_eq(family, STR("IPv6")) && !six)
            fault_text(e, path_item(path, i), ip,
                       "expected an IPv6 value as indicated by `ipFamilies[%zu]`", i);
    }
}

void validate_service_addresses(struct field_errors *e, const struct value *spec,
                                const struct value *old_spec)
{
    const struct value *ips = value_get(spec, STR("clusterIPs"));
    if (has_type(spec, "ExternalName"))
        return;
    check_first_address(e, spec, ips);
    check_families(e, spec);
    if (check_addresses(e, ips, value_get(old_spec, STR("clusterIPs"))))
        check_agreement(e, spec, ips);
}

/* ---- Ports ---- */

static void check_service_port(struct field_errors *e, const struct field_path *path,
                               const struct value *port, bool needs_name, struct text_set *names)
{
    static const struct str protocols[] = { STR("SCTP"), STR("TCP"), STR("UDP") };
    struct str name = value_text(port, "name"), protocol = value_text(port, "protocol");
    if (name.n) {
        validate_name(e, path_at(path, "name"), NAME_LABEL, name);
        if (!text_set_add(names, name, port))
            fault_duplicate(e, path_at(path, "name"), name);
    } else if (needs_name) {
        fault_required(e, path_at(path, "name"), "");
    }
    validate_port(e, path_at(path, "port"), validate_int(port, "port"));
    if (validate_required(e, path_at(path, "protocol"), protocol))
        validate_one_of(e, path_at(path, "protocol"), protocol, WORDS(protocols));
    validate_port_or_name(e, path_at(path, "targetPort"), value_get(port, STR("targetPort")));
    if (validate_member(port, "appProtocol"))
        validate_name(e, path_at(path, "appProtocol"), NAME_QUALIFIED,
                      value_text(port, "appProtocol"));
}

static void check_ports(struct field_errors *e, const struct value *spec)
{
    const struct value *ports = value_get(spec, STR("ports"));
    bool many = validate__count(ports) > 1;
    size_t i = 0;
    autoset names;
    text_set_init(&names);
    value_each_item (it, ports)
        check_service_port(e, path_item(SPEC("ports"), i++), it, many, &names);
}

/* "TCP 80", told apart from all others. */
static bool is_new(struct arena *a, struct text_set *seen, const struct value *port, int64_t number)
{
    struct str protocol = value_text(port, "protocol");
    struct str key = arena_printf(a, STR_FMT " %lld", STR_ARG(protocol), (long long)number);
    return text_set_add(seen, key, port);
}

static void check_repeated_ports(struct field_errors *e, const struct value *spec)
{
    const struct value *ports = value_get(spec, STR("ports"));
    size_t i = 0;
    autoset nodes, seen;
    text_set_init(&nodes);
    text_set_init(&seen);
    if (validate__count(ports) < 2)
        return;
    value_each_item (it, ports) {
        int64_t port = validate_int(it, "nodePort");
        if (port && !is_new(e->arena, &nodes, it, port)) {
            struct value shown = value_int(port);
            field_error(e, FIELD_DUPLICATE, path_at(path_item(SPEC("ports"), i), "nodePort"),
                        field_json(e, &shown), "%s", "");
        }
        i++;
    }
    i = 0;
    value_each_item (it, ports) {
        if (!is_new(e->arena, &seen, it, validate_int(it, "port"))) {
            struct value key = value_object(); /* what upstream compares, and shows */
            value_add(e->arena, &key, STR("protocol"), *value_get(it, STR("protocol")));
            value_add(e->arena, &key, STR("port"), value_int(validate_int(it, "port")));
            field_error(e, FIELD_DUPLICATE, path_item(SPEC("ports"), i),
                        inner_json(e, STR("v1"), STR("ServicePort"), &key), "%s", "");
        }
        i++;
    }
}

static void check_node_ports(struct field_errors *e, const struct value *spec)
{
    size_t i = 0;
    value_each_item (it, has_type(spec, "ClusterIP") ? value_get(spec, STR("ports")) : NULL) {
        if (validate_int(it, "nodePort"))
            fault_forbidden(e, path_at(path_item(SPEC("ports"), i), "nodePort"),
                            "may not be used when `type` is 'ClusterIP'");
        i++;
    }
}

/* ---- Types ---- */

static void check_external_name(struct field_errors *e, const struct value *spec)
{
    static const char why[] = "may not be set for ExternalName services";
    struct str name = value_text(spec, "externalName");
    if (validate_count(spec, "clusterIPs"))
        fault_forbidden(e, SPEC("clusterIPs"), "%s", why);
    if (validate_count(spec, "ipFamilies"))
        fault_forbidden(e, SPEC("ipFamilies"), "%s", why);
    if (validate_member(spec, "ipFamilyPolicy"))
        fault_forbidden(e, SPEC("ipFamilyPolicy"), "%s", why);
    if (str_ends(name, STR(".")))
        name = str_take(name, name.n - 1);
    validate_required_name(e, SPEC("externalName"), NAME_SUBDOMAIN, name);
}

static void check_type_fields(struct field_errors *e, const struct value *spec)
{
    bool balanced = has_type(spec, "LoadBalancer"), external = has_type(spec, "ExternalName");
    if (!validate_count(spec, "ports") && !is_headless(spec) && !external)
        fault_required(e, SPEC("ports"), "");
    if (external)
        check_external_name(e, spec);
    else if (is_headless(spec) && (balanced || has_type(spec, "NodePort")))
        fault_text(e, path_item(SPEC("clusterIPs"), 0), STR("None"),
                   "may not be set to 'None' for %s services",
                   balanced ? "LoadBalancer" : "NodePort");
}

static void check_affinity(struct field_errors *e, const struct value *spec)
{
    enum { TIMEOUT_MAX = 86400 };
    static const struct str known[] = { STR("ClientIP"), STR("None") };
    static const char why[] = "when session affinity type is ClientIP";
    struct str affinity = value_text(spec, "sessionAffinity");
    const struct value *config = validate_member(spec, "sessionAffinityConfig");
    const struct value *client = validate_member(config, "clientIP");
    const struct field_path *path = SPEC("sessionAffinityConfig"), *at = path_at(path, "clientIP");
    int64_t timeout = validate_int(client, "timeoutSeconds");
    if (validate_required(e, SPEC("sessionAffinity"), affinity))
        validate_one_of(e, SPEC("sessionAffinity"), affinity, WORDS(known));
    if (str_eq(affinity, known[1]) && config)
        fault_forbidden(e, path, "must not be set when session affinity is None");
    if (!str_eq(affinity, known[0]))
        return;
    if (!config)
        fault_required(e, path, why);
    else if (!client)
        fault_required(e, at, why);
    else if (!validate_member(client, "timeoutSeconds"))
        fault_required(e, path_at(at, "timeoutSeconds"), why);
    else if (timeout <= 0 || timeout > TIMEOUT_MAX)
        fault_int(e, path_at(at, "timeoutSeconds"), timeout,
                  "must be greater than 0 and less than %d", TIMEOUT_MAX);
}

static void check_external_ips(struct field_errors *e, const struct value *spec,
                               const struct value *old_spec)
{
    size_t i = 0;
    autoset old_ips;
    text_set_init(&old_ips);
    validate_add_texts(&old_ips, value_get(old_spec, STR("externalIPs")));
    value_each_item (it, value_get(spec, STR("externalIPs"))) {
        const struct field_path *at = path_item(SPEC("externalIPs"), i++);
        if (text_set_has(&old_ips, value_str(it)) || validate_ip_legacy(e, at, value_str(it), NULL))
            validate_endpoint_ip(e, at, value_str(it));
    }
}

/* ---- Load balancers ---- */

static void check_noted_ranges(struct field_errors *e, const struct value *obj,
                               const struct value *old_obj)
{
    const struct value *noted = value_get(value_dig(obj, "metadata", "annotations"), RANGES);
    const struct value *old = value_get(value_dig(old_obj, "metadata", "annotations"), RANGES);
    const struct field_path *path = path_key(path_at(path_root("metadata"), "annotations"), RANGES);
    struct str list = str_trim(value_str(noted));
    if (!noted)
        return;
    if (!has_type(value_get(obj, STR("spec")), "LoadBalancer"))
        fault_forbidden(e, path, ONLY_LB);
    if (list.n == 0 || (old && str_eq(value_str(old), value_str(noted))))
        return;
    while (list.p)
        validate_cidr_legacy(e, path, str_trim(str_cut(&list, ',')), NULL);
}

static void check_source_ranges(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    const struct value *ranges = value_get(spec, STR("loadBalancerSourceRanges"));
    const struct field_path *path = SPEC("LoadBalancerSourceRanges"); /* upstream's name of it */
    size_t i = 0;
    autoset old_ranges;
    text_set_init(&old_ranges);
    if (!validate__count(ranges)) {
        check_noted_ranges(e, obj, old_obj);
        return;
    }
    if (!has_type(spec, "LoadBalancer"))
        fault_forbidden(e, path, ONLY_LB);
    value_each_item (it, value_dig(old_obj, "spec", "loadBalancerSourceRanges"))
        (void)text_set_add(&old_ranges, str_trim(value_str(it)), it);
    value_each_item (it, ranges) {
        struct str range = str_trim(value_str(it));
        if (!text_set_has(&old_ranges, range))
            validate_cidr_legacy(e, path_item(path, i), range, NULL);
        i++;
    }
}

static void check_balancer_class(struct field_errors *e, const struct value *spec)
{
    const struct value *class = validate_member(spec, "loadBalancerClass");
    if (class && has_type(spec, "LoadBalancer"))
        validate_name(e, SPEC("loadBalancerClass"), NAME_QUALIFIED, value_str(class));
    else if (class)
        fault_forbidden(e, SPEC("loadBalancerClass"), ONLY_LB);
}

static void check_balancer(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    bool balanced = has_type(spec, "LoadBalancer");
    bool allocates = validate_member(spec, "allocateLoadBalancerNodePorts") != NULL;
    check_source_ranges(e, obj, old_obj);
    if (allocates && !balanced)
        fault_forbidden(e, SPEC("allocateLoadBalancerNodePorts"), ONLY_LB);
    if (balanced && !allocates)
        fault_required(e, path_root("allocateLoadBalancerNodePorts"), "");
    check_balancer_class(e, spec);
}

/* ---- Traffic ---- */

static bool needs_health_check(const struct value *spec)
{
    return has_type(spec, "LoadBalancer") &&
           str_eq(value_text(spec, "externalTrafficPolicy"), STR("Local"));
}

static void check_external_policy(struct field_errors *e, const struct value *spec)
{
    static const struct str policies[] = { STR("Cluster"), STR("Local") };
    struct str policy = value_text(spec, "externalTrafficPolicy");
    int64_t port = validate_int(spec, "healthCheckNodePort");
    bool reachable = has_type(spec, "LoadBalancer") || has_type(spec, "NodePort") ||
                     (has_type(spec, "ClusterIP") && validate_count(spec, "externalIPs"));
    if (!reachable && policy.n)
        fault_text(e, SPEC("externalTrafficPolicy"), policy,
                   "may only be set for externally-accessible services");
    else if (reachable && validate_required(e, SPEC("externalTrafficPolicy"), policy))
        validate_one_of(e, SPEC("externalTrafficPolicy"), policy, WORDS(policies));
    if (!needs_health_check(spec)) {
        if (port)
            fault_int(e, SPEC("healthCheckNodePort"), port,
                      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` "
                      "is 'Local'");
    } else if (!port) {
        fault_required(e, SPEC("healthCheckNodePort"), "");
    } else {
        validate_port(e, SPEC("healthCheckNodePort"), port);
    }
}

static void check_traffic(struct field_errors *e, const struct value *spec)
{
    static const struct str policies[] = { STR("Cluster"), STR("Local") };
    static const struct str distributions[] = { STR("PreferClose"), STR("PreferSameZone"),
                                                STR("PreferSameNode") };
    const struct value *inner = validate_member(spec, "internalTrafficPolicy");
    const struct value *distribution = validate_member(spec, "trafficDistribution");
    bool served =
        has_type(spec, "NodePort") || has_type(spec, "LoadBalancer") || has_type(spec, "ClusterIP");
    check_external_policy(e, spec);
    if (!inner && served)
        fault_required(e, SPEC("internalTrafficPolicy"), "");
    if (inner)
        validate_one_of(e, SPEC("internalTrafficPolicy"), value_str(inner), WORDS(policies));
    if (distribution)
        validate_one_of(e, SPEC("trafficDistribution"), value_str(distribution),
                        WORDS(distributions));
}

/* ---- Service ---- */

static void check_topology(struct field_errors *e, const struct value *obj)
{
    const struct value *annotations = value_dig(obj, "metadata", "annotations");
    const struct value *hints = value_get(annotations, HINTS), *mode = value_get(annotations, MODE);
    if (hints && mode && !str_eq(value_str(hints), value_str(mode)))
        fault_text(e, path_key(path_at(path_root("metadata"), "annotations"), MODE),
                   value_str(mode),
                   "must match annotations[service.kubernetes.io/topology-aware-hints] when both "
                   "are specified");
}

static void check_service(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    static const struct str types[] = { STR("ClusterIP"), STR("ExternalName"), STR("LoadBalancer"),
                                        STR("NodePort") };
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    struct str type = value_text(spec, "type");
    check_topology(e, obj);
    check_type_fields(e, spec);
    check_ports(e, spec);
    validate_labels(e, SPEC("selector"), value_get(spec, STR("selector")));
    check_affinity(e, spec);
    validate_service_addresses(e, spec, old);
    check_external_ips(e, spec, old);
    if (validate_required(e, SPEC("type"), type))
        validate_one_of(e, SPEC("type"), type, WORDS(types));
    check_node_ports(e, spec);
    check_repeated_ports(e, spec);
    check_balancer(e, obj, old_obj);
    check_traffic(e, spec);
}

static void create_service(struct field_errors *e, const struct value *obj)
{
    check_service(e, obj, NULL);
}

/* ---- Changes ---- */

static bool is_single(const struct value *spec)
{
    return str_eq(value_text(spec, "ipFamilyPolicy"), STR("SingleStack"));
}

/* The first of a list stays; a second one may come, and may go with the policy that says so. */
static void check_list_kept(struct field_errors *e, const struct value *spec,
                            const struct value *old, struct str field, const char *unset,
                            const char *released)
{
    const struct value *list = value_get(spec, field), *old_list = value_get(old, field);
    const struct value *shown = list, *ips = value_get(spec, STR("clusterIPs"));
    size_t n = validate__count(list), old_n = validate__count(old_list);
    struct field_path path = field_child(path_root("spec"), field);
    bool families = str_eq(field, STR("ipFamilies"));
    if (n == old_n) {
        for (size_t i = 0; i < n; i++)
            if (!value_eq(value_at(list, i), value_at(old_list, i)))
                fault_value(e, path_item(&path, families ? 0 : i), list, "may not change once set");
        return;
    }
    if (n < old_n && !validate__count(ips))
        fault_value(e, path_item(&path, 0), list, "%s", unset);
    if (families)
        shown = ips; /* so upstream has it */
    if (n && old_n && !value_eq(value_at(list, 0), value_at(old_list, 0)))
        fault_value(e, path_item(&path, 0), shown, "may not change once set");
    if (n < old_n && n == 1 && !is_single(spec))
        fault_value(e, SPEC("ipFamilyPolicy"), validate_member(spec, "ipFamilyPolicy"),
                    "must be set to 'SingleStack' when releasing the secondary %s", released);
}

static void check_addresses_kept(struct field_errors *e, const struct value *spec,
                                 const struct value *old)
{
    bool headless = is_headless(spec), was_headless = is_headless(old);
    if (has_type(spec, "ExternalName") || has_type(old, "ExternalName"))
        return;
    if (!headless || !was_headless)
        check_list_kept(e, spec, old, STR("clusterIPs"), "primary clusterIP can not be unset",
                        "clusterIP");
    if (!headless && !was_headless)
        check_list_kept(e, spec, old, STR("ipFamilies"), "primary ipFamily can not be unset",
                        "ipFamily");
}

static void update_service(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    const struct value *class = validate_member(spec, "loadBalancerClass");
    check_addresses_kept(e, spec, old);
    if (has_type(spec, "LoadBalancer") && has_type(old, "LoadBalancer") &&
        !validate_is_same(class, validate_member(old, "loadBalancerClass")))
        fault_value(e, SPEC("loadBalancerClass"), class, "may not change once set");
    check_balancer_class(e, spec);
    if (needs_health_check(spec) && needs_health_check(old) &&
        validate_int(spec, "healthCheckNodePort") != validate_int(old, "healthCheckNodePort"))
        fault_forbidden(e, SPEC("healthCheckNodePort"), "field is immutable");
    check_service(e, obj, old_obj);
}

static void update_service_status(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj)
{
    const struct value *status = value_dig(obj, "status", "loadBalancer");
    const struct field_path *path = path_at(path_root("status"), "loadBalancer");
    if (validate_count(status, "ingress") && !has_type(value_get(obj, STR("spec")), "LoadBalancer"))
        fault_forbidden(e, path_at(path, "ingress"),
                        "may only be used when `spec.type` is 'LoadBalancer'");
    else
        validate_load_balancer(e, path, status, value_dig(old_obj, "status", "loadBalancer"), true);
}

/* ---- Warnings ---- */

static void warn_of_headless(struct validate_warnings *w, const struct value *spec)
{
    if (value_text(spec, "loadBalancerIP").n)
        validate_add_warning(w, "spec.loadBalancerIP is ignored for headless services");
    if (validate_count(spec, "externalIPs"))
        validate_add_warning(w, "spec.externalIPs is ignored for headless services");
    if (!str_eq(value_text(spec, "sessionAffinity"), STR("None")))
        validate_add_warning(w, "spec.SessionAffinity is ignored for headless services");
}

static void warn_of_addresses(struct validate_warnings *w, const struct value *spec, bool headless,
                              bool external)
{
    size_t i = 0;
    if (value_text(spec, "clusterIP").n && !is_none(value_get(spec, STR("clusterIP"))))
        value_each_item (it, value_get(spec, STR("clusterIPs")))
            validate_warn_ip(w, path_item(SPEC("clusterIPs"), i++), value_str(it));
    if (headless)
        warn_of_headless(w, spec);
    i = 0;
    value_each_item (it, value_get(spec, STR("externalIPs")))
        validate_warn_ip(w, path_item(SPEC("externalIPs"), i++), value_str(it));
    if (validate_count(spec, "externalIPs") && !headless && !external)
        validate_add_warning(w, "spec.externalIPs is deprecated and may no longer be implemented "
                                "in some clusters");
    validate_warn_ip(w, SPEC("loadBalancerIP"), value_text(spec, "loadBalancerIP"));
    i = 0;
    value_each_item (it, value_get(spec, STR("loadBalancerSourceRanges")))
        validate_warn_cidr(w, path_item(SPEC("loadBalancerSourceRanges"), i++), value_str(it));
}

static void warn_of_service(struct validate_warnings *w, const struct value *obj,
                            const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    bool external = has_type(spec, "ExternalName");
    bool headless = has_type(spec, "ClusterIP") && is_none(value_get(spec, STR("clusterIP")));
    (void)old_obj;
    if (value_get(value_dig(obj, "metadata", "annotations"), HINTS))
        validate_add_warning(w, "annotation service.kubernetes.io/topology-aware-hints is "
                                "deprecated, please use service.kubernetes.io/topology-mode "
                                "instead");
    warn_of_addresses(w, spec, headless, external);
    if (external && validate_count(spec, "externalIPs"))
        validate_add_warning(w, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    if (!external && value_text(spec, "externalName").n)
        validate_add_warning(w, "spec.externalName is ignored when spec.type is not "
                                "\"ExternalName\"");
    if (str_eq(value_text(spec, "trafficDistribution"), STR("PreferClose")))
        validate_add_warning(w, "spec.trafficDistribution: \"PreferClose\" is deprecated; use "
                                "\"PreferSameZone\"");
}

const struct validate_rules validate__service[] = {
    { STR(""), STR("Service"), .create = create_service, .update = update_service,
      .update_status = update_service_status, .warn = warn_of_service },
    { .kind = { NULL, 0 } },
};
