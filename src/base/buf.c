#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

void buf_done(struct buf *b)
{
    free(b->p);
    *b = (struct buf){ 0 };
}

void buf_reserve(struct buf *b, size_t more)
{
    size_t need;
    if (__builtin_add_overflow(b->n, more, &need))
        mem_exhausted(SIZE_MAX);
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need)
        cap += cap / 2;
    b->p = mem_resize(b->p, cap, 1);
    b->cap = cap;
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    assert(fmt); /* gcc's null checks under UBSan make it believe otherwise */
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    assert(n >= 0);
    buf_reserve(b, (size_t)n + 1);
    (void)vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    va_end(again);
    b->n += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_drop(struct buf *b, size_t n)
{
    assert(n <= b->n);
    b->n -= n;
    if (b->n)
        memmove(b->p, b->p + n, b->n);
}
