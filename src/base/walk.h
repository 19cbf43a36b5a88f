/* walk.h - the open containers between the root of a value tree and where a walk stands.
 *
 * Trees may be deeper than a thread's stack, so code that visits one keeps its path here: the first
 * few levels in place, more of them on the heap. Private to this folder. */
#pragma once

#include <stdlib.h>

#include "base/mem.h"
#include "base/value.h"

struct walk_frame {
    const struct value *v; /* an array or object */
    uint32_t next;         /* the child to visit next */
    uint32_t stop;         /* for the walker's own use */
};

enum { WALK_NEAR = 32 };

struct walk {
    struct walk_frame *frames;
    size_t n, cap;
    struct walk_frame near[WALK_NEAR];
};

static inline void walk_init(struct walk *w)
{
    w->frames = w->near;
    w->n = 0;
    w->cap = WALK_NEAR;
}

static inline void walk_done(struct walk *w)
{
    if (w->frames != w->near)
        free(w->frames);
}

#define autowalk __attribute__((cleanup(walk_done))) struct walk

static inline void walk_grow(struct walk *w)
{
    struct walk_frame *old = w->frames == w->near ? NULL : w->frames;
    w->cap *= 2;
    w->frames = mem_resize(old, w->cap, sizeof(*w->frames));
    if (!old)
        memcpy(w->frames, w->near, sizeof(w->near));
}

static inline void walk_enter(struct walk *w, const struct value *v)
{
    if (w->n == w->cap)
        walk_grow(w);
    w->frames[w->n++] = (struct walk_frame){ .v = v };
}

static inline struct walk_frame *walk_top(struct walk *w)
{
    return &w->frames[w->n - 1];
}

static inline bool walk_is_container(const struct value *v)
{
    return v->type >= VALUE_ARRAY;
}
