/* model_crd.c - a CustomResourceDefinition to a model. */
#include "generate/model.h"

#include <ctype.h>

#include "api/kind.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/limits.h"
#include "generate/client_verbs.h"
#include "generate/names.h"
#include "base/banned.h"

enum { ABOUT_MAX_BYTES = 400 };

/* A place in the schema. */
struct spot {
    struct str path; /* "spec.routes"; items of lists and maps are not in it */
    struct str name; /* of the struct that is there, if nothing says otherwise */
    unsigned depth;
};

struct crd_reader {
    struct model *m;
    struct str names; /* the annotation */
    struct err *err;
};

static int describe(struct crd_reader *c, const struct value *schema, struct spot at,
                    struct model_field *f);

/* ---- Names ---- */

/* What the annotation says of a path; .p is NULL if it says nothing. */
static struct str chosen_name(const struct crd_reader *c, struct str path)
{
    struct str rest = c->names;
    while (rest.n) {
        struct str name = str_cut(&rest, ' ');
        struct str of = str_cut(&name, '=');
        if (name.p && str_eq(of, path) && names_is_identifier(name))
            return name;
        rest = str_trim(rest);
    }
    return (struct str){ NULL, 0 };
}

static struct str free_name(const struct model *m, struct str wanted)
{
    /* Lists and maps of structs are called so. */
    if (str_ends(wanted, STR("_list")) || str_ends(wanted, STR("_map")) ||
        str_ends(wanted, STR("_entry")))
        wanted = arena_printf(m->arena, STR_FMT "_object", STR_ARG(wanted));
    struct str name = wanted;
    for (unsigned i = 2; model_find(m, name); i++)
        name = arena_printf(m->arena, STR_FMT "_%u", STR_ARG(wanted), i);
    return name;
}

/* Bytes up to the end of the first sentence or paragraph. */
static size_t sentence_length(struct str text)
{
    for (size_t i = 0; i + 1 < text.n; i++) {
        bool is_end = (unsigned char)text.p[i + 1] <= ' ';
        if (is_end && (text.p[i] == '.' || text.p[i] == '\n'))
            return i + (text.p[i] == '.');
    }
    return text.n;
}

/* The first sentence, in one line, without what would end the comment or begin another in it. */
static struct str about(struct arena *a, const struct value *schema)
{
    struct str text = str_trim(value_text(schema, "description"));
    text = str_take(text, sentence_length(text));
    if (text.n > ABOUT_MAX_BYTES)
        return STR("");
    autobuf out = { 0 };
    for (size_t i = 0; i < text.n; i++) {
        bool is_space = (unsigned char)text.p[i] <= ' ';
        char last = out.n ? out.p[out.n - 1] : ' ';
        bool is_sign = (last == '*' && text.p[i] == '/') || (last == '/' && text.p[i] == '*');
        if (is_sign)
            buf_byte(&out, ' ');
        if (!is_space || last != ' ')
            buf_byte(&out, is_space ? ' ' : text.p[i]);
    }
    return arena_str(a, buf_str(&out));
}

/* ---- Structs ---- */

/* Whether it has just these properties. */
static bool has_just(const struct value *properties, const struct str *names, size_t n)
{
    value_each_field (f, properties) {
        if (!words_have(f->key, names, n))
            return false;
    }
    return value_is(properties, VALUE_OBJECT) && properties->n == n;
}

/* What every API uses has one struct in the library. */
static struct str well_known(const struct value *properties)
{
    static const struct str condition[] = { STR("lastTransitionTime"),
                                            STR("message"),
                                            STR("observedGeneration"),
                                            STR("reason"),
                                            STR("status"),
                                            STR("type") };
    static const struct str selector[] = { STR("matchExpressions"), STR("matchLabels") };
    if (has_just(properties, WORDS(condition)))
        return STR("meta_v1_condition");
    if (has_just(properties, WORDS(selector)))
        return STR("meta_v1_label_selector");
    return (struct str){ NULL, 0 };
}

static int add_property(struct crd_reader *c, struct model_type *t, struct str json,
                        const struct value *schema, struct spot at)
{
    struct arena *a = c->m->arena;
    struct model_field *f = model_add_field(c->m, t, arena_str(a, json));
    f->about = about(a, schema);
    struct spot below = { .path = at.path.n ? arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(at.path),
                                                           STR_ARG(json))
                                            : json,
                          .name = arena_printf(a, STR_FMT "_" STR_FMT, STR_ARG(t->name),
                                               STR_ARG(names_snake(a, json))),
                          .depth = at.depth + 1 };
    int r = describe(c, schema, below, f);
    if (r < 0)
        return r;
    model_use(f);
    return 0;
}

static int add_properties(struct crd_reader *c, struct model_type *t, const struct value *schema,
                          struct spot at)
{
    value_each_field (f, value_get(schema, STR("properties"))) {
        bool has_own_place =
            at.depth == 0 && (str_eq(f->key, STR("apiVersion")) || str_eq(f->key, STR("kind")) ||
                              str_eq(f->key, STR("metadata")));
        if (has_own_place)
            continue;
        int r = add_property(c, t, f->key, &f->val, at);
        if (r < 0)
            return r;
    }
    return 0;
}

static int describe_struct(struct crd_reader *c, const struct value *schema, struct spot at,
                           struct model_field *f)
{
    struct str chosen = chosen_name(c, at.path);
    struct str known = chosen.p ? chosen : well_known(value_get(schema, STR("properties")));
    f->what = SPN_IS_STRUCT;
    f->type = known.p ? model_library_type(c->m, known) : NULL;
    if (!f->type && chosen.p)
        f->type = model_find(c->m, chosen);
    if (f->type)
        return 0;
    f->type = model_add_type(c->m, chosen.p ? chosen : free_name(c->m, at.name));
    f->type->about = about(c->m->arena, schema);
    return add_properties(c, f->type, schema, at);
}

/* ---- Everything else ---- */

static enum spn_what scalar_of(const struct value *schema)
{
    struct str type = value_text(schema, "type");
    if (value_is_true(value_get(schema, STR("x-kubernetes-int-or-string"))))
        return SPN_IS_INT_OR_TEXT;
    if (str_eq(type, STR("string")))
        return str_eq(value_text(schema, "format"), STR("byte")) ? SPN_IS_BYTES : SPN_IS_TEXT;
    if (str_eq(type, STR("boolean")))
        return SPN_IS_BOOL;
    if (str_eq(type, STR("integer")))
        return SPN_IS_INT;
    if (str_eq(type, STR("number")))
        return SPN_IS_NUMBER;
    return SPN_IS_VALUE;
}

/* The items of a list or map. A place in it that may be null has no struct for that. */
static int describe_items(struct crd_reader *c, const struct value *items, struct spot at,
                          struct model_field *f)
{
    struct arena *a = c->m->arena;
    enum spn_shape shape = f->shape;
    if (value_is_true(value_get(items, STR("nullable")))) {
        f->what = SPN_IS_VALUE;
        return 0;
    }
    at.name = names_singular(at.name, a);
    at.depth++;
    struct model_field *item = arena_new(a, struct model_field);
    int r = describe(c, items, at, item);
    if (r < 0)
        return r;
    f->shape = shape;
    f->what = item->shape == SPN_ONE ? item->what : SPN_IS_NESTED;
    f->type = item->shape == SPN_ONE ? item->type : NULL;
    f->inner = item->shape == SPN_ONE ? NULL : item;
    if (f->inner)
        model_use(f->inner);
    return 0;
}

static int describe(struct crd_reader *c, const struct value *schema, struct spot at,
                    struct model_field *f)
{
    if (at.depth > LIMIT_SCHEMA_DEPTH)
        return err_set(c->err, ERR_INVALID, STR_FMT ": schemas lie more than %u deep in each other",
                       STR_ARG(at.path), LIMIT_SCHEMA_DEPTH);
    const struct value *properties = value_get(schema, STR("properties"));
    const struct value *others = value_get(schema, STR("additionalProperties"));
    const struct value *items = value_get(schema, STR("items"));
    bool is_embedded = value_is_true(value_get(schema, STR("x-kubernetes-embedded-resource")));
    struct str type = value_text(schema, "type");
    if (str_eq(type, STR("array")) && value_is(items, VALUE_OBJECT)) {
        f->shape = SPN_LIST;
        return describe_items(c, items, at, f);
    }
    if (str_eq(type, STR("object")) && value_is(others, VALUE_OBJECT)) {
        f->shape = SPN_MAP;
        return describe_items(c, others, at, f);
    }
    if (str_eq(type, STR("object")) && !is_embedded &&
        (value_is(properties, VALUE_OBJECT) || chosen_name(c, at.path).p))
        return describe_struct(c, schema, at, f);
    f->what = scalar_of(schema);
    return 0;
}

/* ---- The definition ---- */

static const struct value *find_version(const struct value *crd, struct str version)
{
    value_each_item (v, value_dig(crd, "spec", "versions")) {
        bool is_it = version.n ? str_eq(value_text(v, "name"), version)
                               : value_is_true(value_get(v, STR("storage")));
        if (is_it)
            return v;
    }
    return NULL;
}

/* "network", but "example_switch" of a kind Switch in example.com. */
static struct str root_name(struct arena *a, const struct model_kind *k)
{
    struct str name = names_snake(a, k->kind), group = k->group;
    if (names_is_identifier(name))
        return name;
    struct str first = names_snake(a, str_cut(&group, '.'));
    return arena_printf(a, STR_FMT "_" STR_FMT, STR_ARG(first), STR_ARG(name));
}

static int add_root(struct crd_reader *c, struct model_kind *k, const struct value *schema,
                    struct str prefix)
{
    struct model *m = c->m;
    struct str chosen = chosen_name(c, STR(""));
    struct str name = chosen.p ? chosen : prefix.n ? prefix : root_name(m->arena, k);
    if (model_find(m, name))
        return err_set(c->err, ERR_INVALID, "two kinds would be called " STR_FMT, STR_ARG(name));
    k->type = model_add_type(m, arena_str(m->arena, name));
    k->type->about = about(m->arena, schema);
    k->type->has_list = true;
    (void)model_add_field(m, k->type, STR("apiVersion"));
    (void)model_add_field(m, k->type, STR("kind"));
    struct model_field *meta = model_add_field(m, k->type, STR("metadata"));
    meta->what = SPN_IS_STRUCT;
    meta->type = model_library_type(m, STR("meta_v1_object_meta"));
    return add_properties(c, k->type, schema, (struct spot){ .name = k->type->name });
}

/* What goes into code and comments has no surprises in it. */
static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '-' && s.p[i] != '.')
            return false;
    return s.n;
}

static int check_names(const struct model_kind *k, struct err *err)
{
    const struct str all[] = { k->group, k->version, k->plural };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (!is_plain(all[i]))
            return err_set(err, ERR_INVALID,
                           "\"" STR_FMT "\" is no name of a group, version or resource",
                           STR_ARG(all[i]));
    if (!is_plain(k->kind) || isdigit((unsigned char)k->kind.p[0]))
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no name of a kind", STR_ARG(k->kind));
    return 0;
}

static int read_skipped(struct model_kind *k, const struct value *crd, struct err *err)
{
    struct str unknown,
        list = value_str(value_dig(crd, "metadata", "annotations", MODEL_SKIP_ANNOTATION));
    if (!list.n || client_verbs_read(list, &k->skipped, &unknown))
        return 0;
    return err_set(err, ERR_INVALID, MODEL_SKIP_ANNOTATION ": there is no `" STR_FMT "`",
                   STR_ARG(unknown));
}

int model_from_crd(struct model *m, const struct value *crd, struct str version, struct str prefix,
                   struct err *err)
{
    const struct value *spec = value_get(crd, STR("spec"));
    if (!str_eq(value_text(crd, "kind"), STR("CustomResourceDefinition")))
        return err_set(err, ERR_INVALID, "it is no CustomResourceDefinition");
    const struct value *v = find_version(crd, version);
    const struct value *schema = value_dig(v, "schema", "openAPIV3Schema");
    if (!schema)
        return err_set(err, ERR_INVALID, "it has no version " STR_FMT " with a schema",
                       STR_ARG(version.n ? version : STR("to store")));
    struct model_kind *k = model_add_kind(m);
    k->group = value_text(spec, "group");
    k->version = value_text(v, "name");
    k->kind = value_str(value_dig(spec, "names", "kind"));
    k->plural = value_str(value_dig(spec, "names", "plural"));
    k->is_namespaced = !str_eq(value_text(spec, "scope"), STR("Cluster"));
    k->has_status = value_dig(v, "subresources", "status");
    k->verbs = 0xff;
    int r = check_names(k, err);
    if (r < 0)
        return r;
    r = read_skipped(k, crd, err);
    if (r < 0)
        return r;
    struct crd_reader c = {
        .m = m,
        .names = value_str(value_dig(crd, "metadata", "annotations", MODEL_NAMES_ANNOTATION)),
        .err = err,
    };
    r = add_root(&c, k, schema, prefix);
    if (r < 0)
        return r;
    if (!m->file.n)
        m->file = prefix.n ? prefix : k->type->name;
    return 0;
}
