/* Reads what Go's net/netip reads: no zeros in front of numbers, four numbers for IPv4, and eight
 * groups for IPv6 of which the last two may be an IPv4 address. */
#include "cel/netip.h"

#include "api/go/quote.h"
#include "base/buf.h"

#include "base/banned.h"

static const char *fault(struct arena *a, struct str text, const char *why, struct str at)
{
    autobuf out = { 0 };
    buf_str_add(&out, STR("ParseAddr("));
    quote_go(&out, text);
    buf_printf(&out, "): %s", why);
    if (at.n) {
        buf_str_add(&out, STR(" (at "));
        quote_go(&out, at);
        buf_byte(&out, ')');
    }
    return str_cstr(a, buf_str(&out));
}

#define NOWHERE STR("")

/* `s` is a part of `text`, which errors quote. */
static const char *parse_v4(struct arena *a, struct str text, struct str s, unsigned char *out)
{
    unsigned val = 0, digits = 0, pos = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c >= '0' && c <= '9') {
            if (digits == 1 && !val)
                return fault(a, text, "IPv4 field has octet with leading zero", NOWHERE);
            val = val * 10 + (unsigned)(c - '0');
            digits++;
            if (val > 255)
                return fault(a, text, "IPv4 field has value >255", NOWHERE);
        } else if (c == '.') {
            if (i == 0 || i == s.n - 1 || s.p[i - 1] == '.')
                return fault(a, text, "IPv4 field must have at least one digit", str_skip(s, i));
            if (pos == 3)
                return fault(a, text, "IPv4 address too long", NOWHERE);
            out[pos++] = (unsigned char)val;
            val = digits = 0;
        } else {
            return fault(a, text, "unexpected character", str_skip(s, i));
        }
    }
    if (pos < 3)
        return fault(a, text, "IPv4 address too short", NOWHERE);
    out[3] = (unsigned char)val;
    return NULL;
}

struct groups {
    unsigned char bytes[16];
    size_t n;        /* bytes so far */
    int ellipsis;    /* where :: stands, or -1 */
    struct str rest; /* not read yet */
};

static const char *parse_group(struct arena *a, struct str text, struct groups *g, bool *ret_end)
{
    struct str s = g->rest;
    size_t digits = 0;
    uint32_t val = 0;
    *ret_end = true;
    for (; digits < s.n && str_hex_digit(s.p[digits]) >= 0; digits++) {
        val = val << 4 | (uint32_t)str_hex_digit(s.p[digits]);
        if (digits > 3)
            return fault(a, text, "each group must have 4 or less digits", s);
    }
    if (!digits)
        return fault(a, text, "each colon-separated field must have at least one digit", s);
    if (digits < s.n && s.p[digits] == '.') {
        if (g->ellipsis < 0 && g->n != 12)
            return fault(a, text,
                         "embedded IPv4 address must replace the final 2 fields of the address", s);
        if (g->n + 4 > 16)
            return fault(a, text,
                         "too many hex fields to fit an embedded IPv4 at the end of the address",
                         s);
        const char *why = parse_v4(a, text, s, g->bytes + g->n);
        g->n += 4;
        g->rest = STR("");
        return why;
    }
    g->bytes[g->n++] = (unsigned char)(val >> 8);
    g->bytes[g->n++] = (unsigned char)val;
    g->rest = s = str_skip(s, digits);
    if (!s.n)
        return NULL;
    if (s.p[0] != ':')
        return fault(a, text, "unexpected character, want colon", s);
    if (s.n == 1)
        return fault(a, text, "colon must be followed by more characters", s);
    g->rest = s = str_skip(s, 1);
    if (s.p[0] == ':') {
        if (g->ellipsis >= 0)
            return fault(a, text, "multiple :: in address", s);
        g->ellipsis = (int)g->n;
        g->rest = str_skip(s, 1);
    }
    *ret_end = !g->rest.n;
    return NULL;
}

static const char *expand(struct arena *a, struct str text, struct groups *g)
{
    if (g->rest.n)
        return fault(a, text, "trailing garbage after address", g->rest);
    if (g->n == 16)
        return g->ellipsis < 0
                   ? NULL
                   : fault(a, text, "the :: must expand to at least one field of zeros", NOWHERE);
    if (g->ellipsis < 0)
        return fault(a, text, "address string too short", NOWHERE);
    size_t behind = g->n - (size_t)g->ellipsis;
    memmove(g->bytes + 16 - behind, g->bytes + g->ellipsis, behind);
    memset(g->bytes + g->ellipsis, 0, 16 - g->n);
    return NULL;
}

static const char *parse_v6(struct arena *a, struct str text, struct netip *ret)
{
    struct str zone = text, s = str_cut(&zone, '%');
    ret->has_zone = zone.p != NULL;
    if (ret->has_zone && !zone.n)
        return fault(a, text, "zone must be a non-empty string", NOWHERE);
    struct groups g = { .ellipsis = -1, .rest = s };
    bool end = false;
    if (str_starts(s, STR("::"))) {
        g.ellipsis = 0;
        g.rest = str_skip(s, 2);
        end = !g.rest.n;
    }
    while (!end && g.n < 16) {
        const char *why = parse_group(a, text, &g, &end);
        if (why)
            return why;
    }
    const char *why = expand(a, text, &g);
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    memcpy(ret->ip.bytes, g.bytes, 16);
    ret->ip.is_mapped = memcmp(g.bytes, mapped, 12) == 0;
    return why;
}

const char *netip_parse(struct arena *a, struct str text, struct netip *ret)
{
    *ret = (struct netip){ 0 };
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.') {
            ret->ip.is_v4 = true;
            return parse_v4(a, text, text, ret->ip.bytes);
        }
        if (text.p[i] == ':')
            return parse_v6(a, text, ret);
        if (text.p[i] == '%')
            return fault(a, text, "missing IPv6 address", NOWHERE);
    }
    return fault(a, text, "unable to parse IP", NOWHERE);
}

static const char *prefix_fault(struct arena *a, struct str text, const char *why,
                                struct str quoted)
{
    autobuf out = { 0 };
    buf_str_add(&out, STR("netip.ParsePrefix("));
    quote_go(&out, text);
    buf_printf(&out, "): %s", why);
    if (quoted.p)
        quote_go(&out, quoted);
    return str_cstr(a, buf_str(&out));
}

#define NO_QUOTE ((struct str){ 0 })

const char *netip_parse_prefix(struct arena *a, struct str text, struct cidr *ret)
{
    size_t slash = text.n;
    while (slash > 0 && text.p[slash - 1] != '/')
        slash--;
    if (!slash)
        return prefix_fault(a, text, "no '/'", NO_QUOTE);
    struct netip addr;
    struct str digits = str_skip(text, slash);
    const char *why = netip_parse(a, str_take(text, slash - 1), &addr);
    uint64_t bits;
    if (why)
        return prefix_fault(a, text, why, NO_QUOTE);
    if (addr.has_zone)
        return prefix_fault(a, text, "IPv6 zones cannot be present in a prefix", NO_QUOTE);
    if ((digits.n > 1 && (digits.p[0] < '1' || digits.p[0] > '9')) || !str_to_u64(digits, &bits))
        return prefix_fault(a, text, "bad bits after slash: ", digits);
    if (bits > (addr.ip.is_v4 ? 32 : 128))
        return prefix_fault(a, text, "prefix length out of range", NO_QUOTE);
    *ret = (struct cidr){ .ip = addr.ip, .bits = (unsigned)bits };
    return NULL;
}
