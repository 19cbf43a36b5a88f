#include "base/json_fault.h"

#include "base/limits.h"
#include "base/banned.h"

/* A pushdown scanner: `nest` has one bit a level, set for objects. It stops at the first byte that
 * cannot continue what stands before it. */
struct scanner {
    struct arena *arena;
    struct str rest;
    unsigned char *nest;
    size_t depth;
    struct str fault;
};

static bool at_end(struct scanner *s)
{
    if (!s->rest.n)
        s->fault = STR("unexpected end of JSON input");
    return !s->rest.n;
}

static bool refuse(struct scanner *s, const char *where)
{
    unsigned char c = (unsigned char)s->rest.p[0];
    const char *shown = NULL;
    switch (c) {
    case '\'':
        shown = "\\'";
        break;
    case '"':
        shown = "\"";
        break;
    case '\\':
        shown = "\\\\";
        break;
    case '\a':
        shown = "\\a";
        break;
    case '\b':
        shown = "\\b";
        break;
    case '\f':
        shown = "\\f";
        break;
    case '\n':
        shown = "\\n";
        break;
    case '\r':
        shown = "\\r";
        break;
    case '\t':
        shown = "\\t";
        break;
    case '\v':
        shown = "\\v";
        break;
    default:
        break;
    }
    if (shown)
        s->fault = arena_printf(s->arena, "invalid character '%s' %s", shown, where);
    else if (c >= 0x20 && c < 0x7f)
        s->fault = arena_printf(s->arena, "invalid character '%c' %s", c, where);
    else if (c < 0xa0 || c == 0xad)
        s->fault = arena_printf(s->arena,
                                c < 0x80 ? "invalid character '\\x%02x' %s"
                                         : "invalid character '\\u%04x' %s",
                                c, where);
    else /* Go shows the byte as the code point of that number */
        s->fault = arena_printf(s->arena, "invalid character '%c%c' %s", 0xc0 | c >> 6,
                                0x80 | (c & 0x3f), where);
    return false;
}

static void skip_space(struct scanner *s)
{
    while (s->rest.n && strchr(" \t\r\n", s->rest.p[0]) && s->rest.p[0])
        s->rest = str_skip(s->rest, 1);
}

static bool scan_escape(struct scanner *s)
{
    if (at_end(s))
        return false;
    char c = s->rest.p[0];
    if (!c || !strchr("bfnrt\\/\"u", c))
        return refuse(s, "in string escape code");
    s->rest = str_skip(s->rest, 1);
    for (int i = 0; c == 'u' && i < 4; i++) {
        if (at_end(s))
            return false;
        if (str_hex_digit(s->rest.p[0]) < 0)
            return refuse(s, "in \\u hexadecimal character escape");
        s->rest = str_skip(s->rest, 1);
    }
    return true;
}

static bool scan_string(struct scanner *s) /* behind the opening quote */
{
    for (;;) {
        if (at_end(s))
            return false;
        char c = s->rest.p[0];
        if ((unsigned char)c < 0x20)
            return refuse(s, "in string literal");
        s->rest = str_skip(s->rest, 1);
        if (c == '"')
            return true;
        if (c == '\\' && !scan_escape(s))
            return false;
    }
}

static bool is_digit(const struct scanner *s)
{
    return s->rest.n && s->rest.p[0] >= '0' && s->rest.p[0] <= '9';
}

static bool scan_digits(struct scanner *s, const char *where)
{
    if (at_end(s))
        return false;
    if (!is_digit(s))
        return refuse(s, where);
    while (is_digit(s))
        s->rest = str_skip(s->rest, 1);
    return true;
}

static bool scan_number(struct scanner *s)
{
    if (s->rest.p[0] == '-') {
        s->rest = str_skip(s->rest, 1);
        if (at_end(s))
            return false;
    }
    if (s->rest.p[0] == '0')
        s->rest = str_skip(s->rest, 1);
    else if (!scan_digits(s, "in numeric literal"))
        return false;
    if (s->rest.n && s->rest.p[0] == '.') {
        s->rest = str_skip(s->rest, 1);
        if (!scan_digits(s, "after decimal point in numeric literal"))
            return false;
    }
    if (s->rest.n && (s->rest.p[0] == 'e' || s->rest.p[0] == 'E')) {
        s->rest = str_skip(s->rest, 1);
        if (s->rest.n && (s->rest.p[0] == '+' || s->rest.p[0] == '-'))
            s->rest = str_skip(s->rest, 1);
        return scan_digits(s, "in exponent of numeric literal");
    }
    return true;
}

static bool scan_literal(struct scanner *s, const char *word)
{
    for (const char *p = word; *p; p++) {
        if (at_end(s))
            return false;
        if (s->rest.p[0] != *p) {
            struct str where = arena_printf(s->arena, "in literal %s (expecting '%c')", word, *p);
            return refuse(s, str_cstr(s->arena, where));
        }
        s->rest = str_skip(s->rest, 1);
    }
    return true;
}

static bool scan_scalar(struct scanner *s)
{
    char c = s->rest.p[0];
    if (c == '"') {
        s->rest = str_skip(s->rest, 1);
        return scan_string(s);
    }
    if (c == 't' || c == 'f' || c == 'n')
        return scan_literal(s, c == 't' ? "true" : c == 'f' ? "false" : "null");
    if (c == '-' || is_digit(s))
        return scan_number(s);
    return refuse(s, "looking for beginning of value");
}

/* A key and its colon. */
static bool scan_key(struct scanner *s)
{
    skip_space(s);
    if (at_end(s))
        return false;
    if (s->rest.p[0] != '"')
        return refuse(s, "looking for beginning of object key string");
    s->rest = str_skip(s->rest, 1);
    if (!scan_string(s))
        return false;
    skip_space(s);
    if (at_end(s))
        return false;
    if (s->rest.p[0] != ':')
        return refuse(s, "after object key");
    s->rest = str_skip(s->rest, 1);
    return true;
}

/* Opens an object or array; true with `*ret_closed` if it was empty. */
static bool open_nest(struct scanner *s, bool object, bool *ret_closed)
{
    if (s->depth >= LIMIT_JSON_DEPTH) {
        s->fault = STR("exceeded max depth");
        return false;
    }
    s->rest = str_skip(s->rest, 1);
    skip_space(s);
    if (at_end(s))
        return false;
    *ret_closed = s->rest.p[0] == (object ? '}' : ']');
    if (*ret_closed) {
        s->rest = str_skip(s->rest, 1);
        return true;
    }
    s->nest[s->depth++] = object;
    return !object || scan_key(s);
}

/* After a value: closes what ends here, goes on to the next member. False at the end of the
 * document, or with a fault. */
static bool next_value(struct scanner *s)
{
    while (s->depth) {
        bool object = s->nest[s->depth - 1];
        skip_space(s);
        if (at_end(s))
            return false;
        char c = s->rest.p[0];
        if (c == ',') {
            s->rest = str_skip(s->rest, 1);
            return !object || scan_key(s);
        }
        if (c != (object ? '}' : ']'))
            return refuse(s, object ? "after object key:value pair" : "after array element");
        s->rest = str_skip(s->rest, 1);
        s->depth--;
    }
    return false;
}

struct str json_fault(struct arena *a, struct str text)
{
    struct scanner s = { .arena = a, .rest = text };
    s.nest = arena_array(a, unsigned char, LIMIT_JSON_DEPTH);
    bool more = true;
    while (more) {
        bool whole = true;
        skip_space(&s);
        if (at_end(&s))
            break;
        char c = s.rest.p[0];
        if (c == '{' || c == '[') {
            more = open_nest(&s, c == '{', &whole);
            if (more && !whole)
                continue;
        } else {
            more = scan_scalar(&s);
        }
        more = more && next_value(&s);
    }
    skip_space(&s);
    if (!s.fault.n && s.rest.n)
        (void)refuse(&s, "after top-level value");
    return s.fault;
}
