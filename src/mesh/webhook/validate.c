#include "mesh/webhook/validate.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "base/regexp.h"
#include "mesh/model/tree.h"
#include "mesh/webhook/validate_internal.h"
#include "base/banned.h"

bool check__has(const struct value *v)
{
    return tree_has(v);
}

static bool is_label(struct str s)
{
    if (!s.n || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!islower((unsigned char)s.p[i]) && !isdigit((unsigned char)s.p[i]) && s.p[i] != '-')
            return false;
    }
    return true;
}

static bool is_host_label(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '-' && s.p[i] != '_')
            return false;
    }
    return s.n && s.n <= 63;
}

int check__label(struct check *c, struct str s, const char *what)
{
    if (is_label(s))
        return 0;
    return err_set(c->err, ERR_INVALID, "%s is invalid: " STR_FMT, what, STR_ARG(s));
}

int check__host(struct check *c, struct str host, bool wild)
{
    struct str rest = host;
    if (!host.n)
        return err_set(c->err, ERR_INVALID, "empty domain name not allowed");
    if (host.n > 255)
        return err_set(c->err, ERR_INVALID, "domain name is longer than 255 bytes");
    if (wild && str_eq(host, STR("*")))
        return 0;
    if (wild && str_starts(host, STR("*.")))
        rest = str_skip(host, 2);
    while (rest.p && rest.n) {
        struct str one = str_cut(&rest, '.');
        if (!is_host_label(one))
            return err_set(c->err, ERR_INVALID,
                           "domain name \"" STR_FMT "\" invalid (label \"" STR_FMT "\" invalid)",
                           STR_ARG(host), STR_ARG(one));
    }
    return 0;
}

int check__port(struct check *c, const struct value *v)
{
    int64_t n = 0;
    (void)value_to_int(v, &n);
    if (n >= 1 && n <= 65535)
        return 0;
    return err_set(c->err, ERR_INVALID, "port number %lld must be in the range 1..65535",
                   (long long)n);
}

int check__duration(struct check *c, const struct value *v)
{
    if (!v)
        return 0;
    struct str s = value_str(v);
    if (!s.n || !isdigit((unsigned char)s.p[0]))
        return err_set(c->err, ERR_INVALID, "bad Duration: time: invalid duration \"" STR_FMT "\"",
                       STR_ARG(s));
    if (tree_seconds(s) < 0.001)
        return err_set(c->err, ERR_INVALID, "duration must be greater than 1ms");
    return 0;
}

int check__percent(struct check *c, const struct value *v)
{
    double d = 0;
    if (!v || !value_to_double(v, &d) || (d >= 0 && d <= 100))
        return 0;
    return err_set(c->err, ERR_INVALID, "percentage %g is not in range 0..100", d);
}

int check__export_to(struct check *c, const struct value *list)
{
    bool all = false;
    value_each_item (it, list) {
        struct str s = value_str(it);
        bool is_sign = str_eq(s, STR("*")) || str_eq(s, STR(".")) || str_eq(s, STR("~"));
        all = all || str_eq(s, STR("*"));
        if (!is_sign && !is_label(s))
            return err_set(c->err, ERR_INVALID,
                           "only .,*, or a valid DNS 1123 label is allowed as exportTo entry");
    }
    if (all && list->n > 1)
        return err_set(c->err, ERR_INVALID, "exportTo has * and others beside it");
    return 0;
}

int check__regex(struct check *c, struct str s)
{
    struct regexp *re = NULL;
    struct err why = ERR_INIT(c->arena);
    if (regexp_compile(c->arena, s, &re, &why) < 0)
        return err_set(c->err, ERR_INVALID, "error parsing regexp: " STR_FMT, STR_ARG(why.msg));
    return 0;
}

bool check__is_ip(struct check *c, struct str s)
{
    unsigned char room[16];
    struct str bits = s, address = str_cut(&bits, '/');
    uint64_t n = 0;
    const char *text = str_cstr(c->arena, address);
    if (bits.p && (!str_to_u64(bits, &n) || n > 128))
        return false;
    return inet_pton(AF_INET, text, room) == 1 || inet_pton(AF_INET6, text, room) == 1;
}

int validate_object(struct arena *a, const struct value *obj, unsigned *ret_warnings,
                    struct err *err)
{
    static const struct {
        const char *kind;
        int (*check)(struct check *c, const struct value *spec);
    } kinds[] = {
        { "VirtualService", check__virtual_service },
        { "DestinationRule", check__destination_rule },
        { "Gateway", check__gateway },
        { "ServiceEntry", check__service_entry },
        { "WorkloadEntry", check__workload_entry },
        { "Sidecar", check__sidecar },
        { "AuthorizationPolicy", check__authorization },
        { "RequestAuthentication", check__request_authentication },
        { "PeerAuthentication", check__peer_authentication },
    };
    const struct value *meta = value_get(obj, STR("metadata"));
    struct check c = { a, value_text(meta, "namespace"), value_text(meta, "name"), 0, err };
    *ret_warnings = 0;
    struct str group = value_text(obj, "apiVersion");
    if (!memmem(group.p, group.n, "istio.io/", 9))
        return 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (!str_eq(value_text(obj, "kind"), str_of(kinds[i].kind)))
            continue;
        int r = kinds[i].check(&c, value_get(obj, STR("spec")));
        *ret_warnings = c.warnings;
        return r < 0 ? err_wrap(err, "configuration is invalid") : 0;
    }
    return 0;
}
