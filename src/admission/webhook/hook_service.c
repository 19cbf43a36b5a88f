/* hook_service.c - where a Service can be reached: one of its endpoints, or its cluster address. */
#include "admission/webhook/hook.h"

#include "net/tcp.h"
#include "base/banned.h"

struct lookup {
    struct arena *arena;
    const struct hook_services *services;
    struct str ns, name, port_name;
    int64_t port;
    struct str ret; /* empty: not found yet */
};

static struct str join(struct arena *a, struct str host, int64_t port)
{
    bool is_v6 = str_find(host, ':') >= 0;
    return arena_printf(a, "%s" STR_FMT "%s:%lld", is_v6 ? "[" : "", STR_ARG(host),
                        is_v6 ? "]" : "", (long long)port);
}

/* The number of the port that has the wanted name; 0 if none has. */
static int64_t find_port(const struct lookup *l, const struct value *ports)
{
    int64_t number = 0;
    value_each_item (it, ports)
        if (str_eq(value_text(it, "name"), l->port_name) &&
            value_to_int(value_get(it, STR("port")), &number))
            return number;
    return 0;
}

/* Negative: that is enough. */
static int look_into_slice(void *to, const struct value *slice)
{
    struct lookup *l = to;
    const struct value *labels = value_dig(slice, "metadata", "labels");
    int64_t port = find_port(l, value_get(slice, STR("ports")));
    if (!str_eq(value_text(labels, "kubernetes.io/service-name"), l->name) || !port)
        return 0;
    value_each_item (it, value_get(slice, STR("endpoints"))) {
        const struct value *ready = value_dig(it, "conditions", "ready");
        struct str host = value_str(value_at(value_get(it, STR("addresses")), 0));
        if (!host.n || (value_is(ready, VALUE_BOOL) && !ready->b))
            continue;
        l->ret = join(l->arena, host, port);
        return -ERR_EXISTS;
    }
    return 0;
}

static int look_into_slices(struct lookup *l, struct err *err)
{
    const struct hook_services *s = l->services;
    int r = s->cluster->each_in(s->arg, STR("discovery.k8s.io"), STR("endpointslices"), l->ns,
                                look_into_slice, l, err);
    return l->ret.n ? 0 : r;
}

static int look_into_endpoints(struct lookup *l, struct err *err)
{
    const struct hook_services *s = l->services;
    struct value endpoints;
    int r = s->cluster->read(s->arg, STR(""), STR("endpoints"), l->ns, l->name, &endpoints, err);
    if (r <= 0)
        return r;
    value_each_item (it, value_get(&endpoints, STR("subsets"))) {
        int64_t port = find_port(l, value_get(it, STR("ports")));
        struct str host = value_text(value_at(value_get(it, STR("addresses")), 0), "ip");
        if (port && host.n && !l->ret.n)
            l->ret = join(l->arena, host, port);
    }
    return 0;
}

static bool has_port(struct lookup *l, const struct value *service)
{
    int64_t number;
    value_each_item (it, value_dig(service, "spec", "ports")) {
        if (!value_to_int(value_get(it, STR("port")), &number) || number != l->port)
            continue;
        l->port_name = value_text(it, "name");
        return true;
    }
    return false;
}

static int find_endpoint(struct lookup *l, const struct value *service, struct err *err)
{
    struct str cluster_ip = value_str(value_dig(service, "spec", "clusterIP"));
    if (!has_port(l, service))
        return err_set(err, ERR_UNAVAILABLE,
                       "no service port %lld found for service \"" STR_FMT "\"", (long long)l->port,
                       STR_ARG(l->name));
    int r = look_into_slices(l, err);
    if (r < 0 || l->ret.n)
        return r;
    r = look_into_endpoints(l, err);
    if (r < 0 || l->ret.n)
        return r;
    if (!cluster_ip.n || str_eq(cluster_ip, STR("None")))
        return err_set(err, ERR_UNAVAILABLE,
                       "cannot route to service with ClusterIP \"" STR_FMT "\"",
                       STR_ARG(cluster_ip));
    l->ret = join(l->arena, cluster_ip, l->port);
    return 0;
}

int hook_find_service(struct arena *a, const struct hook_services *services, struct str ns,
                      struct str name, int64_t port, struct str *ret, struct err *err)
{
    struct lookup l = { .arena = a, .services = services, .ns = ns, .name = name, .port = port };
    struct value service;
    int r =
        services->cluster->read(services->arg, STR(""), STR("services"), ns, name, &service, err);
    if (r == 0)
        return err_set(err, ERR_UNAVAILABLE, "service \"" STR_FMT "\" not found", STR_ARG(name));
    if (r < 0)
        return r;
    if (str_eq(value_str(value_dig(&service, "spec", "type")), STR("ExternalName")))
        l.ret = join(a, value_str(value_dig(&service, "spec", "externalName")), port);
    else
        r = find_endpoint(&l, &service, err);
    if (r < 0)
        return r;
    if (tcp_leads_nowhere(l.ret))
        return err_set(err, ERR_UNAVAILABLE, "dial tcp " STR_FMT ": connect: no route to host",
                       STR_ARG(l.ret));
    *ret = l.ret;
    return 0;
}
