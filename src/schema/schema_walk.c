/* Pruning, nulls and defaults: an object made to fit its schema. Objects that lose or get a field
 * are built anew, since looking up a key for each edit would be quadratic. */
#include "schema/schema.h"

#include <stdlib.h>

#include "schema/schema_fields.h"

#include "base/banned.h"

static bool is_container(const struct value *v)
{
    return v->type == VALUE_OBJECT || v->type == VALUE_ARRAY;
}

static bool is_meta(struct str key)
{
    return str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")) ||
           str_eq(key, STR("metadata"));
}

/* ---- Pruning ---- */

struct pruner {
    struct arena *a;
    struct schema_unknown *unknown; /* NULL: nobody asks */
};

static void note_unknown(struct pruner *p, const struct field_path *path)
{
    if (p->unknown && p->unknown->n < SCHEMA_UNKNOWN_MAX)
        p->unknown->paths[p->unknown->n++] = field_path_text(p->a, path);
}

/* `keep`: what is unknown stays, here and in lists directly inside. */
static void prune(struct pruner *p, const struct schema *s, struct value *v,
                  const struct field_path *path, bool embedded, bool keep);

static void prune_items(struct pruner *p, const struct schema *s, struct value *list,
                        const struct field_path *path, bool keep)
{
    const struct schema *items = s ? s->items : NULL;
    for (size_t i = 0; i < list->n && !arena_spent(p->a); i++) {
        if (!is_container(value_at(list, i)))
            continue;
        struct field_path here = field_index(path, i);
        prune(p, items, value_edit_at(p->a, list, i), &here,
              items && items->flags & SCHEMA_EMBEDDED, keep);
    }
}

static bool is_known(const struct schema *s, struct str key, bool embedded)
{
    return (embedded && is_meta(key)) || schema_field(s, key) ||
           (s && s->flags & SCHEMA_ADDITIONAL);
}

static void drop_unknown(struct pruner *p, const struct schema *s, struct value *obj,
                         const struct field_path *path, bool embedded)
{
    struct value fresh = value_object();
    value_each_field (f, obj) {
        struct field_path here = field_child(path, f->key);
        if (is_known(s, f->key, embedded))
            value_put_new(p->a, &fresh, f->key, value_borrow(&f->val));
        else if (path || !is_meta(f->key))
            note_unknown(p, &here);
    }
    *obj = fresh;
}

static void prune_fields(struct pruner *p, const struct schema *s, struct value *obj,
                         const struct field_path *path, bool embedded, bool keep)
{
    bool all_known = true;
    value_each_field (f, obj)
        all_known = all_known && is_known(s, f->key, embedded);
    if (!all_known && !keep)
        drop_unknown(p, s, obj, path, embedded);
    for (size_t i = 0; i < obj->n; i++) {
        struct str key = obj->fields[i].key;
        struct field_path here = field_child(path, key);
        const struct schema *child = schema_field(s, key);
        if (!is_container(&obj->fields[i].val) || (embedded && is_meta(key)) ||
            !is_known(s, key, embedded))
            continue;
        prune(p, child, value_edit_nth(p->a, obj, i), &here,
              child && child->flags & SCHEMA_EMBEDDED, false);
    }
}

static void prune(struct pruner *p, const struct schema *s, struct value *v,
                  const struct field_path *path, bool embedded, bool keep)
{
    keep |= s && s->flags & SCHEMA_PRESERVE;
    if (keep && !s)
        return;
    if (v->type == VALUE_ARRAY)
        prune_items(p, s, v, path, keep);
    if (v->type == VALUE_OBJECT)
        prune_fields(p, s, v, path, embedded, keep);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void schema_prune(struct arena *a, const struct schema *s, struct value *obj, bool root,
                  struct schema_unknown *unknown)
{
    struct pruner p = { a, unknown };
    size_t before = unknown ? unknown->n : 0;
    prune(&p, s, obj, NULL, root || (s && s->flags & SCHEMA_EMBEDDED), false);
    if (unknown)
        qsort(unknown->paths + before, unknown->n - before, sizeof(*unknown->paths), by_text);
}

/* ---- Nulls ---- */

static bool is_unwanted_null(const struct value *v, const struct schema *s)
{
    return v->type == VALUE_NULL && s && !(s->flags & SCHEMA_NULLABLE) && !s->default_value;
}

static bool has_unwanted_null(const struct value *obj, const struct schema *s)
{
    bool has = false;
    value_each_field (f, obj)
        has = has ||
              (f->val.type == VALUE_NULL && is_unwanted_null(&f->val, schema_field(s, f->key)));
    return has;
}

void schema_drop_nulls(struct arena *a, const struct schema *s, struct value *v)
{
    if (!s)
        return;
    if (v->type == VALUE_ARRAY && s->items)
        for (size_t i = 0; i < v->n && !arena_spent(a); i++)
            if (is_container(value_at(v, i)))
                schema_drop_nulls(a, s->items, value_edit_at(a, v, i));
    if (v->type != VALUE_OBJECT)
        return;
    struct value fresh = value_object();
    if (has_unwanted_null(v, s)) {
        value_each_field (f, v)
            if (!is_unwanted_null(&f->val, schema_field(s, f->key)))
                value_put_new(a, &fresh, f->key, value_borrow(&f->val));
        *v = fresh;
    }
    for (size_t i = 0; i < v->n; i++)
        if (is_container(&v->fields[i].val))
            schema_drop_nulls(a, schema_field(s, v->fields[i].key), value_edit_nth(a, v, i));
}

/* ---- Defaults ---- */

static bool wants_default(const struct value *v, const struct schema *s)
{
    return !v || (v->type == VALUE_NULL && !(s->flags & SCHEMA_NULLABLE));
}

static struct value default_of(const struct schema *s)
{
    return s->default_value ? value_borrow(s->default_value) : value_null();
}

static void default_items(struct arena *a, const struct schema *items, struct value *list)
{
    for (size_t i = 0; i < list->n && !arena_spent(a); i++) {
        struct value *item = value_edit_at(a, list, i);
        if (wants_default(item, items))
            *item = default_of(items);
        schema_default(a, items, item);
    }
}

static void default_fields(struct arena *a, const struct schema *s, struct value *obj)
{
    struct value fresh = value_object();
    value_each_field (f, obj) {
        const struct schema *child = schema_field(s, f->key);
        struct value v = value_borrow(&f->val);
        /* A map's null takes the default of its values even where there is none: it stays null. */
        if (child && wants_default(&v, child) && child->default_value)
            v = default_of(child);
        schema_default(a, child, value_add(a, &fresh, f->key, v));
    }
    struct schema_fields given = { .arena = a, .obj = obj };
    for (uint32_t i = 0; i < s->n_properties; i++) {
        const struct schema_property *p = &s->properties[i];
        if (p->schema->default_value && !schema_fields_get(&given, p->name))
            schema_default(a, p->schema, value_add(a, &fresh, p->name, default_of(p->schema)));
    }
    *obj = fresh;
}

void schema_default(struct arena *a, const struct schema *s, struct value *v)
{
    if (!s || !(s->flags & SCHEMA_HAS_DEFAULTS))
        return;
    if (v->type == VALUE_ARRAY && s->items)
        default_items(a, s->items, v);
    if (v->type == VALUE_OBJECT)
        default_fields(a, s, v);
}
