/* model_kinds.c - files of kinds/ to a model. */
#include "generate/model.h"

#include "base/buf.h"
#include "generate/kinds_file.h"
#include "generate/names.h"
#include "base/banned.h"

static struct str prefix_of(struct model *m, const struct kinds_type *t)
{
    return names_version_prefix(m->arena, t->group, t->version);
}

/* The lists that every kind has: they are pages of items, not structs. */
static bool is_page(const struct kinds_type *t)
{
    return str_ends(t->name, STR("List")) && t->n_fields == 2 &&
           str_eq(t->fields->name, STR("metadata")) && str_eq(t->fields->next->name, STR("items"));
}

/* "APIGroupList" would be called like a list of APIGroup. */
static struct str struct_name(struct model *m, const struct kinds_type *t)
{
    const char *more = str_ends(t->name, STR("List")) ? "_object" : "";
    return arena_printf(m->arena, STR_FMT "_" STR_FMT "%s", STR_ARG(prefix_of(m, t)),
                        STR_ARG(names_snake(m->arena, t->name)), more);
}

/* A type of another version is one that the library has. */
static struct model_type *type_of(struct model *m, const struct kinds_type *t)
{
    struct str name = struct_name(m, t), prefix = prefix_of(m, t);
    struct model_type *type = model_find(m, name);
    if (type)
        return type;
    type = model_add_type(m, name);
    if (!str_eq(prefix, m->file))
        type->header = arena_printf(m->arena, "sampan/api/" STR_FMT ".h", STR_ARG(prefix));
    return type;
}

static enum spn_what scalar_of(enum kind_scalar scalar)
{
    switch (scalar) {
    case KIND_STRING:
    case KIND_TIME:
    case KIND_MICRO_TIME:
    case KIND_DURATION:
    case KIND_QUANTITY:
        return SPN_IS_TEXT;
    case KIND_INT32:
    case KIND_INT64:
        return SPN_IS_INT;
    case KIND_BOOL:
        return SPN_IS_BOOL;
    case KIND_BYTES:
        return SPN_IS_BYTES;
    case KIND_DOUBLE:
        return SPN_IS_NUMBER;
    case KIND_INT_OR_STRING:
        return SPN_IS_INT_OR_TEXT;
    case KIND_RAW:
    case KIND_FIELDS_V1:
    case KIND_ANY:
        return SPN_IS_VALUE;
    case KIND_STRUCT:
        break;
    }
    return SPN_IS_STRUCT;
}

static enum spn_shape shape_of(enum kind_shape shape)
{
    return shape == KIND_LIST ? SPN_LIST : shape == KIND_MAP ? SPN_MAP : SPN_ONE;
}

/* A type whose JSON is a list of strings. */
static void describe_strings(struct model *m, struct model_field *f)
{
    if (f->shape == SPN_ONE) {
        f->what = SPN_IS_TEXT;
        f->shape = SPN_LIST;
        return;
    }
    f->what = SPN_IS_NESTED;
    f->inner = arena_new(m->arena, struct model_field);
    f->inner->what = SPN_IS_TEXT;
    f->inner->shape = SPN_LIST;
}

static void describe(struct model *m, struct model_field *f, const struct kinds_field *of)
{
    f->shape = shape_of(of->shape);
    f->what = scalar_of(of->scalar);
    if (of->scalar != KIND_STRUCT)
        return;
    const struct kinds_type *t = map_get(&kinds.types_by_key, of->ref);
    if (t->form == KIND_FORM_STRINGS)
        describe_strings(m, f);
    else if (t->form != KIND_FORM_OBJECT)
        f->what = SPN_IS_VALUE;
    else
        f->type = type_of(m, t);
    model_use(f);
}

static void add_fields(struct model *m, struct model_type *type, const struct kinds_type *t)
{
    for (const struct kinds_field *f = t->fields; f; f = f->next) {
        if (f->flags & KIND_INLINE)
            add_fields(m, type, map_get(&kinds.types_by_key, f->ref));
        else
            describe(m, model_add_field(m, type, f->name), f);
    }
}

static struct str about_values(struct arena *a, const struct kinds_field *f)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < f->values.n && f->values.n <= 8; i++)
        buf_printf(&text, "%s\"" STR_FMT "\"", i ? ", " : "", STR_ARG(f->values.p[i]));
    return arena_str(a, buf_str(&text));
}

/* What the files know of single fields that a reader of the struct wants to know, too. */
static void add_notes(struct model *m, struct model_type *type, const struct kinds_type *t)
{
    for (const struct kinds_field *f = t->fields; f; f = f->next)
        for (struct model_field *to = type->fields; to; to = to->next)
            if (str_eq(to->json, f->name))
                to->about = about_values(m->arena, f);
}

static void add_type(struct model *m, const struct kinds_type *t)
{
    if (t->form != KIND_FORM_OBJECT || is_page(t))
        return;
    struct model_type *type = type_of(m, t);
    if (t->flags & KIND_HAS_TYPE_META) {
        (void)model_add_field(m, type, STR("apiVersion"));
        (void)model_add_field(m, type, STR("kind"));
    }
    add_fields(m, type, t);
    add_notes(m, type, t);
}

/* Other versions may want lists and maps of types, too. */
static void mark_uses(struct model *m)
{
    for (const struct kinds_type *t = kinds.types; t; t = t->next)
        for (const struct kinds_field *f = t->fields; f; f = f->next) {
            const struct kinds_type *of =
                f->scalar == KIND_STRUCT ? map_get(&kinds.types_by_key, f->ref) : NULL;
            struct model_type *type = of ? model_find(m, struct_name(m, of)) : NULL;
            if (!type || is_page(t))
                continue;
            type->has_list |= f->shape == KIND_LIST;
            type->has_map |= f->shape == KIND_MAP;
        }
}

static void add_kind(struct model *m, const struct kinds_resource *r)
{
    const struct kinds_type *t = map_get(&kinds.types_by_key, r->ref);
    struct model_type *type = model_find(m, struct_name(m, t));
    if (!type || type->header.n)
        return;
    struct model_kind *k = model_add_kind(m);
    k->group = str_eq(r->group, STR("core")) ? STR("") : r->group;
    k->version = r->version;
    k->kind = t->name;
    k->plural = r->plural;
    k->is_namespaced = r->namespaced;
    k->verbs = r->verbs;
    k->type = type;
    type->has_list = true;
    for (const struct kinds_sub *s = r->subs; s; s = s->next)
        k->has_status |= str_eq(s->name, STR("status")) && s->verbs & KIND_UPDATE;
}

/* The types were put in front of each other as they were read. */
static const struct kinds_type **types_in_order(struct arena *a)
{
    const struct kinds_type **all = arena_array(a, const struct kinds_type *, kinds.n_types);
    size_t i = kinds.n_types;
    for (const struct kinds_type *t = kinds.types; t; t = t->next)
        all[--i] = t;
    return all;
}

int model_from_kinds(struct model *m, struct str group, struct str version, struct err *err)
{
    m->file = arena_printf(m->arena, STR_FMT "_" STR_FMT, STR_ARG(group), STR_ARG(version));
    const struct kinds_type **all = types_in_order(m->arena);
    size_t n = 0;
    for (size_t i = 0; i < kinds.n_types; i++)
        if (str_eq(prefix_of(m, all[i]), m->file)) {
            add_type(m, all[i]);
            n++;
        }
    if (n == 0)
        return err_set(err, ERR_NOT_FOUND, "there are no types of " STR_FMT, STR_ARG(m->file));
    mark_uses(m);
    for (const struct kinds_resource *r = kinds.resources; r; r = r->next)
        if (str_eq(names_version_prefix(m->arena, r->group, r->version), m->file))
            add_kind(m, r);
    return 0;
}
