#include "server/server.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "admission/config.h"
#include "admission/memory.h"
#include "admission/webhook/hook.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/http.h"
#include "net/loop.h"
#include "net/outgoing/relay.h"
#include "server/advertise.h"
#include "server/apiservice/apiservice.h"
#include "server/apiservice_keeper.h"
#include "server/backup.h"
#include "server/bootstrap.h"
#include "server/bootstrap_apiservice.h"
#include "server/bootstrap_authentication.h"
#include "server/bootstrap_flow.h"
#include "server/bootstrap_policy.h"
#include "server/census.h"
#include "server/filter/filter.h"
#include "server/discovery/discovery.h"
#include "server/expire.h"
#include "server/flow/flow.h"
#include "server/flow_keeper.h"
#include "server/follow.h"
#include "server/port_repair.h"
#include "server/quota_keeper.h"
#include "server/guard/authorization.h"
#include "server/guard/errand.h"
#include "server/guard/guard.h"
#include "server/guard/openid_users.h"
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
#include "server/object/etcd_form.h"
#include "server/object/token.h"
#include "server/core/turns.h"
#include "server/core/uninitialized.h"
#include "server/version.h"
#include "server/verbs/dispatch.h"
#include "server/verbs/foreign.h"
#include "server/registry/legacy_token.h"
#include "server/registry/quota_charge.h"
#include "server/waiting.h"
#include "server/watch/watch.h"
#include "base/banned.h"

/* Who waits for a webhook does nothing else meanwhile, and one webhook may be waited for by
 * HOOK_CALLS_MAX: there are more threads than a few slow ones can take. */
enum { HOOK_WORKERS_MAX = 4 * HOOK_CALLS_MAX };
enum { HOOKS_LAST_MS = 1000 }; /* from the beginning of a stop */
enum { WORKERS_MAX = 64, WORKERS_QUEUE = 4096, READERS_MAX = 32, FORMER_MAX = 1000 };

struct server {
    struct api api;
    struct http_server *http;
    struct etcd_form form; /* of a store that is a mirror of etcd */
    struct expire *expire;
    struct follow *follow; /* the same */
    struct port_repair *port_repair;
    struct advertise *advertise;
    struct census *census;
    pthread_t threads[API_LOOPS_MAX];
    size_t n_threads;
    struct arena arena; /* address */
    struct str address;
    bool ready;           /* atomic */
    atomic_bool stopping; /* whoever waits for a webhook gives up */
    struct authorization_options authorization;
    struct identity *former[FORMER_MAX]; /* those that were replaced: requests may still ask them */
    size_t n_former;

    /* What is passed on, by loop; ended on each of them. */
    struct server_relays {
        struct relay_set set;
        struct loop_msg close;
    } relays[API_LOOPS_MAX];
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

static void serve_waiting(struct server *s, struct http_exchange *x, struct str rest)
{
    (void)rest;
    waiting_serve(&s->api, x);
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
    { { "/sampan/v1/waiting", 18 }, false, false, serve_waiting },
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
    if (!discovery_serve(r->x, &s->api, s->address) && !openapi_serve(r->x, &s->api) &&
        !dispatch_serve(&s->api, r->x, r->place, &r->req, r->user, r->audit) &&
        !foreign_serve(&s->api, r->x, &r->req, r->user, r->audit_id))
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

static int keep_quotas(struct api *api, struct err *err)
{
    int r = quota_keeper_new(api, api->loops[0], &api->quota_keeper, err);
    if (r < 0)
        return r;
    api->on_quota_changed = quota_keeper_changed;
    api->on_less_used = quota_keeper_less_used;
    return 0;
}

static void keep_apiservices(struct api *api)
{
    api->apiservice_keeper = apiservice_keeper_new(api, api->loops[0]);
    api->on_apiservice_changed = apiservice_keeper_changed;
    api->on_service_changed = apiservice_keeper_service_changed;
    api->on_definition_changed = apiservice_keeper_definition_changed;
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
    if (!store_is_mirror(api->store))
        s->expire = expire_new(api, api->loops[0], opt->event_ttl_ns);
    int r = follow_new(api, &s->follow, err);
    if (r < 0)
        return r;
    s->port_repair = port_repair_new(api, api->loops[0]);
    s->census = census_new(api, api->loops[0]);
    keep_apiservices(api);
    r = opt->leaves_quotas ? 0 : keep_quotas(api, err);
    if (r < 0)
        return r;
    s->http = http_server_new(&(struct http_server_options){
        .handler = { .arg = s, .on_head = on_head, .on_request = on_request },
        .loops = api->loops,
        .n_loops = api->n_loops,
    });
    r = http_server_listen(s->http, opt->listen, opt->tls, &s->arena, &s->address, err);
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

static void close_relays(struct loop *l, struct loop_msg *m)
{
    (void)l;
    relay_set_close(&container_of(m, struct server_relays, close)->set);
}

static void drain(struct loop *l, struct loop_msg *m) /* thread: first loop */
{
    (void)l;
    struct server *s = container_of(m, struct server, drain);
    for (size_t i = 0; i < s->api.n_loops; i++) {
        watch_hub_close(s->api.hubs[i]);
        loop_post(s->api.loops[i], &s->relays[i].close);
    }
    http_server_drain(s->http, on_drained, s);
}

/* Nobody waits for webhooks any more. */
static void stop_hooks(struct server *s)
{
    custom_kinds_stop(s->api.custom);
    apiservices_stop(s->api.apiservices);
    admission_memory_stop(s->api.admission_memory);
}

/* With the lock. False if the time is over. */
static bool await_drained(struct server *s, int64_t ms)
{
    struct timespec until;
    int r = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    while (!s->drained && r == 0)
        r = pthread_cond_timedwait(&s->drained_cond, &s->drained_lock, &until);
    return s->drained;
}

static void drain_and_join(struct server *s)
{
    advertise_leave(s->advertise);
    __atomic_store_n(&s->ready, false, __ATOMIC_RELEASE);
    s->drain.run = drain;
    loop_post(s->api.loops[0], &s->drain);
    pthread_mutex_lock(&s->drained_lock);
    /* Webhooks that answer in time are still heard. */
    if (!await_drained(s, HOOKS_LAST_MS))
        stop_hooks(s);
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
    workers_free(api->token_workers);
    workers_free(api->access_workers);
}

/* False if some do not end in time. */
static bool stop_workers(struct api *api)
{
    int64_t until = clock_mono_ns(&clock_system) + LIMIT_STOP_MS * NS_PER_MS;
    struct workers *const all[] = { api->workers,        api->hook_workers,  api->read_workers,
                                    api->backup_workers, api->token_workers, api->access_workers };
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
    atomic_store(&s->stopping, true);
    stop_hooks(s);
    openid_users_stop(s->api.openid_users);
    for (size_t i = 0; i < s->n_threads; i++)
        loop_stop(s->api.loops[i]);
    for (size_t i = 0; i < s->n_threads; i++)
        pthread_join(s->threads[i], NULL);
    if (!stop_workers(&s->api))
        return s;
    follow_free(s->follow);
    http_server_free(s->http);
    free_workers(&s->api);
    expire_free(s->expire);
    port_repair_free(s->port_repair);
    quota_keeper_free(s->api.quota_keeper);
    apiservice_keeper_free(s->api.apiservice_keeper);
    advertise_free(s->advertise);
    census_free(s->census);
    if (s->api.store)
        store_sync_quit(s->api.store); /* answers go to loops */
    for (size_t i = 0; i < s->api.n_loops; i++) {
        watch_hub_free(s->api.hubs[i]);
        loop_free(s->api.loops[i]); /* what was over in its last turn is still counted */
    }
    audit_free(s->api.audit);
    tally_free(s->api.tally);
    list_counts_free(s->api.list_counts);
    list_sizes_free(s->api.list_sizes);
    custom_kinds_free(s->api.custom);
    apiservices_free(s->api.apiservices);
    admission_memory_free(s->api.admission_memory);
    admission_config_free(s->api.admission_config);
    uninitialized_free(s->api.uninitialized);
    turns_free(s->api.turns);
    flow_free(s->api.flow);
    authorization_free(s->api.authorization);
    flow_keeper_free(s->api.flow_keeper);
    guard_free(s->api.guard);
    identity_free(s->api.identity);
    for (size_t i = 0; i < s->n_former; i++)
        identity_free(s->former[i]);
    openid_users_free(s->api.openid_users);
    kubelet_free(s->api.kubelet);
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
    if (!api->custom)
        api->custom = custom_kinds_new(api->store);
    api->on_kinds_changed = watch_hubs_look;
    api->on_legacy_token = legacy_token_used;
    int r = custom_kinds_load(api->custom, err);
    return r < 0 ? r : custom_definition_resume(api, err);
}

static int load_apiservices(struct api *api, const struct apiservices_options *opt, struct err *err)
{
    int r = bootstrap_apiservice(api, err);
    if (r < 0)
        return r;
    api->apiservices = apiservices_new(api->store, opt);
    return apiservices_load(api->apiservices, err);
}

/* For objects on their way to etcd, which say there of what kind they are. */
static struct str custom_kind_of(void *arg, struct arena *a, struct str group, struct str plural)
{
    const struct api *api = arg;
    size_t n = 0;
    struct str kind = STR("");
    struct custom **all = api->custom ? custom_list_all(api->custom, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        if (str_eq(all[i]->group, group) && str_eq(all[i]->plural, plural))
            kind = arena_str(a, all[i]->kind);
        custom_unref(all[i]);
    }
    free(all);
    return kind;
}

static int load_guard(struct server *s, struct err *err)
{
    struct api *api = &s->api;
    struct guard_chain *chain;
    int r = authorization_new(&s->authorization, api->clock, &s->stopping, &api->authorization,
                              &chain, err);
    if (r < 0)
        return r;
    api->guard = guard_with_chain(api->store, chain);
    r = guard_load(api->guard, err);
    return r < 0 ? r : authorization_follow(api->authorization, api->guard, err);
}

/* With those that know more tokens, who end when the server does, and with what the configuration
 * says of who shows none. */
static int make_identity(struct server *s, const struct identity_options *opt,
                         struct identity **ret, struct err *err)
{
    struct identity_options own = *opt;
    own.webhook.cancel = &s->stopping;
    own.asker = openid_users_asker(s->api.openid_users);
    own.anonymous = openid_users_anonymous(s->api.openid_users);
    return identity_new(&own, s->api.store, s->api.clock, ret, err);
}

/* Its own, or that of an etcd, where objects have the form of kube-apiserver. */
static int open_store(struct server *s, const struct server_options *opt, struct err *err)
{
    struct api *api = &s->api;
    struct store_codec *secrecy = api->secrecy ? secrecy_codec(api->secrecy) : NULL;
    if (!opt->etcd.n_servers) {
        int r = store_open(&opt->store, &api->store, err);
        if (r < 0)
            return r;
        store_set_codec(api->store, secrecy);
        return 0;
    }
    int64_t ttl_ns = opt->event_ttl_ns ? opt->event_ttl_ns : EXPIRE_EVENT_NS;
    struct remote_options etcd = opt->etcd;
    etcd_form_init(&s->form);
    s->form.inner = secrecy;
    s->form.kind_of = custom_kind_of;
    s->form.arg = api;
    api->event_ttl_s = (uint32_t)(ttl_ns / NS_PER_SEC);
    etcd.codec = &s->form.codec;
    etcd.keep = etcd_form_keep;
    return remote_open(&etcd, &api->store, err);
}

/* With what is encrypted at rest, before anything is read. */
static int load_store(struct server *s, const struct server_options *opt, struct err *err)
{
    struct api *api = &s->api;
    int r = opt->secrecy.file ? secrecy_new(&opt->secrecy, &api->secrecy, err) : 0;
    if (r < 0)
        return r;
    r = open_store(s, opt, err);
    if (r < 0)
        return r;
    return api->secrecy ? secrecy_start(api->secrecy, api->store, err) : 0;
}

static int load_openid(struct api *api, const struct server_options *opt, struct err *err)
{
    struct openid_users_options openid = opt->openid;
    if (!openid.file && !openid.flags)
        return 0;
    openid.issuers = opt->identity.issuers;
    openid.audiences = opt->identity.audiences;
    openid.clock = api->clock;
    return openid_users_new(&openid, &api->openid_users, err);
}

static int load_flow(struct api *api, const struct flow_options *opt, struct err *err)
{
    api->flow = flow_new(api->store, opt);
    api->flow_keeper = flow_keeper_new(api);
    api->on_flow_changed = flow_keeper_look;
    return flow_load(api->flow, err);
}

static struct server *server_new(const struct server_options *opt)
{
    struct server *s = mem_new(struct server);
    arena_init(&s->arena);
    pthread_mutex_init(&s->drained_lock, NULL);
    pthread_cond_init(&s->drained_cond, NULL);
    s->api.clock = opt->store.clock ? opt->store.clock : &clock_system;
    s->api.scratch_dir = opt->store.dir && opt->store.engine == STORE_LMDB && !opt->etcd.n_servers
                             ? str_cstr(&s->arena, str_of(opt->store.dir))
                             : "/tmp";
    for (size_t i = 0; i < API_LOOPS_MAX; i++) {
        LIST_INIT(&s->relays[i].set);
        s->relays[i].close.run = close_relays;
        s->api.relays[i] = &s->relays[i].set;
    }
    s->api.tally = tally_new(API_LOOPS_MAX);
    s->api.list_counts = list_counts_new();
    s->api.list_sizes = list_sizes_new();
    s->api.turns = turns_new();
    s->api.workers = workers_new(WORKERS_MAX, WORKERS_QUEUE);
    s->api.hook_workers = workers_new(HOOK_WORKERS_MAX, WORKERS_QUEUE);
    s->api.read_workers = workers_new(READERS_MAX, WORKERS_QUEUE);
    s->api.backup_workers = workers_new(LIMIT_BACKUPS, 0);
    s->api.token_workers = workers_new(ERRAND_THREADS, ERRAND_QUEUE);
    s->api.access_workers = workers_new(ERRAND_THREADS, ERRAND_QUEUE);
    s->authorization = opt->authorization;
    s->api.services = opt->services;
    s->api.admission = opt->admission;
    s->api.admission_memory = admission_memory_new();
    s->api.versions = opt->versions;
    s->api.hides_managers = opt->hides_managers;
    s->api.continue_ttl_ns = opt->continue_ttl_ns ? opt->continue_ttl_ns : TOKEN_TTL_NS;
    return s;
}

/* Initializers are as old as the versions that are served with them. */
static int load_initializers(struct server *s, struct err *err)
{
    struct admission_choice with = s->api.admission;
    struct err is_off = ERR_INIT(&s->arena);
    if (s->api.versions != KIND_ALL_VERSIONS ||
        admission_choose(&with, STR("Initializers"), true, &is_off) < 0)
        return 0;
    s->api.admission = with;
    return uninitialized_new(s->api.store, &s->api.uninitialized, err);
}

typedef int start_step(struct server *s, const struct server_options *opt, struct err *err);

static int load_services(struct server *s, const struct server_options *opt, struct err *err)
{
    if (opt->services.n_ips)
        return 0;
    return service_ranges_parse(STR(SERVICE_CIDRS_DEFAULT), STR(SERVICE_PORTS_DEFAULT),
                                &s->api.services, err);
}

static int load_admission(struct server *s, const struct server_options *opt, struct err *err)
{
    return admission_config_load(&opt->admission_options, &s->api.admission,
                                 &s->api.admission_config, err);
}

static int load_kubelet(struct server *s, const struct server_options *opt, struct err *err)
{
    return kubelet_new(&opt->kubelet, &s->api.kubelet, err);
}

static int load_quotas(struct server *s, const struct server_options *opt, struct err *err)
{
    (void)opt;
    int r = quota_charge_load(&s->api, err);
    return r < 0 ? r : load_initializers(s, err);
}

static int load_users(struct server *s, const struct server_options *opt, struct err *err)
{
    int r = load_openid(&s->api, opt, err);
    if (r < 0)
        return r;
    r = make_identity(s, &opt->identity, &s->api.identity, err);
    if (r < 0)
        return r;
    return audit_new(&opt->audit, s->api.clock, &s->api.audit, err);
}

static int make_first_objects(struct server *s, const struct server_options *opt, struct err *err)
{
    int r = bootstrap(&s->api, err);
    if (r < 0)
        return r;
    s->api.checks_policies = !opt->leaves_policies;
    r = bootstrap_policy(&s->api, !opt->leaves_roles, err);
    if (r < 0)
        return r;
    return bootstrap_authentication(&s->api, &opt->identity, err);
}

static int load_access(struct server *s, const struct server_options *opt, struct err *err)
{
    (void)opt;
    return load_guard(s, err);
}

static int make_flow_objects(struct server *s, const struct server_options *opt, struct err *err)
{
    (void)opt;
    return bootstrap_flow(&s->api, err);
}

static int load_fairness(struct server *s, const struct server_options *opt, struct err *err)
{
    return load_flow(&s->api, &opt->flow, err);
}

static int load_extensions(struct server *s, const struct server_options *opt, struct err *err)
{
    return load_apiservices(&s->api, &opt->apiservices, err);
}

static int load_kinds(struct server *s, const struct server_options *opt, struct err *err)
{
    (void)opt;
    int r = load_definitions(&s->api, err);
    if (r == 0)
        flow_keeper_look(&s->api);
    return r;
}

/* Another server on the same etcd may be doing the same at this moment: then what it was faster
 * with is there when it is looked for again. */
static int run_step(struct server *s, start_step *step, const struct server_options *opt,
                    struct err *err)
{
    enum { TRIES = 100 };
    int r = step(s, opt, err);
    for (int i = 0; i < TRIES && (r == -ERR_EXISTS || r == -ERR_CONFLICT); i++) {
        if (!s->api.store || !store_is_mirror(s->api.store))
            return r;
        err_clear(err);
        r = step(s, opt, err);
    }
    return r;
}

static int start(struct server *s, const struct server_options *opt, struct err *err)
{
    static start_step *const steps[] = {
        load_services,   load_admission,     load_store,    load_kubelet,      load_quotas,
        load_users,      make_first_objects, load_access,   make_flow_objects, load_fairness,
        load_extensions, load_kinds,         start_serving,
    };
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        int r = run_step(s, steps[i], opt, err);
        if (r < 0)
            return r;
    }
    return 0;
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
    openid_users_look(s->api.openid_users);
    authorization_look(s->api.authorization);
}

void server_set_tls(struct server *s, struct tls_context *tls)
{
    http_server_set_tls(s->http, tls);
}

int server_set_kubelet(struct server *s, const struct kubelet_options *opt, struct err *err)
{
    return kubelet_set(s->api.kubelet, opt, err);
}

int server_set_apiservices(struct server *s, const struct apiservices_options *opt, struct err *err)
{
    return apiservices_set(s->api.apiservices, opt, err);
}

int server_set_identity(struct server *s, const struct identity_options *opt, struct err *err)
{
    struct identity *now;
    if (s->n_former == FORMER_MAX)
        return err_set(err, ERR_INTERNAL, "keys were reloaded %d times without a restart",
                       FORMER_MAX);
    int r = make_identity(s, opt, &now, err);
    if (r < 0)
        return r;
    struct identity *former = __atomic_exchange_n(&s->api.identity, now, __ATOMIC_ACQ_REL);
    identity_retire(former);
    s->former[s->n_former++] = former;
    return bootstrap_authentication(&s->api, opt, err);
}

struct str server_address(const struct server *s)
{
    return s->address;
}
