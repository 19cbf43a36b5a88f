/* custom_webhook_call.c - where a conversion webhook is, and the way there.
 *
 * A definition names a URL or a Service. Of a Service we connect to one of its endpoints, or to its
 * cluster address if it has none in the store: whoever runs without a cluster network still reaches
 * it. Names are checked in any case: NAME.NAMESPACE.svc. What goes wrong is told in the words of
 * Go's HTTP client, as far as libcurl's say the same. */
#include <stdatomic.h>
#include <stdlib.h>

#include "api/go/quote.h"
#include "base/base64.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "net/fetch.h"
#include "server/custom/custom_webhook.h"
#include "server/object/stored.h"
#include "base/banned.h"

struct custom_webhook {
    struct str url;                      /* with a path, without a query */
    struct str service_ns, service_name; /* empty: none */
    int64_t service_port;
    struct str ca_pem;         /* empty: the system's */
    struct str review_version; /* a NULL pointer: none that we speak */
    const atomic_bool *cancel;
    _Atomic(struct fetcher *) fetcher; /* made by the first call */
};

/* ---- What the definition says ---- */

static struct str find_review_version(const struct value *list)
{
    value_each_item (it, list) {
        if (str_eq(value_str(it), STR("v1")))
            return STR("v1");
        if (str_eq(value_str(it), STR("v1beta1")))
            return STR("v1beta1");
    }
    return (struct str){ NULL, 0 };
}

/* White space alone counts as nothing. */
static struct str read_ca(struct arena *a, const struct value *bundle)
{
    autobuf pem = { 0 };
    if (!base64_decode(&pem, value_str(bundle)) || !str_trim(buf_str(&pem)).n)
        return STR("");
    return arena_str(a, buf_str(&pem));
}

static void read_service(struct arena *a, const struct value *service, struct custom_webhook *w)
{
    struct str path = value_str(value_get(service, STR("path")));
    w->service_ns = arena_str(a, value_str(value_get(service, STR("namespace"))));
    w->service_name = arena_str(a, value_str(value_get(service, STR("name"))));
    if (!value_to_int(value_get(service, STR("port")), &w->service_port))
        w->service_port = 443;
    w->url =
        arena_printf(a, "https://" STR_FMT "." STR_FMT ".svc:%lld%s" STR_FMT,
                     STR_ARG(w->service_name), STR_ARG(w->service_ns), (long long)w->service_port,
                     str_starts(path, STR("/")) ? "" : "/", STR_ARG(path));
}

static struct str with_path(struct arena *a, struct str url)
{
    struct str rest = str_skip(url, STR("https://").n);
    return str_find(rest, '/') < 0 ? arena_printf(a, STR_FMT "/", STR_ARG(url)) : arena_str(a, url);
}

struct custom_webhook *custom_webhook_build(struct arena *a, const struct value *crd,
                                            const atomic_bool *cancel)
{
    const struct value *conversion = value_dig(crd, "spec", "conversion"),
                       *webhook = value_get(conversion, STR("webhook")),
                       *config = value_get(webhook, STR("clientConfig")),
                       *service = value_get(config, STR("service"));
    if (!str_eq(value_str(value_get(conversion, STR("strategy"))), STR("Webhook")))
        return NULL;
    struct custom_webhook *w = arena_new(a, struct custom_webhook);
    w->cancel = cancel;
    w->review_version = find_review_version(value_get(webhook, STR("conversionReviewVersions")));
    w->ca_pem = read_ca(a, value_get(config, STR("caBundle")));
    if (value_is(service, VALUE_OBJECT))
        read_service(a, service, w);
    else
        w->url = with_path(a, value_str(value_get(config, STR("url"))));
    return w;
}

void custom_webhook_done(struct custom_webhook *w)
{
    if (w)
        w->fetcher = fetcher_free(w->fetcher);
}

struct str custom_webhook__review_version(const struct custom_webhook *w)
{
    return w->review_version;
}

static struct fetcher *fetcher_of(struct custom_webhook *w)
{
    struct fetcher *f = atomic_load(&w->fetcher), *none = NULL;
    if (f)
        return f;
    f = fetcher_new(&(struct fetcher_options){ .ca_pem = w->ca_pem, .cancel = w->cancel });
    if (atomic_compare_exchange_strong(&w->fetcher, &none, f))
        return f;
    fetcher_free(f); /* somebody was faster */
    return none;
}

/* ---- Services ---- */

/* What it takes to find one endpoint. */
struct lookup {
    struct arena *arena;
    struct store_snap *snap;
    const struct custom_webhook *webhook;
    struct str port_name;
    struct str ret; /* HOST:PORT; empty: not found yet */
};

static int read_named(struct lookup *l, struct str plural, struct value *ret, struct err *err)
{
    const struct kind_resource *resource = kind_stored_named(STR(""), plural);
    struct store_entry e;
    struct str key =
        stored_key(l->arena, resource, l->webhook->service_ns, l->webhook->service_name);
    int r = store_snap_get(l->snap, key, &e, err);
    if (r <= 0)
        return r;
    r = stored_read(l->arena, resource->type, &e, ret, err);
    return r < 0 ? r : 1;
}

/* The number of the port that has the wanted name; 0 if none has. */
static int64_t find_port(const struct lookup *l, const struct value *ports)
{
    int64_t number = 0;
    value_each_item (it, ports)
        if (str_eq(value_str(value_get(it, STR("name"))), l->port_name) &&
            value_to_int(value_get(it, STR("port")), &number))
            return number;
    return 0;
}

static struct str join(struct arena *a, struct str host, int64_t port)
{
    bool is_v6 = str_find(host, ':') >= 0;
    return arena_printf(a, "%s" STR_FMT "%s:%lld", is_v6 ? "[" : "", STR_ARG(host),
                        is_v6 ? "]" : "", (long long)port);
}

static void look_into_slice(struct lookup *l, const struct value *slice)
{
    int64_t port = find_port(l, value_get(slice, STR("ports")));
    value_each_item (it, value_get(slice, STR("endpoints"))) {
        const struct value *ready = value_dig(it, "conditions", "ready");
        struct str host = value_str(value_at(value_get(it, STR("addresses")), 0));
        if (port && host.n && (!value_is(ready, VALUE_BOOL) || ready->b)) {
            l->ret = join(l->arena, host, port);
            return;
        }
    }
}

static int look_into_slices(struct lookup *l, struct err *err)
{
    const struct kind_resource *slices =
        kind_stored_named(STR("discovery.k8s.io"), STR("endpointslices"));
    struct store_entry e;
    int r;
    store_range_begin(l->snap, stored_key(l->arena, slices, l->webhook->service_ns, STR("")),
                      STR(""));
    while (!l->ret.n && (r = store_range_next(l->snap, &e, err)) == 1) {
        struct value meta, slice;
        if (stored_read_meta(l->arena, &e, &meta, err) < 0)
            return -(int)err->code;
        const struct value *labels = value_dig(&meta, "metadata", "labels");
        if (!str_eq(value_str(value_get(labels, STR("kubernetes.io/service-name"))),
                    l->webhook->service_name))
            continue;
        if (stored_read(l->arena, slices->type, &e, &slice, err) < 0)
            return -(int)err->code;
        look_into_slice(l, &slice);
    }
    return l->ret.n || r == 0 ? 0 : r;
}

static int look_into_endpoints(struct lookup *l, struct err *err)
{
    struct value endpoints;
    int r = read_named(l, STR("endpoints"), &endpoints, err);
    if (r <= 0)
        return r;
    value_each_item (it, value_get(&endpoints, STR("subsets"))) {
        int64_t port = find_port(l, value_get(it, STR("ports")));
        struct str host =
            value_str(value_get(value_at(value_get(it, STR("addresses")), 0), STR("ip")));
        if (port && host.n && !l->ret.n)
            l->ret = join(l->arena, host, port);
    }
    return 0;
}

static int no_endpoints(struct lookup *l, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "no endpoints available for service \"" STR_FMT "\"",
                   STR_ARG(l->webhook->service_name));
}

static int find_endpoint(struct lookup *l, const struct value *service, struct err *err)
{
    const struct custom_webhook *w = l->webhook;
    struct str cluster_ip = value_str(value_dig(service, "spec", "clusterIP"));
    bool found = false;
    int64_t number;
    value_each_item (it, value_dig(service, "spec", "ports"))
        if (!found && value_to_int(value_get(it, STR("port")), &number) &&
            number == w->service_port) {
            found = true;
            l->port_name = value_str(value_get(it, STR("name")));
        }
    if (!found)
        return err_set(err, ERR_UNAVAILABLE,
                       "no service port %lld found for service \"" STR_FMT "\"",
                       (long long)w->service_port, STR_ARG(w->service_name));
    int r = look_into_slices(l, err);
    if (r < 0)
        return r;
    if (!l->ret.n) {
        r = look_into_endpoints(l, err);
        if (r < 0)
            return r;
    }
    if (l->ret.n)
        return 0;
    if (!cluster_ip.n || str_eq(cluster_ip, STR("None")))
        return no_endpoints(l, err);
    l->ret = join(l->arena, cluster_ip, w->service_port);
    return 0;
}

static int find_service(struct lookup *l, struct err *err)
{
    const struct custom_webhook *w = l->webhook;
    struct value service;
    int r = read_named(l, STR("services"), &service, err);
    if (r == 0)
        return err_set(err, ERR_UNAVAILABLE, "service \"" STR_FMT "\" not found",
                       STR_ARG(w->service_name));
    if (r < 0)
        return r;
    struct str name = value_str(value_dig(&service, "spec", "externalName"));
    if (!str_eq(value_str(value_dig(&service, "spec", "type")), STR("ExternalName")))
        return find_endpoint(l, &service, err);
    l->ret = join(l->arena, name, w->service_port);
    return 0;
}

/* Where to connect; empty: where the URL says. */
static int resolve(struct arena *a, const struct custom *c, struct str *ret, struct err *err)
{
    struct lookup l = { .arena = a, .webhook = c->webhook };
    *ret = STR("");
    if (!c->webhook->service_name.n)
        return 0;
    int r = store_snap_begin(custom_kinds_store(c->kinds), 0, &l.snap, err);
    if (r < 0)
        return r;
    r = find_service(&l, err);
    store_snap_end(l.snap);
    *ret = l.ret;
    return r;
}

/* ---- What went wrong, in Go's words ---- */

static bool contains(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part));
}

static struct str transport_words(struct arena *a, struct str to, const struct err *why)
{
    if (why->code == ERR_TIMEOUT)
        return STR("context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
    if (contains(why->msg, "connect to"))
        return arena_printf(a, "dial tcp " STR_FMT ": connect: connection refused", STR_ARG(to));
    if (contains(why->msg, "resolve host")) {
        struct str host = str_cut(&to, ':');
        return arena_printf(a, "dial tcp: lookup " STR_FMT ": no such host", STR_ARG(host));
    }
    if (contains(why->msg, "issuer certificate") || contains(why->msg, "self-signed") ||
        contains(why->msg, "self signed"))
        return STR("tls: failed to verify certificate: x509: certificate signed by unknown "
                   "authority");
    if (contains(why->msg, "Empty reply"))
        return STR("EOF");
    return why->msg;
}

/* HOST:PORT of a URL. */
static struct str address_of(struct arena *a, struct str url)
{
    struct str rest = str_skip(url, STR("https://").n), host = str_cut(&rest, '/');
    bool has_port = str_find(host, ']') < 0 ? str_find(host, ':') >= 0 : !str_ends(host, STR("]"));
    return has_port ? host : arena_printf(a, STR_FMT ":443", STR_ARG(host));
}

static int post_failed(struct arena *a, const struct custom_webhook *w, struct str words,
                       struct err *err)
{
    struct str text = arena_str(a, words); /* it may be err's own */
    return err_set(err, ERR_UNKNOWN, "Post \"" STR_FMT "?timeout=%us\": " STR_FMT, STR_ARG(w->url),
                   LIMIT_CONVERSION_MS / 1000, STR_ARG(text));
}

/* ---- Answers other than 200 ---- */

static struct str reply_header(const struct fetch_reply *reply, struct str name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (str_eq(reply->headers[i].name, name))
            return reply->headers[i].value;
    return STR("");
}

static const char *status_words(int status)
{
    static const struct {
        int status;
        const char *words;
    } known[] = {
        { 400, "the server rejected our request for an unknown reason" },
        { 401, "the server has asked for the client to provide credentials" },
        { 404, "the server could not find the requested resource" },
        { 405, "the server does not allow this method on the requested resource" },
        { 409, "the server reported a conflict" },
        { 422, "the server rejected our request due to an error in our request" },
        { 429, "the server has received too many requests and has asked us to try again later" },
        { 503, "the server is currently unable to handle the request" },
        { 504, "the server was unable to return a response in the time allotted, but may still be "
               "processing the request" },
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].status == status)
            return known[i].words;
    return NULL;
}

/* A Status that says no says why. */
static bool is_failure(struct arena *a, struct str body, struct str *ret)
{
    struct value status;
    if (json_read(a, body, NULL, &status, NULL) < 0 ||
        !str_eq(value_str(value_get(&status, STR("kind"))), STR("Status")) ||
        str_eq(value_str(value_get(&status, STR("status"))), STR("Success")))
        return false;
    *ret = value_str(value_get(&status, STR("message")));
    return true;
}

static struct str told(struct arena *a, const struct fetch_reply *reply)
{
    enum { TOLD_MAX = 2048 };
    bool is_text = str_starts(reply_header(reply, STR("content-type")), STR("text/"));
    return is_text ? arena_str(a, str_trim(str_take(reply->body, TOLD_MAX))) : STR("unknown");
}

static int reply_failed(struct arena *a, const struct fetch_reply *reply, struct err *err)
{
    struct str message;
    const char *words = status_words(reply->status);
    if (is_failure(a, reply->body, &message))
        return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(message));
    if (words)
        return err_set(err, ERR_UNKNOWN, "%s", words);
    message = told(a, reply);
    if (reply->status == 403 || reply->status == 406 || reply->status == 415)
        return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(message));
    if (reply->status < 500)
        return err_set(err, ERR_UNKNOWN,
                       "the server responded with the status code %d but did not return more "
                       "information",
                       reply->status);
    autobuf quoted = { 0 };
    quote_go(&quoted, message);
    return err_set(err, ERR_UNKNOWN,
                   "an error on the server (" STR_FMT ") has prevented the request from succeeding",
                   STR_ARG(buf_str(&quoted)));
}

static int check_reply(struct arena *a, const struct fetch_reply *reply, struct err *err)
{
    struct str type = reply_header(reply, STR("content-type")), message;
    if (reply->status < 200 || reply->status > 206)
        return reply_failed(a, reply, err);
    if (!reply->body.n)
        return err_set(err, ERR_UNKNOWN,
                       "0-length response with status code: %d and content type: " STR_FMT,
                       reply->status, STR_ARG(type.n ? type : STR("application/json")));
    if (is_failure(a, reply->body, &message))
        return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(message));
    return 0;
}

/* ---- The call ---- */

int custom_webhook__post(struct arena *a, const struct custom *c, struct str body, struct str *ret,
                         struct err *err)
{
    static const struct http_header headers[] = {
        { STR("content-type"), STR("application/json") },
        { STR("accept"), STR("application/json, */*") },
    };
    struct custom_webhook *w = c->webhook;
    struct err why = ERR_INIT(a);
    struct fetch_reply reply;
    struct fetch_request req = {
        .method = STR("POST"),
        .url = arena_printf(a, STR_FMT "?timeout=%us", STR_ARG(w->url), LIMIT_CONVERSION_MS / 1000),
        .headers = headers,
        .n_headers = ARRAY_LEN(headers),
        .body = body,
        .timeout_ms = LIMIT_CONVERSION_MS,
        .max_reply = LIMIT_CONVERSION_BYTES,
    };
    int r = resolve(a, c, &req.connect_to, &why);
    if (r < 0)
        return post_failed(a, w, why.msg, err);
    r = fetch(fetcher_of(w), &req, a, &reply, &why);
    if (r < 0) {
        struct str to = req.connect_to.n ? req.connect_to : address_of(a, w->url);
        return post_failed(a, w, transport_words(a, to, &why), err);
    }
    r = check_reply(a, &reply, err);
    if (r < 0)
        return r;
    *ret = reply.body;
    return 0;
}
