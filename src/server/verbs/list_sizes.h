/* list_sizes.h - how long objects are in a list of protobuf, remembered for the next list.
 *
 * Such a list starts with its length, so a long one is read twice. Lists are often repeated with
 * few changes, so some ten thousand lengths are kept, by key and revision. What was forgotten is
 * measured again. Any thread. */
#pragma once

#include "base/str.h"

struct list_sizes;

struct list_sizes *list_sizes_new(void);
struct list_sizes *list_sizes_free(struct list_sizes *s);

/* An object in one of the forms in which it may stand in a list. */
struct list_size_of {
    struct str key;
    uint64_t rev;
    uint64_t form; /* tells forms apart */
};

void list_sizes_keep(struct list_sizes *s, const struct list_size_of *of, uint32_t n);
bool list_sizes_find(struct list_sizes *s, const struct list_size_of *of, uint32_t *ret);
