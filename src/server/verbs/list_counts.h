/* list_counts.h - how much is left behind a page of a list, remembered for the next page.
 *
 * Every page says how many objects follow it, and counting them takes as long as the range. A
 * client that pages through a list returns with the key where the last count began, so a few
 * hundred counts are kept. What was forgotten is counted again. Any thread. */
#pragma once

#include "base/str.h"

struct list_counts;

struct list_counts *list_counts_new(void);
struct list_counts *list_counts_free(struct list_counts *c);

/* `n` objects of the range `prefix` at `rev` are not below `start`. */
void list_counts_keep(struct list_counts *c, struct str prefix, uint64_t rev, struct str start,
                      uint64_t n);
bool list_counts_find(struct list_counts *c, struct str prefix, uint64_t rev, struct str start,
                      uint64_t *ret);
