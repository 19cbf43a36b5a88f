#include "server/verbs/foreign.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/percent.h"
#include "server/apiservice/apiservice.h"
#include "server/http/reply.h"
#include "server/registry/registry.h"
#include "server/verbs/connect.h"
#include "base/banned.h"

struct foreign {
    struct connect_job job; /* first */
    struct str audit_id;
};

/* ---- Whose it is ---- */

/* "/apis/GROUP/VERSION", perhaps below /openapi/v3, and what follows. */
static bool split_path(struct str path, struct str *ret_group, struct str *ret_version)
{
    static const struct str documents = STR("/openapi/v3"), prefix = STR("/apis/");
    if (str_starts(path, documents))
        path = str_skip(path, documents.n);
    if (!str_starts(path, prefix))
        return false;
    path = str_skip(path, prefix.n);
    *ret_group = str_cut(&path, '/');
    *ret_version = str_cut(&path, '/');
    return ret_group->n && ret_version->n;
}

static struct apiservice *find(struct api *api, struct str path)
{
    struct str group, version;
    if (!apiservices_has_foreign(api->apiservices) || !split_path(path, &group, &version))
        return NULL;
    struct apiservice *s = apiservices_find(api->apiservices, group, version);
    return s && apiservice_is_local(s) ? apiservice_unref(s) : s;
}

/* ---- What it is told ---- */

static void add(struct relay_request *req, size_t *n, struct str name, struct str value)
{
    ((struct http_header *)req->headers)[(*n)++] = (struct http_header){ name, value };
}

/* Upper case cannot be told in a header's name, and neither can most signs. */
static struct str extra_name(struct arena *a, struct str key)
{
    autobuf name = { 0 };
    buf_str_add(&name, STR("x-remote-extra-"));
    for (size_t i = 0; i < key.n; i++) {
        const char ch = key.p[i];
        const bool is_plain = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                              (ch >= '0' && ch <= '9') || (ch && strchr("!#$&'*+-.^_`|~", ch));
        if (is_plain)
            buf_byte(&name, ch);
        else
            buf_printf(&name, "%%%02x", (unsigned)(unsigned char)ch);
    }
    return arena_str(a, buf_str(&name));
}

static void add_user(struct arena *a, struct relay_request *req, size_t *n, const struct user *user)
{
    add(req, n, STR("x-remote-user"), user->name);
    if (user->uid.n)
        add(req, n, STR("x-remote-uid"), user->uid);
    for (size_t i = 0; i < user->n_groups; i++)
        add(req, n, STR("x-remote-group"), user->groups[i]);
    for (size_t i = 0; i < user->n_extra; i++)
        for (size_t k = 0; k < user->extra[i].n_values; k++)
            add(req, n, extra_name(a, user->extra[i].key), user->extra[i].values[k]);
}

static size_t room_for(const struct call *c)
{
    enum { OWN = 8 };
    size_t n = c->http->n_headers + OWN + c->user->n_groups;
    for (size_t i = 0; i < c->user->n_extra; i++)
        n += c->user->extra[i].n_values;
    return n;
}

/* What the client sent, without what only we may say. */
static void set_headers(struct foreign *f, struct str address)
{
    struct call *c = f->job.call;
    struct relay_request *req = &f->job.req, sent = { 0 };
    size_t n = 0;
    connect_headers(c, connect_is_upgrade(c), &sent);
    req->headers = arena_array(c->arena, struct http_header, sent.n_headers + room_for(c));
    for (size_t i = 0; i < sent.n_headers; i++) {
        const struct http_header *h = &sent.headers[i];
        if (!str_eq(h->name, STR("host")) && !str_starts(h->name, STR("x-forwarded-host")) &&
            !str_starts(h->name, STR("x-forwarded-proto")) &&
            !str_starts(h->name, STR("x-forwarded-uri")) && !str_eq(h->name, STR("audit-id")))
            ((struct http_header *)req->headers)[n++] = *h;
    }
    add(req, &n, STR("host"), address);
    add(req, &n, STR("x-forwarded-host"), address);
    add(req, &n, STR("x-forwarded-proto"), STR("https"));
    add(req, &n, STR("x-forwarded-uri"), c->http->path);
    if (f->audit_id.n)
        add(req, &n, STR("audit-id"), f->audit_id);
    if (req->opens_gzip)
        add(req, &n, STR("accept-encoding"), STR("gzip"));
    add_user(c->arena, req, &n, c->user);
    req->n_headers = n;
}

/* ---- Where it goes ---- */

struct param {
    struct request_param is;
    size_t at;
};

static int by_key(const void *x, const void *y)
{
    const struct param *a = x, *b = y;
    int order = str_cmp(a->is.key, b->is.key);
    return order ? order : (a->at < b->at ? -1 : 1);
}

static void add_escaped(struct buf *out, struct str text)
{
    for (struct str part = str_cut(&text, ' ');; part = str_cut(&text, ' ')) {
        percent_encode(out, part);
        if (!text.p)
            return;
        buf_byte(out, '+');
    }
}

/* The path as it was sent; the query as Go writes one that it has read: by key. */
static struct str target_of(struct call *c)
{
    autobuf target = { 0 };
    size_t n = c->req.n_params;
    struct param *params = arena_array(c->arena, struct param, n + 1);
    for (size_t i = 0; i < n; i++)
        params[i] = (struct param){ c->req.params[i], i };
    qsort(params, n, sizeof(*params), by_key);
    buf_str_add(&target, c->http->path);
    if (!n && c->http->query.n) /* of a document: nobody has read it */
        buf_printf(&target, "?" STR_FMT, STR_ARG(c->http->query));
    for (size_t i = 0; i < n; i++) {
        buf_byte(&target, i ? '&' : '?');
        add_escaped(&target, params[i].is.key);
        buf_byte(&target, '=');
        add_escaped(&target, params[i].is.value);
    }
    return arena_str(c->arena, buf_str(&target));
}

/* ---- Its answer ---- */

static bool is_redirect(const struct relay_answer *answer)
{
    if (answer->status < 300 || answer->status > 399)
        return false;
    for (size_t i = 0; i < answer->n_headers; i++)
        if (str_eq(answer->headers[i].name, STR("location")) && answer->headers[i].value.n)
            return true;
    return false;
}

/* What is about the connection alone. */
static bool is_dropped(struct str name)
{
    static const struct str dropped[] = { STR("connection"), STR("keep-alive"),
                                          STR("transfer-encoding"), STR("upgrade"),
                                          STR("trailer") };
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        if (str_eq(name, dropped[i]))
            return true;
    return false;
}

static bool on_head(void *arg, struct http_exchange *x, struct relay_answer *answer)
{
    struct arena *a = http_arena(x);
    struct http_header *kept = arena_array(a, struct http_header, answer->n_headers + 1);
    size_t n = 0;
    (void)arg;
    if (answer->status == 101 || is_redirect(answer))
        return false;
    for (size_t i = 0; i < answer->n_headers; i++)
        if (!is_dropped(answer->headers[i].name))
            kept[n++] = answer->headers[i];
    answer->headers = kept;
    answer->n_headers = n;
    return true;
}

/* Nobody is sent elsewhere by somebody who does not know him. */
static void on_collected(void *arg, struct http_exchange *x, const struct relay_answer *answer,
                         struct str body)
{
    (void)arg;
    (void)answer;
    (void)body;
    reply_text(x, 502,
               STR("the backend attempted to redirect this request, which is not permitted"));
}

static void on_failed(void *arg, struct http_exchange *x, bool is_dialled, const struct err *why)
{
    (void)arg;
    (void)is_dialled;
    reply_text(x, 503,
               arena_printf(http_arena(x), "error trying to reach service: " STR_FMT "\n",
                            STR_ARG(why->msg)));
}

/* ---- On the way ---- */

/* Go's client asks for a compressed answer and opens it, if nobody else has asked. */
static bool asks_gzip(const struct call *c)
{
    return !http_header_get(c->http, STR("accept-encoding")).p &&
           !http_header_get(c->http, STR("range")).p && !str_eq(c->http->method, STR("HEAD")) &&
           !connect_is_upgrade(c);
}

/* "10.0.0.1:443" or "[::1]:443". */
static struct connect_place place_of(struct str address)
{
    struct str port = address, host;
    if (str_starts(address, STR("["))) {
        port = str_skip(port, 1);
        host = str_cut(&port, ']');
        port = str_skip(port, 1);
    } else {
        host = str_cut(&port, ':');
    }
    return (struct connect_place){ .is_tls = true, .host = host, .port = port };
}

static void pass_on(struct foreign *f, const struct apiservice *s, struct str address)
{
    const struct relay_holder plain = { NULL, on_head, on_collected, on_failed };
    struct call *c = f->job.call;
    const struct connect_place place = place_of(address);
    f->job.holder = connect_is_upgrade(c) ? connect_upgrade_holder : plain;
    f->job.req = (struct relay_request){
        .method = c->http->method,
        .target = target_of(c),
        .body = c->http->body,
        .tls = tls_context_ref(s->tls),
        .tls_name = arena_str(c->arena, s->tls_name),
        .head_ms = request_flag(&c->req, STR("watch")) ? 0 : LIMIT_REQUEST_MS,
        .opens_gzip = asks_gzip(c),
    };
    set_headers(f, address);
    connect_pass(&f->job, &place, false);
}

static void run(struct http_exchange *x, void *arg) /* thread: a worker that may wait */
{
    struct foreign *f = arg;
    struct call *c = f->job.call;
    struct err err = ERR_INIT(c->arena);
    struct apiservice *s = find(c->api, c->http->path);
    struct str address;
    if (!s)
        reply_text(x, 404, STR("404 page not found\n"));
    else if (!s->tls || !s->is_available ||
             registry_find_service(c, s->service_ns, s->service_name, s->service_port, &address,
                                   &err) < 0)
        reply_text(x, 503, STR("service unavailable\n"));
    else
        pass_on(f, s, address);
    apiservice_unref(s);
}

bool foreign_serve(struct api *api, struct http_exchange *x, const struct request *req,
                   const struct user *user, struct str audit_id)
{
    struct apiservice *service = find(api, http_request_of(x)->path);
    bool is_foreign = service != NULL;
    apiservice_unref(service); /* the worker may never be called; it looks again */
    if (!is_foreign)
        return false;
    struct foreign *f = arena_new(http_arena(x), struct foreign);
    struct call *c = arena_new(http_arena(x), struct call);
    *c = (struct call){
        .api = api,
        .x = x,
        .http = http_request_of(x),
        .arena = http_arena(x),
        .req = *req,
        .user = user,
        .warnings = arena_new(http_arena(x), struct call_warnings),
    };
    *f = (struct foreign){ .job.call = c, .audit_id = audit_id };
    (void)http_to_worker(x, api->hook_workers, run, f);
    return true;
}
