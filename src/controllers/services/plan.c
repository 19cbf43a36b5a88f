#include "controllers/services/plan.h"

#include "api/ip.h"
#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "base/banned.h"

#define FAMILY_LABEL  "ipaddress.kubernetes.io/ip-family"
#define MANAGER_LABEL "ipaddress.kubernetes.io/managed-by"
#define MANAGER       SPN_TEXT("ipallocator.k8s.io")

enum { LEAK_MS = 60000, WRONG_MS = 5000 };

static struct spn_text text_at(const struct spn_value *obj, const char *key)
{
    return spn_value_text(spn_value_get(obj, key));
}

/* ---- Addresses ---- */

const struct spn_value *service_addresses(const struct spn_value *service)
{
    const struct spn_value *spec = spn_value_get(service, "spec");
    struct spn_text ip = text_at(spec, "clusterIP");
    if (!ip.n || spn_text_eq(ip, SPN_TEXT("None")) ||
        spn_text_eq(text_at(spec, "type"), SPN_TEXT("ExternalName")))
        return NULL;
    return spn_value_get(spec, "clusterIPs");
}

static bool has_address(const struct spn_value *service, struct spn_text ip)
{
    const struct spn_value *all = spn_value_dig(service, "spec", "clusterIPs");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(spn_value_text(spn_value_at(all, i)), ip))
            return true;
    return false;
}

bool address_is_in(const struct spn_value *service_cidr, struct spn_text ip)
{
    const struct spn_value *all = spn_value_dig(service_cidr, "spec", "cidrs");
    struct ip address;
    struct cidr c;
    if (!ip_parse(str_in(ip), &address))
        return false;
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (ip_cidr_parse(str_in(spn_value_text(spn_value_at(all, i))), &c) &&
            ip_cidr_has(&c, &address))
            return true;
    return false;
}

struct spn_text address_family(struct spn_text ip)
{
    struct ip address;
    if (!ip_parse(str_in(ip), &address))
        return SPN_TEXT("");
    return address.is_v4 || address.is_mapped ? SPN_TEXT("IPv4") : SPN_TEXT("IPv6");
}

struct spn_text address_canonical(struct spn_arena *a, struct spn_text ip)
{
    struct ip address;
    char text[IP_TEXT_MAX];
    if (!ip_parse(str_in(ip), &address))
        return ip;
    return spn_arena_text(a, text_out(ip_format(&address, text)));
}

/* ---- Both sides ---- */

static const struct spn_value *parent_of(const struct spn_value *address)
{
    return spn_value_dig(address, "spec", "parentRef");
}

static bool names_a_service(const struct spn_value *address)
{
    return !text_at(parent_of(address), "group").n &&
           spn_text_eq(text_at(parent_of(address), "resource"), SPN_TEXT("services"));
}

static bool names(const struct spn_value *address, const struct spn_value *service)
{
    return spn_text_eq(text_at(parent_of(address), "namespace"), meta_text(service, "namespace")) &&
           spn_text_eq(text_at(parent_of(address), "name"), meta_name(service));
}

static bool is_ours(const struct spn_value *labels)
{
    return spn_text_eq(text_at(labels, MANAGER_LABEL), MANAGER);
}

static bool has_labels(const struct spn_value *address)
{
    const struct spn_value *labels = spn_value_dig(address, "metadata", "labels");
    return is_ours(labels) &&
           spn_text_eq(text_at(labels, FAMILY_LABEL), address_family(meta_name(address)));
}

enum address_state address_judge(const struct spn_value *service, const struct spn_value *address,
                                 const struct spn_value *other)
{
    if (!address)
        return ADDRESS_MISSING;
    if (!names_a_service(address))
        return ADDRESS_FOREIGN;
    if (!names(address, service))
        return has_address(other, meta_name(address)) ? ADDRESS_SHARED : ADDRESS_FOREIGN;
    return has_labels(address) ? ADDRESS_RIGHT : ADDRESS_UNLABELED;
}

struct spn_value *address_new(struct spn_arena *a, struct spn_text ip,
                              const struct spn_value *service)
{
    struct spn_value *obj = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, obj, "apiVersion", SPN_TEXT("networking.k8s.io/v1"));
    spn_value_set_text(a, obj, "kind", SPN_TEXT("IPAddress"));
    struct spn_value *meta = spn_value_ensure(a, obj, "metadata");
    spn_value_set_text(a, meta, "name", ip);
    struct spn_value *labels = spn_value_ensure(a, meta, "labels");
    spn_value_set_text(a, labels, FAMILY_LABEL, address_family(ip));
    spn_value_set_text(a, labels, MANAGER_LABEL, MANAGER);
    struct spn_value *ref = spn_value_ensure(a, spn_value_ensure(a, obj, "spec"), "parentRef");
    spn_value_set_text(a, ref, "resource", SPN_TEXT("services"));
    spn_value_set_text(a, ref, "namespace", meta_text(service, "namespace"));
    spn_value_set_text(a, ref, "name", meta_name(service));
    return obj;
}

/* Until it is so old. */
static enum address_fate wait_or(int64_t age_ms, int64_t until_ms, enum address_fate then,
                                 int64_t *ret_wait_ms)
{
    if (age_ms > until_ms)
        return then;
    *ret_wait_ms = until_ms - age_ms + 1;
    return ADDRESS_WAITS;
}

enum address_fate address_fate(const struct spn_value *address, const struct spn_value *service,
                               int64_t now_ns, int64_t *ret_wait_ms)
{
    int64_t made_ns = 0;
    if (!is_ours(spn_value_dig(address, "metadata", "labels")))
        return ADDRESS_STAYS;
    if (!names_a_service(address))
        return ADDRESS_NO_SERVICE;
    (void)time_read(spn_value_dig(address, "metadata", "creationTimestamp"), &made_ns);
    int64_t age_ms = (now_ns - made_ns) / NS_PER_MS;
    if (!service)
        return wait_or(age_ms, LEAK_MS, ADDRESS_LEAKED, ret_wait_ms);
    if (has_address(service, meta_name(address)))
        return ADDRESS_STAYS;
    bool may_get_it = spn_text_eq(spn_value_text(spn_value_dig(service, "spec", "type")),
                                  SPN_TEXT("ExternalName"));
    return wait_or(age_ms, may_get_it ? LEAK_MS : WRONG_MS, ADDRESS_NOT_THE_SAME, ret_wait_ms);
}

/* ---- Node ports ---- */

static int64_t port_at(const struct spn_value *ports, size_t i)
{
    return field_int(spn_value_get(spn_value_at(ports, i), "nodePort"), 0);
}

static struct spn_text protocol_at(const struct spn_value *ports, size_t i)
{
    struct spn_text p = text_at(spn_value_at(ports, i), "protocol");
    return p.n ? p : SPN_TEXT("TCP");
}

/* Whether one before asks for the same port by another protocol only: that is one port. */
static bool is_told_apart(const struct spn_value *ports, size_t i)
{
    bool has_before = false;
    for (size_t k = 0; k < i; k++) {
        if (port_at(ports, k) != port_at(ports, i))
            continue;
        if (spn_text_eq(protocol_at(ports, k), protocol_at(ports, i)))
            return false;
        has_before = true;
    }
    return has_before;
}

static bool asks_by_tcp(const struct spn_value *ports, int64_t port, bool *ret_asks)
{
    *ret_asks = false;
    for (size_t i = 0; i < spn_value_count(ports); i++) {
        if (port_at(ports, i) != port)
            continue;
        *ret_asks = true;
        if (spn_text_eq(protocol_at(ports, i), SPN_TEXT("TCP")))
            return true;
    }
    return false;
}

size_t service_node_ports(const struct spn_value *service, int64_t ret[static PORTS_MOST])
{
    const struct spn_value *ports = spn_value_dig(service, "spec", "ports");
    int64_t health = field_int(spn_value_dig(service, "spec", "healthCheckNodePort"), 0);
    size_t n = 0;
    bool asks;
    for (size_t i = 0; i < spn_value_count(ports) && n < PORTS_MOST - 1; i++)
        if (port_at(ports, i) && !is_told_apart(ports, i))
            ret[n++] = port_at(ports, i);
    if (health && (asks_by_tcp(ports, health, &asks) || !asks))
        ret[n++] = health;
    return n;
}
