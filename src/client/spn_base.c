#include <sampan/base.h>

#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

struct spn_arena *spn_arena_new(void)
{
    struct arena *a = mem_new(struct arena);
    arena_init(a);
    return arena_out(a);
}

struct spn_arena *spn_arena_free(struct spn_arena *a)
{
    if (!a)
        return NULL;
    arena_done(arena_in(a));
    free(a);
    return NULL;
}

void spn_arena_reset(struct spn_arena *a)
{
    arena_reset(arena_in(a));
}

void *spn_arena_alloc(struct spn_arena *a, size_t n)
{
    return arena_zalloc(arena_in(a), 1, n, alignof(max_align_t));
}

struct spn_text spn_arena_text(struct spn_arena *a, struct spn_text t)
{
    return (struct spn_text){ str_cstr(arena_in(a), str_in(t)), t.n };
}

struct spn_text spn_arena_printf(struct spn_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = arena_vprintf(arena_in(a), fmt, ap);
    va_end(ap);
    return text_out(s);
}
