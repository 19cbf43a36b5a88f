/* The paths an object has, and objects without some of their paths. */
#include "merge/ownership_internal.h"

#include "base/banned.h"

/* What a walk knows of one place: whether its own path is a member, and those below. */
struct found {
    bool is_member;
    const struct fieldset *below;
};

static int paths_of(struct ownership_walk *w, struct ownership_place place, const struct value *v,
                    struct found *ret);

static int paths_of_fields(struct ownership_walk *w, struct ownership_place place,
                           const struct value *obj, struct fieldset_builder *b)
{
    value_each_field (f, obj) {
        struct ownership_place below;
        struct found found;
        bool is_named = w->schema->field(place, f->key, &below);
        int r = paths_of(w, below, &f->val, &found);
        if (r < 0)
            return r;
        bool is_empty = f->val.type == VALUE_NULL || (f->val.type == VALUE_OBJECT && !f->val.n);
        fieldset_add(b, fieldset_name(f->key), found.is_member || is_empty || !is_named,
                     found.below);
    }
    return 0;
}

static int paths_of_items(struct ownership_walk *w, struct ownership_place place,
                          const struct ownership_shape *shape, const struct value *list,
                          struct fieldset_builder *b)
{
    struct ownership_items items;
    struct ownership_place below = w->schema->item(place);
    int r = ownership__items(w, place, shape, list, &items);
    if (r < 0)
        return r;
    for (size_t i = 0; i < items.n; i++) {
        struct found found = { 0 };
        if (!items.sorted[i]->is_repeated)
            r = paths_of(w, below, items.sorted[i]->v, &found);
        if (r < 0)
            return r;
        fieldset_add(b, items.sorted[i]->step, true, found.below);
    }
    return 0;
}

static int paths_of(struct ownership_walk *w, struct ownership_place place, const struct value *v,
                    struct found *ret)
{
    struct ownership_shape shape = w->schema->shape(place, v);
    const struct value *container = ownership__container(shape.form, v);
    struct fieldset_builder b = { .arena = w->arena };
    *ret = (struct found){ .is_member = shape.form == OWNERSHIP_LEAF };
    if (!container)
        return 0;
    int r = ownership__enter(w);
    if (r < 0)
        return r;
    r = shape.form == OWNERSHIP_FIELDS ? paths_of_fields(w, place, container, &b)
                                       : paths_of_items(w, place, &shape, container, &b);
    w->depth--;
    if (r < 0)
        return r;
    ret->below = fieldset_build(&b);
    return 0;
}

int ownership_paths(struct arena *a, const struct ownership_schema *schema,
                    struct ownership_place place, const struct value *v,
                    const struct fieldset **ret, struct err *err)
{
    struct ownership_walk w = { a, schema, err, 0 };
    struct found found;
    int r = paths_of(&w, place, v, &found);
    if (r < 0)
        return r;
    *ret = found.below;
    return 0;
}

/* ---- removing ---- */

static struct value remove_fields(struct ownership_walk *w, struct ownership_place place,
                                  const struct value *obj, const struct fieldset *paths)
{
    struct value out = value_object();
    value_each_field (f, obj) {
        struct fieldset_step step = fieldset_name(f->key);
        const struct fieldset_entry *e = fieldset_find(paths, &step);
        struct ownership_place below;
        if (e && e->is_member)
            continue;
        (void)w->schema->field(place, f->key, &below);
        value_put_new(w->arena, &out, f->key,
                      e ? ownership_remove(w->arena, w->schema, below, &f->val, e->below)
                        : value_borrow(&f->val));
    }
    return out;
}

static struct value remove_items(struct ownership_walk *w, struct ownership_place place,
                                 const struct ownership_shape *shape, const struct value *list,
                                 const struct fieldset *paths)
{
    struct value out = value_array();
    struct ownership_items items;
    if (ownership__items(w, place, shape, list, &items) < 0)
        return value_borrow(list);
    for (size_t i = 0; i < items.n; i++) {
        const struct ownership_item *item = &items.all[i];
        const struct fieldset_entry *e = fieldset_find(paths, &item->step);
        if (e && e->is_member)
            continue;
        value_put_item(
            w->arena, &out,
            e ? ownership_remove(w->arena, w->schema, w->schema->item(place), item->v, e->below)
              : value_borrow(item->v));
    }
    return out;
}

/* Goes no deeper than `paths`, whose depth is bounded. */
struct value ownership_remove(struct arena *a, const struct ownership_schema *schema,
                              struct ownership_place place, const struct value *v,
                              const struct fieldset *paths)
{
    struct ownership_walk w = { a, schema, NULL, 0 };
    struct ownership_shape shape = schema->shape(place, v);
    const struct value *container = ownership__container(shape.form, v);
    if (!paths || (v->type != VALUE_OBJECT && v->type != VALUE_ARRAY))
        return value_borrow(v);
    if (!container)
        return value_null(); /* nothing that somebody could own item by item */
    struct value out = shape.form == OWNERSHIP_FIELDS
                           ? remove_fields(&w, place, container, paths)
                           : remove_items(&w, place, &shape, container, paths);
    return out.n ? out : value_null();
}

/* ---- named fields ---- */

const struct fieldset *ownership_named(struct arena *a, const struct ownership_schema *schema,
                                       struct ownership_place place, const struct fieldset *s)
{
    struct fieldset_builder b = { .arena = a };
    for (size_t i = 0; s && i < s->n; i++) {
        const struct fieldset_entry *e = &s->entries[i];
        struct ownership_place below = { 0 };
        bool is_named = false;
        if (e->step.type == FIELDSET_NAME)
            is_named = schema->field(place, value_str(&e->step.v), &below);
        else if (e->step.type == FIELDSET_KEY)
            below = schema->item(place);
        fieldset_add(&b, e->step, e->is_member || (is_named && e->below),
                     ownership_named(a, schema, below, e->below));
    }
    return fieldset_build(&b);
}
