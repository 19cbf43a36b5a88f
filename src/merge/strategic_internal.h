/* strategic_internal.h - what the parts of strategic merge patch share. Private to strategic*.c. */
#pragma once

#include "base/map.h"
#include "merge/strategic.h"

struct strategic {
    struct arena *arena;
    const struct strategic_rules *rules;
    struct err *err;
    /* What is patched is itself a patch (the three-way case puts one onto another): directives and
     * nulls are then kept for whoever applies the result. */
    bool onto_patch;
    unsigned depth; /* of objects merged into each other, see LIMIT_PATCH_DEPTH */
};

/* The rules of a field, or those of the unknown. */
int strategic__field(struct strategic *s, const void *where, struct str name, bool is_list,
                     struct strategic_field *ret);

/* `*ret` becomes `original` (an object; NULL: none) with `patch` merged into it. */
int strategic__merge(struct strategic *s, const void *where, const struct value *original,
                     const struct value *patch, struct value *ret);
/* The same for two lists, either of which may be empty. `ret_live`, if not NULL: the list whose
 * order counts as that of the live one from now on. */
int strategic__merge_lists(struct strategic *s, const struct strategic_field *f,
                           const struct value *original, const struct value *patch,
                           bool is_delete_list, struct value *ret, struct value *ret_live);
/* What `patch` brings where nothing was: objects that are directives are left out, and null fields
 * unless `keeps_nulls`. False if it is itself such an object. */
bool strategic__clean(struct arena *a, const struct value *patch, bool keeps_nulls,
                      struct value *ret);
/* `merged` in the order that a `$setElementOrder` list asks for; `live` is the list as it was and
 * `patch` what was merged into it. */
int strategic__set_order(struct strategic *s, const struct strategic_field *f,
                         const struct value *merged, const struct value *order,
                         const struct value *live, const struct value *patch, struct value *ret);
/* Are the items of a patch's list in the order that its `$setElementOrder` list says? */
int strategic__check_order(struct strategic *s, const struct value *patch,
                           const struct value *order, struct str merge_key);
/* Sorts the items of a patch's list as those of `order`, deletions last. */
int strategic__sort_like(struct strategic *s, struct value *items, const struct value *order,
                         struct str merge_key);

/* What diffs are made of: see DiffOptions upstream. */
struct strategic_diff {
    bool with_order;        /* says the order of lists that have changed */
    bool without_changes;   /* deletions only */
    bool without_deletions; /* changes and additions only */
    bool names_kept_fields; /* `$retainKeys`, for the object at hand */
};
int strategic__diff(struct strategic *s, const void *where, const struct value *original,
                    const struct value *modified, struct strategic_diff options, struct value *ret);
/* Do two patches change the same field in different ways? */
int strategic__conflict(struct strategic *s, const void *where, const struct value *left,
                        const struct value *right, bool *ret);

/* The type that all items of one or two lists have. Refuses lists of lists and of different things;
 * of empty lists there is no type, which is a fault too. */
int strategic__item_type(struct strategic *s, const struct value *first, const struct value *second,
                         enum value_type *ret);
int strategic__no_merge_key(struct strategic *s, const struct value *item, struct str merge_key);
int strategic__bad_type(struct strategic *s, enum value_type wanted, const struct value *found);

#define STRATEGIC_PATCH       STR("$patch")
#define STRATEGIC_RETAIN_KEYS STR("$retainKeys")
#define STRATEGIC_ORDER       STR("$setElementOrder")
#define STRATEGIC_DELETE_FROM STR("$deleteFromPrimitiveList")
