/* Lists whose items have an identity: sets, and lists that are maps by some keys of their items. */
#include "schema/schema_lists.h"

#include <stdlib.h>

#include "base/json.h"
#include "merge/sorted.h"

#include "base/banned.h"

/* An object of the item's keys, those that it has. */
static struct value keys_of(struct arena *a, const struct schema *list, const struct value *item)
{
    struct value keys = value_object();
    for (size_t i = 0; i < list->n_list_keys; i++) {
        const struct value *key = value_get(item, list->list_keys[i]);
        if (key)
            value_put_new(a, &keys, list->list_keys[i], value_borrow(key));
    }
    return keys;
}

/* What is equal has equal text. */
static struct str canonical(struct arena *a, const struct value *v)
{
    autobuf text = { 0 };
    struct value by_name = sorted_copy(a, v);
    json_write(&text, &by_name);
    return arena_str(a, buf_str(&text));
}

/* An item by its text. */
struct schema_keyed {
    struct str text;
    size_t index;
};

static int by_text(const void *a, const void *b)
{
    const struct schema_keyed *x = a, *y = b;
    int c = str_cmp(x->text, y->text);
    return c ? c : (x->index > y->index) - (x->index < y->index);
}

static int by_index(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The second of each kind, in order. */
static size_t find_repeated(struct arena *a, const struct value *items, size_t n, size_t *ret)
{
    struct schema_keyed *sorted = arena_array(a, struct schema_keyed, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct schema_keyed){ canonical(a, &items[i]), i };
    qsort(sorted, n, sizeof(*sorted), by_text);
    size_t found = 0;
    for (size_t i = 1; i < n; i++) {
        bool same = str_eq(sorted[i].text, sorted[i - 1].text);
        bool third = same && i >= 2 && str_eq(sorted[i].text, sorted[i - 2].text);
        if (same && !third)
            ret[found++] = sorted[i].index;
    }
    qsort(ret, found, sizeof(*ret), by_index);
    return found;
}

static void check_identity(struct field_errors *e, const struct schema *s,
                           const struct field_path *path, const struct value *list)
{
    bool is_map = s->list_type == KIND_MERGE_MAP;
    for (size_t i = 0; is_map && i < list->n; i++) {
        const struct value *item = value_at(list, i);
        struct field_path here = field_index(path, i);
        if (item->type == VALUE_NULL || item->type == VALUE_OBJECT)
            continue;
        struct str shown = field_shown(e, item);
        field_error(e, FIELD_INVALID, &here, shown,
                    "must be an object for an array of list-type map");
        return;
    }
    if (list->n < 2)
        return;
    struct value *ids = arena_array(e->arena, struct value, list->n);
    size_t *repeated = arena_array(e->arena, size_t, list->n);
    for (size_t i = 0; i < list->n; i++)
        ids[i] = is_map ? keys_of(e->arena, s, value_at(list, i)) : value_borrow(value_at(list, i));
    size_t n = find_repeated(e->arena, ids, list->n, repeated);
    for (size_t i = 0; i < n; i++) {
        const struct value *id = &ids[repeated[i]];
        struct field_path here = field_index(path, repeated[i]);
        struct str shown = field_shown(e, id);
        field_error(e, FIELD_DUPLICATE, &here, shown, "%s", "");
    }
}

static void check(struct field_errors *e, const struct schema *s, const struct field_path *path,
                  const struct value *v)
{
    if (!s || !(s->flags & SCHEMA_HAS_KEYED))
        return;
    if (v->type == VALUE_ARRAY) {
        if (s->list_type == KIND_MERGE_SET || s->list_type == KIND_MERGE_MAP)
            check_identity(e, s, path, v);
        for (size_t i = 0; s->items && i < v->n; i++) {
            struct field_path here = field_index(path, i);
            check(e, s->items, &here, value_at(v, i));
        }
    }
    value_each_field (f, v) {
        const struct schema *property = schema_property(s, f->key);
        struct field_path here = property ? field_child(path, f->key) : field_key(path, f->key);
        check(e, property ? property : s->additional, &here, &f->val);
    }
}

void schema_check_lists(struct field_errors *e, const struct schema *s, const struct value *obj)
{
    check(e, s, NULL, obj);
}

bool schema_has_repeated(struct arena *a, const struct value *list)
{
    size_t *repeated = arena_array(a, size_t, list->n);
    return list->n > 1 && find_repeated(a, list->items, list->n, repeated) > 0;
}

static bool same_keys(const struct schema *list, const struct value *x, const struct value *y)
{
    bool same = value_is(x, VALUE_OBJECT) && value_is(y, VALUE_OBJECT);
    for (size_t i = 0; same && i < list->n_list_keys; i++) {
        const struct value *a = value_get(x, list->list_keys[i]),
                           *b = value_get(y, list->list_keys[i]);
        same = a && b ? value_eq(a, b) : a == b;
    }
    return same;
}

static void index_old_items(struct schema_old_items *o)
{
    o->sorted = arena_array(o->arena, struct schema_keyed, o->old->n);
    for (size_t i = 0; i < o->old->n; i++) {
        struct value keys = keys_of(o->arena, o->list, value_at(o->old, i));
        o->sorted[i] = (struct schema_keyed){ canonical(o->arena, &keys), i };
    }
    qsort(o->sorted, o->old->n, sizeof(*o->sorted), by_text);
}

const struct value *schema_old_item(struct schema_old_items *o, const struct value *list, size_t i)
{
    const struct value *item = value_at(list, i);
    if (o->list->list_type != KIND_MERGE_MAP || !value_is(o->old, VALUE_ARRAY) ||
        !value_is(item, VALUE_OBJECT))
        return NULL;
    if (same_keys(o->list, item, value_at(o->old, i)))
        return value_at(o->old, i);
    if (!o->sorted)
        index_old_items(o);
    struct value keys = keys_of(o->arena, o->list, item);
    struct str wanted = canonical(o->arena, &keys);
    size_t low = 0, high = o->old->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(o->sorted[mid].text, wanted) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    bool found = low < o->old->n && str_eq(o->sorted[low].text, wanted);
    return found ? value_at(o->old, o->sorted[low].index) : NULL;
}
