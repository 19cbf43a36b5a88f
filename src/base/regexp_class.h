/* regexp_class.h - sets of characters of a regular expression. */
#pragma once

#include "base/regexp_tree.h"

void regexp_class_add(struct arena *a, struct regexp_class *c, uint32_t from, uint32_t to);
void regexp_class_add_ranges(struct arena *a, struct regexp_class *c,
                             const struct regexp_range *ranges, size_t n);
/* All that is in none of the ranges. */
void regexp_class_add_others(struct arena *a, struct regexp_class *c,
                             const struct regexp_range *ranges, size_t n);
/* "Lu" or "Greek"; false if there is no such property. */
bool regexp_class_add_property(struct arena *a, struct regexp_class *c, struct str name,
                               bool negated);
/* To be called when all is in it. */
void regexp_class_finish(struct arena *a, struct regexp_class *c);
bool regexp_class_has(const struct regexp_class *c, uint32_t code);
