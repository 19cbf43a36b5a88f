/* fieldset.h - sets of field paths: who owns which fields of an object.
 *
 * A set is a trie: each entry is one step of a path, says whether the path that ends there is a
 * member, and what lies below. Owning a path says nothing of the paths above or below it. NULL is
 * the empty set; no entry is without a member at or below it, so two equal sets have equal tries.
 * Entries are sorted as upstream sorts them, every operation walks two sorted lists side by side.
 *
 * Sets are immutable and share what they have in common; they live in an arena, and their steps
 * borrow text from the trees they were made of. Depth is bounded by LIMIT_FIELD_DEPTH, which makes
 * recursion safe. Rules only: no I/O. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

/* In this order they are sorted. */
enum fieldset_step_type {
    FIELDSET_NAME,  /* of a struct's field or a map's key: "f:" */
    FIELDSET_KEY,   /* of an item of a keyed list: an object, sorted by names: "k:" */
    FIELDSET_VALUE, /* an item of a set: "v:" */
    FIELDSET_INDEX, /* an item of a list without keys: "i:" */
};

struct fieldset_step {
    enum fieldset_step_type type;
    struct value v; /* a string, an object, any scalar, an INT */
};

struct fieldset;

struct fieldset_entry {
    struct fieldset_step step;
    bool is_member;
    const struct fieldset *below;
};

struct fieldset {
    size_t n;
    struct fieldset_entry entries[];
};

static inline struct fieldset_step fieldset_name(struct str name)
{
    return (struct fieldset_step){ FIELDSET_NAME, value_string(name) };
}

/* Numbers compare by what they are worth, and stand before text, booleans, lists, objects, null. */
int fieldset_value_cmp(const struct value *a, const struct value *b);
int fieldset_step_cmp(const struct fieldset_step *a, const struct fieldset_step *b);
/* As messages write it: `.name`, `[name="web"]`, `[="item"]`, `[0]`. */
void fieldset_step_write(struct buf *out, const struct fieldset_step *step);

/* Collects the entries of one level in any order. An entry that is neither a member nor has
 * anything below it is left out; of entries with the same step one is made. */
struct fieldset_builder {
    struct arena *arena;
    struct fieldset_entry *entries;
    size_t n, cap;
    bool is_unsorted;
};

void fieldset_add(struct fieldset_builder *b, struct fieldset_step step, bool is_member,
                  const struct fieldset *below);
const struct fieldset *fieldset_build(struct fieldset_builder *b);
/* The set of one path. */
const struct fieldset *fieldset_of(struct arena *a, const struct fieldset_step *path, size_t n);

/* NULL if there is none. */
const struct fieldset_entry *fieldset_find(const struct fieldset *s,
                                           const struct fieldset_step *step);
bool fieldset_has(const struct fieldset *s, const struct fieldset_step *path, size_t n);
bool fieldset_eq(const struct fieldset *x, const struct fieldset *y);
size_t fieldset_count(const struct fieldset *s); /* of members */

const struct fieldset *fieldset_union(struct arena *a, const struct fieldset *x,
                                      const struct fieldset *y);
const struct fieldset *fieldset_intersection(struct arena *a, const struct fieldset *x,
                                             const struct fieldset *y);
/* What is in `x` and not in `y`, path by path: what lies below a member of `y` stays. */
const struct fieldset *fieldset_difference(struct arena *a, const struct fieldset *x,
                                           const struct fieldset *y);
/* The same, but a member of `y` takes everything below it along. */
const struct fieldset *fieldset_without(struct arena *a, const struct fieldset *x,
                                        const struct fieldset *y);
/* The members that have no members below them. */
const struct fieldset *fieldset_leaves(struct arena *a, const struct fieldset *s);

/* Visits the members, those of a level before those below it. `path` is good during the call. */
typedef void fieldset_visitor(void *arg, const struct fieldset_step *path, size_t n);
void fieldset_each(const struct fieldset *s, fieldset_visitor *visit, void *arg);

/* FieldsV1. Steps of a kind we do not know are skipped, as upstream does. ERR_BAD_REQUEST for what
 * is not a set, or is deeper than LIMIT_FIELD_DEPTH. */
int fieldset_read(struct arena *a, const struct value *fields, const struct fieldset **ret,
                  struct err *err);
/* One step as FieldsV1 writes it; ERR_NOT_FOUND, without words, if it is of an unknown kind. */
int fieldset_step_read(struct arena *a, struct str text, struct fieldset_step *ret,
                       struct err *err);
struct str fieldset_step_text(struct arena *a, const struct fieldset_step *step);
/* The object of FieldsV1. */
struct value fieldset_write(struct arena *a, const struct fieldset *s);
