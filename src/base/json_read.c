/* One pass over the text, no recursion. Children of open containers wait on one scratch stack, in
 * the layout they will have in the tree; when a container closes, they are copied as one array of
 * the exact size into the arena. A frame lies on the stack under the children of its container:
 *
 *     frame of {  | field | field | frame of [ | value | value | value   <- top
 *
 * The stack starts on the thread's stack and moves to the heap when it grows, so depth costs heap
 * and is bounded by max_depth. Plain bytes of strings are skipped in blocks (plain.h). */
#include "base/json.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "base/banned.h"

enum { SCRATCH_NEAR = 4096 };

struct frame {
    size_t parent;  /* offset of the frame below */
    uint32_t depth; /* 0 for the frame under the root */
    uint8_t type;   /* VALUE_ARRAY, VALUE_OBJECT, or VALUE_NULL under the root */
};

struct reader {
    const char *p, *end, *start;
    struct arena *arena;
    struct err *err;
    size_t max_depth;
    char *scratch;
    size_t top, cap;
    size_t frame; /* offset of the innermost one */
    alignas(16) char near[SCRATCH_NEAR];
};

static_assert(sizeof(struct frame) % alignof(struct value_field) == 0, "children lie aligned");

static void reader_done(struct reader *r)
{
    if (r->scratch != r->near)
        free(r->scratch);
}

static __attribute__((cold, noinline)) int fail(struct reader *r, const char *what)
{
    size_t at = (size_t)(r->p - r->start);
    if (r->p == r->end)
        return err_set(r->err, ERR_BAD_REQUEST, "JSON: unexpected end at byte %zu: %s", at, what);
    unsigned char c = (unsigned char)*r->p;
    if (c > 0x20 && c < 0x7f)
        return err_set(r->err, ERR_BAD_REQUEST, "JSON: unexpected '%c' at byte %zu: %s", c, at,
                       what);
    return err_set(r->err, ERR_BAD_REQUEST, "JSON: unexpected byte 0x%02x at byte %zu: %s", c, at,
                   what);
}

static __attribute__((noinline)) void grow_scratch(struct reader *r)
{
    char *old = r->scratch == r->near ? NULL : r->scratch;
    r->cap *= 2;
    r->scratch = mem_resize(old, r->cap, 1);
    if (!old)
        memcpy(r->scratch, r->near, sizeof(r->near));
}

/* The next `n` bytes of the stack; they move when it grows. */
static inline void *push(struct reader *r, size_t n)
{
    if (__builtin_expect(r->cap - r->top < n, 0))
        grow_scratch(r);
    void *p = r->scratch + r->top;
    r->top += n;
    return p;
}

static inline struct frame *frame_of(struct reader *r)
{
    return (struct frame *)(r->scratch + r->frame);
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline void skip_space(struct reader *r)
{
    while (r->p < r->end && is_space(*r->p))
        r->p++;
}

/* Skips white space and eats `c` if it stands there. */
static inline bool eat(struct reader *r, char c)
{
    skip_space(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits behind \u; `r->p` stands on the first one. */
static int read_hex4(struct reader *r, uint32_t *ret)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = r->p < r->end ? hex_digit(*r->p) : -1;
        if (digit < 0)
            return fail(r, "\\u wants four hexadecimal digits");
        code = code << 4 | (uint32_t)digit;
        r->p++;
    }
    *ret = code;
    return 0;
}

static int read_code_point(struct reader *r, uint32_t *ret)
{
    const char *escape = r->p - 2;
    uint32_t high, low;
    int e = read_hex4(r, &high);
    if (e < 0)
        return e;
    *ret = high;
    if (high < 0xd800 || high > 0xdfff)
        return 0;
    if (high < 0xdc00 && r->end - r->p >= 2 && r->p[0] == '\\' && r->p[1] == 'u') {
        r->p += 2;
        e = read_hex4(r, &low);
        if (e < 0)
            return e;
        if (low >= 0xdc00 && low <= 0xdfff) {
            *ret = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            return 0;
        }
    }
    r->p = escape;
    return fail(r, "a surrogate without its other half");
}

/* One escape; `r->p` stands behind the backslash. */
static int read_escape(struct reader *r, char **to)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = r->p < r->end ? *r->p : '\0';
    if (c == 'u') {
        uint32_t code;
        r->p++;
        int e = read_code_point(r, &code);
        if (e < 0)
            return e;
        *to += utf8_encode(*to, code);
        return 0;
    }
    const char *name = c ? memchr(names, c, sizeof(names) - 1) : NULL;
    if (!name)
        return fail(r, "no such escape");
    *(*to)++ = meanings[name - names];
    r->p++;
    return 0;
}

/* Steps over one character that is neither plain nor quote nor backslash. */
static int step_character(struct reader *r)
{
    if (r->p == r->end)
        return fail(r, "the string is not closed");
    if ((unsigned char)*r->p < 0x20)
        return fail(r, "a control character in a string must be escaped");
    size_t step = utf8_step(r->p, (size_t)(r->end - r->p));
    if (!step)
        return fail(r, "the string is not UTF-8");
    r->p += step;
    return 0;
}

/* How many bytes the string can have at most, found by looking for its end. */
static size_t escaped_bound(const struct reader *r, const char *from)
{
    const char *p = from;
    while (p < r->end && *p != '"')
        p += *p == '\\' && r->end - p > 1 ? 2 : 1;
    return (size_t)(p - from);
}

/* The rest of a string whose first escape is at `r->p`: decoded into the arena. No escape is
 * shorter than what it stands for. */
static __attribute__((noinline)) int read_escaped(struct reader *r, const char *from,
                                                  struct str *ret)
{
    char *text = arena_alloc(r->arena, escaped_bound(r, from), 1);
    char *to = text;
    for (;;) {
        size_t run = (size_t)(r->p - from);
        memcpy(to, from, run);
        to += run;
        if (*r->p == '"')
            break;
        r->p++;
        int e = read_escape(r, &to);
        if (e < 0)
            return e;
        from = r->p;
        for (;;) {
            r->p += plain_span(r->p, (size_t)(r->end - r->p));
            if (r->p < r->end && (*r->p == '"' || *r->p == '\\'))
                break;
            e = step_character(r);
            if (e < 0)
                return e;
        }
    }
    r->p++;
    *ret = (struct str){ text, (size_t)(to - text) };
    return 0;
}

/* `r->p` stands behind the opening quote. */
static inline int read_string(struct reader *r, struct str *ret)
{
    const char *from = r->p;
    for (;;) {
        r->p += plain_span(r->p, (size_t)(r->end - r->p));
        if (r->p < r->end && *r->p == '"')
            break;
        if (r->p < r->end && *r->p == '\\')
            return read_escaped(r, from, ret);
        int e = step_character(r);
        if (e < 0)
            return e;
    }
    *ret = (struct str){ from, (size_t)(r->p - from) };
    r->p++;
    return 0;
}

static inline bool is_digit(const struct reader *r)
{
    return r->p < r->end && *r->p >= '0' && *r->p <= '9';
}

static int skip_digits(struct reader *r, const char *what)
{
    if (!is_digit(r))
        return fail(r, what);
    while (is_digit(r))
        r->p++;
    return 0;
}

/* The fraction and exponent of a number, which stays text. */
static int read_fraction(struct reader *r, const char *from, struct value *ret)
{
    int e = 0;
    if (*r->p == '.') {
        r->p++;
        e = skip_digits(r, "a digit must follow the decimal point");
    }
    if (e == 0 && r->p < r->end && (*r->p | 0x20) == 'e') {
        r->p++;
        if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
            r->p++;
        e = skip_digits(r, "the exponent has no digit");
    }
    *ret = (struct value){ .type = VALUE_NUMBER, .n = (uint32_t)(r->p - from), .text = from };
    return e;
}

enum { SAFE_DIGITS = 18 }; /* any number of so many digits fits int64_t */

static inline int read_number(struct reader *r, struct value *ret)
{
    const char *from = r->p;
    bool negative = *r->p == '-';
    r->p += negative;
    const char *digits = r->p;
    uint64_t u = 0;
    while (is_digit(r))
        u = u * 10 + (uint64_t)(*r->p++ - '0');
    size_t n = (size_t)(r->p - digits);
    if (n == 0)
        return fail(r, "a number must start with a digit");
    if (n > 1 && *digits == '0') {
        r->p = digits + 1;
        return fail(r, "a number must not start with 0");
    }
    if (r->p < r->end && (*r->p == '.' || (*r->p | 0x20) == 'e'))
        return read_fraction(r, from, ret);
    if (n > SAFE_DIGITS || (negative && u == 0))
        *ret = value_number((struct str){ from, (size_t)(r->p - from) });
    else
        *ret = value_int(negative ? -(int64_t)u : (int64_t)u);
    return 0;
}

static inline int read_word(struct reader *r, struct str word, struct value v, struct value *ret)
{
    if ((size_t)(r->end - r->p) < word.n || memcmp(r->p, word.p, word.n) != 0)
        return fail(r, "no value starts like this");
    r->p += word.n;
    *ret = v;
    return 0;
}

static int open_container(struct reader *r, enum value_type type)
{
    uint32_t depth = frame_of(r)->depth + 1;
    if (depth > r->max_depth)
        return fail(r, "nested too deeply");
    size_t at = r->top;
    struct frame *f = push(r, sizeof(*f));
    *f = (struct frame){ .parent = r->frame, .depth = depth, .type = (uint8_t)type };
    r->frame = at;
    r->p++;
    return 0;
}

/* Pops the innermost frame and turns its children into an array in the arena. */
static inline struct value close_container(struct reader *r)
{
    const struct frame *f = frame_of(r);
    const char *children = (const char *)(f + 1);
    size_t bytes = (size_t)(r->scratch + r->top - children);
    bool is_object = f->type == VALUE_OBJECT;
    struct value v = { .type = f->type };
    v.n = (uint32_t)(bytes / (is_object ? sizeof(struct value_field) : sizeof(struct value)));
    if (bytes) {
        v.items = arena_alloc(r->arena, bytes, alignof(struct value_field));
        memcpy(v.items, children, bytes);
    }
    r->top = r->frame;
    r->frame = f->parent;
    return v;
}

/* A finished value becomes a child of the innermost container. */
static inline void place(struct reader *r, struct value v)
{
    if (frame_of(r)->type == VALUE_OBJECT)
        ((struct value_field *)(r->scratch + r->top))[-1].val = v;
    else
        *(struct value *)push(r, sizeof(v)) = v;
}

static inline int read_leaf(struct reader *r, struct value *ret)
{
    struct str s;
    int e;
    switch (*r->p) {
    case '"':
        r->p++;
        e = read_string(r, &s);
        if (e == 0)
            *ret = value_string(s);
        return e;
    case 't':
        return read_word(r, STR("true"), value_bool(true), ret);
    case 'f':
        return read_word(r, STR("false"), value_bool(false), ret);
    case 'n':
        return read_word(r, STR("null"), value_null(), ret);
    case '-':
    case '0' ... '9':
        return read_number(r, ret);
    default:
        return fail(r, "no value starts like this");
    }
}

/* A key and its colon; the field is pushed with its value still open. */
static inline int read_key(struct reader *r)
{
    struct str key;
    if (!eat(r, '"'))
        return fail(r, "a key in quotes is wanted");
    int e = read_string(r, &key);
    if (e < 0)
        return e;
    if (!eat(r, ':'))
        return fail(r, "':' must follow a key");
    ((struct value_field *)push(r, sizeof(struct value_field)))->key = key;
    return 0;
}

/* After a child: goes on to the next one, closing containers that end here. Returns 1 when a value
 * is to be read next, 0 when the root is complete. */
static inline int next_value(struct reader *r)
{
    for (;;) {
        uint8_t type = frame_of(r)->type;
        if (type == VALUE_NULL)
            return 0;
        if (eat(r, ',')) {
            int e = type == VALUE_OBJECT ? read_key(r) : 0;
            return e < 0 ? e : 1;
        }
        if (r->p == r->end || *r->p != (type == VALUE_OBJECT ? '}' : ']'))
            return fail(r, type == VALUE_OBJECT ? "',' or '}' is wanted" : "',' or ']' is wanted");
        r->p++;
        place(r, close_container(r));
    }
}

/* Opens a container. Returns 1 when its first value is to be read next, 0 when it was empty. */
static inline int read_opening(struct reader *r, enum value_type type)
{
    int e = open_container(r, type);
    if (e < 0)
        return e;
    if (eat(r, type == VALUE_OBJECT ? '}' : ']')) {
        place(r, close_container(r));
        return 0;
    }
    e = type == VALUE_OBJECT ? read_key(r) : 0;
    return e < 0 ? e : 1;
}

/* One value with everything in it, onto the stack. */
static int read_tree(struct reader *r)
{
    int more = 1;
    while (more > 0) {
        skip_space(r);
        if (r->p == r->end)
            return fail(r, "a value is wanted");
        if (*r->p == '{' || *r->p == '[') {
            more = read_opening(r, *r->p == '{' ? VALUE_OBJECT : VALUE_ARRAY);
            if (more)
                continue;
        } else {
            struct value v;
            more = read_leaf(r, &v);
            if (more < 0)
                break;
            place(r, v);
        }
        more = next_value(r);
    }
    return more;
}

int json_read(struct arena *a, struct str text, const struct json_options *opt, struct value *ret,
              struct err *err)
{
    if (text.n > UINT32_MAX)
        return err_set(err, ERR_TOO_LARGE, "JSON: the text is larger than 4 GiB");
    __attribute__((cleanup(reader_done))) struct reader r;
    r.p = r.start = text.n ? text.p : "";
    r.end = r.p + text.n;
    r.arena = a;
    r.err = err;
    r.max_depth = opt && opt->max_depth ? opt->max_depth : LIMIT_JSON_DEPTH;
    r.scratch = r.near;
    r.top = r.frame = 0;
    r.cap = sizeof(r.near);
    *(struct frame *)push(&r, sizeof(struct frame)) = (struct frame){ .type = VALUE_NULL };

    int e = read_tree(&r);
    if (e < 0)
        return e;
    skip_space(&r);
    if (r.p != r.end)
        return fail(&r, "nothing may follow the value");
    *ret = ((struct value *)(r.scratch + r.top))[-1];
    if (opt && opt->ret_duplicate)
        *opt->ret_duplicate = value_find_duplicate(a, ret);
    return 0;
}
