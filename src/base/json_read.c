/* One pass over the text, no recursion. Children of open containers wait on one scratch stack, in
 * the layout they will have in the tree; when a container closes, they are copied as one array of
 * the exact size into the arena. A frame lies on the stack under the children of its container:
 *
 *     frame of {  | field | field | frame of [ | value | value | value   <- top
 *
 * The place in the text is an argument and a result of every function here, not a field, so that
 * it stays in a register: a function returns where it stopped, or NULL after a failure.
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
    const char *start, *end;
    struct arena *arena;
    struct err *err;
    size_t max_depth;
    char *scratch;
    size_t top, cap;
    size_t frame;  /* offset of the innermost one */
    bool is_spent; /* the arena's allowance has ended */
    alignas(16) char near[SCRATCH_NEAR];
};

static_assert(sizeof(struct frame) % alignof(struct value_field) == 0, "children lie aligned");

static void reader_done(struct reader *r)
{
    if (r->scratch == r->near)
        return;
    free(r->scratch);
    if (r->arena->allowance)
        allowance_give(r->arena->allowance, r->cap);
}

static __attribute__((cold, noinline)) const char *fail(struct reader *r, const char *p,
                                                        const char *what)
{
    size_t at = (size_t)(p - r->start);
    unsigned char c = p < r->end ? (unsigned char)*p : 0;
    if (p == r->end)
        (void)err_set(r->err, ERR_BAD_REQUEST, "JSON: unexpected end at byte %zu: %s", at, what);
    else if (c > 0x20 && c < 0x7f)
        (void)err_set(r->err, ERR_BAD_REQUEST, "JSON: unexpected '%c' at byte %zu: %s", c, at,
                      what);
    else
        (void)err_set(r->err, ERR_BAD_REQUEST, "JSON: unexpected byte 0x%02x at byte %zu: %s", c,
                      at, what);
    return NULL;
}

static __attribute__((noinline)) void grow_scratch(struct reader *r)
{
    char *old = r->scratch == r->near ? NULL : r->scratch;
    size_t more = old ? r->cap : 2 * r->cap;
    r->cap *= 2;
    r->scratch = mem_resize(old, r->cap, 1);
    if (!old)
        memcpy(r->scratch, r->near, sizeof(r->near));
    if (r->arena->allowance)
        allowance_take(r->arena->allowance, more);
    r->is_spent = arena_spent(r->arena);
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

static inline const char *skip_space(const struct reader *r, const char *p)
{
    while (p < r->end && is_space(*p))
        p++;
    return p;
}

static inline bool is_at(const struct reader *r, const char *p, char c)
{
    return p < r->end && *p == c;
}

/* The four digits behind \u; `p` stands on the first one. */
static const char *read_hex4(struct reader *r, const char *p, uint32_t *ret)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++, p++) {
        int digit = p < r->end ? str_hex_digit(*p) : -1;
        if (digit < 0)
            return fail(r, p, "\\u needs four hexadecimal digits");
        code = code << 4 | (uint32_t)digit;
    }
    *ret = code;
    return p;
}

/* `p` stands on the digits. A surrogate without its other half is U+FFFD, as Go's decoder has it:
 * clients do send such text, and kube-apiserver takes it. */
static const char *read_code_point(struct reader *r, const char *p, uint32_t *ret)
{
    enum { REPLACEMENT = 0xfffd };
    uint32_t high = 0, low = 0;
    p = read_hex4(r, p, &high);
    *ret = high;
    if (!p || high < 0xd800 || high > 0xdfff)
        return p;
    *ret = REPLACEMENT;
    if (high >= 0xdc00 || r->end - p < 2 || p[0] != '\\' || p[1] != 'u')
        return p;
    const char *behind = read_hex4(r, p + 2, &low);
    if (!behind || low < 0xdc00 || low > 0xdfff)
        return behind ? p : NULL; /* the second escape stands for itself */
    *ret = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return behind;
}

/* One escape; `p` stands behind the backslash. */
static const char *read_escape(struct reader *r, const char *p, char **to)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = p < r->end ? *p : '\0';
    if (c == 'u') {
        uint32_t code = 0;
        p = read_code_point(r, p + 1, &code);
        if (p)
            *to += utf8_encode(*to, code);
        return p;
    }
    const char *name = c ? memchr(names, c, sizeof(names) - 1) : NULL;
    if (!name)
        return fail(r, p, "unknown escape");
    *(*to)++ = meanings[name - names];
    return p + 1;
}

/* Steps over one character that is neither plain nor quote nor backslash. */
static __attribute__((noinline)) const char *step_character(struct reader *r, const char *p)
{
    if (p == r->end)
        return fail(r, p, "the string is not closed");
    if ((unsigned char)*p < 0x20)
        return fail(r, p, "a control character in a string must be escaped");
    size_t step = utf8_step(p, (size_t)(r->end - p));
    return step ? p + step : fail(r, p, "the string is not UTF-8");
}

/* To the next quote or backslash. */
static inline const char *skip_characters(struct reader *r, const char *p)
{
    for (;;) {
        p += plain_span(p, (size_t)(r->end - p));
        if (p < r->end && (*p == '"' || *p == '\\'))
            return p;
        p = step_character(r, p);
        if (!p)
            return NULL;
    }
}

/* How many bytes the string can have at most, found by looking for its end. */
static size_t escaped_bound(const struct reader *r, const char *from)
{
    const char *p = from;
    while (p < r->end && *p != '"')
        p += *p == '\\' && r->end - p > 1 ? 2 : 1;
    return (size_t)(p - from);
}

/* The rest of a string whose first escape is at `p`: decoded into the arena. No escape is shorter
 * than what it stands for. */
static __attribute__((noinline)) const char *read_escaped(struct reader *r, const char *from,
                                                          const char *p, struct str *ret)
{
    char *text = arena_alloc(r->arena, escaped_bound(r, from), 1);
    char *to = text;
    for (;;) {
        size_t run = (size_t)(p - from);
        memcpy(to, from, run);
        to += run;
        if (*p == '"')
            break;
        from = read_escape(r, p + 1, &to);
        if (!from)
            return NULL;
        p = skip_characters(r, from);
        if (!p)
            return NULL;
    }
    *ret = (struct str){ text, (size_t)(to - text) };
    return p + 1;
}

/* `p` stands behind the opening quote. */
static inline const char *read_string(struct reader *r, const char *p, struct str *ret)
{
    const char *from = p;
    p = skip_characters(r, p);
    if (!p)
        return NULL;
    if (__builtin_expect(*p == '\\', 0))
        return read_escaped(r, from, p, ret);
    *ret = (struct str){ from, (size_t)(p - from) };
    return p + 1;
}

static inline bool is_digit(const struct reader *r, const char *p)
{
    return p < r->end && *p >= '0' && *p <= '9';
}

static const char *skip_digits(struct reader *r, const char *p, const char *what)
{
    if (!is_digit(r, p))
        return fail(r, p, what);
    while (is_digit(r, p))
        p++;
    return p;
}

/* The fraction and exponent of a number, which stays text. */
static const char *read_fraction(struct reader *r, const char *from, const char *p,
                                 struct value *ret)
{
    if (*p == '.')
        p = skip_digits(r, p + 1, "a digit must follow the decimal point");
    if (p && p < r->end && (*p | 0x20) == 'e') {
        p++;
        if (is_at(r, p, '+') || is_at(r, p, '-'))
            p++;
        p = skip_digits(r, p, "the exponent has no digit");
    }
    if (p)
        *ret = (struct value){ .type = VALUE_NUMBER, .n = (uint32_t)(p - from), .text = from };
    return p;
}

enum { SAFE_DIGITS = 18 }; /* any number of so many digits fits int64_t */

static inline const char *read_number(struct reader *r, const char *p, struct value *ret)
{
    const char *from = p;
    bool negative = *p == '-';
    const char *digits = p + negative;
    uint64_t u = 0;
    for (p = digits; is_digit(r, p); p++)
        u = u * 10 + (uint64_t)(*p - '0');
    size_t n = (size_t)(p - digits);
    if (n == 0)
        return fail(r, p, "a number must start with a digit");
    if (n > 1 && *digits == '0')
        return fail(r, digits + 1, "a number must not start with 0");
    if (p < r->end && (*p == '.' || (*p | 0x20) == 'e'))
        return read_fraction(r, from, p, ret);
    if (n > SAFE_DIGITS || (negative && u == 0))
        *ret = value_number((struct str){ from, (size_t)(p - from) });
    else
        *ret = value_int(negative ? -(int64_t)u : (int64_t)u);
    return p;
}

static inline const char *read_word(struct reader *r, const char *p, struct str word,
                                    struct value v, struct value *ret)
{
    if ((size_t)(r->end - p) < word.n || memcmp(p, word.p, word.n) != 0)
        return fail(r, p, "expected a value");
    *ret = v;
    return p + word.n;
}

static inline const char *read_leaf(struct reader *r, const char *p, struct value *ret)
{
    struct str s = { 0 };
    switch (*p) {
    case '"':
        p = read_string(r, p + 1, &s);
        *ret = value_string(s);
        return p;
    case 't':
        return read_word(r, p, STR("true"), value_bool(true), ret);
    case 'f':
        return read_word(r, p, STR("false"), value_bool(false), ret);
    case 'n':
        return read_word(r, p, STR("null"), value_null(), ret);
    case '-':
    case '0' ... '9':
        return read_number(r, p, ret);
    default:
        return fail(r, p, "expected a value");
    }
}

/* A key and its colon; the field is pushed with its value still open. */
static inline const char *read_key(struct reader *r, const char *p)
{
    struct str key = { 0 };
    p = skip_space(r, p);
    if (!is_at(r, p, '"'))
        return fail(r, p, "expected a key in quotes");
    p = read_string(r, p + 1, &key);
    if (!p)
        return NULL;
    p = skip_space(r, p);
    if (!is_at(r, p, ':'))
        return fail(r, p, "':' must follow a key");
    ((struct value_field *)push(r, sizeof(struct value_field)))->key = key;
    return p + 1;
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

/* After a child: closes the containers that end here and goes on to the next value, which stands
 * at the place returned; when the root is complete, `*ret_done` is set. */
static inline const char *next_value(struct reader *r, const char *p, bool *ret_done)
{
    for (;;) {
        uint8_t type = frame_of(r)->type;
        if (type == VALUE_NULL) {
            *ret_done = true;
            return p;
        }
        p = skip_space(r, p);
        if (is_at(r, p, ','))
            return type == VALUE_OBJECT ? read_key(r, p + 1) : p + 1;
        if (!is_at(r, p, type == VALUE_OBJECT ? '}' : ']'))
            return fail(r, p, type == VALUE_OBJECT ? "expected ',' or '}'" : "expected ',' or ']'");
        p++;
        place(r, close_container(r));
    }
}

/* Opens the container at `p` and goes on to its first value, as above. */
static inline const char *open_container(struct reader *r, const char *p, bool *ret_done)
{
    enum value_type type = *p == '{' ? VALUE_OBJECT : VALUE_ARRAY;
    uint32_t depth = frame_of(r)->depth + 1;
    if (depth > r->max_depth)
        return fail(r, p, "nested too deeply");
    size_t at = r->top;
    struct frame *f = push(r, sizeof(*f));
    *f = (struct frame){ .parent = r->frame, .depth = depth, .type = (uint8_t)type };
    r->frame = at;

    p = skip_space(r, p + 1);
    if (is_at(r, p, type == VALUE_OBJECT ? '}' : ']')) {
        place(r, close_container(r));
        return next_value(r, p + 1, ret_done);
    }
    return type == VALUE_OBJECT ? read_key(r, p) : p;
}

/* One value with everything in it, onto the stack. */
static const char *read_tree(struct reader *r, const char *p)
{
    bool done = false;
    while (p && !done && !r->is_spent) {
        p = skip_space(r, p);
        if (p == r->end)
            return fail(r, p, "expected a value");
        if (*p == '{' || *p == '[') {
            p = open_container(r, p, &done);
            continue;
        }
        struct value v = value_null();
        p = read_leaf(r, p, &v);
        if (p) {
            place(r, v);
            p = next_value(r, p, &done);
        }
    }
    return p;
}

int json_read(struct arena *a, struct str text, const struct json_options *opt, struct value *ret,
              struct err *err)
{
    if (text.n > UINT32_MAX)
        return err_set(err, ERR_TOO_LARGE, "JSON: the text is larger than 4 GiB");
    __attribute__((cleanup(reader_done))) struct reader r;
    r.start = text.n ? text.p : "";
    r.end = r.start + text.n;
    r.arena = a;
    r.err = err;
    r.max_depth = opt && opt->max_depth ? opt->max_depth : LIMIT_JSON_DEPTH;
    r.scratch = r.near;
    r.top = r.frame = 0;
    r.cap = sizeof(r.near);
    r.is_spent = false;
    *(struct frame *)push(&r, sizeof(struct frame)) = (struct frame){ .type = VALUE_NULL };

    const char *p = read_tree(&r, r.start);
    if (p && r.is_spent)
        return allowance_error(a->allowance, err);
    if (p) {
        p = skip_space(&r, p);
        if (p != r.end)
            p = fail(&r, p, "nothing may follow the value");
    }
    if (!p)
        return -ERR_BAD_REQUEST;
    *ret = ((struct value *)(r.scratch + r.top))[-1];
    if (opt && opt->ret_duplicate)
        *opt->ret_duplicate = value_find_duplicate(a, ret);
    return 0;
}
