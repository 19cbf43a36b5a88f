/* Numbers and quoted strings. */
#include "cel/literals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"

#include "base/banned.h"

bool literals_uint(struct str text, uint64_t *ret)
{
    if (!str_starts(text, STR("0x")))
        return str_to_u64(text, ret);
    uint64_t u = 0;
    text = str_skip(text, 2);
    if (!text.n)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        int digit = str_hex_digit(text.p[i]);
        if (digit < 0 || u >> 60)
            return false;
        u = u << 4 | (unsigned)digit;
    }
    *ret = u;
    return true;
}

bool literals_int(struct str text, bool negative, int64_t *ret)
{
    uint64_t u;
    if (!literals_uint(text, &u) || u > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = (int64_t)(negative ? 0 - u : u);
    return true;
}

bool literals_double(struct arena *a, struct str text, double *ret)
{
    const char *cstr = str_cstr(a, text);
    char *end;
    errno = 0;
    double d = strtod(cstr, &end);
    if (end == cstr || end != cstr + text.n || (errno == ERANGE && isinf(d)))
        return false;
    *ret = d;
    return true;
}

static struct str normalize_newlines(struct arena *a, struct str s)
{
    if (str_find(s, '\r') < 0)
        return s;
    char *out = arena_alloc(a, s.n, 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool cr = s.p[i] == '\r';
        if (cr && i + 1 < s.n && s.p[i + 1] == '\n')
            continue;
        out[n++] = cr ? '\n' : s.p[i];
    }
    return (struct str){ out, n };
}

/* Without quotes, one or three at each side. */
static struct str strip_quotes(struct str s)
{
    size_t quotes = 1;
    if (s.n >= 6 && s.p[1] == s.p[0] && s.p[2] == s.p[0])
        quotes = 3;
    return str_take(str_skip(s, quotes), s.n - 2 * quotes);
}

static uint32_t read_digits(struct str s, size_t n, unsigned base)
{
    uint32_t code = 0;
    for (size_t i = 0; i < n; i++)
        code = code * base + (uint32_t)str_hex_digit(s.p[i]);
    return code;
}

struct escape {
    size_t n;        /* bytes of the sequence */
    uint32_t code;   /* a byte or a code point */
    bool is_unicode; /* to be written as UTF-8 */
    const char *why; /* it is wrong, or NULL */
};

/* The lexer has made sure of the shape. */
static struct escape read_escape(struct str s, bool bytes)
{
    static const char from[] = "abfnrtv\\'\"`?", to[] = "\a\b\f\n\r\t\v\\'\"`?";
    const char *plain = memchr(from, s.p[1], sizeof(from) - 1);
    if (plain)
        return (struct escape){ .n = 2, .code = (unsigned char)to[plain - from] };
    char c = s.p[1];
    struct escape e = { .is_unicode = !bytes };
    if (c >= '0' && c <= '3') {
        e.n = 4;
        e.code = read_digits(str_skip(s, 1), 3, 8);
        return e;
    }
    size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 2;
    e.n = 2 + digits;
    e.code = read_digits(str_skip(s, 2), digits, 16);
    if (bytes && digits > 2)
        e.why = "unable to unescape string";
    else if (!bytes && (e.code >= 0x110000 || (e.code >= 0xd800 && e.code < 0xe000)))
        e.why = "invalid unicode code point";
    return e;
}

const char *literals_string(struct arena *a, struct str text, bool bytes, struct str *ret)
{
    bool raw = (text.p[0] | 0x20) == 'r';
    struct str s = strip_quotes(normalize_newlines(a, str_skip(text, raw)));
    if (raw || str_find(s, '\\') < 0) {
        *ret = s;
        return NULL;
    }
    char *out = arena_alloc(a, s.n + 4, 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n;) {
        if (s.p[i] != '\\') {
            out[n++] = s.p[i++];
            continue;
        }
        struct escape e = read_escape(str_skip(s, i), bytes);
        if (e.why)
            return e.why;
        if (e.is_unicode)
            n += utf8_encode(out + n, e.code);
        else
            out[n++] = (char)e.code;
        i += e.n;
    }
    *ret = (struct str){ out, n };
    return NULL;
}
