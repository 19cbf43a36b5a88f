/* estimate.h - ranges of costs and sizes, and what an estimate knows of each node. Private to
 * estimate.c and estimate_call.c. */
#pragma once

#include "cel/internal.h"

/* A least and a most; sums and products stay at UINT64_MAX. */
struct range {
    uint64_t min, max;
};

#define RANGE(x)      ((struct range){ (x), (x) })
#define RANGE_UNKNOWN ((struct range){ 0, UINT64_MAX })

#define ESTIMATE_TEXT_FACTOR    0.1
#define ESTIMATE_PATTERN_FACTOR 0.25

uint64_t estimate_range_add_one(uint64_t x, uint64_t y);
struct range estimate_range_add(struct range x, struct range y);
struct range estimate_range_mul(struct range x, struct range y);
struct range estimate_range_scale(struct range x, double factor); /* rounded up */
struct range estimate_range_union(struct range x, struct range y);

struct known_size {
    struct range size;
    bool known;
};

/* The sizes of the keys and values of a list or map. */
struct entry_size {
    enum cel_kind container;
    struct range key, val;
    bool known;
};

/* Where a node stands in the declared types, if it is reached from a variable. */
struct path {
    bool set;
    const struct cel_type *type; /* NULL: nowhere */
};

struct node_info {
    struct path path;
    struct known_size size;
    struct entry_size entry;
};

struct local_info {
    struct path path;
    struct known_size size;
    struct entry_size entry;
};

struct estimator {
    const struct cel_program *program;
    const struct cel_type *root; /* of the first variable, where all paths are taken to begin */
    struct node_info *nodes;     /* by id */
    struct local_info *locals;   /* by slot */
};

struct known_size estimate_size(struct estimator *e, const struct ast_node *n);
struct range estimate_size_or_unknown(struct estimator *e, const struct ast_node *n);
struct entry_size estimate_entry(struct estimator *e, const struct ast_node *n);
void estimate_set_size(struct estimator *e, const struct ast_node *n, struct known_size size);
void estimate_set_entry(struct estimator *e, const struct ast_node *n, struct entry_size entry);
struct entry_size estimate_entry_union(struct entry_size x, struct entry_size y);
/* The size of an item of a list, by its path. */
struct range estimate_item_size(struct estimator *e, const struct ast_node *list);

struct call_estimate {
    struct range cost;
    struct known_size result;
};

/* One overload of a call. `arg_costs` are those of the arguments without the target. */
struct call_estimate estimate_overload(struct estimator *e, const struct ast_node *n,
                                       const struct cel__overload *o,
                                       const struct range *arg_costs);
