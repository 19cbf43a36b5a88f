/* openapi_paths.c - resources as paths and operations, from the same tables that route requests. */
#include "api/openapi/openapi_operation.h"

#include "base/idiom.h"
#include "base/banned.h"

/* ---- Names ---- */

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool is_letter(char c)
{
    return (upper(c) >= 'A' && upper(c) <= 'Z') || c == '_';
}

/* As part of an id: letters and digits, a capital behind whatever else there was. */
static void add_words(struct buf *out, struct str text, bool capital)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!is_letter(c) && (i == 0 || c < '0' || c > '9')) {
            capital = true;
            continue;
        }
        buf_byte(out, capital ? upper(c) : c);
        capital = false;
    }
}

void openapi_add_group_name(struct buf *out, struct str group, bool capital)
{
    if (!group.n)
        group = STR("core");
    if (str_ends(group, STR(".k8s.io")))
        group.n -= STR(".k8s.io").n;
    add_words(out, group, capital);
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

/* Operations of custom kinds are all of that kind, also those of its Scale. */
static bool is_custom(const struct scope *s)
{
    return s->r->type->custom;
}

static const struct kind_type *gvk_of(const struct scope *s, const struct kind_type *t)
{
    return is_custom(s) ? s->r->type : t;
}

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
        openapi_add_parameter(s->o, "path", STR("name"), "string");
    if (s->r->namespaced && place == IN_NAMESPACE)
        openapi_add_parameter(s->o, "path", STR("namespace"), "string");
    openapi_add_parameters(s->o, shared);
    openapi_add_options(s->o, options);
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
    add_words(b, s->r->type->name, true);
    if (s->sub)
        add_words(b, s->sub->name, true);
    buf_printf(b, "%s", end);
    return buf_str(b);
}

static void add_list(struct scope *s, unsigned query, const char *end)
{
    openapi_add_operation(s->o, &(struct openapi_operation){
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
    openapi_add_operation(s->o, &(struct openapi_operation){
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
    openapi_add_operation(s->o, &(struct openapi_operation){
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
    const struct kind_type *reply = openapi_meta_type(STR("Status"));
    bool custom_list = collection && is_custom(s);
    if (!collection && kind_shows_deleted(s->r))
        reply = s->r->type;
    openapi_add_operation(
        s->o,
        &(struct openapi_operation){
            .method = "delete",
            .action = collection ? "deletecollection" : "delete",
            .id = operation_id(s, "delete", collection ? "Collection" : "", ""),
            .tag = buf_str(&s->tag),
            .parameters = custom_list ? (unsigned)PARAMS_LIST
                                      : PARAMS_DELETE | (collection ? (unsigned)PARAMS_PAGE : 0),
            .body = custom_list ? BODY_NONE : BODY_OPTIONAL,
            .body_type = openapi_meta_type(STR("DeleteOptions")),
            .reply = reply,
            .accepted = !collection,
            .gvk = s->r->type,
        });
}

static void add_read(struct scope *s, const struct kind_type *t, bool is_log)
{
    openapi_add_operation(s->o, &(struct openapi_operation){
                                    .method = "get",
                                    .action = "get",
                                    .id = operation_id(s, "read", "", ""),
                                    .tag = buf_str(&s->tag),
                                    .parameters = is_custom(s) ? PARAM_REVISION : 0,
                                    .produced = is_log ? PRODUCES_LOG : PRODUCES_OBJECT,
                                    .reply = is_log ? NULL : t,
                                    .gvk = gvk_of(s, t),
                                });
}

/* PUT and PATCH. */
static void add_change(struct scope *s, const struct kind_type *t, bool patch)
{
    openapi_add_operation(s->o, &(struct openapi_operation){
                                    .method = patch ? "patch" : "put",
                                    .action = patch ? "patch" : "put",
                                    .id = operation_id(s, patch ? "patch" : "replace", "", ""),
                                    .tag = buf_str(&s->tag),
                                    .parameters = patch ? PARAMS_PATCH : PARAMS_WRITE,
                                    .body = patch ? BODY_PATCH : BODY_NEEDED,
                                    .body_type = patch ? openapi_meta_type(STR("Patch")) : t,
                                    .reply = t,
                                    .created = !patch || !is_custom(s),
                                    .gvk = gvk_of(s, t),
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
    openapi_add_operation(s->o, &(struct openapi_operation){
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
    openapi_add_parameter(s->o, "path", STR("path"), "string");
    buf_str_add(out, STR("]}"));
}

static void add_connect_path(struct scope *s, bool proxy, bool below)
{
    static const struct {
        const char *method, *name;
        bool stream;
    } methods[] = {
        { "get", "Get", true },          { "post", "Post", true },      { "put", "Put", false },
        { "patch", "Patch", false },     { "delete", "Delete", false }, { "head", "Head", false },
        { "options", "Options", false },
    };
    autobuf after = { 0 };
    buf_printf(&after, "/{name}/" STR_FMT "%s%c", STR_ARG(s->sub->name), below ? "/{path}" : "",
               '\0');
    begin_path(s, IN_NAMESPACE, "", after.p);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (proxy || methods[i].stream)
            add_connect(s, methods[i].method, methods[i].name, below ? "WithPath" : "");
    end_connect_path(s, below);
}

/* A stream or a proxied request; a proxy passes on every method, and what follows in the path. */
static void add_connect_paths(struct scope *s)
{
    bool proxy = str_eq(s->sub->name, STR("proxy"));
    add_connect_path(s, proxy, false);
    if (proxy)
        add_connect_path(s, proxy, true);
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
    openapi_add_operation(o, &(struct openapi_operation){
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
    if (!s->r->type->custom)
        add_watches(s);
    for (size_t i = 0; i < s->r->n_subresources; i++) {
        s->sub = &s->r->subresources[i];
        add_subresource(s);
    }
}

static void begin_scope(struct scope *s, const struct kind_version *v)
{
    buf_printf(&s->base, v->group.n ? "/apis/" STR_FMT "/" : "/api" STR_FMT "/", STR_ARG(v->group));
    buf_str_add(&s->base, v->version);
    openapi_add_group_name(&s->tag, v->group, false);
    buf_byte(&s->tag, '_');
    add_words(&s->tag, v->version, false);
    openapi_add_group_name(&s->stem, v->group, true);
    add_words(&s->stem, v->version, true);
}

static void end_scope(struct scope *s)
{
    buf_done(&s->base);
    buf_done(&s->tag);
    buf_done(&s->stem);
    buf_done(&s->text);
}

void openapi_add_resource_paths(struct openapi *o, const struct kind_version *v)
{
    struct scope s = { .o = o };
    begin_scope(&s, v);
    for (size_t i = 0; i < v->n_resources; i++) {
        s.r = &v->resources[i];
        add_resource(&s);
    }
    end_scope(&s);
}

void openapi_add_paths(struct openapi *o, const struct kind_version *v)
{
    struct scope s = { .o = o };
    begin_scope(&s, v);
    autobuf path = { 0 }, id = { 0 };
    buf_printf(&path, STR_FMT "/", STR_ARG(buf_str(&s.base)));
    buf_printf(&id, "get" STR_FMT "APIResources", STR_ARG(buf_str(&s.stem)));
    openapi_add_discovery_path(o, buf_str(&path), buf_str(&id), buf_str(&s.tag), "APIResourceList");
    end_scope(&s);
    openapi_add_resource_paths(o, v);
}
