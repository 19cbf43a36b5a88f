#include "server/core/retire.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

struct retire_batch {
    struct retire_batch *next;
    struct kept {
        void *block;
        void (*release)(void *block);
    } * kept;
    size_t n, cap;
    atomic_size_t n_waiting; /* loops that have not come to rest since */
    struct mark {
        struct retire_batch *of;
        struct loop_msg msg;
    } marks[API_LOOPS_MAX];
};

static void batch_release(struct retire_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        b->kept[i].release(b->kept[i].block);
    free(b->kept);
    free(b);
}

void retire_serve(struct retire *r, struct loop *const *loops, size_t n_loops)
{
    memcpy(r->loops, loops, n_loops * sizeof(*loops));
    r->n_loops = n_loops;
}

void retire_keep(struct retire *r, void *block, void (*release)(void *block))
{
    if (!r->n_loops) { /* nobody reads yet */
        release(block);
        return;
    }
    if (!r->filling)
        r->filling = mem_new(struct retire_batch);
    struct retire_batch *b = r->filling;
    if (b->n == b->cap) {
        b->cap = b->cap ? 2 * b->cap : 16;
        b->kept = mem_resize(b->kept, b->cap, sizeof(*b->kept));
    }
    b->kept[b->n++] = (struct kept){ block, release };
}

static void loop_rests(struct loop *l, struct loop_msg *m) /* thread: a loop */
{
    (void)l;
    atomic_fetch_sub(&container_of(m, struct mark, msg)->of->n_waiting, 1);
}

static void release_rested(struct retire *r)
{
    for (struct retire_batch **at = &r->resting; *at;) {
        struct retire_batch *b = *at;
        if (atomic_load(&b->n_waiting)) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        batch_release(b);
    }
}

void retire_rest(struct retire *r)
{
    release_rested(r);
    struct retire_batch *b = take(&r->filling);
    if (!b)
        return;
    b->next = r->resting;
    r->resting = b;
    atomic_store(&b->n_waiting, r->n_loops);
    for (size_t i = 0; i < r->n_loops; i++) {
        b->marks[i].of = b;
        b->marks[i].msg.run = loop_rests;
        loop_post(r->loops[i], &b->marks[i].msg);
    }
}

void retire_done(struct retire *r)
{
    if (r->filling)
        batch_release(r->filling);
    r->filling = NULL;
    while (r->resting) {
        struct retire_batch *b = r->resting;
        r->resting = b->next;
        batch_release(b);
    }
}
