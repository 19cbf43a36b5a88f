#include "server/openapi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/openapi.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "net/accept.h"
#include "server/reply.h"
#include "base/banned.h"

/* ---- Documents ---- */

/* Fixed ones first; then one for each row of kind_versions, and one for each row's group. */
enum { DOC_SWAGGER, DOC_SWAGGER_PROTO, DOC_LIST, DOC_CORE, DOC_GROUPS, DOC_VERSIONS };

enum { TAG_BYTES = 16 };

struct document {
    struct str text;     /* empty: not made, or not kept */
    char tag[TAG_BYTES]; /* all zero: not known */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The documents of one choice of versions. */
struct library {
    enum kind_choice choice;
    struct document *documents; /* under the lock; what is in it never changes once it is set */
};
static struct library libraries[] = {
    { .choice = KIND_ALL_VERSIONS },
    { .choice = KIND_CURRENT_VERSIONS },
};

static size_t count_documents(void)
{
    return DOC_VERSIONS + 2 * n_kind_versions;
}

static void free_documents(void)
{
    for (size_t k = 0; k < sizeof(libraries) / sizeof(libraries[0]); k++) {
        struct document *documents = libraries[k].documents;
        for (size_t i = 0; documents && i < count_documents(); i++)
            free((char *)documents[i].text.p);
        free(documents);
        libraries[k].documents = NULL;
    }
}

static bool is_first_of_group(size_t version)
{
    struct str group = kind_versions[version].group;
    return group.n && (version == 0 || !str_eq(kind_versions[version - 1].group, group));
}

static const struct document *tagged(struct library *l, size_t i);

/* "api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=..."} */
static void add_address(struct buf *out, struct library *l, size_t i, struct str path)
{
    if (out->p[out->n - 1] != '{')
        buf_byte(out, ',');
    buf_printf(out, "\"" STR_FMT "\":{\"serverRelativeURL\":\"/openapi/v3/" STR_FMT "?hash=%.*s\"}",
               STR_ARG(path), STR_ARG(path), (int)TAG_BYTES, tagged(l, i)->tag);
}

static void add_list(struct buf *out, struct library *l)
{
    buf_str_add(out, STR("{\"paths\":{"));
    add_address(out, l, DOC_CORE, STR("api"));
    add_address(out, l, DOC_GROUPS, STR("apis"));
    for (size_t i = 0; i < n_kind_versions; i++) {
        const struct kind_version *v = &kind_versions[i];
        if (!kind_version_is(v, l->choice))
            continue;
        autobuf path = { 0 };
        buf_str_add(&path, v->group.n ? STR("apis/") : STR("api"));
        buf_str_add(&path, v->group);
        if (is_first_of_group(i))
            add_address(out, l, DOC_VERSIONS + n_kind_versions + i, buf_str(&path));
        buf_printf(&path, "/" STR_FMT, STR_ARG(v->version));
        add_address(out, l, DOC_VERSIONS + i, buf_str(&path));
    }
    buf_str_add(out, STR("}}\n"));
}

static void write_document(struct buf *out, struct library *l, size_t i)
{
    if (i == DOC_SWAGGER)
        openapi_swagger(out, l->choice);
    else if (i == DOC_SWAGGER_PROTO)
        openapi_swagger_proto(out, l->choice);
    else if (i == DOC_LIST)
        add_list(out, l);
    else if (i < DOC_VERSIONS)
        openapi_roots(out, i == DOC_CORE);
    else if (i < DOC_VERSIONS + n_kind_versions)
        openapi_version(out, &kind_versions[i - DOC_VERSIONS]);
    else
        openapi_group(out, kind_versions[i - DOC_VERSIONS - n_kind_versions].group);
}

static void make(struct library *l, size_t i, bool keep)
{
    struct document *d = &l->documents[i];
    struct buf text = { 0 };
    write_document(&text, l, i);
    if (!d->tag[0]) {
        char tag[TAG_BYTES + 1];
        snprintf(tag, sizeof(tag), "%08X%08X", crc32c(0, text.p, text.n), (unsigned)text.n);
        memcpy(d->tag, tag, TAG_BYTES);
    }
    if (keep) { /* without the room that it grew into */
        d->text.p = mem_resize(text.p, text.n, 1);
        d->text.n = text.n;
    } else {
        buf_done(&text);
    }
}

/* The document with its tag, but perhaps without its text: the list needs no more of all the
 * others, and most are never asked for. */
static const struct document *tagged(struct library *l, size_t i)
{
    if (!l->documents[i].tag[0])
        make(l, i, false);
    return &l->documents[i];
}

static const struct document *whole(enum kind_choice choice, size_t i)
{
    struct library *l = &libraries[choice];
    pthread_mutex_lock(&lock);
    if (!l->documents) {
        l->documents = mem_array(count_documents(), sizeof(*l->documents));
        atexit(free_documents);
    }
    if (!l->documents[i].text.n)
        make(l, i, true);
    const struct document *d = &l->documents[i];
    pthread_mutex_unlock(&lock);
    return d;
}

/* ---- Serving ---- */

/* "api/v1", "apis/apps", "apis/apps/v1": which document that is. */
static bool find_document(struct str path, enum kind_choice choice, size_t *ret)
{
    struct str rest = path;
    struct str root = str_cut(&rest, '/');
    bool core = str_eq(root, STR("api"));
    if (!core && !str_eq(root, STR("apis")))
        return false;
    *ret = core ? DOC_CORE : DOC_GROUPS;
    if (!rest.p)
        return true;
    struct str group = core ? STR("") : str_cut(&rest, '/');
    for (size_t i = 0; i < n_kind_versions; i++) {
        if (!str_eq(kind_versions[i].group, group) || !kind_version_is(&kind_versions[i], choice))
            continue;
        if (rest.p && !str_eq(kind_versions[i].version, rest))
            continue;
        *ret = DOC_VERSIONS + i + (rest.p ? 0 : n_kind_versions);
        return rest.p || !core;
    }
    return false;
}

static bool find_path(struct str path, enum kind_choice choice, size_t *ret)
{
    struct str v3 = STR("/openapi/v3");
    struct str rest = str_skip(path, v3.n);
    *ret = str_starts(path, v3) ? DOC_LIST : DOC_SWAGGER;
    if (str_eq(path, v3) || str_eq(path, STR("/openapi/v2")))
        return true;
    return *ret == DOC_LIST && rest.p[0] == '/' && find_document(str_skip(rest, 1), choice, ret);
}

static struct str query_hash(struct str query)
{
    while (query.p) {
        struct str value = str_cut(&query, '&');
        struct str name = str_cut(&value, '=');
        if (str_eq(name, STR("hash")) && value.p)
            return value;
    }
    return (struct str){ NULL, 0 };
}

static bool is_json(struct str type)
{
    return str_eq(type, STR("application/json")) || str_eq(type, STR("application/*")) ||
           str_eq(type, STR("*/*"));
}

static bool is_swagger_proto(struct str type)
{
    return str_eq(type, STR("application/com.github.proto-openapi.spec.v2@v1.0+protobuf")) ||
           str_eq(type, STR("application/com.github.proto-openapi.spec.v2.v1.0+protobuf"));
}

/* Finds the form that the client likes best; all documents are JSON, one is protobuf too. */
static bool negotiate(struct http_exchange *x, size_t *document)
{
    struct str header = http_header_get(http_request_of(x), STR("accept"));
    const struct accept_item *items;
    size_t n = accept_parse(http_arena(x), header, &items);
    for (size_t i = 0; i < n; i++) {
        if (!items[i].q)
            continue;
        if (is_json(items[i].type))
            return true;
        if (*document == DOC_SWAGGER && is_swagger_proto(items[i].type)) {
            *document = DOC_SWAGGER_PROTO;
            return true;
        }
    }
    return n == 0;
}

static struct str in_a_year(struct arena *a)
{
    enum { YEAR_SECONDS = 365 * 24 * 3600 };
    time_t then = (time_t)(clock_wall_ns(&clock_system) / NS_PER_SEC) + YEAR_SECONDS;
    char text[40];
    struct tm tm;
    gmtime_r(&then, &tm);
    size_t n = strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    return arena_str(a, (struct str){ text, n });
}

/* The address has the tag of an older document. */
static void redirect(struct http_exchange *x, const struct document *d)
{
    const struct http_header headers[] = {
        { STR("location"),
          arena_printf(http_arena(x), STR_FMT "?hash=%.*s", STR_ARG(http_request_of(x)->path),
                       (int)TAG_BYTES, d->tag) },
        { STR("vary"), STR("Accept") },
    };
    http_reply(x, 301, headers, sizeof(headers) / sizeof(headers[0]), HTTP_BYTES(STR("")));
}

static void reply_document(struct http_exchange *x, const struct document *d, bool proto)
{
    const struct http_request *req = http_request_of(x);
    struct arena *a = http_arena(x);
    struct str hash = query_hash(req->query);
    if (hash.n && !str_eq(hash, (struct str){ d->tag, TAG_BYTES })) {
        redirect(x, d);
        return;
    }
    struct str etag = arena_printf(a, "\"%.*s\"", (int)TAG_BYTES, d->tag);
    const struct http_header headers[] = {
        { STR("content-type"),
          proto ? STR("application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
                : STR("application/json") },
        { STR("etag"), etag },
        { STR("vary"), STR("Accept") },
        { STR("cache-control"), hash.n ? STR("public, immutable") : STR("no-cache, private") },
        { STR("expires"), hash.n ? in_a_year(a) : STR("") },
    };
    size_t n_headers = sizeof(headers) / sizeof(headers[0]) - (hash.n ? 0 : 1);
    bool same = str_eq(http_header_get(req, STR("if-none-match")), etag);
    http_reply(x, same ? 304 : 200, headers, n_headers, HTTP_BYTES(same ? STR("") : d->text));
}

bool openapi_serve(struct http_exchange *x, enum kind_choice choice)
{
    const struct http_request *req = http_request_of(x);
    size_t document;
    if (!find_path(req->path, choice, &document))
        return false;
    if (!str_eq(req->method, STR("GET")) && !str_eq(req->method, STR("HEAD")))
        reply_method_not_allowed(x);
    else if (!negotiate(x, &document))
        reply_refusal(x, ERR_NOT_ACCEPTABLE,
                      "only the following media types are accepted: application/json");
    else
        reply_document(x, whole(choice, document), document == DOC_SWAGGER_PROTO);
    return true;
}
