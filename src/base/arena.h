/* arena.h - memory for one request, reconcile or parse: taken piece by piece, freed whole.
 *
 * Nothing in an arena is kept elsewhere; what must outlive it is copied out. An arena belongs to
 * one thread at a time. Blocks double from ARENA_BLOCK_MIN to ARENA_BLOCK_MAX; a piece larger than
 * a block gets one of its own. Under AddressSanitizer the unused tail is poisoned. An allowance, if
 * there is one, bounds what the arena may hold and how long it may be used. */
#pragma once

#include <stdalign.h>
#include <stdarg.h>

#include "base/allowance.h"
#include "base/str.h"

enum { ARENA_BLOCK_MIN = 4096, ARENA_BLOCK_MAX = 1 << 20 };

struct arena_block;

struct arena {
    struct arena_block *block;   /* newest; the others hang behind it */
    char *p, *end;               /* what is left of it */
    size_t held;                 /* bytes taken from the heap */
    struct allowance *allowance; /* NULL: none */
};

void arena_init(struct arena *a);
void arena_done(struct arena *a);
/* The first block of an arena that is kept for long and holds little: so many bytes. */
void arena_expect(struct arena *a, size_t n);
/* Forgets every piece but keeps the newest block for reuse, unless it is larger than
 * ARENA_BLOCK_MAX, and the allowance. */
void arena_reset(struct arena *a);

/* The same, but keeps nothing if that block is larger than this. */
void arena_shrink(struct arena *a, size_t keep);

/* Counts what the arena holds, now and later, against this allowance. NULL: against none. */
void arena_allow(struct arena *a, struct allowance *w);
/* True if the allowance has ended: the caller should stop and return allowance_error(). */
static inline bool arena_spent(const struct arena *a)
{
    return a->allowance && allowance_ended(a->allowance) != ALLOWANCE_OPEN;
}

/* Not zeroed. `align` is a power of two up to 16. */
void *arena_alloc(struct arena *a, size_t n, size_t align);
/* Grows the piece in place when it is the newest one, else moves it. A large one that has a block
 * of its own takes that along. */
void *arena_grow(struct arena *a, void *p, size_t old_n, size_t new_n, size_t align);
void *arena_zalloc(struct arena *a, size_t n, size_t size, size_t align);
void *arena_dup(struct arena *a, const void *p, size_t n);

#define arena_new(a, type)      ((type *)arena_zalloc((a), 1, sizeof(type), alignof(type)))
#define arena_array(a, type, n) ((type *)arena_zalloc((a), (n), sizeof(type), alignof(type)))

struct str arena_str(struct arena *a, struct str s); /* a copy */
const char *str_cstr(struct arena *a, struct str s); /* a copy with a NUL, for system calls */
struct str arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
