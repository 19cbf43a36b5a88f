/* Merging a list of a patch into a list: of scalars, which are a set, or of objects, which are told
 * apart by their merge key. */
#include "merge/strategic_items.h"
#include "merge/unstructured.h"
#include "base/banned.h"

/* ---- lists of scalars ---- */

static struct value without(struct strategic *s, const struct value *list,
                            const struct value *deleted)
{
    strategic__autoids ids = { .arena = s->arena };
    value_each_item (it, deleted)
        (void)strategic__id(&ids, it);
    size_t n_deleted = ids.by_text.n;
    struct value kept = value_array();
    value_each_item (it, list) {
        if (strategic__id(&ids, it) >= n_deleted)
            value_put_item(s->arena, &kept, *it);
    }
    return kept;
}

static void add_scalars(struct strategic_ids *ids, struct strategic_items *merged,
                        struct strategic_places *places, const struct value *list)
{
    uint32_t place = 0;
    value_each_item (it, list) {
        size_t known = ids->by_text.n;
        uint32_t id = strategic__id(ids, it);
        strategic__note_place(places, id, place++);
        if (id == known)
            strategic__add_item(merged, *it, id);
    }
}

static struct value merge_scalars(struct strategic *s, const struct value *original,
                                  const struct value *patch)
{
    strategic__autoids ids = { .arena = s->arena };
    size_t most = (size_t)original->n + patch->n;
    struct strategic_places live = strategic__places(s->arena, most),
                            named = strategic__places(s->arena, most);
    struct strategic_items merged = strategic__items(s->arena, most);
    add_scalars(&ids, &merged, &live, original);
    add_scalars(&ids, &merged, &named, patch);
    return strategic__in_order(s->arena, &merged, &named, &live);
}

/* ---- lists of objects ---- */

/* A merge of two lists of objects. */
struct object_lists {
    struct strategic *s;
    const struct strategic_field *f;
    struct strategic_ids ids;
    struct strategic_items merged;
    struct strategic_places at;          /* where an item with that key stands in `merged` */
    struct strategic_places live, named; /* in the list as it was, in the patch */
    struct value patch;                  /* without items that are directives */
    bool replaces;
};

static int bad_directive(struct strategic *s, const struct value *directive,
                         const struct value *item)
{
    if (str_eq(value_str(directive), STR("merge")))
        return err_set(s->err, ERR_UNKNOWN, "merging lists cannot yet be specified in the patch");
    return err_set(s->err, ERR_UNKNOWN, "unknown patch type: " STR_FMT " in map: " STR_FMT,
                   STR_ARG(unstructured_as_string(s->arena, directive)),
                   STR_ARG(unstructured_text(s->arena, item)));
}

/* Takes the directives out of the patch. Keys of items to delete get the first numbers. */
static int take_directives(struct object_lists *l, const struct value *patch)
{
    value_each_item (it, patch) {
        const struct value *directive = value_get(it, STRATEGIC_PATCH);
        uint32_t ignored;
        int r = 0;
        if (!directive)
            value_put_item(l->s->arena, &l->patch, value_borrow(it));
        else if (str_eq(value_str(directive), STR("replace")))
            l->replaces = true;
        else if (str_eq(value_str(directive), STR("delete")))
            r = strategic__item_id(l->s, &l->ids, it, l->f->merge_key, &ignored);
        else
            r = bad_directive(l->s, directive, it);
        if (r < 0)
            return r;
    }
    return 0;
}

/* An item without a key is kept for now: it is refused once all else is merged. */
static void add_live(struct object_lists *l, const struct value *list, size_t n_deleted)
{
    value_each_item (it, list) {
        const struct value *key = value_get(it, l->f->merge_key);
        uint32_t id = key ? strategic__id(&l->ids, key) : STRATEGIC_NO_ID;
        if (id < n_deleted)
            continue;
        uint32_t place = (uint32_t)l->merged.n;
        strategic__note_place(&l->at, id, place);
        strategic__note_place(&l->live, id, place);
        strategic__add_item(&l->merged, value_borrow(it), id);
    }
}

static int add_patch(struct object_lists *l)
{
    uint32_t place = 0;
    value_each_item (it, &l->patch) {
        uint32_t id;
        int r = strategic__item_id(l->s, &l->ids, it, l->f->merge_key, &id);
        if (r < 0)
            return r;
        strategic__note_place(&l->named, id, place++);
        uint32_t at = strategic__place(&l->at, id);
        if (at == STRATEGIC_NOWHERE) {
            strategic__note_place(&l->at, id, (uint32_t)l->merged.n);
            strategic__add_item(&l->merged, value_borrow(it), id);
            continue;
        }
        struct value merged;
        r = strategic__merge(l->s, l->f->below, &l->merged.p[at].v, it, &merged);
        if (r < 0)
            return r;
        l->merged.p[at].v = merged;
    }
    return 0;
}

static int check_keys(struct object_lists *l)
{
    for (size_t i = 0; i < l->merged.n; i++)
        if (!value_get(&l->merged.p[i].v, l->f->merge_key))
            return strategic__no_merge_key(l->s, &l->merged.p[i].v, l->f->merge_key);
    return 0;
}

static int merge_object_lists(struct object_lists *l, const struct value *original,
                              const struct value *patch, struct value *ret)
{
    struct arena *a = l->s->arena;
    size_t most = (size_t)original->n + patch->n;
    l->merged = strategic__items(a, most);
    l->at = strategic__places(a, most);
    l->live = strategic__places(a, most);
    l->named = strategic__places(a, most);
    int r = take_directives(l, patch);
    if (r < 0)
        return r;
    if (l->replaces) {
        add_live(l, &l->patch, 0);
    } else {
        add_live(l, original, l->ids.by_text.n);
        r = add_patch(l);
        if (r < 0)
            return r;
    }
    r = check_keys(l);
    if (r < 0)
        return r;
    *ret = strategic__in_order(a, &l->merged, &l->named, &l->live);
    return 0;
}

/* The list as upstream leaves it behind: items that were deleted make room for new ones, up to the
 * length it had. It is what a `$setElementOrder` takes for the order of the live list. */
static struct value left_behind(const struct object_lists *l, const struct value *original)
{
    struct value list = value_array();
    for (size_t i = 0; i < l->merged.n && i < original->n; i++)
        value_put_item(l->s->arena, &list, value_borrow(&l->merged.p[i].v));
    return l->replaces ? value_borrow(original) : list;
}

int strategic__merge_lists(struct strategic *s, const struct strategic_field *f,
                           const struct value *original, const struct value *patch,
                           bool is_delete_list, struct value *ret, struct value *ret_live)
{
    *ret = value_borrow(original);
    if (ret_live)
        *ret_live = *ret;
    if (!original->n && !patch->n)
        return 0;
    enum value_type type;
    int r = strategic__item_type(s, original, patch, &type);
    if (r < 0)
        return r;
    if (type != VALUE_OBJECT) {
        if (is_delete_list)
            *ret = without(s, original, patch);
        else if (f->merge_key.n)
            return strategic__bad_type(s, VALUE_OBJECT,
                                       original->n ? original->items : patch->items);
        else
            *ret = merge_scalars(s, original, patch);
        return 0;
    }
    if (!f->merge_key.n)
        return err_set(s->err, ERR_UNKNOWN, "cannot merge lists without merge key for struct");
    struct object_lists lists = {
        .s = s, .f = f, .ids = { .arena = s->arena }, .patch = value_array()
    };
    r = merge_object_lists(&lists, original, patch, ret);
    if (r == 0 && ret_live)
        *ret_live = left_behind(&lists, original);
    strategic__ids_done(&lists.ids);
    return r;
}
