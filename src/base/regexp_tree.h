/* regexp_tree.h - a parsed regular expression, between regexp_parse.c and regexp.c. */
#pragma once

#include "base/regexp.h"

enum regexp_op {
    REGEXP_EMPTY,
    REGEXP_CLASS, /* one character of `class` */
    REGEXP_BEGIN_TEXT,
    REGEXP_END_TEXT,
    REGEXP_BEGIN_LINE,
    REGEXP_END_LINE,
    REGEXP_WORD_EDGE,
    REGEXP_NO_WORD_EDGE,
    REGEXP_SEQUENCE, /* one child after the other */
    REGEXP_EITHER,   /* the first child that leads to a match */
    REGEXP_REPEAT,   /* the child, `min` to `max` times */
};

struct regexp_range {
    uint32_t from, to; /* both included */
};

/* A Unicode category or script. */
struct regexp_property {
    struct regexp_property *next;
    uint32_t categories; /* libunistring's bits; 0: a script */
    const void *script;
    bool negated;
};

/* What one character may be: in one of the ranges or of one of the properties, or, if negated,
 * neither. */
struct regexp_class {
    struct regexp_range *ranges; /* sorted, apart from one another */
    uint32_t n;
    bool negated;
    bool fold; /* case is ignored */
    struct regexp_property *properties;
};

#define REGEXP_NO_MAX UINT32_MAX

struct regexp_node {
    enum regexp_op op;
    bool lazy;     /* REGEXP_REPEAT: as few as possible */
    bool nullable; /* matches the empty text too */
    uint32_t min, max;
    uint32_t most;             /* the largest product of counts of repetitions inside each other */
    struct regexp_node *child; /* the first one; others hang behind it */
    struct regexp_node *next;
    struct regexp_class *class;
};

int regexp_parse(struct arena *a, struct str pattern, struct regexp_node **ret, struct err *err);
