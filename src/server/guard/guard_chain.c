#include "server/guard/guard_chain.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

struct guard_chain *guard_chain_new(void)
{
    struct guard_chain *c = mem_new(struct guard_chain);
    atomic_init(&c->refs, 1);
    arena_init(&c->arena);
    return c;
}

struct guard_chain *guard_chain_ref(struct guard_chain *c)
{
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

struct guard_chain *guard_chain_unref(struct guard_chain *c)
{
    if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
        return NULL;
    for (size_t i = 0; i < c->n; i++)
        if (c->at[i].hook && c->at[i].hook->free)
            c->at[i].hook->free(c->at[i].hook);
    arena_done(&c->arena);
    free(c);
    return NULL;
}

void guard_chain_add(struct guard_chain *c, enum guard_mode mode, struct str name,
                     struct guard_hook *hook)
{
    assert(c->n < GUARD_CHAIN_MAX && !hook == (mode != GUARD_WEBHOOK));
    c->at[c->n++] = (struct guard_member){ mode, arena_str(&c->arena, name), hook, NULL };
}

bool guard_chain_has(const struct guard_chain *c, enum guard_mode mode)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->at[i].mode == mode)
            return true;
    return false;
}
