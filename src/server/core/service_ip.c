#include "server/core/service_ip.h"

#include <arpa/inet.h>

#include "base/banned.h"

enum { V4_BYTES = 4, V6_BYTES = 16, ADDRESS_MAX = SERVICE_IP_BYTES };
_Static_assert(ADDRESS_MAX >= INET6_ADDRSTRLEN, "room for an address of either family");

static size_t bytes_of(bool is_v6)
{
    return is_v6 ? V6_BYTES : V4_BYTES;
}

/* ---- Addresses ---- */

/* Four numbers; leading zeros mean nothing, as upstream still has it for Services. */
static bool read_v4(struct str text, uint8_t ret[static V4_BYTES])
{
    for (size_t i = 0; i < V4_BYTES; i++) {
        struct str part = i + 1 < V4_BYTES ? str_cut(&text, '.') : text;
        uint64_t n;
        if (!text.p || part.n > ADDRESS_MAX || !str_to_u64(part, &n) || n > UINT8_MAX)
            return false;
        ret[i] = (uint8_t)n;
    }
    return true;
}

static bool read_address(struct str text, uint8_t ret[static V6_BYTES], bool *ret_is_v6)
{
    char with_nul[ADDRESS_MAX + 1];
    *ret_is_v6 = str_find(text, ':') >= 0;
    if (!*ret_is_v6)
        return read_v4(text, ret);
    if (text.n > ADDRESS_MAX)
        return false;
    memcpy(with_nul, text.p, text.n);
    with_nul[text.n] = '\0';
    return inet_pton(AF_INET6, with_nul, ret) == 1;
}

static struct str write_address(struct arena *a, const uint8_t *address, bool is_v6)
{
    char text[ADDRESS_MAX];
    (void)inet_ntop(is_v6 ? AF_INET6 : AF_INET, address, text, sizeof(text));
    return arena_str(a, str_of(text));
}

struct str service_ip_canonical(struct arena *a, struct str address, bool *ret_is_v6)
{
    uint8_t bytes[V6_BYTES];
    if (!read_address(address, bytes, ret_is_v6))
        return STR("");
    return write_address(a, bytes, *ret_is_v6);
}

/* ---- Reading ranges ---- */

static void clear_host_bits(struct service_range *r)
{
    for (size_t i = 0; i < bytes_of(r->is_v6); i++) {
        unsigned kept = r->prefix > 8 * i ? r->prefix - 8 * (unsigned)i : 0;
        if (kept < 8)
            r->base[i] &= (uint8_t)(0xff00u >> kept);
    }
}

static int parse_cidr(struct str text, struct service_range *ret, struct err *err)
{
    struct str prefix = text, address = str_cut(&prefix, '/');
    uint64_t bits;
    if (!read_address(address, ret->base, &ret->is_v6) || !str_to_u64(prefix, &bits) ||
        bits > 8 * bytes_of(ret->is_v6))
        return err_set(err, ERR_INVALID, "'" STR_FMT "' is not a network such as 10.0.0.0/16",
                       STR_ARG(text));
    ret->prefix = (unsigned)bits;
    clear_host_bits(ret);
    if (service_range_size(ret) < 2)
        return err_set(err, ERR_INVALID, "'" STR_FMT "' has too few addresses", STR_ARG(text));
    return 0;
}

static int parse_ports(struct str text, struct service_ranges *ret, struct err *err)
{
    struct str last = text, first = str_cut(&last, '-');
    uint64_t low, high;
    if (!str_to_u64(first, &low) || !str_to_u64(last, &high) || low < 1 || high > UINT16_MAX ||
        low > high)
        return err_set(err, ERR_INVALID, "'" STR_FMT "' is not a port range such as 30000-32767",
                       STR_ARG(text));
    ret->first_port = (uint16_t)low;
    ret->last_port = (uint16_t)high;
    return 0;
}

int service_ranges_parse(struct str cidrs, struct str ports, struct service_ranges *ret,
                         struct err *err)
{
    *ret = (struct service_ranges){ 0 };
    for (struct str rest = cidrs; rest.p;) {
        struct str one = str_cut(&rest, ',');
        if (ret->n_ips == SERVICE_FAMILIES)
            return err_set(err, ERR_INVALID, "there may be one network of each family at most");
        int r = parse_cidr(one, &ret->ips[ret->n_ips++], err);
        if (r < 0)
            return r;
    }
    if (ret->n_ips == SERVICE_FAMILIES && ret->ips[0].is_v6 == ret->ips[1].is_v6)
        return err_set(err, ERR_INVALID, "there may be one network of each family at most");
    return parse_ports(ports, ret, err);
}

const struct service_range *service_range_of(const struct service_ranges *s, bool is_v6)
{
    for (size_t i = 0; i < s->n_ips; i++)
        if (s->ips[i].is_v6 == is_v6)
            return &s->ips[i];
    return NULL;
}

/* ---- Counting ---- */

uint64_t service_range_size(const struct service_range *r)
{
    unsigned host_bits = 8 * (unsigned)bytes_of(r->is_v6) - r->prefix;
    if (host_bits >= 64)
        return UINT64_MAX;
    uint64_t all = UINT64_C(1) << host_bits, lost = r->is_v6 ? 1 : 2;
    return all > lost ? all - lost : 0;
}

uint64_t service_range_band(const struct service_range *r)
{
    enum { LEAST = 16, MOST = 256, PART = 16 };
    uint64_t size = service_range_size(r);
    if (size < LEAST)
        return 0;
    uint64_t band = size / PART;
    return band < LEAST ? LEAST : band > MOST ? MOST : band;
}

struct str service_range_write(const struct service_range *r, uint64_t place,
                               char text[static SERVICE_IP_BYTES])
{
    uint8_t address[V6_BYTES];
    memcpy(address, r->base, sizeof(address));
    unsigned carry = 1; /* place 0 is the address behind the network's own */
    for (size_t i = bytes_of(r->is_v6); i-- > 0; place >>= 8) {
        unsigned sum = address[i] + (unsigned)(place & 0xff) + carry;
        address[i] = (uint8_t)sum;
        carry = sum >> 8;
    }
    (void)inet_ntop(r->is_v6 ? AF_INET6 : AF_INET, address, text, SERVICE_IP_BYTES);
    return str_of(text);
}

struct str service_range_address(struct arena *a, const struct service_range *r, uint64_t place)
{
    char text[SERVICE_IP_BYTES];
    return arena_str(a, service_range_write(r, place, text));
}

bool service_range_place(const struct service_range *r, struct str address, uint64_t *ret)
{
    uint8_t bytes[V6_BYTES];
    bool is_v6;
    uint64_t place = 0;
    if (!read_address(address, bytes, &is_v6) || is_v6 != r->is_v6)
        return false;
    for (size_t i = 0; i < bytes_of(is_v6); i++) {
        unsigned kept = r->prefix > 8 * i ? r->prefix - 8 * (unsigned)i : 0;
        uint8_t mask = kept < 8 ? (uint8_t)(0xff00u >> kept) : 0xff;
        if ((bytes[i] & mask) != r->base[i])
            return false;
        place = place << 8 | (uint8_t)(bytes[i] & ~mask);
    }
    if (!place || place - 1 >= service_range_size(r))
        return false;
    *ret = place - 1;
    return true;
}

struct str service_range_network(struct arena *a, const struct service_range *r)
{
    return write_address(a, r->base, r->is_v6);
}

struct str service_range_text(struct arena *a, const struct service_range *r)
{
    return arena_printf(a, STR_FMT "/%u", STR_ARG(service_range_network(a, r)), r->prefix);
}

uint32_t service_ports_size(const struct service_ranges *s)
{
    return (uint32_t)s->last_port - s->first_port + 1;
}

uint32_t service_ports_band(const struct service_ranges *s)
{
    enum { LEAST = 16, MOST = 128, PART = 32 };
    uint32_t size = service_ports_size(s), band = size / PART;
    if (size <= LEAST)
        return 0;
    return band < LEAST ? LEAST : band > MOST ? MOST : band;
}
