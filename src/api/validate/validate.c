#include "api/validate/validate.h"

#include "api/validate/validate_internal.h"

#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

#define VALIDATE_LIST(name) validate__##name,
static const struct validate_rules *const tables[] = { VALIDATE_TABLES(VALIDATE_LIST) };
#undef VALIDATE_LIST

static const struct validate_rules *find_row(struct str group, struct str version, struct str kind)
{
    for (size_t t = 0; t < ARRAY_LEN(tables); t++)
        for (const struct validate_rules *v = tables[t]; v->kind.p; v++)
            if (str_eq(v->kind, kind) && str_eq(v->group, group) && str_eq(v->version, version))
                return v;
    return NULL;
}

/* Rules of the version come first, then those of the group, then those of the kind as it is
 * stored. */
static const struct validate_rules *find(const struct kind_resource *r)
{
    const struct validate_rules *v = find_row(r->group, r->version, r->type->name);
    if (!v)
        v = find_row(r->group, STR(""), r->type->name);
    if (!v && r->stored)
        v = find_row(r->stored->group, STR(""), r->stored->type->name);
    return v;
}

void validate_create(struct field_errors *e, const struct kind_resource *r, const struct value *obj)
{
    if (r->type->custom) {
        r->type->custom->validate(e, r->type, STR(""), obj, NULL);
        return;
    }
    const struct validate_rules *v = find(r);
    if (v && v->create)
        v->create(e, obj);
    if (v && e->n)
        field_errors_unique(e);
}

void validate_update(struct field_errors *e, const struct kind_resource *r, const struct value *obj,
                     const struct value *old_obj)
{
    if (r->type->custom) {
        r->type->custom->validate(e, r->type, STR(""), obj, old_obj);
        return;
    }
    const struct validate_rules *v = find(r);
    if (v && v->update)
        v->update(e, obj, old_obj);
    if (v && e->n)
        field_errors_unique(e);
}

/* A path without rules of its own has those of the whole object. */
static validate_update_fn *find_update(const struct validate_rules *v, struct str sub)
{
    if (str_eq(sub, STR("status")))
        return v->update_status;
    for (const struct validate_sub *s = v->subs; s && s->name.p; s++)
        if (str_eq(s->name, sub))
            return s->update;
    return v->update;
}

void validate_update_sub(struct field_errors *e, const struct kind_resource *r, struct str sub,
                         const struct value *obj, const struct value *old_obj)
{
    if (r->type->custom) {
        r->type->custom->validate(e, r->type, sub, obj, old_obj);
        return;
    }
    const struct validate_rules *v = find(r);
    validate_update_fn *update = v ? find_update(v, sub) : NULL;
    if (update)
        update(e, obj, old_obj);
    if (v && e->n)
        field_errors_unique(e);
}

void validate_warn(struct validate_warnings *w, const struct kind_resource *r,
                   const struct value *obj, const struct value *old_obj)
{
    if (r->type->custom) {
        r->type->custom->warn(w, obj, old_obj);
        return;
    }
    const struct validate_rules *v = find(r);
    if (v && v->warn)
        v->warn(w, obj, old_obj);
}

void validate_add_warning(struct validate_warnings *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(w->arena, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->texts[i], text))
            return;
    if (w->n < VALIDATE_WARNINGS_MAX)
        w->texts[w->n++] = text;
}
