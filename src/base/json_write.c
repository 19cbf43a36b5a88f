/* The writer copies and scans a string in one pass (plain.h) and looks closer only where a byte is
 * not plain. The place to write to is an argument and a result, not a field, so that it stays in a
 * register; out->n is set when the buffer grows and at the end. Who has written something leaves
 * room for PUNCTUATION more bytes, which need no check of their own.
 * A string that is not UTF-8 breaks a promise of value.h, but log lines pass anything
 * here: each bad byte is written as \ufffd, as Go does, so what comes out is always JSON. */
#include "base/json.h"

#include "base/plain.h"
#include "base/utf8.h"
#include "base/walk.h"
#include "base/banned.h"

enum { ESCAPE_MAX = 6, INT_DIGITS_MAX = 20, PUNCTUATION = 8 };

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

static size_t put_piece(char *to, struct str s)
{
    memcpy(to, s.p, s.n);
    return s.n;
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
        (void)put_piece(to, STR("\\u00"));
        to[4] = hex[c >> 4];
        to[5] = hex[c & 15];
        return 6;
    }
    size_t step = utf8_step(s.p, s.n);
    if (!step)
        return put_piece(to, STR("\\ufffd"));
    *ret_eaten = step;
    if (is_line_separator(s.p, step)) {
        (void)put_piece(to, STR("\\u202"));
        to[5] = hex[s.p[2] & 15];
        return 6;
    }
    return put_piece(to, str_take(s, step));
}

static __attribute__((noinline)) char *grow(struct buf *out, char *p, size_t n)
{
    out->n = (size_t)(p - out->p);
    buf_reserve(out, n);
    return out->p + out->n;
}

static inline char *room(struct buf *out, char *p, size_t n)
{
    n += PUNCTUATION;
    return __builtin_expect((size_t)(out->p + out->cap - p) < n, 0) ? grow(out, p, n) : p;
}

/* The rest of a string from its first special character on. */
static __attribute__((noinline)) char *put_special(struct buf *out, char *p, struct str s)
{
    while (s.n) {
        p = room(out, p, ESCAPE_MAX + s.n);
        size_t eaten;
        p += escape(s, p, &eaten);
        s = str_skip(s, eaten);
        size_t plain = plain_copy(p, s.p, s.n);
        p += plain;
        s = str_skip(s, plain);
    }
    return room(out, p, 0);
}

static inline char *put_string(struct buf *out, char *p, struct str s)
{
    p = room(out, p, s.n);
    *p++ = '"';
    size_t plain = plain_copy(p, s.p, s.n);
    p += plain;
    if (__builtin_expect(plain < s.n, 0))
        p = put_special(out, p, str_skip(s, plain));
    *p++ = '"';
    return p;
}

void json_write_string(struct buf *out, struct str s)
{
    buf_reserve(out, s.n + PUNCTUATION);
    char *p = put_string(out, out->p + out->n, s);
    out->n = (size_t)(p - out->p);
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

static inline char *put_text(struct buf *out, char *p, struct str s)
{
    p = room(out, p, s.n);
    memcpy(p, s.p, s.n);
    return p + s.n;
}

static char *put_int(struct buf *out, char *p, int64_t i)
{
    char text[INT_DIGITS_MAX];
    size_t at = format_int(i, text);
    return put_text(out, p, (struct str){ text + at, sizeof(text) - at });
}

void json_write_int(struct buf *out, int64_t i)
{
    char text[INT_DIGITS_MAX];
    size_t at = format_int(i, text);
    buf_add(out, text + at, sizeof(text) - at);
}

static inline char *put_leaf(struct buf *out, char *p, const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_NULL:
        return put_text(out, p, STR("null"));
    case VALUE_BOOL:
        return v->b ? put_text(out, p, STR("true")) : put_text(out, p, STR("false"));
    case VALUE_INT:
        return put_int(out, p, v->i);
    case VALUE_NUMBER:
        return put_text(out, p, (struct str){ v->text, v->n });
    case VALUE_STRING:
        return put_string(out, p, (struct str){ v->text, v->n });
    case VALUE_ARRAY:
        return put_text(out, p, STR("[]"));
    case VALUE_OBJECT:
        return put_text(out, p, STR("{}"));
    }
    return p;
}

static char *put_line(struct buf *out, char *p, size_t depth)
{
    p = room(out, p, 1 + 2 * depth);
    *p++ = '\n';
    memset(p, ' ', 2 * depth);
    return p + 2 * depth;
}

/* Writes what stands before the next child of the innermost container and gives that child, or
 * closes containers until one has a child left. `*ret` is NULL when the root is closed. */
static inline char *put_next(struct buf *out, char *p, struct walk *w, bool pretty,
                             const struct value **ret)
{
    *ret = NULL;
    while (w->n) {
        struct walk_frame *top = walk_top(w);
        const struct value *v = top->v;
        uint32_t i = top->next;
        if (i == v->n) {
            w->n--;
            p = pretty ? put_line(out, p, w->n) : room(out, p, 0);
            *p++ = v->type == VALUE_OBJECT ? '}' : ']';
            continue;
        }
        top->next++;
        if (i)
            *p++ = ',';
        if (pretty)
            p = put_line(out, p, w->n);
        if (v->type == VALUE_ARRAY) {
            *ret = &v->items[i];
            return p;
        }
        p = put_string(out, p, v->fields[i].key);
        *p++ = ':';
        if (pretty)
            *p++ = ' ';
        *ret = &v->fields[i].val;
        return p;
    }
    return p;
}

static inline void write_tree(struct buf *out, const struct value *v, bool pretty)
{
    autowalk w;
    walk_init(&w);
    buf_reserve(out, PUNCTUATION);
    char *p = out->p + out->n;
    while (v) {
        if (walk_is_container(v) && v->n) {
            p = room(out, p, 0);
            *p++ = v->type == VALUE_OBJECT ? '{' : '[';
            walk_enter(&w, v);
        } else {
            p = put_leaf(out, p, v);
        }
        p = put_next(out, p, &w, pretty, &v);
    }
    out->n = (size_t)(p - out->p);
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
