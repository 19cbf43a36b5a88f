#include "server/verbs/connect.h"

#include "api/errors.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "server/registry/registry.h"
#include "server/verbs/subresource.h"
#include "base/banned.h"

/* ---- Where ---- */

static struct str address_of(const struct value *addresses, struct str type)
{
    value_each_item (it, addresses)
        if (str_eq(value_text(it, "type"), type))
            return value_text(it, "address");
    return STR("");
}

static int no_address(struct arena *a, const struct value *addresses, struct err *err)
{
    autobuf known = { 0 };
    value_each_item (it, addresses)
        buf_printf(&known, "%s{" STR_FMT " " STR_FMT "}", known.n ? " " : "",
                   STR_ARG(value_text(it, "type")), STR_ARG(value_text(it, "address")));
    (void)a;
    return err_set(err, ERR_UNKNOWN, "no preferred addresses found; known addresses: [" STR_FMT "]",
                   STR_ARG(buf_str(&known)));
}

static bool declares(const struct value *node, struct str feature)
{
    value_each_item (it, value_dig(node, "status", "declaredFeatures"))
        if (str_eq(value_str(it), feature))
            return true;
    return false;
}

int connect_find_node(struct call *c, struct str node, struct connect_place *ret, struct err *err)
{
    struct call nodes = subresource_call(c, STR(""), STR("nodes"));
    struct registry_entry entry;
    int64_t port = 0;
    nodes.req.ns = (struct str){ NULL, 0 };
    int r = registry_get(&nodes, node, &entry, err);
    if (r == -ERR_NOT_FOUND) /* upstream takes it for one of the resource that was asked for */
        return error_not_found(err, c->req.resource, node);
    if (r < 0)
        return r;
    const struct value *addresses = value_dig(&entry.obj, "status", "addresses");
    struct str host = STR(""), type;
    for (size_t i = 0; !host.n && (type = kubelet_address_type(c->api->kubelet, i)).p; i++)
        host = address_of(addresses, type);
    if (!host.n)
        return no_address(c->arena, addresses, err);
    (void)value_to_int(
        value_dig(&entry.obj, "status", "daemonEndpoints", "kubeletEndpoint", "Port"), &port);
    *ret = (struct connect_place){
        .is_tls = true,
        .trust = KUBELET_VERIFIED,
        .host = host,
        .port = arena_printf(c->arena, "%lld", (long long)(port > 0 ? port : KUBELET_PORT)),
        .takes_websockets = declares(&entry.obj, STR("ExtendWebSocketsToKubelet")),
    };
    return 0;
}

static bool has_container(const struct value *pod, struct str name)
{
    static const struct str lists[] = { STR("initContainers"), STR("containers"),
                                        STR("ephemeralContainers") };
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        value_each_item (it, value_get(value_get(pod, STR("spec")), lists[l]))
            if (str_eq(value_text(it, "name"), name))
                return true;
    return false;
}

static struct str join_names(struct arena *a, const struct value *containers)
{
    autobuf names = { 0 };
    value_each_item (it, containers)
        buf_printf(&names, "%s" STR_FMT, names.n ? " " : "", STR_ARG(value_text(it, "name")));
    return arena_str(a, buf_str(&names));
}

int connect_find_container(struct call *c, const struct value *pod, struct str *ret,
                           struct err *err)
{
    struct str name = request_param(&c->req, STR("container"));
    const struct value *containers = value_dig(pod, "spec", "containers");
    struct str inits = join_names(c->arena, value_dig(pod, "spec", "initContainers"));
    if (name.n && !has_container(pod, name))
        return err_set(err, ERR_BAD_REQUEST, "container " STR_FMT " is not valid for pod " STR_FMT,
                       STR_ARG(name), STR_ARG(c->req.name));
    *ret = name.n ? name : value_text(value_at(containers, 0), "name");
    if (name.n || (value_is(containers, VALUE_ARRAY) && containers->n == 1))
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "a container name must be specified for pod " STR_FMT
                   ", choose one of: [" STR_FMT "]%s" STR_FMT "%s",
                   STR_ARG(c->req.name), STR_ARG(join_names(c->arena, containers)),
                   inits.n ? " or one of the init containers: [" : "", STR_ARG(inits),
                   inits.n ? "]" : "");
}

struct str connect_authority(struct arena *a, const struct connect_place *p)
{
    const bool is_v6 = str_find(p->host, ':') >= 0;
    return arena_printf(a, "%s" STR_FMT "%s%s" STR_FMT, is_v6 ? "[" : "", STR_ARG(p->host),
                        is_v6 ? "]" : "", p->port.n ? ":" : "", STR_ARG(p->port));
}

/* ---- Text of URLs ---- */

static bool is_plain(char ch, const char *more)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           (ch && strchr(more, ch));
}

static void add_encoded(struct buf *out, struct str text, const char *plain)
{
    for (size_t i = 0; i < text.n; i++) {
        if (is_plain(text.p[i], plain))
            buf_byte(out, text.p[i]);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.p[i]);
    }
}

void connect_add_param(struct buf *query, const char *key, struct str value)
{
    buf_printf(query, "%s%s=", query->n ? "&" : "", key);
    add_encoded(query, value, "-_.~");
}

void connect_add_path(struct buf *path, struct str decoded)
{
    add_encoded(path, decoded, "-_.~$&+,/:;=@");
}

/* ---- Headers ---- */

bool connect_is_upgrade(const struct call *c)
{
    const struct http_request *req = c->http;
    for (size_t i = 0; i < req->n_headers; i++) {
        struct str list = req->headers[i].value;
        while (str_eq(req->headers[i].name, STR("connection")) && list.n)
            if (str_eq_nocase(str_trim(str_cut(&list, ',')), STR("upgrade")))
                return req->version == HTTP_1_1;
    }
    return false;
}

/* What is between the client and the server, and not for who comes behind. */
static bool is_for_us(struct str name, bool is_upgrade)
{
    static const struct str dropped[] = {
        STR("host"),
        STR("content-length"),
        STR("transfer-encoding"),
        STR("expect"),
        STR("keep-alive"),
        STR("te"),
        STR("trailer"),
        STR("authorization"),
        STR("proxy-authorization"),
        STR("proxy-connection"),
        STR("x-forwarded-for"),
    };
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        if (str_eq(name, dropped[i]))
            return true;
    if (str_starts(name, STR("impersonate-")) || str_starts(name, STR("x-remote-")))
        return true;
    return !is_upgrade && (str_eq(name, STR("connection")) || str_eq(name, STR("upgrade")));
}

/* A WebSocket's token stands among its protocols. */
static struct str without_token(struct arena *a, struct str protocols)
{
    autobuf kept = { 0 };
    while (protocols.n) {
        struct str one = str_trim(str_cut(&protocols, ','));
        if (!str_starts(one, STR("base64url.bearer.authorization.k8s.io.")))
            buf_printf(&kept, "%s" STR_FMT, kept.n ? ", " : "", STR_ARG(one));
    }
    return arena_str(a, buf_str(&kept));
}

/* "[::1]:40000" without the port and the brackets. */
static struct str peer_ip(const struct http_request *req)
{
    struct str address = req->peer->address;
    if (str_starts(address, STR("["))) {
        address = str_skip(address, 1);
        return str_cut(&address, ']');
    }
    return str_cut(&address, ':');
}

void connect_headers(struct call *c, bool is_upgrade, struct relay_request *ret)
{
    enum { ADDED = 2 };
    const struct http_request *req = c->http;
    struct http_header *kept = arena_array(c->arena, struct http_header, req->n_headers + ADDED);
    struct str before = http_header_get(req, STR("x-forwarded-for"));
    size_t n = 0;
    kept[n++] = (struct http_header){ STR("host"), req->authority };
    for (size_t i = 0; i < req->n_headers; i++) {
        struct http_header h = req->headers[i];
        if (is_for_us(h.name, is_upgrade))
            continue;
        if (str_eq(h.name, STR("sec-websocket-protocol")))
            h.value = without_token(c->arena, h.value);
        if (h.value.n || !str_eq(h.name, STR("sec-websocket-protocol")))
            kept[n++] = h;
    }
    kept[n++] = (struct http_header){ STR("x-forwarded-for"),
                                      arena_printf(c->arena, STR_FMT "%s" STR_FMT, STR_ARG(before),
                                                   before.n ? ", " : "", STR_ARG(peer_ip(req))) };
    ret->headers = kept;
    ret->n_headers = n;
}

/* ---- On the way ---- */

/* The node is asked for SPDY; nothing else of what the client's WebSocket said is for it. */
static void translate(struct http_exchange *x, struct connect_job *job)
{
    struct http_header *h = arena_array(http_arena(x), struct http_header, 1 + WS_SPDY_HEADERS);
    job->translation = ws_spdy_new(x, job->translates);
    if (!job->translation)
        return;
    h[0] = job->req.headers[0]; /* Host */
    ws_spdy_headers(job->translation, h + 1);
    job->req.headers = h;
    job->req.n_headers = 1 + WS_SPDY_HEADERS;
    job->req.method = STR("POST");
    job->req.filter = ws_spdy_filter(job->translation);
}

static void start(struct http_exchange *x, void *arg)
{
    struct connect_job *job = arg;
    struct tls_context *tls = job->req.tls;
    const struct api *api = job->call->api;
    if (job->translates)
        translate(x, job);
    job->req.set = api->relays[api_loop_index(api, http_loop(x))];
    relay_start(x, &job->req, &job->holder);
    tls_context_unref(tls);
}

static int look_up(struct connect_job *job, const struct connect_place *p, bool is_proxy,
                   struct err *err)
{
    struct str port = p->port.n ? p->port : p->is_tls ? STR("443") : STR("80");
    if (tcp_leads_nowhere(p->host))
        return err_set(err, ERR_UNAVAILABLE,
                       "dial tcp " STR_FMT ":" STR_FMT ": connect: no route to host",
                       STR_ARG(p->host), STR_ARG(port));
    int r = tcp_resolve(job->call->arena, p->host, port, &job->req.to, err);
    for (size_t i = 0; r == 0 && is_proxy && i < job->req.to.n; i++)
        if (!tcp_is_global(&job->req.to.list[i]))
            return err_set(err, ERR_BAD_REQUEST, "address not allowed");
    return r;
}

void connect_pass(struct connect_job *job, const struct connect_place *p, bool is_proxy)
{
    struct call *c = job->call;
    struct err err = ERR_INIT(c->arena);
    int r = look_up(job, p, is_proxy, &err);
    job->holder.arg = job;
    if (r == -ERR_BAD_REQUEST) {
        call_fail(c, &err);
        return;
    }
    if (r < 0) {
        job->holder.on_failed(job, c->x, false, &err);
        return;
    }
    if (p->is_tls && !job->req.tls) {
        job->req.tls = kubelet_tls(c->api->kubelet, p->trust);
        job->req.tls_name = kubelet_verifies(c->api->kubelet, p->trust) ? p->host : STR("");
    }
    http_to_loop(c->x, start, job);
}

/* ---- Upgrades ---- */

static bool on_upgrade_head(void *arg, struct http_exchange *x, struct relay_answer *answer)
{
    const struct connect_job *job = arg;
    if (answer->status == 101 && job->translation)
        ws_spdy_answer(job->translation, answer);
    if (answer->status == 101)
        return true;
    http_close_after(x);
    return answer->status >= 400;
}

static void on_no_upgrade(void *arg, struct http_exchange *x, const struct relay_answer *answer,
                          struct str body)
{
    struct connect_job *job = arg;
    struct err err = ERR_INIT(job->call->arena);
    (void)x;
    (void)body;
    (void)err_set(&err, ERR_UNKNOWN, "invalid upgrade response: status code %d", answer->status);
    call_fail(job->call, &err);
}

static void on_upgrade_failed(void *arg, struct http_exchange *x, bool is_dialled,
                              const struct err *why)
{
    struct connect_job *job = arg;
    struct err err = ERR_INIT(job->call->arena);
    (void)x;
    (void)err_set(&err, ERR_UNKNOWN, "%s" STR_FMT,
                  is_dialled ? "" : "error dialing backend: ", STR_ARG(why->msg));
    call_fail(job->call, &err);
}

const struct relay_holder connect_upgrade_holder = { NULL, on_upgrade_head, on_no_upgrade,
                                                     on_upgrade_failed };
