/* openapi_schema.c - types and fields as schemas. */
#include "api/openapi/openapi_internal.h"

#include "base/idiom.h"
#include "base/json.h"
#include "base/banned.h"

static const struct {
    struct str group, package;
} packages[] = {
    { STR(""), STR("io.k8s.api.core") },
    { STR("meta"), STR("io.k8s.apimachinery.pkg.apis.meta") },
    { STR("apiextensions.k8s.io"), STR("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions") },
    { STR("apiregistration.k8s.io"), STR("io.k8s.kube-aggregator.pkg.apis.apiregistration") },
    { STR("internal.apiserver.k8s.io"), STR("io.k8s.api.apiserverinternal") },
};

/* Scalars that have a name and a schema; the others are spelled out where they are used. */
static const struct scalar_schema {
    struct str name, v3, swagger;
} scalar_schemas[] = {
    [KIND_TIME] = { STR("io.k8s.apimachinery.pkg.apis.meta.v1.Time"),
                    STR("{\"type\":\"string\",\"format\":\"date-time\"}"),
                    STR("{\"type\":\"string\",\"format\":\"date-time\"}") },
    [KIND_MICRO_TIME] = { STR("io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"),
                          STR("{\"type\":\"string\",\"format\":\"date-time\"}"),
                          STR("{\"type\":\"string\",\"format\":\"date-time\"}") },
    [KIND_DURATION] = { STR("io.k8s.apimachinery.pkg.apis.meta.v1.Duration"),
                        STR("{\"type\":\"string\"}"), STR("{\"type\":\"string\"}") },
    [KIND_QUANTITY] = { STR("io.k8s.apimachinery.pkg.api.resource.Quantity"),
                        STR("{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}"),
                        STR("{\"type\":\"string\"}") },
    [KIND_INT_OR_STRING] = { STR("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
                             STR("{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],"
                                 "\"format\":\"int-or-string\"}"),
                             STR("{\"type\":\"string\",\"format\":\"int-or-string\"}") },
    [KIND_RAW] = { STR("io.k8s.apimachinery.pkg.runtime.RawExtension"),
                   STR("{\"type\":\"object\"}"), STR("{\"type\":\"object\"}") },
    [KIND_FIELDS_V1] = { STR("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"),
                         STR("{\"type\":\"object\"}"), STR("{\"type\":\"object\"}") },
    [KIND_STRUCT] = { STR(""), STR(""), STR("") },
};

static bool is_meta(const struct kind_type *t)
{
    return str_eq(t->group, STR("meta"));
}

struct str openapi_group_of(const struct kind_type *t)
{
    return is_meta(t) ? STR("") : t->group;
}

const struct kind_type *openapi_meta_type(struct str name)
{
    return kind_type_find(STR("meta"), STR("v1"), name);
}

static bool is_built_in(const struct kind_type *t)
{
    return t >= kind_types && t < kind_types + n_kind_types;
}

/* "com.example.v1.Widget": the group backwards. */
static void add_custom_name(struct buf *out, const struct kind_type *t)
{
    for (size_t end = t->group.n, i = end; i-- > 0;) {
        if (i > 0 && t->group.p[i - 1] != '.')
            continue;
        buf_str_add(out, (struct str){ t->group.p + i, end - i });
        buf_byte(out, '.');
        end = i ? i - 1 : 0;
    }
    buf_printf(out, STR_FMT "." STR_FMT, STR_ARG(t->version), STR_ARG(t->name));
}

static void add_type_name(struct buf *out, const struct kind_type *t)
{
    if (!is_built_in(t)) {
        add_custom_name(out, t);
        return;
    }
    struct str package = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(packages); i++)
        if (str_eq(packages[i].group, t->group))
            package = packages[i].package;
    if (!package.p) {
        struct str group = t->group;
        buf_str_add(out, STR("io.k8s.api."));
        package = str_cut(&group, '.');
    }
    buf_str_add(out, package);
    buf_printf(out, "." STR_FMT "." STR_FMT, STR_ARG(t->version), STR_ARG(t->name));
}

static const char *ref_prefix(const struct openapi *o)
{
    return o->swagger ? "#/definitions/" : "#/components/schemas/";
}

/* "$ref":"..." without the braces around it. */
static void add_type_ref(struct openapi *o, const struct kind_type *t)
{
    if (is_built_in(t) && o->types[t - kind_types] == OPENAPI_UNUSED)
        o->types[t - kind_types] = OPENAPI_WANTED;
    buf_printf(o->out, "\"$ref\":\"%s", ref_prefix(o));
    add_type_name(o->out, t);
    buf_byte(o->out, '"');
}

void openapi_ref(struct openapi *o, const struct kind_type *t)
{
    buf_byte(o->out, '{');
    add_type_ref(o, t);
    buf_byte(o->out, '}');
}

const char *openapi_type_name(enum kind_scalar scalar)
{
    switch (scalar) {
    case KIND_INT32:
    case KIND_INT64:
        return "integer";
    case KIND_BOOL:
        return "boolean";
    case KIND_DOUBLE:
        return "number";
    default:
        return "string";
    }
}

static bool is_referred(const struct kind_field *f)
{
    if (f->scalar == KIND_STRUCT)
        return f->type->form != KIND_FORM_STRINGS;
    return scalar_schemas[f->scalar].name.n > 0;
}

static void add_field_ref(struct openapi *o, const struct kind_field *f)
{
    if (f->scalar == KIND_STRUCT) {
        add_type_ref(o, f->type);
        return;
    }
    o->scalars |= 1u << f->scalar;
    buf_printf(o->out, "\"$ref\":\"%s" STR_FMT "\"", ref_prefix(o),
               STR_ARG(scalar_schemas[f->scalar].name));
}

/* The members of a schema of one value that is no reference. */
static void add_plain(struct openapi *o, const struct kind_field *f)
{
    static const char *const formats[] = {
        [KIND_INT32] = "int32",   [KIND_INT64] = "int64", [KIND_BYTES] = "byte",
        [KIND_DOUBLE] = "double", [KIND_STRUCT] = NULL,
    };
    if (f->scalar == KIND_STRUCT) {
        buf_str_add(o->out, STR("\"type\":\"array\",\"items\":{\"type\":\"string\"}"));
        return;
    }
    if (f->scalar == KIND_ANY) {
        buf_str_add(o->out, STR("\"type\":\"object\""));
        return;
    }
    buf_printf(o->out, "\"type\":\"%s\"", openapi_type_name(f->scalar));
    if (formats[f->scalar])
        buf_printf(o->out, ",\"format\":\"%s\"", formats[f->scalar]);
}

/* A list's item, a map's value. */
static void add_element(struct openapi *o, const struct kind_field *f)
{
    buf_byte(o->out, '{');
    if (is_referred(f))
        add_field_ref(o, f);
    else
        add_plain(o, f);
    buf_byte(o->out, '}');
}

static void add_value(struct openapi *o, const struct kind_field *f)
{
    if (f->shape == KIND_LIST) {
        buf_str_add(o->out, STR("\"type\":\"array\",\"items\":"));
        add_element(o, f);
    } else if (f->shape == KIND_MAP) {
        buf_str_add(o->out, STR("\"type\":\"object\",\"additionalProperties\":"));
        add_element(o, f);
    } else if (!is_referred(f)) {
        add_plain(o, f);
    } else if (o->swagger) { /* where members beside a reference are common */
        add_field_ref(o, f);
    } else {
        buf_str_add(o->out, STR("\"allOf\":[{"));
        add_field_ref(o, f);
        buf_str_add(o->out, STR("}]"));
    }
}

/* The value that a decoder in Go leaves in the field when nothing was said; empty: none is told. */
static struct str zero_text(const struct kind_field *f)
{
    if (f->shape != KIND_SINGLE || f->flags & KIND_POINTER)
        return STR("");
    if (f->scalar == KIND_STRUCT)
        return f->type->form == KIND_FORM_OBJECT ? STR("{}") : STR("");
    if (f->flags & KIND_OMIT_EMPTY)
        return STR("");
    switch (f->scalar) {
    case KIND_STRING:
        return STR("\"\"");
    case KIND_BOOL:
        return STR("false");
    case KIND_INT32:
    case KIND_INT64:
    case KIND_DOUBLE:
        return STR("0");
    default:
        return STR("");
    }
}

static void add_default(struct openapi *o, const struct kind_field *f)
{
    bool is_told = f->flags & KIND_DEFAULT_TOLD;
    struct str zero = is_told ? STR("") : zero_text(f);
    if (o->swagger || (!is_told && !zero.n))
        return;
    buf_str_add(o->out, STR(",\"default\":"));
    if (is_told)
        json_write(o->out, f->default_value);
    else
        buf_str_add(o->out, zero);
}

static void add_string(struct buf *out, const char *name, struct str s)
{
    openapi_comma(out);
    buf_printf(out, "\"%s\":", name);
    json_write_string(out, s);
}

static void add_strings(struct buf *out, const char *name, const struct str *list, size_t n)
{
    openapi_comma(out);
    buf_printf(out, "\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        openapi_comma(out);
        json_write_string(out, list[i]);
    }
    buf_byte(out, ']');
}

static void add_merging(struct buf *out, const struct kind_field *f)
{
    static const struct str names[] = {
        [KIND_MERGE_ATOMIC] = STR("atomic"),
        [KIND_MERGE_SET] = STR("set"),
        [KIND_MERGE_MAP] = STR("map"),
        [KIND_MERGE_GRANULAR] = STR("granular"),
    };
    bool is_map = f->shape == KIND_MAP || (f->shape == KIND_SINGLE && f->scalar == KIND_STRUCT);
    if (f->merge == KIND_MERGE_MAP)
        add_strings(out, "x-kubernetes-list-map-keys", f->list_keys, f->n_list_keys);
    if (f->merge != KIND_MERGE_UNSAID)
        add_string(out, is_map ? "x-kubernetes-map-type" : "x-kubernetes-list-type",
                   names[f->merge]);
    if (f->patch_key.n)
        add_string(out, "x-kubernetes-patch-merge-key", f->patch_key);
    bool merge = f->flags & KIND_PATCH_MERGE, retain = f->flags & KIND_RETAIN_KEYS;
    if (f->flags & KIND_PATCH_REPLACE)
        add_string(out, "x-kubernetes-patch-strategy", STR("replace"));
    if (merge || retain)
        add_string(out, "x-kubernetes-patch-strategy",
                   !retain ? STR("merge")
                   : merge ? STR("merge,retainKeys")
                           : STR("retainKeys"));
}

static void add_property(struct openapi *o, const struct kind_type *t, const struct kind_field *f)
{
    struct buf *out = o->out;
    openapi_comma(out);
    json_write_string(out, f->name);
    buf_str_add(out, STR(":{"));
    struct str help = openapi_help(t, f->name);
    if (help.n) {
        add_string(out, "description", help);
        buf_byte(out, ',');
    }
    add_value(o, f);
    add_default(o, f);
    add_merging(out, f);
    buf_byte(out, '}');
}

/* An inline member's fields count as its parent's. */
static void add_properties(struct openapi *o, const struct kind_type *t)
{
    for (size_t i = 0; i < t->n_fields; i++) {
        if (t->fields[i].flags & KIND_INLINE)
            add_properties(o, t->fields[i].type);
        else if (!(t->fields[i].flags & KIND_OLD))
            add_property(o, t, &t->fields[i]);
    }
}

/* Returns the number of names in the list so far. */
static size_t add_required(struct buf *out, const struct kind_type *t, size_t n)
{
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (f->flags & KIND_INLINE) {
            n = add_required(out, f->type, n);
        } else if (f->flags & KIND_REQUIRED) {
            buf_str_add(out, n++ ? STR(",") : STR(",\"required\":["));
            json_write_string(out, f->name);
        }
    }
    return n;
}

static void add_unions(struct buf *out, const struct kind_type *t)
{
    if (!t->n_unions)
        return;
    buf_str_add(out, STR(",\"x-kubernetes-unions\":["));
    for (size_t i = 0; i < t->n_unions; i++) {
        const struct kind_union *u = &t->unions[i];
        openapi_comma(out);
        buf_byte(out, '{');
        if (u->discriminator.n)
            add_string(out, "discriminator", u->discriminator);
        openapi_comma(out);
        buf_str_add(out, STR("\"fields-to-discriminateBy\":{"));
        for (size_t m = 0; m < u->n_members; m++) {
            openapi_comma(out);
            json_write_string(out, u->members[2 * m]);
            buf_byte(out, ':');
            json_write_string(out, u->members[2 * m + 1]);
        }
        buf_str_add(out, STR("}}"));
    }
    buf_byte(out, ']');
}

void openapi_add_gvk(struct buf *out, struct str group, struct str version, struct str kind)
{
    buf_byte(out, '{');
    add_string(out, "group", group);
    add_string(out, "kind", kind);
    add_string(out, "version", version);
    buf_byte(out, '}');
}

/* The kinds that a type is known as: one, or one in each group and version of the document. */
static void add_gvks(struct openapi *o, const struct kind_type *t)
{
    struct buf *out = o->out;
    buf_str_add(out, STR(",\"x-kubernetes-group-version-kind\":["));
    openapi_add_gvk(out, openapi_group_of(t), t->version, t->name);
    for (size_t i = 0; t->flags & KIND_EVERYWHERE && i < n_kind_versions; i++) {
        const struct kind_version *v = &kind_versions[i];
        if (!v->group.n || !kind_version_is(v, o->choice) ||
            (o->version ? o->version != v : !o->swagger))
            continue;
        openapi_comma(out);
        openapi_add_gvk(out, v->group, v->version, t->name);
    }
    buf_byte(out, ']');
}

static void add_type_meta(struct buf *out)
{
    static const struct str names[] = { STR("apiVersion"), STR("kind") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        openapi_comma(out);
        json_write_string(out, names[i]);
        buf_str_add(out, STR(":{"));
        add_string(out, "description", openapi_common_help(names[i]));
        add_string(out, "type", STR("string"));
        buf_byte(out, '}');
    }
}

static void add_schema(struct openapi *o, const struct kind_type *t)
{
    struct buf *out = o->out;
    openapi_comma(out);
    buf_byte(out, '"');
    add_type_name(out, t);
    buf_str_add(out, STR("\":{"));
    if (t->form != KIND_FORM_OBJECT) {
        buf_byte(out, '}'); /* anything: its forms cannot be told in one schema */
        return;
    }
    struct str help = openapi_help(t, STR(""));
    if (help.n)
        add_string(out, "description", help);
    add_string(out, "type", STR("object"));
    bool is_kind = t->flags & KIND_HAS_TYPE_META;
    if (t->n_fields || is_kind) {
        buf_str_add(out, STR(",\"properties\":{"));
        if (is_kind)
            add_type_meta(out);
        add_properties(o, t);
        buf_byte(out, '}');
    }
    if (add_required(out, t, 0))
        buf_byte(out, ']');
    if (is_kind || t->flags & KIND_EVERYWHERE)
        add_gvks(o, t);
    if (t->flags & KIND_ATOMIC)
        add_string(out, "x-kubernetes-map-type", STR("atomic"));
    add_unions(out, t);
    buf_byte(out, '}');
}

static void add_scalar_schemas(struct openapi *o)
{
    for (unsigned i = 0; i < ARRAY_LEN(scalar_schemas); i++) {
        if (!(o->scalars & 1u << i))
            continue;
        const struct scalar_schema *s = &scalar_schemas[i];
        openapi_comma(o->out);
        buf_printf(o->out, "\"" STR_FMT "\":" STR_FMT, STR_ARG(s->name),
                   STR_ARG(o->swagger ? s->swagger : s->v3));
    }
}

/* ---- Custom kinds ---- */

void openapi_meta_ref(struct buf *out, struct str name, bool swagger)
{
    struct openapi o = { .swagger = swagger };
    buf_str_add(out, str_of(ref_prefix(&o)));
    add_type_name(out, openapi_meta_type(name));
}

static void want_meta(struct openapi *o, struct str name)
{
    o->types[openapi_meta_type(name) - kind_types] = OPENAPI_WANTED;
}

static void add_list_schema(struct openapi *o, const struct kind_resource *r)
{
    struct buf *out = o->out;
    openapi_comma(out);
    buf_byte(out, '"');
    add_type_name(out, r->list);
    buf_printf(out, "\":{\"description\":\"" STR_FMT " is a list of " STR_FMT "\"",
               STR_ARG(r->list->name), STR_ARG(r->type->name));
    buf_str_add(out, STR(",\"type\":\"object\",\"required\":[\"items\"],\"properties\":{"));
    add_type_meta(out);
    buf_printf(out,
               ",\"items\":{\"description\":\"List of " STR_FMT ".\",\"type\":\"array\",\"items\":",
               STR_ARG(r->plural));
    openapi_ref(o, r->type);
    buf_str_add(out, STR("},\"metadata\":"));
    openapi_ref(o, openapi_meta_type(STR("ListMeta")));
    buf_byte(out, '}');
    add_gvks(o, r->list);
    o->custom->selectable(o->custom, out, r->type);
    buf_byte(out, '}');
}

void openapi_add_custom_schemas(struct openapi *o, const struct kind_version *v)
{
    for (size_t i = 0; i < v->n_resources; i++) {
        const struct kind_resource *r = &v->resources[i];
        if (!r->type->custom)
            continue;
        want_meta(o, STR("ObjectMeta"));
        openapi_comma(o->out);
        buf_byte(o->out, '"');
        add_type_name(o->out, r->type);
        buf_str_add(o->out, STR("\":"));
        o->custom->schema(o->custom, o->out, r->type, o->swagger);
        add_list_schema(o, r);
    }
}

void openapi_add_schemas(struct openapi *o)
{
    bool found = true;
    while (found) { /* what was written may have asked for types that came before it */
        found = false;
        for (size_t i = 0; i < n_kind_types; i++) {
            if (o->types[i] != OPENAPI_WANTED)
                continue;
            o->types[i] = OPENAPI_WRITTEN;
            add_schema(o, &kind_types[i]);
            found = true;
        }
    }
    add_scalar_schemas(o);
}
