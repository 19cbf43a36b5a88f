/* What the fields of a Service ask for: families, addresses, node ports, the port for health
 * checks; and what it keeps of the one it replaces. Upstream's order and words. */
#include "api/validate/kinds/validate_service.h"
#include "base/limits.h"
#include "server/registry/registry_internal.h"
#include "server/registry/service_claim_internal.h"
#include "base/banned.h"

static const struct str single_stack = STR("SingleStack"), prefer_dual = STR("PreferDualStack"),
                        require_dual = STR("RequireDualStack");

/* ---- Reading ---- */

static bool is_type(const struct value *spec, const char *type)
{
    return str_eq(value_text(spec, "type"), str_of(type));
}

static size_t count(const struct value *spec, const char *field)
{
    const struct value *v = value_get(spec, str_of(field));
    return value_is(v, VALUE_ARRAY) || value_is(v, VALUE_OBJECT) ? v->n : 0;
}

static struct str nth(const struct value *spec, const char *field, size_t i)
{
    return value_str(value_at(value_get(spec, str_of(field)), i));
}

static bool same(const struct value *spec, const struct value *old_spec, const char *field)
{
    const struct value *v = value_get(spec, str_of(field)), *w = value_get(old_spec, str_of(field));
    return v == w || (v && w && value_eq(v, w)) ||
           (!count(spec, field) && !count(old_spec, field) && !value_str(v).n && !value_str(w).n);
}

static bool is_headless(const struct value *spec)
{
    return str_eq(value_text(spec, "clusterIP"), STR("None"));
}

static bool is_v6_family(struct str family)
{
    return str_eq(family, STR("IPv6"));
}

static struct str family_name(bool is_v6)
{
    return is_v6 ? STR("IPv6") : STR("IPv4");
}

static int64_t number(const struct value *obj, const char *field)
{
    int64_t n = 0;
    (void)value_to_int(value_get(obj, str_of(field)), &n);
    return n;
}

/* ---- Faults ---- */

static struct field_path spec_path(void)
{
    return (struct field_path){ .name = STR("spec") };
}

/* Notes a fault of spec.FIELD, or of one of its items. */
static void fault(struct field_errors *e, const struct value *spec, const char *field, long index,
                  bool show_item, const char *why)
{
    struct field_path root = spec_path(), path = field_child(&root, str_of(field)),
                      item = field_index(&path, index < 0 ? 0 : (size_t)index);
    const struct value *shown = value_get(spec, str_of(field));
    if (show_item)
        shown = value_at(shown, (size_t)index);
    field_error(e, FIELD_INVALID, index < 0 ? &path : &item, field_json(e, shown), "%s", why);
}

static int report(struct claim *cl, const struct field_errors *e)
{
    return field_errors_report(e, STR(""), STR("Service"), cl->name, cl->err);
}

/* ---- Families ---- */

static void push(struct claim *cl, const char *field, struct str item)
{
    struct arena *a = cl->call->arena;
    struct value *list = value_edit(a, cl->spec, str_of(field));
    if (!value_is(list, VALUE_ARRAY))
        list = value_set(a, cl->spec, str_of(field), value_array());
    value_put_item(a, list, value_string(item));
}

static void set_nth(struct claim *cl, const char *field, size_t i, struct str item)
{
    if (i >= count(cl->spec, field)) {
        push(cl, field, item);
        return;
    }
    struct value *list = value_edit(cl->call->arena, cl->spec, str_of(field));
    *value_edit_at(cl->call->arena, list, i) = value_string(item);
}

static void keep_first(struct claim *cl, const char *field)
{
    struct value *list = value_edit(cl->call->arena, cl->spec, str_of(field));
    while (value_is(list, VALUE_ARRAY) && list->n > 1)
        value_remove_at(cl->call->arena, list, list->n - 1);
}

/* A Service that prefers two families and has what it can get is left alone. */
static bool is_settled_preference(const struct claim *cl)
{
    const struct value *spec = cl->spec, *old_spec = cl->old_spec;
    struct str old_policy = value_text(old_spec, "ipFamilyPolicy");
    return old_spec && same(spec, old_spec, "type") && !is_type(spec, "ExternalName") &&
           str_eq(value_text(spec, "ipFamilyPolicy"), prefer_dual) &&
           (!old_policy.n || str_eq(old_policy, prefer_dual)) &&
           same(spec, old_spec, "clusterIPs") && same(spec, old_spec, "ipFamilies");
}

static void default_policy(struct claim *cl)
{
    struct str was = value_text(cl->old_spec, "ipFamilyPolicy");
    if (value_is(value_get(cl->spec, STR("ipFamilyPolicy")), VALUE_STRING))
        return; /* an empty one too, which is refused */
    struct str policy = was.n                                                   ? was
                        : is_headless(cl->spec) && !count(cl->spec, "selector") ? require_dual
                                                                                : single_stack;
    value_put(cl->call->arena, cl->spec, STR("ipFamilyPolicy"), value_string(policy));
}

static void check_reduction(struct claim *cl, struct field_errors *e, bool single)
{
    static const struct {
        const char *field, *release, *several;
    } lists[] = {
        { "clusterIPs", "must be 'SingleStack' to release the secondary cluster IP",
          "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are "
          "specified" },
        { "ipFamilies", "must be 'SingleStack' to release the secondary IP family",
          "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are "
          "specified" },
    };
    for (size_t i = 0; cl->old_spec && i < 2; i++) {
        const char *field = lists[i].field;
        size_t n = count(cl->spec, field);
        if (single && same(cl->spec, cl->old_spec, field))
            keep_first(cl, field);
        else if (!single && n && n < count(cl->old_spec, field))
            fault(e, cl->spec, "ipFamilyPolicy", -1, false, lists[i].release);
    }
    for (size_t i = 0; single && i < 2; i++)
        if (count(cl->spec, lists[i].field) == 2)
            fault(e, cl->spec, "ipFamilyPolicy", -1, false, lists[i].several);
}

/* Addresses that were asked for tell families that were not. */
static void derive_families(struct claim *cl, struct field_errors *e)
{
    struct arena *a = cl->call->arena;
    for (size_t i = 0; i < count(cl->spec, "clusterIPs") && !is_headless(cl->spec); i++) {
        bool is_v6 = false;
        (void)service_ip_canonical(a, nth(cl->spec, "clusterIPs", i), &is_v6);
        if (i < count(cl->spec, "ipFamilies"))
            continue;
        if (service_range_of(&cl->call->api->services, is_v6))
            push(cl, "ipFamilies", family_name(is_v6));
        else
            fault(e, cl->spec, "clusterIPs", (long)i, false,
                  is_v6 ? "IPv6 is not configured on this cluster"
                        : "IPv4 is not configured on this cluster");
    }
}

static void add_other_family(struct claim *cl)
{
    push(cl, "ipFamilies", family_name(!is_v6_family(nth(cl->spec, "ipFamilies", 0))));
}

static void default_family(struct claim *cl)
{
    if (!count(cl->spec, "ipFamilies"))
        push(cl, "ipFamilies", family_name(cl->call->api->services.ips[0].is_v6));
}

static int choose_families(struct claim *cl, struct field_errors *e)
{
    const struct service_ranges *ranges = &cl->call->api->services;
    struct str policy = value_text(cl->spec, "ipFamilyPolicy");
    bool single = str_eq(policy, single_stack);
    if (is_headless(cl->spec) && !count(cl->spec, "selector")) {
        default_family(cl);
        if (count(cl->spec, "ipFamilies") < 2 && !single)
            add_other_family(cl);
        return 0;
    }
    if (str_eq(policy, require_dual) && ranges->n_ips < 2)
        fault(e, cl->spec, "ipFamilyPolicy", -1, false,
              "this cluster is not configured for dual-stack services");
    for (size_t i = 0; i < count(cl->spec, "ipFamilies"); i++)
        if (!service_range_of(ranges, is_v6_family(nth(cl->spec, "ipFamilies", i))))
            fault(e, cl->spec, "ipFamilies", (long)i, true, "not configured on this cluster");
    int r = report(cl, e);
    if (r < 0)
        return r;
    default_family(cl);
    if (!single && count(cl->spec, "ipFamilies") == 1 && ranges->n_ips == 2)
        add_other_family(cl);
    return 0;
}

static int init_families(struct claim *cl)
{
    struct field_errors e = FIELD_ERRORS_INIT(cl->call->arena);
    default_policy(cl);
    validate_service_addresses(&e, cl->spec, cl->old_spec);
    int r = report(cl, &e);
    if (r < 0)
        return r;
    check_reduction(cl, &e, str_eq(value_text(cl->spec, "ipFamilyPolicy"), single_stack));
    derive_families(cl, &e);
    r = report(cl, &e);
    return r < 0 ? r : choose_families(cl, &e);
}

/* ---- Addresses ---- */

/* The address of the family at `i`: the one that is asked for, or any. */
static int allocate_address(struct claim *cl, size_t i)
{
    struct str asked = nth(cl->spec, "clusterIPs", i), address = asked, why = STR("");
    bool is_v6 = is_v6_family(nth(cl->spec, "ipFamilies", i));
    const struct service_range *range = service_range_of(&cl->call->api->services, is_v6);
    int r = asked.n ? service_claim__address(cl, range, asked, &why)
                    : service_claim__any_address(cl, range, &address);
    if (r < 0)
        return r;
    if (why.n) {
        struct field_errors e = FIELD_ERRORS_INIT(cl->call->arena);
        struct field_path root = spec_path(), path = field_child(&root, STR("clusterIPs"));
        field_error(&e, FIELD_INVALID, &path,
                    field_json(&e, value_get(cl->spec, STR("clusterIPs"))),
                    "failed to allocate IP " STR_FMT ": " STR_FMT, STR_ARG(asked), STR_ARG(why));
        return report(cl, &e);
    }
    set_nth(cl, "clusterIPs", i, address);
    if (i == 0)
        value_put(cl->call->arena, cl->spec, STR("clusterIP"), value_string(address));
    return 0;
}

static int allocate_addresses(struct claim *cl)
{
    if (is_type(cl->spec, "ExternalName") || str_eq(nth(cl->spec, "clusterIPs", 0), STR("None")))
        return 0;
    for (size_t i = 0; i < count(cl->spec, "ipFamilies"); i++) {
        int r = allocate_address(cl, i);
        if (r < 0)
            return r;
    }
    return 0;
}

static int update_addresses(struct claim *cl)
{
    bool was_named = is_type(cl->old_spec, "ExternalName");
    size_t had = count(cl->old_spec, "ipFamilies"), has = count(cl->spec, "ipFamilies");
    if (was_named)
        return allocate_addresses(cl);
    if (str_eq(nth(cl->old_spec, "clusterIPs", 0), STR("None")))
        return 0;
    if (is_type(cl->spec, "ExternalName")) {
        value_each_item (it, value_get(cl->old_spec, STR("clusterIPs")))
            service_claim__release_address(cl->call, cl->extra, value_str(it));
        return 0;
    }
    if (had == 1 && has == 2)
        return allocate_address(cl, 1);
    if (had == 2 && has == 1)
        service_claim__release_address(cl->call, cl->extra, nth(cl->old_spec, "clusterIPs", 1));
    return 0;
}

/* ---- What it keeps ---- */

static void copy(struct claim *cl, const char *field)
{
    const struct value *was = value_get(cl->old_spec, str_of(field));
    if (was)
        value_put(cl->call->arena, cl->spec, str_of(field), value_borrow(was));
    else
        value_drop(cl->call->arena, cl->spec, str_of(field));
}

/* Both names of the address say the same, whichever of them the client has written. */
static void normalize_addresses(struct claim *cl)
{
    struct arena *a = cl->call->arena;
    struct str ip = value_text(cl->spec, "clusterIP"),
               old_ip = value_text(cl->old_spec, "clusterIP");
    if (!cl->old_spec) {
        if (ip.n && !count(cl->spec, "clusterIPs"))
            push(cl, "clusterIPs", ip);
        return;
    }
    if (count(cl->old_spec, "clusterIPs") && !count(cl->spec, "clusterIPs") && str_eq(ip, old_ip))
        copy(cl, "clusterIPs");
    if (str_eq(ip, old_ip) || !same(cl->spec, cl->old_spec, "clusterIPs"))
        return;
    value_drop(a, cl->spec, STR("clusterIPs"));
    if (!old_ip.n || ip.n)
        push(cl, "clusterIPs", ip);
}

static bool wants_node_ports(const struct value *spec)
{
    const struct value *allocate = value_get(spec, STR("allocateLoadBalancerNodePorts"));
    return is_type(spec, "NodePort") ||
           (is_type(spec, "LoadBalancer") && (!value_is(allocate, VALUE_BOOL) || allocate->b));
}

static bool needs_health_port(const struct value *spec)
{
    return is_type(spec, "LoadBalancer") &&
           str_eq(value_text(spec, "externalTrafficPolicy"), STR("Local"));
}

static bool has_node_port(const struct value *spec, int64_t port)
{
    value_each_item (it, value_get(spec, STR("ports")))
        if (number(it, "nodePort") == port)
            return true;
    return false;
}

/* The node port that the port of the same name had, unless the new ports use it already. */
static void keep_node_ports(struct claim *cl)
{
    struct arena *a = cl->call->arena;
    struct value given = value_borrow(cl->spec); /* as the client has written it */
    struct value *ports = value_edit(a, cl->spec, STR("ports"));
    for (size_t i = 0; value_is(ports, VALUE_ARRAY) && i < ports->n; i++) {
        struct value *port = value_edit_at(a, ports, i);
        int64_t kept = 0;
        if (port->type != VALUE_OBJECT || number(port, "nodePort"))
            continue;
        value_each_item (it, value_get(cl->old_spec, STR("ports")))
            if (str_eq(value_text(it, "name"), value_text(port, "name")))
                kept = number(it, "nodePort");
        if (kept && !has_node_port(&given, kept))
            value_put(a, port, STR("nodePort"), value_int(kept));
    }
}

static void keep_allocated(struct claim *cl)
{
    const struct value *spec = cl->spec, *old_spec = cl->old_spec;
    if (!is_type(spec, "ExternalName") && !is_type(old_spec, "ExternalName")) {
        if (!value_text(spec, "clusterIP").n)
            copy(cl, "clusterIP");
        if (!count(spec, "clusterIPs"))
            copy(cl, "clusterIPs");
    }
    if (wants_node_ports(spec) && wants_node_ports(old_spec))
        keep_node_ports(cl);
    if (needs_health_port(spec) && needs_health_port(old_spec) &&
        !number(spec, "healthCheckNodePort"))
        copy(cl, "healthCheckNodePort");
}

static bool has_node_ports(const struct value *spec)
{
    return is_type(spec, "NodePort") || is_type(spec, "LoadBalancer");
}

/* Whatever a Service has must be given back in one transaction when it is deleted. */
static int check_count(struct claim *cl)
{
    if (!has_node_ports(cl->spec) || count(cl->spec, "ports") <= LIMIT_SERVICE_NODE_PORTS)
        return 0;
    return err_set(cl->err, ERR_TOO_LARGE, "a Service with node ports can have %u ports at most",
                   LIMIT_SERVICE_NODE_PORTS);
}

int service_claim__addresses(struct claim *cl)
{
    int r = check_count(cl);
    if (r < 0)
        return r;
    if (cl->old_spec)
        keep_allocated(cl);
    normalize_addresses(cl);
    if (is_settled_preference(cl))
        return 0;
    r = is_type(cl->spec, "ExternalName") ? 0 : init_families(cl);
    if (r < 0)
        return r;
    return cl->old_spec ? update_addresses(cl) : allocate_addresses(cl);
}

/* ---- Node ports ---- */

static int refuse_port(struct claim *cl, size_t i, int64_t port, struct str why)
{
    struct field_errors e = FIELD_ERRORS_INIT(cl->call->arena);
    struct value shown = value_int(port);
    struct field_path root = spec_path(), ports = field_child(&root, STR("ports")),
                      item = field_index(&ports, i), path = field_child(&item, STR("nodePort"));
    field_error(&e, FIELD_INVALID, &path, field_json(&e, &shown), STR_FMT, STR_ARG(why));
    return report(cl, &e);
}

static int claim_port(struct claim *cl, size_t i, int64_t port)
{
    struct str why;
    int r = service_claim__port(cl, port, &why);
    return r < 0 || !why.n ? r : refuse_port(cl, i, port, why);
}

/* The node port of the first port of that number; 0 if none of `n` has one. */
static int64_t node_port_of(const struct value *ports, size_t n, int64_t port)
{
    for (size_t i = 0; i < n; i++) {
        const struct value *it = value_at(ports, i);
        if (number(it, "port") == port && number(it, "nodePort"))
            return number(it, "nodePort");
    }
    return 0;
}

/* Whether one before has that node port; with a protocol (not NULL), for that. */
static bool came_before(const struct value *ports, size_t i, int64_t node_port,
                        const struct str *protocol)
{
    for (size_t k = 0; k < i; k++) {
        const struct value *it = value_at(ports, k);
        if (number(it, "nodePort") == node_port &&
            (!protocol || str_eq(value_text(it, "protocol"), *protocol)))
            return true;
    }
    return false;
}

/* The same port number under another protocol shares its node port: what an earlier port of the
 * list has got, or what any of them asks for. Ports of other numbers do not. */
static int create_port(struct claim *cl, struct value *ports, size_t i)
{
    struct value *port = value_edit_at(cl->call->arena, ports, i);
    int64_t asked = number(port, "nodePort"), node_port;
    if (port->type != VALUE_OBJECT || (!asked && !wants_node_ports(cl->spec)))
        return 0;
    int64_t earlier = node_port_of(ports, i, number(port, "port"));
    int r = 0;
    if (earlier)
        node_port = asked ? asked : earlier;
    else
        node_port = node_port_of(ports, ports->n, number(port, "port"));
    if (!node_port)
        r = service_claim__any_port(cl, &node_port);
    else if (node_port != earlier)
        r = claim_port(cl, i, node_port);
    if (r < 0)
        return r;
    value_put(cl->call->arena, port, STR("nodePort"), value_int(node_port));
    return 0;
}

static int update_port(struct claim *cl, struct value *ports, size_t i)
{
    struct value *port = value_edit_at(cl->call->arena, ports, i);
    int64_t node_port = number(port, "nodePort");
    if (port->type != VALUE_OBJECT || (!node_port && !wants_node_ports(cl->spec)))
        return 0;
    struct str protocol = value_text(port, "protocol");
    if (node_port && came_before(ports, i, node_port, &protocol))
        return err_set(cl->err, ERR_UNKNOWN, "duplicate nodePort: {" STR_FMT " %lld}",
                       STR_ARG(protocol), (long long)node_port);
    if (node_port)
        return has_node_port(cl->old_spec, node_port) || came_before(ports, i, node_port, NULL)
                   ? 0
                   : claim_port(cl, i, node_port);
    int r = service_claim__any_port(cl, &node_port);
    if (r < 0)
        return r;
    value_put(cl->call->arena, port, STR("nodePort"), value_int(node_port));
    return 0;
}

static int assign_ports(struct claim *cl)
{
    struct value *ports = value_edit(cl->call->arena, cl->spec, STR("ports"));
    for (size_t i = 0; value_is(ports, VALUE_ARRAY) && i < ports->n; i++) {
        int r = cl->old_spec ? update_port(cl, ports, i) : create_port(cl, ports, i);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Node ports that no port has any more. */
static void release_ports(struct claim *cl)
{
    bool all = !has_node_ports(cl->spec);
    if (!has_node_ports(cl->old_spec))
        return;
    value_each_item (it, value_get(cl->old_spec, STR("ports"))) {
        int64_t port = number(it, "nodePort");
        if (port && (all || !has_node_port(cl->spec, port)))
            service_claim__release_port(cl->call, cl->extra, port);
    }
}

static int assign_health_port(struct claim *cl)
{
    int64_t port = number(cl->spec, "healthCheckNodePort");
    struct str why = STR("");
    bool had = cl->old_spec && needs_health_port(cl->old_spec), needs = needs_health_port(cl->spec);
    if (had && !needs)
        service_claim__release_port(cl->call, cl->extra,
                                    number(cl->old_spec, "healthCheckNodePort"));
    if (had || !needs)
        return 0;
    bool asked = port != 0;
    int r = asked ? service_claim__port(cl, port, &why) : service_claim__any_port(cl, &port);
    if (r < 0)
        return r;
    if (why.n)
        return err_set(cl->err, ERR_INTERNAL,
                       "Internal error occurred: failed to allocate requested HealthCheck NodePort "
                       "%lld: " STR_FMT,
                       (long long)port, STR_ARG(why));
    value_put(cl->call->arena, cl->spec, STR("healthCheckNodePort"), value_int(port));
    return 0;
}

int service_claim__ports(struct claim *cl)
{
    int r = has_node_ports(cl->spec) ? assign_ports(cl) : 0;
    if (r < 0)
        return r;
    r = assign_health_port(cl);
    if (r < 0)
        return r;
    if (cl->old_spec)
        release_ports(cl);
    return 0;
}
