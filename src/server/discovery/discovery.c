#include "server/discovery/discovery.h"

#include "base/buf.h"
#include "base/crc32c.h"
#include "base/idiom.h"
#include "base/json.h"
#include "server/discovery/catalog.h"
#include "server/object/encode.h"
#include "server/http/reply.h"
#include "base/banned.h"

/* ---- Pieces ---- */

static void add_string(struct buf *out, const char *name, struct str s)
{
    buf_printf(out, "\"%s\":", name);
    json_write_string(out, s);
}

static void add_strings(struct buf *out, const char *name, const struct str *list, size_t n)
{
    if (!n)
        return;
    buf_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ',');
        json_write_string(out, list[i]);
    }
    buf_byte(out, ']');
}

struct verb {
    unsigned bit;
    const char *name;
};

static const struct verb verbs_in_order[] = {
    { KIND_CREATE, "create" },
    { KIND_DELETE, "delete" },
    { KIND_DELETE_COLLECTION, "deletecollection" },
    { KIND_GET, "get" },
    { KIND_LIST_VERB, "list" },
    { KIND_PATCH, "patch" },
    { KIND_UPDATE, "update" },
    { KIND_WATCH, "watch" },
};

/* Those of custom resources have another order upstream. */
static const struct verb custom_verbs[] = {
    { KIND_DELETE, "delete" }, { KIND_DELETE_COLLECTION, "deletecollection" },
    { KIND_GET, "get" },       { KIND_LIST_VERB, "list" },
    { KIND_PATCH, "patch" },   { KIND_CREATE, "create" },
    { KIND_UPDATE, "update" }, { KIND_WATCH, "watch" },
};

static void add_verbs(struct buf *out, unsigned verbs, const struct kind_resource *of)
{
    const struct verb *order = of->type->custom ? custom_verbs : verbs_in_order;
    buf_str_add(out, STR(",\"verbs\":["));
    const char *comma = "";
    for (size_t i = 0; i < ARRAY_LEN(verbs_in_order); i++) {
        if (!(verbs & order[i].bit))
            continue;
        buf_printf(out, "%s\"%s\"", comma, order[i].name);
        comma = ",";
    }
    buf_byte(out, ']');
}

static struct str group_version(struct arena *a, const struct catalog_version *v)
{
    if (!v->group.n)
        return v->version;
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(v->group), STR_ARG(v->version));
}

static bool is_home(const struct kind_resource *r, const struct kind_type *t)
{
    return str_eq(r->group, t->group) && str_eq(r->version, t->version);
}

/* ---- One version ---- */

static void add_resource(struct buf *out, const struct kind_resource *r)
{
    buf_byte(out, '{');
    add_string(out, "name", r->plural);
    buf_byte(out, ',');
    add_string(out, "singularName", r->singular);
    buf_printf(out, ",\"namespaced\":%s,", r->namespaced ? "true" : "false");
    add_string(out, "kind", r->type->name);
    add_verbs(out, r->verbs, r);
    add_strings(out, "shortNames", r->short_names, r->n_short);
    add_strings(out, "categories", r->categories, r->n_categories);
    if (r->storage_hash.n) {
        buf_byte(out, ',');
        add_string(out, "storageVersionHash", r->storage_hash);
    }
    buf_byte(out, '}');
}

static void add_subresource(struct buf *out, const struct kind_resource *r,
                            const struct kind_subresource *sub)
{
    buf_printf(out, ",{\"name\":\"" STR_FMT "/" STR_FMT "\",\"singularName\":\"\",",
               STR_ARG(r->plural), STR_ARG(sub->name));
    buf_printf(out, "\"namespaced\":%s,", r->namespaced ? "true" : "false");
    if (!is_home(r, sub->type)) {
        add_string(out, "group", sub->type->group);
        buf_byte(out, ',');
        add_string(out, "version", sub->type->version);
        buf_byte(out, ',');
    }
    add_string(out, "kind", sub->type->name);
    add_verbs(out, sub->verbs, r);
    buf_byte(out, '}');
}

static void add_resource_list(struct buf *out, struct arena *a, const struct catalog_version *v)
{
    /* The core group's document has never said its apiVersion. */
    buf_str_add(out, STR("{\"kind\":\"APIResourceList\","));
    if (v->group.n)
        buf_str_add(out, STR("\"apiVersion\":\"v1\","));
    add_string(out, "groupVersion", group_version(a, v));
    buf_str_add(out, STR(",\"resources\":["));
    for (size_t i = 0; i < v->n; i++) {
        const struct kind_resource *r = v->resources[i];
        if (i)
            buf_byte(out, ',');
        add_resource(out, r);
        for (size_t j = 0; j < r->n_subresources; j++)
            add_subresource(out, r, &r->subresources[j]);
    }
    buf_str_add(out, STR("]}\n"));
}

/* ---- Groups ---- */

static void add_version_pair(struct buf *out, struct arena *a, const struct catalog_version *v)
{
    buf_byte(out, '{');
    add_string(out, "groupVersion", group_version(a, v));
    buf_byte(out, ',');
    add_string(out, "version", v->version);
    buf_byte(out, '}');
}

/* The versions of a group stand together, the preferred one first. Returns behind the last. */
static const struct catalog_version *add_group(struct buf *out, struct arena *a,
                                               const struct catalog *c,
                                               const struct catalog_version *first)
{
    const struct catalog_version *end = c->versions + c->n, *v = first;
    add_string(out, "name", first->group);
    buf_str_add(out, STR(",\"versions\":["));
    for (; v < end && str_eq(v->group, first->group); v++) {
        if (v != first)
            buf_byte(out, ',');
        add_version_pair(out, a, v);
    }
    buf_str_add(out, STR("],\"preferredVersion\":"));
    add_version_pair(out, a, first);
    return v;
}

static void add_group_list(struct buf *out, struct arena *a, const struct catalog *c)
{
    buf_str_add(out, STR("{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":["));
    const struct catalog_version *end = c->versions + c->n;
    bool comma = false;
    for (const struct catalog_version *v = c->versions; v < end;) {
        if (!v->group.n) {
            v++;
            continue;
        }
        buf_str_add(out, comma ? STR(",{") : STR("{"));
        v = add_group(out, a, c, v);
        buf_byte(out, '}');
        comma = true;
    }
    buf_str_add(out, STR("]}\n"));
}

static void add_versions(struct buf *out, struct str address)
{
    buf_str_add(out, STR("{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                         "\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\","));
    add_string(out, "serverAddress", address);
    buf_str_add(out, STR("}]}\n"));
}

/* ---- Aggregated ---- */

/* A kind of the version's own group is named without group and version. */
static void add_response_kind(struct buf *out, const struct kind_resource *r,
                              const struct kind_type *t)
{
    bool home = is_home(r, t);
    buf_str_add(out, STR("\"responseKind\":{"));
    add_string(out, "group", home ? STR("") : t->group);
    buf_byte(out, ',');
    add_string(out, "version", home ? STR("") : t->version);
    buf_byte(out, ',');
    add_string(out, "kind", t->name);
    buf_byte(out, '}');
}

static void add_aggregated_resource(struct buf *out, const struct kind_resource *r)
{
    buf_byte(out, '{');
    add_string(out, "resource", r->plural);
    buf_byte(out, ',');
    add_response_kind(out, r, r->type);
    buf_printf(out, ",\"scope\":\"%s\",", r->namespaced ? "Namespaced" : "Cluster");
    add_string(out, "singularResource", r->singular);
    add_verbs(out, r->verbs, r);
    add_strings(out, "shortNames", r->short_names, r->n_short);
    add_strings(out, "categories", r->categories, r->n_categories);
    for (size_t i = 0; i < r->n_subresources; i++) {
        buf_str_add(out, i ? STR(",{") : STR(",\"subresources\":[{"));
        add_string(out, "subresource", r->subresources[i].name);
        buf_byte(out, ',');
        add_response_kind(out, r, r->subresources[i].type);
        add_verbs(out, r->subresources[i].verbs, r);
        buf_byte(out, '}');
    }
    buf_str_add(out, r->n_subresources ? STR("]}") : STR("}"));
}

/* What its server told; who never told anything has no resources. */
static void add_foreign_version(struct buf *out, struct arena *a, struct apiservices *services,
                                const struct catalog_version *v)
{
    struct apiservice_told told = { 0 };
    (void)apiservices_told(services, a, v->foreign->name, &told);
    buf_byte(out, '{');
    add_string(out, "version", v->version);
    if (told.resources.n)
        buf_printf(out, ",\"resources\":" STR_FMT, STR_ARG(told.resources));
    buf_printf(out, ",\"freshness\":\"%s\"}", told.is_current ? "Current" : "Stale");
}

static void add_aggregated_version(struct buf *out, const struct catalog_version *v)
{
    buf_byte(out, '{');
    add_string(out, "version", v->version);
    buf_str_add(out, STR(",\"resources\":["));
    for (size_t i = 0; i < v->n; i++) {
        if (i)
            buf_byte(out, ',');
        add_aggregated_resource(out, v->resources[i]);
    }
    buf_str_add(out, STR("],\"freshness\":\"Current\"}"));
}

/* Nobody serves what is local and is not here. */
static bool is_told(const struct catalog_version *v)
{
    return !v->foreign || !apiservice_is_local(v->foreign);
}

static void add_aggregated(struct buf *out, struct arena *a, struct apiservices *services,
                           const struct catalog *c, bool core, bool beta)
{
    buf_printf(out,
               "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2%s\","
               "\"metadata\":{},\"items\":[",
               beta ? "beta1" : "");
    const struct catalog_version *before = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const struct catalog_version *v = &c->versions[i];
        if ((v->group.n == 0) != core || !is_told(v))
            continue;
        if (before && str_eq(before->group, v->group)) {
            buf_byte(out, ',');
        } else {
            buf_str_add(out, before ? STR("]},{\"metadata\":{") : STR("{\"metadata\":{"));
            if (v->group.n)
                add_string(out, "name", v->group);
            buf_str_add(out, STR("},\"versions\":["));
        }
        if (v->foreign)
            add_foreign_version(out, a, services, v);
        else
            add_aggregated_version(out, v);
        before = v;
    }
    buf_str_add(out, STR("]}]}\n"));
}

/* ---- Answering ---- */

/* v2beta1 is the same under its older name, which kubectl 1.26 to 1.29 ask for; like other old
 * versions it is there if all are. */
static const struct format_kind aggregated[] = {
    { { "apidiscovery.k8s.io", 19 }, { "v2", 2 }, { "APIGroupDiscoveryList", 21 } },
    { { "apidiscovery.k8s.io", 19 }, { "v2beta1", 7 }, { "APIGroupDiscoveryList", 21 } },
};
enum { AGGREGATED_TODAY = 1, AGGREGATED = ARRAY_LEN(aggregated) };

static struct str accept_of(struct http_exchange *x)
{
    return http_header_get(http_request_of(x), STR("accept"));
}

/* JSON is there already; the other forms are made from it. */
static struct str in_form(struct http_exchange *x, struct format f, const char *kind,
                          struct str json)
{
    struct value doc = value_null();
    autobuf out = { 0 };
    if (f.media == FORMAT_JSON && !f.pretty)
        return arena_str(http_arena(x), json);
    (void)json_read(http_arena(x), json, NULL, &doc, NULL);
    encode_tree(&out, http_arena(x), &f, kind_type_find(STR("meta"), STR("v1"), str_of(kind)),
                &doc);
    return arena_str(http_arena(x), buf_str(&out));
}

static void reply_aggregated(struct http_exchange *x, const struct api *api,
                             const struct catalog *c, bool core, struct format f, size_t kind)
{
    autobuf text = { 0 };
    struct arena *a = http_arena(x);
    add_aggregated(&text, a, api->apiservices, c, core, kind > 0);
    struct str etag = arena_printf(a, "\"%08X%08zX\"", crc32c(0, text.p, text.n), text.n);
    struct str media = format_content_type(f.media, false), version = aggregated[kind].version;
    const struct http_header headers[] = {
        { STR("content-type"),
          arena_printf(a, STR_FMT ";g=apidiscovery.k8s.io;v=" STR_FMT ";as=APIGroupDiscoveryList",
                       STR_ARG(media), STR_ARG(version)) },
        { STR("etag"), etag },
        { STR("vary"), STR("Accept") },
        { STR("cache-control"), STR("public") },
    };
    bool same = str_eq(http_header_get(http_request_of(x), STR("if-none-match")), etag);
    struct str bytes = same ? STR("") : in_form(x, f, "APIGroupDiscoveryList", buf_str(&text));
    http_reply(x, same ? 304 : 200, headers, ARRAY_LEN(headers), HTTP_BYTES(bytes));
}

static void reply_plain(struct http_exchange *x, const char *kind, struct str json)
{
    struct format f;
    struct err err = ERR_INIT(http_arena(x));
    if (format_choose_plain(http_arena(x), accept_of(x), &f, &err) < 0) {
        reply_error(x, &err);
        return;
    }
    const struct http_header headers[] = {
        { STR("content-type"), format_content_type(f.media, false) },
        { STR("cache-control"), STR("no-cache, private") },
    };
    reply_bytes(x, 200, headers, ARRAY_LEN(headers), in_form(x, f, kind, json));
}

/* The path cut into what it names; absent parts have a NULL pointer. */
struct place {
    bool core;
    struct str group, version;
};

static bool find_place(struct str path, struct place *ret)
{
    struct str rest = str_skip(path, 1);
    if (str_ends(rest, STR("/")))
        rest.n--;
    struct str root = str_cut(&rest, '/');
    *ret = (struct place){ .core = str_eq(root, STR("api")), .group = STR("") };
    if (!ret->core && !str_eq(root, STR("apis")))
        return false;
    if (!ret->core)
        ret->group = rest.p ? str_cut(&rest, '/') : (struct str){ NULL, 0 };
    if (!ret->core && ret->group.p && !ret->group.n)
        return false;
    if (rest.p)
        ret->version = str_cut(&rest, '/');
    return !rest.p;
}

static void serve_root(struct http_exchange *x, const struct api *api, const struct catalog *c,
                       bool core, struct str address)
{
    size_t n = api->versions == KIND_ALL_VERSIONS ? AGGREGATED : AGGREGATED_TODAY;
    struct format f;
    size_t kind;
    autobuf text = { 0 };
    bool may_aggregate = core || !str_ends(http_request_of(x)->path, STR("/"));
    if (may_aggregate &&
        format_choose_kind(http_arena(x), accept_of(x), aggregated, n, &f, &kind)) {
        reply_aggregated(x, api, c, core, f, kind);
        return;
    }
    if (core)
        add_versions(&text, address);
    else
        add_group_list(&text, http_arena(x), c);
    reply_plain(x, core ? "APIVersions" : "APIGroupList", buf_str(&text));
}

static void serve_below(struct http_exchange *x, const struct catalog *c, const struct place *p)
{
    struct arena *a = http_arena(x);
    autobuf text = { 0 };
    if (p->version.p) {
        add_resource_list(&text, a, catalog_find(c, p->group, p->version));
    } else {
        buf_str_add(&text, STR("{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\","));
        (void)add_group(&text, a, c, catalog_group(c, p->group));
        buf_str_add(&text, STR("}\n"));
    }
    reply_plain(x, p->version.p ? "APIResourceList" : "APIGroup", buf_str(&text));
}

/* Upstream's router has /api and built-in versions; /apis and groups are before it. */
static bool is_routed(const struct catalog *c, const struct place *p)
{
    return p->version.p ? !catalog_find(c, p->group, p->version)->custom : p->core;
}

static bool serve(struct http_exchange *x, const struct api *api, const struct catalog *c,
                  const struct place *p, struct str address)
{
    const struct http_request *req = http_request_of(x);
    struct err err = ERR_INIT(http_arena(x));
    bool is_root = !p->version.p && (p->core || !p->group.p);
    if (!is_root &&
        !(p->version.p ? catalog_find(c, p->group, p->version) : catalog_group(c, p->group)))
        return false;
    bool routed = is_routed(c, p);
    if (routed && !str_eq(req->method, STR("GET"))) /* all others answer to any method */
        reply_method_not_allowed(x);
    else if (routed && format_route(accept_of(x), FORMAT_OF_ONE, &err) < 0)
        reply_error(x, &err);
    else if (is_root)
        serve_root(x, api, c, p->core, address);
    else
        serve_below(x, c, p);
    return true;
}

bool discovery_serve(struct http_exchange *x, const struct api *api, struct str address)
{
    struct place p;
    if (!find_place(http_request_of(x)->path, &p))
        return false;
    struct catalog c;
    catalog_make(http_arena(x), api->versions, api->custom, api->apiservices, &c);
    bool served = serve(x, api, &c, &p, address);
    catalog_done(&c);
    return served;
}
