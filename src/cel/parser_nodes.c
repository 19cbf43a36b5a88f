/* Nodes of the tree as the parser and the macros make them, each with the weight and depth of what
 * is below it, which are limited. */
#include "base/idiom.h"
#include "cel/parser.h"

#include "base/limits.h"
#include "cel/parser_errors.h"

#include "base/banned.h"

enum { DEPTH_MAX = 250 };

struct ast_node *parser_node(struct parser *p, enum ast_kind kind, uint32_t at)
{
    struct ast_node *n = arena_new(p->arena, struct ast_node);
    n->kind = kind;
    n->at = at;
    n->id = p->n_nodes++;
    n->weight = 1;
    return n;
}

void parser_hold(struct parser *p, struct ast_node *n, const struct ast_node *child)
{
    if (__builtin_add_overflow(n->weight, child->weight, &n->weight) ||
        n->weight > LIMIT_CEL_NODES) {
        n->weight = LIMIT_CEL_NODES;
        if (!p->too_heavy)
            parser_stop(p, "expression is too large once its macros are expanded");
        p->too_heavy = true;
    }
    if (child->depth > n->depth)
        n->depth = child->depth;
}

void parser_deepen_node(struct parser *p, struct ast_node *n)
{
    if (++n->depth > DEPTH_MAX && !p->too_deep) {
        p->too_deep = true;
        parser_stop(p, "max recursion depth exceeded");
    }
}

struct ast_node *parser_ident(struct parser *p, struct str name)
{
    struct ast_node *n = parser_node(p, AST_IDENT, p->at);
    n->ident.name = name;
    return n;
}

struct ast_node *parser_literal(struct parser *p, struct cel_value v)
{
    struct ast_node *n = parser_node(p, AST_LITERAL, p->at);
    n->literal = v;
    return n;
}

static enum ast_op op_of(struct str function)
{
    static const struct {
        const char *name;
        enum ast_op op;
    } ops[] = {
        { "_&&_", AST_OP_AND },
        { "_||_", AST_OP_OR },
        { "_?_:_", AST_OP_CONDITIONAL },
        { "_==_", AST_OP_EQUALS },
        { "_!=_", AST_OP_NOT_EQUALS },
        { "_[_]", AST_OP_INDEX },
        { "_[?_]", AST_OP_OPT_INDEX },
        { "_?._", AST_OP_OPT_SELECT },
        { "@not_strictly_false", AST_OP_NOT_STRICTLY_FALSE },
    };
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (str_eq(function, str_of(ops[i].name)))
            return ops[i].op;
    return AST_OP_NONE;
}

struct ast_node *parser_call_at(struct parser *p, uint32_t at, struct str function, bool member,
                                size_t n_args, struct ast_node *const *args)
{
    struct ast_node *n = parser_node(p, AST_CALL, at);
    n->member = member;
    n->op = (uint8_t)op_of(function);
    n->call.function = function;
    n->call.args = arena_dup(p->arena, args, n_args * sizeof(struct ast_node *));
    n->call.n_args = n_args;
    for (size_t i = 0; i < n_args; i++)
        parser_hold(p, n, args[i]);
    return n;
}

struct ast_node *parser_call(struct parser *p, struct str function, bool member, size_t n_args,
                             struct ast_node *const *args)
{
    return parser_call_at(p, p->at, function, member, n_args, args);
}

struct ast_node *parser_list_at(struct parser *p, uint32_t at, size_t n_items,
                                struct ast_node *const *items, const bool *optional)
{
    struct ast_node *n = parser_node(p, AST_LIST, at);
    n->list.items = arena_dup(p->arena, items, n_items * sizeof(struct ast_node *));
    n->list.n = n_items;
    for (size_t i = 0; i < n_items; i++) {
        parser_hold(p, n, items[i]);
        if (optional && optional[i])
            n->list.optional = arena_dup(p->arena, optional, n_items * sizeof(bool));
    }
    return n;
}

struct ast_node *parser_list(struct parser *p, size_t n, struct ast_node *const *items)
{
    return parser_list_at(p, p->at, n, items, NULL);
}
