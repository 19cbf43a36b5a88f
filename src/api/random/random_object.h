/* random_object.h - for tests: objects that nobody would write, by the tables of their kinds.
 *
 * Every field may be there or not. Values have the type of their field and are often good ones, or,
 * if `wild`, are of any type. Texts are those that rules look for, and those that encoders stumble
 * over. A seed gives the same objects in every run; one seed, one object is best, because then the
 * seed tells which object it was. */
#pragma once

#include "api/kind.h"
#include "base/value.h"

struct random {
    uint64_t seed; /* moves on with every number that is drawn */
    bool wild;
};

uint32_t random_below(struct random *r, uint32_t n);

/* A tree of the type, at most `depth` structs deep. */
struct value random_struct(struct random *r, struct arena *a, const struct kind_type *t,
                           unsigned depth);
/* The same as the server would have read it, with kind and apiVersion. Never fails unless wild, and
 * then with false. */
bool random_typed(struct random *r, struct arena *a, const struct kind_type *t, unsigned depth,
                  struct value *ret);
