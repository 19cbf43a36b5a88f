#include "mesh/mesh.h"

#include <stdatomic.h>

#include "base/idiom.h"
#include "base/log.h"
#include "client/bridge.h"
#include "mesh/gateway_api/gateway_api.h"
#include "mesh/pages.h"
#include "mesh/statuses.h"
#include "mesh/xds/server.h"
#include <sampan/informer.h>
#include "base/banned.h"

#define BIT(t)       (1u << (t))
#define ALL_TYPES    (BIT(XDS_TYPES) - 1)
#define ENDPOINTS    (BIT(XDS_ENDPOINT))
#define ISTIO        "networking.istio.io"
#define GATEWAY_API  "gateway.networking.k8s.io"
#define AT(g, v, pl) SPN_AT(g, v, pl, "", "")

/* Where a kind is found, and which types of resources it can change. */
static const struct source {
    enum mesh_kind kind;
    struct spn_target what;
    unsigned mask;
} sources[] = {
    { MESH_NAMESPACE, AT("", "v1", "namespaces"), ALL_TYPES },
    { MESH_SERVICE, AT("", "v1", "services"), ALL_TYPES },
    { MESH_ENDPOINT_SLICE, AT("discovery.k8s.io", "v1", "endpointslices"), ENDPOINTS },
    { MESH_POD, AT("", "v1", "pods"), ENDPOINTS },
    { MESH_SECRET, AT("", "v1", "secrets"), ALL_TYPES },
    { MESH_CONFIG_MAP, AT("", "v1", "configmaps"), ALL_TYPES },
    { MESH_SERVICE_ENTRY, AT(ISTIO, "v1", "serviceentries"), ALL_TYPES },
    { MESH_WORKLOAD_ENTRY, AT(ISTIO, "v1", "workloadentries"), ALL_TYPES },
    { MESH_VIRTUAL_SERVICE, AT(ISTIO, "v1", "virtualservices"), ALL_TYPES },
    { MESH_DESTINATION_RULE, AT(ISTIO, "v1", "destinationrules"), ALL_TYPES },
    { MESH_GATEWAY, AT(ISTIO, "v1", "gateways"), ALL_TYPES },
    { MESH_SIDECAR, AT(ISTIO, "v1", "sidecars"), ALL_TYPES },
    { MESH_ENVOY_FILTER, AT(ISTIO, "v1alpha3", "envoyfilters"), ALL_TYPES },
    { MESH_PEER_AUTHENTICATION, AT("security.istio.io", "v1", "peerauthentications"), ALL_TYPES },
    { MESH_REQUEST_AUTHENTICATION, AT("security.istio.io", "v1", "requestauthentications"),
      ALL_TYPES },
    { MESH_AUTHORIZATION_POLICY, AT("security.istio.io", "v1", "authorizationpolicies"),
      ALL_TYPES },
    { MESH_API_GATEWAY_CLASS, AT(GATEWAY_API, "v1", "gatewayclasses"), ALL_TYPES },
    { MESH_API_GATEWAY, AT(GATEWAY_API, "v1", "gateways"), ALL_TYPES },
    { MESH_API_HTTP_ROUTE, AT(GATEWAY_API, "v1", "httproutes"), ALL_TYPES },
    { MESH_API_GRPC_ROUTE, AT(GATEWAY_API, "v1", "grpcroutes"), ALL_TYPES },
    { MESH_API_TCP_ROUTE, AT(GATEWAY_API, "v1alpha2", "tcproutes"), ALL_TYPES },
    { MESH_API_TLS_ROUTE, AT(GATEWAY_API, "v1", "tlsroutes"), ALL_TYPES },
    { MESH_API_REFERENCE_GRANT, AT(GATEWAY_API, "v1beta1", "referencegrants"), ALL_TYPES },
};
enum { SOURCES = ARRAY_LEN(sources) };

struct follower {
    struct mesh *mesh;
    const struct source *source;
    struct spn_cache *cache;
};

struct mesh {
    const struct mesh_options *opt;
    struct follower followers[SOURCES];
    struct xds_server *xds;
    struct statuses *statuses;
    atomic_uint changed; /* types of resources, since the last realm */
    atomic_bool is_posted;
    struct loop_msg wake;
    struct loop_timer timer;
    int64_t first_ns; /* when the first change of the next realm came; 0: none */
    uint64_t number;
};

/* ---- On the loop ---- */

static void add_objects(struct snapshot *snap, const struct follower *f)
{
    struct spn_objects all;
    spn_cache_list(f->cache, SPN_TEXT(""), false, &all);
    for (size_t i = 0; i < all.n; i++)
        realm_add(snap->realm, f->source->kind,
                  value_in(spn_object_value(all.items[i], arena_out(&snap->arena))));
    spn_objects_done(&all);
}

static struct snapshot *build(struct mesh *m)
{
    struct snapshot *snap = snapshot_new(++m->number);
    snap->realm->settings.root_ns = m->opt->root_ns;
    snap->realm->settings.domain = m->opt->domain;
    for (size_t i = 0; i < SOURCES; i++)
        add_objects(snap, &m->followers[i]);
    struct api_statuses statuses;
    realm_seal(snap->realm);
    gateway_api_convert(snap->realm, &statuses);
    realm_finish(snap->realm);
    statuses_post(m->statuses, snap->realm, &statuses);
    return snap;
}

static void on_timer(struct loop_timer *t)
{
    struct mesh *m = container_of(t, struct mesh, timer);
    m->first_ns = 0;
    unsigned mask = atomic_exchange(&m->changed, 0);
    xds_server_set(m->xds, build(m), mask);
}

/* Waits until nothing has changed for a moment, but not for ever. */
static void on_wake(struct loop *l, struct loop_msg *msg)
{
    struct mesh *m = container_of(msg, struct mesh, wake);
    int64_t now = loop_now_ns(l);
    int64_t quiet = (m->opt->quiet_ms ? m->opt->quiet_ms : 10) * NS_PER_MS;
    int64_t most = (m->opt->most_ms ? m->opt->most_ms : 100) * NS_PER_MS;
    atomic_store(&m->is_posted, false);
    if (!m->first_ns)
        m->first_ns = now;
    int64_t at = now + quiet, last = m->first_ns + most;
    loop_timer_set(l, &m->timer, at < last ? at : last);
}

/* ---- On threads of the informers ---- */

static void changed(struct follower *f)
{
    struct mesh *m = f->mesh;
    atomic_fetch_or(&m->changed, f->source->mask);
    if (!atomic_exchange(&m->is_posted, true))
        loop_post(xds_server_loop(m->xds), &m->wake);
}

static void on_add(void *arg, const struct spn_object *o, bool is_initial)
{
    (void)o;
    (void)is_initial;
    changed(arg);
}

static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    if (!spn_text_eq(spn_object_version(old_o), spn_object_version(new_o)))
        changed(arg);
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    (void)o;
    (void)is_last_known;
    changed(arg);
}

static int follow(struct mesh *m, struct spn_informers *all, struct spn_stop *stop,
                  struct spn_err *err)
{
    struct spn_informer *informers[SOURCES];
    for (size_t i = 0; i < SOURCES; i++) {
        struct spn_informer_options opt = { .what = sources[i].what };
        informers[i] = spn_informers_get(all, &opt);
        m->followers[i] = (struct follower){ m, &sources[i], spn_informer_cache(informers[i]) };
    }
    int r = spn_informers_start(all, err);
    if (r < 0 || !spn_informers_wait(all, stop, -1))
        return r;
    for (size_t i = 0; i < SOURCES; i++)
        spn_informer_handle(
            informers[i], &(struct spn_handler){ &m->followers[i], on_add, on_update, on_delete });
    changed(&m->followers[0]);
    atomic_fetch_or(&m->changed, ALL_TYPES);
    log_info("the mesh is served", LOG_STR("address", xds_server_address(m->xds)));
    (void)spn_stop_wait(stop, -1);
    return 0;
}

int mesh_run(const struct mesh_options *opt, struct spn_client *client, struct spn_stop *stop,
             struct err *err)
{
    struct mesh m = { .opt = opt, .wake.run = on_wake, .timer.on_fire = on_timer };
    struct xds_options xds = { .listen = opt->listen,
                               .listen_tls = opt->listen_tls,
                               .tls = opt->tls,
                               .trusts_plain = opt->trusts_plain,
                               .arg = &m,
                               .on_request = pages_answer };
    int r = xds_server_start(&xds, &m.xds, err);
    if (r < 0)
        return r;
    r = statuses_start(client, &m.statuses, err);
    if (r < 0) {
        m.xds = xds_server_stop(m.xds);
        return r;
    }
    struct spn_informers *all = spn_informers_new(client);
    struct spn_err why = { 0 };
    r = follow(&m, all, stop, &why);
    if (r < 0)
        (void)err_set(err, ERR_UNAVAILABLE, "%s", why.message);
    spn_informers_free(all);
    m.xds = xds_server_stop(m.xds);
    m.statuses = statuses_stop(m.statuses);
    return r;
}
