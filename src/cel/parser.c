/* The grammar of the language, one function for each of its rules, by recursive descent. The tree
 * is built on the way, with macros expanded as soon as their call is read.
 *
 * Limits are upstream's: code points of the text, depth of each rule, depth of the tree. The
 * number of nodes has one of ours, since optMap() has its target twice. */
#include "cel/parser.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "cel/literals.h"
#include "cel/parser_errors.h"

#include "base/banned.h"

enum rule {
    RULE_EXPR,
    RULE_OR,
    RULE_AND,
    RULE_RELATION,
    RULE_CALC,
    RULE_UNARY,
    RULE_MEMBER,
    RULE_PRIMARY,
    RULE_ITEMS,
    RULE_NAME,
};

#define BIT(name) TOKEN_BIT(TOKEN_##name)

#define PRIMARY_START                                                                             \
    (BIT(LBRACKET) | BIT(LBRACE) | BIT(LPAREN) | BIT(DOT) | BIT(MINUS) | BIT(TRUE) | BIT(FALSE) | \
     BIT(NULL) | BIT(FLOAT) | BIT(INT) | BIT(UINT) | BIT(STRING) | BIT(BYTES) | BIT(IDENT))
#define EXPR_START  (PRIMARY_START | BIT(NOT))
#define ITEM_START  (EXPR_START | BIT(QUESTION))
#define FIELD_START (BIT(QUESTION) | BIT(IDENT) | BIT(ESC_IDENT))
#define SUFFIX      (BIT(DOT) | BIT(LBRACKET))
#define RELATIONS                                                             \
    (BIT(EQUALS) | BIT(NOT_EQUALS) | BIT(IN) | BIT(LESS) | BIT(LESS_EQUALS) | \
     BIT(GREATER_EQUALS) | BIT(GREATER))
#define PRODUCTS (BIT(STAR) | BIT(SLASH) | BIT(PERCENT))
#define SUMS     (BIT(PLUS) | BIT(MINUS))

static struct ast_node *parse_expr(struct parser *p, uint64_t follow, bool open);

static struct ast_node *call_or_macro(struct parser *p, struct ast_node *call)
{
    struct ast_node *expanded = p->stopped ? NULL : macros_expand(p, call);
    return expanded ? expanded : call;
}

static struct ast_node *placeholder(struct parser *p)
{
    p->at = p->tokens[p->next < p->n_tokens ? p->next : p->n_tokens - 1].at;
    return parser_literal(p, cel_of_null());
}

/* A growing row of nodes, or of entries. */
struct row {
    struct ast_node **nodes;
    bool *optional;
    uint32_t *at;
    size_t n, cap;
};

static void row_add(struct parser *p, struct row *r, struct ast_node *node, bool optional,
                    uint32_t at)
{
    if (r->n == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 4;
        r->nodes = arena_grow(p->scratch, r->nodes, r->cap * sizeof(*r->nodes),
                              cap * sizeof(*r->nodes), alignof(struct ast_node *));
        r->optional = arena_grow(p->scratch, r->optional, r->cap, cap, 1);
        r->at = arena_grow(p->scratch, r->at, r->cap * sizeof(*r->at), cap * sizeof(*r->at),
                           alignof(uint32_t));
        r->cap = cap;
    }
    r->nodes[r->n] = node;
    r->optional[r->n] = optional;
    r->at[r->n++] = at;
}

/* ---- Tokens ---- */

static const struct token *token(const struct parser *p, size_t ahead)
{
    size_t i = p->next + ahead;
    return &p->tokens[i < p->n_tokens ? i : p->n_tokens - 1];
}

static struct str text_of(const struct parser *p, const struct token *t)
{
    return str_take(str_skip(p->text, t->at), t->n);
}

static bool sees(const struct parser *p, uint64_t set)
{
    return !parser_is_lost(p) && (set & TOKEN_BIT(parser_look(p, 0)));
}

/* Takes a token that is known to be there. */
static const struct token *take_token(struct parser *p)
{
    const struct token *t = token(p, 0);
    p->errors->recovering = false;
    p->next++;
    return t;
}

/* ---- Literals and names ---- */

static bool is_reserved(struct str name)
{
    struct str words = STR("as break const continue else for function if import let loop package "
                           "namespace return var void while");
    while (words.n)
        if (str_eq(str_cut(&words, ' '), name))
            return true;
    return false;
}

static struct ast_node *number_literal(struct parser *p, const struct token *t, bool negative)
{
    struct str text = text_of(p, t);
    struct cel_value v;
    const char *why;
    if (t->kind == TOKEN_INT) {
        v = cel_of_int(0);
        why = literals_int(text, negative, &v.i) ? NULL : "invalid int literal";
    } else if (t->kind == TOKEN_UINT) {
        v = cel_of_uint(0);
        text.n--;
        why = literals_uint(text, &v.u) ? NULL : "invalid uint literal";
    } else {
        v = cel_of_double(0);
        why = literals_double(p->arena, text, &v.d) ? NULL : "invalid double literal";
        v.d = negative ? -v.d : v.d;
    }
    if (why)
        issues_add(p->issues, p->at, "%s", why);
    return parser_literal(p, v);
}

static struct ast_node *string_literal(struct parser *p, const struct token *t)
{
    bool bytes = t->kind == TOKEN_BYTES;
    struct str s = { 0 };
    const char *why = literals_string(p->arena, str_skip(text_of(p, t), bytes), bytes, &s);
    if (why)
        issues_add(p->issues, p->at, "%s", why);
    return parser_literal(p, bytes ? cel_of_bytes(s) : cel_of_string(s));
}

static struct ast_node *parse_literal(struct parser *p)
{
    p->at = token(p, 0)->at;
    bool negative = parser_look(p, 0) == TOKEN_MINUS;
    if (negative)
        take_token(p);
    const struct token *t = take_token(p);
    switch (t->kind) {
    case TOKEN_STRING:
    case TOKEN_BYTES:
        return string_literal(p, t);
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        return parser_literal(p, cel_of_bool(t->kind == TOKEN_TRUE));
    case TOKEN_NULL:
        return parser_literal(p, cel_of_null());
    default:
        return number_literal(p, t, negative);
    }
}

/* ---- Lists, maps, messages, arguments ---- */

static struct row parse_arguments(struct parser *p)
{
    struct row args = { 0 };
    if (!sees(p, EXPR_START) || !parser_enter(p, RULE_ITEMS, BIT(RPAREN), false))
        return args;
    do {
        row_add(p, &args, parse_expr(p, BIT(COMMA), true), false, 0);
    } while (sees(p, BIT(COMMA)) && take_token(p));
    parser_leave(p, RULE_ITEMS);
    return args;
}

/* Whether a comma is followed by another item and is not the last one. */
static bool another(struct parser *p, uint64_t start)
{
    if (!sees(p, BIT(COMMA)) || !(start & TOKEN_BIT(parser_look(p, 1))))
        return false;
    take_token(p);
    return true;
}

static bool take_optional(struct parser *p)
{
    return sees(p, BIT(QUESTION)) && take_token(p);
}

static void end_items(struct parser *p, unsigned close)
{
    if (!parser_sync(p, BIT(COMMA) | TOKEN_BIT(close)))
        return;
    if (sees(p, BIT(COMMA)))
        take_token(p);
    parser_match(p, close, 0, true);
}

/* The primary rule stands around all of these. */
static struct ast_node *parse_list(struct parser *p)
{
    struct row items = { 0 };
    uint32_t at = take_token(p)->at;
    if (!parser_sync(p, ITEM_START | BIT(COMMA) | BIT(RBRACKET)))
        return placeholder(p);
    if (sees(p, ITEM_START) && parser_enter(p, RULE_ITEMS, BIT(COMMA) | BIT(RBRACKET), false)) {
        do {
            bool optional = take_optional(p);
            row_add(p, &items, parse_expr(p, BIT(COMMA), true), optional, 0);
        } while (another(p, ITEM_START));
        parser_leave(p, RULE_ITEMS);
    }
    end_items(p, TOKEN_RBRACKET);
    return parser_list_at(p, at, items.n, items.nodes, items.optional);
}

static struct ast_node *new_map(struct parser *p, enum ast_kind kind, uint32_t at,
                                const struct row *keys, const struct row *vals)
{
    struct ast_node *n = parser_node(p, kind, at);
    n->map.n = vals->n;
    n->map.entries = arena_array(p->arena, struct ast_entry, vals->n);
    for (size_t i = 0; i < vals->n; i++) {
        struct ast_entry *e = &n->map.entries[i];
        *e = (struct ast_entry){
            .at = vals->at[i],
            .optional = keys->optional[i],
            .key = keys->nodes[i],
            .val = vals->nodes[i],
        };
        parser_hold(p, n, e->val);
        if (kind == AST_MAP)
            parser_hold(p, n, e->key);
        else
            e->field = e->key->ident.name;
    }
    return n;
}

/* The colon and what stands behind it. */
static void parse_entry_value(struct parser *p, struct row *vals)
{
    uint32_t at = token(p, 0)->at;
    parser_match(p, TOKEN_COLON, EXPR_START, false);
    struct ast_node *val = parser_is_lost(p) ? placeholder(p) : parse_expr(p, BIT(COMMA), true);
    row_add(p, vals, val, false, at);
}

static struct ast_node *parse_map(struct parser *p)
{
    struct row keys = { 0 }, vals = { 0 };
    uint32_t at = take_token(p)->at;
    if (!parser_sync(p, ITEM_START | BIT(COMMA) | BIT(RBRACE)))
        return placeholder(p);
    if (sees(p, ITEM_START) && parser_enter(p, RULE_ITEMS, BIT(COMMA) | BIT(RBRACE), false)) {
        do {
            bool optional = take_optional(p);
            row_add(p, &keys, parse_expr(p, BIT(COLON), false), optional, 0);
            parse_entry_value(p, &vals);
        } while (another(p, ITEM_START));
        parser_leave(p, RULE_ITEMS);
    }
    end_items(p, TOKEN_RBRACE);
    return new_map(p, AST_MAP, at, &keys, &vals);
}

static struct str escaped_name(const struct parser *p, const struct token *t)
{
    struct str name = text_of(p, t);
    return t->kind == TOKEN_ESC_IDENT ? str_take(str_skip(name, 1), name.n - 2) : name;
}

static struct ast_node *parse_field_name(struct parser *p)
{
    struct ast_node *name = placeholder(p);
    name->kind = AST_IDENT;
    name->ident.name = STR("");
    if (parser_sync(p, BIT(IDENT) | BIT(ESC_IDENT)))
        name->ident.name = escaped_name(p, take_token(p));
    return name;
}

static void parse_fields(struct parser *p, struct row *keys, struct row *vals)
{
    do {
        bool optional = take_optional(p);
        if (!parser_enter(p, RULE_NAME, BIT(COLON), false))
            return;
        row_add(p, keys, parse_field_name(p), optional, 0);
        parser_leave(p, RULE_NAME);
        parse_entry_value(p, vals);
    } while (another(p, FIELD_START));
}

/* IDENT (. IDENT)* { fields } */
static struct ast_node *parse_message(struct parser *p, struct str dot)
{
    struct row keys = { 0 }, vals = { 0 };
    struct str name = dot;
    while (parser_look(p, 0) != TOKEN_LBRACE) {
        struct str part = text_of(p, take_token(p));
        name = arena_printf(p->arena, STR_FMT STR_FMT, STR_ARG(name), STR_ARG(part));
    }
    uint32_t at = take_token(p)->at;
    if (!parser_sync(p, FIELD_START | BIT(COMMA) | BIT(RBRACE)))
        return placeholder(p);
    if (sees(p, FIELD_START) && parser_enter(p, RULE_ITEMS, BIT(COMMA) | BIT(RBRACE), false)) {
        parse_fields(p, &keys, &vals);
        parser_leave(p, RULE_ITEMS);
    }
    end_items(p, TOKEN_RBRACE);
    struct ast_node *n = new_map(p, AST_STRUCT, at, &keys, &vals);
    n->map.name = name;
    return n;
}

/* ---- Expressions, innermost first ---- */

static bool is_message(const struct parser *p)
{
    size_t i = 1;
    while (parser_look(p, i) == TOKEN_DOT && parser_look(p, i + 1) == TOKEN_IDENT)
        i += 2;
    return parser_look(p, i) == TOKEN_LBRACE;
}

static struct ast_node *parse_name(struct parser *p)
{
    uint32_t start = token(p, 0)->at;
    struct str dot = STR("");
    if (parser_look(p, 0) == TOKEN_DOT) {
        if (parser_look(p, 1) != TOKEN_IDENT) {
            parser_no_alternative(p, 1);
            return placeholder(p);
        }
        take_token(p);
        dot = STR(".");
    }
    if (is_message(p))
        return parse_message(p, dot);
    const struct token *t = take_token(p);
    struct str name = text_of(p, t);
    bool reserved = is_reserved(name);
    if (reserved)
        issues_add(p->issues, start, "reserved identifier: " STR_FMT, STR_ARG(name));
    if (dot.n)
        name = arena_printf(p->arena, "." STR_FMT, STR_ARG(name));
    p->at = t->at;
    if (!sees(p, BIT(LPAREN)))
        return reserved ? parser_literal(p, cel_of_null()) : parser_ident(p, name);
    uint32_t at = take_token(p)->at;
    if (!parser_sync(p, EXPR_START | BIT(RPAREN)))
        return placeholder(p);
    struct row args = parse_arguments(p);
    parser_match(p, TOKEN_RPAREN, 0, true);
    if (reserved)
        return parser_literal(p, cel_of_null());
    return call_or_macro(p, parser_call_at(p, at, name, false, args.n, args.nodes));
}

static struct ast_node *parse_primary_choice(struct parser *p)
{
    if (!parser_sync(p, PRIMARY_START))
        return placeholder(p);
    switch (parser_look(p, 0)) {
    case TOKEN_DOT:
    case TOKEN_IDENT:
        return parse_name(p);
    case TOKEN_LBRACKET:
        return parse_list(p);
    case TOKEN_LBRACE:
        return parse_map(p);
    case TOKEN_LPAREN: {
        take_token(p);
        struct ast_node *inner = parse_expr(p, BIT(RPAREN), false);
        parser_match(p, TOKEN_RPAREN, 0, true);
        return inner;
    }
    case TOKEN_MINUS:
        if (parser_look(p, 1) != TOKEN_INT && parser_look(p, 1) != TOKEN_FLOAT) {
            parser_no_alternative(p, 1);
            return placeholder(p);
        }
        return parse_literal(p);
    default:
        if (sees(p, PRIMARY_START))
            return parse_literal(p);
        parser_no_alternative(p, 0);
        return placeholder(p);
    }
}

static struct ast_node *parse_primary(struct parser *p)
{
    if (!parser_enter(p, RULE_PRIMARY, SUFFIX, true))
        return placeholder(p);
    struct ast_node *n = parse_primary_choice(p);
    parser_leave(p, RULE_PRIMARY);
    return n;
}

static struct ast_node *parse_index(struct parser *p, struct ast_node *target)
{
    uint32_t at = take_token(p)->at;
    if (!parser_sync(p, ITEM_START))
        return target;
    bool optional = take_optional(p);
    struct ast_node *args[] = { target, parse_expr(p, BIT(RBRACKET), false) };
    parser_match(p, TOKEN_RBRACKET, SUFFIX, true);
    struct ast_node *n =
        parser_call_at(p, at, optional ? STR("_[?_]") : STR("_[_]"), false, 2, args);
    parser_deepen_node(p, n);
    return n;
}

static struct ast_node *parse_member_call(struct parser *p, struct ast_node *target)
{
    struct str name = text_of(p, take_token(p));
    uint32_t at = take_token(p)->at;
    if (!parser_sync(p, EXPR_START | BIT(RPAREN)))
        return placeholder(p);
    struct row given = parse_arguments(p), args = { 0 };
    parser_match(p, TOKEN_RPAREN, SUFFIX, true);
    row_add(p, &args, target, false, 0);
    for (size_t i = 0; i < given.n; i++)
        row_add(p, &args, given.nodes[i], false, 0);
    struct ast_node *n = parser_call_at(p, at, name, true, args.n, args.nodes);
    parser_deepen_node(p, n);
    return call_or_macro(p, n);
}

static struct ast_node *new_select(struct parser *p, uint32_t at, struct ast_node *operand,
                                   const struct token *name, bool optional)
{
    struct str field = escaped_name(p, name);
    struct ast_node *n;
    if (optional) {
        p->at = name->at;
        struct ast_node *args[] = { operand, parser_literal(p, cel_of_string(field)) };
        n = parser_call_at(p, at, STR("_?._"), false, 2, args);
    } else {
        n = parser_node(p, AST_SELECT, at);
        n->select.operand = operand;
        n->select.field = field;
        parser_hold(p, n, operand);
    }
    parser_deepen_node(p, n);
    return n;
}

/* x.?name, of which the question mark has been seen. */
static struct ast_node *parse_optional_field(struct parser *p, struct ast_node *target)
{
    uint32_t at = take_token(p)->at;
    take_token(p);
    const struct token *name = token(p, 0);
    if (!parser_enter(p, RULE_NAME, SUFFIX, true))
        return target;
    bool good = parser_sync(p, BIT(IDENT) | BIT(ESC_IDENT));
    if (good)
        name = take_token(p);
    parser_leave(p, RULE_NAME);
    if (good)
        return new_select(p, at, target, name, true);
    issues_add(p->issues, name->at, "unsupported ident kind");
    return target;
}

static struct ast_node *parse_suffix(struct parser *p, struct ast_node *target)
{
    if (parser_look(p, 0) == TOKEN_LBRACKET)
        return parse_index(p, target);
    unsigned name = parser_look(p, 1);
    if (name == TOKEN_QUESTION)
        return parse_optional_field(p, target);
    if (name != TOKEN_IDENT && name != TOKEN_ESC_IDENT) {
        parser_no_alternative(p, 1);
        return target;
    }
    uint32_t at = take_token(p)->at;
    if (name == TOKEN_IDENT && parser_look(p, 1) == TOKEN_LPAREN)
        return parse_member_call(p, target);
    return new_select(p, at, target, take_token(p), false);
}

static struct ast_node *parse_member(struct parser *p)
{
    if (!parser_enter(p, RULE_MEMBER, 0, true))
        return placeholder(p);
    uint16_t depth = p->rule_depth[RULE_MEMBER];
    struct ast_node *n = parse_primary(p);
    while (sees(p, SUFFIX) && parser_deepen(p, RULE_MEMBER))
        n = parse_suffix(p, n);
    p->rule_depth[RULE_MEMBER] = depth;
    parser_leave(p, RULE_MEMBER);
    return n;
}

static bool is_negation(const struct parser *p)
{
    unsigned next = parser_look(p, 1);
    return parser_look(p, 0) == TOKEN_MINUS && next != TOKEN_INT && next != TOKEN_FLOAT;
}

static struct ast_node *parse_signs(struct parser *p, unsigned sign, struct str function)
{
    uint32_t at = token(p, 0)->at;
    size_t count = 0;
    do {
        take_token(p);
        count++;
        if (!parser_sync_loop(p, PRIMARY_START | TOKEN_BIT(sign)))
            return placeholder(p);
    } while (parser_look(p, 0) == sign);
    struct ast_node *n = parse_member(p);
    return count % 2 ? parser_call_at(p, at, function, false, 1, &n) : n;
}

static struct ast_node *parse_negation(struct parser *p)
{
    if (PRIMARY_START & TOKEN_BIT(parser_look(p, 1)))
        return parse_signs(p, TOKEN_MINUS, STR("-_"));
    parser_no_alternative(p, 1);
    return placeholder(p);
}

static struct ast_node *parse_unary(struct parser *p)
{
    if (!parser_enter(p, RULE_UNARY, PRODUCTS | SUMS, true))
        return placeholder(p);
    struct ast_node *n;
    if (!parser_sync(p, EXPR_START))
        n = placeholder(p);
    else if (parser_look(p, 0) == TOKEN_NOT)
        n = parse_signs(p, TOKEN_NOT, STR("!_"));
    else if (is_negation(p))
        n = parse_negation(p);
    else
        n = parse_member(p);
    parser_leave(p, RULE_UNARY);
    return n;
}

static struct str operator_of(unsigned kind)
{
    static const char *const names[TOKEN_KINDS] = {
        [TOKEN_EQUALS] = "_==_", [TOKEN_NOT_EQUALS] = "_!=_",     [TOKEN_IN] = "@in",
        [TOKEN_LESS] = "_<_",    [TOKEN_LESS_EQUALS] = "_<=_",    [TOKEN_GREATER] = "_>_",
        [TOKEN_PLUS] = "_+_",    [TOKEN_GREATER_EQUALS] = "_>=_", [TOKEN_MINUS] = "_-_",
        [TOKEN_STAR] = "_*_",    [TOKEN_SLASH] = "_/_",           [TOKEN_PERCENT] = "_%_",
    };
    return str_of(names[kind]);
}

/* Sums of products: `set` are the operators of this level and of those inside it. */
static struct ast_node *parse_calc(struct parser *p, uint64_t set, uint64_t follow)
{
    if (!parser_enter(p, RULE_CALC, follow, true))
        return placeholder(p);
    uint16_t depth = p->rule_depth[RULE_CALC];
    struct ast_node *left = parse_unary(p);
    while (sees(p, set) && parser_deepen(p, RULE_CALC)) {
        const struct token *op = take_token(p);
        uint64_t inside = TOKEN_BIT(op->kind) & SUMS ? PRODUCTS : 0;
        struct ast_node *args[] = { left, parse_calc(p, inside & set, PRODUCTS | SUMS) };
        left = parser_call_at(p, op->at, operator_of(op->kind), false, 2, args);
        parser_deepen_node(p, left);
    }
    p->rule_depth[RULE_CALC] = depth;
    parser_leave(p, RULE_CALC);
    return left;
}

static struct ast_node *parse_relation(struct parser *p, uint64_t set, uint64_t follow)
{
    if (!parser_enter(p, RULE_RELATION, follow, true))
        return placeholder(p);
    uint16_t depth = p->rule_depth[RULE_RELATION];
    struct ast_node *left = parse_calc(p, PRODUCTS | SUMS, RELATIONS);
    while (sees(p, set) && parser_deepen(p, RULE_RELATION)) {
        const struct token *op = take_token(p);
        struct ast_node *args[] = { left, parse_relation(p, 0, RELATIONS) };
        left = parser_call_at(p, op->at, operator_of(op->kind), false, 2, args);
        parser_deepen_node(p, left);
    }
    p->rule_depth[RULE_RELATION] = depth;
    parser_leave(p, RULE_RELATION);
    return left;
}

/* The terms lo to hi + 1 as a balanced tree, so that long chains stay shallow. */
static struct ast_node *balance(struct parser *p, const struct row *terms, struct str function,
                                size_t lo, size_t hi)
{
    size_t mid = (lo + hi + 1) / 2;
    struct ast_node *args[] = {
        mid == lo ? terms->nodes[mid] : balance(p, terms, function, lo, mid - 1),
        mid == hi ? terms->nodes[mid + 1] : balance(p, terms, function, mid + 1, hi),
    };
    return parser_call_at(p, terms->at[mid + 1], function, false, 2, args);
}

static struct ast_node *parse_logic(struct parser *p, bool is_or, uint64_t follow, bool open)
{
    unsigned op = is_or ? TOKEN_OR : TOKEN_AND;
    struct row terms = { 0 };
    if (!parser_enter(p, is_or ? RULE_OR : RULE_AND, follow, open))
        return placeholder(p);
    uint32_t at = 0;
    do {
        struct ast_node *term =
            is_or ? parse_logic(p, false, BIT(OR), true) : parse_relation(p, RELATIONS, BIT(AND));
        row_add(p, &terms, term, false, at);
        at = token(p, 0)->at;
    } while (sees(p, TOKEN_BIT(op)) && take_token(p));
    parser_leave(p, is_or ? RULE_OR : RULE_AND);
    if (terms.n == 1)
        return terms.nodes[0];
    return balance(p, &terms, is_or ? STR("_||_") : STR("_&&_"), 0, terms.n - 2);
}

static struct ast_node *parse_conditional(struct parser *p)
{
    struct ast_node *condition = parse_logic(p, true, BIT(QUESTION), true);
    if (!sees(p, BIT(QUESTION)))
        return condition;
    uint32_t at = take_token(p)->at;
    struct ast_node *yes = parse_logic(p, true, BIT(COLON), false);
    if (!parser_match(p, TOKEN_COLON, EXPR_START, false))
        return placeholder(p);
    struct ast_node *args[] = { condition, yes, parse_expr(p, 0, true) };
    struct ast_node *n = parser_call_at(p, at, STR("_?_:_"), false, 3, args);
    parser_deepen_node(p, n);
    return n;
}

static struct ast_node *parse_expr(struct parser *p, uint64_t follow, bool open)
{
    if (parser_is_lost(p) || !parser_enter(p, RULE_EXPR, follow, open))
        return placeholder(p);
    struct ast_node *n = parse_conditional(p);
    parser_leave(p, RULE_EXPR);
    return n;
}

static size_t count_code_points(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += (s.p[i] & 0xc0) != 0x80;
    return n;
}

struct ast_node *parser_run(struct arena *a, struct arena *scratch, struct str text,
                            unsigned env_flags, struct issues *issues, size_t *ret_n)
{
    size_t points = count_code_points(text);
    if (points > LIMIT_CEL_CODE_POINTS || text.n >= AST_NOWHERE) {
        issues_add(issues, AST_NOWHERE,
                   "expression code point size exceeds limit: size: %zu, limit %u", points,
                   LIMIT_CEL_CODE_POINTS);
        return NULL;
    }
    struct parser_errors errors = { .last_at = SIZE_MAX };
    struct parser p = {
        .arena = a,
        .scratch = scratch,
        .text = text,
        .issues = issues,
        .env_flags = env_flags,
        .errors = &errors,
    };
    p.tokens = lexer_run(scratch, text, issues, &p.n_tokens);
    struct ast_node *root = parse_expr(&p, BIT(EOF), false);
    parser_match(&p, TOKEN_EOF, 0, false);
    if (errors.thrown && parser_enter(&p, RULE_PRIMARY, 0, false)) {
        errors.thrown = true;
        parser_leave(&p, RULE_PRIMARY);
    }
    *ret_n = p.n_nodes;
    return issues->total ? NULL : root;
}
