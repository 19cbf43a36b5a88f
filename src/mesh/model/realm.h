/* realm.h - everything that configures the mesh, as one snapshot.
 *
 * A realm is filled with objects, sealed, and read from then on: services with their endpoints,
 * virtual services whose names are whole and whose delegates are merged, destination rules that
 * belong together as one. What is made of it for a proxy is a pure function of the realm and the
 * proxy. One thread at a time; all of it lies in one arena. */
#pragma once

#include "base/map.h"
#include "base/value.h"
#include "mesh/model/protocol.h"

enum mesh_kind {
    MESH_NAMESPACE,
    MESH_SERVICE,
    MESH_ENDPOINT_SLICE,
    MESH_POD,
    MESH_SECRET,
    MESH_CONFIG_MAP,
    MESH_SERVICE_ENTRY,
    MESH_WORKLOAD_ENTRY,
    MESH_VIRTUAL_SERVICE,
    MESH_DESTINATION_RULE,
    MESH_GATEWAY,
    MESH_SIDECAR,
    MESH_ENVOY_FILTER,
    MESH_PEER_AUTHENTICATION,
    MESH_REQUEST_AUTHENTICATION,
    MESH_AUTHORIZATION_POLICY,
    MESH_TELEMETRY,
    MESH_API_GATEWAY_CLASS,
    MESH_API_GATEWAY,
    MESH_API_HTTP_ROUTE,
    MESH_API_GRPC_ROUTE,
    MESH_API_TCP_ROUTE,
    MESH_API_TLS_ROUTE,
    MESH_API_REFERENCE_GRANT,
    MESH_KINDS,
};

struct mesh_object {
    struct str ns, name;
    struct str created; /* RFC 3339, so it sorts as text */
    const struct value *obj, *spec, *labels, *annotations;
    bool is_api;        /* made of an object of the Gateway API, and acts as that says */
    struct str service; /* of such a Gateway: "NAMESPACE/NAME" of the Service in front of it */
};

struct mesh_objects {
    struct mesh_object **items; /* by creation, then by name and namespace */
    size_t n, cap;
};

struct mesh_endpoint {
    struct str address;
    int port;
    int weight;
    const struct value *labels;
    struct str locality, account, ns;
    bool is_mutual; /* a proxy of the mesh takes its connections */
    bool is_ready;
};

struct mesh_port {
    struct str name;
    int number, target; /* target 0: by its name, or the number */
    struct str target_name;
    enum mesh_protocol protocol;
    struct mesh_endpoint *endpoints;
    size_t n_endpoints, cap_endpoints;
};

enum mesh_resolution {
    RESOLUTION_STATIC,
    RESOLUTION_DNS,
    RESOLUTION_DNS_ROUND_ROBIN,
    RESOLUTION_NONE,  /* to where the client wanted to go */
    RESOLUTION_ALIAS, /* another name: `external_name` */
};

struct mesh_service {
    struct str host, ns, name;
    struct str created;
    struct str external_name;
    const struct value *export_to; /* of a ServiceEntry */
    struct str export_note;        /* of a Service: an annotation */
    const struct value *selector, *labels, *addresses, *sans;
    struct mesh_port *ports;
    size_t n_ports;
    enum mesh_resolution resolution;
    struct str vip; /* empty: none */
    bool is_external, is_kubernetes;
    const struct mesh_object *of;
};

struct mesh_services {
    struct mesh_service **items;
    size_t n, cap;
};

/* Rules of one namespace for one host, merged. */
struct mesh_rule {
    struct str host, ns, name;
    const struct mesh_object *of; /* the first one */
    const struct value *export_to, *selector;
    struct value policy; /* trafficPolicy, or null */
    struct value subsets;
};

struct mesh_rules {
    struct mesh_rule **items;
    size_t n, cap;
};

struct mesh_settings {
    struct str root_ns, domain, trust_domain;
    int http_proxy_port; /* 0: none */
    bool auto_mtls, registry_only;
    struct str access_log_file, access_log_format;
    struct str connect_timeout;
    struct str retry_json;
    const struct value *mesh; /* the whole of it */
};

struct realm {
    struct arena *arena;
    struct mesh_settings settings;
    struct mesh_objects of[MESH_KINDS];
    struct mesh_services services; /* by creation */
    struct mesh_rules rules;
    struct map hosts;     /* host -> struct mesh_services */
    struct map labels_of; /* namespace -> its labels */
    struct map pods;      /* "NS/NAME" -> object */
    struct map owners;    /* address -> a number for the services that it is an endpoint of */
    uint64_t number;
};

struct realm *realm_new(struct arena *a, uint64_t number);
void realm_done(struct realm *w); /* maps; the arena is the caller's */
/* The tree is the arena's. */
void realm_add(struct realm *w, enum mesh_kind kind, const struct value *obj);
/* The same of an object that was made of others. */
struct mesh_object *realm_add_made(struct realm *w, enum mesh_kind kind, const struct value *obj);
/* Sorts, reads mesh settings, makes services. What the Gateway API says is added between this and
 * realm_finish(). */
void realm_seal(struct realm *w);
/* Virtual services and destination rules. */
void realm_finish(struct realm *w);

/* Whether what an object of `ns` exports ("." "*" "~" or names; nothing: all) is seen from `from`.
 */
bool realm_exports(const struct value *export_to, struct str ns, struct str from);
bool realm_service_visible(const struct mesh_service *s, struct str from);
/* Whether the labels have all that the selector asks for. */
bool realm_selects(const struct value *selector, const struct value *labels);
const struct mesh_services *realm_services_of(const struct realm *w, struct str host);
/* The one that a namespace means by this name: its own, else the oldest that it sees. */
const struct mesh_service *realm_service_for(const struct realm *w, struct str host, struct str ns);
const struct mesh_port *service_port(const struct mesh_service *s, int number);
const struct mesh_object *realm_find(const struct realm *w, enum mesh_kind kind, struct str ns,
                                     struct str name);
/* The rule that clients of `ns` follow for the service; NULL: none. */
const struct mesh_rule *realm_rule_for(const struct realm *w, const struct mesh_service *s,
                                       struct str ns, const struct value *client_labels);
/* A text of metadata.annotations. */
struct str realm_note(const struct mesh_object *o, const char *name);
