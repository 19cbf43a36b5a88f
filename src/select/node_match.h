/* node_match.h - what a pod says of nodes: selector terms over labels, and tolerations of taints.
 *
 * Everything is read once, into an arena, and then compared without allocating. Text is borrowed
 * from the tree it was read from. Rules only: no I/O. */
#pragma once

#include "base/value.h"
#include "select/labels.h"

enum node_op { NODE_IN, NODE_NOT_IN, NODE_EXISTS, NODE_NOT_EXISTS, NODE_GREATER, NODE_LESS };

struct node_req {
    struct str key;
    const struct str *values;
    uint32_t n_values;
    uint8_t op;     /* enum node_op */
    bool is_bad;    /* it cannot hold: a number that is none */
    int64_t number; /* of NODE_GREATER and NODE_LESS */
};

/* All of its requirements must hold. One without any holds nowhere. */
struct node_term {
    const struct node_req *labels, *fields; /* the only field is metadata.name */
    uint32_t n_labels, n_fields;
    int32_t weight; /* of a preference */
};

struct node_terms {
    const struct node_term *items;
    size_t n;
};

struct label_set {
    const struct labels_pair *items;
    size_t n;
};

/* metadata.labels, borrowed. */
struct label_set label_set_read(struct arena *a, const struct value *labels);
/* Its value; .p is NULL if there is no such label. */
struct str label_get(struct label_set labels, struct str key);
bool label_set_eq(struct label_set a, struct label_set b); /* in whatever order */

/* A list of NodeSelectorTerm; with `weighted`, of PreferredSchedulingTerm. */
struct node_terms node_terms_read(struct arena *a, const struct value *list, bool weighted);
bool node_term_holds(const struct node_term *t, struct str node_name, struct label_set labels);
/* Whether one of them holds. */
bool node_terms_hold(struct node_terms terms, struct str node_name, struct label_set labels);

struct taint {
    struct str key, value, effect;
};

struct toleration {
    struct str key, op, value, effect;
};

struct tolerations {
    const struct toleration *items;
    size_t n;
};

struct taint taint_read(const struct value *v);
struct toleration toleration_read(const struct value *v);
bool toleration_allows(const struct toleration *by, const struct taint *t);

struct tolerations tolerations_read(struct arena *a, const struct value *list);
bool taint_tolerated(const struct taint *t, struct tolerations by);
/* The first taint that keeps new pods away and is not tolerated; NULL if there is none. */
const struct taint *taint_in_the_way(const struct taint *taints, size_t n, struct tolerations by);
