/* str.h - borrowed text by value: a pointer and a length, never NUL-dependent.
 *
 * A str owns nothing; the maker of the bytes decides how long they live. Parsers eat a str from
 * the front. Owning text is struct buf; a NUL appears only at the syscall edge (str_cstr in
 * arena.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(lit)   ((struct str){ "" lit, sizeof(lit) - 1 })
#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p

static inline struct str str_of(const char *cstr)
{
    return (struct str){ cstr, cstr ? strlen(cstr) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Byte order, shorter first on a tie: the order of keys in the store. */
static inline int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

static inline struct str str_skip(struct str s, size_t n)
{
    if (n < s.n)
        return (struct str){ s.p + n, s.n - n };
    return (struct str){ s.n ? s.p + s.n : s.p, 0 }; /* NULL takes no arithmetic, not even + 0 */
}

static inline struct str str_take(struct str s, size_t n)
{
    return (struct str){ s.p, n < s.n ? n : s.n };
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq(str_take(s, prefix.n), prefix);
}

static inline bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && str_eq(str_skip(s, s.n - suffix.n), suffix);
}

/* The value of a hexadecimal digit of either case, or -1. */
static inline int str_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ASCII case is ignored; other bytes compare exactly. */
bool str_eq_nocase(struct str a, struct str b);

/* Index of the first `c`, or -1. */
ptrdiff_t str_find(struct str s, char c);

/* Cuts `*s` at the first `sep`: returns what stands before it and leaves what stands after.
 * Without `sep` all of it is returned and `*s` becomes empty with a NULL pointer. */
struct str str_cut(struct str *s, char sep);

/* Without ASCII white space at both ends. */
struct str str_trim(struct str s);

/* The whole of `s` as a decimal number: no sign (for u64), no space, no leading plus.
 * False, and `*ret` untouched, for anything else or on overflow. */
bool str_to_u64(struct str s, uint64_t *ret);
bool str_to_i64(struct str s, int64_t *ret);
