/* metrics_install.c - the Service and the APIService by which the API server finds its way here. */
#include "base/base64.h"
#include "client/bridge.h"
#include "metrics/metrics_internal.h"
#include "base/banned.h"

enum { CALL_MS = 30000 };

static void put(struct arena *a, struct value *obj, const char *key, struct str text)
{
    value_put(a, obj, str_of(key), value_string(text));
}

static struct value object_of(struct arena *a, const char *version, const char *kind,
                              const char *ns, const char *name)
{
    struct value obj = value_object(), meta = value_object();
    put(a, &meta, "name", str_of(name));
    if (ns)
        put(a, &meta, "namespace", str_of(ns));
    put(a, &obj, "apiVersion", str_of(version));
    put(a, &obj, "kind", str_of(kind));
    value_put(a, &obj, STR("metadata"), meta);
    return obj;
}

static int apply(struct metrics_server *m, const struct spn_target *at, const struct value *obj,
                 struct err *err)
{
    const struct spn_call how = {
        .stop = m->stop, .timeout_ms = CALL_MS, .manager = "sampan-metrics", .force = true
    };
    struct spn_err why = { 0 };
    if (spn_client_apply(m->client, at, value_out(obj), &how, arena_out(&m->arena), NULL, &why) < 0)
        return err_set(err, ERR_UNAVAILABLE, "%s", why.message);
    return 0;
}

/* A name that leads to the machine of the API server: the server is in the same process. */
static int make_service(struct metrics_server *m, struct err *err)
{
    struct arena *a = &m->arena;
    const struct spn_target at = SPN_AT("", "v1", "services", METRICS_NS, METRICS_SERVICE);
    struct value obj = object_of(a, "v1", "Service", METRICS_NS, METRICS_SERVICE);
    struct value spec = value_object();
    put(a, &spec, "type", STR("ExternalName"));
    put(a, &spec, "externalName", STR("localhost"));
    value_put(a, &obj, STR("spec"), spec);
    return apply(m, &at, &obj, err);
}

static int check_free(struct metrics_server *m, const struct spn_target *at, struct err *err)
{
    const struct spn_call how = { .stop = m->stop, .timeout_ms = CALL_MS };
    struct spn_err why = { 0 };
    struct spn_value *found;
    int r = spn_client_get(m->client, at, &how, arena_out(&m->arena), &found, &why);
    if (r == -SPN_NOT_FOUND)
        return 0;
    if (r < 0)
        return err_set(err, ERR_UNAVAILABLE, "%s", why.message);
    struct str name = value_str(value_dig(value_in(found), "spec", "service", "name"));
    if (str_eq(name, STR(METRICS_SERVICE)))
        return 0;
    return err_set(err, ERR_EXISTS, "Service " STR_FMT " serves metrics.k8s.io already",
                   STR_ARG(name));
}

int metrics__install(struct metrics_server *m, struct str ca_pem, unsigned port, struct err *err)
{
    struct arena *a = &m->arena;
    const struct spn_target at =
        SPN_AT("apiregistration.k8s.io", "v1", "apiservices", "", "v1beta1.metrics.k8s.io");
    struct value obj =
        object_of(a, "apiregistration.k8s.io/v1", "APIService", NULL, "v1beta1.metrics.k8s.io");
    struct value spec = value_object(), service = value_object();
    autobuf ca = { 0 };
    int r = check_free(m, &at, err);
    if (r < 0)
        return r;
    r = make_service(m, err);
    if (r < 0)
        return r;
    base64_encode(&ca, ca_pem);
    put(a, &service, "namespace", STR(METRICS_NS));
    put(a, &service, "name", STR(METRICS_SERVICE));
    value_put(a, &service, STR("port"), value_int(port));
    put(a, &spec, "group", STR("metrics.k8s.io"));
    put(a, &spec, "version", STR("v1beta1"));
    value_put(a, &spec, STR("groupPriorityMinimum"), value_int(100));
    value_put(a, &spec, STR("versionPriority"), value_int(100));
    value_put(a, &spec, STR("service"), service);
    put(a, &spec, "caBundle", arena_str(a, buf_str(&ca)));
    value_put(a, &obj, STR("spec"), spec);
    return apply(m, &at, &obj, err);
}
