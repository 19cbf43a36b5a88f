/* Ingresses before networking.k8s.io/v1, and EndpointSlices before discovery.k8s.io/v1. */
#include "api/convert/convert_internal.h"
#include "api/keys.h"
#include "base/banned.h"

/* ---- Backends of an Ingress ---- */

/* A port that is text is a name, even if it is empty or looks like a number. */
static bool names_service(struct str name, const struct value *port)
{
    int64_t number = 0;
    (void)value_to_int(port, &number);
    return name.n || number || value_is(port, VALUE_STRING);
}

static void backend_in(struct arena *a, struct value *backend)
{
    struct str name = value_text(backend, "serviceName");
    const struct value *port = value_get(backend, STR("servicePort"));
    if (!names_service(name, port))
        return;
    struct value service = value_object(), ref = value_object();
    if (value_is(port, VALUE_STRING))
        value_put_new(a, &ref, STR("name"), value_borrow(port));
    else if (value_is(port, VALUE_INT))
        value_put_new(a, &ref, STR("number"), value_borrow(port));
    value_put_new(a, &service, STR("name"), value_string(name));
    value_put_new(a, &service, STR("port"), ref);
    value_put(a, backend, STR("service"), service);
}

static void backend_out(struct arena *a, struct value *backend)
{
    const struct value *service = value_get(backend, STR("service"));
    if (!value_is(service, VALUE_OBJECT))
        return;
    const struct value *port = value_get(service, STR("port")),
                       *name = value_get(port, STR("name"));
    convert__copy(a, backend, STR("serviceName"), service, STR("name"));
    if (value_str(name).n)
        value_put(a, backend, STR("servicePort"), value_borrow(name));
    else
        convert__copy(a, backend, STR("servicePort"), port, STR("number"));
}

/* ---- All backends of an Ingress ---- */

static void path_in(struct arena *a, struct value *path)
{
    struct value *backend = convert__edit(a, path, STR("backend"));
    if (backend)
        backend_in(a, backend);
}

static void path_out(struct arena *a, struct value *path)
{
    struct value *backend = convert__edit(a, path, STR("backend"));
    if (backend)
        backend_out(a, backend);
}

static void rule_in(struct arena *a, struct value *rule)
{
    convert__each(a, convert__edit(a, rule, STR("http")), STR("paths"), path_in);
}

static void rule_out(struct arena *a, struct value *rule)
{
    convert__each(a, convert__edit(a, rule, STR("http")), STR("paths"), path_out);
}

int convert__ingress_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *spec = convert__edit(a, obj, STR("spec"));
    if (!spec)
        return 0;
    convert__rename(a, spec, STR("backend"), STR("defaultBackend"));
    struct value *backend = convert__edit(a, spec, STR("defaultBackend"));
    if (backend)
        backend_in(a, backend);
    convert__each(a, spec, STR("rules"), rule_in);
    return 0;
}

int convert__ingress_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *spec = convert__edit(a, obj, STR("spec"));
    if (!spec)
        return 0;
    convert__rename(a, spec, STR("defaultBackend"), STR("backend"));
    struct value *backend = convert__edit(a, spec, STR("backend"));
    if (backend)
        backend_out(a, backend);
    convert__each(a, spec, STR("rules"), rule_out);
    return 0;
}

/* ---- Endpoints: a map of topology once, fields for most of it now ---- */

#define ZONE     STR(KEY_TOPOLOGY_ZONE)
#define HOSTNAME STR(KEY_HOSTNAME)

/* A host name that differs from the node's stays in the map. */
static void endpoint_in(struct arena *a, struct value *endpoint)
{
    convert__rename(a, endpoint, STR("topology"), STR("deprecatedTopology"));
    struct value *map = convert__edit(a, endpoint, STR("deprecatedTopology"));
    if (!map)
        return;
    struct value topology = value_share(map);
    const struct value *host = value_get(&topology, HOSTNAME),
                       *node = value_get(endpoint, STR("nodeName"));
    if (host && value_is(node, VALUE_STRING) && value_eq(host, node))
        value_drop(a, &topology, HOSTNAME);
    convert__copy(a, endpoint, STR("zone"), &topology, ZONE);
    value_drop(a, &topology, ZONE);
    value_put(a, endpoint, STR("deprecatedTopology"), topology);
}

static void endpoint_out(struct arena *a, struct value *endpoint)
{
    struct value topology = value_object();
    const struct value *old = convert__given(value_get(endpoint, STR("deprecatedTopology")));
    if (old)
        topology = value_borrow(old);
    convert__copy(a, &topology, ZONE, endpoint, STR("zone"));
    if (!value_str(value_get(&topology, HOSTNAME)).n)
        convert__copy(a, &topology, HOSTNAME, endpoint, STR("nodeName"));
    value_put(a, endpoint, STR("topology"), topology);
}

int convert__endpoint_slice_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert__each(a, obj, STR("endpoints"), endpoint_in);
    return 0;
}

int convert__endpoint_slice_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert__each(a, obj, STR("endpoints"), endpoint_out);
    return 0;
}
