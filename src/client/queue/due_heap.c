#include "client/queue/due_heap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

enum { DUE_HEAP_FIRST_CAP = 8 };

void due_heap_done(struct due_heap *h)
{
    free(h->nodes);
    *h = (struct due_heap){ 0 };
}

static void set_place(struct due_heap *h, uint32_t place, struct due_node *node)
{
    h->nodes[place] = node;
    node->place = place;
}

static void rise(struct due_heap *h, struct due_node *node)
{
    uint32_t at = node->place;
    for (; at > 1 && node->at_ns < h->nodes[at / 2]->at_ns; at /= 2)
        set_place(h, at, h->nodes[at / 2]);
    set_place(h, at, node);
}

/* Of the two below it. 0: there is none. */
static uint32_t earlier_below(const struct due_heap *h, uint32_t at)
{
    uint32_t below = at * 2;
    if (below > h->n)
        return 0;
    return below < h->n && h->nodes[below + 1]->at_ns < h->nodes[below]->at_ns ? below + 1 : below;
}

static void sink(struct due_heap *h, struct due_node *node)
{
    uint32_t at = node->place, below = earlier_below(h, at);
    for (; below && h->nodes[below]->at_ns < node->at_ns; below = earlier_below(h, at)) {
        set_place(h, at, h->nodes[below]);
        at = below;
    }
    set_place(h, at, node);
}

/* One more than `n` are needed, because the first place stays free. */
static void make_room(struct due_heap *h)
{
    if (h->n + 1 < h->cap)
        return;
    h->cap = h->cap ? h->cap * 2 : DUE_HEAP_FIRST_CAP;
    h->nodes = mem_resize(h->nodes, h->cap, sizeof(struct due_node *));
}

static void give_room_back(struct due_heap *h)
{
    if (h->cap <= DUE_HEAP_FIRST_CAP || h->n >= h->cap / 8)
        return;
    h->cap /= 4;
    h->nodes = mem_resize(h->nodes, h->cap, sizeof(struct due_node *));
}

void due_heap_put(struct due_heap *h, struct due_node *node, int64_t at_ns)
{
    if (node->place && node->at_ns <= at_ns)
        return;
    node->at_ns = at_ns;
    if (!node->place) {
        make_room(h);
        set_place(h, ++h->n, node);
    }
    rise(h, node);
}

void due_heap_remove(struct due_heap *h, struct due_node *node)
{
    if (!node->place)
        return;
    struct due_node *last = h->nodes[h->n--];
    if (last != node) {
        set_place(h, node->place, last);
        rise(h, last);
        sink(h, last);
    }
    node->place = 0;
    give_room_back(h);
}

struct due_node *due_heap_first(const struct due_heap *h)
{
    return h->n ? h->nodes[1] : NULL;
}
