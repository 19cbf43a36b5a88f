#include "api/openapi/openapi.h"

#include <stdlib.h>

#include "api/openapi/openapi_internal.h"
#include "base/mem.h"
#include "base/banned.h"

static void begin(struct openapi *o, struct buf *out)
{
    o->out = out;
    o->types = mem_zalloc(n_kind_types);
    buf_str_add(out, o->swagger ? STR("{\"swagger\":\"2.0\"") : STR("{\"openapi\":\"3.0.0\""));
    buf_str_add(out, STR(",\"info\":{\"title\":\"Kubernetes\",\"version\":\"unversioned\"},"
                         "\"paths\":{"));
}

/* The schemas come last: by then it is known which. */
static void end(struct openapi *o, size_t *ret_end)
{
    static const struct str token =
        STR("{\"BearerToken\":{\"type\":\"apiKey\",\"name\":\"authorization\",\"in\":\"header\"}}");
    struct buf *out = o->out;
    buf_str_add(out,
                o->swagger ? STR("},\"definitions\":{") : STR("},\"components\":{\"schemas\":{"));
    if (o->version)
        openapi_add_custom_schemas(o, o->version);
    openapi_add_schemas(o);
    if (ret_end)
        *ret_end = out->n;
    buf_printf(out, "},\"%s\":" STR_FMT, o->swagger ? "securityDefinitions" : "securitySchemes",
               STR_ARG(token));
    buf_str_add(out, o->swagger ? STR(",\"security\":[{\"BearerToken\":[]}]}\n") : STR("}}\n"));
    free(o->types);
}

void openapi_version(struct buf *out, const struct kind_version *v,
                     const struct openapi_custom *custom)
{
    struct openapi o = { .version = v, .custom = custom };
    begin(&o, out);
    openapi_add_paths(&o, v);
    end(&o, NULL);
}

void openapi_swagger_kind(struct buf *paths, struct buf *definitions, const struct kind_resource *r,
                          const struct openapi_custom *custom)
{
    const struct kind_version v = { r->group, r->version, false, r, 1 };
    struct openapi o = { .out = paths, .swagger = true, .version = &v, .custom = custom };
    o.types = mem_zalloc(n_kind_types);
    if (paths) {
        buf_byte(paths, ' '); /* something that is not an opening brace: a comma goes in front */
        openapi_add_resource_paths(&o, &v);
    }
    o.out = definitions;
    if (definitions) {
        buf_byte(definitions, ' ');
        openapi_add_custom_schemas(&o, &v);
    }
    free(o.types);
}

static void add_root_path(struct openapi *o, bool core)
{
    if (core)
        openapi_add_discovery_path(o, STR("/api/"), STR("getCoreAPIVersions"), STR("core"),
                                   "APIVersions");
    else
        openapi_add_discovery_path(o, STR("/apis/"), STR("getAPIVersions"), STR("apis"),
                                   "APIGroupList");
}

static void add_group_path(struct openapi *o, struct str group)
{
    autobuf path = { 0 }, id = { 0 }, tag = { 0 };
    buf_printf(&path, "/apis/" STR_FMT "/", STR_ARG(group));
    buf_str_add(&id, STR("get"));
    openapi_add_group_name(&id, group, true);
    buf_str_add(&id, STR("APIGroup"));
    openapi_add_group_name(&tag, group, false);
    openapi_add_discovery_path(o, buf_str(&path), buf_str(&id), buf_str(&tag), "APIGroup");
}

void openapi_roots(struct buf *out, bool core)
{
    struct openapi o = { 0 };
    begin(&o, out);
    add_root_path(&o, core);
    end(&o, NULL);
}

void openapi_group(struct buf *out, struct str group)
{
    struct openapi o = { 0 };
    begin(&o, out);
    add_group_path(&o, group);
    end(&o, NULL);
}

/* A group has several versions side by side in the table, and one path of its own. */
static bool is_first_of_group(size_t i)
{
    return kind_versions[i].group.n &&
           (i == 0 || !str_eq(kind_versions[i - 1].group, kind_versions[i].group));
}

void openapi_swagger(struct buf *out, enum kind_choice choice, struct openapi_ends *ret_ends)
{
    struct openapi o = { .swagger = true, .choice = choice };
    begin(&o, out);
    add_root_path(&o, true);
    add_root_path(&o, false);
    for (size_t i = 0; i < n_kind_versions; i++) {
        if (!kind_version_is(&kind_versions[i], choice))
            continue;
        if (is_first_of_group(i))
            add_group_path(&o, kind_versions[i].group);
        openapi_add_paths(&o, &kind_versions[i]);
    }
    struct openapi_ends ends = { .paths = out->n };
    end(&o, &ends.definitions);
    if (ret_ends)
        *ret_ends = ends;
}
