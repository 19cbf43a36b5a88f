/* The text form, `a=b,c!=d,e in (f,g),!h`: a scanner with one word of lookahead and a parser above
 * it, both with the tolerance and the words of apimachinery's, which clients have grown used to:
 *  - blanks may stand between any two words, and only blanks separate `in` from what it follows;
 *  - `in` and `notin` are ordinary words wherever an operator cannot stand;
 *  - the sets (), (,) and (a,,b) have the empty text in them;
 *  - a NUL right behind a word is skipped, elsewhere it is the end of the text. */
#include "select/labels.h"

#include "select/internal.h"
#include "api/label_syntax.h"
#include "base/banned.h"

enum token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_IN,
    TOKEN_NOT_IN,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
    TOKEN_NOT,
    TOKEN_EQUALS,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
};

struct lexeme {
    enum token token;
    struct str text;
};

struct parser {
    struct select__builder b;
    struct str rest;
    struct lexeme ahead;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static enum token special(char c)
{
    switch (c) {
    case '(':
        return TOKEN_OPEN;
    case ')':
        return TOKEN_CLOSE;
    case ',':
        return TOKEN_COMMA;
    case '!':
        return TOKEN_NOT;
    case '=':
        return TOKEN_EQUALS;
    case '>':
        return TOKEN_GREATER;
    case '<':
        return TOKEN_LESS;
    default:
        return TOKEN_END;
    }
}

static struct lexeme scan_special(struct str s)
{
    struct lexeme l = { special(s.p[0]), str_take(s, 1) };
    bool doubled = s.n > 1 && s.p[1] == '=';
    if (doubled && (l.token == TOKEN_EQUALS || l.token == TOKEN_NOT)) {
        l.token = l.token == TOKEN_NOT ? TOKEN_NOT_EQUALS : TOKEN_DOUBLE_EQUALS;
        l.text = str_take(s, 2);
    }
    return l;
}

static struct lexeme scan_word(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] && !is_blank(s.p[n]) && special(s.p[n]) == TOKEN_END)
        n++;
    struct lexeme l = { TOKEN_WORD, str_take(s, n) };
    if (str_eq(l.text, STR("in")))
        l.token = TOKEN_IN;
    else if (str_eq(l.text, STR("notin")))
        l.token = TOKEN_NOT_IN;
    return l;
}

static struct lexeme scan(struct str *rest)
{
    struct str s = *rest;
    while (s.n && is_blank(s.p[0]))
        s = str_skip(s, 1);
    if (s.n == 0 || s.p[0] == '\0') {
        *rest = str_take(s, 0);
        return (struct lexeme){ TOKEN_END, STR("") };
    }
    struct lexeme l = special(s.p[0]) != TOKEN_END ? scan_special(s) : scan_word(s);
    s = str_skip(s, l.text.n);
    if (s.n && s.p[0] == '\0')
        s = str_skip(s, 1);
    *rest = s;
    return l;
}

static struct lexeme next(struct parser *p)
{
    struct lexeme l = p->ahead;
    p->ahead = scan(&p->rest);
    return l;
}

static bool is_word(enum token t)
{
    return t == TOKEN_WORD || t == TOKEN_IN || t == TOKEN_NOT_IN;
}

static int found(struct parser *p, struct lexeme l, const char *expected)
{
    return err_set(p->b.err, p->b.code, "found '" STR_FMT "'%s", STR_ARG(l.text), expected);
}

static int parse_word_of_set(struct parser *p, struct str word)
{
    int r = select__add_value(&p->b, word);
    if (r < 0)
        return r;
    if (p->ahead.token != TOKEN_COMMA && p->ahead.token != TOKEN_CLOSE)
        return found(p, p->ahead, ", expected: ',' or ')'");
    return 0;
}

/* After the opening parenthesis and up to the closing one, which is eaten. */
static int parse_set(struct parser *p)
{
    bool after_comma = true; /* so that a text is due: none there is the empty one */
    for (;;) {
        struct lexeme l = next(p);
        bool ends_word = l.token == TOKEN_COMMA || l.token == TOKEN_CLOSE;
        if (!is_word(l.token) && !ends_word)
            return found(p, l, ", expected: ',', or identifier");
        int r = 0;
        if (!ends_word)
            r = parse_word_of_set(p, l.text);
        else if (after_comma)
            r = select__add_value(&p->b, STR(""));
        if (r < 0 || l.token == TOKEN_CLOSE)
            return r;
        after_comma = ends_word;
    }
}

static int parse_values(struct parser *p)
{
    struct lexeme l = next(p);
    if (l.token != TOKEN_OPEN)
        return found(p, l, " expected: '('");
    enum token first = p->ahead.token;
    if (!is_word(first) && first != TOKEN_COMMA && first != TOKEN_CLOSE)
        return found(p, p->ahead, ", expected: ',', ')' or identifier");
    int r = parse_set(p);
    if (r == 0)
        select__unique_values(&p->b);
    return r;
}

static int parse_value(struct parser *p)
{
    if (p->ahead.token == TOKEN_END || p->ahead.token == TOKEN_COMMA)
        return select__add_value(&p->b, STR(""));
    struct lexeme l = next(p);
    if (!is_word(l.token))
        return found(p, l, ", expected: identifier");
    return select__add_value(&p->b, l.text);
}

static int parse_operator(struct parser *p, struct str key)
{
    struct lexeme l = next(p);
    enum labels_op op;
    switch (l.token) {
    case TOKEN_IN:
        op = LABELS_IN;
        break;
    case TOKEN_NOT_IN:
        op = LABELS_NOT_IN;
        break;
    case TOKEN_EQUALS:
        op = LABELS_EQUALS;
        break;
    case TOKEN_DOUBLE_EQUALS:
        op = LABELS_DOUBLE_EQUALS;
        break;
    case TOKEN_NOT_EQUALS:
        op = LABELS_NOT_EQUALS;
        break;
    case TOKEN_GREATER:
        op = LABELS_GREATER;
        break;
    case TOKEN_LESS:
        op = LABELS_LESS;
        break;
    default:
        return found(p, l, ", expected: in, notin, =, ==, !=, gt, lt");
    }
    int r = op == LABELS_IN || op == LABELS_NOT_IN ? parse_values(p) : parse_value(p);
    if (r < 0)
        return r;
    return select__add_requirement(&p->b, key, op);
}

static int parse_requirement(struct parser *p)
{
    struct lexeme key = next(p);
    bool negated = key.token == TOKEN_NOT;
    if (negated)
        key = next(p);
    if (!is_word(key.token))
        return found(p, key, ", expected: identifier");
    if (!label_key_check(key.text, NULL))
        return select__refuse_key(&p->b, "<nil>", key.text);
    if (negated)
        return select__add_requirement(&p->b, key.text, LABELS_NOT_EXISTS);
    if (p->ahead.token == TOKEN_END || p->ahead.token == TOKEN_COMMA)
        return select__add_requirement(&p->b, key.text, LABELS_EXISTS);
    return parse_operator(p, key.text);
}

static int parse(struct parser *p)
{
    for (;;) {
        if (p->ahead.token == TOKEN_END)
            return 0;
        if (!is_word(p->ahead.token) && p->ahead.token != TOKEN_NOT)
            return found(p, p->ahead, ", expected: !, identifier, or 'end of string'");
        if (parse_requirement(p) < 0)
            return err_wrap(p->b.err, "unable to parse requirement");

        struct lexeme l = next(p);
        if (l.token == TOKEN_END)
            return 0;
        if (l.token != TOKEN_COMMA)
            return found(p, l, ", expected: ',' or 'end of string'");
        if (!is_word(p->ahead.token) && p->ahead.token != TOKEN_NOT)
            return found(p, p->ahead, ", expected: identifier after ','");
    }
}

int labels_parse(struct arena *a, struct str text, struct labels_selector *ret, struct err *err)
{
    struct err unread = ERR_INIT(a);
    struct parser p = {
        .b = { .arena = a, .err = err ? err : &unread, .code = ERR_BAD_REQUEST },
        .rest = text,
    };
    (void)next(&p);
    int r = parse(&p);
    if (r == 0)
        select__finish(&p.b, ret);
    return r;
}
