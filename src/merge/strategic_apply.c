/* Merging a patch into an object, field by field. Each object is taken apart into its fields in the
 * order of their names, so that a directive finds the field it speaks of without a search. */
#include "merge/strategic_internal.h"

#include "base/limits.h"
#include "merge/sorted.h"
#include "merge/unstructured.h"
#include "base/banned.h"

/* A field of the object that is patched. */
struct slot {
    struct str key;
    struct value v;
    bool is_gone;
};

struct merging {
    struct strategic *s;
    const void *where;
    struct slot *slots; /* by name */
    size_t n_slots;
    struct sorted patch;
    bool *done;         /* of each field of the patch */
    struct value added; /* fields that the object did not have */
};

int strategic__field(struct strategic *s, const void *where, struct str name, bool is_list,
                     struct strategic_field *ret)
{
    *ret = (struct strategic_field){ 0 };
    return where ? s->rules->field(where, name, is_list, ret, s->err) : 0;
}

/* ---- fields of both sides ---- */

static struct slot *find_any_slot(const struct merging *m, struct str key)
{
    size_t low = 0, high = m->n_slots;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = str_cmp(m->slots[mid].key, key);
        if (!c)
            return &m->slots[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static struct slot *find_slot(const struct merging *m, struct str key)
{
    struct slot *slot = find_any_slot(m, key);
    return slot && !slot->is_gone ? slot : NULL;
}

static void set(struct merging *m, struct str key, struct value v)
{
    struct slot *slot = find_any_slot(m, key);
    if (!slot)
        value_put_new(m->s->arena, &m->added, key, v);
    else
        *slot = (struct slot){ key, v, false };
}

/* The index of a field of the patch that is still to be merged, or the number of its fields. */
static size_t find_in_patch(const struct merging *m, struct str key)
{
    size_t low = 0, high = m->patch.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = str_cmp(m->patch.fields[mid]->key, key);
        if (!c)
            return m->done[mid] ? m->patch.n : mid;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return m->patch.n;
}

static void take_apart(struct merging *m, const struct value *original, const struct value *patch)
{
    struct arena *a = m->s->arena;
    struct sorted fields = sorted_fields(a, original);
    m->n_slots = fields.n;
    m->slots = arena_alloc(a, fields.n * sizeof(*m->slots), alignof(struct slot));
    for (size_t i = 0; i < fields.n; i++)
        m->slots[i] =
            (struct slot){ fields.fields[i]->key, value_borrow(&fields.fields[i]->val), false };
    m->patch = sorted_fields(a, patch);
    m->done = arena_array(a, bool, m->patch.n);
    m->added = value_object();
}

static struct value put_together(struct merging *m)
{
    struct arena *a = m->s->arena;
    size_t most = m->n_slots + m->added.n;
    struct value_field *fields =
        arena_alloc(a, most * sizeof(*fields), alignof(struct value_field));
    uint32_t n = 0;
    for (size_t i = 0; i < m->n_slots; i++)
        if (!m->slots[i].is_gone)
            fields[n++] = (struct value_field){ m->slots[i].key, m->slots[i].v };
    value_each_field (f, &m->added)
        fields[n++] = *f;
    return (struct value){ .type = VALUE_OBJECT, .n = n, .fields = fields };
}

/* ---- $patch ---- */

static int merge_directive(struct strategic *s, const struct value *directive,
                           const struct value *patch, struct value *ret)
{
    *ret = value_object();
    if (str_eq(value_str(directive), STR("delete")))
        return 0;
    if (!str_eq(value_str(directive), STR("replace")))
        return err_set(s->err, ERR_UNKNOWN, "unknown patch type: " STR_FMT " in map: " STR_FMT,
                       STR_ARG(unstructured_as_string(s->arena, directive)),
                       STR_ARG(unstructured_text(s->arena, patch)));
    value_each_field (f, patch) {
        if (!str_eq(f->key, STRATEGIC_PATCH))
            value_put_new(s->arena, ret, f->key, value_borrow(&f->val));
    }
    return 0;
}

/* ---- $retainKeys ---- */

static int bad_retain_keys(struct strategic *s)
{
    return err_set(s->err, ERR_BAD_REQUEST, "invalid patch format of retainKeys");
}

/* Two patches that are put together name the same keys. */
static int join_retain_keys(struct merging *m, const struct value *keys)
{
    const struct slot *slot = find_slot(m, STRATEGIC_RETAIN_KEYS);
    if (slot && !value_eq(&slot->v, keys))
        return err_set(m->s->err, ERR_UNKNOWN,
                       STR_FMT " and " STR_FMT " are not deep equal: this may happen when "
                               "calculating the 3-way diff patch",
                       STR_ARG(unstructured_text(m->s->arena, &slot->v)),
                       STR_ARG(unstructured_text(m->s->arena, keys)));
    set(m, STRATEGIC_RETAIN_KEYS, value_borrow(keys));
    return 0;
}

static bool may_stay_unnamed(const struct value_field *f)
{
    return f->val.type == VALUE_NULL || str_starts(f->key, STRATEGIC_ORDER) ||
           str_starts(f->key, STRATEGIC_DELETE_FROM) || str_eq(f->key, STRATEGIC_RETAIN_KEYS);
}

static int drop_all_but(struct merging *m, const struct map *kept)
{
    for (size_t i = 0; i < m->patch.n; i++)
        if (!may_stay_unnamed(m->patch.fields[i]) && !map_get(kept, m->patch.fields[i]->key))
            return bad_retain_keys(m->s);
    for (size_t i = 0; i < m->n_slots; i++)
        if (!map_get(kept, m->slots[i].key))
            m->slots[i].is_gone = true;
    return 0;
}

static int merge_retain_keys(struct merging *m)
{
    size_t at = find_in_patch(m, STRATEGIC_RETAIN_KEYS);
    if (at == m->patch.n)
        return 0;
    m->done[at] = true;
    const struct value *keys = &m->patch.fields[at]->val;
    if (m->s->onto_patch)
        return join_retain_keys(m, keys);
    if (keys->type != VALUE_ARRAY)
        return bad_retain_keys(m->s);
    struct map kept = { 0 };
    value_each_item (key, keys) {
        if (key->type == VALUE_STRING)
            (void)map_set(&kept, value_str(key), (void *)key);
    }
    int r = drop_all_but(m, &kept);
    map_done(&kept);
    return r;
}

/* ---- $setElementOrder ---- */

static int bad_order(struct strategic *s)
{
    return err_set(s->err, ERR_BAD_REQUEST, "invalid patch format of setElementOrder list");
}

/* What stands behind the slash of "DIRECTIVE/FIELD"; false if there is none. */
static bool target_of(struct str directive, struct str name, struct str *ret)
{
    if (!str_eq(str_cut(&directive, '/'), name) || !directive.p)
        return false;
    *ret = directive;
    return true;
}

/* A list that stands in a field, or NULL if the field is not there. */
static int list_in(struct strategic *s, const struct value *v, const struct value **ret)
{
    *ret = v;
    return !v || v->type == VALUE_ARRAY ? 0 : strategic__bad_type(s, VALUE_ARRAY, v);
}

/* The field as the patch leaves it, but for the order. */
static int merge_ordered(struct strategic *s, const struct strategic_field *f,
                         const struct value *live, const struct value *patch, struct value *ret,
                         struct value *ret_live)
{
    *ret_live = live ? value_borrow(live) : value_array();
    *ret = *ret_live;
    if (!patch)
        return 0;
    if (!live) {
        (void)strategic__clean(s->arena, patch, true, ret); /* a list is no directive */
        return 0;
    }
    if (f->merge)
        return strategic__merge_lists(s, f, live, patch, false, ret, ret_live);
    *ret = value_borrow(patch);
    return 0;
}

static int merge_in_order(struct merging *m, struct str name, const struct value *order)
{
    struct strategic *s = m->s;
    const struct value none = value_array(), *live = NULL, *patch = NULL;
    const struct slot *slot = find_slot(m, name);
    size_t at = find_in_patch(m, name);
    struct strategic_field f = { 0 };
    int r = list_in(s, slot ? &slot->v : NULL, &live);
    if (r < 0)
        return r;
    r = list_in(s, at < m->patch.n ? &m->patch.fields[at]->val : NULL, &patch);
    if (r < 0)
        return r;
    r = strategic__field(s, m->where, name, true, &f);
    if (r < 0)
        return r;
    r = strategic__check_order(s, patch ? patch : &none, order, f.merge_key);
    if (r < 0 || (!live && !patch))
        return r;

    struct value merged = none, order_before = none, sorted = none;
    r = merge_ordered(s, &f, live, patch, &merged, &order_before);
    if (r < 0)
        return r;
    r = strategic__set_order(s, &f, &merged, order, &order_before, patch ? patch : &none, &sorted);
    if (r < 0)
        return r;
    set(m, name, sorted);
    if (at < m->patch.n)
        m->done[at] = true;
    return 0;
}

static int merge_order(struct merging *m, const struct value_field *directive)
{
    if (m->s->onto_patch) {
        const struct slot *slot = find_slot(m, directive->key);
        if (slot && !value_eq(&slot->v, &directive->val))
            return bad_order(m->s);
        set(m, directive->key, value_borrow(&directive->val));
    }
    if (directive->val.type != VALUE_ARRAY)
        return strategic__bad_type(m->s, VALUE_ARRAY, &directive->val);
    struct str name;
    if (!target_of(directive->key, STRATEGIC_ORDER, &name))
        return bad_order(m->s);
    return merge_in_order(m, name, &directive->val);
}

static int merge_orders(struct merging *m)
{
    for (size_t i = 0; i < m->patch.n; i++) {
        if (!str_starts(m->patch.fields[i]->key, STRATEGIC_ORDER))
            continue;
        m->done[i] = true;
        int r = merge_order(m, m->patch.fields[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- fields ---- */

static int merge_objects(struct merging *m, struct slot *slot, const struct value *patch)
{
    struct strategic_field f;
    int r = strategic__field(m->s, m->where, slot->key, false, &f);
    if (r < 0)
        return r;
    if (f.replace) {
        slot->v = value_borrow(patch);
        return 0;
    }
    struct value merged = value_null();
    r = strategic__merge(m->s, f.below, &slot->v, patch, &merged);
    if (r < 0)
        return r;
    slot->v = merged;
    return 0;
}

static int merge_lists(struct merging *m, struct slot *slot, const struct value *patch,
                       bool is_delete_list)
{
    struct strategic_field f;
    int r = strategic__field(m->s, m->where, slot->key, true, &f);
    if (r < 0)
        return r;
    if (!f.merge && !is_delete_list) {
        slot->v = value_borrow(patch);
        return 0;
    }
    struct value merged = value_null();
    r = strategic__merge_lists(m->s, &f, &slot->v, patch, is_delete_list, &merged, NULL);
    if (r < 0)
        return r;
    slot->v = merged;
    return 0;
}

/* Where there is nothing to merge with. */
static void replace_field(struct merging *m, struct slot *slot, struct str key,
                          const struct value *patch)
{
    struct value v = value_null();
    if (strategic__clean(m->s->arena, patch, m->s->onto_patch, &v))
        set(m, key, v);
    else if (slot)
        slot->is_gone = true;
}

static int merge_field(struct merging *m, struct str key, const struct value *patch,
                       bool is_delete_list)
{
    struct slot *slot = find_slot(m, key);
    if (patch->type == VALUE_NULL) {
        if (slot)
            slot->is_gone = true;
        if (!m->s->onto_patch)
            return 0;
        slot = NULL;
    }
    if (!slot || slot->v.type != patch->type) {
        if (!is_delete_list)
            replace_field(m, slot, key, patch);
        return 0;
    }
    if (patch->type == VALUE_OBJECT)
        return merge_objects(m, slot, patch);
    if (patch->type == VALUE_ARRAY)
        return merge_lists(m, slot, patch, is_delete_list);
    slot->v = *patch;
    return 0;
}

static int merge_one(struct merging *m, const struct value_field *f)
{
    if (!str_starts(f->key, STRATEGIC_DELETE_FROM))
        return merge_field(m, f->key, &f->val, false);
    if (m->s->onto_patch) {
        set(m, f->key, value_borrow(&f->val));
        return 0;
    }
    struct str name;
    if (!target_of(f->key, STRATEGIC_DELETE_FROM, &name))
        return err_set(m->s->err, ERR_BAD_REQUEST, "invalid patch format of primitive list");
    return merge_field(m, name.n ? name : f->key, &f->val, true);
}

static int merge_fields(struct merging *m)
{
    int r = merge_retain_keys(m);
    if (r < 0)
        return r;
    r = merge_orders(m);
    if (r < 0)
        return r;
    for (size_t i = 0; i < m->patch.n; i++) {
        r = m->done[i] ? 0 : merge_one(m, m->patch.fields[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

int strategic__merge(struct strategic *s, const void *where, const struct value *original,
                     const struct value *patch, struct value *ret)
{
    const struct value *directive = value_get(patch, STRATEGIC_PATCH);
    if (directive)
        return merge_directive(s, directive, patch, ret);
    if (s->depth == LIMIT_PATCH_DEPTH)
        return err_set(s->err, ERR_INVALID, "objects are merged more than %u levels deep",
                       LIMIT_PATCH_DEPTH);
    struct merging m = { .s = s, .where = where };
    take_apart(&m, original, patch);
    s->depth++;
    int r = merge_fields(&m);
    s->depth--;
    if (r < 0)
        return r;
    *ret = put_together(&m);
    return 0;
}

int strategic_apply(struct arena *a, const struct strategic_rules *rules, const void *where,
                    const struct value *patch, struct value *doc, struct err *err)
{
    struct strategic s = { .arena = a, .rules = rules, .err = err };
    struct value merged;
    int r = strategic__merge(&s, where, doc, patch, &merged);
    if (r == -ERR_INVALID)
        return err_set(err, ERR_INVALID,
                       "the server rejected our request due to an error in our request");
    if (r < 0)
        return r;
    *doc = merged;
    return 0;
}
