#include "mesh/cluster/policy.h"

#include "mesh/model/tree.h"
#include "base/banned.h"

#define TLS_TYPES "envoy.extensions.transport_sockets.tls.v3."

static const char *const parts[] = { "connectionPool", "outlierDetection", "loadBalancer", "tls" };

static void merge_level(struct arena *a, struct value *out, const struct value *level, int port)
{
    for (size_t i = 0; i < 4; i++) {
        const struct value *v = value_get(level, str_of(parts[i]));
        if (v)
            value_put(a, out, str_of(parts[i]), value_borrow(v));
    }
    value_each_item (it, value_get(level, STR("portLevelSettings"))) {
        int64_t number = 0;
        if (!value_to_int(value_dig(it, "port", "number"), &number) || number != port)
            continue;
        /* What a port does not say is the usual, not what is said of all ports. */
        for (size_t i = 0; i < 4; i++) {
            const struct value *v = value_get(it, str_of(parts[i]));
            if (v)
                value_put(a, out, str_of(parts[i]), value_borrow(v));
            else
                value_drop(a, out, str_of(parts[i]));
        }
        return;
    }
}

struct value policy_merge(struct arena *a, const struct mesh_rule *rule, const struct value *subset,
                          int port)
{
    struct value out = value_object();
    if (rule)
        merge_level(a, &out, &rule->policy, port);
    if (subset)
        merge_level(a, &out, value_get(subset, STR("trafficPolicy")), port);
    return out;
}

static struct value copy_of(const struct value *obj, const char *key)
{
    return tree_copy(value_get(obj, str_of(key)));
}

static struct value or_unlimited(const struct value *obj, const char *key)
{
    const struct value *v = value_get(obj, str_of(key));
    int64_t n = 0;
    return value_to_int(v, &n) && n > 0 ? value_int(n) : value_int(4294967295);
}

static struct value *protocol_options(struct arena *a, struct value *cluster)
{
    struct value *all = value_ensure(a, cluster, STR("typed_extension_protocol_options"));
    static const struct str key = {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        sizeof("envoy.extensions.upstreams.http.v3.HttpProtocolOptions") - 1
    };
    if (!value_get(all, key))
        value_put(
            a, all, key,
            tree_any(a, "envoy.extensions.upstreams.http.v3.HttpProtocolOptions", value_object()));
    return value_edit(a, all, key);
}

static void apply_pool(struct arena *a, const struct value *pool, struct value *cluster)
{
    const struct value *tcp = value_get(pool, STR("tcp")), *http = value_get(pool, STR("http"));
    struct value threshold =
        tree(a,
             "{max_connections: %v, max_pending_requests: %v, max_requests: %v, max_retries: %v, "
             "track_remaining: true}",
             or_unlimited(tcp, "maxConnections"), or_unlimited(http, "http1MaxPendingRequests"),
             or_unlimited(http, "http2MaxRequests"), or_unlimited(http, "maxRetries"));
    value_put(a, cluster, STR("circuit_breakers"), tree(a, "{thresholds: [%v]}", threshold));
    tree_put(a, cluster, "connect_timeout",
             tree_duration(a, value_get(tcp, STR("connectTimeout"))));
    const struct value *keep = value_get(tcp, STR("tcpKeepalive"));
    if (keep)
        value_put(a, cluster, STR("upstream_connection_options"),
                  tree(a, "{tcp_keepalive: {keepalive_probes: %v}}", copy_of(keep, "probes")));
    struct value common = tree(a,
                               "{idle_timeout: %v, max_requests_per_connection: %v, "
                               "max_connection_duration: %v}",
                               tree_duration(a, value_get(http, STR("idleTimeout"))),
                               copy_of(http, "maxRequestsPerConnection"),
                               tree_duration(a, value_get(tcp, STR("maxConnectionDuration"))));
    if (common.n)
        value_put(a, protocol_options(a, cluster), STR("common_http_protocol_options"), common);
}

/* How many errors in a row; none when it is 0. */
static void errors_in_a_row(struct arena *a, struct value *out, const struct value *v,
                            const char *count, const char *enforcing)
{
    int64_t n = 0;
    if (!value_to_int(v, &n))
        return;
    value_put(a, out, str_of(count), value_int(n));
    value_put(a, out, str_of(enforcing), value_int(n > 0 ? 100 : 0));
}

static void apply_outlier(struct arena *a, const struct value *o, struct value *cluster)
{
    if (!o)
        return;
    struct value out =
        tree(a,
             "{enforcing_success_rate: 0, interval: %v, base_ejection_time: %v, "
             "max_ejection_percent: %v, split_external_local_origin_errors: %v}",
             tree_duration(a, value_get(o, STR("interval"))),
             tree_duration(a, value_get(o, STR("baseEjectionTime"))),
             copy_of(o, "maxEjectionPercent"), copy_of(o, "splitExternalLocalOriginErrors"));
    errors_in_a_row(a, &out, value_get(o, STR("consecutive5xxErrors")), "consecutive_5xx",
                    "enforcing_consecutive_5xx");
    errors_in_a_row(a, &out, value_get(o, STR("consecutiveGatewayErrors")),
                    "consecutive_gateway_failure", "enforcing_consecutive_gateway_failure");
    errors_in_a_row(a, &out, value_get(o, STR("consecutiveLocalOriginFailures")),
                    "consecutive_local_origin_failure",
                    "enforcing_consecutive_local_origin_failure");
    int64_t percent = 0;
    (void)value_to_int(value_get(o, STR("minHealthPercent")), &percent);
    value_put(a, cluster, STR("outlier_detection"), out);
    value_put(a, value_ensure(a, cluster, STR("common_lb_config")), STR("healthy_panic_threshold"),
              tree(a, "{value: %d}", (int)percent));
}

static void apply_hash(struct arena *a, const struct value *hash, struct value *cluster)
{
    const struct value *maglev = value_get(hash, STR("maglev"));
    if (maglev) {
        value_put(a, cluster, STR("lb_policy"), value_string(STR("MAGLEV")));
        value_put(a, cluster, STR("maglev_lb_config"),
                  tree(a, "{table_size: %v}", copy_of(maglev, "tableSize")));
        return;
    }
    const struct value *ring = value_get(hash, STR("ringHash"));
    const struct value *size = value_get(ring, STR("minimumRingSize"));
    if (!size)
        size = value_get(hash, STR("minimumRingSize"));
    int64_t n = 1024;
    (void)value_to_int(size, &n);
    value_put(a, cluster, STR("lb_policy"), value_string(STR("RING_HASH")));
    value_put(a, cluster, STR("ring_hash_lb_config"),
              tree(a, "{minimum_ring_size: %v}", value_int(n)));
}

static void apply_balancer(struct arena *a, const struct value *lb, struct value *cluster)
{
    struct str simple = value_text(lb, "simple");
    const struct value *hash = value_get(lb, STR("consistentHash"));
    const char *policy = "LEAST_REQUEST";
    if (str_eq(value_text(cluster, "type"), STR("ORIGINAL_DST")) ||
        str_eq(simple, STR("PASSTHROUGH"))) {
        value_put(a, cluster, STR("type"), value_string(STR("ORIGINAL_DST")));
        value_drop(a, cluster, STR("eds_cluster_config"));
        value_drop(a, cluster, STR("load_assignment"));
        policy = "CLUSTER_PROVIDED";
    } else if (hash) {
        apply_hash(a, hash, cluster);
        return;
    } else if (str_eq(simple, STR("ROUND_ROBIN"))) {
        policy = "ROUND_ROBIN";
    } else if (str_eq(simple, STR("RANDOM"))) {
        policy = "RANDOM";
    }
    value_put(a, cluster, STR("lb_policy"), value_string(str_of(policy)));
}

struct value policy_secret(struct arena *a, struct str name)
{
    return tree(a,
                "{name: %s, sds_config: {ads: {}, resource_api_version: V3, "
                "initial_fetch_timeout: '0s'}}",
                name);
}

/* Names that the certificate of an upstream must have. */
static struct value alt_names(struct arena *a, const struct value *sans)
{
    struct value out = value_array();
    static const char *const types[] = { "DNS", "URI", "EMAIL", "IP_ADDRESS" };
    value_each_item (it, sans) {
        for (size_t i = 0; i < 4; i++)
            value_put_item(
                a, &out, tree(a, "{san_type: %t, matcher: {exact: %s}}", types[i], value_str(it)));
    }
    return out.n ? out : value_null();
}

static struct value file_of(struct arena *a, struct str path)
{
    return path.n ? tree(a, "{filename: %s}", path) : value_null();
}

/* Whom to believe. */
static void apply_trust(struct arena *a, const struct value *tls, const struct value *sans,
                        struct value *common)
{
    struct str credential = value_text(tls, "credentialName");
    struct str ca = value_text(tls, "caCertificates");
    if (credential.n) {
        struct str name = arena_printf(a, "kubernetes://" STR_FMT "-cacert", STR_ARG(credential));
        value_put(a, common, STR("combined_validation_context"),
                  tree(a,
                       "{default_validation_context: {match_typed_subject_alt_names: %v}, "
                       "validation_context_sds_secret_config: %v}",
                       alt_names(a, sans), policy_secret(a, name)));
    } else if (ca.n && !str_eq(ca, STR("system"))) {
        value_put(a, common, STR("validation_context"),
                  tree(a, "{trusted_ca: %v, match_typed_subject_alt_names: %v}", file_of(a, ca),
                       alt_names(a, sans)));
    } else {
        value_put(a, common, STR("validation_context"),
                  tree(a, "{system_root_certs: {}, match_typed_subject_alt_names: %v}",
                       alt_names(a, sans)));
    }
}

static void apply_own(struct arena *a, const struct value *tls, struct value *common)
{
    struct str credential = value_text(tls, "credentialName");
    struct str cert = value_text(tls, "clientCertificate");
    if (credential.n)
        value_put(
            a, common, STR("tls_certificate_sds_secret_configs"),
            tree(a, "[%v]",
                 policy_secret(a, arena_printf(a, "kubernetes://" STR_FMT, STR_ARG(credential)))));
    else if (cert.n)
        value_put(a, common, STR("tls_certificates"),
                  tree(a, "[{certificate_chain: %v, private_key: %v}]", file_of(a, cert),
                       file_of(a, value_text(tls, "privateKey"))));
}

static struct value socket_of(struct arena *a, struct value common, struct str sni, bool auto_sni)
{
    (void)auto_sni;
    return tree_extension(
        a, "envoy.transport_sockets.tls", TLS_TYPES "UpstreamTlsContext",
        tree(a, "{common_tls_context: %v, sni: %s}", common, sni.n ? sni : (struct str){ 0 }));
}

static struct value mutual_socket(struct arena *a, const struct mesh_service *s,
                                  const struct mesh_port *port, struct str subset,
                                  const struct value *tls)
{
    const struct value *sans = value_get(tls, STR("subjectAltNames"));
    struct str sni = value_text(tls, "sni");
    struct value common =
        tree(a,
             "{alpn_protocols: ['istio'], tls_certificate_sds_secret_configs: [%v], "
             "combined_validation_context: {default_validation_context: "
             "{match_typed_subject_alt_names: %v}, validation_context_sds_secret_config: %v}}",
             policy_secret(a, STR("default")), alt_names(a, sans ? sans : s->sans),
             policy_secret(a, STR("ROOTCA")));
    if (!sni.n)
        sni = arena_printf(a, "outbound_.%d_." STR_FMT "_." STR_FMT, port->number, STR_ARG(subset),
                           STR_ARG(s->host));
    return socket_of(a, common, sni, false);
}

struct value policy_tls(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                        const struct mesh_service *s, const struct mesh_port *port,
                        struct str subset, const struct value *tls)
{
    struct str mode = value_text(tls, "mode");
    (void)w;
    (void)p;
    if (!mode.n || str_eq(mode, STR("DISABLE")))
        return value_null();
    if (str_eq(mode, STR("ISTIO_MUTUAL")))
        return mutual_socket(a, s, port, subset, tls);
    const struct value *sans = value_get(tls, STR("subjectAltNames"));
    struct value common = value_object();
    if (!value_is_true(value_get(tls, STR("insecureSkipVerify"))))
        apply_trust(a, tls, tree_has(sans) ? sans : s->sans, &common);
    if (str_eq(mode, STR("MUTUAL")))
        apply_own(a, tls, &common);
    if (protocol_is_http2(port->protocol))
        value_put(a, &common, STR("alpn_protocols"), tree(a, "['h2']"));
    return socket_of(a, common, value_text(tls, "sni"), true);
}

/* Without a name of its own the server is told, and checked against, the host that was asked for.
 */
static void apply_auto_sni(struct arena *a, const struct value *tls, struct value *cluster)
{
    struct str mode = value_text(tls, "mode");
    bool is_plain_tls = str_eq(mode, STR("SIMPLE")) || str_eq(mode, STR("MUTUAL"));
    if (!is_plain_tls || value_text(tls, "sni").n)
        return;
    bool validates = !tree_has(value_get(tls, STR("subjectAltNames"))) &&
                     !value_is_true(value_get(tls, STR("insecureSkipVerify")));
    value_put(a, protocol_options(a, cluster), STR("upstream_http_protocol_options"),
              tree(a, "{auto_sni: true, auto_san_validation: %b}", validates));
}

static void apply_http_version(struct arena *a, const struct mesh_port *port,
                               const struct value *policy, struct value *cluster)
{
    struct str upgrade = value_str(value_dig(policy, "connectionPool", "http", "h2UpgradePolicy"));
    const struct value *streams =
        value_dig(policy, "connectionPool", "http", "maxConcurrentStreams");
    if (protocol_is_http2(port->protocol) ||
        (protocol_is_http(port->protocol) && str_eq(upgrade, STR("UPGRADE"))))
        value_put(a, protocol_options(a, cluster), STR("explicit_http_config"),
                  tree(a, "{http2_protocol_options: {max_concurrent_streams: %v}}",
                       streams ? tree_copy(streams) : value_int(1073741824)));
    else if (port->protocol == PROTOCOL_AUTO)
        value_put(a, protocol_options(a, cluster), STR("use_downstream_protocol_config"),
                  tree(a, "{http_protocol_options: {}, http2_protocol_options: {}}"));
    else if (value_get(cluster, STR("typed_extension_protocol_options")))
        value_put(a, protocol_options(a, cluster), STR("explicit_http_config"),
                  tree(a, "{http_protocol_options: {}}"));
}

/* Endpoints with a proxy are spoken to by mutual TLS, others as they are. Only for a proxy that has
 * an identity: one without would wait for its secrets for ever. */
static void apply_auto_mutual(struct arena *a, const struct mesh_service *s,
                              const struct mesh_port *port, struct str subset,
                              struct value *cluster)
{
    struct value none = value_object();
    value_put(a, cluster, STR("transport_socket_matches"),
              tree(a,
                   "[{name: tlsMode-istio, match: {tlsMode: istio}, transport_socket: %v}, "
                   "{name: tlsMode-disabled, match: {}, transport_socket: %v}]",
                   mutual_socket(a, s, port, subset, &none),
                   tree_extension(a, "envoy.transport_sockets.raw_buffer",
                                  "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer",
                                  value_object())));
}

void policy_apply(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                  const struct mesh_service *s, const struct mesh_port *port, struct str subset,
                  const struct value *policy, struct value *cluster)
{
    const struct value *tls = value_get(policy, STR("tls"));
    apply_pool(a, value_get(policy, STR("connectionPool")), cluster);
    apply_outlier(a, value_get(policy, STR("outlierDetection")), cluster);
    apply_balancer(a, value_get(policy, STR("loadBalancer")), cluster);
    if (tls) {
        tree_put(a, cluster, "transport_socket", policy_tls(a, w, p, s, port, subset, tls));
        apply_auto_sni(a, tls, cluster);
    } else if (w->settings.auto_mtls && p->account.n && !s->is_external &&
               str_eq(value_text(cluster, "type"), STR("EDS"))) {
        apply_auto_mutual(a, s, port, subset, cluster);
    }
    apply_http_version(a, port, policy, cluster);
}
