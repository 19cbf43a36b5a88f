/* internal.h - shared by the two readers of label selectors: lists of requirements and values that
 * grow under their limits, and the checks that a requirement has to pass. */
#pragma once

#include "select/labels.h"

struct select__builder {
    struct arena *arena;
    struct err *err;
    enum err_code code; /* of what is refused */
    struct labels_req *reqs;
    size_t n_reqs, cap_reqs;
    struct str *values; /* of the requirement being read */
    size_t n_values, cap_values;
    size_t all_values; /* over all requirements */
};

/* All return 0 or the negative code. */
int select__add_value(struct select__builder *b, struct str value);
/* Checks key, operator and the values added since the last requirement, which it takes over. */
int select__add_requirement(struct select__builder *b, struct str key, enum labels_op op);
/* `key: Invalid value: "...": reasons`, with `path` for its name. */
int select__refuse_key(struct select__builder *b, const char *path, struct str key);

/* The requirements in the order of their keys. */
void select__finish(struct select__builder *b, struct labels_selector *ret);

/* As Go reads an integer: a sign of either kind, then digits, within int64_t. */
bool select__to_number(struct str s, int64_t *ret);

/* Sorts and leaves each value once. */
void select__unique_values(struct select__builder *b);
