/* columns_network.c - services, their endpoints and what leads to them. */
#include "api/columns/columns_internal.h"
#include "base/banned.h"

enum { NAMES_SHOWN = 3 };

/* The addresses of a load balancer, each once; of one with both, the IP counts. */
static struct texts ingress_points(struct row *row)
{
    struct texts points = { row->arena };
    value_each_item (point, row_at(row, "status", "loadBalancer", "ingress")) {
        struct str ip = value_text(point, "ip");
        struct str text = columns_or(ip, value_text(point, "hostname"));
        if (text.n)
            columns_texts_add(&points, text);
    }
    columns_texts_sort(&points);
    columns_texts_drop_repeats(&points);
    return points;
}

static struct str external_ip(struct row *row)
{
    struct str type = row_text(row, "spec", "type");
    struct texts ips = { row->arena };
    struct str when_none = STR("<none>");
    if (str_eq(type, STR("ExternalName")))
        return row_text(row, "spec", "externalName");
    if (str_eq(type, STR("LoadBalancer"))) {
        ips = ingress_points(row);
        when_none = STR("<pending>");
    } else if (!str_eq(type, STR("ClusterIP")) && !str_eq(type, STR("NodePort"))) {
        return STR("<unknown>");
    }
    columns_texts_add_all(&ips, row_at(row, "spec", "externalIPs"));
    return columns_or(columns_texts_join(&ips, STR(",")), when_none);
}

/* "80/TCP", or "80:30080/TCP". */
static struct str port_text(struct arena *a, const struct value *port)
{
    int64_t node_port = columns_int(value_get(port, STR("nodePort")));
    struct str number = columns_number(a, columns_int(value_get(port, STR("port"))));
    struct str protocol = value_text(port, "protocol");
    if (node_port > 0)
        number = columns_cat(a, number, STR(":"), columns_number(a, node_port));
    return columns_cat(a, number, STR("/"), protocol);
}

static void print_service(struct row *row)
{
    struct str first = value_str(value_at(row_at(row, "spec", "clusterIPs"), 0));
    struct str ip = columns_or(first, row_text(row, "spec", "clusterIP"));
    struct texts ports = { row->arena };
    value_each_item (port, row_at(row, "spec", "ports"))
        columns_texts_add(&ports, port_text(row->arena, port));
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "spec", "type"));
    columns_row_add(row, columns_or(ip, STR("<none>")));
    columns_row_add(row, external_ip(row));
    columns_row_add(row, columns_or(columns_texts_join(&ports, STR(",")), STR("<none>")));
    columns_row_add_age(row);
    columns_row_add(row, columns_labels(row->arena, row_at(row, "spec", "selector")));
}

/* An IPv6 address stands in brackets before its port. */
static struct str host_port(struct arena *a, struct str ip, struct str port)
{
    if (str_find(ip, ':') >= 0)
        return columns_cat(a, STR("["), ip, STR("]:"), port);
    return columns_cat(a, ip, STR(":"), port);
}

/* Without a port if `port` is absent, as headless services may have none. */
static void add_endpoints(struct texts *list, const struct value *addresses,
                          const struct value *port)
{
    struct str number = columns_number(list->arena, columns_int(value_get(port, STR("port"))));
    value_each_item (address, addresses) {
        if (list->n == NAMES_SHOWN)
            return;
        struct str ip = value_text(address, "ip");
        columns_texts_add(list, port ? host_port(list->arena, ip, number) : ip);
    }
}

static void print_endpoints(struct row *row)
{
    const struct value *subsets = row_at(row, "subsets");
    struct texts list = { row->arena };
    size_t count = 0;
    value_each_item (subset, subsets) {
        const struct value *addresses = value_get(subset, STR("addresses"));
        const struct value *ports = value_get(subset, STR("ports"));
        if (!value_is(ports, VALUE_ARRAY) || !ports->n) {
            count += columns_count(addresses);
            add_endpoints(&list, addresses, NULL);
        }
        value_each_item (port, ports) {
            count += columns_count(addresses);
            add_endpoints(&list, addresses, port);
        }
    }
    columns_row_add_name(row);
    columns_row_add(row, columns_count(subsets)
                             ? columns_texts_join_some(&list, NAMES_SHOWN, count, STR(","))
                             : STR("<none>"));
    columns_row_add_age(row);
}

static struct str slice_ports(struct row *row)
{
    const struct value *ports = row_at(row, "ports");
    struct texts list = { row->arena };
    value_each_item (port, ports) {
        const struct value *number = value_get(port, STR("port"));
        const struct value *name = value_get(port, STR("name"));
        if (list.n == NAMES_SHOWN)
            break;
        columns_texts_add(&list, columns_is_set(number)
                                     ? columns_number(row->arena, columns_int(number))
                                 : columns_is_set(name) ? value_str(name)
                                                        : STR("*"));
    }
    struct str text = columns_texts_join_some(&list, NAMES_SHOWN, columns_count(ports), STR(","));
    return columns_or(text, STR("<unset>"));
}

static struct str slice_endpoints(struct row *row)
{
    struct texts list = { row->arena };
    size_t count = 0;
    value_each_item (endpoint, row_at(row, "endpoints")) {
        const struct value *addresses = value_get(endpoint, STR("addresses"));
        count += columns_count(addresses);
        value_each_item (address, addresses) {
            if (list.n == NAMES_SHOWN)
                break;
            columns_texts_add(&list, value_str(address));
        }
    }
    return columns_or(columns_texts_join_some(&list, NAMES_SHOWN, count, STR(",")), STR("<unset>"));
}

static void print_endpoint_slice(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, row_text(row, "addressType"));
    columns_row_add(row, slice_ports(row));
    columns_row_add(row, slice_endpoints(row));
    columns_row_add_age(row);
}

/* Rules without a host are for all hosts. They do not fill the list, but count as those left out:
 * "a,b,c + 2 more..." may speak of two rules without one. */
static struct str ingress_hosts(struct row *row)
{
    const struct value *rules = row_at(row, "spec", "rules");
    struct texts hosts = { row->arena };
    bool more = false;
    value_each_item (rule, rules) {
        struct str host = value_text(rule, "host");
        more |= hosts.n == NAMES_SHOWN;
        if (!more && host.n)
            columns_texts_add(&hosts, host);
    }
    if (!hosts.n)
        return STR("*");
    return columns_texts_join_some(&hosts, NAMES_SHOWN, more ? columns_count(rules) : hosts.n,
                                   STR(","));
}

static void print_ingress(struct row *row)
{
    const struct value *class = row_at(row, "spec", "ingressClassName");
    struct texts addresses = ingress_points(row);
    columns_row_add_name(row);
    columns_row_add(row, columns_is_set(class) ? value_str(class) : STR("<none>"));
    columns_row_add(row, ingress_hosts(row));
    columns_row_add(row, columns_texts_join(&addresses, STR(",")));
    columns_row_add(row, columns_count(row_at(row, "spec", "tls")) ? STR("80, 443") : STR("80"));
    columns_row_add_age(row);
}

static struct str class_parameters(struct row *row)
{
    const struct value *parameters = row_at(row, "spec", "parameters");
    const struct value *group = value_get(parameters, STR("apiGroup"));
    struct str kind = value_text(parameters, "kind");
    if (!columns_is_set(parameters))
        return STR("<none>");
    if (columns_is_set(group))
        kind = columns_cat(row->arena, kind, STR("."), value_str(group));
    return columns_cat(row->arena, kind, STR("/"), value_text(parameters, "name"));
}

static void print_ingress_class(struct row *row)
{
    struct str is_default =
        row_text(row, "metadata", "annotations", "ingressclass.kubernetes.io/is-default-class");
    columns_row_add(row,
                    columns_cat(row->arena, row_text(row, "metadata", "name"),
                                str_eq(is_default, STR("true")) ? STR(" (default)") : STR("")));
    columns_row_add(row, row_text(row, "spec", "controller"));
    columns_row_add(row, class_parameters(row));
    columns_row_add_age(row);
}

static void print_network_policy(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, columns_selector(row->arena, row_at(row, "spec", "podSelector"),
                                          STR("<none>"), STR("<error>")));
    columns_row_add_age(row);
}

static void print_service_cidr(struct row *row)
{
    struct texts ranges = { row->arena };
    columns_texts_add_all(&ranges, row_at(row, "spec", "cidrs"));
    columns_row_add_name(row);
    columns_row_add(row, columns_texts_join(&ranges, STR(",")));
    columns_row_add_age(row);
}

static struct str parent(struct row *row)
{
    const struct value *ref = row_at(row, "spec", "parentRef");
    struct arena *a = row->arena;
    if (!columns_is_set(ref))
        return STR("<none>");
    struct str text = columns_lower(
        a, columns_with_group(a, value_text(ref, "resource"), value_text(ref, "group")));
    struct str namespace = value_text(ref, "namespace");
    if (namespace.n)
        text = columns_cat(a, text, STR("/"), namespace);
    return columns_cat(a, text, STR("/"), value_text(ref, "name"));
}

/* Upstream sends the age, too, although it defines no column for it. */
static void print_ip_address(struct row *row)
{
    columns_row_add_name(row);
    columns_row_add(row, parent(row));
    columns_row_add_age(row);
}

const struct columns_rule columns_network_rules[] = {
    { STR(""), STR("Service"), print_service },
    { STR(""), STR("Endpoints"), print_endpoints },
    { STR("discovery.k8s.io"), STR("EndpointSlice"), print_endpoint_slice },
    { STR("networking.k8s.io"), STR("Ingress"), print_ingress },
    { STR("networking.k8s.io"), STR("IngressClass"), print_ingress_class },
    { STR("networking.k8s.io"), STR("NetworkPolicy"), print_network_policy },
    { STR("networking.k8s.io"), STR("ServiceCIDR"), print_service_cidr },
    { STR("networking.k8s.io"), STR("IPAddress"), print_ip_address },
    { .print = NULL },
};
