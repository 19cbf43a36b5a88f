#include "generate/annotated_schema.h"

#include "api/kind.h"
#include "api/words.h"
#include "base/json.h"
#include "base/limits.h"
#include "generate/annotated_marker.h"
#include "generate/names.h"
#include "base/banned.h"

/* Deeper than any built-in type that does not have itself in it. */
enum { LIBRARY_MAX_DEPTH = 20 };

struct builder {
    struct annotated *in;
    struct arena *arena;
    struct buf *names;
    struct err *err;
};

/* A place in the schema: its path, and the name that model_crd.c would give to a struct there. */
struct spot {
    struct str path, name;
    unsigned depth;
};

bool annotated_is_about_kind(struct str marker)
{
    static const char *const words[] = {
        "genclient",
        "k8s:",
        "groupName",
        "versionName",
        "resourceName",
        "kubebuilder:object:",
        "kubebuilder:resource",
        "kubebuilder:subresource:",
        "kubebuilder:printcolumn:",
        "kubebuilder:storageversion",
        "kubebuilder:unservedversion",
        "kubebuilder:deprecatedversion",
        "kubebuilder:selectablefield:",
        "kubebuilder:metadata:",
        "kubebuilder:skipversion",
        "kubebuilder:validation:Optional",
        "kubebuilder:validation:Required",
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts(marker, str_of(words[i])))
            return true;
    return false;
}

static struct value from_json(struct arena *a, const char *text)
{
    struct value v = value_object();
    (void)json_read(a, str_of(text), NULL, &v, NULL);
    return v;
}

static struct value wrapped(struct arena *a, const char *type, const char *key, struct value items)
{
    struct value v = value_object();
    value_put_new(a, &v, STR("type"), value_string(str_of(type)));
    value_put_new(a, &v, str_of(key), items);
    return v;
}

static struct value list_of(struct arena *a, struct value items)
{
    return wrapped(a, "array", "items", items);
}

static struct value map_of(struct arena *a, struct value items)
{
    return wrapped(a, "object", "additionalProperties", items);
}

/* ---- Types of sampan/typed.h ---- */

#define TEXT_SCHEMA   "{\"type\":\"string\"}"
#define INT_SCHEMA    "{\"type\":\"integer\",\"format\":\"int64\"}"
#define BOOL_SCHEMA   "{\"type\":\"boolean\"}"
#define NUMBER_SCHEMA "{\"type\":\"number\"}"
#define ANY_SCHEMA    "{\"x-kubernetes-preserve-unknown-fields\":true}"

static const char either_schema[] = "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],"
                                    "\"x-kubernetes-int-or-string\":true}";

struct plain_type {
    struct str word;
    const char *schema;
    enum { ONE, LIST, MAP } shape;
};

static const struct plain_type plain_types[] = {
    { STR("spn_text"), TEXT_SCHEMA, ONE },
    { STR("spn_texts"), TEXT_SCHEMA, LIST },
    { STR("spn_pairs"), TEXT_SCHEMA, MAP },
    { STR("spn_int"), INT_SCHEMA, ONE },
    { STR("spn_ints"), INT_SCHEMA, LIST },
    { STR("spn_int_map"), INT_SCHEMA, MAP },
    { STR("spn_bool"), BOOL_SCHEMA, ONE },
    { STR("spn_bools"), BOOL_SCHEMA, LIST },
    { STR("spn_bool_map"), BOOL_SCHEMA, MAP },
    { STR("spn_number"), NUMBER_SCHEMA, ONE },
    { STR("spn_numbers"), NUMBER_SCHEMA, LIST },
    { STR("spn_number_map"), NUMBER_SCHEMA, MAP },
    { STR("spn_int_or_text"), either_schema, ONE },
    { STR("spn_ints_or_texts"), either_schema, LIST },
    { STR("spn_int_or_text_map"), either_schema, MAP },
    { STR("spn_value"), ANY_SCHEMA, ONE },
    { STR("spn_values"), ANY_SCHEMA, LIST },
    { STR("spn_value_map"), ANY_SCHEMA, MAP },
};

static struct value plain_schema(struct arena *a, const struct plain_type *t)
{
    struct value one = from_json(a, t->schema);
    return t->shape == LIST ? list_of(a, one) : t->shape == MAP ? map_of(a, one) : one;
}

/* ---- Types of the library: what the tables of built-in kinds say ---- */

static int library_schema(struct builder *b, const struct kind_type *t, unsigned depth,
                          struct value *ret);

static const char *scalar_schema(enum kind_scalar scalar)
{
    static const char *const schemas[] = {
        [KIND_STRING] = TEXT_SCHEMA,
        [KIND_INT32] = "{\"type\":\"integer\",\"format\":\"int32\"}",
        [KIND_INT64] = INT_SCHEMA,
        [KIND_BOOL] = BOOL_SCHEMA,
        [KIND_BYTES] = "{\"type\":\"string\",\"format\":\"byte\"}",
        [KIND_DOUBLE] = "{\"type\":\"number\",\"format\":\"double\"}",
        [KIND_TIME] = "{\"type\":\"string\",\"format\":\"date-time\"}",
        [KIND_MICRO_TIME] = "{\"type\":\"string\",\"format\":\"date-time\"}",
        [KIND_DURATION] = TEXT_SCHEMA,
        [KIND_QUANTITY] = either_schema,
        [KIND_INT_OR_STRING] = either_schema,
        [KIND_RAW] = "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}",
        [KIND_FIELDS_V1] = "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}",
        [KIND_ANY] = ANY_SCHEMA,
        [KIND_STRUCT] = ANY_SCHEMA,
    };
    return schemas[scalar];
}

static void add_list_type(struct arena *a, const struct kind_field *f, struct value *schema)
{
    if (f->shape != KIND_LIST || f->merge == KIND_MERGE_UNSAID)
        return;
    struct str type = f->merge == KIND_MERGE_SET   ? STR("set")
                      : f->merge == KIND_MERGE_MAP ? STR("map")
                                                   : STR("atomic");
    value_put(a, schema, STR("x-kubernetes-list-type"), value_string(type));
    struct value keys = value_array();
    for (size_t i = 0; i < f->n_list_keys; i++)
        value_put_item(a, &keys, value_string(f->list_keys[i]));
    if (f->n_list_keys)
        value_put(a, schema, STR("x-kubernetes-list-map-keys"), keys);
}

static int library_field(struct builder *b, const struct kind_field *f, unsigned depth,
                         struct value *ret)
{
    struct value one = from_json(b->arena, scalar_schema((enum kind_scalar)f->scalar));
    if (f->scalar == KIND_STRUCT && f->type->form == KIND_FORM_STRINGS)
        one = list_of(b->arena, from_json(b->arena, TEXT_SCHEMA));
    if (f->scalar == KIND_STRUCT && f->type->form == KIND_FORM_OBJECT) {
        int r = library_schema(b, f->type, depth + 1, &one);
        if (r < 0)
            return r;
    }
    *ret = f->shape == KIND_LIST  ? list_of(b->arena, one)
           : f->shape == KIND_MAP ? map_of(b->arena, one)
                                  : one;
    add_list_type(b->arena, f, ret);
    return 0;
}

static int library_fields(struct builder *b, const struct kind_type *t, unsigned depth,
                          struct value *properties, struct value *required)
{
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        struct value v;
        int r = f->flags & KIND_INLINE ? library_fields(b, f->type, depth + 1, properties, required)
                                       : library_field(b, f, depth, &v);
        if (r < 0)
            return r;
        if (f->flags & KIND_INLINE)
            continue;
        value_put(b->arena, properties, f->name, v);
        if (f->flags & KIND_REQUIRED)
            value_put_item(b->arena, required, value_string(f->name));
    }
    return 0;
}

static int library_schema(struct builder *b, const struct kind_type *t, unsigned depth,
                          struct value *ret)
{
    if (depth > LIBRARY_MAX_DEPTH)
        return err_set(b->err, ERR_INVALID,
                       STR_FMT " cannot be part of a definition: it has itself in it",
                       STR_ARG(t->name));
    struct value properties = value_object(), required = value_array();
    int r = library_fields(b, t, depth, &properties, &required);
    if (r < 0)
        return r;
    *ret = wrapped(b->arena, "object", "properties", properties);
    if (required.n)
        value_put(b->arena, ret, STR("required"), required);
    if (t->flags & KIND_ATOMIC)
        value_put(b->arena, ret, STR("x-kubernetes-map-type"), value_string(STR("atomic")));
    return 0;
}

/* ---- Structs of the file ---- */

static int struct_schema(struct builder *b, struct annotated_struct *s, struct spot at,
                         struct value *ret);

static void note_name(struct builder *b, struct spot at, struct str name)
{
    if (b->names->n)
        buf_byte(b->names, ' ');
    buf_printf(b->names, STR_FMT "=" STR_FMT, STR_ARG(at.path), STR_ARG(name));
}

/* A struct that is used twice is named each time: its second place would get another name. */
static void note_struct(struct builder *b, struct annotated_struct *s, struct spot at)
{
    if (s->is_used || !str_eq(s->name, at.name))
        note_name(b, at, s->name);
    s->is_used = true;
}

static int inner_schema(struct builder *b, const struct annotated_member *m, struct str name,
                        struct spot at, struct value *ret)
{
    struct annotated_struct *s = annotated_find(b->in, name);
    if (s) {
        note_struct(b, s, at);
        return struct_schema(b, s, at, ret);
    }
    const struct kind_type *t = names_built_in(b->arena, name);
    if (!t)
        return annotated_error(b->in, m->line, b->err, "there is no struct " STR_FMT,
                               STR_ARG(name));
    note_name(b, at, name);
    int r = library_schema(b, t, 0, ret);
    if (r < 0)
        return annotated_error(b->in, m->line, b->err, STR_FMT, STR_ARG(b->err->msg));
    return 0;
}

static int member_type_schema(struct builder *b, const struct annotated_member *m, struct spot at,
                              struct value *ret)
{
    const struct plain_type *plain = words_row(m->type, plain_types);
    bool is_value = plain && str_eq(m->type, STR("spn_value"));
    if (plain && m->is_pointer == is_value) {
        *ret = plain_schema(b->arena, plain);
        return 0;
    }
    if (m->is_pointer && !plain)
        return inner_schema(b, m, m->type, at, ret);
    bool is_list = str_ends(m->type, STR("_list")), is_map = str_ends(m->type, STR("_map"));
    if (m->is_pointer || plain || (!is_list && !is_map))
        return annotated_error(b->in, m->line, b->err,
                               STR_FMT ": the type is none of sampan/typed.h, no pointer to a "
                                       "struct and no list or map of structs",
                               STR_ARG(m->name));
    at.name = names_singular(at.name, b->arena);
    struct value items;
    int r = inner_schema(b, m, str_take(m->type, m->type.n - (is_list ? 5 : 4)), at, &items);
    if (r < 0)
        return r;
    *ret = is_list ? list_of(b->arena, items) : map_of(b->arena, items);
    return 0;
}

/* Its name in JSON. The C name must be the one that the generator would choose. */
static int json_name(struct builder *b, const struct annotated_member *m, struct str *ret)
{
    struct str said = annotated_value(m->markers, STR("json"));
    struct str plain = m->name;
    if (!said.p && plain.n > 1 && plain.p[plain.n - 1] == '_')
        plain.n--;
    *ret = said.n ? annotated_unquoted(b->arena, said)
                  : names_camel(b->arena, str_eq(plain, STR("ns")) ? STR("namespace") : plain);
    struct str back = names_member(b->arena, *ret);
    if (!str_eq(back, m->name))
        return annotated_error(b->in, m->line, b->err,
                               "the member for \"" STR_FMT "\" must be called " STR_FMT
                               ", not " STR_FMT,
                               STR_ARG(*ret), STR_ARG(back), STR_ARG(m->name));
    return 0;
}

static bool is_optional(const struct annotated_member *m)
{
    return annotated_has(m->markers, STR("optional")) ||
           annotated_has(m->markers, STR("kubebuilder:validation:Optional")) ||
           annotated_has(m->markers, STR("kubebuilder:default")) ||
           annotated_has(m->markers, STR("default"));
}

static int add_member(struct builder *b, const struct annotated_member *m, struct spot at,
                      struct value *properties, struct value *required)
{
    struct arena *a = b->arena;
    struct str json;
    int r = json_name(b, m, &json);
    if (r < 0)
        return r;
    if (value_get(properties, json))
        return annotated_error(b->in, m->line, b->err, "\"" STR_FMT "\" is there twice",
                               STR_ARG(json));
    struct str path =
        at.path.n ? arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(at.path), STR_ARG(json)) : json;
    struct spot below = {
        path, arena_printf(a, STR_FMT "_" STR_FMT, STR_ARG(at.name), STR_ARG(names_snake(a, json))),
        at.depth + 1
    };
    struct value type, schema = value_object();
    r = member_type_schema(b, m, below, &type);
    if (r < 0)
        return r;
    if (m->about.n)
        value_put(a, &schema, STR("description"), value_string(m->about));
    value_each_field (f, &type)
        value_put(a, &schema, f->key, f->val);
    r = annotated_validation(b->in, m->markers, &schema, b->err);
    if (r < 0)
        return r;
    value_put(a, properties, json, schema);
    bool is_status = at.depth == 0 && str_eq(json, STR("status"));
    if (!is_optional(m) && !is_status)
        value_put_item(a, required, value_string(json));
    return 0;
}

/* What every kind has, and what generated code adds to every struct, is not said again. */
static bool is_implied(const struct annotated_member *m, struct spot at)
{
    static const struct str of_kinds[] = { STR("api_version"), STR("kind"), STR("metadata") };
    bool is_rest = str_eq(m->name, STR("rest")) && str_eq(m->type, STR("spn_value"));
    return is_rest || (at.depth == 0 && words_have(m->name, WORDS(of_kinds)));
}

static int add_members(struct builder *b, const struct annotated_struct *s, struct spot at,
                       struct value *properties, struct value *required)
{
    for (const struct annotated_member *m = s->members; m; m = m->next) {
        if (is_implied(m, at))
            continue;
        int r = add_member(b, m, at, properties, required);
        if (r < 0)
            return r;
    }
    return 0;
}

static int struct_validation(struct builder *b, const struct annotated_struct *s,
                             struct value *schema)
{
    for (const struct annotated_marker *m = s->markers; m; m = m->next) {
        const struct annotated_marker one = { .text = m->text, .line = m->line };
        int r = annotated_is_about_kind(m->text)
                    ? 0
                    : annotated_validation(b->in, &one, schema, b->err);
        if (r < 0)
            return r;
    }
    return 0;
}

static struct value kind_properties(struct arena *a)
{
    return from_json(a, "{\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},"
                        "\"metadata\":{\"type\":\"object\"}}");
}

static int struct_schema(struct builder *b, struct annotated_struct *s, struct spot at,
                         struct value *ret)
{
    if (s->is_open || at.depth > LIMIT_SCHEMA_DEPTH)
        return annotated_error(b->in, s->line, b->err,
                               "struct " STR_FMT " has itself in it; a definition cannot say that",
                               STR_ARG(s->name));
    struct value properties = at.depth ? value_object() : kind_properties(b->arena);
    struct value required = value_array();
    at.name = s->name;
    s->is_open = true;
    int r = add_members(b, s, at, &properties, &required);
    s->is_open = false;
    if (r < 0)
        return r;
    *ret = value_object();
    if (s->about.n)
        value_put(b->arena, ret, STR("description"), value_string(s->about));
    value_put(b->arena, ret, STR("type"), value_string(STR("object")));
    value_put(b->arena, ret, STR("properties"), properties);
    if (required.n)
        value_put(b->arena, ret, STR("required"), required);
    return struct_validation(b, s, ret);
}

int annotated_schema(struct annotated *in, struct annotated_struct *kind, struct value *ret,
                     struct buf *names, struct err *err)
{
    struct builder b = { in, in->arena, names, err };
    return struct_schema(&b, kind, (struct spot){ .name = kind->name }, ret);
}
