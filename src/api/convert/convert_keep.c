/* What an update through an old version keeps of the stored object.
 *
 * Three trees of the hub are walked side by side: `seen` is the stored object as it comes back from
 * a reader of the old version, `live` the stored object, `next` the new one. Where `seen` and
 * `next` agree the author changed nothing, and `live` stands, with all that `seen` has lost of it.
 * All three are as typed_read() leaves them, so keys of maps are in order. A null is as good as an
 * absent field. */
#include "api/convert/convert.h"
#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/json.h"
#include "base/map.h"
#include "base/banned.h"

enum { AGREES_DEPTH = 100 }; /* deeper trees agree if they are equal */

struct sides {
    const struct value *seen, *live, *next;
};

static bool keep_field(struct arena *a, const struct kind_field *f, const struct sides *s,
                       struct value *ret);
static struct value keep_struct(struct arena *a, const struct kind_type *t, const struct sides *s);

static const struct value *given(const struct value *v)
{
    return v && v->type != VALUE_NULL ? v : NULL;
}

static bool all_are(const struct sides *s, enum value_type type)
{
    return value_is(s->seen, type) && value_is(s->live, type) && value_is(s->next, type);
}

/* What needs no look inside: `live` where nothing was changed, else `next`. */
static struct value keep_whole(const struct sides *s)
{
    return value_borrow(value_eq(s->seen, s->next) ? s->live : s->next);
}

/* ---- Items of lists ---- */

/* What stands at `key`, looked for from `*at` on, where the last one was found: both trees have
 * their fields in the same order. */
static const struct value *get_after(const struct value *obj, struct str key, size_t *at)
{
    for (size_t k = 0; k < obj->n; k++) {
        size_t i = (*at + k) % obj->n;
        if (str_eq(obj->fields[i].key, key)) {
            *at = i + 1;
            return &obj->fields[i].val;
        }
    }
    return NULL;
}

/* Whether two trees could be the same object: what stands in both is equal. */
static bool agrees(const struct value *seen, const struct value *live, unsigned depth)
{
    if (!given(seen) || !given(live))
        return true;
    if (seen->type != live->type || seen->type < VALUE_ARRAY || !depth)
        return value_eq(seen, live);
    size_t at = 0;
    value_each_field (f, seen)
        if (!agrees(&f->val, get_after(live, f->key, &at), depth - 1))
            return false;
    if (seen->type == VALUE_ARRAY && seen->n != live->n)
        return false;
    for (size_t i = 0; seen->type == VALUE_ARRAY && i < seen->n; i++)
        if (!agrees(&seen->items[i], &live->items[i], depth - 1))
            return false;
    return true;
}

static struct value keep_item(struct arena *a, const struct kind_field *f, const struct sides *s)
{
    return all_are(s, VALUE_OBJECT) ? keep_struct(a, f->type, s) : keep_whole(s);
}

/* ---- Items with a key ---- */

struct index {
    struct map by_key;
    struct str *keys; /* of each item */
};

static void index_done(struct index *x)
{
    map_done(&x->by_key);
}

#define autoindex __attribute__((cleanup(index_done))) struct index

/* By what items are told apart; false if by nothing. */
static bool find_keys(const struct kind_field *f, const struct str **ret, size_t *ret_n)
{
    static const struct str name = { "name", 4 };
    *ret_n = 1;
    if (f->n_list_keys) {
        *ret = f->list_keys;
        *ret_n = f->n_list_keys;
    } else if (f->patch_key.n) {
        *ret = &f->patch_key;
    } else {
        const struct kind_field *named = kind_field_find(f->type, name);
        *ret = &name;
        return named && named->scalar == KIND_STRING && named->shape == KIND_SINGLE;
    }
    return true;
}

static struct str item_key(struct arena *a, const struct value *item, const struct str *keys,
                           size_t n)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < n; i++) {
        const struct value *v = given(value_get(item, keys[i]));
        if (v)
            json_write(&text, v);
        buf_byte(&text, ',');
    }
    return arena_str(a, buf_str(&text));
}

/* Whether every item has a key of its own. */
static bool index_list(struct arena *a, struct index *x, const struct value *list,
                       const struct str *keys, size_t n)
{
    x->keys = arena_array(a, struct str, list->n + 1);
    for (size_t i = 0; i < list->n; i++) {
        x->keys[i] = item_key(a, &list->items[i], keys, n);
        if (map_set(&x->by_key, x->keys[i], &list->items[i]))
            return false;
    }
    return true;
}

/* False if items have no keys. */
static bool keep_by_key(struct arena *a, const struct kind_field *f, const struct sides *s,
                        struct value *ret)
{
    const struct str *keys;
    size_t n;
    autoindex seen = { 0 }, next = { 0 };
    if (!find_keys(f, &keys, &n) || !index_list(a, &seen, s->seen, keys, n) ||
        !index_list(a, &next, s->next, keys, n))
        return false;
    *ret = value_array();
    for (size_t i = 0; i < s->next->n; i++) {
        const struct value *old = map_get(&seen.by_key, next.keys[i]), *item = &s->next->items[i];
        struct sides one = { old, old ? &s->live->items[old - s->seen->items] : NULL, item };
        value_put_item(a, ret, old ? keep_item(a, f, &one) : value_borrow(item));
    }
    return true;
}

/* ---- Items without a key ---- */

/* Whether two structs say the same, apart from structs inside them and lists of such. */
static bool same_scalars(const struct kind_type *t, const struct value *seen,
                         const struct value *next)
{
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        bool same = f->scalar == KIND_STRUCT ||
                    value_eq(given(value_get(seen, f->name)), given(value_get(next, f->name)));
        if (f->flags & KIND_INLINE)
            same = same_scalars(f->type, seen, next);
        if (!same)
            return false;
    }
    return true;
}

static struct value keep_at(struct arena *a, const struct kind_field *f, const struct sides *s)
{
    if (all_are(s, VALUE_OBJECT) && same_scalars(f->type, s->seen, s->next))
        return keep_struct(a, f->type, s);
    return value_borrow(s->next);
}

/* Equal items at the front and at the back are the same ones; what is left in the middle is taken
 * by its place, if both have as many there. */
static struct value keep_by_place(struct arena *a, const struct kind_field *f,
                                  const struct sides *s)
{
    size_t n_seen = s->seen->n, n_next = s->next->n, front = 0, back = 0;
    size_t n = n_seen < n_next ? n_seen : n_next;
    const struct value *seen = s->seen->items, *live = s->live->items, *next = s->next->items;
    struct value out = value_array();
    while (front < n && value_eq(&seen[front], &next[front]))
        front++;
    while (back < n - front && value_eq(&seen[n_seen - 1 - back], &next[n_next - 1 - back]))
        back++;
    for (size_t i = 0; i < n_next; i++) {
        if (i < front)
            value_put_item(a, &out, value_borrow(&live[i]));
        else if (i >= n_next - back)
            value_put_item(a, &out, value_borrow(&live[i + n_seen - n_next]));
        else if (n_seen != n_next)
            value_put_item(a, &out, value_borrow(&next[i]));
        else
            value_put_item(a, &out, keep_at(a, f, &(struct sides){ &seen[i], &live[i], &next[i] }));
    }
    return out;
}

/* Items of `seen` are those of `live` at the same place, unless conversion has changed the order or
 * left some out; then nothing can be told. */
static struct value keep_list(struct arena *a, const struct kind_field *f, const struct sides *s)
{
    struct value out;
    if (f->scalar != KIND_STRUCT || f->type->form != KIND_FORM_OBJECT ||
        !agrees(s->seen, s->live, AGREES_DEPTH))
        return keep_whole(s);
    return keep_by_key(a, f, s, &out) ? out : keep_by_place(a, f, s);
}

/* ---- Maps ---- */

/* The entry of `key` at or behind `*at`, where `*at` goes: maps are walked in order. */
static const struct value *entry_at(const struct value *map, struct str key, size_t *at)
{
    while (*at < map->n && str_cmp(map->fields[*at].key, key) < 0)
        ++*at;
    return *at < map->n && str_eq(map->fields[*at].key, key) ? &map->fields[*at].val : NULL;
}

static struct value keep_map(struct arena *a, const struct kind_field *f, const struct sides *s)
{
    struct value out = value_object();
    struct kind_field element = *f;
    element.shape = KIND_SINGLE;
    size_t i = 0, j = 0, at = 0;
    while (i < s->next->n || j < s->live->n) {
        int c = i == s->next->n   ? 1
                : j == s->live->n ? -1
                                  : str_cmp(s->next->fields[i].key, s->live->fields[j].key);
        struct str key = c <= 0 ? s->next->fields[i].key : s->live->fields[j].key;
        struct sides entry = { entry_at(s->seen, key, &at), c >= 0 ? &s->live->fields[j].val : NULL,
                               c <= 0 ? &s->next->fields[i].val : NULL };
        struct value v;
        if (keep_field(a, &element, &entry, &v))
            value_put_new(a, &out, key, v);
        i += c <= 0;
        j += c >= 0;
    }
    return out;
}

/* ---- Structs and what is in them ---- */

/* A schema stands alone or in a list, where nothing tells them apart. */
static struct value keep_schema(struct arena *a, const struct kind_type *t, const struct sides *s)
{
    const struct kind_field *schema = kind_field_find(t, STR("schema"));
    if (schema && all_are(s, VALUE_OBJECT))
        return keep_struct(a, schema->type, s);
    if (schema && all_are(s, VALUE_ARRAY))
        return keep_list(a, schema, s);
    return keep_whole(s);
}

static struct value keep_given(struct arena *a, const struct kind_field *f, const struct sides *s)
{
    if (f->shape == KIND_LIST && all_are(s, VALUE_ARRAY))
        return keep_list(a, f, s);
    if (f->shape == KIND_MAP && all_are(s, VALUE_OBJECT))
        return keep_map(a, f, s);
    if (f->shape != KIND_SINGLE || f->scalar != KIND_STRUCT)
        return keep_whole(s);
    if (f->type->form != KIND_FORM_OBJECT)
        return keep_schema(a, f->type, s);
    return keep_item(a, f, s);
}

/* False if it is not to be there. */
static bool keep_field(struct arena *a, const struct kind_field *f, const struct sides *s,
                       struct value *ret)
{
    const struct value *v = s->next;
    if (s->next && s->seen && s->live) {
        *ret = keep_given(a, f, s);
        return true;
    }
    if (!s->next && !s->seen)
        v = s->live; /* the old version has no place for it */
    if (v)
        *ret = value_borrow(v);
    return v;
}

static void keep_fields(struct arena *a, const struct kind_type *t, const struct sides *s,
                        struct value *out)
{
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct kind_field *f = &t->fields[i];
        if (f->flags & KIND_INLINE) {
            keep_fields(a, f->type, s, out);
            continue;
        }
        struct sides field = { given(value_get(s->seen, f->name)),
                               given(value_get(s->live, f->name)),
                               given(value_get(s->next, f->name)) };
        struct value v;
        if (keep_field(a, f, &field, &v))
            value_put_new(a, out, f->name, v);
    }
}

static struct value keep_struct(struct arena *a, const struct kind_type *t, const struct sides *s)
{
    struct value out = value_object();
    keep_fields(a, t, s, &out);
    return out;
}

/* `live` as somebody who speaks the old version would send it back. */
static int send_back(struct arena *a, const struct kind_type *old, const struct kind_type *hub,
                     const struct value *live, struct value *ret, struct err *err)
{
    struct value stored = value_borrow(live), read, filled;
    int r = convert_object(a, hub, old, &stored, &read, err);
    if (r < 0)
        return r;
    defaults_apply(a, old, &read);
    r = typed_read(a, old, &read, NULL, &filled, err);
    return r < 0 ? r : convert_object(a, old, hub, &filled, ret, err);
}

int convert_keep(struct arena *a, const struct kind_type *old, const struct value *live,
                 struct value *obj, struct err *err)
{
    const struct kind_type *hub = convert_hub(old);
    struct value seen;
    if (hub == old)
        return 0;
    int r = send_back(a, old, hub, live, &seen, err);
    if (r < 0 || value_eq(&seen, live))
        return r;
    struct sides s = { &seen, live, obj };
    struct value kept = keep_struct(a, hub, &s);
    value_put(a, &kept, STR("kind"), value_string(hub->name));
    value_put(a, &kept, STR("apiVersion"), value_string(convert_api_version(a, hub)));
    return typed_read(a, hub, &kept, NULL, obj, err);
}

int convert_take(struct arena *a, const struct kind_type *sent, const struct kind_type *hub,
                 struct value *obj, const struct value *live, struct value *ret, struct err *err)
{
    int r = convert_object(a, sent, hub, obj, ret, err);
    if (r < 0 || sent == hub)
        return r;
    if (live)
        r = convert_keep(a, sent, live, ret, err);
    if (r < 0)
        return r;
    /* Today's rules ask for what today's defaults fill in. Of a version that is still served
     * upstream, the rules are made for what it can say. */
    const struct kind_version *v = kind_version_find(sent->group, sent->version);
    if (v && v->is_old)
        defaults_apply(a, hub, ret);
    return 0;
}
