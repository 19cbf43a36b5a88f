/* The writer copies and scans a string in one pass (plain.h) and looks closer only where a byte is
 * not plain. A string that is not UTF-8 breaks a promise of value.h, but log lines pass anything
 * here: each bad byte is written as \ufffd, as Go does, so what comes out is always JSON. */
#include "base/json.h"

#include "base/plain.h"
#include "base/utf8.h"
#include "base/walk.h"
#include "base/banned.h"

enum { ESCAPE_MAX = 6, INT_DIGITS_MAX = 20 };

/* What stands behind the backslash, or 0 when the byte needs \u00XX. */
static char short_escape(char c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

static bool is_line_separator(const char *p, size_t n)
{
    return n == 3 && memcmp(p, "\xe2\x80", 2) == 0 && ((unsigned char)p[2] & 0xfe) == 0xa8;
}

/* Turns the special character at the front of `s` into its written form, at most ESCAPE_MAX
 * bytes, and returns how many there are. `*ret_eaten` says how long the character was. */
static size_t escape(struct str s, char to[static ESCAPE_MAX], size_t *ret_eaten)
{
    static const char hex[] = "0123456789abcdef";
    char c = s.p[0];
    *ret_eaten = 1;
    to[0] = '\\';
    to[1] = short_escape(c);
    if (to[1])
        return 2;
    if ((unsigned char)c < 0x20) {
        memcpy(to, "\\u00", 4);
        to[4] = hex[c >> 4];
        to[5] = hex[c & 15];
        return 6;
    }
    size_t step = utf8_step(s.p, s.n);
    if (!step) {
        memcpy(to, "\\ufffd", 6);
        return 6;
    }
    *ret_eaten = step;
    if (is_line_separator(s.p, step)) {
        memcpy(to, "\\u202", 5);
        to[5] = hex[s.p[2] & 15];
        return 6;
    }
    memcpy(to, s.p, step);
    return step;
}

/* The rest of a string from its first special character on. */
static void write_special(struct buf *out, struct str s)
{
    while (s.n) {
        char piece[ESCAPE_MAX];
        size_t eaten;
        size_t n = escape(s, piece, &eaten);
        buf_add(out, piece, n);
        s = str_skip(s, eaten);
        buf_reserve(out, s.n + 1);
        size_t plain = plain_copy(out->p + out->n, s.p, s.n);
        out->n += plain;
        s = str_skip(s, plain);
    }
}

static inline void write_string(struct buf *out, struct str s)
{
    if (out->cap - out->n < s.n + 3)
        buf_reserve(out, s.n + 3);
    out->p[out->n++] = '"';
    size_t plain = plain_copy(out->p + out->n, s.p, s.n);
    out->n += plain;
    if (__builtin_expect(plain < s.n, 0)) {
        write_special(out, str_skip(s, plain));
        buf_reserve(out, 2);
    }
    out->p[out->n++] = '"';
}

void json_write_string(struct buf *out, struct str s)
{
    write_string(out, s);
}

/* Decimal digits at the end of `text`; returns where they start. */
static size_t format_int(int64_t i, char text[static INT_DIGITS_MAX])
{
    uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    size_t at = INT_DIGITS_MAX;
    do {
        text[--at] = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (i < 0)
        text[--at] = '-';
    return at;
}

static void write_int(struct buf *out, int64_t i)
{
    char text[INT_DIGITS_MAX];
    size_t at = format_int(i, text);
    buf_add(out, text + at, sizeof(text) - at);
}

static inline void write_leaf(struct buf *out, const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_NULL:
        buf_add(out, "null", 4);
        break;
    case VALUE_BOOL:
        if (v->b)
            buf_add(out, "true", 4);
        else
            buf_add(out, "false", 5);
        break;
    case VALUE_INT:
        write_int(out, v->i);
        break;
    case VALUE_NUMBER:
        buf_add(out, v->text, v->n);
        break;
    case VALUE_STRING:
        write_string(out, (struct str){ v->text, v->n });
        break;
    case VALUE_ARRAY:
        buf_add(out, "[]", 2);
        break;
    case VALUE_OBJECT:
        buf_add(out, "{}", 2);
        break;
    }
}

static void new_line(struct buf *out, size_t depth)
{
    buf_reserve(out, 1 + 2 * depth);
    out->p[out->n++] = '\n';
    memset(out->p + out->n, ' ', 2 * depth);
    out->n += 2 * depth;
}

/* Writes what stands before the next child of the innermost container and returns that child, or
 * closes containers until one has a child left. NULL when the root is closed. */
static inline const struct value *next_child(struct buf *out, struct walk *w, bool pretty)
{
    while (w->n) {
        struct walk_frame *top = walk_top(w);
        bool is_object = top->v->type == VALUE_OBJECT;
        if (top->next == top->v->n) {
            w->n--;
            if (pretty)
                new_line(out, w->n);
            buf_byte(out, is_object ? '}' : ']');
            continue;
        }
        if (top->next)
            buf_byte(out, ',');
        if (pretty)
            new_line(out, w->n);
        uint32_t i = top->next++;
        if (!is_object)
            return &top->v->items[i];
        const struct value_field *field = &top->v->fields[i];
        write_string(out, field->key);
        buf_byte(out, ':');
        if (pretty)
            buf_byte(out, ' ');
        return &field->val;
    }
    return NULL;
}

static inline void write_tree(struct buf *out, const struct value *v, bool pretty)
{
    autowalk w;
    walk_init(&w);
    while (v) {
        if (walk_is_container(v) && v->n) {
            buf_byte(out, v->type == VALUE_OBJECT ? '{' : '[');
            walk_enter(&w, v);
        } else {
            write_leaf(out, v);
        }
        v = next_child(out, &w, pretty);
    }
}

void json_write(struct buf *out, const struct value *v)
{
    write_tree(out, v, false);
}

void json_write_pretty(struct buf *out, const struct value *v)
{
    write_tree(out, v, true);
}

static size_t string_length(struct str s)
{
    size_t total = 2;
    while (s.n) {
        size_t plain = plain_span(s.p, s.n);
        total += plain;
        s = str_skip(s, plain);
        if (s.n) {
            char piece[ESCAPE_MAX];
            size_t eaten;
            total += escape(s, piece, &eaten);
            s = str_skip(s, eaten);
        }
    }
    return total;
}

static size_t leaf_length(const struct value *v)
{
    char digits[INT_DIGITS_MAX];
    switch ((enum value_type)v->type) {
    case VALUE_NULL:
        return 4;
    case VALUE_BOOL:
        return v->b ? 4 : 5;
    case VALUE_INT:
        return INT_DIGITS_MAX - format_int(v->i, digits);
    case VALUE_NUMBER:
        return v->n;
    case VALUE_STRING:
        return string_length((struct str){ v->text, v->n });
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        return 2;
    }
    return 0;
}

size_t json_length(const struct value *v)
{
    size_t total = 0;
    autowalk w;
    walk_init(&w);
    while (v) {
        if (walk_is_container(v) && v->n) {
            total += 2 + (v->n - 1); /* brackets and commas */
            walk_enter(&w, v);
        } else {
            total += leaf_length(v);
        }
        while (w.n && walk_top(&w)->next == walk_top(&w)->v->n)
            w.n--;
        v = NULL;
        if (w.n) {
            struct walk_frame *top = walk_top(&w);
            uint32_t i = top->next++;
            bool is_object = top->v->type == VALUE_OBJECT;
            if (is_object)
                total += string_length(top->v->fields[i].key) + 1;
            v = is_object ? &top->v->fields[i].val : &top->v->items[i];
        }
    }
    return total;
}
