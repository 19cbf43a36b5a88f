#include "server/discovery/openapi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/openapi/openapi.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/http/accept.h"
#include "server/discovery/openapi_custom.h"
#include "server/discovery/openapi_foreign.h"
#include "server/http/reply.h"
#include "base/banned.h"

/* ---- Documents ---- */

/* Fixed ones first; then one for each row of kind_versions, and one for each row's group. */
enum { DOC_SWAGGER, DOC_SWAGGER_PROTO, DOC_LIST, DOC_CORE, DOC_GROUPS, DOC_VERSIONS };

enum { TAG_BYTES = OPENAPI_TAG_BYTES };

struct document {
    struct str text;          /* empty: not made, or not kept */
    char tag[TAG_BYTES];      /* all zero: not known */
    struct openapi_ends ends; /* DOC_SWAGGER */
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
    for (size_t k = 0; k < ARRAY_LEN(libraries); k++) {
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

static void write_proto(struct buf *out, enum kind_choice choice)
{
    autobuf text = { 0 };
    openapi_swagger(&text, choice, NULL);
    openapi_swagger_proto(out, buf_str(&text));
}

static void write_document(struct buf *out, struct library *l, size_t i)
{
    if (i == DOC_SWAGGER)
        openapi_swagger(out, l->choice, &l->documents[i].ends);
    else if (i == DOC_SWAGGER_PROTO)
        write_proto(out, l->choice);
    else if (i == DOC_LIST)
        add_list(out, l);
    else if (i < DOC_VERSIONS)
        openapi_roots(out, i == DOC_CORE);
    else if (i < DOC_VERSIONS + n_kind_versions)
        openapi_version(out, &kind_versions[i - DOC_VERSIONS], NULL);
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
static void redirect(struct http_exchange *x, struct str tag)
{
    const struct http_header headers[] = {
        { STR("location"), arena_printf(http_arena(x), STR_FMT "?hash=" STR_FMT,
                                        STR_ARG(http_request_of(x)->path), STR_ARG(tag)) },
        { STR("vary"), STR("Accept") },
    };
    http_reply(x, 301, headers, ARRAY_LEN(headers), HTTP_BYTES(STR("")));
}

enum { HEADERS_MAX = 5 };

/* Returns how many there are; the last one only where the address has the tag. */
static size_t make_headers(struct http_exchange *x, struct str tag, bool proto,
                           struct http_header ret[HEADERS_MAX])
{
    struct arena *a = http_arena(x);
    bool tagged_address = query_hash(http_request_of(x)->query).n;
    const struct http_header headers[HEADERS_MAX] = {
        { STR("content-type"),
          proto ? STR("application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
                : STR("application/json") },
        { STR("etag"), arena_printf(a, "\"" STR_FMT "\"", STR_ARG(tag)) },
        { STR("vary"), STR("Accept") },
        { STR("cache-control"),
          tagged_address ? STR("public, immutable") : STR("no-cache, private") },
        { STR("expires"), tagged_address ? in_a_year(a) : STR("") },
    };
    memcpy(ret, headers, sizeof(headers));
    return tagged_address ? HEADERS_MAX : HEADERS_MAX - 1;
}

/* Answers those who have the document, or an older one's address. */
static bool answered_by_tag(struct http_exchange *x, struct str tag, bool proto)
{
    const struct http_request *req = http_request_of(x);
    struct str hash = query_hash(req->query);
    struct str etag = arena_printf(http_arena(x), "\"" STR_FMT "\"", STR_ARG(tag));
    struct http_header headers[HEADERS_MAX];
    if (hash.n && !str_eq(hash, tag)) {
        redirect(x, tag);
        return true;
    }
    if (!str_eq(http_header_get(req, STR("if-none-match")), etag))
        return false;
    size_t n = make_headers(x, tag, proto, headers);
    http_reply(x, 304, headers, n, HTTP_BYTES(STR("")));
    return true;
}

static void reply_document(struct http_exchange *x, struct str text, struct str tag, bool proto)
{
    struct http_header headers[HEADERS_MAX];
    if (answered_by_tag(x, tag, proto))
        return;
    size_t n = make_headers(x, tag, proto, headers);
    http_reply(x, 200, headers, n, HTTP_BYTES(text));
}

static struct str tag_of(const struct document *d)
{
    return (struct str){ d->tag, TAG_BYTES };
}

/* ---- Custom kinds, and what others serve ---- */

static bool is_foreign(const struct catalog_version *v)
{
    return v->foreign && !apiservice_is_local(v->foreign);
}

static bool has_more(const struct catalog *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->versions[i].custom || is_foreign(&c->versions[i]))
            return true;
    return c->n_customs > 0;
}

/* Of all that is not built in. */
static void tag_of_more(const struct catalog *c, char ret[TAG_BYTES + 1])
{
    uint32_t crc = 0;
    openapi_custom_tag(c, NULL, ret);
    for (size_t i = 0; i < c->n; i++)
        if (is_foreign(&c->versions[i]))
            crc = crc32c(crc ? crc : crc32c(0, ret, TAG_BYTES), &c->versions[i].foreign->rev,
                         sizeof(uint64_t));
    if (crc)
        snprintf(ret, TAG_BYTES + 1, "%08X%08X", crc, (unsigned)c->n);
}

/* Who serves a version says where its document is. */
static void list_foreign(struct http_exchange *x, const struct api *api,
                         const struct catalog_version *v, struct buf *out)
{
    struct apiservice_told told = { 0 };
    (void)apiservices_told(api->apiservices, http_arena(x), v->foreign->name, &told);
    if (!told.openapi_url.n)
        return;
    buf_printf(out, ",\"apis/" STR_FMT "/" STR_FMT "\":{\"serverRelativeURL\":", STR_ARG(v->group),
               STR_ARG(v->version));
    json_write_string(out, told.openapi_url);
    buf_byte(out, '}');
}

/* The built-in addresses, and those of all other versions. */
static void reply_list(struct http_exchange *x, const struct api *api, const struct catalog *c,
                       const struct document *d)
{
    struct arena *a = http_arena(x);
    autobuf text = { 0 };
    buf_str_add(&text, str_take(d->text, d->text.n - 3)); /* without }}\n */
    for (size_t i = 0; i < c->n; i++) {
        const struct catalog_version *v = &c->versions[i];
        char tag[TAG_BYTES + 1];
        if (is_foreign(v))
            list_foreign(x, api, v, &text);
        if (!v->custom)
            continue;
        openapi_custom_tag(c, v, tag);
        struct str path =
            arena_printf(a, "apis/" STR_FMT "/" STR_FMT, STR_ARG(v->group), STR_ARG(v->version));
        buf_printf(&text,
                   ",\"" STR_FMT "\":{\"serverRelativeURL\":\"/openapi/v3/" STR_FMT "?hash=%s\"}",
                   STR_ARG(path), STR_ARG(path), tag);
    }
    buf_str_add(&text, STR("}}\n"));
    char all[TAG_BYTES + 1];
    tag_of_more(c, all);
    reply_document(x, arena_str(a, buf_str(&text)), str_of(all), false);
}

/* "apis/GROUP/VERSION" of a version that is custom. */
static bool serve_custom(struct http_exchange *x, const struct catalog *c,
                         struct custom_kinds *kinds)
{
    struct str rest = http_request_of(x)->path, prefix = STR("/openapi/v3/apis/");
    if (!str_starts(rest, prefix))
        return false;
    rest = str_skip(rest, prefix.n);
    struct str group = str_cut(&rest, '/');
    const struct catalog_version *v =
        rest.p ? catalog_find(c, group, rest) : catalog_group(c, group);
    if (!v || !v->custom)
        return false;
    char tag[TAG_BYTES + 1];
    autobuf text = { 0 };
    openapi_custom_tag(c, v, tag);
    if (rest.p)
        openapi_custom_version(&text, http_arena(x), kinds, v);
    else
        openapi_group(&text, group);
    reply_document(x, arena_str(http_arena(x), buf_str(&text)), str_of(tag), false);
    return true;
}

/* A Swagger document with custom kinds is sent piece by piece, and never had as a whole. */
struct swagger {
    struct http_exchange *x;
    struct api *api;
    const struct document *built_in;
    struct str there; /* the same as JSON */
    bool proto;
    char tag[TAG_BYTES + 1];
    struct map seen; /* definitions of others that were sent */
};

static int send_piece(struct swagger *s, struct str piece)
{
    return piece.n ? http_send_write(s->x, HTTP_BYTES(piece)) : 0;
}

static int send_copy(struct swagger *s, const struct buf *piece)
{
    struct http_bytes bytes = { .s = { mem_dup(piece->p, piece->n), piece->n }, .release = free };
    bytes.owner = (void *)(uintptr_t)bytes.s.p;
    return http_send_write(s->x, bytes);
}

enum part { PATHS, DEFINITIONS, MESSAGE };

static struct str without_comma(const struct buf *fields)
{
    return str_skip(str_trim(buf_str(fields)), fields->n ? 1 : 0);
}

static int send_more(struct swagger *s, const struct buf *paths, const struct buf *definitions,
                     enum part part)
{
    autobuf whole_of_it = { 0 }, message = { 0 };
    const struct buf *wanted = part == PATHS ? paths : definitions;
    if (part != MESSAGE)
        return wanted->n ? send_copy(s, wanted) : 0;
    /* Both begin with a comma that is nothing to the first of a list. */
    buf_printf(&whole_of_it, "{\"paths\":{" STR_FMT "},\"definitions\":{" STR_FMT "}}",
               STR_ARG(without_comma(paths)), STR_ARG(without_comma(definitions)));
    openapi_swagger_proto(&message, buf_str(&whole_of_it));
    return send_copy(s, &message);
}

static int send_kind(struct swagger *s, const struct kind_resource *r, enum part part)
{
    autobuf paths = { 0 }, definitions = { 0 };
    openapi_custom_swagger(part == DEFINITIONS ? NULL : &paths, part == PATHS ? NULL : &definitions,
                           s->api->custom, r);
    return send_more(s, &paths, &definitions, part);
}

static int send_foreign(struct swagger *s, const struct catalog_version *v, enum part part)
{
    autobuf paths = { 0 }, definitions = { 0 };
    struct apiservice_told told = { 0 };
    struct arena *a = http_arena(s->x);
    (void)apiservices_told(s->api->apiservices, a, v->foreign->name, &told);
    openapi_foreign_swagger(part == DEFINITIONS ? NULL : &paths,
                            part == PATHS ? NULL : &definitions, a, s->there, told.swagger, v,
                            &s->seen);
    return send_more(s, &paths, &definitions, part);
}

static int send_version(struct swagger *s, const struct catalog_version *v, enum part part)
{
    for (size_t k = 0; k < v->n; k++) {
        int r = v->resources[k]->type->custom ? send_kind(s, v->resources[k], part) : 0;
        if (r < 0)
            return r;
    }
    return is_foreign(v) ? send_foreign(s, v, part) : 0;
}

static int send_kinds(struct swagger *s, const struct catalog *c, enum part part)
{
    for (size_t i = 0; i < c->n; i++) {
        int r = send_version(s, &c->versions[i], part);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A piece of what is built in, and then what custom kinds add to it. */
static int send_part(struct swagger *s, const struct catalog *c, struct str piece, enum part part)
{
    int r = send_piece(s, piece);
    return r < 0 ? r : send_kinds(s, c, part);
}

static int send_swagger(struct swagger *s, const struct catalog *c)
{
    const struct document *d = s->built_in;
    if (s->proto)
        return send_part(s, c, d->text, MESSAGE);
    struct str rest = str_skip(d->text, d->ends.paths);
    int r = send_part(s, c, str_take(d->text, d->ends.paths), PATHS);
    if (r < 0)
        return r;
    r = send_part(s, c, str_take(rest, d->ends.definitions - d->ends.paths), DEFINITIONS);
    if (r < 0)
        return r;
    return send_piece(s, str_skip(d->text, d->ends.definitions));
}

static void run_swagger(struct http_exchange *x, void *arg) /* thread: worker */
{
    struct swagger *s = arg;
    struct catalog c;
    struct http_header headers[HEADERS_MAX];
    catalog_make(http_arena(x), s->api->versions, s->api->custom, s->api->apiservices, &c);
    size_t n = make_headers(x, str_of(s->tag), s->proto, headers);
    http_send_begin(x, 200, headers, n);
    (void)send_swagger(s, &c); /* who has gone away reads no more */
    catalog_done(&c);
    map_done(&s->seen);
    http_send_end(x, NULL, 0);
}

static void serve_swagger(struct http_exchange *x, struct api *api, const struct catalog *c,
                          const struct document *d, bool proto)
{
    struct swagger *s = arena_new(http_arena(x), struct swagger);
    *s = (struct swagger){ .x = x, .api = api, .built_in = d, .proto = proto };
    s->there = whole(api->versions, DOC_SWAGGER)->text;
    tag_of_more(c, s->tag);
    if (!answered_by_tag(x, str_of(s->tag), proto))
        (void)http_to_worker(x, api->read_workers, run_swagger, s);
}

/* ---- All of it ---- */

static void serve_document(struct http_exchange *x, struct api *api, const struct catalog *c,
                           size_t document)
{
    bool proto = document == DOC_SWAGGER_PROTO;
    const struct document *d = whole(api->versions, document);
    if (has_more(c) && (proto || document == DOC_SWAGGER))
        serve_swagger(x, api, c, d, proto);
    else if (has_more(c) && document == DOC_LIST)
        reply_list(x, api, c, d);
    else
        reply_document(x, d->text, tag_of(d), proto);
}

bool openapi_serve(struct http_exchange *x, struct api *api)
{
    const struct http_request *req = http_request_of(x);
    size_t document = DOC_LIST;
    if (!str_starts(req->path, STR("/openapi/")))
        return false;
    struct catalog c;
    catalog_make(http_arena(x), api->versions, api->custom, api->apiservices, &c);
    bool built_in = find_path(req->path, api->versions, &document), served = true;
    if (!str_eq(req->method, STR("GET")) && !str_eq(req->method, STR("HEAD")) && built_in)
        reply_method_not_allowed(x);
    else if (!negotiate(x, &document))
        reply_refusal(x, ERR_NOT_ACCEPTABLE,
                      "only the following media types are accepted: application/json");
    else if (built_in)
        serve_document(x, api, &c, document);
    else
        served = serve_custom(x, &c, api->custom);
    catalog_done(&c);
    return served;
}
