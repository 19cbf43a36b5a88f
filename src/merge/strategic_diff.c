/* Making a patch: what turns one object into another, or brings a third one there. */
#include "merge/strategic_internal.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "merge/sorted.h"
#include "merge/strategic_items.h"
#include "merge/unstructured.h"
#include "base/banned.h"

/* One object, and what has been found of its patch so far. */
struct diff {
    struct strategic *s;
    const void *where;
    struct strategic_diff options;
    struct value patch;
    struct value kept_names; /* for `$retainKeys` */
    bool drops_fields;       /* the original has a field, not null, that is gone */
};

static void set(struct diff *d, struct str key, const struct value *v)
{
    if (!d->options.without_changes)
        value_put_new(d->s->arena, &d->patch, key, value_borrow(v));
}

/* ---- lists, as texts in order ---- */

/* An item by what it goes by, as Go prints that. */
struct entry {
    const struct value *item;
    const struct value *key;
    struct str text;
};

struct entries {
    struct entry *p;
    size_t n;
};

/* Upstream's sort turns equal ones around: of several items with one key the last comes first. */
static int compare_entries(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    int c = str_cmp(a->text, b->text);
    return c ? c : (a->item < b->item) - (a->item > b->item);
}

static int sorted_entries(struct strategic *s, const struct value *list, bool are_objects,
                          struct str merge_key, struct entries *ret)
{
    struct entry *p = arena_alloc(s->arena, list->n * sizeof(*p), alignof(struct entry));
    for (uint32_t i = 0; i < list->n; i++) {
        const struct value *item = &list->items[i];
        const struct value *key = are_objects ? value_get(item, merge_key) : item;
        if (!key)
            return strategic__no_merge_key(s, item, merge_key);
        p[i] = (struct entry){ item, key, unstructured_text(s->arena, key) };
    }
    if (list->n)
        qsort(p, list->n, sizeof(*p), compare_entries);
    *ret = (struct entries){ p, list->n };
    return 0;
}

/* Below 0 if the next one is only in `left`, above if only in `right`, 0 if in both. */
static int which_side(const struct entries *left, size_t i, const struct entries *right, size_t j)
{
    if (i == left->n)
        return 1;
    return j == right->n ? -1 : str_cmp(left->p[i].text, right->p[j].text);
}

/* What a list's patch consists of. */
struct list_diff {
    struct value patch, deleted, order;
};

/* ---- lists of objects ---- */

static void add_deletion(struct diff *d, struct value *list, struct str merge_key,
                         const struct value *key)
{
    struct value item = value_object();
    value_put_new(d->s->arena, &item, merge_key, value_borrow(key));
    value_put_new(d->s->arena, &item, STRATEGIC_PATCH, value_string(STR("delete")));
    value_put_item(d->s->arena, list, item);
}

static int diff_items(struct diff *d, const struct strategic_field *f, const struct entry *from,
                      const struct entry *to, struct value *list)
{
    struct value patch = value_null();
    int r = strategic__diff(d->s, f->below, from->item, to->item, d->options, &patch);
    if (r < 0 || !patch.n)
        return r;
    value_put(d->s->arena, &patch, f->merge_key, value_borrow(to->key));
    value_put_item(d->s->arena, list, patch);
    return 0;
}

static int diff_entries(struct diff *d, const struct strategic_field *f, const struct entries *from,
                        const struct entries *to, struct list_diff *ret)
{
    size_t i = 0, j = 0;
    while (i < from->n || j < to->n) {
        int side = which_side(from, i, to, j);
        int r = side == 0 ? diff_items(d, f, &from->p[i], &to->p[j], &ret->patch) : 0;
        if (r < 0)
            return r;
        if (side > 0 && !d->options.without_changes)
            value_put_item(d->s->arena, &ret->patch, value_borrow(to->p[j].item));
        else if (side < 0 && !d->options.without_deletions)
            add_deletion(d, &ret->deleted, f->merge_key, from->p[i].key);
        i += side <= 0;
        j += side >= 0;
    }
    return 0;
}

static bool same_order(const struct value *original, const struct value *modified,
                       struct str merge_key)
{
    if (original->n != modified->n)
        return false;
    for (uint32_t i = 0; i < original->n; i++)
        if (!value_eq(value_get(&original->items[i], merge_key),
                      value_get(&modified->items[i], merge_key)))
            return false;
    return true;
}

static struct value keys_alone(struct arena *a, const struct value *list, struct str merge_key)
{
    struct value keys = value_array();
    value_each_item (it, list) {
        struct value key = value_object();
        value_put_new(a, &key, merge_key, value_borrow(value_get(it, merge_key)));
        value_put_item(a, &keys, key);
    }
    return keys;
}

static int diff_object_lists(struct diff *d, const struct strategic_field *f,
                             const struct value *original, const struct value *modified,
                             struct list_diff *ret)
{
    struct entries from = { 0 }, to = { 0 };
    int r = sorted_entries(d->s, original, true, f->merge_key, &from);
    if (r < 0)
        return r;
    r = sorted_entries(d->s, modified, true, f->merge_key, &to);
    if (r < 0)
        return r;
    r = diff_entries(d, f, &from, &to, ret);
    if (r < 0)
        return r;
    r = strategic__sort_like(d->s, &ret->patch, modified, f->merge_key);
    if (r < 0)
        return r;
    value_each_item (it, &ret->deleted)
        value_put_item(d->s->arena, &ret->patch, *it);
    ret->deleted = value_array();
    bool is_new_order = ret->patch.n || (!d->options.without_changes &&
                                         !same_order(original, modified, f->merge_key));
    if (d->options.with_order && is_new_order)
        ret->order = keys_alone(d->s->arena, modified, f->merge_key);
    return 0;
}

/* ---- lists of scalars ---- */

static int diff_scalars(struct diff *d, const struct value *original, const struct value *modified,
                        struct list_diff *ret)
{
    struct arena *a = d->s->arena;
    struct entries from = { 0 }, to = { 0 };
    (void)sorted_entries(d->s, original, false, STR(""), &from);
    (void)sorted_entries(d->s, modified, false, STR(""), &to);
    for (size_t i = 0, j = 0; i < from.n || j < to.n;) {
        int side = which_side(&from, i, &to, j);
        bool repeats = ret->deleted.n && i < from.n &&
                       value_eq(&ret->deleted.items[ret->deleted.n - 1], from.p[i].item);
        if (side > 0 && !d->options.without_changes)
            value_put_item(a, &ret->patch, *to.p[j].item);
        else if (side < 0 && !d->options.without_deletions && !repeats)
            value_put_item(a, &ret->deleted, *from.p[i].item);
        i += side <= 0;
        j += side >= 0;
    }
    int r = strategic__sort_like(d->s, &ret->patch, modified, STR(""));
    /* Upstream compares with the sorted original: it tells an order that has not changed, and
     * misses a change to the sorted one. */
    bool is_new_order = !value_eq(original, modified);
    if (d->options.with_order && (ret->deleted.n || (!d->options.without_changes && is_new_order)))
        ret->order = value_borrow(modified);
    return r;
}

static int diff_merging_lists(struct diff *d, const struct strategic_field *f,
                              const struct value *original, const struct value *modified,
                              struct list_diff *ret)
{
    if (!original->n) {
        if (!d->options.without_changes)
            ret->patch = value_borrow(modified);
        return 0;
    }
    enum value_type type;
    int r = strategic__item_type(d->s, original, modified, &type);
    if (r < 0)
        return r;
    if (type == VALUE_OBJECT)
        return diff_object_lists(d, f, original, modified, ret);
    return diff_scalars(d, original, modified, ret);
}

/* ---- fields ---- */

/* The rules of a field that differs; none are needed for one that does not. 1 if it is so. */
static int field_rules(struct diff *d, const struct sorted_step *step, struct strategic_field *ret)
{
    int r = strategic__field(d->s, d->where, step->key, step->left->type == VALUE_ARRAY, ret);
    if (r == 0 || !value_eq(step->left, step->right))
        return r;
    if (d->s->err)
        err_clear(d->s->err);
    return 1;
}

static int diff_objects(struct diff *d, const struct sorted_step *step)
{
    struct strategic_field f = { 0 };
    int r = field_rules(d, step, &f);
    if (r)
        return r < 0 ? r : 0;
    if (f.replace) {
        if (!value_eq(step->left, step->right)) /* upstream tells it always */
            set(d, step->key, step->right);
        return 0;
    }
    struct strategic_diff options = d->options;
    options.names_kept_fields = f.retain_keys;
    struct value patch = value_null();
    r = strategic__diff(d->s, f.below, step->left, step->right, options, &patch);
    if (r < 0)
        return r;
    if (patch.n)
        value_put_new(d->s->arena, &d->patch, step->key, patch);
    return 0;
}

static struct str directive(struct arena *a, struct str name, struct str field)
{
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(name), STR_ARG(field));
}

static int diff_lists(struct diff *d, const struct sorted_step *step)
{
    struct arena *a = d->s->arena;
    struct strategic_field f = { 0 };
    int r = field_rules(d, step, &f);
    if (r)
        return r < 0 ? r : 0;
    if (!f.merge) {
        if (!value_eq(step->left, step->right))
            set(d, step->key, step->right);
        return 0;
    }
    struct list_diff list = { value_array(), value_array(), value_array() };
    struct diff of_items = *d;
    of_items.options.names_kept_fields = f.retain_keys;
    r = diff_merging_lists(&of_items, &f, step->left, step->right, &list);
    if (r < 0)
        return r;
    if (list.patch.n)
        value_put_new(a, &d->patch, step->key, list.patch);
    if (list.deleted.n)
        value_put_new(a, &d->patch, directive(a, STRATEGIC_DELETE_FROM, step->key), list.deleted);
    if (list.order.n)
        value_put_new(a, &d->patch, directive(a, STRATEGIC_ORDER, step->key), list.order);
    return 0;
}

static int diff_directive(struct diff *d, const struct sorted_step *step)
{
    if (step->left->type != VALUE_STRING || step->right->type != VALUE_STRING)
        return err_set(d->s->err, ERR_UNKNOWN, "invalid value for special key: $patch");
    if (!value_eq(step->left, step->right))
        value_put_new(d->s->arena, &d->patch, step->key, *step->right);
    return 0;
}

static int diff_field(struct diff *d, const struct sorted_step *step)
{
    const struct value *from = step->left, *to = step->right;
    if (!to) {
        d->drops_fields = d->drops_fields || from->type != VALUE_NULL;
        if (!d->options.without_deletions)
            value_put_new(d->s->arena, &d->patch, step->key, value_null());
        return 0;
    }
    if (to->type != VALUE_NULL)
        value_put_item(d->s->arena, &d->kept_names, value_string(step->key));
    if (from && str_eq(step->key, STRATEGIC_PATCH))
        return diff_directive(d, step);
    if (from && from->type == VALUE_OBJECT && to->type == VALUE_OBJECT)
        return diff_objects(d, step);
    if (from && from->type == VALUE_ARRAY && to->type == VALUE_ARRAY)
        return diff_lists(d, step);
    if (!from || !value_eq(from, to))
        set(d, step->key, to);
    return 0;
}

static int diff_fields(struct diff *d, struct sorted_pair *pair)
{
    for (struct sorted_step step; sorted_next(pair, &step);) {
        int r = diff_field(d, &step);
        if (r < 0)
            return r;
    }
    return 0;
}

int strategic__diff(struct strategic *s, const void *where, const struct value *original,
                    const struct value *modified, struct strategic_diff options, struct value *ret)
{
    if (s->depth == LIMIT_PATCH_DEPTH)
        return err_set(s->err, ERR_INVALID, "objects are compared more than %u levels deep",
                       LIMIT_PATCH_DEPTH);
    struct diff d = { .s = s,
                      .where = where,
                      .options = options,
                      .patch = value_object(),
                      .kept_names = value_array() };
    struct sorted_pair pair = { .left = sorted_fields(s->arena, original),
                                .right = sorted_fields(s->arena, modified) };
    s->depth++;
    int r = diff_fields(&d, &pair);
    s->depth--;
    if (r < 0)
        return r;
    if (options.names_kept_fields && d.kept_names.n && (d.patch.n || d.drops_fields))
        value_put_new(s->arena, &d.patch, STRATEGIC_RETAIN_KEYS, d.kept_names);
    *ret = d.patch;
    return 0;
}

/* ---- the public ones ---- */

int strategic_two_way(struct arena *a, const struct strategic_rules *rules, const void *where,
                      const struct value *original, const struct value *modified, struct value *ret,
                      struct err *err)
{
    struct strategic s = { .arena = a, .rules = rules, .err = err };
    return strategic__diff(&s, where, original, modified,
                           (struct strategic_diff){ .with_order = true }, ret);
}

static int conflict(struct strategic *s, const struct value *patch, const struct value *changes)
{
    autobuf ours = { 0 };
    autobuf theirs = { 0 };
    yaml_write(&ours, patch);
    yaml_write(&theirs, changes);
    return err_set(s->err, ERR_CONFLICT,
                   "patch:\n" STR_FMT
                   "\nconflicts with changes made from original to current:\n" STR_FMT "\n",
                   STR_ARG(buf_str(&ours)), STR_ARG(buf_str(&theirs)));
}

static int check_conflict(struct strategic *s, const void *where, const struct value *patch,
                          const struct value *original, const struct value *current)
{
    struct value changes;
    bool conflicts = false;
    int r = strategic__diff(s, where, original, current, (struct strategic_diff){ 0 }, &changes);
    if (r < 0)
        return r;
    r = strategic__conflict(s, where, patch, &changes, &conflicts);
    if (r < 0)
        return r;
    return conflicts ? conflict(s, patch, &changes) : 0;
}

int strategic_three_way(struct arena *a, const struct strategic_rules *rules, const void *where,
                        const struct value *original, const struct value *modified,
                        const struct value *current, bool overwrite, struct value *ret,
                        struct err *err)
{
    struct strategic s = { .arena = a, .rules = rules, .err = err, .onto_patch = true };
    const struct strategic_diff changes = { .with_order = true, .without_deletions = true };
    const struct strategic_diff deletions = { .with_order = true, .without_changes = true };
    struct value delta, gone, patch;
    int r = strategic__diff(&s, where, current, modified, changes, &delta);
    if (r < 0)
        return r;
    r = strategic__diff(&s, where, original, modified, deletions, &gone);
    if (r < 0)
        return r;
    r = strategic__merge(&s, where, &gone, &delta, &patch);
    if (r < 0)
        return r;
    r = overwrite ? 0 : check_conflict(&s, where, &patch, original, current);
    if (r < 0)
        return r;
    *ret = patch;
    return 0;
}
