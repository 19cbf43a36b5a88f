#include "server/http/request_info.h"

#include "base/idiom.h"
#include "base/percent.h"
#include "select/fields.h"
#include "base/banned.h"

enum { PARTS_MAX = 16 };

struct parts {
    struct str at[PARTS_MAX];
    size_t n;
};

/* Without slashes at both ends. What comes behind the last part that fits does not matter. */
static struct parts split(struct str path)
{
    struct parts p = { .n = 0 };
    while (path.n && path.p[0] == '/')
        path = str_skip(path, 1);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    while (path.n && p.n < PARTS_MAX)
        p.at[p.n++] = str_cut(&path, '/');
    return p;
}

static struct str lower(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, s.n, 1);
    for (size_t i = 0; i < s.n; i++)
        out[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]);
    return (struct str){ out, s.n };
}

/* Of one object; empty if the method means nothing. */
static struct str verb_of(struct str method)
{
    static const struct {
        struct str method, verb;
    } verbs[] = {
        { STR("GET"), STR("get") },     { STR("HEAD"), STR("get") },
        { STR("POST"), STR("create") }, { STR("PUT"), STR("update") },
        { STR("PATCH"), STR("patch") }, { STR("DELETE"), STR("delete") },
    };
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_eq(method, verbs[i].method))
            return verbs[i].verb;
    return STR("");
}

/* namespaces/NS/RESOURCE...; a namespace itself, and its status and finalize, are in the namespace
 * as well. */
static size_t take_namespace(const struct parts *p, size_t at, struct request_info *ret)
{
    if (!str_eq(p->at[at], STR("namespaces")) || p->n - at < 2)
        return at;
    ret->ns = p->at[at + 1];
    bool is_own = p->n - at < 3 || str_eq(p->at[at + 2], STR("status")) ||
                  str_eq(p->at[at + 2], STR("finalize"));
    return is_own ? at : at + 2;
}

static void read_fields(struct arena *a, const struct request *req, struct fields_selector *ret)
{
    struct str text = request_param(req, STR("fieldSelector"));
    struct err err = ERR_INIT(a);
    if (text.n && fields_parse(a, text, NULL, ret, &err) < 0)
        *ret = (struct fields_selector){ 0 };
}

static void read_labels(struct arena *a, const struct request *req, struct labels_selector *ret)
{
    struct str text = request_param(req, STR("labelSelector"));
    struct err err = ERR_INIT(a);
    if (text.n && labels_parse(a, text, ret, &err) < 0)
        *ret = (struct labels_selector){ 0 };
}

static void set_collection_verb(struct arena *a, const struct request *req,
                                struct request_info *ret)
{
    read_fields(a, req, &ret->fields);
    read_labels(a, req, &ret->labels);
    if (str_eq(ret->verb, STR("delete")))
        ret->verb = STR("deletecollection");
    if (!str_eq(ret->verb, STR("get")))
        return;
    ret->verb = request_flag(req, STR("watch")) ? STR("watch") : STR("list");
    /* A list that a field selector makes of one object has its name. */
    (void)fields_exact(&ret->fields, STR("metadata.name"), &ret->name);
}

static void read_resource(struct arena *a, const struct http_request *http,
                          const struct request *req, const struct parts *p, size_t at,
                          struct request_info *ret)
{
    ret->is_resource = true;
    ret->version = p->at[at++];
    ret->verb = verb_of(http->method);
    bool is_special = str_eq(p->at[at], STR("proxy")) || str_eq(p->at[at], STR("watch"));
    if (is_special && p->n - at > 1)
        ret->verb = p->at[at++];
    at = take_namespace(p, at, ret);
    ret->resource = p->at[at];
    if (p->n - at > 1)
        ret->name = p->at[at + 1];
    if (p->n - at > 2 && !str_eq(ret->verb, STR("proxy")))
        ret->sub = p->at[at + 2];
    if (!ret->name.n)
        set_collection_verb(a, req, ret);
    if (is_special) { /* paths of this old form are not narrowed alike */
        ret->fields = (struct fields_selector){ 0 };
        ret->labels = (struct labels_selector){ 0 };
    }
}

void request_info_read(struct arena *a, const struct http_request *http, const struct request *req,
                       struct request_info *ret)
{
    *ret = (struct request_info){ .path = http->path };
    if (!percent_decode(a, http->path, false, &ret->path))
        ret->path = http->path; /* nothing has such a path */
    const struct parts p = split(ret->path);
    bool core = p.n > 2 && str_eq(p.at[0], STR("api")),
         named = p.n > 3 && str_eq(p.at[0], STR("apis"));
    if (named)
        ret->group = p.at[1];
    if (core || named)
        read_resource(a, http, req, &p, core ? 1 : 2, ret);
    else
        ret->verb = lower(a, http->method);
}

bool request_info_fits(const struct request_info *info, const struct request *req)
{
    struct str sub = req->sub ? req->sub->name : STR("");
    bool is_namespace = !req->resource->namespaced && str_eq(info->resource, STR("namespaces"));
    return info->is_resource && str_eq(info->group, req->resource->group) &&
           str_eq(info->resource, req->resource->plural) &&
           (is_namespace || str_eq(info->ns, req->ns)) &&
           (!req->name.p || str_eq(info->name, req->name)) &&
           (req->no_sub || str_eq(info->sub, sub));
}
