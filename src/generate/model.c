#include "generate/model.h"

#include "api/kind.h"
#include "generate/names.h"
#include "base/banned.h"

void model_init(struct model *m, struct arena *a)
{
    *m = (struct model){ .arena = a };
    m->last_type = &m->types;
    m->last_kind = &m->kinds;
}

struct model_type *model_find(const struct model *m, struct str name)
{
    struct model_type *t = m->types;
    while (t && !str_eq(t->name, name))
        t = t->next;
    return t;
}

struct model_type *model_add_type(struct model *m, struct str name)
{
    struct model_type *t = arena_new(m->arena, struct model_type);
    t->name = name;
    t->last_field = &t->fields;
    *m->last_type = t;
    m->last_type = &t->next;
    return t;
}

struct model_kind *model_add_kind(struct model *m)
{
    struct model_kind *k = arena_new(m->arena, struct model_kind);
    *m->last_kind = k;
    m->last_kind = &k->next;
    return k;
}

static bool has_member(const struct model_type *t, struct str name)
{
    const struct model_field *f = t->fields;
    while (f && !str_eq(f->member, name))
        f = f->next;
    return f;
}

struct model_field *model_add_field(struct model *m, struct model_type *t, struct str json)
{
    struct model_field *f = arena_new(m->arena, struct model_field);
    struct str wanted = names_member(m->arena, json);
    f->json = json;
    f->member = wanted;
    for (unsigned i = 2; has_member(t, f->member); i++)
        f->member = arena_printf(m->arena, STR_FMT "_%u", STR_ARG(wanted), i);
    *t->last_field = f;
    t->last_field = &f->next;
    return f;
}

struct model_type *model_library_type(struct model *m, struct str name)
{
    struct model_type *known = model_find(m, name);
    if (known && known->header.n)
        return known;
    const struct kind_type *t = names_built_in(m->arena, name);
    if (!t)
        return NULL;
    struct model_type *type = model_add_type(m, arena_str(m->arena, name));
    struct str prefix = names_version_prefix(m->arena, t->group, t->version);
    type->header = arena_printf(m->arena, "sampan/api/" STR_FMT ".h", STR_ARG(prefix));
    return type;
}

void model_use(struct model_field *f)
{
    if (f->what != SPN_IS_STRUCT)
        return;
    f->type->has_list |= f->shape == SPN_LIST;
    f->type->has_map |= f->shape == SPN_MAP;
}
