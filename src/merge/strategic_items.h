/* strategic_items.h - the items of lists that are merged or ordered: known by small numbers, so
 * that no list is searched once per item. Private to strategic*.c. */
#pragma once

#include "merge/strategic_internal.h"

/* Scalars as small numbers, given in the order in which they are first asked for: equal ones (as Go
 * compares interfaces: 1, 1.0 and "1" differ) have the same. */
struct strategic_ids {
    struct arena *arena;
    struct map by_text;
};
#define STRATEGIC_NO_ID UINT32_MAX
void strategic__ids_done(struct strategic_ids *ids);
#define strategic__autoids __attribute__((cleanup(strategic__ids_done))) struct strategic_ids
/* STRATEGIC_NO_ID for objects and lists, which Go cannot compare. */
uint32_t strategic__id(struct strategic_ids *ids, const struct value *v);
/* The number of what an item goes by: itself, or the merge key of an object. Refuses items without
 * one. */
int strategic__item_id(struct strategic *s, struct strategic_ids *ids, const struct value *item,
                       struct str merge_key, uint32_t *ret);

/* For each number the first place where it stands in a list. */
struct strategic_places {
    uint32_t *of_id;
    size_t n;
};
#define STRATEGIC_NOWHERE UINT32_MAX
struct strategic_places strategic__places(struct arena *a, size_t n); /* for `n` numbers */
static inline uint32_t strategic__place(const struct strategic_places *p, uint32_t id)
{
    return id < p->n ? p->of_id[id] : STRATEGIC_NOWHERE;
}
static inline void strategic__note_place(struct strategic_places *p, uint32_t id, uint32_t place)
{
    if (id < p->n && p->of_id[id] == STRATEGIC_NOWHERE)
        p->of_id[id] = place;
}

struct strategic_item {
    struct value v;
    uint32_t id;
    uint32_t place; /* to sort by */
    uint32_t seq;   /* where it stood, for a stable sort */
};

struct strategic_items {
    struct strategic_item *p;
    size_t n;
};
struct strategic_items strategic__items(struct arena *a, size_t most); /* empty, with that room */
static inline void strategic__add_item(struct strategic_items *items, struct value v, uint32_t id)
{
    items->p[items->n++] = (struct strategic_item){ .v = v, .id = id };
}

/* Sorts by the places, deletions last. */
void strategic__arrange(struct arena *a, struct strategic_items *items,
                        const struct strategic_places *places);
/* A merged list in its order: items that the patch names as the patch has them, all others as the
 * live list had them, and the two interleaved by the order of the live list. */
struct value strategic__in_order(struct arena *a, const struct strategic_items *merged,
                                 const struct strategic_places *patch,
                                 const struct strategic_places *live);
