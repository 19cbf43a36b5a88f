/* Endpoints and EndpointSlice. The deprecatedTopology of a slice is dropped before anything is
 * checked. */
#include "api/validate/declared.h"
#include "api/ip.h"
#include "api/text_set.h"
#include "api/validate/validate_parts.h"
#include "base/banned.h"

static const struct str protocols[] = { STR("SCTP"), STR("TCP"), STR("UDP") };

/* ---- Endpoints ---- */

static void check_address(struct field_errors *e, const struct field_path *path,
                          const struct value *address)
{
    struct str ip = value_text(address, "ip"), host = value_text(address, "hostname");
    validate_ip_legacy(e, path_at(path, "ip"), ip, NULL);
    if (host.n)
        validate_name(e, path_at(path, "hostname"), NAME_LABEL, host);
    if (validate_member(address, "nodeName"))
        validate_name(e, path_at(path, "nodeName"), NAME_SUBDOMAIN,
                      value_text(address, "nodeName"));
    validate_endpoint_ip(e, path_at(path, "ip"), ip);
}

static void check_subset_port(struct field_errors *e, const struct field_path *path,
                              const struct value *port, bool needs_name)
{
    struct str name = value_text(port, "name"), protocol = value_text(port, "protocol");
    if (name.n)
        validate_name(e, path_at(path, "name"), NAME_LABEL, name);
    else if (needs_name)
        fault_required(e, path_at(path, "name"), "");
    validate_port(e, path_at(path, "port"), validate_int(port, "port"));
    if (validate_required(e, path_at(path, "protocol"), protocol))
        validate_one_of(e, path_at(path, "protocol"), protocol, WORDS(protocols));
    if (validate_member(port, "appProtocol"))
        validate_name(e, path_at(path, "appProtocol"), NAME_QUALIFIED,
                      value_text(port, "appProtocol"));
}

static void check_subset(struct field_errors *e, const struct field_path *path,
                         const struct value *subset)
{
    const struct value *ports = value_get(subset, STR("ports"));
    size_t i = 0;
    if (!validate_count(subset, "addresses") && !validate_count(subset, "notReadyAddresses"))
        fault_required(e, path, "must specify `addresses` or `notReadyAddresses`");
    value_each_item (it, value_get(subset, STR("addresses")))
        check_address(e, path_item(path_at(path, "addresses"), i++), it);
    i = 0;
    value_each_item (it, value_get(subset, STR("notReadyAddresses")))
        check_address(e, path_item(path_at(path, "notReadyAddresses"), i++), it);
    i = 0;
    value_each_item (it, ports)
        check_subset_port(e, path_item(path_at(path, "ports"), i++), it,
                          validate__count(ports) > 1);
}

static void create_endpoints(struct field_errors *e, const struct value *obj)
{
    size_t i = 0;
    value_each_item (it, value_get(obj, STR("subsets")))
        check_subset(e, path_item(path_root("subsets"), i++), it);
}

static void update_endpoints(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj)
{
    if (!validate_is_same(value_get(obj, STR("subsets")), value_get(old_obj, STR("subsets"))))
        create_endpoints(e, obj);
}

static void warn_of_endpoints(struct validate_warnings *w, const struct value *obj,
                              const struct value *old_obj)
{
    size_t i = 0;
    (void)old_obj;
    value_each_item (subset, value_get(obj, STR("subsets"))) {
        const struct field_path *path = path_item(path_root("subsets"), i++);
        size_t k = 0;
        value_each_item (it, value_get(subset, STR("addresses")))
            validate_warn_ip(w, path_at(path_item(path_at(path, "addresses"), k++), "ip"),
                             value_text(it, "ip"));
        k = 0;
        value_each_item (it, value_get(subset, STR("notReadyAddresses")))
            validate_warn_ip(w, path_at(path_item(path_at(path, "notReadyAddresses"), k++), "ip"),
                             value_text(it, "ip"));
    }
}

/* ---- EndpointSlice ---- */

DECLARED_TYPE(endpoint, { STR("addresses"), .flags = DECLARED_REQUIRED, .max_items = 100 });
DECLARED_TYPE(slice,
              { STR("addressType"), .flags = DECLARED_REQUIRED | DECLARED_IMMUTABLE,
                .values = { STR("FQDN"), STR("IPv4"), STR("IPv6") } },
              { STR("endpoints"), .type = &endpoint });

static void check_slice_address(struct field_errors *e, const struct field_path *path, size_t i,
                                struct str type, struct str address)
{
    enum { FQDN, IPV4, IPV6, TYPES };
    static const struct str types[TYPES] = { STR("FQDN"), STR("IPv4"), STR("IPv6") };
    const struct field_path *at = path_item(path, i);
    size_t is = words_find(type, WORDS(types));
    bool v4 = is == IPV4;
    struct ip ip;
    if (is == FQDN)
        validate_domain_name(e, at, address);
    if (is == FQDN || is == TYPES)
        return;
    if (!(v4 ? validate_ip_legacy(e, at, address, NULL) : validate_ip(e, at, address)))
        return;
    if (ip_parse(address, &ip) && (ip.is_v4 || ip.is_mapped) != v4)
        fault_text(e, path, address, "must be an IPv%d address", v4 ? 4 : 6);
    validate_endpoint_ip(e, at, address);
}

/* False if there are too many to be looked at. */
static bool check_hints(struct field_errors *e, const struct field_path *path,
                        const struct value *hints, enum name_rule rule)
{
    enum { HINTS_MAX = 8 };
    size_t n = validate__count(hints);
    if (n > HINTS_MAX)
        return fault_too_many(e, path, n, HINTS_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct field_path *at = path_at(path_item(path, i), "name");
        struct str name = value_text(value_at(hints, i), "name");
        for (size_t k = 0; k < i; k++)
            if (str_eq(value_text(value_at(hints, k), "name"), name)) {
                fault_duplicate(e, at, name);
                break;
            }
        validate_name(e, at, rule, name);
    }
    return true;
}

static void check_endpoint(struct field_errors *e, const struct field_path *path,
                           const struct value *of, struct str type)
{
    const struct value *hints = validate_member(of, "hints");
    const struct field_path *at = path_at(path, "hints");
    size_t i = 0;
    value_each_item (it, value_get(of, STR("addresses")))
        check_slice_address(e, path_at(path, "addresses"), i++, type, value_str(it));
    if (validate_member(of, "nodeName"))
        validate_name(e, path_at(path, "nodeName"), NAME_SUBDOMAIN, value_text(of, "nodeName"));
    if (validate_member(of, "hostname"))
        validate_name(e, path_at(path, "hostname"), NAME_LABEL, value_text(of, "hostname"));
    if (check_hints(e, path_at(at, "forZones"), value_get(hints, STR("forZones")),
                    NAME_LABEL_VALUE))
        check_hints(e, path_at(at, "forNodes"), value_get(hints, STR("forNodes")), NAME_SUBDOMAIN);
}

static void check_slice_port(struct field_errors *e, const struct field_path *path,
                             const struct value *port, bool repeated)
{
    struct str name = value_text(port, "name");
    if (name.n)
        validate_name(e, path_at(path, "name"), NAME_LABEL, name);
    if (repeated)
        fault_duplicate(e, path_at(path, "name"), name);
    if (!validate_member(port, "protocol"))
        fault_required(e, path_at(path, "protocol"), "");
    else
        validate_one_of(e, path_at(path, "protocol"), value_text(port, "protocol"),
                        WORDS(protocols));
    if (validate_member(port, "appProtocol"))
        validate_name(e, path_at(path, "appProtocol"), NAME_QUALIFIED,
                      value_text(port, "appProtocol"));
}

static void check_slice_ports(struct field_errors *e, const struct value *ports)
{
    enum { PORTS_MAX = 20000 };
    const struct field_path *path = path_root("ports");
    size_t n = validate__count(ports), i = 0;
    autoset names;
    text_set_init(&names);
    if (n > PORTS_MAX) {
        fault_too_many(e, path, n, PORTS_MAX);
        return;
    }
    value_each_item (it, ports) {
        bool repeated = !text_set_add(&names, value_text(it, "name"), it);
        check_slice_port(e, path_item(path, i++), it, repeated);
    }
}

static void check_slice(struct field_errors *e, const struct value *obj, bool same_endpoints)
{
    enum { ENDPOINTS_MAX = 1000 };
    const struct value *endpoints = value_get(obj, STR("endpoints"));
    const struct field_path *path = path_root("endpoints");
    size_t n = validate__count(endpoints), i = 0;
    check_slice_ports(e, value_get(obj, STR("ports")));
    if (same_endpoints)
        return;
    if (n > ENDPOINTS_MAX) {
        fault_too_many(e, path, n, ENDPOINTS_MAX);
        return;
    }
    value_each_item (it, endpoints)
        check_endpoint(e, path_item(path, i++), it, value_text(obj, "addressType"));
}

static void create_slice(struct field_errors *e, const struct value *obj)
{
    check_slice(e, obj, false);
    declared_check(e, NULL, &slice, obj, NULL);
}

static void update_slice(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    check_slice(
        e, obj,
        validate_is_same(value_get(obj, STR("endpoints")), value_get(old_obj, STR("endpoints"))));
    declared_check(e, NULL, &slice, obj, old_obj);
}

static void warn_of_slice(struct validate_warnings *w, const struct value *obj,
                          const struct value *old_obj)
{
    size_t i = 0;
    if (!old_obj && str_eq(value_text(obj, "addressType"), STR("FQDN")))
        validate_add_warning(w, "spec.addressType: FQDN endpoints are deprecated");
    if (str_eq(value_text(obj, "addressType"), STR("FQDN")))
        return;
    value_each_item (of, value_get(obj, STR("endpoints"))) {
        const struct field_path *path =
            path_at(path_item(path_root("endpoints"), i++), "addresses");
        size_t k = 0;
        value_each_item (it, value_get(of, STR("addresses")))
            validate_warn_ip(w, path_item(path, k++), value_str(it));
    }
}

const struct validate_rules validate__endpoints[] = {
    { STR(""), STR("Endpoints"), .create = create_endpoints, .update = update_endpoints,
      .warn = warn_of_endpoints },
    { STR("discovery.k8s.io"), STR("EndpointSlice"), .create = create_slice, .update = update_slice,
      .warn = warn_of_slice },
    { .kind = { NULL, 0 } },
};
