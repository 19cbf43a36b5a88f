/* jsonpath_internal.h - a parsed path: what jsonpath_parse.c makes and jsonpath.c walks. */
#pragma once

#include "schema/jsonpath.h"

enum jsonpath_type {
    JSONPATH_LIST,     /* an action: one node after the other */
    JSONPATH_CONSTANT, /* a text, number or boolean */
    JSONPATH_FIELD,
    JSONPATH_WILDCARD,
    JSONPATH_RECURSIVE,
    JSONPATH_ARRAY,
    JSONPATH_UNION, /* of its `nodes`, which are lists */
    JSONPATH_FILTER,
    JSONPATH_IDENTIFIER, /* range, end, or what is none of them */
};

/* How the two sides of a filter are compared. */
enum jsonpath_operator {
    JSONPATH_EXISTS,
    JSONPATH_LESS,
    JSONPATH_GREATER,
    JSONPATH_EQUAL,
    JSONPATH_NOT_EQUAL,
    JSONPATH_LESS_EQUAL,
    JSONPATH_GREATER_EQUAL,
    JSONPATH_UNKNOWN, /* whatever it is, is only found out when it is used */
};

struct jsonpath_param {
    bool known, derived; /* derived: the end of [n], which is n + 1 */
    int64_t value;
};

struct jsonpath_nodes {
    struct jsonpath_node *first, **last;
};

struct jsonpath_node {
    struct jsonpath_node *next; /* first: jsonpath_nodes.last points to it */
    enum jsonpath_type type;
    enum jsonpath_operator op;
    struct str name;                /* of a field, an identifier, or an unknown operator */
    struct value constant;          /* JSONPATH_CONSTANT */
    struct jsonpath_param slice[3]; /* JSONPATH_ARRAY: from, to, step */
    struct jsonpath_nodes nodes;    /* of a list or union; the left side of a filter */
    struct jsonpath_nodes right;
};

struct jsonpath {
    struct jsonpath_nodes nodes;
};
