/* ast.h - the tree of an expression, from the parser to the evaluator.
 *
 * The parser builds it with macros already expanded, the checker writes types, slots and overloads
 * into it, folding marks what is constant; from then on nobody changes it. Private to this folder.
 */
#pragma once

#include "cel/cel.h"

enum ast_kind {
    AST_LITERAL,
    AST_IDENT,
    AST_SELECT,
    AST_CALL,
    AST_LIST,
    AST_MAP,
    AST_STRUCT,
    AST_FOLD,
};

/* The operators and functions that the evaluator treats by itself. */
enum ast_op {
    AST_OP_NONE,
    AST_OP_AND,
    AST_OP_OR,
    AST_OP_CONDITIONAL,
    AST_OP_EQUALS,
    AST_OP_NOT_EQUALS,
    AST_OP_INDEX,
    AST_OP_OPT_INDEX,
    AST_OP_OPT_SELECT,
    AST_OP_NOT_STRICTLY_FALSE,
    AST_OP_OR_OPTIONAL, /* x.or(y), x.orValue(y) of optionals */
    AST_OP_OR_VALUE,
};

#define AST_NOWHERE UINT32_MAX

struct cel__overload;
struct regexp;

struct ast_entry {
    uint32_t at; /* of the colon */
    bool optional;
    struct ast_node *key; /* of a map */
    struct str field;     /* of a struct */
    struct ast_node *val;
};

/* Where a name leads, found by the checker. */
enum ast_place { AST_PLACE_NOWHERE, AST_PLACE_SLOT, AST_PLACE_VARIABLE, AST_PLACE_TYPE };

struct ast_ident {
    struct str name;
    uint8_t place;               /* enum ast_place */
    uint32_t index;              /* slot or variable */
    const struct cel_type *type; /* the type that is named */
};

struct ast_call {
    struct str function;
    struct ast_node **args; /* the target of a member call comes first */
    size_t n_args;
    const struct cel__overload **overloads; /* those that may match, in order of declaration */
    size_t n_overloads;
    const struct regexp *pattern; /* of a constant regular expression */
    const struct cel_value *set;  /* x in [1, 2]: the items as keys of a map */
};

struct ast_fold {
    struct str iter_var, iter_var2; /* iter_var2 is empty in folds over one variable */
    struct str accu_var;
    uint32_t iter_slot, iter2_slot, accu_slot;
    struct ast_node *range, *init, *condition, *step, *result;
};

struct ast_node {
    uint8_t kind;                   /* enum ast_kind */
    uint8_t op;                     /* AST_CALL: enum ast_op */
    bool member;                    /* AST_CALL: the first argument is the target */
    bool test_only;                 /* AST_SELECT: has() */
    uint16_t depth;                 /* of the text it was parsed from, for the limit on recursion */
    uint32_t at;                    /* byte offset that errors point at */
    uint32_t id;                    /* unlike that of every other node of the tree */
    uint32_t weight;                /* nodes below, counting a shared one each time */
    const struct cel_type *type;    /* set by the checker */
    const struct cel_value *folded; /* the value, where it is known before any evaluation */
    union {
        struct cel_value literal;
        struct ast_ident ident;
        struct {
            struct ast_node *operand;
            struct str field;
        } select;
        struct ast_call call;
        struct {
            struct ast_node **items;
            bool *optional; /* NULL: none is */
            size_t n;
        } list;
        struct {
            struct ast_entry *entries;
            size_t n;
            struct str name;             /* AST_STRUCT */
            const struct cel_type *type; /* AST_STRUCT: what is made */
        } map;
        struct ast_fold fold;
    };
};
