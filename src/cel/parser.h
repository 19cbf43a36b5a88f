/* parser.h - from text to tree, and what macros need of the parser. Private to this folder. */
#pragma once

#include "cel/ast.h"
#include "cel/issues.h"

struct parser {
    struct arena *arena;   /* of the tree */
    struct arena *scratch; /* of what is only needed on the way */
    struct str text;
    struct issues *issues;
    unsigned env_flags;
    struct token *tokens;
    size_t n_tokens;
    struct parser_errors *errors; /* laid out in parser_errors.c */
    size_t next;                  /* the token to look at */
    uint32_t at;                  /* where new nodes of a macro stand */
    uint32_t n_nodes;
    uint16_t rule_depth[16];  /* by enum rule of parser.c */
    bool stopped;             /* nothing more is parsed */
    bool too_heavy, too_deep; /* reported already */
};

/* NULL if `text` has errors, which are then in `issues`. `*ret_n` bounds the ids of nodes. The tree
 * points into `text`. */
struct ast_node *parser_run(struct arena *a, struct arena *scratch, struct str text,
                            unsigned env_flags, struct issues *issues, size_t *ret_n);

/* New nodes; those without an offset stand at p->at. */
struct ast_node *parser_node(struct parser *p, enum ast_kind kind, uint32_t at);
struct ast_node *parser_ident(struct parser *p, struct str name);
struct ast_node *parser_literal(struct parser *p, struct cel_value v);
struct ast_node *parser_call(struct parser *p, struct str function, bool member, size_t n_args,
                             struct ast_node *const *args);
struct ast_node *parser_list(struct parser *p, size_t n, struct ast_node *const *items);
struct ast_node *parser_call_at(struct parser *p, uint32_t at, struct str function, bool member,
                                size_t n_args, struct ast_node *const *args);
struct ast_node *parser_list_at(struct parser *p, uint32_t at, size_t n_items,
                                struct ast_node *const *items, const bool *optional);
/* Adds a child's weight and depth to its parent. */
void parser_hold(struct parser *p, struct ast_node *n, const struct ast_node *child);
/* One more level of recursion, for the nodes that upstream counts. */
void parser_deepen_node(struct parser *p, struct ast_node *n);

/* Expands a call if its name and number of arguments are those of a macro, else NULL. A macro
 * whose arguments are wrong reports it and gives a null literal. */
struct ast_node *macros_expand(struct parser *p, const struct ast_node *call);
