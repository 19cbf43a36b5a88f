/* openapi_paths.c - resources as paths and operations, from the same tables that route requests. */
#include "api/openapi_internal.h"

#include "base/json.h"
#include "base/banned.h"

/* ---- Parameters ---- */

enum parameter {
    PARAM_BOOKMARKS = 1 << 0,
    PARAM_CONTINUE = 1 << 1,
    PARAM_DRY_RUN = 1 << 2,
    PARAM_MANAGER = 1 << 3,
    PARAM_FIELDS = 1 << 4,
    PARAM_VALIDATION = 1 << 5,
    PARAM_FORCE = 1 << 6,
    PARAM_GRACE = 1 << 7,
    PARAM_IGNORE_READ_ERROR = 1 << 8,
    PARAM_LABELS = 1 << 9,
    PARAM_LIMIT = 1 << 10,
    PARAM_ORPHAN = 1 << 11,
    PARAM_PRETTY = 1 << 12,
    PARAM_PROPAGATION = 1 << 13,
    PARAM_REVISION = 1 << 14,
    PARAM_REVISION_MATCH = 1 << 15,
    PARAM_INITIAL_EVENTS = 1 << 16,
    PARAM_SHARD = 1 << 17,
    PARAM_TIMEOUT = 1 << 18,
    PARAM_WATCH = 1 << 19,

    PARAMS_PAGE = PARAM_CONTINUE | PARAM_FIELDS | PARAM_LABELS | PARAM_LIMIT | PARAM_REVISION |
                  PARAM_REVISION_MATCH | PARAM_INITIAL_EVENTS | PARAM_SHARD | PARAM_TIMEOUT,
    PARAMS_LIST = PARAMS_PAGE | PARAM_BOOKMARKS | PARAM_WATCH,
    PARAMS_WRITE = PARAM_DRY_RUN | PARAM_MANAGER | PARAM_VALIDATION,
    PARAMS_PATCH = PARAMS_WRITE | PARAM_FORCE,
    PARAMS_DELETE =
        PARAM_DRY_RUN | PARAM_GRACE | PARAM_IGNORE_READ_ERROR | PARAM_ORPHAN | PARAM_PROPAGATION,
};

/* In the order of the bits. */
static const struct {
    const char *name, *type;
} parameters[] = {
    { "allowWatchBookmarks", "boolean" },
    { "continue", "string" },
    { "dryRun", "string" },
    { "fieldManager", "string" },
    { "fieldSelector", "string" },
    { "fieldValidation", "string" },
    { "force", "boolean" },
    { "gracePeriodSeconds", "integer" },
    { "ignoreStoreReadErrorWithClusterBreakingPotential", "boolean" },
    { "labelSelector", "string" },
    { "limit", "integer" },
    { "orphanDependents", "boolean" },
    { "pretty", "string" },
    { "propagationPolicy", "string" },
    { "resourceVersion", "string" },
    { "resourceVersionMatch", "string" },
    { "sendInitialEvents", "boolean" },
    { "shardSelector", "string" },
    { "timeoutSeconds", "integer" },
    { "watch", "boolean" },
};

static void add_parameter(struct openapi *o, const char *in, struct str name, const char *type)
{
    openapi_comma(o->out);
    buf_printf(o->out, "{\"in\":\"%s\",\"name\":\"" STR_FMT "\"", in, STR_ARG(name));
    if (str_eq(str_of(in), STR("path")))
        buf_str_add(o->out, STR(",\"required\":true"));
    buf_printf(o->out,
               o->swagger ? ",\"type\":\"%s\",\"uniqueItems\":true}"
                          : ",\"schema\":{\"type\":\"%s\",\"uniqueItems\":true}}",
               type);
}

static void add_parameters(struct openapi *o, unsigned which)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        if (which & 1u << i)
            add_parameter(o, "query", str_of(parameters[i].name), parameters[i].type);
}

/* The fields of an options type, as a query carries them. */
static void add_option_parameters(struct openapi *o, const struct kind_type *options)
{
    for (size_t i = 0; options && i < options->n_fields; i++) {
        const struct kind_field *f = &options->fields[i];
        if (f->scalar != KIND_TIME) /* sinceTime goes by another way */
            add_parameter(o, "query", f->name, openapi_type_name(f->scalar));
    }
}

/* ---- Operations ---- */

enum body { BODY_NONE, BODY_OPTIONAL, BODY_NEEDED, BODY_PATCH };
enum produced { PRODUCES_OBJECT, PRODUCES_STREAM, PRODUCES_LOG, PRODUCES_ANYTHING };

static const char *const object_types[] = { "application/json", "application/yaml",
                                            "application/vnd.kubernetes.protobuf",
                                            "application/cbor" };
static const char *const stream_types[] = { "application/json",
                                            "application/yaml",
                                            "application/vnd.kubernetes.protobuf",
                                            "application/cbor",
                                            "application/json;stream=watch",
                                            "application/vnd.kubernetes.protobuf;stream=watch",
                                            "application/cbor-seq" };
static const char *const log_types[] = { "text/plain", "application/json", "application/yaml",
                                         "application/vnd.kubernetes.protobuf",
                                         "application/cbor" };
static const char *const any_types[] = { "*/*" };
static const char *const patch_types[] = { "application/json-patch+json",
                                           "application/merge-patch+json",
                                           "application/strategic-merge-patch+json",
                                           "application/apply-patch+yaml",
                                           "application/apply-patch+cbor" };

struct media {
    const char *const *types;
    size_t n;
};
#define MEDIA(list)                              \
    {                                            \
        (list), sizeof(list) / sizeof((list)[0]) \
    }

static const struct media produced_media[] = {
    [PRODUCES_OBJECT] = MEDIA(object_types),
    [PRODUCES_STREAM] = MEDIA(stream_types),
    [PRODUCES_LOG] = MEDIA(log_types),
    [PRODUCES_ANYTHING] = MEDIA(any_types),
};
static const struct media consumed_media[] = {
    [BODY_NONE] = MEDIA(any_types),
    [BODY_OPTIONAL] = MEDIA(any_types),
    [BODY_NEEDED] = MEDIA(any_types),
    [BODY_PATCH] = MEDIA(patch_types),
};

struct operation {
    const char *method, *action; /* action NULL: not one on a kind */
    struct str id, tag;
    unsigned parameters;
    enum body body;
    const struct kind_type *body_type;
    enum produced produced;
    const struct kind_type *reply; /* NULL: text */
    bool created, accepted;        /* 201 and 202 beside 200 */
    const struct kind_type *gvk;
};

static void add_schema_of(struct openapi *o, const struct kind_type *t)
{
    buf_str_add(o->out, STR("\"schema\":"));
    if (t)
        openapi_ref(o, t);
    else
        buf_str_add(o->out, STR("{\"type\":\"string\"}"));
}

static void add_content(struct openapi *o, const struct media *m, const struct kind_type *t)
{
    buf_str_add(o->out, STR("\"content\":{"));
    for (size_t i = 0; i < m->n; i++) {
        openapi_comma(o->out);
        buf_printf(o->out, "\"%s\":{", m->types[i]);
        add_schema_of(o, t);
        buf_byte(o->out, '}');
    }
    buf_byte(o->out, '}');
}

static void add_media_list(struct openapi *o, const char *name, const struct media *m)
{
    buf_printf(o->out, ",\"%s\":[", name);
    for (size_t i = 0; i < m->n; i++) {
        openapi_comma(o->out);
        buf_printf(o->out, "\"%s\"", m->types[i]);
    }
    buf_byte(o->out, ']');
}

static void add_response(struct openapi *o, const struct operation *op, const char *code,
                         const char *meaning)
{
    openapi_comma(o->out);
    buf_printf(o->out, "\"%s\":{\"description\":\"%s\",", code, meaning);
    if (o->swagger)
        add_schema_of(o, op->reply);
    else
        add_content(o, &produced_media[op->produced], op->reply);
    buf_byte(o->out, '}');
}

static void add_responses(struct openapi *o, const struct operation *op)
{
    buf_str_add(o->out, STR(",\"responses\":{"));
    add_response(o, op, "200", "OK");
    if (op->created)
        add_response(o, op, "201", "Created");
    if (op->accepted)
        add_response(o, op, "202", "Accepted");
    buf_str_add(o->out, STR(",\"401\":{\"description\":\"Unauthorized\"}}"));
}

static void add_request(struct openapi *o, const struct operation *op)
{
    const char *needed = op->body > BODY_OPTIONAL ? ",\"required\":true" : "";
    bool body_parameter = o->swagger && op->body != BODY_NONE;
    if (op->parameters || body_parameter) {
        buf_str_add(o->out, STR(",\"parameters\":["));
        if (body_parameter) {
            buf_printf(o->out, "{\"in\":\"body\",\"name\":\"body\"%s,", needed);
            add_schema_of(o, op->body_type);
            buf_byte(o->out, '}');
        }
        add_parameters(o, op->parameters);
        buf_byte(o->out, ']');
    }
    if (o->swagger) {
        add_media_list(o, "consumes", &consumed_media[op->body]);
        add_media_list(o, "produces", &produced_media[op->produced]);
        buf_str_add(o->out, STR(",\"schemes\":[\"https\"]"));
    } else if (op->body != BODY_NONE) {
        buf_str_add(o->out, STR(",\"requestBody\":{"));
        add_content(o, &consumed_media[op->body], op->body_type);
        buf_printf(o->out, "%s}", needed);
    }
}

static void add_operation(struct openapi *o, const struct operation *op)
{
    struct buf *out = o->out;
    openapi_comma(out);
    buf_printf(out, "\"%s\":{\"operationId\":\"" STR_FMT "\",\"tags\":[\"" STR_FMT "\"]",
               op->method, STR_ARG(op->id), STR_ARG(op->tag));
    add_request(o, op);
    add_responses(o, op);
    if (op->action)
        buf_printf(out, ",\"x-kubernetes-action\":\"%s\"", op->action);
    if (op->gvk) {
        buf_str_add(out, STR(",\"x-kubernetes-group-version-kind\":"));
        openapi_add_gvk(out, openapi_group_of(op->gvk), op->gvk->version, op->gvk->name);
    }
    buf_byte(out, '}');
}

/* ---- Names ---- */

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static void add_capital(struct buf *out, struct str word)
{
    if (word.n)
        buf_byte(out, upper(word.p[0]));
    buf_str_add(out, str_skip(word, 1));
}

void openapi_add_group_name(struct buf *out, struct str group, bool capital)
{
    if (!group.n)
        group = STR("core");
    if (str_ends(group, STR(".k8s.io")))
        group.n -= STR(".k8s.io").n;
    for (bool first = true; group.n; first = false) {
        struct str word = str_cut(&group, '.');
        if (first && !capital)
            buf_str_add(out, word);
        else
            add_capital(out, word);
    }
}

/* ---- Resources ---- */

/* The resource, or one of its subresources, whose paths are being written. */
struct scope {
    struct openapi *o;
    const struct kind_resource *r;
    const struct kind_subresource *sub; /* NULL: the resource itself */
    struct buf base;                    /* "/apis/apps/v1" */
    struct buf tag;                     /* "apps_v1" */
    struct buf stem;                    /* "AppsV1" */
    struct buf text;                    /* reused for paths and ids */
};

enum place { IN_NAMESPACE, ACROSS_NAMESPACES };

static void begin_path(struct scope *s, enum place place, const char *before, const char *after)
{
    struct buf *out = s->o->out;
    openapi_comma(out);
    buf_byte(out, '"');
    buf_str_add(out, buf_str(&s->base));
    buf_printf(out, "%s/", before);
    if (s->r->namespaced && place == IN_NAMESPACE)
        buf_str_add(out, STR("namespaces/{namespace}/"));
    buf_str_add(out, s->r->plural);
    buf_printf(out, "%s", after);
    buf_str_add(out, STR("\":{"));
}

/* What all operations of the path take. */
static void end_path(struct scope *s, enum place place, bool named, unsigned shared,
                     const struct kind_type *options)
{
    struct buf *out = s->o->out;
    openapi_comma(out);
    buf_str_add(out, STR("\"parameters\":["));
    if (named)
        add_parameter(s->o, "path", STR("name"), "string");
    if (s->r->namespaced && place == IN_NAMESPACE)
        add_parameter(s->o, "path", STR("namespace"), "string");
    add_parameters(s->o, shared);
    add_option_parameters(s->o, options);
    buf_str_add(out, STR("]}"));
}

/* "listAppsV1NamespacedDeploymentForAllNamespaces" out of its parts; good until the next one. */
static struct str operation_id(struct scope *s, const char *verb, const char *middle,
                               const char *end)
{
    struct buf *b = &s->text;
    buf_reset(b);
    buf_printf(b, "%s" STR_FMT "%s", verb, STR_ARG(buf_str(&s->stem)), middle);
    bool all = str_ends(str_of(end), STR("ForAllNamespaces"));
    if (s->r->namespaced && !all)
        buf_str_add(b, STR("Namespaced"));
    buf_str_add(b, s->r->type->name);
    if (s->sub)
        add_capital(b, s->sub->name);
    buf_printf(b, "%s", end);
    return buf_str(b);
}

static void add_list(struct scope *s, unsigned query, const char *end)
{
    add_operation(s->o, &(struct operation){
                            .method = "get",
                            .action = "list",
                            .id = operation_id(s, "list", "", end),
                            .tag = buf_str(&s->tag),
                            .parameters = query,
                            .produced = PRODUCES_STREAM,
                            .reply = s->r->list,
                            .gvk = s->r->type,
                        });
}

static void add_watch(struct scope *s, const char *action, const char *end)
{
    add_operation(s->o, &(struct operation){
                            .method = "get",
                            .action = action,
                            .id = operation_id(s, "watch", "", end),
                            .tag = buf_str(&s->tag),
                            .produced = PRODUCES_STREAM,
                            .reply = openapi_meta_type(STR("WatchEvent")),
                            .gvk = s->r->type,
                        });
}

static void add_create(struct scope *s, const struct kind_type *t)
{
    add_operation(s->o, &(struct operation){
                            .method = "post",
                            .action = "post",
                            .id = operation_id(s, "create", "", ""),
                            .tag = buf_str(&s->tag),
                            .parameters = PARAMS_WRITE,
                            .body = BODY_NEEDED,
                            .body_type = t,
                            .reply = t,
                            .created = true,
                            .accepted = true,
                            .gvk = t,
                        });
}

static void add_delete(struct scope *s, bool collection)
{
    /* Pods and a few more answer with what was deleted, the others with a Status. */
    static const struct str kept[] = { STR("pods"),
                                       STR("services"),
                                       STR("serviceaccounts"),
                                       STR("podtemplates"),
                                       STR("volumeattributesclasses"),
                                       STR("deviceclasses"),
                                       STR("resourceclaims"),
                                       STR("resourceclaimtemplates"),
                                       STR("resourceslices"),
                                       STR("resourcequotas"),
                                       STR("persistentvolumes"),
                                       STR("persistentvolumeclaims"),
                                       STR("csidrivers"),
                                       STR("csinodes"),
                                       STR("storageclasses"),
                                       STR("volumeattachments") };
    const struct kind_type *reply = openapi_meta_type(STR("Status"));
    for (size_t i = 0; !collection && i < sizeof(kept) / sizeof(kept[0]); i++)
        if (str_eq(kept[i], s->r->plural))
            reply = s->r->type;
    add_operation(s->o, &(struct operation){
                            .method = "delete",
                            .action = collection ? "deletecollection" : "delete",
                            .id = operation_id(s, "delete", collection ? "Collection" : "", ""),
                            .tag = buf_str(&s->tag),
                            .parameters = PARAMS_DELETE | (collection ? (unsigned)PARAMS_PAGE : 0),
                            .body = BODY_OPTIONAL,
                            .body_type = openapi_meta_type(STR("DeleteOptions")),
                            .reply = reply,
                            .accepted = !collection,
                            .gvk = s->r->type,
                        });
}

static void add_read(struct scope *s, const struct kind_type *t, bool is_log)
{
    add_operation(s->o, &(struct operation){
                            .method = "get",
                            .action = "get",
                            .id = operation_id(s, "read", "", ""),
                            .tag = buf_str(&s->tag),
                            .produced = is_log ? PRODUCES_LOG : PRODUCES_OBJECT,
                            .reply = is_log ? NULL : t,
                            .gvk = t,
                        });
}

/* PUT and PATCH. */
static void add_change(struct scope *s, const struct kind_type *t, bool patch)
{
    add_operation(s->o, &(struct operation){
                            .method = patch ? "patch" : "put",
                            .action = patch ? "patch" : "put",
                            .id = operation_id(s, patch ? "patch" : "replace", "", ""),
                            .tag = buf_str(&s->tag),
                            .parameters = patch ? PARAMS_PATCH : PARAMS_WRITE,
                            .body = patch ? BODY_PATCH : BODY_NEEDED,
                            .body_type = patch ? openapi_meta_type(STR("Patch")) : t,
                            .reply = t,
                            .created = true,
                            .gvk = t,
                        });
}

static void add_collection(struct scope *s)
{
    unsigned verbs = s->r->verbs;
    if (verbs & (KIND_CREATE | KIND_LIST_VERB | KIND_DELETE_COLLECTION)) {
        begin_path(s, IN_NAMESPACE, "", "");
        if (verbs & KIND_LIST_VERB)
            add_list(s, PARAMS_LIST, "");
        if (verbs & KIND_CREATE)
            add_create(s, s->r->type);
        if (verbs & KIND_DELETE_COLLECTION)
            add_delete(s, true);
        end_path(s, IN_NAMESPACE, false, PARAM_PRETTY, NULL);
    }
    if (s->r->namespaced && verbs & KIND_LIST_VERB) {
        begin_path(s, ACROSS_NAMESPACES, "", "");
        add_list(s, 0, "ForAllNamespaces");
        end_path(s, ACROSS_NAMESPACES, false, PARAMS_LIST | PARAM_PRETTY, NULL);
    }
}

static void add_item(struct scope *s)
{
    unsigned verbs = s->r->verbs;
    if (!(verbs & (KIND_GET | KIND_UPDATE | KIND_PATCH | KIND_DELETE)))
        return;
    begin_path(s, IN_NAMESPACE, "", "/{name}");
    if (verbs & KIND_GET)
        add_read(s, s->r->type, false);
    if (verbs & KIND_UPDATE)
        add_change(s, s->r->type, false);
    if (verbs & KIND_PATCH)
        add_change(s, s->r->type, true);
    if (verbs & KIND_DELETE)
        add_delete(s, false);
    end_path(s, IN_NAMESPACE, true, PARAM_PRETTY, NULL);
}

static void add_watches(struct scope *s)
{
    if (!(s->r->verbs & KIND_WATCH))
        return;
    const unsigned shared = PARAMS_LIST | PARAM_PRETTY;
    begin_path(s, IN_NAMESPACE, "/watch", "");
    add_watch(s, "watchlist", "List");
    end_path(s, IN_NAMESPACE, false, shared, NULL);
    begin_path(s, IN_NAMESPACE, "/watch", "/{name}");
    add_watch(s, "watch", "");
    end_path(s, IN_NAMESPACE, true, shared, NULL);
    if (!s->r->namespaced)
        return;
    begin_path(s, ACROSS_NAMESPACES, "/watch", "");
    add_watch(s, "watchlist", "ListForAllNamespaces");
    end_path(s, ACROSS_NAMESPACES, false, shared, NULL);
}

/* ---- Subresources ---- */

static void add_connect(struct scope *s, const char *method, const char *name, const char *end)
{
    add_operation(s->o, &(struct operation){
                            .method = method,
                            .action = "connect",
                            .id = operation_id(s, "connect", name, end),
                            .tag = buf_str(&s->tag),
                            .produced = PRODUCES_ANYTHING,
                            .gvk = s->sub->type,
                        });
}

static void end_connect_path(struct scope *s, bool below)
{
    struct buf *out = s->o->out;
    end_path(s, IN_NAMESPACE, true, 0, s->sub->type);
    if (!below)
        return;
    out->n -= 2; /* once more open, for the one thing that only this path has */
    add_parameter(s->o, "path", STR("path"), "string");
    buf_str_add(out, STR("]}"));
}

/* A stream or a proxied request; a proxy passes on every method, and what follows in the path. */
static void add_connect_paths(struct scope *s)
{
    static const struct {
        const char *method, *name;
        bool stream;
    } methods[] = {
        { "get", "Get", true },          { "post", "Post", true },      { "put", "Put", false },
        { "patch", "Patch", false },     { "delete", "Delete", false }, { "head", "Head", false },
        { "options", "Options", false },
    };
    bool proxy = str_eq(s->sub->name, STR("proxy"));
    for (int below = 0; below <= proxy; below++) {
        autobuf after = { 0 };
        buf_printf(&after, "/{name}/" STR_FMT "%s%c", STR_ARG(s->sub->name), below ? "/{path}" : "",
                   '\0');
        begin_path(s, IN_NAMESPACE, "", after.p);
        for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
            if (proxy || methods[i].stream)
                add_connect(s, methods[i].method, methods[i].name, below ? "WithPath" : "");
        end_connect_path(s, below);
    }
}

static bool is_connect(const struct kind_subresource *sub)
{
    return str_ends(sub->type->name, STR("Options"));
}

static void add_subresource(struct scope *s)
{
    if (is_connect(s->sub)) {
        add_connect_paths(s);
        return;
    }
    unsigned verbs = s->sub->verbs;
    bool is_log = str_eq(s->sub->name, STR("log"));
    autobuf after = { 0 };
    buf_printf(&after, "/{name}/" STR_FMT "%c", STR_ARG(s->sub->name), '\0');
    begin_path(s, IN_NAMESPACE, "", after.p);
    if (verbs & KIND_GET)
        add_read(s, s->sub->type, is_log);
    if (verbs & KIND_CREATE)
        add_create(s, s->sub->type);
    if (verbs & KIND_UPDATE)
        add_change(s, s->sub->type, false);
    if (verbs & KIND_PATCH)
        add_change(s, s->sub->type, true);
    end_path(s, IN_NAMESPACE, true, PARAM_PRETTY,
             is_log ? kind_type_find(STR(""), STR("v1"), STR("PodLogOptions")) : NULL);
}

/* ---- A group and version ---- */

void openapi_add_discovery_path(struct openapi *o, struct str path, struct str id, struct str tag,
                                const char *type)
{
    openapi_comma(o->out);
    buf_printf(o->out, "\"" STR_FMT "\":{", STR_ARG(path));
    add_operation(o, &(struct operation){
                         .method = "get",
                         .id = id,
                         .tag = tag,
                         .reply = openapi_meta_type(str_of(type)),
                     });
    buf_byte(o->out, '}');
}

static void add_resource(struct scope *s)
{
    s->sub = NULL;
    add_collection(s);
    add_item(s);
    add_watches(s);
    for (size_t i = 0; i < s->r->n_subresources; i++) {
        s->sub = &s->r->subresources[i];
        add_subresource(s);
    }
}

void openapi_add_paths(struct openapi *o, const struct kind_version *v)
{
    struct scope s = { .o = o };
    buf_printf(&s.base, v->group.n ? "/apis/" STR_FMT "/" : "/api" STR_FMT "/", STR_ARG(v->group));
    buf_str_add(&s.base, v->version);
    openapi_add_group_name(&s.tag, v->group, false);
    buf_printf(&s.tag, "_" STR_FMT, STR_ARG(v->version));
    openapi_add_group_name(&s.stem, v->group, true);
    add_capital(&s.stem, v->version);

    autobuf path = { 0 }, id = { 0 };
    buf_printf(&path, STR_FMT "/", STR_ARG(buf_str(&s.base)));
    buf_printf(&id, "get" STR_FMT "APIResources", STR_ARG(buf_str(&s.stem)));
    openapi_add_discovery_path(o, buf_str(&path), buf_str(&id), buf_str(&s.tag), "APIResourceList");
    for (size_t i = 0; i < v->n_resources; i++) {
        s.r = &v->resources[i];
        add_resource(&s);
    }
    buf_done(&s.base);
    buf_done(&s.tag);
    buf_done(&s.stem);
    buf_done(&s.text);
}
