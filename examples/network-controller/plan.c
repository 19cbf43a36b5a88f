/* plan.c - see plan.h. */
#include "plan.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static bool refuse(struct plan_refusal *why,
                                                         const char *reason, const char *fmt, ...)
{
    why->reason = reason;
    va_list args;
    va_start(args, fmt);
    vsnprintf(why->message, sizeof(why->message), fmt, args);
    va_end(args);
    return false;
}

/* ---- Names ---- */

/* FNV-1a, folded to 40 bits. */
static uint64_t hash_key(struct spn_text key)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (uint8_t)key.p[i]) * 0x100000001b3u;
    return (h ^ (h >> 40)) & 0xffffffffffu;
}

void plan_bridge_name(struct spn_text key, char ret[PLAN_NAME])
{
    snprintf(ret, PLAN_NAME, "net-%010llx", (unsigned long long)hash_key(key));
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool plan_bridge_mac(const char *name, uint8_t ret[6])
{
    if (strlen(name) != 14 || memcmp(name, "net-", 4) != 0)
        return false;
    uint8_t mac[6] = { 0x02 }; /* administered locally, one receiver */
    for (int i = 0; i < 5; i++) {
        int high = hex_digit(name[4 + 2 * i]), low = hex_digit(name[5 + 2 * i]);
        if (high < 0 || low < 0)
            return false;
        mac[i + 1] = (uint8_t)(high << 4 | low);
    }
    memcpy(ret, mac, sizeof(mac));
    return true;
}

/* ---- Is it possible? ---- */

/* Where no network of pods can be. */
static const struct {
    const char *cidr, *what;
} reserved[] = {
    { "0.0.0.0/8", "this host" },       { "127.0.0.0/8", "loopback" },
    { "224.0.0.0/4", "multicast" },     { "240.0.0.0/4", "reserved addresses" },
    { "169.254.0.0/16", "link-local" }, { "::/128", "this host" },
    { "::1/128", "loopback" },          { "fe80::/10", "link-local" },
    { "ff00::/8", "multicast" },
};

static bool check_reserved(const struct prefix *cidr, struct plan_refusal *why)
{
    char text[PREFIX_TEXT];
    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++) {
        struct prefix other;
        if (prefix_parse(reserved[i].cidr, strlen(reserved[i].cidr), &other) &&
            prefix_overlaps(cidr, &other))
            return refuse(why, "InvalidCIDR", "spec.cidr: %s overlaps %s, which is %s",
                          prefix_text(cidr, text), reserved[i].cidr, reserved[i].what);
    }
    return true;
}

static bool check_size(const struct prefix *cidr, struct plan_refusal *why)
{
    if (cidr->len <= prefix_bits(cidr->family) - 2)
        return true;
    char text[PREFIX_TEXT];
    return refuse(why, "InvalidCIDR", "spec.cidr: %s has no room for a gateway and a pod",
                  prefix_text(cidr, text));
}

static bool read_cidr(struct spn_text text, struct prefix *ret, struct plan_refusal *why)
{
    if (!text.p)
        return refuse(why, "InvalidCIDR", "spec.cidr is missing, or is no text");
    if (!prefix_parse(text.p, text.n, ret))
        return refuse(why, "InvalidCIDR", "spec.cidr: \"%.*s\" is not ADDRESS/LENGTH",
                      text.n > 64 ? 64 : (int)text.n, text.p);
    struct prefix network = prefix_network(ret);
    char proper[PREFIX_TEXT];
    if (!prefix_eq(&network, ret))
        return refuse(why, "InvalidCIDR", "spec.cidr: " SPN_FMT " has host bits; is it %s?",
                      SPN_ARG(text), prefix_text(&network, proper));
    return check_size(ret, why) && check_reserved(ret, why);
}

static bool read_gateway(struct spn_text text, const struct prefix *cidr, struct prefix *ret,
                         struct plan_refusal *why)
{
    char range[PREFIX_TEXT];
    if (!text.p)
        return refuse(why, "InvalidGateway", "spec.gateway is missing, or is no text");
    if (!prefix_parse_address(text.p, text.n, ret))
        return refuse(why, "InvalidGateway", "spec.gateway: \"%.*s\" is no address",
                      text.n > 64 ? 64 : (int)text.n, text.p);
    if (!prefix_contains(cidr, ret))
        return refuse(why, "InvalidGateway", "spec.gateway: " SPN_FMT " is outside of %s",
                      SPN_ARG(text), prefix_text(cidr, range));
    ret->len = cidr->len;
    struct prefix last = prefix_last(cidr);
    if (prefix_eq(ret, cidr) || (cidr->family == AF_INET && prefix_eq(ret, &last)))
        return refuse(why, "InvalidGateway", "spec.gateway: " SPN_FMT " is no address of a host",
                      SPN_ARG(text));
    return true;
}

static bool read_mtu(int64_t mtu, int family, unsigned *ret, struct plan_refusal *why)
{
    int64_t least = family == AF_INET6 ? 1280 : 68;
    if (mtu == 0)
        mtu = PLAN_MTU;
    if (mtu < least || mtu > 65535)
        return refuse(why, "InvalidMTU", "spec.mtu: %lld is not from %lld to 65535", (long long)mtu,
                      (long long)least);
    *ret = (unsigned)mtu;
    return true;
}

bool plan_read(struct spn_text key, const struct plan_spec *spec, struct plan_want *ret,
               struct plan_refusal *why)
{
    struct plan_want want = { .nat = spec->nat };
    why->reason = NULL;
    plan_bridge_name(key, want.bridge);
    if (!read_cidr(spec->cidr, &want.cidr, why) ||
        !read_gateway(spec->gateway, &want.cidr, &want.address, why) ||
        !read_mtu(spec->mtu, want.cidr.family, &want.mtu, why))
        return false;
    *ret = want;
    return true;
}

static bool is_same_bridge(const struct plan_want *want, const struct plan_other *other)
{
    return other->bridge && strcmp(want->bridge, other->bridge) == 0;
}

/* Whether the other one comes first. */
static bool stands_in_the_way(const struct plan_want *want, bool is_held,
                              const struct plan_other *other)
{
    if (prefix_overlaps(&want->cidr, &other->has))
        return true;
    return !is_held && other->is_older && prefix_overlaps(&want->cidr, &other->wants);
}

bool plan_is_free(const struct plan_want *want, const struct prefix *has,
                  const struct plan_other *others, size_t n, struct plan_refusal *why)
{
    char mine[PREFIX_TEXT], theirs[PREFIX_TEXT];
    bool is_held = prefix_eq(&want->cidr, has);
    why->reason = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct plan_other *other = &others[i];
        if (is_same_bridge(want, other) && other->is_older)
            return refuse(why, "NameTaken", "%s uses the bridge %s", other->name, want->bridge);
        if (!stands_in_the_way(want, is_held, other))
            continue;
        bool has_it = prefix_overlaps(&want->cidr, &other->has);
        return refuse(why, other->bridge ? "Overlaps" : "AddressInUse", "%s overlaps %s of %s",
                      prefix_text(&want->cidr, mine),
                      prefix_text(has_it ? &other->has : &other->wants, theirs), other->name);
    }
    return true;
}

/* ---- From here to there ---- */

static void add_step(struct plan *plan, enum plan_step_kind kind, const struct prefix *address)
{
    plan->steps[plan->n].kind = kind;
    plan->steps[plan->n].address = address ? *address : (struct prefix){ 0 };
    plan->n++;
}

static bool has_address(const struct plan_actual *actual, const struct prefix *address)
{
    for (size_t i = 0; i < actual->n_addresses; i++)
        if (prefix_eq(&actual->addresses[i], address))
            return true;
    return false;
}

static void plan_addresses(const struct prefix *want, const struct plan_actual *actual,
                           struct plan *ret)
{
    if (!has_address(actual, want))
        add_step(ret, PLAN_ADD_ADDRESS, want);
    for (size_t i = 0; i < actual->n_addresses; i++)
        if (!prefix_eq(&actual->addresses[i], want))
            add_step(ret, PLAN_DELETE_ADDRESS, &actual->addresses[i]);
}

static void plan_nat(bool wanted, const struct plan_actual *actual, struct plan *ret)
{
    if (wanted && (!actual->has_nat || actual->has_wrong_nat))
        add_step(ret, PLAN_NAT_ON, NULL);
    if (!wanted && (actual->has_nat || actual->has_wrong_nat))
        add_step(ret, PLAN_NAT_OFF, NULL);
}

bool plan_make(const struct plan_want *want, const struct plan_actual *actual, struct plan *ret,
               struct plan_refusal *why)
{
    ret->n = 0;
    why->reason = NULL;
    if (actual->exists && !actual->is_ours)
        return refuse(why, "NameTaken", "there is a link %s that is not ours", want->bridge);
    if (!actual->exists)
        add_step(ret, PLAN_CREATE, NULL);
    if (!actual->exists || actual->mtu != want->mtu)
        add_step(ret, PLAN_SET_MTU, NULL);
    plan_addresses(&want->address, actual, ret);
    if (!actual->exists || !actual->is_up)
        add_step(ret, PLAN_UP, NULL);
    plan_nat(want->nat, actual, ret);
    return true;
}

void plan_remove(const struct plan_actual *actual, struct plan *ret)
{
    ret->n = 0;
    if (actual->has_nat || actual->has_wrong_nat)
        add_step(ret, PLAN_NAT_OFF, NULL);
    if (actual->exists && actual->is_ours)
        add_step(ret, PLAN_DELETE, NULL);
}
