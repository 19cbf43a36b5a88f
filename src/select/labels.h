/* labels.h - label selectors, in both of Kubernetes' forms, and matching.
 *
 * A selector is a list of requirements that must all hold, sorted by key. It comes from the text of
 * `labelSelector=` or from an object of type LabelSelector; either way what it points to lies in
 * the arena or in the input, so both outlive it. It is immutable: any thread may match with it, and
 * matching allocates nothing. Rules only: no I/O. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

enum labels_op {
    LABELS_IN,
    LABELS_NOT_IN, /* also holds where the key is absent, as does != */
    LABELS_EQUALS,
    LABELS_DOUBLE_EQUALS,
    LABELS_NOT_EQUALS,
    LABELS_GREATER, /* integers; does not hold where either side is none */
    LABELS_LESS,
    LABELS_EXISTS,
    LABELS_NOT_EXISTS,
};

struct labels_req {
    struct str key;
    const struct str *values; /* sorted */
    uint32_t n_values;
    uint16_t position; /* as written; keeps the sort by key stable */
    uint8_t op;        /* enum labels_op */
    int64_t number;    /* of LABELS_GREATER and LABELS_LESS */
};

/* All zero matches everything. */
struct labels_selector {
    const struct labels_req *reqs;
    size_t n;
    bool nothing; /* matches no object at all */
};

struct labels_pair {
    struct str key, value;
};

/* The text form. ERR_BAD_REQUEST with upstream's message, also past LIMIT_SELECTOR_REQUIREMENTS and
 * LIMIT_SELECTOR_VALUES. */
int labels_parse(struct arena *a, struct str text, struct labels_selector *ret, struct err *err);

/* The object form: {matchLabels, matchExpressions}. Absent or null matches nothing, an empty object
 * everything. ERR_INVALID with upstream's message, with the same limits. */
int labels_from_value(struct arena *a, const struct value *v, struct labels_selector *ret,
                      struct err *err);

bool labels_match(const struct labels_selector *s, const struct labels_pair *labels, size_t n);
/* Against metadata.labels; absent is the same as empty. */
bool labels_match_value(const struct labels_selector *s, const struct value *labels);

/* True when it lets everything pass. */
static inline bool labels_empty(const struct labels_selector *s)
{
    return s->n == 0 && !s->nothing;
}

/* The value that `key` must have, where the selector says so with =, == or a set of one. */
bool labels_exact(const struct labels_selector *s, struct str key, struct str *ret);

/* The canonical text: `a=b,c in (d,e),!f`. Reading it again gives the same selector. */
void labels_write(struct buf *out, const struct labels_selector *s);
