/* sorted.h - the fields of an object in the order of their names.
 *
 * Two objects that are walked in this order side by side are merged or compared without looking
 * anything up, however many fields an outsider gave them. It is also the order in which Go writes a
 * map, and so that of every object a patch has opened. Of duplicates the last counts. */
#pragma once

#include "base/value.h"

struct sorted {
    const struct value_field **fields;
    size_t n;
};

/* The array lies in the arena, the fields where they were. Anything but an object has none. */
struct sorted sorted_fields(struct arena *a, const struct value *obj);

/* The value with the fields of all objects in it in that order; scalars are shared. */
struct value sorted_copy(struct arena *a, const struct value *v);

/* Two of them side by side: one step is one name and who has it. */
struct sorted_pair {
    struct sorted left, right;
    size_t i, j;
};

struct sorted_step {
    struct str key;
    const struct value *left, *right; /* NULL: not there */
};

bool sorted_next(struct sorted_pair *p, struct sorted_step *ret); /* false at the end */
