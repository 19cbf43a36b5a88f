/* `$setElementOrder`, and the types that items may have. */
#include "merge/strategic_items.h"
#include "merge/unstructured.h"
#include "base/banned.h"

/* ---- refusals ---- */

int strategic__no_merge_key(struct strategic *s, const struct value *item, struct str merge_key)
{
    return err_set(s->err, ERR_UNKNOWN,
                   "map: " STR_FMT " does not contain declared merge key: " STR_FMT,
                   STR_ARG(unstructured_text(s->arena, item)), STR_ARG(merge_key));
}

int strategic__bad_type(struct strategic *s, enum value_type wanted, const struct value *found)
{
    const struct value sample = { .type = (uint8_t)wanted };
    return err_set(s->err, ERR_UNKNOWN, "expected a %s, but received a %s",
                   unstructured_type(&sample), unstructured_type(found));
}

static int mixed_types(struct strategic *s, const struct value *first, const struct value *second)
{
    autobuf lists = { 0 };
    buf_byte(&lists, '[');
    unstructured_print(&lists, first);
    if (second) {
        buf_byte(&lists, ' ');
        unstructured_print(&lists, second);
    }
    buf_byte(&lists, ']');
    return err_set(s->err, ERR_UNKNOWN, "list element types are not identical: " STR_FMT,
                   STR_ARG(buf_str(&lists)));
}

int strategic__item_type(struct strategic *s, const struct value *first, const struct value *second,
                         enum value_type *ret)
{
    const struct value *lists[] = { first, second };
    const struct value *seen = NULL;
    for (size_t i = 0; i < 2; i++) {
        value_each_item (it, lists[i]) {
            if (!seen && it->type == VALUE_ARRAY)
                return err_set(s->err, ERR_INVALID, "lists of lists are not supported");
            /* A null has no type to compare with. */
            if (it->type == VALUE_NULL || (seen && seen->type != it->type))
                return mixed_types(s, first, second);
            seen = it;
        }
    }
    if (!seen)
        return err_set(s->err, ERR_UNKNOWN, "no elements in any of the given slices");
    *ret = (enum value_type)seen->type;
    return 0;
}

/* ---- checking an order ---- */

static int order_differs(struct strategic *s, const struct value *patch, const struct value *order)
{
    return err_set(s->err, ERR_UNKNOWN,
                   "The order in patch list:\n" STR_FMT
                   "\n doesn't match $setElementOrder list:\n" STR_FMT "\n",
                   STR_ARG(unstructured_text(s->arena, patch)),
                   STR_ARG(unstructured_text(s->arena, order)));
}

static bool is_deletion(const struct value *item)
{
    return str_eq(value_str(value_get(item, STRATEGIC_PATCH)), STR("delete"));
}

/* Do an item of the patch and one of the order go by the same? 1 or 0, or a negative code. */
static int same_item(struct strategic *s, struct strategic_ids *ids, const struct value *item,
                     const struct value *in_order, struct str merge_key)
{
    if (merge_key.n && in_order->type != VALUE_OBJECT)
        return strategic__bad_type(s, VALUE_OBJECT, in_order);
    uint32_t left = STRATEGIC_NO_ID, right = STRATEGIC_NO_ID;
    int r = strategic__item_id(s, ids, item, merge_key, &left);
    if (r < 0)
        return r;
    r = strategic__item_id(s, ids, in_order, merge_key, &right);
    if (r < 0)
        return r;
    return left == right;
}

/* The items of the patch that are no deletions. */
static int items_to_order(struct strategic *s, const struct value *patch, struct str merge_key,
                          struct value *ret)
{
    *ret = value_array();
    value_each_item (it, patch) {
        if (merge_key.n && it->type != VALUE_OBJECT)
            return strategic__bad_type(s, VALUE_OBJECT, it);
        if (!is_deletion(it))
            value_put_item(s->arena, ret, value_borrow(it));
    }
    return 0;
}

int strategic__check_order(struct strategic *s, const struct value *patch,
                           const struct value *order, struct str merge_key)
{
    if (!patch->n || !order->n)
        return 0;
    struct value items;
    int r = items_to_order(s, patch, merge_key, &items);
    if (r < 0)
        return r;
    strategic__autoids ids = { .arena = s->arena };
    uint32_t i = 0, j = 0;
    while (i < items.n && j < order->n) {
        if (value_get(&items.items[i], STRATEGIC_PATCH)) {
            i++;
            continue;
        }
        r = same_item(s, &ids, &items.items[i], &order->items[j++], merge_key);
        if (r < 0)
            return r;
        i += (uint32_t)r;
    }
    return i < items.n && j == order->n ? order_differs(s, patch, order) : 0;
}

/* ---- setting it ---- */

/* The places that a list gives to the keys of its items, up to the first that is no object, whose
 * place is returned too. Items without a key have none. */
static uint32_t places_in(struct strategic_ids *ids, const struct value *list, struct str merge_key,
                          struct strategic_places *places)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const struct value *item = &list->items[i];
        if (merge_key.n && item->type != VALUE_OBJECT)
            return i;
        const struct value *key = merge_key.n ? value_get(item, merge_key) : item;
        if (key)
            strategic__note_place(places, strategic__id(ids, key), i);
    }
    return STRATEGIC_NOWHERE;
}

static int check_keys(struct strategic *s, const struct value *list, struct str merge_key)
{
    value_each_item (it, list) {
        if (it->type != VALUE_OBJECT)
            return strategic__bad_type(s, VALUE_OBJECT, it);
        if (!value_get(it, merge_key))
            return strategic__no_merge_key(s, it, merge_key);
    }
    return 0;
}

int strategic__set_order(struct strategic *s, const struct strategic_field *f,
                         const struct value *merged, const struct value *order,
                         const struct value *live, const struct value *patch, struct value *ret)
{
    strategic__autoids ids = { .arena = s->arena };
    size_t most = (size_t)merged->n + order->n + live->n;
    struct strategic_places named = strategic__places(s->arena, most);
    struct strategic_places before = strategic__places(s->arena, most);
    struct strategic_items items = strategic__items(s->arena, merged->n);
    uint32_t first_bad = places_in(&ids, order, f->merge_key, &named);
    value_each_item (it, merged) {
        uint32_t id;
        int r = strategic__item_id(s, &ids, it, f->merge_key, &id);
        if (r < 0)
            return r;
        if (strategic__place(&named, id) == STRATEGIC_NOWHERE && first_bad != STRATEGIC_NOWHERE)
            return err_set(s->err, ERR_UNKNOWN, "value for key %u is not a map", first_bad);
        strategic__add_item(&items, value_borrow(it), id);
    }
    enum value_type type = VALUE_NULL;
    int r = strategic__item_type(s, live, patch, &type);
    if (r < 0)
        return r;
    if (type == VALUE_OBJECT) {
        r = check_keys(s, order, f->merge_key);
        if (r < 0)
            return r;
        r = check_keys(s, live, f->merge_key);
        if (r < 0)
            return r;
    }
    (void)places_in(&ids, live, f->merge_key, &before);
    *ret = strategic__in_order(s->arena, &items, &named, &before);
    return 0;
}

int strategic__sort_like(struct strategic *s, struct value *list, const struct value *order,
                         struct str merge_key)
{
    strategic__autoids ids = { .arena = s->arena };
    struct strategic_places places = strategic__places(s->arena, (size_t)list->n + order->n);
    struct strategic_items items = strategic__items(s->arena, list->n);
    value_each_item (it, list) {
        uint32_t id;
        int r = strategic__item_id(s, &ids, it, merge_key, &id);
        if (r < 0)
            return r;
        strategic__add_item(&items, *it, id);
    }
    (void)places_in(&ids, order, merge_key, &places);
    strategic__arrange(s->arena, &items, &places);
    *list = value_array();
    for (size_t i = 0; i < items.n; i++)
        value_put_item(s->arena, list, items.p[i].v);
    return 0;
}
