#include "server/http/request.h"

#include "api/go/quote.h"
#include "base/buf.h"
#include "base/percent.h"
#include "server/custom/custom.h"
#include "base/banned.h"

enum { SEGMENTS_MAX = 16, PARAMS_MAX = 256 };

/* ---- Decoding ---- */

static bool read_params(struct arena *a, struct str query, struct request *ret)
{
    size_t most = 1;
    for (size_t i = 0; i < query.n && most < PARAMS_MAX; i++)
        most += query.p[i] == '&';
    struct request_param *params = arena_array(a, struct request_param, most);
    while (query.n && ret->n_params < most) {
        struct str value = str_cut(&query, '&');
        struct str key = str_cut(&value, '=');
        struct request_param *p = &params[ret->n_params];
        if (!key.n && !value.n)
            continue;
        if (!percent_decode(a, key, true, &p->key) || !percent_decode(a, value, true, &p->value))
            return false;
        ret->n_params++;
    }
    ret->params = params;
    return true;
}

struct str request_param(const struct request *req, struct str key)
{
    for (size_t i = 0; i < req->n_params; i++)
        if (str_eq(req->params[i].key, key))
            return req->params[i].value;
    return (struct str){ NULL, 0 };
}

bool request_flag(const struct request *req, struct str key)
{
    struct str value = request_param(req, key);
    return value.p && !str_eq(value, STR("0")) && !str_eq_nocase(value, STR("false"));
}

static bool all_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

int request_int(const struct request *req, struct str key, int64_t *ret, struct err *err)
{
    struct str text = request_param(req, key), digits = text;
    if (!text.p)
        return 0;
    bool has_sign = text.n && (text.p[0] == '-' || text.p[0] == '+');
    if (has_sign && text.p[0] == '+' && !(text.n > 1 && text.p[1] == '-'))
        digits = str_skip(text, 1);
    if (str_to_i64(digits, ret))
        return 1;
    autobuf quoted = { 0 };
    quote_go(&quoted, text);
    return err_set(err, ERR_BAD_REQUEST, "strconv.ParseInt: parsing " STR_FMT ": %s",
                   STR_ARG(buf_str(&quoted)),
                   all_digits(str_skip(text, has_sign)) ? "value out of range" : "invalid syntax");
}

/* ---- The path ---- */

struct segments {
    struct str at[SEGMENTS_MAX];
    size_t n;
    struct str rest; /* behind the last one that fits */
};

/* One slash at the end is nothing; an empty segment anywhere else is an empty name. */
static void split(struct str path, struct segments *ret)
{
    *ret = (struct segments){ 0 };
    if (str_ends(path, STR("/")))
        path.n--;
    while (path.p && ret->n < SEGMENTS_MAX)
        ret->at[ret->n++] = str_cut(&path, '/');
    ret->rest = path;
}

static const struct kind_subresource *find_sub(const struct kind_resource *r, struct str name)
{
    for (size_t i = 0; i < r->n_subresources; i++)
        if (str_eq(r->subresources[i].name, name))
            return &r->subresources[i];
    return NULL;
}

/* NAMESPACED/NAME/SUB or namespaces/NS/RESOURCE/NAME/SUB; namespaces are themselves a resource, and
 * namespaces/NS/status is one's subresource. */
static size_t take_namespace(const struct kind_version *v, const struct segments *s, size_t at,
                             struct request *ret)
{
    if (s->n - at < 3 || !str_eq(s->at[at], STR("namespaces")))
        return at;
    const struct kind_resource *namespaces = kind_resource_find(v, STR("namespaces"));
    if (namespaces && s->n - at == 3 && find_sub(namespaces, s->at[at + 2]))
        return at;
    ret->ns = s->at[at + 1];
    return at + 2;
}

/* Nothing has such a name, and no path may lead anywhere else by one. */
static bool climbs(struct str name)
{
    return str_eq(name, STR(".")) || str_eq(name, STR(".."));
}

static bool fits(const struct request *req)
{
    if (climbs(req->ns) || climbs(req->name))
        return false;
    /* What can only be created or listed has no path for a single one. */
    const unsigned of_one = KIND_GET | KIND_UPDATE | KIND_PATCH | KIND_DELETE;
    if (req->name.p && !req->sub && !(req->resource->verbs & of_one))
        return false;
    if (!req->resource->namespaced)
        return !req->ns.p;
    return req->ns.p ? req->ns.n > 0 : !req->name.p;
}

static bool take_rest(const struct segments *s, size_t at, struct request *ret)
{
    if (at == s->n)
        return true;
    ret->name = s->at[at++];
    if (!ret->name.n)
        return false;
    if (at == s->n)
        return true;
    ret->sub = find_sub(ret->resource, s->at[at++]);
    if (!ret->sub)
        return false;
    if (at == s->n)
        return true;
    const char *end = s->rest.p ? s->rest.p + s->rest.n : s->at[s->n - 1].p + s->at[s->n - 1].n;
    ret->rest = (struct str){ s->at[at].p, (size_t)(end - s->at[at].p) };
    return str_eq(ret->sub->name, STR("proxy"));
}

static enum request_place find_built_in(const struct segments *s, size_t at,
                                        enum kind_choice choice, struct str group,
                                        struct request *ret)
{
    if (!kind_version_is(kind_group_find(group), choice))
        return REQUEST_NO_GROUP;
    const struct kind_version *v = kind_version_find(group, s->at[at - 1]);
    if (!kind_version_is(v, choice) || at >= s->n)
        return REQUEST_NO_RESOURCE;
    ret->watch = str_eq(s->at[at], STR("watch"));
    at += ret->watch;
    if (at >= s->n)
        return REQUEST_NO_RESOURCE;
    at = take_namespace(v, s, at, ret);
    ret->resource = kind_resource_find(v, s->at[at]);
    if (!ret->resource || !take_rest(s, at + 1, ret) || !fits(ret) || (ret->watch && ret->sub))
        return REQUEST_NO_RESOURCE;
    return REQUEST_FOUND;
}

/* Upstream has no routes for custom kinds; what it does not find there is not a path at all. */
static enum request_place find_custom(const struct segments *s, size_t at,
                                      struct custom_kinds *kinds, struct str group,
                                      struct request *ret)
{
    struct str version = s->at[at - 1];
    bool in_ns = s->n - at >= 3 && str_eq(s->at[at], STR("namespaces"));
    if (in_ns) {
        ret->ns = s->at[at + 1];
        at += 2;
    }
    if (at >= s->n)
        return REQUEST_NO_GROUP;
    ret->custom = custom_find(kinds, group, s->at[at]);
    const struct custom_version *v = ret->custom ? custom_served(ret->custom, version) : NULL;
    ret->resource = v ? &v->resource : NULL;
    bool rest = v && take_rest(s, at + 1, ret);
    if (rest && fits(ret))
        return REQUEST_FOUND;
    ret->no_sub = v && !rest && s->n - at == 3 && fits(ret);
    if (ret->no_sub)
        return REQUEST_FOUND;
    ret->custom = custom_unref(ret->custom);
    return REQUEST_NO_GROUP;
}

static enum request_place find_place(const struct segments *s, enum kind_choice choice,
                                     struct custom_kinds *custom, struct request *ret)
{
    bool core = s->n > 2 && str_eq(s->at[1], STR("api"));
    bool named = s->n > 3 && str_eq(s->at[1], STR("apis"));
    if (!core && !named)
        return REQUEST_ELSEWHERE;
    if (named && !s->at[2].n) /* not the core group, which has no name */
        return REQUEST_NO_GROUP;
    struct str group = core ? STR("") : s->at[2];
    size_t at = core ? 3 : 4;
    const struct request blank = *ret;
    enum request_place place = find_built_in(s, at, choice, group, ret);
    if (place == REQUEST_FOUND || core || !custom)
        return place;
    *ret = blank;
    return find_custom(s, at, custom, group, ret) == REQUEST_FOUND ? REQUEST_FOUND : place;
}

enum request_place request_parse(struct arena *a, const struct http_request *http,
                                 enum kind_choice choice, struct custom_kinds *custom,
                                 struct request *ret)
{
    struct str path;
    *ret = (struct request){ 0 };
    if (!str_starts(http->path, STR("/api/")) && !str_starts(http->path, STR("/apis/")))
        return REQUEST_ELSEWHERE;
    if (!percent_decode(a, http->path, false, &path) || !read_params(a, http->query, ret))
        return REQUEST_BAD_ENCODING;
    struct segments s;
    split(path, &s);
    return find_place(&s, choice, custom, ret);
}

/* ---- Verbs ---- */

/* Who is behind a proxy may be asked by every method. */
static bool is_proxied_read(const struct http_request *http, const struct request *req)
{
    return req->sub && str_eq(req->sub->name, STR("proxy")) &&
           (str_eq(http->method, STR("HEAD")) || str_eq(http->method, STR("OPTIONS")));
}

unsigned request_verb(const struct http_request *http, const struct request *req)
{
    bool one = req->name.p, get = str_eq(http->method, STR("GET")) || is_proxied_read(http, req);
    unsigned has = req->sub ? req->sub->verbs : req->resource->verbs, verb = 0;
    if (req->watch)
        verb = get ? KIND_WATCH : 0;
    else if (get || (req->custom && str_eq(http->method, STR("HEAD"))))
        verb = one ? KIND_GET : request_flag(req, STR("watch")) ? KIND_WATCH : KIND_LIST_VERB;
    else if (str_eq(http->method, STR("POST")))
        verb = !one || req->sub || req->custom ? KIND_CREATE : 0;
    else if (str_eq(http->method, STR("PUT")))
        verb = one || req->custom ? KIND_UPDATE : 0;
    else if (str_eq(http->method, STR("PATCH")))
        verb = one || req->custom ? KIND_PATCH : 0;
    else if (str_eq(http->method, STR("DELETE")))
        verb = one ? KIND_DELETE : KIND_DELETE_COLLECTION;
    if (req->resource->namespaced && !req->ns.p) /* all namespaces can only be looked at */
        verb &= KIND_LIST_VERB | KIND_WATCH;
    return has & verb;
}
