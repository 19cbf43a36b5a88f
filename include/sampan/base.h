/* sampan/base.h - what every header of the library uses: text that is lent, lists and pairs of it,
 * and memory that is freed whole.
 *
 * Text is a pointer and a length. It is lent: its owner decides how long it lives, and no NUL need
 * follow it. A NULL pointer means that there is no text at all, which is not the same as empty
 * text.
 *
 * Results lie in an arena that the caller gives. An arena belongs to one thread at a time. Where
 * there is no memory left the process ends, so nothing returns NULL for want of memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SPN_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

struct spn_text {
    const char *p;
    size_t n;
};

#ifdef __cplusplus
#define SPN_TEXT(lit) (spn_text{ "" lit, sizeof(lit) - 1 })
#else
#define SPN_TEXT(lit) ((struct spn_text){ "" lit, sizeof(lit) - 1 })
#endif
/* For printf: printf("hello " SPN_FMT "\n", SPN_ARG(name)); */
#define SPN_FMT    "%.*s"
#define SPN_ARG(t) (int)(t).n, (t).p

static inline struct spn_text spn_text_of(const char *cstr)
{
    struct spn_text t = { cstr, cstr ? strlen(cstr) : 0 };
    return t;
}

static inline bool spn_text_eq(struct spn_text a, struct spn_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

struct spn_texts {
    const struct spn_text *items;
    size_t n;
};

/* A map of text to text is a list of these. */
struct spn_pair {
    struct spn_text name, value;
};

struct spn_pairs {
    const struct spn_pair *items;
    size_t n;
};

struct spn_arena;

SPN_API struct spn_arena *spn_arena_new(void);
SPN_API struct spn_arena *spn_arena_free(struct spn_arena *a); /* NULL will do; returns NULL */
SPN_API void spn_arena_reset(struct spn_arena *a);             /* frees what was taken so far */
SPN_API void *spn_arena_alloc(struct spn_arena *a, size_t n);  /* zeroed, aligned for anything */
SPN_API struct spn_text spn_arena_text(struct spn_arena *a,
                                       struct spn_text t); /* a copy with a NUL */
SPN_API struct spn_text spn_arena_printf(struct spn_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
