#include "api/openapi/openapi_operation.h"

#include "base/idiom.h"
#include "base/banned.h"

/* ---- Parameters ---- */

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

void openapi_add_parameter(struct openapi *o, const char *in, struct str name, const char *type)
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

void openapi_add_parameters(struct openapi *o, unsigned which)
{
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
        if (which & 1u << i)
            openapi_add_parameter(o, "query", str_of(parameters[i].name), parameters[i].type);
}

/* The fields of an options type, as a query carries them. */
void openapi_add_options(struct openapi *o, const struct kind_type *options)
{
    for (size_t i = 0; options && i < options->n_fields; i++) {
        const struct kind_field *f = &options->fields[i];
        if (f->scalar != KIND_TIME) /* sinceTime is taken, but not listed upstream */
            openapi_add_parameter(o, "query", f->name, openapi_type_name(f->scalar));
    }
}

/* ---- Operations ---- */

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
#define MEDIA(list)             \
    {                           \
        (list), ARRAY_LEN(list) \
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

/* Custom objects have no protobuf, and no strategic patches; kubectl goes by that. */
static const char *const custom_types[] = { "application/json", "application/yaml" };
static const char *const custom_patch_types[] = { "application/json-patch+json",
                                                  "application/merge-patch+json",
                                                  "application/apply-patch+yaml" };
static const struct media custom_media = MEDIA(custom_types);
static const struct media custom_patch_media = MEDIA(custom_patch_types);

static const struct media *produced(const struct openapi_operation *op)
{
    return op->gvk && op->gvk->custom ? &custom_media : &produced_media[op->produced];
}

static const struct media *consumed(const struct openapi_operation *op)
{
    if (!op->gvk || !op->gvk->custom)
        return &consumed_media[op->body];
    return op->body == BODY_PATCH ? &custom_patch_media : &custom_media;
}

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

static void add_response(struct openapi *o, const struct openapi_operation *op, const char *code,
                         const char *meaning)
{
    openapi_comma(o->out);
    buf_printf(o->out, "\"%s\":{\"description\":\"%s\",", code, meaning);
    if (o->swagger)
        add_schema_of(o, op->reply);
    else
        add_content(o, produced(op), op->reply);
    buf_byte(o->out, '}');
}

static void add_responses(struct openapi *o, const struct openapi_operation *op)
{
    buf_str_add(o->out, STR(",\"responses\":{"));
    add_response(o, op, "200", "OK");
    if (op->created)
        add_response(o, op, "201", "Created");
    if (op->accepted)
        add_response(o, op, "202", "Accepted");
    buf_str_add(o->out, STR(",\"401\":{\"description\":\"Unauthorized\"}}"));
}

static void add_request(struct openapi *o, const struct openapi_operation *op)
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
        openapi_add_parameters(o, op->parameters);
        buf_byte(o->out, ']');
    }
    if (o->swagger) {
        add_media_list(o, "consumes", consumed(op));
        add_media_list(o, "produces", produced(op));
        buf_str_add(o->out, STR(",\"schemes\":[\"https\"]"));
    } else if (op->body != BODY_NONE) {
        buf_str_add(o->out, STR(",\"requestBody\":{"));
        add_content(o, consumed(op), op->body_type);
        buf_printf(o->out, "%s}", needed);
    }
}

void openapi_add_operation(struct openapi *o, const struct openapi_operation *op)
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
