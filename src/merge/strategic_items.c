/* Which items are the same, and in which order they come out. */
#include "merge/strategic_items.h"

#include <stdlib.h>

#include "merge/unstructured.h"
#include "base/banned.h"

/* ---- numbers ---- */

void strategic__ids_done(struct strategic_ids *ids)
{
    map_done(&ids->by_text);
}

/* Texts stand for themselves; everything else begins with a byte that no text has. */
static struct str text_of_key(struct arena *a, const struct value *v)
{
    double d = 0;
    switch ((enum value_type)v->type) {
    case VALUE_STRING:
        return value_str(v);
    case VALUE_INT:
        return arena_printf(a, "\xff%ld", (long)v->i);
    case VALUE_NUMBER:
        (void)value_to_double(v, &d);
        return arena_printf(a, "\xff%a", d);
    case VALUE_BOOL:
        return v->b ? STR("\xfftrue")
                    : STR("\xff"
                          "false");
    default:
        return STR("\xffnull");
    }
}

uint32_t strategic__id(struct strategic_ids *ids, const struct value *v)
{
    if (v->type == VALUE_ARRAY || v->type == VALUE_OBJECT)
        return STRATEGIC_NO_ID;
    struct str text = text_of_key(ids->arena, v);
    uintptr_t known = (uintptr_t)map_get(&ids->by_text, text);
    if (known)
        return (uint32_t)known - 1;
    uintptr_t id = ids->by_text.n;
    (void)map_set(&ids->by_text, text, (void *)(id + 1)); /* never NULL */
    return (uint32_t)id;
}

int strategic__item_id(struct strategic *s, struct strategic_ids *ids, const struct value *item,
                       struct str merge_key, uint32_t *ret)
{
    if (merge_key.n && item->type != VALUE_OBJECT)
        return strategic__bad_type(s, VALUE_OBJECT, item);
    const struct value *key = merge_key.n ? value_get(item, merge_key) : item;
    if (!key)
        return strategic__no_merge_key(s, item, merge_key);
    *ret = strategic__id(ids, key);
    return *ret == STRATEGIC_NO_ID ? strategic__bad_type(s, VALUE_STRING, key) : 0;
}

struct strategic_places strategic__places(struct arena *a, size_t n)
{
    struct strategic_places p = { arena_alloc(a, n * sizeof(uint32_t), alignof(uint32_t)), n };
    for (size_t i = 0; i < n; i++)
        p.of_id[i] = STRATEGIC_NOWHERE;
    return p;
}

struct strategic_items strategic__items(struct arena *a, size_t most)
{
    size_t bytes = most * sizeof(struct strategic_item);
    return (struct strategic_items){ arena_alloc(a, bytes, alignof(struct strategic_item)), 0 };
}

/* ---- order ---- */

/* Up to so many items Go's stable sort is an insertion sort. */
enum { GO_BLOCK = 20 };

/* As upstream compares: what stands nowhere comes before everything, and everything before it. */
static bool goes_before(const struct strategic_item *a, const struct strategic_item *b)
{
    return a->place == STRATEGIC_NOWHERE || b->place == STRATEGIC_NOWHERE || a->place < b->place;
}

static int compare_items(const void *pa, const void *pb)
{
    const struct strategic_item *a = pa, *b = pb;
    uint32_t left = a->place + 1, right = b->place + 1; /* what stands nowhere is first */
    if (left != right)
        return left < right ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Few items are sorted with Go's very steps, because the result depends on them where the
 * comparison contradicts itself. */
static void sort_few(struct strategic_items *items)
{
    for (size_t i = 0; i < items->n; i++) {
        struct strategic_item moved = items->p[i];
        size_t at = i;
        for (; at && goes_before(&moved, &items->p[at - 1]); at--)
            items->p[at] = items->p[at - 1];
        items->p[at] = moved;
    }
}

static void sort_many(struct strategic_items *items)
{
    for (size_t i = 0; i < items->n; i++)
        items->p[i].seq = (uint32_t)i;
    qsort(items->p, items->n, sizeof(*items->p), compare_items);
}

static bool is_deletion(const struct value *item)
{
    return str_eq(value_str(value_get(item, STRATEGIC_PATCH)), STR("delete"));
}

void strategic__arrange(struct arena *a, struct strategic_items *items,
                        const struct strategic_places *places)
{
    struct strategic_items kept = { items->p, 0 };
    struct strategic_items deletions = strategic__items(a, items->n);
    for (size_t i = 0; i < items->n; i++) {
        struct strategic_item item = items->p[i];
        item.place = strategic__place(places, item.id);
        struct strategic_items *side = is_deletion(&item.v) ? &deletions : &kept;
        side->p[side->n++] = item;
    }
    if (kept.n <= GO_BLOCK)
        sort_few(&kept);
    else
        sort_many(&kept);
    for (size_t i = 0; i < deletions.n; i++)
        items->p[kept.n + i] = deletions.p[i];
}

static struct value interleave(struct arena *a, const struct strategic_items *only_live,
                               const struct strategic_items *of_patch,
                               const struct strategic_places *live)
{
    size_t n = only_live->n + of_patch->n, i = 0, j = 0;
    struct value *out = arena_alloc(a, n * sizeof(*out), alignof(struct value));
    for (size_t k = 0; k < n; k++) {
        bool takes_live = j == of_patch->n;
        if (i < only_live->n && j < of_patch->n) {
            uint32_t left = strategic__place(live, only_live->p[i].id);
            uint32_t right = strategic__place(live, of_patch->p[j].id);
            takes_live = right != STRATEGIC_NOWHERE && left < right;
        }
        out[k] = takes_live ? only_live->p[i++].v : of_patch->p[j++].v;
    }
    return (struct value){ .type = VALUE_ARRAY, .n = (uint32_t)n, .items = out };
}

struct value strategic__in_order(struct arena *a, const struct strategic_items *merged,
                                 const struct strategic_places *patch,
                                 const struct strategic_places *live)
{
    struct strategic_items of_patch = strategic__items(a, merged->n);
    struct strategic_items only_live = strategic__items(a, merged->n);
    for (size_t i = 0; i < merged->n; i++) {
        bool is_named = strategic__place(patch, merged->p[i].id) != STRATEGIC_NOWHERE;
        struct strategic_items *side = is_named ? &of_patch : &only_live;
        side->p[side->n++] = merged->p[i];
    }
    strategic__arrange(a, &of_patch, patch);
    strategic__arrange(a, &only_live, live);
    return interleave(a, &only_live, &of_patch, live);
}
