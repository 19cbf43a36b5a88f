/* Parts of listeners: HTTP, TCP and TLS. */
#include "mesh/cluster/cluster.h"
#include "mesh/cluster/policy.h"
#include "mesh/listener/listener_internal.h"
#include "mesh/model/tree.h"
#include "mesh/security/security.h"
#include "base/banned.h"

#define HTTP_FILTERS "envoy.extensions.filters.http."

static void push_filter(struct arena *a, struct value *filters, const char *name, const char *type)
{
    value_put_item(a, filters, tree_extension(a, name, type, value_object()));
}

static struct value http_filters(const struct listener_view *v, enum listener_class class,
                                 enum mesh_protocol protocol)
{
    struct arena *a = v->arena;
    struct value out = value_array();
    if (class != LISTENER_OUTBOUND)
        security_http_filters(a, v->realm, v->proxy, &out);
    if (protocol == PROTOCOL_GRPC_WEB)
        push_filter(a, &out, "envoy.filters.http.grpc_web", HTTP_FILTERS "grpc_web.v3.GrpcWeb");
    push_filter(a, &out, "envoy.filters.http.fault", HTTP_FILTERS "fault.v3.HTTPFault");
    push_filter(a, &out, "envoy.filters.http.cors", HTTP_FILTERS "cors.v3.Cors");
    push_filter(a, &out, "envoy.filters.http.router", HTTP_FILTERS "router.v3.Router");
    return out;
}

static struct value access_log(const struct listener_view *v)
{
    struct str path = v->realm->settings.access_log_file;
    if (!path.n)
        return value_null();
    struct str format = v->realm->settings.access_log_format;
    struct value how = format.n
                           ? tree(v->arena, "{text_format_source: {inline_string: %s}}", format)
                           : value_null();
    return tree(v->arena, "[%v]",
                tree_extension(v->arena, "envoy.access_loggers.file",
                               "envoy.extensions.access_loggers.file.v3.FileAccessLog",
                               tree(v->arena, "{path: %s, log_format: %v}", path, how)));
}

struct value listener__http(const struct listener_view *v, enum listener_class class,
                            struct str stat_prefix, struct str rds, struct value routes,
                            enum mesh_protocol protocol)
{
    struct arena *a = v->arena;
    struct value hcm = tree(
        a,
        "{stat_prefix: %s, http_filters: %v, server_name: istio-envoy, normalize_path: true, "
        "use_remote_address: %b, stream_idle_timeout: '0s', upgrade_configs: [{upgrade_type: "
        "websocket}], access_log: %v}",
        stat_prefix, http_filters(v, class, protocol), class == LISTENER_GATEWAY, access_log(v));
    if (rds.n)
        value_put(a, &hcm, STR("rds"),
                  tree(a,
                       "{route_config_name: %s, config_source: {ads: {}, resource_api_version: "
                       "V3, initial_fetch_timeout: '0s'}}",
                       rds));
    else
        value_put(a, &hcm, STR("route_config"), routes);
    if (class == LISTENER_OUTBOUND)
        value_put(a, &hcm, STR("skip_xff_append"), value_bool(true));
    if (class == LISTENER_OUTBOUND && str_eq(rds, STR("http_proxy")))
        value_put(a, &hcm, STR("http_protocol_options"), tree(a, "{allow_absolute_url: true}"));
    if (class != LISTENER_OUTBOUND) {
        const char *details = class == LISTENER_GATEWAY ? "SANITIZE_SET" : "APPEND_FORWARD";
        value_put(a, &hcm, STR("forward_client_cert_details"), value_string(str_of(details)));
        value_put(a, &hcm, STR("set_current_client_cert_details"),
                  class == LISTENER_GATEWAY
                      ? tree(a, "{subject: true, cert: true, dns: true, uri: true}")
                      : tree(a, "{subject: true, dns: true, uri: true}"));
    }
    return tree_extension(a, "envoy.filters.network.http_connection_manager",
                          "envoy.extensions.filters.network.http_connection_manager.v3."
                          "HttpConnectionManager",
                          hcm);
}

struct value listener__tcp_cluster(struct arena *a, struct str cluster)
{
    return tree_extension(a, "envoy.filters.network.tcp_proxy",
                          "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
                          tree(a, "{stat_prefix: %s, cluster: %s}", cluster, cluster));
}

static struct str destination_cluster(const struct listener_view *v, const struct value *dest,
                                      int port)
{
    const struct value *to = value_get(dest, STR("destination"));
    struct str host = value_text(to, "host");
    const struct mesh_service *s = scope_service(v->scope, host);
    int64_t number = 0;
    if (!value_to_int(value_dig(to, "port", "number"), &number) || number <= 0)
        number = s && s->n_ports == 1 ? s->ports[0].number : port;
    return cluster_name(v->arena, "outbound", (int)number, value_text(to, "subset"), host);
}

struct value listener__tcp_route(const struct listener_view *v, const struct value *dests, int port)
{
    struct arena *a = v->arena;
    struct value filters = value_array(), clusters = value_array();
    if (value_is(dests, VALUE_ARRAY) && dests->n == 1) {
        value_put_item(a, &filters,
                       listener__tcp_cluster(a, destination_cluster(v, value_at(dests, 0), port)));
        return filters;
    }
    value_each_item (d, dests) {
        int64_t weight = 0;
        (void)value_to_int(value_get(d, STR("weight")), &weight);
        if (weight > 0)
            value_put_item(a, &clusters,
                           tree(a, "{name: %s, weight: %v}", destination_cluster(v, d, port),
                                value_int(weight)));
    }
    if (!clusters.n)
        return filters;
    struct str prefix = value_text(value_at(&clusters, 0), "name");
    value_put_item(a, &filters,
                   tree_extension(a, "envoy.filters.network.tcp_proxy",
                                  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
                                  tree(a, "{stat_prefix: %s, weighted_clusters: {clusters: %v}}",
                                       prefix, clusters)));
    return filters;
}

struct value listener__chain(struct arena *a, struct value names, struct value filters,
                             struct value socket)
{
    bool any = names.type == VALUE_NULL;
    value_each_item (it, &names)
        any = any || str_eq(value_str(it), STR("*"));
    return tree(a, "{filter_chain_match: %v, filters: %v, transport_socket: %v}",
                any ? value_null() : tree(a, "{server_names: %v}", names), filters, socket);
}

struct value listener__tls_inspector(struct arena *a)
{
    return tree_extension(a, "envoy.filters.listener.tls_inspector",
                          "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector",
                          value_object());
}

struct value listener__http_inspector(struct arena *a)
{
    return tree_extension(a, "envoy.filters.listener.http_inspector",
                          "envoy.extensions.filters.listener.http_inspector.v3.HttpInspector",
                          value_object());
}

static struct value client_names(struct arena *a, const struct value *tls)
{
    struct value out = value_array();
    static const char *const types[] = { "DNS", "URI" };
    value_each_item (it, value_get(tls, STR("subjectAltNames"))) {
        for (size_t i = 0; i < 2; i++)
            value_put_item(
                a, &out, tree(a, "{san_type: %t, matcher: {exact: %s}}", types[i], value_str(it)));
    }
    return out.n ? out : value_null();
}

static struct value file_of(struct arena *a, const struct value *tls, const char *key)
{
    struct str path = value_str(value_get(tls, str_of(key)));
    return path.n ? tree(a, "{filename: %s}", path) : value_null();
}

static struct str credential_name(struct arena *a, struct str name)
{
    return memmem(name.p, name.n, "://", 3)
               ? name
               : arena_printf(a, "kubernetes://" STR_FMT, STR_ARG(name));
}

/* The certificates of a server that has a credential, and whom it believes. */
static void from_credential(struct arena *a, const struct value *tls, struct str credential,
                            bool validates, struct value *common)
{
    const struct value *names = value_get(tls, STR("credentialNames"));
    struct value secrets = value_array();
    value_each_item (it, names)
        value_put_item(a, &secrets, policy_secret(a, credential_name(a, value_str(it))));
    if (!secrets.n)
        value_put_item(a, &secrets, policy_secret(a, credential_name(a, credential)));
    value_put(a, common, STR("tls_certificate_sds_secret_configs"), secrets);
    if (!validates)
        return;
    struct str given = value_text(tls, "caCertCredentialName");
    struct str ca =
        given.n ? credential_name(a, given)
                : arena_printf(a, STR_FMT "-cacert", STR_ARG(credential_name(a, credential)));
    value_put(a, common, STR("combined_validation_context"),
              tree(a,
                   "{default_validation_context: {match_typed_subject_alt_names: %v}, "
                   "validation_context_sds_secret_config: %v}",
                   client_names(a, tls), policy_secret(a, ca)));
}

static void from_files(struct arena *a, const struct value *tls, bool validates,
                       struct value *common)
{
    value_put(a, common, STR("tls_certificates"),
              tree(a, "[{certificate_chain: %v, private_key: %v}]",
                   file_of(a, tls, "serverCertificate"), file_of(a, tls, "privateKey")));
    if (validates)
        value_put(a, common, STR("validation_context"),
                  tree(a, "{trusted_ca: %v, match_typed_subject_alt_names: %v}",
                       file_of(a, tls, "caCertificates"), client_names(a, tls)));
}

static void from_mesh(struct arena *a, const struct value *tls, struct value *common)
{
    value_put(a, common, STR("tls_certificate_sds_secret_configs"),
              tree(a, "[%v]", policy_secret(a, STR("default"))));
    value_put(a, common, STR("combined_validation_context"),
              tree(a,
                   "{default_validation_context: {match_typed_subject_alt_names: %v}, "
                   "validation_context_sds_secret_config: %v}",
                   client_names(a, tls), policy_secret(a, STR("ROOTCA"))));
}

static struct value versions_of(struct arena *a, const struct value *tls)
{
    struct str low = value_text(tls, "minProtocolVersion");
    struct str high = value_text(tls, "maxProtocolVersion");
    struct value out =
        tree(a,
             "{tls_minimum_protocol_version: %v, tls_maximum_protocol_version: "
             "%v, cipher_suites: %v}",
             low.n ? value_string(low) : value_null(), high.n ? value_string(high) : value_null(),
             tree_copy(value_get(tls, STR("cipherSuites"))));
    /* TLSV1_2 there, TLSv1_2 here. */
    static const char *const keys[] = { "tls_minimum_protocol_version",
                                        "tls_maximum_protocol_version" };
    for (size_t i = 0; i < 2; i++) {
        struct str s = value_str(value_get(&out, str_of(keys[i])));
        if (str_starts(s, STR("TLSV")))
            value_put(a, &out, str_of(keys[i]),
                      value_string(arena_printf(a, "TLSv" STR_FMT, STR_ARG(str_skip(s, 4)))));
    }
    return out.n ? out : value_null();
}

struct value listener__server_tls(struct arena *a, const struct value *tls, bool is_http)
{
    struct str mode = value_text(tls, "mode"), credential = value_text(tls, "credentialName");
    bool is_mesh = str_eq(mode, STR("ISTIO_MUTUAL"));
    bool requires = str_eq(mode, STR("MUTUAL")) || is_mesh;
    bool validates = requires || str_eq(mode, STR("OPTIONAL_MUTUAL"));
    (void)is_http;
    struct value common =
        tree(a, "{alpn_protocols: ['h2', 'http/1.1'], tls_params: %v}", versions_of(a, tls));
    if (is_mesh)
        from_mesh(a, tls, &common);
    else if (credential.n || tree_has(value_get(tls, STR("credentialNames"))))
        from_credential(a, tls, credential, validates, &common);
    else
        from_files(a, tls, validates, &common);
    return tree_extension(
        a, "envoy.transport_sockets.tls",
        "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
        tree(a, "{common_tls_context: %v, require_client_certificate: %b}", common, requires));
}
