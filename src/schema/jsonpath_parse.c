/* jsonpath_parse.c - the text of a path to its nodes.
 *
 * The grammar is the one that client-go's scanner happens to have, so this follows it step by
 * step: what stands in brackets is cut out first, without regard to quotes, and then read again as
 * an action of its own. */
#include <math.h>
#include <stdlib.h>

#include "api/go/gofloat.h"
#include "api/go/quote.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/regexp.h"
#include "base/utf8.h"
#include "schema/jsonpath_internal.h"

#include "base/banned.h"

enum { END = -1, NO_CHARACTER = 0xfffd };

/* Unicode's tables are those of regular expressions; they are needed rarely, and then made once. */
struct classes {
    struct regexp *digits, *letters;
};

struct parser {
    struct arena *arena;
    struct err *err;
    struct classes *classes;
    struct str in;
    size_t pos;
    size_t start; /* of what was not consumed yet */
    unsigned depth;
};

static int fault(struct parser *p, const char *words)
{
    return err_set(p->err, ERR_INVALID, "%s", words);
}

/* ---- Characters ---- */

static int32_t peek(const struct parser *p, size_t *ret_n)
{
    *ret_n = 0;
    if (p->pos >= p->in.n)
        return END;
    size_t n = utf8_step(p->in.p + p->pos, p->in.n - p->pos);
    *ret_n = n ? n : 1;
    return n ? (int32_t)utf8_decode(p->in.p + p->pos, n) : NO_CHARACTER;
}

static int32_t next(struct parser *p)
{
    size_t n;
    int32_t c = peek(p, &n);
    p->pos += n;
    return c;
}

static struct str consume(struct parser *p)
{
    struct str text = str_take(str_skip(p->in, p->start), p->pos - p->start);
    p->start = p->pos;
    return text;
}

static bool at(const struct parser *p, const char *prefix)
{
    return str_starts(str_skip(p->in, p->pos), str_of(prefix));
}

static bool is_end_of_line(int32_t c)
{
    return c == '\r' || c == '\n';
}

/* Ends a field or an identifier. */
static bool is_terminator(int32_t c)
{
    return c == END || is_end_of_line(c) || (c < 0x80 && c > 0 && strchr(" \t.,[]$@{}", c));
}

static bool is_of_class(struct parser *p, int32_t c, struct str pattern, struct regexp **class)
{
    char bytes[4];
    struct str text = { bytes, utf8_encode(bytes, (uint32_t)c) };
    if (!*class && regexp_compile(p->arena, pattern, class, NULL) < 0)
        return false;
    return regexp_match(*class, text, NULL);
}

static bool is_digit(struct parser *p, int32_t c)
{
    if (c >= 0x80)
        return is_of_class(p, c, STR("\\p{Nd}"), &p->classes->digits);
    return c >= '0' && c <= '9';
}

static bool is_alphanumeric(struct parser *p, int32_t c)
{
    if (c >= 0x80)
        return is_digit(p, c) || is_of_class(p, c, STR("\\pL"), &p->classes->letters);
    return c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || is_digit(p, c);
}

/* ---- Nodes ---- */

static struct jsonpath_node *add(struct parser *p, struct jsonpath_nodes *to,
                                 enum jsonpath_type type)
{
    struct jsonpath_node *node = arena_new(p->arena, struct jsonpath_node);
    node->type = type;
    if (!to->last)
        to->last = &to->first;
    *to->last = node;
    to->last = &node->next;
    return node;
}

/* NULL if there is none. */
static const struct jsonpath_node *last_of(const struct jsonpath_nodes *nodes)
{
    return nodes->first ? (const struct jsonpath_node *)nodes->last : NULL;
}

static void add_constant(struct parser *p, struct jsonpath_nodes *to, struct value v)
{
    add(p, to, JSONPATH_CONSTANT)->constant = v;
}

static void add_text(struct parser *p, struct jsonpath_nodes *to, struct str text)
{
    add_constant(p, to, value_string(arena_str(p->arena, text)));
}

static int parse_template(struct parser *p, struct jsonpath_nodes *to);

/* `before`, `text` and `after` as an action of their own, whose nodes are returned. What follows a
 * brace that closes it early must be a path too, and then counts for nothing. */
static int parse_inner(struct parser *p, const char *before, struct str text, const char *after,
                       struct jsonpath_nodes *ret)
{
    struct parser inner = *p;
    struct jsonpath_nodes all = { 0 };
    if (++inner.depth > LIMIT_JSONPATH_DEPTH)
        return fault(p, "too many brackets inside each other");
    inner.pos = inner.start = 0;
    inner.in = arena_printf(p->arena, "{%s" STR_FMT "%s}", before, STR_ARG(text), after);
    int r = parse_template(&inner, &all);
    if (r == 0)
        *ret = all.first->nodes;
    return r;
}

/* ---- Fields ---- */

static struct str without_backslashes(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n, 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '\\')
            p[n++] = s.p[i];
    return (struct str){ p, n };
}

static int parse_field(struct parser *p, struct jsonpath_nodes *to)
{
    size_t n;
    (void)consume(p);
    for (int32_t c = peek(p, &n); !is_terminator(c); c = peek(p, &n)) {
        p->pos += n;
        if (c == '\\')
            (void)next(p);
    }
    struct str name = consume(p);
    if (str_eq(name, STR("*")))
        (void)add(p, to, JSONPATH_WILDCARD);
    else
        add(p, to, JSONPATH_FIELD)->name = without_backslashes(p->arena, name);
    return 0;
}

static int parse_recursive(struct parser *p, struct jsonpath_nodes *to)
{
    size_t n;
    const struct jsonpath_node *before = last_of(to);
    if (before && before->type == JSONPATH_RECURSIVE)
        return fault(p, "invalid multiple recursive descent");
    p->pos += 2;
    (void)consume(p);
    (void)add(p, to, JSONPATH_RECURSIVE);
    return is_alphanumeric(p, peek(p, &n)) ? parse_field(p, to) : 0;
}

static int parse_identifier(struct parser *p, struct jsonpath_nodes *to)
{
    size_t n;
    while (!is_terminator(peek(p, &n)))
        p->pos += n;
    struct str name = consume(p);
    if (str_eq(name, STR("true")) || str_eq(name, STR("false")))
        add_constant(p, to, value_bool(str_eq(name, STR("true"))));
    else
        add(p, to, JSONPATH_IDENTIFIER)->name = arena_str(p->arena, name);
    return 0;
}

/* ---- Constants ---- */

static bool to_integer(struct str text, int64_t *ret)
{
    return str_to_i64(str_starts(text, STR("+")) ? str_skip(text, 1) : text, ret);
}

/* Digits with at most one point among them, which may stand at either end. */
static bool to_float(struct arena *a, struct str text, struct value *ret)
{
    size_t from = str_starts(text, STR("-")) || str_starts(text, STR("+")), n_digits = 0,
           n_points = 0;
    for (size_t i = from; i < text.n; i++) {
        n_digits += text.p[i] >= '0' && text.p[i] <= '9';
        n_points += text.p[i] == '.';
    }
    if (!n_digits || n_points > 1 || from + n_digits + n_points < text.n)
        return false;
    double d;
    struct value v = { .type = VALUE_NUMBER, .n = (uint32_t)text.n, .text = text.p };
    if (!value_to_double(&v, &d) || !isfinite(d))
        return false;
    struct str shortest = gofloat_text(a, d);
    *ret = (struct value){ .type = VALUE_NUMBER, .n = (uint32_t)shortest.n, .text = shortest.p };
    return true;
}

static int parse_number(struct parser *p, struct jsonpath_nodes *to)
{
    size_t n;
    int32_t c = peek(p, &n);
    if (c == '+' || c == '-')
        p->pos += n;
    for (c = peek(p, &n); c == '.' || is_digit(p, c); c = peek(p, &n))
        p->pos += n;
    struct str text = consume(p);
    struct value v;
    int64_t i;
    if (to_integer(text, &i))
        v = value_int(i);
    else if (!to_float(p->arena, text, &v))
        return err_set(p->err, ERR_INVALID, "cannot parse number " STR_FMT, STR_ARG(text));
    add_constant(p, to, v);
    return 0;
}

/* The number of `n` digits behind a backslash. */
static bool unquote_digits(struct str *s, size_t n, unsigned base, uint32_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        int digit = i < s->n ? str_hex_digit(s->p[i]) : -1;
        if (digit < 0 || (unsigned)digit >= base)
            return false;
        *ret = *ret * base + (uint32_t)digit;
    }
    *s = str_skip(*s, n);
    return true;
}

/* What follows a backslash, as in Go's strings; in quotes of either kind the other is not escaped.
 */
static bool unquote_escape(struct str *s, char quote, struct buf *out)
{
    static const char letters[] = "abfnrtv\\", meant[] = "\a\b\f\n\r\t\v\\";
    uint32_t code;
    if (!s->n)
        return false;
    char c = *s->p;
    const char *letter = c ? strchr(letters, c) : NULL;
    if (c >= '0' && c <= '7') {
        if (!unquote_digits(s, 3, 8, &code) || code > 0xff)
            return false;
        buf_byte(out, (char)(unsigned char)code);
        return true;
    }
    *s = str_skip(*s, 1);
    if (letter || c == quote) {
        buf_byte(out, letter ? meant[letter - letters] : quote);
        return true;
    }
    if (c == 'x' && unquote_digits(s, 2, 16, &code)) {
        buf_byte(out, (char)(unsigned char)code);
        return true;
    }
    char bytes[4];
    if ((c != 'u' && c != 'U') || !unquote_digits(s, c == 'u' ? 4 : 8, 16, &code) ||
        code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return false;
    buf_add(out, bytes, utf8_encode(bytes, code));
    return true;
}

static bool unquote(struct str s, char quote, struct buf *out)
{
    while (s.n) {
        char c = *s.p;
        if (c == quote)
            return false;
        s = str_skip(s, 1);
        if (c != '\\')
            buf_byte(out, c);
        else if (!unquote_escape(&s, quote, out))
            return false;
    }
    return true;
}

static int parse_quote(struct parser *p, struct jsonpath_nodes *to, char quote)
{
    for (;;) {
        int32_t c = next(p);
        if (c == END || c == '\n')
            return fault(p, "unterminated quoted string");
        if (c == quote && p->in.p[p->pos - 2] != '\\')
            break;
    }
    struct str text = consume(p);
    autobuf out = { 0 };
    if (!unquote(str_take(str_skip(text, 1), text.n - 2), quote, &out))
        return err_set(p->err, ERR_INVALID, "unquote string " STR_FMT " error invalid syntax",
                       STR_ARG(text));
    add_text(p, to, buf_str(&out));
    return 0;
}

/* ---- Brackets ---- */

static int parse_union(struct parser *p, struct str text, struct jsonpath_nodes *to)
{
    struct jsonpath_node *all = add(p, to, JSONPATH_UNION);
    while (text.p) {
        struct str one = str_cut(&text, ',');
        while (one.n && *one.p == ' ')
            one = str_skip(one, 1);
        while (one.n && one.p[one.n - 1] == ' ')
            one.n--;
        struct jsonpath_node *list = add(p, &all->nodes, JSONPATH_LIST);
        int r = parse_inner(p, "[", one, "]", &list->nodes);
        if (r < 0)
            return r;
    }
    return 0;
}

static int parse_key(struct parser *p, struct str key, struct jsonpath_nodes *to)
{
    struct jsonpath_nodes nodes = { 0 };
    int r = parse_inner(p, ".", key, "", &nodes);
    if (r < 0)
        return r;
    if (!to->last)
        to->last = &to->first;
    *to->last = nodes.first;
    to->last = nodes.last;
    return 0;
}

static bool is_slice_part(struct str part)
{
    if (str_starts(part, STR("-")))
        part = str_skip(part, 1);
    for (size_t i = 0; i < part.n; i++)
        if (part.p[i] < '0' || part.p[i] > '9')
            return false;
    return true;
}

static int read_slice_part(struct parser *p, struct str text, struct jsonpath_param *ret)
{
    ret->known = text.n;
    if (!text.n || str_to_i64(text, &ret->value))
        return 0;
    return err_set(p->err, ERR_INVALID, "array index " STR_FMT " is not a number", STR_ARG(text));
}

/* FROM:TO:STEP, any of which may be empty; FROM alone is an index. */
static int parse_slice(struct parser *p, struct str text, struct jsonpath_nodes *to)
{
    struct jsonpath_param params[3] = { 0 };
    struct str rest = text, parts[3] = { { 0 } };
    bool good = true;
    size_t n = 0;
    for (; good && rest.p && n < 3; n++) {
        parts[n] = str_cut(&rest, ':');
        good = is_slice_part(parts[n]);
    }
    if (!good || rest.p)
        return err_set(p->err, ERR_INVALID, "invalid array index " STR_FMT, STR_ARG(text));
    for (size_t i = 0; i < n; i++) {
        int r = read_slice_part(p, parts[i], &params[i]);
        if (r < 0)
            return r;
    }
    if (n == 1) {
        int64_t from = params[0].value;
        params[1] = (struct jsonpath_param){ true, true, from < INT64_MAX ? from + 1 : INT64_MIN };
    }
    memcpy(add(p, to, JSONPATH_ARRAY)->slice, params, sizeof(params));
    return 0;
}

static int parse_array(struct parser *p, struct jsonpath_nodes *to)
{
    for (int32_t c = next(p); c != ']'; c = next(p))
        if (c == END || c == '\n')
            return fault(p, "unterminated array");
    struct str text = consume(p);
    text = str_take(str_skip(text, 1), text.n - 2);
    if (str_eq(text, STR("*")))
        text = STR(":");
    if (str_find(text, ',') >= 0)
        return parse_union(p, text, to);
    struct str key = str_take(str_skip(text, 1), text.n > 1 ? text.n - 2 : 0);
    if (text.n > 1 && *text.p == '\'' && text.p[text.n - 1] == '\'' && str_find(key, '\'') < 0)
        return parse_key(p, key, to);
    return parse_slice(p, text, to);
}

/* ---- Filters ---- */

static enum jsonpath_operator find_operator(struct str text)
{
    static const struct {
        const char *text;
        enum jsonpath_operator op;
    } known[] = {
        { "<", JSONPATH_LESS },        { ">", JSONPATH_GREATER },
        { "==", JSONPATH_EQUAL },      { "!=", JSONPATH_NOT_EQUAL },
        { "<=", JSONPATH_LESS_EQUAL }, { ">=", JSONPATH_GREATER_EQUAL },
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(text, str_of(known[i].text)))
            return known[i].op;
    return JSONPATH_UNKNOWN;
}

static bool is_operator(char c)
{
    return c == '!' || c == '<' || c == '>' || c == '=';
}

/* Cuts `left`, the operator and `right` apart; false if something is not there. */
static bool split_filter(struct str text, struct str *left, struct str *op, struct str *right)
{
    size_t from = 0;
    while (from < text.n && !is_operator(text.p[from]))
        from++;
    size_t to = from;
    while (to < text.n && is_operator(text.p[to]))
        to++;
    if (to == text.n && to > from) /* something must be left for the right side */
        to--;
    if (!from || to == from)
        return false;
    *left = str_take(text, from);
    *op = str_take(str_skip(text, from), to - from);
    *right = str_skip(text, to);
    return true;
}

/* Up to the first `)` that is not in quotes, of which there may be one pair. */
static int skip_filter(struct parser *p)
{
    int32_t quote = 0;
    bool ended = false;
    for (;;) {
        int32_t c = next(p);
        if (c == END || c == '\n')
            return fault(p, "unterminated filter");
        if ((c == '"' || c == '\'') && !quote)
            quote = c;
        else if (quote && c == quote && p->in.p[p->pos - 2] != '\\')
            ended = true;
        else if (c == ')' && (bool)quote == ended)
            break;
    }
    return next(p) == ']' ? 0 : fault(p, "unclosed array expect ]");
}

static int parse_filter(struct parser *p, struct jsonpath_nodes *to)
{
    p->pos += 3;
    (void)consume(p);
    int r = skip_filter(p);
    if (r < 0)
        return r;
    struct str text = consume(p), left, op, right;
    text.n -= 2;
    struct jsonpath_node *filter = add(p, to, JSONPATH_FILTER);
    if (!split_filter(text, &left, &op, &right))
        return parse_inner(p, "", text, "", &filter->nodes);
    filter->op = find_operator(op);
    filter->name = arena_str(p->arena, op);
    r = parse_inner(p, "", left, "", &filter->nodes);
    if (r < 0)
        return r;
    return parse_inner(p, "", right, "", &filter->right);
}

/* ---- Actions ---- */

static int refuse(struct parser *p, int32_t c)
{
    char bytes[4];
    int n = (int)utf8_encode(bytes, (uint32_t)c);
    if (!quote_is_printable((uint32_t)c))
        return err_set(p->err, ERR_INVALID, "unrecognized character in action: U+%04X",
                       (unsigned)c);
    return err_set(p->err, ERR_INVALID, "unrecognized character in action: U+%04X '%.*s'",
                   (unsigned)c, n, bytes);
}

static int parse_step(struct parser *p, struct jsonpath_nodes *to)
{
    if (at(p, "[?("))
        return parse_filter(p, to);
    if (at(p, ".."))
        return parse_recursive(p, to);
    size_t n;
    int32_t c = peek(p, &n);
    if (c == END || is_end_of_line(c))
        return fault(p, "unclosed action");
    if (c == '+' || c == '-' || is_digit(p, c))
        return parse_number(p, to);
    if (is_alphanumeric(p, c))
        return parse_identifier(p, to);
    p->pos += n;
    switch (c) {
    case ' ':
    case '@':
    case '$':
        (void)consume(p);
        return 0;
    case '[':
        return parse_array(p, to);
    case '"':
    case '\'':
        return parse_quote(p, to, (char)c);
    case '.':
        return parse_field(p, to);
    default:
        return refuse(p, c);
    }
}

static int parse_action(struct parser *p, struct jsonpath_nodes *to)
{
    while (!at(p, "}")) {
        int r = parse_step(p, to);
        if (r < 0)
            return r;
    }
    p->pos++;
    (void)consume(p);
    return 0;
}

static int parse_template(struct parser *p, struct jsonpath_nodes *to)
{
    while (p->pos < p->in.n) {
        if (p->in.p[p->pos] != '{') {
            p->pos++;
            continue;
        }
        if (p->pos > p->start)
            add_text(p, to, consume(p));
        p->pos++;
        (void)consume(p);
        int r = parse_action(p, &add(p, to, JSONPATH_LIST)->nodes);
        if (r < 0)
            return r;
    }
    if (p->pos > p->start)
        add_text(p, to, consume(p));
    return 0;
}

int jsonpath_parse(struct arena *a, struct str text, struct jsonpath **ret, struct err *err)
{
    struct classes classes = { 0 };
    struct parser p = { .arena = a, .err = err, .classes = &classes, .in = text };
    struct jsonpath *path = arena_new(a, struct jsonpath);
    int r = parse_template(&p, &path->nodes);
    if (r == 0)
        *ret = path;
    return r;
}
