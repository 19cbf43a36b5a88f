/* DestinationRules, Gateways, ServiceEntries, WorkloadEntries and Sidecars. */
#include <ctype.h>

#include "mesh/model/host.h"
#include "mesh/model/protocol.h"
#include "mesh/model/tree.h"
#include "mesh/webhook/validate_internal.h"
#include "base/banned.h"

static int not_negative(struct check *c, const struct value *obj, const char *key,
                        const char *words)
{
    int64_t n = 0;
    if (value_to_int(value_get(obj, str_of(key)), &n) && n < 0)
        return err_set(c->err, ERR_INVALID, "%s must be non-negative", words);
    return 0;
}

static int pool(struct check *c, const struct value *p)
{
    const struct value *tcp = value_get(p, STR("tcp")), *http = value_get(p, STR("http"));
    static const char *const of_http[] = { "http1MaxPendingRequests", "http2MaxRequests",
                                           "maxRequestsPerConnection", "maxRetries" };
    int r = not_negative(c, tcp, "maxConnections", "max connections");
    if (r < 0)
        return r;
    for (size_t i = 0; i < 4; i++) {
        r = not_negative(c, http, of_http[i], of_http[i]);
        if (r < 0)
            return r;
    }
    r = check__duration(c, value_get(tcp, STR("connectTimeout")));
    if (r < 0)
        return r;
    return check__duration(c, value_get(http, STR("idleTimeout")));
}

static int outlier(struct check *c, const struct value *o)
{
    int r = check__percent(c, value_get(o, STR("maxEjectionPercent")));
    if (r < 0)
        return r;
    r = check__percent(c, value_get(o, STR("minHealthPercent")));
    if (r < 0)
        return r;
    r = check__duration(c, value_get(o, STR("interval")));
    if (r < 0)
        return r;
    return check__duration(c, value_get(o, STR("baseEjectionTime")));
}

static int balancer(struct check *c, const struct value *lb)
{
    const struct value *cookie = value_dig(lb, "consistentHash", "httpCookie");
    if (cookie && !value_text(cookie, "name").n)
        return err_set(c->err, ERR_INVALID, "name required for HttpCookie");
    return 0;
}

static int client_tls(struct check *c, const struct value *tls)
{
    struct str mode = value_text(tls, "mode"), credential = value_text(tls, "credentialName");
    bool cert = value_text(tls, "clientCertificate").n, key = value_text(tls, "privateKey").n;
    bool ca = value_text(tls, "caCertificates").n;
    if (credential.n && (cert || key || ca))
        return err_set(c->err, ERR_INVALID,
                       "cannot specify client certificates or CA certificate if credentialName is "
                       "set");
    if (!str_eq(mode, STR("MUTUAL")) || credential.n)
        return 0;
    if (!cert)
        return err_set(c->err, ERR_INVALID, "client certificate required for mutual tls");
    return key ? 0 : err_set(c->err, ERR_INVALID, "private key required for mutual tls");
}

static int policy_parts(struct check *c, const struct value *p)
{
    static const struct {
        const char *field;
        int (*check)(struct check *c, const struct value *v);
    } parts[] = { { "connectionPool", pool },
                  { "outlierDetection", outlier },
                  { "loadBalancer", balancer },
                  { "tls", client_tls } };
    for (size_t i = 0; i < 4; i++) {
        int r = parts[i].check(c, value_get(p, str_of(parts[i].field)));
        if (r < 0)
            return r;
    }
    return 0;
}

static int policy(struct check *c, const struct value *p)
{
    int r = policy_parts(c, p);
    if (r < 0)
        return r;
    value_each_item (it, value_get(p, STR("portLevelSettings"))) {
        if (!value_dig(it, "port", "number"))
            return err_set(c->err, ERR_INVALID, "portTrafficPolicy must have valid port");
        r = policy_parts(c, it);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_tag(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!isalnum((unsigned char)s.p[i]) && !strchr("-_./", s.p[i]))
            return false;
    }
    return s.n && isalnum((unsigned char)s.p[0]) && isalnum((unsigned char)s.p[s.n - 1]);
}

static int labels(struct check *c, const struct value *l)
{
    value_each_field (f, l) {
        if (!is_tag(f->key))
            return err_set(c->err, ERR_INVALID, "invalid tag key: \"" STR_FMT "\"",
                           STR_ARG(f->key));
        if (value_str(&f->val).n && !is_tag(value_str(&f->val)))
            return err_set(c->err, ERR_INVALID, "invalid tag value: \"" STR_FMT "\"",
                           STR_ARG(value_str(&f->val)));
    }
    return 0;
}

int check__destination_rule(struct check *c, const struct value *spec)
{
    const struct value *subsets = value_get(spec, STR("subsets"));
    const struct value *selector = value_get(spec, STR("workloadSelector"));
    int r = check__host(c, value_text(spec, "host"), true);
    if (r < 0)
        return r;
    r = policy(c, value_get(spec, STR("trafficPolicy")));
    if (r < 0)
        return r;
    for (size_t i = 0; subsets && i < subsets->n; i++) {
        const struct value *s = value_at(subsets, i);
        struct str name = value_text(s, "name");
        if (!name.n)
            return err_set(c->err, ERR_INVALID, "subset name cannot be empty");
        r = check__label(c, name, "subset name");
        if (r < 0)
            return r;
        for (size_t k = 0; k < i; k++) {
            if (str_eq(value_text(value_at(subsets, k), "name"), name))
                return err_set(c->err, ERR_INVALID, "duplicate subset names: " STR_FMT,
                               STR_ARG(name));
        }
        r = labels(c, value_get(s, STR("labels")));
        if (r < 0)
            return r;
        r = policy(c, value_get(s, STR("trafficPolicy")));
        if (r < 0)
            return r;
    }
    if (selector && !check__has(value_get(selector, STR("matchLabels"))))
        c->warnings++;
    return check__export_to(c, value_get(spec, STR("exportTo")));
}

/* ---- Gateways ---- */

static bool is_cipher(struct str s)
{
    static const char *const known =
        " ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-ECDSA-CHACHA20-POLY1305 ECDHE-RSA-AES128-GCM-SHA256 "
        "ECDHE-RSA-CHACHA20-POLY1305 ECDHE-ECDSA-AES128-SHA ECDHE-RSA-AES128-SHA AES128-GCM-SHA256 "
        "AES128-SHA ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-RSA-AES256-GCM-SHA384 "
        "ECDHE-ECDSA-AES256-SHA ECDHE-RSA-AES256-SHA AES256-GCM-SHA384 AES256-SHA "
        "TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256 ";
    char word[64];
    if (s.n + 2 >= sizeof(word))
        return false;
    word[0] = ' ';
    memcpy(word + 1, s.p, s.n);
    word[s.n + 1] = ' ';
    return memmem(known, strlen(known), word, s.n + 2) != NULL;
}

static int server_tls(struct check *c, const struct value *tls)
{
    struct str mode = value_text(tls, "mode");
    bool simple = str_eq(mode, STR("SIMPLE")),
         mutual = str_eq(mode, STR("MUTUAL")) || str_eq(mode, STR("OPTIONAL_MUTUAL"));
    bool credential =
        value_text(tls, "credentialName").n || check__has(value_get(tls, STR("credentialNames")));
    value_each_item (it, value_get(tls, STR("cipherSuites"))) {
        if (!is_cipher(value_str(it)))
            c->warnings++;
    }
    if ((!simple && !mutual) || credential || check__has(value_get(tls, STR("tlsCertificates"))))
        return 0;
    if (!value_text(tls, "serverCertificate").n)
        return err_set(c->err, ERR_INVALID, STR_FMT " TLS requires a server certificate",
                       STR_ARG(mode));
    if (!value_text(tls, "privateKey").n)
        return err_set(c->err, ERR_INVALID, STR_FMT " TLS requires a private key", STR_ARG(mode));
    if (mutual && !value_text(tls, "caCertificates").n)
        return err_set(c->err, ERR_INVALID, STR_FMT " TLS requires a client CA bundle",
                       STR_ARG(mode));
    return 0;
}

/* "ns/host" or "host" */
static int scoped_host(struct check *c, struct str h)
{
    struct str name = h, ns = str_find(h, '/') >= 0 ? str_cut(&name, '/') : STR("");
    bool is_sign = !ns.n || str_eq(ns, STR("*")) || str_eq(ns, STR(".")) || str_eq(ns, STR("~"));
    if (!is_sign) {
        int r = check__label(c, ns, "namespace value");
        if (r < 0)
            return r;
    }
    return check__is_ip(c, name) ? 0 : check__host(c, name, true);
}

static int server(struct check *c, const struct value *s)
{
    const struct value *tls = value_get(s, STR("tls"));
    struct str name = value_str(value_dig(s, "port", "protocol"));
    enum mesh_protocol p = protocol_parse(name);
    if (!check__has(value_get(s, STR("hosts"))))
        return err_set(c->err, ERR_INVALID, "server config must contain at least one host");
    value_each_item (h, value_get(s, STR("hosts"))) {
        int r = scoped_host(c, value_str(h));
        if (r < 0)
            return r;
    }
    if (!value_get(s, STR("port")))
        return err_set(c->err, ERR_INVALID, "port is required");
    int r = check__port(c, value_dig(s, "port", "number"));
    if (r < 0)
        return r;
    if (p == PROTOCOL_AUTO || p == PROTOCOL_HTTP_PROXY)
        return err_set(c->err, ERR_INVALID, "invalid protocol \"" STR_FMT "\"", STR_ARG(name));
    if (!value_str(value_dig(s, "port", "name")).n)
        return err_set(c->err, ERR_INVALID, "port name must be set");
    if (protocol_is_tls(p) && !tls)
        return err_set(c->err, ERR_INVALID,
                       "server must have TLS settings for HTTPS/TLS protocols");
    if (protocol_is_http(p) && tls &&
        (value_text(tls, "mode").n || value_text(tls, "credentialName").n))
        return err_set(c->err, ERR_INVALID,
                       "server cannot have TLS settings for plain text HTTP ports");
    if (!protocol_is_http(p) && !protocol_is_tls(p) && tls)
        return err_set(c->err, ERR_INVALID,
                       "server cannot have TLS settings for non HTTPS/TLS ports");
    return server_tls(c, tls);
}

int check__gateway(struct check *c, const struct value *spec)
{
    const struct value *servers = value_get(spec, STR("servers"));
    if (!check__has(servers))
        return err_set(c->err, ERR_INVALID, "gateway must have at least one server");
    for (size_t i = 0; i < servers->n; i++) {
        int r = server(c, value_at(servers, i));
        if (r < 0)
            return r;
        struct str name = value_str(value_dig(value_at(servers, i), "port", "name"));
        for (size_t k = 0; k < i; k++) {
            if (str_eq(value_str(value_dig(value_at(servers, k), "port", "name")), name))
                return err_set(c->err, ERR_INVALID,
                               "port names in servers must be unique: duplicate name " STR_FMT,
                               STR_ARG(name));
        }
    }
    return 0;
}

/* ---- ServiceEntries and WorkloadEntries ---- */

static int entry_ports(struct check *c, const struct value *ports)
{
    for (size_t i = 0; ports && i < ports->n; i++) {
        const struct value *p = value_at(ports, i);
        struct str protocol = value_text(p, "protocol");
        int r = check__port(c, value_get(p, STR("number")));
        if (r < 0)
            return r;
        if (!value_text(p, "name").n)
            return err_set(c->err, ERR_INVALID, "service entry port must have a name");
        if (protocol.n && protocol_parse(protocol) == PROTOCOL_AUTO)
            return err_set(c->err, ERR_INVALID, "unsupported protocol: " STR_FMT,
                           STR_ARG(protocol));
        for (size_t k = 0; k < i; k++) {
            const struct value *other = value_at(ports, k);
            if (value_eq(value_get(other, STR("number")), value_get(p, STR("number"))))
                return err_set(c->err, ERR_INVALID, "service entry port is already defined");
            if (str_eq(value_text(other, "name"), value_text(p, "name")))
                return err_set(c->err, ERR_INVALID, "service entry port name is already defined");
        }
    }
    return 0;
}

static bool has_port_named(const struct value *ports, struct str name)
{
    value_each_item (it, ports) {
        if (str_eq(value_text(it, "name"), name))
            return true;
    }
    return false;
}

static int entry_endpoint(struct check *c, const struct value *spec, const struct value *e)
{
    struct str address = value_text(e, "address");
    struct str resolution = value_text(spec, "resolution");
    bool is_static = str_eq(resolution, STR("STATIC"));
    bool is_unix = str_starts(address, STR("unix://"));
    if (is_static && !is_unix && !check__is_ip(c, address))
        return err_set(c->err, ERR_INVALID,
                       "endpoint address \"" STR_FMT "\" is not a valid IP address",
                       STR_ARG(address));
    if (!is_static && !is_unix && !check__is_ip(c, address)) {
        int r = check__host(c, address, false);
        if (r < 0)
            return r;
    }
    value_each_field (f, value_get(e, STR("ports"))) {
        int r = check__port(c, &f->val);
        if (r < 0)
            return r;
        if (!has_port_named(value_get(spec, STR("ports")), f->key))
            return err_set(c->err, ERR_INVALID,
                           "endpoint port " STR_FMT " is not defined by the service entry",
                           STR_ARG(f->key));
    }
    return labels(c, value_get(e, STR("labels")));
}

static int entry_endpoints(struct check *c, const struct value *spec)
{
    const struct value *endpoints = value_get(spec, STR("endpoints"));
    struct str resolution = value_text(spec, "resolution");
    bool is_dns = str_eq(resolution, STR("DNS")) || str_eq(resolution, STR("DNS_ROUND_ROBIN"));
    if (check__has(endpoints) && value_get(spec, STR("workloadSelector")))
        return err_set(c->err, ERR_INVALID,
                       "only one of WorkloadSelector or Endpoints is allowed in Service Entry");
    if (check__has(endpoints) && (!resolution.n || str_eq(resolution, STR("NONE"))))
        return err_set(c->err, ERR_INVALID,
                       "no endpoints should be provided for resolution type none");
    if (str_eq(resolution, STR("DNS_ROUND_ROBIN")) && endpoints && endpoints->n > 1)
        return err_set(c->err, ERR_INVALID,
                       "there must only be 0 or 1 endpoint for resolution mode DNS_ROUND_ROBIN");
    value_each_item (h, is_dns && !check__has(endpoints) ? value_get(spec, STR("hosts")) : NULL) {
        int r = check__host(c, value_str(h), false);
        if (r < 0)
            return err_wrap(c->err,
                            "hosts must be FQDN if no endpoints are provided for resolution "
                            "mode DNS");
    }
    value_each_item (e, endpoints) {
        int r = entry_endpoint(c, spec, e);
        if (r < 0)
            return r;
    }
    return 0;
}

int check__service_entry(struct check *c, const struct value *spec)
{
    if (!check__has(value_get(spec, STR("hosts"))))
        return err_set(c->err, ERR_INVALID, "service entry must have at least one host");
    value_each_item (h, value_get(spec, STR("hosts"))) {
        if (str_eq(value_str(h), STR("*")))
            return err_set(c->err, ERR_INVALID, "invalid host *");
        int r = check__host(c, value_str(h), true);
        if (r < 0)
            return r;
    }
    value_each_item (it, value_get(spec, STR("addresses"))) {
        if (!check__is_ip(c, value_str(it)))
            return err_set(c->err, ERR_INVALID, "address is no IP address or network");
    }
    int r = entry_ports(c, value_get(spec, STR("ports")));
    if (r < 0)
        return r;
    r = entry_endpoints(c, spec);
    if (r < 0)
        return r;
    return check__export_to(c, value_get(spec, STR("exportTo")));
}

int check__workload_entry(struct check *c, const struct value *spec)
{
    if (!value_text(spec, "address").n && !value_text(spec, "network").n)
        return err_set(c->err, ERR_INVALID, "address is required");
    value_each_field (f, value_get(spec, STR("ports"))) {
        int r = check__port(c, &f->val);
        if (r < 0)
            return r;
    }
    return labels(c, value_get(spec, STR("labels")));
}

/* ---- Sidecars ---- */

static int egress_host(struct check *c, struct str h)
{
    struct str name = h;
    if (str_find(h, '/') < 0)
        return err_set(c->err, ERR_INVALID, "host must be of form namespace/dnsName");
    struct str ns = str_cut(&name, '/');
    bool is_sign = str_eq(ns, STR("*")) || str_eq(ns, STR(".")) || str_eq(ns, STR("~"));
    if (!ns.n || !name.n)
        return err_set(c->err, ERR_INVALID,
                       "config namespace and dnsName in host entry cannot be "
                       "empty");
    if (!is_sign && check__label(c, ns, "namespace value") < 0)
        return err_set(c->err, ERR_INVALID, "invalid namespace value \"" STR_FMT "\" in sidecar",
                       STR_ARG(ns));
    return check__host(c, name, true);
}

static int egress(struct check *c, const struct value *list)
{
    for (size_t i = 0; list && i < list->n; i++) {
        const struct value *e = value_at(list, i), *port = value_dig(e, "port", "number");
        if (!port && i + 1 < list->n)
            return err_set(c->err, ERR_INVALID,
                           "sidecar: the egress listener with empty port should be the last "
                           "listener in the list");
        for (size_t k = 0; port && k < i; k++) {
            const struct value *other = value_at(list, k);
            if (value_eq(value_dig(other, "port", "number"), port) &&
                str_eq(value_text(other, "bind"), value_text(e, "bind")))
                return err_set(c->err, ERR_INVALID,
                               "sidecar: ports on IP bound listeners must be unique");
        }
        if (!check__has(value_get(e, STR("hosts"))))
            return err_set(c->err, ERR_INVALID,
                           "sidecar: egress listener must contain at least "
                           "one host");
        value_each_item (h, value_get(e, STR("hosts"))) {
            int r = egress_host(c, value_str(h));
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static bool is_default_endpoint(struct str s)
{
    static const char *const begins[] = { "127.0.0.1:", "0.0.0.0:", "[::1]:", "[::]:", "unix://" };
    for (size_t i = 0; i < 5; i++) {
        if (str_starts(s, str_of(begins[i])))
            return true;
    }
    return !s.n;
}

int check__sidecar(struct check *c, const struct value *spec)
{
    const struct value *in = value_get(spec, STR("ingress")), *out = value_get(spec, STR("egress"));
    if (!check__has(in) && !check__has(out) && !value_get(spec, STR("outboundTrafficPolicy")) &&
        !value_get(spec, STR("inboundConnectionPool")))
        return err_set(c->err, ERR_INVALID, "sidecar: empty configuration provided");
    value_each_item (it, in) {
        int r = check__port(c, value_dig(it, "port", "number"));
        if (r < 0)
            return r;
        if (!is_default_endpoint(value_text(it, "defaultEndpoint")))
            return err_set(
                c->err, ERR_INVALID,
                "sidecar: defaultEndpoint must be of form "
                "127.0.0.1:<port>,0.0.0.0:<port>,[::1]:port,[::]:port,unix://filepath or "
                "unset");
    }
    return egress(c, out);
}
