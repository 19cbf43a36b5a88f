/* lexer.h - tokens of an expression. Private to this folder. */
#pragma once

#include "cel/issues.h"

/* In the order in which error messages list what was expected. */
enum token_kind {
    TOKEN_EOF,
    TOKEN_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_IN,
    TOKEN_LESS,
    TOKEN_LESS_EQUALS,
    TOKEN_GREATER_EQUALS,
    TOKEN_GREATER,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_LBRACKET,
    TOKEN_RBRACKET,
    TOKEN_LBRACE,
    TOKEN_RBRACE,
    TOKEN_LPAREN,
    TOKEN_RPAREN,
    TOKEN_DOT,
    TOKEN_COMMA,
    TOKEN_MINUS,
    TOKEN_NOT,
    TOKEN_QUESTION,
    TOKEN_COLON,
    TOKEN_PLUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_PERCENT,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NULL,
    TOKEN_FLOAT,
    TOKEN_INT,
    TOKEN_UINT,
    TOKEN_STRING,
    TOKEN_BYTES,
    TOKEN_IDENT,
    TOKEN_ESC_IDENT,
    TOKEN_KINDS,
};

struct token {
    uint32_t at;
    uint32_t n;
    uint8_t kind;
};

/* All tokens, the last one TOKEN_EOF; what is none is reported and skipped. */
struct token *lexer_run(struct arena *a, struct str text, struct issues *issues, size_t *ret_n);

/* As messages write it: '+', IDENTIFIER, <EOF>. */
const char *lexer_name(unsigned kind);
