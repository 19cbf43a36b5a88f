/* Two lines of JSON: the schema of a custom resource, and an object. The schema is asked whether a
 * definition may have it, compiled, and used in every way there is; rules run within their budget.
 * If a definition may have it: pruning, dropping nulls and defaulting change nothing the second
 * time, and an object that was accepted is accepted again when nothing about it changes, unless
 * rules about changes say otherwise. */
#include <stdlib.h>

#include "api/typed.h"
#include "base/json.h"
#include "schema/schema_columns.h"
#include "schema/schema_definition.h"
#include "schema/schema_kind.h"
#include "schema/schema_lists.h"
#include "schema/schema_ownership.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct input {
    struct arena arena;
    struct value props, obj;
    const struct schema *schema;
    const struct schema_programs *programs;
    bool looks_back; /* it has rules about changes */
};

static void must(bool good)
{
    if (!good)
        abort();
}

static struct value definition_of(struct arena *a, const struct value *props)
{
    static const char head[] =
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"xs.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":"
        "\"Namespaced\",\"names\":{\"plural\":\"xs\",\"singular\":\"x\",\"kind\":\"X\","
        "\"listKind\":\"XList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
        "\"schema\":{}}],\"conversion\":{\"strategy\":\"None\"}},\"status\":{\"storedVersions\":["
        "\"v1\"]}}";
    struct value crd;
    must(json_read(a, str_of(head), NULL, &crd, NULL) == 0);
    struct value *spec = value_edit(a, &crd, STR("spec")),
                 *version = value_edit_at(a, value_edit(a, spec, STR("versions")), 0),
                 *schema = value_edit(a, version, STR("schema"));
    value_put(a, schema, STR("openAPIV3Schema"), value_borrow(props));
    return crd;
}

/* Whether a definition may have it, by the same rules as the server's. */
static bool is_allowed(struct input *in)
{
    const struct kind_resource *r =
        kind_resource_find(kind_version_find(STR("apiextensions.k8s.io"), STR("v1")),
                           STR("customresourcedefinitions"));
    struct value crd = definition_of(&in->arena, &in->props);
    struct field_errors e = FIELD_ERRORS_INIT(&in->arena);
    struct validate_warnings w = { .arena = &in->arena };
    validate_create(&e, r, &crd);
    schema_warn_definition(&w, &crd, NULL);
    if (!e.n)
        schema_check_definition(&e, &crd, NULL);
    return !e.n;
}

static bool read_input(struct input *in, struct str text)
{
    struct arena *a = &in->arena;
    struct err err = ERR_INIT(a);
    struct str first = str_cut(&text, '\n'), second = str_cut(&text, '\n');
    struct value raw;
    const struct kind_type *type =
        kind_type_find(STR("apiextensions.k8s.io"), STR("v1"), STR("JSONSchemaProps"));
    must(type);
    if (json_read(a, first, NULL, &raw, NULL) < 0 || raw.type != VALUE_OBJECT ||
        typed_read(a, type, &raw, NULL, &in->props, &err) < 0)
        return false;
    if (json_read(a, second, NULL, &in->obj, NULL) < 0 || in->obj.type != VALUE_OBJECT)
        in->obj = value_object();
    value_drop_duplicates(a, &in->obj);
    in->looks_back = memmem(first.p, first.n, "oldSelf", 7) || memchr(first.p, '\\', first.n);
    return true;
}

/* ---- Making it fit ---- */

static void fit(struct input *in, struct value *obj)
{
    struct schema_unknown unknown = { .n = 0 };
    schema_prune(&in->arena, in->schema, obj, true, &unknown);
    schema_drop_nulls(&in->arena, in->schema, obj);
    schema_default(&in->arena, in->schema, obj);
    must(unknown.n <= SCHEMA_UNKNOWN_MAX);
}

static void check_fit(struct input *in, bool allowed)
{
    struct arena *a = &in->arena;
    struct value once = value_clone(a, &in->obj), twice;
    struct schema_unknown again = { .n = 0 };
    schema_prune(a, in->schema, &once, true, NULL);
    twice = value_clone(a, &once);
    schema_prune(a, in->schema, &twice, true, &again);
    must(value_eq(&once, &twice) && !again.n);
    once = value_clone(a, &in->obj);
    fit(in, &once);
    twice = value_clone(a, &once);
    fit(in, &twice);
    must(!allowed || value_eq(&once, &twice));
    in->obj = once;
}

/* ---- Judging ---- */

static size_t faults(struct input *in, const struct value *obj, const struct value *old)
{
    struct field_errors e = FIELD_ERRORS_INIT(&in->arena);
    struct validate_warnings w = { .arena = &in->arena };
    e.warnings = &w;
    schema_validate(&e, in->schema, NULL, obj, old);
    schema_check_embedded(&e, in->schema, NULL, obj);
    schema_check_lists(&e, in->schema, obj);
    if (in->programs && !e.n)
        schema_programs_run(&e, in->programs, NULL, obj, old);
    return e.n;
}

static void check_faults(struct input *in, bool allowed)
{
    size_t n = faults(in, &in->obj, NULL), again = faults(in, &in->obj, &in->obj);
    must(!allowed || in->looks_back || n || !again);
    struct value other = value_object();
    (void)faults(in, &in->obj, &other);
    (void)faults(in, &other, &in->obj);
}

/* ---- As the server has it ---- */

static _Thread_local const struct input *now; /* that the functions below are asked about */

static const struct schema *schema_of(const struct schema_kind *k)
{
    (void)k;
    return now->schema;
}

static const struct schema_programs *programs_of(const struct schema_kind *k)
{
    (void)k;
    return now->programs;
}

static void check_kind(struct input *in)
{
    struct arena *a = &in->arena;
    struct schema_kind kind = { .custom = schema_kind_custom,
                                .schema = schema_of,
                                .programs = programs_of,
                                .columns = schema_columns_compile(a, NULL) };
    struct kind_type type = { .name = STR("X"),
                              .group = STR("example.com"),
                              .version = STR("v1"),
                              .flags = KIND_HAS_TYPE_META | KIND_JSON_ONLY,
                              .custom = &kind.custom };
    struct typed_notes notes = { .n = 0 };
    struct err err = ERR_INIT(a);
    struct value obj;
    now = in;
    if (kind.custom.read(a, &type, &in->obj, &notes, &obj, &err) < 0)
        return;
    kind.custom.defaults(a, &type, &obj);
    struct field_errors e = FIELD_ERRORS_INIT(a);
    kind.custom.validate(&e, &type, STR(""), &obj, NULL);
    kind.custom.validate(&e, &type, STR("status"), &obj, &in->obj);
    (void)kind.custom.row(a, &type, &obj, 0, NULL);
    const struct fieldset *has;
    (void)ownership_paths(a, &schema_ownership, schema_ownership_of(&type), &obj, &has, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct input in = { .looks_back = false };
    arena_init(&in.arena);
    if (read_input(&in, (struct str){ (const char *)bytes, n })) {
        bool allowed = is_allowed(&in);
        in.schema = schema_compile(&in.arena, &in.props);
        if (allowed)
            in.programs = schema_programs_compile(&in.arena, in.schema, true);
        check_kind(&in);
        check_fit(&in, allowed);
        check_faults(&in, allowed);
    }
    arena_done(&in.arena);
    return 0;
}
