/* Splits an expression into tokens: the longest that fits, as upstream's generated lexer does. What
 * fits none is an error that names everything from where the token began up to the character that
 * ended the attempt, and lexing goes on behind that. */
#include "cel/lexer.h"

#include "base/idiom.h"
#include "base/utf8.h"

#include "base/banned.h"

static const char *const names[TOKEN_KINDS] = {
    [TOKEN_EOF] = "<EOF>",
    [TOKEN_EQUALS] = "'=='",
    [TOKEN_NOT_EQUALS] = "'!='",
    [TOKEN_IN] = "'in'",
    [TOKEN_LESS] = "'<'",
    [TOKEN_LESS_EQUALS] = "'<='",
    [TOKEN_GREATER_EQUALS] = "'>='",
    [TOKEN_GREATER] = "'>'",
    [TOKEN_AND] = "'&&'",
    [TOKEN_OR] = "'||'",
    [TOKEN_LBRACKET] = "'['",
    [TOKEN_RBRACKET] = "']'",
    [TOKEN_LBRACE] = "'{'",
    [TOKEN_RBRACE] = "'}'",
    [TOKEN_LPAREN] = "'('",
    [TOKEN_RPAREN] = "')'",
    [TOKEN_DOT] = "'.'",
    [TOKEN_COMMA] = "','",
    [TOKEN_MINUS] = "'-'",
    [TOKEN_NOT] = "'!'",
    [TOKEN_QUESTION] = "'?'",
    [TOKEN_COLON] = "':'",
    [TOKEN_PLUS] = "'+'",
    [TOKEN_STAR] = "'*'",
    [TOKEN_SLASH] = "'/'",
    [TOKEN_PERCENT] = "'%'",
    [TOKEN_TRUE] = "'true'",
    [TOKEN_FALSE] = "'false'",
    [TOKEN_NULL] = "'null'",
    [TOKEN_FLOAT] = "NUM_FLOAT",
    [TOKEN_INT] = "NUM_INT",
    [TOKEN_UINT] = "NUM_UINT",
    [TOKEN_STRING] = "STRING",
    [TOKEN_BYTES] = "BYTES",
    [TOKEN_IDENT] = "IDENTIFIER",
    [TOKEN_ESC_IDENT] = "ESC_IDENTIFIER",
};

const char *lexer_name(unsigned kind)
{
    return names[kind];
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The byte `i` places on, or -1 at the end. */
static int peek(struct str s, size_t i)
{
    return i < s.n ? (unsigned char)s.p[i] : -1;
}

static size_t span_digits(struct str s, size_t from)
{
    size_t i = from;
    while (is_digit(peek(s, i)))
        i++;
    return i - from;
}

static size_t span_hex(struct str s, size_t from)
{
    size_t i = from;
    while (i < s.n && str_hex_digit(s.p[i]) >= 0)
        i++;
    return i - from;
}

static size_t span_exponent(struct str s, size_t from)
{
    if ((peek(s, from) | 0x20) != 'e')
        return 0;
    size_t sign = peek(s, from + 1) == '+' || peek(s, from + 1) == '-';
    size_t digits = span_digits(s, from + 1 + sign);
    return digits ? 1 + sign + digits : 0;
}

static bool is_u(int c)
{
    return c == 'u' || c == 'U';
}

/* `s` begins with a digit, or with a dot and a digit. */
static size_t lex_number(struct str s, uint8_t *ret_kind)
{
    *ret_kind = TOKEN_INT;
    size_t n = span_digits(s, 0), hex;
    if (n == 1 && s.p[0] == '0' && peek(s, 1) == 'x' && (hex = span_hex(s, 2)) > 0) {
        n = 2 + hex;
    } else {
        size_t fraction = peek(s, n) == '.' ? span_digits(s, n + 1) : 0;
        size_t whole = n + (fraction ? 1 + fraction : 0);
        size_t exponent = span_exponent(s, whole);
        if (fraction || exponent) {
            *ret_kind = TOKEN_FLOAT;
            return whole + exponent;
        }
    }
    if (!is_u(peek(s, n)))
        return n;
    *ret_kind = TOKEN_UINT;
    return n + 1;
}

/* Bytes of the escape sequence after a backslash at `i`; 0 if there is none, with `*ret_stop` at
 * what does not belong to one. */
static size_t span_escape(struct str s, size_t i, size_t *ret_stop)
{
    int c = peek(s, i + 1);
    size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    *ret_stop = i + 1;
    if (c > 0 && strchr("abfnrtv\"'\\?`", c))
        return 2;
    if (digits) {
        size_t hex = span_hex(s, i + 2);
        *ret_stop = i + 2 + hex;
        return hex >= digits ? 2 + digits : 0;
    }
    if (c < '0' || c > '3')
        return 0;
    for (size_t k = 2; k < 4; k++) {
        *ret_stop = i + k;
        if (peek(s, i + k) < '0' || peek(s, i + k) > '7')
            return 0;
    }
    return 4;
}

/* The length of a string whose opening quotes end at `from`; 0 if it does not end, with
 * `*ret_stop` where the attempt did. */
static size_t span_string(struct str s, size_t from, char quote, bool raw, bool triple,
                          size_t *ret_stop)
{
    for (size_t i = from; i < s.n;) {
        char c = s.p[i];
        if (c == quote && !triple)
            return i + 1;
        if (c == quote && peek(s, i + 1) == quote && peek(s, i + 2) == quote)
            return i + 3;
        if (!triple && (c == '\n' || c == '\r')) {
            *ret_stop = i;
            return 0;
        }
        size_t n = 1;
        if (c == '\\' && !raw && !(n = span_escape(s, i, ret_stop)))
            return 0;
        i += n;
    }
    *ret_stop = s.n;
    return 0;
}

/* A string whose quotes begin at `at`; 0 with `*ret_stop` if there is none. An empty string in
 * single quotes is what remains of a triple one that does not end. */
static size_t lex_string(struct str s, size_t at, bool raw, size_t *ret_stop)
{
    char quote = s.p[at];
    if (peek(s, at + 1) == quote && peek(s, at + 2) == quote) {
        size_t n = span_string(s, at + 3, quote, raw, true, ret_stop);
        return n ? n : at + 2;
    }
    return span_string(s, at + 1, quote, raw, false, ret_stop);
}

static bool is_quote(int c)
{
    return c == '"' || c == '\'';
}

/* r"", b"", br"" and their upper case; 0 if there is no such string. */
static size_t lex_prefixed_string(struct str s, uint8_t *ret_kind)
{
    size_t at = 0, stop;
    bool bytes = (peek(s, 0) | 0x20) == 'b';
    at += bytes;
    bool raw = (peek(s, at) | 0x20) == 'r';
    at += raw;
    if (!at || !is_quote(peek(s, at)))
        return 0;
    *ret_kind = bytes ? TOKEN_BYTES : TOKEN_STRING;
    return lex_string(s, at, raw, &stop);
}

static size_t lex_word(struct str s, uint8_t *ret_kind)
{
    static const struct {
        struct str word;
        uint8_t kind;
    } words[] = {
        { { "in", 2 }, TOKEN_IN },
        { { "true", 4 }, TOKEN_TRUE },
        { { "false", 5 }, TOKEN_FALSE },
        { { "null", 4 }, TOKEN_NULL },
    };
    size_t n = lex_prefixed_string(s, ret_kind);
    if (n)
        return n;
    while (is_letter(peek(s, n)) || is_digit(peek(s, n)))
        n++;
    *ret_kind = TOKEN_IDENT;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(str_take(s, n), words[i].word))
            *ret_kind = words[i].kind;
    return n;
}

static size_t lex_escaped_ident(struct str s, uint8_t *ret_kind, size_t *ret_stop)
{
    size_t i = 1;
    while (i < s.n && (is_letter(s.p[i]) || is_digit(s.p[i]) || str_find(STR(".-/ "), s.p[i]) >= 0))
        i++;
    *ret_kind = TOKEN_ESC_IDENT;
    *ret_stop = i;
    return i > 1 && peek(s, i) == '`' ? i + 1 : 0;
}

/* One or two characters; 0 if a second one is missing. */
static size_t lex_sign(struct str s, uint8_t *ret_kind, size_t *ret_stop)
{
    static const struct {
        char text[3];
        uint8_t kind;
    } signs[] = {
        { "==", TOKEN_EQUALS },      { "!=", TOKEN_NOT_EQUALS },
        { "<=", TOKEN_LESS_EQUALS }, { ">=", TOKEN_GREATER_EQUALS },
        { "&&", TOKEN_AND },         { "||", TOKEN_OR },
        { "<", TOKEN_LESS },         { ">", TOKEN_GREATER },
        { "[", TOKEN_LBRACKET },     { "]", TOKEN_RBRACKET },
        { "{", TOKEN_LBRACE },       { "}", TOKEN_RBRACE },
        { "(", TOKEN_LPAREN },       { ")", TOKEN_RPAREN },
        { ".", TOKEN_DOT },          { ",", TOKEN_COMMA },
        { "-", TOKEN_MINUS },        { "!", TOKEN_NOT },
        { "?", TOKEN_QUESTION },     { ":", TOKEN_COLON },
        { "+", TOKEN_PLUS },         { "*", TOKEN_STAR },
        { "/", TOKEN_SLASH },        { "%", TOKEN_PERCENT },
    };
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_starts(s, str_of(signs[i].text))) {
            *ret_kind = signs[i].kind;
            return strlen(signs[i].text);
        }
    int c = peek(s, 0);
    *ret_stop = c == '=' || c == '&' || c == '|';
    return 0;
}

static size_t lex_one(struct str s, uint8_t *ret_kind, size_t *ret_stop)
{
    int c = peek(s, 0);
    if (is_digit(c) || (c == '.' && is_digit(peek(s, 1))))
        return lex_number(s, ret_kind);
    if (is_letter(c))
        return lex_word(s, ret_kind);
    if (is_quote(c)) {
        *ret_kind = TOKEN_STRING;
        return lex_string(s, 0, false, ret_stop);
    }
    if (c == '`')
        return lex_escaped_ident(s, ret_kind, ret_stop);
    return lex_sign(s, ret_kind, ret_stop);
}

static size_t skip_space(struct str text, size_t at)
{
    while (at < text.n) {
        if (str_find(STR(" \t\r\n\f"), text.p[at]) >= 0) {
            at++;
        } else if (text.p[at] == '/' && at + 1 < text.n && text.p[at + 1] == '/') {
            while (at < text.n && text.p[at] != '\n')
                at++;
        } else {
            break;
        }
    }
    return at;
}

struct token *lexer_run(struct arena *a, struct str text, struct issues *issues, size_t *ret_n)
{
    size_t n = 0, cap = text.n / 3 + 8;
    struct token *tokens = arena_array(a, struct token, cap);
    for (size_t at = skip_space(text, 0);; at = skip_space(text, at)) {
        if (n == cap) {
            tokens = arena_grow(a, tokens, cap * sizeof(*tokens), 2 * cap * sizeof(*tokens),
                                alignof(struct token));
            cap *= 2;
        }
        struct str rest = str_skip(text, at);
        struct token *t = &tokens[n];
        *t = (struct token){ .at = (uint32_t)at };
        if (!rest.n)
            break;
        size_t stop = 0, len = lex_one(rest, &t->kind, &stop);
        if (len) {
            t->n = (uint32_t)len;
            at += len;
            n++;
            continue;
        }
        struct str bad = str_skip(rest, stop);
        size_t last = utf8_step(bad.p, bad.n);
        bad = str_take(rest, stop + (bad.n && !last ? 1 : last));
        issues_add(issues, t->at, "Syntax error: token recognition error at: '" STR_FMT "'",
                   STR_ARG(bad));
        at += bad.n;
    }
    *ret_n = n + 1;
    return tokens;
}
