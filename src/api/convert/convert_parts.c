/* What the conversions of many kinds need. */
#include "api/convert/convert_internal.h"
#include "base/banned.h"

const struct value *convert__given(const struct value *v)
{
    return v && v->type != VALUE_NULL ? v : NULL;
}

struct value *convert__edit(struct arena *a, struct value *obj, struct str key)
{
    struct value *v = obj ? value_edit(a, obj, key) : NULL;
    return value_is(v, VALUE_OBJECT) ? v : NULL;
}

void convert__each(struct arena *a, struct value *obj, struct str key,
                   void (*change)(struct arena *a, struct value *item))
{
    struct value *list = obj ? value_edit(a, obj, key) : NULL;
    for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++) {
        struct value *item = value_edit_at(a, list, i);
        if (item->type == VALUE_OBJECT)
            change(a, item);
    }
}

void convert__copy(struct arena *a, struct value *to, struct str to_key, const struct value *from,
                   struct str from_key)
{
    const struct value *v = convert__given(value_get(from, from_key));
    if (v)
        value_put(a, to, to_key, value_borrow(v));
}

void convert__rename(struct arena *a, struct value *obj, struct str from, struct str to)
{
    convert__copy(a, obj, to, obj, from);
    value_drop(a, obj, from);
}

/* ---- Annotations ---- */

const struct value *convert__note(const struct value *obj, struct str key)
{
    const struct value *note = value_get(value_dig(obj, "metadata", "annotations"), key);
    return value_is(note, VALUE_STRING) ? note : NULL;
}

void convert__note_set(struct arena *a, struct value *obj, struct str key, struct str text)
{
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    struct value *notes = meta ? value_ensure(a, meta, STR("annotations")) : NULL;
    if (notes)
        value_put(a, notes, key, value_string(text));
}

void convert__note_drop(struct arena *a, struct value *obj, struct str key)
{
    if (!convert__note(obj, key))
        return;
    struct value *meta = value_edit(a, obj, STR("metadata"));
    struct value *notes = value_edit(a, meta, STR("annotations"));
    value_drop(a, notes, key);
    if (!notes->n)
        value_drop(a, meta, STR("annotations"));
}
