/* ownership_internal.h - what the files of ownership share: one walk, and the items of a list told
 * apart. */
#pragma once

#include "merge/ownership.h"

struct ownership_walk {
    struct arena *arena;
    const struct ownership_schema *schema;
    struct err *err;
    size_t depth;
};

/* Called on the way down; ERR_BAD_REQUEST when it is too deep, else one `depth--` on the way up. */
int ownership__enter(struct ownership_walk *w);

/* The value if it is a container with something in it that fits `form`, else NULL. */
const struct value *ownership__container(enum ownership_form form, const struct value *v);

struct ownership_item {
    struct fieldset_step step;
    const struct value *v;
    size_t at; /* in the list */
    bool is_repeated, is_merged;
    struct ownership_item *other; /* the first of the same step in another list */
};

struct ownership_items {
    struct ownership_item *all;     /* as in the list */
    struct ownership_item **sorted; /* by step, equal ones in the order of the list */
    size_t n;
};

/* `list` may be NULL: no items. */
int ownership__items(struct ownership_walk *w, struct ownership_place place,
                     const struct ownership_shape *shape, const struct value *list,
                     struct ownership_items *ret);
