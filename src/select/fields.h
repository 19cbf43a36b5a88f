/* fields.h - field selectors (`fieldSelector=metadata.name=x,status.phase!=Running`) and matching.
 *
 * A selector is a list of terms that must all hold, in the order of their text. Which fields may be
 * named is the resource's rule, given as plain data so that this folder does not depend on where
 * kinds come from. What a field's text is in an object follows upstream: a string as it is, true
 * and false, a number in decimal, the empty text where it is absent; some fields of some kinds are
 * computed, see the table in fields.c. A selector points into the arena, the rules and the input.
 * It is immutable; matching allocates nothing. Rules only: no I/O. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

struct fields_rules {
    struct str group, version, kind;
    const struct str *selectors; /* what may be named; none: metadata.name and .namespace */
    size_t n_selectors;
    const struct str *aliases; /* pairs: accepted, meant */
    size_t n_aliases;          /* pairs */
};

struct fields_source;

struct fields_term {
    struct str field, value;
    bool negated;
    const struct fields_source *source; /* where the text is computed, else NULL */
};

/* All zero matches everything. */
struct fields_selector {
    const struct fields_term *terms;
    size_t n;
};

/* Without rules any field may be named. ERR_BAD_REQUEST with upstream's message: first what is
 * wrong with the text, then which field the resource does not have; also past
 * LIMIT_SELECTOR_REQUIREMENTS terms. */
int fields_parse(struct arena *a, struct str text, const struct fields_rules *rules,
                 struct fields_selector *ret, struct err *err);

bool fields_match(const struct fields_selector *s, const struct value *obj);

/* True when name and namespace decide, so that the object itself need not be parsed. */
bool fields_by_key(const struct fields_selector *s);
/* For such a selector. `ns` is empty for cluster-scoped objects. */
bool fields_match_key(const struct fields_selector *s, struct str ns, struct str name);

/* The value that `field` must have, where a term says so. A list with a metadata.name like this is
 * a get of one object; the other terms still apply to it. */
bool fields_exact(const struct fields_selector *s, struct str field, struct str *ret);

/* The canonical text, escaped. */
void fields_write(struct buf *out, const struct fields_selector *s);
