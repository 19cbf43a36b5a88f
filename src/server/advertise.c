#include "server/advertise.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/codec/proto.h"
#include "api/defaults/defaults.h"
#include "api/ip.h"
#include "api/typed.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/bootstrap.h"
#include "server/core/chore.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "base/banned.h"

#define LOOK_NS (10 * NS_PER_SEC) /* as upstream */
#define NAME    STR("kubernetes")

/* ---- Which address ---- */

/* The name of the interface that has the default route, or an empty one. */
static void default_interface(char ret[IF_NAMESIZE])
{
    char line[256], name[IF_NAMESIZE];
    unsigned long to;
    FILE *routes = fopen("/proc/net/route", "re");
    ret[0] = '\0';
    while (routes && !ret[0] && fgets(line, sizeof(line), routes))
        if (sscanf(line, "%15s %lx", name, &to) == 2 && to == 0)
            memcpy(ret, name, sizeof(name));
    if (routes)
        (void)fclose(routes);
}

static struct str address_text(struct arena *a, const struct sockaddr *sa)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (sa->sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)sa)->sin_addr, text, sizeof(text));
    else
        (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)sa)->sin6_addr, text,
                        sizeof(text));
    return arena_str(a, str_of(text));
}

/* One of the machine's own, by preference that of the default route; else the loopback one. */
static struct str machine_ip(struct arena *a, int family)
{
    char preferred[IF_NAMESIZE];
    struct str ip = family == AF_INET ? STR("127.0.0.1") : STR("::1");
    struct ifaddrs *all = NULL;
    default_interface(preferred);
    if (getifaddrs(&all) < 0)
        return ip;
    bool found = false;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        bool is_preferred = strcmp(i->ifa_name, preferred) == 0;
        if (!i->ifa_addr || i->ifa_addr->sa_family != family || i->ifa_flags & IFF_LOOPBACK ||
            (found && !is_preferred))
            continue;
        ip = address_text(a, i->ifa_addr);
        found = true;
        if (is_preferred)
            break;
    }
    freeifaddrs(all);
    return ip;
}

struct str advertise_ip(struct arena *a, struct str host)
{
    if (str_eq(host, STR("0.0.0.0")))
        return machine_ip(a, AF_INET);
    return str_eq(host, STR("::")) ? machine_ip(a, AF_INET6) : host;
}

/* "10.1.2.3:6443" or "[::1]:6443"; false for anything else. */
static bool split(struct str address, struct str *ret_host, uint16_t *ret_port)
{
    struct ip ip;
    uint64_t port;
    size_t colon = address.n;
    while (colon > 0 && address.p[colon - 1] != ':')
        colon--;
    if (!colon || !str_to_u64(str_skip(address, colon), &port))
        return false;
    struct str host = str_take(address, colon - 1);
    if (host.n > 2 && host.p[0] == '[')
        host = str_take(str_skip(host, 1), host.n - 2);
    *ret_host = host;
    *ret_port = (uint16_t)port;
    return ip_parse(host, &ip);
}

/* ---- One object ---- */

struct place {
    const struct str *ips; /* of all servers, in order */
    size_t n_ips;
    uint16_t port;
    bool is_v4;
};

/* An object, and what it should say. */
struct truth {
    const char *group, *plural;
    const char *shell; /* to begin with: valid, and true of no server yet */
    void (*apply)(struct arena *a, const struct place *p, struct value *obj);
};

/* Of text that is our own. */
static struct value parse(struct arena *a, struct str text)
{
    struct value v = value_null();
    (void)json_read(a, text, NULL, &v, NULL);
    return v;
}

static void apply_service(struct arena *a, const struct place *p, struct value *obj)
{
    struct str ports = arena_printf(a,
                                    "[{\"name\":\"https\",\"protocol\":\"TCP\",\"port\":443,"
                                    "\"targetPort\":%u}]",
                                    p->port);
    value_put(a, value_ensure(a, obj, STR("spec")), STR("ports"), parse(a, ports));
}

static void apply_endpoints(struct arena *a, const struct place *p, struct value *obj)
{
    autobuf addresses = { 0 };
    for (size_t i = 0; i < p->n_ips; i++)
        buf_printf(&addresses, "%s{\"ip\":\"" STR_FMT "\"}", i ? "," : "", STR_ARG(p->ips[i]));
    struct str subsets =
        arena_printf(a,
                     "[{\"addresses\":[" STR_FMT "],\"ports\":[{\"name\":\"https\",\"port\":%u,"
                     "\"protocol\":\"TCP\"}]}]",
                     STR_ARG(buf_str(&addresses)), p->port);
    value_put(a, obj, STR("subsets"), parse(a, subsets));
}

static void apply_slice(struct arena *a, const struct place *p, struct value *obj)
{
    autobuf all = { 0 };
    for (size_t i = 0; i < p->n_ips; i++)
        buf_printf(&all, "%s{\"addresses\":[\"" STR_FMT "\"],\"conditions\":{\"ready\":true}}",
                   i ? "," : "", STR_ARG(p->ips[i]));
    struct str endpoints = arena_printf(a, "[" STR_FMT "]", STR_ARG(buf_str(&all)));
    struct str ports =
        arena_printf(a, "[{\"name\":\"https\",\"protocol\":\"TCP\",\"port\":%u}]", p->port);
    value_put(a, obj, STR("endpoints"), parse(a, endpoints));
    value_put(a, obj, STR("ports"), parse(a, ports));
}

#define SLICE_OF(family)                                                                 \
    "{\"metadata\":{\"name\":\"kubernetes\",\"labels\":{\"kubernetes.io/service-name\":" \
    "\"kubernetes\"}},\"addressType\":\"" family "\",\"endpoints\":[],\"ports\":[]}"

/* The Service is one of bootstrap's. */
static const struct truth service = { "", "services", NULL, apply_service };
static const struct truth endpoints = { "", "endpoints",
                                        "{\"metadata\":{\"name\":\"kubernetes\",\"labels\":{"
                                        "\"endpointslice.kubernetes.io/skip-mirror\":\"true\"}}}",
                                        apply_endpoints };
static const struct truth slice_v4 = { "discovery.k8s.io", "endpointslices", SLICE_OF("IPv4"),
                                       apply_slice };
static const struct truth slice_v6 = { "discovery.k8s.io", "endpointslices", SLICE_OF("IPv6"),
                                       apply_slice };

struct change {
    struct call *call;
    const struct truth *truth;
    const struct place *place;
};

static int change(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                  struct err *err)
{
    const struct change *ch = u->arg;
    struct call *c = ch->call;
    (void)err;
    *ret = value_borrow(&now->obj);
    ch->truth->apply(c->arena, ch->place, ret);
    managers_update(c, managers_own_request(c, STR("")), &now->obj, ret);
    return 0;
}

static int make_shell(struct call *c, const struct truth *t, struct err *err)
{
    struct value given = parse(c->arena, str_of(t->shell)), obj;
    int r = typed_read(c->arena, c->stored->type, &given, NULL, &obj, err);
    if (r < 0)
        return r;
    defaults_apply(c->arena, c->stored->type, &obj);
    managers_update(c, managers_own_request(c, STR("")), NULL, &obj);
    return registry_create(c, false, &obj, err);
}

/* As it is: rules for what users may write forbid addresses that a server may well have. */
static int keep(struct call *c, const struct truth *t, const struct place *place, struct err *err)
{
    struct change ch = { c, t, place };
    struct registry_update u = {
        .change = change, .arg = &ch, .as_is = true, .any_revision = true
    };
    struct value obj;
    c->req.resource = c->stored = kind_stored_named(str_of(t->group), str_of(t->plural));
    int r = registry_update(c, NAME, &u, &obj, err);
    if (r != -ERR_NOT_FOUND || !t->shell)
        return r;
    err_clear(err);
    r = make_shell(c, t, err);
    return r < 0 ? r : registry_update(c, NAME, &u, &obj, err);
}

/* The family of a slice cannot be changed: one of the other makes room. */
static int drop_other_family(struct call *c, bool is_v4, struct err *err)
{
    struct registry_entry now;
    struct delete_options options = { .grace = -1 };
    struct value obj;
    bool gone;
    c->req.resource = c->stored = kind_stored_named(STR("discovery.k8s.io"), STR("endpointslices"));
    int r = registry_get(c, NAME, &now, err);
    if (r == -ERR_NOT_FOUND) {
        err_clear(err);
        return 0;
    }
    struct str family = r < 0 ? STR("") : value_str(value_get(&now.obj, STR("addressType")));
    if (r < 0 || str_eq(family, is_v4 ? STR("IPv4") : STR("IPv6")))
        return r;
    return registry_delete(c, NAME, &options, &obj, &gone, err);
}

static int keep_all(struct api *api, struct arena *a, const struct place *place, struct err *err)
{
    struct call c = { .api = api, .arena = a };
    c.req.ns = STR("default");
    int r = bootstrap(api, err);
    if (r < 0)
        return r;
    r = keep(&c, &service, place, err);
    if (r < 0)
        return r;
    r = keep(&c, &endpoints, place, err);
    if (r < 0)
        return r;
    r = drop_other_family(&c, place->is_v4, err);
    if (r < 0)
        return r;
    return keep(&c, place->is_v4 ? &slice_v4 : &slice_v6, place, err);
}

/* ---- Several servers on one etcd ---- */

/* As upstream: each keeps a key alive, and all that are there are told to clients. */
#define LEASES STR("/registry/masterleases/")
enum { LEASE_S = 15 };

static bool is_v4(struct str ip)
{
    struct ip parsed;
    return ip_parse(ip, &parsed) && parsed.is_v4;
}

static int write_lease(struct api *api, struct arena *a, struct str ip, bool is_there,
                       struct err *err)
{
    const struct kind_type *type = kind_find(STR("v1"), STR("Endpoints"));
    autobuf bytes = { 0 };
    struct value typed,
        obj = parse(a, arena_printf(a,
                                    "{\"kind\":\"Endpoints\",\"apiVersion\":\"v1\",\"subsets\":[{"
                                    "\"addresses\":[{\"ip\":\"" STR_FMT "\"}]}]}",
                                    STR_ARG(ip)));
    int r = typed_read(a, type, &obj, NULL, &typed, err);
    if (r < 0)
        return r;
    proto_envelope_write(&bytes, type, &typed);
    struct store_op op = { .type = is_there ? STORE_PUT : STORE_DELETE,
                           .key = arena_printf(a, STR_FMT STR_FMT, STR_ARG(LEASES), STR_ARG(ip)),
                           .value = is_there ? buf_str(&bytes) : STR(""),
                           .expect_rev = STORE_ANY,
                           .ttl_s = LEASE_S };
    return store_commit(api->store, &(struct store_txn){ .ops = &op, .n_ops = 1 }, err);
}

/* Those of one family. */
static int read_leases(struct api *api, struct arena *a, struct place *place, struct err *err)
{
    enum { SERVERS_MAX = 64 };
    struct str *ips = arena_array(a, struct str, SERVERS_MAX);
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(api->store, 0, &snap, err);
    if (r < 0)
        return r;
    place->n_ips = 0;
    store_range_begin(snap, LEASES, STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1 && place->n_ips < SERVERS_MAX) {
        struct str ip = arena_str(a, str_skip(e.key, LEASES.n));
        if (is_v4(ip) == place->is_v4)
            ips[place->n_ips++] = ip;
    }
    store_snap_end(snap);
    place->ips = ips;
    return r < 0 ? r : 0;
}

/* Writes or removes our own key, and says who is there. */
static int find_servers(struct api *api, struct arena *a, struct str ip, bool is_there,
                        struct place *place, struct err *err)
{
    if (!store_is_mirror(api->store))
        return 0;
    int r = write_lease(api, a, ip, is_there, err);
    if (r < 0)
        return r;
    return read_leases(api, a, place, err);
}

static int keep_found(struct api *api, struct arena *a, struct str ip, uint16_t port, bool is_there,
                      struct err *err)
{
    struct place place = { &ip, 1, port, is_v4(ip) };
    int r = find_servers(api, a, ip, is_there, &place, err);
    if (r < 0 || !place.n_ips) /* the last one that goes leaves what it has said */
        return r;
    return keep_all(api, a, &place, err);
}

int advertise_now(struct api *api, struct str ip, uint16_t port, bool is_there, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = keep_found(api, &a, ip, port, is_there, &why);
    if (r < 0)
        r = err_set(err, why.code, STR_FMT, STR_ARG(why.msg));
    arena_done(&a);
    return r;
}

/* ---- From time to time ---- */

struct advertise {
    struct api *api;
    struct buf ip;
    uint16_t port;
    struct chore *chore;
    atomic_bool leaves; /* nothing is said any more */
};

static void look(void *arg) /* thread: worker */
{
    enum { TRIES = 10 };
    struct advertise *x = arg;
    if (atomic_load(&x->leaves))
        return;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    int r = 0;
    for (int i = 0; i < TRIES; i++) { /* other servers say it at the same time */
        err_clear(&err);
        r = advertise_now(x->api, buf_str(&x->ip), x->port, true, &err);
        if (r != -ERR_CONFLICT && r != -ERR_EXISTS)
            break;
    }
    if (r < 0)
        log_warn("the address of the API could not be written", LOG_ERR(&err));
    arena_done(&a);
}

struct advertise *advertise_new(struct api *api, struct loop *loop, struct str listened,
                                struct str given)
{
    struct str host;
    struct advertise *x = mem_new(struct advertise);
    x->api = api;
    if (!split(listened, &host, &x->port))
        return x;
    struct arena a;
    arena_init(&a);
    buf_str_add(&x->ip, given.n ? given : advertise_ip(&a, host));
    arena_done(&a);
    look(x);
    x->chore = chore_new(loop, api->workers, LOOK_NS, look, x);
    return x;
}

void advertise_leave(struct advertise *x)
{
    struct store_stats stats;
    if (!x || !x->ip.n || !store_is_mirror(x->api->store))
        return;
    atomic_store(&x->leaves, true);
    store_stats(x->api->store, &stats);
    if (!stats.failing)
        (void)advertise_now(x->api, buf_str(&x->ip), x->port, false, NULL);
}

struct advertise *advertise_free(struct advertise *x)
{
    if (!x)
        return NULL;
    chore_free(x->chore);
    buf_done(&x->ip);
    free(x);
    return NULL;
}
