#include "server/apiservice/apiservice_explore.h"

#include "admission/webhook/hook.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/banned.h"

enum { ASK_MS = 5000, DOCUMENT_MAX = 8 << 20 };

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

/* ---- Asking ---- */

struct question {
    struct str path;
    struct str accept; /* empty: it is not said */
    struct str user;
    bool is_master;
    bool is_forwarded; /* as if it were passed on for somebody */
};

struct str apiservice_url(struct arena *a, const struct apiservice *s, struct str address)
{
    if (!s->group.n)
        return arena_printf(a, "https://" STR_FMT "/api/" STR_FMT, STR_ARG(address),
                            STR_ARG(s->version));
    return arena_printf(a, "https://" STR_FMT "/apis/" STR_FMT "/" STR_FMT, STR_ARG(address),
                        STR_ARG(s->group), STR_ARG(s->version));
}

static int ask(struct arena *a, const struct apiservice *s, struct str address,
               const struct question *q, struct fetch_reply *ret, struct err *err)
{
    enum { HEADERS_MAX = 8 };
    struct http_header headers[HEADERS_MAX];
    size_t n = 0;
    headers[n++] = (struct http_header){ STR("x-remote-user"), q->user };
    if (q->is_master)
        headers[n++] = (struct http_header){ STR("x-remote-group"), STR("system:masters") };
    if (q->accept.n)
        headers[n++] = (struct http_header){ STR("accept"), q->accept };
    if (q->is_forwarded) {
        headers[n++] = (struct http_header){ STR("x-forwarded-host"), address };
        headers[n++] = (struct http_header){ STR("x-forwarded-proto"), STR("https") };
        headers[n++] = (struct http_header){ STR("x-forwarded-uri"), q->path };
    } else {
        headers[n++] = (struct http_header){ STR("user-agent"), STR("Go-http-client/1.1") };
    }
    const struct fetch_request req = {
        .method = STR("GET"),
        .url = arena_printf(a, "https://" STR_FMT STR_FMT, STR_ARG(address), STR_ARG(q->path)),
        .server_name = s->tls_name,
        .headers = headers,
        .n_headers = n,
        .timeout_ms = ASK_MS,
        .takes_gzip = true,
        .tells_names = true,
        .max_reply = DOCUMENT_MAX,
    };
    return fetch(s->fetcher, &req, a, ret, err);
}

/* ---- Is it there? ---- */

int apiservice_probe(struct arena *a, const struct apiservice *s, struct str address,
                     struct err *err)
{
    struct str url = apiservice_url(a, s, address), rest = address;
    struct err why = ERR_INIT(a);
    struct fetch_reply reply;
    const struct question q = {
        .path = str_skip(url, STR("https://").n + address.n),
        .user = STR("system:kube-aggregator"),
        .is_master = true,
    };
    int r = ask(a, s, address, &q, &reply, &why);
    if (r < 0)
        return err_set(
            err, ERR_UNAVAILABLE, "Get \"" STR_FMT "\": " STR_FMT, STR_ARG(url),
            STR_ARG(hook_failure(a, address, s->tls_name.n ? s->tls_name : str_cut(&rest, ':'),
                                 true, &why)));
    if (reply.status < 200 || reply.status > 299)
        return err_set(err, ERR_UNAVAILABLE, "bad status from " STR_FMT ": %d", STR_ARG(url),
                       reply.status);
    return 0;
}

/* ---- Its resources ---- */

static void add_kind(struct arena *a, struct value *to, const struct value *resource)
{
    struct value kind = value_object();
    value_put(a, &kind, STR("group"), value_string(value_text(resource, "group")));
    value_put(a, &kind, STR("version"), value_string(value_text(resource, "version")));
    value_put(a, &kind, STR("kind"), value_string(value_text(resource, "kind")));
    value_put(a, to, STR("responseKind"), kind);
}

static void add_list(struct arena *a, struct value *to, const struct value *from, const char *name)
{
    const struct value *list = value_get(from, str_of(name));
    if (value_is(list, VALUE_ARRAY) && list->n)
        value_put(a, to, str_of(name), value_borrow(list));
}

static struct value resource_of(struct arena *a, const struct value *from,
                                const struct value *resources)
{
    struct value to = value_object(), subs = value_array();
    struct str name = value_text(from, "name");
    value_put(a, &to, STR("resource"), value_string(name));
    add_kind(a, &to, from);
    value_put(a, &to, STR("scope"),
              value_string(value_is_true(value_get(from, STR("namespaced"))) ? STR("Namespaced")
                                                                             : STR("Cluster")));
    value_put(a, &to, STR("singularResource"), value_string(value_text(from, "singularName")));
    add_list(a, &to, from, "verbs");
    add_list(a, &to, from, "shortNames");
    add_list(a, &to, from, "categories");
    value_each_item (it, resources) {
        struct str sub = value_text(it, "name"), of = str_cut(&sub, '/');
        struct value one = value_object();
        if (!sub.p || !str_eq(of, name))
            continue;
        value_put(a, &one, STR("subresource"), value_string(sub));
        add_kind(a, &one, it);
        add_list(a, &one, it, "verbs");
        value_put_item(a, &subs, one);
    }
    if (subs.n)
        value_put(a, &to, STR("subresources"), subs);
    return to;
}

static struct str write_json(struct arena *a, const struct value *v)
{
    autobuf text = { 0 };
    json_write(&text, v);
    return arena_str(a, buf_str(&text));
}

bool apiservice_resources(struct arena *a, struct str list, struct str *ret)
{
    enum { RESOURCES_MAX = 1000 };
    struct value doc, all = value_array();
    if (json_read(a, list, NULL, &doc, NULL) < 0)
        return false;
    const struct value *resources = value_get(&doc, STR("resources"));
    if (!value_is(resources, VALUE_ARRAY) || resources->n > RESOURCES_MAX)
        return false;
    value_each_item (it, resources)
        if (str_find(value_text(it, "name"), '/') < 0)
            value_put_item(a, &all, resource_of(a, it, resources));
    *ret = write_json(a, &all);
    return true;
}

/* Of an APIGroupDiscoveryList. */
static bool find_version(struct arena *a, const struct apiservice *s, struct str list,
                         struct str *ret)
{
    struct value doc;
    if (json_read(a, list, NULL, &doc, NULL) < 0 ||
        !str_eq(value_text(&doc, "kind"), STR("APIGroupDiscoveryList")))
        return false;
    value_each_item (group, value_get(&doc, STR("items"))) {
        if (!str_eq(value_str(value_dig(group, "metadata", "name")), s->group))
            continue;
        value_each_item (version, value_get(group, STR("versions")))
            if (str_eq(value_text(version, "version"), s->version)) {
                const struct value none = value_array(),
                                   *resources = value_get(version, STR("resources"));
                *ret = write_json(a, resources ? resources : &none);
                return true;
            }
    }
    return false;
}

static bool ask_resources(struct arena *a, const struct apiservice *s, struct str address,
                          struct str *ret)
{
    struct err ignored = ERR_INIT(a);
    struct fetch_reply reply;
    const struct question aggregated = { STR("/apis"), STR(AGGREGATED),
                                         STR("system:kube-aggregator"), true, true };
    const struct question plain = {
        str_skip(apiservice_url(a, s, address), STR("https://").n + address.n),
        STR("application/json"), STR("system:kube-aggregator"), false, true
    };
    if (ask(a, s, address, &aggregated, &reply, &ignored) == 0 && reply.status == 200 &&
        find_version(a, s, reply.body, ret))
        return true;
    return ask(a, s, address, &plain, &reply, &ignored) == 0 && reply.status == 200 &&
           apiservice_resources(a, reply.body, ret);
}

/* ---- Its documents ---- */

/* Where the document of the version is, by the list of all. */
static struct str ask_openapi_url(struct arena *a, const struct apiservice *s, struct str address)
{
    struct err ignored = ERR_INIT(a);
    struct fetch_reply reply;
    struct value doc;
    const struct question q = { STR("/openapi/v3"), STR(""), STR("system:aggregator"), false,
                                true };
    if (ask(a, s, address, &q, &reply, &ignored) < 0 || reply.status != 200 ||
        json_read(a, reply.body, NULL, &doc, NULL) < 0)
        return STR("");
    struct str path =
        arena_printf(a, "apis/" STR_FMT "/" STR_FMT, STR_ARG(s->group), STR_ARG(s->version));
    return value_text(value_get(value_get(&doc, STR("paths")), path), "serverRelativeURL");
}

static struct str ask_swagger(struct arena *a, const struct apiservice *s, struct str address)
{
    struct err ignored = ERR_INIT(a);
    struct fetch_reply reply;
    struct value doc;
    const struct question q = { STR("/openapi/v2"), STR("application/json"),
                                STR("system:aggregator"), false, true };
    bool is_good = ask(a, s, address, &q, &reply, &ignored) == 0 && reply.status == 200 &&
                   json_read(a, reply.body, NULL, &doc, NULL) == 0 &&
                   str_eq(value_text(&doc, "swagger"), STR("2.0"));
    return is_good ? reply.body : STR("");
}

void apiservice_explore(struct apiservices *all, struct arena *a, const struct apiservice *s,
                        struct str address)
{
    struct apiservice_told told = { 0 };
    bool was_told = apiservices_told(all, a, s->name, &told);
    struct str resources;
    told.is_current = address.n && ask_resources(a, s, address, &resources);
    if (told.is_current)
        told.resources = resources;
    struct str url = told.is_current ? ask_openapi_url(a, s, address) : STR("");
    struct str swagger = told.is_current ? ask_swagger(a, s, address) : STR("");
    if (url.n || !was_told)
        told.openapi_url = url;
    if (swagger.n || !was_told)
        told.swagger = swagger;
    apiservices_tell(all, s->name, &told);
}
