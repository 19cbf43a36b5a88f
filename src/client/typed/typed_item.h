/* typed_item.h - how values lie in typed structs. Private to this folder.
 *
 * A list is a pointer to items and their number, a map the same of entries: a name and, behind it,
 * an item. A field that stands alone may be absent, so it is a little more than an item: a struct
 * with is_set, or a pointer to a struct. */
#pragma once

#include <sampan/typed.h>

#include "client/bridge.h"

/* Every list and map looks like this. */
struct typed_items {
    void *p;
    size_t n;
};

enum { TYPED_NAME_BYTES = sizeof(struct spn_text) };

/* Bytes of one item, without a name. */
size_t typed_item_size(const struct spn_field *f);
/* Bytes from one item to the next: in a map there is a name in front of each. */
size_t typed_stride(const struct spn_field *f);

static inline const void *typed_at(const void *s, const struct spn_field *f)
{
    return (const char *)s + f->offset;
}

static inline void *typed_at_edit(void *s, const struct spn_field *f)
{
    return (char *)s + f->offset;
}

/* The item of a list, or of a map behind its name. */
static inline const void *typed_item(const struct spn_field *f, const struct typed_items *list,
                                     size_t i)
{
    size_t skip = f->shape == SPN_MAP ? TYPED_NAME_BYTES : 0;
    return (const char *)list->p + i * typed_stride(f) + skip;
}

static inline void *typed_item_edit(const struct spn_field *f, struct typed_items *list, size_t i)
{
    size_t skip = f->shape == SPN_MAP ? TYPED_NAME_BYTES : 0;
    return (char *)list->p + i * typed_stride(f) + skip;
}

static inline struct spn_text *typed_name(const struct spn_field *f, const struct typed_items *map,
                                          size_t i)
{
    return (struct spn_text *)((char *)map->p + i * typed_stride(f));
}

static inline struct spn_value *const *typed_rest(const struct spn_struct *t, const void *s)
{
    return (struct spn_value *const *)((const char *)s + t->rest);
}

static inline struct spn_value **typed_rest_edit(const struct spn_struct *t, void *s)
{
    return (struct spn_value **)((char *)s + t->rest);
}
