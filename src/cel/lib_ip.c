/* ip(), cidr() and what can be asked of them (Kubernetes). */
#include "base/idiom.h"
#include "cel/internal.h"

#include "api/go/quote.h"
#include "base/buf.h"
#include "cel/netip.h"

#include "base/banned.h"

static struct cel_value fail_quoted(struct cel__eval *ev, const char *before, struct str text,
                                    const char *after)
{
    autobuf out = { 0 };
    buf_printf(&out, "%s", before);
    quote_go(&out, text);
    buf_printf(&out, "%s", after);
    return cel_of_error(arena_str(ev->arena, buf_str(&out)));
}

/* An address, or an error. */
static struct cel_value parse_ip(struct cel__eval *ev, struct str text)
{
    struct netip addr;
    const char *why = netip_parse(ev->arena, text, &addr);
    if (why)
        return fail_quoted(
            ev, "IP Address ", text,
            str_cstr(
                ev->arena,
                arena_printf(ev->arena, " parse error during conversion from string: %s", why)));
    if (addr.has_zone)
        return fail_quoted(ev, "IP address ", text, " with zone value is not allowed");
    if (addr.ip.is_mapped)
        return fail_quoted(ev, "IPv4-mapped IPv6 address ", text, " is not allowed");
    return cel__opaque(&cel_ip, arena_dup(ev->arena, &addr.ip, sizeof(addr.ip)));
}

#define CIDR_FAULT "network address parse error during conversion from string: "

static struct cel_value parse_cidr(struct cel__eval *ev, struct str text)
{
    struct cidr cidr;
    const char *why = netip_parse_prefix(ev->arena, text, &cidr);
    if (why)
        return cel__fail(ev, CIDR_FAULT CIDR_FAULT "%s", why);
    if (cidr.ip.is_mapped)
        return fail_quoted(ev, CIDR_FAULT "IPv4-mapped IPv6 address ", text, " is not allowed");
    return cel__opaque(&cel_cidr, arena_dup(ev->arena, &cidr, sizeof(cidr)));
}

static const struct ip *ip_of(const struct cel_value *v)
{
    return v->opaque;
}

static const struct cidr *cidr_of(const struct cel_value *v)
{
    return v->opaque;
}

#define FUNCTION(name) \
    static struct cel_value name(struct cel__eval *ev, const struct cel_value *args, size_t n)

FUNCTION(fn_ip)
{
    (void)n;
    return parse_ip(ev, cel__str(&args[0]));
}

FUNCTION(fn_is_ip)
{
    (void)n;
    return cel_of_bool(parse_ip(ev, cel__str(&args[0])).kind != CEL_ERROR);
}

FUNCTION(fn_is_canonical)
{
    (void)n;
    char text[IP_TEXT_MAX];
    struct cel_value v = parse_ip(ev, cel__str(&args[0]));
    if (v.kind == CEL_ERROR)
        return v;
    return cel_of_bool(str_eq(ip_format(ip_of(&v), text), cel__str(&args[0])));
}

FUNCTION(fn_ip_string)
{
    (void)n;
    char text[IP_TEXT_MAX];
    return cel_of_string(arena_str(ev->arena, ip_format(ip_of(&args[0]), text)));
}

FUNCTION(fn_family)
{
    (void)ev;
    (void)n;
    return cel_of_int(ip_of(&args[0])->is_v4 ? 4 : 6);
}

static bool is_all(const struct ip *ip, unsigned char byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ip->bytes[i] != byte)
            return false;
    return true;
}

static bool is_unspecified(const struct ip *ip)
{
    return is_all(ip, 0, ip->is_v4 ? 4 : 16);
}

static bool is_loopback(const struct ip *ip)
{
    return ip->is_v4 ? ip->bytes[0] == 127 : is_all(ip, 0, 15) && ip->bytes[15] == 1;
}

static bool is_multicast(const struct ip *ip)
{
    return ip->is_v4 ? (ip->bytes[0] & 0xf0) == 0xe0 : ip->bytes[0] == 0xff;
}

static bool is_link_local_multicast(const struct ip *ip)
{
    if (ip->is_v4)
        return ip->bytes[0] == 224 && !ip->bytes[1] && !ip->bytes[2];
    return ip->bytes[0] == 0xff && (ip->bytes[1] & 0x0f) == 0x02;
}

static bool is_link_local_unicast(const struct ip *ip)
{
    if (ip->is_v4)
        return ip->bytes[0] == 169 && ip->bytes[1] == 254;
    return ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80;
}

static bool is_global_unicast(const struct ip *ip)
{
    if (ip->is_v4 && is_all(ip, 0xff, 4))
        return false;
    return !is_unspecified(ip) && !is_loopback(ip) && !is_multicast(ip) &&
           !is_link_local_unicast(ip);
}

#define QUESTION(name, answer)                       \
    FUNCTION(name)                                   \
    {                                                \
        (void)ev;                                    \
        (void)n;                                     \
        return cel_of_bool(answer(ip_of(&args[0]))); \
    }
QUESTION(fn_unspecified, is_unspecified)
QUESTION(fn_loopback, is_loopback)
QUESTION(fn_link_local_multicast, is_link_local_multicast)
QUESTION(fn_link_local_unicast, is_link_local_unicast)
QUESTION(fn_global_unicast, is_global_unicast)

/* ---- Prefixes ---- */

FUNCTION(fn_cidr)
{
    (void)n;
    return parse_cidr(ev, cel__str(&args[0]));
}

FUNCTION(fn_is_cidr)
{
    (void)n;
    return cel_of_bool(parse_cidr(ev, cel__str(&args[0])).kind != CEL_ERROR);
}

FUNCTION(fn_cidr_string)
{
    (void)n;
    char text[IP_TEXT_MAX];
    struct str ip = ip_format(&cidr_of(&args[0])->ip, text);
    return cel_of_string(
        arena_printf(ev->arena, STR_FMT "/%u", STR_ARG(ip), cidr_of(&args[0])->bits));
}

FUNCTION(fn_cidr_ip)
{
    (void)ev;
    (void)n;
    return cel__opaque(&cel_ip, &cidr_of(&args[0])->ip);
}

FUNCTION(fn_prefix_length)
{
    (void)ev;
    (void)n;
    return cel_of_int(cidr_of(&args[0])->bits);
}

static void mask(struct ip *ip, unsigned bits)
{
    for (unsigned i = 0; i < 16; i++) {
        unsigned keep = bits > i * 8 ? bits - i * 8 : 0;
        if (keep < 8)
            ip->bytes[i] &= (unsigned char)(0xff00 >> keep);
    }
}

FUNCTION(fn_masked)
{
    (void)n;
    struct cidr *masked = arena_dup(ev->arena, cidr_of(&args[0]), sizeof(*masked));
    mask(&masked->ip, masked->bits);
    return cel__opaque(&cel_cidr, masked);
}

/* Whether two addresses of a family agree in their first bits. */
static bool agree(struct ip x, struct ip y, unsigned bits)
{
    mask(&x, bits);
    mask(&y, bits);
    return x.is_v4 == y.is_v4 && memcmp(x.bytes, y.bytes, sizeof(x.bytes)) == 0;
}

FUNCTION(fn_contains_ip)
{
    (void)n;
    struct cel_value ip = args[1].kind == CEL_STRING ? parse_ip(ev, cel__str(&args[1])) : args[1];
    if (ip.kind == CEL_ERROR)
        return CEL__NO_OVERLOAD;
    const struct cidr *cidr = cidr_of(&args[0]);
    return cel_of_bool(agree(cidr->ip, *ip_of(&ip), cidr->bits));
}

FUNCTION(fn_contains_cidr)
{
    (void)n;
    struct cel_value v = args[1].kind == CEL_STRING ? parse_cidr(ev, cel__str(&args[1])) : args[1];
    if (v.kind == CEL_ERROR)
        return v;
    const struct cidr *outer = cidr_of(&args[0]), *inner = cidr_of(&v);
    return cel_of_bool(outer->bits <= inner->bits && agree(outer->ip, inner->ip, outer->bits));
}

#define ONE   CEL__COST_ONE
#define PARSE CEL__COST_PARSE

static const struct cel__overload rows[] = {
    CEL__FUNCTION("ip", PARSE, fn_ip, &cel_ip, &cel_string),
    CEL__METHOD("family", ONE, fn_family, &cel_int, &cel_ip),
    CEL__FUNCTION("ip.isCanonical", CEL__COST_CANONICAL, fn_is_canonical, &cel_bool, &cel_string),
    CEL__METHOD("isUnspecified", ONE, fn_unspecified, &cel_bool, &cel_ip),
    CEL__METHOD("isLoopback", ONE, fn_loopback, &cel_bool, &cel_ip),
    CEL__METHOD("isLinkLocalMulticast", ONE, fn_link_local_multicast, &cel_bool, &cel_ip),
    CEL__METHOD("isLinkLocalUnicast", ONE, fn_link_local_unicast, &cel_bool, &cel_ip),
    CEL__METHOD("isGlobalUnicast", ONE, fn_global_unicast, &cel_bool, &cel_ip),
    CEL__FUNCTION("isIP", PARSE, fn_is_ip, &cel_bool, &cel_string),
    CEL__FUNCTION("string", ONE, fn_ip_string, &cel_string, &cel_ip),
    CEL__FUNCTION("cidr", PARSE, fn_cidr, &cel_cidr, &cel_string),
    CEL__METHOD("containsIP", CEL__COST_CONTAINS_IP_TEXT, fn_contains_ip, &cel_bool, &cel_cidr,
                &cel_string),
    CEL__METHOD("containsIP", CEL__COST_CONTAINS_IP, fn_contains_ip, &cel_bool, &cel_cidr, &cel_ip),
    CEL__METHOD("containsCIDR", CEL__COST_CONTAINS_CIDR_TEXT, fn_contains_cidr, &cel_bool,
                &cel_cidr, &cel_string),
    CEL__METHOD("containsCIDR", CEL__COST_CONTAINS_CIDR, fn_contains_cidr, &cel_bool, &cel_cidr,
                &cel_cidr),
    CEL__METHOD("ip", ONE, fn_cidr_ip, &cel_ip, &cel_cidr),
    CEL__METHOD("prefixLength", ONE, fn_prefix_length, &cel_int, &cel_cidr),
    CEL__METHOD("masked", ONE, fn_masked, &cel_cidr, &cel_cidr),
    CEL__FUNCTION("isCIDR", PARSE, fn_is_cidr, &cel_bool, &cel_string),
    CEL__FUNCTION("string", ONE, fn_cidr_string, &cel_string, &cel_cidr),
};

const struct cel__library cel__lib_ip = { rows, ARRAY_LEN(rows), 0 };
