#include "base/str.h"
#include "base/banned.h"

static unsigned char lower(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u | 0x20) : u;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

ptrdiff_t str_find(struct str s, char c)
{
    const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;
    return hit ? hit - s.p : -1;
}

struct str str_cut(struct str *s, char sep)
{
    struct str whole = *s;
    ptrdiff_t at = str_find(whole, sep);
    if (at < 0) {
        *s = (struct str){ NULL, 0 };
        return whole;
    }
    *s = str_skip(whole, (size_t)at + 1);
    return str_take(whole, (size_t)at);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct str str_trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_skip(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
    uint64_t v = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return false;
    }
    *ret = v;
    return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
    bool neg = s.n && s.p[0] == '-';
    uint64_t u;
    if (!str_to_u64(neg ? str_skip(s, 1) : s, &u))
        return false;
    if (u > (uint64_t)INT64_MAX + neg)
        return false;
    *ret = neg ? (int64_t)(0 - u) : (int64_t)u;
    return true;
}
