/* Functions on text: charAt, indexOf, join, lastIndexOf, lowerAscii, replace, split, substring,
 * trim, upperAscii, strings.quote (cel-go's strings library, version 2). Positions are counted in
 * code points. format() is in lib_format.c. */
#include "base/idiom.h"
#include "cel/internal.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/utf8.h"

#include "base/banned.h"

/* Where code point `i` begins; the length of `s` if there are just `i` of them. */
static size_t offset_of(struct str s, size_t i)
{
    size_t at = 0;
    for (; i && at < s.n; i--) {
        at++;
        while (at < s.n && (s.p[at] & 0xc0) == 0x80)
            at++;
    }
    return at;
}

static struct cel_value out_of_range(struct cel__eval *ev, int64_t i)
{
    return cel__fail(ev, "index out of range: %" PRId64, i);
}

static struct cel_value fn_char_at(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct str s = cel__str(&args[0]);
    int64_t i = args[1].i;
    size_t points = cel__code_points(s);
    if (i < 0 || (uint64_t)i > points)
        return out_of_range(ev, i);
    s = str_skip(s, offset_of(s, (size_t)i));
    return cel_of_string(str_take(s, offset_of(s, 1)));
}

/* ---- Searching ---- */

static struct cel_value index_from(struct cel__eval *ev, struct str s, struct str what,
                                   int64_t from)
{
    if (from < 0)
        return out_of_range(ev, from);
    size_t points = cel__code_points(s);
    if (!what.n)
        return cel_of_int((uint64_t)from > points ? (int64_t)points : from);
    if ((uint64_t)from >= points)
        return cel_of_int(-1);
    size_t start = offset_of(s, (size_t)from);
    const char *hit = memmem(s.p + start, s.n - start, what.p, what.n);
    if (!hit)
        return cel_of_int(-1);
    return cel_of_int((int64_t)cel__code_points(str_take(s, (size_t)(hit - s.p))));
}

static struct cel_value fn_index_of(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    return index_from(ev, cel__str(&args[0]), cel__str(&args[1]), n == 3 ? args[2].i : 0);
}

/* The last match that starts at or before byte `from`. */
static ptrdiff_t search_back(struct str s, struct str what, size_t from)
{
    if (what.n > s.n)
        return -1;
    if (from > s.n - what.n)
        from = s.n - what.n;
    for (size_t i = from + 1; i > 0; i--)
        if (memcmp(s.p + i - 1, what.p, what.n) == 0)
            return (ptrdiff_t)i - 1;
    return -1;
}

static struct cel_value fn_last_index_of(struct cel__eval *ev, const struct cel_value *args,
                                         size_t n)
{
    struct str s = cel__str(&args[0]), what = cel__str(&args[1]);
    int64_t points = (int64_t)cel__code_points(s);
    if (n == 2 && (!what.n || s.n < what.n))
        return cel_of_int(what.n ? -1 : points);
    int64_t from = n == 3 ? args[2].i : points - 1;
    if (from < 0)
        return out_of_range(ev, from);
    if (!what.n)
        return cel_of_int(from > points ? points : from);
    if (from >= points)
        return cel_of_int(-1);
    ptrdiff_t at = search_back(s, what, offset_of(s, (size_t)from));
    return cel_of_int(at < 0 ? -1 : (int64_t)cel__code_points(str_take(s, (size_t)at)));
}

/* ---- Changing ---- */

static struct cel_value map_ascii(struct cel__eval *ev, struct str s, char first, char last)
{
    if (!cel__afford_text(ev, s.n))
        return CEL__CANCELLED;
    char *out = arena_alloc(ev->arena, s.n, 1);
    for (size_t i = 0; i < s.n; i++)
        out[i] = s.p[i] >= first && s.p[i] <= last ? (char)(s.p[i] ^ 0x20) : s.p[i];
    return cel_of_string((struct str){ out, s.n });
}

static struct cel_value fn_lower(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    return map_ascii(ev, cel__str(&args[0]), 'A', 'Z');
}

static struct cel_value fn_upper(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    return map_ascii(ev, cel__str(&args[0]), 'a', 'z');
}

/* The next place to replace at or after `from`: an empty text is between all code points. */
static size_t next_match(struct str s, struct str old, size_t from, bool first)
{
    if (!old.n) {
        if (first)
            return from;
        return from < s.n ? from + offset_of(str_skip(s, from), 1) : SIZE_MAX;
    }
    const char *hit = memmem(s.p + from, s.n - from, old.p, old.n);
    return hit ? (size_t)(hit - s.p) : SIZE_MAX;
}

static size_t count_matches(struct str s, struct str old, uint64_t limit)
{
    size_t n = 0;
    for (size_t at = 0; n < limit; n++) {
        size_t hit = next_match(s, old, at, n == 0);
        if (hit == SIZE_MAX)
            break;
        at = hit + old.n;
    }
    return n;
}

static struct cel_value fn_replace(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    struct str s = cel__str(&args[0]), old = cel__str(&args[1]), new = cel__str(&args[2]);
    uint64_t limit = n == 4 && args[3].i >= 0 ? (uint64_t)args[3].i : UINT64_MAX;
    size_t count = count_matches(s, old, limit), size;
    if (!count)
        return args[0];
    if (__builtin_mul_overflow(count, new.n, &size) ||
        __builtin_add_overflow(size, s.n - count * old.n, &size) || !cel__afford_text(ev, size))
        return CEL__CANCELLED;
    char *out = arena_alloc(ev->arena, size, 1), *p = out;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        size_t hit = next_match(s, old, at, i == 0);
        p = mempcpy(p, s.p + at, hit - at);
        p = mempcpy(p, new.p, new.n);
        at = hit + old.n;
    }
    memcpy(p, s.p + at, s.n - at);
    return cel_of_string((struct str){ out, size });
}

static struct cel_value fn_split(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    struct str s = cel__str(&args[0]), separator = cel__str(&args[1]);
    uint64_t limit = n == 3 && args[2].i >= 0 ? (uint64_t)args[2].i : UINT64_MAX;
    struct cel_value list = cel__list_new(ev, 8);
    if (!limit)
        return list;
    while (list.n + 1 < limit && cel__work(ev, 1)) {
        size_t hit;
        if (separator.n) {
            const char *p = memmem(s.p, s.n, separator.p, separator.n);
            hit = p ? (size_t)(p - s.p) : SIZE_MAX;
        } else {
            hit = offset_of(s, 1);
            hit = hit < s.n ? hit : SIZE_MAX;
        }
        if (hit == SIZE_MAX)
            break;
        cel__list_push(ev, &list, cel_of_string(str_take(s, hit)));
        s = str_skip(s, hit + separator.n);
    }
    if (separator.n || s.n)
        cel__list_push(ev, &list, cel_of_string(s));
    return list;
}

static struct cel_value fn_substring(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    struct str s = cel__str(&args[0]);
    int64_t points = (int64_t)cel__code_points(s), start = args[1].i;
    int64_t end = n == 3 ? args[2].i : points;
    if (n == 3 && start > end)
        return cel__fail(ev, "invalid substring range. start: %" PRId64 ", end: %" PRId64, start,
                         end);
    if (start < 0 || start > points)
        return out_of_range(ev, start);
    if (end < 0 || end > points)
        return out_of_range(ev, end);
    s = str_skip(s, offset_of(s, (size_t)start));
    return cel_of_string(str_take(s, offset_of(s, (size_t)(end - start))));
}

static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

static size_t space_at_front(struct str s)
{
    size_t n = utf8_step(s.p, s.n);
    return n && is_space(utf8_decode(s.p, n)) ? n : 0;
}

static size_t space_at_end(struct str s)
{
    size_t n = 1;
    while (n < s.n && n < 4 && (s.p[s.n - n] & 0xc0) == 0x80)
        n++;
    return s.n && space_at_front(str_skip(s, s.n - n)) == n ? n : 0;
}

static struct cel_value fn_trim(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)ev;
    (void)n;
    struct str s = cel__str(&args[0]);
    for (size_t k; s.n && (k = space_at_front(s));)
        s = str_skip(s, k);
    for (size_t k; s.n && (k = space_at_end(s));)
        s.n -= k;
    return cel_of_string(s);
}

static struct cel_value fn_join(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    struct str separator = n == 2 ? cel__str(&args[1]) : STR("");
    autobuf out = { 0 };
    struct cel_value item;
    for (size_t i = 0; cel__list_next(ev, &args[0], &i, &item);) {
        if (item.kind != CEL_STRING)
            return cel__fail(ev, "join: invalid input: " STR_FMT, STR_ARG(cel__print(ev, &item)));
        if (i > 1)
            buf_str_add(&out, separator);
        buf_str_add(&out, cel__str(&item));
        if (!cel__afford_text(ev, out.n))
            return CEL__CANCELLED;
    }
    return cel_of_string(arena_str(ev->arena, buf_str(&out)));
}

static struct cel_value fn_quote(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    static const char from[] = "\a\b\f\n\r\t\v\\\"", to[] = "abfnrtv\\\"";
    autobuf out = { 0 };
    if (!cel__afford_text(ev, 2 * args[0].n))
        return CEL__CANCELLED;
    buf_byte(&out, '"');
    for (size_t i = 0; i < args[0].n; i++) {
        const char *special = memchr(from, args[0].text[i], sizeof(from) - 1);
        if (special)
            buf_byte(&out, '\\');
        buf_byte(&out, special ? to[special - from] : args[0].text[i]);
    }
    buf_byte(&out, '"');
    return cel_of_string(arena_str(ev->arena, buf_str(&out)));
}

#define STRING &cel_string
#define INT    &cel_int

static const struct cel__overload rows[] = {
    CEL__METHOD("charAt", CEL__COST_ONE, fn_char_at, STRING, STRING, INT),
    CEL__METHOD("indexOf", CEL__COST_TRAVERSE, fn_index_of, INT, STRING, STRING),
    CEL__METHOD("indexOf", CEL__COST_TRAVERSE, fn_index_of, INT, STRING, STRING, INT),
    CEL__METHOD("lastIndexOf", CEL__COST_TRAVERSE, fn_last_index_of, INT, STRING, STRING),
    CEL__METHOD("lastIndexOf", CEL__COST_TRAVERSE, fn_last_index_of, INT, STRING, STRING, INT),
    CEL__METHOD("lowerAscii", CEL__COST_TEXT_TARGET, fn_lower, STRING, STRING),
    CEL__METHOD("replace", CEL__COST_REPLACE, fn_replace, STRING, STRING, STRING, STRING),
    CEL__METHOD("replace", CEL__COST_REPLACE, fn_replace, STRING, STRING, STRING, STRING, INT),
    CEL__METHOD("split", CEL__COST_SPLIT, fn_split, &cel__list_string, STRING, STRING),
    CEL__METHOD("split", CEL__COST_SPLIT, fn_split, &cel__list_string, STRING, STRING, INT),
    CEL__METHOD("substring", CEL__COST_TEXT_TARGET, fn_substring, STRING, STRING, INT),
    CEL__METHOD("substring", CEL__COST_TEXT_TARGET, fn_substring, STRING, STRING, INT, INT),
    CEL__METHOD("trim", CEL__COST_TEXT_TARGET, fn_trim, STRING, STRING),
    CEL__METHOD("upperAscii", CEL__COST_TEXT_TARGET, fn_upper, STRING, STRING),
    CEL__FUNCTION("strings.quote", CEL__COST_QUOTE, fn_quote, STRING, STRING),
    CEL__METHOD("join", CEL__COST_JOIN, fn_join, STRING, &cel__list_string),
    CEL__METHOD("join", CEL__COST_JOIN, fn_join, STRING, &cel__list_string, STRING),
};

const struct cel__library cel__lib_strings = { rows, ARRAY_LEN(rows), 0 };
