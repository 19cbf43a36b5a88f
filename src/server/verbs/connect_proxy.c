/* A proxy to a node, a pod or a service: the request is passed on, and the answer back. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "server/http/reply.h"
#include "server/registry/registry.h"
#include "server/verbs/connect.h"
#include "server/verbs/subresource.h"
#include "base/banned.h"

/* ---- Its name: "web", "web:80" or "https:web:443" ---- */

struct target {
    struct str scheme, name, port;
};

static int split_name(struct call *c, const char *what, struct target *ret, struct err *err)
{
    struct str rest = c->req.name, parts[3] = { 0 };
    size_t n = 0;
    while (rest.p && n < 3)
        parts[n++] = str_cut(&rest, ':');
    const size_t name = n == 3; /* the scheme, if there is one, stands before it */
    *ret = (struct target){ .name = parts[name], .port = parts[name + 1] };
    if (n == 3)
        ret->scheme = parts[0];
    const bool is_known =
        !ret->scheme.n || str_eq(ret->scheme, STR("http")) || str_eq(ret->scheme, STR("https"));
    if (!rest.p && ret->name.n && is_known)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "invalid %s request \"" STR_FMT "\"", what,
                   STR_ARG(c->req.name));
}

static struct connect_place place_at(const struct target *t, struct str host, struct str port)
{
    return (struct connect_place){ .is_tls = str_eq(t->scheme, STR("https")),
                                   .trust = KUBELET_STRANGER,
                                   .host = host,
                                   .port = port };
}

/* ---- Where ---- */

static int find_node(struct call *c, struct connect_place *ret, struct err *err)
{
    struct target t;
    int r = split_name(c, "node", &t, err);
    if (r < 0)
        return r;
    r = connect_find_node(c, t.name, ret, err);
    if (r == 0 && t.port.n && !str_eq(t.port, ret->port))
        *ret = place_at(&t, ret->host, t.port);
    return r;
}

static struct str first_port(struct call *c, const struct value *pod)
{
    int64_t port;
    value_each_item (it, value_dig(pod, "spec", "containers"))
        if (value_to_int(value_get(value_at(value_get(it, STR("ports")), 0), STR("containerPort")),
                         &port))
            return arena_printf(c->arena, "%lld", (long long)port);
    return STR("");
}

static int find_pod(struct call *c, struct connect_place *ret, struct err *err)
{
    struct registry_entry entry;
    struct target t;
    int r = split_name(c, "pod", &t, err);
    if (r < 0)
        return r;
    r = registry_get(c, t.name, &entry, err);
    if (r < 0)
        return r;
    struct str ip = value_str(value_dig(&entry.obj, "status", "podIP"));
    if (!ip.n)
        return err_set(err, ERR_BAD_REQUEST, "address not allowed");
    *ret = place_at(&t, ip, t.port.n ? t.port : first_port(c, &entry.obj));
    return 0;
}

/* ---- Services ---- */

enum { ENDPOINTS_MAX = 1000 };

struct endpoint {
    struct str ip, pod;
    int64_t port;
};

struct search {
    struct call *call;
    struct str service, port_name;
    struct endpoint *found; /* ENDPOINTS_MAX */
    size_t n;
};

static void add_endpoints(struct search *s, const struct value *slice, int64_t port)
{
    value_each_item (it, value_get(slice, STR("endpoints"))) {
        const struct value *ready = value_dig(it, "conditions", "ready");
        const struct value *pod = value_get(it, STR("targetRef"));
        struct str ip = value_str(value_at(value_get(it, STR("addresses")), 0));
        if (s->n == ENDPOINTS_MAX || !ip.n || (value_is(ready, VALUE_BOOL) && !ready->b) ||
            !str_eq(value_text(pod, "namespace"), s->call->req.ns))
            continue;
        s->found[s->n++] =
            (struct endpoint){ arena_str(s->call->arena, ip),
                               arena_str(s->call->arena, value_text(pod, "name")), port };
    }
}

static int look_into_slice(void *arg, const struct value *slice)
{
    struct search *s = arg;
    const struct value *labels = value_dig(slice, "metadata", "labels");
    int64_t port;
    if (!str_eq(value_text(labels, "kubernetes.io/service-name"), s->service))
        return 0;
    value_each_item (it, value_get(slice, STR("ports")))
        if (str_eq(value_text(it, "name"), s->port_name) &&
            value_to_int(value_get(it, STR("port")), &port))
            add_endpoints(s, slice, port);
    return 0;
}

/* An endpoint must be a pod's own: else a slice would be a way to dial anything. */
static bool is_of_pod(struct call *c, const struct endpoint *e)
{
    struct call pods = subresource_call(c, STR(""), STR("pods"));
    struct registry_entry entry;
    struct err ignored = ERR_INIT(c->arena);
    if (!e->pod.n || registry_find(&pods, e->pod, &entry, &ignored) != 1)
        return false;
    value_each_item (it, value_dig(&entry.obj, "status", "podIPs"))
        if (str_eq(value_text(it, "ip"), e->ip))
            return true;
    return false;
}

/* A number is that of the service's port, whose name the slices know. */
static int find_port_name(struct call *c, const struct target *t, struct str *ret, struct err *err)
{
    struct registry_entry entry;
    int64_t wanted, port;
    *ret = t->port;
    if (!str_to_i64(t->port, &wanted))
        return 0;
    int r = registry_get(c, t->name, &entry, err);
    if (r < 0)
        return r;
    value_each_item (it, value_dig(&entry.obj, "spec", "ports"))
        if (value_to_int(value_get(it, STR("port")), &port) && port == wanted) {
            *ret = value_text(it, "name");
            return 0;
        }
    return err_set(err, ERR_UNAVAILABLE, "no service port %lld found for service \"" STR_FMT "\"",
                   (long long)wanted, STR_ARG(t->name));
}

static int find_service(struct call *c, struct connect_place *ret, struct err *err)
{
    struct target t;
    struct search s = { .call = c };
    int r = split_name(c, "service", &t, err);
    if (r < 0)
        return r;
    s.service = t.name;
    s.found = arena_array(c->arena, struct endpoint, ENDPOINTS_MAX);
    r = find_port_name(c, &t, &s.port_name, err);
    if (r < 0)
        return r;
    r = registry_each_in(c, STR("discovery.k8s.io"), STR("endpointslices"), c->req.ns,
                         look_into_slice, &s, err);
    if (r < 0)
        return r;
    const size_t first = s.n ? (size_t)(clock_wall_ns(c->api->clock) / 1000) % s.n : 0;
    for (size_t i = 0; i < s.n; i++) {
        const struct endpoint *e = &s.found[(first + i) % s.n];
        if (!is_of_pod(c, e))
            continue;
        *ret = place_at(&t, e->ip, arena_printf(c->arena, "%lld", (long long)e->port));
        return 0;
    }
    return err_set(err, ERR_UNAVAILABLE, "no endpoints available for service \"" STR_FMT "\"",
                   STR_ARG(t.name));
}

/* ---- The answer ---- */

struct proxy {
    struct connect_job job; /* first */
    struct str authority;   /* of the one behind */
    struct str prefix;      /* the path that leads to it */
};

/* Links to the one behind lead through the proxy. Those of a page are left as they are. */
static struct str rewritten(const struct proxy *p, struct str link)
{
    const struct call *c = p->job.call;
    struct str rest = link;
    if (str_starts(rest, STR("http://")))
        rest = str_skip(rest, 7);
    else if (str_starts(rest, STR("https://")))
        rest = str_skip(rest, 8);
    if (rest.p != link.p && str_starts(rest, p->authority))
        rest = str_skip(rest, p->authority.n);
    else if (rest.p != link.p && str_starts(rest, c->http->authority))
        rest = str_skip(rest, c->http->authority.n);
    else if (rest.p != link.p)
        return link;
    if (!str_starts(rest, STR("/")) || str_starts(rest, p->prefix))
        return rest.p == link.p || str_starts(rest, STR("/")) ? rest : link;
    return arena_printf(c->arena, STR_FMT STR_FMT, STR_ARG(p->prefix), STR_ARG(rest));
}

static bool is_dropped(struct str name)
{
    static const struct str dropped[] = {
        STR("connection"),
        STR("keep-alive"),
        STR("transfer-encoding"),
        STR("upgrade"),
        STR("trailer"),
        STR("access-control-allow-credentials"),
        STR("access-control-allow-headers"),
        STR("access-control-allow-methods"),
        STR("access-control-allow-origin"),
    };
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        if (str_eq(name, dropped[i]))
            return true;
    return false;
}

static bool on_head(void *arg, struct http_exchange *x, struct relay_answer *answer)
{
    const struct proxy *p = arg;
    struct arena *a = http_arena(x);
    struct http_header *kept = arena_array(a, struct http_header, answer->n_headers);
    size_t n = 0;
    if (answer->status == 101)
        return false;
    for (size_t i = 0; i < answer->n_headers; i++) {
        struct http_header h = answer->headers[i];
        if (str_eq(h.name, STR("location")))
            h.value = rewritten(p, h.value);
        if (!is_dropped(h.name))
            kept[n++] = h;
    }
    answer->headers = kept;
    answer->n_headers = n;
    return true;
}

static void on_failed(void *arg, struct http_exchange *x, bool is_dialled, const struct err *why)
{
    struct connect_job *job = arg;
    struct err err = ERR_INIT(job->call->arena);
    (void)x;
    (void)is_dialled;
    (void)err_set(&err, ERR_UNAVAILABLE, "error trying to reach service: " STR_FMT,
                  STR_ARG(why->msg));
    call_fail(job->call, &err);
}

/* ---- On the way ---- */

static void add_query(struct call *c, struct buf *target)
{
    if (c->http->query.n)
        buf_printf(target, "?" STR_FMT, STR_ARG(c->http->query));
}

/* "…/proxy" is a folder: links of its page lead below it only if its path ends so. */
static bool redirect(struct call *c)
{
    const bool reads = str_eq(c->http->method, STR("GET")) || str_eq(c->http->method, STR("HEAD"));
    if (!reads || c->req.rest.n || str_ends(c->http->path, STR("/")))
        return false;
    autobuf to = { 0 };
    buf_printf(&to, STR_FMT "/", STR_ARG(c->http->path));
    add_query(c, &to);
    const struct http_header location = { STR("location"), arena_str(c->arena, buf_str(&to)) };
    reply_bytes(c->x, 301, &location, 1, STR(""));
    return true;
}

static struct str target_of(struct call *c)
{
    autobuf target = { 0 };
    buf_byte(&target, '/');
    connect_add_path(&target, c->req.rest);
    if (target.n > 1 && str_ends(c->http->path, STR("/")) && !str_ends(buf_str(&target), STR("/")))
        buf_byte(&target, '/');
    add_query(c, &target);
    return arena_str(c->arena, buf_str(&target));
}

static void pass_on(struct call *c, const struct connect_place *place)
{
    const bool is_upgrade = connect_is_upgrade(c);
    const struct relay_holder plain = { NULL, on_head, connect_upgrade_holder.on_collected,
                                        on_failed };
    struct proxy *p = arena_new(c->arena, struct proxy);
    struct str path = c->http->path;
    *p =
        (struct proxy){ .job = { .call = c, .holder = is_upgrade ? connect_upgrade_holder : plain },
                        .authority = connect_authority(c->arena, place) };
    struct str target = target_of(c), below = target;
    below = str_cut(&below, '?');
    p->prefix = str_ends(path, below) ? str_take(path, path.n - below.n) : path;
    p->job.req = (struct relay_request){ .method = c->http->method,
                                         .target = target,
                                         .body = c->http->body };
    connect_headers(c, is_upgrade, &p->job.req);
    connect_pass(&p->job, place, true);
}

int connect_proxy(struct call *c, struct err *err)
{
    struct connect_place place;
    struct str plural = c->stored->plural;
    int r = str_eq(plural, STR("nodes"))  ? find_node(c, &place, err)
            : str_eq(plural, STR("pods")) ? find_pod(c, &place, err)
                                          : find_service(c, &place, err);
    if (r < 0)
        return r;
    if (connect_is_upgrade(c) || !redirect(c))
        pass_on(c, &place);
    return 0;
}
