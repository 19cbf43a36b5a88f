#include "server/guard/errand.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

/* In the exchange's arena: it knows of the errand as long as it is under way. */
struct errand_ticket {
    struct errand *errand; /* NULL: it is back */
    struct http_exchange *x;
};

void *errand_new(size_t size, const struct errand_calls *calls)
{
    struct errand *e = mem_zalloc(size);
    arena_init(&e->arena);
    e->calls = calls;
    return e;
}

void *errand_free(struct errand *e)
{
    if (!e)
        return NULL;
    arena_done(&e->arena);
    free(e);
    return NULL;
}

static void on_over(void *arg, struct http_exchange *x, int status)
{
    (void)x;
    (void)status;
    struct errand_ticket *t = arg;
    if (!t->errand)
        return;
    atomic_store_explicit(&t->errand->is_unwanted, true, memory_order_relaxed);
    t->errand->ticket = NULL;
}

static void come_back(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct errand *e = container_of(m, struct errand, word);
    struct errand_ticket *t = e->ticket;
    if (t) {
        t->errand = NULL;
        if (!http_is_gone(t->x)) /* else it is over soon */
            e->calls->back(e, e->arg);
    }
    errand_free(e);
}

static void run(struct work *w)
{
    struct errand *e = container_of(w, struct errand, work);
    if (!atomic_load_explicit(&e->is_unwanted, memory_order_relaxed))
        e->calls->run(e);
    loop_post(e->loop, &e->word);
}

bool errand_send(struct errand *e, struct workers *w, struct http_exchange *x, void *arg)
{
    struct errand_ticket *t = arena_new(http_arena(x), struct errand_ticket);
    *t = (struct errand_ticket){ .errand = e, .x = x };
    e->arg = arg;
    e->ticket = t;
    e->loop = http_loop(x);
    e->work.run = run;
    e->word.run = come_back;
    if (!w || !workers_submit(w, &e->work)) {
        e->ticket = NULL;
        return false;
    }
    http_when_over(x, on_over, t);
    return true;
}
