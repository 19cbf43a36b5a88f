/* buf.h - owned, growing bytes. One owner; the bytes move when it grows. */
#pragma once

#include <stdarg.h>

#include "base/str.h"

struct buf {
    char *p;
    size_t n;   /* used */
    size_t cap; /* allocated */
};

void buf_done(struct buf *b);                 /* frees; an all-zero buf is empty and valid */
void buf_reserve(struct buf *b, size_t more); /* room for `more` bytes behind the used ones */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_drop(struct buf *b, size_t n); /* removes the first `n` bytes */

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){ b->p, b->n };
}

static inline void buf_reset(struct buf *b)
{
    b->n = 0;
}

static inline void buf_add(struct buf *b, const void *p, size_t n)
{
    if (b->cap - b->n < n)
        buf_reserve(b, n);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static inline void buf_str_add(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

static inline void buf_byte(struct buf *b, char c)
{
    if (b->n == b->cap)
        buf_reserve(b, 1);
    b->p[b->n++] = c;
}

#define autobuf __attribute__((cleanup(buf_done))) struct buf
