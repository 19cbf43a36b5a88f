#include "base/arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#include "base/banned.h"

struct arena_block {
    struct arena_block *older;
    size_t n;
    alignas(16) char bytes[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){ 0 };
}

static void free_blocks(struct arena_block *b)
{
    while (b) {
        struct arena_block *older = b->older;
        UNPOISON(b->bytes, b->n);
        free(b);
        b = older;
    }
}

void arena_allow(struct arena *a, struct allowance *w)
{
    if (a->allowance)
        allowance_give(a->allowance, a->held);
    a->allowance = w;
    if (w && a->held)
        allowance_take(w, a->held);
}

void arena_done(struct arena *a)
{
    arena_allow(a, NULL);
    free_blocks(a->block);
    arena_init(a);
}

void arena_reset(struct arena *a)
{
    arena_shrink(a, ARENA_BLOCK_MAX);
}

void arena_shrink(struct arena *a, size_t keep)
{
    struct arena_block *b = a->block;
    if (!b)
        return;
    if (b->n > keep) {
        struct allowance *w = a->allowance;
        arena_done(a);
        arena_allow(a, w);
        return;
    }
    free_blocks(b->older);
    b->older = NULL;
    a->p = b->bytes;
    a->end = b->bytes + b->n;
    if (a->allowance)
        allowance_give(a->allowance, a->held - b->n);
    a->held = b->n;
    POISON(b->bytes, b->n);
}

static void put_block(struct arena *a, size_t n)
{
    struct arena_block *b = mem_alloc(sizeof(*b) + n);
    b->n = n;
    b->older = a->block;
    a->block = b;
    a->p = b->bytes;
    a->end = b->bytes + n;
    a->held += n;
    if (a->allowance)
        allowance_take(a->allowance, n);
    POISON(b->bytes, n);
}

static void add_block(struct arena *a, size_t need)
{
    size_t n = a->held < ARENA_BLOCK_MIN ? ARENA_BLOCK_MIN : a->held;
    if (n > ARENA_BLOCK_MAX)
        n = ARENA_BLOCK_MAX;
    put_block(a, n < need ? need : n);
}

void arena_expect(struct arena *a, size_t n)
{
    assert(!a->block);
    put_block(a, n);
}

void *arena_alloc(struct arena *a, size_t n, size_t align)
{
    assert(align <= 16 && (align & (align - 1)) == 0);
    size_t pad = -(uintptr_t)a->p & (align - 1);
    if (a->p == NULL || n > (size_t)(a->end - a->p) || pad > (size_t)(a->end - a->p) - n) {
        add_block(a, n);
        pad = 0;
    }
    char *piece = a->p + pad;
    a->p = piece + n;
    UNPOISON(piece, n);
    return piece;
}

/* A large piece that has its block to itself takes the block along: an array that grows leaves
 * nothing behind. */
static bool grow_block(struct arena *a, const void *p, size_t old_n, size_t new_n)
{
    struct arena_block *b = a->block;
    if (!b || p != b->bytes || b->bytes + old_n != a->p || new_n < ARENA_BLOCK_MAX)
        return false;
    size_t more = new_n - b->n;
    UNPOISON(b->bytes, b->n);
    b = mem_resize(b, 1, sizeof(*b) + new_n);
    b->n = new_n;
    a->block = b;
    a->p = a->end = b->bytes + new_n;
    a->held += more;
    if (a->allowance)
        allowance_take(a->allowance, more);
    return true;
}

void *arena_grow(struct arena *a, void *p, size_t old_n, size_t new_n, size_t align)
{
    if (p && (char *)p + old_n == a->p && new_n >= old_n &&
        new_n - old_n <= (size_t)(a->end - a->p)) {
        UNPOISON(a->p, new_n - old_n);
        a->p += new_n - old_n;
        return p;
    }
    if (p && grow_block(a, p, old_n, new_n))
        return a->block->bytes;
    void *moved = arena_alloc(a, new_n, align);
    if (p)
        memcpy(moved, p, old_n < new_n ? old_n : new_n);
    return moved;
}

void *arena_zalloc(struct arena *a, size_t n, size_t size, size_t align)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        mem_exhausted(SIZE_MAX);
    void *piece = arena_alloc(a, total, align);
    memset(piece, 0, total);
    return piece;
}

void *arena_dup(struct arena *a, const void *p, size_t n)
{
    void *copy = arena_alloc(a, n, 16);
    if (n)
        memcpy(copy, p, n);
    return copy;
}

struct str arena_str(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.n, 1);
    if (s.n)
        memcpy(copy, s.p, s.n);
    return (struct str){ copy, s.n };
}

const char *str_cstr(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.n + 1, 1);
    if (s.n)
        memcpy(copy, s.p, s.n);
    copy[s.n] = '\0';
    return copy;
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    assert(fmt); /* gcc's null checks under UBSan make it believe otherwise */
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1, 1);
    (void)vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return (struct str){ text, (size_t)n };
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}
