/* The writer follows go-yaml v2's emitter so closely because people compare what kubectl prints:
 * which style a string gets, where a long line is folded, when a key is too long for "key: value".
 * Like there, the state is the column, the indent, and whether only white space or only indentation
 * has been written so far on this line. It differs where go-yaml's output would not be read back as
 * what it was: a key "<<" is quoted, and Unicode line separators are escaped. */
#include "base/yaml.h"

#include <stdio.h>

#include "base/utf8.h"
#include "base/walk.h"
#include "base/yaml_scalar.h"
#include "base/banned.h"

enum { BEST_INDENT = 2, BEST_WIDTH = 80, SIMPLE_KEY_MAX = 128 };

struct emitter {
    struct buf *out;
    struct walk walk;
    int indent; /* -1 at the root */
    size_t column;
    bool whitespace; /* the last character is white space, or nothing was written yet */
    bool indention;  /* the line holds only indentation and indicators */
};

enum style { STYLE_PLAIN, STYLE_SINGLE, STYLE_DOUBLE, STYLE_LITERAL };

static void put(struct emitter *e, char c)
{
    buf_byte(e->out, c);
    e->column += ((unsigned char)c & 0xc0) != 0x80; /* characters, not bytes */
}

static void put_break(struct emitter *e)
{
    buf_byte(e->out, '\n');
    e->column = 0;
}

static void put_indent(struct emitter *e)
{
    size_t indent = e->indent < 0 ? 0 : (size_t)e->indent;
    if (!e->indention || e->column > indent || (e->column == indent && !e->whitespace))
        put_break(e);
    while (e->column < indent)
        put(e, ' ');
    e->whitespace = true;
    e->indention = true;
}

static void put_separator(struct emitter *e)
{
    if (!e->whitespace)
        put(e, ' ');
}

/* Such as "-" or ":". After `keeps_indention` a collection may start on the same line. */
static void put_indicator(struct emitter *e, char c, bool keeps_indention)
{
    put(e, c);
    e->whitespace = false;
    e->indention = e->indention && keeps_indention;
}

static void put_text(struct emitter *e, struct str text)
{
    put_separator(e);
    for (size_t i = 0; i < text.n; i++)
        put(e, text.p[i]);
    e->whitespace = false;
    e->indention = false;
}

/* What decides about the style of a string. */
struct looks {
    bool has_indicator; /* reads as something else when plain */
    bool has_break;
    bool has_special; /* must be escaped */
    bool has_outer_space;
    bool ends_with_space;
    bool has_space_before_break;
};

/* go-yaml escapes what lies beyond U+FFFF, the tab, and line breaks other than LF. */
static bool is_printable(uint32_t code)
{
    if (code < 0x20)
        return code == '\n';
    return code < 0x7f || (code >= 0xa0 && code < 0x10000 && code != 0xfeff && code != 0xfffe &&
                           code != 0xffff && code != 0x2028 && code != 0x2029);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool starts_with_indicator(struct str s)
{
    bool alone = s.n == 1 || is_blank(s.p[1]);
    if (str_starts(s, STR("---")) || str_starts(s, STR("...")))
        return true;
    if (str_find(STR("#,[]{}&*!|>'\"%@`"), s.p[0]) >= 0)
        return true;
    return alone && (s.p[0] == '?' || s.p[0] == ':' || s.p[0] == '-');
}

static bool is_inner_indicator(struct str s, size_t i)
{
    if (s.p[i] == ':')
        return i + 1 == s.n || is_blank(s.p[i + 1]);
    return s.p[i] == '#' && (is_blank(s.p[i - 1]) || s.p[i - 1] == '\n');
}

static struct looks look_at(struct str s)
{
    struct looks looks = { .has_indicator = starts_with_indicator(s) };
    looks.has_outer_space = s.p[0] == ' ' || s.p[s.n - 1] == ' ';
    looks.ends_with_space = s.p[s.n - 1] == ' ';
    for (size_t i = 0; i < s.n;) {
        size_t step = utf8_step(s.p + i, s.n - i);
        if (!step || !is_printable(utf8_decode(s.p + i, step)))
            looks.has_special = true;
        if (i > 0 && is_inner_indicator(s, i))
            looks.has_indicator = true;
        if (s.p[i] == '\n') {
            looks.has_break = true;
            looks.has_space_before_break |= i > 0 && s.p[i - 1] == ' ';
        }
        i += step ? step : 1;
    }
    return looks;
}

static enum style choose_style(struct str s, bool is_key)
{
    if (s.n == 0)
        return STYLE_DOUBLE;
    struct looks looks = look_at(s);
    if (looks.has_special || looks.has_space_before_break)
        return STYLE_DOUBLE;
    if (looks.has_break)
        return looks.ends_with_space ? STYLE_DOUBLE : STYLE_LITERAL;
    if (yaml_resolve(NULL, s, NULL) != YAML_KIND_STR || yaml_is_base60(s))
        return STYLE_DOUBLE;
    if (is_key && str_eq(s, STR("<<")))
        return STYLE_DOUBLE;
    return looks.has_indicator || looks.has_outer_space ? STYLE_SINGLE : STYLE_PLAIN;
}

/* A single space past the best width becomes a line break, which reads back as a space. */
static bool folds_here(const struct emitter *e, struct str s, size_t i)
{
    return s.p[i] == ' ' && e->column > BEST_WIDTH && i > 0 && s.p[i - 1] != ' ';
}

static void put_plain(struct emitter *e, struct str s, bool may_fold)
{
    put_separator(e);
    for (size_t i = 0; i < s.n; i++) {
        if (may_fold && folds_here(e, s, i) && s.p[i + 1] != ' ') {
            put_indent(e);
            continue;
        }
        put(e, s.p[i]);
        e->indention = false;
    }
    e->whitespace = false;
    e->indention = false;
}

static void put_single_quoted(struct emitter *e, struct str s, bool may_fold)
{
    put_separator(e);
    put_indicator(e, '\'', false);
    for (size_t i = 0; i < s.n; i++) {
        if (may_fold && i + 1 < s.n && folds_here(e, s, i) && s.p[i + 1] != ' ') {
            put_indent(e);
            continue;
        }
        if (s.p[i] == '\'')
            put(e, '\'');
        put(e, s.p[i]);
        e->indention = false;
    }
    put_indicator(e, '\'', false);
}

static char short_escape(uint32_t code)
{
    switch (code) {
    case 0:
        return '0';
    case '\a':
        return 'a';
    case '\b':
        return 'b';
    case '\t':
        return 't';
    case '\n':
        return 'n';
    case '\v':
        return 'v';
    case '\f':
        return 'f';
    case '\r':
        return 'r';
    case 0x1b:
        return 'e';
    case '"':
        return '"';
    case '\\':
        return '\\';
    case 0x85:
        return 'N';
    case 0x2028:
        return 'L';
    case 0x2029:
        return 'P';
    default:
        return 0;
    }
}

static void put_escape(struct emitter *e, uint32_t code)
{
    char name = short_escape(code);
    put(e, '\\');
    if (name) {
        put(e, name);
        return;
    }
    int digits = code <= 0xff ? 2 : code <= 0xffff ? 4 : 8;
    put(e, digits == 2 ? 'x' : digits == 4 ? 'u' : 'U');
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        put(e, "0123456789ABCDEF"[code >> shift & 15]);
}

static void put_double_quoted(struct emitter *e, struct str s, bool may_fold)
{
    put_separator(e);
    put_indicator(e, '"', false);
    for (size_t i = 0; i < s.n;) {
        if (may_fold && i + 1 < s.n && folds_here(e, s, i)) {
            put_indent(e);
            if (s.p[i + 1] == ' ')
                put(e, '\\');
            i++;
            continue;
        }
        size_t step = utf8_step(s.p + i, s.n - i);
        uint32_t code = step ? utf8_decode(s.p + i, step) : 0xfffd;
        if (!step || code == '\n' || code == '"' || code == '\\' || !is_printable(code)) {
            put_escape(e, code);
            i += step ? step : 1;
            continue;
        }
        for (; step; step--)
            put(e, s.p[i++]);
    }
    put_indicator(e, '"', false);
}

static void put_literal(struct emitter *e, struct str s)
{
    put_separator(e);
    put_indicator(e, '|', false);
    if (s.p[0] == ' ' || s.p[0] == '\n')
        put(e, '0' + BEST_INDENT);
    if (s.p[s.n - 1] != '\n')
        put(e, '-');
    else if (s.n == 1 || s.p[s.n - 2] == '\n')
        put(e, '+');
    put_break(e);
    e->indention = true;
    e->whitespace = true;
    bool at_line_start = true;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n') {
            put_break(e);
            e->indention = true;
            at_line_start = true;
            continue;
        }
        if (at_line_start)
            put_indent(e);
        put(e, s.p[i]);
        e->indention = false;
        at_line_start = false;
    }
}

static void put_string(struct emitter *e, struct str s, bool is_simple_key, bool is_key)
{
    int indent = e->indent;
    e->indent = indent < 0 ? BEST_INDENT : indent + BEST_INDENT;
    switch (choose_style(s, is_key)) {
    case STYLE_PLAIN:
        put_plain(e, s, !is_simple_key);
        break;
    case STYLE_SINGLE:
        put_single_quoted(e, s, !is_simple_key);
        break;
    case STYLE_DOUBLE:
        put_double_quoted(e, s, !is_simple_key);
        break;
    case STYLE_LITERAL:
        put_literal(e, s);
        break;
    }
    e->indent = indent;
}

static void put_leaf(struct emitter *e, const struct value *v)
{
    char digits[24];
    switch ((enum value_type)v->type) {
    case VALUE_NULL:
        put_text(e, STR("null"));
        break;
    case VALUE_BOOL:
        put_text(e, v->b ? STR("true") : STR("false"));
        break;
    case VALUE_INT:
        (void)snprintf(digits, sizeof(digits), "%lld", (long long)v->i);
        put_text(e, str_of(digits));
        break;
    case VALUE_NUMBER:
        put_text(e, (struct str){ v->text, v->n });
        break;
    case VALUE_STRING:
        put_string(e, (struct str){ v->text, v->n }, false, false);
        break;
    case VALUE_ARRAY:
        put_text(e, STR("[]"));
        break;
    case VALUE_OBJECT:
        put_text(e, STR("{}"));
        break;
    }
}

/* A collection that is not empty is entered; its frame keeps the indent to come back to. */
static void put_node(struct emitter *e, const struct value *v, bool is_field)
{
    if (!walk_is_container(v) || v->n == 0) {
        put_leaf(e, v);
        return;
    }
    walk_enter(&e->walk, v);
    walk_top(&e->walk)->stop = (uint32_t)(e->indent + 1);
    bool is_flush = v->type == VALUE_ARRAY && is_field && !e->indention;
    if (e->indent < 0)
        e->indent = 0;
    else if (!is_flush)
        e->indent += BEST_INDENT;
}

/* Line breaks by YAML 1.1: LF, CR, NEL, LS and PS. */
static bool has_line_break(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        struct str at = str_skip(s, i);
        if (s.p[i] == '\n' || s.p[i] == '\r' || str_starts(at, STR("\xc2\x85")) ||
            str_starts(at, STR("\xe2\x80\xa8")) || str_starts(at, STR("\xe2\x80\xa9")))
            return true;
    }
    return false;
}

static void put_key(struct emitter *e, struct str key)
{
    put_indent(e);
    if (key.n <= SIMPLE_KEY_MAX && !has_line_break(key)) {
        put_string(e, key, true, true);
        put_indicator(e, ':', false);
        return;
    }
    put_indicator(e, '?', true);
    put_string(e, key, false, true);
    put_indent(e);
    put_indicator(e, ':', true);
}

void yaml_write(struct buf *out, const struct value *v)
{
    struct emitter e = { .out = out, .indent = -1, .whitespace = true, .indention = true };
    walk_init(&e.walk);
    put_node(&e, v, false);
    while (e.walk.n) {
        struct walk_frame *top = walk_top(&e.walk);
        if (top->next == top->v->n) {
            e.indent = (int)top->stop - 1;
            e.walk.n--;
            continue;
        }
        uint32_t i = top->next++;
        if (top->v->type == VALUE_OBJECT) {
            const struct value_field *f = &top->v->fields[i];
            put_key(&e, f->key);
            put_node(&e, &f->val, true);
        } else {
            put_indent(&e);
            put_indicator(&e, '-', true);
            put_node(&e, &top->v->items[i], false);
        }
    }
    put_indent(&e);
    walk_done(&e.walk);
}
