/* parser_errors.h - how the parser goes on after a syntax error, and in which words. Private to
 * parser.c and parser_errors.c. */
#pragma once

#include "cel/lexer.h"
#include "cel/parser.h"

#define TOKEN_BIT(kind) (UINT64_C(1) << (kind))

/* What may come after a rule where it was called; `open` if its caller may end there too. */
struct parser_follow {
    uint64_t set;
    bool open;
};

struct parser_errors {
    struct parser_follow *stack;
    size_t n, cap;
    bool recovering; /* nothing is reported until a token fits again */
    bool thrown;     /* the current rule gives up */
    unsigned attempts;
    size_t last_at; /* token and rule of the last recovery, so that it makes progress */
    uint32_t last_rules;
    /* what was thrown */
    uint64_t expected;    /* 0: no alternative fits */
    size_t start, offend; /* tokens */
};

static inline unsigned parser_look(const struct parser *p, size_t ahead)
{
    size_t i = p->next + ahead;
    return i < p->n_tokens ? p->tokens[i].kind : TOKEN_EOF;
}

static inline bool parser_is_lost(const struct parser *p)
{
    return p->stopped || p->errors->thrown;
}

/* Every rule is entered and left; leaving reports what was thrown in it and skips to where its
 * callers can go on. False if the parser has stopped. */
bool parser_enter(struct parser *p, unsigned rule, uint64_t follow, bool open);
void parser_leave(struct parser *p, unsigned rule);
/* One more level of a rule that recurses to the left. */
bool parser_deepen(struct parser *p, unsigned rule);

/* Before a choice between alternatives that begin with `set`: drops one wrong token if the one
 * after it fits, else throws. */
bool parser_sync(struct parser *p, uint64_t set);
/* The same where one or more tokens were already taken by a loop that may go on. */
bool parser_sync_loop(struct parser *p, uint64_t set);
/* Takes a token of this kind. If it is missing but what stands there could follow it (`after`,
 * and what follows the rule if `open`), goes on as if it were there. */
bool parser_match(struct parser *p, unsigned kind, uint64_t after, bool open);
/* No alternative fits the tokens from here to the one `ahead`. */
void parser_no_alternative(struct parser *p, size_t ahead);
/* An error that ends parsing and has no place. */
void parser_stop(struct parser *p, const char *why);
