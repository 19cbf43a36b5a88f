/* schema_lists.h - what items of lists have to do with each other. */
#pragma once

#include "schema/schema.h"

bool schema_has_repeated(struct arena *a, const struct value *list);

struct schema_keyed;

/* Items of an old list by their keys. Set the first three; `old` may be anything, or NULL. */
struct schema_old_items {
    struct arena *arena;
    const struct schema *list;
    const struct value *old;
    struct schema_keyed *sorted; /* private: made when items have moved */
};

/* The old item with the keys of item `i` of the new list; NULL: none, or the list is no map. */
const struct value *schema_old_item(struct schema_old_items *o, const struct value *list, size_t i);
