#include "server/server.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/http.h"
#include "net/loop.h"
#include "server/advertise.h"
#include "server/backup.h"
#include "server/bootstrap.h"
#include "server/bootstrap_authentication.h"
#include "server/bootstrap_flow.h"
#include "server/bootstrap_policy.h"
#include "server/census.h"
#include "server/filter/filter.h"
#include "server/discovery/discovery.h"
#include "server/expire.h"
#include "server/flow/flow.h"
#include "server/guard/guard.h"
#include "server/health.h"
#include "server/verbs/list_counts.h"
#include "server/verbs/list_sizes.h"
#include "server/metrics.h"
#include "server/openid.h"
#include "server/discovery/openapi.h"
#include "server/http/reply.h"
#include "server/custom/custom.h"
#include "server/custom/custom_definition.h"
#include "server/http/tally.h"
#include "server/object/token.h"
#include "server/core/turns.h"
#include "server/version.h"
#include "server/verbs/dispatch.h"
#include "server/watch/watch.h"
#include "base/banned.h"

enum { WORKERS_MAX = 64, WORKERS_QUEUE = 4096, READERS_MAX = 32, FORMER_MAX = 1000 };

struct server {
    struct api api;
    struct http_server *http;
    struct expire *expire;
    struct advertise *advertise;
    struct census *census;
    pthread_t threads[API_LOOPS_MAX];
    size_t n_threads;
    struct arena arena; /* address */
    struct str address;
    bool ready;                          /* atomic */
    struct identity *former[FORMER_MAX]; /* those that were replaced: requests may still ask them */
    size_t n_former;

    struct loop_msg drain; /* posted to the first loop by server_stop() */
    pthread_mutex_t drained_lock;
    pthread_cond_t drained_cond;
    bool drained; /* guarded by drained_lock */
};

/* ---- Routes ---- */

static void serve_health(struct server *s, struct http_exchange *x, const char *endpoint,
                         struct str rest)
{
    const struct health h = {
        .store = s->api.store,
        .workers = s->api.workers,
        .secrecy = s->api.secrecy,
        .ready = &s->ready,
        .endpoint = endpoint,
    };
    health_serve(&h, x, rest);
}

static void serve_livez(struct server *s, struct http_exchange *x, struct str rest)
{
    serve_health(s, x, "livez", rest);
}

static void serve_readyz(struct server *s, struct http_exchange *x, struct str rest)
{
    serve_health(s, x, "readyz", rest);
}

static void serve_healthz(struct server *s, struct http_exchange *x, struct str rest)
{
    serve_health(s, x, "healthz", rest);
}

static void serve_version(struct server *s, struct http_exchange *x, struct str rest)
{
    (void)s;
    (void)rest;
    reply_json(x, 200,
               STR("{\n  \"major\": \"" SAMPAN_API_MAJOR "\",\n  \"minor\": \"" SAMPAN_API_MINOR
                   "\",\n  \"emulationMajor\": \"" SAMPAN_API_MAJOR
                   "\",\n  \"emulationMinor\": \"" SAMPAN_API_MINOR
                   "\",\n  \"minCompatibilityMajor\": \"" SAMPAN_API_MAJOR
                   "\",\n  \"minCompatibilityMinor\": \"" SAMPAN_API_MINOR_BEFORE
                   "\",\n  \"gitVersion\": \"" SAMPAN_GIT_VERSION
                   "\",\n  \"gitCommit\": \"\",\n  \"gitTreeState\": \"clean\",\n"
                   "  \"buildDate\": \"1970-01-01T00:00:00Z\",\n  \"goVersion\": \"none\",\n"
                   "  \"compiler\": \"" SAMPAN_COMPILER "\",\n  \"platform\": \"linux/" SAMPAN_ARCH
                   "\"\n}"));
}

static void serve_metrics(struct server *s, struct http_exchange *x, struct str rest)
{
    (void)rest;
    metrics_serve(&s->api, s->http, x);
}

static void serve_backup(struct server *s, struct http_exchange *x, struct str rest)
{
    (void)rest;
    backup_serve(&s->api, x);
}

static void serve_flow_dump(struct server *s, struct http_exchange *x, struct str rest)
{
    struct str name = str_skip(rest, rest.n ? 1 : 0);
    if (!flow_serve_dump(s->api.flow, x, s->api.read_workers, name))
        reply_text(x, 404, STR("404 page not found\n"));
}

static void serve_openid_keys(struct server *s, struct http_exchange *x, struct str rest)
{
    (void)rest;
    openid_serve_keys(api_identity(&s->api), x);
}

static void serve_openid_configuration(struct server *s, struct http_exchange *x, struct str rest)
{
    (void)rest;
    openid_serve_configuration(api_identity(&s->api), x, s->address);
}

static const struct route {
    struct str path;
    bool below;   /* also answers for what stands below the path */
    bool at_once; /* on the loop, without a body */
    void (*serve)(struct server *s, struct http_exchange *x, struct str rest);
} routes[] = {
    { { "/livez", 6 }, true, true, serve_livez },
    { { "/readyz", 7 }, true, true, serve_readyz },
    { { "/healthz", 8 }, true, true, serve_healthz },
    { { "/version", 8 }, false, true, serve_version },
    { { "/metrics", 8 }, false, false, serve_metrics },
    { { "/sampan/v1/backup", 17 }, false, false, serve_backup },
    { { "/debug/api_priority_and_fairness", 32 }, true, false, serve_flow_dump },
    { { "/openid/v1/jwks", 15 }, false, false, serve_openid_keys },
    { { "/.well-known/openid-configuration", 33 }, false, false, serve_openid_configuration },
};

static const struct route *find_route(struct str path, struct str *ret_rest)
{
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        struct str rest = str_skip(path, routes[i].path.n);
        bool slash = str_eq(rest, STR("/")); /* one at the end is nothing */
        if (!str_starts(path, routes[i].path) ||
            (rest.n && !slash && !(routes[i].below && rest.p[0] == '/')))
            continue;
        *ret_rest = rest;
        return &routes[i];
    }
    return NULL;
}

static void serve_api(struct server *s, const struct filter_request *r)
{
    if (!discovery_serve(r->x, s->api.versions, s->api.custom, s->address) &&
        !openapi_serve(r->x, &s->api) &&
        !dispatch_serve(&s->api, r->x, r->place, &r->req, r->user, r->audit))
        reply_text(r->x, 404, STR("404 page not found\n"));
}

static void serve_route(struct server *s, const struct route *route, struct http_exchange *x,
                        struct str rest)
{
    struct str method = http_request_of(x)->method;
    if (str_eq(method, STR("GET")) || str_eq(method, STR("HEAD")))
        route->serve(s, x, rest);
    else
        reply_method_not_allowed(x);
}

/* Nobody needs to send a body only to be refused, or to where none is read. */
static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    struct server *s = arg;
    struct filter_request *r = filter_pass(&s->api, x);
    struct str rest;
    const struct route *route = r ? find_route(r->http->path, &rest) : NULL;
    http_set_note(x, r);
    if (r && r->waits)
        return HTTP_BODY_LATER;
    if (route && route->at_once)
        serve_route(s, route, x, rest);
    return HTTP_BODY_COLLECT;
}

static void on_request(void *arg, struct http_exchange *x)
{
    const struct filter_request *r = http_note(x);
    struct str rest;
    const struct route *route = find_route(r->http->path, &rest);
    if (route)
        serve_route(arg, route, x, rest);
    else
        serve_api(arg, r);
}

/* ---- Starting and stopping ---- */

static size_t loop_count(size_t wanted)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = wanted ? wanted : cpus > 0 ? (size_t)cpus : 1;
    return n > API_LOOPS_MAX ? API_LOOPS_MAX : n;
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

static int start_serving(struct server *s, const struct server_options *opt, struct err *err)
{
    struct api *api = &s->api;
    for (; api->n_loops < loop_count(opt->n_loops); api->n_loops++) {
        struct loop *loop = loop_new(NULL, err);
        if (!loop)
            return -(int)err->code;
        api->loops[api->n_loops] = loop;
        api->hubs[api->n_loops] = watch_hub_new(api, loop);
    }
    guard_serve(api->guard, api->loops, api->n_loops);
    flow_serve(api->flow, api->loops, api->n_loops);
    s->expire = expire_new(api, api->loops[0], opt->event_ttl_ns);
    s->census = census_new(api, api->loops[0]);
    s->http = http_server_new(&(struct http_server_options){
        .handler = { .arg = s, .on_head = on_head, .on_request = on_request },
        .loops = api->loops,
        .n_loops = api->n_loops,
    });
    int r = http_server_listen(s->http, opt->listen, opt->tls, &s->arena, &s->address, err);
    if (r < 0)
        return r;
    s->advertise = advertise_new(api, api->loops[0], s->address, opt->advertise);

    for (; s->n_threads < api->n_loops; s->n_threads++) {
        int e = pthread_create(&s->threads[s->n_threads], NULL, run_loop, api->loops[s->n_threads]);
        if (e)
            return err_errno(err, e, "start a thread");
    }
    __atomic_store_n(&s->ready, true, __ATOMIC_RELEASE);
    return 0;
}

static void on_drained(void *arg) /* thread: first loop */
{
    struct server *s = arg;
    pthread_mutex_lock(&s->drained_lock);
    s->drained = true;
    pthread_cond_signal(&s->drained_cond);
    pthread_mutex_unlock(&s->drained_lock);
}

static void drain(struct loop *l, struct loop_msg *m) /* thread: first loop */
{
    (void)l;
    struct server *s = container_of(m, struct server, drain);
    for (size_t i = 0; i < s->api.n_loops; i++)
        watch_hub_close(s->api.hubs[i]);
    http_server_drain(s->http, on_drained, s);
}

static void drain_and_join(struct server *s)
{
    __atomic_store_n(&s->ready, false, __ATOMIC_RELEASE);
    s->drain.run = drain;
    loop_post(s->api.loops[0], &s->drain);
    pthread_mutex_lock(&s->drained_lock);
    while (!s->drained)
        pthread_cond_wait(&s->drained_cond, &s->drained_lock);
    pthread_mutex_unlock(&s->drained_lock);
}

static void free_workers(struct api *api)
{
    workers_free(api->workers);
    workers_free(api->hook_workers);
    workers_free(api->read_workers);
    workers_free(api->backup_workers);
}

/* False if some do not end in time. */
static bool stop_workers(struct api *api)
{
    int64_t until = clock_mono_ns(&clock_system) + LIMIT_STOP_MS * NS_PER_MS;
    struct workers *const all[] = { api->workers, api->hook_workers, api->read_workers,
                                    api->backup_workers };
    bool ended = true;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        ended &= workers_stop(all[i], until);
    return ended;
}

struct server *server_stop(struct server *s)
{
    if (!s)
        return NULL;
    if (s->ready)
        drain_and_join(s);
    custom_kinds_stop(s->api.custom);
    for (size_t i = 0; i < s->n_threads; i++)
        loop_stop(s->api.loops[i]);
    for (size_t i = 0; i < s->n_threads; i++)
        pthread_join(s->threads[i], NULL);
    if (!stop_workers(&s->api))
        return s;
    http_server_free(s->http);
    free_workers(&s->api);
    expire_free(s->expire);
    advertise_free(s->advertise);
    census_free(s->census);
    for (size_t i = 0; i < s->api.n_loops; i++) {
        watch_hub_free(s->api.hubs[i]);
        loop_free(s->api.loops[i]); /* what was over in its last turn is still counted */
    }
    audit_free(s->api.audit);
    tally_free(s->api.tally);
    list_counts_free(s->api.list_counts);
    list_sizes_free(s->api.list_sizes);
    custom_kinds_free(s->api.custom);
    turns_free(s->api.turns);
    flow_free(s->api.flow);
    guard_free(s->api.guard);
    identity_free(s->api.identity);
    for (size_t i = 0; i < s->n_former; i++)
        identity_free(s->former[i]);
    store_close(s->api.store);
    secrecy_free(s->api.secrecy);
    pthread_cond_destroy(&s->drained_cond);
    pthread_mutex_destroy(&s->drained_lock);
    arena_done(&s->arena);
    free(s);
    return NULL;
}

static int load_definitions(struct api *api, struct err *err)
{
    api->custom = custom_kinds_new(api->store);
    api->on_kinds_changed = watch_hubs_look;
    int r = custom_kinds_load(api->custom, err);
    return r < 0 ? r : custom_definition_resume(api, err);
}

static int load_guard(struct api *api, const struct guard_modes *modes, struct err *err)
{
    api->guard = guard_new(api->store, modes);
    return guard_load(api->guard, err);
}

/* Before anything is read. */
static int load_secrecy(struct api *api, const struct secrecy_options *opt, struct err *err)
{
    if (!opt->file)
        return 0;
    int r = secrecy_new(opt, &api->secrecy, err);
    if (r < 0)
        return r;
    store_set_codec(api->store, secrecy_codec(api->secrecy));
    return secrecy_start(api->secrecy, api->store, err);
}

static int load_flow(struct api *api, const struct flow_options *opt, struct err *err)
{
    api->flow = flow_new(api->store, opt);
    return flow_load(api->flow, err);
}

static struct server *server_new(const struct server_options *opt)
{
    struct server *s = mem_new(struct server);
    arena_init(&s->arena);
    pthread_mutex_init(&s->drained_lock, NULL);
    pthread_cond_init(&s->drained_cond, NULL);
    s->api.clock = opt->store.clock ? opt->store.clock : &clock_system;
    s->api.scratch_dir = opt->store.dir && opt->store.engine == STORE_LMDB
                             ? str_cstr(&s->arena, str_of(opt->store.dir))
                             : "/tmp";
    s->api.tally = tally_new(API_LOOPS_MAX);
    s->api.list_counts = list_counts_new();
    s->api.list_sizes = list_sizes_new();
    s->api.turns = turns_new();
    s->api.workers = workers_new(WORKERS_MAX, WORKERS_QUEUE);
    s->api.hook_workers = workers_new(WORKERS_MAX, WORKERS_QUEUE);
    s->api.read_workers = workers_new(READERS_MAX, WORKERS_QUEUE);
    s->api.backup_workers = workers_new(LIMIT_BACKUPS, 0);
    s->api.services = opt->services;
    s->api.admission = opt->admission;
    s->api.versions = opt->versions;
    s->api.hides_managers = opt->hides_managers;
    s->api.continue_ttl_ns = opt->continue_ttl_ns ? opt->continue_ttl_ns : TOKEN_TTL_NS;
    return s;
}

static int start(struct server *s, const struct server_options *opt, struct err *err)
{
    int r = 0;
    if (!opt->services.n_ips)
        r = service_ranges_parse(STR(SERVICE_CIDRS_DEFAULT), STR(SERVICE_PORTS_DEFAULT),
                                 &s->api.services, err);
    if (r < 0)
        return r;
    r = store_open(&opt->store, &s->api.store, err);
    if (r < 0)
        return r;
    r = load_secrecy(&s->api, &opt->secrecy, err);
    if (r < 0)
        return r;
    r = identity_new(&opt->identity, s->api.store, s->api.clock, &s->api.identity, err);
    if (r < 0)
        return r;
    r = audit_new(&opt->audit, s->api.clock, &s->api.audit, err);
    if (r < 0)
        return r;
    r = bootstrap(&s->api, err);
    if (r < 0)
        return r;
    r = bootstrap_policy(&s->api, !opt->leaves_roles, err);
    if (r < 0)
        return r;
    r = bootstrap_authentication(&s->api, &opt->identity, err);
    if (r < 0)
        return r;
    r = load_guard(&s->api, &opt->authorization, err);
    if (r < 0)
        return r;
    r = bootstrap_flow(&s->api, err);
    if (r < 0)
        return r;
    r = load_flow(&s->api, &opt->flow, err);
    if (r < 0)
        return r;
    r = load_definitions(&s->api, err);
    if (r < 0)
        return r;
    return start_serving(s, opt, err);
}

int server_start(const struct server_options *opt, struct server **ret, struct err *err)
{
    struct server *s = server_new(opt);
    int r = start(s, opt, err);
    if (r < 0) {
        server_stop(s);
        return r;
    }
    *ret = s;
    return 0;
}

void server_look(struct server *s)
{
    secrecy_look(s->api.secrecy);
}

void server_set_tls(struct server *s, struct tls_context *tls)
{
    http_server_set_tls(s->http, tls);
}

int server_set_identity(struct server *s, const struct identity_options *opt, struct err *err)
{
    struct identity *now;
    if (s->n_former == FORMER_MAX)
        return err_set(err, ERR_INTERNAL, "keys were reloaded %d times without a restart",
                       FORMER_MAX);
    int r = identity_new(opt, s->api.store, s->api.clock, &now, err);
    if (r < 0)
        return r;
    s->former[s->n_former++] = __atomic_exchange_n(&s->api.identity, now, __ATOMIC_ACQ_REL);
    return bootstrap_authentication(&s->api, opt, err);
}

struct str server_address(const struct server *s)
{
    return s->address;
}
