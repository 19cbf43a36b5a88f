/* config_proxy.c - proxies of the environment, by the rules of Go's httpproxy. */
#include <arpa/inet.h>

#include "api/go/go_url.h"
#include "client/bridge.h"
#include "client/config/config_internal.h"
#include "base/banned.h"

/* An address of either family, 16 bytes each: those of IPv4 as IPv6 maps them. */
struct address {
    unsigned char bytes[16];
    bool is_v4;
};

struct endpoint {
    struct str host, port; /* in small letters, without brackets */
    struct address ip;
    bool is_ip;
};

static bool read_ip(struct str s, struct address *ret)
{
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    char text[INET6_ADDRSTRLEN + 1] = { 0 };
    if (s.n >= sizeof(text) || memchr(s.p, 0, s.n))
        return false;
    memcpy(text, s.p, s.n);
    memcpy(ret->bytes, mapped, sizeof(mapped));
    ret->is_v4 = inet_pton(AF_INET, text, ret->bytes + sizeof(mapped)) == 1;
    if (ret->is_v4)
        return true;
    if (inet_pton(AF_INET6, text, ret->bytes) != 1)
        return false;
    ret->is_v4 = memcmp(ret->bytes, mapped, sizeof(mapped)) == 0;
    return true;
}

static bool is_loopback(const struct address *ip)
{
    static const unsigned char one[16] = { [15] = 1 };
    return ip->is_v4 ? ip->bytes[12] == 127 : memcmp(ip->bytes, one, sizeof(one)) == 0;
}

static bool same_bits(const struct address *a, const struct address *b, unsigned n)
{
    unsigned whole = n / 8, rest = n % 8;
    if (memcmp(a->bytes, b->bytes, whole) != 0)
        return false;
    return !rest || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

/* ---- Hosts with ports ---- */

static struct str small_letters(struct arena *a, struct str s)
{
    char *p = arena_dup(a, s.p ? s.p : "", s.n);
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
    return (struct str){ p, s.n };
}

static struct str without_brackets(struct str host)
{
    bool has = host.n > 1 && host.p[0] == '[' && host.p[host.n - 1] == ']';
    return has ? (struct str){ host.p + 1, host.n - 2 } : host;
}

/* "host:port" and "[::1]:port"; without a port, and for a bare "::1", all of it is the host. */
static struct endpoint split(struct str s)
{
    struct endpoint e = { .host = s };
    struct str tail = s;
    if (str_starts(s, STR("[")) && str_find(s, ']') > 0)
        tail = str_skip(s, (size_t)str_find(s, ']') + 1);
    ptrdiff_t colon = str_find(tail, ':');
    if (colon >= 0 && str_find(str_skip(tail, (size_t)colon + 1), ':') < 0) {
        e.port = str_skip(tail, (size_t)colon + 1);
        e.host = str_take(s, s.n - e.port.n - 1);
    }
    e.host = without_brackets(e.host);
    e.is_ip = read_ip(e.host, &e.ip);
    return e;
}

static struct endpoint endpoint_of(struct arena *a, struct str server, bool is_secure)
{
    struct str rest = str_skip(server, is_secure ? 8 : 7);
    struct endpoint e = split(small_letters(a, str_cut(&rest, '/')));
    if (!e.port.n)
        e.port = is_secure ? STR("443") : STR("80");
    return e;
}

/* ---- Who is reached directly ---- */

/* "10.0.0.0/8". False: it is no such thing, or this is not in it. */
static bool is_in_range(const struct endpoint *to, struct str word)
{
    struct str bits = word;
    struct address base;
    uint64_t n;
    struct str ip = str_cut(&bits, '/');
    if (!to->is_ip || !bits.p || !read_ip(ip, &base) || !str_to_u64(bits, &n) ||
        n > (base.is_v4 ? 32u : 128u) || base.is_v4 != to->ip.is_v4)
        return false;
    return same_bits(&base, &to->ip, (unsigned)n + (base.is_v4 ? 96 : 0));
}

/* "example.com" is for what is below it, too; ".example.com" and "*.example.com" only for that. */
static bool is_in_domain(struct str host, struct str domain)
{
    if (str_starts(domain, STR("*.")))
        domain = str_skip(domain, 1);
    if (str_starts(domain, STR(".")))
        return str_ends(host, domain);
    if (str_eq(host, domain))
        return true;
    return host.n > domain.n && str_ends(host, domain) && host.p[host.n - domain.n - 1] == '.';
}

static bool is_named(const struct endpoint *to, struct str word)
{
    if (str_eq(word, STR("*")) || is_in_range(to, word))
        return true;
    struct endpoint named = split(word);
    if (!named.host.n || (named.port.n && !str_eq(named.port, to->port)))
        return false;
    if (named.is_ip)
        return to->is_ip && same_bits(&named.ip, &to->ip, 128);
    return is_in_domain(to->host, named.host);
}

static bool is_direct(struct arena *a, const struct endpoint *to, struct str list)
{
    if (str_eq(to->host, STR("localhost")) || (to->is_ip && is_loopback(&to->ip)))
        return true;
    while (list.p) {
        struct str word = small_letters(a, str_trim(str_cut(&list, ',')));
        if (word.n && is_named(to, word))
            return true;
    }
    return false;
}

/* ---- The proxy ---- */

/* "proxy:3128" is one that speaks HTTP. */
static int complete(struct str text, struct arena *a, struct spn_text *ret, struct spn_err *err)
{
    struct go_url url = { 0 };
    if (go_url_parse(a, text, &url) || !url.scheme.n || !url.host.n) {
        struct str longer = arena_printf(a, "http://" STR_FMT, STR_ARG(text));
        if (go_url_parse(a, longer, &url))
            return spn_err_set(err, SPN_INVALID, "invalid proxy address \"" STR_FMT "\"",
                               STR_ARG(text));
        text = longer;
    }
    *ret = text_out(arena_str(a, text));
    return 0;
}

int config_proxy(const struct config_environment *env, struct spn_text server, struct arena *a,
                 struct spn_text *ret, struct spn_err *err)
{
    bool is_secure = config_is_secure(server);
    struct str text = str_of(is_secure ? env->https_proxy : env->http_proxy);
    *ret = SPN_TEXT("");
    if (!text.n || !(is_secure || str_starts(str_in(server), STR("http://"))))
        return 0;
    struct endpoint to = endpoint_of(a, str_in(server), is_secure);
    return is_direct(a, &to, str_of(env->no_proxy)) ? 0 : complete(text, a, ret, err);
}
